//! The thread that analyses documents, the one that changed last first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::analysis::{Analysis, analyse};
use super::snapshot::Snapshot;
use crate::threads;

/// A document to analyse.
pub(super) struct Task {
    pub(super) uri: String,
    pub(super) version: i32,
    pub(super) own: Snapshot,
    pub(super) others: Vec<Snapshot>,
    /// Counts the changes on the disk that the client told of.
    pub(super) epoch: u64,
    pub(super) stop: Arc<AtomicBool>,
}

/// An analysis that is done.
pub(super) struct Done {
    pub(super) uri: String,
    pub(super) analysis: Arc<Analysis>,
}

/// The last analysis of a document.
struct Before {
    world: World,
    /// The files that it read, with the times of their last change.
    read: Vec<(PathBuf, Option<SystemTime>)>,
    analysis: Arc<Analysis>,
}

/// Everything that an analysis may see beside its own text and the disk.
struct World {
    others: Vec<Snapshot>,
    epoch: u64,
}

impl Before {
    /// Whether nothing but the document's own text has changed since.
    fn holds(&self, world: &World, own: &Snapshot) -> bool {
        let others = |world: &World| -> Vec<(PathBuf, Arc<str>)> {
            let others = world.others.iter().filter(|o| o.path != own.path);
            others.map(|o| (o.path.clone(), o.text.clone())).collect()
        };
        self.world.epoch == world.epoch
            && others(&self.world) == others(world)
            && self.read.iter().all(|(path, time)| changed(path) == *time)
    }
}

/// The files that an analysis has read from the disk.
fn on_disk(analysis: &Analysis, own: &Snapshot, open: &[Snapshot]) -> Vec<(PathBuf, Option<SystemTime>)> {
    let paths = analysis.sources.iter().filter_map(|(_, f)| f.path.clone());
    let paths = paths.filter(|p| *p != own.path && open.iter().all(|o| o.path != *p));
    paths.map(|path| (path.clone(), changed(&path))).collect()
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|m| m.modified()).ok()
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
    let mut before: BTreeMap<String, Before> = BTreeMap::new();
    loop {
        if waiting.is_empty() {
            match to_do.recv() {
                Ok(task) => waiting.push(task),
                Err(_) => return,
            }
        }
        waiting.extend(to_do.try_iter());
        waiting.retain(|t| !t.stop.load(Ordering::Relaxed));
        let Some(Task { uri, version, own, others, epoch, stop }) = waiting.pop() else { continue };
        let world = World { others, epoch };
        let old = before.get(&uri).filter(|b| b.holds(&world, &own));
        let Some(analysis) = analyse(version, &own, &world.others, old.map(|b| &b.analysis), &stop) else { continue };
        let analysis = Arc::new(analysis);
        let read = on_disk(&analysis, &own, &world.others);
        before.insert(uri.clone(), Before { world, read, analysis: analysis.clone() });
        if done.send(Done { uri, analysis }).is_err() {
            return;
        }
    }
}
