//! Reads locations.

use super::lexer::Tok;
use super::parser::{Meaning, Parser, Res};
use crate::ir::core::{Loc, LocData};

impl Parser<'_> {
    /// Reads `loc(…)`.
    pub(super) fn loc(&mut self) -> Res<Loc> {
        self.expect("loc")?;
        self.expect("(")?;
        let loc = self.loc_inside()?;
        self.expect(")")?;
        Ok(loc)
    }

    /// Reads what stands between the parentheses.
    fn loc_inside(&mut self) -> Res<Loc> {
        self.nested(|p| match p.tok.kind {
            Tok::Hash => {
                let t = p.advance();
                let name = p.word_of(t);
                match p.alias(name, t)? {
                    Meaning::Loc(loc) => Ok(loc),
                    _ => Err(p.syntax(t, format!("`{name}` is not a location"))),
                }
            }
            Tok::Str => p.file_or_name(),
            _ if p.is("unknown") => {
                p.advance();
                Ok(Loc::unknown())
            }
            _ if p.is("callsite") => {
                p.advance();
                p.expect("(")?;
                let callee = p.loc_inside()?;
                p.expect("at")?;
                let caller = p.loc_inside()?;
                p.expect(")")?;
                Ok(Loc::call_site(callee, caller))
            }
            _ if p.is("fused") => {
                p.advance();
                if p.eat("<") {
                    // What a fusion says about itself has no use here.
                    p.attr()?;
                    p.expect(">")?;
                }
                let parts = p.list("[", "]", &mut |p| p.loc_inside())?;
                Ok(Loc::new(LocData::Fused(parts)))
            }
            _ if p.is("loc") => p.loc(),
            _ => Err(p.unexpected("a location")),
        })
    }

    /// Reads `"file":1:2`, `"file":1:2 to 3:4`, `"name"` or `"name"(child)`.
    fn file_or_name(&mut self) -> Res<Loc> {
        let text = self.string()?;
        if self.eat(":") {
            let line = self.unsigned("a line")?;
            self.expect(":")?;
            let col = self.unsigned("a column")?;
            if self.eat("to") {
                if self.tok.kind == Tok::Int {
                    self.unsigned("a line")?;
                }
                self.expect(":")?;
                self.unsigned("a column")?;
            }
            return Ok(Loc::file(&self.map.remapped(&text), line, col));
        }
        let mut child = Loc::unknown();
        if self.eat("(") {
            child = self.loc_inside()?;
            self.expect(")")?;
        }
        Ok(Loc::named(&text, child))
    }
}
