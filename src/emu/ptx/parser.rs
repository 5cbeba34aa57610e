//! The parser of modules, functions and statements.

use super::error::Error;
use super::syntax::{Function, Guard, Instruction, Module, Position, RegisterName, Source, Statement};
use super::token::{self, Kind, Lines, Token};

/// How deep scopes and operands may nest, so that no text exhausts the stack.
pub(super) const MAX_DEPTH: u32 = 64;

/// How many registers one declaration may name.
const MAX_REGISTERS: u32 = 1 << 20;

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    lines: Lines,
    at: usize,
    source: Option<Source>,
    pub(super) depth: u32,
}

pub(super) type Result<T> = std::result::Result<T, Error>;

/// Parses the text of a module.
///
/// # Errors
/// The first thing that is no PTX, and where it is.
pub fn parse(text: &str) -> Result<Module<'_>> {
    let tokens = token::tokens(text)?;
    let mut p = Parser { text, tokens, lines: Lines::new(text), at: 0, source: None, depth: 0 };
    let mut module = Module { address_size: 64, ..Module::default() };
    while p.peek() != Kind::End {
        p.item(&mut module)?;
    }
    Ok(module)
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> Kind {
        self.tokens[self.at].kind
    }

    pub(super) fn peek_second(&self) -> Kind {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    /// The text of the next token.
    pub(super) fn text(&self) -> &'a str {
        let t = self.tokens[self.at];
        &self.text[t.start as usize..t.end as usize]
    }

    pub(super) fn position(&self) -> Position {
        self.lines.position(self.tokens[self.at].start)
    }

    pub(super) fn advance(&mut self) -> &'a str {
        let text = self.text();
        // The last token is the end, which nobody passes.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        text
    }

    /// Takes the next token. The result is its text with that of the token before it: `%tid` and `.x` are `%tid.x`.
    pub(super) fn joined(&mut self) -> &'a str {
        let start = self.tokens[self.at - 1].start as usize;
        let end = self.tokens[self.at].end as usize;
        self.advance();
        &self.text[start..end]
    }

    /// Takes the next token if it is of this kind.
    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let is = self.peek() == kind;
        if is {
            self.advance();
        }
        is
    }

    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Result<&'a str> {
        if self.peek() == kind { Ok(self.advance()) } else { Err(self.wrong(what)) }
    }

    /// An error at the next token: what should be there.
    pub(super) fn wrong(&self, expected: &str) -> Error {
        let found = match self.peek() {
            Kind::End => "the text ends".to_owned(),
            _ => format!("found `{}`", self.text()),
        };
        Error::new(self.position(), format!("expected {expected}, {found}"))
    }

    /// Takes the next word if it is `.word`.
    pub(super) fn eat_dotted(&mut self, word: &str) -> bool {
        self.peek() == Kind::Dotted && self.text()[1..] == *word && {
            self.advance();
            true
        }
    }

    pub(super) fn number(&mut self) -> Result<u32> {
        let at = self.position();
        let value = self.integer()?;
        u32::try_from(value).map_err(|_| Error::new(at, format!("the number {value} is out of range")))
    }

    /// Counts a level of nesting while `inner` runs.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::new(self.position(), format!("more than {MAX_DEPTH} levels of nesting")));
        }
        let done = inner(self);
        self.depth -= 1;
        done
    }

    /// An item of a module.
    fn item(&mut self, module: &mut Module<'a>) -> Result<()> {
        if self.peek() != Kind::Dotted {
            return Err(self.wrong("a directive"));
        }
        match &self.text()[1..] {
            "version" => {
                self.advance();
                let at = self.position();
                let text = self.expect(Kind::Real, "a version, such as `8.7`")?;
                let parts = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                module.version = parts.ok_or_else(|| Error::new(at, format!("`{text}` is no version")))?;
            }
            "target" => {
                self.advance();
                module.target.push(self.expect(Kind::Name, "a target, such as `sm_90a`")?);
                while self.eat(Kind::Comma) {
                    module.target.push(self.expect(Kind::Name, "a target option")?);
                }
            }
            "address_size" => {
                self.advance();
                module.address_size = self.number()?;
            }
            "file" => self.file(module)?,
            "section" => self.section()?,
            "pragma" => self.pragma()?,
            _ => self.linked(module)?,
        }
        Ok(())
    }

    /// A function or a variable, behind its linkage.
    fn linked(&mut self, module: &mut Module<'a>) -> Result<()> {
        let mut external = false;
        loop {
            if self.eat_dotted("extern") {
                external = true;
            } else if !(self.eat_dotted("visible")
                || self.eat_dotted("weak")
                || self.eat_dotted("common")
                || self.eat_dotted("alias"))
            {
                break;
            }
        }
        let entry = self.peek() == Kind::Dotted && self.text() == ".entry";
        if entry || self.peek() == Kind::Dotted && self.text() == ".func" {
            self.advance();
            module.functions.push(self.function(entry)?);
        } else {
            module.variables.extend(self.variables(external)?);
        }
        Ok(())
    }

    /// `.file 1 "softmax.tk"`, perhaps with a time and a size.
    fn file(&mut self, module: &mut Module<'a>) -> Result<()> {
        self.advance();
        let number = self.number()?;
        let text = self.expect(Kind::Text, "a file name in quotes")?;
        module.files.insert(number, text.trim_matches('"').to_owned());
        while self.eat(Kind::Comma) {
            self.integer()?;
        }
        Ok(())
    }

    /// `.section .debug_info { … }`, which says nothing of how a program runs.
    fn section(&mut self) -> Result<()> {
        self.advance();
        self.expect(Kind::Dotted, "the name of a section")?;
        self.expect(Kind::BraceOpen, "`{`")?;
        while self.peek() != Kind::BraceClose {
            if self.peek() == Kind::End {
                return Err(self.wrong("`}`, which ends a section"));
            }
            self.advance();
        }
        self.advance();
        Ok(())
    }

    fn pragma(&mut self) -> Result<()> {
        self.advance();
        self.expect(Kind::Text, "a text in quotes")?;
        while self.eat(Kind::Comma) {
            self.expect(Kind::Text, "a text in quotes")?;
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(())
    }

    /// A function behind `.entry` or `.func`.
    fn function(&mut self, entry: bool) -> Result<Function<'a>> {
        let returns = match self.peek() {
            Kind::ParenOpen if !entry => self.parameters()?,
            _ => vec![],
        };
        let at = self.position();
        let name = self.expect(Kind::Name, "the name of a function")?;
        let params = if self.peek() == Kind::ParenOpen { self.parameters()? } else { vec![] };
        let mut directives = vec![];
        while self.peek() == Kind::Dotted {
            if self.text() == ".pragma" {
                self.pragma()?;
                continue;
            }
            let word = &self.advance()[1..];
            let mut numbers = vec![];
            while self.peek() == Kind::Integer {
                numbers.push(self.number()?);
                self.eat(Kind::Comma);
            }
            directives.push((word, numbers));
        }
        self.source = None;
        let body = if self.eat(Kind::Semicolon) { None } else { Some(self.body()?) };
        Ok(Function { name, entry, returns, params, directives, body, at })
    }

    /// `{ statements }`.
    fn body(&mut self) -> Result<Vec<Statement<'a>>> {
        self.expect(Kind::BraceOpen, "`{`")?;
        let mut all = vec![];
        while !self.eat(Kind::BraceClose) {
            self.statement(&mut all)?;
        }
        Ok(all)
    }

    fn statement(&mut self, all: &mut Vec<Statement<'a>>) -> Result<()> {
        match self.peek() {
            Kind::BraceOpen => all.push(Statement::Scope(self.nested(Self::body)?)),
            Kind::Name if self.peek_second() == Kind::Colon => {
                let at = self.position();
                let name = self.advance();
                self.advance();
                if self.eat_dotted("branchtargets") {
                    let targets = self.names("a label")?;
                    all.push(Statement::BranchTargets(name, targets, at));
                } else {
                    all.push(Statement::Label(name, at));
                }
            }
            Kind::Name | Kind::At => all.push(Statement::Instruction(self.instruction()?)),
            Kind::Dotted => self.directive(all)?,
            // An empty statement, as inline assembly leaves them.
            Kind::Semicolon => {
                self.advance();
            }
            _ => return Err(self.wrong("a statement or `}`")),
        }
        Ok(())
    }

    /// `A, B, C;`.
    fn names(&mut self, what: &str) -> Result<Vec<&'a str>> {
        let mut all = vec![self.expect(Kind::Name, what)?];
        while self.eat(Kind::Comma) {
            all.push(self.expect(Kind::Name, what)?);
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(all)
    }

    /// A directive inside of a body.
    fn directive(&mut self, all: &mut Vec<Statement<'a>>) -> Result<()> {
        let at = self.position();
        match &self.text()[1..] {
            "loc" => self.loc()?,
            "pragma" => self.pragma()?,
            "reg" => {
                self.advance();
                let ty = &self.expect(Kind::Dotted, "the type of registers")?[1..];
                let mut names = vec![self.register_name()?];
                while self.eat(Kind::Comma) {
                    names.push(self.register_name()?);
                }
                self.expect(Kind::Semicolon, "`;`")?;
                all.push(Statement::Registers { ty, names, at });
            }
            _ => all.extend(self.variables(false)?.into_iter().map(Statement::Variable)),
        }
        Ok(())
    }

    fn register_name(&mut self) -> Result<RegisterName<'a>> {
        let name = self.expect(Kind::Name, "the name of a register")?;
        if !self.eat(Kind::Less) {
            return Ok(RegisterName { name, count: None });
        }
        let at = self.position();
        let count = self.number()?;
        if count > MAX_REGISTERS {
            return Err(Error::new(
                at,
                format!("{count} registers are more than the {MAX_REGISTERS} that are allowed"),
            ));
        }
        self.expect(Kind::Greater, "`>`")?;
        Ok(RegisterName { name, count: Some(count) })
    }

    /// `.loc 1 96 0`, or `.loc 1 96 0, function_name $L__info_string0, inlined_at 1 12 3`.
    fn loc(&mut self) -> Result<()> {
        self.advance();
        let (file, line, column) = (self.number()?, self.number()?, self.number()?);
        // Line 0 stands for code that belongs to no line.
        self.source = (line > 0).then_some(Source { file, line, column });
        if !self.eat(Kind::Comma) {
            return Ok(());
        }
        self.expect(Kind::Name, "`function_name`")?;
        self.expect(Kind::Name, "a label")?;
        if self.eat(Kind::Plus) {
            self.integer()?;
        }
        self.expect(Kind::Comma, "`,`")?;
        self.expect(Kind::Name, "`inlined_at`")?;
        for _ in 0..3 {
            self.number()?;
        }
        Ok(())
    }

    fn instruction(&mut self) -> Result<Instruction<'a>> {
        let guard = if self.eat(Kind::At) {
            let negated = self.eat(Kind::Not);
            Some(Guard { register: self.expect(Kind::Name, "a predicate")?, negated })
        } else {
            None
        };
        let at = self.position();
        let opcode = self.expect(Kind::Name, "an instruction")?;
        let mut modifiers = vec![];
        while self.peek() == Kind::Dotted {
            modifiers.push(&self.advance()[1..]);
        }
        let mut operands = vec![];
        if !self.eat(Kind::Semicolon) {
            loop {
                operands.push(self.operand()?);
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::Semicolon, "`,` or `;`")?;
        }
        Ok(Instruction { guard, opcode, modifiers, operands, at, source: self.source })
    }
}
