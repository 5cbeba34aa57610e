//! The parser of operands ("PTX ISA, Instruction Operands" and "Constant Expressions").

use super::error::Error;
use super::parser::{Parser, Result};
use super::syntax::Operand;
use super::token::Kind;

impl<'a> Parser<'a> {
    /// An integer with its sign. Bits over the range of `i64` wrap: `0xFFFFFFFFFFFFFFFF` is -1.
    pub(super) fn integer(&mut self) -> Result<i64> {
        let negative = self.eat(Kind::Minus);
        let at = self.position();
        let text = self.expect(Kind::Integer, "an integer")?;
        let value = unsigned(text).ok_or_else(|| Error::new(at, format!("the integer {text} has over 64 bits")))?;
        Ok(if negative { (value as i64).wrapping_neg() } else { value as i64 })
    }

    pub(super) fn operand(&mut self) -> Result<Operand<'a>> {
        let first = self.nested(Self::primary)?;
        if self.eat(Kind::Or) {
            let second = self.nested(Self::primary)?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn primary(&mut self) -> Result<Operand<'a>> {
        match self.peek() {
            Kind::Sink => {
                self.advance();
                Ok(Operand::Sink)
            }
            Kind::Not => {
                self.advance();
                Ok(Operand::Not(self.expect(Kind::Name, "a predicate")?))
            }
            Kind::BraceOpen => Ok(Operand::Vector(self.list(Kind::BraceClose, "`}`")?)),
            Kind::ParenOpen => Ok(Operand::Group(self.list(Kind::ParenClose, "`)`")?)),
            Kind::BracketOpen => self.address(),
            Kind::Name => self.name(),
            Kind::Single | Kind::Double | Kind::Integer | Kind::Real | Kind::Minus => self.constant(),
            _ => Err(self.wrong("an operand")),
        }
    }

    /// A name. A special register keeps its dot, and a distance is added to a variable.
    fn name(&mut self) -> Result<Operand<'a>> {
        let mut name = self.advance();
        if self.peek() == Kind::Dotted && name.starts_with('%') {
            name = self.joined();
        }
        let offset = self.distance()?;
        Ok(Operand::Name { name, offset })
    }

    /// `+ 16`, `- 16`, `+-16`, or nothing.
    fn distance(&mut self) -> Result<i64> {
        let mut sum = 0i64;
        loop {
            // `integer` takes a minus itself.
            if self.eat(Kind::Plus) || self.peek() == Kind::Minus {
                sum = sum.wrapping_add(self.integer()?);
            } else {
                return Ok(sum);
            }
        }
    }

    fn constant(&mut self) -> Result<Operand<'a>> {
        let negative = self.peek() == Kind::Minus;
        let kind = if negative { self.peek_second() } else { self.peek() };
        match kind {
            Kind::Integer => self.integer().map(Operand::Integer),
            Kind::Real => {
                self.eat(Kind::Minus);
                let at = self.position();
                let text = self.advance();
                let value: f64 = text.parse().map_err(|_| Error::new(at, format!("`{text}` is no number")))?;
                Ok(Operand::Real(if negative { -value } else { value }))
            }
            Kind::Single | Kind::Double => {
                self.eat(Kind::Minus);
                let at = self.position();
                let text = self.advance();
                let bits = u64::from_str_radix(&text[2..], 16)
                    .map_err(|_| Error::new(at, format!("`{text}` is no float in hexadecimal")))?;
                Ok(match kind {
                    Kind::Single => Operand::Single(bits as u32 ^ u32::from(negative) << 31),
                    _ => Operand::Double(bits ^ u64::from(negative) << 63),
                })
            }
            _ => Err(self.wrong("a constant")),
        }
    }

    /// `[base + offset]`, or `[base, rest…]`.
    fn address(&mut self) -> Result<Operand<'a>> {
        self.advance();
        let (base, mut offset) = match self.primary()? {
            Operand::Name { name, offset } => (Operand::Name { name, offset: 0 }, offset),
            other => (other, 0),
        };
        offset = offset.wrapping_add(self.distance()?);
        let mut rest = vec![];
        while self.eat(Kind::Comma) {
            rest.push(self.operand()?);
        }
        self.expect(Kind::BracketClose, "`]`")?;
        Ok(Operand::Address { base: Box::new(base), offset, rest })
    }

    /// Operands between brackets, the first of which is next.
    fn list(&mut self, close: Kind, what: &str) -> Result<Vec<Operand<'a>>> {
        self.advance();
        let mut all = vec![];
        if self.eat(close) {
            return Ok(all);
        }
        loop {
            all.push(self.operand()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(close, what)?;
        Ok(all)
    }
}

/// The value of `0x1F`, `0b101`, `017` or `12`, perhaps with a `U`.
fn unsigned(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}
