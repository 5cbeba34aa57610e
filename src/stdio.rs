//! The process around the program: its standard output, and the signals that end it.
//!
//! 1. Rust opens `/dev/null` in place of a standard stream that is closed, before `main` runs. [`CLOSED`] is set even
//!    earlier, so that output which nobody can get is an error.
//! 2. A signal that ends ttc ends the tools that it has started first. (A signal that cannot be caught ends them too:
//!    see `ttc::ptxas`.)
//! 3. A broken pipe ends ttc as it ends other tools: by SIGPIPE, in silence.

use std::io::{Error, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output was closed when the process began.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Finds out whether standard output is open. It runs before `main`, as C's constructors do (System V ABI,
/// "Initialization and Termination Functions").
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn look() {
        // SAFETY: the call asks about a descriptor, which need not exist.
        CLOSED.store(unsafe { libc::fcntl(1, libc::F_GETFD) } < 0, Ordering::Relaxed);
    }
    look
};

/// Writes to standard output, past Rust's line buffer, so errors show here and not when the process ends.
pub(crate) fn write_stdout(bytes: &[u8]) -> std::io::Result<()> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(Error::from_raw_os_error(libc::EBADF));
    }
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Ends the process by SIGPIPE, which Rust ignores.
pub(crate) fn end_by_broken_pipe() {
    end_by(libc::SIGPIPE);
}

fn end_by(signal: i32) {
    // SAFETY: system calls without pointers, which a signal's handler may make.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Makes the signals that ask a program to end take the tools with them.
pub(crate) fn stop_tools_on_signals() {
    extern "C" fn stop(signal: i32) {
        ttc::ptxas::stop_all();
        end_by(signal);
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: the handler makes system calls and reads atomics, nothing else. A signal that is ignored (`nohup`)
        // stays so.
        unsafe {
            if libc::signal(signal, stop as *const () as usize) == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}
