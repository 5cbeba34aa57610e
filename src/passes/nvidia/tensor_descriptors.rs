//! Tensor descriptors on GPUs that have hardware for them: the layout of a block in shared memory, and descriptors that
//! the kernel makes itself.
//!
//! A kernel writes a descriptor (128 bytes) to scratch memory in global memory, where the hardware reads it:
//!
//! ```text
//! %d = tt.make_tensor_descriptor %x, [%m, %n], [%s, %c1] : <f16>, <64x128xf16, #shared>
//! → ttng.tensormap_create %scratch, %x, [64, 64], [%n, %m], [%s * 2], [1, 1] {elem_type = 6, swizzle_mode = 3, …}
//!   ttng.tensormap_fenceproxy_acquire %scratch
//!   %d = ttng.reinterpret_tensor_descriptor %scratch
//! ```
//!
//! Hardware counts axes from the fastest on, and strides in bytes.

use crate::ir::core::{Attr, Builder, Ir, Op, OpState, Type, TypeData, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::PaddingOption;
use crate::ir::dialects::keys::{Int, Key};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttng::ttng;
use crate::layout::LayoutError;
use crate::layout::encodings::tma_block;
use crate::passes::nvidia::shared_encodings;

/// The layout in shared memory of a block of type `tensor` that moves through a descriptor. The block may lack the
/// first axes.
///
/// # Errors
/// When the descriptor has no layout yet.
pub fn block_layout(descriptor: Type, tensor: Type) -> Result<Attr, LayoutError> {
    let TypeData::TensorDesc { layout: Some(layout), .. } = *descriptor else {
        return Err(LayoutError::new(format!(
            "`{descriptor}` has no layout in shared memory: run `triton-nvidia-optimize-descriptor-encoding` first"
        )));
    };
    Ok(shared_encodings::of_rank(layout, tensor.rank()))
}

/// What a `tt.make_tensor_descriptor` needs to be made by hardware.
pub struct Recipe {
    box_shape: Vec<i64>,
    element_bytes: i64,
    fp4_padded: bool,
    attrs: [(Key<Int<32>>, i64); 4],
}

impl Recipe {
    /// # Errors
    /// When the descriptor's type is not one that the hardware has.
    pub fn new(ir: &Ir, make: Op) -> Result<Recipe, LayoutError> {
        let block = tma_block(ir.ty(ir.result(make)))?;
        let fill = i64::from(tt::MakeTensorDesc(make).padding(ir) == Some(PaddingOption::Nan));
        let keys = ttng::TensormapCreate::ATTR;
        let attrs = [
            (keys.elem_type, i64::from(block.element_type)),
            (keys.interleave_layout, 0),
            (keys.swizzle_mode, i64::from(block.swizzle_mode)),
            (keys.fill_mode, fill),
        ];
        Ok(Recipe {
            box_shape: block.box_shape,
            element_bytes: i64::from(block.element_bytes),
            fp4_padded: block.fp4_padded,
            attrs,
        })
    }

    /// Writes the descriptor to memory and makes it visible; gives what was made, the descriptor as the last one's
    /// result.
    pub fn emit(&self, b: &mut Builder<'_>, make: Op, memory: Value) -> Vec<Op> {
        let (long, mut made) = (Type::int(64), vec![]);
        let view = tt::MakeTensorDesc(make);
        let base = view.base(b.ir);
        let mut extents: Vec<Value> = view.shape(b.ir).iter().rev().copied().collect();
        let strides = view.strides(b.ir).to_vec();
        let mut make_value = |b: &mut Builder<'_>, state: OpState| {
            let op = b.insert(state);
            made.push(op);
            op
        };
        let mut constant = |b: &mut Builder<'_>, value: i64, ty: Type| {
            let state = arith::Constant::state(b.loc).with(arith::Constant::ATTR.value, Attr::int(value, ty));
            let op = make_value(b, state.results(&[ty]));
            b.ir.result(op)
        };
        let boxes: Vec<Value> = self.box_shape.iter().rev().map(|&n| constant(b, n, Type::int(32))).collect();
        let one = constant(b, 1, Type::int(32));
        let two = self.fp4_padded.then(|| constant(b, 2, Type::int(32)));
        let bytes = constant(b, self.element_bytes, long);
        let mut product = |b: &mut Builder<'_>, x: Value, y: Value| {
            let state = arith::Muli::state(b.loc, x, y).results(&[b.ir.ty(x)]);
            let op = make_value(b, state);
            b.ir.result(op)
        };
        if let (Some(two), Some(&first)) = (two, extents.first()) {
            // The tensor counts bytes, the descriptor the two elements in each.
            extents[0] = product(b, first, two);
        }
        let pitches: Vec<Value> = strides.iter().rev().skip(1).map(|&s| product(b, s, bytes)).collect();
        let ones = vec![one; boxes.len()];
        let mut state = ttng::TensormapCreate::state(b.loc, memory, base, &boxes, &extents, &pitches, &ones);
        for (key, value) in self.attrs {
            state = state.with(key, value);
        }
        make_value(b, state);
        let state = ttng::TensormapFenceproxyAcquire::state(b.loc, memory);
        make_value(b, state);
        let ty = b.ir.ty(b.ir.result(make));
        let state = ttng::ReinterpretTensorDescriptor::state(b.loc, memory).results(&[ty]);
        make_value(b, state);
        made
    }
}
