//! The functions of the CUDA driver that this crate calls, looked up once in a process.
//!
//! 1. The library is `libcuda.so.1` (`nvcuda.dll` on Windows), or the one that the environment variable `TTC_LIBCUDA`
//!    names.
//! 2. A function that every supported driver has must be there. One that came later is looked up too, and only a kernel
//!    that needs it fails without it.
//! 3. Names and numbers are those of `cuda.h`. A name with `_v2` is what `cuda.h` calls the function without it.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use crate::error::{Error, Failure};
use crate::library::{Library, NAMES};

/// `CUresult`
pub(crate) type Status = c_int;
/// `CUdevice`
pub(crate) type Device = c_int;
/// `CUcontext`, `CUmodule`, `CUfunction`, `CUstream`, `CUevent`
pub(crate) type Handle = *mut c_void;
/// `CUdeviceptr`
pub(crate) type Address = u64;

/// `CUDA_ERROR_NO_BINARY_FOR_GPU`
pub(crate) const NO_BINARY_FOR_GPU: Status = 209;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`
const CAPABILITY_MAJOR: c_int = 75;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR`
const CAPABILITY_MINOR: c_int = 76;
/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`
pub(crate) const SHARED_MEMORY_OPTIN: c_int = 97;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
pub(crate) const MAX_DYNAMIC_SHARED: c_int = 8;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
pub(crate) const LARGE_CLUSTERS: c_int = 13;

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LaunchAttribute {
    pub(crate) id: c_int,
    padding: c_int,
    /// The union `CUlaunchAttributeValue`, which has 64 bytes.
    value: [u32; 16],
}

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
    pub(crate) fn cluster([x, y, z]: [u32; 3]) -> LaunchAttribute {
        let mut value = [0; 16];
        value[..3].copy_from_slice(&[x, y, z]);
        LaunchAttribute { id: 4, padding: 0, value }
    }

    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`
    pub(crate) fn programmatic() -> LaunchAttribute {
        let mut value = [0; 16];
        value[0] = 1;
        LaunchAttribute { id: 6, padding: 0, value }
    }
}

/// `CUlaunchConfig`
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared: c_uint,
    pub(crate) stream: Handle,
    pub(crate) attributes: *mut LaunchAttribute,
    pub(crate) attribute_count: c_uint,
}

/// Declares [`Functions`]: a field for each function, with its name in the library and its parameters.
macro_rules! functions {
    (
        always { $($field:ident = $symbol:literal ($($ty:ty),*);)* }
        later { $($late:ident = $late_symbol:literal since $since:literal ($($late_ty:ty),*);)* }
    ) => {
        pub(crate) struct Functions {
            $(pub(crate) $field: unsafe extern "system" fn($($ty),*) -> Status,)*
            $($late: Option<unsafe extern "system" fn($($late_ty),*) -> Status>,)*
        }

        impl Functions {
            fn of(library: Library) -> Result<Functions, Error> {
                Ok(Functions {
                    $($field: {
                        let missing = || Error::MissingFunction { function: name_of($symbol), since: "11.4" };
                        let address = library.symbol($symbol).ok_or_else(missing)?;
                        // SAFETY: `cuda.h` declares the function of this name with these parameters.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "system" fn($($ty),*) -> Status>(address)
                        }
                    },)*
                    // SAFETY: as above.
                    $($late: library.symbol($late_symbol).map(|address| unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "system" fn($($late_ty),*) -> Status>(address)
                    }),)*
                })
            }

            $(
                /// The function, or the error that says which driver has it.
                pub(crate) fn $late(&self) -> Result<unsafe extern "system" fn($($late_ty),*) -> Status, Error> {
                    self.$late.ok_or(Error::MissingFunction { function: name_of($late_symbol), since: $since })
                }
            )*
        }
    };
}

functions! {
    always {
        init = c"cuInit" (c_uint);
        error_name = c"cuGetErrorName" (Status, *mut *const c_char);
        error_text = c"cuGetErrorString" (Status, *mut *const c_char);
        device_count = c"cuDeviceGetCount" (*mut c_int);
        device = c"cuDeviceGet" (*mut Device, c_int);
        device_attribute = c"cuDeviceGetAttribute" (*mut c_int, c_int, Device);
        retain = c"cuDevicePrimaryCtxRetain" (*mut Handle, Device);
        release = c"cuDevicePrimaryCtxRelease_v2" (Device);
        current = c"cuCtxGetCurrent" (*mut Handle);
        push = c"cuCtxPushCurrent_v2" (Handle);
        pop = c"cuCtxPopCurrent_v2" (*mut Handle);
        current_device = c"cuCtxGetDevice" (*mut Device);
        synchronize = c"cuCtxSynchronize" ();
        load = c"cuModuleLoadData" (*mut Handle, *const c_void);
        unload = c"cuModuleUnload" (Handle);
        function = c"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
        set_function = c"cuFuncSetAttribute" (Handle, c_int, c_int);
        launch = c"cuLaunchKernel" (
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
        );
        stream = c"cuStreamCreate" (*mut Handle, c_uint);
        destroy_stream = c"cuStreamDestroy_v2" (Handle);
        synchronize_stream = c"cuStreamSynchronize" (Handle);
        allocate = c"cuMemAlloc_v2" (*mut Address, usize);
        free = c"cuMemFree_v2" (Address);
        copy_in = c"cuMemcpyHtoD_v2" (Address, *const c_void, usize);
        copy_out = c"cuMemcpyDtoH_v2" (*mut c_void, Address, usize);
        fill = c"cuMemsetD8_v2" (Address, u8, usize);
        allocate_on = c"cuMemAllocAsync" (*mut Address, usize, Handle);
        free_on = c"cuMemFreeAsync" (Address, Handle);
        fill_on = c"cuMemsetD8Async" (Address, u8, usize, Handle);
        copy_on = c"cuMemcpyDtoDAsync_v2" (Address, Address, usize, Handle);
        event = c"cuEventCreate" (*mut Handle, c_uint);
        destroy_event = c"cuEventDestroy_v2" (Handle);
        record_event = c"cuEventRecord" (Handle, Handle);
        synchronize_event = c"cuEventSynchronize" (Handle);
        elapsed = c"cuEventElapsedTime" (*mut f32, Handle, Handle);
        driver_version = c"cuDriverGetVersion" (*mut c_int);
        device_name = c"cuDeviceGetName" (*mut c_char, c_int, Device);
        device_memory = c"cuDeviceTotalMem_v2" (*mut usize, Device);
    }
    later {
        launch_extended = c"cuLaunchKernelEx" since "11.8"
            (*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void);
        encode_tiled = c"cuTensorMapEncodeTiled" since "12.0" (
            *mut c_void, c_int, c_uint, Address, *const u64, *const u64, *const c_uint, *const c_uint, c_int, c_int,
            c_int, c_int
        );
    }
}

fn name_of(symbol: &'static CStr) -> &'static str {
    symbol.to_str().unwrap_or_default().trim_end_matches("_v2")
}

/// The driver, opened.
pub(crate) struct Driver {
    pub(crate) functions: Functions,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();

impl Driver {
    /// Opens and initialises the driver, once in a process. What failed is tried again by the next call.
    pub(crate) fn get() -> Result<&'static Driver, Error> {
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        let driver = Driver { functions: Functions::of(open()?)? };
        // SAFETY: the driver has to be initialised before anything else, any number of times.
        driver.check(unsafe { (driver.functions.init)(0) }, "cuInit")?;
        Ok(DRIVER.get_or_init(|| driver))
    }

    /// Nothing for `CUDA_SUCCESS`, and otherwise what the driver says about the status of `call`.
    pub(crate) fn check(&self, status: Status, call: &'static str) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        let (name, text) = (self.text(self.functions.error_name, status), self.text(self.functions.error_text, status));
        Err(Error::Driver(Box::new(Failure { status, name, text, call, kernel: None, arch: None })))
    }

    fn text(&self, of: unsafe extern "system" fn(Status, *mut *const c_char) -> Status, status: Status) -> String {
        let mut text = std::ptr::null();
        // SAFETY: `text` may be written to.
        if unsafe { of(status, &raw mut text) } != 0 || text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: the driver's texts end with a zero byte and stay.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// An attribute of a device, by its number in `CUdevice_attribute`.
    pub(crate) fn attribute(&self, device: Device, attribute: c_int) -> Result<u32, Error> {
        let mut value = 0;
        // SAFETY: `value` may be written to.
        let status = unsafe { (self.functions.device_attribute)(&raw mut value, attribute, device) };
        self.check(status, "cuDeviceGetAttribute")?;
        Ok(value.max(0) as u32)
    }

    /// Major and minor number of a device's compute capability.
    pub(crate) fn capability(&self, device: Device) -> Result<(u32, u32), Error> {
        Ok((self.attribute(device, CAPABILITY_MAJOR)?, self.attribute(device, CAPABILITY_MINOR)?))
    }

    /// The dynamic shared memory that a block of the device may have, in bytes.
    pub(crate) fn shared_memory(&self, device: Device) -> Result<u32, Error> {
        self.attribute(device, SHARED_MEMORY_OPTIN)
    }
}

fn open() -> Result<Library, Error> {
    let chosen = std::env::var("TTC_LIBCUDA").ok().filter(|path| !path.is_empty());
    let names = match &chosen {
        Some(path) => vec![path.as_str()],
        None => NAMES.to_vec(),
    };
    let mut tried = vec![];
    for name in names {
        match Library::open(name) {
            Ok(library) => return Ok(library),
            Err(why) => tried.push(format!("{name}: {why}")),
        }
    }
    Err(Error::NoDriver { tried })
}

/// How many GPUs there are.
///
/// # Errors
/// There is no driver, or it does not work.
pub fn device_count() -> Result<usize, Error> {
    let driver = Driver::get()?;
    let mut count = 0;
    // SAFETY: `count` may be written to.
    driver.check(unsafe { (driver.functions.device_count)(&raw mut count) }, "cuDeviceGetCount")?;
    Ok(count.max(0) as usize)
}
