//! Modules of thousands of operations that depend on one another. A pass that looks at all of them for each takes an
//! hour here, where it should take seconds.

use std::fmt::Write as _;

use ttc::ir::core::{Encoding, Ir};
use ttc::ir::dialects::{TtOp, TtngOp};
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::passes::manager::{self, Pipeline};
use ttc::passes::registry;
use ttc::source::SourceMap;

/// `count` products of matrices with 64 rows and columns, each of which multiplies what the one before computed.
fn chained_products(count: usize) -> String {
    let (wide, narrow) = ("tensor<64x64xf32>", "tensor<64x64xf16>");
    let mut text = format!("module {{\n  tt.func public @k(%a: {narrow}, %p: tensor<64x64x!tt.ptr<f32>>) {{\n");
    let _ = writeln!(text, "    %zero = arith.constant dense<0.0> : {wide}");
    let _ = writeln!(text, "    %d0 = tt.dot %a, %a, %zero : {narrow} * {narrow} -> {wide}");
    for i in 1..count {
        let _ = writeln!(text, "    %h{i} = arith.truncf %d{} : {wide} to {narrow}", i - 1);
        let _ = writeln!(text, "    %d{i} = tt.dot %h{i}, %a, %zero : {narrow} * {narrow} -> {wide}");
    }
    let _ = writeln!(text, "    tt.store %p, %d{} : tensor<64x64x!tt.ptr<f32>>", count - 1);
    text + "    tt.return\n  }\n}\n"
}

fn with_passes(text: &str, passes: &str) -> Ir {
    let mut map = SourceMap::default();
    let file = map.add("large.ttir", None, text);
    let mut ir = parse_module(&map, file, &ParseOptions::default()).unwrap();
    let report =
        manager::run(&mut ir, &Pipeline::parse(passes, registry::named).unwrap(), ttc::ir::verify::verify, &mut []);
    assert!(report.is_ok(), "{:#?}", report.diagnostics);
    ir
}

/// What was chosen for one product asked all that depends on it, or all that is connected with it.
#[test]
fn warps_of_thousands_of_chained_products_take_linear_time() {
    let text = chained_products(4000);
    for (target, last) in [("cuda:80", vec![4, 1]), ("cuda:90", vec![4, 1])] {
        let passes = format!("convert-triton-to-tritongpu{{target={target} num-warps=4}},tritongpu-accelerate-matmul");
        let ir = with_passes(&text, &passes);
        let products =
            ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, TtOp::Dot) || ir.is(op, TtngOp::WarpGroupDot));
        let warps: Vec<Vec<u32>> = products
            .map(|op| match ir.ty(ir.result(op)).layout() {
                Some(Encoding::NvidiaMma(mma)) => mma.warps_per_cta.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(warps.len(), 4000);
        assert!(warps.iter().all(|w| *w == last), "{target}: {:?}", warps.iter().find(|w| **w != last));
    }
}
