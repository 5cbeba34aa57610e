//! NVIDIA's GPUs: the rows, and what each instruction set holds.
//!
//! The *capability* is Triton's integer: ten times the major plus the minor number, the same for a baseline and its
//! accelerated variant. It is private to this file, so that whoever needs to know something about a GPU has to ask for
//! it by name, and a new GPU is a row here and the right answers.
//!
//! # Where the numbers come from
//! Memory, register and thread limits: CUDA C++ Programming Guide, "Compute Capabilities", table of technical
//! specifications. Lowest PTX ISA versions: PTX ISA, "Target ISA notes" of `.target`; a test assembles an empty kernel
//! to confirm them when ptxas is there.

use super::{Devices, Float8, Isa as AnyIsa, MathLibrary, Multiprocessor, RunsOn, SharedMemory, Target, TritonArch};
use crate::diag::suggest::distance;

/// What sets one instruction set apart from another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Isa {
    /// 80, 90, 100.
    capability: u32,
    /// Whether this is the architecture-accelerated variant, whose name ends in `a`.
    accelerated: bool,
    /// The lowest PTX ISA version that knows the architecture, times ten: 78 is PTX 7.8.
    min_ptx: u32,
}

/// Kinds of GPUs that Triton has pipelines for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Generation {
    /// Before `cp.async`: their modules are read, and no code is made for them.
    Older,
    /// Capabilities 8.x, Ada among them.
    Ampere,
    /// 9.x
    Hopper,
    /// 10.x and later: those with tensor memory and those of consumers.
    Blackwell,
}

const fn row(name: &'static str, capability: u32, min_ptx: u32, shared_kib: u32) -> Target {
    let accelerated = matches!(name.as_bytes(), [.., b'a']);
    let shared = SharedMemory {
        bytes: shared_kib * 1024,
        banks: 32,
        bank_bytes: 4,
        max_access_bits: 128,
        // sm_80 has 164 KiB for at most 32 blocks, each of which takes another KiB.
        free_bytes_per_warp: 4096,
        ample_for_reductions: true,
        ample_for_conversions: true,
        conversions_at_once: false,
        ldmatrix: capability >= 75,
        stmatrix: capability >= 90,
    };
    Target { name, warp_size: 32, shared, isa: AnyIsa::Nvidia(Isa { capability, accelerated, min_ptx }) }
}

/// NVIDIA's entry among the vendors.
pub(super) static DEVICES: Devices = Devices {
    rows: ROWS,
    find,
    of_module_word,
    triton_backend: "cuda",
    triton_arch: |t| TritonArch::Number(t.capability()),
    version: |t| (t.capability() / 10, t.capability() % 10),
    runs_on,
    product,
    multiprocessor,
    // CUDA C++ Programming Guide, "Compute Capabilities".
    most_programs_beside_x: 0xffff,
    num_stages: 3,
    dot_precisions: |_| &["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"],
    takes_small_products: false,
    divides_by_reciprocals: true,
    fuses_products: true,
    math_library: MathLibrary::Libdevice,
    takes_float8: |t, float| match float {
        Float8::E4nv => t.has_fp8_cvt(),
        Float8::E4b15 => true,
        Float8::E4b8 | Float8::E5b16 => false,
    },
    products: PRODUCTS,
    advise,
    spellings: "as `sm_80`, `80`, `compute_80` or `cuda:80`",
};

/// All targets, by capability; the baseline before its accelerated variant.
static ROWS: &[Target] = &[
    row("sm_80", 80, 70, 163),
    row("sm_86", 86, 71, 99),
    row("sm_87", 87, 74, 163),
    row("sm_89", 89, 78, 99),
    row("sm_90", 90, 78, 227),
    row("sm_90a", 90, 80, 227),
    row("sm_100", 100, 86, 227),
    row("sm_100a", 100, 86, 227),
    row("sm_103", 103, 88, 227),
    row("sm_103a", 103, 88, 227),
    row("sm_110", 110, 90, 227),
    row("sm_110a", 110, 90, 227),
    row("sm_120", 120, 87, 99),
    row("sm_120a", 120, 87, 99),
    row("sm_121", 121, 88, 99),
    row("sm_121a", 121, 88, 99),
];

/// Products by the names that people use, with the architecture that compiles for all of their instructions.
const PRODUCTS: &[(&[&str], &str)] = &[
    (&["a100", "a30", "a800"], "sm_80"),
    (&["a10", "a10g", "a16", "a40", "a2", "a6000", "a5000", "a4000", "rtx3090", "rtx3080", "3090", "3080"], "sm_86"),
    (&["orin"], "sm_87"),
    (&["l4", "l40", "l40s", "l20", "ada", "rtx4090", "rtx4080", "4090", "4080"], "sm_89"),
    (&["h100", "h200", "h800", "h20", "gh200", "hopper"], "sm_90a"),
    (&["b100", "b200", "gb200"], "sm_100a"),
    (&["b300", "gb300"], "sm_103a"),
    (&["thor"], "sm_110a"),
    (&["rtx5090", "rtx5080", "5090", "5080"], "sm_120a"),
    (&["gb10", "spark"], "sm_121a"),
];

/// GPUs whose modules can be read and that nothing is compiled for.
static OLDER: &[Target] = &[row("sm_70", 70, 60, 96), row("sm_75", 75, 63, 64)];

/// What the blocks on one multiprocessor share (CUDA C++ Programming Guide, "Compute Capabilities", table of technical
/// specifications). A quarter of 65,536 registers are 512 for each of 32 lanes; a warp takes them in units of 256.
fn multiprocessor(target: &Target) -> Multiprocessor {
    let (warps, blocks) = match target.capability() {
        80 => (64, 32),
        86 | 87 => (48, 16),
        90 | 100 | 103 => (64, 32),
        _ => (48, 24),
    };
    Multiprocessor {
        warps,
        blocks,
        parts: 4,
        registers: Target::REGISTERS_PER_MULTIPROCESSOR / 4 / 32,
        register_unit: 8,
        shared: target.shared.bytes + SharedMemory::RESERVED,
        shared_reserved: SharedMemory::RESERVED,
        shared_unit: 128,
    }
}

/// The target that a user names: `sm_80`, `compute_80`, `80`, `8.0`, `cuda:80`, `cuda:80:32`.
fn find(word: &str) -> Option<Target> {
    if let Some(number) = word.strip_prefix("cuda:") {
        return of_triton(number.strip_suffix(":32").unwrap_or(number), ROWS);
    }
    let name = spelled_out(word);
    ROWS.iter().find(|t| t.name == name).copied()
}

/// A name in full: `sm_80` for `80`, `8.0` and `compute_80`.
fn spelled_out(word: &str) -> String {
    let bare = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_")).unwrap_or(word);
    format!("sm_{}", bare.replacen('.', "", 1))
}

/// The GPU of a module by Triton's word for it, `cuda:90`; also one that is too old to compile for.
fn of_module_word(word: &str) -> Option<Target> {
    let number = word.strip_prefix("cuda:")?;
    of_triton(number, ROWS).or_else(|| of_triton(number, OLDER))
}

/// The GPU that Triton means by a number: the accelerated variant where there is one.
fn of_triton(number: &str, rows: &[Target]) -> Option<Target> {
    rows.iter().rfind(|t| t.capability().to_string() == number).copied()
}

/// What helps a user who names a GPU that is no row: that it is too old, or the row with the nearest name.
fn advise(word: &str) -> Option<String> {
    match word {
        "ampere" => return Some("Ampere is a family: the A100 is `sm_80`, and the RTX 30 series `sm_86`".to_owned()),
        "blackwell" => {
            return Some("Blackwell is a family: the B200 is `sm_100a`, and the RTX 50 series `sm_120a`".to_owned());
        }
        _ if word.starts_with("gfx") => return None,
        _ => {}
    }
    let wanted = spelled_out(word);
    if is_too_old(&wanted) {
        return Some(format!("that GPU is too old: ttc compiles for {} and later", ROWS[0].name));
    }
    let near = ROWS.iter().map(|t| (distance(&wanted, t.name), t.name)).min().filter(|(edits, _)| *edits <= 2);
    near.map(|(_, name)| format!("did you mean `{name}`?"))
}

/// The usual GPU of the compute capability, as its driver names it.
fn product(target: &Target) -> Option<&'static str> {
    match target.capability() {
        80 => Some("NVIDIA A100"),
        90 => Some("NVIDIA H100"),
        100 => Some("NVIDIA B200"),
        _ => None,
    }
}

/// Whether `sm_75` and the like name a GPU before the first row.
fn is_too_old(name: &str) -> bool {
    let number: Option<u32> = name.strip_prefix("sm_").and_then(|n| n.trim_end_matches('a').parse().ok());
    number.is_some_and(|n| (10..ROWS[0].capability()).contains(&n))
}

/// The GPUs that run a cubin (CUDA C++ Programming Guide, "Binary Compatibility").
fn runs_on(target: &Target) -> RunsOn {
    let exact = target.nvidia().is_some_and(|isa| isa.accelerated);
    RunsOn::Capability { exact, major: target.capability() / 10, minor: target.capability() % 10 }
}

impl Target {
    /// 0 for a device of another vendor, which has none of what is asked below.
    fn capability(&self) -> u32 {
        self.nvidia().map_or(0, |isa| isa.capability)
    }

    fn accelerated(&self) -> bool {
        self.nvidia().is_some_and(|isa| isa.accelerated)
    }

    fn nvidia(&self) -> Option<Isa> {
        match self.isa {
            AnyIsa::Nvidia(isa) => Some(isa),
            AnyIsa::Amd(_) => None,
        }
    }
}

/// Which code runs where, and what the language may ask.
impl Target {
    /// The number by which Triton's language, passes and modules name an NVIDIA GPU: 90 for `sm_90` and `sm_90a`.
    #[must_use]
    pub fn triton_number(&self) -> u32 {
        self.capability()
    }

    /// The target that has all instructions of a GPU of this compute capability. `None` if no row's code runs there.
    #[must_use]
    pub fn of_gpu((major, minor): (u32, u32)) -> Option<Target> {
        ROWS.iter().rfind(|t| t.runs_on().has_capability(major, minor)).copied()
    }

    /// Whether PTX for this `.target` can be compiled for the GPU. A baseline goes onto every later one, a variant
    /// (`sm_90a`) only onto its own (PTX ISA, "PTX Module Directives: .target").
    #[must_use]
    pub fn accepts_ptx_for(&self, name: &str) -> bool {
        let baseline: Option<u32> = name.strip_prefix("sm_").and_then(|n| n.parse().ok());
        name == self.name || baseline.is_some_and(|b| b <= self.capability())
    }

    /// The multiprocessors of the largest GPU of the compute capability (NVIDIA's data sheets); 0 if nobody has looked.
    #[must_use]
    pub fn multiprocessors(&self) -> u32 {
        match self.capability() {
            80 => 108,
            86 => 84,
            89 => 142,
            90 => 132,
            100 => 148,
            120 => 188,
            _ => 0,
        }
    }

    /// Whether it is known how the hardware takes an access of a warp to shared memory apart, and so what bank
    /// conflicts cost: 128 bytes at a time, by neighbouring threads (CUDA C++ Programming Guide, "Shared Memory").
    #[must_use]
    pub fn has_known_phases(&self) -> bool {
        self.nvidia().is_some()
    }

    /// The lowest PTX ISA version that knows the architecture, times ten: 78 is PTX 7.8.
    #[must_use]
    pub fn min_ptx(&self) -> u32 {
        self.nvidia().map_or(0, |isa| isa.min_ptx)
    }

    /// Which of Triton's pipelines the GPU takes.
    #[must_use]
    pub fn generation(&self) -> Generation {
        match self.capability() / 10 {
            ..=7 => Generation::Older,
            8 => Generation::Ampere,
            9 => Generation::Hopper,
            10.. => Generation::Blackwell,
        }
    }
}

/// What the instruction sets hold.
impl Target {
    /// bf16 and tf32 operands of `mma.sync` (PTX ISA, "mma").
    #[must_use]
    pub fn has_tf32_mma(&self) -> bool {
        self.capability() >= 80
    }

    /// Products of f64 by `mma.sync` that are worth it: on the GPUs for data centres.
    #[must_use]
    pub fn has_fast_f64_mma(&self) -> bool {
        matches!(self.capability(), 80 | 90)
    }

    /// The type e4m3 (`fp8e4nv`), and `cvt` between f16 or f32 and e4m3 or e5m2, two values at once (PTX ISA, "cvt").
    #[must_use]
    pub fn has_fp8_cvt(&self) -> bool {
        self.capability() >= 89
    }

    /// Whether `cvt` of 8-bit floats came with PTX 8.1, later than the architecture itself (PTX ISA, "cvt", notes).
    #[must_use]
    pub fn has_late_fp8_cvt(&self) -> bool {
        self.capability() < 90
    }

    /// e4m3 and e5m2 operands of `mma.sync` (PTX ISA, "mma").
    #[must_use]
    pub fn has_fp8_mma(&self) -> bool {
        self.capability() >= 89
    }

    /// Whether `mma.sync` on 8-bit floats is as fast as the GPU gets; elsewhere they are multiplied as 16-bit ones.
    #[must_use]
    pub fn has_fast_fp8_mma(&self) -> bool {
        self.capability() == 89 || self.capability() / 10 == 12
    }

    /// Whether tensor cores add products of 8-bit floats with fewer bits than f32 has. A product then says how many
    /// terms may be added so.
    #[must_use]
    pub fn rounds_fp8_sums(&self) -> bool {
        self.capability() == 90
    }

    /// Thread block clusters and distributed shared memory (PTX ISA, "Cluster of Cooperative Thread Arrays").
    #[must_use]
    pub fn has_clusters(&self) -> bool {
        self.capability() >= 90
    }

    /// `griddepcontrol`: a grid that starts before the one before it has ended (PTX ISA, "griddepcontrol").
    #[must_use]
    pub fn has_dependent_launch(&self) -> bool {
        self.capability() >= 90
    }

    /// `mbarrier.try_wait` (PTX ISA, "mbarrier.try_wait").
    #[must_use]
    pub fn has_mbarrier_try_wait(&self) -> bool {
        self.capability() >= 90
    }

    /// Atomic additions of several floats at once, `atom.add.v4.f32` (PTX ISA, "atom").
    #[must_use]
    pub fn has_vector_atomics(&self) -> bool {
        self.capability() >= 90
    }

    /// `redux.sync` on f32 (PTX ISA, "redux.sync").
    #[must_use]
    pub fn has_redux_f32(&self) -> bool {
        self.capability() == 100 && self.accelerated()
    }

    /// Whether ptxas takes the vector code that LLVM's SLP vectorizer makes; for sm_80 it rejects some, so Triton
    /// leaves it out there.
    #[must_use]
    pub fn takes_slp_vectors(&self) -> bool {
        self.capability() > 80
    }

    /// `cp.async.bulk.tensor`, the tensor memory accelerator, with the `mbarrier` transaction counts it needs (PTX ISA,
    /// "cp.async.bulk.tensor").
    #[must_use]
    pub fn has_tma(&self) -> bool {
        self.capability() >= 90
    }

    /// Whether hardware reads shared memory past the threads' own view of it, so that a fence must join the two (PTX
    /// ISA, "Async proxy").
    #[must_use]
    pub fn has_async_proxy(&self) -> bool {
        self.capability() >= 90
    }

    /// `tensormap.replace`: kernels that make tensor descriptors themselves (PTX ISA, "tensormap.replace"); accelerated
    /// variants only.
    #[must_use]
    pub fn has_tensormap_replace(&self) -> bool {
        self.has_tma() && self.accelerated()
    }

    /// `wgmma`: asynchronous matrix products of four warps, on `sm_90a` alone (PTX ISA, "Asynchronous Warpgroup Level
    /// Matrix Instructions").
    #[must_use]
    pub fn has_wgmma(&self) -> bool {
        self.capability() == 90 && self.accelerated()
    }

    /// `tcgen05`: fifth-generation tensor cores with tensor memory (PTX ISA, "TensorCore 5th Generation Family
    /// Instructions"); 10.x and 11.x, accelerated variants only.
    #[must_use]
    pub fn has_tcgen05(&self) -> bool {
        matches!(self.capability() / 10, 10 | 11) && self.accelerated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_ordered_and_consistent() {
        for pair in ROWS.windows(2) {
            assert!((pair[0].capability(), pair[0].accelerated()) < (pair[1].capability(), pair[1].accelerated()));
        }
        for t in ROWS {
            assert_eq!(t.name, format!("sm_{}{}", t.capability(), if t.accelerated() { "a" } else { "" }));
        }
    }

    #[test]
    fn ptx_of_a_baseline_goes_onto_later_targets_alone() {
        for (made_for, target) in
            [("sm_80", "sm_80"), ("sm_80", "sm_90a"), ("sm_75", "sm_80"), ("sm_90a", "sm_90a"), ("sm_90", "sm_90a")]
        {
            assert!(Target::parse(target).unwrap().accepts_ptx_for(made_for), "{made_for} on {target}");
        }
        for (made_for, target) in
            [("sm_90", "sm_80"), ("sm_90a", "sm_90"), ("sm_90a", "sm_100a"), ("sm_100f", "sm_100"), ("banana", "sm_80")]
        {
            assert!(!Target::parse(target).unwrap().accepts_ptx_for(made_for), "{made_for} on {target}");
        }
    }
}
