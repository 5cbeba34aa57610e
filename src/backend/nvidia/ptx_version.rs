//! The lowest PTX ISA version that a kernel needs, so that older drivers load its PTX.
//!
//! 1. LLVM's own instructions need the architecture's minimum only. What needs more is inline PTX, found by the words
//!    in it: each row of [`NEEDS`] gives the version in which the PTX ISA introduced a word ("PTX ISA Notes" of the
//!    instruction).
//! 2. A kernel's parameters share a space that was enlarged once ([`of_parameters`]).
//!
//! Example: 600 parameters of type i64 are 4,800 bytes, so that kernel's PTX says `.version 8.1`.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::targets::TargetData;
use inkwell::values::{BasicValue, FunctionValue};

use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::target::Target;

/// Bytes of parameters that every version allows a kernel (PTX ISA, "Kernel Function Parameters").
const PARAMETER_BYTES: u64 = 4352;
/// What PTX ISA 8.1 made of it, for sm_70 and later.
const PARAMETER_BYTES_8_1: u64 = 32_764;

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
    ("movmatrix", 78),
    ("multimem", 81),
    ("red.async", 81),
    ("st.async", 81),
    (".ue8m0x2", 86),
    (".e2m1x2", 86),
    (".e2m3x2", 86),
    (".e3m2x2", 86),
    (".f32x2", 86),
    ("st.bulk", 86),
    ("ld.global.v8", 88),
    ("st.global.v8", 88),
];

/// The version for inline PTX `asm` on `target`, at least the target's own minimum.
#[must_use]
pub(crate) fn required(asm: &str, target: &Target) -> u32 {
    let words = NEEDS.iter().filter(|(word, _)| asm.contains(word)).map(|n| n.1).max().unwrap_or(0);
    // On sm_89 the conversions of 8-bit floats came later than on sm_90 (PTX ISA, "cvt").
    let fp8 = if target.has_late_fp8_cvt() && (asm.contains(".e4m3x2") || asm.contains(".e5m2x2")) { 81 } else { 0 };
    words.max(fp8).max(target.min_ptx())
}

/// The version that a kernel's parameters need on any target; 0 when they ask for nothing.
///
/// # Errors
/// `E0711` when no version has room for them.
pub(crate) fn of_parameters(kernel: FunctionValue<'_>, layout: &TargetData) -> Result<u32, Diagnostic> {
    let bytes = parameter_bytes(kernel, layout);
    if bytes > PARAMETER_BYTES_8_1 {
        let name = kernel.get_name().to_string_lossy().into_owned();
        let text = format!("the parameters of `{name}` take {bytes} bytes; a kernel can have {PARAMETER_BYTES_8_1}");
        let help =
            "pass the values in a buffer that the kernel loads from, or make those that never change `tl.constexpr`";
        return Err(Diagnostic::error(&codes::LIMITS, text).help(help));
    }
    Ok(if bytes > PARAMETER_BYTES { 81 } else { 0 })
}

/// Bytes from the first parameter to the end of the last, each aligned as the ABI asks for.
fn parameter_bytes(kernel: FunctionValue<'_>, layout: &TargetData) -> u64 {
    let by_value = Attribute::get_named_enum_kind_id("byval");
    let aligned = Attribute::get_named_enum_kind_id("align");
    kernel.get_param_iter().enumerate().fold(0, |end: u64, (place, param)| {
        let at = AttributeLoc::Param(place as u32);
        let (size, align) = if let Some(pointee) = kernel.get_enum_attribute(at, by_value) {
            // The pointer is LLVM's way to say it; what is passed is what it points at.
            let ty = pointee.get_type_value();
            let stated = kernel.get_enum_attribute(at, aligned).map(Attribute::get_enum_value);
            (layout.get_abi_size(&ty), stated.unwrap_or_else(|| u64::from(layout.get_abi_alignment(&ty))))
        } else {
            let ty = param.as_basic_value_enum().get_type();
            (layout.get_abi_size(&ty), u64::from(layout.get_abi_alignment(&ty)))
        };
        end.next_multiple_of(align.max(1)) + size
    })
}
