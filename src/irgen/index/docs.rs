//! What a name is for, in words: signatures and documentation of primitives, of functions of the library and of the
//! user's own; and the members of packages and of tensors, to choose from.

use std::path::PathBuf;

use super::leads::{Finder, of_value};
use super::{Leads, settings};
use crate::irgen::builtins;
use crate::irgen::front::space::Space;
use crate::irgen::front::top_level::TopLevel;
use crate::irgen::kernel::request::start;
use crate::irgen::value::Builtin;
use crate::parser::ast::{Constant, ExprKind, FunctionDef, StmtKind};
use crate::source::{FileId, SourceMap, Span};

/// A function or a value in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Docs {
    /// `arange(start, end)`, or a name and what it is.
    pub signature: String,
    pub text: String,
}

/// What kind of thing a member is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberKind {
    Function,
    Method,
    Package,
    Type,
    Value,
}

/// A member of a package, of a file or of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub name: String,
    pub kind: MemberKind,
    pub docs: Docs,
}

/// What is known of a primitive.
#[must_use]
pub fn of_builtin(b: &Builtin) -> Docs {
    Docs { signature: format!("{}({})", b.name, b.sig), text: b.doc.to_owned() }
}

/// What is known of where a name leads. A local name has no documentation.
#[must_use]
pub fn docs(map: &SourceMap, leads: &Leads) -> Option<Docs> {
    match leads {
        Leads::Builtin(b) => Some(of_builtin(b)),
        Leads::Names(places) => places.iter().find_map(|&at| function_at(map, at)),
        Leads::Package(space) => Some(Docs { signature: space.name().to_owned(), text: "a package".to_owned() }),
        Leads::File(file) => Some(Docs { signature: map.file(*file).name.clone(), text: "a file".to_owned() }),
        Leads::Known(text) => Some(Docs { signature: text.clone(), text: String::new() }),
        Leads::Local(_) | Leads::Unknown => None,
    }
}

/// The documentation of the function whose name stands at a place.
#[must_use]
pub fn function_at(map: &SourceMap, at: Span) -> Option<Docs> {
    map.get(at.file)?;
    let top = TopLevel::of(map, at.file);
    top.functions.iter().find(|f| f.name.span == at).map(|f| of_function(map, f))
}

fn of_function(map: &SourceMap, f: &FunctionDef) -> Docs {
    let header = map.text(f.header);
    let header = header.trim_start_matches("def ").trim_end_matches(':');
    let signature = header.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")");
    let text = match f.body.first().map(|s| &s.kind) {
        Some(StmtKind::Expr(e)) => match &e.kind {
            ExprKind::Constant(Constant::Str(text)) => dedented(text),
            _ => String::new(),
        },
        _ => String::new(),
    };
    Docs { signature, text }
}

/// A docstring without the indentation of its lines.
fn dedented(text: &str) -> String {
    text.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// The members of what a dotted path leads to, at the top level of a file: `tl`, `tl.math`, an imported file. `None` if
/// the path leads nowhere.
#[must_use]
pub fn members(map: &mut SourceMap, file: FileId, include_dirs: &[PathBuf], path: &[&str]) -> Option<Vec<Member>> {
    let (cx, module) = start(map, file, include_dirs, settings());
    let mut finder = Finder::new(cx, module);
    let (first, rest) = path.split_first()?;
    let mut at = finder.global(first);
    for attr in rest {
        at = finder.member(&at, attr);
    }
    if let Leads::Names(places) = &at {
        at = finder.alias(places);
    }
    let names: Vec<String> = match &at {
        Leads::Package(space) => builtins::member_names(*space).into_iter().map(str::to_owned).collect(),
        Leads::File(_) => finder.names_of(&at),
        _ => return None,
    };
    let found: Vec<(String, Leads)> = names
        .into_iter()
        .map(|name| {
            let leads = finder.member(&at, &name);
            (name, leads)
        })
        .collect();
    let map = finder.into_map();
    let mut all: Vec<Member> = found.into_iter().map(|(name, leads)| member(map, name, &leads)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup_by(|a, b| a.name == b.name);
    Some(all)
}

fn member(map: &SourceMap, name: String, leads: &Leads) -> Member {
    let kind = match leads {
        Leads::Builtin(_) => MemberKind::Function,
        Leads::Names(places) if places.iter().any(|&at| function_at(map, at).is_some()) => MemberKind::Function,
        Leads::Package(_) | Leads::File(_) => MemberKind::Package,
        Leads::Known(_) => MemberKind::Type,
        _ => MemberKind::Value,
    };
    let docs = docs(map, leads).unwrap_or_else(|| Docs { signature: name.clone(), text: String::new() });
    Member { name, kind, docs }
}

/// What tensors have: attributes and methods.
#[must_use]
pub fn tensor_members(map: &mut SourceMap, file: FileId) -> Vec<Member> {
    let (mut cx, _) = start(map, file, &[], settings());
    let mut found: Vec<(String, Leads)> = vec![];
    for name in builtins::tensor_attr_names() {
        let leads = match builtins::tensor_method(name) {
            Some(b) => Leads::Builtin(b),
            None => cx.space_attr(Space::Language, name).map_or(Leads::Unknown, |v| of_value(&v)),
        };
        found.push((name.to_owned(), leads));
    }
    let map = &*cx.into_map();
    let mut all: Vec<Member> = found
        .into_iter()
        .map(|(name, leads)| {
            let attribute = matches!(name.as_str(), "dtype" | "shape" | "type" | "numel" | "T");
            let kind = if attribute { MemberKind::Value } else { MemberKind::Method };
            Member { kind, ..member(map, name, if attribute { &Leads::Unknown } else { &leads }) }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup_by(|a, b| a.name == b.name);
    all
}
