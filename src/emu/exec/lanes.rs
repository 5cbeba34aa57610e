//! Loops over lanes.

use crate::emu::decode::program::Lanes;

pub(crate) const ALL: u32 = u32::MAX;

/// The lanes of a mask, from the lowest.
pub(crate) fn each(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// Sets the lanes of a mask.
#[inline]
pub(crate) fn put(to: &mut Lanes, from: &Lanes, mask: u32) {
    if mask == ALL {
        *to = *from;
        return;
    }
    for lane in 0..32 {
        if mask >> lane & 1 == 1 {
            to[lane] = from[lane];
        }
    }
}
