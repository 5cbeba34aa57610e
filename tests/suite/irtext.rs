//! IR text: what is written reads back, every operation of the tables included, and faults are reported where they are.
//!
//! The files under `tests/irtext` hold every registered operation at least once ([`every_operation_is_in_the_inputs`]).
//! Their text is what the printer writes, so each is its own expectation; `BLESS=1 cargo test irtext` rewrites them.

use std::fs;
use std::path::PathBuf;

use ttc::diag::{Diagnostic, Place};
use ttc::ir::OpKind;
use ttc::ir::core::Ir;
use ttc::ir::text::{ParseOptions, PrintOptions, parse_module, print_module};
use ttc::source::{LineCol, SourceMap};

fn inputs() -> Vec<(PathBuf, String)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/irtext");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), fs::read_to_string(p).unwrap())).collect()
}

fn parse(text: &str) -> Result<Ir, Vec<Diagnostic>> {
    parse_with(text, &ParseOptions { value_names: false, ..ParseOptions::default() })
}

fn parse_with(text: &str, opts: &ParseOptions) -> Result<Ir, Vec<Diagnostic>> {
    let mut map = SourceMap::default();
    let file = map.add("test.mlir", None, text);
    parse_module(&map, file, opts)
}

fn parse_ok(text: &str) -> Ir {
    parse(text).unwrap_or_else(|e| panic!("{}\n{:?}\n{text}", e[0].message, e[0].place()))
}

const PLAIN: PrintOptions = PrintOptions { locations: false, generic: false };

#[test]
fn inputs_print_as_they_are() {
    for (path, text) in inputs() {
        let printed = print_module(&parse_ok(&text), &PLAIN);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, printed).unwrap();
        } else {
            assert_eq!(printed, text, "{}", path.display());
        }
    }
}

#[test]
fn the_generic_form_says_the_same() {
    for (path, text) in inputs() {
        let generic = print_module(&parse_ok(&text), &PrintOptions { generic: true, ..PLAIN });
        assert!(!generic.contains("= arith.") && generic.contains("\"tt.func\""), "{generic}");
        let again = print_module(&parse_ok(&generic), &PLAIN);
        assert_eq!(again, text, "{}", path.display());
    }
}

#[test]
fn locations_and_names_survive() {
    for (path, text) in inputs() {
        let names = ParseOptions::default();
        let once = print_module(&parse_with(&text, &names).unwrap(), &PrintOptions::with_locations());
        assert!(once.contains("loc(\"test.mlir\":"), "{once}");
        let twice = print_module(&parse_with(&once, &names).unwrap(), &PrintOptions::with_locations());
        assert_eq!(once, twice, "{}", path.display());
    }
}

#[test]
fn every_operation_is_in_the_inputs() {
    let mut seen = std::collections::BTreeSet::new();
    for (_, text) in inputs() {
        let ir = parse_ok(&text);
        seen.extend(ir.all_ops(ir.module()).into_iter().map(|op| ir.op_name(op)));
    }
    let missing: Vec<&str> = OpKind::all().map(OpKind::name).filter(|n| !seen.contains(n)).collect();
    assert!(missing.is_empty(), "add these to tests/irtext: {missing:?}");
}

#[test]
fn a_module_may_be_left_out_and_aliases_may_come_last() {
    let text = "tt.func @f(%arg0: tensor<32xf32, #a>) {\n  tt.return loc(#l2)\n}\n\
        #a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n\
        #l2 = loc(callsite(#l1 at \"g\"(#l1)))\n#l1 = loc(fused[\"f.py\":1:2, unknown])\n";
    let printed = print_module(&parse_ok(text), &PLAIN);
    assert!(printed.starts_with("#blocked = #ttg.blocked<"), "{printed}");
    let with = print_module(&parse_ok(text), &PrintOptions::with_locations());
    assert!(
        with.contains("tt.return loc(#loc6)\n") && with.contains("#loc6 = loc(callsite(#loc4 at #loc5))"),
        "{with}"
    );
}

#[test]
fn values_may_be_used_before_the_text_defines_them() {
    let text = "tt.func @f(%c: i1) {\n  cf.cond_br %c, ^bb2, ^bb1\n^bb1:\n  %y = arith.addi %x, %x : i32\n  tt.return\n^bb2:\n  %x = arith.constant 1 : i32\n  cf.br ^bb1\n}";
    let ir = parse_ok(text);
    assert_eq!(print_module(&parse_ok(&print_module(&ir, &PLAIN)), &PLAIN), print_module(&ir, &PLAIN));
}

#[test]
fn unknown_operations_are_kept_on_demand() {
    let text = "\"my.op\"() <{a = 1 : i32}> ({\n}, {\n^bb0(%x: !my.type<[1, 2]>):\n  \"my.end\"(%x) : (!my.type<[1, 2]>) -> ()\n}) {b} : () -> ()";
    assert_eq!(parse(text).err().unwrap()[0].code.id, "E0402");
    let ir = parse_with(text, &ParseOptions { allow_unregistered: true, value_names: false }).unwrap();
    let printed = print_module(&ir, &PLAIN);
    assert!(printed.contains("\"my.end\"(%arg0) : (!my.type<[1, 2]>) -> ()"), "{printed}");
}

#[test]
fn odd_names_and_broken_lines_read_back() {
    let text =
        "tt.func @f(%arg0: !other.type<1,\n#b = 2>) {\n  %0 = arith.constant 1 : i32 loc(\";x\")\n  tt.return\n}";
    let printed = print_module(&parse_ok(text), &PLAIN);
    assert!(printed.contains("%_3Bx = ") && printed.contains("!other.type<1, #b = 2>"), "{printed}");
    parse_ok(&printed);
}

/// Source, code, line and column, part of the message.
const FAULTS: &[(&str, &str, u32, u32, &str)] = &[
    ("module {\n  tt.func @f( {\n}", "E0401", 2, 15, "expected a type, found `{`"),
    (
        "tt.func @f(%a: i32) {\n  %0 = arith.addi %a %a : i32\n  tt.return\n}",
        "E0401",
        2,
        22,
        "expected `,`, found `%a`",
    ),
    ("tt.func @f() {\n  tt.nothing\n}", "E0402", 2, 3, "unknown operation `tt.nothing`"),
    ("tt.func @f() {\n  tt.return %x : i32\n}", "E0403", 2, 13, "the value `%x` is not defined"),
    ("tt.func @f() {\n  cf.br ^nowhere\n}", "E0403", 2, 9, "the block `^nowhere` is not defined"),
    ("tt.func @f(%a: tensor<8xf32, #b>) {\n  tt.return\n}", "E0403", 1, 30, "the alias `#b` is not defined"),
    ("#a = [#a]\nmodule {\n}", "E0403", 1, 7, "defined by itself"),
    (
        "tt.func @f(%a: i32) {\n  %a = arith.constant 1 : i32\n  tt.return\n}",
        "E0404",
        2,
        3,
        "the value `%a` is defined twice",
    ),
    ("#a = 1\n#a = 2\nmodule {\n}", "E0404", 2, 1, "the alias `#a` is defined twice"),
    (
        "tt.func @f(%a: i32) {\n  %0 = arith.addi %a, %a : i64\n  tt.return\n}",
        "E0405",
        2,
        19,
        "`%a` has type `i32`, but this operation takes it as `i64`",
    ),
    (
        "tt.func @f() {\n  %0:2 = arith.constant 1 : i32\n  tt.return\n}",
        "E0405",
        2,
        10,
        "has 1 results, but 2 are named",
    ),
    ("tt.func @f() {\n  %0 = arith.constant 300 : i8\n  tt.return\n}", "E0407", 2, 23, "does not fit type `i8`"),
    (
        "tt.func @f() {\n  %0 = arith.constant dense<[1, 2]> : tensor<4xi32>\n  tt.return\n}",
        "E0407",
        2,
        29,
        "2 entries in a dimension of 4",
    ),
    ("tt.func @f() {\n  cf.assert %c, \"a\\q\"\n}", "E0407", 2, 17, "unknown escape"),
    (
        "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32, 1], warpsPerCTA = [1], order = [0]}>\nmodule {\n}",
        "E0408",
        1,
        6,
        "`threadsPerWarp` has 2",
    ),
    (
        "#a = #ttg.slice<{dim = 0, parent = #ttg.shared_memory}>\nmodule {\n}",
        "E0408",
        1,
        27,
        "the parent is a layout of threads",
    ),
    ("tt.func @f(%a: tensor<9999999999999x9999999999999xf32>) {\n  tt.return\n}", "E0406", 1, 37, "more elements"),
    ("module {\n}\nmodule {", "E0401", 3, 9, "expected"),
    (
        "tt.func @f(%p: !tt.ptr<f32>) {\n  %0 = tt.load %p evictionPolicy = never : !tt.ptr<f32>\n}",
        "E0401",
        2,
        36,
        "expected a eviction policy (evict_normal",
    ),
];

#[test]
fn faults_are_reported_where_they_are() {
    for &(text, code, line, col, message) in FAULTS {
        let errors = parse(text).err().unwrap_or_else(|| panic!("parsed: {text}"));
        let error = &errors[0];
        let mut map = SourceMap::default();
        map.add("test.mlir", None, text);
        let Some(Place::Span(span)) = error.place() else { panic!("no place: {error:?}") };
        let found = (error.code.id, map.line_col(*span), error.message.contains(message));
        assert_eq!(found, (code, LineCol { line, col }, true), "{}\n{text}", error.message);
    }
}

/// Once, the reader went back to the first definition for ever.
#[test]
fn an_alias_that_is_named_or_defined_again_ends_the_reading() {
    for (text, code) in [
        ("#a = 1\n#a + 2", "E0401"),
        ("#a = 1 #a = 2\nmodule {\n}", "E0404"),
        ("module {\n} #a = [#b]\n#b = 1 #b = 2", "E0404"),
    ] {
        assert_eq!(parse(text).err().map(|e| e[0].code.id), Some(code), "{text}");
    }
    // After a fault inside an alias, the levels outside of it are closed too.
    assert_eq!(
        parse("module {\n} loc(#a)\n#a = loc(callsite(\"f\" at #b))\n#b = loc(fused[\"g\"(#c)])\n#c = loc(?)")
            .err()
            .map(|e| e[0].code.id),
        Some("E0401")
    );
}

#[test]
fn hostile_text_is_refused_quickly() {
    let deep = |open: &str, close: &str| format!("#a = {}{}\nmodule {{\n}}", open.repeat(50_000), close.repeat(50_000));
    let laughs: String = (1..40).map(|i| format!("#a{i} = [#a{}, #a{}]\n", i - 1, i - 1)).collect();
    let chain: String = (1..5000).map(|i| format!("#l{i} = loc(\"n\"(#l{}))\n", i - 1)).collect();
    let regions = format!("tt.func @f(%c: i1) {{\n{}", "scf.if %c {\n".repeat(20_000));
    for text in [
        deep("[", "]"),
        deep("{x = ", "}"),
        format!("#a0 = 1\n{laughs}module {{\n}}"),
        format!("#l0 = loc(unknown)\n{chain}module {{\n}} loc(#l4999)"),
        regions,
    ] {
        assert_eq!(parse(&text).err().map(|e| e[0].code.id), Some("E0406"), "{}", &text[..60]);
    }
}
