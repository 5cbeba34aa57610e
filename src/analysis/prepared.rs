//! What code generation is handed besides the module: everything about it that was computed once, when shared memory
//! was laid out.
//!
//! 1. [`Prepared::new`] plans how operations exchange elements, lays out shared memory, and analyses values along their
//!    axes, function by function.
//! 2. The passes of the preparation use it one after the other: offsets, fences, barriers. They only add operations
//!    without results, and attributes, so it stays true of the module ([`crate::passes::manager::PassCx`]).
//! 3. Code generation emits these plans, and none that it made itself.

use std::collections::BTreeMap;

use super::allocation::{self, Allocation, Refused};
use super::axis_info::AxisInfoAnalysis;
use crate::ir::{Ir, Op};
use crate::target::Target;

/// What is known of one function.
#[derive(Debug)]
pub struct PreparedFunction {
    pub allocation: Allocation,
    pub axis: AxisInfoAnalysis,
}

/// What is known of a module. It holds for the target that it was made for.
#[derive(Debug)]
pub struct Prepared {
    target: Target,
    /// By their operation, in the order of the module.
    pub functions: BTreeMap<Op, PreparedFunction>,
}

impl Prepared {
    /// Computes everything.
    ///
    /// # Errors
    /// When a buffer's type, or a type of an operation with scratch memory, has no layout.
    pub fn new(ir: &Ir, target: &Target) -> Result<Prepared, Refused> {
        let allocations = allocation::of_module(ir, target)?;
        let with_axis = |(func, allocation)| {
            let axis = AxisInfoAnalysis::new(ir, func);
            (func, PreparedFunction { allocation, axis })
        };
        Ok(Prepared { target: *target, functions: allocations.into_iter().map(with_axis).collect() })
    }

    /// Whether it was made for this target.
    #[must_use]
    pub fn is_for(&self, target: &Target) -> bool {
        self.target == *target
    }
}
