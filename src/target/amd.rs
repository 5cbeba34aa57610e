//! AMD's GPUs: the rows, and what each family holds.
//!
//! A *family* is what AMD documents one instruction set for: CDNA for data centres, with waves of 64 lanes and `mfma`,
//! and RDNA, with waves of 32 lanes and `wmma`. It is private to this file: whoever needs to know something about a GPU
//! asks for it by name, and a new GPU is a row here and the right answers.
//!
//! # Where the numbers come from
//! Names and steppings: LLVM, "User Guide for AMDGPU Backend", table of processors. LDS and its banks: the instruction
//! set guide of the family ("CDNA3 ISA", "CDNA4 ISA", "RDNA3 ISA", "RDNA4 ISA"), chapter "Local Data Share". Waves of a
//! compute unit: the tuning guides of ROCm.

mod matrix;
mod options;

pub use options::AmdOptions;

pub use matrix::{MatrixElem, MatrixInstr, MatrixUnit};

use super::{Devices, Float8, Isa as AnyIsa, MathLibrary, Multiprocessor, RunsOn, SharedMemory, Target, TritonArch};
use crate::diag::suggest::distance;

/// What sets one instruction set apart from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Isa {
    family: Family,
    /// Major and minor number, as in the name: 9 and 4 of `gfx942`.
    version: (u32, u32),
    /// A device of this kind as its driver names it.
    product: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Family {
    Cdna2,
    Cdna3,
    Cdna4,
    Rdna3,
    Rdna4,
}

const fn row(
    name: &'static str,
    family: Family,
    version: (u32, u32),
    (lds_kib, banks): (u32, u32),
    product: &'static str,
) -> Target {
    // A compute unit of CDNA has 32 waves, and a pair of RDNA, which shares the LDS of two, has 64.
    let (warp_size, free_bytes_per_warp) = match family {
        Family::Cdna2 | Family::Cdna3 | Family::Cdna4 => (64, lds_kib * 1024 / 32),
        Family::Rdna3 | Family::Rdna4 => (32, 2 * lds_kib * 1024 / 64),
    };
    let shared = SharedMemory {
        bytes: lds_kib * 1024,
        banks,
        bank_bytes: 4,
        max_access_bits: 128,
        free_bytes_per_warp,
        // LDS is 64 KiB on most, and shared by all blocks of a compute unit or of a pair.
        ample_for_reductions: false,
        ample_for_conversions: true,
        conversions_at_once: false,
        ldmatrix: false,
        stmatrix: false,
    };
    Target { name, warp_size, shared, isa: AnyIsa::Amd(Isa { family, version, product }) }
}

/// AMD's entry among the vendors.
pub(super) static DEVICES: Devices = Devices {
    rows: ROWS,
    find,
    of_module_word,
    triton_backend: "hip",
    triton_arch: |t| TritonArch::Name(t.name),
    version: |t| t.amd().map_or((0, 0), |isa| isa.version),
    runs_on: |t| RunsOn::Processor(t.name),
    product: |t| t.amd().map(|isa| isa.product),
    multiprocessor,
    // HIP counts threads, up to 2^32 of them ("hipDeviceProp_t", `maxGridSize`).
    most_programs_beside_x: i32::MAX as i64,
    num_stages: 2,
    // CDNA3 alone has `xf32`, which has the bits of tf32.
    dot_precisions: |t| {
        if t.is_cdna3() { &["tf32", "ieee", "bf16x3", "bf16x6"] } else { &["ieee", "bf16x3", "bf16x6"] }
    },
    takes_small_products: true,
    divides_by_reciprocals: false,
    fuses_products: false,
    math_library: MathLibrary::Ocml,
    takes_float8: |_, float| float != Float8::E4b15,
    products: PRODUCTS,
    advise,
    spellings: "as `gfx942` or `hip:gfx942`",
};

/// All targets, by version.
static ROWS: &[Target] = &[
    row("gfx90a", Family::Cdna2, (9, 0), (64, 32), "AMD Instinct MI250X"),
    row("gfx942", Family::Cdna3, (9, 4), (64, 32), "AMD Instinct MI300X"),
    row("gfx950", Family::Cdna4, (9, 5), (160, 64), "AMD Instinct MI355X"),
    row("gfx1100", Family::Rdna3, (11, 0), (64, 32), "AMD Radeon RX 7900 XTX"),
    row("gfx1201", Family::Rdna4, (12, 0), (64, 32), "AMD Radeon RX 9070 XT"),
];

/// Products by the names that people use, with the processor that they have.
const PRODUCTS: &[(&[&str], &str)] = &[
    (&["mi210", "mi250", "mi250x", "cdna2"], "gfx90a"),
    (&["mi300", "mi300a", "mi300x", "mi325x", "cdna3"], "gfx942"),
    (&["mi350", "mi350x", "mi355x", "cdna4"], "gfx950"),
    (&["rx7900", "7900xtx", "7900xt", "w7900", "rdna3"], "gfx1100"),
    (&["rx9070", "9070xt", "9070", "r9700", "rdna4"], "gfx1201"),
];

/// What the workgroups on one compute unit of CDNA share, or on a pair of RDNA, which shares its LDS: four SIMD units
/// with vector registers of their own (LLVM, "User Guide for AMDGPU Backend"; the instruction set guides, "Vector
/// General-Purpose Registers" and "Workgroups"). Scalar registers are not counted: a wave of CDNA with more than 100 of
/// them, which is rare, leaves room for 7 in a unit at most.
fn multiprocessor(target: &Target) -> Multiprocessor {
    let of_cdna = Multiprocessor {
        warps: 32,
        blocks: 16,
        parts: 4,
        registers: 512,
        register_unit: 8,
        shared: target.shared.bytes,
        shared_reserved: 0,
        shared_unit: 512,
    };
    if target.is_amd(&[Family::Rdna3, Family::Rdna4]) {
        let shared = 2 * target.shared.bytes;
        return Multiprocessor { warps: 64, blocks: 32, registers: 1536, register_unit: 24, shared, ..of_cdna };
    }
    Multiprocessor { shared_unit: if target.is_cdna4() { 1280 } else { 512 }, ..of_cdna }
}

/// The target that a user names: `gfx942`, `hip:gfx942`, `hip:gfx942:64`, or with the modes behind it that ROCm writes,
/// `gfx942:sramecc+:xnack-`. Code here keeps to what every mode allows.
fn find(word: &str) -> Option<Target> {
    match word.strip_prefix("hip:") {
        None => named(word.split(':').next()?),
        Some(word) => {
            let (name, lanes) = word.split_once(':').unzip();
            let target = named(name.unwrap_or(word))?;
            lanes.is_none_or(|lanes| lanes == target.warp_size().to_string()).then_some(target)
        }
    }
}

fn named(name: &str) -> Option<Target> {
    ROWS.iter().find(|t| t.name == name).copied()
}

/// The GPU of a module by Triton's word for it, `hip:gfx942`.
fn of_module_word(word: &str) -> Option<Target> {
    named(word.strip_prefix("hip:")?)
}

/// What helps a user who names a processor that is no row: the row whose name has the same characters, or one more.
/// Another number is another processor.
fn advise(word: &str) -> Option<String> {
    let name = word.strip_prefix("hip:").unwrap_or(word);
    if !name.starts_with("gfx") {
        return None;
    }
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let is_slip = |row: &&Target| {
        sorted(row.name) == sorted(name) || (row.name.len() == name.len() + 1 && distance(row.name, name) == 1)
    };
    Some(if let Some(row) = ROWS.iter().find(is_slip) {
        format!("did you mean `{}`?", row.name)
    } else {
        let rows: Vec<&str> = ROWS.iter().map(|t| t.name).collect();
        format!("of AMD's GPUs ttc compiles for {}", rows.join(", "))
    })
}

impl Target {
    fn amd(&self) -> Option<Isa> {
        match self.isa {
            AnyIsa::Amd(isa) => Some(isa),
            AnyIsa::Nvidia(_) => None,
        }
    }

    fn is_amd(&self, families: &[Family]) -> bool {
        self.amd().is_some_and(|isa| families.contains(&isa.family))
    }
}

/// What the families hold.
impl Target {
    /// CDNA3: MI300.
    #[must_use]
    pub fn is_cdna3(&self) -> bool {
        self.is_amd(&[Family::Cdna3])
    }

    /// Whether loads below 32 bits are worth starting iterations ahead.
    #[must_use]
    pub fn loads_narrow_ahead(&self) -> bool {
        self.is_amd(&[Family::Cdna4, Family::Rdna3, Family::Rdna4])
    }

    /// Whether operands that do not lie along K are turned in registers, for want of loads from LDS that transpose.
    #[must_use]
    pub fn turns_operands_in_registers(&self) -> bool {
        self.is_amd(&[Family::Cdna3, Family::Rdna3, Family::Rdna4])
    }

    /// Whether two warps of one SIMD unit are made to alternate between memory and matrix instructions.
    #[must_use]
    pub fn alternates_warps(&self) -> bool {
        self.is_amd(&[Family::Cdna3, Family::Cdna4])
    }

    /// Whether loads of later iterations go straight to shared memory: only where one instruction copies 16 bytes a
    /// lane.
    #[must_use]
    pub fn copies_ahead_to_shared(&self) -> bool {
        self.is_cdna4()
    }

    /// Whether an instruction can read its operand from the lane that differs in any bits of a row of 16 (RDNA; "RDNA3
    /// ISA", "DPP_ROW_XMASK").
    #[must_use]
    pub fn has_row_xmask(&self) -> bool {
        self.is_amd(&[Family::Rdna3, Family::Rdna4])
    }

    /// The bytes of a lane that one instruction copies from global straight to shared memory, the most first.
    #[must_use]
    pub fn direct_copy_bytes(&self) -> &'static [u32] {
        match self.amd().map(|isa| isa.family) {
            Some(Family::Cdna4) => &[16, 4],
            Some(Family::Cdna3) => &[4],
            _ => &[],
        }
    }

    /// Whether the hardware can start a kernel with its arguments in scalar registers (LLVM, "User Guide for AMDGPU
    /// Backend", "Preloaded Kernel Arguments").
    #[must_use]
    pub fn can_preload_arguments(&self) -> bool {
        self.is_amd(&[Family::Cdna2, Family::Cdna3, Family::Cdna4])
    }

    /// Whether halves of a vector register are registers of their own.
    #[must_use]
    pub fn has_half_registers(&self) -> bool {
        self.is_amd(&[Family::Rdna3, Family::Rdna4])
    }

    /// CDNA4: MI350.
    #[must_use]
    pub fn is_cdna4(&self) -> bool {
        self.is_amd(&[Family::Cdna4])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_the_versions() {
        for t in ROWS {
            let (major, minor) = t.version();
            assert!(t.name.starts_with(&format!("gfx{major}{minor}")), "{t}");
            assert_eq!(t.warp_size(), if major == 9 { 64 } else { 32 }, "{t}");
        }
    }

    #[test]
    fn a_processor_is_its_own_gpu_alone() {
        let of = |name: &str| Target::parse(name).unwrap();
        assert!(of("gfx942").is_same_gpu(&of("hip:gfx942")));
        assert!(!of("gfx942").is_same_gpu(&of("gfx950")));
        assert!(!of("gfx942").is_same_gpu(&of("sm_80")));
        let word = of("gfx942").triton_word();
        assert_eq!((word.as_str(), of("gfx942").runs_on()), ("hip:gfx942", RunsOn::Processor("gfx942")));
        assert_eq!((of("gfx942").max_warps(), of("gfx1201").max_warps()), (16, 32));
        assert!(ROWS.iter().all(|t| !t.has_tma() && !t.has_clusters() && !t.has_tf32_mma()));
    }
}
