//! What a compilation depends on, as keys.
//!
//! | key | it depends on | it names |
//! |---|---|---|
//! | [`of_job`] | the text of the input, the kernel, its types, values and options, the GPU | a folder of overrides |
//! | [`of_request`] | the job, ttc and the tools themselves, the stages and remarks that are wanted | a [`Record`](super::kept::Record) |
//! | [`behind_front_end`] | the TTIR that the front end made, with what it knows beside it, and all that later stages ask | a [`Result`](super::kept::Result) |
//!
//! Each function takes apart the types that it is about, without `..`: a new field of [`JobOptions`] does not compile
//! until somebody has decided here whether it changes a byte.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::backend::{self, Stage};
use crate::cache::{Cache, Digest, Key};
use crate::driver::input::{Input, Language};
use crate::driver::job::{Compiled, Debug, Job, JobOptions, compiler_version};
use crate::driver::variant::{Preset, Variant};
use crate::ir::Ir;
use crate::ir::entity::Entity;
use crate::ir::text::printer::{PrintOptions, print_module};
use crate::irgen::{Launch, TypeRule};
use crate::passes::remarks::Group;
use crate::source::SourceMap;
use crate::target::AmdOptions;

/// The key of a job: of what the user has asked for, whichever ttc answers.
#[must_use]
pub fn of_job(job: &Job, sources: &SourceMap) -> Key {
    let mut digest = Digest::new("ttc 2026-11 cache: a job");
    let d = &mut digest;
    let Job { input, kernel, config, variant, target, for_others, options: _ } = job;
    let Input { path, file, language, preset } = input;
    // Most of a preset is part of the settled options, as that of a variant is.
    let Preset { kernel: _, signature: _, defines: _, given: _, pipelining: _, grid } = preset;
    d.option(grid.as_deref(), Digest::text);
    let text = sources.file(*file);
    take_path(d, path);
    d.text(&text.name);
    d.option(text.path.as_deref(), take_path);
    d.number(u64::from(text.lines_before()));
    d.text(&text.text);
    take_language(d, *language);
    d.option(kernel.as_deref(), Digest::text);
    d.option(*config, |d, n| d.number(n as u64));
    // Only the name of a variant is left to take: the symbol of the kernel may hold it.
    d.option(variant.as_ref(), |d, Variant { name, signature: _, types: _, defines: _, given: _ }| d.text(name));
    d.text(target.name);
    d.list(for_others.iter(), |d, name| d.text(name));
    d.list(sources.remapped_prefixes().iter(), |d, (from, to)| {
        d.text(from);
        d.text(to);
    });
    take_options(d, &job.settled());
    digest.key()
}

/// Takes every option, whichever stage asks for it.
fn take_options(d: &mut Digest, options: &JobOptions) {
    let JobOptions {
        signature,
        types,
        defines,
        include,
        num_warps,
        num_stages,
        num_ctas,
        pipelining,
        debug,
        maxnreg,
        amd,
        fp_fusion,
        retry,
        line_info,
        triton_abi,
        tma,
        symbol,
        // The tool's bytes count, and not where it lies: see `outside`.
        ptxas: _,
        // A compilation that took too long has failed, and failures are not kept.
        time_limit: _,
        grid,
        grids,
        locations,
        max_ops,
    } = options;
    d.option(signature.as_deref(), Digest::text);
    d.list(types.iter(), |d, TypeRule { pattern, ty, of_variant }| {
        d.text(pattern);
        d.text(ty);
        d.flag(*of_variant);
    });
    d.list(defines.iter(), |d, (name, value)| {
        d.text(name);
        d.text(value);
    });
    d.list(include.iter(), |d, folder| take_path(d, folder));
    for number in [num_warps, num_stages, num_ctas, maxnreg] {
        d.option(*number, |d, n| d.number(u64::from(n)));
    }
    take_amd(d, *amd);
    d.list(pipelining.unwrap_or_default().words().into_iter(), Digest::text);
    for flag in [debug, fp_fusion, retry, line_info, triton_abi, locations] {
        d.flag(*flag);
    }
    d.option(symbol.as_deref(), Digest::text);
    d.option(grid.as_deref(), Digest::text);
    d.list(grids.iter(), |d, (kernel, grid)| {
        d.text(kernel);
        d.text(grid);
    });
    d.number(*max_ops as u64);
    d.number(*tma as u64);
}

fn take_amd(d: &mut Digest, options: AmdOptions) {
    for number in options.values() {
        d.option(number, |d, n| d.number(u64::from(n)));
    }
}

fn take_path(d: &mut Digest, path: &Path) {
    d.bytes(path.as_os_str().as_encoded_bytes());
}

fn take_language(d: &mut Digest, language: Language) {
    d.text(match language {
        Language::Source => "source",
        Language::Ir(_) => "ir",
        Language::Llir => "llir",
        Language::Assembly => "assembly",
    });
    if let Language::Ir(stage) = language {
        take_stage(d, stage);
    }
}

fn take_stage(d: &mut Digest, stage: Stage) {
    d.number(match stage {
        Stage::Ttir => 0,
        Stage::Ttgir => 1,
        Stage::Llir => 2,
        Stage::Assembly => 3,
        Stage::Binary => 4,
        Stage::Listing => 5,
    });
}

/// The digest of everything outside of a job that decides its bytes: ttc itself, its version of LLVM, and the tools
/// that the wanted stages need.
///
/// # Errors
/// The system's error when one of these files cannot be read. A tool that is missing is such an error as well.
pub(super) fn outside(cache: &Cache, job: &Job, want: &[Stage]) -> io::Result<Key> {
    let last = want.iter().copied().max().unwrap_or(Stage::Ttir);
    let tools: Vec<PathBuf> = match backend::generator(&job.target) {
        Ok(generator) => generator
            .outside(last, job.options.ptxas.as_deref())
            .map_err(|_| io::Error::from(io::ErrorKind::NotFound))?,
        // What is made of it needs no tool.
        Err(_) => vec![],
    };
    let mut digest = Digest::new("ttc 2026-11 cache: a compiler with its tools");
    digest.text(&compiler_version());
    digest.key_of(cache.executable()?);
    digest.number(tools.len() as u64);
    for tool in tools {
        // The name tells libdevice from ptxas, should one of them be missing.
        digest.bytes(tool.file_name().unwrap_or_default().as_encoded_bytes());
        digest.key_of(cache.digest_of(&tool)?);
    }
    Ok(digest.key())
}

/// What is wanted of a compilation. It is `None` if that includes a look inside, for which every stage must run.
pub(super) fn wanted(want: &[Stage], debug: &Debug) -> Option<Key> {
    let Debug {
        print_before,
        print_after,
        print_after_change,
        dump_dir,
        // It names the files of `dump_dir`.
        naming: _,
        time_passes,
        // The verifier changes nothing, and what is kept was made without a fault.
        verify_each: _,
        keep_passes,
        // Nothing of it is kept without the passes.
        keep_located: _,
        line_listing,
        remarks,
    } = debug;
    let printed = print_before.is_some() || print_after.is_some() || *print_after_change || dump_dir.is_some();
    if printed || *time_passes || *keep_passes || *line_listing {
        return None;
    }
    let mut digest = Digest::new("ttc 2026-11 cache: what is wanted");
    let stages: BTreeSet<Stage> = want.iter().copied().collect();
    digest.list(stages.into_iter(), take_stage);
    digest.list(remarks.iter(), |d, group: &Group| d.text(group.word()));
    Some(digest.key())
}

/// The key of a request: the job, and what [`outside`] and [`wanted`] say.
pub(super) fn of_request(job: Key, outside: Key, wanted: Key) -> Key {
    let mut digest = Digest::new("ttc 2026-11 cache: a request");
    [job, outside, wanted].into_iter().for_each(|key| digest.key_of(key));
    digest.key()
}

/// The key of a result that no stage but the whole job leads to, as it is where the input is a stage.
pub(super) fn of_whole(request: Key) -> Key {
    let mut digest = Digest::new("ttc 2026-11 cache: the result of a request");
    digest.key_of(request);
    digest.key()
}

/// What a compilation has come to behind the front end.
pub(in crate::driver) struct Behind<'a> {
    pub(in crate::driver) job: &'a Job,
    /// The settled options.
    pub(in crate::driver) options: &'a JobOptions,
    pub(in crate::driver) launch: Launch,
    pub(in crate::driver) made: &'a Compiled,
    pub(in crate::driver) ir: &'a Ir,
}

/// The key of everything that the stages behind the front end see.
pub(super) fn behind_front_end(behind: &Behind<'_>, outside: Key, wanted: Key) -> Key {
    let mut digest = Digest::new("ttc 2026-11 cache: the result of the stages behind the front end");
    let d = &mut digest;
    let Behind { job, options, launch, made, ir } = *behind;
    d.key_of(outside);
    d.key_of(wanted);
    d.text(job.target.name);
    let JobOptions {
        // The front end has used these up: what came of them is in the IR, the launch and the metadata.
        signature: _,
        types: _,
        defines: _,
        include: _,
        num_warps: _,
        num_stages: _,
        num_ctas: _,
        maxnreg: _,
        amd: _,
        ptxas: _,
        time_limit: _,
        pipelining,
        debug,
        fp_fusion,
        retry,
        line_info,
        triton_abi,
        tma,
        symbol,
        grid,
        // The grid of the kernel has been chosen.
        grids: _,
        locations,
        max_ops,
    } = options;
    for flag in [debug, fp_fusion, retry, line_info, triton_abi, locations] {
        d.flag(*flag);
    }
    d.list(pipelining.unwrap_or_default().words().into_iter(), Digest::text);
    d.flag(symbol.is_some());
    d.option(grid.as_deref(), Digest::text);
    d.number(*max_ops as u64);
    d.number(*tma as u64);
    let Launch { num_warps, num_stages, num_ctas, maxnreg, amd } = launch;
    for number in [Some(num_warps), Some(num_stages), Some(num_ctas), maxnreg] {
        d.option(number, |d, n| d.number(u64::from(n)));
    }
    take_amd(d, amd);
    // What was said and printed belongs to the front end, which has just said it. The rest is empty still.
    let Compiled {
        kernel,
        metadata,
        files: _,
        trail: _,
        artifacts: _,
        timings: _,
        slow_assembler: _,
        diagnostics: _,
        printed: _,
        dumps: _,
        passes: _,
        lives: _,
    } = made;
    d.text(kernel);
    // The file of the metadata leaves out some of it. This form shows all.
    d.text(&format!("{metadata:?}"));
    take_ir(d, ir);
    digest.key()
}

/// Takes a module: its text with all locations, and the numbers of what it consists of. Two modules of one text and
/// other numbers mean the same, but a pass that visits values in the order of their numbers could write them in another
/// order.
fn take_ir(d: &mut Digest, ir: &Ir) {
    d.text(&print_module(ir, &PrintOptions { locations: true, ..PrintOptions::default() }));
    for op in ir.all_ops(ir.module()) {
        d.number(op.index() as u64);
        d.list(ir.results(op).iter(), |d, v| d.number(v.index() as u64));
    }
    for block in ir.all_blocks(ir.module()) {
        d.number(block.index() as u64);
        d.list(ir.args(block).iter(), |d, v| d.number(v.index() as u64));
    }
}
