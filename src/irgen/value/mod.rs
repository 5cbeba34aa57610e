//! Values of the language: what an expression of a kernel stands for while it is lowered.
//!
//! - [`val`]: any value; [`constant`]: those known at compile time;
//! - [`ty`]: static types, which name specialisations; [`parts`]: the IR values inside of a value;
//! - [`primitive`]: functions of the language that are written in Rust, and what they may ask of their caller.
//!
//! A value may be a primitive, a primitive takes values: that is why the first three files know each other.

mod constant;
mod parts;
mod primitive;
mod ty;
mod val;

pub use constant::{Class, Const, Func, LambdaVal, python_float};
pub use primitive::{Args, Builtin, Calls, Parameter, Run};
pub use ty::ValTy;
pub use val::{Argument, Config, Desc, Items, Method, Range, RangeKind, SliceVal, Val};
