//! Operator precedence: Dijkstra's shunting yard, fed by the grammar one operand and one operator at a time.
//!
//! 1. An operand is pushed on the operand stack, a prefix operator on the operator stack.
//! 2. An infix operator first folds what binds tighter, or as tight when it groups to the left, and is then pushed.
//! 3. Comparisons, `and` and `or` group neither way: a run of the same kind stays on the stack and folds into one flat
//!    node.
//! 4. At the end everything folds.
//!
//! Binding, loosest first: `or`, `and`, `not`, comparisons, `|`, `^`, `&`, shifts, `+ -`, `* / // % @`, `+x -x ~x`,
//! `**`.
//!
//! Example: `-a ** b + c`. Stack `[neg]`, then `**` binds tighter than `neg`: `[neg **]`. `+` is looser than both: `**`
//! folds to `a ** b`, `neg` to `-(a ** b)`; the end folds `+`. In `a ** -b` the prefix operator is pushed without
//! folding, which gives `a ** (-b)`.

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::Op;

use super::ast::{BinOp, BoolOp, CmpOp, Expr, ExprKind, UnaryOp};
use super::cx::Cx;

pub(crate) type Prefix = UnaryOp;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Infix {
    Bin(BinOp),
    Cmp(CmpOp),
    Bool(BoolOp),
}

impl Infix {
    pub(crate) fn of(op: Op) -> Infix {
        match op {
            Op::FloorDiv => Infix::Bin(BinOp::FloorDiv),
            Op::Mod => Infix::Bin(BinOp::Mod),
            Op::LShift => Infix::Bin(BinOp::LShift),
            Op::RShift => Infix::Bin(BinOp::RShift),
            Op::BitOr => Infix::Bin(BinOp::BitOr),
            Op::BitXor => Infix::Bin(BinOp::BitXor),
            Op::BitAnd => Infix::Bin(BinOp::BitAnd),
            Op::Eq => Infix::Cmp(CmpOp::Eq),
            Op::NotEq => Infix::Cmp(CmpOp::NotEq),
            Op::Lt => Infix::Cmp(CmpOp::Lt),
            Op::LtE => Infix::Cmp(CmpOp::LtE),
            Op::Gt => Infix::Cmp(CmpOp::Gt),
            Op::GtE => Infix::Cmp(CmpOp::GtE),
            Op::Is => Infix::Cmp(CmpOp::Is),
            Op::IsNot => Infix::Cmp(CmpOp::IsNot),
            Op::NotIn => Infix::Cmp(CmpOp::NotIn),
            Op::And => Infix::Bool(BoolOp::And),
            Op::Or => Infix::Bool(BoolOp::Or),
        }
    }

    fn binding(self) -> u8 {
        match self {
            Infix::Bool(BoolOp::Or) => 1,
            Infix::Bool(BoolOp::And) => 2,
            Infix::Cmp(_) => 4,
            Infix::Bin(BinOp::BitOr) => 5,
            Infix::Bin(BinOp::BitXor) => 6,
            Infix::Bin(BinOp::BitAnd) => 7,
            Infix::Bin(BinOp::LShift | BinOp::RShift) => 8,
            Infix::Bin(BinOp::Add | BinOp::Sub) => 9,
            Infix::Bin(BinOp::Mul | BinOp::Div | BinOp::FloorDiv | BinOp::Mod | BinOp::MatMul) => 10,
            Infix::Bin(BinOp::Pow) => 12,
        }
    }
}

const NOT_BINDING: u8 = 3;
const SIGN_BINDING: u8 = 11;

/// An operator on the stack; a prefix operator with where it starts.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Prefix(Prefix, u32),
    Infix(Infix),
}

impl Waiting {
    fn binding(self) -> u8 {
        match self {
            Waiting::Prefix(UnaryOp::Not, _) => NOT_BINDING,
            Waiting::Prefix(..) => SIGN_BINDING,
            Waiting::Infix(op) => op.binding(),
        }
    }
}

/// An operand with the range it covers, which counts the parentheses around it.
#[derive(Debug)]
struct Operand {
    expr: Expr,
    lo: u32,
    hi: u32,
}

#[derive(Debug, Default)]
struct Stacks {
    operands: Vec<Operand>,
    waiting: Vec<Waiting>,
}

/// A chain that ends with an operand. Most chains are one operand and need no stacks.
#[derive(Debug)]
pub(crate) enum Yard {
    One(Expr, u32, u32),
    Many(Box<Open>),
}

/// A chain that ends with an operator (or, inside [`Yard::Many`], was completed).
#[derive(Debug)]
pub(crate) struct Open(Stacks);

impl Yard {
    pub(crate) fn one(expr: Expr, lo: u32, hi: u32) -> Yard {
        Yard::One(expr, lo, hi)
    }

    pub(crate) fn infix(self, cx: &Cx<'_>, op: Infix) -> Open {
        let mut open = match self {
            Yard::One(expr, lo, hi) => Open(Stacks { operands: vec![Operand { expr, lo, hi }], waiting: vec![] }),
            Yard::Many(open) => *open,
        };
        // `**` groups to the right; comparisons, `and` and `or` are collected.
        let stays = matches!(op, Infix::Cmp(_) | Infix::Bool(_) | Infix::Bin(BinOp::Pow));
        let least = op.binding() + u8::from(stays);
        open.0.fold_down_to(cx, least);
        open.0.waiting.push(Waiting::Infix(op));
        open
    }

    pub(crate) fn finish(self, cx: &Cx<'_>) -> Expr {
        match self {
            Yard::One(expr, ..) => expr,
            Yard::Many(mut open) => {
                open.0.fold_down_to(cx, 0);
                open.0.pop().expr
            }
        }
    }
}

impl Open {
    pub(crate) fn prefix(op: Prefix, lo: u32) -> Open {
        Open(Stacks { operands: vec![], waiting: vec![Waiting::Prefix(op, lo)] })
    }

    pub(crate) fn then_prefix(mut self, cx: &mut Cx<'_>, op: Prefix, lo: u32, hi: u32) -> Open {
        if op == UnaryOp::Not
            && let Some(last) = self.0.waiting.last()
            && last.binding() > NOT_BINDING
        {
            let error =
                Diagnostic::error(&syntax::UNEXPECTED_TOKEN, "`not` cannot follow an operator that binds tighter")
                    .at(cx.span(lo, hi), "expected an operand")
                    .help("put parentheses around it: `(not x)`");
            cx.report(error);
        }
        self.0.waiting.push(Waiting::Prefix(op, lo));
        self
    }

    pub(crate) fn operand(mut self, expr: Expr, lo: u32, hi: u32) -> Yard {
        self.0.operands.push(Operand { expr, lo, hi });
        Yard::Many(Box::new(self))
    }
}

impl Stacks {
    fn pop(&mut self) -> Operand {
        self.operands.pop().expect("the grammar gives every operator its operands")
    }

    /// Folds while the last operator binds at least as tight as `least`.
    fn fold_down_to(&mut self, cx: &Cx<'_>, least: u8) {
        while let Some(&last) = self.waiting.last()
            && last.binding() >= least
        {
            self.waiting.pop();
            let folded = match last {
                Waiting::Prefix(op, lo) => {
                    let Operand { expr, hi, .. } = self.pop();
                    let kind = ExprKind::UnaryOp { op, operand: Box::new(expr) };
                    Operand { expr: cx.expr(lo, hi, kind), lo, hi }
                }
                Waiting::Infix(Infix::Bin(op)) => {
                    let right = self.pop();
                    let left = self.pop();
                    let kind = ExprKind::BinOp { left: Box::new(left.expr), op, right: Box::new(right.expr) };
                    Operand { expr: cx.expr(left.lo, right.hi, kind), lo: left.lo, hi: right.hi }
                }
                Waiting::Infix(Infix::Cmp(op)) => self.fold_comparison(cx, op),
                Waiting::Infix(Infix::Bool(op)) => self.fold_bool(cx, op),
            };
            self.operands.push(folded);
        }
    }

    /// Folds the run of comparisons that ends with `last`.
    fn fold_comparison(&mut self, cx: &Cx<'_>, last: CmpOp) -> Operand {
        let mut ops = vec![last];
        while let Some(&Waiting::Infix(Infix::Cmp(op))) = self.waiting.last() {
            self.waiting.pop();
            ops.push(op);
        }
        ops.reverse();
        let right = self.operands.split_off(self.operands.len() - ops.len());
        let left = self.pop();
        let hi = right.last().map_or(left.hi, |o| o.hi);
        let rest = ops.into_iter().zip(right.into_iter().map(|o| o.expr)).collect();
        Operand { expr: cx.expr(left.lo, hi, ExprKind::Compare { left: Box::new(left.expr), rest }), lo: left.lo, hi }
    }

    /// Folds the run of one logical operator that ends with the one just popped.
    fn fold_bool(&mut self, cx: &Cx<'_>, op: BoolOp) -> Operand {
        let mut count = 2;
        while let Some(&Waiting::Infix(Infix::Bool(before))) = self.waiting.last()
            && before == op
        {
            self.waiting.pop();
            count += 1;
        }
        let values = self.operands.split_off(self.operands.len() - count);
        let (lo, hi) = (values[0].lo, values[count - 1].hi);
        let values = values.into_iter().map(|o| o.expr).collect();
        Operand { expr: cx.expr(lo, hi, ExprKind::BoolOp { op, values }), lo, hi }
    }
}
