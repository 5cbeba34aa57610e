//! Reads the encodings of AMD's matrix instructions. Nothing here compiles for AMD, so they are kept as they are
//! written. But a field that no instruction has is a fault where it stands, as in every other encoding.
//!
//! | encoding | rule |
//! |---|---|
//! | `#ttg.amd_mfma` | `version` 0 to 4; a tile of 32×32, 16×16, 64×4 or 4×64; `elementBitWidth` 32 or 64 |
//! | `#ttg.amd_wmma` | `version` 1 to 3, each with tiles of its own |

use super::lexer::Token;
use super::parse_encodings::Fields;
use super::parser::{Parser, Res};
use crate::ir::core::{Attr, AttrData};

/// The tiles of `wmma` as M × N × K, by version from 1 on.
const WMMA_TILES: [&[[u32; 3]]; 3] = [
    &[[16, 16, 16]],
    &[[16, 16, 16], [16, 16, 32]],
    &[[16, 16, 4], [16, 16, 32], [16, 16, 64], [16, 16, 128], [32, 16, 64], [32, 16, 128]],
];

/// The tile that `wmma` has when none is written.
const WMMA_DEFAULT: [u32; 3] = [16, 16, 16];

/// The tiles of `mfma` as M × N.
const MFMA_TILES: [[u32; 2]; 4] = [[32, 32], [16, 16], [64, 4], [4, 64]];

impl Parser<'_> {
    /// Reads `#ttg.amd_mfma<{…}>` or `#ttg.amd_wmma<{…}>`, checked and kept as text.
    pub(super) fn amd_encoding(&mut self, at: Token, mfma: bool) -> Res<Attr> {
        let text = self.raw()?;
        let end = self.tok.start;
        self.go_to(at.start);
        let mut fields = self.fields(at)?;
        if mfma {
            self.mfma(at, &mut fields)?;
        } else {
            self.wmma(at, &mut fields)?;
        }
        self.go_to(end);
        Ok(Attr::new(AttrData::Opaque(text)))
    }

    fn mfma(&self, at: Token, fields: &mut Fields) -> Res<()> {
        let version = self.uint(fields, "version")?;
        if version > 4 {
            return self.bad_encoding(at, format!("`version` is 0 to 4, found {version}"));
        }
        let tile = self.uints(fields, "instrShape")?;
        if !MFMA_TILES.iter().any(|t| tile.starts_with(t)) {
            return self.bad_encoding(
                at,
                format!("`instrShape` starts with 32, 32 or 16, 16 or 64, 4 or 4, 64, found {tile:?}"),
            );
        }
        match self.optional_uint(fields, "elementBitWidth", 32)? {
            32 | 64 => Ok(()),
            bits => self.bad_encoding(at, format!("`elementBitWidth` is 32 or 64, found {bits}")),
        }
    }

    fn wmma(&self, at: Token, fields: &mut Fields) -> Res<()> {
        let version = self.uint(fields, "version")?;
        let tiles = (version as usize).checked_sub(1).and_then(|v| WMMA_TILES.get(v));
        let Some(tiles) = tiles else { return self.bad_encoding(at, format!("`version` is 1 to 3, found {version}")) };
        let tile = if fields.has("instrShape") { self.uints(fields, "instrShape")? } else { WMMA_DEFAULT.to_vec() };
        if tiles.iter().any(|t| t[..] == tile) {
            return Ok(());
        }
        self.bad_encoding(at, format!("`instrShape` of version {version} is one of {tiles:?}, found {tile:?}"))
    }
}
