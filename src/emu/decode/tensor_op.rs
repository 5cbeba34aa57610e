//! Decoded tensor instructions.

use super::access::Address;
use super::slot::{Guard, Reg};
use crate::emu::tensor;

/// `mma.sync`.
#[derive(Debug)]
pub struct Mma {
    pub form: tensor::Mma,
    pub d: Vec<Reg>,
    pub a: Vec<Reg>,
    pub b: Vec<Reg>,
    pub c: Vec<Reg>,
}

/// The left operand of `wgmma`.
#[derive(Debug)]
pub enum Left {
    Registers(Vec<Reg>),
    Descriptor(Reg),
}

/// `wgmma.mma_async`.
#[derive(Debug)]
pub struct Wgmma {
    pub form: tensor::Wgmma,
    pub d: Vec<Reg>,
    pub a: Left,
    pub b: Reg,
    /// Whether the accumulator is added.
    pub scale_d: Guard,
}

#[derive(Debug)]
pub enum Tensor {
    /// `ldmatrix`: one register for each 8 × 8 matrix of 16 bits.
    LoadMatrix {
        to: Vec<Reg>,
        from: Address,
        transpose: bool,
    },
    StoreMatrix {
        from: Vec<Reg>,
        to: Address,
        transpose: bool,
    },
    Mma(Mma),
    Wgmma(Wgmma),
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait {
        pending: u32,
    },
    MaxRegisters {
        increase: bool,
        count: u32,
    },
}
