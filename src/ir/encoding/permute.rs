//! Encodings behind a permutation of axes, where one of the same kind says it.

use super::questions::stated_cga;
use crate::ir::core::encoding::{Blocked, NvmmaShared, SwizzledShared};
use crate::ir::core::{Bases, Encoding};

/// The encoding of which axis `i` is axis `order[i]` of this one: of the same kind, with its fields permuted. `None`
/// where no encoding of that kind is, or where the number of axes is another.
#[must_use]
pub fn permuted(e: &Encoding, order: &[u32]) -> Option<Encoding> {
    let rank = order.len();
    let cga = || -> Option<Bases> { stated_cga(e)?.iter().map(|basis| entries(basis, order)).collect() };
    // The axes keep their order in memory under new names.
    let renamed = |axes: &[u32]| -> Option<Vec<u32>> {
        axes.iter().map(|axis| order.iter().position(|d| d == axis).map(|i| i as u32)).collect()
    };
    match e {
        Encoding::Blocked(b) if b.order.len() == rank => Some(Encoding::Blocked(Blocked {
            size_per_thread: entries(&b.size_per_thread, order)?,
            threads_per_warp: entries(&b.threads_per_warp, order)?,
            warps_per_cta: entries(&b.warps_per_cta, order)?,
            order: renamed(&b.order)?,
            cga: cga()?,
        })),
        Encoding::SwizzledShared(s) if s.order.len() == rank => {
            Some(Encoding::SwizzledShared(SwizzledShared { order: renamed(&s.order)?, cga: cga()?, ..s.clone() }))
        }
        Encoding::AmdRotatingShared(s) if s.order.len() == rank => {
            Some(Encoding::AmdRotatingShared(SwizzledShared { order: renamed(&s.order)?, cga: cga()?, ..s.clone() }))
        }
        Encoding::NvmmaShared(s) if order == [1, 0] => {
            Some(Encoding::NvmmaShared(NvmmaShared { transposed: !s.transposed, cga: cga()?, ..s.clone() }))
        }
        Encoding::Blocked(_)
        | Encoding::SwizzledShared(_)
        | Encoding::AmdRotatingShared(_)
        | Encoding::NvmmaShared(_)
        | Encoding::Slice { .. }
        | Encoding::DotOp { .. }
        | Encoding::NvidiaMma(_)
        | Encoding::AmdMfma(_)
        | Encoding::AmdWmma(_)
        | Encoding::Linear(_)
        | Encoding::GenericLinear(_)
        | Encoding::SharedLinear { .. }
        | Encoding::PaddedShared(_)
        | Encoding::TensorMemory(_)
        | Encoding::TensorMemoryScales { .. } => None,
    }
}

/// `list` permuted: entry `i` is entry `order[i]` of `list`.
fn entries<T: Clone>(list: &[T], order: &[u32]) -> Option<Vec<T>> {
    order.iter().map(|&d| list.get(d as usize).cloned()).collect()
}
