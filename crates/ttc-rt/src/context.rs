//! A GPU's context, and making it current for the time of a call.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::driver::{Cuda, Device, Driver, Handle, Own, either};
use crate::error::{Error, Gpu};

/// A context of a GPU. Kernels are loaded, and memory is allocated, in one context. Clones are the same context, and
/// any thread may use it: what needs it to be the thread's current one makes it so and afterwards restores what was.
///
/// AMD's runtime has devices in place of contexts: each has one, which is current where the device is.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    driver: &'static Driver,
    raw: Handle,
    device: Device,
    gpu: Gpu,
    /// Whether the device's primary context is to be released at the end.
    retained: bool,
}

// SAFETY: a context may be used from any thread that makes it current, and `enter` does so.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(cuda) = self.driver.cuda().filter(|_| self.retained) {
            // SAFETY: the context was retained once. A failure at this point leaves nothing to do.
            unsafe { (cuda.release)(self.device) };
        }
    }
}

impl Context {
    /// The primary context of a GPU, which PyTorch, cudarc and the CUDA runtime use as well. It is retained as long as
    /// this value, a clone of it, or something that was made in it lives. Where NVIDIA's driver has no GPU of this
    /// number, it is AMD's of this number.
    ///
    /// # Errors
    /// There is no driver, or no GPU of this number.
    pub fn primary(ordinal: usize) -> Result<Context, Error> {
        let number = i32::try_from(ordinal).unwrap_or(i32::MAX);
        either(|driver| {
            let mut device = 0;
            // SAFETY: `device` may be written to.
            driver.check(unsafe { (driver.functions.device)(&raw mut device, number) }, "cuDeviceGet")?;
            let gpu = driver.gpu(device)?;
            let Some(cuda) = driver.cuda() else { return Ok(Context::of_device(driver, device, gpu)) };
            let mut raw = std::ptr::null_mut();
            // SAFETY: `raw` may be written to, and the device is one that the driver named.
            driver.check(unsafe { (cuda.retain)(&raw mut raw, device) }, "cuDevicePrimaryCtxRetain")?;
            Ok(Context { inner: Arc::new(Inner { driver, raw, device, gpu, retained: true }) })
        })
    }

    /// The calling thread's current context. Whoever made it must keep it until what is made in it here is gone. Where
    /// the thread has none, it is that of the current device of AMD's runtime.
    ///
    /// # Errors
    /// There is no driver, or [`Error::NoContext`].
    pub fn current() -> Result<Context, Error> {
        either(|driver| {
            let raw = match driver.cuda() {
                Some(cuda) => current(driver, cuda)?,
                None => std::ptr::null_mut(),
            };
            if driver.cuda().is_some() && raw.is_null() {
                return Err(Error::NoContext);
            }
            let device = current_device(driver)?;
            let gpu = driver.gpu(device)?;
            if driver.cuda().is_none() {
                return Ok(Context::of_device(driver, device, gpu));
            }
            Ok(Context { inner: Arc::new(Inner { driver, raw, device, gpu, retained: false }) })
        })
    }

    /// That of a device of AMD's runtime.
    fn of_device(driver: &'static Driver, device: Device, gpu: Gpu) -> Context {
        // A handle that tells the devices apart.
        let raw = std::ptr::without_provenance_mut(device as usize + 1);
        Context { inner: Arc::new(Inner { driver, raw, device, gpu, retained: false }) }
    }

    /// A context that somebody else made and keeps.
    #[cfg(feature = "cudarc")]
    pub(crate) fn of_other(raw: Handle, device: Device) -> Result<Context, Error> {
        let driver = Driver::get(crate::driver::Vendor::Nvidia)?;
        let gpu = driver.gpu(device)?;
        Ok(Context { inner: Arc::new(Inner { driver, raw, device, gpu, retained: false }) })
    }

    /// The GPU, as code is compiled for it.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.inner.gpu
    }

    /// The `CUcontext`. Of AMD's GPUs it is a number that tells them apart.
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
        let undo = match &driver.own {
            Own::Cuda(cuda) if current(driver, cuda)? != self.inner.raw => {
                // SAFETY: the context lives as long as `self`.
                driver.check(unsafe { (cuda.push)(self.inner.raw) }, "cuCtxPushCurrent")?;
                Undo::Pop
            }
            Own::Cuda(_) => Undo::Nothing,
            Own::Hip(hip) => match current_device(driver)? {
                device if device == self.inner.device => Undo::Nothing,
                device => {
                    // SAFETY: the device is one that the runtime named.
                    driver.check(unsafe { (hip.set_device)(self.inner.device) }, "hipSetDevice")?;
                    Undo::Device(device)
                }
            },
        };
        Ok(Entered { driver, undo, thread: PhantomData })
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context(device {}, which {})", self.inner.device, self.gpu())
    }
}

fn current(driver: &Driver, cuda: &Cuda) -> Result<Handle, Error> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` may be written to.
    driver.check(unsafe { (cuda.current)(&raw mut raw) }, "cuCtxGetCurrent")?;
    Ok(raw)
}

fn current_device(driver: &Driver) -> Result<Device, Error> {
    let mut device = 0;
    // SAFETY: `device` may be written to. Of NVIDIA's, a context is current.
    driver.check(unsafe { (driver.functions.current_device)(&raw mut device) }, "cuCtxGetDevice")?;
    Ok(device)
}

/// The time during which a context is the thread's current one.
pub(crate) struct Entered {
    driver: &'static Driver,
    undo: Undo,
    /// The current context belongs to the thread, so this value stays on it.
    thread: PhantomData<*mut ()>,
}

/// What leads back to what was current before.
enum Undo {
    Nothing,
    Pop,
    Device(Device),
}

impl Drop for Entered {
    fn drop(&mut self) {
        match (&self.driver.own, &self.undo) {
            (Own::Cuda(cuda), Undo::Pop) => {
                let mut raw = std::ptr::null_mut();
                // SAFETY: the context on top of the thread's stack is the one that `enter` pushed.
                unsafe { (cuda.pop)(&raw mut raw) };
            }
            // SAFETY: the device was current before.
            (Own::Hip(hip), Undo::Device(device)) => drop(unsafe { (hip.set_device)(*device) }),
            _ => {}
        }
    }
}
