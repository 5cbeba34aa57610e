//! Where the values of a function are: registers, predicates, and places in its parameter space.

/// The values of a register in the 32 lanes of a warp.
pub type Lanes = [u64; 32];

/// A register: its slot in the frame of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A predicate register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pred(pub u32);

/// `@%p` or `@!%p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub pred: Pred,
    pub negated: bool,
}

/// A parameter or a result of a function in its parameter space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formal {
    pub offset: u32,
    pub bytes: u32,
    pub align: u32,
}
