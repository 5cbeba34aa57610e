//! The devices that ttc compiles for, as data.
//!
//! A [`Target`] is a row of its vendor's table ([`targets`] lists all): the numbers of a device that passes, layouts
//! and code generation need, and queries for what its instruction set holds. It is made once, from `--arch` or from a
//! module's `ttg.target`, and handed on as a value. Nothing else in ttc compares architectures or knows a compute
//! capability: that number is private to [`nvidia`], as the family of an AMD GPU is to [`amd`], and everybody asks
//! `target.has_tma()`, `target.warp_size()`, `target.shared.banks`.
//!
//! # What the names mean
//! - `sm_90` is the *baseline* instruction set of compute capability 9.0. Its code also runs on every later GPU of the
//!   same major number.
//! - `sm_90a` is the *architecture-accelerated* set: it adds what later GPUs need not keep (`wgmma`, `setmaxnreg`), and
//!   its code runs on exactly that capability (PTX ISA, "PTX Module Directives: .target"). From capability 90 on,
//!   Triton always compiles for the `a` variant, so Triton's own word for a GPU, `cuda:90`, means `sm_90a` here, while
//!   `90`, `sm_90` and `compute_90` mean the baseline.
//! - `gfx942` is an AMD processor as LLVM names it: major version, minor version, stepping. Its code runs on that
//!   processor. Triton's word for it is `hip:gfx942`.
//!
//! # Example
//! ```
//! let t = ttc::target::Target::parse("sm_90a").unwrap();
//! assert_eq!((t.name, t.shared.bytes, t.triton_word().as_str()), ("sm_90a", 232_448, "cuda:90"));
//! assert!(t.has_wgmma());
//! ```

mod amd;
mod nvidia;
mod occupancy;
mod shared_memory;

use std::fmt;

use crate::diag::{Diagnostic, codes::cli};

pub use amd::{AmdOptions, MatrixElem, MatrixInstr, MatrixUnit};
pub use nvidia::Generation;
pub use occupancy::{Multiprocessor, Occupancy, Resource, Usage};
pub use shared_memory::SharedMemory;

/// The one list of vendors. A line has the name of the vendor, and that of the modules that belong to it: of its
/// devices in `src/target/`, and of its back end in `src/backend/`.
macro_rules! vendors {
    ($with:ident) => {
        $with! {
            Nvidia nvidia;
            Amd amd;
        }
    };
}
pub(crate) use vendors;

macro_rules! devices {
    ($($vendor:ident $module:ident;)*) => {
        /// Who makes a device.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Vendor {
            $($vendor,)*
        }

        /// What sets the instruction sets of a vendor apart.
        #[derive(Clone, Copy, Debug)]
        enum Isa {
            $($vendor($module::Isa),)*
        }

        /// Every vendor.
        static VENDORS: &[&Devices] = &[$(&$module::DEVICES,)*];

        impl Target {
            /// Who makes the device.
            #[must_use]
            pub fn vendor(&self) -> Vendor {
                match self.isa {
                    $(Isa::$vendor(_) => Vendor::$vendor,)*
                }
            }

            /// The devices of the vendor.
            fn devices(&self) -> &'static Devices {
                match self.isa {
                    $(Isa::$vendor(_) => &$module::DEVICES,)*
                }
            }
        }
    };
}
vendors!(devices);

/// One architecture. Compare and print it by [`Target::name`].
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name for LLVM and the assembler: `sm_90a`, `gfx942`.
    pub name: &'static str,
    warp_size: u32,
    pub shared: SharedMemory,
    isa: Isa,
}

/// The GPUs that run a binary. Of those that fit, the greater one was made for the GPU more closely.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RunsOn {
    /// NVIDIA's, by their compute capabilities.
    Capability {
        /// Whether no GPU runs it but one of exactly this capability. Otherwise, those of the same major number and at
        /// least this minor number do.
        exact: bool,
        major: u32,
        minor: u32,
    },
    /// AMD's processor of this name.
    Processor(&'static str),
}

impl RunsOn {
    /// Whether a GPU of NVIDIA of this compute capability runs it.
    #[must_use]
    pub fn has_capability(self, gpu_major: u32, gpu_minor: u32) -> bool {
        match self {
            RunsOn::Capability { exact, major, minor } => {
                major == gpu_major && if exact { minor == gpu_minor } else { minor <= gpu_minor }
            }
            RunsOn::Processor(_) => false,
        }
    }
}

/// 8-bit floats that the language does not have for every device, by its names. `fp8e5` it always has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Float8 {
    /// e4m3 as the Open Compute Project defines it.
    E4nv,
    /// e4m3 with a bias of 15, without infinity and NaN.
    E4b15,
    /// e4m3 without a negative zero.
    E4b8,
    /// e5m2 without a negative zero.
    E5b16,
}

/// The library of device mathematics that `libdevice` stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MathLibrary {
    Libdevice,
    /// ocml with ockl.
    Ocml,
}

/// What Triton's language calls the device: `target.arch`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TritonArch {
    /// NVIDIA: ten times the major plus the minor number of the compute capability.
    Number(u32),
    /// AMD: the name of the processor.
    Name(&'static str),
}

/// The devices of one vendor.
struct Devices {
    /// Those that something is compiled for.
    rows: &'static [Target],
    /// The row that a user names, in lower case.
    find: fn(&str) -> Option<Target>,
    /// The device of a module by the word of its `ttg.target`.
    of_module_word: fn(&str) -> Option<Target>,
    /// What Triton calls the vendor: `cuda` in `cuda:90`.
    triton_backend: &'static str,
    triton_arch: fn(&Target) -> TritonArch,
    /// Major and minor number of a device, as its driver gives them.
    version: fn(&Target) -> (u32, u32),
    runs_on: fn(&Target) -> RunsOn,
    /// A device of this kind as its driver names it, where one is the usual.
    product: fn(&Target) -> Option<&'static str>,
    multiprocessor: fn(&Target) -> Multiprocessor,
    /// The most programs of a launch along y and along z.
    most_programs_beside_x: i64,
    /// The stages of a pipelined loop where nobody says how many.
    num_stages: u32,
    /// The words of `input_precision` that a product may have.
    dot_precisions: fn(&Target) -> &'static [&'static str],
    /// Whether blocks of a product may be smaller than an instruction of the device takes.
    takes_small_products: bool,
    takes_float8: fn(&Target, Float8) -> bool,
    divides_by_reciprocals: bool,
    /// Whether products and sums are fused where nobody says otherwise.
    fuses_products: bool,
    math_library: MathLibrary,
    /// Products by the names that people use, with the row that compiles for all of their instructions.
    products: &'static [(&'static [&'static str], &'static str)],
    /// What helps a user who names a device in lower case that no row has, if the name looks like one of this vendor.
    advise: fn(&str) -> Option<String>,
    /// How a device may be named: "as `sm_80` or `80`".
    spellings: &'static str,
}

/// Every target, in the order of the vendors and their tables.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    VENDORS.iter().flat_map(|devices| devices.rows)
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

impl Target {
    /// Threads of one block.
    pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
    /// Blocks of one cluster that every GPU with clusters accepts (PTX ISA, "Cluster Dimension Directives").
    pub const MAX_PORTABLE_CLUSTER: u32 = 8;
    /// 32-bit registers that the threads of a multiprocessor share.
    pub const REGISTERS_PER_MULTIPROCESSOR: u32 = 65_536;
    /// 32-bit registers that one thread can address.
    pub const MAX_REGISTERS_PER_THREAD: u32 = 255;

    /// The target that `text` names: `sm_80`, `compute_80`, `80`, `8.0`, `gfx942`, or Triton's `cuda:80`, `cuda:80:32`
    /// and `hip:gfx942`.
    ///
    /// # Errors
    /// `E0912` with all names and, when one is close, the nearest.
    pub fn parse(text: &str) -> Result<Target, Diagnostic> {
        let word = text.trim().to_ascii_lowercase();
        VENDORS.iter().find_map(|devices| (devices.find)(&word)).ok_or_else(|| unknown(text, &word))
    }

    /// The device of a module by Triton's word for it, `cuda:90`; also one that is too old to compile for, whose
    /// modules can be read.
    #[must_use]
    pub fn of_module_word(word: &str) -> Option<Target> {
        VENDORS.iter().find_map(|devices| (devices.of_module_word)(word))
    }

    /// The target where nobody names one: `sm_90a`.
    ///
    /// # Panics
    /// Never: the table has it.
    #[must_use]
    pub fn usual() -> Target {
        *targets().find(|t| t.name == "sm_90a").expect("the table has sm_90a")
    }

    /// The most programs of a launch along x, y and z.
    #[must_use]
    pub fn most_programs(&self) -> [i64; 3] {
        let beside = self.devices().most_programs_beside_x;
        [i64::from(i32::MAX), beside, beside]
    }

    /// What Triton calls the vendor: `cuda` or `hip`.
    #[must_use]
    pub fn triton_backend(&self) -> &'static str {
        self.devices().triton_backend
    }

    /// What Triton's language calls the device.
    #[must_use]
    pub fn triton_arch(&self) -> TritonArch {
        (self.devices().triton_arch)(self)
    }

    /// As Triton writes `ttg.target` in a module: `cuda:90` for both `sm_90` and `sm_90a`, `hip:gfx942`.
    #[must_use]
    pub fn triton_word(&self) -> String {
        match self.triton_arch() {
            TritonArch::Number(number) => format!("{}:{number}", self.triton_backend()),
            TritonArch::Name(name) => format!("{}:{name}", self.triton_backend()),
        }
    }

    /// Whether both are for one GPU: `sm_90` and `sm_90a` are.
    #[must_use]
    pub fn is_same_gpu(&self, other: &Target) -> bool {
        (self.triton_backend(), self.triton_arch()) == (other.triton_backend(), other.triton_arch())
    }

    /// Major and minor number of the device, as its driver gives them: the compute capability of an NVIDIA GPU.
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        (self.devices().version)(self)
    }

    /// The GPUs that run a binary for this target.
    #[must_use]
    pub fn runs_on(&self) -> RunsOn {
        (self.devices().runs_on)(self)
    }

    /// What the blocks on one multiprocessor share.
    #[must_use]
    pub fn multiprocessor(&self) -> Multiprocessor {
        (self.devices().multiprocessor)(self)
    }

    /// The usual GPU of this kind, as its driver names it.
    #[must_use]
    pub fn product(&self) -> Option<&'static str> {
        (self.devices().product)(self)
    }

    /// The stages of a pipelined loop where nobody says how many, as in Triton.
    #[must_use]
    pub fn usual_stages(&self) -> u32 {
        self.devices().num_stages
    }

    /// The words of `input_precision` that a product may have, as in Triton.
    #[must_use]
    pub fn dot_precisions(&self) -> &'static [&'static str] {
        (self.devices().dot_precisions)(self)
    }

    /// Whether blocks of a product may be smaller than an instruction of the device takes.
    #[must_use]
    pub fn takes_small_products(&self) -> bool {
        self.devices().takes_small_products
    }

    /// Whether a division of f32 by a constant is a multiplication by the constant's approximate reciprocal, as in
    /// Triton.
    #[must_use]
    pub fn divides_by_reciprocals(&self) -> bool {
        self.devices().divides_by_reciprocals
    }

    /// Whether a multiplication and an addition become one instruction where nobody says otherwise, as in Triton.
    #[must_use]
    pub fn fuses_products(&self) -> bool {
        self.devices().fuses_products
    }

    /// The library of device mathematics that `libdevice` stands for here.
    #[must_use]
    pub fn math_library(&self) -> MathLibrary {
        self.devices().math_library
    }

    /// Whether the language has this type here.
    #[must_use]
    pub fn takes_float8(&self, float: Float8) -> bool {
        (self.devices().takes_float8)(self, float)
    }

    /// Threads of one warp.
    #[must_use]
    pub fn warp_size(&self) -> u32 {
        self.warp_size
    }

    /// Whether GPUs of the vendor differ in the threads of a warp.
    #[must_use]
    pub fn warp_sizes_differ(&self) -> bool {
        self.devices().rows.iter().any(|t| t.warp_size != self.warp_size)
    }

    /// Warps of the largest block.
    #[must_use]
    pub fn max_warps(&self) -> u32 {
        Target::MAX_THREADS_PER_BLOCK / self.warp_size()
    }
}

/// The error for a name that no row has.
fn unknown(text: &str, word: &str) -> Diagnostic {
    let names: Vec<&str> = targets().map(|t| t.name).collect();
    let shown: String = text.chars().take(40).collect();
    let error = Diagnostic::error(&cli::UNKNOWN_ARCH, format!("unknown architecture `{}`", shown.escape_debug()))
        .note(format!("the architectures are {}", names.join(", ")));
    let product = VENDORS.iter().flat_map(|v| v.products).find(|(products, _)| products.contains(&word));
    if let Some((_, name)) = product {
        return error.help(format!("the architecture of that GPU is `{name}`"));
    }
    let spellings: Vec<&str> = VENDORS.iter().map(|v| v.spellings).collect();
    let advice = VENDORS.iter().find_map(|v| (v.advise)(word));
    error.help(advice.unwrap_or_else(|| format!("name a GPU {}", spellings.join(", or "))))
}

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
            ("GFX942", "gfx942"),
            ("gfx90a:sramecc+:xnack-", "gfx90a"),
            ("hip:gfx1201", "gfx1201"),
            ("hip:gfx942:64", "gfx942"),
            ("hip:gfx1100:32", "gfx1100"),
        ] {
            assert_eq!(Target::parse(text).unwrap().name, name, "{text}");
        }
        for t in targets() {
            assert_eq!(Target::parse(t.name).unwrap(), *t);
        }
    }

    #[test]
    fn a_gpu_has_the_target_with_all_its_instructions() {
        let name = |gpu| Target::of_gpu(gpu).map(|t| t.name);
        for (gpu, want) in
            [((9, 0), "sm_90a"), ((8, 0), "sm_80"), ((8, 9), "sm_89"), ((8, 8), "sm_87"), ((12, 1), "sm_121a")]
        {
            assert_eq!(name(gpu), Some(want), "{gpu:?}");
        }
        assert_eq!((name((9, 1)), name((7, 5)), name((13, 0))), (Some("sm_90"), None, None));
    }

    #[test]
    fn unknown_names_are_an_error_with_the_nearest() {
        let error = Target::parse("sm_91").unwrap_err();
        assert_eq!((error.code.id, error.help.as_deref()), ("E0912", Some("did you mean `sm_90`?")));
        assert!(error.notes[0].contains("sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a"), "{:?}", error.notes);
        // Products are named by what they are, not by the letters that they share.
        for (text, name) in [
            ("h100", "sm_90a"),
            ("A100", "sm_80"),
            ("l40", "sm_89"),
            ("h200", "sm_90a"),
            ("b200", "sm_100a"),
            ("mi300x", "gfx942"),
        ] {
            let help = Target::parse(text).unwrap_err().help.unwrap();
            assert_eq!(help, format!("the architecture of that GPU is `{name}`"));
        }
        assert_eq!(
            Target::parse("sm_70").unwrap_err().help.as_deref(),
            Some("that GPU is too old: ttc compiles for sm_80 and later")
        );
        for (products, name) in VENDORS.iter().flat_map(|v| v.products) {
            assert!(targets().any(|t| t.name == *name), "{products:?}");
        }
        for text in [
            "",
            "gfx900",
            "hip:",
            "hip:gfx942:32",
            "cuda:",
            "cuda:91",
            "cuda:90:64",
            "sm_",
            "..",
            "9.0.",
            "sm_٩٠",
            &"9".repeat(100_000),
        ] {
            let error = Target::parse(text).unwrap_err();
            assert!(error.message.len() < 500, "{text}");
        }
    }

    #[test]
    fn features_follow_capability_and_variant() {
        let names =
            |query: fn(&Target) -> bool| -> Vec<&str> { targets().filter(|t| query(t)).map(|t| t.name).collect() };
        assert_eq!(names(Target::has_wgmma), ["sm_90a"]);
        assert_eq!(names(Target::has_tcgen05), ["sm_100a", "sm_103a", "sm_110a"]);
        assert_eq!(targets().find(|t| t.has_fp8_cvt()).map(|t| t.name), Some("sm_89"));
        assert_eq!(targets().find(|t| t.has_tma()).map(|t| t.name), Some("sm_90"));
    }
}
