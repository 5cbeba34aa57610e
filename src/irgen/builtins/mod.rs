//! The primitives of the language, in one table: name, parameters, documentation, function.
//!
//! What Triton itself writes in its language is not here but in the prelude ([`super::front::prelude`]); how a
//! signature is written stands at [`Builtin`](super::value::Builtin).
//!
//! To add one: an entry in the table of its family, with a function `fn(&mut Emitter, &Args) -> R<Object>`, and
//! `.method()` behind it if tensors have it as a method; a case under `tests/irgen`. A primitive that calls functions
//! which it is given is an entry of `calling` and gets a [`Calls`](super::value::Calls) instead.

mod args;
mod atomic;
mod creation;
mod debug;
mod descriptor;
mod dot;
mod entry;
mod extern_amd;
mod extern_math;
mod hints;
mod host;
mod map;
mod math;
mod memory;
mod operators;
mod python;
mod reduce;
mod shape;
mod tables;
mod target;
mod types;

pub(in crate::irgen) use debug::asserted;
pub use tables::{
    all, descriptor_method, descriptor_type, dtype_method, host_method, instead_of, known_but_missing, member,
    member_names, python, python_names, tensor_attr_names, tensor_method,
};
pub use target::DECORATORS;
