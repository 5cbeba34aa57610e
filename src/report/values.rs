//! The values of TTIR and TTGIR: their types, who holds which element, and what that takes.
//!
//! 1. The text of a stage is read again, with the places of its names ([`crate::ir::text::marks`]), so a stage of any
//!    compiler will do.
//! 2. Each different type is described once ([`Held`]): registers of a thread, bytes, and the picture of its layout.
//! 3. Large layouts are drawn in part, the more so the more there are: a page stays small.
//!
//! Example: `tensor<128x64xf16, #mma>` on four warps is 64 elements in 32 registers a thread, and a picture of 64 by 64
//! cells.

use std::collections::BTreeMap;

use serde::Serialize;

use super::links;
use crate::draw::Picture;
use crate::ir::core::{Ir, Type};
use crate::ir::text::ParseOptions;
use crate::ir::text::marks::{self, Named};
use crate::layout::picture::{Window, picture};
use crate::layout::plan::shared_access::element_bytes;
use crate::layout::{Dim, layout_of};
use crate::source::SourceMap;

/// A type, and what a value of it takes.
#[derive(Serialize, Debug)]
pub struct Held {
    #[serde(rename = "type")]
    pub ty: String,
    /// `registers`, `shared memory`, `tensor memory`; empty for a type that has no layout.
    pub place: &'static str,
    /// Bytes of all elements, without copies.
    pub bytes: Option<u64>,
    /// Different elements that a thread holds.
    pub elements: Option<u32>,
    /// The registers of 32 bits that these fill, or the predicates if an element is one bit.
    pub registers: Option<u32>,
    /// How many threads hold each element.
    pub copies: Option<u32>,
    /// The number of the picture.
    pub layout: Option<usize>,
}

/// The picture of a layout.
#[derive(Serialize, Debug)]
pub struct Drawn {
    pub layout: String,
    pub shape: Vec<i64>,
    /// The part of the shape that is drawn.
    pub seen: Vec<usize>,
    pub picture: Picture,
}

/// Everything that is known of types.
#[derive(Serialize, Debug, Default)]
pub struct Types {
    pub held: Vec<Held>,
    pub layouts: Vec<Drawn>,
    #[serde(skip)]
    known: BTreeMap<String, usize>,
    #[serde(skip)]
    drawn: BTreeMap<(String, Vec<i64>, u32), usize>,
    #[serde(skip)]
    cells: usize,
}

/// A value in a line of a stage.
#[derive(Serialize, Debug)]
pub struct Picked {
    pub row: usize,
    pub name: String,
    /// The number of its type.
    #[serde(rename = "type")]
    pub ty: usize,
    /// Whether the line defines it.
    pub new: bool,
}

/// Cells beyond which layouts are drawn in small windows.
const MANY_CELLS: usize = 40_000;
const LARGE: Window = Window { rows: 64, columns: 64, tables: 4, holders: 1 };
const SMALL: Window = Window { rows: 16, columns: 32, tables: 1, holders: 1 };

impl Types {
    /// The values of a stage's text, by rows of what is shown of it, and the module if the text is one.
    pub(super) fn read(&mut self, text: &str) -> (Vec<Picked>, Option<Ir>) {
        let mut map = SourceMap::default();
        let file = map.add("stage", None, text);
        let read = marks::read(&map, file, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() });
        // The row of each line, and where lines begin.
        let (mut rows, mut starts, mut row, mut at) = (vec![], vec![], 0, 0);
        for line in text.split_inclusive('\n') {
            let shown = links::is_shown(line.trim_end_matches(['\n', '\r']));
            rows.push(shown.then_some(row));
            row += usize::from(shown);
            starts.push(at);
            at += line.len() as u32;
        }
        let mut picked: Vec<Picked> = vec![];
        for mark in &read.marks {
            let Named::Value(value) = mark.what else { continue };
            let line = starts.partition_point(|&s| s <= mark.span.lo).saturating_sub(1);
            let Some(row) = rows.get(line).copied().flatten() else { continue };
            let name = map.text(mark.span).to_owned();
            if picked.iter().rev().take_while(|p| p.row == row).any(|p| p.name == name) {
                continue;
            }
            picked.push(Picked { row, name, ty: self.number(read.ir.ty(value)), new: mark.defines });
        }
        let whole = read.fault.is_none();
        (picked, whole.then_some(read.ir))
    }

    fn number(&mut self, ty: Type) -> usize {
        let text = ty.to_string();
        if let Some(&known) = self.known.get(&text) {
            return known;
        }
        let held = self.describe(ty, text.clone());
        self.held.push(held);
        self.known.insert(text, self.held.len() - 1);
        self.held.len() - 1
    }

    fn describe(&mut self, ty: Type, text: String) -> Held {
        let elem = if ty.is_tensor() || ty.as_memdesc().is_some() { ty.elem() } else { ty };
        let bits = if elem.is_ptr() { Some(64) } else { elem.bit_width() };
        let count = if ty.as_memdesc().is_some() || ty.is_tensor() { ty.num_elements() } else { 1 };
        let bytes = bits.map(|b| (u64::from(b) * count.unsigned_abs()).div_ceil(8));
        let none = Held { ty: text, place: "", bytes, elements: None, registers: None, copies: None, layout: None };
        let has_layout = ty.as_memdesc().is_some() || ty.is_tensor() && ty.encoding().is_some();
        let (true, Some(bits), Ok(layout)) = (has_layout, bits, layout_of(ty)) else { return none };
        let picture = self.picture(ty, bits);
        if layout.has_in(Dim::Offset) {
            return Held { place: "shared memory", layout: picture, ..none };
        }
        if layout.has_in(Dim::Row) {
            return Held { place: "tensor memory", layout: picture, ..none };
        }
        let own = layout.remove_zero_bases(Dim::Register);
        let elements = own.in_size(Dim::Register);
        let registers = if bits == 1 { elements } else { (elements * bits).div_ceil(32) };
        let copies = 1u64.checked_shl(own.total_in_bits()).unwrap_or(0) / count.unsigned_abs().max(1);
        Held {
            place: "registers",
            elements: Some(elements),
            registers: Some(registers),
            copies: u32::try_from(copies).ok(),
            layout: picture,
            ..none
        }
    }

    /// The number of a layout's picture.
    fn picture(&mut self, ty: Type, bits: u32) -> Option<usize> {
        let layout = layout_of(ty).ok()?;
        let encoding = ty.as_memdesc().map_or_else(|| ty.encoding(), |m| Some(m.encoding))?;
        let shape: Vec<i64> = layout.out_sizes().iter().map(|s| i64::from(s.1)).collect();
        let bytes = element_bytes(bits);
        // Who holds an element of registers does not depend on its size.
        let size = if layout.has_in(Dim::Offset) { bytes } else { 0 };
        let key = (encoding.to_string(), shape.clone(), size);
        if let Some(&known) = self.drawn.get(&key) {
            return Some(known);
        }
        if shape.is_empty() || layout.total_in_bits() > 20 {
            return None;
        }
        let window = if self.cells > MANY_CELLS { SMALL } else { LARGE };
        let seen = window.of(&shape.iter().map(|&s| s.unsigned_abs() as usize).collect::<Vec<_>>());
        self.cells += seen.iter().product::<usize>();
        let picture = picture(layout, bytes, window);
        self.layouts.push(Drawn { layout: key.0.clone(), shape, seen, picture });
        self.drawn.insert(key, self.layouts.len() - 1);
        Some(self.layouts.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#loc = loc(\"k.tk\":1:1)\n\
        #b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\n\
        #s = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>\n\
        #smem = #ttg.shared_memory\n\
        module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\", \"ttg.threads-per-warp\" = 32 : i32} {\n\
        tt.func @f(%p: tensor<32x16xf16, #b>, %m: tensor<32x16xi1, #b>, %n: i32) {\n\
        %a = ttg.local_alloc %p : (tensor<32x16xf16, #b>) -> !ttg.memdesc<32x16xf16, #s, #smem>\n\
        %t = tt.splat %n : i32 -> tensor<64x16xi32, #b>\n\
        tt.return\n}\n}\n";

    #[test]
    fn values_have_rows_types_and_what_they_take() {
        let mut types = Types::default();
        let (picked, ir) = types.read(TEXT);
        assert!(ir.is_some());
        let shown: Vec<(usize, &str, bool)> = picked.iter().map(|p| (p.row, p.name.as_str(), p.new)).collect();
        // The line with a location is not shown, so rows begin behind it.
        assert_eq!(shown[0], (4, "%p", true));
        assert!(shown.contains(&(5, "%a", true)) && shown.contains(&(5, "%p", false)), "{shown:?}");
        let of = |name: &str| &types.held[picked.iter().find(|p| p.name == name).unwrap().ty];
        let numbers =
            |name: &str| (of(name).place, of(name).bytes, of(name).elements, of(name).registers, of(name).copies);
        assert_eq!(numbers("%p"), ("registers", Some(1024), Some(4), Some(2), Some(1)));
        assert_eq!(numbers("%m"), ("registers", Some(64), Some(4), Some(4), Some(1)));
        assert_eq!(numbers("%a"), ("shared memory", Some(1024), None, None, None));
        assert_eq!(numbers("%t"), ("registers", Some(4096), Some(8), Some(8), Some(1)));
        assert_eq!(numbers("%n"), ("", Some(4), None, None, None));
        // One picture for f16 and i1 of one layout and shape.
        assert_eq!(of("%p").layout, of("%m").layout);
        assert_eq!(types.layouts.len(), 3);
        assert_eq!(types.layouts[of("%t").layout.unwrap()].seen, [64, 16]);
    }

    #[test]
    fn a_text_that_is_no_module_has_no_values() {
        let mut types = Types::default();
        assert!(matches!(types.read("this is\nno module\n"), (picked, None) if picked.is_empty()));
    }
}
