//! Bounds that keep every recursion over a syntax tree shallow, and the measure of an expression's depth.
//!
//! The depth is bounded before the grammar sees a line, from its tokens alone: in every open bracket count the
//! operators, dots, opening brackets and other words that put one node on top of another; a comma starts the count of
//! its bracket anew, except for `lambda`, whose parameters hold commas. The sum over the open brackets is at least the
//! depth of the tree at that place.
//!
//! Example: in `f(a + b, -c)` the count is 1 at `(`, 2 at `+`, 1 again after the comma, 2 at `-`.

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::{Tok, Token};

/// How many blocks may stand in each other.
pub const MAX_BLOCK_DEPTH: u32 = 100;
/// How deep the tree of one expression may be.
pub const MAX_EXPRESSION_DEPTH: u32 = 500;
/// How many branches one `if` may have.
pub const MAX_BRANCHES: usize = 500;
/// How deep f-strings may stand in each other's fields.
pub const MAX_FSTRING_DEPTH: u32 = 4;
/// How many errors of a file are shown.
pub const MAX_ERRORS: usize = 50;
/// After how many errors the rest of a file is no longer read.
pub const GIVE_UP: usize = 1000;

/// What is said of an integer that Python takes, since its integers have any size.
pub(crate) const TOO_LARGE: &str = "the integer does not fit 128 bits";

/// Whether an error is a bound of this parser or of kernels, so that Python itself takes the text. It costs what it
/// stands in; it is no fault of host code.
#[must_use]
pub fn is_limit(error: &Diagnostic) -> bool {
    let code = error.code.id;
    code == syntax::TOO_DEEP.id || code == syntax::IMAGINARY.id || error.message == TOO_LARGE
}

/// The first token at which the expression is too deep.
pub(crate) fn too_deep(tokens: &[Token]) -> Option<Token> {
    if tokens.len() <= MAX_EXPRESSION_DEPTH as usize {
        return None;
    }
    let mut open: Vec<(u32, u32)> = vec![(0, 0)];
    let mut sum = 0u32;
    for token in tokens {
        let outermost = open.len() == 1;
        let top = open.last_mut().expect("the outermost level is never popped");
        let weight = match token.tok {
            Tok::Comma => {
                sum -= top.0 - top.1;
                top.0 = top.1;
                continue;
            }
            Tok::RParen | Tok::RBracket | Tok::RBrace => {
                if !outermost {
                    sum -= top.0;
                    open.pop();
                }
                continue;
            }
            Tok::Lambda => {
                top.1 += 1;
                1
            }
            t => u32::from(stacks(t)),
        };
        top.0 += weight;
        sum += weight;
        if sum > MAX_EXPRESSION_DEPTH {
            return Some(*token);
        }
        if token.tok.opens() {
            open.push((0, 0));
        }
    }
    None
}

/// Whether the token puts a node on top of another.
fn stacks(tok: Tok) -> bool {
    tok.opens()
        || matches!(
            tok,
            Tok::Op(_)
                | Tok::Plus
                | Tok::Minus
                | Tok::Star
                | Tok::DoubleStar
                | Tok::Slash
                | Tok::At
                | Tok::Tilde
                | Tok::Not
                | Tok::In
                | Tok::Is
                | Tok::And
                | Tok::Or
                | Tok::Dot
                | Tok::Else
                | Tok::Await
                | Tok::Yield
                | Tok::Walrus
        )
}
