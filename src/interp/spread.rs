//! Follows undefined elements ([`Undef`]) through the operations of a program, and reports where they matter.
//!
//! 1. An element that is computed from an undefined one is undefined: elementwise, and in a product for its row or its
//!    column ([`spread`]).
//! 2. What cannot depend on the undefined element is defined. `arith.select` takes the other one. 0 absorbs in `&` and
//!    in a product of integers, and all ones absorb in `|`.
//! 3. Where an operation uses an element in a way that matters, [`Program::defined`] reports it.
//!
//! Example: if `x` is undefined at element 3, so is `x + y`. `x * 0` of integers is defined everywhere.

use std::sync::Arc;

use super::fault::{self, Fault};
use super::numbers::{self, width};
use super::program::Program;
use super::undef::{Undef, Use, at};
use super::value::{Val, coordinates};
use crate::diag::codes::interp as codes;
use crate::ir::dialects::Traits;
use crate::ir::dialects::tt::tt::Load;
use crate::ir::{ArithOp, Op, OpKind, TtOp, TtngOp};

/// Marks what is undefined in the result of an operation that computes element by element or is a product.
pub(crate) fn spread(p: &mut Program<'_>, op: Op) {
    let ir = p.ir;
    let operands: Vec<Val> = ir.operands(op).iter().map(|&v| p.get(v)).collect();
    if operands.iter().all(|v| v.undef.is_none()) {
        return;
    }
    let undef = match ir.kind(op) {
        OpKind::Arith(ArithOp::Select) => select(&operands),
        OpKind::Tt(TtOp::Dot | TtOp::DotScaled) | OpKind::Ttng(TtngOp::WarpGroupDot) => product(p, op, &operands),
        OpKind::Arith(kind) => {
            let bits = ir.operands(op).first().map_or(64, |&v| width(ir.ty(v)));
            elementwise(&operands, absorbing(kind, bits))
        }
        OpKind::Tt(TtOp::Addptr | TtOp::ExternElementwise) => elementwise(&operands, None),
        _ if ir.spec(op).traits.contains(Traits::ELEMENTWISE) => elementwise(&operands, None),
        // The other operations have carried the marks with their elements.
        _ => return,
    };
    p.set_undef(ir.result(op), undef);
}

/// The operand with which an operation gives the same result, whatever the other operand is.
fn absorbing(kind: ArithOp, width: u32) -> Option<u64> {
    match kind {
        ArithOp::Andi | ArithOp::Muli => Some(0),
        ArithOp::Ori => Some(numbers::mask(width)),
        _ => None,
    }
}

fn elementwise(operands: &[Val], absorbing: Option<u64>) -> Option<Arc<Undef>> {
    let first = operands.iter().find_map(|v| v.undef.as_ref())?;
    let mut n = operands.iter().map(|v| Undef::len(v.undef.as_ref())).max().unwrap_or(1);
    if absorbing.is_some() {
        n = operands.iter().map(|v| v.lanes.stored()).fold(n, usize::max);
    }
    let undefined = |i: usize| {
        let any = operands.iter().any(|v| at(v.undef.as_ref(), i));
        any && !absorbing.is_some_and(|a| operands.iter().any(|v| !at(v.undef.as_ref(), i) && v.lanes.get(i) == a))
    };
    Undef::new((0..n).map(undefined).collect(), first.origin, first.mixed)
}

fn select(operands: &[Val]) -> Option<Arc<Undef>> {
    let [condition, a, b] = operands else { return None };
    let n = operands.iter().map(|v| Undef::len(v.undef.as_ref()).max(v.lanes.stored())).max().unwrap_or(1);
    let undefined = |i: usize| {
        let (ua, ub) = (at(a.undef.as_ref(), i), at(b.undef.as_ref(), i));
        if at(condition.undef.as_ref(), i) {
            return ua || ub || a.lanes.get(i) != b.lanes.get(i);
        }
        if condition.lanes.get(i) & 1 == 1 { ua } else { ub }
    };
    let first = operands.iter().find_map(|v| v.undef.as_ref())?;
    Undef::new((0..n).map(undefined).collect(), first.origin, first.mixed)
}

/// Marks the result of a product. A row of the left operand or a column of the right one that has an undefined element
/// makes its row or column of the result undefined. Where elements are packed or scaled, several of the result share
/// one of the operand.
fn product(p: &Program<'_>, op: Op, operands: &[Val]) -> Option<Arc<Undef>> {
    let ir = p.ir;
    let first = operands.iter().find_map(|v| v.undef.as_ref())?;
    let shape = ir.ty(ir.result(op)).shape();
    let (m, n) = (shape[shape.len() - 2] as usize, shape[shape.len() - 1] as usize);
    let batch = shape[..shape.len() - 2].iter().product::<i64>() as usize;
    // Whether the line at `i` of `of` along the axis that is not summed over has an undefined element.
    let line = |operand: usize, rows: bool, b: usize, i: usize, of: usize| {
        let Some(u) = operands.get(operand).and_then(|v| v.undef.as_ref()) else { return false };
        let s = ir.ty(ir.operand(op, operand)).shape();
        let (r, c) = (s[s.len() - 2] as usize, s[s.len() - 1] as usize);
        let (count, len) = if rows { (r, c) } else { (c, r) };
        let at = i * count / of.max(1);
        (0..len).any(|k| u.at(b * r * c + if rows { at * c + k } else { k * c + at }))
    };
    let scaled = ir.is(op, TtOp::DotScaled);
    let scale = |group: usize| {
        let v = scaled.then(|| ir.operand_group(op, group).first().copied()).flatten()?;
        ir.operands(op).iter().position(|&o| o == v)
    };
    let (left, right) = (scale(3), scale(4));
    let rows: Vec<bool> = (0..batch * m)
        .map(|i| line(0, true, i / m, i % m, m) || left.is_some_and(|s| line(s, true, i / m, i % m, m)))
        .collect();
    let columns: Vec<bool> = (0..batch * n)
        .map(|j| line(1, false, j / n, j % n, n) || right.is_some_and(|s| line(s, true, j / n, j % n, n)))
        .collect();
    let sum = operands.get(2).and_then(|v| v.undef.as_ref());
    let undefined = |i: usize| rows[i / n] || columns[i / (m * n) * n + i % n] || at(sum, i);
    let lanes: Vec<bool> = (0..batch * m * n).map(undefined).collect();
    Undef::new(lanes, first.origin, first.mixed.or(Some(op)))
}

impl Program<'_> {
    /// Reports an element that is used although it is undefined.
    #[inline]
    pub(crate) fn defined(&self, op: Op, v: &Val, lane: usize, shape: &[i64], used: Use) -> Result<(), Fault> {
        match &v.undef {
            Some(u) if u.at(lane) => self.report(op, &codes::UNDEFINED, || self.undefined(op, u, lane, shape, used)),
            _ => Ok(()),
        }
    }

    /// Does what [`Program::defined`] does for a scalar.
    pub(crate) fn defined_scalar(&self, op: Op, v: &Val, used: Use) -> Result<(), Fault> {
        self.defined(op, v, 0, &[], used)
    }

    /// The marks of a result in which the elements are undefined where `left_out` holds.
    pub(crate) fn leave_out(&self, op: Op, n: usize, left_out: impl Fn(usize) -> bool) -> Option<Arc<Undef>> {
        if !self.shared.options.checks.undefined {
            return None;
        }
        let undef = Undef::new((0..n).map(left_out).collect(), op, None);
        if undef.is_some() {
            self.undefined.set(true);
        }
        undef
    }

    #[cold]
    fn undefined(&self, op: Op, u: &Undef, lane: usize, shape: &[i64], used: Use) -> Fault {
        let ir = self.ir;
        let mut d = *self.fault(op, &codes::UNDEFINED, used.words().to_owned(), "used here");
        let block = Load::of(ir, u.origin)
            .is_some_and(|load| ir.ty(load.ptr(ir)).pointee().is_some_and(crate::ir::Type::is_tensor));
        let (cause, help) = match ir.kind(u.origin) {
            OpKind::Tt(TtOp::Load) if block => (
                "`boundary_check` leaves elements out here, and there is no padding",
                "give the load `padding_option=\"zero\"`, or select with `tl.where` before the elements are used",
            ),
            OpKind::Tt(TtOp::Load) => (
                "the mask leaves elements out here, and there is no `other`",
                "give the load `other=…`, or select with `tl.where(mask, x, …)` before the elements are used",
            ),
            _ => {
                ("the mask leaves elements out here", "select with `tl.where(mask, x, …)` before the elements are used")
            }
        };
        if let Some(p) = fault::written(ir.loc(u.origin)) {
            d = d.at(p, cause);
        }
        if let Some(p) = u.mixed.filter(|&m| m != op).and_then(|m| fault::written(ir.loc(m))) {
            d = d.at(p, "they are combined with others here");
        }
        if !shape.is_empty() {
            d = d.note(format!("tensor index {}", fault::tuple(&coordinates(shape, lane))));
        }
        Box::new(d.help(help))
    }
}
