//! `triton-nvidia-check-matmul-two-cta`: notes on the module whether its matrix multiplications span two blocks.
//!
//! # Algorithm
//!
//! 1. Collect `two_ctas` of every matrix multiplication of the fifth generation (Blackwell). They must agree: memory is
//!    laid out for one choice only.
//! 2. Set the module's `ttng.two-ctas` to it; to false where there is none, unless it is set already.

use crate::diag::codes::passes as codes;
use crate::ir::core::{Attr, Ir, Op};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::module_attrs::TWO_CTAS;

pub static PASS: Pass = Pass {
    name: "triton-nvidia-check-matmul-two-cta",
    doc: "note whether matrix multiplications span two blocks",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let matmuls: Vec<Op> =
        ir.all_ops(module).into_iter().filter(|&op| ir.op_name(op).starts_with("ttng.tc_gen5_mma")).collect();
    let two = |op: Op| ir.stored_attr(op, "two_ctas").is_some();
    if let Some(&odd) = matmuls.iter().find(|&&op| two(op) != two(matmuls[0])) {
        let (first, this) = if two(odd) { ("one block", "two") } else { ("two blocks", "one") };
        let message = format!(
            "matrix multiplications disagree on two_ctas: the first of the module uses {first}, this one {this}"
        );
        return Err(cx.fail(&codes::PASS_FAILED, ir.loc(odd), message));
    }
    if matmuls.is_empty() && ir.stored_attr(module, TWO_CTAS).is_some() {
        return Ok(Changed::No);
    }
    let value = Attr::bool(matmuls.first().is_some_and(|&op| two(op)));
    let changed = ir.stored_attr(module, TWO_CTAS) != Some(value);
    ir.set_attr(module, TWO_CTAS, value);
    Ok(Changed::from(changed))
}
