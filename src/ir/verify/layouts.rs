//! Sizes and layouts of tensors: what Triton allows, and what fits the number of warps and threads of the module.

use crate::ir::core::{Attr, Encoding, Ir, Type};
use crate::ir::text::parse_encodings::encoding_rank;

/// The most elements a tensor may have.
pub const MAX_TENSOR_ELEMENTS: i64 = 1 << 20;

/// What layouts must fill.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Target {
    pub warps: u64,
    pub threads: u64,
}

impl Target {
    /// From the module's attributes; `None` where it has none (TTIR).
    pub(super) fn of_module(ir: &Ir) -> Option<Target> {
        let get = |name: &str| ir.int_attr(ir.module(), name).and_then(|v| u64::try_from(v).ok());
        Some(Target { warps: get("ttg.num-warps")?, threads: get("ttg.threads-per-warp").unwrap_or(32) })
    }
}

/// A power of two of elements, at most [`MAX_TENSOR_ELEMENTS`].
pub(super) fn size(ty: Type) -> Result<(), String> {
    let elements = ty.num_elements();
    if elements > MAX_TENSOR_ELEMENTS {
        return Err(format!("a tensor must have at most {MAX_TENSOR_ELEMENTS} elements, found {elements} in `{ty}`"));
    }
    if elements <= 0 || elements.count_ones() != 1 {
        return Err(format!("a tensor must have a power of two of elements, found {elements} in `{ty}`"));
    }
    Ok(())
}

/// The layout has the tensor's rank, and as many warps and threads as there are.
pub(super) fn layout(ty: Type, target: Target) -> Result<(), String> {
    let (Some(tensor), Some(encoding)) = (ty.as_tensor(), ty.encoding()) else { return Ok(()) };
    if let Some(rank) = encoding_rank(encoding).filter(|&r| r != tensor.shape.len()) {
        return Err(format!("the layout has {rank} dimensions, the tensor {}: `{ty}`", tensor.shape.len()));
    }
    fills(encoding, target)
}

fn fills(encoding: Attr, target: Target) -> Result<(), String> {
    let product = |list: &[u32]| list.iter().map(|&v| u64::from(v)).product::<u64>();
    let power = |bits: usize| 1u64.checked_shl(bits as u32).unwrap_or(u64::MAX);
    let (threads, warps) = match encoding.as_encoding() {
        Some(Encoding::Slice { parent, .. } | Encoding::DotOp { parent, .. }) => return fills(*parent, target),
        Some(Encoding::Blocked(b)) => (product(&b.threads_per_warp), product(&b.warps_per_cta)),
        Some(Encoding::NvidiaMma(m)) => (32, product(&m.warps_per_cta)),
        Some(Encoding::Linear(l) | Encoding::GenericLinear(l)) => (power(l.lane.len()), power(l.warp.len())),
        Some(_) => return Err(format!("a tensor's layout says which thread holds what, found `{encoding}`")),
        None => return Ok(()),
    };
    if threads != target.threads {
        return Err(format!("the layout has {threads} threads in a warp, the module {}: `{encoding}`", target.threads));
    }
    if warps != target.warps {
        return Err(format!("the layout has {warps} warps, but {} run this: `{encoding}`", target.warps));
    }
    Ok(())
}
