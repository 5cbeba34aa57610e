//! docs/ops.md: the reference of all operations, made from the op tables.
//!
//! `BLESS=1 cargo test ops_doc` writes it; without, the test fails where the document and the tables differ.

use std::fmt::Write as _;

use ttc::ir::OpKind;
use ttc::ir::core::AttrData;
use ttc::ir::dialects::spec::{Arity, AttrKind, AttrSpec, DefaultValue, EnumSpec, Format, OperandSpec};
use ttc::ir::dialects::{Effects, OpSpec, Traits};

use super::generated::{document, wrapped};

/// Dialect, what it holds.
const DIALECTS: &[(&str, &str)] = &[
    ("builtin", "The module, and casts between conversions."),
    ("ub", "Undefined behaviour."),
    ("arith", "Arithmetic, comparisons and casts of numbers, on scalars and, element by element, on tensors."),
    ("math", "Functions of real numbers, on scalars and tensors."),
    ("scf", "Structured control flow."),
    ("cf", "Branches between blocks."),
    ("llvm", "The part of LLVM that Triton uses."),
    ("gpu", "The part of `gpu` that other compilers' text uses."),
    ("tt", "Tensors of values and pointers, before anybody decides which thread holds what."),
    ("ttg", "Tensors with layouts, shared memory, asynchronous copies, warp specialisation."),
    ("ttng", "The means of NVIDIA GPUs from Hopper on: barriers in memory, TMA, wgmma, tensor memory, clusters."),
    ("amdg", "The means of AMD GPUs: buffer instructions, and what their products need."),
    ("rocdl", "The part of `rocdl` that Triton uses: AMD's instructions."),
];

#[test]
fn ops_md_is_what_the_tables_say() {
    document("docs/ops.md", &made(), "ops_doc");
}

#[test]
fn every_operation_says_what_it_does() {
    let silent: Vec<&str> = OpKind::all().filter(|k| k.spec().doc.trim().is_empty()).map(OpKind::name).collect();
    assert!(silent.is_empty(), "no documentation: {silent:?}");
    let dialects: Vec<&str> = DIALECTS.iter().map(|d| d.0).collect();
    let unknown: Vec<&str> = OpKind::all().map(OpKind::name).filter(|n| !dialects.contains(&dialect(n))).collect();
    assert!(unknown.is_empty(), "no section for {unknown:?}");
}

fn dialect(name: &str) -> &str {
    name.split_once('.').map_or(name, |p| p.0)
}

fn made() -> String {
    let mut out = String::from("# Operations\n\n");
    out += &wrapped(
        "",
        "This page is made from the op tables in `src/ir/dialects/`; `BLESS=1 cargo test ops_doc` writes it anew. \
         [ir.md](ir.md) explains types, layouts and the text.",
    );
    out += "\n";
    out += &wrapped(
        "",
        "In *Operands*, `?` marks a value that may be absent and `*` any number of values. An attribute without a \
         default is required. *Text* is MLIR's declarative assembly format. Operations without it are written in the \
         generic form, or in the form that [ir.md](ir.md) shows. An operation without *Effects* has none: it may be \
         dropped when unused and merged with an equal one.",
    );
    for (name, about) in DIALECTS {
        let ops: Vec<OpKind> = OpKind::all().filter(|k| dialect(k.name()) == *name).collect();
        write!(out, "\n## {name}\n\n{about} {} operations.\n", ops.len()).unwrap();
        for op in ops {
            entry(&mut out, op.spec());
        }
    }
    out
}

fn entry(out: &mut String, spec: &OpSpec) {
    let doc = spec.doc.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    write!(out, "\n### `{}`\n\n{}", spec.name, wrapped("", &doc)).unwrap();
    let mut rows = vec![
        ("Operands", list(spec.operands, value)),
        ("Results", list(spec.results, value)),
        ("Attributes", list(spec.attrs, attribute)),
        ("Regions", list(spec.regions, |r| format!("`{r}`"))),
    ];
    if spec.successors > 0 {
        rows.push(("Successors", spec.successors.to_string()));
    }
    rows.push((
        "Traits",
        spec.traits.iter_names().map(|(n, _)| n.to_lowercase().replace('_', " ")).collect::<Vec<_>>().join(", "),
    ));
    rows.push(("Effects", effects(spec).to_owned()));
    if let Format::Text(text) = spec.format {
        let ticks = if text.contains('`') { "``" } else { "`" };
        rows.push(("Text", format!("{ticks} {text} {ticks}")));
    }
    rows.retain(|r| !r.1.is_empty());
    if !rows.is_empty() {
        out.push('\n');
    }
    for (name, text) in rows {
        *out += &wrapped("  ", &format!("- *{name}*: {text}"));
    }
}

fn list<T>(items: &[T], show: fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join("; ")
}

fn value(spec: &OperandSpec) -> String {
    let arity = match spec.arity {
        Arity::One => "",
        Arity::Optional => "?",
        Arity::Variadic => "*",
    };
    format!("`{}`{arity} {}", spec.name, spec.constraint.what)
}

fn attribute(spec: &AttrSpec) -> String {
    let (kind, default) = (attr_kind(&spec.kind), default(spec));
    format!("`{}` {kind}{default}", spec.name)
}

fn attr_kind(kind: &AttrKind) -> String {
    let cases = |e: &EnumSpec, join: &str| e.cases.iter().map(|c| format!("`{}`", c.0)).collect::<Vec<_>>().join(join);
    match kind {
        AttrKind::Unit => "flag".into(),
        AttrKind::Bool => "boolean".into(),
        AttrKind::Int(w) => format!("i{w}"),
        AttrKind::Enum(e) => format!("{}: {}", e.name, cases(e, ", ")),
        AttrKind::Flags(e) => format!("{}, any of {}", e.name, cases(e, ", ")),
        AttrKind::F32 => "f32".into(),
        AttrKind::Str => "string".into(),
        AttrKind::Symbol => "symbol".into(),
        AttrKind::Type => "type".into(),
        AttrKind::DenseArray(w) => format!("`array<i{w}>`"),
        AttrKind::Array => "array".into(),
        AttrKind::Dict => "dictionary".into(),
        AttrKind::Typed => "typed constant".into(),
        AttrKind::Any => "any attribute".into(),
    }
}

fn default(spec: &AttrSpec) -> String {
    match spec.default {
        DefaultValue::Required => return String::new(),
        DefaultValue::Absent => return " (optional)".into(),
        DefaultValue::Empty => return " (empty)".into(),
        DefaultValue::BoolIs(_) | DefaultValue::IntIs(_) => {}
    }
    let number = spec.default_value().map(|a| match a.data() {
        AttrData::Int(v, _) => *v,
        _ => 0,
    });
    let text = match (&spec.kind, number) {
        (AttrKind::Bool, Some(v)) => (v != 0).to_string(),
        (AttrKind::Enum(e) | AttrKind::Flags(e), Some(v)) => e.case(v).map_or_else(|| v.to_string(), str::to_owned),
        (_, v) => v.unwrap_or_default().to_string(),
    };
    format!(" (`{text}`)")
}

fn effects(spec: &OpSpec) -> &'static str {
    match spec.effects {
        Effects::Pure if spec.traits.contains(Traits::NOT_SPECULATABLE) => {
            "none, but it may not run where it did not before"
        }
        Effects::Pure => "",
        Effects::Read => "reads memory",
        Effects::Write => "writes memory, or what must stay for another reason",
        Effects::ReadWrite => "reads and writes memory",
        Effects::Alloc => "allocates; may be dropped when unused",
        Effects::Recursive => "those of the operations inside",
        Effects::Unknown => "taken to read and write everything",
    }
}
