//! Writes what was proved: the descriptor in front of its place, the access through it where the old one was.
//!
//! ```text
//! %v = tt.load %ptrs, %mask, %zero          in a loop over k, as in `rectangle.rs`
//! → %base = tt.addptr %x, m·s               in front of the loop
//!   %d = tt.make_tensor_descriptor %base, [max(…, 1), max(K, 1)], [%s, %c1]
//!   %v = tt.descriptor_load %d[select(K > 0, 0, -64), k·64]
//! ```
//!
//! A descriptor that the launch makes becomes a parameter of the kernel instead, behind all others, with an attribute
//! that says what it is made of ([`crate::ir::dialects::array_map`]).
//!
//! Extents are at least 1, since hardware has no empty tensors; where one is not positive, or a scalar condition of the
//! mask does not hold, the block lies at coordinates below zero, where nothing is.

use super::masks::Test;
use super::rectangle::{Axis, Place, Rectangle, parameter};
use crate::analysis::forms::poly::{Atom, Poly, Product};
use crate::ir::core::{Attr, AttrData, Builder, Ir, Loc, Op, Type, TypeData, Value, ValueDef};
use crate::ir::dialects::array_map::{ArrayMap, FARTHEST, Sum, Term};
use crate::ir::dialects::discardable::ARRAY_MAP;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::{self, Func};
use crate::ir::dialects::{ArithOp, TtOp};
use crate::ir::rewrite::fold::const_of;

/// The type of the descriptor of a rectangle of such elements.
fn descriptor_type(rectangle: &Rectangle, elem: Type) -> Type {
    let shape = rectangle.axes.iter().map(|a| a.size).collect();
    Type::new(TypeData::TensorDesc { shape, elem, layout: None, im2col: false })
}

/// Makes the descriptor of a load, where the rectangle says.
pub(super) fn descriptor(ir: &mut Ir, rectangle: &Rectangle, load: Op, elem: Type) -> Value {
    match rectangle.place {
        Place::Before(place) => made(ir, rectangle, place, elem),
        Place::Launch => passed(ir, rectangle, load, elem),
    }
}

/// Makes it in front of `place`.
fn made(ir: &mut Ir, rectangle: &Rectangle, place: Op, elem: Type) -> Value {
    let mut b = Builder::before(ir, place);
    let mut base = rectangle.base;
    if !rectangle.shift.is_zero() {
        let shift = polynomial(&mut b, &rectangle.shift, 64);
        let ty = b.ir.ty(base);
        base = b.value(TtOp::Addptr, &[base, shift], ty);
    }
    let shape: Vec<Value> = rectangle.axes.iter().map(|a| extent(&mut b, a)).collect();
    let strides: Vec<Value> = rectangle.axes.iter().map(|a| polynomial(&mut b, &a.stride, 64)).collect();
    let state = tt::MakeTensorDesc::state(b.loc, base, &shape, &strides);
    b.result(state, descriptor_type(rectangle, elem))
}

/// Gives the kernel around the load a parameter for it.
fn passed(ir: &mut Ir, rectangle: &Rectangle, load: Op, elem: Type) -> Value {
    let kernel =
        std::iter::successors(ir.parent_op(load), |&op| ir.parent_op(op)).find(|&op| ir.kind(op).is_function());
    let kernel = kernel.expect("a load is planned in a kernel");
    let entry = ir.body(kernel, 0).expect("a kernel with a load has a body");
    let map = array_map(ir, rectangle);
    let (ty, count) = (descriptor_type(rectangle, elem), ir.args(entry).len());
    let base = ir.value_loc(rectangle.base);
    let name = base.value_name().map_or_else(|| format!("arg{}.map", map.base), |n| format!("{n}.map"));
    let value = ir.add_arg(entry, ty, Loc::named(&name, base));
    let mut inputs: Vec<Type> = ir.args(entry)[..count].iter().map(|&a| ir.ty(a)).collect();
    inputs.push(ty);
    let results = match Func::of(ir, kernel).and_then(|f| f.function_type(ir)).map(Type::data) {
        Some(TypeData::Function { results, .. }) => results.clone(),
        _ => vec![],
    };
    ir.put(kernel, Func::ATTR.function_type, Type::function(&inputs, &results));
    let none = Attr::new(AttrData::Dict(vec![]));
    let mut attrs = ir.get(kernel, Func::ATTR.arg_attrs).map_or_else(|| vec![none; count], <[Attr]>::to_vec);
    attrs.push(Attr::new(AttrData::Dict(ARRAY_MAP.entry(map.attr()).into_iter().collect())));
    ir.put(kernel, Func::ATTR.arg_attrs, &attrs);
    value
}

/// What the launch makes the descriptor of.
fn array_map(ir: &Ir, rectangle: &Rectangle) -> ArrayMap {
    let sum = |poly: &Poly| {
        let term = |(product, coefficient): (&Product, i64)| {
            let number = |&a: &Atom| parameter(ir, a).expect("at a launch only parameters are fixed");
            Term { coefficient, factors: product.iter().map(number).collect() }
        };
        Sum(poly.terms().map(term).collect())
    };
    let ValueDef::Arg { index: base, .. } = ir.def(rectangle.base) else {
        unreachable!("the proof has found the base among the kernel's parameters")
    };
    let outer = &rectangle.axes[..rectangle.axes.len() - 1];
    ArrayMap {
        base,
        extents: rectangle.axes.iter().map(|a| a.extents.iter().map(sum).collect()).collect(),
        strides: outer.iter().map(|a| sum(&a.stride)).collect(),
    }
}

/// The extent of an axis, from 1 to [`FARTHEST`].
fn extent(b: &mut Builder<'_>, axis: &Axis) -> Value {
    let width = if axis.has_wide_extents { 64 } else { 32 };
    let ty = Type::int(width);
    let mut least = None;
    for extent in &axis.extents {
        let value = polynomial(b, extent, width);
        least = Some(match least {
            Some(so_far) => b.value(ArithOp::Minsi, &[so_far, value], ty),
            None => value,
        });
    }
    let Some(least) = least else { return b.i32(FARTHEST) };
    let one = b.int(1, ty);
    let least = b.value(ArithOp::Maxsi, &[least, one], ty);
    if width == 32 { least } else { cut(b, least) }
}

/// A number of 64 bits as the nearest one of 32.
fn cut(b: &mut Builder<'_>, value: Value) -> Value {
    let wide = Type::int(64);
    let (low, high) = (b.int(i64::from(i32::MIN), wide), b.int(FARTHEST, wide));
    let value = b.value(ArithOp::Maxsi, &[value, low], wide);
    let value = b.value(ArithOp::Minsi, &[value, high], wide);
    b.value(ArithOp::Trunci, &[value], Type::int(32))
}

/// The coordinates of the block, in front of the access.
pub(super) fn coordinates(b: &mut Builder<'_>, rectangle: &Rectangle) -> Vec<Value> {
    let one = |b: &mut Builder<'_>, axis: &Axis| {
        if axis.is_wide {
            let wide = polynomial(b, &axis.coordinate, 64);
            cut(b, wide)
        } else {
            polynomial(b, &axis.coordinate, 32)
        }
    };
    let mut all: Vec<Value> = rectangle.axes.iter().map(|a| one(b, a)).collect();
    if let Some(holds) = conjunction(b, &rectangle.tests) {
        // Rather a coordinate that is always the same: then so is the choice.
        let at = rectangle.axes.iter().position(|a| a.coordinate.as_constant().is_some()).unwrap_or(0);
        let outside = b.i32(-rectangle.axes[at].size);
        all[at] = b.value(ArithOp::Select, &[holds, all[at], outside], Type::int(32));
    }
    all
}

fn conjunction(b: &mut Builder<'_>, tests: &[Test]) -> Option<Value> {
    let bit = Type::int(1);
    let mut all = None;
    for test in tests {
        let holds = match test {
            Test::Flag(flag) => *flag,
            Test::Positive(poly) => {
                let value = polynomial(b, poly, 64);
                let zero = b.int(0, Type::int(64));
                b.cmpi(CmpiPredicate::Sgt, value, zero)
            }
        };
        all = Some(match all {
            Some(so_far) => b.value(ArithOp::Andi, &[so_far, holds], bit),
            None => holds,
        });
    }
    all
}

/// Loads the block as a tensor of type `ty`.
pub(super) fn load(b: &mut Builder<'_>, rectangle: &Rectangle, descriptor: Value, ty: Type) -> Value {
    let at = coordinates(b, rectangle);
    // A load leaves out leading axes of size 1.
    let shape: Vec<i64> = rectangle.axes.iter().filter(|a| a.of.is_some()).map(|a| a.size).collect();
    let block = Type::tensor(&shape, ty.elem(), None);
    let mut value = b.result(tt::DescriptorLoad::state(b.loc, descriptor, &at), block);
    let stored: Vec<usize> = rectangle.axes.iter().filter_map(|a| a.of).collect();
    let mut sorted = stored.clone();
    sorted.sort_unstable();
    if sorted != stored {
        let place = |d: &usize| stored.iter().position(|s| s == d).map_or(0, |p| p as i64);
        let order: Vec<i64> = sorted.iter().map(place).collect();
        let shape: Vec<i64> = sorted.iter().map(|&d| ty.shape()[d]).collect();
        let state = tt::Trans::state(b.loc, value).with(tt::Trans::ATTR.order, &order);
        value = b.result(state, Type::tensor(&shape, ty.elem(), None));
    }
    for d in (0..ty.rank()).filter(|d| !sorted.contains(d)) {
        let mut shape = b.ir.ty(value).shape().to_vec();
        shape.insert(d, 1);
        let state = tt::ExpandDims::state(b.loc, value).with(tt::ExpandDims::ATTR.axis, d as i64);
        value = b.result(state, Type::tensor(&shape, ty.elem(), None));
    }
    value
}

/// A polynomial as an integer of this width. In 32 bits it is exact if its value fits, whatever its parts are: sums and
/// products are right modulo 2³².
fn polynomial(b: &mut Builder<'_>, poly: &Poly, width: u32) -> Value {
    let ty = Type::int(width);
    let mut sum = None;
    for (product, n) in poly.terms() {
        let value = term(b, product, n, ty);
        sum = Some(match sum {
            Some(so_far) => b.value(ArithOp::Addi, &[so_far, value], ty),
            None => value,
        });
    }
    sum.unwrap_or_else(|| b.int(0, ty))
}

fn term(b: &mut Builder<'_>, product: &[Atom], n: i64, ty: Type) -> Value {
    let (mut value, mut n) = (None, n);
    for &atom in product {
        let factor = match atom {
            Atom::Value(v) => resized(b, v, ty),
            Atom::Trips(looped) => trips(b, For(looped), &mut n, ty),
        };
        value = Some(match value {
            Some(so_far) => b.value(ArithOp::Muli, &[so_far, factor], ty),
            None => factor,
        });
    }
    match value {
        Some(value) if n == 1 => value,
        Some(value) => {
            let n = b.constant(Attr::int(n, ty));
            b.value(ArithOp::Muli, &[value, n], ty)
        }
        None => b.constant(Attr::int(n, ty)),
    }
}

/// How often the loop has run, or, where `n` is a multiple of its step, so many times the step, and `n` without it.
fn trips(b: &mut Builder<'_>, looped: For, n: &mut i64, ty: Type) -> Value {
    let (lower, step) = (looped.lower(b.ir), looped.step(b.ir));
    let constant = |ir: &Ir, v: Value| const_of(ir, v).and_then(Attr::int_value);
    let body = b.ir.body(looped.0, 0).expect("the verifier has seen that a loop has a body");
    let mut value = b.ir.args(body)[0];
    if constant(b.ir, lower) != Some(0) {
        let ty = b.ir.ty(value);
        value = b.value(ArithOp::Subi, &[value, lower], ty);
    }
    match constant(b.ir, step) {
        Some(s) if s > 0 && *n % s == 0 => *n /= s,
        _ => {
            let ty = b.ir.ty(value);
            value = b.value(ArithOp::Divsi, &[value, step], ty);
        }
    }
    resized(b, value, ty)
}

/// A signed integer in this many bits.
fn resized(b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    let (from, to) = (b.ir.ty(value).bit_width(), ty.bit_width());
    match from.cmp(&to) {
        std::cmp::Ordering::Less => b.value(ArithOp::Extsi, &[value], ty),
        std::cmp::Ordering::Equal => value,
        std::cmp::Ordering::Greater => b.value(ArithOp::Trunci, &[value], ty),
    }
}
