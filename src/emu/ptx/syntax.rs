//! The tree of a PTX module. Names are slices of the text.

use std::collections::BTreeMap;

pub use super::error::Position;

/// A module: what one `.ptx` file holds.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    /// `.version 8.7` is `(8, 7)`.
    pub version: (u32, u32),
    /// `.target sm_90a, debug` is `["sm_90a", "debug"]`.
    pub target: Vec<&'a str>,
    /// The bits of an address: 32 or 64.
    pub address_size: u32,
    /// The source files that `.loc` names by number.
    pub files: BTreeMap<u32, String>,
    pub variables: Vec<Variable<'a>>,
    pub functions: Vec<Function<'a>>,
}

/// A state space of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableSpace {
    Const,
    Global,
    Local,
    Param,
    Shared,
}

/// A variable, a parameter, or a value that a function returns.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    pub space: VariableSpace,
    pub name: &'a str,
    /// Such as `b32`.
    pub ty: &'a str,
    /// The elements of a vector: 1, 2 or 4.
    pub vector: u32,
    /// In bytes, where it is said.
    pub align: Option<u32>,
    /// The extents of an array. `None` is an array of unknown size, as in `.extern .shared .b8 smem[]`.
    pub dims: Vec<Option<u64>>,
    pub init: Vec<Init<'a>>,
    /// Declared with `.extern`.
    pub external: bool,
    pub at: Position,
}

/// An element of an initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init<'a> {
    /// The bits of an integer or of a float in hexadecimal.
    Bits(u64),
    /// A decimal float.
    Real(f64),
    /// An address. `generic` is for `generic(name)`.
    Address { name: &'a str, offset: i64, generic: bool },
}

/// An `.entry` or a `.func`.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    pub name: &'a str,
    pub entry: bool,
    pub returns: Vec<Variable<'a>>,
    pub params: Vec<Variable<'a>>,
    /// Performance directives with their numbers: `.reqntid 128` is `("reqntid", [128])`.
    pub directives: Vec<(&'a str, Vec<u32>)>,
    /// `None` for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    pub at: Position,
}

/// A statement of a body.
#[derive(Clone, Debug)]
pub enum Statement<'a> {
    Label(&'a str, Position),
    Instruction(Instruction<'a>),
    /// Registers: `.reg .b32 %r<5>` declares `%r0` to `%r4`.
    Registers {
        ty: &'a str,
        names: Vec<RegisterName<'a>>,
        at: Position,
    },
    Variable(Variable<'a>),
    /// `{ … }`: names that are declared inside are known inside.
    Scope(Vec<Statement<'a>>),
    /// `name: .branchtargets A, B;`
    BranchTargets(&'a str, Vec<&'a str>, Position),
}

/// A name of a `.reg` declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterName<'a> {
    pub name: &'a str,
    /// `%r<5>` has 5; a single register has none.
    pub count: Option<u32>,
}

/// A place in the source of the kernel, from `.loc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    pub guard: Option<Guard<'a>>,
    /// `ld` of `ld.global.b32`.
    pub opcode: &'a str,
    /// `["global", "b32"]` of `ld.global.b32`.
    pub modifiers: Vec<&'a str>,
    pub operands: Vec<Operand<'a>>,
    pub at: Position,
    pub source: Option<Source>,
}

/// `@%p` or `@!%p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    pub register: &'a str,
    pub negated: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, a variable, a label, a function or a special register, with its dots: `%tid.x`. A distance may
    /// follow a variable's name: `smem+16`.
    Name {
        name: &'a str,
        offset: i64,
    },
    /// `!%p`.
    Not(&'a str),
    /// `_`: a result that nobody needs.
    Sink,
    Integer(i64),
    /// `0f3F800000`.
    Single(u32),
    /// `0d3FF0000000000000`.
    Double(u64),
    /// `1.0`.
    Real(f64),
    /// `[base + offset]`, and `[base, {x, y}]` of a tensor, whose coordinates are `rest`.
    Address {
        base: Box<Operand<'a>>,
        offset: i64,
        rest: Vec<Operand<'a>>,
    },
    /// `{a, b}`.
    Vector(Vec<Operand<'a>>),
    /// `a|b`: two results.
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `(a, b)`: the arguments or the results of a call.
    Group(Vec<Operand<'a>>),
}
