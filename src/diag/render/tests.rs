//! Snapshots of the three formats, and a property: no span and no text makes the renderer panic or print without bound.

use proptest::prelude::*;

use super::*;
use crate::diag::codes::{irtext, syntax, verify};
use crate::source::Span;

const KERNEL: &str = "@triton.jit\ndef add(x_ptr, n):\n    offs = tl.arange(0, 128)\n\tmask = offz < n\n    tl.store(\n        x_ptr + offs,\n        1.0,\n    )\n";

fn sources() -> SourceMap {
    let mut sources = SourceMap::default();
    sources.add("add.tk", None, KERNEL);
    sources
}

fn span(sources: &SourceMap, file: u32, text: &str) -> Span {
    let lo = sources.file(FileId(file)).text.find(text).unwrap() as u32;
    Span { file: FileId(file), lo, hi: lo + text.len() as u32 }
}

fn text(diagnostics: &[Diagnostic], sources: &SourceMap, format: Format) -> String {
    render(diagnostics, sources, &RenderOptions { format, ..RenderOptions::default() })
}

/// One diagnostic of each kind that a user meets.
fn samples(sources: &SourceMap) -> Vec<Diagnostic> {
    let at = |text: &str| span(sources, 0, text);
    let statement = at("tl.store").to(at("1.0,\n    )"));
    vec![
        Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, "unknown name `offz`")
            .at(at("offz"), "not defined here")
            .at(at("offs"), "a similar name")
            .note("names are looked up in the kernel, then at top level")
            .note("a second note\nof two lines")
            .help("did you mean `offs`?"),
        Diagnostic::warning(&syntax::UNEXPECTED_CHARACTER, "stores without a mask")
            .at(statement, "this statement")
            .at(at("n)"), ""),
        Diagnostic::error(&verify::INVALID_OP, "expected 2 operands,\nfound 1")
            .at(Place::At { file: "add.tk".into(), line: 3, col: 5 }, "from here"),
        Diagnostic::remark(&irtext::IR_SYNTAX, "a place in a file that is not there")
            .at(Place::At { file: "gone.py".into(), line: 7, col: 3 }, "called here")
            .help("one\ntwo"),
        Diagnostic::error(&irtext::IR_SYNTAX, "not text")
            .at(Place::File("a.bin".into()), "")
            .note("byte 3 is not UTF-8"),
        Diagnostic::error(&irtext::IR_SYNTAX, "no place at all"),
    ]
}

#[test]
fn human() {
    let sources = sources();
    insta::assert_snapshot!(text(&samples(&sources), &sources, Format::Human));
}

#[test]
fn human_in_colour() {
    let sources = sources();
    let options = RenderOptions { color: true, ..RenderOptions::default() };
    let all = samples(&sources);
    let out = render(&[all[0].clone(), all[5].clone()], &sources, &options);
    insta::assert_snapshot!(out.replace('\x1b', "ESC"));
}

#[test]
fn short() {
    let sources = sources();
    insta::assert_snapshot!(text(&samples(&sources), &sources, Format::Short));
}

#[test]
fn json() {
    let sources = sources();
    let out = text(&samples(&sources), &sources, Format::Json);
    for line in out.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object());
    }
    insta::assert_snapshot!(out);
}

#[test]
fn odd_places_in_odd_files() {
    let mut sources = SourceMap::default();
    sources.add("crlf.tk", None, "a = 1\r\nb = $\r\n");
    sources.add("empty.tk", None, "");
    sources.add("wide.tk", None, "s = 'größe 漢字 \u{1b}[31m \u{202e}' $ 2\u{2028}x\u{c}y");
    let at = |file, lo, hi| Span { file: FileId(file), lo, hi };
    let error = |place: Span, text: &str| Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, text).at(place, "here");
    let all = [
        error(span(&sources, 0, "$"), "before CRLF"),
        error(span(&sources, 0, "\r\nb"), "over a CRLF"),
        error(at(0, 14, 14), "at the end, after the last line break"),
        error(at(1, 0, 0), "in an empty file"),
        error(at(2, 8, 9), "inside a character of two bytes"),
        error(span(&sources, 2, "$"), "behind wide characters"),
        error(at(0, 900, 1000), "past the end"),
        error(at(0, 5, 2), "backwards"),
        error(at(7, 0, 1), "a file that is not there"),
    ];
    let out = text(&all, &sources, Format::Human);
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'));
    insta::assert_snapshot!(out);
}

#[test]
fn a_line_of_megabytes_is_clipped() {
    let mut sources = SourceMap::default();
    sources.add("long.tk", None, "x".repeat(1_000_000) + " $ " + &"y".repeat(2_000_000));
    let start = Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, "m".repeat(1_000_000))
        .at(Span { file: FileId(0), lo: 4, hi: 9 }, "");
    let middle = Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, "far right")
        .at(span(&sources, 0, "$"), "here")
        .note("n".repeat(1_000_000));
    let whole = Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, "all of it")
        .at(Span { file: FileId(0), lo: 0, hi: 3_000_000 }, "t".repeat(9999));
    let out = text(&[start, middle, whole], &sources, Format::Human);
    assert!(out.len() < 10_000, "{}", out.len());
    assert!(out.contains("long.tk:1:1000002"), "{out}");
    assert!(out.lines().any(|l| l.trim_start().starts_with("| …xxxx") && l.contains("x $ y")), "{out}");
}

#[test]
fn a_late_line_keeps_its_number() {
    let mut sources = SourceMap::default();
    sources.add("tall.tk", None, "pass\n".repeat(99_999) + "bad\n");
    let out = text(
        &[Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, "m").at(span(&sources, 0, "bad"), "here")],
        &sources,
        Format::Human,
    );
    assert!(out.contains("tall.tk:100000:1") && out.contains("100000 │ bad"), "{out}");
    assert!(out.lines().count() < 10, "{out}");
}

#[test]
fn a_file_is_loaded_once_when_a_location_names_it() {
    let calls = std::cell::Cell::new(0);
    let load = |name: &str| {
        calls.set(calls.get() + 1);
        (name == "k.py").then(|| Arc::from("one\ntwo = three(four)\n"))
    };
    let at = |file: &str, line, col| {
        Diagnostic::error(&verify::INVALID_OP, "m").at(Place::At { file: file.into(), line, col }, "t")
    };
    let all = [at("k.py", 2, 7), at("k.py", 1, 1), at("no.py", 1, 1), at("no.py", 2, 1), at("k.py", 9, 9)];
    let out = render(&all, &SourceMap::default(), &RenderOptions { load: Some(&load), ..RenderOptions::default() });
    assert_eq!(calls.get(), 2);
    insta::assert_snapshot!(out);
}

#[test]
fn explanations_and_the_list_name_every_code() {
    let list = list_codes();
    for code in codes::all() {
        assert!(list.contains(&format!("{}  {}\n", code.id, code.title)));
        let text = explain(code);
        assert!(text.starts_with(code.id) && text.ends_with('\n') && !code.explain.trim().is_empty(), "{}", code.id);
    }
    let ids: Vec<&str> = codes::all().map(|c| c.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(ids, sorted, "codes are unique and stand in order");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(
        body in "[a-c \\t\\n\\r\\x00-\\x1f\\u{80}-\\u{300}\\u{2000}-\\u{2030}漢🦀]{0,60}",
        filler in prop::sample::select(vec![0usize, 0, 300]),
        labels in prop::collection::vec((0u32..3, 0u32..400, 0u32..400, 0u32..5, ".{0,20}"), 0..5),
        color in any::<bool>(),
    ) {
        let mut sources = SourceMap::default();
        sources.add("f.tk", None, "z".repeat(filler) + &body);
        sources.add("g.tk", None, body);
        let mut d = Diagnostic::error(&verify::INVALID_OP, "m").note("n").help("h");
        for (file, a, b, kind, text) in labels {
            let place = match kind {
                0 => Place::At { file: if file == 0 { "f.tk" } else { "h.tk" }.into(), line: a % 8, col: b },
                1 => Place::File("f.tk".into()),
                _ => Place::Span(Span { file: FileId(file), lo: a, hi: b }),
            };
            d = d.at(place, text);
        }
        for format in [Format::Human, Format::Short, Format::Json] {
            let out = render(std::slice::from_ref(&d), &sources, &RenderOptions { format, color, load: None });
            prop_assert!(out.ends_with('\n') && out.contains("E0501") && out.len() < 20_000);
            let controls = |c: char| c.is_control() && c != '\n' && c != '\t' && !(color && c == '\x1b') && format != Format::Json;
            prop_assert!(!out.contains(controls), "{out:?}");
        }
    }
}
