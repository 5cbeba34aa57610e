//! Declarative assembly formats: from the string in a dialect's table to a list of [`Elem`]s that the printer and the
//! parser interpret.
//!
//! The language is MLIR's:
//!
//! | in the string | in the text |
//! |---|---|
//! | `` `word` `` | that word or punctuation |
//! | ``` `` ``` | nothing, and no space either |
//! | `$name` | the operand (or operands), attribute or successor of that name |
//! | `attr-dict` | what other attributes there are, `{a = 1 : i32}`; with the word `attributes` before it: `attr-dict-with-keyword` |
//! | `type($name)`, `type(operands)`, `type(results)` | types; bare for operands whose constraint names one dialect type, unless `qualified(…)` |
//! | `functional-type(a, b)` | `(i32) -> f32` |
//! | `(… $name^ …)?`, `(…)? : (…)?` | only if `$name` is there; and what else |
//! | `oilist(a \| b)` | any of these, in any order |
//! | `custom<Name>(…)` | by a function of its own |
//!
//! As in MLIR, the places of spaces do not depend on the values, so they are computed here once: [`Elem::space`].
//! Example: ``"$src (`,` $mask^)? attr-dict `:` type($src)"`` reads and writes `%0, %1 {a} : f32`.

use std::sync::OnceLock;

use crate::ir::core::hash::Map;
use crate::ir::dialects::OpKind;
use crate::ir::dialects::constraints::constraints_print_bare;
use crate::ir::dialects::spec::{Arity, AttrKind, Format, OpSpec};

/// One piece of a format.
#[derive(Debug)]
pub struct Elem {
    /// Whether a space goes before it.
    pub space: bool,
    pub kind: ElemKind,
}

/// A set of operands or results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    Operand(usize),
    Result(usize),
    Operands,
    Results,
}

#[derive(Debug)]
pub enum ElemKind {
    Literal(&'static str),
    /// One group of operands, or all.
    Operands(Group),
    /// The attribute at this position of the table.
    Attr(usize),
    Successor(usize),
    /// The types of a group. With `bare`, the dialect type's name is left out.
    Types {
        of: Group,
        bare: bool,
    },
    FunctionType(Group, Group),
    AttrDict {
        keyword: bool,
    },
    Optional {
        anchor: Anchor,
        then: Vec<Elem>,
        otherwise: Vec<Elem>,
    },
    /// Alternatives, each starting with a literal, in any order and each at most once.
    AnyOf(Vec<(Anchor, Vec<Elem>)>),
    Custom(Custom),
}

/// What decides whether an optional part is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    Group(Group),
    Attr(usize),
}

/// The `custom<…>` directives, with operand groups and results by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Custom {
    /// Writes `[%dep]`, or `[]` if the operation gives a token.
    Token { dep: usize, token: usize },
    /// Writes `, %barrier[%pred]` for each barrier.
    Barriers { barriers: usize, preds: usize },
    /// Writes numbers with commas between them: a dense array without its brackets.
    Offsets(usize),
}

/// A format ready for use.
#[derive(Debug)]
pub struct Compiled {
    pub elems: Vec<Elem>,
    /// The attributes (by position in the table) that the format shows, and that the dictionary therefore leaves out.
    pub shown: Vec<usize>,
}

/// The compiled format of an operation. It is `None` if the operation has none.
#[must_use]
pub fn compiled(kind: OpKind) -> Option<&'static Compiled> {
    static ALL: OnceLock<Map<OpKind, Compiled>> = OnceLock::new();
    ALL.get_or_init(|| {
        OpKind::all()
            .filter_map(|k| Some((k, compile(k.spec())?.unwrap_or_else(|e| panic!("format of {}: {e}", k.name())))))
            .collect()
    })
    .get(&kind)
}

/// Compiles the format of one table entry. A fault is one of the table.
#[must_use]
pub fn compile(spec: &'static OpSpec) -> Option<Result<Compiled, String>> {
    let Format::Text(text) = spec.format else { return None };
    let mut c = Compiler { spec, rest: text, shown: vec![], space: true, punctuation: false };
    Some(c.elems(&[]).and_then(|elems| {
        if c.peek().is_empty() {
            Ok(Compiled { elems, shown: c.shown })
        } else {
            Err(format!("unexpected `{}`", c.rest))
        }
    }))
}

struct Compiler {
    spec: &'static OpSpec,
    rest: &'static str,
    shown: Vec<usize>,
    /// Whether the next piece wants a space before it.
    space: bool,
    /// Whether the last piece was punctuation.
    punctuation: bool,
}

type Res<T> = Result<T, String>;

impl Compiler {
    /// The next word of the format: a literal with its quotes, `$name`, a word, or one character.
    fn peek(&mut self) -> &'static str {
        self.rest = self.rest.trim_start();
        let text = self.rest;
        let word = |s: &str| s.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).unwrap_or(s.len());
        let len = match text.as_bytes().first() {
            None => 0,
            Some(b'`') => text[1..].find('`').map_or(text.len(), |i| i + 2),
            Some(b'$') => 1 + word(&text[1..]),
            Some(b) if b.is_ascii_alphabetic() => word(text),
            Some(_) => 1,
        };
        &text[..len]
    }

    fn next(&mut self) -> &'static str {
        let t = self.peek();
        self.rest = &self.rest[t.len()..];
        t
    }

    fn expect(&mut self, what: &str) -> Res<()> {
        let got = self.next();
        if got == what { Ok(()) } else { Err(format!("expected `{what}`, found `{got}`")) }
    }

    /// Reads elements up to one of the closing words.
    fn elems(&mut self, until: &[&str]) -> Res<Vec<Elem>> {
        let mut out = vec![];
        loop {
            let t = self.peek();
            if t.is_empty() || until.contains(&t) {
                return Ok(out);
            }
            if t == "``" {
                self.next();
                (self.space, self.punctuation) = (false, true);
                continue;
            }
            if let Some(e) = self.elem()? {
                out.push(e);
            }
        }
    }

    fn elem(&mut self) -> Res<Option<Elem>> {
        let t = self.next();
        if let Some(literal) = t.strip_prefix('`').and_then(|t| t.strip_suffix('`')) {
            return Ok(Some(self.literal(literal)));
        }
        match t {
            "(" => return self.optional().map(Some),
            "oilist" => return self.any_of().map(Some),
            "attr-dict" | "attr-dict-with-keyword" => {
                self.punctuation = false;
                return Ok(Some(Elem { space: false, kind: ElemKind::AttrDict { keyword: t != "attr-dict" } }));
            }
            "custom" => return self.custom().map(Some),
            _ => {}
        }
        let kind = match t {
            "operands" => ElemKind::Operands(Group::Operands),
            "functional-type" => {
                self.expect("(")?;
                let a = self.group()?;
                self.expect(",")?;
                let b = self.group()?;
                self.expect(")")?;
                ElemKind::FunctionType(a, b)
            }
            "qualified" => {
                self.expect("(")?;
                self.expect("type")?;
                let of = self.type_argument()?;
                self.expect(")")?;
                ElemKind::Types { of, bare: false }
            }
            "type" => {
                let of = self.type_argument()?;
                ElemKind::Types { of, bare: self.is_bare(of) }
            }
            _ => match self.variable(t)? {
                Some(kind) => kind,
                None => return Ok(None),
            },
        };
        let space = self.space || !self.punctuation;
        (self.space, self.punctuation) = (true, false);
        Ok(Some(Elem { space, kind }))
    }

    /// Reads `$name`. A unit attribute is shown by the literals around it.
    fn variable(&mut self, t: &str) -> Res<Option<ElemKind>> {
        let name = t.strip_prefix('$').ok_or_else(|| format!("unexpected `{t}`"))?;
        if let Ok(Group::Operand(i)) = self.named_group(name) {
            return Ok(Some(ElemKind::Operands(Group::Operand(i))));
        }
        let at = self.attr(name)?;
        Ok((!matches!(self.spec.attrs[at].kind, AttrKind::Unit)).then_some(ElemKind::Attr(at)))
    }

    fn attr(&mut self, name: &str) -> Res<usize> {
        let at = self
            .spec
            .attrs
            .iter()
            .position(|a| a.name == name)
            .ok_or_else(|| format!("no operand or attribute `{name}`"))?;
        self.shown.push(at);
        Ok(at)
    }

    fn named_group(&self, name: &str) -> Res<Group> {
        let find = |specs: &[crate::ir::dialects::spec::OperandSpec]| specs.iter().position(|s| s.name == name);
        match (find(self.spec.operands), find(self.spec.results)) {
            (Some(i), _) => Ok(Group::Operand(i)),
            (_, Some(i)) => Ok(Group::Result(i)),
            _ => Err(format!("no operand or result `{name}`")),
        }
    }

    fn group(&mut self) -> Res<Group> {
        match self.next() {
            "operands" => Ok(Group::Operands),
            "results" => Ok(Group::Results),
            t => self.named_group(t.trim_start_matches('$')),
        }
    }

    fn type_argument(&mut self) -> Res<Group> {
        self.expect("(")?;
        let of = self.group()?;
        self.expect(")")?;
        Ok(of)
    }

    /// Whether MLIR writes the type of this group without its name: its constraint is exactly one dialect type.
    fn is_bare(&self, of: Group) -> bool {
        let spec = match of {
            Group::Operand(i) => &self.spec.operands[i],
            Group::Result(i) => &self.spec.results[i],
            _ => return false,
        };
        spec.arity == Arity::One && constraints_print_bare(spec.constraint)
    }

    fn literal(&mut self, text: &'static str) -> Elem {
        let space = self.space && space_before(text, self.punctuation);
        self.space = text.len() != 1 || !"<({[".contains(text);
        self.punctuation = !text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        Elem { space, kind: ElemKind::Literal(text) }
    }

    /// Reads what follows `(`: `… $anchor^ …)?`, perhaps followed by `: (…)?`.
    fn optional(&mut self) -> Res<Elem> {
        let (then, anchor) = self.anchored(")")?;
        self.expect(")")?;
        self.expect("?")?;
        let mut otherwise = vec![];
        if self.peek() == ":" {
            self.next();
            self.expect("(")?;
            otherwise = self.elems(&[")"])?;
            self.expect(")")?;
            self.expect("?")?;
        }
        let anchor = anchor.ok_or("an optional part without an anchor")?;
        Ok(Elem { space: false, kind: ElemKind::Optional { anchor, then, otherwise } })
    }

    /// Reads elements up to `until`, and gives the one marked with `^`.
    fn anchored(&mut self, until: &'static str) -> Res<(Vec<Elem>, Option<Anchor>)> {
        let (mut out, mut anchor) = (vec![], None);
        while self.peek() != until {
            if self.peek().is_empty() {
                return Err(format!("missing `{until}`"));
            }
            if self.peek() == "``" {
                self.next();
                (self.space, self.punctuation) = (false, true);
                continue;
            }
            let before = self.shown.len();
            let elem = self.elem()?;
            if self.peek() == "^" {
                self.next();
                anchor = match &elem {
                    None => self.shown[before..].first().map(|&a| Anchor::Attr(a)),
                    Some(e) => anchor_of(&e.kind),
                };
            }
            out.extend(elem);
        }
        Ok((out, anchor))
    }

    fn any_of(&mut self) -> Res<Elem> {
        self.expect("(")?;
        let mut clauses = vec![];
        loop {
            let before = self.shown.len();
            let elems = self.elems(&["|", ")"])?;
            let shown = self.shown[before..].first().map(|&a| Anchor::Attr(a));
            let anchor =
                elems.iter().find_map(|e| anchor_of(&e.kind)).or(shown).ok_or("an alternative without a variable")?;
            clauses.push((anchor, elems));
            if self.next() == ")" {
                return Ok(Elem { space: false, kind: ElemKind::AnyOf(clauses) });
            }
        }
    }

    /// Reads `custom<Name>($a, $b)`. What the directive writes begins with its own spaces.
    fn custom(&mut self) -> Res<Elem> {
        self.expect("<")?;
        let name = self.next();
        self.expect(">")?;
        self.expect("(")?;
        let mut args = vec![];
        loop {
            let t = self.next();
            args.push(if t == "type" { self.type_argument()? } else { self.custom_argument(t)? });
            if self.next() == ")" {
                break;
            }
        }
        let custom = match (name, args.as_slice()) {
            ("Token", &[Group::Operand(dep), Group::Result(token)]) => Custom::Token { dep, token },
            ("BarriersAndPreds", &[Group::Operand(barriers), Group::Operand(preds)]) => {
                Custom::Barriers { barriers, preds }
            }
            ("Offsets", &[Group::Operand(_)]) => {
                Custom::Offsets(*self.shown.last().ok_or("custom<Offsets> of no attribute")?)
            }
            _ => return Err(format!("unknown directive custom<{name}>")),
        };
        let space = self.space || !self.punctuation;
        (self.space, self.punctuation) = (true, false);
        Ok(Elem { space, kind: ElemKind::Custom(custom) })
    }

    /// Reads an argument of a directive. An attribute is noted as shown and stands for itself.
    fn custom_argument(&mut self, t: &str) -> Res<Group> {
        let name = t.trim_start_matches('$');
        self.named_group(name).or_else(|_| self.attr(name).map(Group::Operand))
    }
}

fn anchor_of(kind: &ElemKind) -> Option<Anchor> {
    match kind {
        ElemKind::Operands(g) | ElemKind::Types { of: g, .. } => Some(Anchor::Group(*g)),
        ElemKind::Attr(a) => Some(Anchor::Attr(*a)),
        _ => None,
    }
}

/// Whether a literal is set off from what stands before it.
fn space_before(text: &str, after_punctuation: bool) -> bool {
    if text.len() != 1 && text != "->" {
        return true;
    }
    let closing = if after_punctuation { ">)}]," } else { "<>(){}[]," };
    !text.starts_with(|c| closing.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_the_tables_compiles() {
        for kind in OpKind::all() {
            if let Some(Err(e)) = compile(kind.spec()) {
                panic!("{}: {e}", kind.name());
            }
        }
    }
}
