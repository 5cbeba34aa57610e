//! The decoded program: flat code of functions, in which registers are slots and labels are indices.
//!
//! A function's registers are `0..registers`; behind those that the text declares come temporaries and constants, so
//! that every operand of an instruction is a slot. Predicates are slots of their own, a bit for each lane.

use std::collections::BTreeMap;

use super::op::Op;
pub use super::slot::{Formal, Guard, Lanes, Pred, Reg};
use crate::emu::ptx::syntax::{Position, Source};

/// A decoded module.
#[derive(Debug, Default)]
pub struct Program {
    pub functions: Vec<Function>,
    /// The kernels by name: indices of functions.
    pub kernels: BTreeMap<String, usize>,
    /// The initial bytes of `.global` and `.const` variables, one after the other.
    pub globals: Vec<u8>,
    /// Where each of those variables starts.
    pub global_names: BTreeMap<String, u64>,
    /// The bytes of shared memory that the module's variables take.
    pub shared_static: u32,
    /// Where dynamic shared memory starts: behind the variables, aligned for `.extern .shared` arrays.
    pub dynamic_shared_start: u32,
    /// The source files that [`Place::source`] names.
    pub files: BTreeMap<u32, String>,
    /// The architecture, as in `sm_90a`.
    pub target: String,
    /// Whether any instruction orders or updates memory that blocks share, so that blocks can observe each other.
    pub communicates: bool,
    /// Whether it has atomics or fences of a scope that is narrower than the GPU.
    pub narrow_scopes: bool,
    /// The bytes of the narrowest access to shared memory: 1, 2 or 4.
    pub shared_granule: u32,
    /// The bytes of the narrowest access to global memory: 1, 2 or 4.
    pub global_granule: u32,
}

/// A decoded function.
#[derive(Debug, Default)]
pub struct Function {
    pub name: String,
    pub registers: u32,
    pub predicates: u32,
    /// Slots that hold a constant.
    pub constants: Vec<(Reg, Constant)>,
    pub code: Vec<Step>,
    /// Where each step comes from.
    pub places: Vec<Place>,
    /// The bytes of parameter space that a call of it takes: parameters, results, and those of the calls that it makes.
    pub param_bytes: u32,
    /// Its parameters and results in that space.
    pub params: Vec<Formal>,
    pub returns: Vec<Formal>,
    /// The bytes of its local variables, for each lane.
    pub local_bytes: u32,
    /// `.reqntid`: the block that the kernel must be launched with.
    pub required_block: Option<[u32; 3]>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `.maxntid`.
    pub max_threads: Option<u32>,
    /// `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
}

/// What a constant slot holds. An address depends on the block or the call, so it is filled in when a frame is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constant {
    Bits(u64),
    /// A distance in the shared memory of the block.
    Shared(u32),
    /// A distance in the local memory of the frame.
    Local(u32),
}

/// A step of the code.
#[derive(Debug)]
pub struct Step {
    pub op: Op,
    pub guard: Option<Guard>,
    /// Whether it touches a register that an asynchronous product uses, and is no product itself.
    pub touches_products: bool,
}

/// The place of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub at: Position,
    pub source: Option<Source>,
}

/// No instruction: where control flow that never meets again meets.
pub const NOWHERE: u32 = u32::MAX;
