//! Compiling saved documents to the end: for the lens, and for what only the passes and ptxas find.
//!
//! A thread compiles one kernel after the other. If ptxas is not there, nothing is compiled and nothing is said.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::analysis::{About, Analysis};
use crate::backend::Stage;
use crate::diag::{Diagnostic, codes};
use crate::driver::metadata::Metadata;
use crate::driver::{Debug, Outcome, run_all};
use crate::source::SourceMap;
use crate::threads;

/// What compiling a document gave.
#[derive(Clone)]
pub(super) struct Compiled {
    pub(super) version: i32,
    /// By the names of kernels.
    pub(super) kernels: BTreeMap<String, Metadata>,
    /// What the analysis had not found, with the sources that it points into.
    pub(super) said: Vec<(Vec<Diagnostic>, SourceMap)>,
}

/// A document to compile: its kernels with types.
pub(super) struct Task {
    pub(super) uri: String,
    pub(super) analysis: Arc<Analysis>,
    pub(super) stop: Arc<AtomicBool>,
}

/// A document that was compiled.
pub(super) struct Done {
    pub(super) uri: String,
    pub(super) compiled: Compiled,
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
        builder.name("compiler".to_owned()).spawn(move || {
            for task in &to_do {
                if let Some(compiled) = compile(&task)
                    && finished.send(Done { uri: task.uri, compiled }).is_err()
                {
                    return;
                }
            }
        })
    })?;
    Ok((tasks, done))
}

/// Compiles the kernels that nothing is wrong with, as far as that is known. `None` if the text has changed since.
fn compile(task: &Task) -> Option<Compiled> {
    let About::Kernels(kernels) = &task.analysis.about else { return None };
    let mut all = Compiled { version: task.analysis.version, kernels: BTreeMap::new(), said: vec![] };
    for unit in kernels.units.iter().filter(|u| u.lowered.is_some()) {
        if task.stop.load(Ordering::Relaxed) {
            return None;
        }
        let job = std::slice::from_ref(&unit.job);
        for Outcome { result, sources } in
            run_all(job, &task.analysis.sources, &[Stage::Assembly, Stage::Binary], &Debug::default(), 1)
        {
            match result {
                Ok(made) => _ = all.kernels.insert(unit.name.clone(), made.metadata),
                Err(said) if said.iter().any(|d| d.code == &codes::tools::TOOL_NOT_FOUND) => return None,
                Err(said) => all.said.push((said, sources)),
            }
        }
    }
    Some(all)
}
