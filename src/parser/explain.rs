//! Syntax errors in words that the author of a kernel understands.
//!
//! [`lexical`] is a table over the lexer's findings. [`unexpected`] gets the token the grammar refused and what it
//! would have taken; it first looks for common slips (`=` in a condition, `&&`, `x++`, a keyword as a name, a missing
//! comma) and otherwise says what was expected and what was found. Example: `if x = 1:` gives "an assignment cannot
//! stand in a condition" and the help "compare with `==`".

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::{LexError, LexErrorKind, Op, Tok, Token};

use super::cx::Cx;

/// Puts the lexer's findings in a line into words, one message for each fault. Of a pair of typographic quotes only the
/// first is reported, a bracket that another one seems to close is not also called unclosed, and NUL bytes are reported
/// once for the whole file.
pub(crate) fn faults<'a>(cx: &Cx<'_>, errors: impl IntoIterator<Item = &'a LexError>) -> Vec<Diagnostic> {
    let errors: Vec<&LexError> = errors.into_iter().collect();
    let mismatched = errors.iter().any(|e| matches!(e.kind, LexErrorKind::Mismatched(_)));
    let mut quoted = false;
    let told = errors.into_iter().filter(|e| match e.kind {
        LexErrorKind::Unclosed => !mismatched,
        // The whole file is searched for these.
        LexErrorKind::Conflict => false,
        LexErrorKind::Character => {
            let text = cx.slice(e.lo, e.hi);
            if text.starts_with(TYPOGRAPHIC) {
                quoted = !quoted;
                return quoted;
            }
            !text.starts_with('\0')
        }
        _ => true,
    });
    told.map(|e| lexical(cx, e)).collect()
}

const TYPOGRAPHIC: [char; 4] = ['“', '”', '‘', '’'];

/// Puts one finding of the lexer into words.
pub(crate) fn lexical(cx: &Cx<'_>, error: &LexError) -> Diagnostic {
    let span = cx.span(error.lo, error.hi);
    let text = cx.slice(error.lo, error.hi);
    match error.kind {
        LexErrorKind::Character => character(cx, error, text),
        LexErrorKind::String => Diagnostic::error(&syntax::UNTERMINATED_STRING, "the string is not closed on its line")
            .at(span, "starts here")
            .help("close it with the quote it opened with; a string over several lines needs three quotes"),
        LexErrorKind::TripleString => {
            let open = cx.span(error.lo, (error.lo + 3).min(error.hi));
            Diagnostic::error(
                &syntax::UNTERMINATED_STRING,
                "the triple-quoted string is not closed before the end of the file",
            )
            .at(open, "starts here")
            .help("everything after it was taken for the string's text; close it with the same three quotes")
        }
        LexErrorKind::Unclosed => Diagnostic::error(&syntax::UNBALANCED_BRACKET, format!("`{text}` is never closed"))
            .at(span, "opened here")
            .help(format!("add `{}` where the expression ends", closer(text))),
        LexErrorKind::Mismatched(open) => {
            let open_text = cx.slice(open, open + 1);
            Diagnostic::error(&syntax::UNBALANCED_BRACKET, format!("`{text}` does not close `{open_text}`"))
                .at(span, format!("expected `{}`", closer(open_text)))
                .at(cx.span(open, open + 1), "opened here")
                .help(format!(
                    "close with `{}`, or look for a bracket between the two that is missing or too many",
                    closer(open_text)
                ))
        }
        LexErrorKind::Unopened => Diagnostic::error(&syntax::UNBALANCED_BRACKET, format!("`{text}` closes nothing"))
            .at(span, "no bracket is open here")
            .help("remove it, or add the bracket that it should close"),
        LexErrorKind::Dedent => Diagnostic::error(&syntax::INDENTATION, "the line is indented like no open block")
            .at(span, "less than the line before, and like no line above")
            .help("align it with the block it belongs to"),
        LexErrorKind::Tabs => Diagnostic::error(
            &syntax::INDENTATION,
            "tabs and spaces are mixed so that the block depends on a tab's width",
        )
        .at(span, "this indentation")
        .help("indent with spaces only"),
        LexErrorKind::Conflict => conflict(cx, std::slice::from_ref(error)),
    }
}

/// The merge conflicts among the lexer's findings: one message for each, which starts at `<<<<<<<` and goes on to the
/// next one.
pub(crate) fn conflicts(cx: &Cx<'_>, errors: &[LexError]) -> Vec<Diagnostic> {
    let markers: Vec<LexError> = errors.iter().filter(|e| e.kind == LexErrorKind::Conflict).copied().collect();
    let opens = |e: &LexError| cx.slice(e.lo, e.hi).starts_with('<');
    markers.chunk_by(|_, next| !opens(next)).map(|all| conflict(cx, all)).collect()
}

fn conflict(cx: &Cx<'_>, markers: &[LexError]) -> Diagnostic {
    let error = Diagnostic::error(&syntax::MERGE_CONFLICT, "the file holds a merge conflict that nobody has resolved");
    let labelled = markers.iter().enumerate().fold(error, |error, (i, marker)| {
        let text = match cx.slice(marker.lo, marker.hi).chars().next() {
            _ if i == 0 => "this line marks it",
            Some('>') => "it ends here",
            Some('|') => "what both versions come from",
            _ => "the other version starts here",
        };
        error.at(cx.span(marker.lo, marker.hi), text)
    });
    labelled.help("keep one of the versions and remove the lines of `<`, `=` and `>`")
}

fn closer(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

fn character(cx: &Cx<'_>, error: &LexError, text: &str) -> Diagnostic {
    let first = text.chars().next().unwrap_or(' ');
    let span = cx.span(error.lo, error.lo + first.len_utf8() as u32);
    let foreign =
        |message: &str, help: &str| Diagnostic::error(&syntax::FOREIGN_OPERATOR, message).at(span, "here").help(help);
    match first {
        '!' => foreign("`!` is not an operator", "negation is written `not`, inequality `!=`"),
        '?' => foreign("`?` is not an operator", "a conditional expression is written `a if condition else b`"),
        '“' | '”' | '‘' | '’' => {
            Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, format!("`{first}` is a typographic quote"))
                .at(span, "here")
                .help("strings are written with `\"` or `'`")
        }
        '\\' => Diagnostic::error(
            &syntax::UNEXPECTED_CHARACTER,
            "a backslash that joins lines must be the last character of its line",
        )
        .at(span, "something follows")
        .help("remove what follows it (a space, too), or put the expression in parentheses instead"),
        c if c.is_control() => Diagnostic::error(
            &syntax::UNEXPECTED_CHARACTER,
            format!("the control character U+{:04X} starts no word", c as u32),
        )
        .at(span, "here")
        .help("remove it: it often comes from copied text"),
        c if is_invisible(c) => Diagnostic::error(
            &syntax::UNEXPECTED_CHARACTER,
            format!("the invisible character U+{:04X} starts no word", c as u32),
        )
        .at(span, "here")
        .help("remove it: it often comes from copied text")
        .fix(span, if c.is_whitespace() { " " } else { "" }),
        c => {
            let error =
                Diagnostic::error(&syntax::UNEXPECTED_CHARACTER, format!("`{c}` starts no word of the language"))
                    .at(span, "here");
            match ascii(c) {
                Some(sign) => error.help(format!("write `{sign}`")).fix(span, sign),
                None => error.help("remove it, or put text in quotes"),
            }
        }
    }
}

/// Spaces other than the usual one, and characters without a shape.
fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// The sign of the language that a typographic one stands for.
fn ascii(c: char) -> Option<String> {
    let sign = match c {
        '–' | '—' | '−' | '‐' | '‑' => "-",
        '×' | '·' | '⋅' | '∗' => "*",
        '÷' | '∕' | '⁄' => "/",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '→' => "->",
        '，' | '、' => ",",
        '。' => ".",
        '【' => "[",
        '】' => "]",
        // The wide forms of ASCII's signs.
        '！'..='～' => return char::from_u32(c as u32 - 0xfee0).map(String::from),
        _ => return None,
    };
    Some(sign.to_owned())
}

/// Says why the grammar refused `found` (`None` is the end of the line) among `tokens`.
pub(crate) fn unexpected(
    cx: &Cx<'_>,
    tokens: &[Token],
    found: Option<(u32, Tok, u32)>,
    expected: &[String],
) -> Diagnostic {
    let end = tokens.last().map_or(0, |t| t.hi);
    let (lo, tok, hi) = found.unwrap_or((end, Tok::Newline, end));
    let index = tokens.partition_point(|t| t.lo < lo);
    let slip = Slip { cx, tokens, index, tok, lo, hi, expected };
    slip.find().unwrap_or_else(|| slip.plain())
}

/// The place of an error, for finding out what its author meant.
struct Slip<'a, 's> {
    cx: &'a Cx<'s>,
    tokens: &'a [Token],
    /// The index of the refused token.
    index: usize,
    tok: Tok,
    lo: u32,
    hi: u32,
    expected: &'a [String],
}

impl Slip<'_, '_> {
    fn expects(&self, terminal: &str) -> bool {
        self.expected.iter().any(|e| e.trim_matches('"') == terminal)
    }

    fn before(&self, back: usize) -> Option<Token> {
        self.tokens.get(self.index.checked_sub(back)?).copied()
    }

    /// Whether the refused token touches `before`.
    fn touches(&self, before: Token) -> bool {
        before.hi == self.lo
    }

    fn find(&self) -> Option<Diagnostic> {
        self.comment()
            .or_else(|| self.foreign())
            .or_else(|| self.assignment())
            .or_else(|| self.number())
            .or_else(|| self.keyword())
            .or_else(|| self.operand())
    }

    fn error(&self, code: &'static crate::diag::Code, message: impl Into<String>, label: &str) -> Diagnostic {
        Diagnostic::error(code, message).at(self.cx.span(self.lo, self.hi), label)
    }

    /// Explains comments of other languages: `// text` and `/* text */`.
    fn comment(&self) -> Option<Diagnostic> {
        let starts = self.tok == Tok::Op(Op::FloorDiv) || self.cx.slice(self.lo, self.hi + 1) == "/*";
        let divides = self.tokens[..self.index].iter().any(|t| t.tok == Tok::Op(Op::FloorDiv));
        let words = self.tok == Tok::Name && self.before(1).is_some_and(|t| t.tok == Tok::Name) && divides;
        let is_comment = words || (starts && self.index == 0);
        is_comment.then(|| self.plain().help("a comment begins with `#`; `//` divides, rounding down"))
    }

    /// Explains operators of other languages.
    fn foreign(&self) -> Option<Diagnostic> {
        let last = self.before(1)?;
        let (written, help) = match (last.tok, self.tok) {
            (Tok::Op(Op::BitAnd), Tok::Op(Op::BitAnd)) if self.touches(last) => {
                ("&&", "write `and`, or `&` for tensors")
            }
            (Tok::Op(Op::BitOr), Tok::Op(Op::BitOr)) if self.touches(last) => ("||", "write `or`, or `|` for tensors"),
            (Tok::Op(Op::Lt), Tok::Op(Op::Gt)) if self.touches(last) => ("<>", "write `!=`"),
            (Tok::Op(Op::Eq), Tok::Assign) if self.touches(last) => ("===", "write `==`, or `is` for identity"),
            (Tok::Else, Tok::If) => ("else if", "write `elif`"),
            (Tok::Plus, _) if self.before(2).is_some_and(|t| t.tok == Tok::Plus && t.hi == last.lo) => {
                ("++", "write `+= 1`")
            }
            (Tok::Minus, _) if self.before(2).is_some_and(|t| t.tok == Tok::Minus && t.hi == last.lo) => {
                ("--", "write `-= 1`")
            }
            _ => return None,
        };
        let lo = if matches!(last.tok, Tok::Plus | Tok::Minus) { last.lo - 1 } else { last.lo };
        let hi = if matches!(last.tok, Tok::Plus | Tok::Minus) { last.hi } else { self.hi };
        let error = Diagnostic::error(&syntax::FOREIGN_OPERATOR, format!("`{written}` is not part of the language"));
        let error = error.at(self.cx.span(lo, hi), "here").help(help);
        Some(match help.split('`').nth(1).filter(|_| !matches!(written, "++" | "--")) {
            Some(instead) => error.fix(self.cx.span(lo, hi), instead),
            None => error,
        })
    }

    fn assignment(&self) -> Option<Diagnostic> {
        let condition = matches!(self.tokens.first()?.tok, Tok::If | Tok::Elif | Tok::While | Tok::Assert);
        if self.tok != Tok::Assign || !self.before(1).is_some_and(|t| ends_operand(t.tok)) {
            return None;
        }
        let (message, help) = if condition {
            ("an assignment cannot stand in a condition", "compare with `==`")
        } else {
            ("an assignment cannot stand inside an expression", "compare with `==`; inside parentheses, `:=` assigns")
        };
        let error = self.error(&syntax::ASSIGNMENT_IN_EXPRESSION, message, "`=` here").help(help);
        Some(error.fix(self.cx.span(self.lo, self.hi), "=="))
    }

    /// Explains a number that runs into something else: `12ab`, `1__0`, `0x`.
    fn number(&self) -> Option<Diagnostic> {
        let last = self.before(1)?;
        let glued = matches!(last.tok, Tok::Int | Tok::Float | Tok::Imaginary) && self.touches(last);
        if !glued || !matches!(self.tok, Tok::Name | Tok::Int | Tok::Float | Tok::Imaginary) {
            return None;
        }
        let text = self.cx.slice(last.lo, self.hi);
        let (number, rest) = (self.cx.slice(last.lo, last.hi), self.cx.slice(self.lo, self.hi));
        let help = match rest.to_ascii_lowercase().as_str() {
            "f" | "l" | "u" | "ul" | "ll" | "ull" | "h" | "d" => format!("numbers have no suffix: write `{number}`"),
            "e" => format!("an exponent needs digits, as in `{number}e5`"),
            word if number == "0" && word.starts_with('x') => "hexadecimal digits are 0 to 9 and a to f".to_owned(),
            word if number == "0" && word.starts_with('b') => "binary digits are 0 and 1".to_owned(),
            word if number == "0" && word.starts_with('o') => "octal digits are 0 to 7".to_owned(),
            _ => "put an operator between the number and the name; names start with a letter".to_owned(),
        };
        let error = Diagnostic::error(&syntax::BAD_NUMBER, format!("`{text}` is not a number"));
        Some(error.at(self.cx.span(last.lo, self.hi), "neither a number nor a name").help(help))
    }

    fn keyword(&self) -> Option<Diagnostic> {
        // In `f(x, lambda)` neither a parameter nor a colon follows, so no function is meant.
        if let Some(last) = self.before(1).filter(|t| t.tok == Tok::Lambda)
            && !matches!(self.tok, Tok::Name | Tok::Colon | Tok::Star | Tok::DoubleStar)
        {
            return Some(keyword_as_name(self.cx, last.lo, last.hi));
        }
        let word = self.tok.is_keyword() || matches!(self.tok, Tok::Op(Op::Is | Op::And | Op::Or));
        if !word || !self.expects("name") {
            return None;
        }
        let after = self.tokens.get(self.index + 1).map(|t| t.tok);
        let binds = matches!(
            self.before(1).map(|t| t.tok),
            Some(Tok::Def | Tok::Dot | Tok::As | Tok::Import | Tok::Global | Tok::Nonlocal)
        );
        let bound = matches!(
            after,
            Some(Tok::Assign | Tok::Aug(_) | Tok::Comma | Tok::RParen | Tok::RBracket | Tok::Dot | Tok::Colon)
        );
        (binds || bound).then(|| keyword_as_name(self.cx, self.lo, self.hi))
    }

    /// Explains two operands with nothing between them.
    fn operand(&self) -> Option<Diagnostic> {
        let last = self.before(1)?;
        let operand =
            matches!(self.tok, Tok::Name | Tok::Int | Tok::Float | Tok::Str | Tok::FStr | Tok::LBrace | Tok::Lambda);
        if !operand || !ends_operand(last.tok) {
            return None;
        }
        let error = self.plain();
        if self.index == 1 && matches!(self.cx.slice(last.lo, last.hi), "print" | "exec") {
            return Some(error.help("a call needs parentheses around its arguments"));
        }
        let commas = self.expects(",") && (self.expects(")") || self.expects("]") || self.expects("}"));
        let heads = [Tok::If, Tok::Elif, Tok::Else, Tok::For, Tok::While, Tok::Def];
        if self.tok == Tok::LBrace && self.tokens.first().is_some_and(|t| heads.contains(&t.tok)) {
            return Some(
                error.help("a block begins with `:`, and its lines are indented: there are no braces around it"),
            );
        }
        Some(error.help(if commas {
            "a comma or an operator is missing before it"
        } else {
            "an operator is missing before it"
        }))
    }

    fn plain(&self) -> Diagnostic {
        let found = self.found();
        let error = self.error(
            &syntax::UNEXPECTED_TOKEN,
            format!("expected {}, found {found}", self.wanted()),
            "not expected here",
        );
        if self.tok == Tok::Colon && self.before(1).is_some_and(|t| matches!(t.tok, Tok::If | Tok::Elif | Tok::While)) {
            return error.help("the condition is missing");
        }
        error
    }

    fn found(&self) -> String {
        let text = self.cx.slice(self.lo, self.hi);
        match self.tok {
            Tok::Newline => "the end of the line".into(),
            Tok::Name => format!("the name `{text}`"),
            Tok::Int | Tok::Float | Tok::Imaginary => format!("the number `{text}`"),
            Tok::Str | Tok::FStr => "a string".into(),
            _ if text.is_empty() => "the end of the header".into(),
            _ => format!("`{text}`"),
        }
    }

    /// Says what could have stood there.
    fn wanted(&self) -> String {
        let mut words: Vec<&str> = vec![];
        if self.expects("int") {
            words.push("an expression");
        } else if self.expects("name") {
            words.push("a name");
        } else if self.expects("op") {
            words.push("an operator");
        }
        let marks = [")", "]", "}", ":", ",", "in", "import", "else", "->", "("];
        let quoted = ["`)`", "`]`", "`}`", "`:`", "`,`", "`in`", "`import`", "`else`", "`->`", "`(`"];
        let calls = self.expects("op");
        for (mark, word) in marks.iter().zip(quoted) {
            // After an operand, an opening parenthesis and `in` are always possible and never what was forgotten.
            let noise = (matches!(*mark, "(" | ",") && (calls || self.expects("int"))) || (*mark == "in" && calls);
            if self.expects(mark) && !(noise && !(*mark == "," && (words.len() > 1))) && words.len() < 4 {
                words.push(word);
            }
        }
        match words.split_last() {
            None => "the end of the line".into(),
            Some((only, [])) if *only == "an operator" => "an operator or the end of the line".into(),
            Some((only, [])) => (*only).into(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        }
    }
}

fn ends_operand(tok: Tok) -> bool {
    matches!(tok, Tok::Name | Tok::Int | Tok::Float | Tok::Str | Tok::FStr | Tok::RParen | Tok::RBracket | Tok::RBrace)
        || matches!(tok, Tok::None | Tok::True | Tok::False)
}

/// Explains a keyword in place of a name: `lambda = 1`.
pub(crate) fn keyword_as_name(cx: &Cx<'_>, lo: u32, hi: u32) -> Diagnostic {
    let text = cx.slice(lo, hi);
    Diagnostic::error(&syntax::KEYWORD_AS_NAME, format!("`{text}` is a keyword and cannot be a name"))
        .at(cx.span(lo, hi), "a name is expected here")
        .help(format!("choose another name, `{text}_` for example"))
}
