//! The kernel itself: its parameters become the arguments of a public function, and its body is walked.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::choose::choose;
use super::config::ConfigInfo;
use super::faults;
use super::parameters::parameters;
use super::request::{KernelRequest, ParamInfo, start};
use super::signature::Item;
use crate::diag::{Diagnostic, Place};
use crate::ir::dialects::tt::tt;
use crate::ir::{Attr, Block, Ir, Loc, Type};
use crate::irgen::builtins;
use crate::irgen::emit::{Emits, R, Reported, Tensor};
use crate::irgen::front::launch::Launch;
use crate::irgen::front::modules::Trail;
use crate::irgen::semantic::convert;
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Desc, Object};
use crate::irgen::walk::{Sights, Walker, is_set};
use crate::parser::limits::is_limit;
use crate::source::{FileId, SourceMap, Span};

/// A lowered kernel.
pub struct Lowered {
    pub ir: Ir,
    pub kernel: String,
    /// What a caller passes, in order. An argument of a settled value is in `constants` as well.
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
    /// The kernel's file and those that it imports.
    pub files: Vec<FileId>,
    /// What its imports looked for.
    pub trail: Trail,
}

/// Lowers one kernel of a file to TTIR.
///
/// # Errors
/// Everything that is wrong with the request or with the kernel and the functions it calls.
pub fn lower_kernel(map: &mut SourceMap, file: FileId, request: &KernelRequest) -> Result<Lowered, Vec<Diagnostic>> {
    let (mut cx, module) = start(map, file, &request.include_dirs, request.settings.clone());
    // What is wrong with the file comes first: it is why a kernel seems to be missing, or why a name has two values.
    let syntax = unread(&cx, module);
    if !syntax.is_empty() {
        return Err(syntax);
    }
    let mut result = build(&mut cx, module, request);
    for import in (0..cx.modules().len()).filter(|&m| m != module) {
        let mut syntax = unread(&cx, import);
        let told = cx.out().take_diags();
        syntax.retain(|e| !told.contains(e));
        result = if syntax.is_empty() { result } else { Err(Reported) };
        cx.out().take_in(told);
        cx.out().take_in(syntax);
    }
    finish(cx, result)
}

/// The places of a file at which Python would refuse it.
pub(super) fn unread(cx: &Walker<'_>, module: usize) -> Vec<Diagnostic> {
    cx.modules().get(module).errors.iter().filter(|e| !is_limit(e)).cloned().collect()
}

/// Lowers one kernel as [`lower_kernel`] does, and says what was seen on the way, also where something is wrong. Once
/// `stop` is true, the rest is given up. Syntax errors outside the kernel do not matter: someone is writing the file.
pub fn watch_kernel(
    map: &mut SourceMap,
    file: FileId,
    request: &KernelRequest,
    stop: &Arc<AtomicBool>,
) -> (Result<Lowered, Vec<Diagnostic>>, Sights) {
    let (mut cx, module) = start(map, file, &request.include_dirs, request.settings.clone());
    cx.watch();
    cx.out().stop_on(stop.clone());
    let result = build(&mut cx, module, request);
    let sights = cx.take_sights();
    (finish(cx, result), sights)
}

/// What the walk gave.
fn finish(cx: Walker<'_>, result: R<KernelParts>) -> Result<Lowered, Vec<Diagnostic>> {
    let (files, trail) = (cx.modules().files(), cx.modules().trail());
    let mut out = cx.finish();
    let mut diags = out.take_diags();
    match result {
        Ok(KernelParts { kernel, params, constants, launch, config }) if !diags.iter().any(Diagnostic::is_error) => {
            let printed = out.take_printed();
            Ok(Lowered {
                ir: out.into_ir(),
                kernel,
                params,
                constants,
                launch,
                config,
                warnings: diags,
                printed,
                files,
                trail,
            })
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

/// What is known of a kernel beside its IR.
struct KernelParts {
    kernel: String,
    params: Vec<ParamInfo>,
    constants: Vec<(String, String)>,
    launch: Launch,
    config: Option<ConfigInfo>,
}

fn build(cx: &mut Walker<'_>, module: usize, request: &KernelRequest) -> R<KernelParts> {
    let func = choose(cx, module, request.kernel.as_deref())?;
    let syntax: Vec<Diagnostic> =
        cx.modules().get(module).errors.iter().filter(|e| inside(e, func.def.span)).cloned().collect();
    if !syntax.is_empty() {
        cx.out().take_in(syntax);
        return Err(Reported);
    }
    let mut launch = request.given.over(Launch::usual(&request.settings.target));
    let (items, config) = parameters(cx, &func, request, &mut launch)?;
    cx.out().set_launch(launch);
    if is_set(&func.def, "debug") {
        cx.out().set_debug();
    }
    // A detached function holds the values that stand for the parameters' types.
    let loc = Loc::unknown();
    let shell = cx.out().ir.create_op(tt::Func::state(loc).regions(1));
    let region = cx.out().ir.region(shell, 0);
    let block = cx.out().ir.add_block(region, &[]);
    let (mut bound, mut facts, mut params, mut constants) = (vec![], vec![], vec![], vec![]);
    for (name, item) in items {
        let arg: Arc<str> = Arc::from(&*name);
        let value = match item {
            Item::Value { ty, divisible } => {
                let elem = ty.dtype.pointee().map_or(ty.dtype, |t| t.dtype);
                let param = func.def.params.iter().find(|p| *p.name.name == *name);
                cx.out().replace_span(param.map_or(func.def.header, |p| p.span));
                convert::check_dtype(cx.out(), elem)?;
                cx.out().replace_span(func.def.header);
                params.push(ParamInfo {
                    name: name.to_string(),
                    ty: ty.dtype.short(),
                    divisibility: divisible.then_some(16),
                    equals: None,
                });
                facts.push(divisible.then(|| Attr::i32(16)));
                Object::from(placeholder(cx, block, ty.to_ir(), ty))
            }
            Item::Desc(ty) => {
                params.push(ParamInfo {
                    name: name.to_string(),
                    ty: format!("tensordesc<{}{:?}>", ty.dtype.short(), ty.shape()),
                    divisibility: None,
                    equals: None,
                });
                facts.extend(std::iter::repeat_n(None, 1 + 2 * ty.shape().len()));
                descriptor_parameter(cx, block, ty)
            }
            Item::One(ty) => {
                params.push(ParamInfo {
                    name: name.to_string(),
                    ty: ty.dtype.short(),
                    divisibility: None,
                    equals: Some(1),
                });
                let one = Object::int(1);
                constants.push((name.to_string(), one.show()));
                one
            }
            Item::Const(v) => {
                constants.push((name.to_string(), v.show()));
                v
            }
            Item::Constexpr | Item::Unknown => Object::NONE,
        };
        bound.push((arg, value));
    }
    let result = cx.function(&func, func.name(), &bound, &facts, true);
    let unused = faults::unused_defines(cx, &func, request);
    cx.out().ir.erase_op(shell);
    let at = cx.loc_of(func.def.header);
    let ir = &mut cx.out().ir;
    ir.set_loc(ir.module(), at);
    result?;
    unused?;
    Ok(KernelParts { kernel: func.name().to_owned(), params, constants, launch, config })
}

fn placeholder(cx: &mut Walker<'_>, block: Block, ir: Type, ty: Ty) -> Tensor {
    Tensor { value: cx.out().ir.add_arg(block, ir, Loc::unknown()), ty }
}

fn descriptor_parameter(cx: &mut Walker<'_>, block: Block, ty: Ty) -> Object {
    let value = cx.out().ir.add_arg(block, builtins::descriptor_type(ty), Loc::unknown());
    let mut scalars = |d: Dtype| -> Vec<Tensor> {
        let t = Ty::scalar(d);
        ty.shape().iter().map(|_| placeholder(cx, block, t.to_ir(), t)).collect()
    };
    let (shape, strides) = (scalars(Dtype::Int32), scalars(Dtype::Int64));
    Object::Desc(Rc::new(Desc { value, block: ty, shape, strides }))
}

/// Whether a diagnostic lies in a span.
fn inside(diag: &Diagnostic, span: Span) -> bool {
    match diag.place() {
        Some(Place::Span(s)) => s.file == span.file && s.lo >= span.lo && s.lo <= span.hi,
        _ => true,
    }
}
