//! `load` and `store`, and the block pointers of Triton up to 3.6.

use super::entry::entry;
use crate::diag::codes::{names, types};
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::dialects::enums::{CacheModifier, EvictionPolicy, PaddingOption};
use crate::ir::dialects::tt::tt;
use crate::ir::{OpState, Value};
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R, Reported};
use crate::irgen::semantic::{convert, faults, items, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Args, Builtin, Const, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "load",
        "pointer, mask=None, other=None, boundary_check=None, padding_option=\"\", cache_modifier=\"\", eviction_policy=\"\", volatile=False",
        "Reads memory. Where `mask` is false nothing is read and the result is `other` (undefined without it).",
        load,
    ),
    entry(
        "store",
        "pointer, value, mask=None, boundary_check=None, cache_modifier=\"\", eviction_policy=\"\"",
        "Writes memory where `mask` is true. The value is converted to the pointer's type and broadcast to its shape.",
        store,
    )
    .method(),
    entry(
        "make_block_ptr",
        "base, shape, strides, offsets, block_shape, order",
        "A pointer to a block of a tensor in memory (of Triton up to 3.6).",
        make_block_ptr,
    ),
    entry("advance", "base, offsets", "A block pointer moved by a number of elements in each dimension.", advance)
        .method(),
];

const LOAD_CACHE: &[(&str, CacheModifier)] = &[
    ("", CacheModifier::None),
    (".ca", CacheModifier::Ca),
    (".cg", CacheModifier::Cg),
    (".cs", CacheModifier::Cs),
    (".cv", CacheModifier::Cv),
    ("ca", CacheModifier::Ca),
    ("cg", CacheModifier::Cg),
    ("cs", CacheModifier::Cs),
    ("cv", CacheModifier::Cv),
    (".none", CacheModifier::None),
    ("none", CacheModifier::None),
];
const STORE_CACHE: &[(&str, CacheModifier)] = &[
    ("", CacheModifier::None),
    (".wb", CacheModifier::Wb),
    (".cg", CacheModifier::Cg),
    (".cs", CacheModifier::Cs),
    (".wt", CacheModifier::Wt),
    ("wb", CacheModifier::Wb),
    ("cg", CacheModifier::Cg),
    ("cs", CacheModifier::Cs),
    ("wt", CacheModifier::Wt),
    (".none", CacheModifier::None),
    ("none", CacheModifier::None),
];
const EVICTION: &[(&str, EvictionPolicy)] = &[
    ("", EvictionPolicy::EvictNormal),
    ("evict_normal", EvictionPolicy::EvictNormal),
    ("evict_first", EvictionPolicy::EvictFirst),
    ("evict_last", EvictionPolicy::EvictLast),
];
const PADDING: &[(&str, Option<PaddingOption>)] =
    &[("", None), ("zero", Some(PaddingOption::Zero)), ("nan", Some(PaddingOption::Nan))];

/// The tensor as a pointer or a block of pointers.
pub(super) fn pointer_arg(cx: &mut Emitter, v: &Object, what: &str) -> R<Tensor> {
    if let Object::Tensor(t) = v
        && t.ty.dtype.is_ptr()
    {
        return Ok(*t);
    }
    if matches!(v, Object::Error) {
        return Err(Reported);
    }
    let found = v.describe();
    Err(cx.error_help(
        &types::NOT_A_POINTER,
        format!("`{what}` needs a pointer, found {found}"),
        format!("this is {found}"),
        "compute the address first: a parameter that is a pointer (`*fp32` in a signature) plus offsets, as in `x_ptr + offs`",
    ))
}

/// Reports a block where the pointer is a scalar.
fn scalar_only(cx: &mut Emitter, what: &str, t: Option<Tensor>) -> R<()> {
    match t {
        Some(t) if t.ty.is_block() => Err(cx.error_help(
            &types::MASK,
            format!("the {what} is {} but the pointer is a scalar", Object::from(t).describe()),
            "a block against one address",
            "add block offsets to the pointer (`ptr + tl.arange(...)`), or pass a scalar",
        )),
        _ => Ok(()),
    }
}

/// Pointer, further values and mask in the pointer's shape.
pub(super) fn to_pointer_shape(cx: &mut Emitter, ptr: Tensor, t: Tensor, what: &str) -> R<Tensor> {
    let (p, t) = shape::broadcast(cx, ptr, t)?;
    if p.ty.shape() != ptr.ty.shape() {
        return Err(cx.error_help(
            &types::MASK,
            format!(
                "the {what} has the shape {:?}, which is larger than the pointer's {:?}",
                t.ty.shape(),
                ptr.ty.shape()
            ),
            "does not fit the pointer",
            format!("the pointer decides the shape: widen it, `ptr + rows[:, None] * stride + cols[None, :]`, or pass a smaller {what}"),
        ));
    }
    Ok(t)
}

/// The mask as bits.
pub(super) fn mask_bits(cx: &mut Emitter, mask: Tensor) -> R<Tensor> {
    if mask.ty.dtype.is_bool() {
        return Ok(mask);
    }
    let constant = Constant::defining(&cx.ir, mask.value).is_some();
    let found = if constant { format!("a number of {}", mask.ty.dtype) } else { Object::from(mask).describe() };
    Err(cx.error_help(
        &types::MASK,
        format!("a mask is made of truth values, found {found}"),
        "not a mask",
        "compare, as in `offs < n`",
    ))
}

fn load(cx: &mut Emitter, a: &Args) -> R<Object> {
    if let Object::Desc(_) = a.get(0) {
        return Err(cx.error_help(
            &types::NOT_A_POINTER,
            "`load` needs a pointer, found a tensor descriptor",
            "a descriptor",
            "use `desc.load([offsets])`",
        ));
    }
    let ptr = a.placed(cx, 0, |cx| pointer_arg(cx, a.get(0), "load"))?;
    let (cache, evict) = (a.word(cx, 5, LOAD_CACHE)?, a.word(cx, 6, EVICTION)?);
    let hints = Hints { cache, evict, volatile: a.flag(cx, 7)? };
    if ptr.ty.dtype.pointee().is_some_and(Ty::is_block) {
        return load_block(cx, a, ptr, hints);
    }
    only_block_pointers(cx, a, &[(3, "boundary_check"), (4, "padding_option")])?;
    let mask = a.optional_tensor(cx, 1)?;
    let other = a.optional_tensor(cx, 2)?;
    if mask.is_none() && other.is_some() {
        let help = "pass `mask=` as well, or leave `other` out";
        return Err(cx.error_help(
            &types::MASK,
            "`other` is given without `mask`: nothing would use it",
            "no mask",
            help,
        ));
    }
    if !ptr.ty.is_block() {
        a.placed(cx, 1, |cx| scalar_only(cx, "mask", mask))?;
        a.placed(cx, 2, |cx| scalar_only(cx, "value of `other`", other))?;
    }
    let (mut ptr, mut mask, mut other) = (ptr, mask, other);
    if ptr.ty.is_block() {
        if let Some(m) = mask {
            let (p, m) = shape::broadcast(cx, ptr, m)?;
            (ptr, mask) = (p, Some(m));
        }
        if let Some(o) = other {
            let (p, o) = shape::broadcast(cx, ptr, o)?;
            (ptr, other) = (p, Some(o));
        }
    }
    if let Some(m) = mask {
        a.placed(cx, 1, |cx| mask_bits(cx, m))?;
    }
    let (ptr, elem, is_bool) = memory_type(cx, ptr)?;
    let other = other.map(|o| convert::cast(cx, o, elem, None)).transpose()?;
    let state = tt::Load::state(cx.loc(), ptr.value, mask.map(|m| m.value), other.map(|o| o.value));
    let loaded = cx.tensor_of(hints.on(state), ptr.ty.with(elem))?;
    Ok(if is_bool { convert::cast(cx, loaded, Dtype::Int1, None)? } else { loaded }.into())
}

/// What a load says beside its operands.
struct Hints {
    cache: CacheModifier,
    evict: EvictionPolicy,
    volatile: bool,
}

impl Hints {
    /// The parts of a load with these attributes.
    fn on(self, load: OpState) -> OpState {
        let attr = tt::Load::ATTR;
        load.with(attr.cache, self.cache).with(attr.evict, self.evict).with(attr.isVolatile, self.volatile)
    }
}

/// The pointer with the type that memory has: booleans are bytes there.
pub(super) fn memory_type(cx: &mut Emitter, ptr: Tensor) -> R<(Tensor, Dtype, bool)> {
    let elem = ptr.ty.dtype.pointee().map_or(Dtype::Void, |t| t.dtype);
    if !elem.is_bool() {
        convert::check_dtype(cx, elem)?;
        return Ok((ptr, elem, false));
    }
    let bytes = Dtype::pointer_to(Ty::scalar(Dtype::Int8), false);
    Ok((convert::cast(cx, ptr, bytes, None)?, Dtype::Int8, true))
}

fn load_block(cx: &mut Emitter, a: &Args, ptr: Tensor, hints: Hints) -> R<Object> {
    if a.given(1).is_some() || a.given(2).is_some() {
        return Err(cx.error_help(
            &types::MASK,
            "`mask` and `other` do not go with a block pointer",
            "a block pointer",
            "say which dimensions to check: `boundary_check=(0, 1)`, with `padding_option='zero'`",
        ));
    }
    let block = ptr.ty.dtype.pointee().unwrap_or(ptr.ty);
    let checks = boundary(cx, a.get(3), block)?;
    let state = tt::Load::state(cx.loc(), ptr.value, None, None)
        .with(tt::Load::ATTR.boundaryCheck, &checks)
        .with_some(tt::Load::ATTR.padding, a.word(cx, 4, PADDING)?);
    Ok(cx.tensor_of(hints.on(state), block)?.into())
}

/// Refuses arguments that only block pointers take.
fn only_block_pointers(cx: &mut Emitter, a: &Args, arguments: &[(usize, &str)]) -> R<()> {
    let is_set = |i: usize| match a.given(i) {
        Some(Object::Const(Const::Str(text))) => !text.is_empty(),
        Some(Object::Tuple(items)) => !items.is_empty(),
        Some(v) => !v.is_none(),
        None => false,
    };
    match arguments.iter().find(|(i, _)| is_set(*i)) {
        Some((i, name @ "boundary_check")) if matches!(a.given(*i), Some(Object::Const(Const::Str(_)))) => {
            let place = ["first", "second", "third", "fourth"][*i];
            Err(a.report(
                cx,
                *i,
                &names::BAD_ARGUMENTS,
                format!("the {place} argument is `{name}`, which is for block pointers and takes no string"),
                "in this call",
                "write `cache_modifier=` or `eviction_policy=` before the string".to_owned(),
            ))
        }
        Some((_, name)) => Err(cx.error_help(
            &names::BAD_ARGUMENTS,
            format!("`{name}` is for block pointers, and this is an ordinary one: nothing would be checked"),
            "in this call",
            "say which elements exist: `mask=offsets < n`, with `other=0.0` for the others",
        )),
        None => Ok(()),
    }
}

/// Dimensions to check, sorted.
fn boundary(cx: &mut Emitter, v: &Object, block: Ty) -> R<Vec<i64>> {
    if v.is_none() {
        return Ok(vec![]);
    }
    let mut dims = items::ints_of(cx, v)?;
    dims.sort_unstable();
    dims.dedup();
    for &d in &dims {
        shape::axis(cx, d.into(), block.shape().len())?;
    }
    Ok(dims)
}

fn store(cx: &mut Emitter, a: &Args) -> R<Object> {
    let ptr = a.placed(cx, 0, |cx| pointer_arg(cx, a.get(0), "store"))?;
    let value = a.tensor(cx, 1)?;
    let mask = a.optional_tensor(cx, 2)?;
    let (cache, evict) = (a.word(cx, 4, STORE_CACHE)?, a.word(cx, 5, EVICTION)?);
    if ptr.ty.dtype.is_const_ptr() {
        return Err(cx.error_help(
            &types::NOT_A_POINTER,
            "nothing can be stored through a pointer to constant data",
            "declared `*k…` or `tl.const`",
            "declare the parameter without `k`, and without `tl.const`",
        ));
    }
    let state = |cx: &Emitter, ptr: Value, value: Value, mask: Option<Tensor>| {
        tt::Store::state(cx.loc(), ptr, value, mask.map(|m| m.value))
            .with(tt::Store::ATTR.cache, cache)
            .with(tt::Store::ATTR.evict, evict)
    };
    if let Some(block) = ptr.ty.dtype.pointee().filter(|t| t.is_block()) {
        if mask.is_some() {
            return Err(cx.error_help(
                &types::MASK,
                "`mask` does not go with a block pointer",
                "a block pointer",
                "use `boundary_check=(0, 1)`",
            ));
        }
        let value = shape::broadcast_to(cx, value, block.shape())?;
        let value = convert::cast(cx, value, block.dtype, None)?;
        let checks = boundary(cx, a.get(3), block)?;
        let state = state(cx, ptr.value, value.value, None).with(tt::Store::ATTR.boundaryCheck, &checks);
        return cx.emit(state).map(|_| Object::NONE);
    }
    only_block_pointers(cx, a, &[(3, "boundary_check")])?;
    let (mut value, mut mask) = (value, mask);
    if ptr.ty.is_block() {
        value = a.placed(cx, 1, |cx| to_pointer_shape(cx, ptr, value, "value"))?;
        mask = mask.map(|m| a.placed(cx, 2, |cx| to_pointer_shape(cx, ptr, m, "mask"))).transpose()?;
    } else {
        a.placed(cx, 1, |cx| scalar_only(cx, "value", Some(value)))?;
        a.placed(cx, 2, |cx| scalar_only(cx, "mask", mask))?;
    }
    if let Some(m) = mask {
        a.placed(cx, 2, |cx| mask_bits(cx, m))?;
    }
    let elem = ptr.ty.dtype.pointee().map_or(Dtype::Void, |t| t.dtype);
    let value = convert::cast(cx, value, elem, None)?;
    let (ptr, elem, _) = memory_type(cx, ptr)?;
    let value = convert::cast(cx, value, elem, None)?;
    cx.emit(state(cx, ptr.value, value.value, mask)).map(|_| Object::NONE)
}

// ---- block pointers ----

/// A list of run-time or compile-time integers as IR values of a width.
fn index_values(cx: &mut Emitter, v: &Object, to: Dtype) -> R<Vec<Value>> {
    let one = [v.clone()];
    let items: &[Object] = match v {
        Object::Tuple(items) => items,
        _ => &one,
    };
    let mut values = vec![];
    for item in items {
        let t = if let Object::Const(c) = item {
            convert::scalar_constant(cx, c, to)?
        } else {
            let t = convert::to_tensor(cx, item)?;
            let t = shape::unsplat(cx, t)?;
            if !t.ty.dtype.is_int() {
                let help = if t.ty.dtype.is_ptr() {
                    faults::LOAD_FIRST
                } else {
                    "convert it with `.to(tl.int32)`, or divide with `//`"
                };
                return Err(faults::expected_of_tensor(cx, "an integer", item, help));
            }
            convert::int_cast(cx, t, to, t.ty.dtype.is_signed())?
        };
        values.push(t.value);
    }
    Ok(values)
}

fn make_block_ptr(cx: &mut Emitter, a: &Args) -> R<Object> {
    let base = pointer_arg(cx, a.get(0), "make_block_ptr")?;
    let shape = index_values(cx, a.get(1), Dtype::Int64)?;
    let strides = index_values(cx, a.get(2), Dtype::Int64)?;
    let offsets = index_values(cx, a.get(3), Dtype::Int32)?;
    let block = items::shape_of(cx, a.get(4))?;
    let order = items::ints_of(cx, a.get(5))?;
    let rank = block.len();
    if [shape.len(), strides.len(), offsets.len(), order.len()].iter().any(|&n| n != rank) {
        return Err(cx.error_help(
            &types::AXIS,
            format!(
                "a block pointer needs as many entries everywhere: block_shape has {rank}, shape {}, strides {}, offsets {}, order {}",
                shape.len(),
                strides.len(),
                offsets.len(),
                order.len()
            ),
            "lengths differ",
            "shape, strides, offsets, block_shape and order have one entry for each dimension",
        ));
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != (0..rank as i64).collect::<Vec<_>>() {
        return Err(cx.error_help(
            &types::AXIS,
            format!("the order {order:?} is no permutation of the {rank} dimensions"),
            "in this call",
            "name each dimension once, the fastest first: `(1, 0)` for rows one after the other",
        ));
    }
    let (base, elem, _) = memory_type(cx, base)?;
    let ty = Ty::scalar(Dtype::pointer_to(Ty::block(elem, &block), false));
    let state = tt::MakeTensorPtr::state(cx.loc(), base.value, &shape, &strides, &offsets)
        .with(tt::MakeTensorPtr::ATTR.order, &order);
    Ok(cx.tensor_of(state, ty)?.into())
}

fn advance(cx: &mut Emitter, a: &Args) -> R<Object> {
    let ptr = pointer_arg(cx, a.get(0), "advance")?;
    let Some(block) = ptr.ty.dtype.pointee().filter(|t| t.is_block()) else {
        let help = "add the offset to a pointer: `ptr + n`; `tl.make_block_ptr` makes block pointers";
        return Err(faults::expected_of_tensor(cx, "a block pointer", a.get(0), help));
    };
    let offsets = index_values(cx, a.get(1), Dtype::Int32)?;
    if offsets.len() != block.shape().len() {
        return Err(cx.error_help(
            &types::AXIS,
            format!("{} offsets for a block of {} dimensions", offsets.len(), block.shape().len()),
            "in this call",
            "give one offset for each dimension",
        ));
    }
    Ok(cx.tensor_of(tt::Advance::state(cx.loc(), ptr.value, &offsets), ptr.ty)?.into())
}
