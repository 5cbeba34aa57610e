//! Finds the top-level names that a file changes in ways that nobody here follows, so that what they were bound to is
//! not their value.
//!
//! The file is never executed, and the front end follows its assignments one by one. That is right for what runs once,
//! in order. It is not for these, which the walk over the file's tokens finds:
//!
//! 1. At the top level: `X[i] = v`, `X.a = v`, `X.append(v)` and its kin, also behind `X[i]` and `X.a`, `del X`,
//!    `with … as X`, `globals()["X"] = v`. Hooks of configurations (`X.pre_hook = f`) are none.
//! 2. In a loop or a `match` of the top level: each assignment too, and what a `for` counts.
//! 3. In a function or a method: what it declares `global`, and the changes of 1 to a name that is not its own.
//! 4. `for c in X:` with a change of `c` inside changes `X`, and `for c in [X, Y]:` both.
//!
//! The same changes of what belongs to a function or a class are kept for each of them.
//!
//! It does not matter whether such a function is ever called, or how often such a loop runs. The changes throw doubt on
//! values only: a function that is called `X` stays one.
//!
//! Example: `N = 1` and `def setup(): global N; N = 2` make `N` unknown; `-D N=2` says what it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::lexer::{Lexed, Tok, Token};

/// Methods that change what they are called on.
const CHANGING: [&str; 14] = [
    "add",
    "append",
    "clear",
    "discard",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
    "__setitem__",
];

/// For each name, the place (byte offsets) of the first such change.
pub(super) type Changed = BTreeMap<String, (u32, u32)>;

/// What changes.
pub(super) struct Changes {
    pub(super) file: Changed,
    /// The names of functions and classes, by the place of `def` or `class`.
    pub(super) inner: BTreeMap<u32, Changed>,
}

/// Finds the changes of a file.
#[must_use]
pub(super) fn changes(text: &str, lexed: &Lexed) -> Changes {
    let mut walk = Walk {
        text,
        blocks: vec![Block::new(Kind::Once, 0)],
        found: BTreeMap::new(),
        inner: BTreeMap::new(),
        over: BTreeMap::new(),
        header: 0,
    };
    let (mut line, mut next) = (vec![], None);
    for &token in &lexed.tokens {
        match token.tok {
            Tok::Newline | Tok::End => next = walk.line(&std::mem::take(&mut line)),
            Tok::Indent => {
                let kind = next.take().unwrap_or(Kind::Once);
                walk.blocks.push(Block::new(kind, walk.header));
            }
            Tok::Dedent => walk.close(),
            _ => line.push(token),
        }
    }
    while walk.blocks.len() > 1 {
        walk.close();
    }
    Changes { file: walk.found, inner: walk.inner }
}

/// How often the statements of a block run, and whose names they bind.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    /// As often as the statements around the block.
    Once,
    Repeated,
    /// A function, with the names of its parameters.
    Function(BTreeSet<String>),
    Class,
}

/// A block that is open.
struct Block {
    kind: Kind,
    /// Where its header begins.
    at: u32,
    /// Names that the block of a function or a class binds, and those that it declares `global`.
    own: BTreeSet<String>,
    global: BTreeSet<String>,
    /// Changes that concern the block's own variable if it turns out to own the name.
    changed: Vec<(String, (u32, u32))>,
}

impl Block {
    fn new(kind: Kind, at: u32) -> Block {
        let own = if let Kind::Function(parameters) = &kind { parameters.clone() } else { BTreeSet::new() };
        Block { kind, at, own, global: BTreeSet::new(), changed: vec![] }
    }
}

struct Walk<'a> {
    text: &'a str,
    blocks: Vec<Block>,
    found: Changed,
    inner: BTreeMap<u32, Changed>,
    /// The variables of loops, each with the names in what its loop runs over.
    over: BTreeMap<String, Vec<Token>>,
    /// Where the last header began.
    header: u32,
}

impl<'a> Walk<'a> {
    fn word(&self, token: Token) -> &'a str {
        &self.text[token.lo as usize..token.hi as usize]
    }

    /// Closes a block. What a function or a class changes and does not own belongs to the function around it, or to
    /// the file.
    fn close(&mut self) {
        let Some(block) = self.blocks.pop() else { return };
        for (name, at) in block.changed {
            if block.own.contains(&name) && !block.global.contains(&name) {
                self.inner.entry(block.at).or_default().entry(name).or_insert(at);
            } else if let Some(function) = self.function().filter(|_| !block.global.contains(&name)) {
                function.changed.push((name, at));
            } else {
                self.found.entry(name).or_insert(at);
            }
        }
    }

    /// The innermost open function.
    fn function(&mut self) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|b| matches!(b.kind, Kind::Function(_)))
    }

    /// The innermost open function or class.
    fn scope(&mut self) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|b| matches!(b.kind, Kind::Function(_) | Kind::Class))
    }

    /// Notes that a name is changed here.
    fn note(&mut self, name: String, at: (u32, u32)) {
        match self.scope() {
            Some(scope) => scope.changed.push((name, at)),
            None => {
                self.found.entry(name).or_insert(at);
            }
        }
    }

    fn change(&mut self, name: Token) {
        self.note(self.word(name).to_owned(), (name.lo, name.hi));
    }

    /// Notes that a value is changed in place, and with it the lists over whose items a loop with this variable runs.
    fn change_in_place(&mut self, name: Token) {
        self.change(name);
        for list in self.over.get(self.word(name)).cloned().unwrap_or_default() {
            self.change(list);
        }
    }

    /// Notes that a name is assigned here.
    fn bind(&mut self, name: Token) {
        let word = self.word(name).to_owned();
        let repeated = self.blocks.iter().any(|b| b.kind == Kind::Repeated);
        let mut is_function = false;
        if let Some(scope) = self.scope() {
            is_function = scope.kind != Kind::Class;
            scope.own.insert(word);
        }
        if repeated && !is_function {
            self.change(name);
        }
    }

    fn bind_all(&mut self, targets: &[Token]) {
        for &name in targets.iter().filter(|t| t.tok == Tok::Name) {
            self.bind(name);
        }
    }

    /// Reads one logical line. Returns the kind of the block that follows, if the line opens one.
    fn line(&mut self, line: &[Token]) -> Option<Kind> {
        let (header, rest, kind) = self.split_header(line);
        if let Some(kind) = &kind {
            self.header = header.first().map_or(0, |t| t.lo);
            if *kind == Kind::Repeated {
                self.blocks.push(Block::new(Kind::Repeated, self.header));
                self.header_binds(header);
                self.close();
            } else if header.first().is_some_and(|t| t.tok == Tok::With) {
                self.header_binds(header);
            }
            self.blocks.push(Block::new(kind.clone(), self.header));
        }
        for statement in rest.split(|t| t.tok == Tok::Semicolon).filter(|s| !s.is_empty()) {
            self.statement(statement);
        }
        if kind.is_some() {
            self.close();
        }
        kind
    }

    /// Cuts a line into the header of a compound statement, with the kind of its block, and the statements behind it.
    fn split_header<'t>(&self, line: &'t [Token]) -> (&'t [Token], &'t [Token], Option<Kind>) {
        let lead = line.iter().take_while(|t| t.tok == Tok::Async).count();
        let Some(first) = line.get(lead) else { return (&[], line, None) };
        let kind = match first.tok {
            Tok::For | Tok::While => Kind::Repeated,
            Tok::Def => Kind::Function(self.parameters(line)),
            Tok::Class => Kind::Class,
            Tok::If | Tok::Elif | Tok::Else | Tok::Try | Tok::Except | Tok::Finally | Tok::With => Kind::Once,
            Tok::Name
                if matches!(self.word(*first), "match" | "case")
                    && line.last().is_some_and(|t| t.tok == Tok::Colon) =>
            {
                Kind::Repeated
            }
            _ => return (&[], line, None),
        };
        let colon = at_depth_zero(line).find(|&i| line[i].tok == Tok::Colon).unwrap_or(line.len());
        let behind = (colon + 1).min(line.len());
        (&line[lead..colon], &line[behind..], Some(kind))
    }

    /// The parameters of `def f(a, b: T = 1, *c):`.
    fn parameters(&self, line: &[Token]) -> BTreeSet<String> {
        let mut depth = 0;
        let mut names = BTreeSet::new();
        for pair in line.windows(2) {
            match pair[0].tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace => depth += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace => depth -= 1,
                _ => {}
            }
            let starts = matches!(pair[0].tok, Tok::LParen | Tok::Comma | Tok::Star | Tok::DoubleStar);
            if depth == 1 && starts && pair[1].tok == Tok::Name {
                names.insert(self.word(pair[1]).to_owned());
            }
        }
        names
    }

    /// Notes what `for X, Y in` and `with … as X` bind.
    fn header_binds(&mut self, header: &[Token]) {
        match header.first().map(|t| t.tok) {
            Some(Tok::For) => {
                let end = header.iter().position(|t| t.tok == Tok::In).unwrap_or(header.len());
                self.bind_all(&header[1..end]);
                let lists = self.names_in(header.get(end..).unwrap_or(&[]));
                for &item in header[1..end].iter().filter(|t| t.tok == Tok::Name) {
                    self.over.insert(self.word(item).to_owned(), lists.clone());
                }
            }
            Some(Tok::With) => {
                // Nobody knows what a context manager gives, so it does not matter how often this runs.
                for pair in header.windows(2).filter(|p| p[0].tok == Tok::As && p[1].tok == Tok::Name) {
                    self.bind(pair[1]);
                    self.change(pair[1]);
                }
            }
            _ => {}
        }
    }

    fn statement(&mut self, statement: &[Token]) {
        match statement[0].tok {
            Tok::Global => {
                for &name in statement.iter().filter(|t| t.tok == Tok::Name) {
                    let word = self.word(name).to_owned();
                    if let Some(function) = self.function() {
                        function.global.insert(word.clone());
                        function.changed.push((word, (name.lo, name.hi)));
                    }
                }
            }
            Tok::Del => {
                for i in at_depth_zero(statement).filter(|&i| statement[i].tok == Tok::Name) {
                    self.change(statement[i]);
                }
            }
            _ => self.assignment_or_call(statement),
        }
    }

    fn assignment_or_call(&mut self, statement: &[Token]) {
        let mut start = 0;
        for sign in at_depth_zero(statement).filter(|&i| matches!(statement[i].tok, Tok::Assign | Tok::Aug(_))) {
            self.target(&statement[start..sign]);
            start = sign + 1;
        }
        if let Some(&name) = statement.first().filter(|t| t.tok == Tok::Name)
            && self.calls_a_change(&statement[1..])
        {
            self.change_in_place(name);
        }
    }

    /// Whether one of the calls in `[0].a.append(x)`, which stands behind a name, changes something.
    fn calls_a_change(&self, mut rest: &[Token]) -> bool {
        let mut method = None;
        while let Some(first) = rest.first() {
            match (first.tok, rest.get(1)) {
                (Tok::Dot, Some(name)) if name.tok == Tok::Name => {
                    method = Some(self.word(*name));
                    rest = &rest[2..];
                }
                (Tok::LParen, _) if method.is_some_and(|m| CHANGING.contains(&m)) => return true,
                (Tok::LParen | Tok::LBracket, _) => {
                    let is_closing = |t: &Token| matches!(t.tok, Tok::RParen | Tok::RBracket | Tok::RBrace);
                    let mut depth = 0_u32;
                    let end = rest.iter().position(|t| {
                        match t.tok {
                            Tok::LParen | Tok::LBracket | Tok::LBrace => depth += 1,
                            _ if is_closing(t) => depth = depth.saturating_sub(1),
                            _ => {}
                        }
                        depth == 0
                    });
                    rest = end.map_or(&[], |end| &rest[end + 1..]);
                    method = None;
                }
                _ => return false,
            }
        }
        false
    }

    /// The names of an expression: no attributes, and nothing that is called.
    fn names_in(&self, tokens: &[Token]) -> Vec<Token> {
        let is_at = |i: usize, tok: Tok| tokens.get(i).is_some_and(|t| t.tok == tok);
        let is_name = |i: &usize| {
            tokens[*i].tok == Tok::Name && !is_at(i.wrapping_sub(1), Tok::Dot) && !is_at(i + 1, Tok::LParen)
        };
        (0..tokens.len()).filter(is_name).map(|i| tokens[i]).collect()
    }

    /// Notes what the left side of an assignment, with its annotation, binds.
    fn target(&mut self, target: &[Token]) {
        let end = at_depth_zero(target).find(|&i| target[i].tok == Tok::Colon).unwrap_or(target.len());
        let target = &target[..end];
        let kinds: Vec<Tok> = target.iter().map(|t| t.tok).collect();
        match kinds.as_slice() {
            [Tok::Name, Tok::LParen, Tok::RParen, Tok::LBracket, Tok::Str, Tok::RBracket]
                if self.word(target[0]) == "globals" =>
            {
                let name = self.word(target[4]).trim_matches(['"', '\'']).to_owned();
                self.found.entry(name).or_insert((target[4].lo, target[4].hi));
            }
            [Tok::Name, .., Tok::Dot, Tok::Name] if self.word(target[target.len() - 1]) == "pre_hook" => {}
            [Tok::Name, Tok::LBracket | Tok::Dot, ..] => self.change_in_place(target[0]),
            [_, Tok::Dot, ..] => {}
            _ => self.bind_all(target),
        }
    }
}

/// The places of a line that are inside no bracket.
fn at_depth_zero(line: &[Token]) -> impl Iterator<Item = usize> {
    let mut depth = 0_u32;
    line.iter().enumerate().filter_map(move |(i, t)| match t.tok {
        Tok::LParen | Tok::LBracket | Tok::LBrace => {
            depth += 1;
            (depth == 1).then_some(i)
        }
        Tok::RParen | Tok::RBracket | Tok::RBrace => {
            depth = depth.saturating_sub(1);
            None
        }
        _ => (depth == 0).then_some(i),
    })
}

#[cfg(test)]
mod tests {
    use super::changes;
    use crate::lexer::lex;

    /// The names that a file changes, in order.
    fn names(text: &str) -> String {
        changes(text, &lex(text)).file.into_keys().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_runs_once_in_order_is_followed() {
        assert_eq!(
            names("A = 1\nA += 2\nif x:\n    A = 3\ntry:\n    B = 1\nexcept E:\n    B = 2\nwith f():\n    C = A\n"),
            ""
        );
        assert_eq!(names("class K:\n    A = 1\n    A = 2\n"), "");
    }

    #[test]
    fn values_that_change_in_place_are_not() {
        let text = "A[0] = 2\nB.append(3)\ndel C\nglobals()['D'] = 1\nwith f() as E: pass\nF: list; F[1]: int = 2\nG.H = 3; I.index(2)\n";
        assert_eq!(names(text), "A B C D E F G");
    }

    #[test]
    fn loops_and_matches_run_any_number_of_times() {
        assert_eq!(names("for A, (B, C) in x:\n    D = 1\n    if y:\n        E += 1\n"), "A B C D E");
        assert_eq!(names("while x: F = 1\nmatch x:\n    case 1:\n        G = 1\nmatch = 3\n"), "F G");
    }

    #[test]
    fn items_of_a_loop_change_the_list() {
        let changed = |body: &str| names(&format!("for c in X:\n    {body}\n"));
        for body in ["c.num_warps = 1", "c[0] = 1", "c.kwargs['B'] = 1", "c.append(1)", "c.kwargs.update(d)"] {
            assert_eq!(changed(body), "X c", "{body}");
        }
        for body in ["c.pre_hook = f", "print(c.kwargs)", "d = c.kwargs"] {
            assert!(!changed(body).contains('X'), "{body}");
        }
    }

    #[test]
    fn functions_change_what_is_not_their_own() {
        assert_eq!(
            names(
                "def f(A, *B, C: D = E, **F):\n    A[0] = B[0] = C[0] = F[0] = 1\n    G = 1\n    G[0] = 2\n    D[0] = 1\n"
            ),
            "D"
        );
        assert_eq!(names("def f():\n    global A, B\n    A = 1\n"), "A B");
        assert_eq!(names("def f():\n    x = []\n    def g():\n        x.append(1)\n        y.append(1)\n"), "y");
        assert_eq!(
            names(
                "class K:\n    def f(self):\n        for i in r:\n            x[i] = 1\n    async def g(z): z.pop(); w.pop()\n"
            ),
            "w x"
        );
    }
}
