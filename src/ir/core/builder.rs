//! Creates operations at an insertion point with a current location.

use super::attrs::Attr;
use super::entity::{Block, Op, Value};
use super::graph::{Ir, OpState};
use super::loc::Loc;
use super::types::Type;
use crate::ir::dialects::OpKind;
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate;

/// The place where the next operation goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertPoint {
    Start(Block),
    End(Block),
    Before(Op),
    After(Op),
}

/// Creates operations one after the other. It holds the IR for as long as it lives, so make one where it is needed.
pub struct Builder<'a> {
    pub ir: &'a mut Ir,
    point: InsertPoint,
    pub loc: Loc,
}

impl<'a> Builder<'a> {
    pub fn new(ir: &'a mut Ir, point: InsertPoint, loc: Loc) -> Builder<'a> {
        Builder { ir, point, loc }
    }

    /// Inserts before `op`, with its location.
    pub fn before(ir: &'a mut Ir, op: Op) -> Builder<'a> {
        let loc = ir.loc(op);
        Builder { ir, point: InsertPoint::Before(op), loc }
    }

    /// Inserts after `op`, with its location.
    pub fn after(ir: &'a mut Ir, op: Op) -> Builder<'a> {
        let loc = ir.loc(op);
        Builder { ir, point: InsertPoint::After(op), loc }
    }

    #[must_use]
    pub fn point(&self) -> InsertPoint {
        self.point
    }

    pub fn set_point(&mut self, point: InsertPoint) {
        self.point = point;
    }

    /// Creates an operation from its parts and places it.
    pub fn insert(&mut self, state: OpState) -> Op {
        let op = self.ir.create_op(state);
        self.place(op);
        op
    }

    /// Places a detached operation. The next one goes after it.
    pub fn place(&mut self, op: Op) {
        match self.point {
            InsertPoint::Start(b) => self.ir.prepend(b, op),
            InsertPoint::End(b) => self.ir.append(b, op),
            InsertPoint::Before(o) => self.ir.insert_before(o, op),
            InsertPoint::After(o) => self.ir.insert_after(o, op),
        }
        if matches!(self.point, InsertPoint::Start(_) | InsertPoint::After(_)) {
            self.point = InsertPoint::After(op);
        }
    }

    /// Starts an operation state with the current location.
    #[must_use]
    pub fn state(&self, kind: impl Into<OpKind>) -> OpState {
        OpState::new(kind, self.loc)
    }

    /// Creates an operation with operands, with results of the given types, and without attributes.
    pub fn op(&mut self, kind: impl Into<OpKind>, operands: &[Value], results: &[Type]) -> Op {
        let state = self.state(kind).operands(operands).results(results);
        self.insert(state)
    }

    /// Does what [`Builder::op`] does, with exactly one result, which is returned.
    pub fn value(&mut self, kind: impl Into<OpKind>, operands: &[Value], result: Type) -> Value {
        let op = self.op(kind, operands, &[result]);
        self.ir.result(op)
    }

    /// Makes an operation with one result of this type; gives the result.
    pub fn result(&mut self, state: OpState, ty: Type) -> Value {
        let op = self.insert(state.results(&[ty]));
        self.ir.result(op)
    }

    /// Compares integers, or tensors of them.
    pub fn cmpi(&mut self, predicate: CmpiPredicate, lhs: Value, rhs: Value) -> Value {
        let ty = self.ir.ty(lhs).with_elem(Type::int(1));
        let state = arith::Cmpi::state(self.loc, lhs, rhs).with(arith::Cmpi::ATTR.predicate, predicate);
        self.result(state, ty)
    }

    /// Does what [`Builder::value`] does, with attributes.
    pub fn value_with(
        &mut self,
        kind: impl Into<OpKind>,
        operands: &[Value],
        result: Type,
        attrs: &[(&str, Attr)],
    ) -> Value {
        let mut state = self.state(kind).operands(operands).results(&[result]);
        for &(name, attr) in attrs {
            state = state.attr(name, attr);
        }
        let op = self.insert(state);
        self.ir.result(op)
    }

    /// Creates an `arith.constant` of a typed attribute.
    pub fn constant(&mut self, value: Attr) -> Value {
        let ty = value.type_of().expect("a constant's attribute is typed");
        self.result(arith::Constant::state(self.loc).with(arith::Constant::ATTR.value, value), ty)
    }

    /// Creates an integer constant of this type, scalar or splat.
    pub fn int(&mut self, value: i64, ty: Type) -> Value {
        self.constant(Attr::int_splat(ty, value))
    }

    pub fn i32(&mut self, value: i64) -> Value {
        self.int(value, Type::int(32))
    }
}
