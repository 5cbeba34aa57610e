//! Bits of a value under another type, and operands by their number.

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as I;

use super::lower::{Lower, Res, Val, defect};

/// Operand `i` of an element.
pub(crate) fn operand<'c>(args: &[Val<'c>], i: usize) -> Res<Val<'c>> {
    args.get(i).copied().ok_or_else(|| defect("an operand too few"))
}

/// The same bits as another LLVM type.
pub(crate) fn bits_as<'c>(cx: &Lower<'c, '_>, value: Val<'c>, to: BasicTypeEnum<'c>) -> Res<Val<'c>> {
    let from = value.get_type();
    if from == to {
        return Ok(value);
    }
    Ok(match (from, to) {
        (BasicTypeEnum::PointerType(_), BasicTypeEnum::PointerType(_)) => {
            cx.b.build_cast(I::AddrSpaceCast, value, to, "")?
        }
        (BasicTypeEnum::PointerType(_), BasicTypeEnum::IntType(_)) => cx.b.build_cast(I::PtrToInt, value, to, "")?,
        (BasicTypeEnum::IntType(_), BasicTypeEnum::PointerType(_)) => cx.b.build_cast(I::IntToPtr, value, to, "")?,
        (BasicTypeEnum::PointerType(_), _) => {
            let int = cx.b.build_cast(I::PtrToInt, value, cx.int_type(64), "")?;
            cx.b.build_cast(I::BitCast, int, to, "")?
        }
        (_, BasicTypeEnum::PointerType(_)) => {
            let int = cx.b.build_cast(I::BitCast, value, cx.int_type(64), "")?;
            cx.b.build_cast(I::IntToPtr, int, to, "")?
        }
        _ => cx.b.build_cast(I::BitCast, value, to, "")?,
    })
}

/// The elements of a pair that came as an integer; as many as there were values.
pub(crate) fn split_pair<'c>(
    cx: &Lower<'c, '_>,
    pair: Val<'c>,
    elem: BasicTypeEnum<'c>,
    count: usize,
    out: &mut Vec<Val<'c>>,
) -> Res<()> {
    let Val::VectorValue(vector) = cx.b.build_bit_cast(pair, Lower::vector_type(elem, 2)?, "")? else {
        return Err(defect("a pair is no vector"));
    };
    for i in 0..count {
        out.push(cx.b.build_extract_element(vector, cx.i32(i as u64), "")?);
    }
    Ok(())
}
