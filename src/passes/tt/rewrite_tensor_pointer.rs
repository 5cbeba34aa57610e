//! `triton-rewrite-tensor-pointer`: block pointers (`tl.make_block_ptr`) become tensors of pointers and masks.
//!
//! Triton had this pass up to 3.6. A block pointer is a base, and for each dimension an extent, a stride and an offset;
//! what may be loaded through it is a block of fixed shape. After this pass those are separate scalars, and no
//! operation knows block pointers any more.
//!
//! # Algorithm
//!
//! 1. Find where block pointers meet: carried by loops, given by `scf.if`, passed to blocks. Find which of base,
//!    extents and strides are the same wherever they meet ([`flow`]). Anything that cannot be rewritten is reported
//!    now, before anything is changed.
//! 2. In each such place, replace the block pointer by its parts: those of base, extents and strides that differ, and
//!    all offsets. Loops, conditionals and blocks are made anew with the parts as arguments and results.
//! 3. `tt.make_tensor_ptr` extends its offsets to i64, `tt.advance` adds to them, `arith.select` selects each part.
//! 4. Loads and stores compute their addresses and masks from the parts ([`access`]).
//! 5. Erase the operations on block pointers, and the arguments that held them.
//!
//! Example, after the canonicalizer:
//!
//! ```text
//! %p = tt.make_tensor_ptr %x, [%n], [%c1], [%o] {order = array<i32: 0>} : <tensor<64xf32>>
//! %v = tt.load %p {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64xf32>>
//! ```
//! becomes
//! ```text
//! %at = arith.extsi %o : i32 to i64
//! %i = splat(%at) + extsi(make_range 0 to 64)
//! %ptr = tt.addptr splat(%x), %i * splat(%c1)
//! %v = tt.load %ptr, %i >= 0 and %i < splat(%n)
//! ```

mod access;
mod flow;

use crate::ir::dialects::tt::tt::{Advance, MakeTensorPtr};
use std::collections::BTreeMap;

use self::flow::{Flow, Part};
use crate::diag::codes::passes as codes;
use crate::ir::core::{Block, Builder, Ir, Loc, Op, OpState, Type, Value};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-rewrite-tensor-pointer",
    doc: "replace block pointers by tensors of pointers and masks",
    input: Input::Ttir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let ops = ir.all_ops(ir.module());
    if !ops.iter().any(|&o| ir.is(o, TtOp::MakeTensorPtr)) {
        return Ok(Changed::No);
    }
    let flow = flow::analyse(ir, &ops).map_err(|e| cx.fail(&codes::PASS_FAILED, ir.loc(e.op), e.message))?;
    let mut this =
        Rewrite { ir, flow, own: BTreeMap::new(), offsets: BTreeMap::new(), renamed: BTreeMap::new(), doomed: vec![] };
    let blocks = this.expand_blocks(&ops);
    ops.iter().for_each(|&op| this.expand_results(op));
    for op in this.ir.all_ops(this.ir.module()) {
        this.rewrite(op);
    }
    this.clean_up(&blocks);
    Ok(Changed::Yes)
}

/// Whether this is the type of a block pointer.
fn is_block_pointer(ty: Type) -> bool {
    ty.pointee().is_some_and(Type::is_tensor)
}

/// Whether the operation makes a block pointer of its own.
fn makes(ir: &Ir, op: Op) -> bool {
    ir.is(op, TtOp::MakeTensorPtr) || ir.is(op, TtOp::Advance)
}

/// Number of dimensions of a block pointer.
fn rank(ir: &Ir, ptr: Value) -> usize {
    ir.ty(ptr).pointee().map_or(0, Type::rank)
}

struct Rewrite<'a> {
    ir: &'a mut Ir,
    flow: Flow,
    /// The parts that are carried beside a block pointer: base 0, extents from 1 on, then strides.
    own: BTreeMap<(Value, usize), Value>,
    /// The offsets of a block pointer, as far as they have been made.
    offsets: BTreeMap<Value, Vec<Value>>,
    /// Values other than block pointers that were replaced.
    renamed: BTreeMap<Value, Value>,
    /// What is left to erase.
    doomed: Vec<Op>,
}

impl Rewrite<'_> {
    /// The types of what a block pointer that arrives in `merge` is replaced by, and which part each is.
    fn carried(&self, merge: Value) -> Vec<(Carried, Type)> {
        let i64 = Type::int(64);
        let mut out = vec![];
        for (i, &part) in self.flow.parts(merge).iter().enumerate() {
            if part == Part::Own(merge) {
                out.push((Carried::Part(i), if i == 0 { self.flow.base_type(merge) } else { i64 }));
            }
        }
        out.extend((0..rank(self.ir, merge)).map(|d| (Carried::Offset(d), i64)));
        out
    }

    /// Notes that `new` stands for a part of the block pointer `merge`.
    fn note(&mut self, merge: Value, what: Carried, new: Value) {
        match what {
            Carried::Part(i) => {
                self.own.insert((merge, i), new);
            }
            Carried::Offset(_) => self.offsets.entry(merge).or_default().push(new),
        }
    }

    /// Gives each block that has a block pointer among its arguments a second list of arguments; returns how many the
    /// first had.
    fn expand_blocks(&mut self, ops: &[Op]) -> Vec<(Block, usize)> {
        let regions: Vec<_> = ops.iter().flat_map(|&o| self.ir.regions_of(o).to_vec()).collect();
        let blocks: Vec<Block> = regions.into_iter().flat_map(|r| self.ir.blocks_of(r).to_vec()).collect();
        let mut done = vec![];
        for block in blocks {
            let args = self.ir.args(block).to_vec();
            if !args.iter().any(|&a| is_block_pointer(self.ir.ty(a))) {
                continue;
            }
            for &arg in &args {
                let (ty, loc) = (self.ir.ty(arg), self.ir.value_loc(arg));
                if is_block_pointer(ty) {
                    self.add_args(block, arg, loc);
                } else {
                    let new = self.ir.add_arg(block, ty, loc);
                    self.rename(arg, new);
                }
            }
            done.push((block, args.len()));
        }
        done
    }

    fn add_args(&mut self, block: Block, merge: Value, loc: Loc) {
        for (what, ty) in self.carried(merge) {
            let new = self.ir.add_arg(block, ty, loc);
            self.note(merge, what, new);
        }
    }

    fn rename(&mut self, old: Value, new: Value) {
        self.ir.replace_all_uses(old, new);
        self.renamed.insert(old, new);
    }

    /// Makes an operation with regions that gives block pointers anew, with their parts as results; the regions move
    /// over.
    fn expand_results(&mut self, op: Op) {
        let results = self.ir.results(op).to_vec();
        let structured = matches!(self.ir.kind(op), OpKind::Scf(ScfOp::For | ScfOp::If | ScfOp::While));
        if !structured || !results.iter().any(|&r| is_block_pointer(self.ir.ty(r))) {
            return;
        }
        let mut plan = vec![];
        for &result in &results {
            if is_block_pointer(self.ir.ty(result)) {
                plan.extend(self.carried(result).into_iter().map(|(what, ty)| (result, Some(what), ty)));
            } else {
                plan.push((result, None, self.ir.ty(result)));
            }
        }
        let types: Vec<Type> = plan.iter().map(|p| p.2).collect();
        let (operands, regions) = (self.ir.operands(op).to_vec(), self.ir.regions_of(op).to_vec());
        let state = OpState::new(self.ir.kind(op), self.ir.loc(op)).operands(&operands).results(&types);
        let new = self.ir.create_op(state.attrs(self.ir.attrs(op)).regions(regions.len()));
        self.ir.insert_before(op, new);
        for (i, from) in regions.into_iter().enumerate() {
            let to = self.ir.region(new, i);
            self.ir.splice_region(from, to);
        }
        for ((old, what, _), value) in plan.into_iter().zip(self.ir.results(new).to_vec()) {
            match what {
                Some(what) => self.note(old, what, value),
                None => self.rename(old, value),
            }
        }
        self.flow.move_edges(op, new, operands.len());
        self.ir.set_operands(op, &[]);
        self.doomed.push(op);
    }

    fn rewrite(&mut self, op: Op) {
        if let Some(ptr) = access::block_pointer(self.ir, op) {
            let parts = self.all_parts(ptr);
            return access::rewrite(self.ir, op, &parts);
        }
        let gives = self.ir.results(op).first().is_some_and(|&r| is_block_pointer(self.ir.ty(r)));
        if makes(self.ir, op) || gives && self.ir.is(op, ArithOp::Select) {
            self.make(op);
        } else {
            self.expand_operands(op);
        }
    }

    /// Makes the offsets (and other parts) of what an operation on block pointers gives, unless they are there already:
    /// an operation in a block that is listed later may have asked for them.
    fn make(&mut self, op: Op) {
        let result = self.ir.result(op);
        if self.offsets.contains_key(&result) {
            return;
        }
        let i64 = Type::int(64);
        let mut offsets = vec![];
        if let Some(made) = MakeTensorPtr::of(self.ir, op) {
            for narrow in made.offsets(self.ir).to_vec() {
                offsets.push(Builder::before(self.ir, op).value(ArithOp::Extsi, &[narrow], i64));
            }
        } else if let Some(moved) = Advance::of(self.ir, op) {
            let before = self.offsets_of(moved.ptr(self.ir));
            for (at, by) in before.into_iter().zip(moved.offsets(self.ir).to_vec()) {
                let mut b = Builder::before(self.ir, op);
                let by = b.value(ArithOp::Extsi, &[by], i64);
                offsets.push(b.value(ArithOp::Addi, &[at, by], i64));
            }
        } else {
            let [cond, x, y] = self.ir.all_operands(op);
            for (i, part) in self.flow.parts(result).into_iter().enumerate() {
                if part == Part::Own(result) {
                    let (x, y) = (self.part(x, i), self.part(y, i));
                    let ty = self.ir.ty(x);
                    let chosen = Builder::before(self.ir, op).value(ArithOp::Select, &[cond, x, y], ty);
                    self.own.insert((result, i), chosen);
                }
            }
            for (x, y) in self.offsets_of(x).into_iter().zip(self.offsets_of(y)) {
                offsets.push(Builder::before(self.ir, op).value(ArithOp::Select, &[cond, x, y], i64));
            }
        }
        self.offsets.insert(result, offsets);
        self.doomed.push(op);
    }

    fn offsets_of(&mut self, ptr: Value) -> Vec<Value> {
        if !self.offsets.contains_key(&ptr)
            && let Some(op) = self.ir.def_op(ptr)
        {
            self.make(op);
        }
        self.offsets[&ptr].clone()
    }

    /// Part `index` of a block pointer: base 0, extents from 1 on, then strides.
    fn part(&mut self, ptr: Value, index: usize) -> Value {
        match self.flow.part(self.ir, ptr, index) {
            Part::Is(value) => self.renamed.get(&value).copied().unwrap_or(value),
            Part::Own(merge) => {
                self.offsets_of(merge);
                self.own[&(merge, index)]
            }
        }
    }

    fn all_parts(&mut self, ptr: Value) -> access::Parts {
        let n = rank(self.ir, ptr);
        access::Parts {
            base: self.part(ptr, 0),
            extents: (1..=n).map(|i| self.part(ptr, i)).collect(),
            strides: (n + 1..=2 * n).map(|i| self.part(ptr, i)).collect(),
            offsets: self.offsets_of(ptr),
        }
    }

    /// Replaces the block pointers that an operation passes on by the parts that are carried where they go.
    fn expand_operands(&mut self, op: Op) {
        let (old, mut new) = (self.ir.operands(op).to_vec(), vec![]);
        if !(0..old.len()).any(|i| self.flow.edge(op, i).is_some()) {
            return;
        }
        for (i, &value) in old.iter().enumerate() {
            let Some(target) = self.flow.edge(op, i) else {
                new.push(vec![value]);
                continue;
            };
            let mut parts = vec![];
            for (what, _) in self.carried(target) {
                parts.push(match what {
                    Carried::Part(index) => self.part(value, index),
                    Carried::Offset(d) => self.offsets_of(value)[d],
                });
            }
            new.push(parts);
        }
        self.ir.expand_operands(op, &new);
    }

    fn clean_up(&mut self, blocks: &[(Block, usize)]) {
        for &op in &self.doomed {
            self.ir.set_operands(op, &[]);
        }
        for op in std::mem::take(&mut self.doomed) {
            self.ir.erase_op(op);
        }
        for &(block, old) in blocks {
            (0..old).for_each(|_| self.ir.remove_arg(block, 0));
        }
    }
}

/// What one value stands for that is carried instead of a block pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Carried {
    /// Base 0, extents from 1 on, then strides.
    Part(usize),
    /// Of a dimension.
    Offset(usize),
}
