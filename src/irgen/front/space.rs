//! The packages whose contents are built into the compiler, and the imports that lead to them.

/// A package whose contents are built into the compiler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Space {
    /// `triton`
    Triton,
    /// `triton.language`
    Language,
    /// `triton.language.math`
    Math,
    /// `triton.language.extra`
    Extra,
    /// `triton.language.extra.cuda`
    Cuda,
    /// `triton.language.extra.hip`
    Hip,
    /// `triton.language.extra.libdevice`
    Libdevice,
    /// `triton.language.target_info`
    TargetInfo,
    /// `tl.PropagateNan`
    PropagateNan,
    /// `tl.dtype.KIND`
    Kind,
    /// `tl.dtype.SIGNEDNESS`
    Signedness,
    /// Python's `math`
    PyMath,
    /// Python's `os`
    Os,
    /// `os.environ`: empty, so that a compilation depends on its input only.
    Environ,
    /// `torch`: its dtypes and their limits.
    Torch,
    /// `torch.cuda`: what it says of the target.
    TorchCuda,
    /// `torch.version`
    TorchVersion,
    /// Python's `itertools`
    Itertools,
    /// `packaging`
    Packaging,
    /// `packaging.version`
    PackagingVersion,
    /// `triton.runtime`
    Runtime,
    /// `triton.runtime.driver`
    Driver,
    /// `triton.runtime.driver.active`
    ActiveDriver,
    /// `triton.runtime.driver.active.get_current_target()`
    GpuTarget,
}

impl Space {
    /// How the package is called in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Space::Triton => "triton",
            Space::Language => "triton.language",
            Space::Math => "triton.language.math",
            Space::Extra => "triton.language.extra",
            Space::Cuda => "triton.language.extra.cuda",
            Space::Hip => "triton.language.extra.hip",
            Space::Libdevice => "libdevice",
            Space::TargetInfo => "triton.language.target_info",
            Space::PropagateNan => "tl.PropagateNan",
            Space::Kind => "tl.dtype.KIND",
            Space::Signedness => "tl.dtype.SIGNEDNESS",
            Space::PyMath => "math",
            Space::Os => "os",
            Space::Environ => "os.environ",
            Space::Torch => "torch",
            Space::TorchCuda => "torch.cuda",
            Space::TorchVersion => "torch.version",
            Space::Itertools => "itertools",
            Space::Packaging => "packaging",
            Space::PackagingVersion => "packaging.version",
            Space::Runtime => "triton.runtime",
            Space::Driver => "triton.runtime.driver",
            Space::ActiveDriver => "triton.runtime.driver.active",
            Space::GpuTarget => "the target",
        }
    }

    /// What to do about a member that the package lacks, whichever it is.
    #[must_use]
    pub fn advice(self) -> Option<&'static str> {
        let hip = "this package is for AMD's GPUs; `triton.language.extra.cuda` has what NVIDIA's offer";
        (self == Space::Hip).then_some(hip)
    }

    /// What to write instead of a member that Triton 2 had.
    #[must_use]
    pub fn replaced(self, name: &str) -> Option<&'static str> {
        match (self, name) {
            (Space::Math, "max") => Some("Triton 2 had it for two values: write `tl.maximum(x, y)`"),
            (Space::Math, "min") => Some("Triton 2 had it for two values: write `tl.minimum(x, y)`"),
            _ => None,
        }
    }
}

/// The packages that are part of the compiler.
pub fn builtin_space(path: &[String]) -> Option<Space> {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    Some(match parts.as_slice() {
        ["math"] => Space::PyMath,
        ["os"] => Space::Os,
        ["torch"] => Space::Torch,
        ["torch", "cuda"] => Space::TorchCuda,
        ["itertools"] => Space::Itertools,
        ["packaging"] => Space::Packaging,
        ["packaging", "version"] => Space::PackagingVersion,
        ["triton"] => Space::Triton,
        ["triton", "runtime"] => Space::Runtime,
        ["triton", "runtime", "driver"] => Space::Driver,
        ["triton", "language"] | ["triton", "language", "core" | "standard" | "random" | "semantic"] => Space::Language,
        // PyTorch's generated kernels import them from there.
        ["torch", "_inductor", "runtime", "triton_helpers", "libdevice"] => Space::Libdevice,
        ["torch", "_inductor", "runtime", "triton_helpers", "math"] | ["triton", "language", "math"] => Space::Math,
        ["triton", "language", "extra"] => Space::Extra,
        ["triton", "language", "target_info"] => Space::TargetInfo,
        ["triton", "language", "extra", "cuda"] => Space::Cuda,
        ["triton", "language", "extra", "hip"] => Space::Hip,
        ["triton", "language", "libdevice"]
        | ["triton", "language", "extra", "libdevice"]
        | ["triton", "language", "extra", "cuda" | "hip", "libdevice"] => Space::Libdevice,
        _ => return None,
    })
}

/// The part of Triton that everybody gives this name.
#[must_use]
pub fn usual_space(name: &str) -> Option<Space> {
    Some(match name {
        "triton" => Space::Triton,
        "tl" => Space::Language,
        "libdevice" | "tldevice" => Space::Libdevice,
        _ => return None,
    })
}

/// Whether a package is one of Triton 3.9 that runs on the host only. Imports of it succeed and give kernels nothing.
#[must_use]
pub fn is_host_part_of_triton(path: &[String]) -> bool {
    let parts = ["tools", "testing", "compiler", "runtime", "backends", "knobs", "errors"];
    matches!(path, [first, second, ..] if first == "triton" && parts.contains(&&**second))
}
