//! Matrix products, a file per kind of instruction.
//!
//! | file | operation | instruction |
//! |---|---|---|
//! | [`fma`] | `tt.dot` with a blocked result | a multiply-add per element and step of K |
//! | [`mma`] | `tt.dot` with a result of nvidia_mma version 2 | `mma.sync`, of one warp |
//! | [`wgmma`] | `ttng.warp_group_dot` (and its wait) | `wgmma.mma_async`, of four warps, B and perhaps A read from shared memory |
//!
//! [`fragment`] says which register holds which element; [`descriptor`] describes a matrix in shared memory to `wgmma`.

mod descriptor;
mod fma;
mod fragment;
mod mma;
mod wgmma;

pub(super) use wgmma::{lower as warp_group_dot, wait as warp_group_dot_wait};

use crate::codegen::lower::{Lower, Res};
use crate::ir::{Attr, Encoding, Op};

/// `tt.dot`
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let encoding = cx.ir.ty(cx.ir.result(op)).encoding().and_then(Attr::as_encoding);
    match encoding {
        Some(Encoding::NvidiaMma(e)) if e.version_major == 2 => mma::lower(cx, op),
        Some(Encoding::NvidiaMma(e)) => Err(cx.unsupported(
            op,
            &format!("the result has the layout nvidia_mma of version {}, expected version 2", e.version_major),
        )),
        _ => fma::lower(cx, op),
    }
}
