//! Names of attributes that know what they hold, and slots of operands, so that a misspelt name does not compile.
//!
//! The macro that reads the tables makes both for each operation: `tt::Reduce::ATTR.axis` is the [`Key`] of its
//! attribute `axis`, and `tt::Load::SLOT.mask` the [`Slot`] of its operand `mask`. Attributes that any operation may
//! carry have their keys in [`super::discardable`].
//!
//! ```text
//! ir.get(op, Reduce::ATTR.axis)                             Some(1)
//! ir.put(op, Reduce::ATTR.axis, 0)
//! Reduce::state(loc, &[x]).with(Reduce::ATTR.axis, 1)       the parts of an operation that does not exist yet
//! ir.put_operands(op, Load::SLOT.mask, &[mask])             also where the operand was absent
//! ```

use super::spec::DefaultValue;
use std::marker::PhantomData;

use super::enums::Enumeration;
use super::spec::{Traits, operand_range};
use crate::ir::core::{Attr, AttrData, Ir, Name, Op, OpState, Type, Value};

/// The form of an attribute: how a value becomes one, and back.
pub trait Form {
    /// What is put in.
    type Value<'a>;
    /// What is read.
    type Read;

    /// The attribute that holds the value; `None` where its absence says it.
    #[must_use]
    fn attr(value: Self::Value<'_>) -> Option<Attr>;

    /// The value that an attribute holds; `None` if the attribute has another form.
    #[must_use]
    fn read(attr: Attr) -> Option<Self::Read>;
}

/// What is read of an attribute of form `F`.
pub type Read<F> = <F as Form>::Read;

/// An integer of this width.
pub struct Int<const WIDTH: u32>;
/// True or false.
pub struct Bool;
/// It is there or it is not.
pub struct Unit;
/// A case of an enumeration.
pub struct Case<E>(PhantomData<E>);
/// Cases of an enumeration of which several may be set, as the sum of their numbers.
pub struct Flags;
/// A text.
pub struct Str;
/// The name of a function.
pub struct Symbol;
/// A type.
pub struct TypeOf;
/// Integers of this width.
pub struct Ints<const WIDTH: u32>;
/// Attributes in a row.
pub struct Attrs;
/// Any attribute.
pub struct Any;

macro_rules! forms {
    ($([$($generics:tt)*] $form:ty: $value:ty => $read:ty, |$in:ident| $make:expr, |$out:ident| $take:expr;)*) => {
        $(impl $($generics)* Form for $form {
            type Value<'a> = $value;
            type Read = $read;

            fn attr($in: $value) -> Option<Attr> {
                $make
            }

            fn read($out: Attr) -> Option<$read> {
                $take
            }
        })*
    };
}

forms! {
    [<const WIDTH: u32>] Int<WIDTH>: i64 => i64, |v| Some(Attr::int(v, Type::int(WIDTH))), |a| a.as_int();
    [] Bool: bool => bool, |v| Some(Attr::bool(v)), |a| a.as_bool();
    [] Unit: bool => (), |v| v.then(Attr::unit), |_a| Some(());
    [<E: Enumeration>] Case<E>: E => E, |v| Some(v.attr()), |a| a.as_int().and_then(E::from_number);
    [] Flags: i64 => i64, |v| Some(Attr::i32(v)), |a| a.as_int();
    [] TypeOf: Type => Type, |v| Some(Attr::ty(v)), |a| a.as_type();
    [] Any: Attr => Attr, |v| Some(v), |a| Some(a);
}

impl Form for Str {
    type Value<'a> = &'a str;
    type Read = &'static str;

    fn attr(value: &str) -> Option<Attr> {
        Some(Attr::str(value))
    }

    fn read(attr: Attr) -> Option<&'static str> {
        attr.as_str()
    }
}

impl Form for Symbol {
    type Value<'a> = &'a str;
    type Read = &'static str;

    fn attr(value: &str) -> Option<Attr> {
        Some(Attr::symbol(value))
    }

    fn read(attr: Attr) -> Option<&'static str> {
        attr.as_str()
    }
}

impl<const WIDTH: u32> Form for Ints<WIDTH> {
    type Value<'a> = &'a [i64];
    type Read = &'static [i64];

    fn attr(value: &[i64]) -> Option<Attr> {
        Some(Attr::new(AttrData::DenseArray(Type::int(WIDTH), value.to_vec())))
    }

    fn read(attr: Attr) -> Option<&'static [i64]> {
        attr.as_dense_array()
    }
}

impl Form for Attrs {
    type Value<'a> = &'a [Attr];
    type Read = &'static [Attr];

    fn attr(value: &[Attr]) -> Option<Attr> {
        Some(Attr::new(AttrData::Array(value.to_vec())))
    }

    fn read(attr: Attr) -> Option<&'static [Attr]> {
        attr.as_array()
    }
}

/// The name of an attribute of form `F`.
pub struct Key<F> {
    name: &'static str,
    form: PhantomData<F>,
}

// Derived, they would ask that `F` is `Copy`.
impl<F> Clone for Key<F> {
    fn clone(&self) -> Key<F> {
        *self
    }
}

impl<F> Copy for Key<F> {}

impl<F> Key<F> {
    /// The key of this name. Only tables of attributes make keys.
    #[must_use]
    pub const fn new(name: &'static str) -> Key<F> {
        Key { name, form: PhantomData }
    }

    /// The name, as the text of the IR writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<F: Form> Key<F> {
    /// The attribute with its name, as lists of attributes hold it; `None` where its absence says the value.
    #[must_use]
    pub fn entry(self, value: F::Value<'_>) -> Option<(Name, Attr)> {
        F::attr(value).map(|attr| (Name::of(self.name), attr))
    }

    /// Reads the attribute from a list such as [`Ir::attrs`] gives it.
    #[must_use]
    pub fn find(self, attrs: &[(Name, Attr)]) -> Option<F::Read> {
        attrs.iter().find(|(name, _)| name.as_str() == self.name).and_then(|&(_, attr)| F::read(attr))
    }
}

/// One operand of an operation, or a group of them: its number in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(usize);

impl Slot {
    /// The slot of this number. Only tables of operations make slots.
    #[must_use]
    pub const fn new(group: usize) -> Slot {
        Slot(group)
    }

    /// Its number among the operands that the table lists.
    #[must_use]
    pub const fn group(self) -> usize {
        self.0
    }

    /// Where it starts in the operation's list of operands.
    #[must_use]
    pub fn index(self, ir: &Ir, op: Op) -> usize {
        operand_range(ir, op, self.0).0
    }
}

/// The name of the attribute that says how many operands each group has.
pub const OPERAND_SEGMENTS: Key<Ints<32>> = Key::new("operandSegmentSizes");

impl Ir {
    /// What the attribute holds, or the default that the operation's table gives it; `None` if neither is there.
    #[must_use]
    pub fn get<F: Form>(&self, op: Op, key: Key<F>) -> Option<F::Read> {
        self.attr(op, key.name).and_then(F::read)
    }

    /// What the attribute holds, if it is stored.
    #[must_use]
    pub fn stored<F: Form>(&self, op: Op, key: Key<F>) -> Option<F::Read> {
        self.stored_attr(op, key.name).and_then(F::read)
    }

    /// Whether the attribute is stored.
    #[must_use]
    pub fn stores<F>(&self, op: Op, key: Key<F>) -> bool {
        self.stored_attr(op, key.name).is_some()
    }

    /// Stores the attribute, or removes it where its absence says the value.
    pub fn put<F: Form>(&mut self, op: Op, key: Key<F>, value: F::Value<'_>) {
        match F::attr(value) {
            Some(attr) => self.set_attr(op, key.name, attr),
            None => {
                self.remove_attr(op, key.name);
            }
        }
    }

    /// Removes the attribute, and gives what was stored.
    pub fn take<F>(&mut self, op: Op, key: Key<F>) -> Option<Attr> {
        self.remove_attr(op, key.name)
    }

    /// Puts values where the operation has those of `slot` now, and counts them in `operandSegmentSizes` if it has one.
    pub fn put_operands(&mut self, op: Op, slot: Slot, values: &[Value]) {
        let (start, len) = operand_range(self, op, slot.0);
        if len == values.len() {
            // The uses of the other operands stay as they are.
            values.iter().enumerate().for_each(|(i, &value)| self.set_operand(op, start + i, value));
            return;
        }
        let mut operands = self.operands(op).to_vec();
        operands.splice(start..start + len, values.iter().copied());
        self.set_operands(op, &operands);
        if let Some(sizes) = self.get(op, OPERAND_SEGMENTS) {
            let mut sizes = sizes.to_vec();
            if let Some(size) = sizes.get_mut(slot.0) {
                *size = values.len() as i64;
            }
            self.put(op, OPERAND_SEGMENTS, &sizes);
        }
    }

    /// Replaces each operand by the values listed for it, none or several, and counts the groups anew.
    pub fn expand_operands(&mut self, op: Op, parts: &[Vec<Value>]) {
        if self.stores(op, OPERAND_SEGMENTS) {
            let sizes: Vec<i64> = (0..self.spec(op).operands.len())
                .map(|group| {
                    let (start, len) = operand_range(self, op, group);
                    parts[start..start + len].iter().map(|values| values.len() as i64).sum()
                })
                .collect();
            self.put(op, OPERAND_SEGMENTS, &sizes);
        }
        self.set_operands(op, &parts.concat());
    }

    /// The operands of an operation that has `N` of them: `let [lhs, rhs] = ir.all_operands(op)`.
    ///
    /// # Panics
    ///
    /// If it has another number of operands, which is a mistake of the caller.
    #[must_use]
    pub fn all_operands<const N: usize>(&self, op: Op) -> [Value; N] {
        self.operands(op).try_into().expect("the caller knows how many operands the operation has")
    }
}

impl OpState {
    /// Adds an attribute, unless its absence says the value.
    #[must_use]
    pub fn with<F: Form>(mut self, key: Key<F>, value: F::Value<'_>) -> OpState {
        self.attrs.extend(key.entry(value));
        self
    }

    /// Takes an attribute over from an operation that stores it.
    #[must_use]
    pub fn copy<F>(mut self, ir: &Ir, from: Op, key: Key<F>) -> OpState {
        self.attrs.extend(ir.stored_attr(from, key.name).map(|attr| (Name::of(key.name), attr)));
        self
    }

    /// Takes over from an operation of the same kind what its table entry requires.
    #[must_use]
    pub fn copy_required(mut self, ir: &Ir, from: Op) -> OpState {
        let required = ir.spec(from).attrs.iter().filter(|a| matches!(a.default, DefaultValue::Required));
        self.attrs.extend(required.filter_map(|a| Some((Name::of(a.name), ir.stored_attr(from, a.name)?))));
        self
    }

    /// As [`OpState::with`], if there is a value.
    #[must_use]
    pub fn with_some<F: Form>(self, key: Key<F>, value: Option<F::Value<'_>>) -> OpState {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds groups of operands in the table's order, and `operandSegmentSizes` if the operation counts them.
    #[must_use]
    pub(crate) fn groups(self, groups: &[&[Value]]) -> OpState {
        let state = self.operands(&groups.concat());
        if !state.kind.has(Traits::ATTR_SIZED_OPERANDS) {
            return state;
        }
        let sizes: Vec<i64> = groups.iter().map(|g| g.len() as i64).collect();
        state.with(OPERAND_SEGMENTS, &sizes)
    }
}
