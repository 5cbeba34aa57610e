//! The arithmetic that functions are written in, so that one text of a function makes code and runs on the host.
//!
//! [`Emit`] makes code for one element. [`Host`] computes with the same roundings, so that a test can compare a
//! function with the truth on all the numbers that it likes. Numbers are f32 or f64; an operation has the format of its
//! first operand, and constants are given beside a number whose format they take.

use inkwell::FloatPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as I, IntValue};

use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::diag::Diagnostic;

/// Operations of two numbers.
#[derive(Clone, Copy)]
pub(super) enum Two {
    Add,
    Sub,
    Mul,
    Div,
}

/// Functions of one number that the hardware has, or LLVM makes.
#[derive(Clone, Copy)]
pub(super) enum One {
    Neg,
    Abs,
    Floor,
    Rint,
    /// Of f32 alone, to within 1 ulp.
    Exp2,
    /// Of f32 alone, to within 1 ulp.
    Log,
    Sqrt,
}

/// Questions.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    Less,
    Equal,
    /// Whether one of the two is NaN.
    Unordered,
}

pub(super) trait Arith {
    type V: Copy;
    type B: Copy;

    /// A constant in the format of `like`.
    fn constant(&mut self, like: Self::V, value: f64) -> Self::V;
    fn two(&mut self, op: Two, a: Self::V, b: Self::V) -> Self::V;
    fn one(&mut self, op: One, x: Self::V) -> Self::V;
    /// `a · b + c`, rounded once.
    fn fma(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `x · 2^n` for an integer `n` between -1100 and 1100, rounded once.
    fn scale(&mut self, x: Self::V, n: Self::V) -> Self::V;
    /// `m` and `n` with `x = m · 2^n`, where `m` is at least 0.5 and below 1, and has the sign of `x`.
    fn split(&mut self, x: Self::V) -> (Self::V, Self::V);
    fn ask(&mut self, question: Ask, a: Self::V, b: Self::V) -> Self::B;
    fn both(&mut self, a: Self::B, b: Self::B) -> Self::B;
    fn select(&mut self, condition: Self::B, yes: Self::V, no: Self::V) -> Self::V;
    fn copysign(&mut self, magnitude: Self::V, sign: Self::V) -> Self::V;
    fn widen(&mut self, x: Self::V) -> Self::V;
    fn narrow(&mut self, x: Self::V) -> Self::V;
    /// One of two ways, of which the lanes that do not take it do nothing.
    fn choose(
        &mut self,
        condition: Self::B,
        yes: impl FnOnce(&mut Self) -> [Self::V; 2],
        no: impl FnOnce(&mut Self) -> [Self::V; 2],
    ) -> [Self::V; 2];

    fn add(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.two(Two::Add, a, b)
    }

    fn sub(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.two(Two::Sub, a, b)
    }

    fn mul(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.two(Two::Mul, a, b)
    }

    fn div(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.two(Two::Div, a, b)
    }

    fn less(&mut self, a: Self::V, b: Self::V) -> Self::B {
        self.ask(Ask::Less, a, b)
    }

    /// `a < c` for a constant.
    fn below(&mut self, a: Self::V, c: f64) -> Self::B {
        let c = self.constant(a, c);
        self.less(a, c)
    }

    fn equals(&mut self, a: Self::V, c: f64) -> Self::B {
        let c = self.constant(a, c);
        self.ask(Ask::Equal, a, c)
    }

    fn times(&mut self, a: Self::V, c: f64) -> Self::V {
        let c = self.constant(a, c);
        self.mul(a, c)
    }

    fn plus(&mut self, a: Self::V, c: f64) -> Self::V {
        let c = self.constant(a, c);
        self.add(a, c)
    }

    /// `c[0] + x · (c[1] + x · (…))`
    fn polynomial(&mut self, x: Self::V, c: &[f64]) -> Self::V {
        let mut sum = self.constant(x, c.last().copied().unwrap_or_default());
        for &c in c.iter().rev().skip(1) {
            let c = self.constant(x, c);
            sum = self.fma(sum, x, c);
        }
        sum
    }
}

/// Makes code. The first thing that fails is kept.
pub(super) struct Emit<'x, 'c, 'a> {
    cx: &'x mut Lower<'c, 'a>,
    failed: Option<Diagnostic>,
}

impl<'x, 'c, 'a> Emit<'x, 'c, 'a> {
    pub(super) fn new(cx: &'x mut Lower<'c, 'a>) -> Emit<'x, 'c, 'a> {
        Emit { cx, failed: None }
    }

    /// What was made, unless something failed.
    pub(super) fn finish(self, value: Val<'c>) -> Res<Val<'c>> {
        self.failed.map_or(Ok(value), Err)
    }

    fn or<T>(&mut self, made: Res<T>, otherwise: T) -> T {
        made.unwrap_or_else(|d| {
            self.failed.get_or_insert(d);
            otherwise
        })
    }

    fn intrinsic(&mut self, name: &str, args: &[Val<'c>]) -> Val<'c> {
        let made = self.cx.intrinsic(name, &[args[0].get_type()], args);
        self.or(made, args[0])
    }

    fn cast(&mut self, opcode: I, x: Val<'c>, to: BasicTypeEnum<'c>) -> Val<'c> {
        let made = self.cx.b.build_cast(opcode, x, to, "").map_err(Diagnostic::from);
        self.or(made, to.const_zero())
    }

    fn chosen(
        &mut self,
        condition: IntValue<'c>,
        yes: impl FnOnce(&mut Self) -> [Val<'c>; 2],
        no: impl FnOnce(&mut Self) -> [Val<'c>; 2],
    ) -> Res<[Val<'c>; 2]> {
        let blocks = ["yes", "no", "then"].map(|name| self.cx.llvm.append_basic_block(self.cx.function, name));
        self.cx.b.build_conditional_branch(condition, blocks[0], blocks[1])?;
        let end = |emit: &mut Self, block, values: &mut dyn FnMut(&mut Self) -> [Val<'c>; 2]| -> Res<_> {
            emit.cx.b.position_at_end(block);
            let values = values(emit);
            let last = emit.cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
            emit.cx.b.build_unconditional_branch(blocks[2])?;
            Ok((values, last))
        };
        let (mut yes, mut no) = (Some(yes), Some(no));
        let zero: Val<'c> = self.cx.llvm.f32_type().const_zero().into();
        let (a, first) = end(self, blocks[0], &mut |e| yes.take().map_or([zero; 2], |f| f(e)))?;
        let (b, second) = end(self, blocks[1], &mut |e| no.take().map_or([zero; 2], |f| f(e)))?;
        self.cx.b.position_at_end(blocks[2]);
        let mut out = a;
        for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(&b)) {
            let phi = self.cx.b.build_phi(a.get_type(), "")?;
            phi.add_incoming(&[(a, first), (b, second)]);
            *out = phi.as_basic_value();
        }
        Ok(out)
    }
}

impl<'c> Arith for Emit<'_, 'c, '_> {
    type V = Val<'c>;
    type B = IntValue<'c>;

    fn constant(&mut self, like: Val<'c>, value: f64) -> Val<'c> {
        let made = Lower::float_like(like, value);
        self.or(made, like)
    }

    fn two(&mut self, op: Two, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        let opcode = match op {
            Two::Add => I::FAdd,
            Two::Sub => I::FSub,
            Two::Mul => I::FMul,
            Two::Div => I::FDiv,
        };
        let made = self.cx.b.build_binop(opcode, a, b, "").map_err(Diagnostic::from);
        self.or(made, a)
    }

    fn one(&mut self, op: One, x: Val<'c>) -> Val<'c> {
        let name = match op {
            One::Neg => {
                let zero = self.constant(x, -0.0);
                return self.sub(zero, x);
            }
            One::Abs => "llvm.fabs",
            One::Floor => "llvm.floor",
            One::Rint => "llvm.rint",
            One::Exp2 => "llvm.amdgcn.exp2",
            One::Log => "llvm.log",
            One::Sqrt => "llvm.sqrt",
        };
        self.intrinsic(name, &[x])
    }

    fn fma(&mut self, a: Val<'c>, b: Val<'c>, c: Val<'c>) -> Val<'c> {
        self.intrinsic("llvm.fma", &[a, b, c])
    }

    fn scale(&mut self, x: Val<'c>, n: Val<'c>) -> Val<'c> {
        let word = self.cx.int_type(32).into();
        let n = self.cast(I::FPToSI, n, word);
        let made = self.cx.intrinsic("llvm.ldexp", &[x.get_type(), word], &[x, n]);
        self.or(made, x)
    }

    fn split(&mut self, x: Val<'c>) -> (Val<'c>, Val<'c>) {
        let word = self.cx.int_type(32).into();
        let (fraction, exponent) = ("llvm.amdgcn.frexp.mant", "llvm.amdgcn.frexp.exp");
        let n = self.cx.intrinsic(exponent, &[word, x.get_type()], &[x]);
        let n = self.or(n, self.cx.i32(0).into());
        (self.intrinsic(fraction, &[x]), self.cast(I::SIToFP, n, x.get_type()))
    }

    fn ask(&mut self, question: Ask, a: Val<'c>, b: Val<'c>) -> IntValue<'c> {
        let predicate = match question {
            Ask::Less => FloatPredicate::OLT,
            Ask::Equal => FloatPredicate::OEQ,
            Ask::Unordered => FloatPredicate::UNO,
        };
        let no = self.cx.llvm.bool_type().const_zero();
        let (Val::FloatValue(a), Val::FloatValue(b)) = (a, b) else { return no };
        let made = self.cx.b.build_float_compare(predicate, a, b, "").map_err(Diagnostic::from);
        self.or(made, no)
    }

    fn both(&mut self, a: IntValue<'c>, b: IntValue<'c>) -> IntValue<'c> {
        let made = self.cx.b.build_and(a, b, "").map_err(Diagnostic::from);
        self.or(made, a)
    }

    fn select(&mut self, condition: IntValue<'c>, yes: Val<'c>, no: Val<'c>) -> Val<'c> {
        let made = self.cx.b.build_select(condition, yes, no, "").map_err(Diagnostic::from);
        self.or(made, yes)
    }

    fn copysign(&mut self, magnitude: Val<'c>, sign: Val<'c>) -> Val<'c> {
        self.intrinsic("llvm.copysign", &[magnitude, sign])
    }

    fn widen(&mut self, x: Val<'c>) -> Val<'c> {
        self.cast(I::FPExt, x, self.cx.llvm.f64_type().into())
    }

    fn narrow(&mut self, x: Val<'c>) -> Val<'c> {
        self.cast(I::FPTrunc, x, self.cx.llvm.f32_type().into())
    }

    fn choose(
        &mut self,
        condition: IntValue<'c>,
        yes: impl FnOnce(&mut Self) -> [Val<'c>; 2],
        no: impl FnOnce(&mut Self) -> [Val<'c>; 2],
    ) -> [Val<'c>; 2] {
        let made = self.chosen(condition, yes, no);
        let zero: Val<'c> = self.cx.llvm.f32_type().const_zero().into();
        self.or(made, [zero; 2])
    }
}
