//! Values of the language: what an expression of a kernel stands for while it is lowered.
//!
//! - [`object`]: any value; [`constant`]: those known at compile time;
//! - [`ty`]: static types, which name specialisations; [`parts`]: the IR values inside of a value;
//! - [`primitive`]: functions of the language that are written in Rust, and what they may ask of their caller.
//!
//! A value may be a primitive, and a primitive takes values: that is why [`object`], [`constant`] and [`primitive`]
//! know each other.

mod constant;
mod object;
mod parts;
mod primitive;
mod ty;

pub use constant::{Around, Class, Const, Enumerator, Func, LambdaVal, NamedFunction, Tuned, Tuner, python_float};
pub use object::{Argument, Config, Desc, Form, Items, Method, Object, Passed, PassedItem, Range, RangeKind, SliceVal};
pub use primitive::{Args, Builtin, Calls, Parameter, Run};
pub use ty::ObjectType;
