//! Reads attributes.

use super::attrs::element_bytes;
use super::floats::parse_float;
use super::lexer::{Tok, Token};
use super::parser::{Meaning, Parser, Res};
use super::printer::{CACHE_POLICY, has_cache_policy};
use crate::diag::codes::irtext as codes;
use crate::ir::core::attrs::sign_extend;
use crate::ir::core::{Attr, AttrData, DenseData, FloatKind, Name, Op, Type, TypeData};
use crate::ir::dialects::enums;
use crate::ir::dialects::enums::Enumeration;
use crate::ir::dialects::spec::{AttrKind, AttrSpec, EnumSpec};

impl Parser<'_> {
    /// Reads an attribute.
    pub(super) fn attr(&mut self) -> Res<Attr> {
        self.nested(|p| match p.tok.kind {
            Tok::Hash => p.hash_attr(),
            Tok::Str => {
                let text = p.string()?;
                if p.eat(":") {
                    p.ty()?;
                }
                Ok(Attr::str(&text))
            }
            Tok::Symbol => Ok(Attr::symbol(&p.symbol_path()?)),
            Tok::Int | Tok::Float => p.number(),
            Tok::Bang => Ok(Attr::ty(p.ty()?)),
            Tok::Word => p.word_attr(),
            _ if p.is("-") => p.number(),
            _ if p.is("[") => Ok(Attr::new(AttrData::Array(p.list("[", "]", &mut |p| p.attr())?))),
            _ if p.is("{") => {
                let mut entries = p.attr_entries()?;
                entries.sort_by_key(|a| a.0);
                Ok(Attr::new(AttrData::Dict(entries.into_iter().map(|(n, a, _)| (n, a)).collect())))
            }
            _ if p.is("(") => Ok(Attr::ty(p.ty()?)),
            _ => Err(p.unexpected("an attribute")),
        })
    }

    fn symbol_path(&mut self) -> Res<String> {
        let mut name = self.symbol()?;
        while self.eat("::") {
            name.push_str("::@");
            name.push_str(&self.symbol()?);
        }
        Ok(name)
    }

    fn word_attr(&mut self) -> Res<Attr> {
        match self.word() {
            "true" | "false" => {
                let t = self.advance();
                Ok(Attr::bool(self.word_of(t) == "true"))
            }
            "unit" => {
                self.advance();
                Ok(Attr::unit())
            }
            "dense" => self.dense(),
            "array" => self.dense_array(),
            "affine_map" | "affine_set" | "dense_resource" | "sparse" | "strided" | "distinct" => {
                Ok(Attr::new(AttrData::Opaque(self.raw()?)))
            }
            _ if self.at_type() => Ok(Attr::ty(self.ty()?)),
            _ => Err(self.unexpected("an attribute")),
        }
    }

    fn hash_attr(&mut self) -> Res<Attr> {
        let (t, word) = (self.tok, self.word());
        if word.contains('.') {
            return self.dialect_attr();
        }
        self.advance();
        match self.alias(word, t)? {
            Meaning::Attr(attr) => Ok(attr),
            Meaning::Type(ty) => Ok(Attr::ty(ty)),
            Meaning::Loc(_) => Err(self.syntax(t, format!("`{word}` is a location, not an attribute"))),
        }
    }

    /// Reads entries in braces: `{a = 1 : i32, "b-c", d.e = "x"}`. A name alone is a unit attribute.
    pub(super) fn attr_entries(&mut self) -> Res<Vec<(Name, Attr, Token)>> {
        let entries = self.list("{", "}", &mut |p| p.attr_entry())?;
        let mut names: Vec<_> = entries.iter().map(|e| (e.0, e.2)).collect();
        names.sort_by_key(|a| (a.0, a.1.start));
        if let Some(pair) = names.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(self.error_at(
                &codes::IR_REDEFINED,
                pair[1].1,
                format!("the attribute `{}` is given twice", pair[1].0),
            ));
        }
        Ok(entries)
    }

    pub(super) fn attr_entry(&mut self) -> Res<(Name, Attr, Token)> {
        let at = self.tok;
        let name = match self.tok.kind {
            Tok::Word => Name::of(self.word_of(self.tok)),
            Tok::Str => Name::of(&super::lexer::unescape(self.word()).unwrap_or_default()),
            _ => return Err(self.unexpected("the name of an attribute")),
        };
        self.advance();
        let value = if self.eat("=") { self.attr()? } else { Attr::unit() };
        Ok((name, value, at))
    }

    /// Stores attributes. Those of the operation's table get the form that the table says.
    pub(super) fn set_attrs(&mut self, op: Op, entries: Vec<(Name, Attr, Token)>) -> Res<()> {
        for (name, value, at) in entries {
            if name.as_str() == CACHE_POLICY && has_cache_policy(self.ir.spec(op)) {
                self.set_cache_policy(op, value, at)?;
                continue;
            }
            let value = match self.ir.spec(op).attr(name.as_str()) {
                Some(spec) => self.normal_form(spec, value, at)?,
                None => value,
            };
            self.ir.set_attr(op, name.as_str(), value);
        }
        Ok(())
    }

    /// Stores `#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>` as two attributes.
    fn set_cache_policy(&mut self, op: Op, value: Attr, at: Token) -> Res<()> {
        let inner = match value.data() {
            AttrData::Opaque(text) => text.as_str().strip_prefix("#tt.cache_policy<").and_then(|t| t.strip_suffix('>')),
            _ => None,
        };
        let Some(inner) = inner else {
            return Err(self.syntax(at, format!("expected `#tt.cache_policy<…>`, found `{value}`")));
        };
        for field in inner.split(',') {
            let (key, word) = field.split_once('=').map_or((field.trim(), ""), |(k, w)| (k.trim(), w.trim()));
            let (name, spec): (_, &EnumSpec) = match key {
                "cache_modifier" => ("cache", enums::CacheModifier::SPEC),
                "eviction_policy" => ("evict", enums::EvictionPolicy::SPEC),
                _ => return Err(self.syntax(at, format!("a cache policy has no field `{key}`"))),
            };
            let Some(case) = spec.value(word) else {
                return Err(self.syntax(at, format!("`{word}` is no {}", spec.name)));
            };
            self.ir.set_attr(op, name, Attr::i32(case));
        }
        let spec = self.ir.spec(op);
        self.drop_defaults(op, spec);
        Ok(())
    }

    /// An inherent attribute as operations store it. Enumerations are i32, whichever way the text writes them.
    fn normal_form(&self, spec: &AttrSpec, value: Attr, at: Token) -> Res<Attr> {
        let (AttrKind::Enum(e) | AttrKind::Flags(e)) = spec.kind else { return Ok(value) };
        match value.data() {
            AttrData::Int(v, _) => Ok(Attr::i32(*v)),
            AttrData::Opaque(text) => {
                let inner = text.as_str().split_once('<').and_then(|(_, rest)| rest.strip_suffix('>'));
                let bits = inner.and_then(|words| flags(e, words.split(',').map(str::trim)));
                bits.map(Attr::i32).ok_or_else(|| self.syntax(at, format!("`{text}` is no {}", e.name)))
            }
            _ => Ok(value),
        }
    }

    // ---- numbers ----

    /// Reads `-1`, `0x7F800000 : f32` or `1.5 : f16`. Integers are i64 and floats f64 unless a type follows.
    fn number(&mut self) -> Res<Attr> {
        let start = self.tok;
        let minus = self.eat("-");
        let t = self.advance();
        let ty = if self.eat(":") { Some(self.ty()?) } else { None };
        match t.kind {
            Tok::Int => {
                let ty = ty.unwrap_or(Type::int(64));
                let bits = self.int_element(start, minus, t, ty)?;
                Ok(if let TypeData::Float(k) = *ty {
                    Attr::new(AttrData::Float(bits, k))
                } else {
                    Attr::int(bits as i64, ty)
                })
            }
            Tok::Float => {
                let ty = ty.unwrap_or(Type::float(FloatKind::F64));
                let Some(kind) = ty.as_float() else {
                    return Err(self.error_at(&codes::IR_BAD_LITERAL, t, format!("a float cannot have type `{ty}`")));
                };
                Ok(Attr::new(AttrData::Float(self.float_element(minus, t, kind)?, kind)))
            }
            _ => Err(self.syntax(t, "expected a number")),
        }
    }

    /// The bits of an integer literal in a type. A hexadecimal literal in a float type is that float's bits.
    fn int_element(&self, start: Token, minus: bool, t: Token, ty: Type) -> Res<u64> {
        let misfit = || self.error_at(&codes::IR_BAD_LITERAL, start, format!("this integer does not fit type `{ty}`"));
        let magnitude = self.magnitude(t)?;
        match *ty {
            TypeData::Float(kind) if self.word_of(t).starts_with("0x") && !minus => {
                if kind.bits() < 64 && magnitude >> kind.bits() != 0 { Err(misfit()) } else { Ok(magnitude) }
            }
            TypeData::Int(_) | TypeData::Index => {
                let width = if let TypeData::Int(w) = *ty { w.min(64) } else { 64 };
                let value = if minus { -i128::from(magnitude) } else { i128::from(magnitude) };
                if value < -(1i128 << (width - 1)) || value >= 1i128 << width {
                    return Err(misfit());
                }
                Ok(sign_extend(value as i64, width) as u64)
            }
            _ => Err(misfit()),
        }
    }

    fn float_element(&self, minus: bool, t: Token, kind: FloatKind) -> Res<u64> {
        let text = format!("{}{}", if minus { "-" } else { "" }, self.word_of(t));
        parse_float(&text, kind).ok_or_else(|| self.error_at(&codes::IR_BAD_LITERAL, t, "this is no float"))
    }

    // ---- arrays and dense constants ----

    /// Reads `array<i32: 1, 2>`.
    fn dense_array(&mut self) -> Res<Attr> {
        self.advance();
        self.expect("<")?;
        let ty = self.ty()?;
        let mut values = vec![];
        if self.eat(":") {
            loop {
                values.push(self.element(ty)?.0 as i64);
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect(">")?;
        Ok(Attr::new(AttrData::DenseArray(ty, values)))
    }

    /// Reads one number of a given type and gives its bits.
    fn element(&mut self, ty: Type) -> Res<(u64, Token)> {
        let start = self.tok;
        if ty.is_int_of(1) && (self.is("true") || self.is("false")) {
            let t = self.advance();
            return Ok((if self.word_of(t) == "true" { u64::MAX } else { 0 }, start));
        }
        let minus = self.eat("-");
        let t = self.tok;
        let bits = match (t.kind, ty.data()) {
            (Tok::Int, _) => self.int_element(start, minus, t, ty)?,
            (Tok::Float, TypeData::Float(kind)) => self.float_element(minus, t, *kind)?,
            _ => return Err(self.unexpected(&format!("a number of type `{ty}`"))),
        };
        self.advance();
        Ok((bits, start))
    }

    /// Reads `dense<1.0> : tensor<4xf32>` or `dense<[1, 2]>` or `dense<"0x…">`. The type comes last, so the elements
    /// are read again once it is known.
    fn dense(&mut self) -> Res<Attr> {
        let start = self.advance();
        self.expect("<")?;
        let elements = self.tok;
        let mut open = 0usize;
        while !(open == 0 && self.is(">")) {
            match self.tok.kind {
                Tok::End | Tok::Bad => return Err(self.unexpected("`>`")),
                Tok::Punct if self.is("[") => open += 1,
                Tok::Punct if self.is("]") && open > 0 => open -= 1,
                _ => {}
            }
            self.advance();
        }
        self.expect(">")?;
        self.expect(":")?;
        let ty = self.ty()?;
        if !ty.is_tensor() || !matches!(*ty.elem(), TypeData::Int(_) | TypeData::Float(_) | TypeData::Index) {
            return Err(self.error_at(
                &codes::IR_BAD_LITERAL,
                start,
                format!("a dense constant is a tensor of numbers, not `{ty}`"),
            ));
        }
        let end = self.tok;
        self.tok = elements;
        let data = self.dense_elements(ty)?;
        self.tok = end;
        Ok(Attr::new(AttrData::Dense(ty, data)))
    }

    fn dense_elements(&mut self, ty: Type) -> Res<DenseData> {
        let count = usize::try_from(ty.num_elements()).unwrap_or(usize::MAX);
        if self.is(">") {
            return if count == 0 { Ok(DenseData::Elements(vec![])) } else { Err(self.unexpected("elements")) };
        }
        if self.tok.kind == Tok::Str {
            return self.dense_hex(ty, count);
        }
        if !self.is("[") {
            return Ok(DenseData::Splat(self.element(ty.elem())?.0));
        }
        let at = self.tok;
        let mut values = vec![];
        self.dense_list(ty.elem(), ty.shape(), &mut values)?;
        if values.len() != count {
            let message = format!("{} elements for a tensor of {count}", values.len());
            return Err(self.error_at(&codes::IR_BAD_LITERAL, at, message));
        }
        Ok(splat_or_elements(values))
    }

    fn dense_list(&mut self, elem: Type, shape: &[i64], out: &mut Vec<u64>) -> Res<()> {
        let Some((&extent, rest)) = shape.split_first() else {
            out.push(self.element(elem)?.0);
            return Ok(());
        };
        let at = self.tok;
        let items = self.list("[", "]", &mut |p| p.dense_list(elem, rest, out))?;
        if i64::try_from(items.len()) == Ok(extent) {
            return Ok(());
        }
        Err(self.error_at(&codes::IR_BAD_LITERAL, at, format!("{} entries in a dimension of {extent}", items.len())))
    }

    /// Reads `"0x…"`, the bytes of the elements, least significant first.
    fn dense_hex(&mut self, ty: Type, count: usize) -> Res<DenseData> {
        let at = self.tok;
        let text = self.string()?;
        let bad = || {
            self.error_at(
                &codes::IR_BAD_LITERAL,
                at,
                format!("this is not the hexadecimal form of {count} elements of type `{}`", ty.elem()),
            )
        };
        let hex = text.strip_prefix("0x").filter(|h| h.is_ascii()).ok_or_else(bad)?;
        let bytes = element_bytes(ty.elem());
        let mut values = vec![];
        for chunk in hex.as_bytes().chunks(2 * bytes) {
            let mut value = 0u64;
            for (i, pair) in chunk.chunks(2).enumerate().take(8) {
                let digits = std::str::from_utf8(pair).map_err(|_| bad())?;
                value |= u64::from_str_radix(digits, 16).map_err(|_| bad())? << (8 * i);
            }
            if let TypeData::Int(w) = *ty.elem() {
                value = sign_extend(value as i64, w) as u64;
            }
            values.push(value);
        }
        match values.len() {
            _ if hex.len() % (2 * bytes) != 0 => Err(bad()),
            1 if count > 1 => Ok(DenseData::Splat(values[0])),
            n if n == count => Ok(splat_or_elements(values)),
            _ => Err(bad()),
        }
    }
}

/// Makes a splat of elements that are all equal.
fn splat_or_elements(values: Vec<u64>) -> DenseData {
    match values.first() {
        Some(&first) if values.iter().all(|&v| v == first) => DenseData::Splat(first),
        _ => DenseData::Elements(values),
    }
}

/// The bits that words of an enumeration stand for together.
#[must_use]
pub(super) fn flags<'w>(spec: &EnumSpec, words: impl Iterator<Item = &'w str>) -> Option<i64> {
    let mut bits = 0;
    for word in words {
        bits |= spec.value(word)?;
    }
    Some(if std::ptr::eq(spec, &raw const enums::FASTMATH) && bits & 127 == 127 { 127 } else { bits })
}
