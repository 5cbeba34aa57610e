//! The interpreter: runs a kernel of a TTIR module for a whole grid on the CPU.
//!
//! It is the reference semantics of the IR, with which every pass and lowering is compared, and a debugger's friend:
//! what is undefined on a device is a [`Diagnostic`] here, with the source line, the program and the element.
//!
//! 1. [`Memory`] holds the buffers; an [`Arg`] points into one or is a number.
//! 2. `plan.rs` looks at the kernel once: which values are indices, whether programs may run at the same time.
//! 3. `launch.rs` runs the programs of the grid, in parallel where that cannot be observed, in order otherwise. The
//!    result is the same.
//! 4. `program.rs` walks the operations of one program. `ops/` says what each one does, in one file for each family.
//! 5. `access.rs` checks and performs each access to memory; `races.rs` remembers who touched what, `undef.rs` follows
//!    what nobody defined, `promises.rs` checks what the kernel promises, `finite.rs` finds NaN and infinity where they
//!    are made.
//! 6. `limits.rs` bounds work, time and memory, and `lines.rs` what is printed.
//!
//! ```
//! use ttc::interp::{Arg, Memory, Options, run};
//! use ttc::ir::{FloatKind, Type};
//! # let text = r#"module { tt.func public @double(%x: !tt.ptr<f32>) {
//! #   %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
//! #   %s = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
//! #   %p = tt.addptr %s, %r : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
//! #   %v = tt.load %p : tensor<4x!tt.ptr<f32>>
//! #   %d = arith.addf %v, %v : tensor<4xf32>
//! #   tt.store %p, %d : tensor<4x!tt.ptr<f32>>
//! #   tt.return } }"#;
//! # let mut map = ttc::source::SourceMap::default();
//! # let file = map.add("double.ttir", None, text);
//! # let ir = ttc::ir::text::parser::parse_module(&map, file, &Default::default()).unwrap();
//! let mut memory = Memory::new();
//! let x = memory.add_values("x", Type::float(FloatKind::F32), &[1.0, 2.0, 3.0, 4.0]);
//! run(&ir, "double", [1, 1, 1], &[Arg::Ptr(x, 0)], &mut memory, &Options::default()).unwrap();
//! assert_eq!(memory.values(x), [2.0, 4.0, 6.0, 8.0]);
//! ```

// Floats are compared exactly on purpose: bits are what is computed here. Every step has a boxed fault as its error, so
// functions make it boxed.
#![allow(clippy::float_cmp, clippy::unnecessary_box_returns)]

mod access;
mod fault;
mod finite;
mod launch;
mod limits;
mod lines;
mod memory;
pub mod npy;
mod numbers;
mod ops;
mod plan;
mod program;
mod promises;
mod races;
mod render;
mod undef;
mod value;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

pub use launch::{programs, run};
pub use memory::{Budget, BufferId, Memory, element_size};

use crate::diag::Diagnostic;
use crate::ir::{Ir, TtOp, Type};

/// The most axes that a tensor descriptor can have.
pub const MAX_DESCRIPTOR_RANK: usize = 5;

/// An argument of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arg {
    /// A buffer and a distance in bytes from its start.
    Ptr(BufferId, u64),
    /// A descriptor of a whole buffer, with the extents of its axes. Its rows follow one another.
    Desc(BufferId, [i64; MAX_DESCRIPTOR_RANK]),
    /// An integer of any width. A float parameter takes its value.
    Int(i64),
    /// A float, rounded to the parameter's type.
    Float(f64),
}

/// The faults to look for, beyond those after which a program cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Two programs that touch the same address without an order, and stores whose elements overlap.
    pub races: bool,
    /// Accesses outside of a buffer. Without this check such a load gives zero and such a store does nothing.
    pub bounds: bool,
    /// Reads of memory that nobody has written.
    pub uninit: bool,
    /// Elements that a masked load without `other` left out, where they matter.
    pub undefined: bool,
    /// Promises that do not hold: `tl.multiple_of`, `tl.max_contiguous`, `tl.max_constancy` and `tl.assume`.
    pub promises: bool,
    /// Operations that make a NaN or an infinity.
    pub nan: bool,
}

impl Default for Checks {
    fn default() -> Checks {
        Checks { races: true, bounds: true, uninit: true, undefined: true, promises: true, nan: false }
    }
}

/// A source line whose values are recorded in one program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The end of the file's name, or `None` for any file.
    pub file: Option<String>,
    /// The line, from 1 on.
    pub line: u32,
    pub program: [u32; 3],
}

/// The work of one program, unless [`Options::max_ops`] says otherwise: about ten seconds.
pub const MAX_OPS: u64 = 1 << 27;
/// The lines that are kept, unless [`Options::max_lines`] says otherwise.
pub const MAX_LINES: usize = 10_000;
/// The memory of a launch, unless [`Options::max_memory`] says otherwise: 2 GiB.
pub const MAX_MEMORY: u64 = 2 << 30;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    pub checks: Checks,
    pub trace: Option<Trace>,
    /// How many threads may be used. 0 means as many as there are cores.
    pub threads: usize,
    /// The work after which a program counts as endless: an operation is 1, and 1 more for every 16 elements.
    pub max_ops: u64,
    /// When the launch ends, whatever it has done by then.
    pub deadline: Option<Instant>,
    /// How many faults are looked for, at different places. A program goes on after a fault only if this is more than
    /// 1.
    pub max_faults: usize,
    /// How many lines are kept of what programs print, and of what is traced.
    pub max_lines: usize,
    /// How many bytes the buffers, the values, and what the checks remember may take together.
    pub max_memory: u64,
    /// Counts the programs that have finished, for a progress bar in another thread.
    pub progress: Option<Arc<AtomicU64>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            checks: Checks::default(),
            trace: None,
            threads: 0,
            max_ops: MAX_OPS,
            deadline: None,
            max_faults: 1,
            max_lines: MAX_LINES,
            max_memory: MAX_MEMORY,
            progress: None,
        }
    }
}

/// A line that a program printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    pub program: [u32; 3],
    pub text: String,
}

/// A value that was defined at the traced line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traced {
    pub line: u32,
    pub col: u32,
    /// The name in the source, if it has one.
    pub name: Option<String>,
    /// The operation that made it, such as `arith.addf`.
    pub op: &'static str,
    pub ty: Type,
    /// All elements, or the first and the last ones of each dimension of a large tensor.
    pub text: String,
}

/// What a launch did besides writing to memory.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// The printed lines, in the order of the programs.
    pub printed: Vec<Printed>,
    pub traced: Vec<Traced>,
    /// How many lines were printed beyond [`Options::max_lines`].
    pub printed_more: u64,
    /// How many values were traced beyond [`Options::max_lines`].
    pub traced_more: u64,
    pub programs: u64,
    /// How many operations were evaluated, over all programs.
    pub ops: u64,
    /// Whether programs ran at the same time.
    pub parallel: bool,
}

/// A parameter of a kernel, as the interpreter wants its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name in the source, if the module has kept it.
    pub name: Option<&'static str>,
    pub ty: Type,
}

/// The names of the module's kernels: public functions with a body.
#[must_use]
pub fn kernels(ir: &Ir) -> Vec<&'static str> {
    let public = |op| ir.str_attr(op, "sym_visibility").is_none_or(|v| v == "public");
    let with_body = |op| ir.is(op, TtOp::Func) && ir.body(op, 0).is_some();
    ir.functions()
        .into_iter()
        .filter(|&f| with_body(f) && public(f))
        .filter_map(|f| ir.str_attr(f, "sym_name"))
        .collect()
}

/// The parameters of a kernel. `Err` names the kernels that there are.
pub fn params(ir: &Ir, kernel: &str) -> Result<Vec<Param>, Box<Diagnostic>> {
    let function = launch::find_kernel(ir, kernel)?;
    let args = ir.body(function, 0).map(|b| ir.args(b)).unwrap_or_default();
    Ok(args
        .iter()
        .map(|&a| Param { name: ir.value_loc(a).value_name().map(crate::ir::Name::as_str), ty: ir.ty(a) })
        .collect())
}
