//! The parser of variables and parameters ("PTX ISA, Variables" and "Kernel Function Parameters").

use super::error::Error;
use super::parser::{Parser, Result};
use super::syntax::{Init, Variable, VariableSpace};
use super::token::Kind;

impl<'a> Parser<'a> {
    /// `(.param .u64 .ptr .global .align 16 a, .param .b32 b)`.
    pub(super) fn parameters(&mut self) -> Result<Vec<Variable<'a>>> {
        self.expect(Kind::ParenOpen, "`(`")?;
        let mut all = vec![];
        if self.eat(Kind::ParenClose) {
            return Ok(all);
        }
        loop {
            // A parameter that is a register is one that the caller moves.
            if self.eat_dotted("reg") {
                let at = self.position();
                let ty = &self.expect(Kind::Dotted, "a type")?[1..];
                let name = self.expect(Kind::Name, "the name of a parameter")?;
                return Err(Error::new(at, format!("the parameter `{name}` of type {ty} is a register, not `.param`")));
            }
            let (space, align, vector, ty) = self.declared()?;
            all.push(self.variable(space, align, vector, ty, false)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::ParenClose, "`,` or `)`")?;
        Ok(all)
    }

    /// Variables of one declaration, up to its `;`.
    pub(super) fn variables(&mut self, external: bool) -> Result<Vec<Variable<'a>>> {
        let (space, align, vector, ty) = self.declared()?;
        let mut all = vec![];
        loop {
            all.push(self.variable(space, align, vector, ty, external)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(all)
    }

    /// What stands before a variable's name: its space, alignment, vector size and type.
    fn declared(&mut self) -> Result<(VariableSpace, Option<u32>, u32, &'a str)> {
        let at = self.position();
        let (mut space, mut align, mut vector, mut ty) = (None, None, 1, None);
        while self.peek() == Kind::Dotted {
            let word = &self.advance()[1..];
            match word {
                "const" => space = Some(VariableSpace::Const),
                "global" => space = Some(VariableSpace::Global),
                "local" => space = Some(VariableSpace::Local),
                "param" => space = Some(VariableSpace::Param),
                "shared" | "shared::cta" => space = Some(VariableSpace::Shared),
                "align" => align = Some(self.number()?),
                "v2" => vector = 2,
                "v4" => vector = 4,
                "ptr" => {
                    // What a pointer parameter points at: a space and an alignment, which promise and do not bind.
                    let is_space = |t: &str| matches!(t, ".global" | ".shared" | ".const" | ".local");
                    if self.peek() == Kind::Dotted && is_space(self.text()) {
                        self.advance();
                    }
                    if self.eat_dotted("align") {
                        self.number()?;
                    }
                }
                "attribute" => {
                    self.expect(Kind::ParenOpen, "`(`")?;
                    while !self.eat(Kind::ParenClose) {
                        if self.peek() == Kind::End {
                            return Err(self.wrong("`)`"));
                        }
                        self.advance();
                    }
                }
                _ => ty = Some(word),
            }
        }
        match (space, ty) {
            (Some(space), Some(ty)) => Ok((space, align, vector, ty)),
            (None, _) => Err(Error::new(at, "expected a directive, or a variable with its state space")),
            (_, None) => Err(Error::new(at, "the variable has no type")),
        }
    }

    fn variable(
        &mut self,
        space: VariableSpace,
        align: Option<u32>,
        vector: u32,
        ty: &'a str,
        external: bool,
    ) -> Result<Variable<'a>> {
        let at = self.position();
        let name = match self.peek() {
            Kind::Sink => self.advance(),
            _ => self.expect(Kind::Name, "the name of a variable")?,
        };
        let mut dims = vec![];
        while self.eat(Kind::BracketOpen) {
            let size = if self.peek() == Kind::Integer { Some(self.integer()? as u64) } else { None };
            self.expect(Kind::BracketClose, "`]`")?;
            dims.push(size);
        }
        let mut init = vec![];
        if self.eat(Kind::Equals) {
            self.initialiser(&mut init)?;
        }
        Ok(Variable { space, name, ty, vector, align, dims, init, external, at })
    }

    fn initialiser(&mut self, init: &mut Vec<Init<'a>>) -> Result<()> {
        if self.eat(Kind::BraceOpen) {
            if self.eat(Kind::BraceClose) {
                return Ok(());
            }
            loop {
                self.nested(|p| p.initialiser(init))?;
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::BraceClose, "`}`")?;
            return Ok(());
        }
        use super::syntax::Operand;
        let at = self.position();
        let one = match self.operand()? {
            Operand::Integer(v) => Init::Bits(v as u64),
            Operand::Single(v) => Init::Bits(u64::from(v)),
            Operand::Double(v) => Init::Bits(v),
            Operand::Real(v) => Init::Real(v),
            Operand::Name { name: "generic", .. } if self.eat(Kind::ParenOpen) => {
                let inner = self.operand()?;
                self.expect(Kind::ParenClose, "`)`")?;
                let offset = if self.eat(Kind::Plus) { self.integer()? } else { 0 };
                match inner {
                    Operand::Name { name, offset: inner } => {
                        Init::Address { name, offset: inner.wrapping_add(offset), generic: true }
                    }
                    _ => return Err(Error::new(at, "expected the name of a variable in `generic(…)`")),
                }
            }
            Operand::Name { name, offset } => Init::Address { name, offset, generic: false },
            _ => return Err(Error::new(at, "expected a constant or the name of a variable")),
        };
        init.push(one);
        Ok(())
    }
}
