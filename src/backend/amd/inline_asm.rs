//! Assembly that kernels bring: what is PTX is told from AMD's before LLVM sees it.

use crate::codegen::lower::{Lower, Res};
use crate::ir::Op;

/// Reports PTX.
///
/// # Errors
/// `E0701`
pub(super) fn check(cx: &Lower<'_, '_>, op: Op, asm: &str) -> Res<()> {
    let Some(word) = ptx_word(asm) else { return Ok(()) };
    let why = format!("`{word}` is PTX, which only NVIDIA's GPUs run, and the target is {}", cx.options.target);
    let help = "write assembly of the target; to have both, ask `if tl.target_info.is_cuda():`";
    Err(cx.unsupported(op, &why).help(help))
}

/// The first instruction of a text that is PTX. PTX writes types behind a dot, as in `add.u32`, which no assembly of
/// AMD's does.
fn ptx_word(asm: &str) -> Option<&str> {
    const TYPES: &[&str] = &[
        "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "f16", "f32", "f64", "f16x2",
        "bf16", "bf16x2", "pred",
    ];
    let mut words = asm.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '{' | '}' | '(' | ')'));
    words.find(|word| word.split('.').skip(1).any(|part| TYPES.contains(&part)))
}
