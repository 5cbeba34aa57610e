//! [`Lower`]: the state of lowering one kernel, and how it emits operations and reports errors.
//!
//! Errors: whoever finds one calls [`Lower::error_help`], which records the diagnostic with the chain of calls that led
//! there and returns [`Reported`]; `?` carries that up to the statement, which binds its targets to [`Val::Error`]. So
//! each error is reported once and the rest of the kernel is still checked.
//!
//! Operations go to the end of [`Lower::block`]. Without a block, as when a module-level constant is evaluated, nothing
//! can be emitted and whatever needs an operation is no compile-time value. After a `return` the block is gone too:
//! what follows is dead.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::config::Launch;
use super::host::Jump;
use super::modules::Modules;
use super::scope::Scope;
use super::types::{Dtype, Ty};
use super::value::{Const, Tensor, Val, ValTy};
use crate::diag::codes::{names, types};
use crate::diag::{Code, Diagnostic, Label, Place};
use crate::ir::{Attr, Block, Ir, Loc, Op, OpKind, OpState, Region, Type, Value};
use crate::source::Span;
use crate::target::Target;

/// An error that is recorded already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reported;

pub type R<T> = Result<T, Reported>;

/// What the front end has to know about the target and the launch.
#[derive(Clone, Debug)]
pub struct Options {
    pub target: Target,
    pub launch: Launch,
    /// Keeps `device_assert` and checks integer overflow.
    pub debug: bool,
    /// Operations that the module may grow to; other bounds follow from it ([`super::budget`]).
    pub max_ops: usize,
}

/// A `return` whose operation is made once the function's type is known.
pub struct Return {
    pub block: Block,
    pub loc: Loc,
    pub value: Val,
    pub span: Span,
}

/// One function being lowered.
pub struct Frame {
    pub module: usize,
    pub scope: Scope,
    /// Names set since the innermost branch or loop began.
    pub defs: Vec<Arc<str>>,
    /// `x: tl.constexpr` without a value.
    pub pending: Vec<Arc<str>>,
    pub returns: Vec<Return>,
    /// Of the function's body; `None` while a constant is evaluated.
    pub region: Option<Region>,
    /// How many loops are around this place.
    pub loops: u32,
    /// Evaluated at compile time like plain Python: assignments keep constants, loops run.
    pub host: bool,
    /// Names bound only inside a loop or one branch that is over: for messages.
    pub lost: Vec<Arc<str>>,
    /// What a function evaluated at compile time returned.
    pub host_result: Option<Val>,
    /// A `break` or `continue` of a compile-time loop that is on its way.
    pub jump: Option<Jump>,
}

impl Frame {
    #[must_use]
    pub fn new(module: usize, region: Option<Region>, host: bool) -> Frame {
        Frame {
            module,
            scope: Scope::default(),
            defs: vec![],
            pending: vec![],
            returns: vec![],
            region,
            loops: 0,
            host,
            lost: vec![],
            host_result: None,
            jump: None,
        }
    }
}

/// A call that is being lowered: for the chain in messages.
#[derive(Clone)]
pub struct CallSite {
    pub span: Span,
    pub callee: String,
    /// Of a function that a kernel calls and that runs at compile time: its header.
    pub host: Option<Span>,
}

/// A function that is lowered already (or is being lowered, when `result` is `None`).
pub struct Lowered {
    /// Values of this form come back; the IR values in it are placeholders.
    pub result: Option<Val>,
}

/// The state of lowering one kernel.
pub struct Lower<'m> {
    pub mods: Modules<'m>,
    pub ir: Ir,
    pub options: Options,
    pub diags: Vec<Diagnostic>,
    /// Errors found so far, repeated ones included.
    pub errors: u64,
    /// `static_print` lines.
    pub printed: Vec<String>,
    pub frame: Frame,
    pub block: Option<Block>,
    pub loc: Loc,
    /// The name being assigned to, which operations are named after.
    pub naming: Option<Arc<str>>,
    pub calls: Vec<CallSite>,
    pub functions: BTreeMap<String, Lowered>,
    pub prelude: BTreeMap<&'static str, usize>,
    /// Module-level values, evaluated once.
    pub globals: BTreeMap<(usize, String), Option<Val>>,
    /// Names of files that `-D` gives a value, and whether something asked for it.
    pub given_globals: BTreeMap<String, (Val, bool)>,
    /// A list that a kernel changes was reported: what lists hold is not known any more.
    pub list_changed: bool,
    /// Names that were reported as having no value, with the module of the kernel that used them.
    pub unknown: BTreeSet<(usize, String)>,
    /// Top-level names whose value hangs on a test that cannot be decided, and the test.
    pub undecided: BTreeMap<(usize, String), Span>,
    /// Where the current expression is: the fallback place of an error.
    pub span: Span,
    /// Depth of calls and of constants evaluating constants.
    pub depth: u32,
    /// Errors are dropped while it is positive: a trial evaluation.
    pub quiet: u32,
    /// Statements lowered so far; bounds unrolling.
    pub steps: u64,
    /// Elements of compile-time values made so far ([`super::budget`]).
    pub elements: u64,
    /// Which bound was passed, and what to do about it.
    pub over: Option<(String, &'static str)>,
    /// Whether that was reported.
    pub said_over: bool,
}

/// How deep calls may nest.
pub const MAX_DEPTH: u32 = 64;

impl<'m> Lower<'m> {
    #[must_use]
    pub fn new(mods: Modules<'m>, module: usize, span: Span, options: Options) -> Lower<'m> {
        let mut ir = Ir::new(Loc::unknown());
        ir.set_max_ops(options.max_ops);
        Lower {
            mods,
            ir,
            options,
            diags: vec![],
            errors: 0,
            printed: vec![],
            frame: Frame::new(module, None, false),
            block: None,
            loc: Loc::unknown(),
            naming: None,
            calls: vec![],
            functions: BTreeMap::new(),
            prelude: BTreeMap::new(),
            globals: BTreeMap::new(),
            given_globals: BTreeMap::new(),
            list_changed: false,
            unknown: BTreeSet::new(),
            undecided: BTreeMap::new(),
            span,
            depth: 0,
            quiet: 0,
            steps: 0,
            elements: 0,
            over: None,
            said_over: false,
        }
    }

    // ---- errors ----

    /// Records a diagnostic, with the calls that led here. The same message at the same place is kept once (loops
    /// unroll).
    pub fn report(&mut self, mut diag: Diagnostic) -> Reported {
        if self.quiet == 0 {
            self.errors += u64::from(diag.is_error());
            diag = self.with_calls(diag);
            if !self.diags.iter().any(|d| d.code == diag.code && d.place() == diag.place() && d.message == diag.message)
            {
                self.diags.push(diag);
            }
        }
        Reported
    }

    /// Adds the calls that led to a diagnostic. One inside the library is shown at the user's call of it.
    fn with_calls(&self, mut diag: Diagnostic) -> Diagnostic {
        let in_library = |s: Span| self.mods.map.file(s.file).name.starts_with("<prelude>/");
        let calls: Vec<&CallSite> = self.calls.iter().rev().collect();
        let library = matches!(diag.place(), Some(Place::Span(s)) if in_library(*s));
        let user = calls.iter().position(|c| !in_library(c.span));
        let shown = match user.filter(|_| library) {
            Some(at) => {
                let text = diag.labels[0].text.clone();
                diag.labels[0].text = format!("inside of `{}`, a function of the library", calls[at].callee);
                diag.labels.insert(0, Label { place: calls[at].span.into(), text });
                &calls[at + 1..]
            }
            None => &calls[..],
        };
        for call in shown {
            diag = diag.at(call.span, format!("in this call of `{}`", call.callee));
        }
        diag
    }

    /// Records an error at the current expression, with what to do about it.
    pub fn error_help(
        &mut self,
        code: &'static Code,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        let diag = Diagnostic::error(code, message).at(self.span, label).help(help);
        self.report(diag)
    }

    /// Records a warning at the current expression.
    pub fn warn(&mut self, code: &'static Code, message: impl Into<String>, label: impl Into<String>) {
        let diag = Diagnostic::warning(code, message).at(self.span, label);
        let _ = self.report(diag);
    }

    /// The thing is part of the language but not of this compiler yet.
    pub fn unsupported(&mut self, what: &str) -> Reported {
        self.error_help(
            &names::UNSUPPORTED,
            format!("{what} is not supported yet"),
            "used here",
            "use another way to say it where there is one; docs/language.md lists what there is",
        )
    }

    /// A type does not fit: says which was expected.
    pub fn expected(&mut self, what: &str, found: &Val) -> Reported {
        if matches!(found, Val::Error) {
            return Reported;
        }
        let help = match found {
            Val::Const(Const::Func(_) | Const::Builtin(_) | Const::Lambda(_)) | Val::Method(_) => {
                "a function was named but not called: add `(…)`"
            }
            Val::Const(Const::None) => "it is None: ask `if x is not None` before it is used",
            Val::Const(Const::Str(_)) => "a string is no number: pass a value such as `0.0`",
            Val::Const(Const::Space(_) | Const::Module(_)) => "a package is no value: name something in it",
            Val::Const(Const::Type(_)) => "a type is no value: convert one with `x.to(dtype)`",
            Val::Tuple(_) => "take the values out of the tuple: `a, b = values`, or `values[0]`",
            Val::Desc(_) => "a descriptor is no tensor: load a block with `desc.load([offsets])`",
            Val::Range(_) => "write a loop over the range",
            Val::Tensor(t) if t.ty.dtype.is_ptr() => "a pointer is no number: load what it points to with `tl.load`",
            Val::Tensor(t) if t.ty.is_block() => {
                "reduce the tensor to one value, or use a function that works element by element"
            }
            Val::Tensor(_) => "pass a literal or a `tl.constexpr` parameter, or convert the value with `.to(...)`",
            _ => "`ttc explain E0310` says more",
        };
        let found = found.describe();
        self.error_help(
            &types::ARGUMENT_TYPE,
            format!("expected {what}, found {found}"),
            format!("this is {found}"),
            help,
        )
    }

    // ---- locations ----

    /// The location of a span, named after what is being assigned.
    #[must_use]
    pub fn loc_of(&self, span: Span) -> Loc {
        let file = self.mods.map.file(span.file);
        let at = file.line_col(span.lo);
        let loc = Loc::file(&self.mods.map.remapped(&file.name), at.line, at.col);
        match &self.naming {
            Some(name) => Loc::named(name, loc),
            None => loc,
        }
    }

    /// Runs `f` at a place and comes back to the old one.
    pub fn at<T>(&mut self, span: Span, f: impl FnOnce(&mut Self) -> T) -> T {
        let (loc, old) = (self.loc, self.span);
        self.loc = self.loc_of(span);
        self.span = span;
        let result = f(self);
        (self.loc, self.span) = (loc, old);
        result
    }

    // ---- emitting ----

    /// Appends an operation. Fails where there is no block to append to.
    ///
    /// Attributes equal to the table's default are left out.
    pub fn emit(&mut self, mut state: OpState) -> R<Op> {
        let spec = state.kind.spec();
        state.attrs.retain(|(name, value)| spec.attr_default(name.as_str()) != Some(*value));
        let Some(block) = self.block else {
            return Err(self.not_at_compile_time(state.kind));
        };
        // Whatever makes a tensor passes here, so no operation has to look by itself.
        for ty in state.result_types.iter().filter(|ty| ty.is_tensor()) {
            self.check_elements(ty.shape())?;
        }
        self.check_ops()?;
        let op = self.ir.create_op(state);
        self.ir.append(block, op);
        Ok(op)
    }

    /// Reports an operation of the GPU where only compile-time values are computed: most often in a function without
    /// `@triton.jit`.
    fn not_at_compile_time(&mut self, kind: OpKind) -> Reported {
        let Some(at) = self.calls.iter().rposition(|c| c.host.is_some()) else {
            return self.error_help(
                &names::NOT_CONSTEXPR,
                format!("`{}` cannot be computed at compile time", kind.name()),
                "needs a value that exists only when the kernel runs",
                "at compile time there are numbers, strings, types and tuples of them; compute with tensors in a kernel",
            );
        };
        let rest = self.calls.split_off(at);
        let CallSite { span, callee, host } = rest[0].clone();
        let diag = Diagnostic::error(
            &names::NOT_CONSTEXPR,
            format!("`{callee}` is a plain Python function, which runs at compile time, but it computes with run-time values"),
        )
        .at(span, "called with run-time values")
        .at(host.unwrap_or(span), "this function is not compiled for the GPU")
        .help(format!("decorate `{callee}` with `@triton.jit`"));
        let reported = self.report(diag);
        self.calls.extend(rest);
        reported
    }

    /// An operation with one result of this type.
    pub fn value(&mut self, kind: impl Into<OpKind>, operands: &[Value], result: Type) -> R<Value> {
        let state = OpState::new(kind, self.loc).operands(operands).results(&[result]);
        let op = self.emit(state)?;
        Ok(self.ir.result(op))
    }

    /// As [`Lower::value`], with attributes.
    pub fn value_with(
        &mut self,
        kind: impl Into<OpKind>,
        operands: &[Value],
        result: Type,
        attrs: &[(&str, Attr)],
    ) -> R<Value> {
        let mut state = OpState::new(kind, self.loc).operands(operands).results(&[result]);
        for &(name, attr) in attrs {
            state = state.attr(name, attr);
        }
        let op = self.emit(state)?;
        Ok(self.ir.result(op))
    }

    /// An operation whose result has a type of the language.
    pub fn tensor(&mut self, kind: impl Into<OpKind>, operands: &[Value], ty: Ty) -> R<Tensor> {
        let value = self.value(kind, operands, ty.to_ir())?;
        Ok(Tensor { value, ty })
    }

    /// A typed constant.
    pub fn constant(&mut self, attr: Attr, ty: Ty) -> R<Tensor> {
        let value = self.value_with(crate::ir::ArithOp::Constant, &[], ty.to_ir(), &[("value", attr)])?;
        Ok(Tensor { value, ty })
    }

    /// A fresh block at the end of the function's body.
    pub fn new_block(&mut self) -> Option<Block> {
        self.frame.region.map(|r| self.ir.add_block(r, &[]))
    }

    /// Whether control can get here.
    #[must_use]
    pub fn is_live(&self) -> bool {
        if self.frame.host {
            self.frame.host_result.is_none() && self.frame.jump.is_none()
        } else {
            self.block.is_some()
        }
    }

    /// Runs `f` with operations going to `block`, and returns where they went last.
    pub fn in_block<T>(&mut self, block: Block, f: impl FnOnce(&mut Self) -> T) -> (T, Option<Block>) {
        let old = self.block.replace(block);
        let result = f(self);
        (result, std::mem::replace(&mut self.block, old))
    }

    /// Runs `f` without reporting errors.
    pub fn quietly<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let result = f(self);
        self.quiet -= 1;
        result
    }

    // ---- names ----

    /// Binds a local name.
    pub fn set(&mut self, name: &Arc<str>, value: Val) {
        if !self.frame.defs.contains(name) {
            self.frame.defs.push(name.clone());
        }
        self.frame.scope.set(name, value);
    }

    /// Types of two values for a message, when they differ.
    #[must_use]
    pub fn differ(a: &ValTy, b: &ValTy) -> Option<(String, String)> {
        (a != b).then(|| (a.to_string(), b.to_string()))
    }

    /// A shared string.
    #[must_use]
    pub fn text(text: &str) -> Rc<str> {
        Rc::from(text)
    }
}

/// The types that the target takes as 8-bit floats.
#[must_use]
pub fn supports_dtype(target: &Target, dtype: Dtype) -> bool {
    match dtype {
        Dtype::Fp8e4nv => target.has_fp8_cvt(),
        Dtype::Fp8e4b8 | Dtype::Fp8e5b16 => false,
        _ => true,
    }
}
