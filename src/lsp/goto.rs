//! Going to definitions, and finding uses in the document itself.

use lsp_types::{Location, Uri};

use super::analysis::{About, Analysis};
use super::library;
use super::positions::Encoding;
use crate::irgen::{Leads, Sight};
use crate::source::Span;

/// Where the name at an offset is defined.
#[must_use]
pub(super) fn definition(a: &Analysis, offset: u32) -> Vec<Span> {
    match &a.about {
        About::Stage(stage) => {
            stage.places(&a.own().text, offset).into_iter().filter(|(_, defines)| *defines).map(|(s, _)| s).collect()
        }
        About::Kernels(k) => {
            let Some(used) = k.index.at(offset) else { return vec![] };
            match &used.leads {
                // Of several assignments the one before the use is most likely meant.
                Leads::Local(places) => {
                    let before = places.iter().rev().find(|p| p.lo < used.span.lo || **p == used.span);
                    before.or(places.first()).copied().into_iter().collect()
                }
                Leads::File(file) => vec![Span { file: *file, lo: 0, hi: 0 }],
                Leads::Names(places) => places.clone(),
                // A method of a tensor may be a function of the library.
                _ => k.units.iter().flat_map(|u| method(&u.sights, used.span)).collect(),
            }
        }
        About::Nothing => vec![],
    }
}

fn method(sights: &crate::irgen::Sights, name: Span) -> Vec<Span> {
    let ends_here =
        sights.places().filter(|(span, _)| span.hi == name.hi && span.lo < name.lo && span.file == name.file);
    let function = |s: &Sight| match s {
        Sight::Function(at) => Some(*at),
        _ => None,
    };
    ends_here.flat_map(|(_, seen)| seen.iter().filter_map(function)).take(1).collect()
}

/// The places in the document where the name at an offset stands; definitions only if they are asked for.
#[must_use]
pub(super) fn references(a: &Analysis, offset: u32, definitions: bool) -> Vec<Span> {
    match &a.about {
        About::Stage(stage) => {
            let all = stage.places(&a.own().text, offset).into_iter();
            all.filter(|(_, defines)| definitions || !defines).map(|(s, _)| s).collect()
        }
        About::Kernels(k) => match k.index.at(offset) {
            Some(used) if !matches!(used.leads, Leads::Unknown) => {
                let same = k.index.uses.iter().filter(|u| u.leads.is_same(&used.leads));
                same.map(|u| u.span).filter(|s| definitions || !used.leads.places().contains(s)).collect()
            }
            _ => vec![],
        },
        About::Nothing => vec![],
    }
}

/// A span as the protocol has it. `uri` is the document's own.
#[must_use]
pub(super) fn location(a: &Analysis, span: Span, uri: &Uri, encoding: Encoding) -> Option<Location> {
    let uri = if span.file == a.file { uri.clone() } else { library::uri_of(&a.sources, span.file)? };
    Some(Location { uri, range: encoding.range(a.sources.file(span.file), span) })
}
