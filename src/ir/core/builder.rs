//! Creating operations at an insertion point with a current location.

use super::attrs::Attr;
use super::entity::{Block, Op, Value};
use super::graph::{Ir, OpState};
use super::loc::Loc;
use super::types::Type;
use crate::ir::dialects::OpKind;
use crate::ir::dialects::arith::arith::{Cmpi, Constant};
use crate::ir::dialects::enums::CmpiPredicate;

/// Where the next operation goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertPoint {
    Start(Block),
    End(Block),
    Before(Op),
    After(Op),
}

/// Creates operations one after the other. Holds the IR for as long as it lives; make one where it is needed.
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

    /// Creates and places an operation from its parts.
    pub fn insert(&mut self, state: OpState) -> Op {
        let op = self.ir.create_op(state);
        self.place(op);
        op
    }

    /// Places a detached operation; the next one goes after it.
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

    /// An operation with operands and results of the given types and no attributes.
    pub fn op(&mut self, kind: impl Into<OpKind>, operands: &[Value], results: &[Type]) -> Op {
        let state = self.state(kind).operands(operands).results(results);
        self.insert(state)
    }

    /// As [`Builder::op`], with exactly one result, which is returned.
    pub fn value(&mut self, kind: impl Into<OpKind>, operands: &[Value], result: Type) -> Value {
        let op = self.op(kind, operands, &[result]);
        self.ir.result(op)
    }

    /// As [`Builder::value`], with attributes.
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

    /// Creates and places an operation from its parts; gives its first result.
    pub fn make(&mut self, state: OpState) -> Value {
        let op = self.insert(state);
        self.ir.result(op)
    }

    /// `arith.cmpi` of two integers, or of tensors of them.
    pub fn compare(&mut self, predicate: CmpiPredicate, x: Value, y: Value) -> Value {
        let ty = self.ir.ty(x).with_elem(Type::int(1));
        self.make(Cmpi::state(self.loc, x, y).results(&[ty]).with(Cmpi::ATTR.predicate, predicate))
    }

    /// `arith.constant` of a typed attribute.
    pub fn constant(&mut self, value: Attr) -> Value {
        let ty = value.type_of().expect("a constant's attribute is typed");
        self.make(Constant::state(self.loc).results(&[ty]).with(Constant::ATTR.value, value))
    }

    /// An integer constant of this type, scalar or splat.
    pub fn int(&mut self, value: i64, ty: Type) -> Value {
        self.constant(Attr::int_splat(ty, value))
    }

    pub fn i32(&mut self, value: i64) -> Value {
        self.int(value, Type::int(32))
    }
}
