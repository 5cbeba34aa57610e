//! What a dialect table says about one operation: [`OpSpec`] and its parts. [`super::table`] explains how an entry is
//! written, and reads it.

use bitflags::bitflags;

use super::OpKind;
use super::classes::Classes;
use super::constraints::Constraint;
use super::host::HostFunction;
use super::keys::OPERAND_SEGMENTS;
use super::layouts::LayoutRule;
use super::memory::{Memory, Order};
use super::type_rules::TypeRule;
use crate::ir::core::{Attr, AttrData, Ir, Op, Type, Value};

bitflags! {
    /// Properties of operations that several parts of the compiler ask for.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Traits: u64 {
        /// Ends a block.
        const TERMINATOR = 1;
        /// Swapping the two operands changes nothing.
        const COMMUTATIVE = 1 << 1;
        /// Works element by element on tensors.
        const ELEMENTWISE = 1 << 2;
        /// All operands and results have one type.
        const SAME_OPERANDS_AND_RESULT_TYPE = 1 << 3;
        /// All operands and results have one shape.
        const SAME_OPERANDS_AND_RESULT_SHAPE = 1 << 4;
        /// All operands and results that are tensors have one encoding.
        const SAME_OPERANDS_AND_RESULT_ENCODING = 1 << 5;
        /// All operands have one type.
        const SAME_TYPE_OPERANDS = 1 << 6;
        /// All operands that are tensors have one shape.
        const SAME_OPERANDS_SHAPE = 1 << 7;
        /// All operands that are tensors have one encoding.
        const SAME_OPERANDS_ENCODING = 1 << 8;
        /// Which operands belong to which group stands in `operandSegmentSizes`.
        const ATTR_SIZED_OPERANDS = 1 << 9;
        /// Values from outside may not be used inside.
        const ISOLATED_FROM_ABOVE = 1 << 10;
        /// Defines a symbol, `sym_name`.
        const SYMBOL = 1 << 11;
        /// A constant: no operands, one result, the attribute `value`.
        const CONSTANT = 1 << 12;
        /// A function: a symbol with `function_type` and a body.
        const FUNCTION = 1 << 13;
        /// A region's block needs no terminator.
        const NO_TERMINATOR = 1 << 14;
        /// Each region has exactly one block (or none).
        const SINGLE_BLOCK = 1 << 15;
        /// A loop: its region runs any number of times.
        const LOOP = 1 << 16;
        /// The result type's element type may differ, its shape and encoding follow the operand's.
        const CAST = 1 << 17;
        /// Jumps to successors; operand groups after the first are passed to them.
        const BRANCH = 1 << 18;
        /// f(f(x)) = f(x).
        const IDEMPOTENT = 1 << 19;
        /// f(f(x)) = x.
        const INVOLUTION = 1 << 20;
        /// Speculating it is not allowed although it has no effects (it may divide by zero, say).
        const NOT_SPECULATABLE = 1 << 21;
    }
}

impl Traits {
    /// Works element by element; all operands and results have one type.
    pub const ELEMENTWISE_SAME_TYPE: Traits = Traits::ELEMENTWISE.union(Traits::SAME_OPERANDS_AND_RESULT_TYPE);
    /// All operands and results have one shape and, if they are tensors, one encoding.
    pub const SAME_SHAPE_AND_ENCODING: Traits =
        Traits::SAME_OPERANDS_AND_RESULT_SHAPE.union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING);
    /// Works element by element; all operands and results have one shape and encoding.
    pub const ELEMENTWISE_SAME_SHAPE: Traits = Traits::ELEMENTWISE.union(Traits::SAME_SHAPE_AND_ENCODING);
}

/// What an operation does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effects {
    /// Nothing: may be dropped when unused and merged when equal.
    Pure,
    /// Reads memory.
    Read,
    /// Writes memory, or does something else that must stay.
    Write,
    ReadWrite,
    /// Allocates; may be dropped when unused.
    Alloc,
    /// What the operations in its regions do.
    Recursive,
    /// Not known: treated as reading and writing everything.
    Unknown,
}

/// How many values an operand or result group holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    One,
    Optional,
    Variadic,
}

pub struct OperandSpec {
    pub name: &'static str,
    pub arity: Arity,
    pub constraint: &'static Constraint,
    /// What the operation does to the memory that the value describes.
    pub memory: Memory,
}

/// The form of an attribute.
pub enum AttrKind {
    Unit,
    Bool,
    /// An integer of this width.
    Int(u32),
    /// A 32-bit integer of which the text shows the case's name.
    Enum(&'static EnumSpec),
    /// As `Enum`, with several cases at once, joined by the separator in the text (`fastmath<nnan,ninf>`).
    Flags(&'static EnumSpec),
    F32,
    Str,
    Symbol,
    Type,
    /// `array<iN: …>`
    DenseArray(u32),
    Array,
    Dict,
    /// A typed constant.
    Typed,
    Any,
}

/// The cases of an enumeration attribute.
pub struct EnumSpec {
    pub name: &'static str,
    pub cases: &'static [(&'static str, i64)],
}

impl EnumSpec {
    #[must_use]
    pub fn value(&self, name: &str) -> Option<i64> {
        self.cases.iter().find(|c| c.0 == name).map(|c| c.1)
    }

    #[must_use]
    pub fn case(&self, value: i64) -> Option<&'static str> {
        self.cases.iter().find(|c| c.1 == value).map(|c| c.0)
    }
}

/// What an absent attribute means.
pub enum DefaultValue {
    /// It must be there.
    Required,
    /// It may be absent.
    Absent,
    BoolIs(bool),
    IntIs(i64),
    /// An empty array.
    Empty,
}

pub struct AttrSpec {
    pub name: &'static str,
    pub kind: AttrKind,
    pub default: DefaultValue,
}

impl AttrSpec {
    /// The attribute that the default stands for.
    #[must_use]
    pub fn default_value(&self) -> Option<Attr> {
        match (&self.default, &self.kind) {
            (DefaultValue::Required | DefaultValue::Absent, _) => None,
            (DefaultValue::BoolIs(b), _) => Some(Attr::bool(*b)),
            (DefaultValue::IntIs(v), AttrKind::Int(w)) => Some(Attr::int(*v, Type::int(*w))),
            (DefaultValue::IntIs(v), _) => Some(Attr::i32(*v)),
            (DefaultValue::Empty, AttrKind::DenseArray(w)) => {
                Some(Attr::new(AttrData::DenseArray(Type::int(*w), vec![])))
            }
            (DefaultValue::Empty, _) => Some(Attr::new(AttrData::Array(vec![]))),
        }
    }
}

/// How an operation is written.
pub enum Format {
    /// Only the generic form, `"d.op"(%a) : (t) -> t`.
    Generic,
    /// MLIR's declarative assembly format, read by `ir::text::format`.
    Text(&'static str),
    /// By functions of its own in `ir::text::custom`, found by the operation's name.
    Custom,
}

/// What a fold gives for each result of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// An existing value.
    Value(Value),
    /// A constant.
    Attr(Attr),
}

/// Types of an operation's operands and results while some are still unknown. Groups in table order; a group lists one
/// slot per value.
pub struct TypeSlots<'a> {
    pub operands: Vec<Vec<Option<Type>>>,
    pub results: Vec<Vec<Option<Type>>>,
    pub attrs: &'a dyn Fn(&str) -> Option<Attr>,
}

impl TypeSlots<'_> {
    /// The type of the first value of an operand group, if it is there and known.
    #[must_use]
    pub fn operand(&self, group: usize) -> Option<Type> {
        self.operands.get(group)?.first().copied().flatten()
    }

    /// Fills the unknown slots of an operand group.
    pub fn set_operand(&mut self, group: usize, ty: Type) {
        for slot in self.operands.get_mut(group).into_iter().flatten() {
            slot.get_or_insert(ty);
        }
    }

    /// As [`TypeSlots::operand`], of operands and results.
    #[must_use]
    pub fn at(&self, place: ValueGroup) -> Option<Type> {
        match place {
            ValueGroup::Operand(group) => self.operand(group),
            ValueGroup::Result(group) => self.result(group),
        }
    }

    /// Fills the unknown slots of a group of operands or results.
    pub fn fill(&mut self, place: ValueGroup, ty: Type) {
        match place {
            ValueGroup::Operand(group) => self.set_operand(group, ty),
            ValueGroup::Result(group) => self.set_result(group, ty),
        }
    }

    #[must_use]
    pub fn result(&self, group: usize) -> Option<Type> {
        self.results.get(group)?.first().copied().flatten()
    }

    pub fn set_result(&mut self, group: usize, ty: Type) {
        for slot in self.results.get_mut(group).into_iter().flatten() {
            slot.get_or_insert(ty);
        }
    }
}

/// A fault that the verifier found in one operation: the message, without the operation's name.
pub type VerifyResult = Result<(), String>;

/// How threads exchange data in the course of one operation. What that takes in shared memory follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exchange {
    /// Elements go to the threads that hold them in the result's layout.
    Conversion,
    /// Elements along an axis are combined.
    Reduce,
    /// Elements along an axis are combined with those before them.
    Scan,
    /// Elements along an axis are picked by index.
    Gather,
    /// Elements of each value are counted.
    Count,
    /// One thread has a result that the others get copies of.
    Copies,
    /// A descriptor for the hardware is put together.
    Descriptor,
}

/// One operation of a dialect.
pub struct OpSpec {
    /// With the dialect's prefix.
    pub name: &'static str,
    pub doc: &'static str,
    pub operands: &'static [OperandSpec],
    pub results: &'static [OperandSpec],
    pub attrs: &'static [AttrSpec],
    /// Names of the regions; the last may end in `*` for any number.
    pub regions: &'static [&'static str],
    /// Number of successors.
    pub successors: usize,
    pub traits: Traits,
    pub classes: Classes,
    pub effects: Effects,
    /// How the layouts of its results follow from those of its operands.
    pub layouts: LayoutRule,
    /// What it orders beside the accesses that its operands and results state.
    pub order: Order,
    /// Whether its accesses to shared memory, or its arrivals at mbarriers, are made in other blocks of the cluster
    /// too.
    pub reaches_blocks: Option<fn(&Ir, Op) -> bool>,
    /// How its threads exchange data, if they do.
    pub exchange: Option<Exchange>,
    pub format: Format,
    /// How the types of operands and results follow from one another, beyond what the traits say.
    pub types: &'static [TypeRule],
    /// What it computes, if that is a function of one element of each operand; see `fold` for whether it folds.
    pub host: Option<HostFunction>,
    /// Rules beyond those that operands, attributes, traits and `types` state.
    pub verify: Option<fn(&Ir, Op) -> VerifyResult>,
    /// Computes the results from constant operands (`None` where an operand is not constant), or gives values they
    /// equal. Must not change the IR.
    pub fold: Option<fn(&Ir, Op, &[Option<Attr>]) -> Option<Vec<Folded>>>,
    /// Fills unknown operand and result types from known ones, where neither traits nor `types` say how.
    pub infer: Option<fn(&mut TypeSlots<'_>)>,
}

impl OpSpec {
    /// What an entry leaves out.
    pub const DEFAULT: OpSpec = OpSpec {
        name: "",
        doc: "",
        operands: &[],
        results: &[],
        attrs: &[],
        regions: &[],
        successors: 0,
        traits: Traits::empty(),
        classes: Classes::empty(),
        effects: Effects::Pure,
        layouts: LayoutRule::Own,
        order: Order::Nothing,
        reaches_blocks: None,
        exchange: None,
        format: Format::Generic,
        types: &[],
        host: None,
        verify: None,
        fold: None,
        infer: None,
    };

    /// Whether each operand and result that is made for memory descriptors states what is done to the memory.
    #[must_use]
    pub const fn states_its_memory(&self) -> bool {
        all_stated(self.operands) && all_stated(self.results)
    }

    #[must_use]
    pub fn attr(&self, name: &str) -> Option<&'static AttrSpec> {
        self.attrs.iter().find(|a| a.name == name)
    }

    #[must_use]
    pub fn attr_default(&self, name: &str) -> Option<Attr> {
        self.attr(name).and_then(AttrSpec::default_value)
    }

    #[must_use]
    pub fn has(&self, traits: Traits) -> bool {
        self.traits.contains(traits)
    }

    /// Where the entry lists the operand or result of this name.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<ValueGroup> {
        let among = |values: &[OperandSpec]| values.iter().position(|v| v.name == name);
        among(self.operands).map(ValueGroup::Operand).or_else(|| among(self.results).map(ValueGroup::Result))
    }
}

/// The number of a group among the operands, or among the results, that an entry lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueGroup {
    Operand(usize),
    Result(usize),
}

const fn all_stated(mut values: &[OperandSpec]) -> bool {
    while let [first, rest @ ..] = values {
        if first.constraint.memory && matches!(first.memory, Memory::Unstated) {
            return false;
        }
        values = rest;
    }
    true
}

/// Start and length of operand group `group` of `op` in its flat operand list.
///
/// With `operandSegmentSizes` the sizes stand there. Otherwise at most one group is optional or variadic, and it takes
/// what the others leave.
#[must_use]
pub fn operand_range(ir: &Ir, op: Op, group: usize) -> (usize, usize) {
    if let Some(sizes) = ir.get(op, OPERAND_SEGMENTS) {
        let size = |s: i64| usize::try_from(s).unwrap_or(0);
        let start = sizes.iter().take(group).map(|&s| size(s)).sum();
        return (start, sizes.get(group).map_or(0, |&s| size(s)));
    }
    let specs = ir.spec(op).operands;
    let total = ir.operands(op).len();
    let fixed = specs.iter().filter(|s| s.arity == Arity::One).count();
    let flexible = total.saturating_sub(fixed);
    let len = |s: &OperandSpec| if s.arity == Arity::One { 1 } else { flexible };
    let start = specs.iter().take(group).map(len).sum();
    (start, specs.get(group).map_or(0, len))
}

impl OpKind {
    #[must_use]
    pub fn has(self, traits: Traits) -> bool {
        self.spec().has(traits)
    }

    #[must_use]
    pub fn is_terminator(self) -> bool {
        self.has(Traits::TERMINATOR)
    }

    #[must_use]
    pub fn is_function(self) -> bool {
        self.has(Traits::FUNCTION)
    }
}
