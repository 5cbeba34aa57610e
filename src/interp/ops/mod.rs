//! The meaning of each operation, in one file for each family; `dispatch.rs` chooses between them. Every `match` over a
//! dialect's operations lists all of them, except for those that only TTGIR has.

pub(crate) mod arith;
pub(crate) mod atomics;
pub(crate) mod block;
pub(crate) mod combine;
pub(crate) mod control;
pub(crate) mod convert;
pub(crate) mod dispatch;
pub(crate) mod dot;
pub(crate) mod index;
pub(crate) mod libdevice;
pub(crate) mod math;
pub(crate) mod print;
pub(crate) mod scaled;
pub(crate) mod shape;
pub(crate) mod tt;
pub(crate) mod ttg;
