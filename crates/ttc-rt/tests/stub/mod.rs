//! The driver's stub, as tests use it. It is built once in a process, and one test at a time has it.

mod build;

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ttc_rt::Context;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The functions that steer the stub.
struct Control {
    reset: unsafe extern "C" fn(c_int, c_int, c_int),
    fail: unsafe extern "C" fn(*const c_char, c_uint, c_int),
    take: unsafe extern "C" fn() -> *mut c_char,
    free: unsafe extern "C" fn(*mut c_char),
    current: unsafe extern "C" fn(c_int),
}

static CONTROL: OnceLock<Control> = OnceLock::new();
static LOCK: Mutex<()> = Mutex::new(());

/// The stub, for one test.
pub struct Stub {
    control: &'static Control,
    _lock: MutexGuard<'static, ()>,
}

impl Stub {
    /// A GPU of this capability, with the shared memory of an H100.
    #[allow(dead_code)]
    pub fn new(major: i32, minor: i32) -> Stub {
        Stub::with_shared(major, minor, 232_448)
    }

    /// A GPU of this capability, whose blocks may have so much shared memory.
    #[allow(dead_code)]
    pub fn with_shared(major: i32, minor: i32, shared: i32) -> Stub {
        let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let stub = Stub { control: CONTROL.get_or_init(|| control("libcuda")), _lock: lock };
        // SAFETY: the stub's own function.
        unsafe { (stub.control.reset)(major, minor, shared) };
        stub
    }

    /// AMD's GPUs. A process has one vendor's.
    #[allow(dead_code)]
    pub fn amd(shared: i32) -> Stub {
        let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let stub = Stub { control: CONTROL.get_or_init(|| control("libamdhip64")), _lock: lock };
        // SAFETY: the stub's own function.
        unsafe { (stub.control.reset)(0, 0, shared) };
        stub
    }

    /// The GPU's primary context.
    #[allow(dead_code)]
    pub fn context(&self) -> Context {
        Context::primary(0).unwrap()
    }

    /// Lets a function of the driver fail once, after so many calls that do not.
    pub fn fail(&self, function: &str, after: u32, status: i32) {
        let function = CString::new(function).unwrap();
        // SAFETY: the stub's own function.
        unsafe { (self.control.fail)(function.as_ptr(), after, status) };
    }

    /// The calls since the last time, one a line, and at the end what is alive.
    pub fn calls(&self) -> String {
        // SAFETY: the stub's own functions.
        unsafe {
            let text = (self.control.take)();
            let calls = CStr::from_ptr(text).to_str().unwrap().to_owned();
            (self.control.free)(text);
            calls
        }
    }

    /// The lines of [`Stub::calls`] that are about a function.
    pub fn calls_of(&self, function: &str) -> Vec<String> {
        let own = |line: &str| line.strip_prefix(function).and_then(|l| l.strip_prefix(' ')).map(str::to_owned);
        self.calls().lines().filter_map(own).collect()
    }

    /// Makes the context current for this thread, or none.
    #[allow(dead_code)]
    pub fn set_current(&self, yes: bool) {
        // SAFETY: the stub's own function.
        unsafe { (self.control.current)(c_int::from(yes)) };
    }
}

/// Builds the library of a vendor, and lets the driver's place be taken by it. There is no other driver.
fn control(name: &str) -> Control {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/stub/{name}.rs"));
    let library = build::library(&source, Path::new(env!("CARGO_TARGET_TMPDIR")));
    for (variable, of) in [("TTC_LIBCUDA", "libcuda"), ("TTC_LIBAMDHIP64", "libamdhip64")] {
        let path = if of == name { library.clone() } else { format!("/nowhere/{of}.so").into() };
        // SAFETY: the tests have one lock, and no thread that reads the environment has been started by them yet.
        unsafe { std::env::set_var(variable, path) };
    }
    let name = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: the library is the stub; 2 is RTLD_NOW.
    let handle = unsafe { dlopen(name.as_ptr(), 2) };
    assert!(!handle.is_null(), "the stub cannot be opened");
    let symbol = |name: &CStr| {
        // SAFETY: the library is open.
        let address = unsafe { dlsym(handle, name.as_ptr()) };
        assert!(!address.is_null(), "the stub lacks {name:?}");
        address
    };
    // SAFETY: these are the types of the functions in `libcuda.rs`.
    unsafe {
        Control {
            reset: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int, c_int, c_int)>(symbol(c"stub_reset")),
            fail: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char, c_uint, c_int)>(symbol(
                c"stub_fail",
            )),
            take: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut c_char>(symbol(c"stub_take")),
            free: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_char)>(symbol(c"stub_free")),
            current: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(symbol(c"stub_current")),
        }
    }
}
