//! Options of a compilation that AMD's GPUs alone have: Triton's words for them, and where they hold.
//!
//! Example: `triton.Config({"BLOCK": 64, "matrix_instr_nonkdim": 16, "waves_per_eu": 2})`.

use super::super::{Target, Vendor};

/// Options that AMD's GPUs alone have, by Triton's names. `None` is not
/// said, and 0 leaves the choice to the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct AmdOptions {
    /// M and N of the matrix instructions: 16 or 32.
    pub matrix_instr_nonkdim: Option<u32>,
    /// How many instructions' elements a lane reads from shared memory at once: 1 or 2.
    pub kpack: Option<u32>,
    /// How many warps are to fit on a SIMD unit.
    pub waves_per_eu: Option<u32>,
}

/// The given ones alone, so that a launch for another vendor is as short as it was.
impl std::fmt::Debug for AmdOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.given()).finish()
    }
}

impl AmdOptions {
    /// Triton's defaults.
    #[must_use]
    pub fn usual() -> AmdOptions {
        AmdOptions { matrix_instr_nonkdim: Some(0), kpack: Some(1), waves_per_eu: Some(0) }
    }

    /// Triton's names, in the order of [`AmdOptions::values`].
    pub const NAMES: [&'static str; 3] = ["matrix_instr_nonkdim", "kpack", "waves_per_eu"];

    /// The values, in the order of [`AmdOptions::NAMES`].
    #[must_use]
    pub fn values(&self) -> [Option<u32>; 3] {
        let AmdOptions { matrix_instr_nonkdim, kpack, waves_per_eu } = *self;
        [matrix_instr_nonkdim, kpack, waves_per_eu]
    }

    /// The options that were given, with their names.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, u32)> {
        Self::NAMES.into_iter().zip(self.values()).filter_map(|(name, value)| Some((name, value?)))
    }

    /// The option of this name.
    pub fn named(&mut self, name: &str) -> Option<&mut Option<u32>> {
        let AmdOptions { matrix_instr_nonkdim, kpack, waves_per_eu } = self;
        let slots = [matrix_instr_nonkdim, kpack, waves_per_eu];
        Self::NAMES.into_iter().zip(slots).find_map(|(known, slot)| (known == name).then_some(slot))
    }

    /// These options, and those that are left open from `rest`.
    #[must_use]
    pub fn or(&self, rest: AmdOptions) -> AmdOptions {
        AmdOptions {
            matrix_instr_nonkdim: self.matrix_instr_nonkdim.or(rest.matrix_instr_nonkdim),
            kpack: self.kpack.or(rest.kpack),
            waves_per_eu: self.waves_per_eu.or(rest.waves_per_eu),
        }
    }

    /// What holds for a target: nothing on other vendors' GPUs. CDNA4 has instructions so long that a lane reads those
    /// of one at a time, as in Triton.
    #[must_use]
    pub fn for_target(&self, target: &Target) -> AmdOptions {
        match target.vendor() {
            Vendor::Amd if target.is_cdna4() => AmdOptions { kpack: self.kpack.map(|_| 1), ..*self },
            Vendor::Amd => *self,
            Vendor::Nvidia => AmdOptions::default(),
        }
    }
}
