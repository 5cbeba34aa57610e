//! What an instruction says of an access to memory: the space, the address, the order and the scope.

use super::slot::Reg;

/// A state space, as an address of an instruction means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    Generic,
    Global,
    /// The shared memory of the own block.
    Shared,
    /// The shared memory of any block of the cluster.
    Cluster,
    Local,
    Const,
    /// The parameters of the kernel.
    KernelParam,
    /// The parameter space of the frame.
    CallParam,
}

/// How an access is ordered ("PTX ISA, Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
}

/// Who sees a synchronising access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// `[base + offset]`.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub base: Reg,
    pub offset: i64,
    /// The bits of the base register: the sum wraps at 32 or at 64 bits.
    pub wide: bool,
}

/// What an atomic operation does with the old value and its operands.
pub type Update = Box<dyn Fn(u64, u64, u64) -> u64 + Send + Sync>;
