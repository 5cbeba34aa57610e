//! `tt.atomic_rmw` and `tt.atomic_cas`.
//!
//! 1. Registers are cut into accesses as for a store (`memory`). Only additions of floats come in vectors: up to 16
//!    bytes on sm_90, pairs of f16 before, everything else one element at a time.
//! 2. Of the threads that hold copies of an element one performs the access, under the mask of its first element. ptxas
//!    turns an `atom` whose result nobody uses into `RED`, where nothing is acquired.
//! 3. bf16 has no addition before sm_90: a loop adds with `fma` and swaps with `cas`, one or two elements at a time.
//! 4. A used result of an element that several threads hold goes through scratch memory from the one that performed the
//!    access to the others: element `r` of kept thread `t` lies at `(r · kept threads + t) · bytes`.
//! 5. A release waits for the whole block before the access, an acquire after it: the other threads' accesses are
//!    ordered by the barrier.
//!
//! Example: the scalar `atomic_add(p, 1)` is `@first atom.global.gpu.acq_rel.add.u32`, a store to scratch, a barrier
//! and a load by all.
//!
//! PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".

use std::collections::BTreeMap;

use inkwell::values::{InstructionOpcode, IntValue};

use super::arith::operand;
use super::memory::{Access, owner, register, thread_mask};
use crate::codegen::lower::{Lower, Regs, Res, Val, as_int, defect};
use crate::codegen::ptx_builder::{Arg, Operand, PtxAsm, Reg};
use crate::ir::dialects::enums::{MemScope, MemSemantic, RmwKind};
use crate::ir::dialects::tt::tt as view;
use crate::ir::dialects::{ArithOp, OpKind};
use crate::ir::{Attr, FloatKind, Op, Type, Value};
use crate::layout::{Dim, free_variable_masks};

/// What an atomic operation promises about other accesses, and to whom.
pub(super) struct Order {
    pub(super) sem: MemSemantic,
    pub(super) scope: MemScope,
}

impl Order {
    pub(super) fn of(cx: &Lower<'_, '_>, op: Op) -> Res<Order> {
        let (sem, scope) = (cx.ir.enum_attr(op, "sem"), cx.ir.enum_attr(op, "scope"));
        sem.zip(scope).map(|(sem, scope)| Order { sem, scope }).ok_or_else(|| defect("an atomic without an order"))
    }

    pub(super) fn acquires(&self) -> bool {
        matches!(self.sem, MemSemantic::Acquire | MemSemantic::AcqRel)
    }

    pub(super) fn releases(&self) -> bool {
        matches!(self.sem, MemSemantic::Release | MemSemantic::AcqRel)
    }
}

/// The operation of an instruction, `add.noftz.f16x2` without its vector.
struct Function {
    name: &'static str,
    /// The type of one element.
    ty: String,
    /// Most bits of one access.
    widest: u32,
    /// Whether the target has no instruction: bf16 before sm_90.
    by_swapping: bool,
}

impl Function {
    /// What the target has for this operation on this type.
    fn new(cx: &Lower<'_, '_>, op: Op, elem: Type) -> Res<Function> {
        let rmw = view::AtomicRmw(op)
            .atomic_rmw_op(cx.ir)
            .ok_or_else(|| cx.unsupported(op, "it names no atomic operation"))?;
        let bits = elem.bit_width().unwrap_or(64);
        let vectors = cx.options.target.has_vector_atomics();
        let (name, letter, widest) = match (rmw, elem.as_float()) {
            (RmwKind::Fadd, Some(FloatKind::F16)) => ("add.noftz", "f", if vectors { 128 } else { 32 }),
            (RmwKind::Fadd, Some(FloatKind::BF16)) => ("add.noftz", "bf", if vectors { 128 } else { 32 }),
            (RmwKind::Fadd, Some(FloatKind::F32)) => ("add", "f", if vectors { 128 } else { 32 }),
            (RmwKind::Fadd, Some(FloatKind::F64)) => ("add", "f", 64),
            (RmwKind::Exch, _) => ("exch", "b", bits),
            (RmwKind::And, None) => ("and", "b", bits),
            (RmwKind::Or, None) => ("or", "b", bits),
            (RmwKind::Xor, None) => ("xor", "b", bits),
            (RmwKind::Add, None) => ("add", "u", bits),
            (RmwKind::Max, None) => ("max", "s", bits),
            (RmwKind::Min, None) => ("min", "s", bits),
            (RmwKind::Umax, None) => ("max", "u", bits),
            (RmwKind::Umin, None) => ("min", "u", bits),
            _ => return Err(cx.unsupported(op, &format!("`{rmw}` of {elem} is no atomic operation of the hardware"))),
        };
        if !(matches!(bits, 32 | 64) || bits == 16 && rmw == RmwKind::Fadd) {
            return Err(cx.unsupported(op, &format!("`{rmw}` of {elem} is no atomic operation of the hardware")));
        }
        let by_swapping = letter == "bf" && !vectors;
        Ok(Function { name, ty: format!("{letter}{bits}"), widest, by_swapping })
    }

    /// `.add.noftz.v4.f16x2`
    fn suffix(&self, access: &Access<'_>) -> String {
        let vector = if access.words > 1 { format!(".v{}", access.words) } else { String::new() };
        let packed = if access.per_word() == 2 { "x2" } else { "" };
        format!(".{}{vector}.{}{packed}", self.name, self.ty)
    }
}

/// The element type that a pointer or a tensor of pointers leads to.
pub(super) fn pointee(cx: &Lower<'_, '_>, ptr: Value) -> Res<Type> {
    cx.ir.ty(ptr).elem().pointee().ok_or_else(|| defect("an atomic through something that is no pointer"))
}

/// Lowers `tt.atomic_rmw`.
pub(super) fn rmw(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicRmw(op);
    let (ptr, value, mask) = (view.ptr(cx.ir), view.val(cx.ir), view.mask(cx.ir));
    let function = Function::new(cx, op, pointee(cx, ptr)?)?;
    let order = Order::of(cx, op)?;
    check_sharing(cx, op)?;
    let access = Access::new(cx, ptr, mask, function.widest)?;
    let used = cx.ir.has_uses(cx.ir.result(op));
    let reads = is_read(cx, op, &function, &order, value);
    let (ptrs, values) = (cx.get(ptr)?, cx.get(value)?);
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    if order.releases() {
        cx.barrier_once()?;
    }
    let owner = owner(cx, access.free)?;
    let mut results: Vec<Val<'_>> = Vec::with_capacity(ptrs.len());
    for first in (0..ptrs.len()).step_by(access.vec) {
        let canonical = access.canonical(first);
        if canonical != first {
            if used {
                results.extend_from_within(canonical..canonical + access.vec);
            }
            continue;
        }
        let pred = predicate(cx, owner, masks.as_ref(), first)?;
        let words = pack(cx, &access, &values, first)?;
        let address = register(&ptrs, first)?;
        let old = if reads {
            one_access(
                cx,
                &access,
                &format!("ld.{}.{}.global.b{}", order.sem, order.scope, access.word_bits),
                address,
                &[],
                pred,
                true,
            )?
        } else if function.by_swapping {
            swap_loop(cx, &access, &order, address, operand(&words, 0)?, pred)?
        } else {
            let opcode = format!("atom.global.{}.{}{}", order.scope, order.sem, function.suffix(&access));
            one_access(cx, &access, &opcode, address, &[words], pred, true)?
        };
        if used {
            old.into_iter().try_for_each(|word| access.unpack(cx, word, &mut results))?;
        }
    }
    finish(cx, op, &access, owner, results, &order)
}

/// Lowers `tt.atomic_cas`.
pub(super) fn cas(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicCas(op);
    let (ptr, cmp, value) = (view.ptr(cx.ir), view.cmp(cx.ir), view.val(cx.ir));
    let elem = pointee(cx, ptr)?;
    let bits = elem.bit_width().unwrap_or(64);
    if !matches!(bits, 16 | 32 | 64) {
        return Err(cx.unsupported(op, &format!("{elem} cannot be compared and swapped; 16, 32 and 64 bits can")));
    }
    let order = Order::of(cx, op)?;
    check_sharing(cx, op)?;
    let access = Access::new(cx, ptr, None, bits)?;
    let used = cx.ir.has_uses(cx.ir.result(op));
    let (ptrs, cmps, values) = (cx.get(ptr)?, cx.get(cmp)?, cx.get(value)?);
    if order.releases() {
        cx.barrier_once()?;
    }
    let owner = owner(cx, access.free)?;
    let opcode = format!("atom.global.{}.{}.cas.b{bits}", order.sem, order.scope);
    let mut results: Vec<Val<'_>> = Vec::with_capacity(ptrs.len());
    for i in 0..ptrs.len() {
        let canonical = access.canonical(i);
        if canonical != i {
            if used {
                results.extend_from_within(canonical..=canonical);
            }
            continue;
        }
        let words = [pack(cx, &access, &cmps, i)?, pack(cx, &access, &values, i)?];
        let pred = predicate(cx, owner, None, i)?;
        for word in one_access(cx, &access, &opcode, register(&ptrs, i)?, &words, pred, true)? {
            if used {
                access.unpack(cx, word, &mut results)?;
            }
        }
    }
    finish(cx, op, &access, owner, results, &order)
}

/// Whether an addition is one of zero that only reads: a scalar with a constant operand, without a release.
fn is_read(cx: &Lower<'_, '_>, op: Op, function: &Function, order: &Order, value: Value) -> bool {
    let ty = cx.ir.ty(value);
    if !function.name.starts_with("add") || order.releases() || ty.is_tensor() || function.by_swapping {
        return false;
    }
    let constant = cx.ir.def_op(value).filter(|&c| cx.ir.kind(c) == OpKind::Arith(ArithOp::Constant));
    constant.and_then(|c| cx.ir.attr(c, "value")).and_then(Attr::splat_value) == Some(0)
        && cx.ir.has_uses(cx.ir.result(op))
}

/// The words of the access that starts at register `first`.
pub(super) fn pack<'c>(cx: &Lower<'c, '_>, access: &Access<'c>, regs: &Regs<'c>, first: usize) -> Res<Vec<Val<'c>>> {
    let all = regs.get(first..first + access.vec).ok_or_else(|| defect("the value has too few registers"))?;
    all.chunks(access.per_word()).map(|word| access.pack(cx, word)).collect()
}

pub(super) fn predicate<'c>(
    cx: &Lower<'c, '_>,
    owner: Option<IntValue<'c>>,
    masks: Option<&Regs<'c>>,
    first: usize,
) -> Res<Option<Val<'c>>> {
    let mask = masks.map(|m| as_int(register(m, first)?)).transpose()?;
    // A mask that is always true is none.
    let mask = mask.filter(|m| m.get_zero_extended_constant() != Some(1));
    Ok(match (owner, mask) {
        (Some(a), Some(b)) => Some(cx.b.build_and(a, b, "")?.into()),
        (one, other) => one.or(other).map(Into::into),
    })
}

/// One instruction on memory; `sources` are its operands after the address. Where the predicate is false the result is
/// zero.
pub(super) fn one_access<'c>(
    cx: &mut Lower<'c, '_>,
    access: &Access<'c>,
    opcode: &str,
    address: Val<'c>,
    sources: &[Vec<Val<'c>>],
    pred: Option<Val<'c>>,
    result: bool,
) -> Res<Vec<Val<'c>>> {
    let mut asm = PtxAsm::default();
    let list = |operands: Vec<Operand>| match operands.as_slice() {
        [one] => Arg::Reg(*one),
        _ => Arg::List(operands),
    };
    let mut args = vec![];
    if result {
        let zero: Val<'_> = cx.int_type(access.word_bits).const_zero().into();
        let start = |asm: &mut PtxAsm<'c>| match pred {
            Some(_) => asm.output_from(access.class(), zero),
            None => asm.output(access.class()),
        };
        args.push(list((0..access.words).map(|_| start(&mut asm)).collect()));
    }
    args.push(Arg::Address(asm.input(Reg::B64, address)));
    for words in sources {
        args.push(list(words.iter().map(|&w| asm.input(access.class(), w)).collect()));
    }
    let pred = pred.map(|p| asm.input(Reg::Pred, p));
    asm.inst(pred, opcode, args);
    asm.emit(cx, true)
}

/// Step 3: `seen = *p; do { old = seen; seen = cas(p, old, old · 1 + value) } while (seen != old)`. The product with
/// one is exact, so the sum is rounded once.
fn swap_loop<'c>(
    cx: &mut Lower<'c, '_>,
    access: &Access<'c>,
    order: &Order,
    address: Val<'c>,
    value: Val<'c>,
    pred: Option<Val<'c>>,
) -> Res<Vec<Val<'c>>> {
    let (bits, ty, one) = if access.per_word() == 2 { (32, "bf16x2", "0x3f803f80") } else { (16, "bf16", "0x3f80") };
    let mut asm = PtxAsm::default();
    let out = asm.output(access.class());
    let address = asm.input(Reg::B64, address);
    let value = asm.input(access.class(), value);
    let pred = pred.map(|p| asm.input(Reg::Pred, p));
    asm.inst(None, format!("{{ .reg .pred again; .reg .b{bits} seen, old, sum, one"), vec![]);
    asm.inst(None, format!("mov.b{bits} seen, 0"), vec![]);
    if let Some(pred) = pred {
        asm.inst(Some(pred), "bra $$begin", vec![]);
        asm.inst(None, "bra $$done", vec![]);
    }
    asm.inst(None, format!("$$begin: mov.b{bits} one, {one}"), vec![]);
    asm.inst(None, format!("ld.relaxed.{}.global.b{bits} seen,", order.scope), vec![Arg::Address(address)]);
    asm.inst(None, format!("$$more: mov.b{bits} old, seen"), vec![]);
    asm.inst(None, format!("fma.rn.{ty} sum, old, one,"), vec![Arg::Reg(value)]);
    let swap = format!("atom.{}.{}.global.cas.b{bits} seen,", order.sem, order.scope);
    asm.inst(None, swap, vec![Arg::Address(address), Arg::Text("old"), Arg::Text("sum")]);
    asm.inst(None, format!("setp.ne.b{bits} again, seen, old"), vec![]);
    asm.inst(None, "@again bra $$more", vec![]);
    asm.inst(None, format!("$$done: mov.b{bits}"), vec![Arg::Reg(out), Arg::Text("seen")]);
    asm.inst(None, "}", vec![]);
    asm.emit(cx, true)
}

/// Refuses a used result whose copies lie in several blocks of a cluster.
pub(super) fn check_sharing(cx: &Lower<'_, '_>, op: Op) -> Res<()> {
    let result = cx.ir.result(op);
    let ty = cx.ir.ty(result);
    let copies = !ty.is_tensor() || free_variable_masks(Lower::layout(ty)?).block != 0;
    if cx.num_ctas > 1 && copies && cx.ir.has_uses(result) {
        return Err(cx.unsupported(
            op,
            "its result would have to be shared between the blocks of a cluster, which is not supported yet",
        ));
    }
    Ok(())
}

/// Steps 4 and 5: makes these results, from the threads that performed the accesses, the operation's. `access` says
/// what they are.
pub(super) fn finish<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    access: &Access<'c>,
    owner: Option<IntValue<'c>>,
    results: Vec<Val<'c>>,
    order: &Order,
) -> Res<()> {
    let result = cx.ir.result(op);
    let regs = match delivered(cx, op, access, owner, results, order)? {
        Some(regs) => regs,
        None => cx.poison(cx.ir.ty(result))?.to_vec(),
    };
    cx.set(result, regs);
    Ok(())
}

/// The results for every thread; `None` when nobody uses them.
pub(super) fn delivered<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    access: &Access<'c>,
    owner: Option<IntValue<'c>>,
    results: Vec<Val<'c>>,
    order: &Order,
) -> Res<Option<Vec<Val<'c>>>> {
    let free = thread_mask(cx, access.free);
    let used = cx.ir.has_uses(cx.ir.result(op));
    if let (true, true, Some(owner)) = (used, free != 0, owner) {
        return share(cx, op, access, owner, free, &results).map(Some);
    }
    if order.acquires() {
        cx.barrier_once()?;
    }
    Ok(used.then_some(results))
}

/// Gives every thread the results of the threads that performed the accesses.
fn share<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    access: &Access<'c>,
    owner: IntValue<'c>,
    free: u64,
    results: &[Val<'c>],
) -> Res<Vec<Val<'c>>> {
    let ty = cx.ir.ty(cx.ir.result(op));
    let threads = if ty.is_tensor() {
        let layout = Lower::layout(ty)?;
        1u64 << (layout.in_bits(Dim::Lane) + layout.in_bits(Dim::Warp))
    } else {
        1
    };
    let kept = !free & (threads - 1);
    let thread = kept_thread(cx, kept)?;
    let (bytes, kept_threads) = (u64::from(access.elem_bits / 8), 1u64 << kept.count_ones());
    let own = cx.b.build_int_mul(thread, cx.i32(bytes), "")?;
    let scratch = cx.scratch(op)?;
    let base = cx.shared_at(scratch, own)?;
    let unique: Vec<usize> = (0..results.len()).filter(|&i| access.canonical(i) == i).collect();
    let class = Reg::of_bits(access.elem_bits);
    for (slot, &i) in unique.iter().enumerate() {
        let at = cx.shared_at(base, cx.i32(slot as u64 * kept_threads * bytes))?;
        let mut asm = PtxAsm::default();
        let address = cx.b.build_cast(InstructionOpcode::PtrToInt, at, cx.int_type(32), "")?;
        let address = asm.input(Reg::B32, address);
        let bits = super::cast::bits_as(cx, results[i], cx.int_type(access.elem_bits).into())?;
        let (value, pred) = (asm.input(class, bits), asm.input(Reg::Pred, owner.into()));
        asm.inst(Some(pred), format!("st.shared.b{}", access.elem_bits), vec![Arg::Address(address), Arg::Reg(value)]);
        asm.memory_clobber();
        asm.emit(cx, true)?;
    }
    cx.barrier()?;
    let mut loaded: BTreeMap<usize, Val<'c>> = BTreeMap::new();
    for (slot, &i) in unique.iter().enumerate() {
        let at = cx.shared_at(base, cx.i32(slot as u64 * kept_threads * bytes))?;
        loaded.insert(i, operand(&cx.load_shared(at, access.elem, 1)?, 0)?);
    }
    (0..results.len())
        .map(|i| loaded.get(&access.canonical(i)).copied().ok_or_else(|| defect("a result without its own register")))
        .collect()
}

/// The number of this thread among those that differ in the kept bits: those bits moved together.
/// Bits 0, 1 and 4 kept: `(tid & 3) | (tid >> 2 & 4)`.
fn kept_thread<'c>(cx: &mut Lower<'c, '_>, kept: u64) -> Res<IntValue<'c>> {
    let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
    for (place, bit) in (0..64).filter(|b| kept >> b & 1 == 1).enumerate() {
        *groups.entry(bit - place as u64).or_default() |= 1 << bit;
    }
    let mut number = cx.i32(0);
    for (shift, mask) in groups {
        let bits = cx.b.build_and(cx.thread_id(), cx.i32(mask), "")?;
        let moved = cx.b.build_right_shift(bits, cx.i32(shift), false, "")?;
        number = cx.b.build_or(number, moved, "")?;
    }
    Ok(number)
}
