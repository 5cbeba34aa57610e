//! Loads and launches the GPU kernels that ttc compiled.
//!
//! `ttc compile --emit rust` and the crate `ttc-build` print a module for each kernel, with a type of its arguments and
//! a type `Kernel` with `load` and `launch`. The printed code stands on this crate, which opens the CUDA driver or
//! AMD's HIP runtime while the program runs: neither the build nor the program needs the CUDA toolkit or ROCm's
//! headers.
//!
//! ```no_run
//! # mod kernels { pub mod add {
//! #     pub struct Args<'a> {
//! #         pub x: ttc_rt::DevicePtr<'a, f32>, pub out: ttc_rt::DevicePtrMut<'a, f32>, pub n: i32,
//! #     }
//! #     pub struct Kernel;
//! #     impl Kernel {
//! #         pub fn load(_: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> { Ok(Kernel) }
//! #         pub unsafe fn launch(&self, _: &ttc_rt::Stream, _: &Args<'_>) -> Result<(), ttc_rt::Error> { Ok(()) }
//! #     }
//! # } }
//! // In a program: include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! use kernels::add;
//! use ttc_rt::{Context, DeviceBuffer, Stream};
//!
//! let gpu = Context::primary(0)?;
//! let stream = Stream::new(&gpu)?;
//! let kernel = add::Kernel::load(&gpu)?;
//! let x = DeviceBuffer::from_slice(&gpu, &[1.0f32; 4096])?;
//! let mut out = DeviceBuffer::<f32>::new(&gpu, 4096)?;
//! // SAFETY: both buffers have n elements, and they stay until the kernel has run.
//! unsafe { kernel.launch(&stream, &add::Args { x: x.ptr(), out: out.ptr_mut(), n: 4096 }) }?;
//! let sums = out.to_vec()?;
//! # Ok::<(), ttc_rt::Error>(())
//! ```
//!
//! * A kernel is loaded into a [`Context`]. It picks the variants that the GPU runs, and any number of threads may
//!   launch it at once.
//! * A launch checks what the variants were promised, takes the first one whose promises hold, and computes the grid.
//!   It takes no lock and allocates nothing on the host.
//! * An [`Error`] says what was tried. Nothing is printed, and nothing ends the process.
//! * With the feature `cudarc`, streams and buffers of that crate are arguments. With the feature `half`, buffers of
//!   its types are.

#![warn(missing_docs, unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod context;
#[cfg(feature = "cudarc")]
mod cudarc_types;
mod device;
mod driver;
mod element;
mod error;
mod event;
mod grid;
mod hip;
mod kernel;
mod library;
mod memory;
mod module;
mod per_context;
pub mod spec;
mod stream;
mod tensor;

pub use context::Context;
pub use device::Properties;
pub use driver::device_count;
pub use element::{Bf16, Element, F8E4B15, F8E4M3, F8E5M2, F16, Holds};
pub use error::{BrokenPromise, BrokenTensor, Error, Failure, Gpu, Promise};
pub use event::Event;
pub use grid::Expr;
pub use kernel::{Argument, Kernel, Parameters};
pub use memory::{DeviceBuffer, DevicePtr, DevicePtrMut};
pub use module::Module;
pub use per_context::PerContext;
pub use stream::{AsStream, RawStream, Stream};
pub use tensor::{RawTensor, Tensor, TensorMap, TensorMut};
