//! `tt.dot_scaled` as a plain product: operands become 16-bit floats times their scales.
//!
//! # Algorithm
//!
//! 1. A product that scales B only is transposed, `a·b = (bᵀ·aᵀ)ᵀ`: tensor cores can read A from registers, where
//!    scaled values are.
//! 2. Elements are computed in f16 if either operand is f16, else in bf16, which holds every value of the narrow
//!    formats and of e8m0 but 2⁻¹²⁷ in full.
//! 3. 4-bit floats are unpacked by `ttg.fp4_to_fp`, other formats converted.
//! 4. A scale byte `e` stands for 2^(e−127), which is the float whose exponent field is `e`. For bf16 that is `e << 7`;
//!    where `e` is 0 the exponent field would say zero, and 2⁻¹²⁷ is the subnormal `0x40`, hence the maximum. For f16
//!    it is an f32 `e << 23`, truncated.
//! 5. Byte 255 is NaN, but its float is infinity. `x·0 + x` leaves finite `x` and makes infinity NaN. With fast math
//!    nobody looks. Scales that are floats are just converted.
//! 6. Each scale serves a group of elements along K: `m×s → m×s×1 → m×s×32 → m×k`, in the layouts that make these steps
//!    free when read from the operand's backwards; the few scales are converted to where they are wanted. Scales of B
//!    come as n×s and are transposed first.
//!
//! ```text
//! %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 : tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xbf16> -> tensor<64x64xf32>
//! → %v = ttg.fp4_to_fp %a {axis = 1}; %e = bitcast (%s << 7 max 64); %f = fma %e, 0, %e
//!   %g = reshape (broadcast (reshape %f)); %w = mulf %v, %g; %d = tt.dot %w, %b, %c
//! ```

use crate::ir::core::{Attr, Builder, Encoding, FloatKind, Ir, Loc, Op, Type, Value};
use crate::ir::dialects::enums::ScaledElem;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{ArithOp, MathOp, TtOp, TtgOp};
use crate::passes::ttg::infer;

/// Replaces a `tt.dot_scaled` by a `tt.dot`, which it returns.
pub fn decompose(ir: &mut Ir, op: Op) -> Option<Op> {
    let mut scaled = Scaled::of(ir, op);
    let transpose = scaled.sides[0].scale.is_none() && scaled.sides[1].scale.is_some();
    if transpose {
        scaled.transpose(ir)?;
    }
    let wide = Type::float(if scaled.sides.iter().any(|s| s.format == ScaledElem::Fp16) {
        FloatKind::F16
    } else {
        FloatKind::BF16
    });
    let result = ir.ty(scaled.accumulator).encoding()?;
    let mut factors = [scaled.accumulator; 2];
    for (index, factor) in factors.iter_mut().enumerate() {
        let value = scaled.operand(ir, index, wide)?;
        let encoding = Attr::encoding(Encoding::DotOp { op_idx: index as u32, parent: result, k_width: 0 });
        let ty = ir.ty(value).with_encoding(Some(encoding));
        let loc = ir.value_loc(scaled.sides[index].value);
        *factor = scaled.at(ir, loc).value(TtgOp::ConvertLayout, &[value], ty);
    }
    let ty = ir.ty(scaled.accumulator);
    let [a, b] = factors;
    let state = tt::Dot::state(ir.loc(op), a, b, scaled.accumulator).results(&[ty]);
    let dot = Builder::before(ir, op).insert(state);
    let product = ir.result(dot);
    let back = if transpose { transposed(&mut Builder::before(ir, op), product)? } else { product };
    ir.replace_op(op, &[back]);
    Some(dot)
}

/// The type of a scale that has more than 16 bits. The multiplication is one of 16-bit floats, so it would be rounded.
pub fn wide_scale(ir: &Ir, op: Op) -> Option<Type> {
    let sides = Scaled::of(ir, op).sides;
    let mut scales = sides.iter().filter_map(|s| s.scale).map(|v| ir.ty(v));
    scales.find(|ty| ty.elem().bit_width().is_some_and(|bits| bits > 16))
}

/// One operand.
struct Side {
    value: Value,
    scale: Option<Value>,
    format: ScaledElem,
    /// Whether pairs of 4-bit floats lie along K.
    k_pack: bool,
}

struct Scaled {
    op: Op,
    sides: [Side; 2],
    accumulator: Value,
    /// Elements a scale serves.
    group: i64,
    fast: bool,
}

impl Scaled {
    fn of(ir: &Ir, op: Op) -> Scaled {
        let dot = tt::DotScaled(op);
        let side = |value, scale, format: Option<ScaledElem>, k_pack| {
            let format = format.unwrap_or(ScaledElem::E4m3);
            Side { value, scale, format, k_pack }
        };
        let sides = [
            side(dot.a(ir), dot.a_scale(ir), dot.a_elem_type(ir), dot.lhs_k_pack(ir)),
            side(dot.b(ir), dot.b_scale(ir), dot.b_elem_type(ir), dot.rhs_k_pack(ir)),
        ];
        let a = ir.ty(sides[0].value).shape();
        let k = a[a.len() - 1] * if sides[0].format == ScaledElem::E2m1 && sides[0].k_pack { 2 } else { 1 };
        // A single scale says nothing about groups.
        let per_scale =
            |s: &Side| s.scale.map(|v| ir.ty(v)).filter(|t| t.num_elements() != 1).map(|t| k / t.shape()[t.rank() - 1]);
        let group = sides.iter().find_map(per_scale).unwrap_or(32);
        Scaled { op, sides, accumulator: dot.c(ir), group, fast: dot.fastMath(ir) }
    }

    fn at<'a>(&self, ir: &'a mut Ir, loc: Loc) -> Builder<'a> {
        let mut b = Builder::before(ir, self.op);
        b.loc = loc;
        b
    }

    /// Step 1.
    fn transpose(&mut self, ir: &mut Ir) -> Option<()> {
        for index in 0..2 {
            let value = self.sides[index].value;
            let loc = ir.value_loc(value);
            self.sides[index].value = transposed(&mut self.at(ir, loc), value)?;
        }
        let loc = ir.value_loc(self.accumulator);
        self.accumulator = transposed(&mut self.at(ir, loc), self.accumulator)?;
        self.sides.swap(0, 1);
        Some(())
    }

    /// Steps 3 to 6 of one operand.
    fn operand(&self, ir: &mut Ir, index: usize, wide: Type) -> Option<Value> {
        let side = &self.sides[index];
        let ty = ir.ty(side.value);
        let rank = ty.rank();
        let k = if index == 0 { rank - 1 } else { rank - 2 };
        let loc = ir.value_loc(side.value);
        let value = if side.format == ScaledElem::E2m1 {
            // The other one of the last two axes, if not K.
            let axis = if side.k_pack { k } else { 2 * rank - 3 - k };
            let mut shape = ty.shape().to_vec();
            shape[axis] *= 2;
            let encoding = infer::unpacked(ty.encoding()?, axis, ty.shape())?;
            let result = Type::tensor(&shape, wide, Some(encoding));
            let state = ttg::Fp4ToFp::state(loc, side.value).with(ttg::Fp4ToFp::ATTR.axis, axis as i64);
            self.at(ir, loc).result(state, result)
        } else if ty.elem() == wide {
            side.value
        } else {
            self.at(ir, loc).value(TtOp::FpToFp, &[side.value], ty.with_elem(wide))
        };
        let Some(scale) = side.scale else { return Some(value) };
        let ty = ir.ty(value);
        let scale_loc = ir.value_loc(scale);
        let mut b = self.at(ir, scale_loc);
        let scale = if index == 1 { transposed(&mut b, scale)? } else { scale };
        let scale = factor(&mut b, scale, wide, self.fast);
        let scale = self.spread(&mut b, scale, k, ty)?;
        Some(self.at(ir, loc).value(ArithOp::Mulf, &[value, scale], ty))
    }

    /// Step 6: each scale once for every element of its group, in type `wanted`; `k` is the axis of the groups.
    fn spread(&self, b: &mut Builder<'_>, scale: Value, k: usize, wanted: Type) -> Option<Value> {
        let ty = b.ir.ty(scale);
        let shape = ty.shape().to_vec();
        let (mut single, mut many) = (shape.clone(), shape.clone());
        single.insert(k + 1, 1);
        many.insert(k + 1, self.group);
        let outer = infer::reshaped(wanted.encoding()?, wanted.shape(), &many)?;
        let inner = infer::reshaped(outer, &single, &shape)?;
        let of = |shape: &[i64], encoding| Type::tensor(shape, ty.elem(), Some(encoding));
        let near = if ty.encoding() == Some(inner) {
            scale
        } else {
            b.value(TtgOp::ConvertLayout, &[scale], of(&shape, inner))
        };
        let view = tt::Reshape::state(b.loc, near).with(tt::Reshape::ATTR.efficient_layout, true);
        let single = b.result(view, of(&single, outer));
        let many = b.value(TtOp::Broadcast, &[single], of(&many, outer));
        Some(b.value(TtOp::Reshape, &[many], wanted))
    }
}

/// Steps 4 and 5: scales as floats.
fn factor(b: &mut Builder<'_>, scale: Value, wide: Type, fast: bool) -> Value {
    let ty = b.ir.ty(scale);
    if ty.elem().is_float() {
        return if ty.elem() == wide { scale } else { b.value(TtOp::FpToFp, &[scale], ty.with_elem(wide)) };
    }
    let through_f32 = wide == Type::float(FloatKind::F16);
    let (float, mantissa) = if through_f32 { (Type::f32(), 23) } else { (wide, 7) };
    let bits = ty.with_elem(Type::int(if through_f32 { 32 } else { 16 }));
    let (floats, result) = (ty.with_elem(float), ty.with_elem(wide));
    let wider = b.value(ArithOp::Extui, &[scale], bits);
    let by = b.int(mantissa, bits);
    let mut exponent = b.value(ArithOp::Shli, &[wider, by], bits);
    if !through_f32 {
        let least = b.int(0x40, bits);
        exponent = b.value(ArithOp::Maxui, &[exponent, least], bits);
    }
    let mut value = b.value(TtOp::Bitcast, &[exponent], floats);
    if !fast {
        let zero = b.constant(Attr::int_splat(floats, 0));
        value = b.value(MathOp::Fma, &[value, zero, value], floats);
    }
    if through_f32 { b.value(ArithOp::Truncf, &[value], result) } else { value }
}

/// The last two axes exchanged.
fn transposed(b: &mut Builder<'_>, value: Value) -> Option<Value> {
    let ty = b.ir.ty(value);
    let mut order: Vec<u32> = (0..ty.rank() as u32).collect();
    order.swap(ty.rank() - 2, ty.rank() - 1);
    let shape: Vec<i64> = order.iter().map(|&d| ty.shape()[d as usize]).collect();
    let encoding = infer::transposed(ty.encoding()?, &order, ty.shape())?;
    let order: Vec<i64> = order.into_iter().map(i64::from).collect();
    let state = tt::Trans::state(b.loc, value).with(tt::Trans::ATTR.order, &order);
    Some(b.result(state, Type::tensor(&shape, ty.elem(), Some(encoding))))
}
