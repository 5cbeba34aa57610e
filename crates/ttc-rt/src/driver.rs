//! The functions of the CUDA driver and of AMD's HIP runtime that this crate calls, looked up once in a process.
//!
//! 1. The library is `libcuda.so.1` (`nvcuda.dll` on Windows) or `libamdhip64.so`, or the one that the environment
//!    variable `TTC_LIBCUDA` or `TTC_LIBAMDHIP64` names.
//! 2. A function that every supported driver has must be there. One that came later is looked up too, and only a kernel
//!    that needs it fails without it.
//! 3. Names and numbers are those of `cuda.h`. A name with `_v2` is what `cuda.h` calls the function without it. Most
//!    functions of HIP take the same parameters as those of CUDA, so one table has both names ([`Functions`]).
//! 4. NVIDIA's driver is tried first, and AMD's where that has no GPU for the caller ([`either`]).

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use crate::error::{Error, Failure, Gpu};
use crate::hip::HipProperties;
use crate::library::{AMD_NAMES, Library, NVIDIA_NAMES};

/// `CUresult`, `hipError_t`
pub(crate) type Status = c_int;
/// `CUdevice`, `hipDevice_t`
pub(crate) type Device = c_int;
/// `CUcontext`, `CUmodule`, `CUfunction`, `CUstream`, `CUevent`, and those of HIP
pub(crate) type Handle = *mut c_void;
/// `CUdeviceptr`
pub(crate) type Address = u64;

/// `CUDA_ERROR_NO_BINARY_FOR_GPU`, `hipErrorNoBinaryForGpu`
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
pub(crate) const LARGE_CLUSTERS: c_int = 14;

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

/// Whose library a driver is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vendor {
    Nvidia,
    Amd,
}

impl Vendor {
    /// The vendor's one of two names. A single name is everybody's.
    fn pick<T: Copy>(self, names: &[T]) -> T {
        names[(self as usize).min(names.len() - 1)]
    }
}

/// Declares a table of functions: a field for each, with its name in the library and its parameters. Where two names
/// stand, the second is that of AMD's runtime, whose function has the same parameters.
macro_rules! table {
    (
        $(#[$about:meta])* $table:ident
        always { $($field:ident = $($symbol:literal)|+ ($($ty:ty),*);)* }
        later { $($late:ident = $late_symbol:literal since $since:literal ($($late_ty:ty),*);)* }
    ) => {
        $(#[$about])*
        pub(crate) struct $table {
            $(pub(crate) $field: unsafe extern "system" fn($($ty),*) -> Status,)*
            $($late: Option<unsafe extern "system" fn($($late_ty),*) -> Status>,)*
        }

        impl $table {
            /// The names of each function.
            const NAMES: &[&[&CStr]] = &[$(&[$($symbol),+]),*];

            fn of(library: Library, vendor: Vendor) -> Result<$table, Error> {
                Ok($table {
                    $($field: {
                        let symbol = vendor.pick(&[$($symbol),+]);
                        let since = vendor.pick(&["11.4", "6.0"]);
                        let missing = || Error::MissingFunction { function: name_of(symbol), since };
                        let address = library.symbol(symbol).ok_or_else(missing)?;
                        // SAFETY: `cuda.h` and `hip_runtime_api.h` declare the function of this name with these
                        // parameters.
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

table! {
    /// What both libraries have.
    Functions
    always {
        init = c"cuInit" | c"hipInit" (c_uint);
        error_name = c"cuGetErrorName" | c"hipDrvGetErrorName" (Status, *mut *const c_char);
        error_text = c"cuGetErrorString" | c"hipDrvGetErrorString" (Status, *mut *const c_char);
        device_count = c"cuDeviceGetCount" | c"hipGetDeviceCount" (*mut c_int);
        device = c"cuDeviceGet" | c"hipDeviceGet" (*mut Device, c_int);
        current_device = c"cuCtxGetDevice" | c"hipGetDevice" (*mut Device);
        synchronize = c"cuCtxSynchronize" | c"hipDeviceSynchronize" ();
        load = c"cuModuleLoadData" | c"hipModuleLoadData" (*mut Handle, *const c_void);
        unload = c"cuModuleUnload" | c"hipModuleUnload" (Handle);
        function = c"cuModuleGetFunction" | c"hipModuleGetFunction" (*mut Handle, Handle, *const c_char);
        launch = c"cuLaunchKernel" | c"hipModuleLaunchKernel" (
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
        );
        stream = c"cuStreamCreate" | c"hipStreamCreateWithFlags" (*mut Handle, c_uint);
        destroy_stream = c"cuStreamDestroy_v2" | c"hipStreamDestroy" (Handle);
        synchronize_stream = c"cuStreamSynchronize" | c"hipStreamSynchronize" (Handle);
        allocate = c"cuMemAlloc_v2" | c"hipMalloc" (*mut Address, usize);
        free = c"cuMemFree_v2" | c"hipFree" (Address);
        copy_in = c"cuMemcpyHtoD_v2" | c"hipMemcpyHtoD" (Address, *const c_void, usize);
        copy_out = c"cuMemcpyDtoH_v2" | c"hipMemcpyDtoH" (*mut c_void, Address, usize);
        fill = c"cuMemsetD8_v2" | c"hipMemsetD8" (Address, u8, usize);
        allocate_on = c"cuMemAllocAsync" | c"hipMallocAsync" (*mut Address, usize, Handle);
        free_on = c"cuMemFreeAsync" | c"hipFreeAsync" (Address, Handle);
        fill_on = c"cuMemsetD8Async" | c"hipMemsetD8Async" (Address, u8, usize, Handle);
        copy_on = c"cuMemcpyDtoDAsync_v2" | c"hipMemcpyDtoDAsync" (Address, Address, usize, Handle);
        event = c"cuEventCreate" | c"hipEventCreateWithFlags" (*mut Handle, c_uint);
        destroy_event = c"cuEventDestroy_v2" | c"hipEventDestroy" (Handle);
        record_event = c"cuEventRecord" | c"hipEventRecord" (Handle, Handle);
        synchronize_event = c"cuEventSynchronize" | c"hipEventSynchronize" (Handle);
        elapsed = c"cuEventElapsedTime" | c"hipEventElapsedTime" (*mut f32, Handle, Handle);
        driver_version = c"cuDriverGetVersion" | c"hipDriverGetVersion" (*mut c_int);
        device_name = c"cuDeviceGetName" | c"hipDeviceGetName" (*mut c_char, c_int, Device);
        device_memory = c"cuDeviceTotalMem_v2" | c"hipDeviceTotalMem" (*mut usize, Device);
    }
    later {}
}

table! {
    /// What libcuda alone has.
    Cuda
    always {
        device_attribute = c"cuDeviceGetAttribute" (*mut c_int, c_int, Device);
        retain = c"cuDevicePrimaryCtxRetain" (*mut Handle, Device);
        release = c"cuDevicePrimaryCtxRelease_v2" (Device);
        current = c"cuCtxGetCurrent" (*mut Handle);
        push = c"cuCtxPushCurrent_v2" (Handle);
        pop = c"cuCtxPopCurrent_v2" (*mut Handle);
        set_function = c"cuFuncSetAttribute" (Handle, c_int, c_int);
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

table! {
    /// What libamdhip64 alone has.
    Hip
    always {
        set_device = c"hipSetDevice" (Device);
        properties = c"hipGetDevicePropertiesR0600" (*mut HipProperties, Device);
    }
    later {}
}

fn name_of(symbol: &'static CStr) -> &'static str {
    symbol.to_str().unwrap_or_default().trim_end_matches("_v2").trim_end_matches("R0600")
}

/// The functions of one vendor.
pub(crate) enum Own {
    Cuda(Cuda),
    Hip(Hip),
}

/// A driver, opened.
pub(crate) struct Driver {
    pub(crate) functions: Functions,
    pub(crate) own: Own,
}

static NVIDIA: OnceLock<Driver> = OnceLock::new();
static AMD: OnceLock<Driver> = OnceLock::new();

impl Driver {
    /// Opens and initialises a vendor's driver, once in a process. What failed is tried again by the next call.
    pub(crate) fn get(vendor: Vendor) -> Result<&'static Driver, Error> {
        let place = vendor.pick(&[&NVIDIA, &AMD]);
        if let Some(driver) = place.get() {
            return Ok(driver);
        }
        let library = open(vendor)?;
        let functions = Functions::of(library, vendor)?;
        let own = match vendor {
            Vendor::Nvidia => Own::Cuda(Cuda::of(library, vendor)?),
            Vendor::Amd => Own::Hip(Hip::of(library, vendor)?),
        };
        let driver = Driver { functions, own };
        // SAFETY: the driver has to be initialised before anything else, any number of times.
        driver.check(unsafe { (driver.functions.init)(0) }, "cuInit")?;
        Ok(place.get_or_init(|| driver))
    }

    /// Nothing for success, and otherwise what the driver says about the status of a function, which is named as
    /// `cuda.h` names it.
    pub(crate) fn check(&self, status: Status, call: &'static str) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        let (name, text) = (self.text(self.functions.error_name, status), self.text(self.functions.error_text, status));
        Err(Error::Driver(Box::new(Failure { status, name, text, call: self.named(call), kernel: None, arch: None })))
    }

    /// The driver's own name for a function of `cuda.h`.
    fn named(&self, call: &'static str) -> &'static str {
        if self.cuda().is_some() {
            return call;
        }
        let mut all = Functions::NAMES.iter().chain(Cuda::NAMES).chain(Hip::NAMES);
        let pair = all.find(|names| name_of(names[0]) == call);
        pair.map_or(call, |names| name_of(Vendor::Amd.pick(names)))
    }

    /// The functions of libcuda, if this is it.
    pub(crate) fn cuda(&self) -> Option<&Cuda> {
        match &self.own {
            Own::Cuda(cuda) => Some(cuda),
            Own::Hip(_) => None,
        }
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

    /// How many GPUs the driver has.
    fn device_count(&self) -> Result<usize, Error> {
        let mut count = 0;
        // SAFETY: `count` may be written to.
        self.check(unsafe { (self.functions.device_count)(&raw mut count) }, "cuDeviceGetCount")?;
        Ok(count.max(0) as usize)
    }

    /// Which GPU a device is.
    pub(crate) fn gpu(&self, device: Device) -> Result<Gpu, Error> {
        match &self.own {
            Own::Cuda(cuda) => {
                let number = |attribute| self.attribute(cuda, device, attribute);
                Ok(Gpu::Nvidia { major: number(CAPABILITY_MAJOR)?, minor: number(CAPABILITY_MINOR)? })
            }
            Own::Hip(hip) => Ok(Gpu::Amd { processor: self.properties(hip, device)?.processor() }),
        }
    }

    /// An attribute of a device, by its number in `CUdevice_attribute`.
    pub(crate) fn attribute(&self, cuda: &Cuda, device: Device, attribute: c_int) -> Result<u32, Error> {
        let mut value = 0;
        // SAFETY: `value` may be written to.
        let status = unsafe { (cuda.device_attribute)(&raw mut value, attribute, device) };
        self.check(status, "cuDeviceGetAttribute")?;
        Ok(value.max(0) as u32)
    }

    /// What AMD's runtime says of a device.
    pub(crate) fn properties(&self, hip: &Hip, device: Device) -> Result<Box<HipProperties>, Error> {
        let mut properties = Box::new(HipProperties::new());
        // SAFETY: there is room for them.
        self.check(unsafe { (hip.properties)(&raw mut *properties, device) }, "hipGetDeviceProperties")?;
        Ok(properties)
    }

    /// The dynamic shared memory that a block of the device may have, in bytes.
    pub(crate) fn shared_memory(&self, device: Device) -> Result<u32, Error> {
        match &self.own {
            Own::Cuda(cuda) => self.attribute(cuda, device, SHARED_MEMORY_OPTIN),
            Own::Hip(hip) => Ok(self.properties(hip, device)?.shared_per_block()),
        }
    }
}

/// Opens a vendor's library. One that the process has loaded already comes first, so that a program does not get a
/// second runtime beside the one that PyTorch brought.
fn open(vendor: Vendor) -> Result<Library, Error> {
    let chosen = std::env::var(vendor.pick(&["TTC_LIBCUDA", "TTC_LIBAMDHIP64"])).ok().filter(|path| !path.is_empty());
    let names = match &chosen {
        Some(path) => vec![path.as_str()],
        None => vendor.pick(&[NVIDIA_NAMES, AMD_NAMES]).to_vec(),
    };
    if let Some(library) = names.iter().find_map(|name| Library::opened(name)) {
        return Ok(library);
    }
    let mut tried = vec![];
    for name in names {
        match Library::open(name) {
            Ok(library) => return Ok(library),
            Err(why) => tried.push(format!("{name}: {why}")),
        }
    }
    Err(Error::NoDriver { tried })
}

/// Tries NVIDIA's driver, and where that has nothing AMD's.
///
/// # Errors
/// Where both have nothing, that of NVIDIA's driver if it is there, and else that of AMD's. If neither is there, all
/// names that were tried.
pub(crate) fn either<T>(mut try_one: impl FnMut(&'static Driver) -> Result<T, Error>) -> Result<T, Error> {
    let mut of = |vendor| Driver::get(vendor).and_then(&mut try_one);
    let first = match of(Vendor::Nvidia) {
        Err(error) if error.is_absence() => error,
        other => return other,
    };
    match (first, of(Vendor::Amd)) {
        (_, Ok(found)) => Ok(found),
        (Error::NoDriver { mut tried }, Err(Error::NoDriver { tried: more })) => {
            tried.extend(more);
            Err(Error::NoDriver { tried })
        }
        (Error::NoDriver { .. }, Err(error)) => Err(error),
        (first, Err(_)) => Err(first),
    }
}

/// How many GPUs there are: NVIDIA's, or where there are none AMD's.
///
/// # Errors
/// There is no driver, or it does not work.
pub fn device_count() -> Result<usize, Error> {
    let counted = either(|driver| match driver.device_count()? {
        0 => Err(Error::NoDevice { number: 0 }),
        count => Ok(count),
    });
    match counted {
        Err(Error::NoDevice { .. }) => Ok(0),
        other => other,
    }
}
