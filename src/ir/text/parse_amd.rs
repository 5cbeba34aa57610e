//! Reads the encodings of AMD's matrix instructions.

use super::lexer::Token;
use super::parse_encodings::Fields;
use super::parser::{Parser, Res};
use crate::ir::core::encoding::{AmdMfma, AmdWmma};
use crate::ir::core::{AttrData, Encoding};

/// The tile that `wmma` has when none is written, as M × N × K.
pub(super) const WMMA_DEFAULT: [u32; 3] = [16, 16, 16];

impl Parser<'_> {
    /// Reads `<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>`.
    pub(super) fn amd_mfma(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.fields(at)?;
        let (warps_per_cta, instr_shape) = (self.uints(&mut f, "warpsPerCTA")?, self.uints(&mut f, "instrShape")?);
        let tiles_per_warp =
            if f.has("tilesPerWarp") { self.uints(&mut f, "tilesPerWarp")? } else { vec![1; warps_per_cta.len()] };
        let m = AmdMfma {
            version: self.uint(&mut f, "version")?,
            warps_per_cta,
            instr_shape,
            is_transposed: self.flag(&mut f, "isTransposed")?,
            cga: self.bases(&mut f, "CGALayout")?,
            tiles_per_warp,
            element_bit_width: self.optional_uint(&mut f, "elementBitWidth", 32)?,
        };
        self.done(f)?;
        Ok(Encoding::AmdMfma(m))
    }

    /// Reads `<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>`.
    pub(super) fn amd_wmma(&mut self, at: Token) -> Res<Encoding> {
        let mut f = self.fields(at)?;
        let mut cta = self.inner_fields(&mut f, "ctaLayout")?;
        let (tiles, warps) = (self.bases(&mut cta, "register")?, self.bases(&mut cta, "warp")?);
        self.done(cta)?;
        let stated = tiles.first().or(warps.first()).map_or(2, |basis| basis.len() as u32);
        let m = AmdWmma {
            version: self.uint(&mut f, "version")?,
            is_transposed: self.flag(&mut f, "isTranspose")?,
            tiles,
            warps,
            cga: self.bases(&mut f, "CGALayout")?,
            instr_shape: if f.has("instrShape") { self.uints(&mut f, "instrShape")? } else { WMMA_DEFAULT.to_vec() },
            rank: self.optional_uint(&mut f, "rank", stated)?,
        };
        self.done(f)?;
        Ok(Encoding::AmdWmma(m))
    }

    /// The fields of a field: `{register = …, warp = …}`.
    fn inner_fields(&self, f: &mut Fields, name: &str) -> Res<Fields> {
        let (value, at) = self.take(f, name)?;
        match value.data() {
            AttrData::Dict(entries) => Ok(Fields::of(entries, at)),
            _ => self.bad_encoding(at, format!("`{name}` is a list of fields in braces, found `{value}`")),
        }
    }
}
