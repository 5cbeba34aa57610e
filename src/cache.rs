//! A cache of bytes under keys: what was made once need not be made again, by this process or by another one.
//!
//! This module knows nothing of compilations. `driver/cached.rs` says what a compilation depends on and what is kept of
//! it; here a [`Key`] names bytes, and whoever asks for the key gets these bytes or none.
//!
//! 1. [`Digest`] makes a key of everything that the bytes depend on ([`mod@key`]).
//! 2. An entry vouches for itself: it holds its key and a digest of its bytes ([`entry`]). A damaged one is none.
//! 3. Entries are files of a folder, whole or not there ([`store`]). Any number of processes may use a folder at once,
//!    and any of them may be killed at any time.
//! 4. When the folder grows beyond its limit, the entries go that were not read for the longest time ([`evict`]).
//! 5. A store that machines share may stand behind the folder ([`remote`]).
//!
//! A cache never makes a compilation fail. A folder that cannot be written, a full disk or a store that does not answer
//! is a warning, once in the life of a [`Cache`], which then goes on without.

mod counters;
mod entry;
mod evict;
mod files;
mod key;
mod remote;
mod settings;
mod store;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::diag::Diagnostic;
use crate::diag::codes::cli;
use crate::text_file::plain;

pub use counters::Counts;
pub use evict::{Removed, clear, gc, stats};
pub use key::{Digest, Key, of_bytes};
use remote::Remote;
pub use settings::{Settings, USUAL_LIMIT, size};
pub use store::Store;

/// How a compilation was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// As it was asked for.
    AtOnce,
    /// Behind the front end.
    Later,
    No,
}

/// A cache with all of its stores.
#[derive(Debug)]
pub struct Cache {
    /// `None` where there is no folder.
    local: Option<Store>,
    remote: Option<Remote>,
    /// Whether the folder has refused an entry. No other is then tried.
    refused: AtomicBool,
    /// The digest of this program, once it is known.
    executable: OnceLock<Key>,
    warnings: Mutex<Vec<Diagnostic>>,
}

impl Cache {
    /// A cache as the settings say. What cannot be had of it is a warning.
    #[must_use]
    pub fn new(settings: &Settings) -> Cache {
        let mut warnings = vec![];
        if settings.dir.is_none() {
            let text = "the cache has no folder, since neither `HOME` nor `XDG_CACHE_HOME` names one";
            warnings.push(unusable(text).help("name a folder with `TTC_CACHE_DIR`"));
        }
        let remote = settings.remote.as_deref().and_then(|address| match Remote::new(address) {
            Ok(remote) => Some(remote),
            Err(why) => {
                warnings.push(no_remote(address, &why));
                None
            }
        });
        let local = settings.dir.clone().map(|dir| Store::new(dir, settings.limit));
        Cache {
            local,
            remote,
            refused: AtomicBool::new(false),
            executable: OnceLock::new(),
            warnings: Mutex::new(warnings),
        }
    }

    /// The bytes of a key.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        if let Some(found) = self.local.as_ref().and_then(|store| store.get(key)) {
            return Some(found);
        }
        let remote = self.remote.as_ref()?;
        match remote.get(key) {
            Ok(entry) => {
                let payload = entry::open(key, entry?)?;
                self.put_locally(key, &payload, false);
                Some(payload)
            }
            Err(why) => {
                self.warn_of_remote(remote, &why);
                None
            }
        }
    }

    /// Keeps the bytes of a key. Bytes that are there already stay, unless `replace` says otherwise.
    pub fn put(&self, key: Key, payload: &[u8], replace: bool) {
        self.put_locally(key, payload, replace);
        if let Some(remote) = &self.remote {
            remote.put(key, entry::seal(key, payload));
        }
    }

    fn put_locally(&self, key: Key, payload: &[u8], replace: bool) {
        let Some(store) = self.local.as_ref().filter(|_| !self.refused.load(Ordering::Relaxed)) else { return };
        let Err(e) = store.put(key, payload, replace) else { return };
        if !self.refused.swap(true, Ordering::Relaxed) {
            let text = format!("the cache `{}` cannot be written: {}", store.dir().display(), plain(&e));
            let help = "free space, make the folder writable, or name another one with `TTC_CACHE_DIR`";
            self.warn(unusable(&text).help(help));
        }
    }

    /// The digest of a large file that seldom changes.
    ///
    /// # Errors
    /// The system's error when the file cannot be read.
    pub fn digest_of(&self, path: &Path) -> io::Result<Key> {
        files::digest_of(self.local.as_ref(), path)
    }

    /// The digest of the program that runs. It stands for ttc itself: every line of it and of the libraries that are
    /// linked into it, as they were built.
    ///
    /// # Errors
    /// The system's error when the program's file cannot be read.
    pub fn executable(&self) -> io::Result<Key> {
        if let Some(known) = self.executable.get() {
            return Ok(*known);
        }
        // The first path leads to the file that runs, even if another one has taken its place since.
        let path = Path::new("/proc/self/exe");
        let path: PathBuf = if path.exists() { path.to_owned() } else { std::env::current_exe()? };
        let digest = self.digest_of(&path)?;
        Ok(*self.executable.get_or_init(|| digest))
    }

    /// Counts a compilation.
    pub fn count(&self, found: Found) {
        let Some(store) = &self.local else { return };
        store.count(|c| match found {
            Found::AtOnce => c.hits += 1,
            Found::Later => c.later_hits += 1,
            Found::No => c.misses += 1,
        });
    }

    /// Waits a little for what is still on its way to a remote store, and gives what there is to say. Nothing is said
    /// twice.
    #[must_use]
    pub fn finish(&self) -> Vec<Diagnostic> {
        if let Some(remote) = &self.remote
            && let Err(why) = remote.finish()
        {
            self.warn_of_remote(remote, &why);
        }
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn warn(&self, warning: Diagnostic) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    fn warn_of_remote(&self, remote: &Remote, why: &str) {
        self.warn(no_remote(remote.address(), why));
    }
}

fn unusable(text: &str) -> Diagnostic {
    Diagnostic::warning(&cli::CACHE_UNUSABLE, text).note("kernels are compiled without it")
}

fn no_remote(address: &str, why: &str) -> Diagnostic {
    let text = format!("the remote cache `{}` cannot be used: {why}", remote::without_secret(address));
    Diagnostic::warning(&cli::REMOTE_CACHE_UNUSABLE, text)
        .note("this run goes on without it")
        .help("see that the server runs and can be reached, or unset `TTC_CACHE_REMOTE`")
}
