//! `test-print-alignment`: what axis analysis knows, as remarks, for tests.
//!
//! For each operation with results, one remark at its location: `contiguity = [4], divisibility = [16], constancy =
//! [1], constant_value = <none>`, of each result, separated by ` ; `.

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::diag::codes::passes as codes;
use crate::ir::core::Ir;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "test-print-alignment",
    doc: "remark on what axis analysis knows of each value",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let analysis = AxisInfoAnalysis::of_module(ir);
    for func in ir.functions() {
        for op in ir.all_ops(func).into_iter().filter(|&op| !ir.results(op).is_empty()) {
            let facts: Vec<String> =
                ir.results(op).iter().filter_map(|&r| analysis.get(r)).map(ToString::to_string).collect();
            cx.remark(&codes::AXIS_INFO, ir.loc(op), facts.join(" ; "));
        }
    }
    Ok(Changed::No)
}
