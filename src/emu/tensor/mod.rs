//! The tensor instructions: which lane holds what, where it lies in shared memory, and how the tensor cores add.
//!
//! Everything here is a function of bits and addresses. A warp's register is `[u64; 32]`, a value a lane; instructions
//! that read or write memory are given a function that does it.
//!
//! | file | what it knows |
//! |---|---|
//! | [`accumulate`] | how a tensor core multiplies and adds |
//! | [`tile`] | the same for tiles of floats, fast |
//! | [`fragment`] | which lane and register hold an element of an operand |
//! | [`mod@mma`] | `mma.sync` |
//! | [`matrix`] | `ldmatrix`, `stmatrix` |
//! | [`swizzle`] | how 16-byte chunks of shared memory change places |
//! | [`descriptor`] | where `wgmma` finds a matrix in shared memory |
//! | [`mod@wgmma`] | `wgmma.mma_async` |
//! | [`map`] | tensor maps, and the boxes that they move |

pub mod accumulate;
pub mod descriptor;
pub mod fragment;
pub mod map;
pub mod matrix;
pub mod mma;
pub mod swizzle;
pub mod tile;
pub mod wgmma;

pub use descriptor::Descriptor;
pub use map::TensorMap;
pub use matrix::{ldmatrix, stmatrix};
pub use mma::{Mma, mma};
pub use swizzle::Swizzle;
pub use wgmma::{Left, Wgmma, wgmma};
