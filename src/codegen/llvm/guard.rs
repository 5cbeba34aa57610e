//! Runs LLVM so that its fatal errors end a thread and not the process.
//!
//! Deep in LLVM, "cannot select this intrinsic" is `report_fatal_error`, which aborts once its handler returns, and
//! neither unwinding nor jumping out of it is sound. Running out of memory is one of them: LLVM cannot go on without
//! the memory it asked for, and gives it back to nobody. So:
//!
//! 1. LLVM runs on a thread of its own (with a stack that its recursion on large kernels cannot exhaust), which does
//!    one job after the other for the thread that it belongs to;
//! 2. the handler sends the message to the waiting caller and parks that thread for good;
//! 3. the caller gets the message as an error, and another thread for the next job. What the thread owned is lost with
//!    it.
//!
//! A fatal error on a thread that [`run`] did not start ends the process as LLVM does by default. If there is no
//! memory, the program decides how it ends ([`on_out_of_memory`]), since LLVM says nothing then.
//!
//! The two handlers for memory have no C interface; their names are those of the C++ ABI.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError, mpsc};

use crate::threads;

type Report = Box<dyn FnOnce(String)>;

thread_local! {
    /// Where a fatal error on this thread goes.
    static REPORT: RefCell<Option<Report>> = const { RefCell::new(None) };
}

/// Why there is no result.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// The text of a fatal error of LLVM.
    Fatal(String),
    /// LLVM has no memory left.
    NoMemory,
    /// The system has no thread to give.
    NoThread(String),
}

/// Moves a value to another thread that is not `Send` by itself.
struct Moved<T>(T);

// SAFETY: LLVM ties a context and all it owns to one thread at a time, not to a certain thread. `run` moves the value
// as a whole and its caller waits, so at no time two threads reach it.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    fn take(self) -> T {
        self.0
    }
}

extern "C" fn on_fatal(reason: *const c_char) {
    // SAFETY: LLVM passes a valid C string.
    let text = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    if let Some(report) = REPORT.with(|r| r.borrow_mut().take()) {
        report(text);
        loop {
            std::thread::park();
        }
    }
}

/// What a caller is told when LLVM has no memory left.
const NO_MEMORY: &CStr = c"out of memory";

/// `operator new` has no memory.
extern "C" fn on_no_memory() {
    on_fatal(NO_MEMORY.as_ptr());
    // On a thread of somebody else there is nobody to tell.
    if let Some(end) = END.get() {
        end();
    }
    // SAFETY: it may be called at any time.
    unsafe { abort() }
}

/// How the process ends when LLVM has no memory on a thread that cannot be given up.
static END: OnceLock<fn() -> !> = OnceLock::new();

/// Lets a program say how it ends when LLVM has no memory on a thread that cannot be given up; without that it aborts.
/// `end` must not ask for memory. The first call counts.
pub fn on_out_of_memory(end: fn() -> !) {
    END.get_or_init(|| end);
    install();
}

/// One of LLVM's own allocations has no memory.
extern "C" fn on_bad_alloc(_: *mut c_void, _: *const c_char, _: bool) {
    on_no_memory();
}

type NewHandler = extern "C" fn();
type BadAllocHandler = extern "C" fn(*mut c_void, *const c_char, bool);

unsafe extern "C" {
    fn abort() -> !;
    /// `std::set_new_handler`
    #[link_name = "_ZSt15set_new_handlerPFvvE"]
    fn set_new_handler(handler: NewHandler) -> Option<NewHandler>;
    /// `llvm::install_bad_alloc_error_handler`
    #[link_name = "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_"]
    fn install_bad_alloc_error_handler(handler: BadAllocHandler, data: *mut c_void);
}

fn install() {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers are plain functions that live as long as the process, of the types that are asked for.
    ONCE.call_once(|| unsafe {
        inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler(Some(on_fatal));
        set_new_handler(on_no_memory);
        install_bad_alloc_error_handler(on_bad_alloc, std::ptr::null_mut());
    });
}

/// What an LLVM thread does next.
type Job = Moved<Box<dyn FnOnce()>>;

thread_local! {
    /// The LLVM thread of this one, while it has nothing to do. It ends with this one.
    static IDLE: Cell<Option<mpsc::Sender<Job>>> = const { Cell::new(None) };
}

/// The LLVM thread of the calling one: the one that it has, or a new one.
fn llvm_thread() -> std::io::Result<mpsc::Sender<Job>> {
    if let Some(idle) = IDLE.take() {
        return Ok(idle);
    }
    let (send, receive) = mpsc::channel::<Job>();
    // Starting a thread may take several tries; the one that starts takes the jobs.
    let receive = Arc::new(Mutex::new(Some(receive)));
    threads::start(|builder| {
        let receive = receive.clone();
        builder.name("llvm".into()).spawn(move || {
            threads::heap::prepare();
            let jobs = receive.lock().unwrap_or_else(PoisonError::into_inner).take();
            for job in jobs.expect("one thread has started") {
                job.take()();
            }
        })
    })?;
    Ok(send)
}

/// Runs `work` on the LLVM thread of the calling one and waits for it.
///
/// # Errors
/// A fatal error of LLVM, or there is no thread for it.
pub(crate) fn run<R: 'static>(work: impl FnOnce() -> R + 'static) -> Result<R, Failure> {
    install();
    let thread = llvm_thread().map_err(|e| Failure::NoThread(e.to_string()))?;
    let (send, receive) = mpsc::channel::<Result<Moved<std::thread::Result<R>>, String>>();
    let job: Box<dyn FnOnce()> = Box::new(move || {
        let fatal = send.clone();
        REPORT.with(|r| *r.borrow_mut() = Some(Box::new(move |text| drop(fatal.send(Err(text))))));
        let result = catch_unwind(AssertUnwindSafe(work));
        REPORT.with(|r| *r.borrow_mut() = None);
        drop(send.send(Ok(Moved(result))));
    });
    // A thread that is gone drops the job, and nobody sends a result.
    drop(thread.send(Moved(job)));
    match receive.recv() {
        Ok(Ok(result)) => {
            IDLE.set(Some(thread));
            result.take().map_err(|panic| resume_unwind(panic))
        }
        // The thread is parked for good.
        Ok(Err(text)) if text.as_bytes() == NO_MEMORY.to_bytes() => Err(Failure::NoMemory),
        Ok(Err(text)) => Err(Failure::Fatal(text)),
        Err(mpsc::RecvError) => Err(Failure::Fatal("LLVM ended without a result".into())),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_back_and_panics_too() {
        assert_eq!(super::run(|| 6 * 7), Ok(42));
        assert!(std::panic::catch_unwind(|| super::run(|| panic!("inside"))).is_err());
    }

    /// A job finds the thread of the one before, also of one that panicked; after a fatal error there is another one.
    #[test]
    fn the_jobs_of_a_thread_share_an_llvm_thread() {
        let id = || super::run(|| std::thread::current().id()).expect("an LLVM thread");
        let first = id();
        assert!(std::panic::catch_unwind(|| super::run(|| panic!("inside"))).is_err());
        assert_eq!(id(), first);
        assert_ne!(std::thread::spawn(id).join().expect("another LLVM thread"), first);
        let fatal = super::run(|| super::on_fatal(c"the end".as_ptr()));
        assert_eq!(fatal, Err(super::Failure::Fatal("the end".into())));
        assert_ne!(id(), first);
        let no_memory = super::run(|| super::on_fatal(super::NO_MEMORY.as_ptr()));
        assert_eq!(no_memory, Err(super::Failure::NoMemory));
    }
}
