//! Products by AMD's matrix instructions, [`mfma`] and [`wmma`].
//!
//! # Algorithm
//!
//! An instruction multiplies its first operand, whose rows I lie across a lane's registers of the result, by its second
//! one, whose columns J lie across lanes. A result that is held transposed is `(Bᵀ·Aᵀ)ᵀ`: then B comes first, and I is
//! the tensor's columns. With that, of either unit:
//!
//! 1. Lanes count along J first; each further bit of the lane moves both operands alike along K, and the result along
//!    I. [`Plan::of`] finds that the tensors' threads hold this, and refuses others.
//! 2. So many registers of the result as an instruction writes, one behind the other, are its accumulator, and the
//!    coordinates of the first say which row of A and column of B it multiplies.
//! 3. The sum over K may run in any order, as long as both operands agree. A lane's places along K are taken in
//!    ascending order, as many as an instruction reads at a time; so any `kWidth` works. What the tensor lacks are
//!    zeros. Operands of 4 and of 8 bits do not have the same places: there each must be what the instruction says
//!    ([`is_as_read`]).
//! 4. K is the outer loop: consecutive instructions have different accumulators and do not wait for each other.
//!
//! # Example
//!
//! f16, `mfma` 16×16×16, not transposed, A of 32×32 with `kWidth = 4`: lane 0 has rows 0 and 16, and along K the places
//! 0 to 3 and 16 to 19. Registers 0 to 3 of the result are rows 0 to 3 of column 0 in lane 0, and the first instruction
//! for them multiplies places 0 to 3 of row 0 by those of column 0. Bits 4 and 5 of the lane move along K by 4 and 8.
//!
//! # Sixteen products at once
//!
//! The instructions for 4×64 multiply sixteen tiles of 4×4. Of the second operand each tile has its own four columns.
//! Of the first, sixteen pieces along K lie across the lanes: one instruction for each broadcasts that piece to all
//! tiles.

use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::VectorValue;

use super::{mfma, wmma};
use crate::codegen::bits::bits_as;
use crate::codegen::lower::{Lower, Regs, Res, Val, defect};
use crate::codegen::ops::dot::fragment::{BATCH, COLUMN, Fragment, ROW};
use crate::ir::dialects::tt::tt as view;
use crate::ir::{Encoding, Op, Type, Value};
use crate::layout::Dim;
use crate::target::{MatrixElem, MatrixInstr};

/// The instruction for one product.
pub(super) struct Instruction<'c> {
    pub(super) instr: &'static MatrixInstr,
    pub(super) is_transposed: bool,
    /// Lanes side by side along J.
    pub(super) side: u32,
    /// Pieces along K of the first operand that are broadcast one by one; 1 for none.
    pub(super) pieces: u32,
    /// Registers of each operand, and of the result.
    pub(super) held: [usize; 2],
    pub(super) result: usize,
    /// Whether further bits of the lane move along K: not where both halves of a wave hold the same.
    pub(super) lanes_along_k: bool,
    /// What the element of each operand is in LLVM, and what the instruction takes.
    pub(super) forms: [(BasicTypeEnum<'c>, BasicTypeEnum<'c>); 2],
    pub(super) write: Write<'c>,
}

/// The operands of one instruction, first and second.
pub(super) struct Operands<'c> {
    pub(super) values: [Val<'c>; 2],
    pub(super) scales: Option<[Val<'c>; 2]>,
    pub(super) sum: VectorValue<'c>,
    /// The piece of the first operand that is broadcast.
    pub(super) piece: u32,
}

/// Writes one instruction and gives the sum.
pub(super) type Write<'c> = Box<dyn Fn(&mut Lower<'c, '_>, &Instruction<'c>, &Operands<'c>) -> Res<Val<'c>>>;

/// Lowers `tt.dot`; `false`, and no code, where its layout is none of a matrix instruction.
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<bool> {
    let dot = view::Dot(op);
    let values = [dot.a(cx.ir), dot.b(cx.ir), dot.c(cx.ir)];
    let instruction = match cx.ir.ty(cx.ir.result(op)).layout() {
        Some(Encoding::AmdMfma(e)) => mfma::of_dot(cx, op, e)?,
        Some(Encoding::AmdWmma(e)) => wmma::of_dot(cx, op, e)?,
        _ => return Ok(false),
    };
    multiply(cx, op, &instruction, values, None)?;
    Ok(true)
}

/// Lowers `tt.dot_scaled`, as [`lower`] does `tt.dot`.
pub(super) fn lower_scaled(cx: &mut Lower<'_, '_>, op: Op) -> Res<bool> {
    let dot = view::DotScaled(op);
    let values = [dot.a(cx.ir), dot.b(cx.ir), dot.c(cx.ir)];
    let Some(Encoding::AmdMfma(e)) = cx.ir.ty(cx.ir.result(op)).layout() else { return Ok(false) };
    let scales = match (dot.a_scale(cx.ir), dot.b_scale(cx.ir)) {
        (None, None) => None,
        (Some(a), Some(b)) => Some([a, b]),
        _ => return Err(cx.unsupported(op, "the instruction takes scales of both operands, or none")),
    };
    let instruction = mfma::of_scaled(cx, op, e)?;
    multiply(cx, op, &instruction, values, scales)?;
    Ok(true)
}

/// What an element is to a matrix instruction.
pub(super) fn matrix_elem(ty: Type) -> Option<MatrixElem> {
    let elem = ty.elem();
    if elem.is_int_of(8) { MatrixElem::named("i8") } else { MatrixElem::named(elem.as_float()?.name()) }
}

/// A vector of so many of a type; one is no vector.
pub(super) fn vector(elem: BasicTypeEnum<'_>, count: u32) -> Res<BasicTypeEnum<'_>> {
    if count == 1 { Ok(elem) } else { Ok(Lower::vector_type(elem, count)?.as_basic_type_enum()) }
}

/// A tensor, with the axes that are called rows and columns, and K, in the module's documentation.
struct Side {
    fragment: Fragment,
    /// The axis that the result has too, and K.
    axis: usize,
    k: usize,
}

/// What is multiplied, in coordinates of lane 0.
struct Plan {
    first: Side,
    second: Side,
    /// The coordinates of each accumulator's first register: batch, I, J.
    tiles: Vec<[u32; 3]>,
    /// The places along K of each instruction, for each operand.
    steps: Vec<[Vec<u32>; 2]>,
}

impl Plan {
    /// Steps 1 to 3; `None` if the operands do not fit.
    fn of(cx: &Lower<'_, '_>, instruction: &Instruction<'_>, values: [Value; 3]) -> Res<Option<Plan>> {
        let types = values.map(|v| cx.ir.ty(v));
        let mut fragments = vec![];
        for ty in types {
            fragments.extend(Fragment::of(Lower::layout(ty)?));
        }
        let Ok([a, b, d]) = <[Fragment; 3]>::try_from(fragments) else { return Ok(None) };
        let (a, b) = (Side { fragment: a, axis: ROW, k: COLUMN }, Side { fragment: b, axis: COLUMN, k: ROW });
        let (first, second) = if instruction.is_transposed { (b, a) } else { (a, b) };
        if !fits(instruction, &first, &second, &d) {
            return Ok(None);
        }
        let layout = Lower::layout(types[2])?;
        let count = layout.in_size(Dim::Register) as usize;
        if !count.is_multiple_of(instruction.result) {
            return Ok(None);
        }
        let mut places = vec![[0; 3]; count];
        for (at, registers) in d.registers() {
            registers.iter().for_each(|&r| places[r] = at);
        }
        let tiles = places.iter().step_by(instruction.result).map(|at| [at[BATCH], at[first.axis], at[second.axis]]);
        let along = [first.fragment.along(first.k), second.fragment.along(second.k)];
        let chunks = |index: usize| along[index].chunks(instruction.held[index]).map(<[u32]>::to_vec);
        // Of sixteen products at once, the second operand has the pieces of the first one side by side.
        let steps = if instruction.pieces > 1 {
            chunks(0).map(|step| [step.clone(), step]).collect()
        } else {
            chunks(0).zip(chunks(1)).map(|(x, y)| [x, y]).collect()
        };
        Ok(Some(Plan { tiles: tiles.collect(), steps, first, second }))
    }
}

/// Step 1.
fn fits(i: &Instruction<'_>, first: &Side, second: &Side, d: &Fragment) -> bool {
    let (x, y) = (&first.fragment, &second.fragment);
    let side_bits = i.side.trailing_zeros() as usize;
    let piece_bits = i.pieces.trailing_zeros() as usize;
    let lanes = x.lanes.len().max(y.lanes.len()).max(d.lanes.len());
    let lane = |bit: usize| {
        let (x_k, y_k) = (x.lane(bit, first.k), y.lane(bit, second.k));
        let (x_i, y_j) = (x.lane(bit, first.axis), y.lane(bit, second.axis));
        let (d_i, d_j) = (d.lane(bit, first.axis), d.lane(bit, second.axis));
        if i.pieces > 1 {
            // The first operand has its rows across the lanes that a piece has, and then K; the second has no K there.
            let in_piece = bit < lanes - piece_bits;
            return (x_k != 0) != in_piece && (x_i == 0 || in_piece) && y_k == 0 && y_j == d_j && d_i == 0;
        }
        if bit < side_bits {
            return x_k == 0 && y_k == 0 && y_j == d_j && d_i == 0;
        }
        x_k == y_k && (x_k != 0) == i.lanes_along_k && x_i == 0 && y_j == 0 && d_j == 0
    };
    let batches = x.moves_with(BATCH, d, BATCH) && y.moves_with(BATCH, d, BATCH);
    let warps = x.moves_with(first.axis, d, first.axis) && y.moves_with(second.axis, d, second.axis);
    let rest = x.rests_along(first.k) && y.rests_along(second.k);
    let same_k = match i.held {
        _ if i.pieces > 1 => true,
        [a, b] if a == b => x.along(first.k) == y.along(second.k),
        [a, b] => is_as_read(i, a, &x.along(first.k)) && is_as_read(i, b, &y.along(second.k)),
    };
    (0..lanes).all(lane) && batches && warps && rest && same_k
}

/// Whether the places along K of lane 0, in bytes, are those of the scaled instructions: 16 side by side, as far apart
/// as all lanes along K have.
fn is_as_read(i: &Instruction<'_>, held: usize, along: &[u32]) -> bool {
    let apart = 16 * 64 / i.side;
    let places = (0..along.len() as u32).map(|n| n / 16 * apart + n % 16);
    held.is_multiple_of(16) && along.len().is_multiple_of(held) && places.eq(along.iter().copied())
}

fn multiply<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    i: &Instruction<'c>,
    values: [Value; 3],
    scales: Option<[Value; 2]>,
) -> Res<()> {
    let plan = Plan::of(cx, i, values)?
        .ok_or_else(|| cx.unsupported(op, "the layouts of its operands are not those that the instruction reads"))?;
    let (mut left, mut right) = (cx.get(values[0])?, cx.get(values[1])?);
    if i.is_transposed {
        std::mem::swap(&mut left, &mut right);
    }
    let scales = scales.map(|scales| Scales::of(cx, scales, i)).transpose()?;
    let start = cx.get(values[2])?;
    let mut sums = vec![];
    for registers in start.chunks(i.result) {
        sums.push(gathered(cx, registers, registers[0].get_type())?);
    }
    for (number, step) in plan.steps.iter().enumerate() {
        for piece in 0..i.pieces {
            let offset = piece_offset(i, &plan.first, piece);
            for (&[batch, row, column], sum) in plan.tiles.iter().zip(&mut sums) {
                let at = |side: &Side, place: u32, k: u32| {
                    let mut at = [batch, 0, 0];
                    (at[side.axis], at[side.k]) = (place, k);
                    at
                };
                let firsts: Vec<_> = step[0].iter().map(|&k| at(&plan.first, row, k)).collect();
                let seconds: Vec<_> = step[1].iter().map(|&k| at(&plan.second, column, k ^ offset)).collect();
                let values = [
                    operand(cx, &plan.first, &left, &firsts, i.held[0], i.forms[0])?,
                    operand(cx, &plan.second, &right, &seconds, i.held[1], i.forms[1])?,
                ];
                let scales = scales.as_ref().map(|s| s.of_step(cx, number, [row, column])).transpose()?;
                let operands = Operands { values, scales, sum: *sum, piece };
                *sum = (i.write)(cx, i, &operands)?.into_vector_value();
            }
        }
    }
    let mut out = vec![];
    for sum in sums {
        for index in 0..i.result {
            out.push(cx.b.build_extract_element(sum, cx.i32(index as u64), "")?);
        }
    }
    cx.set(cx.ir.result(op), out);
    Ok(())
}

/// Where a piece of the first operand lies along K.
fn piece_offset(i: &Instruction<'_>, first: &Side, piece: u32) -> u32 {
    let piece_bits = i.pieces.trailing_zeros() as usize;
    let lanes = first.fragment.lanes.len();
    (0..piece_bits)
        .filter(|bit| piece >> bit & 1 == 1)
        .fold(0, |offset, bit| offset ^ first.fragment.lane(lanes - piece_bits + bit, first.k))
}

/// An operand of one instruction.
fn operand<'c>(
    cx: &mut Lower<'c, '_>,
    side: &Side,
    regs: &Regs<'c>,
    places: &[[u32; 3]],
    held: usize,
    (elem, whole): (BasicTypeEnum<'c>, BasicTypeEnum<'c>),
) -> Res<Val<'c>> {
    let mut elements = vec![];
    for &at in places {
        let register = side.fragment.register(at).and_then(|r| regs.get(r).copied());
        let value = register.ok_or_else(|| defect("an operand's register is missing"))?;
        elements.push(bits_as(cx, value, elem)?);
    }
    elements.resize(held, elem.const_zero());
    if held == 1 {
        return bits_as(cx, elements[0], whole);
    }
    let packed = gathered(cx, &elements, elem)?;
    bits_as(cx, packed.into(), whole)
}

fn gathered<'c>(cx: &Lower<'c, '_>, values: &[Val<'c>], elem: BasicTypeEnum<'c>) -> Res<VectorValue<'c>> {
    let mut vector = Lower::vector_type(elem, values.len() as u32)?.get_poison();
    for (index, &value) in values.iter().enumerate() {
        vector = cx.b.build_insert_element(vector, value, cx.i32(index as u64), "")?;
    }
    Ok(vector)
}

/// The scales of both operands, first and second: rows × groups along K.
struct Scales<'c> {
    sides: [(Fragment, Regs<'c>); 2],
    /// Groups along K of one instruction.
    groups: u32,
}

impl<'c> Scales<'c> {
    fn of(cx: &Lower<'c, '_>, values: [Value; 2], i: &Instruction<'_>) -> Res<Scales<'c>> {
        let side = |value: Value| -> Res<(Fragment, Regs<'c>)> {
            let fragment = Fragment::of(Lower::layout(cx.ir.ty(value))?);
            Ok((fragment.ok_or_else(|| defect("scales are a matrix"))?, cx.get(value)?))
        };
        let mut sides = [side(values[0])?, side(values[1])?];
        if i.is_transposed {
            sides.reverse();
        }
        Ok(Scales { sides, groups: i.instr.k / mfma::GROUP })
    }

    /// A byte for each operand, in the lowest bits of a word.
    fn of_step(&self, cx: &Lower<'c, '_>, step: usize, rows: [u32; 2]) -> Res<[Val<'c>; 2]> {
        let mut words = vec![];
        for ((fragment, regs), row) in self.sides.iter().zip(rows) {
            let register = fragment.register([0, row, step as u32 * self.groups]).and_then(|r| regs.get(r).copied());
            let value = register.ok_or_else(|| defect("a scale's register is missing"))?;
            words.push(cx.b.build_int_z_extend(value.into_int_value(), cx.llvm.i32_type(), "")?.into());
        }
        Ok([words[0], words[1]])
    }
}
