//! Streams: queues of work on a GPU.

use std::ffi::c_void;

use crate::context::Context;
use crate::driver::Handle;
use crate::error::Error;

/// What a kernel can be launched on.
pub trait AsStream {
    /// The `CUstream`. Null is the legacy default stream of the kernel's context.
    fn as_raw_stream(&self) -> *mut c_void;
}

/// A stream of a context, destroyed when it is dropped. Work that is still queued on it is done all the same.
///
/// The stream waits for the legacy default stream and the other way round, so the copies of
/// [`DeviceBuffer`](crate::DeviceBuffer) come after the kernels that were launched on it.
#[derive(Debug)]
pub struct Stream {
    context: Context,
    raw: Handle,
}

// SAFETY: the driver's calls on a stream are safe from every thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Makes a stream.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(context: &Context) -> Result<Stream, Error> {
        let (driver, _entered) = (context.driver(), context.enter()?);
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` may be written to, and the context is current. 0 is `CU_STREAM_DEFAULT`.
        driver.check(unsafe { (driver.functions.stream)(&raw mut raw, 0) }, "cuStreamCreate")?;
        Ok(Stream { context: context.clone(), raw })
    }

    /// Waits until the GPU has done what was queued.
    ///
    /// # Errors
    /// Also those of kernels that ran.
    pub fn synchronize(&self) -> Result<(), Error> {
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        // SAFETY: the stream lives as long as `self`.
        driver.check(unsafe { (driver.functions.synchronize_stream)(self.raw) }, "cuStreamSynchronize")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the stream was made by `new`, and nobody uses it any more. A failure leaves nothing to do.
            unsafe { (self.context.driver().functions.destroy_stream)(self.raw) };
        }
    }
}

impl AsStream for Stream {
    fn as_raw_stream(&self) -> *mut c_void {
        self.raw
    }
}

/// A stream that belongs to somebody else: a `CUstream` or a `cudaStream_t`. Null is the legacy default stream.
#[derive(Clone, Copy, Debug)]
pub struct RawStream(pub *mut c_void);

impl RawStream {
    /// The legacy default stream.
    pub const LEGACY: RawStream = RawStream(std::ptr::null_mut());
}

// SAFETY: the driver's calls on a stream are safe from every thread.
unsafe impl Send for RawStream {}
// SAFETY: as above.
unsafe impl Sync for RawStream {}

impl AsStream for RawStream {
    fn as_raw_stream(&self) -> *mut c_void {
        self.0
    }
}
