//! A store that machines share, behind the folder on disk. This is the part without the feature `remote-cache`.

use super::key::Key;

/// A remote store. There is none in this build.
#[derive(Debug)]
pub(super) enum Remote {}

impl Remote {
    pub(super) fn new(_address: &str) -> Result<Remote, String> {
        Err("this ttc was built without the feature `remote-cache`".to_owned())
    }

    pub(super) fn address(&self) -> &str {
        match *self {}
    }

    pub(super) fn get(&self, _key: Key) -> Result<Option<Vec<u8>>, String> {
        match *self {}
    }

    pub(super) fn put(&self, _key: Key, _entry: Vec<u8>) {
        match *self {}
    }

    pub(super) fn finish(&self) -> Result<(), String> {
        match *self {}
    }
}

/// An address without the password in it.
pub(super) fn without_secret(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        _ => address.to_owned(),
    }
}
