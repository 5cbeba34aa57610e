//! A module in a context, and its functions.

use std::ffi::{CString, c_int};

use crate::context::Context;
use crate::driver::{Handle, Status};
use crate::error::Error;

/// A cubin or code object that was loaded into a context. It is unloaded when it is dropped.
#[derive(Debug)]
pub struct Module {
    context: Context,
    raw: Handle,
}

// SAFETY: the driver's calls on a module are safe from every thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// A kernel of a module. It must not be used after its module is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(pub(crate) Handle);

// SAFETY: the driver's calls on a function are safe from every thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Module {
    /// Loads a cubin, or a fat binary or PTX that ends with a zero byte; on AMD's GPUs a code object, or a bundle of
    /// them.
    ///
    /// # Errors
    /// What the driver says.
    ///
    /// # Safety
    /// The image must be a whole one: the driver reads as far as the image itself says.
    pub unsafe fn load(context: &Context, image: &[u8]) -> Result<Module, Error> {
        let (driver, _entered) = (context.driver(), context.enter()?);
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` may be written to, and the caller vouches for the image.
        let status: Status = unsafe { (driver.functions.load)(&raw mut raw, image.as_ptr().cast()) };
        driver.check(status, "cuModuleLoadData")?;
        Ok(Module { context: context.clone(), raw })
    }

    /// The `CUfunction` or `hipFunction_t` of this name. It must not be used after the module is gone.
    ///
    /// # Errors
    /// What the driver says.
    pub fn function(&self, name: &str) -> Result<Handle, Error> {
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        // A name that holds a zero byte names no function, and neither does the empty name.
        let name = CString::new(name).unwrap_or_default();
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` may be written to, the module is loaded, and the name ends with a zero byte.
        let status = unsafe { (driver.functions.function)(&raw mut raw, self.raw, name.as_ptr()) };
        driver.check(status, "cuModuleGetFunction")?;
        Ok(raw)
    }

    /// Sets an attribute of a function of this module. AMD's runtime has none that matter.
    pub(crate) fn set(&self, function: Function, attribute: c_int, value: u32) -> Result<(), Error> {
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        let Some(cuda) = driver.cuda() else { return Ok(()) };
        // SAFETY: the function is one of this module.
        let status = unsafe { (cuda.set_function)(function.0, attribute, value as c_int) };
        driver.check(status, "cuFuncSetAttribute")
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the module was loaded by `load`, and nobody uses it any more. A failure leaves nothing to do.
            unsafe { (self.context.driver().functions.unload)(self.raw) };
        }
    }
}
