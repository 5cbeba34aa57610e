//! The products of a warp that are in flight, and what its fences and groups have seen.

use std::collections::BTreeSet;

use crate::emu::decode::op::Op;
use crate::emu::decode::program::Reg;

/// A product that has not landed.
pub(crate) struct Product {
    /// How many groups the warp had committed.
    pub(crate) group: u32,
    pub(crate) function: usize,
    pub(crate) at: u32,
    /// Where the registers of its frame start. The frame is gone if there are none, and so is the result.
    pub(crate) registers: Option<usize>,
    /// The descriptors of A (0 if it is in registers) and B, and whether the accumulator is added.
    pub(crate) a: u64,
    pub(crate) b: u64,
    pub(crate) adds: bool,
    pub(crate) landed: bool,
}

/// The products of a warp.
#[derive(Default)]
pub(crate) struct Products {
    pub(crate) pending: Vec<Product>,
    pub(crate) committed: u32,
    /// Registers that other steps touched since the last fence, of those that products use.
    pub(crate) dirty: BTreeSet<Reg>,
    /// Whether there was any fence.
    pub(crate) fenced: bool,
}

impl Products {
    /// Whether any product is in flight.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn fence(&mut self) {
        self.dirty.clear();
        self.fenced = true;
    }

    /// Registers were read or written.
    pub(crate) fn unfence(&mut self, op: &Op) {
        op.registers(&mut |r, _| _ = self.dirty.insert(r));
    }

    pub(crate) fn commit(&mut self) {
        self.committed += 1;
    }

    /// The frame whose registers start there is left: nobody can ask for what its products make.
    pub(crate) fn leave_frame(&mut self, registers: usize) {
        for p in self.pending.iter_mut().filter(|p| p.registers == Some(registers)) {
            p.registers = None;
        }
    }
}
