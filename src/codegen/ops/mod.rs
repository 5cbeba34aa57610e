//! The operations, a file per family; [`dispatch`] finds the family of an operation.

mod arith;
mod async_copy;
mod atomic_access;
pub(crate) mod atomics;
mod call;
mod cast;
pub(crate) mod constant;
pub(crate) mod control;
mod convert_layout;
mod debug;
mod dispatch;
pub(crate) mod dot;
mod elementwise;
mod fp4;
mod gather;
mod histogram;
mod inline_asm;
mod local;
mod map_elementwise;
mod math;
mod memory;
mod reduce;
mod scan;
mod shape;

pub(crate) use dispatch::lower;
