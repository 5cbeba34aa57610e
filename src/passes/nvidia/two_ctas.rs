//! `triton-nvidia-check-matmul-two-cta`: notes on the module whether its matrix multiplications span two blocks.
//!
//! # Algorithm
//!
//! 1. Collect `two_ctas` of every matrix multiplication of the fifth generation (Blackwell). They must agree: memory is
//!    laid out for one choice only.
//! 2. Set the module's `ttng.two-ctas` to it; to false where there is none, unless it is set already.

use crate::diag::codes::passes as codes;
use crate::ir::core::{Attr, Ir, Op};
use crate::ir::dialects::discardable::TWO_CTAS;
use crate::ir::dialects::ttng::ttng;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-nvidia-check-matmul-two-cta",
    doc: "note whether matrix multiplications span two blocks",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let two_ctas = |op: Op| {
        let plain = ttng::TcGen5Mma::of(ir, op).map(|mma| mma.two_ctas(ir));
        plain.or_else(|| ttng::TcGen5MmaScaled::of(ir, op).map(|mma| mma.two_ctas(ir)))
    };
    let matmuls: Vec<(Op, bool)> =
        ir.all_ops(module).into_iter().filter_map(|op| two_ctas(op).map(|two| (op, two))).collect();
    if let Some(&(odd, two)) = matmuls.iter().find(|m| m.1 != matmuls[0].1) {
        let (first, this) = if two { ("one block", "two") } else { ("two blocks", "one") };
        let message = format!(
            "matrix multiplications disagree on two_ctas: the first of the module uses {first}, this one {this}"
        );
        return Err(cx.fail(&codes::PASS_FAILED, ir.loc(odd), message));
    }
    if matmuls.is_empty() && ir.stores(module, TWO_CTAS) {
        return Ok(Changed::No);
    }
    let value = Attr::bool(matmuls.first().is_some_and(|m| m.1));
    let changed = ir.get(module, TWO_CTAS) != Some(value);
    ir.put(module, TWO_CTAS, value);
    Ok(Changed::from(changed))
}
