//! Types and shapes beside the names that get them: `offs: int32[1024] = …`.
//!
//! A name that gets the same type again has one hint. A parameter with an annotation has none, unless it is a
//! compile-time one that got its value elsewhere.

use std::collections::BTreeSet;

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel};

use super::analysis::{About, Analysis};
use super::positions::Encoding;
use crate::irgen::Sight;
use crate::parser::ast::Param;
use crate::source::Span;

/// The hints of a part of the document.
#[must_use]
pub(super) fn hints(a: &Analysis, part: Span, encoding: Encoding) -> Vec<InlayHint> {
    let About::Kernels(k) = &a.about else { return vec![] };
    let mut bound: BTreeSet<Span> = k.units.iter().flat_map(|u| u.sights.bound()).collect();
    bound.retain(|s| s.file == a.file);
    let (mut out, mut shown) = (vec![], BTreeSet::new());
    for span in bound {
        let mut types: Vec<String> = vec![];
        for text in k.units.iter().flat_map(|u| u.sights.at(span)).filter_map(label) {
            if !types.contains(&text) {
                types.push(text);
            }
        }
        if types.is_empty() {
            continue;
        }
        let function = k.top.functions.iter().rposition(|f| f.span.lo <= span.lo && span.hi <= f.span.hi);
        let param = function.and_then(|i| k.top.functions[i].params.iter().find(|p| p.name.span == span));
        let text = types.join(" | ");
        let first = shown.insert((function, a.sources.text(span).to_owned(), text.clone()));
        let at = match param {
            Some(p) => of_param(p, &text),
            None if first => {
                Some((span.hi, if text.starts_with("= ") { format!(" {text}") } else { format!(": {text}") }))
            }
            None => None,
        };
        let Some((at, text)) = at.filter(|(at, _)| part.touches(*at)) else { continue };
        out.push(InlayHint {
            position: encoding.position(a.own(), at),
            label: InlayHintLabel::String(text),
            kind: Some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        });
    }
    out
}

fn label(sight: &Sight) -> Option<String> {
    match sight {
        Sight::Tensor(ty, _) => Some(ty.to_string()),
        Sight::Known(text) if text.len() < 40 => Some(format!("= {text}")),
        _ => None,
    }
}

fn of_param(p: &Param, text: &str) -> Option<(u32, String)> {
    match (&p.annotation, text.starts_with("= ")) {
        (None, false) => Some((p.name.span.hi, format!(": {text}"))),
        (Some(_), true) if p.default.is_none() => Some((p.span.hi, format!(" {text}"))),
        (None, true) if p.default.is_none() => Some((p.name.span.hi, format!(" {text}"))),
        _ => None,
    }
}
