//! A store that machines share, behind the folder on disk: Redis, S3 or a folder, through OpenDAL.
//!
//! 1. It is asked when the disk has no entry, and gets what the disk gets, in the background. [`Remote::finish`] waits
//!    for what is on its way.
//! 2. Every request has a short time limit. After the first one that fails, the store is not asked again in this run: a
//!    build must not wait for a dead server once for each kernel.
//! 3. What comes from it is believed no more than what comes from the disk: an entry vouches for itself.
//!
//! All of that takes the feature `remote-cache`. A ttc without it says so when a store is named.

mod address;
#[cfg(feature = "remote-cache")]
mod shared;
#[cfg(feature = "remote-cache")]
pub(super) use shared::Remote;

pub(super) use address::without_secret;

/// A remote store. There is none in this build.
#[cfg(not(feature = "remote-cache"))]
#[derive(Debug)]
pub(super) enum Remote {}

#[cfg(not(feature = "remote-cache"))]
impl Remote {
    pub(super) fn new(address: &str) -> Result<Remote, String> {
        address::Address::parse(address)?;
        Err("this ttc was built without the feature `remote-cache`".to_owned())
    }

    pub(super) fn address(&self) -> &str {
        match *self {}
    }

    pub(super) fn get(&self, _: super::Key) -> Result<Option<Vec<u8>>, String> {
        match *self {}
    }

    pub(super) fn put(&self, _: super::Key, _: Vec<u8>) {
        match *self {}
    }

    pub(super) fn finish(&self) -> Result<(), String> {
        match *self {}
    }
}
