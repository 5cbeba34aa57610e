//! Checks that a stage file and the command line agree: on the GPU, and on the options that are settled in the file.
//!
//! 1. [`target_of`] reads which GPU a file was made for, before anything is parsed: the job compiles for it when
//!    `--arch` is not given.
//! 2. [`module`], [`llir`] and [`ptx`] check the job's target against what the file says. Passes read the module's
//!    target and code generation the job's, so two of them would give wrong code.
//! 3. [`settled`] refuses an option that is given and cannot be obeyed any more. An option that a later stage still
//!    uses does not concern it.

use super::carried::{self, Carried};
use super::input::{Input, Language};
use super::ptx_facts::PtxFacts;
use crate::backend;
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::array_map::ArrayMap;
use crate::ir::dialects::discardable::{ARRAY_MAP, TARGET, THREADS_PER_WARP};
use crate::ir::{Attr, Ir};
use crate::irgen::Given;
use crate::source::SourceMap;
use crate::target::Target;

/// The GPU that a stage file was made for, or `None` where it does not say. Kernels never say.
///
/// # Errors
/// `E0930` when ttc does not know that GPU, `E0931` when the metadata line cannot be read.
pub(super) fn target_of(input: &Input, sources: &SourceMap) -> Result<Option<Target>, Diagnostic> {
    let file = sources.file(input.file);
    let carried =
        || Ok::<_, Diagnostic>(carried::find(&file.text, None, &file.name)?.and_then(|c| Target::parse(&c.arch).ok()));
    match input.language {
        Language::Source => Ok(None),
        Language::Ir(_) => {
            let Some(word) = quoted_after(&file.text, "ttg.target") else { return carried() };
            let target = by_triton(word)
                .ok_or_else(|| no_target(&file.name, word, place_of(&file.text, "ttg.target", &file.name)))?;
            Ok(Some(carried()?.filter(|c| c.is_same_gpu(&target)).unwrap_or(target)))
        }
        Language::Llir => {
            let cpu = quoted_after(&file.text, "\"target-cpu\"").and_then(|c| Target::parse(c).ok());
            Ok(cpu.or(carried()?))
        }
        Language::Assembly => match PtxFacts::of(&file.text).target {
            Some(word) => match Target::parse(&word) {
                Ok(target) => Ok(Some(target)),
                Err(_) => Err(no_target(&file.name, &word, Place::File(file.name.clone()))
                    .help("name an architecture that runs it with `--arch`")),
            },
            None => Ok(None),
        },
    }
}

/// The string behind a word and `=`, at the first place where both stand: `cuda:80` in `ttg.target = "cuda:80"`.
fn quoted_after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.match_indices(word).find_map(|(at, _)| {
        let rest = text[at + word.len()..].trim_start_matches('"').trim_start().strip_prefix('=')?;
        rest.trim_start().strip_prefix('"')?.split('"').next()
    })
}

/// The target for Triton's word for a GPU.
fn by_triton(word: &str) -> Option<Target> {
    Target::parse(word).ok().filter(|target| target.triton_word() == word)
}

fn no_target(file: &str, word: &str, place: Place) -> Diagnostic {
    let shown: String = word.chars().take(40).collect();
    Diagnostic::error(
        &cli::WRONG_TARGET,
        format!("`{file}` was made for `{}`, which ttc does not compile for", shown.escape_debug()),
    )
    .at(place, "")
    .help("start from the kernel, or from TTIR without a target")
}

fn another(file: &str, made_for: &str, target: Target, arch: &str, place: Place) -> Diagnostic {
    Diagnostic::error(&cli::WRONG_TARGET, format!("`{file}` was made for {made_for}, and the target is {target}"))
        .at(place, "")
        .help(format!("compile it with `--arch {arch}`, or without `--arch`; for another GPU start from the kernel"))
}

/// Checks a module of TTIR or TTGIR against a job's target.
///
/// # Errors
/// `E0930`
pub(super) fn module(ir: &Ir, target: Target, file: &str, text: &str) -> Result<(), Diagnostic> {
    let module = ir.module();
    if let Some(attr) = ir.stored_attr(module, TARGET.name()) {
        let word = attr.as_str().map_or_else(|| attr.to_string(), str::to_owned);
        let made_for = by_triton(&word).ok_or_else(|| no_target(file, &word, place_of(text, "ttg.target", file)))?;
        if !made_for.is_same_gpu(&target) {
            return Err(another(file, &word, target, made_for.name, place_of(text, "ttg.target", file)));
        }
    }
    let takes_maps =
        ir.functions().into_iter().any(|f| ArrayMap::passed(ir, f) < ir.body(f, 0).map_or(0, |b| ir.args(b).len()));
    let makes = || ir.all_ops(module).into_iter().any(|op| ir.is(op, TtOp::MakeTensorDesc));
    if takes_maps && (!target.has_tma() || !target.has_tensormap_replace() && makes()) {
        let word = ARRAY_MAP.name();
        let why = format!("`{file}` has tensor maps that a launch makes (`{word}`), and they are not for {target}");
        let error = Diagnostic::error(&cli::WRONG_TARGET, why).at(place_of(text, word, file), "");
        return Err(error.help("start from the kernel"));
    }
    match ir.stored_attr(module, THREADS_PER_WARP.name()).map(Attr::as_int) {
        Some(threads) if threads != Some(i64::from(target.warp_size())) => {
            let threads = threads.map_or_else(|| "no number of".to_owned(), |t| t.to_string());
            let why = format!(
                "`{file}` was made for {threads} threads a warp, and a warp of {target} has {}",
                target.warp_size()
            );
            Err(Diagnostic::error(&cli::WRONG_TARGET, why)
                .at(place_of(text, "ttg.threads-per-warp", file), "")
                .help("start from the kernel, or from TTIR"))
        }
        _ => Ok(()),
    }
}

/// Where a word stands in the text. The module's own location may name the kernel that the text was made from.
fn place_of(text: &str, word: &str, file: &str) -> Place {
    let line = text.lines().enumerate().find_map(|(i, l)| Some((i, l[..l.find(word)?].chars().count())));
    line.map_or_else(
        || Place::File(file.to_owned()),
        |(i, col)| Place::At { file: file.to_owned(), line: i as u32 + 1, col: col as u32 + 1 },
    )
}

/// Checks LLVM IR against a job's target.
///
/// # Errors
/// `E0930`
pub(super) fn llir(text: &str, carried: Option<&Carried>, target: Target, file: &str) -> Result<(), Diagnostic> {
    let place = || Place::File(file.to_owned());
    let own = |triple: &&str| backend::triple(&target).is_some_and(|own| triple.starts_with(own));
    if let Some(triple) = quoted_after(text, "target triple").filter(|t| !t.is_empty() && !own(t)) {
        return Err(no_target(file, triple, place()));
    }
    let cpu = quoted_after(text, "\"target-cpu\"").map(str::to_owned).or(carried.map(|c| c.arch.clone()));
    match cpu {
        Some(cpu) if cpu != target.name => Err(another(file, &cpu, target, &cpu, place())),
        _ => Ok(()),
    }
}

/// Checks PTX against a job's target.
///
/// # Errors
/// `E0930`
pub(super) fn ptx(facts: &PtxFacts, target: Target, file: &str) -> Result<(), Diagnostic> {
    let Some(word) = &facts.target else { return Ok(()) };
    if target.accepts_ptx_for(word) {
        return Ok(());
    }
    Err(another(file, word, target, word, Place::File(file.to_owned())))
}

/// Reports the options that are given and that a file has settled otherwise. `known` is what the file says, and `None`
/// in it stands for what nobody can tell.
pub(super) fn settled(given: Given, known: Given, file: &str) -> Vec<Diagnostic> {
    let options = [
        ("--num-warps", given.num_warps, known.num_warps),
        ("--num-stages", given.num_stages, known.num_stages),
        ("--num-ctas", given.num_ctas, known.num_ctas),
        ("--maxnreg", given.maxnreg, known.maxnreg),
        ("--matrix-instr-nonkdim", given.amd.matrix_instr_nonkdim, known.amd.matrix_instr_nonkdim),
        ("--kpack", given.amd.kpack, known.amd.kpack),
        ("--waves-per-eu", given.amd.waves_per_eu, known.amd.waves_per_eu),
    ];
    let differ = options.into_iter().filter(|(_, given, known)| given.is_some() && given != known);
    let error = |(option, given, known): (&str, Option<u32>, Option<u32>)| {
        let is = known.map_or_else(|| "settled".to_owned(), |k| k.to_string());
        Diagnostic::error(
            &cli::BAD_OPTION,
            format!("`{option} {}`: in `{file}` that is {is} already", given.unwrap_or_default()),
        )
        .at(Place::File(file.to_owned()), "")
        .help("leave the option out, or start from the kernel")
    };
    differ.map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_says_the_same_is_no_contradiction() {
        let known = Given { num_warps: Some(8), num_ctas: Some(1), ..Given::default() };
        assert!(settled(Given::default(), known, "f").is_empty());
        assert!(settled(Given { num_warps: Some(8), num_ctas: Some(1), ..Given::default() }, known, "f").is_empty());
        let said = settled(Given { num_warps: Some(4), num_stages: Some(2), ..Given::default() }, known, "f");
        let said: Vec<&str> = said.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(
            said,
            ["`--num-warps 4`: in `f` that is 8 already", "`--num-stages 2`: in `f` that is settled already"]
        );
    }
}
