//! [`Emitter`]: appends operations to a block, at a location.
//!
//! Operations go to the end of [`Emitter::block`]. Without a block, as when a module-level constant is evaluated,
//! nothing can be emitted, and whatever needs an operation is no compile-time value. After a `return` the block is gone
//! too: what follows is dead.
//!
//! Example: `cx.tensor(ArithOp::Addf, &[a, b], ty)` appends `%c = arith.addf %a, %b` and gives `%c` with its type.

use std::collections::HashMap;

use super::budget::Spent;
use super::report::{R, Said};
use crate::diag::codes::types;
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::{Attr, Block, Ir, Loc, Op, OpKind, OpState, Type, Value};
use crate::irgen::front::launch::Launch;
use crate::irgen::types::{Dtype, MAX_NUMEL, Ty};
use crate::source::Span;
use crate::target::{Float8, Target};

/// What the front end has to know about the target and the launch.
#[derive(Clone, Debug)]
pub struct Settings {
    pub target: Target,
    pub launch: Launch,
    /// Keeps `device_assert` and checks integer overflow.
    pub debug: bool,
    /// Operations that the module may grow to; the other bounds on the work at compile time follow from it.
    pub max_ops: usize,
}

/// A run-time tensor or scalar: a value of the IR with its type in the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tensor {
    pub value: Value,
    pub ty: Ty,
}

/// Where the source is read: the location of the next operation, and the place of the next message.
#[derive(Clone, Copy)]
pub struct Here {
    pub loc: Loc,
    pub span: Span,
}

/// Makes operations, and takes what is to be said about them.
pub struct Emitter {
    pub(in crate::irgen) ir: Ir,
    /// What the values that loops carry start with.
    pub(in crate::irgen) starts: HashMap<Value, Value>,
    block: Option<Block>,
    here: Here,
    settings: Settings,
    /// Whether a heuristic is evaluated.
    of_a_launch: bool,
    pub(super) said: Said,
    pub(super) spent: Spent,
}

/// Whatever holds an [`Emitter`]: [`in_block`] and [`quietly`] work for all of them.
pub trait Emits {
    fn out(&mut self) -> &mut Emitter;
}

impl Emits for Emitter {
    fn out(&mut self) -> &mut Emitter {
        self
    }
}

/// Runs `f` with operations going to `block`, and returns where they went last.
pub fn in_block<E: Emits + ?Sized, T>(cx: &mut E, block: Block, f: impl FnOnce(&mut E) -> T) -> (T, Option<Block>) {
    let old = cx.out().replace_block(Some(block));
    let result = f(cx);
    (result, cx.out().replace_block(old))
}

/// Runs `f` without reporting errors.
pub fn quietly<E: Emits + ?Sized, T>(cx: &mut E, f: impl FnOnce(&mut E) -> T) -> T {
    cx.out().said.quiet += 1;
    let result = f(cx);
    cx.out().said.quiet -= 1;
    result
}

impl Emitter {
    /// An empty module; messages without another place point at `span`.
    #[must_use]
    pub fn new(span: Span, settings: Settings) -> Emitter {
        let mut ir = Ir::new(Loc::unknown());
        ir.set_max_ops(settings.max_ops);
        let here = Here { loc: Loc::unknown(), span };
        Emitter {
            ir,
            starts: HashMap::new(),
            block: None,
            here,
            settings,
            of_a_launch: false,
            said: Said::default(),
            spent: Spent::default(),
        }
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    #[must_use]
    pub fn target(&self) -> Target {
        self.settings.target
    }

    pub fn set_launch(&mut self, launch: Launch) {
        self.settings.launch = launch;
    }

    /// Says whether a heuristic is evaluated from here on, and gives what was said before.
    pub fn begin_launch(&mut self, is_one: bool) -> bool {
        std::mem::replace(&mut self.of_a_launch, is_one)
    }

    /// Whether a heuristic is evaluated, which sees what a launch passes.
    #[must_use]
    pub fn of_a_launch(&self) -> bool {
        self.of_a_launch
    }

    /// Turns the checks of debug mode on.
    pub fn set_debug(&mut self) {
        self.settings.debug = true;
    }

    /// Runs `f` with or without the checks of debug mode.
    pub fn with_debug<T>(&mut self, debug: bool, f: impl FnOnce(&mut Self) -> T) -> T {
        let old = std::mem::replace(&mut self.settings.debug, debug);
        let result = f(self);
        self.settings.debug = old;
        result
    }

    /// The finished module.
    #[must_use]
    pub fn into_ir(self) -> Ir {
        self.ir
    }

    // ---- where ----

    /// The block to which operations go; `None` where nothing can be emitted.
    #[must_use]
    pub fn block(&self) -> Option<Block> {
        self.block
    }

    /// Goes on in another block, and gives the old one.
    pub fn replace_block(&mut self, block: Option<Block>) -> Option<Block> {
        std::mem::replace(&mut self.block, block)
    }

    /// The location of the next operation.
    #[must_use]
    pub fn loc(&self) -> Loc {
        self.here.loc
    }

    pub fn set_loc(&mut self, loc: Loc) {
        self.here.loc = loc;
    }

    /// Where the current expression is: the place of an error that has no better one.
    #[must_use]
    pub fn span(&self) -> Span {
        self.here.span
    }

    /// Moves the place of messages, and gives the old one. Operations keep their location.
    pub fn replace_span(&mut self, span: Span) -> Span {
        std::mem::replace(&mut self.here.span, span)
    }

    #[must_use]
    pub fn here(&self) -> Here {
        self.here
    }

    /// Goes to another place, and gives the old one.
    pub fn replace_here(&mut self, here: Here) -> Here {
        std::mem::replace(&mut self.here, here)
    }

    // ---- operations ----

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

    /// An operation with one result of this type.
    pub fn value(&mut self, kind: impl Into<OpKind>, operands: &[Value], result: Type) -> R<Value> {
        self.value_of(OpState::new(kind, self.here.loc).operands(operands), result)
    }

    /// Appends an operation and gives its one result, which has this type.
    pub fn value_of(&mut self, state: OpState, result: Type) -> R<Value> {
        let op = self.emit(state.results(&[result]))?;
        Ok(self.ir.result(op))
    }

    /// An operation whose result has a type of the language.
    pub fn tensor(&mut self, kind: impl Into<OpKind>, operands: &[Value], ty: Ty) -> R<Tensor> {
        self.tensor_of(OpState::new(kind, self.here.loc).operands(operands), ty)
    }

    /// Appends an operation and gives its one result, which has this type of the language.
    pub fn tensor_of(&mut self, state: OpState, ty: Ty) -> R<Tensor> {
        let value = self.value_of(state, ty.to_ir())?;
        Ok(Tensor { value, ty })
    }

    /// A typed constant.
    pub fn constant(&mut self, attr: Attr, ty: Ty) -> R<Tensor> {
        self.tensor_of(Constant::state(self.here.loc).with(Constant::ATTR.value, attr), ty)
    }

    /// Reports a shape with more elements than a tensor may have.
    pub fn check_elements(&mut self, shape: &[i64]) -> R<()> {
        let numel = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d)).unwrap_or(i64::MAX);
        if numel > MAX_NUMEL {
            return Err(self.error_help(
                &types::BLOCK_SHAPE,
                format!("the shape {shape:?} has {numel} elements; a tensor has at most {MAX_NUMEL}"),
                "makes a tensor of this shape",
                "use smaller blocks, and a loop or more programs for the rest",
            ));
        }
        Ok(())
    }
}

/// Whether the target takes the type; only 8-bit floats differ.
#[must_use]
pub fn supports_dtype(target: &Target, dtype: Dtype) -> bool {
    match dtype {
        Dtype::Fp8e4nv => target.takes_float8(Float8::E4nv),
        Dtype::Fp8e4b15 => target.takes_float8(Float8::E4b15),
        Dtype::Fp8e4b8 => target.takes_float8(Float8::E4b8),
        Dtype::Fp8e5b16 => target.takes_float8(Float8::E5b16),
        _ => true,
    }
}
