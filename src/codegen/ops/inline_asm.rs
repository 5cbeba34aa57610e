//! `tt.elementwise_inline_asm`: the user's assembly on packs of elements.
//!
//! 1. A pack is `packed_element` consecutive registers. Elements narrower than 32 bits share 32-bit words: four i8 of a
//!    pack of four are one operand.
//! 2. A value whose registers do not fill the last pack is filled up with undefined elements.
//! 3. One call per pack; its results are taken apart the way operands were put together.

use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValue;

use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::tt::tt::ElementwiseInlineAsm;
use crate::ir::{Op, Value};

/// How the elements of one value in one pack lie in words.
struct Packing<'c> {
    elem: BasicTypeEnum<'c>,
    /// Elements of a word.
    per_word: usize,
    words: usize,
}

impl<'c> Packing<'c> {
    fn new(cx: &Lower<'c, '_>, value: Value, pack: usize) -> Res<Packing<'c>> {
        let elem = cx.elem_type(cx.ir.ty(value))?;
        let per_word = ((32 / cx.bits_of(elem)).max(1) as usize).min(pack);
        if !pack.is_multiple_of(per_word) {
            let text =
                format!("`packed_element` is {pack}, expected a multiple of {per_word}, the elements of a 32-bit word");
            return Err(Diagnostic::error(&codes::BAD_INLINE_ASM, text));
        }
        Ok(Packing { elem, per_word, words: pack / per_word })
    }

    fn word_type(&self) -> Res<BasicTypeEnum<'c>> {
        if self.per_word == 1 { Ok(self.elem) } else { Ok(Lower::vector_type(self.elem, self.per_word as u32)?.into()) }
    }

    fn pack(&self, cx: &Lower<'c, '_>, elements: &[Val<'c>], out: &mut Vec<Val<'c>>) -> Res<()> {
        for word in elements.chunks(self.per_word) {
            if self.per_word == 1 {
                out.push(operand(word, 0)?);
                continue;
            }
            let mut vector = Lower::vector_type(self.elem, self.per_word as u32)?.get_undef();
            for (i, &e) in word.iter().enumerate() {
                vector = cx.b.build_insert_element(vector, e, cx.i32(i as u64), "")?;
            }
            out.push(vector.as_basic_value_enum());
        }
        Ok(())
    }

    fn unpack(&self, cx: &Lower<'c, '_>, words: &[Val<'c>], out: &mut Vec<Val<'c>>) -> Res<()> {
        for &word in words {
            match word {
                Val::VectorValue(vector) => {
                    for i in 0..self.per_word {
                        out.push(cx.b.build_extract_element(vector, cx.i32(i as u64), "")?);
                    }
                }
                scalar => out.push(scalar),
            }
        }
        Ok(())
    }
}

/// Refuses constraints that do not name the operands one by one; LLVM would end the process over some of them.
fn check(constraints: &str, outputs: usize, inputs: usize) -> Res<()> {
    let parts: Vec<&str> =
        constraints.split(',').map(str::trim).filter(|p| !p.is_empty() && !p.starts_with('~')).collect();
    let given =
        (parts.iter().filter(|p| p.starts_with('=')).count(), parts.iter().filter(|p| !p.starts_with('=')).count());
    if given == (outputs, inputs) && parts.iter().take(outputs).all(|p| p.starts_with('=')) {
        return Ok(());
    }
    let text = format!(
        "the constraints `{constraints}` name {} outputs and {} inputs, expected {outputs} and {inputs}",
        given.0, given.1
    );
    Err(Diagnostic::error(&codes::BAD_INLINE_ASM, text)
        .help("outputs (`=r`) come first, then inputs (`r`), one for each 32-bit word"))
}

/// Refuses operands that have no constraint: `$2` where there are two.
fn check_operands(asm: &str, constraints: &str) -> Res<()> {
    let count = constraints.split(',').filter(|c| !c.trim().is_empty() && !c.trim().starts_with('~')).count();
    let Some(number) = operands_named(asm).into_iter().find(|&n| n >= count) else { return Ok(()) };
    let text = format!("the assembly names `${number}`, but the constraints `{constraints}` describe {count} operands");
    Err(Diagnostic::error(&codes::BAD_INLINE_ASM, text)
        .help("operands count from `$0` on, the outputs first; each needs a constraint of its own"))
}

/// The numbers of the operands that assembly names: `$1`, `${1:x}`. `$$` is a dollar sign.
fn operands_named(asm: &str) -> Vec<usize> {
    let mut numbers = vec![];
    let mut rest = asm;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            continue;
        }
        let text = rest.strip_prefix('{').unwrap_or(rest);
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        numbers.extend(text[..digits].parse::<usize>());
    }
    numbers
}

/// Lowers `tt.elementwise_inline_asm`.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let view = ElementwiseInlineAsm(op);
    let asm = view.asm_string(ir).unwrap_or_default();
    let constraints = view.constraints(ir).unwrap_or_default();
    cx.machine.check_assembly(cx, op, asm)?;
    let pack = usize::try_from(view.packed_element(ir).unwrap_or(1)).unwrap_or(0).max(1);
    let first = *view.result(ir).first().ok_or_else(|| defect("inline assembly without results"))?;
    let count = Lower::num_regs(ir.ty(first))?;
    let ins = view.args(ir).iter().map(|&v| Packing::new(cx, v, pack)).collect::<Res<Vec<_>>>()?;
    let outs = view.result(ir).iter().map(|&v| Packing::new(cx, v, pack)).collect::<Res<Vec<_>>>()?;
    let mut result_types = vec![];
    for out in &outs {
        result_types.extend(vec![out.word_type()?; out.words]);
    }
    check(constraints, result_types.len(), ins.iter().map(|p| p.words).sum())?;
    check_operands(asm, constraints)?;
    let mut operands = vec![];
    for &value in view.args(ir) {
        let mut regs = cx.get(value)?.to_vec();
        if regs.len() == 1 && count > 1 {
            regs = vec![regs[0]; count];
        }
        let filler = cx.poison(ir.ty(value).elem())?[0];
        regs.resize(count.next_multiple_of(pack), filler);
        operands.push(regs);
    }
    let mut results: Vec<Vec<Val<'_>>> = vec![vec![]; outs.len()];
    for start in (0..count).step_by(pack) {
        let mut args = vec![];
        for (packing, regs) in ins.iter().zip(&operands) {
            packing.pack(cx, &regs[start..start + pack], &mut args)?;
        }
        let words = cx.inline_asm(asm, constraints, &result_types, &args, !view.pure(ir))?;
        let mut rest = words.as_slice();
        for (packing, regs) in outs.iter().zip(&mut results) {
            let (mine, others) = rest.split_at(packing.words);
            packing.unpack(cx, mine, regs)?;
            rest = others;
        }
    }
    for (&result, mut regs) in view.result(ir).iter().zip(results) {
        regs.truncate(count);
        cx.set(result, regs);
    }
    Ok(())
}
