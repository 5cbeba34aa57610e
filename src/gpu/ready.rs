//! A program that is loaded and bound to its arguments, so that it can be launched any number of times.

use ttc_rt::{Kernel, Parameters};

use super::arguments::Arguments;
use super::explain::{self, About};
use super::program::Program;
use super::session::Gpu;
use super::tables::{MAX_PARAMETER_BYTES, table};
use crate::diag::Diagnostic;
use crate::diag::codes::gpu as codes;

/// A launch that can be queued.
pub struct Ready<'a> {
    gpu: &'a Gpu,
    kernel: Kernel,
    grid: [u32; 3],
    arguments: Vec<ttc_rt::Argument>,
    parameters: Box<Parameters<MAX_PARAMETER_BYTES>>,
    about: About,
    /// The buffers stay while the kernel may use them.
    _memory: &'a Arguments,
}

impl<'a> Ready<'a> {
    /// Loads a program under a name for messages, to be launched with these arguments as a grid of so many programs.
    /// `interpret` is the command that runs the same on the CPU.
    ///
    /// # Errors
    /// `E1102` if the GPU does not run the code, `E1103` if the driver refuses it, `E1108` if the arguments do not fit
    /// it, `E1109` if the description of the launch cannot be.
    pub fn new(
        gpu: &'a Gpu,
        name: &str,
        program: &Program,
        grid: [u32; 3],
        memory: &'a Arguments,
        interpret: Option<String>,
    ) -> Result<Ready<'a>, Diagnostic> {
        let [x, y, z] = grid;
        let about = About {
            launch: Some(format!(
                "`{name}` was launched with a grid of {x} x {y} x {z} programs, each of {} threads and {} bytes of shared memory",
                program.descriptor.threads, program.descriptor.shared
            )),
            arguments: memory.describe(&program.descriptor),
            interpret,
        };
        let table = table(name, program, gpu.target)
            .map_err(|why| Diagnostic::error(&codes::BAD_CUBIN, format!("`{name}` cannot be launched: {why}")))?;
        let arguments = memory.bind(&program.descriptor)?;
        // SAFETY: the table was made of the descriptor that the compiler wrote beside the image. For an image from a
        // file, the user who names it vouches for the two.
        let kernel = unsafe { Kernel::load(&gpu.context, table) }.map_err(|e| explain::error(&e, &about))?;
        let parameters = Box::new(Parameters::new());
        Ok(Ready { gpu, kernel, grid, arguments, parameters, about, _memory: memory })
    }

    /// Queues a launch on the GPU's stream.
    ///
    /// # Errors
    /// `E1103` if the driver refuses it, `E1108` if an argument breaks a promise or the grid cannot be.
    pub fn launch(&mut self) -> Result<(), Diagnostic> {
        let parameters = (*self.parameters).as_mut();
        // SAFETY: the arguments were bound to the descriptor of the table, which has no larger parameters, and their
        // buffers live as long as `self`. What the kernel does with them is what the user asked for: an access outside
        // of them ends the context and is reported.
        unsafe { self.kernel.launch(&self.gpu.stream, Some(self.grid), &self.arguments, parameters) }
            .map_err(|e| self.explain(&e))
    }

    /// Waits until all launches have run.
    ///
    /// # Errors
    /// What a kernel did wrong: `E1104`, `E1105`, `E1106`.
    pub fn wait(&self) -> Result<(), Diagnostic> {
        self.gpu.stream.synchronize().map_err(|e| self.explain(&e))
    }

    /// An error of the driver as a diagnostic about this launch.
    pub fn explain(&self, error: &ttc_rt::Error) -> Diagnostic {
        explain::error(error, &self.about)
    }
}
