//! A product cut along K: views of the buffers, a load of each, and a product of each pair.

use super::loops::Found;
use crate::ir::core::clone::Mapping;
use crate::ir::core::{Builder, InsertPoint, Ir, MemDesc, Op, Type, TypeData, Value};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg::{LocalLoad, MemDescSubslice};

/// The parts of a product, in order along K.
pub(super) struct Slices {
    /// View and load, of A and of B.
    pub(super) loads: Vec<[(Op, Op); 2]>,
    pub(super) dots: Vec<Op>,
}

/// Elements along K of the least slice: what one `mfma` multiplies.
const LEAST_WIDTH: i64 = 16;

/// Cuts the product, behind the first load; `None`, and nothing changed, where its operands are not loaded as they are.
pub(super) fn of(ir: &mut Ir, found: &Found, count: i64) -> Option<Slices> {
    let dot = tt::Dot(found.dot);
    let operands = [dot.a(ir), dot.b(ir)];
    let loads = [LocalLoad::defining(ir, operands[0])?, LocalLoad::defining(ir, operands[1])?];
    let k = ir.ty(operands[1]).shape()[0];
    if k % count != 0 || k / count < LEAST_WIDTH {
        return None;
    }
    let mut at = InsertPoint::After(found.global_loads[0]);
    let mut made = vec![];
    for (index, load) in loads.iter().enumerate() {
        let (axis, buffer, ty) = (1 - index, load.src(ir), ir.ty(operands[index]));
        let mut parts = vec![];
        for part in 0..count {
            parts.push(slice(ir, &mut at, buffer, ty, (axis, part * (k / count), k / count))?);
        }
        made.push(parts);
    }
    let [a, b] = <[Vec<(Op, Op)>; 2]>::try_from(made).ok()?;
    let mut dots = vec![];
    let mut sum = dot.c(ir);
    for (left, right) in a.iter().zip(&b) {
        let mut map = Mapping::default();
        for (old, new) in [(operands[0], ir.result(left.1)), (operands[1], ir.result(right.1)), (dot.c(ir), sum)] {
            map.map(old, new);
        }
        let copy = ir.clone_op(found.dot, &mut map);
        let loc = ir.loc(found.dot);
        let mut builder = Builder::new(ir, at, loc);
        builder.place(copy);
        at = builder.point();
        sum = ir.result(copy);
        dots.push(copy);
    }
    ir.replace_op(found.dot, &[sum]);
    found.local_loads.iter().for_each(|&load| ir.erase_op(load));
    Some(Slices { loads: a.into_iter().zip(b).map(|(a, b)| [a, b]).collect(), dots })
}

/// The part of a buffer from `from` on along an axis, and its load.
fn slice(
    ir: &mut Ir,
    at: &mut InsertPoint,
    buffer: Value,
    ty: Type,
    (axis, from, width): (usize, i64, i64),
) -> Option<(Op, Op)> {
    let desc = ir.ty(buffer).as_memdesc()?.clone();
    let mut shape = desc.shape.clone();
    shape[axis] = width;
    let mut offsets = vec![0; shape.len()];
    offsets[axis] = from;
    let view = Type::new(TypeData::MemDesc(MemDesc { shape: shape.clone(), ..desc }));
    let loc = ir.value_loc(buffer);
    let mut b = Builder::new(ir, *at, loc);
    let state = MemDescSubslice::state(loc, buffer).with(MemDescSubslice::ATTR.offsets, &offsets);
    let view = b.result(state, view);
    let load = b.result(LocalLoad::state(loc, view, None), ty.with_shape(&shape, ty.encoding()));
    *at = b.point();
    Some((ir.def_op(view)?, ir.def_op(load)?))
}
