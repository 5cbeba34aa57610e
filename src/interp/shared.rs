//! What all programs of a launch share: the module, what is known of the kernel, memory, and what the checks remember.

use std::sync::Mutex;

use super::fault::Faults;
use super::kernel_facts::KernelFacts;
use super::memory::Memory;
use super::options::RunOptions;
use super::races::{History, Releases};
use crate::ir::Ir;

/// What all programs of a launch share.
pub(crate) struct Shared<'a> {
    pub(crate) ir: &'a Ir,
    pub(crate) memory: &'a Memory,
    pub(crate) options: &'a RunOptions,
    pub(crate) facts: &'a KernelFacts,
    pub(crate) grid: [u32; 3],
    pub(crate) history: Option<History>,
    /// What each address has released. Only programs that run in order release and acquire.
    pub(crate) releases: Mutex<Releases>,
    /// The faults of programs that went on.
    pub(crate) faults: Faults,
    /// How many bytes the values of one program may take.
    pub(crate) room: u64,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(
        ir: &'a Ir,
        memory: &'a Memory,
        options: &'a RunOptions,
        facts: &'a KernelFacts,
        grid: [u32; 3],
        history: Option<History>,
        room: u64,
    ) -> Shared<'a> {
        let (releases, faults) = (Mutex::new(Releases::default()), Faults::default());
        Shared { ir, memory, options, facts, grid, history, releases, faults, room }
    }
}
