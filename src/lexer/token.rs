//! The words of the language and the automaton that finds them.
//!
//! Words of the same grammatical class share a token: every binary operator that is nothing else is a [`Tok::Op`],
//! every augmented assignment a [`Tok::Aug`]. That keeps the parser's tables small. Operators that also stand elsewhere
//! (`*`, `-`, `@`, `in`, …) have their own. Soft keywords (`match`, `type`, `_`, `print`) are plain names.

use logos::{Lexer, Logos};

use super::string;

/// A token of the file's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub tok: Tok,
    /// Byte offsets, half open.
    pub lo: u32,
    pub hi: u32,
}

/// A binary operator that has no other use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    FloorDiv,
    Mod,
    LShift,
    RShift,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
    Is,
    /// `is not`, joined by the parser's token feed.
    IsNot,
    /// `not in`, joined by the parser's token feed.
    NotIn,
    And,
    Or,
}

/// The operator of an augmented assignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AugOp {
    Add,
    Sub,
    Mul,
    MatMul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LShift,
    RShift,
    BitOr,
    BitXor,
    BitAnd,
}

/// What the automaton itself can find wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RawError {
    #[default]
    Character,
    /// A string in single quotes that the line's end cuts.
    String,
    /// A string in triple quotes that the file's end cuts.
    TripleString,
}

/// The kind of a token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(error = RawError)]
#[logos(skip r"[ \t\x0c]+")]
#[logos(skip(r"#[^\r\n]*", allow_greedy = true))]
#[logos(skip r"\\(\r\n|\n|\r)")]
pub enum Tok {
    /// A name or a soft keyword.
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*")]
    Name,
    #[regex(r"0[xX](_?[0-9a-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+|[0-9](_?[0-9])*")]
    Int,
    #[regex(r"([0-9](_?[0-9])*)?\.[0-9](_?[0-9])*([eE][+-]?[0-9](_?[0-9])*)?")]
    #[regex(r"[0-9](_?[0-9])*\.([eE][+-]?[0-9](_?[0-9])*)?")]
    #[regex(r"[0-9](_?[0-9])*[eE][+-]?[0-9](_?[0-9])*")]
    Float,
    #[regex(r"[0-9](_?[0-9])*[jJ]")]
    #[regex(r"([0-9](_?[0-9])*)?\.[0-9](_?[0-9])*([eE][+-]?[0-9](_?[0-9])*)?[jJ]")]
    #[regex(r"[0-9](_?[0-9])*\.([eE][+-]?[0-9](_?[0-9])*)?[jJ]")]
    #[regex(r"[0-9](_?[0-9])*[eE][+-]?[0-9](_?[0-9])*[jJ]")]
    Imaginary,
    /// A string or bytes literal without fields.
    #[regex(r#"([rRuUbB]|[bB][rR]|[rR][bB])?["']"#, plain_string)]
    Str,
    /// An f-string or a template string.
    #[regex(r#"([fFtT]|[fFtT][rR]|[rR][fFtT])["']"#, format_string)]
    FStr,

    #[token("and")]
    And,
    #[token("as")]
    As,
    #[token("assert")]
    Assert,
    #[token("async")]
    Async,
    #[token("await")]
    Await,
    #[token("break")]
    Break,
    #[token("class")]
    Class,
    #[token("continue")]
    Continue,
    #[token("def")]
    Def,
    #[token("del")]
    Del,
    #[token("elif")]
    Elif,
    #[token("else")]
    Else,
    #[token("except")]
    Except,
    #[token("False")]
    False,
    #[token("finally")]
    Finally,
    #[token("for")]
    For,
    #[token("from")]
    From,
    #[token("global")]
    Global,
    #[token("if")]
    If,
    #[token("import")]
    Import,
    #[token("in")]
    In,
    #[token("is")]
    Is,
    #[token("lambda")]
    Lambda,
    #[token("None")]
    None,
    #[token("nonlocal")]
    Nonlocal,
    #[token("not")]
    Not,
    #[token("or")]
    Or,
    #[token("pass")]
    Pass,
    #[token("raise")]
    Raise,
    #[token("return")]
    Return,
    #[token("True")]
    True,
    #[token("try")]
    Try,
    #[token("while")]
    While,
    #[token("with")]
    With,
    #[token("yield")]
    Yield,

    #[token("//", |_| Op::FloorDiv)]
    #[token("%", |_| Op::Mod)]
    #[token("<<", |_| Op::LShift)]
    #[token(">>", |_| Op::RShift)]
    #[token("|", |_| Op::BitOr)]
    #[token("^", |_| Op::BitXor)]
    #[token("&", |_| Op::BitAnd)]
    #[token("==", |_| Op::Eq)]
    #[token("!=", |_| Op::NotEq)]
    #[token("<", |_| Op::Lt)]
    #[token("<=", |_| Op::LtE)]
    #[token(">", |_| Op::Gt)]
    #[token(">=", |_| Op::GtE)]
    Op(Op),
    #[token("+=", |_| AugOp::Add)]
    #[token("-=", |_| AugOp::Sub)]
    #[token("*=", |_| AugOp::Mul)]
    #[token("@=", |_| AugOp::MatMul)]
    #[token("/=", |_| AugOp::Div)]
    #[token("//=", |_| AugOp::FloorDiv)]
    #[token("%=", |_| AugOp::Mod)]
    #[token("**=", |_| AugOp::Pow)]
    #[token("<<=", |_| AugOp::LShift)]
    #[token(">>=", |_| AugOp::RShift)]
    #[token("|=", |_| AugOp::BitOr)]
    #[token("^=", |_| AugOp::BitXor)]
    #[token("&=", |_| AugOp::BitAnd)]
    Aug(AugOp),

    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("**")]
    DoubleStar,
    #[token("/")]
    Slash,
    #[token("@")]
    At,
    #[token("~")]
    Tilde,
    #[token("=")]
    Assign,
    #[token(":=")]
    Walrus,
    #[token("->")]
    Arrow,
    #[token("...")]
    Ellipsis,
    #[token(".")]
    Dot,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,

    /// The end of a logical line. From the automaton itself, it is the end of a physical line.
    #[regex(r"\r\n|\n|\r")]
    Newline,
    Indent,
    Dedent,
    /// A fault. The [`super::LexError`] that starts at the same place says which.
    Error,
    /// Made by the parser to tell the grammar that an expression follows, not a line.
    StartExpr,
    /// Made by the parser after the last statement.
    End,
}

impl Tok {
    /// Whether the token opens a bracket.
    #[must_use]
    pub fn opens(self) -> bool {
        matches!(self, Tok::LParen | Tok::LBracket | Tok::LBrace)
    }

    /// The opening bracket that this closing bracket belongs to.
    #[must_use]
    pub fn opener(self) -> Option<Tok> {
        match self {
            Tok::RParen => Some(Tok::LParen),
            Tok::RBracket => Some(Tok::LBracket),
            Tok::RBrace => Some(Tok::LBrace),
            _ => None,
        }
    }

    /// Whether the token is a keyword (`if`, `None`, …), which cannot be a name.
    #[must_use]
    pub fn is_keyword(self) -> bool {
        matches!(
            self,
            Tok::And
                | Tok::As
                | Tok::Assert
                | Tok::Async
                | Tok::Await
                | Tok::Break
                | Tok::Class
                | Tok::Continue
                | Tok::Def
                | Tok::Del
                | Tok::Elif
                | Tok::Else
                | Tok::Except
                | Tok::False
                | Tok::Finally
                | Tok::For
                | Tok::From
                | Tok::Global
                | Tok::If
                | Tok::Import
                | Tok::In
                | Tok::Is
                | Tok::Lambda
                | Tok::None
                | Tok::Nonlocal
                | Tok::Not
                | Tok::Or
                | Tok::Pass
                | Tok::Raise
                | Tok::Return
                | Tok::True
                | Tok::Try
                | Tok::While
                | Tok::With
                | Tok::Yield
        )
    }

    /// Whether the token is a keyword that starts a statement and can never stand inside brackets.
    #[must_use]
    pub fn starts_statement(self) -> bool {
        matches!(
            self,
            Tok::Assert
                | Tok::Break
                | Tok::Class
                | Tok::Continue
                | Tok::Def
                | Tok::Del
                | Tok::Elif
                | Tok::Except
                | Tok::Finally
                | Tok::Global
                | Tok::Import
                | Tok::Nonlocal
                | Tok::Pass
                | Tok::Raise
                | Tok::Return
                | Tok::Try
                | Tok::While
                | Tok::With
        )
    }
}

/// Moves the automaton past the string whose prefix and first quote it has just matched.
fn plain_string(lex: &mut Lexer<'_, Tok>) -> Result<(), RawError> {
    finish_string(lex, false)
}

fn format_string(lex: &mut Lexer<'_, Tok>) -> Result<(), RawError> {
    finish_string(lex, true)
}

fn finish_string(lex: &mut Lexer<'_, Tok>, fields: bool) -> Result<(), RawError> {
    let open = string::Opening::of(lex.source(), lex.span().start);
    match string::end(lex.source(), &open, fields) {
        Ok(end) => {
            lex.bump(end - lex.span().end);
            Ok(())
        }
        Err(cut) => {
            lex.bump(cut - lex.span().end);
            Err(if open.triple { RawError::TripleString } else { RawError::String })
        }
    }
}
