//! An emulator of PTX: it runs compiled kernels on the CPU.
//!
//! | folder | holds |
//! |---|---|
//! | `num` | scalar arithmetic and conversions, bits in and bits out |
//! | `tensor` | fragments, descriptors and products of the tensor cores |

pub mod num;
pub mod tensor;
