//! What a failure on a GPU means, and what to do: an error of `ttc-rt` as a diagnostic.
//!
//! A kernel that faults ends its context, and every call after it returns the same status. So the first error is the
//! one that is shown, and its notes list what was launched: the arguments with their addresses and sizes, and the
//! promises.

use ttc_rt::{Error, Failure};

use crate::diag::codes::gpu as codes;
use crate::diag::{Code, Diagnostic};

/// What a diagnostic says of the launch that failed.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// What was launched, as a sentence.
    pub launch: Option<String>,
    /// A line for each argument.
    pub arguments: Vec<String>,
    /// The command that runs the same in the interpreter.
    pub interpret: Option<String>,
}

/// The diagnostic of an error.
pub fn error(error: &Error, about: &About) -> Diagnostic {
    match error {
        Error::NoDriver { .. } => Diagnostic::error(&codes::NO_DRIVER, error.to_string()).help(
            "install NVIDIA's driver or AMD's ROCm, or run this on a machine with a GPU; `TTC_LIBCUDA` and \
             `TTC_LIBAMDHIP64` name the libraries if they are elsewhere",
        ),
        Error::MissingFunction { .. } => {
            Diagnostic::error(&codes::NO_DRIVER, error.to_string()).help("install a newer driver")
        }
        Error::Driver(failure) => of_driver(failure, about),
        Error::NoVariant { .. } => {
            launched(Diagnostic::error(&codes::WRONG_GPU, error.to_string()), about).help("compile it for this GPU")
        }
        Error::SharedMemory { .. } => launched(Diagnostic::error(&codes::REFUSED, error.to_string()), about)
            .help("take smaller blocks or fewer stages"),
        _ => launched(Diagnostic::error(&codes::BAD_LAUNCH, error.to_string()), about),
    }
}

/// The code for a status (`CUresult` in `cuda.h`), and what to do.
fn kind(status: i32) -> (&'static Code, Option<&'static str>) {
    match status {
        2 => (&codes::NO_DEVICE_MEMORY, Some("end what else runs on the GPU, or take smaller sizes")),
        // Not initialised, no device, an insecure or unlicensed one, a driver that is too old for the library.
        3 | 34 | 100 | 102 | 803 | 804 => (&codes::NO_DRIVER, Some("`nvidia-smi` says whether the driver works")),
        101 | 209 | 218 | 221..=223 => (&codes::WRONG_GPU, None),
        700 => (&codes::ILLEGAL_ADDRESS, None),
        716 => (&codes::MISALIGNED_ADDRESS, None),
        // ECC, a hung kernel, an assertion, the stack, instructions, the space of an address, the program counter,
        // anything else that ended the kernel.
        214 | 220 | 702 | 710 | 714 | 715 | 717 | 718 | 719 => (&codes::KERNEL_FAILED, None),
        701 => (&codes::REFUSED, Some("compile with fewer warps, or bound the registers of a thread with `maxnreg`")),
        _ => (&codes::REFUSED, None),
    }
}

fn of_driver(failure: &Failure, about: &About) -> Diagnostic {
    let (code, advice) = kind(failure.status);
    let d = launched(Diagnostic::error(code, failure.to_string()), about);
    match (advice, &about.interpret) {
        (Some(advice), _) => d.help(advice),
        (None, Some(command)) if code == &codes::ILLEGAL_ADDRESS => {
            d.help(format!("`{command}` finds the access, with its line, program and element"))
        }
        (None, Some(command)) if code == &codes::MISALIGNED_ADDRESS || code == &codes::KERNEL_FAILED => {
            d.help(format!("`{command}` runs the same on the CPU and says what it finds"))
        }
        _ => d,
    }
}

/// Adds what was launched.
fn launched(d: Diagnostic, about: &About) -> Diagnostic {
    let d = match &about.launch {
        Some(launch) => d.note(launch.clone()),
        None => d,
    };
    about.arguments.iter().fold(d, |d, line| d.note(line.clone()))
}
