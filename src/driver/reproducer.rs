//! Catches panics at a job's boundary, and failures that nobody explains: a defect of ttc becomes a diagnostic and a
//! file that reproduces it.
//!
//! 1. [`guard`] runs the job. A panic hook keeps message and place of a panic on its thread instead of printing them.
//! 2. On a panic, a reproducer is kept where the inputs of failed tools are ([`kept`]), readable for the user alone:
//!    the options, the panic, and the text of every source.
//! 3. The diagnostic names that file.
//!
//! A job may have work done by another thread: [`apart`] takes a panic there to the job's own.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::diag::{Diagnostic, codes};
use crate::ptxas::kept;
use crate::source::SourceMap;

thread_local! {
    /// Message and place of the last panic on this thread, while a guard is active.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
    static ACTIVE: RefCell<u32> = const { RefCell::new(0) };
}

/// Runs `work` and turns a panic in it into an E0999 diagnostic, and so a failure without an error that says why.
/// `about` says for the reproducer what was asked for.
///
/// # Errors
/// The errors of `work`, or the defect.
pub fn guard<T>(
    about: impl FnOnce() -> String,
    sources: &SourceMap,
    work: impl FnOnce() -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Vec<Diagnostic>> {
    install();
    ACTIVE.with(|a| *a.borrow_mut() += 1);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    ACTIVE.with(|a| *a.borrow_mut() -= 1);
    match result {
        Ok(Err(mut said)) if !said.iter().any(Diagnostic::is_error) => {
            said.push(defect("it gave up and did not say why", &about(), sources));
            Err(said)
        }
        Ok(result) => result,
        Err(_) => {
            let why = CAUGHT.with(|c| c.borrow_mut().take()).unwrap_or_else(|| "unknown".to_owned());
            Err(vec![defect(&why, &about(), sources)])
        }
    }
}

/// A panic of another thread.
pub(super) struct Panic(Option<String>);

impl Panic {
    /// Goes on with the panic on this thread.
    pub(super) fn resume(self) -> ! {
        CAUGHT.with(|c| *c.borrow_mut() = self.0);
        panic::resume_unwind(Box::new("a panic of another thread"))
    }
}

/// Runs `work` on a thread that does a part of a guarded job.
///
/// # Errors
/// A panic in it, which the job's own thread can go on with.
pub(super) fn apart<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    ACTIVE.with(|a| *a.borrow_mut() += 1);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    ACTIVE.with(|a| *a.borrow_mut() -= 1);
    result.map_err(|_| Panic(CAUGHT.with(|c| c.borrow_mut().take())))
}

/// Installs a hook that takes panics on guarded threads. All others go where they went before.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if ACTIVE.with(|a| *a.borrow() > 0) {
                let text = info.payload_as_str().unwrap_or("a panic without words");
                let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
                CAUGHT.with(|c| *c.borrow_mut() = Some(format!("{text}{place}")));
            } else {
                before(info);
            }
        }));
    });
}

fn defect(why: &str, about: &str, sources: &SourceMap) -> Diagnostic {
    let mut text = format!("ttc {}\npanic: {why}\n{about}\n", env!("CARGO_PKG_VERSION"));
    for (_, file) in sources.iter() {
        let _ = write!(text, "\n==== {} ====\n{}\n", file.name, file.text);
    }
    let d = Diagnostic::error(&codes::cli::DEFECT, format!("ttc itself failed: {why}"));
    match kept::keep("ttc-defect.txt", text.as_bytes()) {
        Ok(folder) => d
            .note(format!("options and sources are in `{}`", folder.join("ttc-defect.txt").display()))
            .help("please report this with that file"),
        Err(e) => d.note(format!("no reproducer: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_without_words_is_a_defect() {
        let mut sources = SourceMap::default();
        sources.add("silent.tk", None, "the text of the kernel");
        let warning = Diagnostic::warning(&codes::names::DOUBTFUL, "no error");
        let said = guard::<()>(|| "num_warps: None".to_owned(), &sources, || Err(vec![warning])).unwrap_err();
        let codes: Vec<&str> = said.iter().map(|d| d.code.id).collect();
        assert_eq!(codes, [codes::names::DOUBTFUL.id, "E0999"]);
        let path = said[1].notes[0].split('`').nth(1).unwrap();
        std::fs::remove_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
    }

    #[test]
    fn a_panic_of_another_thread_is_one_of_the_job() {
        let work = || {
            let apart = std::thread::scope(|scope| scope.spawn(|| apart(|| panic!("over there"))).join().unwrap());
            apart.unwrap_or_else(|panic: Panic| panic.resume())
        };
        let errors = guard::<()>(|| "num_warps: None".to_owned(), &SourceMap::default(), work).unwrap_err();
        assert!(errors[0].message.starts_with("ttc itself failed: over there at src"), "{}", errors[0].message);
        let path = errors[0].notes[0].split('`').nth(1).unwrap();
        std::fs::remove_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
    }

    #[test]
    fn a_panic_becomes_a_message_with_a_reproducer() {
        let mut sources = SourceMap::default();
        sources.add("broken.tk", None, "the text of the kernel");
        let errors = guard::<()>(|| "num_warps: None".to_owned(), &sources, || panic!("no way out")).unwrap_err();
        assert_eq!(errors[0].code.id, "E0999");
        assert!(errors[0].message.starts_with("ttc itself failed: no way out at src"), "{}", errors[0].message);
        let path = errors[0].notes[0].split('`').nth(1).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::remove_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
        for part in ["panic: no way out", "num_warps: None", "==== broken.tk ====", "the text of the kernel"] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
    }
}
