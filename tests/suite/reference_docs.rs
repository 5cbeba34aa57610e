//! docs/functions.md and docs/pass-list.md: what kernels can call, and the passes with their options, from the tables.
//!
//! `BLESS=1 cargo test reference_docs` writes them; without, the tests fail where a document and the tables differ.

use std::fmt::Write as _;

use ttc::irgen::index::docs::{Member, MemberKind, members, tensor_members};
use ttc::passes::manager::{Input, OptionKind};
use ttc::passes::registry;
use ttc::source::SourceMap;

use super::generated::{document, wrapped};

/// Path of a package, title, what it holds.
const PACKAGES: &[(&[&str], &str, &str)] = &[
    (&["tl"], "tl", "`triton.language`, which files import as `tl`."),
    (&["tl", "math"], "tl.math", "Functions of numbers, element by element. Most are members of `tl`, too."),
    (&["tl", "extra", "cuda"], "tl.extra.cuda", "What only NVIDIA's GPUs have."),
    (&["triton"], "triton", "The package itself: decorators, and functions for compile time."),
];

/// What the members of a package are, with their documentation, as an editor shows them.
fn package(path: &[&str]) -> Vec<Member> {
    let mut map = SourceMap::default();
    let file = map.add("docs.tk", None, "import triton\nimport triton.language as tl\n");
    members(&mut map, file, &[], path).unwrap_or_else(|| panic!("{path:?} leads nowhere"))
}

#[test]
fn functions_md_is_what_the_tables_say() {
    let mut out = String::from("# Functions\n\n");
    out += &wrapped(
        "",
        "What kernels can call, with its parameters; [language.md](language.md) lists it by what it is for. An editor \
         shows the same ([editors.md](editors.md)). The page is made from the tables in `src/irgen/builtins/` and the \
         library in `src/irgen/front/prelude/`: `BLESS=1 cargo test reference_docs`.",
    );
    for (path, title, about) in PACKAGES {
        write!(out, "\n## {title}\n\n{about}\n").unwrap();
        let of_kind = |kind: MemberKind| package(path).into_iter().filter(move |m| m.kind == kind);
        for m in of_kind(MemberKind::Function).filter(|m| !m.name.starts_with('_')) {
            function(&mut out, &m);
        }
        let types: Vec<String> = of_kind(MemberKind::Type).map(|m| format!("`{}`", m.name)).collect();
        if !types.is_empty() {
            write!(out, "\n{}", wrapped("", &format!("Types and values: {}.", types.join(", ")))).unwrap();
        }
    }
    methods(&mut out);
    let libdevice: Vec<String> =
        package(&["tl", "extra", "libdevice"]).iter().map(|m| format!("`{}`", m.name)).collect();
    assert!(libdevice.len() > 100, "{libdevice:?}");
    write!(out, "\n## tl.extra.libdevice\n\n{}", wrapped("", &format!("{}.", libdevice.join(", ")))).unwrap();
    assert!(out.contains("### `tl.load`") && out.contains("### `tl.softmax`"));
    document("docs/functions.md", &out, "reference_docs");

    fn function(out: &mut String, m: &Member) {
        let of = |path: &str| path.to_owned() + "." + &m.name;
        let section = out.rsplit("\n## ").next().and_then(|s| s.lines().next()).unwrap_or_default();
        let text = m.docs.text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        assert!(!text.is_empty(), "{} is not documented", m.name);
        write!(out, "\n### `{}`\n\n```python\n{}\n```\n\n{}", of(section), m.docs.signature, wrapped("", &text))
            .unwrap();
    }

    fn methods(out: &mut String) {
        let mut map = SourceMap::default();
        let file = map.add("docs.tk", None, "");
        let all = tensor_members(&mut map, file);
        let names = |kind: MemberKind| {
            let named = all.iter().filter(|m| m.kind == kind && !m.name.starts_with('_'));
            named.map(|m| format!("`{}`", m.name)).collect::<Vec<_>>().join(", ")
        };
        let text = format!(
            "A tensor `x` has these functions of `tl` as methods, with itself as the first argument: {}. Its attributes \
             are {}.",
            names(MemberKind::Method),
            names(MemberKind::Value)
        );
        write!(out, "\n## Tensors\n\n{}", wrapped("", &text)).unwrap();
    }
}

#[test]
fn pass_list_md_is_what_the_registry_says() {
    let mut out = String::from("# List of passes\n\n");
    out += &wrapped(
        "",
        "Every pass with its flag and its options, in the order in which compilations run them. `ttc opt FILE \
         --tritongpu-coalesce` runs one; options stand behind it: `--tritongpu-assign-latencies='num-stages=4'`. \
         [passes.md](passes.md) says what they are for and which of them a compilation runs. The page is made from \
         `src/passes/registry.rs`: `BLESS=1 cargo test reference_docs`.",
    );
    for (input, title, about) in [
        (Input::Any, "Any IR", "Passes that run on TTIR as well as on TTGIR."),
        (Input::Ttir, "TTIR", "Passes on tensors without layouts."),
        (Input::Ttgir, "TTGIR", "Passes on tensors with layouts."),
    ] {
        write!(out, "\n## {title}\n\n{about}\n").unwrap();
        for pass in registry::ALL.iter().filter(|p| p.input == input) {
            let doc = pass.doc.trim_end_matches('.');
            let mut letters = doc.chars();
            let doc = letters.next().map(|c| c.to_uppercase().to_string() + letters.as_str()).unwrap_or_default();
            write!(out, "\n### `--{}`\n\n{}", pass.name, wrapped("", &format!("{doc}."))).unwrap();
            if pass.options.is_empty() {
                continue;
            }
            out.push_str("\n| option | value | default | |\n|---|---|---|---|\n");
            for o in pass.options {
                let kind = match o.kind {
                    OptionKind::Int => "integer",
                    OptionKind::Bool => "`true` or `false`",
                    OptionKind::Str => "text",
                };
                let default = if o.default.is_empty() { String::new() } else { format!("`{}`", o.default) };
                writeln!(out, "| `{}` | {kind} | {default} | {} |", o.name, o.doc.replace('|', "\\|")).unwrap();
            }
        }
    }
    let listed = out.matches("\n### `--").count();
    assert_eq!(listed, registry::ALL.len(), "a pass is in no section");
    document("docs/pass-list.md", &out, "reference_docs");
}
