//! Reads attributes of the `ttg` and `ttng` dialects: layout encodings and memory spaces.
//!
//! Every encoding is a list of fields, `<{name = value, …}>` or `<name = value, …>`. [`Fields`] hands them out by name,
//! and then complains about those that nobody asked for.

use super::attrs::identity_bases;
use super::lexer::Token;
use super::parser::{Parser, Res};
use crate::diag::codes::irtext as codes;
use crate::ir::core::encoding::{
    Blocked, LinearBases, NvidiaMma, NvmmaShared, PaddedShared, SwizzledShared, TensorMemory,
};
use crate::ir::core::{Attr, AttrData, Bases, Encoding, Name};
use crate::ir::encoding::{questions, wellformed};

/// The fields of an encoding that are left to read.
pub(super) struct Fields {
    entries: Vec<(Name, Attr, Token)>,
    /// The encoding's name, for messages.
    at: Token,
}

impl Fields {
    /// The entries of a dictionary that stands at `at`.
    pub(super) fn of(entries: &[(Name, Attr)], at: Token) -> Fields {
        Fields { entries: entries.iter().map(|&(name, value)| (name, value, at)).collect(), at }
    }

    /// Whether a field of this name is left.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|e| e.0.as_str() == name)
    }
}

impl Parser<'_> {
    /// Reads `#ttg.blocked<…>` and its like. Attributes of other dialects are kept as text.
    pub(super) fn dialect_attr(&mut self) -> Res<Attr> {
        let at = self.tok;
        let name = self.word();
        let simple = match name {
            "#ttg.shared_memory" => Some(AttrData::SharedMemory),
            "#ttng.tensor_memory" => Some(AttrData::TensorMemory),
            _ => None,
        };
        if let Some(data) = simple {
            self.advance();
            return Ok(Attr::new(data));
        }
        let encoding = match name {
            "#ttg.blocked" => self.blocked(at)?,
            "#ttg.slice" => self.slice(at)?,
            "#ttg.dot_op" => self.dot_op(at)?,
            "#ttg.nvidia_mma" => self.nvidia_mma(at)?,
            "#ttg.linear" => Encoding::Linear(self.linear(at)?),
            "#ttg.generic_linear" => Encoding::GenericLinear(self.linear(at)?),
            "#ttg.swizzled_shared" => Encoding::SwizzledShared(self.swizzled(at)?),
            "#ttg.amd_rotating_shared" => Encoding::AmdRotatingShared(self.swizzled(at)?),
            "#ttg.nvmma_shared" => self.nvmma(at)?,
            "#ttg.shared_linear" => self.shared_linear(at)?,
            "#ttg.padded_shared" => self.padded(at)?,
            "#ttng.tensor_memory_encoding" => self.tensor_memory(at)?,
            "#ttng.tensor_memory_scales_encoding" => self.tensor_memory_scales(at)?,
            "#ttg.amd_mfma" => self.amd_mfma(at)?,
            "#ttg.amd_wmma" => self.amd_wmma(at)?,
            _ => return Ok(Attr::new(AttrData::Opaque(self.raw()?))),
        };
        match wellformed::encoding(&encoding) {
            Ok(()) => Ok(Attr::encoding(encoding)),
            Err(message) => self.bad_encoding(at, message),
        }
    }

    /// Reads `<{…}>`.
    pub(super) fn fields(&mut self, at: Token) -> Res<Fields> {
        self.advance();
        self.expect("<")?;
        let entries = self.attr_entries()?;
        self.expect(">")?;
        Ok(Fields { entries, at })
    }

    /// Reads `<…>` without braces.
    fn bare_fields(&mut self, at: Token) -> Res<Fields> {
        self.advance();
        let entries = self.list("<", ">", &mut |p| p.attr_entry())?;
        Ok(Fields { entries, at })
    }

    pub(super) fn bad_encoding<T>(&self, at: Token, message: impl Into<String>) -> Res<T> {
        Err(self.error_at(&codes::IR_BAD_ENCODING, at, message))
    }

    pub(super) fn take(&self, f: &mut Fields, name: &str) -> Res<(Attr, Token)> {
        match self.take_optional(f, name) {
            Some(found) => Ok(found),
            None => self.bad_encoding(f.at, format!("this encoding lacks the field `{name}`")),
        }
    }

    #[allow(clippy::unused_self)]
    fn take_optional(&self, f: &mut Fields, name: &str) -> Option<(Attr, Token)> {
        let i = f.entries.iter().position(|e| e.0.as_str() == name)?;
        let (_, value, at) = f.entries.remove(i);
        Some((value, at))
    }

    pub(super) fn done(&self, f: Fields) -> Res<()> {
        match f.entries.first() {
            Some((name, _, at)) => self.bad_encoding(*at, format!("this encoding has no field `{name}`")),
            None => Ok(()),
        }
    }

    pub(super) fn uint(&self, f: &mut Fields, name: &str) -> Res<u32> {
        let (value, at) = self.take(f, name)?;
        self.as_uint(value, at)
    }

    fn as_uint(&self, value: Attr, at: Token) -> Res<u32> {
        match value.as_int().and_then(|v| u32::try_from(v).ok()) {
            Some(v) => Ok(v),
            None => self.bad_encoding(at, format!("expected a number that is not negative, found `{value}`")),
        }
    }

    pub(super) fn optional_uint(&self, f: &mut Fields, name: &str, default: u32) -> Res<u32> {
        self.take_optional(f, name).map_or(Ok(default), |(v, at)| self.as_uint(v, at))
    }

    pub(super) fn flag(&self, f: &mut Fields, name: &str) -> Res<bool> {
        match self.take_optional(f, name) {
            None => Ok(false),
            Some((v, at)) => v
                .as_bool()
                .map_or_else(|| self.bad_encoding(at, format!("expected `true` or `false`, found `{v}`")), Ok),
        }
    }

    pub(super) fn uints(&self, f: &mut Fields, name: &str) -> Res<Vec<u32>> {
        let (value, at) = self.take(f, name)?;
        let AttrData::Array(items) = value.data() else {
            return self.bad_encoding(at, format!("`{name}` is a list of numbers"));
        };
        items.iter().map(|&v| self.as_uint(v, at)).collect()
    }

    /// Does what `bases` does for a field that must be there.
    fn required_bases(&self, f: &mut Fields, name: &str) -> Res<Bases> {
        if f.has(name) {
            return self.bases(f, name);
        }
        self.bad_encoding(f.at, format!("this encoding lacks the field `{name}`"))
    }

    /// Reads `[[0, 1], [2, 0]]`. The result is empty where the field is absent.
    pub(super) fn bases(&self, f: &mut Fields, name: &str) -> Res<Bases> {
        let Some((value, at)) = self.take_optional(f, name) else { return Ok(vec![]) };
        let bad = || self.error_at(&codes::IR_BAD_ENCODING, at, format!("`{name}` is a list of lists of numbers"));
        let AttrData::Array(items) = value.data() else { return Err(bad()) };
        let mut out: Bases = vec![];
        for item in items {
            let AttrData::Array(coords) = item.data() else { return Err(bad()) };
            let basis: Option<Vec<i32>> =
                coords.iter().map(|v| v.as_int().and_then(|v| i32::try_from(v).ok()).filter(|&v| v >= 0)).collect();
            out.push(basis.ok_or_else(bad)?);
        }
        Ok(out)
    }

    fn blocked(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.fields(at)?;
        let b = Blocked {
            size_per_thread: self.uints(&mut f, "sizePerThread")?,
            threads_per_warp: self.uints(&mut f, "threadsPerWarp")?,
            warps_per_cta: self.uints(&mut f, "warpsPerCTA")?,
            order: self.uints(&mut f, "order")?,
            cga: self.bases(&mut f, "CGALayout")?,
        };
        self.done(f)?;
        Ok(Encoding::Blocked(b))
    }

    /// Reads the layout that another one is made from.
    fn parent(&self, f: &mut Fields) -> Res<Attr> {
        let (parent, at) = self.take(f, "parent")?;
        if parent.as_encoding().is_some_and(questions::is_distributed) {
            return Ok(parent);
        }
        self.bad_encoding(at, format!("the parent is a layout of threads, found `{parent}`"))
    }

    fn slice(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.fields(at)?;
        let dim = self.uint(&mut f, "dim")?;
        let parent = self.parent(&mut f)?;
        self.done(f)?;
        Ok(Encoding::Slice { dim, parent })
    }

    fn dot_op(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.fields(at)?;
        let op_idx = self.uint(&mut f, "opIdx")?;
        let parent = self.parent(&mut f)?;
        let k_width = self.optional_uint(&mut f, "kWidth", 0)?;
        self.done(f)?;
        Ok(Encoding::DotOp { op_idx, parent, k_width })
    }

    fn nvidia_mma(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.fields(at)?;
        let m = NvidiaMma {
            version_major: self.uint(&mut f, "versionMajor")?,
            version_minor: self.optional_uint(&mut f, "versionMinor", 0)?,
            warps_per_cta: self.uints(&mut f, "warpsPerCTA")?,
            cga: self.bases(&mut f, "CGALayout")?,
            instr_shape: self.uints(&mut f, "instrShape")?,
        };
        self.done(f)?;
        Ok(Encoding::NvidiaMma(m))
    }

    fn linear(&mut self, at: Token) -> Res<LinearBases> {
        let mut f = self.fields(at)?;
        let b = LinearBases {
            register: self.required_bases(&mut f, "register")?,
            lane: self.required_bases(&mut f, "lane")?,
            warp: self.required_bases(&mut f, "warp")?,
            block: self.required_bases(&mut f, "block")?,
        };
        self.done(f)?;
        Ok(b)
    }

    fn swizzled(&mut self, at: Token) -> Res<SwizzledShared> {
        let mut f = self.fields(at)?;
        let s = SwizzledShared {
            vec: self.uint(&mut f, "vec")?,
            per_phase: self.uint(&mut f, "perPhase")?,
            max_phase: self.uint(&mut f, "maxPhase")?,
            order: self.uints(&mut f, "order")?,
            cga: self.bases(&mut f, "CGALayout")?,
        };
        self.done(f)?;
        Ok(s)
    }

    fn nvmma(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.fields(at)?;
        let cga = self.bases(&mut f, "CGALayout")?;
        let default_rank = cga.first().map_or(2, |b| b.len() as u32);
        let s = NvmmaShared {
            swizzling_byte_width: self.uint(&mut f, "swizzlingByteWidth")?,
            transposed: self.flag(&mut f, "transposed")?,
            element_bit_width: self.uint(&mut f, "elementBitWidth")?,
            fp4_padded: self.flag(&mut f, "fp4Padded")?,
            rank: self.optional_uint(&mut f, "rank", default_rank)?,
            cga,
        };
        self.done(f)?;
        Ok(Encoding::NvmmaShared(s))
    }

    fn shared_linear(&mut self, at: Token) -> Res<Encoding> {
        self.advance();
        self.expect("<")?;
        let entries = self.attr_entries()?;
        let mut f = Fields { entries, at };
        let (offset, block) = (self.required_bases(&mut f, "offset")?, self.bases(&mut f, "block")?);
        self.done(f)?;
        let mut alignment = 16;
        if self.eat(",") {
            self.expect("alignment")?;
            self.expect("=")?;
            alignment = self.unsigned("an alignment")?;
        }
        self.expect(">")?;
        Ok(Encoding::SharedLinear { offset, block, alignment })
    }

    /// Reads `<[32:+4, 128:+8] {order = [1, 0], shape = [16, 32]}>`, or with `offset` and `block` in the braces.
    fn padded(&mut self, at: Token) -> Res<Encoding> {
        self.advance();
        self.expect("<")?;
        let intervals = self.list("[", "]", &mut |p| {
            let interval = p.unsigned("an interval")?;
            p.expect(":")?;
            p.expect("+")?;
            Ok((interval, p.unsigned("a padding")?))
        })?;
        let entries = self.attr_entries()?;
        self.expect(">")?;
        let mut f = Fields { entries, at };
        let padded = if f.entries.iter().any(|e| matches!(e.0.as_str(), "offset" | "block")) {
            let (offset, block) = (self.required_bases(&mut f, "offset")?, self.required_bases(&mut f, "block")?);
            let shape = wellformed::extents(&[&offset, &block]);
            PaddedShared { intervals, offset, block, shape }
        } else {
            let (order, shape) = (self.uints(&mut f, "order")?, self.uints(&mut f, "shape")?);
            // The bases can be made of nothing else.
            let bad = |rule: wellformed::Rule| rule.or_else(|e| self.bad_encoding(at, e));
            bad(wellformed::permutation(&order))?;
            if shape.len() != order.len() || shape.iter().any(|s| !s.is_power_of_two()) {
                return self.bad_encoding(
                    at,
                    format!("`shape` has a power of two for each of the {} entries of `order`", order.len()),
                );
            }
            PaddedShared { intervals, offset: identity_bases(&shape, &order), block: vec![], shape }
        };
        self.done(f)?;
        Ok(Encoding::PaddedShared(padded))
    }

    fn tensor_memory(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.bare_fields(at)?;
        let t = TensorMemory {
            block_m: self.uint(&mut f, "blockM")?,
            block_n: self.uint(&mut f, "blockN")?,
            col_stride: self.uint(&mut f, "colStride")?,
            cga: self.bases(&mut f, "CGALayout")?,
            two_ctas: self.flag(&mut f, "twoCTAs")?,
            fp4_padded: self.flag(&mut f, "fp4Padded")?,
        };
        self.done(f)?;
        Ok(Encoding::TensorMemory(t))
    }

    fn tensor_memory_scales(&mut self, at: Token) -> Res<Encoding> {
        self.advance();
        let mut k_first = false;
        let fields = self.list("<", ">", &mut |p| p.scales_field(&mut k_first))?;
        let mut f = Fields { entries: fields.into_iter().flatten().collect(), at };
        let cga = self.bases(&mut f, "CGALayout")?;
        self.done(f)?;
        Ok(Encoding::TensorMemoryScales { cga, k_first })
    }

    /// Reads a field of the scales' encoding. `blockRepOrder` takes a bare word, which is no attribute.
    fn scales_field(&mut self, k_first: &mut bool) -> Res<Option<(Name, Attr, Token)>> {
        if self.word() != "blockRepOrder" {
            return self.attr_entry().map(Some);
        }
        self.advance();
        self.expect("=")?;
        *k_first = match self.word() {
            "kThenMn" => true,
            "mnThenK" => false,
            _ => return Err(self.unexpected("`mnThenK` or `kThenMn`")),
        };
        self.advance();
        Ok(None)
    }
}
