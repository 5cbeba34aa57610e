//! Matrix descriptors: where `wgmma` finds a matrix in shared memory (PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Shared Memory Layout", "Matrix Descriptor Format", "Strides").
//!
//! | bits | field |
//! |---|---|
//! | 0–13 | start address, in 16 bytes |
//! | 16–29 | leading-dimension byte offset, in 16 bytes |
//! | 32–45 | stride-dimension byte offset, in 16 bytes |
//! | 49–51 | base offset |
//! | 62–63 | swizzle: 0 none, 1 for 128, 2 for 64, 3 for 32 bytes |
//!
//! A matrix is made of *core tiles*, eight lines of one span: 16 bytes without a swizzle, else the swizzle's. A line
//! runs along K (*K-major*) or along M or N (*MN-major*), and within a tile one line follows the other. From tile to
//! tile:
//!
//! | | along the lines | across them |
//! |---|---|---|
//! | K-major, no swizzle | leading | stride |
//! | K-major, swizzle | lines are longer than an instruction reads | stride |
//! | MN-major, no swizzle | stride | leading |
//! | MN-major, swizzle | leading | stride |
//!
//! The swizzle is applied to the address that results.
//!
//! Example: f16, K-major, 128 bytes, stride 1024: element (9, 8) is line 1 of the second tile, chunk 1: byte 1024 +
//! 128 + 16. Line 1 exchanges chunks 0 and 1, so the element lies at 1024 + 128.

use super::swizzle::Swizzle;

/// A descriptor, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// The address at which the matrix starts.
    pub start: u32,
    /// The leading-dimension byte offset.
    pub leading: u32,
    /// The stride-dimension byte offset.
    pub stride: u32,
    /// The line of the pattern at which the matrix starts, where the pattern is not aligned to its own size.
    pub base_offset: u32,
    pub swizzle: Swizzle,
}

/// The direction in which neighbours lie side by side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Major {
    /// Along K.
    K,
    /// Along M (of A) or N (of B): `.imm-trans` is 1.
    Mn,
}

impl Descriptor {
    /// Takes a descriptor apart.
    #[must_use]
    pub fn new(bits: u64) -> Descriptor {
        let field = |shift: u32| (bits >> shift & 0x3fff) as u32 * 16;
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base_offset: (bits >> 49 & 7) as u32,
            swizzle: [Swizzle::None, Swizzle::Bytes128, Swizzle::Bytes64, Swizzle::Bytes32][(bits >> 62) as usize],
        }
    }

    /// The bits of a descriptor.
    #[must_use]
    pub fn bits(&self) -> u64 {
        let field = |value: u32, shift: u32| u64::from((value / 16) & 0x3fff) << shift;
        let mode = match self.swizzle {
            Swizzle::None => 0,
            Swizzle::Bytes128 => 1,
            Swizzle::Bytes64 => 2,
            Swizzle::Bytes32 => 3,
        };
        field(self.start, 0)
            | field(self.leading, 16)
            | field(self.stride, 32)
            | u64::from(self.base_offset) << 49
            | mode << 62
    }

    /// The address of the element at `outer` along M or N and `k` along K, of `bytes` bytes. The base offset must be 0.
    #[must_use]
    pub fn address(&self, major: Major, bytes: u32, outer: u32, k: u32) -> u32 {
        let (along, line) = if major == Major::K { (k, outer) } else { (outer, k) };
        let span = self.swizzle.span();
        let byte = along * bytes;
        let (along_step, across_step) = match (major, self.swizzle) {
            (Major::Mn, Swizzle::None) => (self.stride, self.leading),
            (Major::K, Swizzle::None) | (Major::Mn, _) => (self.leading, self.stride),
            // The next tile along K is never read: an instruction reads 32 bytes of a line.
            (Major::K, _) => (span, self.stride),
        };
        let offset = byte / span * along_step + byte % span + line % 8 * span + line / 8 * across_step;
        self.swizzle.apply(self.start.wrapping_add(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn fields_round_trip() {
        for bits in [1 << 62 | 64 << 32 | 512 << 16 | 0x123, 3 << 62 | 5 << 49 | 16 << 32, 0] {
            assert_eq!(Descriptor::new(bits).bits(), bits);
        }
    }

    /// A matrix of f16, line by line, is stored as TMA would: plainly, and then swizzled by the address.
    #[test]
    fn a_swizzled_box_is_read_back() {
        for swizzle in [Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128] {
            let span = swizzle.span();
            let d = Descriptor { start: 1024, leading: 4096, stride: 8 * span, base_offset: 0, swizzle };
            for line in 0..64 {
                for along in 0..span / 2 {
                    let stored = swizzle.apply(1024 + line * span + along * 2);
                    assert_eq!(d.address(Major::K, 2, line, along), stored);
                    assert_eq!(d.address(Major::Mn, 2, along, line), stored);
                }
            }
            // The second box of an MN-major matrix starts at the leading offset.
            assert_eq!(d.address(Major::Mn, 2, span / 2, 0), 1024 + 4096);
        }
    }

    #[test]
    fn core_tiles_without_a_swizzle() {
        let d = Descriptor { start: 0, leading: 128, stride: 256, base_offset: 0, swizzle: Swizzle::None };
        assert_eq!(d.address(Major::K, 2, 9, 8), 256 + 16 + 128);
        assert_eq!(d.address(Major::K, 2, 1, 3), 16 + 6);
        assert_eq!(d.address(Major::Mn, 2, 8, 9), 256 + 128 + 16);
    }

    #[test]
    fn elements_do_not_overlap() {
        let d = Descriptor { start: 0, leading: 2048, stride: 1024, base_offset: 0, swizzle: Swizzle::Bytes128 };
        let places: BTreeSet<u32> =
            (0..128).flat_map(|n| (0..16).map(move |k| d.address(Major::Mn, 2, n, k))).collect();
        assert_eq!(places.len(), 128 * 16);
    }
}
