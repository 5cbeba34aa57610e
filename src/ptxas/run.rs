//! One run of a tool: its files, its process, its end.
//!
//! 1. Input and output are files in memory (`memfd_create`), which the tool opens as `/proc/self/fd/N`, so nothing is
//!    left when ttc is killed. Where the system has no such files, they lie in a temporary folder.
//! 2. The process dies with the thread that waits for it (`PR_SET_PDEATHSIG`), so also when ttc is killed by a signal
//!    that cannot be caught. It leads a group of its own. [`stop_all`] ends the groups, together with what wrappers of
//!    a tool may have started.
//! 3. What it prints is read while it runs. Beyond a limit it is thrown away, so that a tool which prints without end
//!    costs no memory.
//! 4. After the time limit the group is killed.
//!
//! A run can begin before its input is there ([`Waiting`]). ptxas takes 7 ms before it opens its input, which pass
//! while LLVM works. The input is a pipe then. ptxas opens it a second time at its end, for the text of the PTX that
//! debuggers show, and cannot read a pipe twice. So the path leads through ttc's own files (`/proc/PID/fd/N`), and as
//! soon as the tool has read from the pipe, a file in memory takes its place.
//!
//! A run whose answer nobody needs any more can be ended by another thread ([`Stop`]).
//!
//! Tools allocate in few large steps, from pages of 2 MiB ([`ALLOCATION`]): a third of the time of a small run of ptxas
//! went into the system's work for small pages.

use std::cell::Cell;
use std::ffi::{CStr, CString, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Tool, not_started, scratch};
use crate::diag::Diagnostic;

/// How many bytes are kept of each stream of ptxas, whose log is short.
const MOST_LOG: usize = 1 << 20;

/// How many bytes are kept of what nvdisasm prints.
const MOST_TEXT: usize = 256 << 20;

/// How glibc allocates in the tools. The median kernel takes 0.84 of the time by it.
const ALLOCATION: &CStr = c"GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216:\
    glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=134217728";

/// A file that a tool reads or writes.
enum Scratch {
    Memory(File),
    Folder(PathBuf),
    /// The end of a pipe that the tool opens through this process.
    Pipe(File),
}

impl Scratch {
    /// The path by which the tool opens the file.
    fn path(&self) -> PathBuf {
        match self {
            Scratch::Memory(file) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            Scratch::Folder(path) => path.clone(),
            Scratch::Pipe(file) => PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())),
        }
    }

    /// The number of a file that the tool inherits.
    fn fd(&self) -> Option<RawFd> {
        match self {
            Scratch::Memory(file) => Some(file.as_raw_fd()),
            Scratch::Folder(_) | Scratch::Pipe(_) => None,
        }
    }

    /// The open file, if there is one.
    fn file(&self) -> Option<&File> {
        match self {
            Scratch::Memory(file) | Scratch::Pipe(file) => Some(file),
            Scratch::Folder(_) => None,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Scratch::Memory(file) | Scratch::Pipe(file) => file.write_all(bytes),
            Scratch::Folder(path) => std::fs::write(path, bytes),
        }
    }

    fn read(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Scratch::Memory(file) | Scratch::Pipe(file) => {
                let mut bytes = vec![];
                file.rewind()?;
                file.read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Scratch::Folder(path) => match std::fs::read(path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(vec![]),
                other => other,
            },
        }
    }
}

/// A word of a tool's command line.
pub(super) enum Word {
    Plain(OsString),
    /// The path of an input by its number, behind a text.
    Input(String, usize),
    /// The path of the output, behind a text.
    Output(&'static str),
}

impl<T: Into<OsString>> From<T> for Word {
    fn from(text: T) -> Word {
        Word::Plain(text.into())
    }
}

/// A run that can begin.
pub(super) struct Run {
    pub(super) tool: Tool,
    pub(super) tool_path: PathBuf,
    words: Vec<Word>,
    inputs: Vec<Scratch>,
    output: Scratch,
    /// The temporary folder, if there is one. It is deleted with the run.
    _folder: Option<TempDir>,
}

/// Ends runs of tools from another thread. They watch the one end of a pipe, whose other end is closed then.
#[derive(Debug)]
pub struct Stop {
    watched: io::PipeReader,
    open: Mutex<Option<io::PipeWriter>>,
}

impl Stop {
    /// # Errors
    /// The system's error if there can be no pipe.
    pub fn new() -> io::Result<Stop> {
        let (watched, open) = io::pipe()?;
        Ok(Stop { watched, open: Mutex::new(Some(open)) })
    }

    /// Ends the runs that watch this, and those that will.
    pub fn stop(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Whether the runs that watch this are ended.
    pub(super) fn is_stopped(&self) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// When a run ends that has not come to its end itself.
#[derive(Clone, Copy, Default)]
pub(super) struct Limits<'a> {
    pub(super) time: Option<Duration>,
    pub(super) stop: Option<&'a Stop>,
}

impl From<Option<Duration>> for Limits<'_> {
    fn from(time: Option<Duration>) -> Self {
        Limits { time, stop: None }
    }
}

/// How a run ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) time: Duration,
    /// Whether one of the [`Limits`] ended the run.
    pub(super) stopped: bool,
}

impl Ended {
    /// Both streams as text, errors first.
    pub(super) fn log(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned() + &String::from_utf8_lossy(&self.stdout)
    }
}

impl Run {
    /// Makes the files and writes the inputs.
    pub(super) fn new(tool: Tool, tool_path: PathBuf, words: Vec<Word>, inputs: &[&[u8]]) -> Result<Run, Diagnostic> {
        let (mut made, output, folder) = files(inputs.len()).map_err(|e| scratch(&e, "make the files of a tool"))?;
        for (file, bytes) in made.iter_mut().zip(inputs) {
            file.write(bytes).map_err(|e| scratch(&e, "write the input of a tool"))?;
        }
        Ok(Run { tool, tool_path, words, inputs: made, output, _folder: folder })
    }

    /// The command line behind the tool's name, with these names for the files.
    pub(super) fn arguments(&self, input: impl Fn(usize) -> PathBuf, output: &Path) -> Vec<OsString> {
        let joined = |text: &str, path: &Path| {
            let mut word = OsString::from(text);
            word.push(path);
            word
        };
        let word = |word: &Word| match word {
            Word::Plain(text) => text.clone(),
            Word::Input(text, number) => joined(text, &input(*number)),
            Word::Output(text) => joined(text, output),
        };
        self.words.iter().map(word).collect()
    }

    /// The bytes that the tool has written.
    pub(super) fn output(&mut self) -> io::Result<Vec<u8>> {
        self.output.read()
    }

    /// Starts the tool and waits for it.
    pub(super) fn execute(&self, limits: Limits<'_>) -> Result<Ended, Diagnostic> {
        let start = Instant::now();
        let child = self.start().map_err(|e| not_started(self.tool, &self.tool_path, &e))?;
        self.end(&mut Started::new(child), None, start, limits)
    }

    /// Waits for the tool, which is given what is missing of its input.
    fn end(
        &self,
        started: &mut Started,
        mut feed: Option<Feed<'_>>,
        start: Instant,
        limits: Limits<'_>,
    ) -> Result<Ended, Diagnostic> {
        let deadline = limits.time.and_then(|l| start.checked_add(l));
        let most = if self.tool == Tool::Ptxas { MOST_LOG } else { MOST_TEXT };
        let (stdout, stderr, stopped) = watch(&mut started.child, &mut feed, deadline, limits.stop, most);
        let status = started.wait().map_err(|e| not_started(self.tool, &self.tool_path, &e))?;
        Ok(Ended { status, stdout, stderr, time: start.elapsed(), stopped })
    }

    fn start(&self) -> io::Result<Child> {
        let mut tries = 0;
        loop {
            match self.command()?.spawn() {
                // The program is just being written, as during an upgrade. It will be whole in a moment.
                Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy && tries < 20 => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other,
            }
        }
    }

    fn command(&self) -> io::Result<Command> {
        // The tool runs in another folder, where it finds nobody's files. So its path must not depend on the present
        // folder.
        let program = std::path::absolute(&self.tool_path).unwrap_or_else(|_| self.tool_path.clone());
        let args = self.arguments(|number| self.inputs[number].path(), &self.output.path());
        let exec = Exec::new(&program, &args)?;
        let mut command = Command::new(program);
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let files: Vec<Option<RawFd>> = self.inputs.iter().chain([&self.output]).map(Scratch::fd).collect();
        #[cfg(target_os = "linux")]
        let parent = std::process::id();
        let prepare = move || {
            for fd in files.iter().flatten().copied() {
                // SAFETY: a forked process may make this call, and the parent keeps the file open.
                if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            #[cfg(target_os = "linux")]
            // SAFETY: a forked process may make these calls, and neither takes a pointer.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // ttc may have died before that call.
                if libc::getppid() as u32 != parent {
                    libc::_exit(1);
                }
            }
            Err(exec.run())
        };
        // SAFETY: the closure makes system calls only: it allocates nothing and takes no lock.
        unsafe { command.pre_exec(prepare) };
        Ok(command)
    }
}

/// A run that has begun. A tool that nobody waited for is ended.
struct Started {
    child: Child,
    registered: Option<Registered>,
}

impl Started {
    fn new(child: Child) -> Started {
        let group = child.id() as i32;
        Started { child, registered: Some(Registered::new(group)) }
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait();
        self.registered = None;
        status
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if self.registered.is_some() {
            kill_group(self.child.id() as i32);
            let _ = self.wait();
        }
    }
}

/// A tool that has started and waits for its only input.
pub(super) struct Waiting {
    run: Run,
    started: Started,
    /// The end of the pipe into which the input goes.
    pipe: File,
    /// The bytes that the pipe holds.
    room: usize,
}

impl Waiting {
    /// Starts a tool, if the system has what it takes.
    pub(super) fn new(tool: Tool, tool_path: PathBuf, words: Vec<Word>) -> Option<Waiting> {
        if !Path::new("/proc/self/fd").is_dir() {
            return None;
        }
        let (read, pipe, room) = small_pipe().ok()?;
        let (_, output, folder) = files(0).ok()?;
        let run = Run { tool, tool_path, words, inputs: vec![Scratch::Pipe(read)], output, _folder: folder };
        let started = Started::new(run.start().ok()?);
        Some(Waiting { run, started, pipe, room })
    }

    /// Gives the tool its input and waits for it.
    pub(super) fn finish(self, input: &[u8], limits: Limits<'_>) -> Result<(Run, Ended), Diagnostic> {
        let Waiting { run, mut started, pipe, room } = self;
        let mut made = files(1).map_err(|e| scratch(&e, "make the files of a tool"))?.0;
        made[0].write(input).map_err(|e| scratch(&e, "write the input of a tool"))?;
        // What does not fit into the pipe is only written when the tool has begun to read. White space means nothing to
        // it.
        let padding = vec![b'\n'; (room + 1).saturating_sub(input.len())];
        let feed = Feed { pipe, rest: [input, &padding], place: run.inputs[0].file(), whole: made.pop() };
        let ended = run.end(&mut started, Some(feed), Instant::now(), limits)?;
        Ok((run, ended))
    }
}

/// The input of a tool on its way through a pipe.
struct Feed<'a> {
    pipe: File,
    /// What is left of the input, in two parts.
    rest: [&'a [u8]; 2],
    /// The end of the pipe that the tool opens.
    place: Option<&'a File>,
    /// The file that takes its place.
    whole: Option<Scratch>,
}

impl Feed<'_> {
    /// Writes as much as the pipe takes. Whether more is left to write.
    fn go_on(&mut self) -> bool {
        while let Some(part) = self.rest.iter_mut().find(|part| !part.is_empty()) {
            match self.pipe.write(part) {
                Ok(written) => *part = &part[written..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return e.kind() == io::ErrorKind::WouldBlock,
            }
        }
        if let (Some(place), Some(Scratch::Memory(whole))) = (self.place, &self.whole) {
            replace(place, whole);
        }
        false
    }
}

/// Puts one open file in the place of another.
#[cfg(target_os = "linux")]
fn replace(place: &File, file: &File) {
    // SAFETY: both descriptors are open, and the file that owns `place` owns what takes its place.
    unsafe { libc::dup3(file.as_raw_fd(), place.as_raw_fd(), libc::O_CLOEXEC) };
}

#[cfg(not(target_os = "linux"))]
fn replace(_: &File, _: &File) {}

#[cfg(not(target_os = "linux"))]
fn small_pipe() -> io::Result<(File, File, usize)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The two ends of a pipe that holds as little as can be, a page, and how much that is. Where the pipe is full, the
/// second end refuses more instead of waiting.
#[cfg(target_os = "linux")]
fn small_pipe() -> io::Result<(File, File, usize)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors are valid and owned by nobody else.
    let (read, write) = unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) };
    // SAFETY: neither call takes a pointer.
    let (room, set) =
        unsafe { (libc::fcntl(ends[1], libc::F_SETPIPE_SZ, 1), libc::fcntl(ends[1], libc::F_SETFL, libc::O_NONBLOCK)) };
    match usize::try_from(room) {
        Ok(room) if set == 0 => Ok((read, write, room)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A program with its arguments and variables, in the form of `execve`. The standard library would run a file of an
/// unknown format as a shell script.
struct Exec {
    words: Vec<CString>,
    /// Pointers to the words, with a null at the end.
    pointers: Vec<*const libc::c_char>,
    /// Pointers to the variables.
    variables: Vec<*const libc::c_char>,
}

// SAFETY: the pointers point to the words, which nobody changes.
unsafe impl Send for Exec {}
// SAFETY: the same holds for shared access.
unsafe impl Sync for Exec {}

impl Exec {
    fn new(program: &Path, args: &[OsString]) -> io::Result<Exec> {
        let words: Result<Vec<CString>, _> = std::iter::once(program.as_os_str())
            .chain(args.iter().map(|a| &**a))
            .map(|w| CString::new(w.as_bytes()))
            .collect();
        let mut words = words?;
        let variables: Result<Vec<CString>, _> = std::env::vars_os()
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect();
        let count = words.len();
        words.extend(variables?);
        if std::env::var_os("GLIBC_TUNABLES").is_none() {
            words.push(ALLOCATION.to_owned());
        }
        let ended = |words: &[CString]| words.iter().map(|w| w.as_ptr()).chain([std::ptr::null()]).collect();
        let (pointers, variables) = (ended(&words[..count]), ended(&words[count..]));
        Ok(Exec { words, pointers, variables })
    }

    /// Becomes the program. It comes back only when that fails.
    fn run(&self) -> io::Error {
        // SAFETY: the first argument is a C string, and the others are arrays of C strings that end in a null.
        unsafe { libc::execve(self.words[0].as_ptr(), self.pointers.as_ptr(), self.variables.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// Makes the files of the inputs and that of the output, in memory or else in a temporary folder.
fn files(inputs: usize) -> io::Result<(Vec<Scratch>, Scratch, Option<TempDir>)> {
    #[cfg(target_os = "linux")]
    if Path::new("/proc/self/fd").is_dir() {
        let made = (0..inputs).map(|_| in_memory(c"ttc-input")).collect::<io::Result<_>>()?;
        return Ok((made, in_memory(c"ttc-output")?, None));
    }
    let folder = tempfile::Builder::new().prefix("ttc-").tempdir()?;
    let file = |name: &str| Scratch::Folder(folder.path().join(name));
    Ok(((0..inputs).map(|i| file(&format!("input{i}"))).collect(), file("output"), Some(folder)))
}

#[cfg(target_os = "linux")]
fn in_memory(name: &CStr) -> io::Result<Scratch> {
    // SAFETY: the argument is a valid C string. The result is checked and then owned by the file alone.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: the descriptor is valid and owned by nobody else.
    if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Scratch::Memory(unsafe { File::from_raw_fd(fd) })) }
}

/// Reads both streams until they end, the time is up or the run is stopped, and then kills the group. Meanwhile it
/// writes the rest of the input.
fn watch(
    child: &mut Child,
    feed: &mut Option<Feed<'_>>,
    deadline: Option<Instant>,
    stop: Option<&Stop>,
    most: usize,
) -> (Vec<u8>, Vec<u8>, bool) {
    let (mut out, mut err) = (
        Stream::new(child.stdout.take().map(Into::into), most),
        Stream::new(child.stderr.take().map(Into::into), MOST_LOG),
    );
    let is_unwanted = Cell::new(false);
    let over = || is_unwanted.get() || deadline.is_some_and(|d| Instant::now() >= d);
    while (out.is_open() || err.is_open()) && !over() {
        if feed.as_mut().is_some_and(|feed| !feed.go_on()) {
            *feed = None;
        }
        let left =
            deadline.map(|d| d.saturating_duration_since(Instant::now()).as_millis().min(i32::MAX as u128) as i32 + 1);
        let input = polled(feed.as_ref().map(|f| &f.pipe), libc::POLLOUT);
        let mut polled = [out.polled(), err.polled(), input, polled(stop.map(|stop| &stop.watched), libc::POLLIN)];
        // SAFETY: the array has four elements and outlives the call.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), 4, left.unwrap_or(-1)) };
        if ready > 0 {
            is_unwanted.set(polled[3].revents != 0);
            out.read_if(polled[0].revents != 0);
            err.read_if(polled[1].revents != 0);
        }
        // A process that has ended may have left its streams to another one. What it said itself is there.
        if ready <= 0 && matches!(child.try_wait(), Ok(Some(_))) {
            break;
        }
    }
    // Its streams are the last thing that a process gives back, so it is gone in a moment.
    let mut moment = Duration::from_micros(20);
    while matches!(child.try_wait(), Ok(None)) && !over() {
        std::thread::sleep(moment);
        moment = (moment * 2).min(Duration::from_millis(1));
    }
    let stopped = matches!(child.try_wait(), Ok(None));
    if stopped {
        kill_group(child.id() as i32);
    }
    (out.bytes, err.bytes, stopped)
}

/// The question to `poll` about a file. A negative descriptor is passed over.
fn polled(file: Option<&impl AsRawFd>, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd: file.map_or(-1, AsRawFd::as_raw_fd), events, revents: 0 }
}

/// One stream of a tool.
struct Stream {
    file: Option<File>,
    bytes: Vec<u8>,
    most: usize,
}

impl Stream {
    fn new(fd: Option<std::os::fd::OwnedFd>, most: usize) -> Stream {
        Stream { file: fd.map(File::from), bytes: vec![], most }
    }

    fn is_open(&self) -> bool {
        self.file.is_some()
    }

    fn polled(&self) -> libc::pollfd {
        polled(self.file.as_ref(), libc::POLLIN)
    }

    fn read_if(&mut self, ready: bool) {
        let Some(file) = self.file.as_mut().filter(|_| ready) else { return };
        let mut buffer = [0; 1 << 14];
        match file.read(&mut buffer) {
            Ok(n) if n > 0 => {
                let room = self.most.saturating_sub(self.bytes.len()).min(n);
                self.bytes.extend_from_slice(&buffer[..room]);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            _ => self.file = None,
        }
    }
}

/// Whether ttc has been asked to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether ttc has been asked to end, and so stopped the tools itself. A tool that died then has not failed.
pub(super) fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// The groups of the tools that run. 0 marks a free place.
static GROUPS: [AtomicI32; 256] = [const { AtomicI32::new(0) }; 256];

/// A group's place among those that run.
struct Registered(Option<&'static AtomicI32>);

impl Registered {
    fn new(group: i32) -> Registered {
        Registered(GROUPS.iter().find(|g| g.compare_exchange(0, group, Ordering::AcqRel, Ordering::Relaxed).is_ok()))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::Release);
        }
    }
}

fn kill_group(group: i32) {
    // SAFETY: the call takes no pointers. The group's leader is a child that has not been waited for, so its number is
    // not another's.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Ends the tools that run, with all that they started, in a process that is about to end. It only makes system calls,
/// so that a signal's handler may call it.
pub fn stop_all() {
    ENDING.store(true, Ordering::Release);
    for group in GROUPS.iter().map(|g| g.load(Ordering::Acquire)).filter(|&g| g > 0) {
        kill_group(group);
    }
}
