//! Tensor descriptors: blocks of a tensor in memory, moved by hardware where there is some.

use std::rc::Rc;

use super::entry::entry;
use super::memory;
use crate::diag::codes::types;
use crate::ir::dialects::enums::{DescriptorReduceKind, PaddingOption};
use crate::ir::dialects::tt::tt;
use crate::ir::{Type, TypeData, Value};
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{convert, faults, items, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Args, Builtin, Const, Desc, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "make_tensor_descriptor",
        "base, shape, strides, block_shape, padding_option=\"zero\"",
        "A descriptor of a tensor in memory; the last stride is 1, the others are multiples of 16 bytes.",
        make,
    ),
    entry("load_tensor_descriptor", "desc, offsets", "Reads a block.", load),
    entry("store_tensor_descriptor", "desc, offsets, value", "Writes a block.", store),
];

/// Methods of a descriptor.
pub(super) static METHODS: &[Builtin] = &[
    entry("load", "self, offsets", "Reads the block at the offsets; what lies outside of the tensor is padding.", load),
    entry(
        "store",
        "self, offsets, value",
        "Writes the block at the offsets; what lies outside of the tensor is left out.",
        store,
    ),
    entry("atomic_add", "self, offsets, value", "Adds a block to memory.", |cx, a| {
        reduce(cx, a, DescriptorReduceKind::Add)
    }),
    entry("atomic_min", "self, offsets, value", "Minimum of a block and memory.", |cx, a| {
        reduce(cx, a, DescriptorReduceKind::Min)
    }),
    entry("atomic_max", "self, offsets, value", "Maximum of a block and memory.", |cx, a| {
        reduce(cx, a, DescriptorReduceKind::Max)
    }),
    entry("atomic_and", "self, offsets, value", "Bitwise and of a block and memory.", |cx, a| {
        reduce(cx, a, DescriptorReduceKind::And)
    }),
    entry("atomic_or", "self, offsets, value", "Bitwise or of a block and memory.", |cx, a| {
        reduce(cx, a, DescriptorReduceKind::Or)
    }),
    entry("atomic_xor", "self, offsets, value", "Bitwise exclusive or of a block and memory.", |cx, a| {
        reduce(cx, a, DescriptorReduceKind::Xor)
    }),
    entry("gather", "self, x_offsets, y_offset", "Reads rows.", gather),
    entry("scatter", "self, value, x_offsets, y_offset", "Writes rows.", scatter),
];

/// The IR type of a descriptor of blocks of this type.
#[must_use]
pub(super) fn ir_type(block: Ty) -> Type {
    let plain = block.dtype.to_ir();
    // Reductions in memory depend on the sign, so the type keeps it.
    let elem = match *plain {
        TypeData::Int(width) => Type::new(TypeData::SignedInt { width, signed: block.dtype.is_signed() }),
        _ => plain,
    };
    Type::new(TypeData::TensorDesc { shape: block.shape().to_vec(), elem, layout: None, im2col: false })
}

fn scalars(cx: &mut Emitter, v: &Object, to: Dtype) -> R<Vec<Tensor>> {
    let Object::Tuple(items) = v else { return Err(faults::expected(cx, "a list of integers", v)) };
    let mut out = vec![];
    for item in items.iter() {
        out.push(if let Object::Const(c) = item {
            convert::scalar_constant(cx, c, to)?
        } else {
            let t = convert::to_tensor(cx, item)?;
            let t = shape::unsplat(cx, t)?;
            convert::cast(cx, t, to, None)?
        });
    }
    Ok(out)
}

/// Refuses an offset that would have to be cut to 32 bits.
fn narrow(cx: &mut Emitter, offset: &Object) -> R<()> {
    match offset {
        Object::Const(Const::Int(i)) if i32::try_from(*i).is_err() => Err(cx.error_help(
            &types::INT_RANGE,
            format!("the offset {i} does not fit into int32"),
            "in this call",
            "offsets of a descriptor count elements in 32 bits: add the rest to the pointer that it is made from",
        )),
        Object::Tensor(t) if !t.ty.dtype.is_int() || t.ty.dtype.bits() > 32 => Err(cx.error_help(
            &types::ARGUMENT_TYPE,
            format!("offsets of a descriptor are integers of 32 bits, found {}", offset.describe()),
            "in this call",
            "add `.to(tl.int32)` if the number fits",
        )),
        _ => Ok(()),
    }
}

fn make(cx: &mut Emitter, a: &Args) -> R<Object> {
    let base = memory::pointer_arg(cx, a.get(0), "make_tensor_descriptor")?;
    let block = items::shape_of(cx, a.get(3))?;
    let elem = base.ty.dtype.pointee().map_or(Dtype::Void, |t| t.dtype);
    let counts = [a.get(1), a.get(2)].map(|v| if let Object::Tuple(t) = v { t.len() } else { 0 });
    if base.ty.is_block() || block.is_empty() || block.len() > 5 || counts != [block.len(); 2] {
        return Err(cx.error_help(
            &types::AXIS,
            format!(
                "a descriptor has 1 to 5 dimensions: block_shape has {}, shape {}, strides {}",
                block.len(),
                counts[0],
                counts[1]
            ),
            "lengths differ",
            "shape, strides and block_shape have one entry for each dimension",
        ));
    }
    let bytes = block[block.len() - 1] * i64::from(elem.bits() / 8);
    if bytes < 16 {
        return Err(cx.error_help(
            &types::BLOCK_SHAPE,
            format!("the last dimension of the block spans {bytes} bytes; at least 16 are needed"),
            "in this call",
            format!("make the last dimension of the block at least {} elements", (16 * 8 / elem.bits()).max(1)),
        ));
    }
    if let Object::Tuple(strides) = a.get(2)
        && !matches!(strides.last(), Some(Object::Const(Const::Int(1))))
    {
        return Err(cx.error_help(
            &types::AXIS,
            "the last stride of a descriptor must be the compile-time value 1",
            "in this call",
            "the elements of a row must be contiguous: write the literal 1",
        ));
    }
    check_strides(cx, a.get(2), elem)?;
    let padding =
        a.word(cx, 4, &[("", PaddingOption::Zero), ("zero", PaddingOption::Zero), ("nan", PaddingOption::Nan)])?;
    if padding == PaddingOption::Nan && elem.is_int() {
        return Err(cx.error_help(
            &types::ARGUMENT_TYPE,
            format!("{elem} has no NaN to pad with"),
            "in this call",
            "leave `padding_option` out: integers are padded with zeros",
        ));
    }
    let shape = scalars(cx, a.get(1), Dtype::Int32)?;
    let strides = scalars(cx, a.get(2), Dtype::Int64)?;
    let ty = Ty::block(elem, &block);
    let values = |tensors: &[Tensor]| tensors.iter().map(|t| t.value).collect::<Vec<_>>();
    let state = tt::MakeTensorDesc::state(cx.loc(), base.value, &values(&shape), &values(&strides))
        .with(tt::MakeTensorDesc::ATTR.padding, padding);
    let value = cx.value_of(state, ir_type(ty))?;
    Ok(Object::Desc(Rc::new(Desc { value, block: ty, shape, strides })))
}

/// Reports a stride of which it is known that rows do not begin at multiples of 16 bytes.
fn check_strides(cx: &mut Emitter, strides: &Object, elem: Dtype) -> R<()> {
    let Object::Tuple(strides) = strides else { return Ok(()) };
    let outer = strides.split_last().map_or(&[][..], |(_, outer)| outer);
    let numbers = outer.iter().filter_map(|s| s.as_const().and_then(Const::as_int));
    let width = i128::from(elem.bits() / 8);
    match numbers.into_iter().find(|n| n.wrapping_mul(width) % 16 != 0) {
        Some(n) => Err(cx.error_help(
            &types::AXIS,
            format!("the stride {n} of a descriptor of {elem} is {} bytes, no multiple of 16", n.wrapping_mul(width)),
            "in this call",
            format!("pad the rows in memory to a multiple of {} elements, or use pointers", 16 / width.max(1)),
        )),
        None => Ok(()),
    }
}

fn descriptor(cx: &mut Emitter, a: &Args) -> R<Rc<Desc>> {
    match a.get(0) {
        Object::Desc(d) => Ok(d.clone()),
        other => Err(faults::expected(cx, "a tensor descriptor", other)),
    }
}

fn offsets(cx: &mut Emitter, v: &Object, rank: usize) -> R<Vec<Value>> {
    if let Object::Tuple(items) = v {
        for item in items.iter() {
            narrow(cx, item)?;
        }
    }
    let values = scalars(cx, v, Dtype::Int32)?;
    if values.len() != rank {
        return Err(cx.error_help(
            &types::AXIS,
            format!("{} offsets for a descriptor of {rank} dimensions", values.len()),
            "in this call",
            "give one offset for each dimension",
        ));
    }
    Ok(values.into_iter().map(|t| t.value).collect())
}

fn load(cx: &mut Emitter, a: &Args) -> R<Object> {
    let d = descriptor(cx, a)?;
    let offsets = offsets(cx, a.get(1), d.block.shape().len())?;
    let state = tt::DescriptorLoad::state(cx.loc(), d.value, &offsets);
    Ok(cx.tensor_of(state, d.block)?.into())
}

/// The value, which must have the descriptor's shape.
fn fitting(cx: &mut Emitter, d: &Desc, v: &Object) -> R<Tensor> {
    let t = convert::to_tensor(cx, v)?;
    if t.ty.shape() != d.block.shape() {
        return Err(cx.error_help(
            &types::BROADCAST,
            format!("the value is {}, the descriptor's blocks are {}", t.ty, d.block),
            "shapes differ",
            "store a tensor of the shape of the blocks: reshape, or make the descriptor with another block_shape",
        ));
    }
    Ok(t)
}

/// The value of a reduction or a scatter, which nothing converts.
fn same_type(cx: &mut Emitter, d: &Desc, t: Tensor) -> R<Tensor> {
    if t.ty.dtype.to_ir() == d.block.dtype.to_ir() {
        return Ok(t);
    }
    Err(cx.error_help(
        &types::ARGUMENT_TYPE,
        format!("the value is {}, the descriptor's blocks are {}", t.ty, d.block),
        "types differ",
        format!("convert the value: `x.to(tl.{})`", d.block.dtype.attr_name()),
    ))
}

fn store(cx: &mut Emitter, a: &Args) -> R<Object> {
    let d = descriptor(cx, a)?;
    let value = fitting(cx, &d, a.get(2))?;
    let value = convert::cast(cx, value, d.block.dtype, None)?;
    let offsets = offsets(cx, a.get(1), d.block.shape().len())?;
    let state = tt::DescriptorStore::state(cx.loc(), d.value, value.value, &offsets);
    cx.emit(state).map(|_| Object::NONE)
}

/// Reports elements that cannot be reduced in memory this way.
fn reducible(cx: &mut Emitter, elem: Dtype, kind: DescriptorReduceKind, name: &str) -> R<()> {
    use Dtype::{Bf16, Fp16, Fp32, Int32, Int64, Uint32, Uint64};
    let halves = cx.target().has_tma();
    let types: &[Dtype] = match kind {
        DescriptorReduceKind::Add => &[Int32, Uint32, Uint64, Fp16, Bf16, Fp32],
        DescriptorReduceKind::Min | DescriptorReduceKind::Max if halves => &[Int32, Uint32, Int64, Uint64, Fp16, Bf16],
        _ => &[Int32, Uint32, Int64, Uint64],
    };
    if types.contains(&elem) {
        return Ok(());
    }
    let names: Vec<&str> = types.iter().map(|d| d.name()).collect();
    Err(cx.error_help(
        &types::ARGUMENT_TYPE,
        format!("`{name}` of a descriptor does not take {elem} on {}", cx.target()),
        "in this call",
        match kind {
            DescriptorReduceKind::Add | DescriptorReduceKind::Min | DescriptorReduceKind::Max => {
                format!("it takes {}; `tl.{name}` of pointers takes others", names.join(", "))
            }
            _ => format!("it takes {}", names.join(", ")),
        },
    ))
}

fn reduce(cx: &mut Emitter, a: &Args, kind: DescriptorReduceKind) -> R<Object> {
    let d = descriptor(cx, a)?;
    let value = fitting(cx, &d, a.get(2))?;
    let value = same_type(cx, &d, value)?;
    reducible(cx, d.block.dtype, kind, a.builtin.name)?;
    let offsets = offsets(cx, a.get(1), d.block.shape().len())?;
    let state = tt::DescriptorReduce::state(cx.loc(), d.value, value.value, &offsets)
        .with(tt::DescriptorReduce::ATTR.kind, kind);
    cx.emit(state).map(|_| Object::NONE)
}

/// Row offsets and the column offset.
fn rows(cx: &mut Emitter, d: &Desc, x: &Object, y: &Object) -> R<(Tensor, Value)> {
    let x = convert::to_tensor(cx, x)?;
    if x.ty.shape().len() != 1
        || !matches!(x.ty.dtype, Dtype::Int16 | Dtype::Int32)
        || d.block.shape().len() != 2
        || d.block.shape()[0] != 1
    {
        return Err(cx.error_help(
            &types::ARGUMENT_TYPE,
            format!(
                "rows are picked by a 1D tensor of int16 or int32 from a descriptor of [1, N] blocks, found {} and {}",
                x.ty, d.block
            ),
            "in this call",
            "pass the rows as `rows.to(tl.int32)`, and make the descriptor with block_shape `[1, N]`",
        ));
    }
    let (rows, columns) = (x.ty.shape()[0], d.block.shape()[1]);
    let least = 32 / i64::from(d.block.dtype.bits()) * 8;
    if rows < 8 || columns < least {
        return Err(cx.error_help(
            &types::BLOCK_SHAPE,
            format!("{rows} rows of {columns} elements: at least 8 rows of {least} {} are moved", d.block.dtype),
            "in this call",
            if rows < 8 {
                "pick more rows (one may occur twice), or use pointers"
            } else {
                "make the last dimension of the blocks longer, or use pointers"
            },
        ));
    }
    narrow(cx, y)?;
    let y = scalars(cx, &Object::tuple(vec![y.clone()]), Dtype::Int32)?[0].value;
    Ok((x, y))
}

fn gather(cx: &mut Emitter, a: &Args) -> R<Object> {
    let d = descriptor(cx, a)?;
    let (x, y) = rows(cx, &d, a.get(1), a.get(2))?;
    let ty = Ty::block(d.block.dtype, &[x.ty.shape()[0], d.block.shape()[1]]);
    Ok(cx.tensor_of(tt::DescriptorGather::state(cx.loc(), d.value, x.value, y), ty)?.into())
}

fn scatter(cx: &mut Emitter, a: &Args) -> R<Object> {
    let d = descriptor(cx, a)?;
    let value = a.tensor(cx, 1)?;
    let value = same_type(cx, &d, value)?;
    let (x, y) = rows(cx, &d, a.get(2), a.get(3))?;
    let state = tt::DescriptorScatter::state(cx.loc(), d.value, x.value, y, value.value);
    cx.emit(state).map(|_| Object::NONE)
}
