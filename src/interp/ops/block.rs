//! Blocks of tensors in memory ([`Block`]): block pointers (`tt.make_tensor_ptr`) and tensor descriptors.
//!
//! Both are a base, a shape, strides and the shape of a block. An access expands the block into one address for each
//! element, row-major, and a mask of the elements inside of the tensor. Then it goes through the ordinary load and
//! store. A descriptor checks every dimension, a block pointer those that the access names.
//!
//! Example: base 0, shape 5×6, strides (6, 1), and a block 2×4 at (4, 4), which is rows 4 and 5 and columns 4 to 7.
//! Only (4, 4) and (4, 5) are inside.

use std::sync::Arc;

use super::super::access::Site;
use super::super::fault::Fault;
use super::super::memory::element_size;
use super::super::numbers::{signed, width};
use super::super::program::Program;
use super::super::races::AccessKind;
use super::super::tensor_block::{Block, Offset};
use super::super::undef::Use;
use super::super::value::{Exact, Lanes, Val, coordinates};
use super::atomics::Rmw;
use crate::ir::dialects::enums::{DescriptorReduceKind as Reduction, PaddingOption};
use crate::ir::dialects::tt::tt as view;
use crate::ir::{Op, Type, TypeData, Value};

fn numbers(p: &Program<'_>, op: Op, values: &[Value]) -> Result<Vec<i64>, Fault> {
    let number = |&value: &Value| {
        let v = p.get(value);
        p.defined_scalar(op, &v, Use::Address)?;
        Ok(signed(v.scalar(), width(p.ir.ty(value))))
    };
    values.iter().map(number).collect()
}

fn offset(p: &Program<'_>, op: Op, value: Value) -> Result<Offset, Fault> {
    let v = p.get(value);
    p.defined_scalar(op, &v, Use::Address)?;
    let at = signed(v.scalar(), width(p.ir.ty(value)));
    Ok(match v.exact {
        Some(e) => Offset { at, exact: e.get(0), origin: Some(e.origin) },
        None => Offset { at, exact: i128::from(at), origin: None },
    })
}

fn base(p: &Program<'_>, op: Op, base: Value) -> Result<u64, Fault> {
    let v = p.get(base);
    p.defined_scalar(op, &v, Use::Address)?;
    Ok(v.scalar())
}

/// Runs `tt.make_tensor_ptr`.
pub(crate) fn make_pointer(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let made = view::MakeTensorPtr(op);
    let pointee = p.ir.ty(made.result(p.ir)).pointee().unwrap_or_else(Type::index);
    let block = Block {
        base: base(p, op, made.base(p.ir))?,
        elem: pointee.elem(),
        shape: numbers(p, op, made.shape(p.ir))?,
        strides: numbers(p, op, made.strides(p.ir))?,
        offsets: made.offsets(p.ir).iter().map(|&v| offset(p, op, v)).collect::<Result<_, _>>()?,
        extent: pointee.shape().to_vec(),
        nan: false,
    };
    Ok(Lanes::Block(Arc::new(block)).into())
}

/// Runs `tt.advance`.
pub(crate) fn advance(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let advance = view::Advance(op);
    let v = p.get(advance.ptr(p.ir));
    let Lanes::Block(b) = &v.lanes else { return Ok(v) };
    let mut moved = (**b).clone();
    for (slot, &by) in moved.offsets.iter_mut().zip(advance.offsets(p.ir)) {
        let by = offset(p, op, by)?;
        slot.at = slot.at.wrapping_add(by.at);
        slot.exact = slot.exact.wrapping_add(by.exact);
        slot.origin = slot.origin.or(by.origin);
    }
    Ok(Lanes::Block(Arc::new(moved)).into())
}

/// Runs `tt.make_tensor_descriptor`.
pub(crate) fn make_descriptor(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let made = view::MakeTensorDesc(op);
    let ty = p.ir.ty(made.result(p.ir));
    let block = Block {
        base: base(p, op, made.base(p.ir))?,
        elem: ty.elem(),
        shape: numbers(p, op, made.shape(p.ir))?,
        strides: numbers(p, op, made.strides(p.ir))?,
        offsets: vec![],
        extent: ty.shape().to_vec(),
        nan: made.padding(p.ir) == Some(PaddingOption::Nan),
    };
    Ok(Lanes::Block(Arc::new(block)).into())
}

/// Makes a descriptor that is an argument. Its blocks have the type `ty`, and its tensor has these extents, with rows
/// that follow one another.
pub(crate) fn described_tensor(base: u64, ty: Type, extents: &[i64]) -> Val {
    let mut strides = vec![1; extents.len()];
    for d in (1..extents.len()).rev() {
        strides[d - 1] = strides[d] * extents[d];
    }
    described_array(base, ty, extents.to_vec(), strides)
}

/// As [`described_tensor`], of a tensor with these strides.
pub(crate) fn described_array(base: u64, ty: Type, shape: Vec<i64>, strides: Vec<i64>) -> Val {
    let (elem, extent) = (ty.elem(), ty.shape().to_vec());
    let block = Block { base, elem, shape, strides, offsets: vec![], extent, nan: false };
    Lanes::Block(Arc::new(block)).into()
}

impl Block {
    /// The addresses of the elements, and which elements are inside of the tensor in the checked dimensions.
    fn expand(&self, checked: impl Fn(usize) -> bool) -> (Val, Val) {
        let n = self.len();
        let size = element_size(self.elem) as i128;
        let (mut addresses, mut exact, mut inside) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
        for lane in 0..n {
            let at = coordinates(&self.extent, lane);
            let (mut address, mut ideal, mut within) = (i128::from(self.base), i128::from(self.base), true);
            for (d, &c) in at.iter().enumerate() {
                let (Some(o), Some(&stride)) = (self.offsets.get(d), self.strides.get(d)) else { continue };
                let x = i128::from(o.at) + c as i128;
                address += x * i128::from(stride) * size;
                ideal += (o.exact + c as i128) * i128::from(stride) * size;
                within &= !checked(d) || (0..i128::from(self.shape[d])).contains(&x);
            }
            addresses.push(address as u64);
            exact.push(ideal);
            inside.push(u64::from(within));
        }
        let origin = self.offsets.iter().find_map(|o| o.origin);
        let exact = origin.map(|origin| Arc::new(Exact { values: exact, origin }));
        (Val { exact, ..Val::full(addresses) }, Val::full(inside))
    }

    fn site(&self, op: Op) -> Site<'_> {
        Site { op, size: element_size(self.elem), shape: &self.extent }
    }

    /// The number of elements of a block.
    fn len(&self) -> usize {
        self.extent.iter().product::<i64>().max(0) as usize
    }

    fn padding(&self) -> Val {
        let nan = self.elem.as_float().filter(|_| self.nan).map_or(0, |k| k.from_f64(f64::NAN));
        Val::splat(nan)
    }

    /// The block of a descriptor at some coordinates.
    fn at(&self, offsets: Vec<Offset>) -> Block {
        Block { offsets, ..self.clone() }
    }
}

fn boundary(p: &Program<'_>, op: Op) -> &'static [i64] {
    // Loads and stores write it in the same way.
    p.ir.get(op, view::Load::ATTR.boundaryCheck).unwrap_or_default()
}

/// Runs `tt.load` through a block pointer.
pub(crate) fn load(p: &Program<'_>, op: Op, b: &Block) -> Result<Val, Fault> {
    let checked = boundary(p, op);
    let (ptr, inside) = b.expand(|d| checked.contains(&(d as i64)));
    let padding = view::Load(op).padding(p.ir);
    let other = padding.map(|kind| Block { nan: kind == PaddingOption::Nan, ..b.clone() }.padding());
    p.load(&b.site(op), &ptr, Some(&inside), other.as_ref(), b.len())
}

/// Runs `tt.store` through a block pointer.
pub(crate) fn store(p: &Program<'_>, op: Op, b: &Block, value: &Val) -> Result<(), Fault> {
    let checked = boundary(p, op);
    let (ptr, inside) = b.expand(|d| checked.contains(&(d as i64)));
    p.store(&b.site(op), &ptr, value, Some(&inside), b.len())
}

/// The block that `desc` describes, at the coordinates in `indices`.
fn described(p: &Program<'_>, op: Op, desc: Value, indices: &[Value]) -> Result<Block, Fault> {
    let v = p.get(desc);
    let Lanes::Block(b) = &v.lanes else {
        return Err(p.unsupported(op, "a descriptor that the kernel does not make itself"));
    };
    Ok(b.at(indices.iter().map(|&i| offset(p, op, i)).collect::<Result<_, _>>()?))
}

pub(crate) fn descriptor_load(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let load = view::DescriptorLoad(op);
    let b = described(p, op, load.desc(p.ir), load.indices(p.ir))?;
    let (ptr, inside) = b.expand(|_| true);
    p.load(&b.site(op), &ptr, Some(&inside), Some(&b.padding()), b.len())
}

pub(crate) fn descriptor_store(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let store = view::DescriptorStore(op);
    let b = described(p, op, store.desc(p.ir), store.indices(p.ir))?;
    let (ptr, inside) = b.expand(|_| true);
    p.store(&b.site(op), &ptr, &p.get(store.src(p.ir)), Some(&inside), b.len())
}

pub(crate) fn descriptor_reduce(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let reduce = view::DescriptorReduce(op);
    let b = described(p, op, reduce.desc(p.ir), reduce.indices(p.ir))?;
    let is_unsigned = |elem: Type| matches!(*elem, TypeData::SignedInt { signed: false, .. });
    let desc = p.ir.ty(reduce.desc(p.ir));
    let unsigned = matches!(*desc, TypeData::TensorDesc { elem, .. } if is_unsigned(elem));
    let Some(kind) = reduce.kind(p.ir) else {
        return Err(p.unsupported(op, "an unknown reduction"));
    };
    let kind = match kind {
        Reduction::Add => Rmw::Add,
        Reduction::Min if unsigned => Rmw::UMin,
        Reduction::Max if unsigned => Rmw::UMax,
        Reduction::Min => Rmw::Min,
        Reduction::Max => Rmw::Max,
        Reduction::Inc => Rmw::Inc,
        Reduction::Dec => Rmw::Dec,
        Reduction::And => Rmw::And,
        Reduction::Or => Rmw::Or,
        Reduction::Xor => Rmw::Xor,
    };
    let (ptr, inside) = b.expand(|_| true);
    let (site, value) = (b.site(op), p.get(reduce.src(p.ir)));
    for lane in (0..b.len()).filter(|&l| inside.lanes.get(l) == 1) {
        p.defined(op, &value, lane, site.shape, Use::Atomic)?;
        if let Some((buffer, at)) =
            p.touch(&site, AccessKind::Atomic, ptr.lanes.get(lane), lane, ptr.exact.as_deref())?
        {
            p.shared.memory.buffers[buffer].update(at, site.size, |old| kind.apply(b.elem, old, value.lanes.get(lane)));
            p.wrote(true);
        }
    }
    Ok(())
}

/// Which rows of a tensor, and from which column on.
struct Rows {
    desc: Value,
    numbers: Value,
    column: Value,
}

/// The addresses of whole rows, each as long as those of `ty`.
fn rows(p: &Program<'_>, op: Op, rows: &Rows, ty: Type) -> Result<(Block, Val, Val), Fault> {
    let v = p.get(rows.desc);
    let Lanes::Block(b) = &v.lanes else {
        return Err(p.unsupported(op, "a descriptor that the kernel does not make itself"));
    };
    let [n, columns] = *ty.shape() else { return Err(p.unsupported(op, "rows of anything but a matrix")) };
    let x = p.get(rows.numbers);
    let w = width(p.ir.ty(rows.numbers));
    let (mut addresses, mut inside) = (vec![], vec![]);
    for row in 0..n as usize {
        p.defined(op, &x, row, &[n], Use::Address)?;
        let at = signed(x.lanes.get(row), w);
        let row_offset = Offset { at, exact: i128::from(at), origin: None };
        let one = Block { extent: vec![1, columns], ..b.at(vec![row_offset, offset(p, op, rows.column)?]) };
        let (ptr, within) = one.expand(|_| true);
        addresses.extend(ptr.lanes.to_vec(columns as usize));
        inside.extend(within.lanes.to_vec(columns as usize));
    }
    let whole = Block { extent: ty.shape().to_vec(), ..(**b).clone() };
    Ok((whole, Val::full(addresses), Val::full(inside)))
}

pub(crate) fn descriptor_gather(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let gather = view::DescriptorGather(op);
    let wanted = Rows { desc: gather.desc(p.ir), numbers: gather.x_offsets(p.ir), column: gather.y_offset(p.ir) };
    let (b, ptr, inside) = rows(p, op, &wanted, p.ir.ty(gather.result(p.ir)))?;
    p.load(&b.site(op), &ptr, Some(&inside), Some(&b.padding()), b.len())
}

pub(crate) fn descriptor_scatter(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let scatter = view::DescriptorScatter(op);
    let wanted = Rows { desc: scatter.desc(p.ir), numbers: scatter.x_offsets(p.ir), column: scatter.y_offset(p.ir) };
    let (b, ptr, inside) = rows(p, op, &wanted, p.ir.ty(scatter.src(p.ir)))?;
    p.store(&b.site(op), &ptr, &p.get(scatter.src(p.ir)), Some(&inside), b.len())
}
