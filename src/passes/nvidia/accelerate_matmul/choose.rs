//! Which instruction multiplies, and how warps tile the result.

use super::chains::{Chains, Neighbours};
use crate::ir::core::encoding::NvidiaMma;
use crate::ir::core::{Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::enums::InputPrecision;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{Classes, Traits, TtOp, TtgOp};
use crate::ir::effects::effects;
use crate::ir::encoding::questions::{cga_of, is_matrix_result};
use crate::layout;
use crate::passes::ttg::module_attrs;
use crate::target::{Generation, Target};

/// The choice for one product.
pub(super) struct Multiplier {
    /// The tensor-core layout of the result; `None` where threads multiply.
    pub(super) mma: Option<NvidiaMma>,
    /// Whether the GPU has an instruction that this product cannot use.
    pub(super) refused: bool,
}

/// Step 1 and 2, of product `number` of `chains`.
pub(super) fn multiplier(
    ir: &Ir,
    (number, op): (usize, Op),
    chains: &mut Chains,
    target: &Target,
    wgmma: bool,
) -> Multiplier {
    let ty = ir.ty(ir.result(op));
    let dot = tt::Dot(op);
    let (a, b) = (ir.ty(dot.a(ir)), ir.ty(dot.b(ir)));
    let none = |refused| Multiplier { mma: None, refused };
    if target.generation() == Generation::Older || ty.layout().is_none_or(is_matrix_result) {
        return none(false);
    }
    let f64_types = [a, b, ty].iter().any(|t| is_f64(t.elem()));
    if f64_types && !target.has_fast_f64_mma() {
        return none(false);
    }
    let num_warps = module_attrs::num_warps_at(ir, op).unwrap_or(4);
    let Some(encoding) = ty.encoding() else { return none(false) };
    let share = layout::shape_per_cta(encoding, ty.shape());
    let wgmma = wgmma && target.generation() == Generation::Hopper;
    let refused = wgmma && !takes_wgmma(ir, dot, &share, num_warps);
    let version = if wgmma && !refused {
        3
    } else if takes_mma(ir, dot) {
        2
    } else {
        return none(refused);
    };
    let (instr_shape, warps_per_cta) = if version == 3 {
        let instr = wgmma_shape(&share, a.elem(), num_warps);
        let warps = warps_of_wgmma(chains.feeds_product(ir, ir.result(op)), &share, num_warps);
        (instr, warps)
    } else {
        let mut instr = vec![1; share.len()];
        instr[share.len() - 1] = 8;
        instr[share.len() - 2] = if is_f64(a.elem()) { 8 } else { 16 };
        (instr, warps_of_mma(&chains.neighbours(number, share.len()), &share, num_warps))
    };
    let encoding = NvidiaMma { version_major: version, version_minor: 0, warps_per_cta, cga: cga_of(ty), instr_shape };
    Multiplier { mma: Some(encoding), refused }
}

fn is_f64(ty: Type) -> bool {
    ty.is_float() && ty.bit_width() == Some(64)
}

/// The two 8-bit floats that tensor cores multiply.
pub(super) fn is_fp8(ty: Type) -> bool {
    ty.as_float().is_some_and(|f| matches!(f.name(), "f8E5M2" | "f8E4M3FN"))
}

fn is_f32(ty: Type) -> bool {
    ty == Type::f32()
}

/// Whether some tensor-core instruction multiplies these types at the wanted precision.
fn takes_mma(ir: &Ir, dot: tt::Dot) -> bool {
    let elems = [dot.a(ir), dot.b(ir)].map(|factor| ir.ty(factor).elem());
    if elems.iter().all(|&e| is_f32(e)) {
        return dot.inputPrecision(ir) == Some(InputPrecision::Tf32);
    }
    elems.iter().all(|&e| {
        let any_fp8 = e.is_float() && e.bit_width() == Some(8);
        any_fp8 || e.is_float() && matches!(e.bit_width(), Some(16 | 32 | 64)) || e.is_int_of(8)
    })
}

fn takes_wgmma(ir: &Ir, dot: tt::Dot, share: &[i64], num_warps: u32) -> bool {
    let (a, result) = (ir.ty(dot.a(ir)), ir.ty(dot.d(ir)));
    let elem = a.elem();
    let bits = i64::from(elem.bit_width().unwrap_or(64));
    let k = a.shape().last().copied().unwrap_or(0);
    let types = is_fp8(elem) || elem.is_int_of(8) || elem.is_float() && bits == 16 || is_f32(elem);
    let fits =
        share.len() == 2 && share[0] % 64 == 0 && share[1] % 8 == 0 && num_warps.is_multiple_of(4) && k >= 256 / bits;
    // Sums of fp8 products stay in the instruction's short accumulator; where they may not, it cannot be used.
    let imprecise = dot.maxNumImpreciseAcc(ir).unwrap_or(0) >= 32;
    takes_mma(ir, dot) && types && fits && (imprecise || !is_fp8(elem) || !is_f32(result.elem()))
}

/// The largest N that divides the share of a warp group.
fn wgmma_shape(share: &[i64], elem: Type, num_warps: u32) -> Vec<u32> {
    let m_warps = (share[0] / 16).max(1);
    let n_warps = (i64::from(num_warps) / m_warps).max(1);
    let most = (share[1] / n_warps).max(8);
    let allowed = |n: i64| {
        if elem.is_int_of(8) { n <= 32 && n % 8 == 0 || n % 16 == 0 && n <= 224 } else { n % 8 == 0 && n <= 256 }
    };
    let n = (1..=256).rev().find(|&n| allowed(n) && share[1] % n == 0 && n <= most).unwrap_or(8);
    vec![16, n as u32, 256 / elem.bit_width().unwrap_or(16)]
}

fn warps_of_wgmma(feeds_product: bool, share: &[i64], num_warps: u32) -> Vec<u32> {
    if feeds_product {
        return vec![num_warps, 1];
    }
    let mut warps = [4, 1];
    while warps[0] * warps[1] < num_warps {
        let along_m = share[0] > 16 * i64::from(warps[0]);
        warps[usize::from(!along_m)] *= 2;
    }
    warps.to_vec()
}

fn warps_of_mma(neighbours: &Neighbours, share: &[i64], num_warps: u32) -> Vec<u32> {
    // A warp multiplies matrices of its own as long as there are any.
    if let [batch, ref matrix @ ..] = *share
        && matrix.len() == 2
    {
        let apart = u32::try_from(batch).map_or(num_warps, |batch| batch.clamp(1, num_warps));
        return [&[apart][..], &balanced(matrix, num_warps / apart)].concat();
    }
    match neighbours {
        Neighbours::Tiled(warps) => return warps.clone(),
        Neighbours::Chained if share[0] >= share[1] => return vec![num_warps, 1],
        Neighbours::Chained => return vec![1, num_warps],
        Neighbours::None => {}
    }
    balanced(share, num_warps)
}

/// Repetitions of the instruction along both axes are balanced; A's fragments take more registers, so ties go to M.
fn balanced(share: &[i64], num_warps: u32) -> Vec<u32> {
    let mut reps = [(share[0] as u64).div_ceil(16), (share[1] as u64).div_ceil(8)];
    let mut warps = [1, 1];
    while warps[0] * warps[1] < num_warps {
        let axis = usize::from(reps[0] < reps[1]);
        warps[axis] *= 2;
        reps[axis] = (reps[axis] / 2).max(1);
    }
    warps.to_vec()
}

/// Whether the value is loaded, or handed in from around, but for conversions, transpositions and views.
pub(super) fn comes_from_load(ir: &Ir, value: Value) -> bool {
    let mut value = value;
    loop {
        match ir.def(value) {
            ValueDef::Arg { .. } => return true,
            ValueDef::Result { op, .. } => {
                let kind = ir.kind(op);
                if !kind.is_view() && !ir.is(op, TtgOp::ConvertLayout) && !ir.is(op, TtOp::Trans) {
                    return kind.is_load();
                }
                value = ir.operands(op)[0];
            }
        }
    }
}

/// Whether the two last axes of what was joined are the fastest, the new one first.
pub(super) fn joins_neighbours(ty: Type) -> bool {
    let (rank, Some(encoding)) = (ty.rank() as u32, ty.encoding()) else { return false };
    let order = layout::order(encoding, ty.shape());
    rank >= 2 && order[..2] == [rank - 1, rank - 2]
}

/// Operations through which the width of an element is looked for.
pub(super) fn followed(ir: &Ir, op: Op) -> bool {
    let elementwise = ir.kind(op).has(Traits::ELEMENTWISE) && effects(ir, op).is_free();
    let view = ir.kind(op).belongs(Classes::TENSOR_VIEW);
    let spreads = ir.is(op, TtOp::Broadcast) || ir.is(op, TtgOp::Fp4ToFp) || ir.is(op, TtgOp::ConvertLayout);
    let keeps_elements = ir.kind(op).is_load() || spreads;
    elementwise || view || keeps_elements
}
