//! Swizzles for operands of AMD's matrix instructions.

use super::plain;
use crate::ir::core::encoding::SwizzledShared;
use crate::ir::core::{Bases, Encoding, Type};

/// Bits of a bank, and of the widest access.
const BANK_BITS: u32 = 32;
const ACCESS_BITS: u32 = 128;
/// Lanes that read at once.
const LANES: u32 = 16;

/// For a tensor that becomes the operand `(number, kWidth)` of an `mfma` or `wmma`.
///
/// Sixteen lanes read `kWidth` neighbours along K in as many rows. If a row is as long as all banks, or longer, each
/// row starts in the same bank: so row r is turned by r times `kWidth`, for as many rows as there are such pieces.
/// Where K is not the fastest axis the lanes read neighbours, in different banks already. The exception is CDNA4, which
/// has loads that transpose.
///
/// Example: f16, K = 64 fastest, `kWidth` = 4, 32 banks: one row is all banks, so `perPhase` = 1, and `maxPhase` =
/// min(16, 64 / 4) = 16.
pub(super) fn swizzled(
    tensor: Type,
    parent: &Encoding,
    (number, k_width): (u32, u32),
    order: &[u32],
    cga: Bases,
    transposed: bool,
) -> Option<SwizzledShared> {
    let bits = tensor.elem().bit_width()?;
    let row = u32::try_from(*tensor.shape().get(order[0] as usize)?).ok()?;
    let k_axis = u32::from((number == 0) != transposed);
    let along_k = order[0] == k_axis;
    let (vec, banks, rows) = match parent {
        Encoding::AmdMfma(mma) => {
            let transposing = mma.version == 4 && matches!(bits, 8 | 16);
            if !along_k && !transposing {
                return Some(plain(order, cga));
            }
            (k_width, if mma.version == 4 { 64 } else { 32 }, LANES)
        }
        Encoding::AmdWmma(mma) => {
            if order[0] != u32::from(number == 0) {
                return Some(plain(order, cga));
            }
            (k_width.min(ACCESS_BITS / bits), 32, *mma.instr_shape.first()?)
        }
        _ => return None,
    };
    let per_phase = (banks * BANK_BITS / bits / row).max(1);
    let mut max_phase = (rows / per_phase).min(row / vec).max(1);
    if matches!(parent, Encoding::AmdMfma(mma) if mma.instr_shape[0] == 4) {
        max_phase = 4;
    }
    Some(SwizzledShared { vec, per_phase, max_phase, order: order.to_vec(), cga })
}
