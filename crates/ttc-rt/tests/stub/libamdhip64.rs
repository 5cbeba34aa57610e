//! AMD's HIP runtime without a GPU, for tests: what it is called for is recorded as `libcuda.rs` records it.
//!
//! 1. A function does what its counterpart in `libcuda.rs` does, and stands in the record under its own name.
//! 2. There are two devices, `gfx942` with its modes, and `gfx1100`. Every thread starts with the first one.
//! 3. Each device counts as a context that is always there.
#![allow(clippy::all, clippy::pedantic, non_snake_case)]

#[path = "libcuda.rs"]
mod cuda;

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};

type Status = c_int;
type Handle = *mut c_void;

thread_local! {
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
}

/// Functions that are as those of CUDA but for their names.
macro_rules! same {
    ($($hip:ident = $cuda:ident($($name:ident: $ty:ty),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $hip($($name: $ty),*) -> Status {
                cuda::stub_current(1);
                cuda::name_next(stringify!($hip));
                #[allow(unused_unsafe)]
                let status = unsafe { cuda::$cuda($($name),*) };
                cuda::stub_current(0);
                status
            }
        )*
    };
}

same! {
    hipInit = cuInit(flags: c_uint);
    hipModuleLoadData = cuModuleLoadData(module: *mut Handle, image: *const c_void);
    hipModuleUnload = cuModuleUnload(module: Handle);
    hipModuleGetFunction = cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char);
    hipModuleLaunchKernel = cuLaunchKernel(
        function: Handle, x: c_uint, y: c_uint, z: c_uint, tx: c_uint, ty: c_uint, tz: c_uint, shared: c_uint,
        stream: Handle, list: *mut *mut c_void, extra: *mut *mut c_void
    );
    hipDeviceSynchronize = cuCtxSynchronize();
    hipStreamCreateWithFlags = cuStreamCreate(stream: *mut Handle, flags: c_uint);
    hipStreamDestroy = cuStreamDestroy_v2(stream: Handle);
    hipStreamSynchronize = cuStreamSynchronize(stream: Handle);
    hipMalloc = cuMemAlloc_v2(address: *mut u64, bytes: usize);
    hipFree = cuMemFree_v2(address: u64);
    hipMallocAsync = cuMemAllocAsync(address: *mut u64, bytes: usize, stream: Handle);
    hipFreeAsync = cuMemFreeAsync(address: u64, stream: Handle);
    hipMemcpyHtoD = cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize);
    hipMemcpyDtoH = cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize);
    hipMemsetD8 = cuMemsetD8_v2(to: u64, byte: u8, bytes: usize);
    hipMemsetD8Async = cuMemsetD8Async(to: u64, byte: u8, bytes: usize, stream: Handle);
    hipMemcpyDtoDAsync = cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle);
    hipEventCreateWithFlags = cuEventCreate(event: *mut Handle, flags: c_uint);
    hipEventDestroy = cuEventDestroy_v2(event: Handle);
    hipEventRecord = cuEventRecord(event: Handle, stream: Handle);
    hipEventSynchronize = cuEventSynchronize(event: Handle);
    hipEventElapsedTime = cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
    hipDriverGetVersion = cuDriverGetVersion(version: *mut c_int);
    hipDeviceGetName = cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int);
    hipDeviceTotalMem = cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGetErrorName(status: Status, text: *mut *const c_char) -> Status {
    let name = match status {
        2 => c"hipErrorOutOfMemory",
        101 => c"hipErrorInvalidDevice",
        _ => c"hipErrorUnknown",
    };
    unsafe { *text = name.as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGetErrorString(status: Status, text: *mut *const c_char) -> Status {
    unsafe { cuda::cuGetErrorString(status, text) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> Status {
    cuda::call("hipGetDeviceCount", String::new(), |_| {
        unsafe { *count = 2 };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGet(device: *mut c_int, ordinal: c_int) -> Status {
    cuda::call("hipDeviceGet", String::new(), |_| {
        unsafe { *device = ordinal };
        if (0..2).contains(&ordinal) { 0 } else { 101 }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> Status {
    cuda::call("hipGetDevice", String::new(), |_| {
        unsafe { *device = DEVICE.get() };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> Status {
    cuda::call("hipSetDevice", format!("{device}"), |_| {
        DEVICE.set(device);
        if (0..2).contains(&device) { 0 } else { 101 }
    })
}

/// `hipDeviceProp_tR0600`: 1472 bytes, with sizes and numbers where `hip_runtime_api.h` has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut u8, device: c_int) -> Status {
    cuda::call("hipGetDeviceProperties", String::new(), |s| {
        let processor = if device == 0 { "gfx942:sramecc+:xnack-\0" } else { "gfx1100\0" };
        let mut bytes = [0xa5u8; 1472];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(288, &(192u64 << 30).to_ne_bytes());
        put(296, &u64::from(cuda::shared(s)).to_ne_bytes());
        for (at, value) in [(304, 65_536), (348, 2_100_000), (388, 304), (608, 2_600_000), (612, 8192), (616, 4 << 20)] {
            put(at, &i32::to_ne_bytes(value));
        }
        put(1160, processor.as_bytes());
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), properties, bytes.len()) };
        0
    })
}
