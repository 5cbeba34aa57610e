//! What a walk saw: the value of each expression, by its place. Editors show it; compiling keeps none of it.
//!
//! 1. [`Walker::watch`] begins. From then on expressions, targets of assignments and parameters of kernels and of the
//!    functions that they call leave a [`Sight`]; host code and the library leave none.
//! 2. A place that is walked several times (an unrolled loop, a helper with several specialisations) keeps what
//!    differs, up to [`MAX_SIGHTS`].
//!
//! Example: under `x = tl.load(p + offs)` the name `x` leaves a tensor `fp32[64]` with its value in the IR.

use std::collections::BTreeMap;

use super::walker::Walker;
use crate::ir::Value;
use crate::irgen::types::Ty;
use crate::irgen::value::{Builtin, Const, Object};
use crate::source::Span;

/// How many different values of one place are kept.
const MAX_SIGHTS: usize = 4;

/// The value of an expression.
#[derive(Clone)]
pub enum Sight {
    /// A tensor or a scalar that exists at run time.
    Tensor(Ty, Value),
    /// A value that is known at compile time, as text.
    Known(String),
    /// A primitive, or a method that is one.
    Builtin(&'static Builtin),
    /// A function: where its name stands.
    Function(Span),
    /// Anything else, in words.
    Other(String),
}

impl Sight {
    fn of(v: &Object) -> Option<Sight> {
        Some(match v {
            Object::Tensor(t) => Sight::Tensor(t.ty, t.value),
            Object::Method(m) => return Sight::of(&Object::Const(m.callee.clone())),
            Object::Const(Const::Builtin(b)) => Sight::Builtin(b),
            Object::Const(Const::Func(f)) => Sight::Function(f.def.name.span),
            Object::Const(Const::Space(_) | Const::Module(_) | Const::HostClass(..)) | Object::Error => return None,
            Object::Const(_) => Sight::Known(short(v.show())),
            Object::Tuple(items) if items.iter().all(|v| matches!(v, Object::Const(_))) => {
                Sight::Known(short(v.show()))
            }
            Object::Tuple(items) => {
                let shown: Vec<String> = items.iter().take(8).map(Object::show).collect();
                let more = if items.len() > shown.len() { ", …" } else { "" };
                Sight::Other(format!("({}{more})", shown.join(", ")))
            }
            other => Sight::Other(other.describe()),
        })
    }

    fn is_like(&self, other: &Sight) -> bool {
        match (self, other) {
            (Sight::Tensor(a, _), Sight::Tensor(b, _)) => a == b,
            (Sight::Known(a), Sight::Known(b)) | (Sight::Other(a), Sight::Other(b)) => a == b,
            (Sight::Builtin(a), Sight::Builtin(b)) => std::ptr::eq(*a, *b),
            (Sight::Function(a), Sight::Function(b)) => a == b,
            _ => false,
        }
    }
}

fn short(text: String) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Everything that was seen.
#[derive(Default)]
pub struct Sights {
    seen: BTreeMap<Span, Vec<Sight>>,
    /// Names where a value is bound to them: targets of assignments, loop variables, parameters.
    bound: Vec<Span>,
}

impl Sights {
    /// What was seen at exactly this place.
    #[must_use]
    pub fn at(&self, span: Span) -> &[Sight] {
        self.seen.get(&span).map_or(&[], Vec::as_slice)
    }

    /// The places of a file at which something was seen, in the order of the text.
    pub fn places(&self) -> impl Iterator<Item = (Span, &[Sight])> {
        self.seen.iter().map(|(span, seen)| (*span, seen.as_slice()))
    }

    /// Names to which values were bound, each once, in the order of the text.
    #[must_use]
    pub fn bound(&self) -> Vec<Span> {
        let mut all = self.bound.clone();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The same in a text of which parts have moved. What has no new place is left out.
    #[must_use]
    pub fn moved(&self, to: &dyn Fn(Span) -> Option<Span>) -> Sights {
        let seen = self.seen.iter().filter_map(|(span, seen)| Some((to(*span)?, seen.clone())));
        Sights { seen: seen.collect(), bound: self.bound.iter().filter_map(|s| to(*s)).collect() }
    }

    fn add(&mut self, span: Span, v: &Object) {
        let Some(sight) = Sight::of(v) else { return };
        let seen = self.seen.entry(span).or_default();
        if seen.len() < MAX_SIGHTS && !seen.iter().any(|s| s.is_like(&sight)) {
            seen.push(sight);
        }
    }
}

impl Walker<'_> {
    /// Keeps what is seen from now on.
    pub fn watch(&mut self) {
        self.sights = Some(Box::default());
    }

    /// What was seen since [`Walker::watch`].
    #[must_use]
    pub fn take_sights(&mut self) -> Sights {
        self.sights.take().map_or_else(Sights::default, |s| *s)
    }

    /// Notes the value of an expression, if somebody watches.
    pub(super) fn see(&mut self, span: Span, v: &Object) {
        if let Some(sights) = &mut self.sights
            && !self.frame.host
            && !span.file.is_embedded()
        {
            sights.add(span, v);
        }
    }

    /// Notes that a value is bound to a name, if somebody watches.
    pub(super) fn see_bound(&mut self, span: Span, v: &Object) {
        self.see(span, v);
        if let Some(sights) = &mut self.sights
            && !self.frame.host
            && !span.file.is_embedded()
        {
            sights.bound.push(span);
        }
    }
}
