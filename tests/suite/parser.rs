//! The parser: spans, limits, indentation, properties. The snapshots of `tests/parser` are in `parser_trees.rs`.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use ttc::diag::{Diagnostic, Place};
use ttc::parser::ast::{ExprKind, dump};
use ttc::parser::{limits, parse_expr_str};
use ttc::source::SourceMap;

use super::parser_text::{parse, render};

fn codes(errors: &[Diagnostic]) -> Vec<&'static str> {
    errors.iter().map(|e| e.code.id).collect()
}

/// A kernel with this body, indented by four blanks.
fn kernel(body: &str) -> String {
    let body: String = body.lines().map(|l| format!("    {l}\n")).collect();
    format!("@triton.jit\ndef kernel(a, b):\n{body}")
}

#[test]
fn every_span_covers_its_text() {
    let (map, module, errors) = parse("@triton.jit\ndef f(x: \"i32\" = 1):\n    y = (a + b) * c[0]\n    return y\n");
    assert!(errors.is_empty());
    let f = &module.jit_functions()[0];
    assert_eq!(map.text(f.name.span), "f");
    assert_eq!(map.text(f.header), "def f(x: \"i32\" = 1):");
    assert_eq!(map.text(f.params[0].span), "x: \"i32\" = 1");
    assert_eq!(map.text(f.decorators[0].span), "@triton.jit");
    assert!(map.text(f.span).starts_with("@triton.jit") && map.text(f.span).ends_with("return y"));
    let ttc::parser::ast::StmtKind::Assign { targets, value } = &f.body[0].kind else { panic!("not an assignment") };
    assert_eq!(map.text(targets[0].span), "y");
    assert_eq!(map.text(value.span), "(a + b) * c[0]");
    let ExprKind::BinOp { left, right, .. } = &value.kind else { panic!("not an operator") };
    assert_eq!((map.text(left.span), map.text(right.span)), ("a + b", "c[0]"));
}

#[test]
fn expressions_alone() {
    let good = [
        ("1024", "1024"),
        ("-1.5", "(- 1.5)"),
        ("'gelu'", "\"gelu\""),
        ("tl.bfloat16", "(. tl bfloat16)"),
        ("float('-inf')", "(call float \"-inf\")"),
        ("(1, 2)", "(tuple 1 2)"),
        (" None\n", "None"),
        ("1,\n2", "(tuple 1 2)"),
    ];
    for (text, want) in good {
        let expr = parse_expr_str(&mut SourceMap::default(), "-D", text).unwrap();
        assert_eq!(expr.to_string(), want);
    }
    for (text, code) in [
        ("", "E0107"),
        ("1 +", "E0107"),
        ("(1", "E0105"),
        ("1)", "E0105"),
        ("a b", "E0107"),
        ("'x", "E0102"),
        ("x = 1", "E0119"),
    ] {
        let mut map = SourceMap::default();
        let errors = parse_expr_str(&mut map, "-D", text).unwrap_err();
        assert_eq!(codes(&errors), [code], "{text}: {}", render(&map, &errors));
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let n = 100_000;
    let nested_ifs: String = (0..n / 20).map(|i| format!("{}if a:\n", " ".repeat(i))).collect();
    let cases = [
        ("parentheses", format!("x = {}a{}", "(".repeat(n), ")".repeat(n)), "E0113"),
        ("open parentheses", format!("x = {}", "(".repeat(n)), "E0105"),
        ("brackets and braces", format!("x = {}a{}", "[{(".repeat(n), ")}]".repeat(n)), "E0113"),
        ("minus", format!("x = {}a", "-".repeat(n)), "E0113"),
        ("not", format!("x = {}a", "not ".repeat(n)), "E0113"),
        ("sum", format!("x = a{}", " + a".repeat(n)), "E0113"),
        ("power", format!("x = a{}", " ** a".repeat(n)), "E0113"),
        ("calls", format!("x = a{}", "()".repeat(n)), "E0113"),
        ("attributes", format!("x = a{}", ".b".repeat(n)), "E0113"),
        ("subscripts", format!("x = a{}", "[0]".repeat(n)), "E0113"),
        ("ternaries", format!("x = a{}", " if b else a".repeat(n)), "E0113"),
        ("lambdas", format!("x = {}a", "lambda a, b: ".repeat(n)), "E0113"),
        ("blocks", nested_ifs, "E0113"),
        ("branches", format!("if a: pass\n{}", "elif a: pass\n".repeat(n / 10)), "E0113"),
        ("f-strings", "x = f\"{f'{f\"{f'{f\"{f'{a}'}\"}'}\"}'}\"".to_owned(), "E0113"),
    ];
    for (what, body, code) in cases {
        let (map, _module, errors) = parse(&kernel(&body));
        assert!(codes(&errors).contains(&code), "{what}: {}", render(&map, &errors[..errors.len().min(3)]));
    }
}

#[test]
fn host_code_of_any_depth_is_passed() {
    let n = 100_000;
    for host in [
        format!("x = {}a{}\n", "(".repeat(n), ")".repeat(n)),
        format!("def f(): return a{}\n", " + a".repeat(n)),
        (0..2000).map(|i| format!("{}if a:\n", " ".repeat(i))).collect(),
        (0..2000).map(|i| format!("{}class A:\n", "\t".repeat(i))).collect(),
    ] {
        let text = format!("{host}{}", kernel("return a"));
        let (map, module, errors) = parse(&text);
        assert_eq!(render(&map, &errors), "");
        assert_eq!(module.jit_functions().len(), 1);
    }
}

#[test]
fn wide_is_not_deep() {
    let n = 20_000;
    for body in [
        format!("x = [{}]", "a + b, ".repeat(n)),
        format!("x = {{{}}}", "'k': f(a), ".repeat(n)),
        format!("x = f({})", "-a, ".repeat(n)),
        format!("x = {}", "'text' ".repeat(n)),
        format!("x = a + {}b", "(a + b) and ".repeat(100)),
        "x = a; ".repeat(n),
        "x = a\n".repeat(n),
    ] {
        let (map, _, errors) = parse(&kernel(&body));
        assert_eq!(render(&map, &errors), "");
    }
}

#[test]
fn the_number_of_errors_is_capped() {
    let (_, module, errors) = parse(&kernel(&"x = = 1\n".repeat(60)));
    assert_eq!(errors.len(), limits::MAX_ERRORS + 1);
    assert_eq!(errors.last().unwrap().message, "and 10 more syntax errors in this file");
    assert!(module.jit_functions()[0].broken);
    let (_, _, errors) = parse(&kernel(&"x = = 1\n".repeat(200_000)));
    assert_eq!(errors.last().unwrap().message, "and at least 950 more syntax errors in this file");
}

#[test]
fn garbage_is_diagnosed() {
    let (_, _, errors) = parse("\u{0}\u{1}\u{7f}ELF\u{0}");
    assert_eq!(codes(&errors), ["E0121"]);
    let (_, _, errors) = parse(&kernel("x = \u{1}\u{2}\u{3}\ny = \u{feff}1\nz = ☃"));
    assert_eq!(codes(&errors), ["E0101", "E0101", "E0101"]);
    for text in [
        "",
        "\n",
        "\u{feff}",
        "\\",
        "\\\n",
        "'",
        "\"\"\"",
        "(",
        ")",
        "@",
        "def",
        "\t",
        "\r",
        "@jit\n",
        "@jit\ndef",
        "f\"{",
        "0x",
        "@jit\ndef f(: pass",
    ] {
        parse(text);
        parse(&kernel(text));
        let _ = parse_expr_str(&mut SourceMap::default(), "x", text);
    }
}

/// A triple quote that is never closed swallows the kernels after it, so it is reported wherever it stands.
#[test]
fn unterminated_text_in_host_code_is_reported() {
    let (_, module, errors) = parse(&format!("x = '''\n{}", kernel("return a")));
    assert_eq!(codes(&errors), ["E0102"]);
    assert!(module.jit_functions().is_empty());
}

/// An integer of more than 128 bits is Python, though this parser has no value for it.
#[test]
fn bounds_of_this_parser_are_no_errors_of_host_code() {
    let text = format!("X = {0}; Y = 1\ndef f(): return {0}\n{1}", "9".repeat(99), kernel("return a"));
    let (map, module, errors) = parse(&text);
    assert_eq!(render(&map, &errors), "");
    assert_eq!(module.items.len(), 3);
}

#[test]
fn errors_come_in_order_of_place() {
    let text = format!("{}\n{}", kernel("x = = 1\ny = 1 +"), kernel("if a = 1: pass\nz = )"));
    let (_, _, errors) = parse(&text);
    let places: Vec<u32> = errors.iter().map(|e| if let Some(Place::Span(s)) = e.place() { s.lo } else { 0 }).collect();
    assert_eq!(codes(&errors), ["E0107", "E0107", "E0119", "E0105"]);
    assert!(places.is_sorted());
}

/// Long texts in the shapes that could be slow: each must be linear.
#[test]
fn long_texts_are_read_in_time() {
    let fill = |line: &str| line.repeat(1_000_000 / line.len());
    let cases = [
        ("ten megabytes", "result = compute(first, second)[0] + 1  # a comment\n".repeat(200_000)),
        ("kernel lines", kernel("pass") + &fill("    acc = tl.dot(a, b, acc)\n")),
        ("open brackets", fill("x = f(\n")),
        ("open brackets, one line", fill("(")),
        ("open f-strings", fill("x = f\"{\n")),
        ("quotes", fill("'")),
        ("keywords in brackets", fill("(\ndef\n")),
        ("decorators", fill("@a.jit\n")),
        ("deeper and deeper", (0..1400).map(|i| " ".repeat(i) + "if x:\n").collect()),
        ("bad characters", fill("$\n")),
        ("bad kernel lines", kernel("pass") + &fill("    x = = 1\n")),
        ("semicolons", kernel(&fill("a;"))),
        ("else", kernel("pass") + &fill("    else: pass\n")),
    ];
    for (what, text) in cases {
        let start = Instant::now();
        parse(&text);
        let took = start.elapsed();
        // Seconds when unoptimised, half a minute on a busy machine; what is quadratic takes an hour.
        assert!(took < Duration::from_mins(4), "{what}: {took:?}");
    }
}

// -------------------------------------------------------------------------------------------------------------
// properties

const WORDS: &[&str] = &[
    "if",
    "elif",
    "else",
    "for",
    "in",
    "while",
    "def",
    "class",
    "return",
    "with",
    "as",
    "try",
    "except",
    "finally",
    "lambda",
    "not",
    "is",
    "and",
    "or",
    "pass",
    "import",
    "from",
    "del",
    "assert",
    "raise",
    "global",
    "async",
    "await",
    "yield",
    "match",
    "case",
    "type",
    "x",
    "tl",
    "f",
    "1",
    "0x1f",
    "1.5",
    "2j",
    "'s'",
    "f\"{x}\"",
    "f'{",
    "\"",
    "'''",
    "b''",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    ".",
    "=",
    "==",
    ":=",
    "->",
    "+",
    "-",
    "*",
    "**",
    "/",
    "//",
    "@",
    "~",
    "!",
    "$",
    "...",
    "+=",
    "\n",
    "\n    ",
    "\n        ",
    "\n\t",
    "\\\n",
    "#",
    "@triton.jit\n",
    "é",
    "\0",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec((prop::sample::select(WORDS), any::<bool>()), 0..120)
        .prop_map(|words| words.into_iter().map(|(w, blank)| format!("{w}{}", if blank { " " } else { "" })).collect())
}

/// A real kernel, cut and mixed.
fn mutated() -> impl Strategy<Value = String> {
    let source = include_str!("../parser/statements.py");
    let edit = (0..source.len(), 0..40usize, prop::sample::select(WORDS));
    prop::collection::vec(edit, 1..6).prop_map(move |edits| {
        let mut text = source.as_bytes().to_vec();
        for (at, len, word) in edits {
            let at = at.min(text.len());
            let end = (at + len).min(text.len());
            text.splice(at..end, word.bytes());
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Whatever the text, parsing ends, places lie in the text, and the same text gives the same result.
fn check_robust(text: &str) {
    let (map, module, errors) = parse(text);
    for error in &errors {
        for label in &error.labels {
            let Place::Span(span) = &label.place else { panic!("a place without a span") };
            assert!(span.lo <= span.hi && span.hi as usize <= text.len(), "{error:?}");
            assert!(text.is_char_boundary(span.lo as usize) && text.is_char_boundary(span.hi as usize), "{error:?}");
        }
        assert!(!error.labels.is_empty());
    }
    let (map2, module2, errors2) = parse(text);
    assert_eq!(dump::module(&module), dump::module(&module2));
    assert_eq!(render(&map, &errors), render(&map2, &errors2));
    assert!(errors.is_empty() || errors.iter().all(Diagnostic::is_error));
    if module.jit_functions().iter().any(|f| f.broken) {
        assert!(!errors.is_empty(), "a kernel is broken without a reason");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup_never_panics(text in soup()) {
        check_robust(&text);
        check_robust(&kernel(&text));
        let _ = parse_expr_str(&mut SourceMap::default(), "x", &text);
    }

    #[test]
    fn mutated_kernels_never_panic(text in mutated()) {
        check_robust(&text);
    }

    #[test]
    fn any_characters_never_panic(text in "\\PC{0,80}") {
        check_robust(&text);
        check_robust(&kernel(&text));
    }

    /// Blank lines, comments and another indentation width change nothing.
    #[test]
    fn layout_does_not_change_the_tree(width in 1usize..9, gap in 0usize..3) {
        let source = include_str!("../parser/statements.py");
        let mut other = String::new();
        for line in source.lines() {
            let blanks = line.len() - line.trim_start().len();
            let inside = " ".repeat(blanks / 4 * width);
            other += &format!("{inside}{}  # comment\n{}", line.trim_start(), "\n # gap\n".repeat(gap));
        }
        prop_assert_eq!(dump::module(&parse(source).1), dump::module(&parse(&other).1));
    }

    /// An expression in parentheses, over several lines, is the same expression.
    #[test]
    fn parentheses_do_not_change_the_tree(index in any::<prop::sample::Index>()) {
        let source = include_str!("../parser/expressions.py");
        let lines: Vec<&str> = source.lines().skip(2).map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with('#') && !l.contains(" = ") && !l.ends_with('\\')).collect();
        let line = lines[index.index(lines.len())];
        let Ok(alone) = parse_expr_str(&mut SourceMap::default(), "x", line) else { return Ok(()) };
        let wrapped = format!("(\n {line} # comment\n)");
        if let Ok(wrapped) = parse_expr_str(&mut SourceMap::default(), "x", &wrapped) {
            prop_assert_eq!(alone.to_string(), wrapped.to_string());
        } else {
            prop_assert!(matches!(alone.kind, ExprKind::Starred(_)) || line.starts_with('*'));
        }
    }
}
