//! Turns every layout encoding, with a shape, into a [`LinearLayout`](super::LinearLayout). Nothing outside of this
//! folder reads the fields of an encoding to compute an index.
//!
//! # How a layout is made
//!
//! 1. For one block, a *tile* is put together as a product, fastest part first (`distributed`: registers, lanes, warps;
//!    `shared`: offsets).
//! 2. The encoding gives the bases of a cluster's blocks. They are cut to the shape, and what is left of the shape is
//!    one block's share.
//! 3. A tile smaller than the share is repeated along its first input (more registers, more offsets), in the order of
//!    the tile's outputs.
//! 4. A tile larger than the share has its surplus bases set to 0: those registers, lanes or warps hold copies.
//!    (Registers of a blocked layout, a slice or a linear layout are dropped instead. Fragments of tensor cores and
//!    operands keep theirs, as instructions need them.)
//! 5. The product of both, with the axes in order, is the layout. Its outputs have exactly the sizes of the shape.
//!
//! Example: `#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>` is a tile of
//! 512.
//!
//! ```text
//! shape 1024: register = [1, 2, 512]   lane = [4, 8, 16, 32, 64]   warp = [128, 256]    repeated once
//! shape  256: register = [1, 2]        lane = [4, 8, 16, 32, 64]   warp = [128, 0]      warps 2 and 3 hold copies
//! ```
//!
//! Layouts are memoized for the life of the process, as attributes are. The result depends on the arguments only.

mod amd;
mod cga;
mod combine;
mod distributed;
mod lookup;
mod shared;
mod tensor_memory;
mod tma;

pub use amd::in_thread_transposed;
pub use cga::{axes_of_blocks, cga_of_layout, with_cga};
pub use distributed::mma_tile;
pub use lookup::{bases_of, check, from_linear, layout_of, to_linear_layout, try_to_linear_layout};
pub use shared::padded_offset;
pub use tma::{DESCRIPTOR_BYTES, TmaBlock, TmaMessages, tma_block, tma_bytes, tma_messages};
