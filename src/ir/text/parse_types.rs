//! Reads types.

use super::lexer::{Tok, Token};
use super::parser::{Meaning, Parser, Res};
use crate::diag::codes::irtext as codes;
use crate::ir::core::{FloatKind, MemDesc, Name, TensorType, Type, TypeData};
use crate::ir::encoding::wellformed::{self, Rule};

/// The largest extent of a shape, and the most elements of one.
const MAX_ELEMENTS: i64 = 1 << 48;

impl Parser<'_> {
    /// Reads a type.
    pub(super) fn ty(&mut self) -> Res<Type> {
        self.nested(|p| match p.tok.kind {
            Tok::Bang => p.dialect_type(),
            Tok::Word => p.builtin_type(),
            _ if p.is("(") => {
                let (inputs, results) = p.function_type()?;
                Ok(Type::function(&inputs, &results))
            }
            _ => Err(p.unexpected("a type")),
        })
    }

    /// Whether a type starts here.
    pub(super) fn at_type(&self) -> bool {
        self.tok.kind == Tok::Bang || self.is("(") || (self.tok.kind == Tok::Word && is_builtin_type(self.word()))
    }

    /// Reads types with commas between them, at least one.
    pub(super) fn types(&mut self) -> Res<Vec<Type>> {
        let mut out = vec![self.ty()?];
        while self.eat(",") {
            out.push(self.ty()?);
        }
        Ok(out)
    }

    /// Reads `(i32, f32) -> (f32)`.
    pub(super) fn function_type(&mut self) -> Res<(Vec<Type>, Vec<Type>)> {
        let inputs = self.list("(", ")", &mut |p| p.ty())?;
        self.expect("->")?;
        Ok((inputs, self.result_types()?))
    }

    /// Reads `i32` or `(i32, f32)`.
    pub(super) fn result_types(&mut self) -> Res<Vec<Type>> {
        if self.is("(") { self.list("(", ")", &mut |p| p.ty()) } else { Ok(vec![self.ty()?]) }
    }

    fn builtin_type(&mut self) -> Res<Type> {
        let (t, word) = (self.tok, self.word());
        if let Some((sign, width)) = integer_type(word) {
            self.advance();
            return match (width.parse(), sign) {
                (Ok(w @ 1..=16_777_215), None) => Ok(Type::int(w)),
                (Ok(width @ 1..=16_777_215), Some(signed)) => Ok(Type::new(TypeData::SignedInt { width, signed })),
                _ => Err(self.error_at(&codes::IR_BAD_LITERAL, t, "an integer type has from 1 to 16777215 bits")),
            };
        }
        if let Some(kind) = FloatKind::ALL.into_iter().find(|k| k.name() == word) {
            self.advance();
            return Ok(Type::float(kind));
        }
        match word {
            "index" => {
                self.advance();
                Ok(Type::index())
            }
            "none" => {
                self.advance();
                Ok(Type::new(TypeData::None))
            }
            "tensor" => {
                self.advance();
                self.tensor()
            }
            "vector" | "memref" | "complex" | "tuple" => Ok(Type::new(TypeData::Opaque(self.raw()?))),
            _ => Err(self.unexpected("a type")),
        }
    }

    fn tensor(&mut self) -> Res<Type> {
        self.expect("<")?;
        let shape = self.dimensions()?;
        let elem = self.ty()?;
        let encoding = if self.eat(",") { Some(self.attr()?) } else { None };
        self.expect(">")?;
        Ok(Type::new(TypeData::Tensor(TensorType { shape, elem, encoding })))
    }

    fn dialect_type(&mut self) -> Res<Type> {
        let (t, word) = (self.tok, self.word());
        match word {
            "!tt.ptr" => {
                self.advance();
                self.pointer()
            }
            "!tt.tensordesc" => {
                self.advance();
                self.tensor_desc(false)
            }
            "!ttng.tensordesc_im2col" => {
                self.advance();
                self.tensor_desc(true)
            }
            "!ttg.memdesc" => {
                self.advance();
                self.memdesc()
            }
            "!ttg.async.token" => {
                self.advance();
                Ok(Type::new(TypeData::AsyncToken))
            }
            _ if word.contains('.') => Ok(Type::new(TypeData::Opaque(self.raw()?))),
            _ => {
                self.advance();
                match self.alias(word, t)? {
                    Meaning::Type(ty) => Ok(ty),
                    _ => Err(self.syntax(t, format!("`{word}` is not a type"))),
                }
            }
        }
    }

    /// Reads a type that may stand without its name: `<f32>` for what `bare` would give `!tt.ptr`.
    pub(super) fn maybe_bare(&mut self, bare: Option<BareType>) -> Res<Type> {
        match bare.filter(|_| self.is("<")) {
            Some(BareType::Pointer) => self.nested(Self::pointer),
            Some(BareType::TensorDesc) => self.nested(|p| p.tensor_desc(false)),
            Some(BareType::MemDesc) => self.nested(Self::memdesc),
            None => self.ty(),
        }
    }

    fn pointer(&mut self) -> Res<Type> {
        self.expect("<")?;
        let at = self.tok;
        let pointee = self.ty()?;
        let space = if self.eat(",") { self.address_space()? } else { 1 };
        self.expect(">")?;
        self.well_formed(at, wellformed::pointer(pointee))?;
        Ok(Type::new(TypeData::Pointer { pointee, space }))
    }

    /// Reads the name of an address space. Up to 3.8, Triton wrote spaces other than global memory by number, but it
    /// made no such pointers.
    fn address_space(&mut self) -> Res<u32> {
        let t = self.tok;
        if t.kind != Tok::Str {
            return Err(self.unexpected("the name of an address space, \"global\", \"constant\" or \"descriptor\""));
        }
        match self.string()?.as_str() {
            "descriptor" => Ok(0),
            "global" => Ok(1),
            "constant" => Ok(4),
            other => Err(self.syntax(t, format!("unknown address space `{other}` (global, constant, descriptor)"))),
        }
    }

    /// Reports, where a type starts, the rule that it breaks.
    fn well_formed(&self, at: Token, rule: Rule) -> Res<()> {
        rule.map_err(|message| self.error_at(&codes::IR_BAD_TYPE, at, message))
    }

    fn tensor_desc(&mut self, im2col: bool) -> Res<Type> {
        let at = self.tok;
        self.expect("<")?;
        if self.is("tensor") && !im2col {
            // Triton up to 3.6 writes the block as a tensor type.
            let block = self.ty()?;
            self.expect(">")?;
            return Ok(Type::new(TypeData::TensorDesc {
                shape: block.shape().to_vec(),
                elem: block.elem(),
                layout: block.encoding(),
                im2col: false,
            }));
        }
        let shape = self.dimensions()?;
        let elem = self.desc_element()?;
        let layout = if self.eat(",") { Some(self.attr()?) } else { None };
        self.expect(">")?;
        self.well_formed(at, wellformed::tensor_desc(&shape, elem, layout, im2col))?;
        Ok(Type::new(TypeData::TensorDesc { shape, elem, layout, im2col }))
    }

    /// Reads the element of a tensor descriptor: a type, or an integer with a sign.
    fn desc_element(&mut self) -> Res<Type> {
        let word = self.word();
        let signed = word.strip_prefix("si").map(|w| (w, true)).or_else(|| word.strip_prefix("ui").map(|w| (w, false)));
        match signed.and_then(|(w, signed)| Some((w.parse().ok().filter(|w| (1..=64).contains(w))?, signed))) {
            Some((width, signed)) => {
                self.advance();
                Ok(Type::new(TypeData::SignedInt { width, signed }))
            }
            None => self.ty(),
        }
    }

    fn memdesc(&mut self) -> Res<Type> {
        let at = self.tok;
        self.expect("<")?;
        let shape = self.dimensions()?;
        let elem = self.ty()?;
        self.expect(",")?;
        let encoding = self.attr()?;
        self.expect(",")?;
        let memory_space = self.attr()?;
        let (mut mutable, mut alloc_shape) = (false, shape.clone());
        if self.eat(",") {
            mutable = self.eat("mutable");
            if !mutable || self.eat(",") {
                alloc_shape = self.alloc_shape()?;
            }
        }
        self.expect(">")?;
        let memdesc = MemDesc { shape, elem, encoding, memory_space, mutable, alloc_shape };
        self.well_formed(at, wellformed::memdesc(&memdesc))?;
        Ok(Type::new(TypeData::MemDesc(memdesc)))
    }

    /// Reads `128x64x` by character, up to what is no dimension.
    fn dimensions(&mut self) -> Res<Vec<i64>> {
        let mut dims = vec![];
        let bytes = self.text.as_bytes();
        let mut at = self.tok.start;
        if self.is("?") || self.is("*") {
            return Err(self.syntax(self.tok, "the dimensions of a shape are constants here"));
        }
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
            if bytes.get(end) != Some(&b'x') {
                self.go_to(end);
                return Err(self.unexpected("`x` after a dimension"));
            }
            dims.push(self.dimension(at, end, &dims)?);
            at = end + 1;
        }
        self.go_to(at);
        Ok(dims)
    }

    /// Reads `1x128x64`.
    fn alloc_shape(&mut self) -> Res<Vec<i64>> {
        let mut dims = vec![];
        let bytes = self.text.as_bytes();
        let mut at = self.tok.start;
        loop {
            let end = at + bytes[at.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
            if end == at {
                self.go_to(at);
                return Err(self.unexpected("a dimension"));
            }
            dims.push(self.dimension(at, end, &dims)?);
            at = end;
            if bytes.get(at) != Some(&b'x') {
                self.go_to(at);
                return Ok(dims);
            }
            at += 1;
        }
    }

    fn dimension(&mut self, start: usize, end: usize, before: &[i64]) -> Res<i64> {
        let dim: i64 = self.text[start..end].parse().unwrap_or(i64::MAX);
        let fits = before.iter().try_fold(dim, |n, &d| n.checked_mul(d.max(1))).is_some_and(|n| n <= MAX_ELEMENTS);
        if fits && before.len() < 32 {
            return Ok(dim);
        }
        let at = Token { kind: Tok::Int, start, end };
        Err(self.error_at(&codes::IR_TOO_LARGE, at, "this shape has more elements or dimensions than any memory"))
    }

    /// Reads a number that is not negative.
    pub(super) fn unsigned(&mut self, what: &str) -> Res<u32> {
        let t = self.tok;
        u32::try_from(self.integer()?)
            .map_err(|_| self.error_at(&codes::IR_BAD_LITERAL, t, format!("{what} is a number that is not negative")))
    }

    /// Reads the text of a type or attribute of an unknown dialect, up to where its brackets close.
    pub(super) fn raw(&mut self) -> Res<Name> {
        let start = self.advance();
        let mut end = start.end;
        let mut text = self.word_of(start).to_owned();
        if self.tok.start == end && self.is("<") {
            let mut open = 0usize;
            loop {
                match self.tok.kind {
                    Tok::End | Tok::Bad => return Err(self.unexpected("`>`")),
                    Tok::Punct if matches!(self.word(), "<" | "(" | "[" | "{") => open += 1,
                    Tok::Punct if matches!(self.word(), ">" | ")" | "]" | "}") => open -= 1,
                    _ => {}
                }
                // What separates words is kept as one blank, so that no line of the text starts in the middle of it.
                text.push_str(if self.tok.start > end { " " } else { "" });
                text.push_str(self.word());
                end = self.advance().end;
                if open == 0 {
                    break;
                }
            }
        }
        Ok(Name::of(&text))
    }
}

/// A dialect type that a declarative format writes without its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BareType {
    Pointer,
    TensorDesc,
    MemDesc,
}

fn is_builtin_type(word: &str) -> bool {
    matches!(word, "index" | "none" | "tensor" | "vector" | "memref" | "complex" | "tuple")
        || integer_type(word).is_some()
        || FloatKind::ALL.into_iter().any(|k| k.name() == word)
}

/// The signedness and the digits of `i32`, `si32` and `ui32`.
fn integer_type(word: &str) -> Option<(Option<bool>, &str)> {
    let (sign, rest) = match word.as_bytes().first()? {
        b's' => (Some(true), &word[1..]),
        b'u' => (Some(false), &word[1..]),
        _ => (None, word),
    };
    let width = rest.strip_prefix('i')?;
    (!width.is_empty() && width.bytes().all(|b| b.is_ascii_digit())).then_some((sign, width))
}
