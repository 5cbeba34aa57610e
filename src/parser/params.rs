//! Parameter lists: from the items between the parentheses to parameters with their kinds.
//!
//! What stands before `/` is positional-only; what stands after `*` or `*args` is keyword-only; nothing follows
//! `**kwargs`. A parameter without default cannot follow one with a default unless it is keyword-only. Example: `a, /,
//! b, *, c=1` has the kinds positional-only, normal, keyword-only.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diag::codes::syntax;
use crate::source::Span;

use super::ast::{Expr, Ident, Param, ParamKind};
use super::cx::Cx;
use super::line::{ParamForm, RawParam};

pub(crate) fn check(cx: &mut Cx<'_>, raw: Vec<RawParam>) -> Vec<Param> {
    let mut list = List {
        params: Vec::with_capacity(raw.len()),
        slash: false,
        star: None,
        double_star: false,
        defaults: false,
        late: false,
        names: BTreeSet::new(),
    };
    let count = raw.len();
    for (i, RawParam { form, span }) in raw.into_iter().enumerate() {
        if list.double_star {
            cx.error(&syntax::BAD_PARAMETERS, span, "nothing can follow `**kwargs`", "after the last parameter");
        }
        list.add(cx, *form, span, i + 1 == count);
    }
    list.params
}

struct List {
    params: Vec<Param>,
    slash: bool,
    star: Option<Span>,
    double_star: bool,
    /// Whether a positional parameter with a default has been seen.
    defaults: bool,
    /// Whether a parameter behind them was reported to have none.
    late: bool,
    names: BTreeSet<Arc<str>>,
}

impl List {
    fn add(&mut self, cx: &mut Cx<'_>, form: ParamForm, span: Span, last: bool) {
        match form {
            ParamForm::Plain(name, annotation, default) => self.plain(cx, name, annotation, default, span),
            ParamForm::Star => {
                if last {
                    cx.error(
                        &syntax::BAD_PARAMETERS,
                        span,
                        "a bare `*` needs a parameter after it",
                        "last in the list",
                    );
                }
                self.star(cx, span);
            }
            ParamForm::VarArgs(name, annotation) => {
                self.star(cx, span);
                self.push(cx, name, ParamKind::VarArgs, annotation, None, span);
            }
            ParamForm::VarKwargs(name, annotation) => {
                self.double_star = true;
                self.push(cx, name, ParamKind::VarKwargs, annotation, None, span);
            }
            ParamForm::Slash => self.slash(cx, span),
        }
    }

    fn plain(&mut self, cx: &mut Cx<'_>, name: Ident, annotation: Option<Expr>, default: Option<Expr>, span: Span) {
        let kind = if self.star.is_some() { ParamKind::KeywordOnly } else { ParamKind::Normal };
        if kind == ParamKind::Normal {
            if self.defaults && default.is_none() && !self.late {
                self.late = true;
                let message = format!("the parameter `{name}` has no default but follows one that has");
                cx.error(&syntax::BAD_PARAMETERS, span, message, "needs a default, or a place further left");
            }
            self.defaults |= default.is_some();
        }
        self.push(cx, name, kind, annotation, default, span);
    }

    fn star(&mut self, cx: &mut Cx<'_>, span: Span) {
        if self.star.is_some() {
            cx.error(&syntax::BAD_PARAMETERS, span, "a second `*` in a parameter list", "only one is allowed");
        }
        self.star = Some(span);
    }

    fn slash(&mut self, cx: &mut Cx<'_>, span: Span) {
        if self.slash || self.star.is_some() || self.params.is_empty() {
            let message = "`/` must stand once, after a parameter and before `*`";
            cx.error(&syntax::BAD_PARAMETERS, span, message, "misplaced");
        }
        self.slash = true;
        for param in &mut self.params {
            if param.kind == ParamKind::Normal {
                param.kind = ParamKind::PositionalOnly;
            }
        }
    }

    fn push(
        &mut self,
        cx: &mut Cx<'_>,
        name: Ident,
        kind: ParamKind,
        annotation: Option<Expr>,
        default: Option<Expr>,
        span: Span,
    ) {
        if !self.names.insert(Arc::clone(&name.name)) {
            cx.error(
                &syntax::BAD_PARAMETERS,
                name.span,
                format!("the parameter `{name}` is declared twice"),
                "second time",
            );
        }
        self.params.push(Param { name, kind, annotation, default, span });
    }
}
