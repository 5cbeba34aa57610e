//! The kernels of a file: their parameters, what gives those their values, and their configurations.

use std::path::PathBuf;
use std::sync::Arc;

use super::choose::{choose, entries};
use super::config::{self, ConfigInfo};
use super::request::start;
use super::signature::Item;
use super::{heuristics, signature};
use crate::diag::Diagnostic;
use crate::ir::MAX_OPS;
use crate::irgen::emit::{Emits, Reported, Settings};
use crate::irgen::front::launch::Launch;
use crate::irgen::value::Func;
use crate::parser::ast::FunctionDef;
use crate::source::{FileId, SourceMap};
use crate::target::Target;

/// A kernel of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelInfo {
    pub name: String,
    /// 1-based.
    pub line: u32,
    /// Whether nothing in the file calls it and it returns nothing: it can be launched.
    pub entry: bool,
    pub params: Vec<KernelParam>,
    /// What `@triton.autotune` offers, or why that is not known.
    pub configs: Result<Vec<ConfigInfo>, Diagnostic>,
}

/// A parameter of a kernel as its file declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelParam {
    pub name: String,
    /// The type or `constexpr`, if the annotation says so.
    pub ty: Option<String>,
    /// The default or annotated value of a compile-time parameter.
    pub value: Option<String>,
    /// What gives the value if the command line does not.
    pub source: Option<Source>,
    /// Whether a type or a value must be given on the command line.
    pub needed: bool,
}

/// What gives a compile-time parameter its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A configuration that is to be chosen.
    Config,
    /// A heuristic.
    Heuristic,
}

impl Source {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Source::Config => "configuration",
            Source::Heuristic => "heuristic",
        }
    }
}

/// The kernels of a file, in source order.
pub fn list_kernels(map: &mut SourceMap, file: FileId, include_dirs: &[PathBuf]) -> (Vec<KernelInfo>, Vec<Diagnostic>) {
    let settings = Settings { target: Target::usual(), launch: Launch::default(), debug: false, max_ops: MAX_OPS };
    let (mut cx, module) = start(map, file, include_dirs, settings);
    let functions: Vec<Arc<FunctionDef>> =
        cx.modules().get(module).functions.iter().filter(|f| f.is_jit).cloned().collect();
    let mut kernels = vec![];
    for (def, entry) in functions.iter().zip(entries(&functions)) {
        let func = Func { def: def.clone(), module, jit: true };
        let (heuristics, configs) = (heuristics::of_kernel(&mut cx, &func), config::infos(&mut cx, &func));
        let tuned = |name: &str| configs.iter().flatten().any(|c| c.kwargs.iter().any(|(n, _)| n == name));
        let mut params = vec![];
        for p in &def.params {
            let item = signature::of_annotation(&mut cx, &func, p);
            let default = p.default.as_ref().and_then(|e| cx.evaluate(module, e)).map(|v| v.show());
            let (ty, value) = match item {
                Item::Value { ty, divisible } => {
                    (Some(format!("{}{}", ty.dtype.short(), if divisible { ":16" } else { "" })), None)
                }
                Item::Desc(ty) => (Some(format!("tensordesc<{}{:?}>", ty.dtype.short(), ty.shape())), None),
                Item::Const(v) => (Some("constexpr".to_owned()), Some(v.show())),
                Item::Constexpr => (Some("constexpr".to_owned()), default),
                Item::Unknown => (None, default),
            };
            let open = ty.as_deref().is_none_or(|t| t == "constexpr");
            let source = match &*p.name.name {
                name if open && heuristics.gives(name) => Some(Source::Heuristic),
                name if open && tuned(name) => Some(Source::Config),
                _ => None,
            };
            let needed = value.is_none() && open && source != Some(Source::Heuristic);
            params.push(KernelParam { name: p.name.to_string(), ty, value, source, needed });
        }
        let line = cx.modules().map.line_col(def.header).line;
        kernels.push(KernelInfo { name: def.name.to_string(), line, entry, params, configs });
    }
    let errors = cx.modules().get(module).errors.clone();
    (kernels, errors)
}

/// The configurations of one kernel of a file, for this target.
///
/// # Errors
/// There is no such kernel, or its configurations cannot be evaluated.
pub fn list_configs(
    map: &mut SourceMap,
    file: FileId,
    kernel: Option<&str>,
    include_dirs: &[PathBuf],
    target: Target,
) -> Result<Vec<ConfigInfo>, Vec<Diagnostic>> {
    let settings = Settings { target, launch: Launch::default(), debug: false, max_ops: MAX_OPS };
    let (mut cx, module) = start(map, file, include_dirs, settings);
    let func = choose(&mut cx, module, kernel).map_err(|Reported| cx.out().take_diags())?;
    config::infos(&mut cx, &func).map_err(|d| vec![d])
}
