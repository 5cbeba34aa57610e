//! `ttc report`: one page for a browser, without a server and without network, that shows a kernel in all its stages.
//!
//! 1. The kernel is compiled to the end, with the module after each pass that changed it ([`crate::driver::Debug`]). A
//!    second compilation, or a [`folder`] with what another compiler left, may stand beside it ([`Against`]).
//! 2. [`links`] reads from the text of each stage which source lines each of its lines came from: locations of IR,
//!    `!dbg` of LLVM IR, `.loc` of assembly, the line table of the binary.
//! 3. A line of an inlined helper leads to the helper and to every line that called it: [`frames`] knows the calls from
//!    the LLVM IR, for the stages that keep only the innermost place.
//! 4. [`values`] says what a value takes and who holds it, [`memory`] what lies in shared memory and what accesses
//!    cost, [`loops`] how loops are pipelined, [`pressure`] how many registers are in use.
//! 5. [`page`] puts everything into one file: the data as JSON, and the style and the program that show it.
//!
//! Example: in a softmax, the line `x = x - tl.max(x, axis=0)` marks its loads and shuffles in SASS, though those came
//! from a function of the library.

mod data;
mod folder;
mod frames;
mod links;
mod loops;
mod memory;
mod page;
mod pressure;
mod side;
mod values;

use std::path::PathBuf;

use crate::backend::Stage;
use crate::diag::Diagnostic;
use crate::driver::{Debug, Job, Outcome, compiler_version, run_all};
use crate::passes::remarks::Group;
use crate::source::SourceMap;

pub use data::Page;
pub use loops::before_and_after;

/// What a kernel is compared with.
#[derive(Clone, Debug)]
pub enum Against {
    /// Another compilation of it.
    Job(Box<Job>),
    /// What a compiler left in a folder.
    Folder(PathBuf),
}

/// The report of one kernel.
pub struct Report {
    /// What the page shows.
    pub page: Page,
    /// The page.
    pub html: String,
    /// Warnings of the compilations.
    pub diagnostics: Vec<(Vec<Diagnostic>, SourceMap)>,
}

/// Compiles a job, and what it is compared with, and makes the page. `name` tells the job from the other side.
///
/// # Errors
/// What is wrong with the kernel or the folder, with the sources that the diagnostics point into.
pub fn report(
    job: &Job,
    name: &str,
    against: Option<(&Against, &str)>,
    sources: &SourceMap,
) -> Result<Report, (Vec<Diagnostic>, SourceMap)> {
    let debug = Debug {
        keep_passes: true,
        keep_located: side::SCHEDULED.into_iter().chain([side::PREPARED]).collect(),
        line_listing: true,
        remarks: Group::ALL.into_iter().collect(),
        ..Debug::default()
    };
    let want = [Stage::Ttir, Stage::Ttgir, Stage::Llir, Stage::Assembly, Stage::Binary, Stage::Listing];
    let mut jobs = vec![job.clone()];
    jobs.extend(against.iter().filter_map(|(a, _)| if let Against::Job(j) = a { Some((**j).clone()) } else { None }));
    let names = [name].into_iter().chain(against.iter().map(|(_, name)| *name));
    let mut table = data::Table::default();
    let (mut sides, mut diagnostics, mut kernel) = (vec![], vec![], String::new());
    for (n, (outcome, (job, name))) in
        run_all(&jobs, sources, &want, &debug, 1).into_iter().zip(jobs.iter().zip(names)).enumerate()
    {
        let Outcome { result, sources } = outcome;
        let made = result.map_err(|said| (said, sources.clone()))?;
        sides.push(side::of_job(name.to_owned(), job, &made, &sources, &mut table));
        if n == 0 {
            kernel.clone_from(&made.kernel);
        }
        diagnostics.push((made.diagnostics, sources));
    }
    if let Some((Against::Folder(path), name)) = against {
        let found = folder::read(path, &kernel).map_err(|d| (vec![d], sources.clone()))?;
        // A folder of a cache is called by a hash; its compiler says more.
        let folder = path.file_name().map_or_else(|| name.to_owned(), |n| n.to_string_lossy().into_owned());
        let compiler = &found.metadata.compiler;
        let is_other = !compiler.is_empty() && *compiler != compiler_version();
        let name = if is_other { compiler.clone() } else { folder };
        sides.push(side::of_folder(name, &found, &mut table));
    }
    let page = table.page(kernel, sides);
    Ok(Report { html: page::html(&page), page, diagnostics })
}
