//! The thread that analyses documents, the one that changed last first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::analysis::{Analysis, analyse};
use super::documents::Snapshot;
use crate::threads;

/// A document to analyse.
pub(super) struct Task {
    pub(super) uri: String,
    pub(super) version: i32,
    pub(super) own: Snapshot,
    pub(super) others: Vec<Snapshot>,
    pub(super) stop: Arc<AtomicBool>,
}

/// An analysis that is done.
pub(super) struct Done {
    pub(super) uri: String,
    pub(super) analysis: Arc<Analysis>,
}

/// Starts the thread. It ends with the sender of tasks.
///
/// # Errors
/// The system's error if no thread can be started.
pub(super) fn start() -> std::io::Result<(Sender<Task>, Receiver<Done>)> {
    let (tasks, to_do) = unbounded::<Task>();
    let (finished, done) = unbounded();
    threads::start(|builder| {
        let (to_do, finished) = (to_do.clone(), finished.clone());
        builder.name("analyst".to_owned()).spawn(move || work(&to_do, &finished))
    })?;
    Ok((tasks, done))
}

fn work(to_do: &Receiver<Task>, done: &Sender<Done>) {
    let mut waiting: Vec<Task> = vec![];
    loop {
        if waiting.is_empty() {
            match to_do.recv() {
                Ok(task) => waiting.push(task),
                Err(_) => return,
            }
        }
        waiting.extend(to_do.try_iter());
        waiting.retain(|t| !t.stop.load(Ordering::Relaxed));
        let Some(Task { uri, version, own, others, stop }) = waiting.pop() else { continue };
        if let Some(analysis) = analyse(version, &own, &others, &stop)
            && done.send(Done { uri, analysis: Arc::new(analysis) }).is_err()
        {
            return;
        }
    }
}
