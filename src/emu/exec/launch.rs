//! What a launch is, how it is run, and what comes out.

use crate::emu::memory::BufferId;
use crate::emu::observe::Event;
use crate::emu::report::Finding;
use crate::emu::tensor::TensorMap;

/// What to run a kernel with.
#[derive(Clone, Debug)]
pub struct Launch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    /// The bytes of `.extern .shared` memory.
    pub dynamic_shared: u32,
    pub arguments: Vec<Argument>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The bytes of a number or a structure.
    Scalar(Vec<u8>),
    Pointer {
        buffer: BufferId,
        offset: u64,
    },
    TensorMap(TensorMap),
}

/// When asynchronous work lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Landing {
    /// When it is issued.
    Early,
    /// When somebody waits for it.
    Late,
    /// At any time between.
    #[default]
    Random,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Decides the order of warps, and when asynchronous work lands.
    pub seed: u64,
    pub landing: Landing,
    /// Whether to look for races and reads of unwritten memory.
    pub check: bool,
    /// The most steps of warps.
    pub max_steps: u64,
    /// The most findings that are kept.
    pub max_findings: usize,
    /// The block and the warp whose steps are written down.
    pub trace: Option<([u32; 3], u32)>,
    /// The most lines of a trace.
    pub max_trace: usize,
    /// Whether the outcome has what an observer is told.
    pub observe: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 0,
            landing: Landing::default(),
            check: true,
            max_steps: 1 << 32,
            max_findings: 10,
            trace: None,
            max_trace: 10_000,
            observe: false,
        }
    }
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What is wrong, though the run went on.
    pub findings: Vec<Finding>,
    /// What `vprintf` wrote.
    pub printed: Vec<String>,
    pub trace: Vec<String>,
    /// What happened, if [`Options::observe`] asks for it.
    pub events: Vec<Event>,
    /// The steps of all warps.
    pub instructions: u64,
}

/// A run that ended before its end.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What ended it.
    pub finding: Finding,
    /// What happened before.
    pub before: Outcome,
}
