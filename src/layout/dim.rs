//! The names of a layout's dimensions.

use std::fmt;

/// A named dimension of a [`LinearLayout`](super::LinearLayout): a place in the machine, or an axis of the tensor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dim {
    /// The index among the registers that hold the tensor in one thread.
    Register,
    /// The thread within the warp.
    Lane,
    /// The warp within the block.
    Warp,
    /// The block within the cluster.
    Block,
    /// The element offset in shared memory.
    Offset,
    /// The row of tensor memory.
    Row,
    /// The column of tensor memory.
    Col,
    /// An axis of the tensor: `dim0`, `dim1`, …
    Axis(u8),
}

impl Dim {
    /// The input dimensions of a distributed layout, in their order.
    pub const DISTRIBUTED: [Dim; 4] = [Dim::Register, Dim::Lane, Dim::Warp, Dim::Block];

    /// The axes `dim0 … dim<rank-1>`.
    ///
    /// # Panics
    /// Panics if `rank` exceeds 255, which no tensor type reaches.
    #[must_use]
    pub fn axes(rank: usize) -> Vec<Dim> {
        (0..rank).map(Dim::axis).collect()
    }

    /// The axis of this number.
    ///
    /// # Panics
    /// Panics if the number exceeds 255.
    #[must_use]
    pub fn axis(number: usize) -> Dim {
        Dim::Axis(u8::try_from(number).expect("a tensor has fewer than 256 axes"))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Register => f.write_str("register"),
            Dim::Lane => f.write_str("lane"),
            Dim::Warp => f.write_str("warp"),
            Dim::Block => f.write_str("block"),
            Dim::Offset => f.write_str("offset"),
            Dim::Row => f.write_str("row"),
            Dim::Col => f.write_str("col"),
            Dim::Axis(n) => write!(f, "dim{n}"),
        }
    }
}
