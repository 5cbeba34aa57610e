//! The kernels of a file: their parameters, what gives those their values, and their configurations.

use std::path::PathBuf;

use super::choose::{choose, command_names, compiled, entries, is_called, of_file};
use super::config::{self, ConfigInfo};
use super::entry::unread;
use super::heuristics::SoFar;
use super::request::start;
use super::signature::Item;
use super::template::{self, Guesses, Template};
use super::{heuristics, signature};
use crate::diag::Diagnostic;
use crate::ir::MAX_OPS;
use crate::irgen::emit::{Emits, Reported, Settings};
use crate::irgen::front::launch::Launch;
use crate::irgen::value::{Config, Func};
use crate::irgen::walk::Walker;
use crate::parser::ast::Param;
use crate::source::{FileId, SourceMap};
use crate::target::Target;

/// A kernel of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelInfo {
    /// What `-k` calls it: its name, with the classes and functions around it if another kernel of the file has the
    /// same.
    pub name: String,
    /// Its name behind those of the classes and functions around it, joined by points.
    pub full_name: String,
    /// 1-based.
    pub line: u32,
    /// Whether nothing in the file calls it and it returns nothing: it can be launched.
    pub entry: bool,
    pub params: Vec<KernelParam>,
    /// What `@triton.heuristics` computes: parameters and options of the launch.
    pub heuristics: Vec<String>,
    /// What the kernel still needs, guessed.
    pub template: Template,
    /// What `@triton.autotune` offers, or why that is not known.
    pub configs: Result<Vec<ConfigInfo>, Diagnostic>,
    /// The arguments of which `@triton.autotune` says that their values matter.
    pub key: Vec<String>,
}

impl KernelInfo {
    /// Whether `-k` may mean this kernel.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        is_called(&self.full_name, name)
    }
}

/// A parameter of a kernel as its file declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelParam {
    pub name: String,
    /// What it is, by its type, or else as it is guessed to be.
    pub kind: Kind,
    /// The annotation as the file has it.
    pub annotation: Option<String>,
    /// The type or `constexpr`, if the annotation says so.
    pub ty: Option<String>,
    /// The default or annotated value of a compile-time parameter.
    pub value: Option<String>,
    /// What gives the value if the command line does not.
    pub source: Option<Source>,
    /// Whether a type or a value must be given on the command line.
    pub needed: bool,
    /// The type that the parameter probably has, or the value of a compile-time one. There is one where a type or a
    /// value is needed, and for heuristics that a compiler cannot evaluate.
    pub guess: Option<String>,
    /// Whether the kernel, as far as its text shows, stores to where the parameter points.
    pub stored: bool,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Pointer,
    Scalar,
    Descriptor,
    Constexpr,
}

impl Kind {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Pointer => "pointer",
            Kind::Scalar => "scalar",
            Kind::Descriptor => "descriptor",
            Kind::Constexpr => "constexpr",
        }
    }

    /// The kind of a type of a signature.
    fn of(ty: &str) -> Kind {
        match ty {
            "constexpr" => Kind::Constexpr,
            t if t.starts_with('*') => Kind::Pointer,
            t if t.starts_with("tensordesc") => Kind::Descriptor,
            _ => Kind::Scalar,
        }
    }
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
    let functions = compiled(&mut cx, module);
    let mut kernels = vec![];
    let names = command_names(&cx, module, &functions);
    for ((def, entry), name) in functions.iter().zip(entries(&functions)).zip(names) {
        let func = of_file(&mut cx, module, def);
        let guesses = Guesses::of(def, &functions);
        let full_name = cx.modules().get(module).full_name(def);
        kernels.push(kernel(&mut cx, &func, entry, &guesses, (name, full_name)));
    }
    let errors = cx.modules().get(module).errors.clone();
    (kernels, errors)
}

fn kernel(
    cx: &mut Walker<'_>,
    func: &Func,
    entry: bool,
    guesses: &Guesses<'_>,
    (name, full_name): (String, String),
) -> KernelInfo {
    let (heuristics, configs) = (heuristics::of_kernel(cx, func), config::infos(cx, func));
    let tuned = |name: &str| configs.iter().flatten().any(|c| c.kwargs.iter().any(|(n, _)| n == name));
    let source = |name: &str| {
        let configured = tuned(name).then_some(Source::Config);
        heuristics.gives(name).then_some(Source::Heuristic).or(configured)
    };
    let mut params: Vec<KernelParam> =
        func.def.params.iter().map(|p| parameter(cx, func, p, source(&p.name.name), guesses)).collect();
    if !heuristics.list.is_empty() {
        let first = config::configs(cx, func).ok().flatten().and_then(|all| all.first().cloned());
        let items: Vec<Item> = params.iter().map(|p| probable(cx, func, p, first.as_deref())).collect();
        let defaults = func.def.params.iter().map(|p| p.default.is_some()).collect();
        let mut so_far = SoFar { items, defaults, launch: Launch::default(), options: vec![] };
        for name in heuristics::unknown(cx, func, &heuristics, &mut so_far) {
            let open = params.iter_mut().find(|p| p.name == name && p.source == Some(Source::Heuristic));
            open.into_iter().for_each(|p| p.guess = Some(guesses.value(&name)));
        }
    }
    let line = cx.modules().map.line_col(func.def.header).line;
    let template = template(&params, guesses);
    let heuristics = heuristics.list.iter().map(|h| h.name.to_string()).collect();
    let key = config::key(cx, func);
    KernelInfo { name, full_name, line, entry, params, heuristics, template, configs, key }
}

/// A parameter; `source` may give its value where it is a compile-time one.
fn parameter(
    cx: &mut Walker<'_>,
    func: &Func,
    p: &Param,
    source: Option<Source>,
    guesses: &Guesses<'_>,
) -> KernelParam {
    let item = signature::of_annotation(cx, func, p);
    let default = p.default.as_ref().and_then(|e| cx.evaluate(func.module, e)).map(|v| v.show());
    let (ty, value) = match item {
        Item::Value { ty, divisible } => {
            (Some(format!("{}{}", ty.dtype.short(), if divisible { ":16" } else { "" })), None)
        }
        Item::One(ty) => (Some(format!("{}:1", ty.dtype.short())), None),
        Item::Desc(ty) => (Some(format!("tensordesc<{}{:?}>", ty.dtype.short(), ty.shape())), None),
        Item::Const(v) => (Some("constexpr".to_owned()), Some(v.show())),
        Item::Constexpr => (Some("constexpr".to_owned()), default),
        Item::Unknown => (None, default),
    };
    let open = ty.as_deref().is_none_or(|t| t == "constexpr");
    let source = source.filter(|_| open);
    let needed = value.is_none() && open && source != Some(Source::Heuristic);
    let name = p.name.to_string();
    let guessed = guesses.ty(&name);
    let known_by_value = ty.is_none() && (value.is_some() || source.is_some());
    let kind = if known_by_value { Kind::Constexpr } else { Kind::of(ty.as_deref().unwrap_or(&guessed)) };
    let guess = match kind {
        _ if !needed || source.is_some() => None,
        Kind::Constexpr => Some(guesses.value(&name)),
        _ => Some(guessed),
    };
    let stored = guesses.of_param(&name).stored;
    let annotation = p.annotation.as_ref().map(|a| cx.modules().map.text(a.span).to_owned());
    KernelParam { name, kind, annotation, ty, value, source, needed, guess, stored }
}

/// What a parameter is if its guess is right, in the first configuration.
fn probable(cx: &mut Walker<'_>, func: &Func, p: &KernelParam, config: Option<&Config>) -> Item {
    let tuned = config.and_then(|c| c.values.iter().find(|(n, _)| **n == *p.name));
    if let Some((_, value)) = tuned.filter(|_| p.source == Some(Source::Config)) {
        return Item::Const(value.clone());
    }
    let runtime = p.ty.as_deref().filter(|_| p.kind != Kind::Constexpr);
    let text = runtime.or(p.value.as_deref()).or(p.guess.as_deref());
    text.and_then(|t| signature::item(cx, t, func.module)).unwrap_or(Item::Unknown)
}

/// What gives what a kernel needs.
fn template(params: &[KernelParam], guesses: &Guesses<'_>) -> Template {
    let names = |wanted: &dyn Fn(&KernelParam) -> bool| -> Vec<&str> {
        params.iter().filter(|p| wanted(p)).map(|p| p.name.as_str()).collect()
    };
    let runtime = |p: &KernelParam| p.kind != Kind::Constexpr;
    let types = names(&|p| runtime(p) && p.guess.is_some());
    let values = names(&|p| !runtime(p) && p.guess.is_some());
    let typed = names(&|p| runtime(p) && p.guess.is_none());
    let config = params.iter().any(|p| p.needed && p.source == Some(Source::Config));
    Template { config, ..template::missing(guesses, &types, &values, &typed) }
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
    let settings = Settings { target, launch: Launch::usual(&target), debug: false, max_ops: MAX_OPS };
    let (mut cx, module) = start(map, file, include_dirs, settings);
    let syntax = unread(&cx, module);
    if !syntax.is_empty() {
        return Err(syntax);
    }
    let func = choose(&mut cx, module, kernel).map_err(|Reported| cx.out().take_diags())?;
    config::infos(&mut cx, &func).map_err(|d| vec![d])
}
