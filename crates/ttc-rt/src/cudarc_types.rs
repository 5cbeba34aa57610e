//! Streams and buffers of the crate cudarc as arguments.
//!
//! cudarc records which stream reads and writes a buffer, so that its streams wait for each other. A pointer keeps that
//! record open, and it is closed where the pointer is dropped: after the launch.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use crate::context::Context;
use crate::element::Holds;
use crate::error::Error;
use crate::memory::{DevicePtr, DevicePtrMut};
use crate::stream::AsStream;

impl AsStream for CudaStream {
    fn as_raw_stream(&self) -> *mut c_void {
        self.cu_stream().cast()
    }
}

impl AsStream for Arc<CudaStream> {
    fn as_raw_stream(&self) -> *mut c_void {
        self.cu_stream().cast()
    }
}

impl Context {
    /// The same context. A primary one is retained; another one must be kept as long as what is made in it here.
    ///
    /// # Errors
    /// What the driver says.
    pub fn of_cudarc(context: &CudaContext) -> Result<Context, Error> {
        if context.is_primary() {
            return Context::primary(context.ordinal());
        }
        Context::of_other(context.cu_ctx().cast(), context.cu_device())
    }
}

impl<'a, T> DevicePtr<'a, T> {
    /// A pointer to a `CudaSlice` or a `CudaView` that a kernel on this stream reads. Drop it after the launch.
    pub fn of_cudarc<S: Holds<T>>(
        buffer: &'a impl cudarc::driver::DevicePtr<S>,
        stream: &'a CudaStream,
    ) -> DevicePtr<'a, T> {
        let (address, guard) = buffer.device_ptr(stream);
        DevicePtr::guarded(address, guard)
    }
}

impl<'a, T> DevicePtrMut<'a, T> {
    /// A pointer to a `CudaSlice` or a `CudaViewMut` that a kernel on this stream writes. Drop it after the launch.
    pub fn of_cudarc<S: Holds<T>>(
        buffer: &'a mut impl cudarc::driver::DevicePtrMut<S>,
        stream: &'a CudaStream,
    ) -> DevicePtrMut<'a, T> {
        let (address, guard) = buffer.device_ptr_mut(stream);
        DevicePtrMut::guarded(address, guard)
    }
}
