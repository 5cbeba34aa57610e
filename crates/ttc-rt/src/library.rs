//! The driver's shared library, opened while the program runs.
//!
//! The functions of the operating system that open a library are declared here: they are part of what every Rust
//! program links anyway, so this crate needs no other.

use std::ffi::{CStr, c_void};

/// A library that stays open until the process ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library(*mut c_void);

// SAFETY: the handle names a library that is never closed, and looking up a symbol is safe from every thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// The names of the CUDA driver's library, the likeliest first.
pub(crate) const NVIDIA_NAMES: &[&str] =
    if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"] };

/// The names of AMD's HIP runtime, the newest first.
pub(crate) const AMD_NAMES: &[&str] = if cfg!(windows) {
    &["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"]
} else {
    &["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"]
};

#[cfg(unix)]
mod system {
    use std::ffi::{CStr, CString, c_char, c_int, c_void};

    unsafe extern "C" {
        fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        fn dlerror() -> *const c_char;
    }

    /// Every symbol is resolved when the library is opened.
    const RTLD_NOW: c_int = 2;
    /// A library that is not there yet is not opened. Only Linux has the flag under this number.
    const RTLD_NOLOAD: c_int = 4;

    pub(super) fn opened(name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok().filter(|_| cfg!(target_os = "linux"))?;
        // SAFETY: the name ends with a zero byte, and nothing is loaded.
        let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW | RTLD_NOLOAD) };
        (!library.is_null()).then_some(library)
    }

    pub(super) fn open(name: &str) -> Result<*mut c_void, String> {
        let name = CString::new(name).map_err(|_| "the name holds a zero byte".to_owned())?;
        // SAFETY: the name ends with a zero byte. The driver's library may be opened at any time.
        let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
        if !library.is_null() {
            return Ok(library);
        }
        // SAFETY: the text belongs to this thread until its next call, and it is copied before that.
        let text = unsafe { dlerror() };
        if text.is_null() {
            return Err("dlopen failed".to_owned());
        }
        // SAFETY: a text of dlerror ends with a zero byte.
        Err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    pub(super) fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the library is open, and the name ends with a zero byte.
        unsafe { dlsym(library, name.as_ptr()) }
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::{CStr, c_char, c_void};
    use std::os::windows::ffi::OsStrExt;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn LoadLibraryW(name: *const u16) -> *mut c_void;
        fn GetModuleHandleW(name: *const u16) -> *mut c_void;
        fn GetProcAddress(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    fn wide(name: &str) -> Vec<u16> {
        std::ffi::OsStr::new(name).encode_wide().chain([0]).collect()
    }

    pub(super) fn opened(name: &str) -> Option<*mut c_void> {
        let wide = wide(name);
        // SAFETY: the name ends with a zero.
        let library = unsafe { GetModuleHandleW(wide.as_ptr()) };
        (!library.is_null()).then_some(library)
    }

    pub(super) fn open(name: &str) -> Result<*mut c_void, String> {
        let wide = wide(name);
        // SAFETY: the name ends with a zero. The driver's library may be loaded at any time.
        let library = unsafe { LoadLibraryW(wide.as_ptr()) };
        if library.is_null() { Err(std::io::Error::last_os_error().to_string()) } else { Ok(library) }
    }

    pub(super) fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the library is loaded, and the name ends with a zero byte.
        unsafe { GetProcAddress(library, name.as_ptr()) }
    }
}

impl Library {
    /// A library that the process has loaded already, by its name or path.
    pub(crate) fn opened(name: &str) -> Option<Library> {
        system::opened(name).map(Library)
    }

    /// Opens a library by its name or path.
    ///
    /// # Errors
    /// The system's words for why it cannot be opened.
    pub(crate) fn open(name: &str) -> Result<Library, String> {
        system::open(name).map(Library)
    }

    /// The address of a function. `None` if the library has none of this name.
    pub(crate) fn symbol(self, name: &CStr) -> Option<*mut c_void> {
        let address = system::symbol(self.0, name);
        (!address.is_null()).then_some(address)
    }
}
