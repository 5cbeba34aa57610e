//! What AMD's assembly says of its first kernel.
//!
//! LLVM closes each kernel with comments and with a document of metadata (`.amdgpu_metadata`, YAML):
//!
//! ```text
//!     .vgpr_count:     12
//!     .vgpr_spill_count: 0
//!     .private_segment_fixed_size: 0
//! ```
//! "User Guide for AMDGPU Backend", "Code Object V3 Metadata".

/// The numbers of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Facts {
    /// Vector registers of a lane.
    pub(super) registers: u32,
    /// Bytes of memory of its own that a lane needs: for registers that did not suffice, mostly.
    pub(super) scratch: u32,
}

impl Facts {
    pub(super) fn of(assembly: &str) -> Facts {
        let metadata = assembly.split_once(".amdgpu_metadata").map_or("", |(_, rest)| rest);
        let number = |word: &str| {
            let line = metadata.lines().find_map(|l| l.trim().trim_start_matches("- ").strip_prefix(word));
            line.and_then(|l| l.trim().parse().ok()).unwrap_or(0)
        };
        Facts { registers: number(".vgpr_count:"), scratch: number(".private_segment_fixed_size:") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_stand_in_the_metadata() {
        let text = "k:\n s_endpgm\n .amdgpu_metadata\n---\namdhsa.kernels:\n  - .agpr_count: 0\n    .args: []\n    \
                    .private_segment_fixed_size: 16\n    .vgpr_count:     12\n...\n .end_amdgpu_metadata\n";
        assert_eq!(Facts::of(text), Facts { registers: 12, scratch: 16 });
        assert_eq!(Facts::of(""), Facts::default());
    }
}
