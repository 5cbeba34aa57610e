//! `tritongpu-reorder-instructions`: moves operations to where they cost fewer registers, or where later passes look
//! for them.
//!
//! # Algorithm
//!
//! 1. A layout conversion sinks behind the last release of shared memory before its first use, so that both do not need
//!    memory at once.
//! 2. A conversion to a dot operand, or a load from shared memory, with one use inside a loop sinks to that use.
//! 3. An allocation of shared memory that stores a value moves right behind the value's definition, unless something
//!    between them writes: what was loaded long ago would occupy shared memory for long.
//! 4. A transposition moves right behind the definition of its source.
//! 5. The load of operand B of a matrix product from shared memory that stands in front of that of operand A moves
//!    right behind it, unless something between them writes.
//! 6. Bits that go through shared memory and are made numbers behind it, as a stored mask is, become bytes in front of
//!    it. A bit takes a byte of shared memory too, but each is tested on the way out: four bytes stay one word.
//!
//! ```text
//! %b = convert_layout %a : tensor<…xi1>          %x = extui %a : tensor<…xi1> to tensor<…xi8>
//! %n = extui %b to tensor<…xi8>            ->    %n = convert_layout %x : tensor<…xi8>
//! ```

use crate::ir::core::{Builder, Dominance, Encoding, Ir, Op, Type};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{ArithOp, Classes, Effects, OpKind, ScfOp, Traits, TtOp, TtgOp};
use crate::ir::effects::effects;
use crate::ir::encoding::questions::has_operand;
use crate::layout;
use crate::layout::plan::is_through_shared_memory;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

/// How many bytes make a word.
const WORD: usize = 4;

pub static PASS: Pass = Pass {
    name: "tritongpu-reorder-instructions",
    doc: "move operations to where they need fewer registers",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let mut changed = false;
    for op in ir.all_ops_post(module).into_iter().filter(|&o| ir.is(o, TtgOp::ConvertLayout)).collect::<Vec<_>>() {
        changed |= sink_behind_releases(ir, op);
    }
    let sinking: Vec<(Op, Op)> =
        ir.all_ops_post(module).into_iter().filter_map(|op| Some((op, sinks_into_loop(ir, op)?))).collect();
    for (op, user) in sinking {
        ir.move_before(op, user);
        changed = true;
    }
    for op in ir.all_ops_post(module).into_iter().filter(|&o| ir.is(o, TtgOp::LocalAlloc)).collect::<Vec<_>>() {
        changed |= follow_source(ir, op);
    }
    let transposes = |ir: &Ir, op: Op| ir.is(op, TtgOp::MemDescTrans) || ir.is(op, TtOp::Trans);
    for op in ir.all_ops_post(module).into_iter().filter(|&o| transposes(ir, o)).collect::<Vec<_>>() {
        changed |= follow_source(ir, op);
    }
    for op in ir.all_ops_post(module).into_iter().filter(|&o| ir.is(o, TtgOp::LocalLoad)).collect::<Vec<_>>() {
        if let Some(first) = loaded_for_a_later(ir, op) {
            ir.move_after(op, first);
            changed = true;
        }
    }
    for op in ir.all_ops_post(module).into_iter().filter(|&o| ir.is(o, TtgOp::ConvertLayout)).collect::<Vec<_>>() {
        changed |= move_bits_as_bytes(ir, op);
    }
    Ok(Changed::from(changed))
}

/// The operation in `op`'s block that holds the first use.
fn first_use(ir: &Ir, op: Op) -> Option<Op> {
    let block = ir.parent_block(op);
    let ancestor =
        |user: Op| std::iter::successors(Some(user), |&u| ir.parent_op(u)).find(|&u| ir.parent_block(u) == block);
    let users = ir.results(op).iter().flat_map(|&r| ir.uses(r)).filter_map(|u| ancestor(u.op));
    users.reduce(|a, b| if b != a && ir.is_before(b, a) { b } else { a })
}

fn sink_behind_releases(ir: &mut Ir, op: Op) -> bool {
    let until = first_use(ir, op);
    let mut last_release = None;
    let mut at = ir.next_op(op);
    while let Some(o) = at.filter(|&o| Some(o) != until) {
        if ir.is(o, TtgOp::LocalDealloc) {
            last_release = Some(o);
        }
        at = ir.next_op(o);
    }
    if let Some(release) = last_release {
        ir.move_after(op, release);
    }
    last_release.is_some()
}

fn enclosing_loop(ir: &Ir, op: Op) -> Option<Op> {
    std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| ir.is(o, ScfOp::For))
}

fn sinks_into_loop(ir: &Ir, op: Op) -> Option<Op> {
    let for_product = ttg::ConvertLayout::of(ir, op).is_some_and(|c| has_operand(ir.ty(c.result(ir))));
    let costly = ir.is(op, TtgOp::LocalLoad) || for_product;
    let uses: Vec<_> = ir.results(op).iter().flat_map(|&r| ir.uses(r)).collect();
    let [only] = uses[..] else { return None };
    (costly && enclosing_loop(ir, only.op) != enclosing_loop(ir, op)).then_some(only.op)
}

/// Steps 3 and 4.
fn follow_source(ir: &mut Ir, op: Op) -> bool {
    let Some(def) = ir.operands(op).first().and_then(|&v| ir.def_op(v)) else { return false };
    let uniform = ir.kind(def).has(Traits::CONSTANT) || ir.is(def, TtOp::Splat);
    if ir.is(op, TtgOp::LocalAlloc) && (uniform || written_between(ir, def, op)) || ir.next_op(def) == Some(op) {
        return false;
    }
    ir.move_after(op, def);
    true
}

/// Whether anything that is known to write stands between `def` and `op`, which `def` dominates; or in what holds `op`,
/// where that is further inside.
fn written_between(ir: &Ir, def: Op, op: Op) -> bool {
    let block = ir.parent_block(def);
    let Some(until) = std::iter::successors(Some(op), |&o| ir.parent_op(o)).find(|&o| ir.parent_block(o) == block)
    else {
        return true;
    };
    let mut between = std::iter::successors(ir.next_op(def), |&o| ir.next_op(o)).take_while(|&o| o != until);
    between.any(|o| writes(ir, o)) || until != op && writes(ir, until)
}

/// Whether an operation, or one inside it, is known to write. What only synchronises, or ends the life of a buffer,
/// does not; nor does a loop that waits: it has been pipelined, and its buffers are there anyway.
fn writes(ir: &Ir, op: Op) -> bool {
    let inside = ir.all_ops(op);
    let synchronises = |&o: &Op| ir.kind(o).belongs(Classes::SYNCHRONISES);
    let stores = |&o: &Op| {
        if let Some(alloc) = ttg::LocalAlloc::of(ir, o) {
            return alloc.src(ir).is_some() && !effects(ir, o).is_free();
        }
        !ir.is(o, TtgOp::LocalDealloc) && ir.spec(o).effects != Effects::Recursive && effects(ir, o).writes
    };
    !inside.iter().any(synchronises) && inside.iter().any(stores)
}

/// Step 5: the load of operand A behind which this load of operand B belongs.
fn loaded_for_a_later(ir: &Ir, op: Op) -> Option<Op> {
    let result = ir.result(op);
    let of_b = matches!(ir.ty(result).layout(), Some(Encoding::DotOp { op_idx: 1, .. }));
    let [only] = ir.uses(result) else { return None };
    let dot = tt::Dot::of(ir, only.op).filter(|_| of_b)?;
    let first = ttg::LocalLoad::defining(ir, dot.a(ir))?.0;
    if first == op || !Dominance::new().op_dominates(ir, op, first) {
        return None;
    }
    let block = ir.parent_block(op);
    let until = std::iter::successors(Some(first), |&o| ir.parent_op(o)).find(|&o| ir.parent_block(o) == block)?;
    let between = std::iter::successors(ir.next_op(op), |&o| (o != until).then(|| ir.next_op(o)).flatten());
    let writes = |o: Op| effects(ir, o).writes && !ir.is(o, TtgOp::LocalDealloc);
    (!between.into_iter().any(writes)).then_some(first)
}

/// Step 6. What stands for a set bit, 1 or -1, is the same whether a byte or the whole number is made of it first.
fn move_bits_as_bytes(ir: &mut Ir, op: Op) -> bool {
    let convert = ttg::ConvertLayout(op);
    let (source, bits) = (convert.src(ir), ir.ty(convert.result(ir)));
    let [only] = ir.uses(convert.result(ir)) else { return false };
    let reader = only.op;
    let extension = match ir.kind(reader) {
        OpKind::Arith(ArithOp::Extui | ArithOp::Uitofp) => ArithOp::Extui,
        OpKind::Arith(ArithOp::Extsi | ArithOp::Sitofp) => ArithOp::Extsi,
        _ => return false,
    };
    // Fewer than four fill no word.
    let fills_words = layout::elems_per_thread(bits) >= WORD;
    let through_memory = is_through_shared_memory(ir.ty(source), bits).unwrap_or(false);
    let wider = ir.ty(ir.result(reader)).bit_width().is_some_and(|width| width >= 8);
    if bits.elem() != Type::int(1) || !fills_words || !through_memory || !wider {
        return false;
    }
    let byte = Type::int(8);
    let (from, to, loc) = (ir.ty(source).with_elem(byte), bits.with_elem(byte), ir.loc(reader));
    let mut builder = Builder::before(ir, op);
    builder.loc = loc;
    let extended = builder.value(extension, &[source], from);
    builder.loc = builder.ir.loc(op);
    let converted = builder.value(TtgOp::ConvertLayout, &[extended], to);
    if ir.ty(ir.result(reader)) == to {
        ir.replace_op(reader, &[converted]);
    } else {
        ir.set_operand(reader, 0, converted);
    }
    ir.erase_op(op);
    true
}
