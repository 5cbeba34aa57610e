//! Statements and expressions whose parts the grammar cannot check: assignment targets, arguments, slices.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::AugOp;
use crate::source::Span;

use super::ast::{BinOp, Call, Expr, ExprKind, Keyword, Slice, StmtKind};
use super::cx::Cx;
use super::line::{ArgForm, RawArg};

/// What binds a target, for the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binder {
    Assign,
    For,
    With,
    Del,
}

pub(crate) use Binder::{For, With};

/// Checks that the expression can be bound, and returns it.
pub(crate) fn target(cx: &mut Cx<'_>, target: Expr, binder: Binder) -> Expr {
    check_target(cx, &target, binder);
    target
}

fn check_target(cx: &mut Cx<'_>, target: &Expr, binder: Binder) {
    match &target.kind {
        ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {}
        ExprKind::Tuple(elements) | ExprKind::List(elements) => {
            for element in elements {
                check_target(cx, element, binder);
            }
        }
        ExprKind::Starred(value) if binder != Binder::Del => check_target(cx, value, binder),
        kind => {
            let what = describe(kind);
            let message = match binder {
                Binder::Assign => format!("cannot assign to {what}"),
                For => format!("a loop cannot assign to {what}"),
                With => format!("`with … as` cannot assign to {what}"),
                Binder::Del => format!("cannot delete {what}"),
            };
            let mut error = Diagnostic::error(&syntax::BAD_TARGET, message)
                .at(target.span, "not a name, attribute, subscript or tuple");
            if matches!(kind, ExprKind::Compare { .. }) {
                error = error.help("a comparison is written `==`, and its result needs a name on the left of `=`");
            }
            cx.report(error);
        }
    }
}

/// A noun for a kind of expression that cannot be bound.
fn describe(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::Constant(_) => "a constant",
        ExprKind::FString(_) => "an f-string",
        ExprKind::Call(_) => "the result of a call",
        ExprKind::Compare { .. } => "a comparison",
        ExprKind::IfExp { .. } => "a conditional expression",
        ExprKind::Lambda(_) => "a lambda",
        ExprKind::Dict(_) | ExprKind::DictComp(_) => "a dict",
        ExprKind::Set(_) | ExprKind::SetComp(_) => "a set",
        ExprKind::ListComp(_) | ExprKind::Generator(_) => "a comprehension",
        _ => "an expression",
    }
}

pub(crate) fn assign(cx: &mut Cx<'_>, first: Expr, rest: Vec<Expr>) -> StmtKind {
    let mut targets = Vec::with_capacity(rest.len());
    targets.push(first);
    targets.extend(rest);
    let value = targets.pop().expect("the grammar gives an assignment its value");
    for target in &targets {
        check_target(cx, target, Binder::Assign);
        if matches!(target.kind, ExprKind::Starred(_)) {
            cx.error(&syntax::BAD_TARGET, target.span, "a starred target must be in a list or tuple", "stands alone");
        }
    }
    StmtKind::Assign { targets, value }
}

pub(crate) fn aug_assign(cx: &mut Cx<'_>, target: Expr, op: AugOp, value: Expr) -> StmtKind {
    single_target(cx, &target, "an augmented assignment");
    StmtKind::AugAssign { target, op: bin_op(op), value }
}

pub(crate) fn ann_assign(cx: &mut Cx<'_>, target: Expr, annotation: Expr, value: Option<Expr>) -> StmtKind {
    single_target(cx, &target, "an annotated assignment");
    StmtKind::AnnAssign { target, annotation, value }
}

fn single_target(cx: &mut Cx<'_>, target: &Expr, what: &str) {
    if !matches!(target.kind, ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. }) {
        let message = format!("{what} needs one name, attribute or subscript as its target");
        cx.error(&syntax::BAD_TARGET, target.span, message, "not one of these");
    }
}

pub(crate) fn del(cx: &mut Cx<'_>, what: Expr) -> StmtKind {
    check_target(cx, &what, Binder::Del);
    match what.kind {
        ExprKind::Tuple(elements) => StmtKind::Del(elements),
        _ => StmtKind::Del(vec![what]),
    }
}

fn bin_op(op: AugOp) -> BinOp {
    match op {
        AugOp::Add => BinOp::Add,
        AugOp::Sub => BinOp::Sub,
        AugOp::Mul => BinOp::Mul,
        AugOp::MatMul => BinOp::MatMul,
        AugOp::Div => BinOp::Div,
        AugOp::FloorDiv => BinOp::FloorDiv,
        AugOp::Mod => BinOp::Mod,
        AugOp::Pow => BinOp::Pow,
        AugOp::LShift => BinOp::LShift,
        AugOp::RShift => BinOp::RShift,
        AugOp::BitOr => BinOp::BitOr,
        AugOp::BitXor => BinOp::BitXor,
        AugOp::BitAnd => BinOp::BitAnd,
    }
}

pub(crate) fn slice(
    cx: &Cx<'_>,
    lower: Option<Expr>,
    upper: Option<Expr>,
    step: Option<Expr>,
    lo: u32,
    hi: u32,
) -> Expr {
    let slice = Slice { lower: lower.map(Box::new), upper: upper.map(Box::new), step: step.map(Box::new) };
    cx.expr(lo, hi, ExprKind::Slice(slice))
}

/// A call; checks the order of its arguments and that no keyword is given twice.
pub(crate) fn call(cx: &mut Cx<'_>, func: Expr, raw: Vec<RawArg>, lo: u32, hi: u32) -> Expr {
    let alone = raw.len() == 1;
    let mut names = BTreeSet::new();
    let mut call = Call { func, args: Vec::with_capacity(raw.len()), keywords: vec![] };
    for RawArg { form, span } in raw {
        match *form {
            ArgForm::Plain(value) => {
                check_positional(cx, &call.keywords, span);
                call.args.push(value);
            }
            ArgForm::Generator(comp) => {
                if !alone {
                    let message = "a generator among other arguments needs parentheses";
                    cx.error(&syntax::BAD_ARGUMENTS, span, message, "put parentheses around it");
                }
                call.args.push(Expr { kind: ExprKind::Generator(Box::new(comp)), span });
            }
            ArgForm::Star(value) => {
                call.args.push(Expr { kind: ExprKind::Starred(Box::new(value)), span });
            }
            ArgForm::Keyword(name, value) => {
                if !names.insert(Arc::clone(&name.name)) {
                    let message = format!("the keyword argument `{name}` is given twice");
                    cx.error(&syntax::BAD_ARGUMENTS, name.span, message, "second time");
                }
                call.keywords.push(Keyword { name: Some(name), value, span });
            }
            ArgForm::DoubleStar(value) => call.keywords.push(Keyword { name: None, value, span }),
        }
    }
    cx.expr(lo, hi, ExprKind::Call(Box::new(call)))
}

fn check_positional(cx: &mut Cx<'_>, keywords: &[Keyword], span: Span) {
    if let Some(before) = keywords.last() {
        let error = Diagnostic::error(&syntax::BAD_ARGUMENTS, "a positional argument follows a keyword argument")
            .at(span, "positional")
            .at(before.span, "keyword argument before it")
            .help("move it before the keyword arguments, or give it its name");
        cx.report(error);
    }
}
