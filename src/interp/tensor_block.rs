//! [`Block`]: the value of a block pointer (`tt.make_tensor_ptr`) or of a tensor descriptor.
//!
//! It is a base, a shape, strides and the shape of a block. `ops/block.rs` says which addresses such a block has.

use crate::ir::{Op, Type};

/// A block pointer or a tensor descriptor.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) base: u64,
    pub(crate) elem: Type,
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    /// The coordinates of the block. A descriptor has none until it is accessed.
    pub(crate) offsets: Vec<Offset>,
    /// The shape of a block.
    pub(crate) extent: Vec<i64>,
    /// Whether a load outside of the tensor gives NaN instead of zero.
    pub(crate) nan: bool,
}

/// A coordinate, what it would be without wrapping, and who wrapped it.
#[derive(Clone, Debug)]
pub(crate) struct Offset {
    pub(crate) at: i64,
    pub(crate) exact: i128,
    pub(crate) origin: Option<Op>,
}

impl std::fmt::Display for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at: Vec<i64> = self.offsets.iter().map(|o| o.at).collect();
        write!(
            f,
            "block {:?} at {at:?} of a tensor {:?} with strides {:?} at {:#x}",
            self.extent, self.shape, self.strides, self.base
        )
    }
}
