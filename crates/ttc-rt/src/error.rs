//! What can go wrong, with what was tried.

use std::fmt;

/// Why a kernel was not loaded or launched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No driver's library can be opened: neither NVIDIA's nor, where it was looked for, AMD's. Each line holds a name
    /// that was tried and the system's words.
    NoDriver {
        /// What was tried.
        tried: Vec<String>,
    },
    /// The driver is too old: it lacks a function.
    MissingFunction {
        /// The function's name in `cuda.h` or `hip_runtime_api.h`.
        function: &'static str,
        /// The first version of CUDA or ROCm whose driver has it.
        since: &'static str,
    },
    /// A call of the driver failed.
    Driver(Box<Failure>),
    /// The calling thread has no current context.
    NoContext,
    /// There is no GPU of this number.
    NoDevice {
        /// The number that was asked for.
        number: usize,
    },
    /// The kernel was compiled for other GPUs.
    NoVariant {
        /// The kernel's name.
        kernel: &'static str,
        /// The GPU that is there.
        gpu: Gpu,
        /// The architectures that the kernel was compiled for.
        archs: Vec<&'static str>,
    },
    /// No variant promises what the arguments hold.
    Promise(Box<BrokenPromise>),
    /// The grid cannot be launched.
    Grid {
        /// The kernel's name.
        kernel: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor breaks a rule of tensor descriptors.
    Tensor(Box<BrokenTensor>),
    /// A block of the kernel needs more shared memory than the GPU has for one.
    SharedMemory {
        /// The kernel's name.
        kernel: &'static str,
        /// What it needs, in bytes.
        needs: u32,
        /// What a block may have, in bytes.
        offers: u32,
    },
    /// Two lengths of a copy differ, in elements.
    Length {
        /// The length of the buffer on the GPU.
        device: usize,
        /// The length of the slice on the host.
        host: usize,
    },
    /// A buffer has more bytes than can be addressed.
    TooLarge {
        /// Its length in elements.
        length: usize,
    },
}

/// A GPU, as code is compiled for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gpu {
    /// NVIDIA's.
    Nvidia {
        /// The compute capability's major number.
        major: u32,
        /// The compute capability's minor number.
        minor: u32,
    },
    /// AMD's.
    Amd {
        /// The name of the processor, such as `gfx942`.
        processor: String,
    },
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gpu::Nvidia { major, minor } => write!(f, "has compute capability {major}.{minor}"),
            Gpu::Amd { processor } => write!(f, "is a {processor}"),
        }
    }
}

/// A call of the driver that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The number in `CUresult` or `hipError_t`.
    pub status: i32,
    /// The driver's name for it, such as `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// The driver's words for it.
    pub text: String,
    /// The function of the driver.
    pub call: &'static str,
    /// The kernel that it was called for.
    pub kernel: Option<&'static str>,
    /// The architecture of the variant that it was called for.
    pub arch: Option<&'static str>,
}

/// An argument that breaks a promise that every variant, or the last of them, makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPromise {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The argument's name.
    pub argument: &'static str,
    /// What was promised.
    pub promise: Promise,
    /// The value that was passed.
    pub value: i128,
}

/// What a variant was compiled to rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The value is a multiple of this number.
    DivisibleBy(u64),
    /// The value is this number.
    Equals(i64),
}

impl Promise {
    /// Whether a value keeps the promise. Zero is a multiple of every number.
    #[must_use]
    pub fn holds(self, value: i128) -> bool {
        match self {
            Promise::DivisibleBy(number) => number == 0 || value % i128::from(number) == 0,
            Promise::Equals(number) => value == i128::from(number),
        }
    }
}

/// A tensor that its descriptor cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenTensor {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The argument's name.
    pub argument: &'static str,
    /// The rule that it breaks, with the number that does.
    pub reason: String,
}

impl Error {
    /// The error as a `CUresult`, whose numbers `hipError_t` shares, for callers that know no other: the driver's own
    /// number where the driver failed, and else the nearest one.
    #[must_use]
    pub fn status(&self) -> i32 {
        match self {
            Error::Driver(failure) => failure.status,
            // CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_INVALID_CONTEXT, and so on (cuda.h).
            Error::NoDriver { .. } => 3,
            Error::MissingFunction { .. } => 500,
            Error::NoContext => 201,
            Error::NoDevice { .. } => 101,
            Error::NoVariant { .. } => 209,
            Error::SharedMemory { .. } => 701,
            Error::Promise(_)
            | Error::Grid { .. }
            | Error::Tensor(_)
            | Error::Length { .. }
            | Error::TooLarge { .. } => 1,
        }
    }

    /// Whether the error says that a vendor has no GPU for the caller, so that another vendor's may do.
    pub(crate) fn is_absence(&self) -> bool {
        /// `CUDA_ERROR_NO_DEVICE`, `CUDA_ERROR_INVALID_DEVICE`, and those of HIP
        const ABSENT: [i32; 2] = [100, 101];
        match self {
            Error::NoDriver { .. } | Error::NoContext | Error::NoDevice { .. } => true,
            Error::Driver(failure) => ABSENT.contains(&failure.status),
            _ => false,
        }
    }

    /// Adds the kernel and the variant to a failed call of the driver.
    pub(crate) fn at(mut self, kernel: &'static str, arch: &'static str) -> Error {
        if let Error::Driver(failure) = &mut self {
            failure.kernel.get_or_insert(kernel);
            failure.arch.get_or_insert(arch);
        }
        self
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::DivisibleBy(number) => write!(f, "a multiple of {number}"),
            Promise::Equals(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDriver { tried } => write!(f, "no driver of a GPU can be opened: {}", tried.join("; ")),
            Error::MissingFunction { function, since } if function.starts_with("hip") => {
                write!(f, "AMD's HIP runtime has no {function}: install ROCm {since} or later")
            }
            Error::MissingFunction { function, since } => {
                write!(f, "the CUDA driver has no {function}: install a driver for CUDA {since} or later")
            }
            Error::NoDevice { number } => write!(f, "there is no GPU {number}"),
            Error::Driver(failure) => failure.fmt(f),
            Error::NoContext => f.write_str("this thread has no current CUDA context"),
            Error::NoVariant { kernel, gpu, archs } => {
                write!(f, "`{kernel}` was compiled for {}, and this GPU {gpu}", archs.join(", "))
            }
            Error::Promise(broken) => write!(
                f,
                "`{}` of `{}` was promised to be {}, and it is {}",
                broken.argument, broken.kernel, broken.promise, broken.value
            ),
            Error::Grid { kernel, reason } => write!(f, "the grid of `{kernel}` cannot be launched: {reason}"),
            Error::Tensor(broken) => write!(
                f,
                "no descriptor can be made of the tensor `{}` of `{}`: {}",
                broken.argument, broken.kernel, broken.reason
            ),
            Error::SharedMemory { kernel, needs, offers } => write!(
                f,
                "a block of `{kernel}` needs {needs} bytes of shared memory, and this GPU has {offers} for one"
            ),
            Error::Length { device, host } => {
                write!(f, "a buffer of {device} elements cannot be copied to or from a slice of {host}")
            }
            Error::TooLarge { length } => write!(f, "a buffer of {length} elements has too many bytes"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed", self.call)?;
        match (self.kernel, self.arch) {
            (Some(kernel), Some(arch)) => write!(f, " for `{kernel}` ({arch})")?,
            (Some(kernel), None) => write!(f, " for `{kernel}`")?,
            _ => {}
        }
        write!(f, ": {} ({}, {})", self.text, self.name, self.status)
    }
}

impl std::error::Error for Error {}
impl std::error::Error for Failure {}
