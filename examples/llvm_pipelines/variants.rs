//! The pipelines to compare, made from the text of the built-in one.

use crate::measure::{lowered, read};
use ttc::target::Target;

/// A pipeline and what it is called in the table.
#[derive(Clone)]
pub(crate) struct Variant {
    pub name: String,
    pub pipeline: String,
}

impl Variant {
    fn new(name: impl Into<String>, pipeline: impl Into<String>) -> Variant {
        Variant { name: name.into(), pipeline: pipeline.into() }
    }
}

/// Whole pipelines beside the built-in one.
const WHOLE: [(&str, &str); 3] = [
    ("`O3`", "default<O3>"),
    ("`O1`", "default<O1>"),
    (
        "one `instcombine`",
        "nvvm-reflect,always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
    ),
];

/// Passes of `O3` that may be missed: the text, and the place behind the first pass of that name.
const CANDIDATES: [(&str, &str); 21] = [
    ("early-cse", "early-cse<memssa>"),
    ("sroa", "sroa<modify-cfg>"),
    ("early-cse", "speculative-execution<only-if-divergent-target>"),
    ("early-cse", "jump-threading"),
    ("early-cse", "correlated-propagation"),
    ("instcombine", "aggressive-instcombine"),
    ("instcombine", "tailcallelim"),
    ("instcombine", "constraint-elimination"),
    ("instcombine", "reassociate"),
    ("instcombine", "gvn"),
    ("instcombine", "sccp"),
    ("instcombine", "bdce"),
    ("instcombine", "adce"),
    ("instcombine", "memcpyopt"),
    ("instcombine", "dse"),
    ("instcombine", "float2int"),
    ("instcombine", "div-rem-pairs"),
    ("instcombine", "slp-vectorizer"),
    ("instcombine", "vector-combine"),
    ("instcombine", "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)"),
    ("instcombine", "loop-mssa(simple-loop-unswitch)"),
];

/// The pipeline that the compiler takes for a module.
///
/// # Errors
/// Why the module cannot be lowered.
pub(crate) fn built_in(file: &str, target: Target) -> Result<String, String> {
    Ok(lowered(&read(file, target)?, target, None)?.pipeline())
}

/// The variants to measure, the built-in pipeline first.
pub(crate) fn list(built_in: &str, passes: bool, given: &[String]) -> Vec<Variant> {
    let mut list = vec![Variant::new("built in", built_in)];
    if passes {
        list.extend(each_pass(built_in));
    } else if given.is_empty() {
        list.extend(WHOLE.map(|(name, text)| Variant::new(name, text)));
    }
    list.extend(given.iter().map(|text| Variant::new(format!("`{text}`"), text)));
    list
}

/// The pipeline without each of its passes, and with each of [`CANDIDATES`] that it lacks.
fn each_pass(built_in: &str) -> Vec<Variant> {
    let tree = parse(built_in);
    let mut names: Vec<String> = vec![];
    leaves(&tree, &mut names);
    let mut list = vec![];
    for (i, name) in names.iter().enumerate() {
        let (before, all) =
            (names[..i].iter().filter(|n| *n == name).count(), names.iter().filter(|n| *n == name).count());
        let which = if all > 1 { format!(" ({} of {all})", before + 1) } else { String::new() };
        list.push(Variant::new(format!("without `{name}`{which}"), print(&edit(&tree, &mut 0, i, &mut |_| vec![]))));
    }
    for (after, text) in CANDIDATES.iter().filter(|(_, text)| !parse(text).iter().all(|n| names.contains(&n.name))) {
        if let Some(i) = names.iter().position(|n| base(n) == *after) {
            let with = edit(&tree, &mut 0, i, &mut |node| std::iter::once(node.clone()).chain(parse(text)).collect());
            list.push(Variant::new(format!("with `{text}`"), print(&with)));
        }
    }
    list
}

/// A pass, or a pass manager with what it runs.
#[derive(Clone)]
struct Node {
    /// With its parameters: `sroa<modify-cfg>`.
    name: String,
    inner: Option<Vec<Node>>,
}

/// `sroa` of `sroa<modify-cfg>`.
fn base(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// Reads `a,m(b<x;y>,c)`. Parameters may hold commas nowhere, so only parentheses nest.
fn parse(text: &str) -> Vec<Node> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, vec![]);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    let node = |part: &str| match part.split_once('(') {
        Some((name, rest)) => {
            Node { name: name.to_owned(), inner: Some(parse(rest.strip_suffix(')').unwrap_or(rest))) }
        }
        None => Node { name: part.to_owned(), inner: None },
    };
    parts.into_iter().filter(|p| !p.is_empty()).map(node).collect()
}

fn print(nodes: &[Node]) -> String {
    let one =
        |n: &Node| n.inner.as_ref().map_or_else(|| n.name.clone(), |inner| format!("{}({})", n.name, print(inner)));
    nodes.iter().map(one).collect::<Vec<_>>().join(",")
}

/// The passes in their order, without the managers.
fn leaves(nodes: &[Node], out: &mut Vec<String>) {
    for node in nodes {
        match &node.inner {
            Some(inner) => leaves(inner, out),
            None => out.push(node.name.clone()),
        }
    }
}

/// The tree with pass number `which` replaced by what `change` makes of it; a manager that is left with nothing goes.
fn edit(nodes: &[Node], at: &mut usize, which: usize, change: &mut dyn FnMut(&Node) -> Vec<Node>) -> Vec<Node> {
    let mut out = vec![];
    for node in nodes {
        if let Some(inner) = &node.inner {
            let inner = edit(inner, at, which, change);
            if !inner.is_empty() {
                out.push(Node { name: node.name.clone(), inner: Some(inner) });
            }
            continue;
        }
        if *at == which {
            out.extend(change(node));
        } else {
            out.push(node.clone());
        }
        *at += 1;
    }
    out
}
