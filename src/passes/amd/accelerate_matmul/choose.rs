//! Which matrix instruction computes a product, and how warps tile the result.

use super::scaled_elem;
use crate::ir::core::encoding::{AmdMfma, AmdWmma};
use crate::ir::core::{Attr, Bases, Encoding, FloatKind, Ir, Op, Type};
use crate::ir::dialects::enums::{InputPrecision, ScaledElem};
use crate::ir::dialects::tt::tt;
use crate::ir::encoding::questions::{cga_of, matrix_order};
use crate::passes::amd::chains::{is_head, is_tail};
use crate::passes::ttg::module_attrs;
use crate::target::{MatrixElem, MatrixInstr, MatrixUnit};

/// The choice for one product.
pub(super) struct Chosen {
    pub(super) instr: &'static MatrixInstr,
    /// What the operands become.
    pub(super) operands: [Type; 2],
    pub(super) accumulator: Type,
    /// The formats, where the instruction is the one that takes any float of 8 bits.
    pub(super) scaled: Option<[ScaledElem; 2]>,
}

/// Step 1. `size` is the M and N that is asked for, or 0.
pub(super) fn instruction(ir: &Ir, op: Op, unit: MatrixUnit, size: u32) -> Option<Chosen> {
    match unit {
        MatrixUnit::Mfma(version) => mfma(ir, tt::Dot(op), version, size),
        MatrixUnit::Wmma(_) => wmma(ir, tt::Dot(op), unit),
    }
}

/// What an element is to a matrix instruction.
pub(super) fn matrix_elem(ty: Type) -> Option<MatrixElem> {
    if ty.is_int_of(8) { MatrixElem::named("i8") } else { MatrixElem::named(ty.as_float()?.name()) }
}

fn mfma(ir: &Ir, dot: tt::Dot, version: u32, size: u32) -> Option<Chosen> {
    let (a, b, result) = (ir.ty(dot.a(ir)), ir.ty(dot.b(ir)), ir.ty(dot.d(ir)));
    let mut operands = [a.elem(), b.elem()];
    let k_size = *a.shape().last()?;
    let accumulator = match result.elem() {
        ty if ty.is_int() => Type::int(32),
        ty if ty == Type::float(FloatKind::F64) => ty,
        _ => Type::f32(),
    };
    let tile = tile(result.shape(), size, operands.contains(&Type::float(FloatKind::F64)))?;
    if version == 4
        && let (Some(lhs), Some(rhs)) = (scaled_elem(a.elem()), scaled_elem(b.elem()))
        && let Some(instr) = fitting(version, tile, k_size, (MatrixElem::F8f6f4, MatrixElem::F8f6f4))
    {
        return Some(Chosen { instr, operands, accumulator, scaled: Some([lhs, rhs]) });
    }
    if version < 4 && operands.iter().all(|&ty| scaled_elem(ty).is_some()) {
        // The two formats that other vendors multiply are f16 here.
        operands = [Type::float(FloatKind::F16); 2];
    }
    let mut elems = (matrix_elem(operands[0])?, matrix_elem(operands[1])?);
    let reduced = dot.inputPrecision(ir) == Some(InputPrecision::Tf32);
    if version == 3 && reduced && elems == (MatrixElem::F32, MatrixElem::F32) {
        elems = (MatrixElem::Xf32, MatrixElem::Xf32);
    }
    let instr = fitting(version, tile, k_size, elems)?;
    Some(Chosen { instr, operands, accumulator, scaled: None })
}

/// An instruction whose K divides the operands'.
pub(super) fn fitting(
    version: u32,
    tile: (u32, u32),
    k_size: i64,
    elems: (MatrixElem, MatrixElem),
) -> Option<&'static MatrixInstr> {
    MatrixUnit::Mfma(version).choose(tile, k_size, elems).filter(|i| k_size % i64::from(i.k) == 0)
}

/// M and N of the instruction: as large as the result has room for. There is no `mfma` of 32×32 for f64.
pub(super) fn tile(shape: &[i64], size: u32, is_f64: bool) -> Option<(u32, u32)> {
    let [.., m, n] = *shape else { return None };
    match m.min(n) {
        _ if size != 0 => Some((size, size)),
        32.. if !is_f64 => Some((32, 32)),
        16.. => Some((16, 16)),
        4.. if m >= 64 => Some((64, 4)),
        4.. if n >= 64 => Some((4, 64)),
        _ => None,
    }
}

/// The operand types, and with them the instruction, that need the fewest conversions. None loses accuracy.
fn wmma(ir: &Ir, dot: tt::Dot, unit: MatrixUnit) -> Option<Chosen> {
    let (a, b, c, d) = (ir.ty(dot.a(ir)), ir.ty(dot.b(ir)), ir.ty(dot.c(ir)), ir.ty(dot.d(ir)));
    let k_size = *a.shape().last()?;
    if k_size == 1 {
        return None;
    }
    let float = Type::float;
    let (fp8, bf8) = (float(FloatKind::F8E4M3FN), float(FloatKind::F8E5M2));
    let mut kinds = vec![[float(FloatKind::F16); 2], [float(FloatKind::BF16); 2], [Type::int(8); 2]];
    if unit != MatrixUnit::Wmma(1) {
        kinds.extend([[fp8, fp8], [fp8, bf8], [bf8, fp8], [bf8, bf8]]);
    }
    let mut best: Option<(u32, Chosen)> = None;
    for operands in kinds {
        let accumulator = if operands[0].is_int() { Type::int(32) } else { Type::f32() };
        let steps = [(a, operands[0]), (b, operands[1]), (c, accumulator), (d, accumulator)];
        let costs: Option<Vec<u32>> = steps.into_iter().map(|(from, to)| cost(from.elem(), to)).collect();
        let Some(cost) = costs.map(|costs| costs.iter().sum::<u32>()) else { continue };
        let elems = (matrix_elem(operands[0])?, matrix_elem(operands[1])?);
        if let Some(instr) = unit.choose((16, 16), k_size, elems)
            && best.as_ref().is_none_or(|(least, _)| cost < *least)
        {
            best = Some((cost, Chosen { instr, operands, accumulator, scaled: None }));
        }
    }
    best.map(|(_, chosen)| chosen)
}

/// What a conversion costs; `None` if it changes numbers.
fn cost(from: Type, to: Type) -> Option<u32> {
    if from == to {
        return Some(0);
    }
    (from.is_int() == to.is_int() && from.bit_width()? <= to.bit_width()?).then_some(1)
}

/// Step 2: how many warps lie along each axis of the result.
///
/// - Of a batch, each warp takes whole matrices.
/// - What feeds another product is split along M alone: then no reduction of a row crosses warps, and the result is
///   already where the next product's A is read. That product is split along M as far as it has rows, too.
/// - Else the tiles are as square as possible: 8 warps on 160×320 with 16×16 make 2×4.
pub(super) fn warps(ir: &Ir, op: Op, shape: &[i64], (m, n): (u32, u32)) -> Vec<u32> {
    let count = module_attrs::num_warps_at(ir, op).unwrap_or(4);
    if shape.len() == 3 {
        return vec![count, 1, 1];
    }
    if is_head(ir, op, 0) {
        return vec![count, 1];
    }
    let (m, n) = (i64::from(m), i64::from(n));
    if is_tail(ir, op) {
        let along_m = u32::try_from((shape[0] + m - 1) / m).map_or(count, |rows| rows.min(count));
        return vec![along_m, count / along_m];
    }
    let mut warps = [1u32, 1];
    while warps[0] * warps[1] < count {
        let taller = shape[0] / (m * 2) / i64::from(warps[0]) >= shape[1] / n / i64::from(warps[1]);
        let along_m = taller && i64::from(warps[0]) < shape[0] / m;
        warps[usize::from(!along_m)] *= 2;
    }
    if i64::from(warps[1]) * n > shape[1] {
        warps.swap(0, 1);
    }
    warps.to_vec()
}

/// Step 3.
pub(super) fn result_encoding(ir: &Ir, op: Op, unit: MatrixUnit, chosen: &Chosen, warps: &[u32]) -> Attr {
    let ty = ir.ty(ir.result(op));
    let (rank, instr) = (ty.rank(), chosen.instr);
    let instr_shape = vec![instr.m, instr.n, instr.k];
    Attr::encoding(match unit {
        MatrixUnit::Mfma(version) => {
            let (mut tiles_per_warp, mut is_transposed) = (vec![1; rank], instr.m >= instr.n || instr.m != 4);
            if version == 4 && (instr.m, instr.n) == (16, 16) && rank == 2 && is_two_bytes(chosen.operands[0]) {
                // Two tiles side by side hold what the next product reads, so that lanes exchange nothing.
                let shape = ty.shape();
                if is_head(ir, op, 0) && shape[0] >= 32 * i64::from(warps[0]) && shape[1] == 16 && warps[1] == 1 {
                    tiles_per_warp = vec![2, 1];
                } else if is_head(ir, op, 1) && shape[0] == 16 && shape[1] >= 32 * i64::from(warps[1]) && warps[0] == 1
                {
                    (is_transposed, tiles_per_warp) = (false, vec![1, 2]);
                }
            }
            Encoding::AmdMfma(AmdMfma {
                version,
                warps_per_cta: warps.to_vec(),
                instr_shape,
                is_transposed,
                cga: cga_of(ty),
                tiles_per_warp,
                element_bit_width: chosen.accumulator.bit_width().unwrap_or(32),
            })
        }
        MatrixUnit::Wmma(version) => Encoding::AmdWmma(AmdWmma {
            version,
            is_transposed: true,
            tiles: vec![],
            warps: warp_bases(warps),
            cga: cga_of(ty),
            instr_shape,
            rank: rank as u32,
        }),
    })
}

fn is_two_bytes(ty: Type) -> bool {
    ty.is_float() && ty.bit_width() == Some(16)
}

/// Where the warps' tiles are, counted in tiles: along the last axis first.
fn warp_bases(warps: &[u32]) -> Bases {
    let mut bases = vec![];
    for axis in matrix_order(warps.len(), true) {
        for power in 0..warps[axis as usize].ilog2() {
            let mut basis = vec![0; warps.len()];
            basis[axis as usize] = 1 << power;
            bases.push(basis);
        }
    }
    bases
}
