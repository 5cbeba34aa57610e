//! The check of the IR text's fuzz target, for the loop in `main.rs` and for cargo-fuzz.

use ttc::diag::Place;
use ttc::ir::text::{ParseOptions, PrintOptions, parse_module, print_module};
use ttc::ir::verify::verify;
use ttc::source::SourceMap;

/// Reads the text; what reads is verified, and if it is valid, what is printed must read back to the same.
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
    for generic in [false, true] {
        let print = PrintOptions { locations: text.len().is_multiple_of(3), generic };
        let mut text = print_module(&ir, &print);
        if !faults.is_empty() {
            continue;
        }
        // Without locations the first print may lose names; from then on nothing changes.
        for round in 0..2 {
            let file = map.add("again.mlir", None, text.as_str());
            let again =
                parse_module(&map, file, &opts).unwrap_or_else(|e| panic!("our own text does not read back: {}\n{text}", e[0].message));
            let next = print_module(&again, &print);
            assert!(round == 0 || next == text, "printing is not a fixed point:\n{text}\n{next}");
            text = next;
        }
    }
}
