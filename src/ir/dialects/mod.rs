//! The dialects: a closed set of operation kinds, each with one table entry.
//!
//! [`OpKind`] is closed on purpose: a `match` over it without `_` makes the compiler list what a new operation still
//! lacks. The tables are in one file a dialect; [`table`] explains their form.

pub mod amdg;
pub mod arith;
pub mod array_map;
pub mod builtin;
pub mod classes;
pub mod constraints;
pub mod discardable;
pub mod enums;
pub mod fold;
mod functions;
pub mod host;
pub mod infer;
pub mod keys;
pub mod layouts;
pub mod math;
pub mod memory;
pub mod predicates;
pub mod scf;
pub mod spec;
mod table;
pub mod tt;
pub mod ttg;
pub mod ttng;
pub mod type_rules;
pub mod verify;

use std::sync::LazyLock;

pub use amdg::{AmdgOp, GcnOp};
pub use arith::ArithOp;
pub use builtin::{BuiltinOp, GpuOp, LlvmOp, UbOp};
pub use classes::Classes;
pub use host::HostFunction;
pub use layouts::LayoutRule;
pub use math::MathOp;
pub use scf::{CfOp, ScfOp};
pub use spec::{Effects, Exchange, Folded, OpSpec, Traits};
pub use tt::TtOp;
pub use ttg::TtgOp;
pub use ttng::TtngOp;
pub use type_rules::TypeRule;

use crate::ir::core::Name;
use crate::ir::core::hash::Map;

macro_rules! kinds {
    ($($var:ident($op:ty)),*) => {
        /// The kind of an operation.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum OpKind {
            $($var($op),)*
            /// An operation of no known dialect, kept by name.
            Unregistered(Name),
        }

        impl OpKind {
            /// The table entry; unregistered operations share an empty one.
            #[must_use]
            pub fn spec(self) -> &'static OpSpec {
                static UNREGISTERED: OpSpec = OpSpec { name: "", effects: Effects::Unknown, ..OpSpec::DEFAULT };
                match self {
                    $(OpKind::$var(op) => op.spec(),)*
                    OpKind::Unregistered(_) => &UNREGISTERED,
                }
            }

            /// Every registered kind, in table order.
            pub fn all() -> impl Iterator<Item = OpKind> {
                std::iter::empty()$(.chain(<$op>::ALL.iter().map(|&op| OpKind::$var(op))))*
            }
        }

        $(impl From<$op> for OpKind {
            fn from(op: $op) -> OpKind {
                OpKind::$var(op)
            }
        })*
    };
}

kinds!(
    Builtin(BuiltinOp),
    Ub(UbOp),
    Arith(ArithOp),
    Math(MathOp),
    Scf(ScfOp),
    Cf(CfOp),
    Llvm(LlvmOp),
    Gpu(GpuOp),
    Tt(TtOp),
    Ttg(TtgOp),
    Ttng(TtngOp),
    Amdg(AmdgOp),
    Gcn(GcnOp)
);

impl OpKind {
    /// The full name, `tt.load`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Unregistered(name) => name.as_str(),
            known => known.spec().name,
        }
    }

    /// The registered kind of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<OpKind> {
        static BY_NAME: LazyLock<Map<&'static str, OpKind>> =
            LazyLock::new(|| OpKind::all().map(|k| (k.name(), k)).collect());
        BY_NAME.get(name).copied()
    }
}
