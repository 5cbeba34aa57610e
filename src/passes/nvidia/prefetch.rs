//! `tritongpu-prefetch`: the first slice of the operands of a `mma.sync` product is loaded from shared memory an
//! iteration ahead.
//!
//! # Algorithm
//!
//! Of each loop with one `tt.dot` for `mma.sync` whose operands are loaded from shared memory in the loop, cut K into
//! slices of the width of one instruction's step (eight times `kWidth`):
//!
//! ```text
//! before: for { a = load A; b = load B; acc = dot a, b, acc }
//! after:  a0 = load A[0]; b0 = load B[0]
//!         for (a0, b0) { a1 = load A[1]; b1 = load B[1]; acc = dot a0, b0, acc
//!                        a0' = load A'[0]; b0' = load B'[0]; acc = dot a1, b1, acc; yield a0', b0' }
//! ```
//!
//! 1. Where a buffer, or the token that its load waits for, is made in the loop, the loop carries it: the first one is
//!    computed in front of the loop, the next one at its end, both by repeating what makes it.
//! 2. The first slice is carried; the other slices are loaded at the start of the product, each into a product of its
//!    own.
//! 3. The last product moves down to its first user, so that the loads for the next iteration come before it.
//!
//! Loops with more products, other matrix instructions, or TMA copies are left alone, and so are operands that anything
//! but elementwise operations of one operand computes from what is loaded.

use std::collections::BTreeMap;

use crate::ir::core::{
    Attr, Block, Builder, Encoding, InsertPoint, Ir, Mapping, MemDesc, Op, Type, TypeData, Value, ValueDef,
};
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, Traits, TtgOp, TtngOp};
use crate::ir::encoding::questions::has_operand;
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::passes::common::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-prefetch",
    doc: "load the first slice of a product's operands an iteration ahead",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let mut changed = rewrite_greedily(ir, module, canonicalize::ttg::PATTERNS, Config::default());
    for looped in ir.all_ops_post(module).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect::<Vec<_>>() {
        if let Some(prefetch) = Prefetch::of_loop(ir, looped) {
            prefetch.apply(ir);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// Whether an operation belongs to the tensor memory accelerator: it has a descriptor, or waits for such stores.
fn is_tma(ir: &Ir, op: Op) -> bool {
    let describes = |v: &Value| matches!(ir.ty(*v).data(), TypeData::TensorDesc { .. });
    matches!(ir.kind(op), OpKind::Ttng(_)) && ir.operands(op).iter().any(describes) || ir.is(op, TtngOp::TmaStoreWait)
}

/// How an operand comes out of shared memory.
struct Operand {
    /// 0 for A, 1 for B.
    index: u32,
    buffer: Value,
    token: Option<Value>,
    /// What is done to the loaded tensor, first to last.
    then: Vec<Op>,
}

struct Prefetch {
    looped: Op,
    body: Block,
    dot: tt::Dot,
    /// Elements of K in a slice.
    width: i64,
    operands: [Operand; 2],
}

impl Prefetch {
    /// The products of a loop that can be cut, if it is the only one.
    fn of_loop(ir: &Ir, looped: Op) -> Option<Prefetch> {
        let body = ir.body(looped, 0)?;
        let dots: Vec<tt::Dot> = ir.ops(body).filter_map(|op| tt::Dot::of(ir, op)).collect();
        let [dot] = dots[..] else { return None };
        let Some(Encoding::NvidiaMma(mma)) = ir.ty(dot.d(ir)).layout() else { return None };
        if mma.version_major != 2 || ir.ops(body).any(|op| is_tma(ir, op)) {
            return None;
        }
        let a = ir.ty(dot.a(ir));
        let Some(Encoding::DotOp { k_width, .. }) = a.layout() else { return None };
        let width = if *k_width == 0 { 256 / i64::from(a.bit_width()?) } else { 8 * i64::from(*k_width) };
        let depth = *a.shape().last()?;
        if depth < width || depth % width != 0 {
            return None;
        }
        let operands = [Operand::of(ir, 0, dot.a(ir))?, Operand::of(ir, 1, dot.b(ir))?];
        let this = Prefetch { looped, body, dot, width, operands };
        let carried = this.operands.iter().all(|o| this.carried_index(ir, o.buffer).is_some());
        let waits = this.operands.iter().any(|o| o.token.is_some());
        let repeats = this
            .operands
            .iter()
            .all(|o| this.is_repeatable(ir, o.buffer) && o.token.is_none_or(|t| this.is_repeatable(ir, t)));
        (carried || waits && repeats).then_some(this)
    }

    /// The number of a carried value of the loop.
    fn carried_index(&self, ir: &Ir, value: Value) -> Option<usize> {
        match ir.def(value) {
            ValueDef::Arg { block, index } if block == self.body => (index as usize).checked_sub(1),
            _ => None,
        }
    }

    /// Whether what makes a value in the loop may be done again elsewhere.
    fn is_repeatable(&self, ir: &Ir, value: Value) -> bool {
        let Some(def) = ir.def_op(value) else { return true };
        if ir.parent_block(def) != Some(self.body) {
            return true;
        }
        let kind = ir.kind(def);
        let known = ir.is(def, TtgOp::AsyncWait) || ir.is(def, TtgOp::MemDescIndex);
        ir.regions_of(def).is_empty()
            && (known || kind.has(Traits::ELEMENTWISE) || kind.has(Traits::CONSTANT))
            && ir.operands(def).iter().all(|&v| self.is_repeatable(ir, v))
    }

    /// A value of the body, remade with `args` for the body's arguments.
    fn repeat(
        &self,
        b: &mut Builder<'_>,
        value: Value,
        args: &mut dyn FnMut(&mut Builder<'_>, usize) -> Value,
        done: &mut BTreeMap<Value, Value>,
    ) -> Value {
        if let Some(&known) = done.get(&value) {
            return known;
        }
        let new = match b.ir.def(value) {
            ValueDef::Arg { block, index } if block == self.body => args(b, index as usize),
            ValueDef::Result { op, .. } if b.ir.parent_block(op) == Some(self.body) => {
                let mut map = Mapping::default();
                for operand in b.ir.operands(op).to_vec() {
                    let new = self.repeat(b, operand, args, done);
                    map.map(operand, new);
                }
                let copy = b.ir.clone_op(op, &mut map);
                b.place(copy);
                for (old, new) in b.ir.results(op).to_vec().into_iter().zip(b.ir.results(copy).to_vec()) {
                    done.insert(old, new);
                }
                return done[&value];
            }
            _ => value,
        };
        done.insert(value, new);
        new
    }

    fn apply(self, ir: &mut Ir) {
        let starts = self.prologue(ir);
        // The carried values: sources and tokens made in the loop, then the slices.
        let mut current: [(Value, Option<Value>); 2] =
            [0, 1].map(|i| (self.operands[i].buffer, self.operands[i].token));
        let mut made = vec![];
        for (i, value) in self.made_in_loop(ir) {
            let start = starts.made[&value];
            let arg = self.carry(ir, start);
            match i {
                0 | 1 => current[i].0 = arg,
                _ => current[i - 2].1 = Some(arg),
            }
            made.push(value);
        }
        let heads = starts.heads.map(|head| self.carry(ir, head));
        let point = self.cut(ir, heads, current);
        self.next(ir, point, &made);
    }

    /// Buffers (0, 1) and tokens (2, 3) that the loop makes, in order.
    fn made_in_loop(&self, ir: &Ir) -> Vec<(usize, Value)> {
        let buffers = self.operands.iter().map(|o| Some(o.buffer));
        let tokens = self.operands.iter().map(|o| o.token);
        let all = buffers.chain(tokens).enumerate().filter_map(|(i, v)| Some((i, v?)));
        all.filter(|&(_, v)| self.carried_index(ir, v).is_none()).collect()
    }

    /// Adds a carried value; gives its argument.
    fn carry(&self, ir: &mut Ir, start: Value) -> Value {
        let (ty, loc) = (ir.ty(start), ir.value_loc(start));
        let mut operands = ir.operands(self.looped).to_vec();
        operands.push(start);
        ir.set_operands(self.looped, &operands);
        ir.add_result(self.looped, ty);
        ir.add_arg(self.body, ty, loc)
    }

    /// What stands in front of the loop.
    fn prologue(&self, ir: &mut Ir) -> Starts {
        let bounds = ir.operands(self.looped).to_vec();
        let mut done = BTreeMap::new();
        let mut first = |b: &mut Builder<'_>, index: usize| {
            let _ = &b;
            bounds[if index == 0 { 0 } else { index + 2 }]
        };
        let mut heads = vec![];
        for operand in &self.operands {
            let mut b = Builder::before(ir, self.looped);
            let buffer = self.repeat(&mut b, operand.buffer, &mut first, &mut done);
            let token = operand.token.map(|t| self.repeat(&mut b, t, &mut first, &mut done));
            heads.push(self.slice(ir, operand, InsertPoint::Before(self.looped), (buffer, token), 0));
        }
        Starts { made: done, heads: [heads[0], heads[1]] }
    }

    /// The slice from `offset` of an operand.
    fn slice(
        &self,
        ir: &mut Ir,
        operand: &Operand,
        point: InsertPoint,
        from: (Value, Option<Value>),
        offset: i64,
    ) -> Value {
        let (buffer, token) = from;
        let desc = ir.ty(buffer).as_memdesc().expect("an operand is loaded from a buffer").clone();
        let rank = desc.shape.len();
        let axis = if operand.index == 0 { rank - 1 } else { rank - 2 };
        let (mut shape, mut offsets) = (desc.shape.clone(), vec![0; rank]);
        shape[axis] = self.width;
        offsets[axis] = offset;
        let parent = ir.ty(self.dot.d(ir)).encoding().expect("a product has an encoding");
        let k_width = u32::try_from(self.width / 8).unwrap_or(1);
        let encoding = Attr::encoding(Encoding::DotOp { op_idx: operand.index, parent, k_width });
        let loaded = Type::tensor(&shape, desc.elem, Some(encoding));
        let view = Type::new(TypeData::MemDesc(MemDesc { shape: shape.clone(), ..desc }));
        let loc = ir.value_loc(buffer);
        let mut b = Builder::new(ir, point, loc);
        let state = ttg::MemDescSubslice::state(loc, buffer).with(ttg::MemDescSubslice::ATTR.offsets, &offsets);
        let part = b.result(state, view);
        let mut value = b.result(ttg::LocalLoad::state(loc, part, token), loaded);
        for &op in &operand.then {
            let mut map = Mapping::default();
            let [source] = b.ir.all_operands(op);
            map.map(source, value);
            let ty = b.ir.ty(b.ir.result(op)).elem();
            let copy = b.ir.clone_op(op, &mut map);
            b.place(copy);
            value = b.ir.result(copy);
            let encoding = b.ir.ty(b.ir.result(op)).encoding();
            b.ir.set_type(value, Type::tensor(&shape, ty, encoding));
        }
        value
    }

    /// Cuts the product; gives the place for the loads of the next iteration.
    fn cut(&self, ir: &mut Ir, heads: [Value; 2], current: [(Value, Option<Value>); 2]) -> InsertPoint {
        let dot = self.dot.0;
        let depth = *ir.ty(self.dot.a(ir)).shape().last().unwrap_or(&self.width);
        let product = |ir: &mut Ir, operands: [Value; 3], point: InsertPoint| {
            let copy = ir.clone_op(dot, &mut Mapping::default());
            let loc = ir.loc(dot);
            Builder::new(ir, point, loc).place(copy);
            (0..3).for_each(|i| ir.set_operand(copy, i, operands[i]));
            copy
        };
        let start = self.dot.c(ir);
        let mut last = product(ir, [heads[0], heads[1], start], InsertPoint::Before(dot));
        let mut offset = self.width;
        while offset < depth {
            let point = InsertPoint::Before(last);
            let parts = [0, 1].map(|i| self.slice(ir, &self.operands[i], point, current[i], offset));
            let so_far = ir.result(last);
            last = product(ir, [parts[0], parts[1], so_far], InsertPoint::Before(dot));
            offset += self.width;
        }
        let result = ir.result(last);
        ir.replace_op(dot, &[result]);
        self.sink(ir, last)
    }

    /// Step 3.
    fn sink(&self, ir: &mut Ir, last: Op) -> InsertPoint {
        let end = ir.terminator(self.body).expect("a loop ends in a yield");
        let stops =
            |op: Op| op == end || !ir.regions_of(op).is_empty() || ir.uses(ir.result(last)).iter().any(|u| u.op == op);
        let first = std::iter::successors(ir.next_op(last), |&op| ir.next_op(op)).find(|&op| stops(op)).unwrap_or(end);
        ir.move_before(last, first);
        if first == end { InsertPoint::Before(last) } else { InsertPoint::Before(end) }
    }

    /// What is carried to the next iteration.
    fn next(&self, ir: &mut Ir, point: InsertPoint, made: &[Value]) {
        let end = ir.terminator(self.body).expect("a loop ends in a yield");
        let yielded = ir.operands(end).to_vec();
        let (variable, step) = (ir.args(self.body)[0], scf::For(self.looped).step(ir));
        let mut next = |b: &mut Builder<'_>, index: usize| {
            if index > 0 {
                return yielded[index - 1];
            }
            let ty = b.ir.ty(variable);
            b.value(ArithOp::Addi, &[variable, step], ty)
        };
        let loc = ir.loc(self.looped);
        let mut further = vec![];
        let mut new: BTreeMap<Value, Value> = BTreeMap::new();
        for operand in &self.operands {
            for value in std::iter::once(operand.buffer).chain(operand.token) {
                let mut b = Builder::new(ir, point, loc);
                let mut done = BTreeMap::new();
                let again = self.repeat(&mut b, value, &mut next, &mut done);
                new.entry(value).or_insert(again);
            }
        }
        further.extend(made.iter().map(|v| new[v]));
        for operand in &self.operands {
            let from = (new[&operand.buffer], operand.token.map(|t| new[&t]));
            further.push(self.slice(ir, operand, point, from, 0));
        }
        let operands: Vec<Value> = yielded.iter().copied().chain(further).collect();
        ir.set_operands(end, &operands);
    }
}

/// What the prologue computes.
struct Starts {
    /// Values of the body as they are in the first iteration.
    made: BTreeMap<Value, Value>,
    heads: [Value; 2],
}

impl Operand {
    fn of(ir: &Ir, index: u32, factor: Value) -> Option<Operand> {
        let mut then = vec![];
        let mut at = ir.def_op(factor)?;
        let load = loop {
            if !ir.has_one_use(ir.result(at)) {
                return None;
            }
            if let Some(load) = ttg::LocalLoad::of(ir, at) {
                break load;
            }
            // What moves elements, or makes two of one, does not do to a slice what it does to the whole.
            let (&[source], &[_]) = (ir.operands(at), ir.results(at)) else { return None };
            if !ir.kind(at).has(Traits::ELEMENTWISE) && !ir.is(at, TtgOp::ConvertLayout) {
                return None;
            }
            then.push(at);
            at = ir.def_op(source)?;
        };
        then.reverse();
        let slices = has_operand(ir.ty(load.result(ir)));
        slices.then(|| Operand { index, buffer: load.src(ir), token: load.token(ir), then })
    }
}
