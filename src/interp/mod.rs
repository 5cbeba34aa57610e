//! The interpreter: runs a kernel of a TTIR module for a whole grid on the CPU.
//!
//! It is the reference semantics of the IR, with which every pass and lowering is compared, and a debugger's friend:
//! what is undefined on a device is a [`Diagnostic`](crate::diag::Diagnostic) here, with the source line, the program
//! and the element.
//!
//! 1. [`Memory`] holds the buffers; an [`Arg`] points into one or is a number.
//! 2. `kernel_facts.rs` looks at the kernel once: which values are indices, whether programs may run at the same time.
//! 3. `launch.rs` runs the programs of the grid, in parallel where that cannot be observed, in order otherwise. The
//!    result is the same.
//! 4. `program.rs` walks the operations of one program. `ops/` says what each one does, in one file for each family,
//!    and `ops/dispatch.rs` which family that is.
//! 5. `access.rs` checks and performs each access to memory; `races.rs` remembers who touched what, `spread.rs` follows
//!    what nobody defined, `promises.rs` checks what the kernel promises, `finite.rs` finds NaN and infinity where they
//!    are made.
//! 6. `limits.rs` bounds work, time and memory, and `lines.rs` what is printed.
//!
//! ```
//! use ttc::interp::{Arg, Memory, RunOptions, run};
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
//! run(&ir, "double", [1, 1, 1], &[Arg::Ptr(x, 0)], &mut memory, &RunOptions::default()).unwrap();
//! assert_eq!(memory.values(x), [2.0, 4.0, 6.0, 8.0]);
//! ```

// Floats are compared exactly on purpose: bits are what is computed here. Every step has a boxed fault as its error, so
// functions make it boxed.
#![allow(clippy::float_cmp, clippy::unnecessary_box_returns)]

mod access;
mod fault;
mod finite;
mod hints;
mod kernel_facts;
mod kernels;
mod launch;
mod limits;
mod lines;
mod memory;
pub mod npy;
mod numbers;
mod ops;
mod options;
mod program;
mod promises;
mod races;
mod render;
mod report;
mod shared;
mod spread;
mod tensor_block;
mod undef;
mod value;

#[cfg(test)]
mod tests;

pub use kernels::{Arg, MAX_DESCRIPTOR_RANK, Param, kernels, params};
pub use launch::{programs, run};
pub use memory::{Budget, BufferId, Memory, element_size};
pub use options::{Checks, MAX_LINES, MAX_MEMORY, MAX_OPS, RunOptions, Trace};
pub use report::{Printed, Report, Traced};
