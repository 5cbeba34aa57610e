//! Completion: members behind a dot, names and keywords elsewhere.

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind};

use super::analysis::{About, Analysis};
use super::kernels::Kernels;
use crate::irgen::index::docs::{members, tensor_members};
use crate::irgen::{Docs, Leads, Member, MemberKind};

/// What can stand at an offset.
#[must_use]
pub(super) fn completion(a: &Analysis, offset: u32) -> Vec<CompletionItem> {
    let About::Kernels(k) = &a.about else { return vec![] };
    let path = path_before(&a.own().text[..offset as usize]);
    let Some((_, base)) = path.split_last() else { return vec![] };
    if base.is_empty() { names(a, k, offset) } else { of_path(a, k, base, offset).iter().map(item).collect() }
}

/// The dotted path that ends at the end of a text, its last part perhaps empty: `tl.ar` gives `tl`, `ar`.
fn path_before(text: &str) -> Vec<&str> {
    let start = text
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
        .map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
    let path: Vec<&str> = text[start..].split('.').collect();
    // `).sum` and `].sum` are members of what stands before.
    let behind = text[..start].ends_with([')', ']']) && path.first() == Some(&"");
    let number = path.first().is_some_and(|p| p.starts_with(|c: char| c.is_ascii_digit()));
    match () {
        () if behind => vec![")", path.last().copied().unwrap_or("")],
        () if number => vec![],
        () => path,
    }
}

fn of_path(a: &Analysis, k: &Kernels, base: &[&str], offset: u32) -> Vec<Member> {
    let mut sources = a.sources.clone();
    let local = base == [")"] || is_local(a, k, base[0], offset);
    if local && base.len() == 1 {
        return tensor_members(&mut sources, a.file);
    }
    members(&mut sources, a.file, &k.include, base).unwrap_or_default()
}

/// Whether a function around the offset has a local name that is called so.
fn is_local(a: &Analysis, k: &Kernels, name: &str, offset: u32) -> bool {
    let around = k.top.functions.iter().filter(|f| f.span.lo <= offset && offset <= f.span.hi + 1);
    let within = |span: crate::source::Span| around.clone().any(|f| f.span.lo <= span.lo && span.hi <= f.span.hi);
    k.index.uses.iter().any(|u| matches!(u.leads, Leads::Local(_)) && a.sources.text(u.span) == name && within(u.span))
}

/// Names of the function around the offset, of the file, and words of the language.
fn names(a: &Analysis, k: &Kernels, offset: u32) -> Vec<CompletionItem> {
    let mut out: Vec<CompletionItem> = vec![];
    let mut add = |label: &str, kind: CompletionItemKind| {
        if !label.is_empty() && !out.iter().any(|i| i.label == label) {
            out.push(CompletionItem { label: label.to_owned(), kind: Some(kind), ..CompletionItem::default() });
        }
    };
    let around = k.top.functions.iter().filter(|f| f.span.lo <= offset && offset <= f.span.hi + 1);
    for f in around {
        f.params.iter().for_each(|p| add(&p.name.name, CompletionItemKind::VARIABLE));
        for name in crate::irgen::front::assigned::assigned(&f.body) {
            add(&name, CompletionItemKind::VARIABLE);
        }
    }
    for name in k.top.names() {
        let function = k.top.functions.iter().any(|f| *f.name.name == *name);
        add(name, if function { CompletionItemKind::FUNCTION } else { CompletionItemKind::MODULE });
    }
    for word in
        ["for", "while", "if", "elif", "else", "return", "range", "in", "not", "and", "or", "True", "False", "None"]
    {
        add(word, CompletionItemKind::KEYWORD);
    }
    let _ = a;
    out
}

fn item(m: &Member) -> CompletionItem {
    let Docs { signature, text } = &m.docs;
    CompletionItem {
        label: m.name.clone(),
        kind: Some(match m.kind {
            MemberKind::Function => CompletionItemKind::FUNCTION,
            MemberKind::Method => CompletionItemKind::METHOD,
            MemberKind::Package => CompletionItemKind::MODULE,
            MemberKind::Type => CompletionItemKind::STRUCT,
            MemberKind::Value => CompletionItemKind::FIELD,
        }),
        detail: Some(signature.clone()),
        documentation: (!text.is_empty())
            .then(|| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: text.clone() })),
        ..CompletionItem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::path_before;

    #[test]
    fn the_path_before_the_cursor() {
        assert_eq!(path_before("x = tl.ar"), ["tl", "ar"]);
        assert_eq!(path_before("x = tl.math."), ["tl", "math", ""]);
        assert_eq!(path_before("f(x).su"), [")", "su"]);
        assert_eq!(path_before("x = é"), ["é"]);
        assert_eq!(path_before("1."), Vec::<&str>::new());
        assert_eq!(path_before("("), [""]);
    }
}
