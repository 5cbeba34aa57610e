//! Descriptors of shared memory as values: where a view starts, and where in its allocation.
//!
//! A descriptor is an address and an offset along each dimension, in elements of the allocation's shape. They are kept
//! apart because a swizzled layout is no sum: the element at `offset + i` of a view lies at `address +
//! bytes(layout⁻¹(offset ⊕ i))`.
//!
//! | view | address | offsets |
//! |---|---|---|
//! | `ttg.memdesc_index` | moved by whole buffers, those before a sub-slice of them included | without that of the first dimension |
//! | `ttg.memdesc_subslice` | the same | moved |
//! | `ttg.memdesc_trans` | the same | permuted |
//! | `ttg.memdesc_reshape`, `ttg.memdesc_reinterpret` | the same | 0: only of whole buffers |
//!
//! # Accesses of a tensor
//!
//! 1. [`shared_accesses`] gives the accesses from the layouts of the tensor and of the allocation, knowing which
//!    address bits the offsets can set.
//! 2. Sub-slices start at multiples of their size, so adding the offset is exclusive or, and the inverse layout is
//!    linear over it: the part that the offsets contribute is computed once, bit by bit, with bits that move alike
//!    taken together. For constant offsets it is a constant.

use std::collections::BTreeMap;

use inkwell::values::{IntValue, PointerValue};

use super::lower::{Lower, Res, Val, as_int, defect};
use crate::analysis::allocation::buffer_bytes;
use crate::analysis::shared_accesses;
use crate::analysis::shared_alias::viewed;
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::ttg::ttg::MemDescIndex;
use crate::ir::{Type, Value};
use crate::layout::{LinearLayout, layout_of};

/// A descriptor of shared memory.
#[derive(Clone)]
pub(crate) struct View<'c> {
    pub(crate) base: PointerValue<'c>,
    /// One for each dimension.
    pub(crate) offsets: Vec<IntValue<'c>>,
}

/// How a tensor is read from or written to a view.
pub(crate) struct ViewAccess<'c> {
    pub(crate) at: shared_accesses::ViewAccess,
    pub(crate) base: PointerValue<'c>,
    /// What the view's offsets contribute to every address in bytes, with the bits that it can set.
    pub(crate) foreign: Option<(IntValue<'c>, u64)>,
}

/// Where a view starts in shared memory.
pub(crate) struct ViewStart<'c> {
    /// The address in bytes, in the first buffer if the view is of one of several.
    pub(crate) first: IntValue<'c>,
    /// Which of several buffers it is, and the bytes from one to the next.
    pub(crate) buffer: Option<(IntValue<'c>, u32)>,
    /// The inverse of the view's layout.
    pub(crate) inverse: LinearLayout,
    /// The bits of the view's offsets that may be set, for each dimension, with the bytes to which they move the start.
    pub(crate) offsets: Vec<Vec<(u32, u64)>>,
}

impl<'c> ViewStart<'c> {
    /// The address in bytes.
    pub(crate) fn address(&self, cx: &Lower<'c, '_>) -> Res<IntValue<'c>> {
        let Some((number, bytes)) = self.buffer else { return Ok(self.first) };
        let moved = cx.b.build_int_mul(number, cx.i32(u64::from(bytes)), "")?;
        Ok(cx.b.build_int_add(self.first, moved, "")?)
    }
}

impl<'c> Lower<'c, '_> {
    /// The descriptor that a value is.
    pub(crate) fn view(&self, value: Value) -> Res<View<'c>> {
        let regs = self.get(value)?;
        match regs.split_first() {
            Some((Val::PointerValue(base), offsets)) => {
                Ok(View { base: *base, offsets: offsets.iter().map(|&o| as_int(o)).collect::<Res<_>>()? })
            }
            _ => Err(defect("a descriptor of shared memory without an address")),
        }
    }

    /// Makes a value this descriptor.
    pub(crate) fn set_view(&mut self, value: Value, view: &View<'c>) {
        let offsets = view.offsets.iter().map(|&o| Val::from(o));
        self.set(value, std::iter::once(view.base.into()).chain(offsets).collect());
    }

    /// How a tensor of type `tensor` is stored to the view `value`: as [`Lower::view_access`], and each block must hold
    /// all that its memory has.
    pub(crate) fn view_store(&mut self, value: Value, tensor: Type) -> Res<ViewAccess<'c>> {
        let at = self.view_access(value, tensor)?;
        if at.at.access.fills_blocks() {
            return Ok(at);
        }
        let text = "each block of the cluster would store a part of what its memory has";
        Err(no_layout(self.ir.ty(value), text))
    }

    /// How a tensor of type `tensor` lies in the view `value`.
    pub(crate) fn view_access(&mut self, value: Value, tensor: Type) -> Res<ViewAccess<'c>> {
        let ty = self.ir.ty(value);
        let view = self.view(value)?;
        let at = shared_accesses::view_access(ty, tensor, &self.options.target.shared)
            .map_err(|e| no_layout(ty, &e.reason))?;
        let foreign =
            if at.reached == 0 { None } else { Some((self.offset_part(&view.offsets, &at.columns)?, at.reached)) };
        Ok(ViewAccess { at, base: view.base, foreign })
    }

    /// Where a view starts, and how it goes on from there.
    pub(crate) fn view_start(&mut self, value: Value) -> Res<ViewStart<'c>> {
        let ty = self.ir.ty(value);
        let columns = shared_accesses::view_columns(ty).map_err(|e| no_layout(ty, &e.reason))?;
        let inverse = layout_of(ty).ok().and_then(LinearLayout::pseudoinvert);
        let inverse = inverse.ok_or_else(|| no_layout(ty, "its layout does not hold every element"))?;
        let view = self.view(value)?;
        let (base, buffer) = match self.buffer(value) {
            Some((all, number, bytes)) => (self.view(all)?.base, Some((self.buffer_number(all, number)?, bytes))),
            None => (view.base, None),
        };
        let address = self.b.build_ptr_to_int(base, self.int_type(32), "")?;
        let moved = self.offset_part(&view.offsets, &columns)?;
        Ok(ViewStart { first: self.b.build_int_add(address, moved, "")?, buffer, inverse, offsets: columns })
    }

    /// The number of a buffer in the allocation, given that in a view of some of its buffers.
    pub(crate) fn buffer_number(&self, all: Value, number: Value) -> Res<IntValue<'c>> {
        let number = self.int(number)?;
        match self.view(all)?.offsets.first() {
            Some(first) if first.get_zero_extended_constant() != Some(0) => {
                Ok(self.b.build_int_add(number, *first, "")?)
            }
            _ => Ok(number),
        }
    }

    /// The buffers that a view is of one of, which one, and the bytes from one to the next. The other operations on
    /// views leave addresses as they are (see the table).
    fn buffer(&self, mut value: Value) -> Option<(Value, Value, u32)> {
        loop {
            if let Some(index) = MemDescIndex::defining(self.ir, value) {
                return Some((index.src(self.ir), index.index(self.ir), buffer_bytes(self.ir.ty(value)).ok()?));
            }
            value = viewed(self.ir, self.ir.def_op(value)?)?;
        }
    }

    /// What the offsets contribute to an address (step 2): the exclusive or of the columns whose bits are set in them.
    fn offset_part(&mut self, offsets: &[IntValue<'c>], columns: &[Vec<(u32, u64)>]) -> Res<IntValue<'c>> {
        let mut sum = (self.i32(0), 0u64);
        for (&offset, columns) in offsets.iter().zip(columns) {
            // Each shift has the bits of the offset that move by it.
            let mut groups: BTreeMap<i32, u64> = BTreeMap::new();
            for &(bit, column) in columns {
                (0..32)
                    .filter(|to| column >> to & 1 == 1)
                    .for_each(|to| *groups.entry(to - bit as i32).or_default() |= 1 << bit);
            }
            for (shift, mask) in groups {
                let picked = self.b.build_and(offset, self.i32(mask), "")?;
                let amount = self.i32(u64::from(shift.unsigned_abs()));
                let (moved, reached) = if shift >= 0 {
                    (self.b.build_left_shift(picked, amount, "")?, mask << shift)
                } else {
                    (self.b.build_right_shift(picked, amount, false, "")?, mask >> shift.unsigned_abs())
                };
                sum = self.combine(sum.0, sum.1, moved, reached)?;
            }
        }
        Ok(sum.0)
    }
}

fn no_layout(ty: Type, why: &str) -> Diagnostic {
    Diagnostic::error(&codes::NO_LAYOUT, format!("`{ty}` cannot be accessed: {why}"))
}
