//! A CUDA driver without a GPU, for tests: it records what it is called for, and fails where it is told to.
//!
//! 1. `rustc --crate-type cdylib` makes a library of this file, which stands for `libcuda.so.1`.
//! 2. Memory of the GPU is memory of the host. A module is the text that it was loaded from, and a function is its
//!    name.
//! 3. Everything that is made is counted until it is given back, so that a test can see what leaks.
//! 4. A launch records its shape, and the bytes of its parameters. Where these are stands behind the module's name:
//!    `|0+8|8+4` for 8 bytes and 4. The parameters of a real cubin are not recorded.
//! 5. Events measure a clock that only work moves on, so that times are the same in every run: a launch takes 10 us and
//!    20 ns for each thread of a block, and memory takes 1 ns for 1000 bytes that are read or written.
//! 6. A status from 700 to 719 is the end of the context: every later call returns it.
//!
//! A test that runs another program steers the stub by its environment:
//!
//! | variable | meaning |
//! |---|---|
//! | `STUB_GPU=9.0` | the compute capability; 9.0 by default |
//! | `STUB_FAIL=cuLaunchKernel/2/719` | the function that fails, after so many calls that do not, and its status |
//! | `STUB_WRITE=2:a.npy,b.npy` | the first launch copies the elements of `a.npy` to the address in its parameter 2, all later ones those of `b.npy` |
//! | `STUB_LOG=calls.txt` | where what was recorded, and what is alive, goes when the context is released |
#![allow(clippy::all, clippy::pedantic, non_snake_case)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard};

type Status = c_int;
type Handle = *mut c_void;

const CONTEXT: usize = 0xc0;
/// So many bytes are really moved by what is queued on a stream. Measurements queue much, and look at none of it.
const QUEUED: usize = 4096;

pub struct State {
    log: String,
    capability: (c_int, c_int),
    shared: c_int,
    /// The function that fails, at which call from now on, and its status.
    fail: Option<(String, u32, Status)>,
    /// What was made and not given back: `context`, `module`, `stream`, `memory`.
    live: BTreeMap<&'static str, i64>,
    /// Modules by their handles.
    modules: BTreeMap<usize, String>,
    /// Functions by their handles, with offsets and sizes of their parameters.
    functions: BTreeMap<usize, (String, Vec<(usize, usize)>)>,
    memory: BTreeMap<u64, usize>,
    next: usize,
    launches: usize,
    /// What the work so far took, in nanoseconds.
    clock: u64,
    /// When each event was recorded.
    events: BTreeMap<usize, Option<u64>>,
    /// The status that ended the context.
    lost: Option<Status>,
}

impl Default for State {
    fn default() -> State {
        let number = |text: &str| text.parse().expect("a number");
        let variable = |name: &str| std::env::var(name).ok();
        let gpu = variable("STUB_GPU").unwrap_or_else(|| "9.0".to_owned());
        let (major, minor) = gpu.split_once('.').expect("STUB_GPU=MAJOR.MINOR");
        let fail = variable("STUB_FAIL").map(|text| {
            let parts: Vec<&str> = text.split('/').collect();
            (parts[0].to_owned(), number(parts[1]) as u32, number(parts[2]))
        });
        State {
            log: String::new(),
            capability: (number(major), number(minor)),
            shared: 232_448,
            fail,
            live: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            memory: BTreeMap::new(),
            next: 0,
            launches: 0,
            clock: 0,
            events: BTreeMap::new(),
            lost: None,
        }
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    static STACK: RefCell<Vec<usize>> = const { RefCell::new(vec![]) };
    /// The name under which the next call of this thread is recorded, in place of its own: that of `libamdhip64.rs`.
    static NAME: Cell<Option<&'static str>> = const { Cell::new(None) };
}

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}

/// Gives the next call of this thread another name.
#[allow(dead_code)]
pub fn name_next(name: &'static str) {
    NAME.set(Some(name));
}

/// The shared memory that a block may have.
#[allow(dead_code)]
pub fn shared(state: &State) -> u32 {
    state.shared as u32
}

/// Notes a call, and runs it unless it is to fail.
pub fn call(name: &str, what: String, run: impl FnOnce(&mut State) -> Status) -> Status {
    let name = NAME.take().unwrap_or(name);
    let mut state = state();
    let state = state.get_or_insert_default();
    if let Some((failing, left, status)) = &mut state.fail
        && failing == name
    {
        if *left == 0 {
            let status = *status;
            state.fail = None;
            let _ = writeln!(state.log, "{name} fails");
            state.lost = Some(status).filter(|s| (700..720).contains(s));
            return status;
        }
        *left -= 1;
    }
    if !what.is_empty() {
        let _ = writeln!(state.log, "{name} {what}");
    }
    run(state)
}

fn current() -> usize {
    STACK.with_borrow(|s| s.last().copied().unwrap_or(0))
}

impl State {
    fn made(&mut self, kind: &'static str, by: i64) {
        *self.live.entry(kind).or_default() += by;
    }

    /// What is alive.
    fn alive(&self) -> String {
        let live = self.live.iter().filter(|(_, n)| **n != 0).map(|(k, n)| format!(" {k}={n}"));
        format!("live:{}", live.collect::<String>())
    }

    /// Lets the memory read or write so many bytes.
    fn moves(&mut self, bytes: usize) {
        self.clock += bytes as u64 / 1000;
    }

    fn fresh(&mut self) -> usize {
        self.next += 0x100;
        0x10000 + self.next
    }
}

/// Starts anew, with a GPU of this capability whose blocks may have so much shared memory.
#[unsafe(no_mangle)]
pub extern "C" fn stub_reset(major: c_int, minor: c_int, shared: c_int) {
    let next = state().as_ref().map_or(0, |s| s.next);
    *state() = Some(State { capability: (major, minor), shared, next, ..State::default() });
}

/// Lets a function fail once, after so many calls that do not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stub_fail(name: *const c_char, after: c_uint, status: Status) {
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    state().get_or_insert_default().fail = Some((name, after, status));
}

/// What was recorded since the last time, and then what is alive. The caller frees the text with `stub_free`.
#[unsafe(no_mangle)]
pub extern "C" fn stub_take() -> *mut c_char {
    let mut state = state();
    let state = state.get_or_insert_default();
    let mut text = std::mem::take(&mut state.log);
    let depth = STACK.with_borrow(Vec::len);
    let _ = write!(text, "{}{}", state.alive(), if depth == 0 { "" } else { " current" });
    CString::new(text).unwrap().into_raw()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn stub_free(text: *mut c_char) {
    drop(unsafe { CString::from_raw(text) });
}

/// Makes the one context current for the thread, or none.
#[unsafe(no_mangle)]
pub extern "C" fn stub_current(yes: c_int) {
    STACK.with_borrow_mut(|s| *s = if yes != 0 { vec![CONTEXT] } else { vec![] });
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: c_uint) -> Status {
    call("cuInit", String::new(), |_| 0)
}

fn text_of(status: Status) -> (&'static CStr, &'static CStr) {
    match status {
        1 => (c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
        2 => (c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
        101 => (c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
        201 => (c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context"),
        209 => (c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"no kernel image is available"),
        700 => (c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered"),
        701 => (c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested for launch"),
        710 => (c"CUDA_ERROR_ASSERT", c"device-side assert triggered"),
        716 => (c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address"),
        719 => (c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure"),
        _ => (c"CUDA_ERROR_UNKNOWN", c"unknown error"),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(status: Status, text: *mut *const c_char) -> Status {
    unsafe { *text = text_of(status).0.as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(status: Status, text: *mut *const c_char) -> Status {
    unsafe { *text = text_of(status).1.as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> Status {
    call("cuDeviceGetCount", String::new(), |_| {
        unsafe { *count = 1 };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> Status {
    call("cuDeviceGet", String::new(), |_| {
        if ordinal != 0 {
            return 101;
        }
        unsafe { *device = 0 };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) -> Status {
    call("cuDeviceGetAttribute", String::new(), |s| {
        let found = match attribute {
            75 => s.capability.0,
            76 => s.capability.1,
            97 => s.shared,
            12 => 65536,
            13 => 1_980_000,
            16 => 132,
            36 => 2_619_000,
            37 => 5120,
            38 => 50 << 20,
            _ => return 1,
        };
        unsafe { *value = found };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut Handle, _device: c_int) -> Status {
    call("cuDevicePrimaryCtxRetain", String::new(), |s| {
        s.made("context", 1);
        unsafe { *context = CONTEXT as Handle };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: c_int) -> Status {
    call("cuDevicePrimaryCtxRelease", String::new(), |s| {
        s.made("context", -1);
        if let Ok(path) = std::env::var("STUB_LOG") {
            std::fs::write(path, format!("{}{}\n", s.log, s.alive())).expect("the log is written");
        }
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut Handle) -> Status {
    call("cuCtxGetCurrent", String::new(), |_| {
        unsafe { *context = current() as Handle };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(context: Handle) -> Status {
    call("cuCtxPushCurrent", String::new(), |_| {
        STACK.with_borrow_mut(|s| s.push(context as usize));
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut Handle) -> Status {
    call("cuCtxPopCurrent", String::new(), |_| match STACK.with_borrow_mut(Vec::pop) {
        Some(top) => {
            unsafe { *context = top as Handle };
            0
        }
        None => 201,
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> Status {
    in_context("cuCtxGetDevice", String::new(), |_| {
        unsafe { *device = 0 };
        0
    })
}

/// A call that needs a current context.
fn in_context(name: &str, what: String, run: impl FnOnce(&mut State) -> Status) -> Status {
    call(name, what, |s| match s.lost {
        Some(status) => status,
        None if current() == CONTEXT => run(s),
        None => 201,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> Status {
    in_context("cuCtxSynchronize", String::new(), |_| 0)
}

/// The image is a text up to a `;`: a name, and where the parameters are. Otherwise it is a real cubin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> Status {
    let mut name = String::new();
    let mut at = image.cast::<u8>();
    unsafe {
        if *at == 0x7f {
            name.push_str("cubin");
        }
        while name != "cubin" && *at != b';' {
            name.push(*at as char);
            at = at.add(1);
        }
    }
    let aligned = if image as usize % 64 == 0 { "" } else { " misaligned" };
    let shown = name.split('|').next().unwrap_or_default();
    in_context("cuModuleLoadData", format!("{shown}{aligned}"), |s| {
        let handle = s.fresh();
        s.modules.insert(handle, name.clone());
        s.made("module", 1);
        unsafe { *module = handle as Handle };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(module: Handle) -> Status {
    in_context("cuModuleUnload", String::new(), |s| {
        if s.modules.remove(&(module as usize)).is_none() {
            return 400;
        }
        s.made("module", -1);
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> Status {
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    in_context("cuModuleGetFunction", name.clone(), |s| {
        let Some(module) = s.modules.get(&(module as usize)).cloned() else { return 400 };
        let handle = s.fresh();
        let mut parts = module.split('|');
        let shown = format!("{}/{name}", parts.next().unwrap_or_default());
        let place = |part: &str| {
            let (offset, size) = part.split_once('+').expect("a place");
            (offset.parse().expect("an offset"), size.parse().expect("a size"))
        };
        s.functions.insert(handle, (shown, parts.map(place).collect()));
        unsafe { *function = handle as Handle };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(_function: Handle, attribute: c_int, value: c_int) -> Status {
    in_context("cuFuncSetAttribute", format!("{attribute}={value}"), |_| 0)
}

/// The parameters of a launch in hexadecimal digits, with zeros between them.
unsafe fn parameters(places: &[(usize, usize)], list: *mut *mut c_void, extra: *mut *mut c_void) -> String {
    assert!(extra.is_null(), "parameters come as a list");
    let mut bytes = vec![0u8; places.last().map_or(0, |(offset, size)| offset + size)];
    for (n, &(offset, size)) in places.iter().enumerate() {
        let from = unsafe { std::slice::from_raw_parts((*list.add(n)).cast::<u8>(), size) };
        bytes[offset..offset + size].copy_from_slice(from);
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Does what a kernel of so many threads does here: it takes time, and writes what `STUB_WRITE` says.
unsafe fn works(s: &mut State, threads: c_uint, list: *mut *mut c_void) {
    s.clock += 10_000 + 20 * u64::from(threads);
    let Ok(text) = std::env::var("STUB_WRITE") else { return };
    let (number, paths) = text.split_once(':').expect("STUB_WRITE=NUMBER:FILES");
    let paths: Vec<&str> = paths.split(',').collect();
    let path = paths[s.launches.min(paths.len() - 1)];
    s.launches += 1;
    let file = std::fs::read(path).expect("the file is read");
    // The elements of a NumPy file follow its header, whose length stands in two bytes.
    let elements = &file[10 + usize::from(u16::from_le_bytes([file[8], file[9]]))..];
    unsafe {
        let address = (*list.add(number.parse().expect("a number"))).cast::<u64>().read_unaligned();
        assert!(s.memory.get(&address).is_some_and(|&n| n >= elements.len()), "the file fits the buffer");
        std::ptr::copy_nonoverlapping(elements.as_ptr(), address as *mut u8, elements.len());
    }
}

fn function(handle: Handle) -> (String, Vec<(usize, usize)>) {
    state().get_or_insert_default().functions.get(&(handle as usize)).cloned().unwrap_or_default()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: Handle,
    x: c_uint,
    y: c_uint,
    z: c_uint,
    tx: c_uint,
    ty: c_uint,
    tz: c_uint,
    shared: c_uint,
    stream: Handle,
    list: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Status {
    let (name, places) = self::function(function);
    let bytes = unsafe { parameters(&places, list, extra) };
    let what = format!(
        "{name} grid {x},{y},{z} block {tx},{ty},{tz} shared {shared} stream {} [{bytes}]",
        stream as usize
    );
    in_context("cuLaunchKernel", what, |s| {
        unsafe { works(s, tx, list) };
        0
    })
}

#[repr(C)]
pub struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: Handle,
    attributes: *const [u32; 18],
    attribute_count: c_uint,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: *const LaunchConfig,
    function: Handle,
    list: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Status {
    let (name, places) = self::function(function);
    let bytes = unsafe { parameters(&places, list, extra) };
    let c = unsafe { &*config };
    let mut what = format!("{name} grid {:?} block {:?} shared {}", c.grid, c.block, c.shared);
    for n in 0..c.attribute_count as usize {
        let attribute = unsafe { &*c.attributes.add(n) };
        let _ = write!(what, " {}:{:?}", attribute[0], &attribute[2..5]);
    }
    let _ = write!(what, " [{bytes}]");
    in_context("cuLaunchKernelEx", what, |s| {
        unsafe { works(s, c.block[0], list) };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut Handle, flags: c_uint) -> Status {
    in_context("cuStreamCreate", format!("{flags}"), |s| {
        s.made("stream", 1);
        unsafe { *stream = s.fresh() as Handle };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(_stream: Handle) -> Status {
    in_context("cuStreamDestroy", String::new(), |s| {
        s.made("stream", -1);
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(_stream: Handle) -> Status {
    in_context("cuStreamSynchronize", String::new(), |_| 0)
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), 256).unwrap()
}

fn allocate(s: &mut State, bytes: usize) -> u64 {
    let address = unsafe { alloc_zeroed(layout(bytes)) } as u64;
    s.memory.insert(address, bytes);
    s.made("memory", 1);
    address
}

fn release(s: &mut State, address: u64) -> Status {
    let Some(bytes) = s.memory.remove(&address) else {
        let _ = writeln!(s.log, "{address:#x} is freed, and was not taken");
        return 1;
    };
    unsafe { dealloc(address as *mut u8, layout(bytes)) };
    s.made("memory", -1);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> Status {
    in_context("cuMemAlloc", String::new(), |s| {
        unsafe { *address = allocate(s, bytes) };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: u64) -> Status {
    in_context("cuMemFree", String::new(), |s| release(s, address))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(address: *mut u64, bytes: usize, _stream: Handle) -> Status {
    in_context("cuMemAllocAsync", format!("{bytes}"), |s| {
        unsafe { *address = allocate(s, bytes) };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: u64, _stream: Handle) -> Status {
    in_context("cuMemFreeAsync", String::new(), |s| release(s, address))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> Status {
    in_context("cuMemcpyHtoD", String::new(), |_| {
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, bytes) };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> Status {
    in_context("cuMemcpyDtoH", String::new(), |_| {
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to.cast::<u8>(), bytes) };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2(to: u64, byte: u8, bytes: usize) -> Status {
    in_context("cuMemsetD8", String::new(), |_| {
        unsafe { std::ptr::write_bytes(to as *mut u8, byte, bytes) };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(to: u64, byte: u8, bytes: usize, _stream: Handle) -> Status {
    in_context("cuMemsetD8Async", String::new(), |s| {
        s.moves(bytes);
        unsafe { std::ptr::write_bytes(to as *mut u8, byte, bytes.min(QUEUED)) };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, _stream: Handle) -> Status {
    in_context("cuMemcpyDtoDAsync", String::new(), |s| {
        s.moves(2 * bytes);
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes.min(QUEUED)) };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut Handle, _flags: c_uint) -> Status {
    in_context("cuEventCreate", String::new(), |s| {
        let handle = s.fresh();
        s.events.insert(handle, None);
        s.made("event", 1);
        unsafe { *event = handle as Handle };
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: Handle) -> Status {
    in_context("cuEventDestroy", String::new(), |s| {
        if s.events.remove(&(event as usize)).is_none() {
            return 400;
        }
        s.made("event", -1);
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: Handle, _stream: Handle) -> Status {
    in_context("cuEventRecord", String::new(), |s| match s.events.get_mut(&(event as usize)) {
        Some(time) => {
            *time = Some(s.clock);
            0
        }
        None => 400,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(_event: Handle) -> Status {
    in_context("cuEventSynchronize", String::new(), |_| 0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Status {
    in_context("cuEventElapsedTime", String::new(), |s| {
        let time = |event: Handle| s.events.get(&(event as usize)).copied().flatten();
        let (Some(start), Some(end)) = (time(start), time(end)) else { return 400 };
        unsafe { *milliseconds = (end as i64 - start as i64) as f32 / 1e6 };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> Status {
    call("cuDriverGetVersion", String::new(), |_| {
        unsafe { *version = 13000 };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, _device: c_int) -> Status {
    call("cuDeviceGetName", String::new(), |_| {
        let text = c"a GPU without a GPU".to_bytes_with_nul();
        assert!(length as usize >= text.len(), "the name fits");
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
        0
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) -> Status {
    call("cuDeviceTotalMem", String::new(), |_| {
        unsafe { *bytes = 80 << 30 };
        0
    })
}

/// The map is sixteen times the number of the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeTiled(
    map: *mut u64,
    data_type: c_int,
    rank: c_uint,
    address: u64,
    extents: *const u64,
    strides: *const u64,
    boxes: *const c_uint,
    steps: *const c_uint,
    interleave: c_int,
    swizzle: c_int,
    promotion: c_int,
    fill: c_int,
) -> Status {
    let rank = rank as usize;
    let what = unsafe {
        format!(
            "type {data_type} at {address:#x} extents {:?} strides {:?} box {:?} steps {:?} modes {interleave} {swizzle} \
             {promotion} {fill}{}",
            std::slice::from_raw_parts(extents, rank),
            std::slice::from_raw_parts(strides, rank - 1),
            std::slice::from_raw_parts(boxes, rank),
            std::slice::from_raw_parts(steps, rank),
            if map as usize % 64 == 0 { "" } else { " misaligned" }
        )
    };
    in_context("cuTensorMapEncodeTiled", what, |_| {
        unsafe { std::slice::from_raw_parts_mut(map, 16) }.fill(0x1111_1111_1111_1111 * u64::from(rank as u32));
        0
    })
}
