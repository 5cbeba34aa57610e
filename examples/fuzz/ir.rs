//! The check of the IR text's fuzz target, for the loop in `main.rs` and for cargo-fuzz.

use ttc::diag::{Diagnostic, Place};
use ttc::ir::text::{ParseOptions, PrintOptions, parse_module, print_module};
use ttc::ir::verify::verify;
use ttc::passes::manager;
use ttc::passes::pipeline_text::Pipeline;
use ttc::source::SourceMap;

/// What is inserted into texts.
pub(crate) const WORDS: &[&str] = &[
    "%0",
    "%arg0",
    "%c0_i32",
    "#blocked",
    "!tt.ptr<f32>",
    "tensor<16xi32>",
    "tensor<8x16xf32, #blocked>",
    "i1",
    "i32",
    "i64",
    "f32",
    "index",
    " : ",
    " -> ",
    "arith.addi ",
    "arith.constant 0 : i32\n",
    "arith.select ",
    "arith.cmpi slt, ",
    "tt.splat ",
    "tt.broadcast ",
    "tt.reshape ",
    "scf.if %arg0 {\n",
    "scf.yield",
    "} else {\n",
    "cf.br ^bb1\n",
    "^bb1:\n",
    "tt.return\n",
    "tt.call @",
    "dense<1>",
    "true",
    "-1",
    "0x7FC00000",
    "attributes {",
    "<{axis = 0 : i32}>",
    "({",
    "})",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    "=",
    ",",
    "loc(",
    "\"",
    "// -----\n",
    "\n",
];

/// Reads the text; what reads is verified, and if it is valid, what is printed must read back to the same, and
/// `canonicalize` must keep it valid.
pub(crate) fn check(text: &str) {
    let opts = ParseOptions { allow_unregistered: true, value_names: text.len().is_multiple_of(2) };
    let mut map = SourceMap::default();
    let file = map.add("fuzz.mlir", None, text);
    let ir = match parse_module(&map, file, &opts) {
        Ok(ir) => ir,
        Err(errors) => {
            for error in &errors {
                let Some(Place::Span(span)) = error.place() else { panic!("a message without a place: {error:?}") };
                assert!(text.get(span.lo as usize..span.hi as usize).is_some(), "not in the text: {error:?}");
            }
            return;
        }
    };
    let faults = verify(&ir);
    if faults.is_empty() {
        canonicalize(ir.clone(), text);
    }
    for generic in [false, true] {
        let print = PrintOptions { locations: text.len().is_multiple_of(3), generic };
        let mut text = print_module(&ir, &print);
        if !faults.is_empty() {
            continue;
        }
        // Without locations the first print may lose names; from then on nothing changes.
        for round in 0..2 {
            let file = map.add("again.mlir", None, text.as_str());
            let again = parse_module(&map, file, &opts)
                .unwrap_or_else(|e| panic!("our own text does not read back: {}\n{text}", e[0].message));
            let next = print_module(&again, &print);
            assert!(round == 0 || next == text, "printing is not a fixed point:\n{text}\n{next}");
            text = next;
        }
    }
}

/// A pass makes valid modules of valid ones.
fn canonicalize(mut ir: ttc::ir::Ir, text: &str) {
    let pipeline = Pipeline::parse("canonicalize", ttc::passes::registry::named).expect("there is such a pass");
    let report = manager::run(&mut ir, &pipeline, verify, &mut []);
    let messages: Vec<&str> =
        report.diagnostics.iter().filter(|d| Diagnostic::is_error(d)).map(|d| d.message.as_str()).collect();
    assert!(report.is_ok(), "canonicalize: {messages:?}\n{text}");
}
