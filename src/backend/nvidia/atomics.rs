//! Atomic accesses to global memory (PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red").
//!
//! - Only additions of floats come in vectors: up to 16 bytes on sm_90, pairs of f16 before. Everything else is one
//!   element at a time.
//! - bf16 has no addition before sm_90: a loop adds with `fma` and swaps with `cas`, one or two elements at a time.
//! - ptxas turns an `atom` whose result nobody uses into `RED`, where nothing is acquired.
//!
//! Example: the scalar `atomic_add(p, 1)` is `@first atom.global.gpu.acq_rel.add.u32`.

use super::ptx_builder::{Arg, Operand, PtxAsm, Reg};
use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::{AtomicAccess, AtomicForm, Poll};
use crate::ir::dialects::enums::RmwKind;
use crate::ir::{FloatKind, Type};
use crate::target::Target;

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
    fn new(target: &Target, rmw: RmwKind, elem: Type) -> Option<Function> {
        let bits = elem.bit_width().unwrap_or(64);
        let vectors = target.has_vector_atomics();
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
            _ => return None,
        };
        if !(matches!(bits, 32 | 64) || bits == 16 && rmw == RmwKind::Fadd) {
            return None;
        }
        let by_swapping = letter == "bf" && !vectors;
        Some(Function { name, ty: format!("{letter}{bits}"), widest, by_swapping })
    }

    /// `.add.noftz.v4.f16x2`
    fn suffix(&self, access: &AtomicAccess<'_, '_>) -> String {
        let words = access.words.count;
        let vector = if words > 1 { format!(".v{words}") } else { String::new() };
        let packed = if access.per_word == 2 { "x2" } else { "" };
        format!(".{}{vector}.{}{packed}", self.name, self.ty)
    }
}

/// How the target does this operation.
pub(super) fn form(target: &Target, rmw: RmwKind, elem: Type) -> Option<AtomicForm> {
    let function = Function::new(target, rmw, elem)?;
    Some(AtomicForm { widest: function.widest, emulated: function.by_swapping })
}

/// `atom`
pub(super) fn rmw<'c>(
    cx: &mut Lower<'c, '_>,
    access: &AtomicAccess<'_, 'c>,
    (rmw, elem): (RmwKind, Type),
    words: Vec<Val<'c>>,
) -> Res<Vec<Val<'c>>> {
    let function = Function::new(&cx.options.target, rmw, elem)
        .ok_or_else(|| defect(format!("`{rmw}` of {elem} is not atomic")))?;
    if function.by_swapping {
        return swap_loop(cx, access, operand(&words, 0)?);
    }
    let opcode = format!("atom.global.{}.{}{}", access.order.scope, access.order.sem, function.suffix(access));
    one_access(cx, access, &opcode, &[words], true)
}

/// `atom.cas`
pub(super) fn compare_and_swap<'c>(
    cx: &mut Lower<'c, '_>,
    access: &AtomicAccess<'_, 'c>,
    compared: Vec<Val<'c>>,
    words: Vec<Val<'c>>,
) -> Res<Vec<Val<'c>>> {
    let opcode = format!("atom.global.{}.{}.cas.b{}", access.order.sem, access.order.scope, access.words.bits);
    one_access(cx, access, &opcode, &[compared, words], true)
}

/// `ld.acquire` and its like, which are single accesses where vectors are not (PTX ISA, "Memory Consistency Model").
pub(super) fn load<'c>(cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>) -> Res<Vec<Val<'c>>> {
    let opcode = format!("ld.{}.{}.global.b{}", access.order.sem, access.order.scope, access.words.bits);
    one_access(cx, access, &opcode, &[], true)
}

/// `st.release` and its like.
pub(super) fn store<'c>(cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>, words: Vec<Val<'c>>) -> Res<()> {
    let opcode = format!("st.{}.{}.global.b{}", access.order.sem, access.order.scope, access.words.bits);
    one_access(cx, access, &opcode, &[words], false)?;
    Ok(())
}

/// One instruction on memory; `sources` are its operands after the address. Where the predicate is false the result is
/// zero.
fn one_access<'c>(
    cx: &mut Lower<'c, '_>,
    access: &AtomicAccess<'_, 'c>,
    opcode: &str,
    sources: &[Vec<Val<'c>>],
    result: bool,
) -> Res<Vec<Val<'c>>> {
    let &AtomicAccess { words: moved, address, pred, .. } = access;
    let class = Reg::of_bits(moved.bits);
    let mut asm = PtxAsm::default();
    let list = |operands: Vec<Operand>| match operands.as_slice() {
        [one] => Arg::Reg(*one),
        _ => Arg::List(operands),
    };
    let mut args = vec![];
    if result {
        let zero: Val<'_> = cx.int_type(moved.bits).const_zero().into();
        let start = |asm: &mut PtxAsm<'c>| match pred {
            Some(_) => asm.output_from(class, zero),
            None => asm.output(class),
        };
        args.push(list((0..moved.count).map(|_| start(&mut asm)).collect()));
    }
    args.push(Arg::Address(asm.input(Reg::B64, address)));
    for words in sources {
        args.push(list(words.iter().map(|&w| asm.input(class, w)).collect()));
    }
    let pred = pred.map(|p| asm.input(Reg::Pred, p));
    asm.inst(pred, opcode, args);
    asm.emit(cx, true)
}

/// `seen = *p; do { old = seen; seen = cas(p, old, old · 1 + value) } while (seen != old)`. The product with
/// one is exact, so the sum is rounded once.
fn swap_loop<'c>(cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>, value: Val<'c>) -> Res<Vec<Val<'c>>> {
    let &AtomicAccess { words, per_word, order, address, pred } = access;
    let class = Reg::of_bits(words.bits);
    let (bits, ty, one) = if per_word == 2 { (32, "bf16x2", "0x3f803f80") } else { (16, "bf16", "0x3f80") };
    let mut asm = PtxAsm::default();
    let out = asm.output(class);
    let address = asm.input(Reg::B64, address);
    let value = asm.input(class, value);
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

/// The time in nanoseconds (PTX ISA, "globaltimer").
pub(super) fn clock<'c>(cx: &mut Lower<'c, '_>) -> Res<Val<'c>> {
    let mut asm = PtxAsm::default();
    let out = asm.output(Reg::B64);
    asm.inst(None, "mov.u64", vec![Arg::Reg(out), Arg::Text("%globaltimer")]);
    operand(&asm.emit(cx, true)?, 0)
}

/// One loop that reads again and again, relaxed, until the value is there or the time is over. Gives 1 if it came.
///
/// `more: ld.relaxed.gpu.global.b32 seen, [p]; setp.ne.b32 again, seen, expected; @again bra more;`
pub(super) fn poll<'c>(cx: &mut Lower<'c, '_>, poll: &Poll<'c>) -> Res<Val<'c>> {
    let &Poll { bits, scope, address, expected, limit, pred } = poll;
    let mut asm = PtxAsm::default();
    let out = asm.output(Reg::B32);
    let address = asm.input(Reg::B64, address);
    let expected = asm.input(Reg::of_bits(bits), expected);
    let limit = limit.map(|(start, time)| (asm.input(Reg::B64, start), asm.input(Reg::B64, time)));
    let pred = pred.map(|p| asm.input(Reg::Pred, p));
    asm.inst(None, format!("{{ .reg .pred again; .reg .b{bits} seen; .reg .b32 found; .reg .b64 now"), vec![]);
    asm.inst(None, "mov.b32 found, 0", vec![]);
    if let Some(pred) = pred {
        asm.inst(Some(pred), "bra $$more", vec![]);
        asm.inst(None, "bra $$done", vec![]);
    }
    asm.inst(None, format!("$$more: ld.relaxed.{scope}.global.b{bits} seen,"), vec![Arg::Address(address)]);
    asm.inst(None, format!("setp.ne.b{bits} again, seen,"), vec![Arg::Reg(expected)]);
    asm.inst(None, "selp.b32 found, 0, 1, again", vec![]);
    if let Some((start, time)) = limit {
        asm.inst(None, "@!again bra $$done", vec![]);
        asm.inst(None, "mov.u64 now, %globaltimer", vec![]);
        asm.inst(None, "sub.u64 now, now,", vec![Arg::Reg(start)]);
        asm.inst(None, "setp.lt.u64 again, now,", vec![Arg::Reg(time)]);
    }
    asm.inst(None, "@again bra $$more", vec![]);
    asm.inst(None, "$$done: mov.b32", vec![Arg::Reg(out), Arg::Text("found")]);
    asm.inst(None, "}", vec![]);
    asm.memory_clobber();
    operand(&asm.emit(cx, true)?, 0)
}
