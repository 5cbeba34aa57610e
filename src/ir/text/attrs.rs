//! Writes attributes as text.

use super::floats::float_text;
use super::parse_amd::WMMA_DEFAULT;
use super::writer::{Aliases, Text};
use crate::ir::core::encoding::{
    AmdMfma, AmdWmma, Blocked, LinearBases, NvidiaMma, NvmmaShared, PaddedShared, SwizzledShared, TensorMemory,
};
use crate::ir::core::{Attr, AttrData, Bases, DenseData, Encoding, Name, Type, TypeData};

/// Writes the attribute without aliases.
impl std::fmt::Display for Attr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Text::new(Aliases::None);
        text.attr(*self);
        f.write_str(&text.out)
    }
}

/// The most elements that are listed. More of them are written as one hexadecimal string.
const MAX_LISTED_ELEMENTS: usize = 100;

/// How many bytes one element takes in the hexadecimal form.
pub(super) fn element_bytes(elem: Type) -> usize {
    elem.bit_width().unwrap_or(64).div_ceil(8).next_power_of_two() as usize
}

impl Text {
    /// Writes the attribute itself with its type. What it contains goes through aliases.
    pub(super) fn attr_body(&mut self, attr: Attr) {
        self.attr_without_type(attr);
        match attr.data() {
            AttrData::Int(_, ty) if !ty.is_int_of(1) => self.typed(*ty),
            AttrData::Float(_, kind) => self.typed(Type::float(*kind)),
            AttrData::Dense(ty, _) => self.typed(*ty),
            _ => {}
        }
    }

    fn typed(&mut self, ty: Type) {
        self.push(" : ");
        self.ty(ty);
    }

    /// Writes the attribute without a trailing type.
    pub fn attr_without_type(&mut self, attr: Attr) {
        match attr.data() {
            AttrData::Unit => self.push("unit"),
            AttrData::Int(v, ty) if ty.is_int_of(1) => self.push(if *v != 0 { "true" } else { "false" }),
            AttrData::Int(v, _) => self.push(&v.to_string()),
            AttrData::Float(bits, kind) => self.push(&float_text(*bits, *kind)),
            AttrData::Str(s) => self.string(s.as_str()),
            AttrData::Type(t) => self.ty(*t),
            AttrData::Array(items) => {
                self.push("[");
                self.commas(items, |t, &a| t.array_item(a));
                self.push("]");
            }
            AttrData::Dict(items) => {
                self.push("{");
                self.named_attrs(items);
                self.push("}");
            }
            AttrData::Symbol(s) => self.symbol_name(s.as_str()),
            AttrData::DenseArray(elem, values) => {
                self.push("array<");
                self.ty(*elem);
                self.push(if values.is_empty() { "" } else { ": " });
                self.commas(values, |t, &v| t.element(*elem, v as u64));
                self.push(">");
            }
            AttrData::Dense(ty, data) => self.dense(*ty, data),
            AttrData::Encoding(e) => self.encoding(e),
            AttrData::SharedMemory => self.push("#ttg.shared_memory"),
            AttrData::TensorMemory => self.push("#ttng.tensor_memory"),
            AttrData::Opaque(text) => self.push(text.as_str()),
        }
    }

    /// Writes an item of an array, in which i64 and f64 go without saying.
    fn array_item(&mut self, attr: Attr) {
        match attr.data() {
            AttrData::Int(_, ty) if ty.is_int_of(64) => self.attr_without_type(attr),
            AttrData::Float(_, crate::ir::core::FloatKind::F64) => self.attr_without_type(attr),
            _ => self.attr(attr),
        }
    }

    /// Writes `a = 1 : i32, b`. A unit attribute is its name alone.
    pub fn named_attrs(&mut self, attrs: &[(Name, Attr)]) {
        self.commas(attrs, |t, &(name, value)| {
            t.attr_key(name.as_str());
            if !matches!(value.data(), AttrData::Unit) {
                t.push(" = ");
                t.attr(value);
            }
        });
    }

    /// Writes an attribute's name, in quotes unless it is a plain word.
    fn attr_key(&mut self, name: &str) {
        if is_bare_word(name) { self.push(name) } else { self.string(name) }
    }

    /// Writes `@name`.
    pub fn symbol_name(&mut self, name: &str) {
        self.push("@");
        if is_bare_word(name) { self.push(name) } else { self.string(name) }
    }

    /// Writes one number of a dense attribute.
    fn element(&mut self, elem: Type, bits: u64) {
        match elem.data() {
            TypeData::Float(kind) => self.push(&float_text(bits, *kind)),
            TypeData::Int(1) => self.push(if bits != 0 { "true" } else { "false" }),
            _ => self.push(&(bits as i64).to_string()),
        }
    }

    fn dense(&mut self, ty: Type, data: &DenseData) {
        self.push("dense<");
        match data {
            DenseData::Splat(bits) => self.element(ty.elem(), *bits),
            DenseData::Elements(values) if values.len() > MAX_LISTED_ELEMENTS => {
                let bytes = element_bytes(ty.elem());
                self.push("\"0x");
                for v in values {
                    for b in &v.to_le_bytes()[..bytes] {
                        self.push(&format!("{b:02X}"));
                    }
                }
                self.push("\"");
            }
            DenseData::Elements(values) => self.nested_list(ty.elem(), ty.shape(), values),
        }
        self.push(">");
    }

    fn nested_list(&mut self, elem: Type, shape: &[i64], values: &[u64]) {
        let Some((&first, rest)) = shape.split_first() else {
            if let Some(&v) = values.first() {
                self.element(elem, v);
            }
            return;
        };
        self.push("[");
        let step = (values.len() / usize::try_from(first).unwrap_or(1).max(1)).max(1);
        self.commas(values.chunks(step), |t, part| t.nested_list(elem, rest, part));
        self.push("]");
    }

    fn encoding(&mut self, e: &Encoding) {
        match e {
            Encoding::Blocked(b) => self.blocked(b),
            Encoding::Slice { dim, parent } => {
                self.push(&format!("#ttg.slice<{{dim = {dim}, parent = "));
                self.attr(*parent);
                self.push("}>");
            }
            Encoding::DotOp { op_idx, parent, k_width } => {
                self.push(&format!("#ttg.dot_op<{{opIdx = {op_idx}, parent = "));
                self.attr(*parent);
                if *k_width != 0 {
                    self.push(&format!(", kWidth = {k_width}"));
                }
                self.push("}>");
            }
            Encoding::NvidiaMma(m) => self.nvidia_mma(m),
            Encoding::AmdMfma(m) => self.amd_mfma(m),
            Encoding::AmdWmma(m) => self.amd_wmma(m),
            Encoding::Linear(b) => self.linear("#ttg.linear", b),
            Encoding::GenericLinear(b) => self.linear("#ttg.generic_linear", b),
            Encoding::SwizzledShared(s) => self.swizzled("#ttg.swizzled_shared", s),
            Encoding::AmdRotatingShared(s) => self.swizzled("#ttg.amd_rotating_shared", s),
            Encoding::NvmmaShared(s) => self.nvmma(s),
            Encoding::SharedLinear { offset, block, alignment } => {
                self.push("#ttg.shared_linear<{");
                self.bases("offset", offset);
                if !block.is_empty() {
                    self.push(", ");
                    self.bases("block", block);
                }
                self.push(&format!("}}, alignment = {alignment}>"));
            }
            Encoding::PaddedShared(p) => self.padded(p),
            Encoding::TensorMemory(t) => self.tensor_memory(t),
            Encoding::TensorMemoryScales { cga, k_first } => {
                self.push("#ttng.tensor_memory_scales_encoding<");
                if !cga.is_empty() {
                    self.bases("CGALayout", cga);
                }
                if *k_first {
                    self.push(if cga.is_empty() { "blockRepOrder = kThenMn" } else { ", blockRepOrder = kThenMn" });
                }
                self.push(">");
            }
        }
    }

    fn blocked(&mut self, b: &Blocked) {
        self.push("#ttg.blocked<{");
        self.list("sizePerThread", &b.size_per_thread);
        self.push(", ");
        self.list("threadsPerWarp", &b.threads_per_warp);
        self.push(", ");
        self.list("warpsPerCTA", &b.warps_per_cta);
        self.push(", ");
        self.list("order", &b.order);
        self.cga(&b.cga);
        self.push("}>");
    }

    fn nvidia_mma(&mut self, m: &NvidiaMma) {
        self.push(&format!(
            "#ttg.nvidia_mma<{{versionMajor = {}, versionMinor = {}, ",
            m.version_major, m.version_minor
        ));
        self.list("warpsPerCTA", &m.warps_per_cta);
        self.cga(&m.cga);
        self.push(", ");
        self.list("instrShape", &m.instr_shape);
        self.push("}>");
    }

    fn amd_mfma(&mut self, m: &AmdMfma) {
        self.push(&format!("#ttg.amd_mfma<{{version = {}, ", m.version));
        self.list("warpsPerCTA", &m.warps_per_cta);
        self.push(", ");
        self.list("instrShape", &m.instr_shape);
        self.push(&format!(", isTransposed = {}", m.is_transposed));
        self.cga(&m.cga);
        if m.tiles_per_warp.iter().any(|&n| n != 1) {
            self.push(", ");
            self.list("tilesPerWarp", &m.tiles_per_warp);
        }
        if m.element_bit_width != 32 {
            self.push(&format!(", elementBitWidth = {}", m.element_bit_width));
        }
        self.push("}>");
    }

    fn amd_wmma(&mut self, m: &AmdWmma) {
        self.push(&format!(
            "#ttg.amd_wmma<{{version = {}, isTranspose = {}, ctaLayout = {{",
            m.version, m.is_transposed
        ));
        if !m.tiles.is_empty() {
            self.bases("register", &m.tiles);
            self.push(", ");
        }
        // Triton leaves out the bases of one warp, and does not read its own text then.
        self.bases("warp", &m.warps);
        self.push("}");
        if m.tiles.is_empty() && m.warps.is_empty() && m.rank != 2 {
            self.push(&format!(", rank = {}", m.rank));
        }
        self.cga(&m.cga);
        if m.instr_shape != WMMA_DEFAULT {
            self.push(", ");
            self.list("instrShape", &m.instr_shape);
        }
        self.push("}>");
    }

    fn linear(&mut self, name: &str, b: &LinearBases) {
        self.push(name);
        self.push("<{");
        for (i, (dim, bases)) in [("register", &b.register), ("lane", &b.lane), ("warp", &b.warp), ("block", &b.block)]
            .into_iter()
            .enumerate()
        {
            self.push(if i > 0 { ", " } else { "" });
            self.bases(dim, bases);
        }
        self.push("}>");
    }

    fn swizzled(&mut self, name: &str, s: &SwizzledShared) {
        self.push(&format!("{name}<{{vec = {}, perPhase = {}, maxPhase = {}, ", s.vec, s.per_phase, s.max_phase));
        self.list("order", &s.order);
        self.cga(&s.cga);
        self.push("}>");
    }

    fn nvmma(&mut self, s: &NvmmaShared) {
        self.push(&format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = {}, elementBitWidth = {}",
            s.swizzling_byte_width, s.transposed, s.element_bit_width
        ));
        if s.fp4_padded {
            self.push(", fp4Padded = true");
        }
        if s.cga.is_empty() && s.rank != 2 {
            self.push(&format!(", rank = {}", s.rank));
        }
        self.cga(&s.cga);
        self.push("}>");
    }

    fn padded(&mut self, p: &PaddedShared) {
        self.push("#ttg.padded_shared<[");
        self.commas(&p.intervals, |t, (interval, padding)| t.push(&format!("{interval}:+{padding}")));
        self.push("] {");
        if let Some(order) = identity_order(&p.offset, &p.shape).filter(|_| p.block.is_empty()) {
            self.list("order", &order);
            self.push(", ");
            self.list("shape", &p.shape);
        } else {
            self.bases("offset", &p.offset);
            self.push(", ");
            self.bases("block", &p.block);
        }
        self.push("}>");
    }

    fn tensor_memory(&mut self, t: &TensorMemory) {
        self.push(&format!(
            "#ttng.tensor_memory_encoding<blockM = {}, blockN = {}, colStride = {}",
            t.block_m, t.block_n, t.col_stride
        ));
        self.cga(&t.cga);
        if t.two_ctas {
            self.push(", twoCTAs = true");
        }
        if t.fp4_padded {
            self.push(", fp4Padded = true");
        }
        self.push(">");
    }

    fn cga(&mut self, bases: &Bases) {
        if !bases.is_empty() {
            self.push(", ");
            self.bases("CGALayout", bases);
        }
    }

    fn list(&mut self, key: &str, values: &[u32]) {
        self.push(key);
        self.push(" = [");
        self.commas(values, |t, v| t.push(&v.to_string()));
        self.push("]");
    }

    fn bases(&mut self, key: &str, bases: &Bases) {
        self.push(key);
        self.push(" = [");
        self.commas(bases, |t, basis| {
            t.push("[");
            t.commas(basis, |t, v| t.push(&v.to_string()));
            t.push("]");
        });
        self.push("]");
    }
}

/// The basis vectors that run through `shape` in `order`, the fastest dimension first.
#[must_use]
pub fn identity_bases(shape: &[u32], order: &[u32]) -> Bases {
    let mut bases = vec![];
    for &dim in order {
        let Some(&size) = shape.get(dim as usize) else { continue };
        for bit in 0..size.max(1).ilog2() {
            let mut basis = vec![0; shape.len()];
            basis[dim as usize] = 1 << bit;
            bases.push(basis);
        }
    }
    bases
}

/// The order in which `offset` runs through `shape`, if it does nothing else.
fn identity_order(offset: &Bases, shape: &[u32]) -> Option<Vec<u32>> {
    let mut order: Vec<u32> = vec![];
    for basis in offset {
        for dim in (0..basis.len() as u32).filter(|&d| basis[d as usize] != 0) {
            if !order.contains(&dim) {
                order.push(dim);
            }
        }
    }
    let rest: Vec<u32> = (0..shape.len() as u32).rev().filter(|d| !order.contains(d)).collect();
    order.extend(rest);
    (identity_bases(shape, &order) == *offset).then_some(order)
}

/// Whether a name can stand without quotes. It can if it is a letter or `_`, followed by letters, digits, `_`, `$` and
/// `.`.
#[must_use]
pub fn is_bare_word(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}
