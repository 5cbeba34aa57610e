//! What each operation does to the facts of [`super`]: one function a family, `None` where nothing is known of the
//! result.
//!
//! A rule's argument stands beside it where it is not plain. In them, a run of an operand is `b, b+1, …`, with `b`
//! divisible by the operand's divisibility, and a block is a stretch of equal elements.

use super::{AxisInfo, MAX_DIVISOR, gcd, highest_pow2_divisor};
use crate::analysis::signs::Signs;
use crate::ir::core::{Attr, AttrData, DenseData, Ir, Op, Type};
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::enums::CmpiPredicate::{self, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
use crate::ir::dialects::tt::tt::{Addptr, Broadcast, ExpandDims, MakeRange, Reshape, Trans};
use crate::ir::dialects::{ArithOp, BuiltinOp, OpKind, TtOp, TtgOp, UbOp};

/// The facts about the results of `op`, from those about its operands.
pub(super) fn transfer(ir: &Ir, op: Op, args: &[&AxisInfo], signs: &Signs) -> Option<AxisInfo> {
    let ty = ir.ty(ir.result(op));
    if let OpKind::Arith(kind) = ir.kind(op) {
        return arith(ir, op, kind, ty, args, signs);
    }
    if let OpKind::Tt(kind) = ir.kind(op) {
        return tt(ir, op, kind, ty, args);
    }
    if ir.is(op, UbOp::Poison) {
        let all = vec![MAX_DIVISOR; super::axes_of(ty)];
        return Some(AxisInfo { contiguity: all.clone(), divisibility: all.clone(), constancy: all, constant: None });
    }
    // The same elements in other threads.
    let same = ir.is(op, TtgOp::ConvertLayout) || ir.is(op, BuiltinOp::UnrealizedConversionCast);
    if same { args.first().copied().cloned() } else { None }
}

fn arith(ir: &Ir, op: Op, kind: ArithOp, ty: Type, args: &[&AxisInfo], signs: &Signs) -> Option<AxisInfo> {
    use ArithOp as A;
    // Quotients and remainders with a sign round toward zero: below it, their facts do not repeat as above.
    let repeats = |kind| matches!(kind, A::Divui | A::Remui) || !signs.may_be_negative(ir.operand(op, 0));
    match (kind, args) {
        (A::Constant, []) => constant(view::Constant(op).value(ir)?),
        (A::Extsi, &[x]) => Some(x.clone()),
        (A::Extui, &[x]) => Some(AxisInfo { constant: x.constant.filter(|&v| v >= 0), ..x.clone() }),
        (A::Trunci, &[x]) => Some(truncated(ty, x)),
        (A::Addi, [x, y]) => Some(sum(ty, x, y, Sum::Add)),
        (A::Subi, [x, y]) => Some(sum(ty, x, y, Sum::Sub)),
        (A::Muli, [x, y]) => Some(product(ty, x, y)),
        (A::Divsi | A::Divui, [x, y]) => Some(quotient(ty, x, y, repeats(kind))),
        (A::Remsi | A::Remui, [x, y]) => Some(remainder(ty, x, y, repeats(kind))),
        (A::Andi, [x, y]) => Some(masked_bits(ty, x, y)),
        (A::Ori, [x, y]) => Some(bitwise(ty, x, y, |a, b| a | b)),
        (A::Xori, [x, y]) => Some(bitwise(ty, x, y, |a, b| a ^ b)),
        (A::Shli, [x, y]) => Some(shift_left(ty, x, y)),
        (A::Shrsi | A::Shrui, [x, y]) => Some(shift_right(ty, x, y)),
        (A::Maxsi | A::Maxui, [x, y]) => Some(extremum(ty, x, y, i64::max)),
        (A::Minsi | A::Minui, [x, y]) => Some(extremum(ty, x, y, i64::min)),
        (A::Cmpi, [x, y]) => comparison(ty, view::Cmpi(op).predicate(ir)?, x, y),
        (A::Select, [cond, x, y]) => {
            let per_element = ir.ty(view::Select(op).condition(ir)).is_tensor();
            Some(select(ty, per_element, cond, x, y))
        }
        // That nothing is known of a result is true of every operation.
        _ => None,
    }
}

fn tt(ir: &Ir, op: Op, kind: TtOp, ty: Type, args: &[&AxisInfo]) -> Option<AxisInfo> {
    let source = args.first().copied();
    match kind {
        TtOp::Bitcast => Some(bitcast(source?, pointee_bytes(ir.ty(ir.operand(op, 0))), pointee_bytes(ty))),
        TtOp::MakeRange => {
            let range = MakeRange(op);
            let (start, end) = (range.start(ir)?, range.end(ir)?);
            // Bounds are 32 bits wide, and so is the divisor of zero here.
            let divisor = highest_pow2_divisor(start).min(1 << 30);
            Some(AxisInfo {
                contiguity: vec![end - start],
                divisibility: vec![divisor],
                constancy: vec![1],
                constant: None,
            })
        }
        TtOp::Addptr => {
            let &[ptr, offset] = args else { return None };
            Some(sum(ty, ptr, offset, Sum::Ptr(pointee_bytes(ir.ty(Addptr(op).ptr(ir))))))
        }
        TtOp::Splat => {
            let (src, rank) = (source?, ty.rank());
            Some(AxisInfo {
                contiguity: vec![1; rank],
                divisibility: vec![src.divisibility[0]; rank],
                constancy: ty.shape().to_vec(),
                constant: src.constant,
            })
        }
        TtOp::Load => {
            let ptr = source?;
            // Of the pointer, the mask and what stands in where that is false.
            let constancy =
                (0..ptr.rank()).map(|d| args.iter().fold(0, |all, arg| gcd(all, arg.constancy[d]))).collect();
            Some(AxisInfo { constancy, ..AxisInfo::unknown(ptr.rank()) })
        }
        TtOp::ExpandDims => expand_dims(source?, usize::try_from(ExpandDims(op).axis(ir)?).ok()?),
        TtOp::Broadcast => Some(broadcast(source?, ir.ty(Broadcast(op).src(ir)).shape(), ty.shape())),
        TtOp::Reshape => Some(reshape(source?, ir.ty(Reshape(op).src(ir)).shape(), ty.shape())),
        TtOp::Trans => transpose(source?, Trans(op).order(ir)?),
        // As for `arith`.
        _ => None,
    }
}

/// Pointers under another type. What follows each other by elements of one size does not by those of another, and each
/// element is the first of its own run then.
fn bitcast(source: &AxisInfo, from: i64, to: i64) -> AxisInfo {
    let mut info = source.clone();
    for d in (0..source.rank()).filter(|&d| from != to && source.contiguity[d] > 1) {
        info.contiguity[d] = 1;
        info.divisibility[d] = gcd(info.divisibility[d], from);
    }
    info
}

/// Bytes of what a pointer (or each of a tensor of pointers) points at.
fn pointee_bytes(ptr: Type) -> i64 {
    let bits = ptr.elem().pointee().and_then(Type::bit_width).unwrap_or(8);
    i64::from((bits / 8).max(1))
}

fn constant(value: Attr) -> Option<AxisInfo> {
    match value.data() {
        AttrData::Int(v, _) => Some(all_equal(&[1], *v)),
        AttrData::Dense(ty, DenseData::Splat(bits)) if !ty.elem().is_float() => {
            Some(all_equal(ty.shape(), *bits as i64))
        }
        _ => None,
    }
}

/// A tensor of this shape (`[1]` for a scalar) of one known value.
fn all_equal(shape: &[i64], value: i64) -> AxisInfo {
    AxisInfo {
        contiguity: vec![1; shape.len()],
        divisibility: vec![highest_pow2_divisor(value); shape.len()],
        constancy: shape.to_vec(),
        constant: Some(value),
    }
}

/// [`all_equal`] in the shape of a type.
fn known(ty: Type, rank: usize, value: i64) -> AxisInfo {
    if ty.is_tensor() { all_equal(ty.shape(), value) } else { all_equal(&vec![1; rank], value) }
}

/// `a · b` without overflow.
fn scale(a: i64, b: i64) -> i64 {
    if a > MAX_DIVISOR / b { MAX_DIVISOR } else { a * b }
}

/// The divisibility where runs of two values are cut to common lengths: a run that is cut starts anew inside an old
/// run, where only the new length divides. Example: `[0, 1 | 4, 5]` and `[16, 17, 18, 19]` give runs of 2, and 18 is
/// divisible by 2 only.
pub(super) fn joined_divisibility(a: &AxisInfo, b: &AxisInfo, d: usize) -> i64 {
    let both = gcd(a.divisibility[d], b.divisibility[d]);
    let (ca, cb) = (a.contiguity[d], b.contiguity[d]);
    if ca == cb || ca == MAX_DIVISOR || cb == MAX_DIVISOR { both } else { gcd(both, gcd(ca, cb)) }
}

/// Equal elements stay equal under any function of both.
fn common_constancy(a: &AxisInfo, b: &AxisInfo) -> Vec<i64> {
    (0..a.rank()).map(|d| gcd(a.constancy[d], b.constancy[d])).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sum {
    Add,
    Sub,
    /// A pointer plus an offset in elements of this many bytes.
    Ptr(i64),
}

fn sum(ty: Type, a: &AxisInfo, b: &AxisInfo, kind: Sum) -> AxisInfo {
    if let (Some(x), Some(y)) = (a.constant, b.constant) {
        let value = match kind {
            Sum::Add => x.wrapping_add(y),
            Sum::Sub => x.wrapping_sub(y),
            Sum::Ptr(bytes) => x.wrapping_add(y.wrapping_mul(bytes)),
        };
        return known(ty, a.rank(), value);
    }
    let axes = 0..a.rank();
    AxisInfo {
        contiguity: axes.clone().map(|d| sum_contiguity(a, b, kind, d)).collect(),
        divisibility: axes.map(|d| sum_divisibility(a, b, kind, d)).collect(),
        constancy: common_constancy(a, b),
        constant: None,
    }
}

/// A run plus a block is a run. Two runs add up to steps of two; a block minus a run decreases.
fn sum_contiguity(a: &AxisInfo, b: &AxisInfo, kind: Sum, d: usize) -> i64 {
    let run_and_block = gcd(a.contiguity[d], b.constancy[d]);
    if kind == Sum::Sub { run_and_block } else { run_and_block.max(gcd(a.constancy[d], b.contiguity[d])) }
}

fn sum_divisibility(a: &AxisInfo, b: &AxisInfo, kind: Sum, d: usize) -> i64 {
    let bytes = if let Sum::Ptr(bytes) = kind { bytes } else { 1 };
    let (da, db) = (a.divisibility[d], scale(b.divisibility[d], bytes));
    let (ca, cb) = (a.contiguity[d], b.contiguity[d]);
    if ca > 1 && cb > 1 {
        if kind == Sum::Sub && ca == cb {
            return gcd(da, db);
        }
        return if da % 2 == 0 && db % 2 == 0 { 2 } else { 1 };
    }
    let both = gcd(da, db);
    // A run of the result may start inside a longer run of an operand.
    if ca > 1 || cb > 1 { gcd(both, scale(sum_contiguity(a, b, kind, d), bytes)) } else { both }
}

fn product(ty: Type, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
    match (a.constant, b.constant) {
        (Some(x), Some(y)) => return known(ty, a.rank(), x.wrapping_mul(y)),
        (Some(0), _) | (_, Some(0)) => return known(ty, a.rank(), 0),
        _ => {}
    }
    // The elements of a run are divisible by no more than 1 once they are scaled: [4, 5] · 2 = [8, 10].
    let divisor = |x: &AxisInfo, other: &AxisInfo, d: usize| {
        if x.contiguity[d] > 1 && other.constant != Some(1) { 1 } else { x.divisibility[d] }
    };
    let run = |x: &AxisInfo, other: &AxisInfo, d: usize| if other.constant == Some(1) { x.contiguity[d] } else { 1 };
    let axes = 0..a.rank();
    AxisInfo {
        contiguity: axes.clone().map(|d| run(a, b, d).max(run(b, a, d))).collect(),
        divisibility: axes.map(|d| scale(divisor(a, b, d), divisor(b, a, d))).collect(),
        constancy: common_constancy(a, b),
        constant: None,
    }
}

/// One run along the whole axis divided by (or taken modulo) one block: the facts repeat every so many elements.
/// For `[16k, 16k+1, …] / 8p` the quotient changes only at multiples of 8, and so for any common divisor of both, from
/// zero on.
fn period(ty: Type, a: &AxisInfo, b: &AxisInfo, d: usize) -> Option<i64> {
    let size = *ty.as_tensor()?.shape.get(d)?;
    (a.contiguity[d] == size && b.constancy[d] == size)
        .then(|| gcd(a.contiguity[d], gcd(a.divisibility[d], b.divisibility[d])))
}

fn quotient(ty: Type, a: &AxisInfo, b: &AxisInfo, repeats: bool) -> AxisInfo {
    let stretch = |d: usize| period(ty, a, b, d).filter(|_| repeats).unwrap_or(1);
    if let (Some(x), Some(y)) = (a.constant, b.constant)
        && y != 0
    {
        return known(ty, a.rank(), x.wrapping_div(y));
    }
    let divisibility = |d: usize| match (a.constant, b.constant) {
        (Some(0), _) | (_, Some(1)) => a.divisibility[d],
        (_, Some(y)) if y.unsigned_abs().is_power_of_two() && a.contiguity[d] == 1 => {
            (a.divisibility[d] / y.abs().max(1)).max(1)
        }
        _ => 1,
    };
    let axes = 0..a.rank();
    AxisInfo {
        contiguity: axes.clone().map(|d| if b.constant == Some(1) { a.contiguity[d] } else { 1 }).collect(),
        divisibility: axes.clone().map(divisibility).collect(),
        constancy: axes.map(|d| gcd(a.constancy[d], b.constancy[d]).max(stretch(d))).collect(),
        constant: None,
    }
}

fn remainder(ty: Type, a: &AxisInfo, b: &AxisInfo, repeats: bool) -> AxisInfo {
    match (a.constant, b.constant) {
        (Some(x), Some(y)) if y != 0 => return known(ty, a.rank(), x.wrapping_rem(y)),
        (_, Some(1)) => return known(ty, a.rank(), 0),
        _ => {}
    }
    let axes = 0..a.rank();
    let runs: Vec<i64> = axes.clone().map(|d| period(ty, a, b, d).filter(|_| repeats).unwrap_or(1)).collect();
    AxisInfo {
        // a = g·x and b = g·y have a remainder that g divides. What is known of divisors holds for the first element of
        // a run: b must not vary inside of it, or there are no runs, as for scalars. Where the runs of the result are
        // shorter than those of a, they start inside of these.
        divisibility: axes
            .map(|d| {
                let single = a.contiguity[d] == 1 && b.contiguity[d] == 1;
                let divisor = gcd(a.divisibility[d], b.divisibility[d]);
                match b.constancy[d] > 1 || single {
                    true if a.contiguity[d] > runs[d] => gcd(divisor, runs[d]),
                    true => divisor,
                    false => 1,
                }
            })
            .collect(),
        contiguity: runs,
        constancy: common_constancy(a, b),
        constant: None,
    }
}

fn bitwise(ty: Type, a: &AxisInfo, b: &AxisInfo, f: fn(i64, i64) -> i64) -> AxisInfo {
    match (a.constant, b.constant) {
        (Some(x), Some(y)) => known(ty, a.rank(), f(x, y)),
        _ => AxisInfo { constancy: common_constancy(a, b), ..AxisInfo::unknown(a.rank()) },
    }
}

/// A mask whose lowest bit is 2^k leaves multiples of 2^k, and multiples of 2^j what they are.
fn masked_bits(ty: Type, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
    let mut info = bitwise(ty, a, b, |a, b| a & b);
    for (number, mask) in [(a, b.constant), (b, a.constant)] {
        let Some(mask) = mask.filter(|&mask| mask != 0 && info.constant.is_none()) else { continue };
        for d in 0..info.rank() {
            let known = if number.contiguity[d] == 1 { number.divisibility[d] } else { 1 };
            info.divisibility[d] = known.max(highest_pow2_divisor(mask));
        }
    }
    info
}

fn shift_left(ty: Type, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
    let amount = b.constant.and_then(|s| u32::try_from(s).ok()).filter(|&s| s < 62);
    if let (Some(x), Some(s)) = (a.constant, amount) {
        return known(ty, a.rank(), x.wrapping_shl(s));
    }
    let s = amount.unwrap_or(0);
    let axes = 0..a.rank();
    AxisInfo {
        contiguity: axes.clone().map(|d| if amount == Some(0) { a.contiguity[d] } else { 1 }).collect(),
        divisibility: axes
            .map(|d| match (a.contiguity[d] > 1, b.constant) {
                // By an unknown amount, the elements of a run but the first share no divisor.
                (true, None) => 1,
                (true, Some(n)) if n != 0 => scale(1, 1 << s),
                _ => scale(a.divisibility[d], 1 << s),
            })
            .collect(),
        constancy: common_constancy(a, b),
        constant: None,
    }
}

fn shift_right(ty: Type, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
    let amount = b.constant.and_then(|s| u32::try_from(s).ok()).filter(|&s| s < 62);
    if let (Some(x), Some(s)) = (a.constant, amount) {
        return known(ty, a.rank(), x >> s);
    }
    let axes = 0..a.rank();
    AxisInfo {
        contiguity: axes.clone().map(|d| if amount == Some(0) { a.contiguity[d] } else { 1 }).collect(),
        divisibility: axes
            .map(|d| match amount {
                None => 1,
                Some(s) if a.contiguity[d] > 1 && s != 0 => 1,
                Some(s) => (a.divisibility[d] >> s).max(1),
            })
            .collect(),
        constancy: common_constancy(a, b),
        constant: None,
    }
}

fn extremum(ty: Type, a: &AxisInfo, b: &AxisInfo, pick: fn(i64, i64) -> i64) -> AxisInfo {
    match (a.constant, b.constant) {
        (Some(x), Some(y)) => known(ty, a.rank(), pick(x, y)),
        _ => AxisInfo { constant: None, ..a.join(b) },
    }
}

/// Numbers that lose their upper bits start again from the smallest after the largest, so runs end there.
fn truncated(ty: Type, x: &AxisInfo) -> AxisInfo {
    let Some(bits) = ty.elem().bit_width().filter(|&bits| bits < 64) else { return x.clone() };
    let limit = 1 << (bits - 1);
    let mut this = x.clone();
    for (run, divisor) in this.contiguity.iter_mut().zip(&mut this.divisibility) {
        if *run > limit {
            (*run, *divisor) = (limit, limit.min(*divisor));
        }
    }
    // A truth is 0 or 1, other numbers are signed.
    this.constant = this.constant.map(|v| if bits == 1 { v & 1 } else { v << (64 - bits) >> (64 - bits) });
    this
}

/// Comparisons of a run with a block: `run < block` and `run >= block` change only at the block's value, hence only at
/// multiples of a common divisor; mirrored, `block > run` and `block <= run`. The other four change just after it.
fn comparison(ty: Type, predicate: CmpiPredicate, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
    let shape = ty.as_tensor()?.shape.clone();
    let rank = shape.len();
    if let (Some(x), Some(y)) = (a.constant, b.constant) {
        let holds = predicate.holds(x, y, 64);
        return Some(AxisInfo { constancy: shape, constant: Some(i64::from(holds)), ..AxisInfo::unknown(rank) });
    }
    let block_first = matches!(predicate, Sgt | Ugt | Sle | Ule);
    let run_first = matches!(predicate, Slt | Ult | Sge | Uge);
    let constancy = (0..rank)
        .map(|d| {
            let equal = gcd(a.constancy[d], b.constancy[d]);
            let divisors = gcd(a.divisibility[d], b.divisibility[d]);
            // A stretch of this length lies within a block and within a run.
            if block_first {
                equal.max(gcd(gcd(a.constancy[d], b.contiguity[d]), divisors))
            } else if run_first {
                equal.max(gcd(gcd(b.constancy[d], a.contiguity[d]), divisors))
            } else {
                equal
            }
        })
        .collect();
    Some(AxisInfo { constancy, ..AxisInfo::unknown(rank) })
}

fn select(ty: Type, per_element: bool, cond: &AxisInfo, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
    match cond.constant {
        Some(0) => return b.clone(),
        Some(_) => return a.clone(),
        None => {}
    }
    let mut info = AxisInfo { constant: None, ..a.join(b) };
    if per_element {
        for d in 0..info.rank() {
            info.constancy[d] = gcd(info.constancy[d], cond.constancy[d]);
            info.contiguity[d] = gcd(info.contiguity[d], cond.constancy[d]);
            info.divisibility[d] = gcd(info.divisibility[d], info.contiguity[d]);
        }
    }
    if a.constant.is_some() && a.constant == b.constant {
        info.constant = a.constant;
        info.constancy = if ty.is_tensor() { ty.shape().to_vec() } else { vec![1; info.rank()] };
    }
    info
}

fn expand_dims(src: &AxisInfo, axis: usize) -> Option<AxisInfo> {
    if axis > src.rank() {
        return None;
    }
    // Along the new axis every element starts a run of its own: inside old runs only 1 divides them all.
    let divisor = match src.constant {
        Some(c) => highest_pow2_divisor(c),
        None => (0..src.rank()).map(|d| if src.contiguity[d] > 1 { 1 } else { src.divisibility[d] }).fold(0, gcd),
    };
    let mut info = src.clone();
    info.contiguity.insert(axis, 1);
    info.divisibility.insert(axis, divisor);
    info.constancy.insert(axis, 1);
    Some(info)
}

fn broadcast(src: &AxisInfo, from: &[i64], to: &[i64]) -> AxisInfo {
    let mut info = src.clone();
    for d in (0..to.len()).filter(|&d| from[d] == 1) {
        info.contiguity[d] = 1;
        info.constancy[d] = to[d];
    }
    info
}

fn transpose(src: &AxisInfo, order: &[i64]) -> Option<AxisInfo> {
    let pick = |v: &[i64]| order.iter().map(|&d| v.get(usize::try_from(d).ok()?).copied()).collect::<Option<Vec<_>>>();
    Some(AxisInfo {
        contiguity: pick(&src.contiguity)?,
        divisibility: pick(&src.divisibility)?,
        constancy: pick(&src.constancy)?,
        constant: src.constant,
    })
}

/// `strides[d]` elements lie between neighbours along axis d in row-major order; the last entry is 1 and the first the
/// whole size.
fn strides(shape: &[i64]) -> Vec<i64> {
    let mut out = vec![1; shape.len() + 1];
    for d in (0..shape.len()).rev() {
        out[d] = out[d + 1] * shape[d];
    }
    out
}

/// Each axis of the result is a piece of the source axis in whose stride its own stride falls, and inherits what is
/// known there. Example: contiguity 8 along `tensor<8>` becomes `[1, 4]` along `tensor<2x4>`: the inner axis starts at
/// the source's stride, the outer does not.
fn reshape(src: &AxisInfo, from: &[i64], to: &[i64]) -> AxisInfo {
    if let Some(c) = src.constant {
        return all_equal(to, c);
    }
    let (src_strides, dst_strides) = (strides(from), strides(to));
    let mut info = AxisInfo::unknown(to.len());
    for d in 0..to.len() {
        let stride = dst_strides[d + 1];
        // Leading axes of size 1 have the stride of the whole tensor and reuse the outermost source axis.
        let s = (0..from.len()).find(|&s| src_strides[s + 1] <= stride && stride < src_strides[s]).unwrap_or(0);
        let src_stride = src_strides[s + 1];
        if src.contiguity[s] > 1 {
            if stride == src_stride {
                let run = src.contiguity[s].min(to[d]);
                info.contiguity[d] = run;
                info.divisibility[d] =
                    if run == src.contiguity[s] { src.divisibility[s] } else { src.divisibility[s].min(run) };
            }
            continue;
        }
        let constant_up_to = src_stride * src.constancy[s];
        if stride <= constant_up_to {
            info.constancy[d] = merged_constancy(src, from, s, to[d], constant_up_to / stride);
        }
        info.divisibility[d] = src.divisibility[s];
    }
    info
}

/// A constant source axis that the new axis swallows whole lets it go on into the axes outside of it.
fn merged_constancy(src: &AxisInfo, from: &[i64], s: usize, size: i64, within: i64) -> i64 {
    let mut constancy = size.min(within);
    let mut left = size / constancy.max(1);
    if src.constancy[s] != from[s] {
        return constancy;
    }
    for dim in (0..s).rev() {
        if left <= 1 {
            break;
        }
        let piece = from[dim].min(left);
        let constant = src.constancy[dim].min(piece);
        constancy *= constant;
        if constant < piece {
            break;
        }
        left /= piece;
    }
    constancy
}
