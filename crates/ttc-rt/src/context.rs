//! A GPU's context, and making it current for the time of a call.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::driver::{Device, Driver, Handle};
use crate::error::Error;

/// A context of a GPU. Kernels are loaded, and memory is allocated, in one context. Clones are the same context, and any
/// thread may use it: what needs it to be the thread's current one makes it so and afterwards restores what was.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    driver: &'static Driver,
    raw: Handle,
    device: Device,
    capability: (u32, u32),
    /// Whether the device's primary context is to be released at the end.
    retained: bool,
}

// SAFETY: a context may be used from any thread that makes it current, and `enter` does so.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.retained {
            // SAFETY: the context was retained once. A failure at this point leaves nothing to do.
            unsafe { (self.driver.functions.release)(self.device) };
        }
    }
}

impl Context {
    /// The primary context of a GPU, which PyTorch, cudarc and the CUDA runtime use as well. It is retained as long as
    /// this value, a clone of it, or something that was made in it lives.
    ///
    /// # Errors
    /// There is no driver, or no GPU of this number.
    pub fn primary(ordinal: usize) -> Result<Context, Error> {
        let driver = Driver::get()?;
        let mut device = 0;
        let number = i32::try_from(ordinal).unwrap_or(i32::MAX);
        // SAFETY: `device` may be written to.
        driver.check(unsafe { (driver.functions.device)(&raw mut device, number) }, "cuDeviceGet")?;
        let capability = driver.capability(device)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` may be written to, and the device is one that the driver named.
        driver.check(unsafe { (driver.functions.retain)(&raw mut raw, device) }, "cuDevicePrimaryCtxRetain")?;
        Ok(Context { inner: Arc::new(Inner { driver, raw, device, capability, retained: true }) })
    }

    /// The calling thread's current context. Whoever made it must keep it until what is made in it here is gone.
    ///
    /// # Errors
    /// There is no driver, or [`Error::NoContext`].
    pub fn current() -> Result<Context, Error> {
        let driver = Driver::get()?;
        let raw = current(driver)?;
        if raw.is_null() {
            return Err(Error::NoContext);
        }
        let mut device = 0;
        // SAFETY: `device` may be written to, and a context is current.
        driver.check(unsafe { (driver.functions.current_device)(&raw mut device) }, "cuCtxGetDevice")?;
        let capability = driver.capability(device)?;
        Ok(Context { inner: Arc::new(Inner { driver, raw, device, capability, retained: false }) })
    }

    /// A context that somebody else made and keeps.
    #[cfg(feature = "cudarc")]
    pub(crate) fn of_other(raw: Handle, device: Device) -> Result<Context, Error> {
        let driver = Driver::get()?;
        let capability = driver.capability(device)?;
        Ok(Context { inner: Arc::new(Inner { driver, raw, device, capability, retained: false }) })
    }

    /// Major and minor number of the GPU's compute capability.
    #[must_use]
    pub fn capability(&self) -> (u32, u32) {
        self.inner.capability
    }

    /// The `CUcontext`.
    #[must_use]
    pub fn as_raw(&self) -> Handle {
        self.inner.raw
    }

    /// Waits until the GPU has done all work of this context.
    ///
    /// # Errors
    /// Also those of kernels that ran.
    pub fn synchronize(&self) -> Result<(), Error> {
        let _entered = self.enter()?;
        // SAFETY: the context is current.
        self.driver().check(unsafe { (self.driver().functions.synchronize)() }, "cuCtxSynchronize")
    }

    pub(crate) fn driver(&self) -> &'static Driver {
        self.inner.driver
    }

    pub(crate) fn device(&self) -> Device {
        self.inner.device
    }

    /// Makes the context current for the thread until the result is dropped.
    pub(crate) fn enter(&self) -> Result<Entered, Error> {
        let driver = self.driver();
        let pushed = current(driver)? != self.inner.raw;
        if pushed {
            // SAFETY: the context lives as long as `self`.
            driver.check(unsafe { (driver.functions.push)(self.inner.raw) }, "cuCtxPushCurrent")?;
        }
        Ok(Entered { driver, pushed, thread: PhantomData })
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.capability();
        write!(f, "Context(device {}, capability {major}.{minor})", self.inner.device)
    }
}

fn current(driver: &Driver) -> Result<Handle, Error> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` may be written to.
    driver.check(unsafe { (driver.functions.current)(&raw mut raw) }, "cuCtxGetCurrent")?;
    Ok(raw)
}

/// The time during which a context is the thread's current one.
pub(crate) struct Entered {
    driver: &'static Driver,
    pushed: bool,
    /// The current context belongs to the thread, so this value stays on it.
    thread: PhantomData<*mut ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if self.pushed {
            let mut raw = std::ptr::null_mut();
            // SAFETY: the context on top of the thread's stack is the one that `enter` pushed.
            unsafe { (self.driver.functions.pop)(&raw mut raw) };
        }
    }
}
