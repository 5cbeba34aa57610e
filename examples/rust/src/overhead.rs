//! The time of a launch by the launcher, beside that of a bare `cuLaunchKernel`: 100,000 of each in one run, in turns.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::time::Instant;

use ttc_rt::{AsStream, Context, DeviceBuffer, Error, Module, Stream};

use crate::kernels::add;

const TURNS: usize = 200;
const LAUNCHES: usize = 500;
const N: usize = 1000;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

type SetCurrent = unsafe extern "C" fn(*mut c_void) -> c_int;
type Launch = unsafe extern "C" fn(
    *mut c_void,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    *mut c_void,
    *mut *mut c_void,
    *mut *mut c_void,
) -> c_int;

/// A function of the driver, which is open already.
fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: both names end with a zero byte; 2 is RTLD_NOW.
    let address = unsafe { dlsym(dlopen(c"libcuda.so.1".as_ptr(), 2), name.as_ptr()) };
    assert!(!address.is_null(), "libcuda lacks {name:?}");
    address
}

pub fn measure(gpu: &Context, kernel: &add::Kernel) -> Result<(), Error> {
    // SAFETY: `cuda.h` declares the functions so.
    let (set_current, launch) = unsafe {
        (
            std::mem::transmute::<*mut c_void, SetCurrent>(symbol(c"cuCtxSetCurrent")),
            std::mem::transmute::<*mut c_void, Launch>(symbol(c"cuLaunchKernel")),
        )
    };
    // A bare launch needs a current context. With one, the launcher has nothing to change either.
    // SAFETY: the context lives until the end of the program.
    assert_eq!(unsafe { set_current(gpu.as_raw()) }, 0);
    let variant = kernel.inner().variants().next().expect("a kernel has a variant");
    // SAFETY: the image is one that ttc made.
    let module = unsafe { Module::load(gpu, variant.image) }?;
    let function = module.function(variant.symbol)?;

    let stream = Stream::new(gpu)?;
    let x = DeviceBuffer::from_slice(gpu, &[0.0f32; N])?;
    let mut out = DeviceBuffer::<f32>::new(gpu, N)?;
    let args = add::Args { x: x.ptr(), y: x.ptr(), out: out.ptr_mut(), n: N as i32 };
    let (mut by_launcher, mut bare) = (vec![], vec![]);
    for _ in 0..TURNS {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            // SAFETY: the buffers have n elements, and they stay until the stream has been waited for.
            unsafe { kernel.launch(&stream, &args) }?;
        }
        by_launcher.push(start.elapsed().as_secs_f64() * 1e6 / LAUNCHES as f64);
        stream.synchronize()?;
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            let (mut x, mut y, mut out, mut n) = (args.x.address(), args.y.address(), args.out.address(), args.n);
            let mut list: [*mut c_void; 4] =
                [(&raw mut x).cast(), (&raw mut y).cast(), (&raw mut out).cast(), (&raw mut n).cast()];
            let (threads, shared, queue) = (variant.threads, variant.shared, stream.as_raw_stream());
            // SAFETY: the parameters are those of the kernel, which are as above.
            let status = unsafe {
                let list = list.as_mut_ptr();
                launch(function, 1, 1, 1, threads, 1, 1, shared, queue, list, std::ptr::null_mut())
            };
            assert_eq!(status, 0, "cuLaunchKernel");
        }
        bare.push(start.elapsed().as_secs_f64() * 1e6 / LAUNCHES as f64);
        stream.synchronize()?;
    }
    let (by_launcher, bare) = (median(by_launcher), median(bare));
    let ratio = by_launcher / bare;
    let count = TURNS * LAUNCHES;
    println!("{count} launches of each: launcher {by_launcher:.3} us, bare {bare:.3} us, ratio of medians {ratio:.3}");
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
