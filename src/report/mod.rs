//! `ttc report`: one page for a browser, without a server and without network, that shows a kernel in all its stages.
//!
//! 1. The kernel is compiled to the end, with the module after each pass that changed it ([`crate::driver::Debug`]).
//! 2. [`links`] reads from the text of each stage which source lines each of its lines came from: locations of IR,
//!    `!dbg` of LLVM IR, `.loc` of PTX, the line table of the cubin.
//! 3. A line of an inlined helper leads to the helper and to every line that called it: [`frames`] knows the calls from
//!    the LLVM IR, for the stages that keep only the innermost place.
//! 4. [`page`] puts everything into one file: the data as JSON, and the style and the program that show it.
//!
//! Example: in a softmax, the line `x = x - tl.max(x, axis=0)` marks its loads and shuffles in SASS, though those came
//! from a function of the library.

mod data;
mod frames;
mod links;
mod page;

use crate::backend::Stage;
use crate::diag::Diagnostic;
use crate::driver::{Debug, Job, Outcome, run_all};
use crate::passes::remarks::Group;
use crate::source::SourceMap;

pub use data::Page;

/// The report of one kernel.
pub struct Report {
    /// The page.
    pub html: String,
    /// Warnings of the compilation.
    pub diagnostics: Vec<Diagnostic>,
    pub sources: SourceMap,
}

/// Compiles a job and makes its page.
///
/// # Errors
/// What is wrong with the kernel, with the sources that the diagnostics point into.
pub fn report(job: &Job, sources: &SourceMap) -> Result<Report, (Vec<Diagnostic>, SourceMap)> {
    let debug =
        Debug { keep_passes: true, line_listing: true, remarks: Group::ALL.into_iter().collect(), ..Debug::default() };
    let want = [Stage::Ttir, Stage::Ttgir, Stage::Llir, Stage::Assembly, Stage::Binary, Stage::Listing];
    let mut outcomes = run_all(std::slice::from_ref(job), sources, &want, &debug, 1);
    let Some(Outcome { result, sources }) = outcomes.pop() else { return Err((vec![], sources.clone())) };
    match result {
        Ok(made) => {
            let data = data::of(job, &made, &sources);
            Ok(Report { html: page::html(&data), diagnostics: made.diagnostics, sources })
        }
        Err(said) => Err((said, sources)),
    }
}
