//! The macro that reads a dialect's table.
//!
//! A table entry reads like a signature:
//!
//! ```text
//! /// Documentation; it is in the table entry at run time.
//! Load "load" (ptr: one PTR_LIKE, mask: opt BOOL_LIKE, other: opt ANY) -> (result: one ANY)
//!     { cache: Enum(CacheModifier) => IntIs(1), isVolatile: Bool => BoolIs(false) }
//!     { traits: Traits::ATTR_SIZED_OPERANDS, format: Format::Text("…"), verify: Some(verify_load) };
//! ```
//!
//! Operands: `name: one|opt|many CONSTRAINT`, for memory descriptors followed by what is done to the memory
//! ([`super::memory`]), `[READ]`. Results likewise. Attributes: `name: KIND` (required), `name: KIND => Absent`
//! (optional), or `name: KIND => IntIs(1)` with a default that is neither stored nor printed. The last braces hold any
//! further fields of [`super::spec::OpSpec`].
//!
//! From an entry the macro makes the variant of the dialect's enum, its `OpSpec`, and a typed view of an operation of
//! that kind:
//!
//! ```text
//! let Some(load) = Load::of(ir, op) else { return };      the view, if the operation is a load
//! load.mask(ir)                                           an operand, a result or an attribute
//! load.0                                                  the operation
//! Load::SLOT.mask, Load::ATTR.cache                       its operands and attributes, to set them (`super::keys`)
//! Load::state(loc, ptr, Some(mask), None)                 the parts of a new one, as yet without results
//! ```

/// Reads one dialect's table; see the module documentation.
macro_rules! dialect {
    (
        $(#[$edoc:meta])* $kind:ident($enum:ident) $dialect:literal ($view:ident) {
            $(
                $(#[doc = $doc:literal])*
                $var:ident $mnemonic:literal
                ( $($on:ident : $oa:ident $oc:ident $([$om:expr])?),* $(,)? )
                -> ( $($rn:ident : $ra:ident $rc:ident $([$rm:expr])?),* $(,)? )
                { $($an:ident : $ak:ident $(($($aa:tt)*))? $(=> $ad:expr)?),* $(,)? }
                { $($field:ident : $value:expr),* $(,)? };
            )*
        }
    ) => {
        $(#[$edoc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $enum {
            $($(#[doc = $doc])* $var,)*
        }

        impl $enum {
            /// All operations of the dialect, in table order.
            pub const ALL: &'static [$enum] = &[$($enum::$var),*];

            /// The operation's table entry.
            #[must_use]
            pub fn spec(self) -> &'static $crate::ir::dialects::spec::OpSpec {
                #[allow(unused_imports)]
                use $crate::ir::dialects::{classes::Classes, constraints::*, layouts::LayoutRule, memory::*};
                #[allow(unused_imports)]
                use $crate::ir::dialects::{host::{self, HostFunction}, type_rules::TypeRule};
                #[allow(unused_imports)]
                use $crate::ir::dialects::spec::{AttrKind::*, DefaultValue::*, *};
                match self {
                    $($enum::$var => {
                        static SPEC: OpSpec = OpSpec {
                            name: concat!($dialect, ".", $mnemonic),
                            doc: concat!($($doc, "\n"),*),
                            operands: &[$(OperandSpec {
                                name: stringify!($on),
                                arity: $crate::ir::dialects::table::arity!($oa),
                                constraint: &$oc,
                                memory: $crate::ir::dialects::table::or_unstated!($($om)?),
                            }),*],
                            results: &[$(OperandSpec {
                                name: stringify!($rn),
                                arity: $crate::ir::dialects::table::arity!($ra),
                                constraint: &$rc,
                                memory: $crate::ir::dialects::table::or_unstated!($($rm)?),
                            }),*],
                            attrs: &[$(AttrSpec {
                                name: stringify!($an),
                                kind: $crate::ir::dialects::table::attr_kind!($ak $(($($aa)*))?),
                                default: $crate::ir::dialects::table::or_required!($($ad)?),
                            }),*],
                            $($field: $value,)*
                            ..OpSpec::DEFAULT
                        };
                        const _: () = assert!(
                            SPEC.states_its_memory(),
                            "state what is done to the memory, as in `dst: one MEMDESC [WRITE]`"
                        );
                        &SPEC
                    })*
                }
            }
        }

        /// Typed views of the dialect's operations.
        // `should_implement_trait`: an operand may be called `cmp`. `non_snake_case`: attributes keep MLIR's names.
        #[allow(
            dead_code, unused_variables, unused_mut, unused_assignments, non_snake_case,
            clippy::should_implement_trait, clippy::too_many_arguments
        )]
        pub mod $view {
            #[allow(unused_imports)]
            use $crate::ir::core::{Ir, Loc, Op, OpState, Value};
            #[allow(unused_imports)]
            use $crate::ir::dialects::{OpKind, keys::{Key, Slot}};
            $(
                $(#[doc = $doc])*
                #[derive(Clone, Copy, PartialEq, Eq, Debug)]
                pub struct $var(pub Op);
                impl $var {
                    /// The operation's kind.
                    pub const KIND: OpKind = OpKind::$kind(super::$enum::$var);
                    /// Its operands and groups of operands, to set them.
                    pub const SLOT: slots::$var = {
                        let mut next = 0;
                        slots::$var { $($on: { next += 1; Slot::new(next - 1) }),* }
                    };
                    /// The keys of its attributes.
                    pub const ATTR: attrs::$var = attrs::$var { $($an: Key::new(stringify!($an))),* };

                    /// The view of `op`, if it is of this kind.
                    #[must_use]
                    pub fn of(ir: &Ir, op: Op) -> Option<$var> {
                        (ir.kind(op) == Self::KIND).then_some($var(op))
                    }

                    /// The view of the operation that defines `value`, if there is one and it is of this kind.
                    #[must_use]
                    pub fn defining(ir: &Ir, value: Value) -> Option<$var> {
                        ir.def_op(value).and_then(|op| Self::of(ir, op))
                    }

                    /// The parts of an operation of this kind with these operands.
                    #[must_use]
                    pub fn state(loc: Loc, $($on: $crate::ir::dialects::table::group!($oa)),*) -> OpState {
                        OpState::new(Self::KIND, loc)
                            .groups(&[$($crate::ir::dialects::table::as_slice!($oa $on)),*])
                    }

                    $crate::ir::dialects::table::operand_views!(0usize; $($on $oa,)*);
                    $crate::ir::dialects::table::result_views!(0usize; $($rn $ra,)*);
                    $($crate::ir::dialects::table::attr_view!($an $ak $(($($aa)*))?);)*
                }
            )*

            /// The operands of each operation.
            pub mod slots {
                #[allow(unused_imports)]
                use $crate::ir::dialects::keys::Slot;
                $(
                    #[derive(Clone, Copy)]
                    pub struct $var { $(pub $on: Slot),* }
                )*
            }

            /// The attributes of each operation.
            pub mod attrs {
                #[allow(unused_imports)]
                use $crate::ir::dialects::keys::Key;
                $(
                    #[derive(Clone, Copy)]
                    pub struct $var { $(pub $an: Key<$crate::ir::dialects::table::form!($ak $(($($aa)*))?)>),* }
                )*
            }
        }
    };
}

macro_rules! arity {
    (one) => {
        $crate::ir::dialects::spec::Arity::One
    };
    (opt) => {
        $crate::ir::dialects::spec::Arity::Optional
    };
    (many) => {
        $crate::ir::dialects::spec::Arity::Variadic
    };
}

macro_rules! or_required {
    () => {
        Required
    };
    ($e:expr) => {
        $e
    };
}

macro_rules! or_unstated {
    () => {
        $crate::ir::dialects::memory::Memory::Unstated
    };
    ($e:expr) => {
        $e
    };
}

/// The type of an operand or a group of operands in `state`.
macro_rules! group {
    (one) => { Value };
    (opt) => { Option<Value> };
    (many) => { &[Value] };
}

/// The values of a group.
macro_rules! as_slice {
    (one $value:ident) => {
        std::slice::from_ref(&$value)
    };
    (opt $value:ident) => {
        $value.as_slice()
    };
    (many $value:ident) => {
        $value
    };
}

/// Accessors of operands. An operand that only single ones come before is at its own number; the others' places depend
/// on how many values there are.
macro_rules! operand_views {
    ($i:expr;) => {};
    ($i:expr; $name:ident one, $($rest:tt)*) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> Value { ir.operand(self.0, $i) }
        $crate::ir::dialects::table::operand_views!($i + 1; $($rest)*);
    };
    ($i:expr; $($rest:tt)*) => { $crate::ir::dialects::table::operand_group_views!($i; $($rest)*); };
}

macro_rules! operand_group_views {
    ($i:expr;) => {};
    ($i:expr; $name:ident one, $($rest:tt)*) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> Value { ir.operand_group(self.0, $i)[0] }
        $crate::ir::dialects::table::operand_group_views!($i + 1; $($rest)*);
    };
    ($i:expr; $name:ident opt, $($rest:tt)*) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> Option<Value> { ir.operand_group(self.0, $i).first().copied() }
        $crate::ir::dialects::table::operand_group_views!($i + 1; $($rest)*);
    };
    ($i:expr; $name:ident many, $($rest:tt)*) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> &[Value] { ir.operand_group(self.0, $i) }
        $crate::ir::dialects::table::operand_group_views!($i + 1; $($rest)*);
    };
}

macro_rules! result_views {
    ($i:expr;) => {};
    ($i:expr; $name:ident one, $($rest:tt)*) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> Value { ir.results(self.0)[$i] }
        $crate::ir::dialects::table::result_views!($i + 1; $($rest)*);
    };
    ($i:expr; $name:ident opt, $($rest:tt)*) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> Option<Value> { ir.results(self.0).get($i).copied() }
        $crate::ir::dialects::table::result_views!($i + 1; $($rest)*);
    };
    ($i:expr; $name:ident many, $($rest:tt)*) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> &[Value] { &ir.results(self.0)[$i..] }
        $crate::ir::dialects::table::result_views!($i + 1; $($rest)*);
    };
}

macro_rules! attr_kind {
    (Enum($of:ident)) => {
        $crate::ir::dialects::spec::AttrKind::Enum(<$of as $crate::ir::dialects::enums::Enumeration>::SPEC)
    };
    ($kind:ident) => {
        $crate::ir::dialects::spec::AttrKind::$kind
    };
    ($kind:ident ($($of:tt)*)) => {
        $crate::ir::dialects::spec::AttrKind::$kind($($of)*)
    };
}

/// The form of an attribute of this kind.
macro_rules! form {
    (Enum($of:ident)) => { $crate::ir::dialects::keys::Case<$crate::ir::dialects::enums::$of> };
    (Flags($of:expr)) => { $crate::ir::dialects::keys::Flags };
    (Int($width:literal)) => { $crate::ir::dialects::keys::Int<$width> };
    (DenseArray($width:literal)) => { $crate::ir::dialects::keys::Ints<$width> };
    (Bool) => { $crate::ir::dialects::keys::Bool };
    (Unit) => { $crate::ir::dialects::keys::Unit };
    (Str) => { $crate::ir::dialects::keys::Str };
    (Symbol) => { $crate::ir::dialects::keys::Symbol };
    (Type) => { $crate::ir::dialects::keys::TypeOf };
    (Array) => { $crate::ir::dialects::keys::Attrs };
    ($any:ident) => { $crate::ir::dialects::keys::Any };
}

/// The accessor of an attribute: what it holds or its default, or for flags whether it is set.
macro_rules! attr_view {
    ($name:ident Bool) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> bool { ir.get(self.0, Self::ATTR.$name).unwrap_or(false) }
    };
    ($name:ident Unit) => {
        #[must_use]
        pub fn $name(self, ir: &Ir) -> bool { ir.stores(self.0, Self::ATTR.$name) }
    };
    ($name:ident $kind:ident $(($($of:tt)*))?) => {
        #[must_use]
        pub fn $name(
            self,
            ir: &Ir,
        ) -> Option<$crate::ir::dialects::keys::Read<$crate::ir::dialects::table::form!($kind $(($($of)*))?)>> {
            ir.get(self.0, Self::ATTR.$name)
        }
    };
}

pub(crate) use {
    arity, as_slice, attr_kind, attr_view, dialect, form, group, operand_group_views, operand_views, or_required,
    or_unstated, result_views,
};
