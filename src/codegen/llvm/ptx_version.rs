//! The lowest PTX ISA version that a kernel needs, so that older drivers load its PTX.
//!
//! LLVM's own instructions need the architecture's minimum only. What needs more is inline PTX, found by the words in it: each row of
//! [`NEEDS`] gives the version in which the PTX ISA introduced a word ("PTX ISA Notes" of the instruction).

use crate::target::Target;

/// A word of inline PTX and the version it needs, times ten.
const NEEDS: &[(&str, u32)] = &[
    ("createpolicy", 74),
    ("L1::evict", 74),
    ("L2::cache_hint", 74),
    ("min.xorsign.abs", 72),
    ("max.xorsign.abs", 72),
    (".e4m3x2", 78),
    (".e5m2x2", 78),
    ("mapa", 78),
    ("barrier.cluster", 78),
    ("griddepcontrol", 78),
    ("stmatrix", 78),
    ("cp.async.bulk", 80),
    ("cp.reduce.async.bulk", 80),
    ("fence.proxy.tensormap", 83),
    // Earlier versions may meet a ptxas that reads strides in another unit (`ops::tensormap`).
    ("tensormap.replace", 86),
    ("mbarrier.try_wait", 78),
    ("wgmma", 80),
    ("m16n8k32.row.col.f32.e", 84),
    ("m16n8k32.row.col.f16.e", 87),
    ("setmaxnreg", 80),
    ("elect.sync", 80),
    ("add.noftz.bf16", 78),
    ("add.noftz.v", 81),
    (".add.v", 81),
    ("ld.global.v8", 88),
    ("st.global.v8", 88),
];

/// The version for inline PTX `asm` on `target`, at least the target's own minimum.
#[must_use]
pub(crate) fn required(asm: &str, target: &Target) -> u32 {
    let words = NEEDS.iter().filter(|(word, _)| asm.contains(word)).map(|n| n.1).max().unwrap_or(0);
    // On sm_89 the conversions of 8-bit floats came later than on sm_90 (PTX ISA, "cvt").
    let fp8 = if target.capability < 90 && (asm.contains(".e4m3x2") || asm.contains(".e5m2x2")) { 81 } else { 0 };
    words.max(fp8).max(target.min_ptx)
}
