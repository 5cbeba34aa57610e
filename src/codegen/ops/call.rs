//! `tt.call` and `tt.return`. How functions pass values is written down in [`crate::codegen::functions`].

use inkwell::values::StructValue;

use super::local::scratch_memory;
use crate::codegen::functions::FAST;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::ir::Op;
use crate::ir::dialects::tt::tt::{Call, Return};

/// `tt.call`
pub(crate) fn call(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let name = Call(op).callee(ir).unwrap_or("?");
    let callee = ir.function(name).and_then(|f| cx.functions.get(&f).copied());
    let callee = callee.ok_or_else(|| defect(format!("`{name}` was not declared")))?;
    let mut args: Vec<Val<'_>> = vec![];
    for &operand in Call(op).args(ir) {
        args.extend(cx.get(operand)?.iter());
    }
    if callee.shared.is_some() {
        args.push(cx.scratch(op)?.into());
    }
    if callee.scratch.is_some() {
        args.push(scratch_memory(cx, op)?.into());
    }
    let args: Vec<_> = args.into_iter().map(Into::into).collect();
    let site = cx.b.build_direct_call(callee.function, &args, "")?;
    site.set_call_convention(FAST);
    let mut regs = match site.try_as_basic_value().basic() {
        Some(Val::StructValue(s)) => fields(cx, s)?,
        Some(one) => vec![one],
        None => vec![],
    }
    .into_iter();
    for &result in ir.results(op) {
        let count = cx.register_types(ir.ty(result))?.len();
        cx.set(result, regs.by_ref().take(count).collect());
    }
    Ok(())
}

fn fields<'c>(cx: &Lower<'c, '_>, value: StructValue<'c>) -> Res<Vec<Val<'c>>> {
    (0..value.get_type().count_fields()).map(|i| Ok(cx.b.build_extract_value(value, i, "")?)).collect()
}

/// `tt.return`
pub(crate) fn ret(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let operands = Return(op).srcs(cx.ir);
    if cx.declared.kernel && !operands.is_empty() {
        return Err(cx.unsupported(op, "a kernel cannot return values"));
    }
    let mut regs: Vec<Val<'_>> = vec![];
    for &operand in operands {
        regs.extend(cx.get(operand)?.iter());
    }
    match regs.as_slice() {
        [] => cx.b.build_return(None)?,
        [one] => cx.b.build_return(Some(one))?,
        many => cx.b.build_aggregate_return(many)?,
    };
    Ok(())
}
