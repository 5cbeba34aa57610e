//! What the grammar makes of one logical line, and the raw forms that are checked before they become part of the tree.

use crate::parser::ast::{Comp, Expr, Ident, Param, StmtKind, WithItem};
use crate::source::Span;

/// A logical line, or the header of a compound statement.
#[derive(Debug)]
pub(crate) enum Line {
    /// An expression alone, asked for with `StartExpr`.
    Expr(Expr),
    Stmt(Box<StmtKind>),
    If(Expr),
    Elif(Expr),
    While(Expr),
    Else,
    For {
        target: Expr,
        iter: Expr,
    },
    With(Vec<WithItem>),
    Def {
        name: Ident,
        params: Vec<Param>,
        returns: Option<Expr>,
    },
    Decorator(Expr),
}

/// One item of a parameter list.
#[derive(Debug)]
pub(crate) struct RawParam {
    pub(crate) form: Box<ParamForm>,
    pub(crate) span: Span,
}

/// What an item is. The names carry their annotation and their default.
#[derive(Debug)]
pub(crate) enum ParamForm {
    Plain(Ident, Option<Expr>, Option<Expr>),
    Star,
    VarArgs(Ident, Option<Expr>),
    VarKwargs(Ident, Option<Expr>),
    Slash,
}

/// One item of an argument list.
#[derive(Debug)]
pub(crate) struct RawArg {
    pub(crate) form: Box<ArgForm>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum ArgForm {
    Plain(Expr),
    Generator(Comp),
    Keyword(Ident, Expr),
    Star(Expr),
    DoubleStar(Expr),
}
