//! The GPUs that ttc compiles for, as one table.
//!
//! A [`Target`] is a row of [`TARGETS`]: the numbers of an architecture that passes and code generation need, and queries for what its
//! instruction set holds. Nothing else in ttc compares architecture names; a pass asks `target.has_cp_async()`.
//!
//! # What the names mean
//! - `sm_90` is the *baseline* instruction set of compute capability 9.0. Its code also runs on every later GPU of the same major number.
//! - `sm_90a` is the *architecture-accelerated* set: it adds what later GPUs need not keep (`wgmma`, `setmaxnreg`), and its code runs on
//!   exactly that capability (PTX ISA, "PTX Module Directives: .target"). From capability 90 on, Triton always compiles for the `a`
//!   variant, so Triton's own word for a GPU, `cuda:90`, means `sm_90a` here, while `90`, `sm_90` and `compute_90` mean the baseline.
//! - The *capability* is Triton's integer: ten times the major plus the minor number, the same for both variants.
//!
//! # Where the numbers come from
//! Memory, register and thread limits: CUDA C++ Programming Guide, "Compute Capabilities", table of technical specifications. Lowest PTX
//! ISA versions: PTX ISA, "Target ISA notes" of `.target`; a test assembles an empty kernel to confirm them when ptxas is there.
//!
//! # Example
//! ```
//! let t = ttc::target::Target::parse("sm_90a").unwrap();
//! assert_eq!((t.capability, t.max_shared, t.triton_target_string().as_str()), (90, 232_448, "cuda:90"));
//! assert!(t.has_wgmma());
//! ```

use std::fmt;

use crate::diag::suggest::nearest;
use crate::diag::{Diagnostic, codes::cli};

/// One architecture. Compare and print it by [`Target::name`].
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name for LLVM, PTX and ptxas: `sm_90a`.
    pub name: &'static str,
    /// Compute capability as Triton counts it: 80, 90, 100.
    pub capability: u32,
    /// Whether this is the architecture-accelerated variant, whose name ends in `a`.
    pub accelerated: bool,
    /// The lowest PTX ISA version that knows the architecture, times ten: 78 is PTX 7.8.
    pub min_ptx: u32,
    /// Bytes of shared memory that one block can have after opting in to more than [`Target::DEFAULT_SHARED`].
    pub max_shared: u32,
}

impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.name == other.name
    }
}

impl Eq for Target {}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

const fn row(name: &'static str, capability: u32, min_ptx: u32, max_shared_kib: u32) -> Target {
    let accelerated = matches!(name.as_bytes(), [.., b'a']);
    Target { name, capability, accelerated, min_ptx, max_shared: max_shared_kib * 1024 }
}

/// All targets, by capability; the baseline before its accelerated variant.
pub static TARGETS: &[Target] = &[
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

impl Target {
    /// Shared memory a block gets without opting in, and the limit of statically sized shared variables: 48 KiB.
    pub const DEFAULT_SHARED: u32 = 48 * 1024;
    /// 32-bit registers of a multiprocessor, and of one block.
    pub const REGISTERS_PER_SM: u32 = 65_536;
    /// 32-bit registers that one thread can address.
    pub const MAX_REGISTERS_PER_THREAD: u32 = 255;
    /// Threads of one block.
    pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
    /// Blocks of one cluster that every GPU with clusters accepts (PTX ISA, "Cluster Dimension Directives").
    pub const MAX_PORTABLE_CLUSTER: u32 = 8;

    /// The target that `text` names: `sm_80`, `compute_80`, `80`, `8.0`, or Triton's `cuda:80` and `cuda:80:32`.
    ///
    /// # Errors
    /// `E0901` with all names and, when one is close, the nearest.
    pub fn parse(text: &str) -> Result<Target, Diagnostic> {
        let lower = text.trim().to_ascii_lowercase();
        let wanted = if let Some(rest) = lower.strip_prefix("cuda:") {
            let capability = rest.strip_suffix(":32").unwrap_or(rest);
            TARGETS.iter().rfind(|t| t.capability.to_string() == capability).map_or(lower.clone(), |t| t.name.to_owned())
        } else {
            let bare = lower.strip_prefix("sm_").or_else(|| lower.strip_prefix("compute_")).unwrap_or(&lower);
            format!("sm_{}", bare.replacen('.', "", 1))
        };
        TARGETS.iter().find(|t| t.name == wanted).copied().ok_or_else(|| unknown(text, &wanted))
    }

    /// The target where nobody names one: `sm_90a`.
    ///
    /// # Panics
    /// Never: the table has it.
    #[must_use]
    pub fn usual() -> Target {
        *TARGETS.iter().find(|t| t.name == "sm_90a").expect("the table has sm_90a")
    }

    /// Threads of one warp.
    #[must_use]
    pub fn warp_size(&self) -> u32 {
        32
    }

    /// As Triton writes `ttg.target` in a module: `cuda:90` for both `sm_90` and `sm_90a`.
    #[must_use]
    pub fn triton_target_string(&self) -> String {
        format!("cuda:{}", self.capability)
    }

    /// The number after `sm_`, without a variant letter, by family: 80…89 → 8, 90 → 9, 100…103 → 10.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.capability / 10
    }

    /// `cp.async`: copies from global to shared memory that bypass registers (PTX ISA, "cp.async").
    #[must_use]
    pub fn has_cp_async(&self) -> bool {
        self.capability >= 80
    }

    /// bf16 and tf32 operands of `mma.sync`, and `fma.rn.bf16` (PTX ISA, "mma" and "Half Precision Floating Point Instructions: fma").
    #[must_use]
    pub fn has_bf16_mma(&self) -> bool {
        self.capability >= 80
    }

    /// `add`, `sub` and `mul` on bf16; before that only `fma.rn.bf16` (PTX ISA, "Half Precision Floating Point Instructions").
    #[must_use]
    pub fn has_bf16_arith(&self) -> bool {
        self.capability >= 90
    }

    /// `cvt` between f16 or f32 and e4m3 or e5m2, two values at once (PTX ISA, "cvt").
    #[must_use]
    pub fn has_fp8_cvt(&self) -> bool {
        self.capability >= 89
    }

    /// e4m3 and e5m2 operands of `mma.sync` (PTX ISA, "mma").
    #[must_use]
    pub fn has_fp8_mma(&self) -> bool {
        self.capability >= 89
    }

    /// Thread block clusters and distributed shared memory (PTX ISA, "Cluster of Cooperative Thread Arrays").
    #[must_use]
    pub fn has_clusters(&self) -> bool {
        self.capability >= 90
    }

    /// `cp.async.bulk.tensor`, the tensor memory accelerator, with the `mbarrier` transaction counts it needs (PTX ISA, "cp.async.bulk.tensor").
    #[must_use]
    pub fn has_tma(&self) -> bool {
        self.capability >= 90
    }

    /// `tensormap.replace`: kernels that make tensor descriptors themselves (PTX ISA, "tensormap.replace"); accelerated variants only.
    #[must_use]
    pub fn has_tensormap_replace(&self) -> bool {
        self.has_tma() && self.accelerated
    }

    /// `stmatrix`: stores of matrix fragments to shared memory (PTX ISA, "stmatrix").
    #[must_use]
    pub fn has_stmatrix(&self) -> bool {
        self.capability >= 90
    }

    /// `wgmma`: asynchronous matrix products of four warps, on `sm_90a` alone (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
    #[must_use]
    pub fn has_wgmma(&self) -> bool {
        self.capability == 90 && self.accelerated
    }

    /// `setmaxnreg`: registers move between the warps of a block (PTX ISA, "setmaxnreg"); accelerated variants only.
    #[must_use]
    pub fn has_setmaxnreg(&self) -> bool {
        self.capability >= 90 && self.accelerated
    }

    /// `tcgen05`: fifth-generation tensor cores with tensor memory (PTX ISA, "TensorCore 5th Generation Family Instructions"); 10.x and 11.x, accelerated variants only.
    #[must_use]
    pub fn has_tcgen05(&self) -> bool {
        matches!(self.major(), 10 | 11) && self.accelerated
    }
}

/// The error for a name that no row has.
fn unknown(text: &str, wanted: &str) -> Diagnostic {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    let shown: String = text.chars().take(40).collect();
    let error = Diagnostic::error(&cli::UNKNOWN_ARCH, format!("unknown architecture `{}`", shown.escape_debug()))
        .note(format!("the architectures are {}", names.join(", ")));
    if let Some((_, name)) = PRODUCTS.iter().find(|(products, _)| products.contains(&&*text.trim().to_ascii_lowercase())) {
        return error.help(format!("the architecture of that GPU is `{name}`"));
    }
    let number: Option<u32> = wanted.strip_prefix("sm_").and_then(|n| n.trim_end_matches('a').parse().ok());
    if number.is_some_and(|n| (10..TARGETS[0].capability).contains(&n)) {
        return error.help(format!("that GPU is too old: ttc compiles for {} and later", TARGETS[0].name));
    }
    let near = if wanted.len() > 40 { None } else { nearest(wanted, names.iter().copied()) };
    error.help(near.map_or_else(|| "name a GPU as `sm_80`, `80`, `compute_80` or `cuda:80`".to_owned(), |n| format!("did you mean `{n}`?")))
}

/// Products by the names that people use, with the architecture that compiles for all of their instructions.
const PRODUCTS: &[(&[&str], &str)] = &[
    (&["a100", "a30", "a800", "ampere"], "sm_80"),
    (&["a10", "a10g", "a16", "a40", "a2", "a6000", "a5000", "a4000", "rtx3090", "rtx3080", "3090", "3080"], "sm_86"),
    (&["orin"], "sm_87"),
    (&["l4", "l40", "l40s", "l20", "ada", "rtx4090", "rtx4080", "4090", "4080"], "sm_89"),
    (&["h100", "h200", "h800", "h20", "gh200", "hopper"], "sm_90a"),
    (&["b100", "b200", "gb200", "blackwell"], "sm_100a"),
    (&["b300", "gb300"], "sm_103a"),
    (&["thor"], "sm_110a"),
    (&["rtx5090", "rtx5080", "5090", "5080"], "sm_120a"),
    (&["gb10", "spark"], "sm_121a"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_finds_its_row() {
        for (text, name) in [
            ("sm_80", "sm_80"),
            ("80", "sm_80"),
            ("8.0", "sm_80"),
            ("compute_80", "sm_80"),
            ("cuda:80", "sm_80"),
            ("cuda:80:32", "sm_80"),
            ("SM_90A", "sm_90a"),
            ("90", "sm_90"),
            ("90a", "sm_90a"),
            ("compute_90a", "sm_90a"),
            ("cuda:90", "sm_90a"),
            ("cuda:120", "sm_120a"),
            (" sm_100 ", "sm_100"),
        ] {
            assert_eq!(Target::parse(text).unwrap().name, name, "{text}");
        }
        for t in TARGETS {
            assert_eq!(Target::parse(t.name).unwrap(), *t);
        }
    }

    #[test]
    fn unknown_names_are_an_error_with_the_nearest() {
        let error = Target::parse("sm_91").unwrap_err();
        assert_eq!((error.code.id, error.help.as_deref()), ("E0912", Some("did you mean `sm_90`?")));
        assert!(error.notes[0].contains("sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a"), "{:?}", error.notes);
        // Products are named by what they are, not by the letters that they share.
        for (text, name) in [("h100", "sm_90a"), ("A100", "sm_80"), ("l40", "sm_89"), ("h200", "sm_90a"), ("b200", "sm_100a")] {
            let help = Target::parse(text).unwrap_err().help.unwrap();
            assert_eq!(help, format!("the architecture of that GPU is `{name}`"));
        }
        assert_eq!(Target::parse("sm_70").unwrap_err().help.as_deref(), Some("that GPU is too old: ttc compiles for sm_80 and later"));
        for (products, name) in PRODUCTS {
            assert!(TARGETS.iter().any(|t| t.name == *name), "{products:?}");
        }
        for text in ["", "gfx942", "cuda:", "cuda:91", "cuda:90:64", "sm_", "..", "9.0.", "sm_٩٠", &"9".repeat(100_000)] {
            let error = Target::parse(text).unwrap_err();
            assert!(error.message.len() < 500, "{text}");
        }
    }

    #[test]
    fn the_table_is_ordered_and_consistent() {
        for pair in TARGETS.windows(2) {
            assert!((pair[0].capability, pair[0].accelerated) < (pair[1].capability, pair[1].accelerated));
        }
        for t in TARGETS {
            assert_eq!(t.name, format!("sm_{}{}", t.capability, if t.accelerated { "a" } else { "" }));
        }
    }

    #[test]
    fn features_follow_capability_and_variant() {
        let names = |query: fn(&Target) -> bool| -> Vec<&str> { TARGETS.iter().filter(|t| query(t)).map(|t| t.name).collect() };
        assert_eq!(names(Target::has_wgmma), ["sm_90a"]);
        assert_eq!(names(Target::has_tcgen05), ["sm_100a", "sm_103a", "sm_110a"]);
        assert_eq!(TARGETS.iter().find(|t| t.has_fp8_cvt()).map(|t| t.name), Some("sm_89"));
        assert_eq!(TARGETS.iter().find(|t| t.has_tma()).map(|t| t.name), Some("sm_90"));
    }
}
