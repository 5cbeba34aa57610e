//! Speaks to a remote store through OpenDAL.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use opendal::services::{Fs, Redis, S3};
use opendal::{ErrorKind, Operator};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::address::Address;
use crate::cache::key::Key;

/// How long an entry may take to come. To compile a kernel takes about as long.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long an entry may take to get there, and how long the end of a run waits for all that are on their way.
const LATEST: Duration = Duration::from_secs(10);

/// A remote store.
#[derive(Debug)]
pub(in crate::cache) struct Remote {
    address: String,
    operator: Operator,
    runtime: Runtime,
    /// Whether a request has failed. No other is then made.
    broken: AtomicBool,
    /// The entries that are on their way.
    sent: Mutex<Vec<JoinHandle<Result<(), String>>>>,
}

impl Remote {
    /// The store of an address. Whether it answers shows with the first request.
    pub(in crate::cache) fn new(address: &str) -> Result<Remote, String> {
        let operator = operator(Address::parse(address)?).map_err(|e| words(&e))?;
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().map_err(|e| e.to_string())?;
        Ok(Remote {
            address: address.to_owned(),
            operator,
            runtime,
            broken: AtomicBool::new(false),
            sent: Mutex::default(),
        })
    }

    /// The address as the user gave it.
    pub(in crate::cache) fn address(&self) -> &str {
        &self.address
    }

    /// The entry of a key, if the store has one.
    ///
    /// # Errors
    /// Why the store cannot be used, once.
    pub(in crate::cache) fn get(&self, key: Key) -> Result<Option<Vec<u8>>, String> {
        if self.broken.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let path = path_of(key);
        let read = async { timeout(PATIENCE, self.operator.read(&path)).await };
        match self.runtime.block_on(read) {
            Ok(Ok(bytes)) => Ok(Some(bytes.to_vec())),
            Ok(Err(e)) if e.kind() == ErrorKind::NotFound => Ok(None),
            Ok(Err(e)) => self.give_up(words(&e)).map(|()| None),
            Err(_) => self.give_up(format!("no answer within {} s", PATIENCE.as_secs())).map(|()| None),
        }
    }

    /// Sends an entry in the background.
    pub(in crate::cache) fn put(&self, key: Key, entry: Vec<u8>) {
        if self.broken.load(Ordering::Relaxed) {
            return;
        }
        let operator = self.operator.clone();
        let send = async move {
            match timeout(LATEST, operator.write(&path_of(key), entry)).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(e)) => Err(words(&e)),
                Err(_) => Err(format!("no answer within {} s", LATEST.as_secs())),
            }
        };
        let handle = self.runtime.spawn(send);
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    /// Waits for the entries that are on their way.
    ///
    /// # Errors
    /// Why the store cannot be used, once.
    pub(in crate::cache) fn finish(&self) -> Result<(), String> {
        let sent = std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async {
            for handle in sent {
                handle.await.map_err(|e| e.to_string())??;
            }
            Ok(())
        };
        match self.runtime.block_on(async { timeout(LATEST, all).await }) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => self.give_up(why),
            Err(_) => self.give_up(format!("no answer within {} s", LATEST.as_secs())),
        }
    }

    /// Asks the store no more. Only the first failure is an error.
    fn give_up(&self, why: String) -> Result<(), String> {
        if self.broken.swap(true, Ordering::Relaxed) { Ok(()) } else { Err(why) }
    }
}

/// Where an entry lies: folders of the first two digits keep a folder of a file system small.
fn path_of(key: Key) -> String {
    let name = key.to_string();
    format!("ttc/v1/{}/{}", &name[..2], &name[2..])
}

fn operator(address: Address) -> opendal::Result<Operator> {
    static ONCE: Once = Once::new();
    // HTTP needs a client, and TLS somebody to compute for it. Should the program around have chosen, its choice holds.
    ONCE.call_once(|| {
        drop(rustls::crypto::ring::default_provider().install_default());
        opendal_http_transport_reqwest::install_default();
    });
    match address {
        Address::Redis { endpoint, user, password, database } => {
            Operator::new(Redis::default().endpoint(&endpoint).username(&user).password(&password).db(database))
        }
        Address::S3 { bucket, prefix, endpoint, region } => {
            // Keys come from the environment and AWS's files. The metadata service of a virtual machine of Amazon's
            // would have to be waited for everywhere else.
            let service = S3::default().bucket(&bucket).root(&format!("/{prefix}")).disable_ec2_metadata();
            let service = if let Some(endpoint) = endpoint { service.endpoint(&endpoint) } else { service };
            let from_environment = || std::env::var("AWS_REGION").unwrap_or_else(|_| "us-east-1".to_owned());
            Operator::new(service.region(&region.unwrap_or_else(from_environment)))
        }
        Address::Folder(folder) => Operator::new(Fs::default().root(&folder)),
    }
}

/// The innermost cause of an error, without OpenDAL's account of the request.
fn words(error: &opendal::Error) -> String {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    let text = cause.map_or_else(|| error.message().to_owned(), ToString::to_string);
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() { error.kind().to_string() } else { line.to_owned() }
}
