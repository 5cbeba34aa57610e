//! How 16-byte chunks of shared memory change places (PTX ISA, "Swizzling Modes" of tensor maps, "Asynchronous
//! Warpgroup Level Matrix Shared Memory Layout").
//!
//! Bits of the address that count lines of 128 bytes are added, without carry, to the bits that count chunks. The
//! pattern belongs to the address itself, not to a matrix that starts there.
//!
//! Example: with 128 bytes, address 0x480 is line 9 of the pattern, of which three bits count: 1. Chunk 0 becomes
//! chunk 1, so the address becomes 0x490.

/// A pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Swizzle {
    /// Chunks stay.
    #[default]
    None,
    /// Chunks change places within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

impl Swizzle {
    /// The bytes within which chunks change places; a chunk where they stay.
    #[must_use]
    pub fn span(self) -> u32 {
        match self {
            Swizzle::None => 16,
            Swizzle::Bytes32 => 32,
            Swizzle::Bytes64 => 64,
            Swizzle::Bytes128 => 128,
        }
    }

    /// Where the byte at an address of the plain layout lies.
    #[must_use]
    pub fn apply(self, address: u32) -> u32 {
        let chunks = self.span() / 16 - 1;
        address ^ (address >> 7 & chunks) << 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_change_places_within_their_span_and_back() {
        for swizzle in [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128] {
            for address in (0..4096).step_by(4) {
                let moved = swizzle.apply(address);
                assert_eq!(moved / swizzle.span(), address / swizzle.span());
                assert_eq!(swizzle.apply(moved), address);
            }
        }
        assert_eq!(Swizzle::Bytes128.apply(0x480), 0x490);
        assert_eq!(Swizzle::Bytes32.apply(0x484), 0x494);
        assert_eq!(Swizzle::Bytes64.apply(0x384), 0x3b4);
    }
}
