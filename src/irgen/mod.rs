//! From the syntax tree to TTIR: names, types, compile-time evaluation, calls.
//!
//! 1. [`top_level`] parses a file and knows what its names are bound to, [`modules`] follows imports; [`lookup`]
//!    follows names to values.
//! 2. [`signature`] settles what each parameter of the kernel is, with what [`config`] and [`heuristics`] give; both
//!    are [`host`] code.
//! 3. [`lower`] holds the state; [`stmt`], [`branch`], [`loops`], [`expr`] and [`call`] walk the kernel and, on the
//!    way, every function it calls; [`semantic`] knows what operators mean, [`builtins`] the primitives, [`prelude`]
//!    the library written in the language.
//!
//! The result is a module with one public function, the kernel, and a private one for each specialisation that it
//! calls; the inliner pass puts those in place. The meaning of everything is Triton 3.9's.
//!
//! Example: [`lower_kernel`] on `add.tk` with `-D BLOCK=1024` gives `tt.func public @add(%x_ptr: !tt.ptr<f32> …)`.

pub mod advice;
pub mod assigned;
pub mod branch;
pub mod budget;
pub mod builtins;
pub mod call;
pub mod config;
pub mod expr;
mod free_names;
pub mod heuristics;
pub mod host;
pub mod lookup;
pub mod loops;
pub mod lower;
pub mod modules;
pub mod prelude;
pub mod scope;
pub mod semantic;
pub mod signature;
mod signature_faults;
pub mod stmt;
pub mod template;
pub mod top_level;
pub mod types;
pub mod unbound;
pub mod untyped;
pub mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use config::{ConfigInfo, Given, Launch};
use free_names::free_names;
use lower::{Lower, Options, R, Reported};
use modules::Modules;
use signature::Item;
use types::{Dtype, Ty};
use value::{Const, Desc, Func, Tensor, Val};

use crate::diag::codes::names;
use crate::diag::suggest::nearest;
use crate::diag::{Diagnostic, Place};
use crate::ir::MAX_OPS;
use crate::ir::{Attr, Block, Ir, Loc, OpState, TtOp, Type};
use crate::parser::ast::{Decorator, ExprKind, FunctionDef, Stmt, StmtKind};
use crate::source::{FileId, SourceMap, Span};
use crate::target::Target;

/// What to lower and how.
#[derive(Clone, Debug)]
pub struct KernelRequest {
    /// The kernel's name; may be left out if the file has one kernel.
    pub kernel: Option<String>,
    /// Types and values of the parameters; the annotations if absent.
    pub signature: Option<String>,
    /// Values of compile-time parameters, as text.
    pub defines: Vec<(String, String)>,
    /// Folders in which imports are looked for.
    pub include_dirs: Vec<PathBuf>,
    /// The configuration to take, by its number.
    pub config: Option<usize>,
    /// The options of the launch that the user gave: they win over a configuration's.
    pub given: Given,
    pub options: Options,
}

/// A run-time parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamInfo {
    pub name: String,
    /// As in a signature: `*fp32`, `i32`.
    pub ty: String,
    /// What the value is divisible by, if that is known.
    pub divisibility: Option<u32>,
}

/// A lowered kernel.
pub struct Lowered {
    pub ir: Ir,
    pub kernel: String,
    /// Run-time parameters in order.
    pub params: Vec<ParamInfo>,
    /// Compile-time parameters with their values as text.
    pub constants: Vec<(String, String)>,
    /// The options to go on with: the user's, the configuration's, those of heuristics, or the usual ones.
    pub launch: Launch,
    /// The configuration that was taken.
    pub config: Option<ConfigInfo>,
    pub warnings: Vec<Diagnostic>,
    /// Lines that `tl.static_print` wrote.
    pub printed: Vec<String>,
}

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
    let options = Options { target: Target::usual(), launch: Launch::default(), debug: false, max_ops: MAX_OPS };
    let (mut cx, module) = start(map, file, include_dirs, options);
    let functions: Vec<Arc<FunctionDef>> = cx.mods.get(module).functions.iter().filter(|f| f.is_jit).cloned().collect();
    let mut kernels = vec![];
    for (def, entry) in functions.iter().zip(entries(&functions)) {
        let func = Func { def: def.clone(), module, jit: true };
        let (heuristics, configs) = (cx.heuristics(&func), cx.config_infos(&func));
        let tuned = |name: &str| configs.iter().flatten().any(|c| c.kwargs.iter().any(|(n, _)| n == name));
        let mut params = vec![];
        for p in &def.params {
            let item = cx.annotation_item(&func, p);
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
        let line = cx.mods.map.line_col(def.header).line;
        kernels.push(KernelInfo { name: def.name.to_string(), line, entry, params, configs });
    }
    let errors = cx.mods.get(module).errors.clone();
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
    let options = Options { target, launch: Launch::default(), debug: false, max_ops: MAX_OPS };
    let (mut cx, module) = start(map, file, include_dirs, options);
    let func = cx.choose(module, kernel).map_err(|Reported| std::mem::take(&mut cx.diags))?;
    cx.config_infos(&func).map_err(|d| vec![d])
}

/// Lowers one kernel of a file to TTIR.
///
/// # Errors
/// Everything that is wrong with the request or with the kernel and the functions it calls.
pub fn lower_kernel(map: &mut SourceMap, file: FileId, request: &KernelRequest) -> Result<Lowered, Vec<Diagnostic>> {
    let (mut cx, module) = start(map, file, &request.include_dirs, request.options.clone());
    let result = cx.kernel(module, request);
    let mut diags = std::mem::take(&mut cx.diags);
    match result {
        Ok(KernelParts { kernel, params, constants, launch, config }) if !diags.iter().any(Diagnostic::is_error) => {
            Ok(Lowered { ir: cx.ir, kernel, params, constants, launch, config, warnings: diags, printed: cx.printed })
        }
        _ => {
            diags.sort_by_key(|d| match d.place() {
                Some(Place::Span(s)) => (s.file.0, s.lo),
                _ => (u32::MAX, 0),
            });
            Err(diags)
        }
    }
}

fn start<'m>(map: &'m mut SourceMap, file: FileId, include_dirs: &[PathBuf], options: Options) -> (Lower<'m>, usize) {
    let name = map
        .file(file)
        .path
        .as_deref()
        .and_then(|p| p.file_stem())
        .map_or_else(|| "kernels".to_owned(), |s| s.to_string_lossy().into_owned());
    let mut mods = Modules::new(map, include_dirs);
    let module = mods.add(file, &name, false);
    let span = Span { file, lo: 0, hi: 0 };
    (Lower::new(mods, module, span, options), module)
}

/// Whether each jit function can be launched: it returns nothing and no other one names it.
fn entries(all: &[Arc<FunctionDef>]) -> Vec<bool> {
    let mut named: BTreeMap<Arc<str>, BTreeSet<usize>> = BTreeMap::new();
    for (i, f) in all.iter().enumerate() {
        for name in free_names(f) {
            named.entry(name).or_default().insert(i);
        }
    }
    let by_another = |i: usize| {
        named.get(&*all[i].name.name).is_some_and(|by| by.iter().any(|&j| all[j].name.name != all[i].name.name))
    };
    all.iter().enumerate().map(|(i, f)| !returns_value(&f.body) && !by_another(i)).collect()
}

fn returns_value(body: &[Stmt]) -> bool {
    body.iter().any(|s| match &s.kind {
        StmtKind::Return(Some(e)) => !matches!(e.kind, ExprKind::Constant(crate::parser::ast::Constant::None)),
        StmtKind::If { branches, orelse } => branches.iter().any(|b| returns_value(&b.body)) || returns_value(orelse),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => returns_value(body),
        _ => false,
    })
}

/// What is known of a kernel beside its IR.
struct KernelParts {
    kernel: String,
    params: Vec<ParamInfo>,
    constants: Vec<(String, String)>,
    launch: Launch,
    config: Option<ConfigInfo>,
}

impl Lower<'_> {
    fn kernel(&mut self, module: usize, request: &KernelRequest) -> R<KernelParts> {
        let func = self.choose(module, request.kernel.as_deref())?;
        let syntax: Vec<Diagnostic> =
            self.mods.get(module).errors.iter().filter(|e| inside(e, func.def.span)).cloned().collect();
        if !syntax.is_empty() {
            self.diags.extend(syntax);
            return Err(Reported);
        }
        let mut launch = request.given.over(Launch::default());
        let (items, config) = self.parameters(&func, request, &mut launch)?;
        self.options.launch = launch;
        // A detached function holds the values that stand for the parameters' types.
        let loc = Loc::unknown();
        let shell = self.ir.create_op(OpState::new(TtOp::Func, loc).regions(1));
        let region = self.ir.region(shell, 0);
        let block = self.ir.add_block(region, &[]);
        let (mut bound, mut facts, mut params, mut constants) = (vec![], vec![], vec![], vec![]);
        for (name, item) in items {
            let arg: Arc<str> = Arc::from(&*name);
            let value = match item {
                Item::Value { ty, divisible } => {
                    let elem = ty.dtype.pointee().map_or(ty.dtype, |t| t.dtype);
                    let param = func.def.params.iter().find(|p| *p.name.name == *name);
                    self.span = param.map_or(func.def.header, |p| p.span);
                    self.check_dtype(elem)?;
                    self.span = func.def.header;
                    params.push(ParamInfo {
                        name: name.to_string(),
                        ty: ty.dtype.short(),
                        divisibility: divisible.then_some(16),
                    });
                    facts.push(divisible.then(|| Attr::i32(16)));
                    Val::from(self.placeholder(block, ty.to_ir(), ty))
                }
                Item::Desc(ty) => {
                    params.push(ParamInfo {
                        name: name.to_string(),
                        ty: format!("tensordesc<{}{:?}>", ty.dtype.short(), ty.shape()),
                        divisibility: None,
                    });
                    facts.extend(std::iter::repeat_n(None, 1 + 2 * ty.shape().len()));
                    self.descriptor_parameter(block, ty)
                }
                Item::Const(v) => {
                    constants.push((name.to_string(), v.show()));
                    v
                }
                Item::Constexpr | Item::Unknown => Val::NONE,
            };
            bound.push((arg, value));
        }
        self.naming = None;
        let result = self.function(&func, func.name(), &bound, &facts, true);
        let unused = self.unused_defines(&func, &request.defines);
        self.ir.erase_op(shell);
        let (module, at) = (self.ir.module(), self.loc_of(func.def.header));
        self.ir.set_loc(module, at);
        result?;
        unused?;
        Ok(KernelParts { kernel: func.name().to_owned(), params, constants, launch, config })
    }

    fn placeholder(&mut self, block: Block, ir: Type, ty: Ty) -> Tensor {
        Tensor { value: self.ir.add_arg(block, ir, Loc::unknown()), ty }
    }

    fn descriptor_parameter(&mut self, block: Block, ty: Ty) -> Val {
        let value = self.ir.add_arg(block, builtins::descriptor_type(ty), Loc::unknown());
        let mut scalars = |d: Dtype| -> Vec<Tensor> {
            let t = Ty::scalar(d);
            ty.shape().iter().map(|_| self.placeholder(block, t.to_ir(), t)).collect()
        };
        let (shape, strides) = (scalars(Dtype::Int32), scalars(Dtype::Int64));
        Val::Desc(Rc::new(Desc { value, block: ty, shape, strides }))
    }

    /// The kernel of this name, or the only one that can be launched.
    fn choose(&mut self, module: usize, name: Option<&str>) -> R<Func> {
        let file = self.mods.get(module).file;
        let place = Place::File(self.mods.map.file(file).name.clone());
        let jit: Vec<Arc<FunctionDef>> = self.mods.get(module).functions.iter().filter(|f| f.is_jit).cloned().collect();
        if let Some(name) = name {
            // The last definition of a name wins, as in Python; a name may also be an alias.
            if let Some(def) = jit.iter().rev().find(|f| *f.name.name == *name) {
                return Ok(Func { def: def.clone(), module, jit: true });
            }
            if let Some(Val::Const(Const::Func(f))) = self.global(module, name)
                && f.jit
            {
                return Ok(f);
            }
            let plain = self.mods.get(module).functions.iter().rev().find(|f| *f.name.name == *name).cloned();
            if let Some(def) = plain {
                return Err(self.report(not_decorated(&def)));
            }
            let known: Vec<&str> = jit.iter().map(|f| &*f.name.name).collect();
            let diag =
                Diagnostic::error(&names::UNKNOWN_KERNEL, format!("the file has no kernel `{name}`")).at(place, "");
            let near = nearest(name, known.iter().copied());
            return Err(self.report(match near {
                Some(n) => diag.help(format!("did you mean `{n}`?")),
                None if known.is_empty() => diag.help("a kernel is a function decorated with `@triton.jit`"),
                None => diag.help(format!("its kernels are {}", known.join(", "))),
            }));
        }
        let launchable: Vec<&Arc<FunctionDef>> =
            jit.iter().zip(entries(&jit)).filter_map(|(f, entry)| entry.then_some(f)).collect();
        match launchable.as_slice() {
            [only] => Ok(Func { def: (*only).clone(), module, jit: true }),
            [] => {
                let misspelt = self.mods.get(module).functions.iter().find(|f| jit_typo(f).is_some()).cloned();
                if let Some(def) = misspelt {
                    return Err(self.report(not_decorated(&def)));
                }
                let diag = Diagnostic::error(&names::UNKNOWN_KERNEL, "the file has no kernel").at(place, "");
                Err(self.report(diag.help("a kernel is a function decorated with `@triton.jit` that returns nothing")))
            }
            several => {
                let known: Vec<&str> = several.iter().map(|f| &*f.name.name).collect();
                let diag =
                    Diagnostic::error(&names::AMBIGUOUS_KERNEL, format!("the file has {} kernels", several.len()))
                        .at(place, "");
                Err(self.report(diag.help(format!("choose one with -k: {}", known.join(", ")))))
            }
        }
    }
}

/// The decorator that was probably meant to be `@triton.jit`.
fn jit_typo(def: &FunctionDef) -> Option<&Decorator> {
    let near = |d: &&Decorator| {
        d.path().and_then(|p| p.last().copied()).is_some_and(|n| nearest(n, ["jit"].into_iter()).is_some())
    };
    def.decorators.iter().find(near).filter(|_| !def.is_jit)
}

/// The message for a function that was named as the kernel and is not compiled.
fn not_decorated(def: &FunctionDef) -> Diagnostic {
    let diag = Diagnostic::error(
        &names::UNKNOWN_KERNEL,
        format!("`{}` is no kernel: it is not decorated with `@triton.jit`", def.name),
    );
    match jit_typo(def) {
        Some(d) => diag
            .at(d.span, "this decorator is not known")
            .at(def.header, "this function")
            .help("did you mean `@triton.jit`?"),
        None => diag.at(def.header, "a plain Python function").help("write `@triton.jit` above it"),
    }
}

/// Whether a diagnostic lies in a span.
fn inside(diag: &Diagnostic, span: Span) -> bool {
    match diag.place() {
        Some(Place::Span(s)) => s.file == span.file && s.lo >= span.lo && s.lo <= span.hi,
        _ => true,
    }
}
