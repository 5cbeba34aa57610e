//! Reads modules.
//!
//! This is a recursive-descent parser over [`super::lexer`]. This file has tokens, errors, limits, aliases, values and
//! their scopes, regions, blocks, and the generic form of operations. [`super::parse_types`], [`super::parse_attrs`],
//! [`super::parse_locs`], [`super::parse_format`] and [`super::custom_parse`] add the rest.
//!
//! 1. Lines that define aliases are found first. An alias is read when it is first used, so it may stand anywhere
//!    (Triton puts locations last).
//! 2. An operation is made and placed before its operands are read, so that its regions can be read straight into it.
//! 3. A value that is used before its definition is a placeholder of the type that the use states. It is replaced when
//!    the definition comes.
//! 4. An operation without `loc(…)` has the position in the text as its location.

use std::cell::OnceCell;

use super::lexer::{self, Tok, Token};
use super::marks::{self, Marks};
use crate::diag::codes::irtext as codes;
use crate::diag::{Code, Diagnostic};
use crate::ir::core::hash::{Map, Set};
use crate::ir::core::{Attr, Block, Ir, Loc, Op, OpState, Region, Type, Value};
use crate::ir::dialects::{BuiltinOp, OpKind, Traits};
use crate::source::{FileId, SourceMap, Span};

/// The options of reading.
#[derive(Clone, Copy, Debug)]
pub struct ParseOptions {
    /// Whether to keep operations of unknown dialects, in generic form.
    pub allow_unregistered: bool,
    /// Whether values without an explicit location keep the name that they have in the text.
    pub value_names: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { allow_unregistered: false, value_names: true }
    }
}

/// Reads the module in a file. Text without a `module` is taken as the contents of one.
///
/// # Errors
/// Says what is wrong with the text. The first fault ends the reading.
pub fn parse_module(map: &SourceMap, file: FileId, opts: &ParseOptions) -> Result<Ir, Vec<Diagnostic>> {
    let mut parser = Parser::new(map, file, *opts);
    match parser.file() {
        Ok(()) => Ok(parser.ir),
        Err(e) => Err(vec![*e]),
    }
}

pub(super) type Res<T> = Result<T, Box<Diagnostic>>;

/// The most levels of nesting, each of regions, types, attributes and locations.
const MAX_DEPTH: usize = 100;
/// The most parts of one type, attribute or location with its aliases written out.
const MAX_SIZE: usize = 4_000_000;

/// The meaning of an alias.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Attr(Attr),
    Type(Type),
    Loc(Loc),
}

enum Alias {
    /// The alias is not read yet. Its definition starts here.
    At(usize),
    /// The alias is being read.
    Open,
    /// The meaning, the depth, the size and the end of the definition.
    Known(Meaning, usize, usize, usize),
}

/// A value as an operand names it.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub number: usize,
    pub at: Token,
}

/// A block argument that a custom form declares.
pub(super) struct Declared<'a> {
    pub name: Named<'a>,
    pub ty: Type,
    pub loc: Loc,
}

/// The names of one region.
#[derive(Default)]
struct Scope<'a> {
    values: Map<&'a str, (Vec<Value>, Token)>,
    /// Whether nothing outside is visible.
    isolated: bool,
    /// The placeholders of an isolated scope, by name and number.
    forward: Map<(&'a str, usize), (Value, Token)>,
}

pub(super) struct Parser<'a> {
    pub(super) map: &'a SourceMap,
    file: FileId,
    pub(super) text: &'a str,
    pub(super) opts: ParseOptions,
    pub(super) tok: Token,
    pub(super) ir: Ir,
    aliases: Map<&'a str, Alias>,
    scopes: Vec<Scope<'a>>,
    /// The blocks of the open regions by label. The flag is `true` once the label was met.
    blocks: Vec<Map<&'a str, (Block, bool, Token)>>,
    /// All names of values in the text, found when somebody asks.
    value_words: OnceCell<Set<&'a str>>,
    depth: usize,
    deepest: usize,
    size: usize,
    nesting: usize,
    /// The places of names, if somebody wants them.
    pub(super) marks: Option<Marks>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(map: &'a SourceMap, file: FileId, opts: ParseOptions) -> Parser<'a> {
        let text: &str = &map.file(file).text;
        let loc = Loc::file(&map.remapped(&map.file(file).name), 1, 1);
        Parser {
            map,
            file,
            text,
            opts,
            tok: lexer::token(text, 0),
            ir: Ir::new(loc),
            aliases: Map::default(),
            scopes: vec![],
            blocks: vec![],
            value_words: OnceCell::new(),
            depth: 0,
            deepest: 0,
            size: 0,
            nesting: 0,
            marks: None,
        }
    }

    // ---- tokens and errors ----

    pub(super) fn word_of(&self, t: Token) -> &'a str {
        &self.text[t.start..t.end]
    }

    pub(super) fn word(&self) -> &'a str {
        self.word_of(self.tok)
    }

    pub(super) fn advance(&mut self) -> Token {
        let t = self.tok;
        self.tok = lexer::token(self.text, t.end);
        t
    }

    /// Goes to a byte of the text.
    pub(super) fn go_to(&mut self, at: usize) {
        self.tok = lexer::token(self.text, at);
    }

    /// Whether the current token is this punctuation or word.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.tok.kind, Tok::Punct | Tok::Word) && self.word() == text
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Res<Token> {
        if self.is(text) { Ok(self.advance()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    pub(super) fn span(&self, t: Token) -> Span {
        Span { file: self.file, lo: t.start as u32, hi: t.end as u32 }
    }

    pub(super) fn error_at(&self, code: &'static Code, t: Token, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(code, message).at(self.span(t), ""))
    }

    pub(super) fn syntax(&self, t: Token, message: impl Into<String>) -> Box<Diagnostic> {
        self.error_at(&codes::IR_SYNTAX, t, message)
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        let found = match self.tok.kind {
            Tok::End => "the end of the text".to_owned(),
            Tok::Bad if self.word() == "\"" => "a string without an end".to_owned(),
            _ => format!("`{}`", self.word().chars().take(60).collect::<String>()),
        };
        self.syntax(self.tok, format!("expected {wanted}, found {found}"))
    }

    /// Reads a list with commas between `open` and `close`.
    pub(super) fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        each: &mut dyn FnMut(&mut Self) -> Res<T>,
    ) -> Res<Vec<T>> {
        self.expect(open)?;
        let mut out = vec![];
        if self.eat(close) {
            return Ok(out);
        }
        loop {
            out.push(each(self)?);
            if self.eat(close) {
                return Ok(out);
            }
            if !self.eat(",") {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Reads a whole number with an optional minus.
    pub(super) fn integer(&mut self) -> Res<i64> {
        let (start, minus) = (self.tok, self.eat("-"));
        if self.tok.kind != Tok::Int {
            return Err(self.unexpected("an integer"));
        }
        let t = self.advance();
        let magnitude = self.magnitude(t)?;
        let value = if minus { -i128::from(magnitude) } else { i128::from(magnitude) };
        i64::try_from(value)
            .map_err(|_| self.error_at(&codes::IR_BAD_LITERAL, start, "this integer does not fit 64 bits"))
    }

    pub(super) fn magnitude(&self, t: Token) -> Res<u64> {
        let word = self.word_of(t);
        let parsed = word.strip_prefix("0x").map_or_else(|| word.parse(), |hex| u64::from_str_radix(hex, 16));
        parsed.map_err(|_| self.error_at(&codes::IR_BAD_LITERAL, t, "this integer does not fit 64 bits"))
    }

    pub(super) fn string(&mut self) -> Res<String> {
        if self.tok.kind != Tok::Str {
            return Err(self.unexpected("a string"));
        }
        let t = self.advance();
        lexer::unescape(self.word_of(t))
            .ok_or_else(|| self.error_at(&codes::IR_BAD_LITERAL, t, "this string has an unknown escape or is no UTF-8"))
    }

    /// Reads `@name`.
    pub(super) fn symbol(&mut self) -> Res<String> {
        if self.tok.kind != Tok::Symbol {
            return Err(self.unexpected("a symbol (`@name`)"));
        }
        let t = self.advance();
        let name = &self.word_of(t)[1..];
        if name.starts_with('"') {
            lexer::unescape(name).ok_or_else(|| {
                self.error_at(&codes::IR_BAD_LITERAL, t, "this symbol has an unknown escape or is no UTF-8")
            })
        } else {
            Ok(name.to_owned())
        }
    }

    // ---- limits ----

    /// Runs `f` one level deeper in a type, attribute or location.
    pub(super) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.depth += 1;
        self.size += 1;
        self.deepest = self.deepest.max(self.depth);
        self.check_limits()?;
        let result = f(self);
        // After a fault within an alias, the count is lower than it was on entry.
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            (self.deepest, self.size) = (0, 0);
        }
        result
    }

    fn check_limits(&self) -> Res<()> {
        if self.deepest > MAX_DEPTH || self.size > MAX_SIZE {
            return Err(self.error_at(
                &codes::IR_TOO_LARGE,
                self.tok,
                format!("this nests deeper than {MAX_DEPTH} levels or has more than {MAX_SIZE} parts"),
            ));
        }
        Ok(())
    }

    // ---- aliases ----

    /// Finds the lines `#name = …` and `!name = …`.
    fn find_aliases(&mut self) -> Res<()> {
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let start = at + (line.len() - line.trim_start().len());
            at += line.len();
            if !line.trim_start().starts_with(['#', '!']) {
                continue;
            }
            let name = lexer::token(self.text, start);
            let equals = lexer::token(self.text, name.end);
            if !matches!(name.kind, Tok::Hash | Tok::Bang) || self.word_of(equals) != "=" {
                continue;
            }
            if self.aliases.insert(self.word_of(name), Alias::At(equals.end)).is_some() {
                return Err(self.error_at(
                    &codes::IR_REDEFINED,
                    name,
                    format!("the alias `{}` is defined twice", self.word_of(name)),
                ));
            }
        }
        Ok(())
    }

    /// The meaning of the alias `name`, which `at` uses.
    pub(super) fn alias(&mut self, name: &'a str, at: Token) -> Res<Meaning> {
        let (meaning, depth, size) = match self.aliases.get(name) {
            Some(&Alias::Known(meaning, depth, size, _)) => (meaning, depth, size),
            Some(&Alias::At(start)) => self.define_alias(name, start)?,
            Some(Alias::Open) => {
                return Err(self.error_at(
                    &codes::IR_UNDEFINED,
                    at,
                    format!("the alias `{name}` is defined by itself"),
                ));
            }
            None => return Err(self.error_at(&codes::IR_UNDEFINED, at, format!("the alias `{name}` is not defined"))),
        };
        self.deepest = self.deepest.max(self.depth + depth);
        self.size = self.size.saturating_add(size);
        self.check_limits()?;
        if self.marks.is_some() {
            self.mark_alias(at, meaning);
        }
        Ok(meaning)
    }

    fn define_alias(&mut self, name: &'a str, start: usize) -> Res<(Meaning, usize, usize)> {
        self.aliases.insert(name, Alias::Open);
        let saved = (self.tok, self.depth, self.deepest, self.size);
        self.go_to(start);
        // Depth 1 keeps the counts. What is read here may not reset them.
        (self.depth, self.deepest, self.size) = (1, 1, 1);
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return Err(self.error_at(
                &codes::IR_TOO_LARGE,
                self.tok,
                format!("aliases nest deeper than {MAX_DEPTH} levels"),
            ));
        }
        let meaning = if name.starts_with('!') {
            Meaning::Type(self.ty()?)
        } else if self.is("loc") {
            Meaning::Loc(self.loc()?)
        } else {
            Meaning::Attr(self.attr()?)
        };
        self.nesting -= 1;
        let (depth, size, end) = (self.deepest, self.size, self.tok.start);
        (self.tok, self.depth, self.deepest, self.size) = saved;
        self.aliases.insert(name, Alias::Known(meaning, depth, size, end));
        Ok((meaning, depth, size))
    }

    /// Reads an alias definition at the top level, if it was not read before.
    fn alias_definition(&mut self) -> Res<()> {
        let t = self.tok;
        let name = self.word();
        let equals = lexer::token(self.text, t.end);
        if self.word_of(equals) != "=" {
            return Err(self.unexpected("an operation"));
        }
        // A definition that does not begin its line was not found before.
        self.aliases.entry(name).or_insert(Alias::At(equals.end));
        self.alias(name, t)?;
        (self.deepest, self.size) = (0, 0);
        match self.aliases.get(name) {
            Some(&Alias::Known(.., end)) if end > equals.start => self.go_to(end),
            _ => return Err(self.error_at(&codes::IR_REDEFINED, t, format!("the alias `{name}` is defined twice"))),
        }
        Ok(())
    }

    // ---- the file ----

    pub(super) fn file(&mut self) -> Res<()> {
        self.find_aliases()?;
        self.scopes.push(Scope { isolated: true, ..Scope::default() });
        self.blocks.push(Map::default());
        let mut seen_module = false;
        let mut any = false;
        loop {
            match self.tok.kind {
                Tok::End => break,
                Tok::Hash | Tok::Bang => self.alias_definition()?,
                _ => {
                    if std::mem::take(&mut seen_module) {
                        self.put_in_module();
                    }
                    let name = self.word().trim_matches('"');
                    if !any && (name == "module" || name == "builtin.module") {
                        seen_module = true;
                        let loc = self.here(self.tok);
                        self.ir.set_loc(self.ir.module(), loc);
                        self.op_into(self.ir.module(), OpKind::Builtin(BuiltinOp::Module), &[])?;
                    } else {
                        // The module that was read has brought a block of its own.
                        let body = self.ir.module_block();
                        self.op(body)?;
                    }
                    any = true;
                }
            }
        }
        self.close_scope()
    }

    /// Makes the module that the file began with the first operation of another module, because more stands behind its
    /// end.
    fn put_in_module(&mut self) {
        let (root, body) = (self.ir.module(), self.ir.module_block());
        let loc = self.ir.loc(root);
        let attrs = self.ir.attrs(root).to_vec();
        for (name, _) in &attrs {
            self.ir.remove_attr(root, name.as_str());
        }
        let first = self.ir.create_op(OpState::new(BuiltinOp::Module, loc).attrs(&attrs).regions(1));
        let region = self.ir.region(first, 0);
        let inner = self.ir.add_block(region, &[]);
        self.ir.splice_tail(body, self.ir.first_op(body), inner);
        self.ir.append(body, first);
    }

    // ---- values ----

    /// Reads `%x` or `%x#1`.
    pub(super) fn named(&mut self) -> Res<Named<'a>> {
        if self.tok.kind != Tok::Value {
            return Err(self.unexpected("a value (`%name`)"));
        }
        let at = self.advance();
        let mut number = 0;
        if self.tok.kind == Tok::Hash && self.tok.start == at.end {
            let t = self.advance();
            number = self.word_of(t)[1..]
                .parse()
                .map_err(|_| self.syntax(t, "expected the number of a result after `#`"))?;
        }
        Ok(Named { name: &self.word_of(at)[1..], number, at })
    }

    /// Reads values with commas between them. There are none if there is no `%`.
    pub(super) fn named_list(&mut self) -> Res<Vec<Named<'a>>> {
        let mut out = vec![];
        if self.tok.kind == Tok::Value {
            out.push(self.named()?);
            while self.eat(",") {
                out.push(self.named()?);
            }
        }
        Ok(out)
    }

    /// Finds the value, which must have this type.
    pub(super) fn resolve(&mut self, used: Named<'a>, ty: Type) -> Res<Value> {
        let value = self.find_value(used, ty)?;
        self.mark(self.span(used.at), marks::Named::Value(value), false);
        Ok(value)
    }

    fn find_value(&mut self, used: Named<'a>, ty: Type) -> Res<Value> {
        for scope in self.scopes.iter().rev() {
            if let Some((values, defined)) = scope.values.get(used.name) {
                let Some(&value) = values.get(used.number) else {
                    let message =
                        format!("`%{}` has {} results, there is no number {}", used.name, values.len(), used.number);
                    return Err(self.error_at(&codes::IR_UNDEFINED, used.at, message));
                };
                return self.check_type(used, value, ty, Some(*defined));
            }
            if scope.isolated {
                break;
            }
        }
        let key = (used.name, used.number);
        let forward = self.isolated_scope().forward.get(&key).map(|f| f.0);
        if let Some(value) = forward {
            return self.check_type(used, value, ty, None);
        }
        let loc = self.here(used.at);
        let placeholder = self.ir.create_op(OpState::new(BuiltinOp::UnrealizedConversionCast, loc).results(&[ty]));
        let value = self.ir.result(placeholder);
        self.isolated_scope().forward.insert(key, (value, used.at));
        Ok(value)
    }

    /// Gives the value if it has the type with which it is used. `defined` is where the value got its type, if that is
    /// known.
    fn check_type(&self, used: Named<'a>, value: Value, ty: Type, defined: Option<Token>) -> Res<Value> {
        let actual = self.ir.ty(value);
        if actual == ty {
            return Ok(value);
        }
        let message = format!("`%{}` has type `{actual}`, but this operation takes it as `{ty}`", used.name);
        let fault = self.error_at(&codes::IR_TYPE_MISMATCH, used.at, message);
        Err(match defined {
            Some(at) => Box::new(fault.at(self.span(at), format!("`%{}` is defined here", used.name))),
            None => fault,
        })
    }

    /// Finds values with one type each.
    pub(super) fn resolve_all(&mut self, used: &[Named<'a>], types: &[Type]) -> Res<Vec<Value>> {
        if used.len() != types.len() {
            let at = used.first().map_or(self.tok, |u| u.at);
            return Err(self.error_at(
                &codes::IR_TYPE_MISMATCH,
                at,
                format!("{} values but {} types", used.len(), types.len()),
            ));
        }
        used.iter().zip(types).map(|(&u, &ty)| self.resolve(u, ty)).collect()
    }

    fn isolated_scope(&mut self) -> &mut Scope<'a> {
        let at = self.scopes.iter().rposition(|s| s.isolated).expect("the outermost scope is isolated");
        &mut self.scopes[at]
    }

    /// Gives a name to values, and to the uses that came before.
    fn define(&mut self, name: Named<'a>, values: &[Value]) -> Res<()> {
        for scope in self.scopes.iter().rev() {
            if let Some((_, first)) = scope.values.get(name.name) {
                let fault = self.error_at(
                    &codes::IR_REDEFINED,
                    name.at,
                    format!("the value `%{}` is defined twice", name.name),
                );
                return Err(Box::new(fault.at(self.span(*first), "first defined here")));
            }
            if scope.isolated {
                break;
            }
        }
        if !self.isolated_scope().forward.is_empty() {
            for (number, &value) in values.iter().enumerate() {
                if let Some((placeholder, at)) = self.isolated_scope().forward.remove(&(name.name, number)) {
                    self.check_type(Named { at, ..name }, value, self.ir.ty(placeholder), Some(name.at))?;
                    let op = self.ir.def_op(placeholder).expect("a placeholder is a result");
                    self.ir.replace_op(op, &[value]);
                    self.mark_replaced(placeholder, value);
                }
            }
        }
        let scope = self.scopes.last_mut().expect("there is a scope");
        scope.values.insert(name.name, (values.to_vec(), name.at));
        if let Some(&value) = values.first() {
            self.mark(self.span(name.at), marks::Named::Value(value), true);
        }
        Ok(())
    }

    fn close_scope(&mut self) -> Res<()> {
        let scope = self.scopes.pop().expect("scopes are balanced");
        let mut missing: Vec<_> = scope.forward.into_iter().map(|((name, _), (_, at))| (at.start, name, at)).collect();
        missing.sort_unstable_by_key(|m| m.0);
        match missing.first() {
            Some(&(_, name, at)) => {
                Err(self.error_at(&codes::IR_UNDEFINED, at, format!("the value `%{name}` is not defined")))
            }
            None => Ok(()),
        }
    }

    // ---- locations of what has none ----

    /// The position of a token in the text.
    pub(super) fn here(&self, t: Token) -> Loc {
        let at = self.map.line_col(self.span(t));
        Loc::file(&self.map.remapped(&self.map.file(self.file).name), at.line, at.col)
    }

    /// The position of an operation, with its first result's name if names are kept.
    fn op_loc(&self, t: Token, name: Option<Named<'a>>) -> Loc {
        let name = name.filter(|_| self.opts.value_names).and_then(|n| self.source_name(n.name));
        self.named_loc(t, name.filter(|n| !is_constant_name(n)))
    }

    /// The position of an argument, with its name if names are kept.
    pub(super) fn arg_loc(&self, name: Named<'a>) -> Loc {
        self.named_loc(name.at, if self.opts.value_names { self.source_name(name.name) } else { None })
    }

    fn named_loc(&self, t: Token, name: Option<&str>) -> Loc {
        let loc = self.here(t);
        name.map_or(loc, |name| Loc::named(name, loc))
    }

    /// The name from which a printer would have made `name`: none for `0` and `arg1`, and `x` for `x_3` beside an `x`.
    fn source_name(&self, name: &'a str) -> Option<&'a str> {
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        let stem = match name.rsplit_once('_') {
            Some((stem, n)) if digits(n) && (self.is_used(stem) || is_constant_name(stem)) => stem,
            _ => name,
        };
        let made_up = digits(stem) || stem.strip_prefix("arg").is_some_and(digits);
        (!made_up).then_some(stem)
    }

    /// Whether a value of this name occurs anywhere in the text. It may come after the value that was renamed because
    /// of it.
    fn is_used(&self, name: &str) -> bool {
        self.value_words.get_or_init(|| value_words(self.text)).contains(name)
    }

    // ---- regions and blocks ----

    /// Reads a region in braces. `args` are the entry block's arguments where the operation's form declares them.
    pub(super) fn region(&mut self, region: Region, isolated: bool, args: &[Declared<'a>]) -> Res<()> {
        self.expect("{")?;
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return Err(self.error_at(
                &codes::IR_TOO_LARGE,
                self.tok,
                format!("regions nest deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.scopes.push(Scope { isolated, ..Scope::default() });
        self.blocks.push(Map::default());
        if !args.is_empty() || !(self.tok.kind == Tok::Label || self.is("}")) {
            let types: Vec<(Type, Loc)> = args.iter().map(|a| (a.ty, a.loc)).collect();
            let entry = self.ir.add_block(region, &types);
            let values = self.ir.args(entry).to_vec();
            for (arg, value) in args.iter().zip(values) {
                self.define(arg.name, &[value])?;
            }
            self.block_body(entry)?;
        }
        while self.tok.kind == Tok::Label {
            self.labelled_block(region)?;
        }
        self.expect("}")?;
        let blocks = self.blocks.pop().expect("blocks are balanced");
        let mut missing: Vec<_> =
            blocks.into_iter().filter(|b| !b.1.1).map(|(name, (_, _, at))| (at.start, name, at)).collect();
        missing.sort_unstable_by_key(|m| m.0);
        if let Some(&(_, name, at)) = missing.first() {
            return Err(self.error_at(&codes::IR_UNDEFINED, at, format!("the block `{name}` is not defined")));
        }
        self.nesting -= 1;
        self.close_scope()
    }

    /// Reads `^bb1(%x: i32, …):` and what follows.
    fn labelled_block(&mut self, region: Region) -> Res<()> {
        let t = self.advance();
        let name = self.word_of(t);
        let known = self.blocks.last().and_then(|b| b.get(name)).copied();
        let block = match known {
            Some((_, true, _)) => {
                return Err(self.error_at(&codes::IR_REDEFINED, t, format!("the block `{name}` is defined twice")));
            }
            Some((block, false, _)) => {
                let last = self.ir.blocks_of(region).len() - 1;
                self.ir.move_block(block, region, last);
                block
            }
            None => self.ir.add_block(region, &[]),
        };
        self.blocks.last_mut().expect("in a region").insert(name, (block, true, t));
        self.mark(self.span(t), marks::Named::Block(block), true);
        if self.is("(") {
            let args = self.list("(", ")", &mut |p| p.declared())?;
            for arg in args {
                let value = self.ir.add_arg(block, arg.ty, arg.loc);
                self.define(arg.name, &[value])?;
            }
        }
        self.expect(":")?;
        self.block_body(block)
    }

    fn block_body(&mut self, block: Block) -> Res<()> {
        while !(self.tok.kind == Tok::Label || self.is("}")) {
            self.op(block)?;
        }
        Ok(())
    }

    /// Reads `%x: i32 loc(…)`.
    pub(super) fn declared(&mut self) -> Res<Declared<'a>> {
        let name = self.named()?;
        self.expect(":")?;
        let ty = self.ty()?;
        let loc = if self.is("loc") { self.loc()? } else { self.arg_loc(name) };
        Ok(Declared { name, ty, loc })
    }

    /// Reads the block that a branch names. It may come later.
    pub(super) fn successor(&mut self, op: Op) -> Res<Block> {
        if self.tok.kind != Tok::Label {
            return Err(self.unexpected("a block (`^name`)"));
        }
        let t = self.advance();
        let name = self.word_of(t);
        if let Some(&(block, ..)) = self.blocks.last().and_then(|b| b.get(name)) {
            self.mark(self.span(t), marks::Named::Block(block), false);
            return Ok(block);
        }
        let region =
            self.ir.parent_block(op).and_then(|b| self.ir.parent_region(b)).expect("the operation is in a region");
        let block = self.ir.add_block(region, &[]);
        self.blocks.last_mut().expect("in a region").insert(name, (block, false, t));
        self.mark(self.span(t), marks::Named::Block(block), false);
        Ok(block)
    }

    // ---- operations ----

    /// Reads one operation with its results and location, at the end of a block.
    fn op(&mut self, block: Block) -> Res<()> {
        let start = self.tok;
        let mut groups: Vec<(Named<'a>, usize)> = vec![];
        if self.tok.kind == Tok::Value {
            loop {
                let name = self.named()?;
                let count = if self.eat(":") { self.integer()? } else { 1 };
                let count = usize::try_from(count)
                    .ok()
                    .filter(|&c| c > 0)
                    .ok_or_else(|| self.syntax(name.at, "a value stands for at least one result"))?;
                groups.push((name, count));
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("=")?;
        }
        let kind = self.op_kind()?;
        let loc = self.op_loc(start, groups.first().map(|g| g.0));
        let op = self.ir.create_op(OpState::new(kind, loc));
        self.ir.append(block, op);
        self.op_into(op, kind, &groups)
    }

    /// The kind of the operation whose name is next, without reading it.
    fn op_kind(&mut self) -> Res<OpKind> {
        let generic = self.tok.kind == Tok::Str;
        let name = match self.tok.kind {
            Tok::Str => lexer::unescape(self.word()).unwrap_or_default(),
            Tok::Word if self.word() == "module" => "builtin.module".to_owned(),
            Tok::Word => self.word().to_owned(),
            _ => return Err(self.unexpected("an operation")),
        };
        match OpKind::find(&name) {
            Some(kind) => Ok(kind),
            None if generic && self.opts.allow_unregistered && !name.is_empty() => {
                Ok(OpKind::Unregistered(crate::ir::core::Name::of(&name)))
            }
            None => Err(self.error_at(&codes::IR_UNKNOWN_OP, self.tok, format!("unknown operation `{name}`"))),
        }
    }

    /// Reads from the operation's name to its location into `op`.
    fn op_into(&mut self, op: Op, kind: OpKind, groups: &[(Named<'a>, usize)]) -> Res<()> {
        let name = self.tok;
        let named: usize = groups.iter().map(|g| g.1).sum();
        if self.tok.kind == Tok::Str {
            self.generic(op, kind)?;
        } else {
            self.advance();
            self.custom(op, kind, named)?;
        }
        let results = self.ir.results(op).to_vec();
        if !groups.is_empty() && named != results.len() {
            let message = format!("`{}` has {} results, but {named} are named", kind.name(), results.len());
            return Err(self.error_at(&codes::IR_TYPE_MISMATCH, name, message));
        }
        if self.is("loc") {
            let loc = self.loc()?;
            self.ir.set_loc(op, loc);
        }
        let mut at = 0;
        for &(name, count) in groups {
            self.define(name, &results[at..at + count])?;
            at += count;
        }
        Ok(())
    }

    /// Region `index` of an operation, which is made if it is not there. The module's region starts out with a block.
    pub(super) fn region_at(&mut self, op: Op, index: usize) -> Region {
        if index < self.ir.regions_of(op).len() {
            let region = self.ir.region(op, index);
            let blocks = self.ir.blocks_of(region).to_vec();
            if op == self.ir.module() {
                self.ir.erase_blocks(&blocks);
            }
            return region;
        }
        self.ir.add_region(op)
    }

    /// Reads `"d.op"(%a)[^bb1] <{p = 1}> ({…}) {d = 2} : (i32) -> i32`.
    fn generic(&mut self, op: Op, kind: OpKind) -> Res<()> {
        let name = self.advance();
        self.expect("(")?;
        let operands = self.named_list()?;
        self.expect(")")?;
        if self.is("[") {
            let successors = self.list("[", "]", &mut |p| p.successor(op))?;
            self.ir.set_successors(op, &successors);
        }
        if self.eat("<") {
            let attrs = self.attr_entries()?;
            self.expect(">")?;
            self.set_attrs(op, attrs)?;
        }
        if self.is("(") {
            let isolated = kind.has(Traits::ISOLATED_FROM_ABOVE);
            let mut index = 0;
            self.list("(", ")", &mut |p| {
                let region = p.region_at(op, index);
                index += 1;
                p.region(region, isolated, &[])
            })?;
        }
        if op == self.ir.module() && self.ir.blocks_of(self.ir.region(op, 0)).is_empty() {
            self.ir.add_block(self.ir.region(op, 0), &[]);
        }
        if self.is("{") {
            let attrs = self.attr_entries()?;
            self.set_attrs(op, attrs)?;
        }
        self.expect(":")?;
        let (inputs, results) = self.function_type()?;
        if operands.len() != inputs.len() {
            let message =
                format!("`{}` has {} operands but {} operand types", kind.name(), operands.len(), inputs.len());
            return Err(self.error_at(&codes::IR_TYPE_MISMATCH, name, message));
        }
        let values = self.resolve_all(&operands, &inputs)?;
        self.finish(op, &values, &results);
        Ok(())
    }

    /// Gives an operation its operands and results.
    pub(super) fn finish(&mut self, op: Op, operands: &[Value], results: &[Type]) {
        self.ir.set_operands(op, operands);
        for &ty in results {
            self.ir.add_result(op, ty);
        }
    }
}

/// Whether a printer gives this name to constants: `c4_i32`, `c-1`, `cst`, `true`.
fn is_constant_name(name: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let integer = |s: &str| digits(s.strip_prefix('-').unwrap_or(s));
    matches!(name, "cst" | "true" | "false")
        || name
            .strip_prefix('c')
            .is_some_and(|c| integer(c) || c.split_once("_i").is_some_and(|(v, w)| integer(v) && digits(w)))
}

/// Every word after a `%`.
fn value_words(text: &str) -> Set<&str> {
    let end = |s: &str| s.find(|c: char| !(c.is_ascii_alphanumeric() || "$._-".contains(c))).unwrap_or(s.len());
    text.split('%').skip(1).map(|rest| &rest[..end(rest)]).collect()
}
