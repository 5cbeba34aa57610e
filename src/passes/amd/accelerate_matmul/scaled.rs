//! `tt.dot_scaled` by CDNA4's scaled instruction, which multiplies each group of 32 elements along K by its scale.
//!
//! A lane holds 32 elements of an operand, and one byte of scale for them. With 32×32 the 64 lanes hold 32 rows, twice
//! 32 elements along K; with 16×16 they hold 16 rows, four times 32. An operand without scales gets those of 1.

use super::choose;
use crate::ir::core::encoding::{AmdMfma, LinearBases};
use crate::ir::core::{Attr, Bases, Builder, Encoding, Ir, Op, Type, Value};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::enums::ScaledElem;
use crate::ir::dialects::tt::tt;
use crate::ir::encoding::questions::cga_of;
use crate::passes::ttg::module_attrs;
use crate::target::{MatrixElem, MatrixUnit};

/// Elements along K that share a scale.
const GROUP: i64 = 32;
/// 1 as e8m0.
const ONE: i64 = 0x7f;

/// Gives a product the layouts of the scaled instruction; whether there is one for it.
pub(super) fn accelerate(ir: &mut Ir, op: Op, unit: MatrixUnit, size: u32) -> bool {
    let dot = tt::DotScaled(op);
    let old = ir.ty(ir.result(op));
    let formats = [dot.a_elem_type(ir), dot.b_elem_type(ir)];
    let takes = |f: &Option<ScaledElem>| matches!(f, Some(ScaledElem::E2m1 | ScaledElem::E4m3 | ScaledElem::E5m2));
    let several_warps = module_attrs::num_warps_at(ir, op).is_some_and(|warps| warps > 1);
    let packed = dot.lhs_k_pack(ir) && dot.rhs_k_pack(ir);
    if unit != MatrixUnit::Mfma(4) || old.rank() != 2 || !several_warps || !packed || !formats.iter().all(takes) {
        return false;
    }
    let (a, b) = (ir.ty(dot.a(ir)), ir.ty(dot.b(ir)));
    let k_size = a.shape()[1] * if formats[0] == Some(ScaledElem::E2m1) { 2 } else { 1 };
    let Some(tile) = choose::tile(old.shape(), size, false) else { return false };
    let elems = (MatrixElem::F8f6f4, MatrixElem::F8f6f4);
    let Some(instr) = choose::fitting(4, tile, k_size, elems) else { return false };
    let warps = choose::warps(ir, op, old.shape(), tile);
    let result = Attr::encoding(Encoding::AmdMfma(AmdMfma {
        version: 4,
        warps_per_cta: warps.clone(),
        instr_shape: vec![instr.m, instr.n, instr.k],
        is_transposed: true,
        cga: cga_of(old),
        tiles_per_warp: vec![1, 1],
        element_bit_width: old.elem().bit_width().unwrap_or(32),
    }));
    let ty = old.with_encoding(Some(result));
    let accumulator = convert(ir, op, dot.c(ir), ty);
    let operand = |ir: &mut Ir, value: Value, index: u32| {
        let encoding = Encoding::DotOp { op_idx: index, parent: result, k_width: instr.held / 2 };
        let ty = ir.ty(value).with_encoding(Some(Attr::encoding(encoding)));
        convert(ir, op, value, ty)
    };
    let (lhs, rhs) = (operand(ir, dot.a(ir), 0), operand(ir, dot.b(ir), 1));
    let mut scales = [dot.a_scale(ir), dot.b_scale(ir)];
    if scales.iter().any(Option::is_some) {
        let sides = [a.shape()[0], b.shape()[1]];
        for (index, scale) in scales.iter_mut().enumerate() {
            let shape = scale.map_or(vec![sides[index], k_size / GROUP], |s| ir.ty(s).shape().to_vec());
            let encoding = scale_layout(index, &shape, instr.m, &warps);
            let ty = Type::tensor(&shape, Type::int(8), Some(encoding));
            *scale = Some(match *scale {
                Some(scale) => convert(ir, op, scale, ty),
                None => Builder::before(ir, op).int(ONE, ty),
            });
        }
    }
    let state = tt::DotScaled::state(ir.loc(op), lhs, rhs, accumulator, scales[0], scales[1]).attrs(ir.attrs(op));
    let product = Builder::before(ir, op).result(state, ty);
    let back = convert(ir, op, product, old);
    ir.replace_op(op, &[back]);
    true
}

fn convert(ir: &mut Ir, op: Op, value: Value, ty: Type) -> Value {
    Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], ty)
}

/// The layout of an operand's scales, rows × groups of K: lanes along the rows of a tile, then along K; the rest of K
/// in registers; warps along the rows as the result has them, those of the other axis hold the same.
fn scale_layout(index: usize, shape: &[i64], rows: u32, warps: &[u32]) -> Attr {
    let powers = |from: i64, to: i64| std::iter::successors(Some(from), |&x| Some(2 * x)).take_while(move |&x| x < to);
    let row = |x: i64| vec![i32::try_from(x).unwrap_or(0), 0];
    let group = |x: i64| vec![0, i32::try_from(x).unwrap_or(0)];
    let rows = i64::from(rows);
    let lanes_along_k = 64 / rows;
    let clip = |bases: Bases| -> Bases {
        bases
            .into_iter()
            .map(|b| if i64::from(b[0]) < shape[0] && i64::from(b[1]) < shape[1] { b } else { vec![0, 0] })
            .collect()
    };
    let lane: Bases = powers(1, rows).map(row).chain(powers(1, lanes_along_k).map(group)).collect();
    let mut register: Bases = powers(lanes_along_k, shape[1]).map(group).collect();
    let own = i64::from(warps[index]);
    let along = powers(1, own).map(|x| row(x * rows));
    let same = (0..warps[1 - index].ilog2()).map(|_| vec![0, 0]);
    // Warps count along N first, as those of the result do.
    let warp: Bases = if index == 0 { same.chain(along).collect() } else { along.chain(same).collect() };
    register.extend(powers(rows * own, shape[0]).map(row));
    Attr::encoding(Encoding::Linear(LinearBases { register, lane: clip(lane), warp: clip(warp), block: vec![] }))
}
