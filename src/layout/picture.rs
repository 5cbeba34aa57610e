//! Draws a layout as a picture: a cell for each element, with the names of its holders, coloured by who holds it.
//!
//! 1. The cells are those of [`super::render`]. The last two axes are a table; further axes stack tables below each
//!    other.
//! 2. The hue of a colour is the warp's and its lightness the lane's, so neighbouring lanes can be told apart and a
//!    warp is one patch of colour. In shared memory the hue is the bank's.
//! 3. A [`Window`] bounds what is drawn of a large tensor: layouts repeat themselves.
//!
//! Example: element (0, 0) is a cell at x = 40 and y = 32 with the label `T0:0` and the colour `hsl(0,70%,62%)`.

use super::render::{cells, holder, title};
use super::{Dim, LinearLayout};
use crate::draw::{Anchor, Cell, Cells, Ink, Picture, Shape, Style};

const CELL_HEIGHT: f64 = 20.0;
/// The room for row numbers on the left, and for column numbers and the title above.
const MARGIN: f64 = 40.0;

/// How much of a layout is drawn: the first elements of each axis, and the first holders of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub rows: usize,
    pub columns: usize,
    /// The elements of the other axes together.
    pub tables: usize,
    pub holders: usize,
}

impl Window {
    pub const ALL: Window = Window { rows: usize::MAX, columns: usize::MAX, tables: usize::MAX, holders: usize::MAX };

    /// The part of a shape that is seen.
    #[must_use]
    pub fn of(&self, shape: &[usize]) -> Vec<usize> {
        let mut seen = shape.to_vec();
        let mut tables = self.tables.max(1);
        for (axis, size) in seen.iter_mut().enumerate().rev() {
            let most = match shape.len() - axis {
                1 => self.columns,
                2 => self.rows,
                _ => tables,
            };
            *size = (*size).min(most.max(1));
            if shape.len() - axis > 2 {
                tables = (tables / *size).max(1);
            }
        }
        seen
    }
}

/// The picture of a layout whose elements have `element_bytes` bytes.
#[must_use]
pub fn picture(layout: &LinearLayout, element_bytes: u32, window: Window) -> Picture {
    let whole: Vec<usize> = layout.out_sizes().iter().map(|s| s.1 as usize).collect();
    let shape = window.of(&whole);
    let columns = shape.last().copied().unwrap_or(1);
    let rows = if shape.len() > 1 { shape[shape.len() - 2] } else { 1 };
    let names = cells(layout, &shape, holder);
    // The first holder decides the colour.
    let inks = cells(layout, &shape, |l, place| ink(l, place, element_bytes));
    let cells: Vec<Cell> = names
        .iter()
        .zip(inks)
        .map(|(names, inks)| Cell {
            label: label(names, window.holders),
            fill: inks.first().copied().unwrap_or(Ink::Paper),
        })
        .collect();
    let width = cells.iter().map(|c| c.label.chars().count()).max().unwrap_or(1).clamp(4, 24) as f64 * 7.0 + 6.0;
    let table_height = rows as f64 * CELL_HEIGHT + MARGIN;
    let tables = cells.len().div_ceil(rows * columns);
    let mut out = Picture::new(MARGIN + columns as f64 * width + 8.0, tables as f64 * table_height + 8.0, 11.0);
    out.monospaced = true;
    let middle = Style::at(Anchor::Middle);
    for (number, cells) in cells.chunks(rows * columns).enumerate() {
        let top = number as f64 * table_height + MARGIN - 8.0;
        if shape.len() > 2 {
            out.text(MARGIN + width, top - 18.0, middle, title(number, &shape[..shape.len() - 2]));
        }
        for column in 0..columns {
            out.text(MARGIN + (column as f64 + 0.5) * width, top - 5.0, middle, column.to_string());
        }
        (0..rows).for_each(|r| out.text(MARGIN / 2.0, top + r as f64 * CELL_HEIGHT + 14.0, middle, r.to_string()));
        let (x, y, w, h) = (MARGIN, top, width, CELL_HEIGHT);
        out.shapes.push(Shape::Table { x, y, columns, w, h, cells: Cells(cells.to_vec()) });
    }
    out
}

/// The names of the holders of an element, the first ones if there are too many.
fn label(names: &[String], most: usize) -> String {
    if names.len() <= most {
        return names.join("|");
    }
    format!("{} +{}", names[..most].join("|"), names.len() - most)
}

/// The colour of a place: by bank, or by warp and lane.
fn ink(layout: &LinearLayout, place: u64, element_bytes: u32) -> Ink {
    if layout.has_in(Dim::Offset) {
        let offset = place & (u64::from(layout.in_size(Dim::Offset)) - 1);
        let bank = offset * u64::from(element_bytes) / 4 % 32;
        return Ink::hue(bank * 45 / 4, 70, if bank.is_multiple_of(2) { 72 } else { 80 });
    }
    let shift = layout.in_bits(Dim::Register);
    let lane = place >> shift & (u64::from(layout.in_size(Dim::Lane)) - 1);
    let warp = place >> (shift + layout.in_bits(Dim::Lane)) & (u64::from(layout.in_size(Dim::Warp)) - 1);
    Ink::nth(warp as usize, 70, (62 + lane % 32 * 29 / 31) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_takes_the_first_elements_of_each_axis() {
        let window = Window { rows: 4, columns: 8, tables: 6, holders: 1 };
        assert_eq!(window.of(&[16, 2, 3]), [6, 2, 3]);
        assert_eq!(window.of(&[4, 4, 64, 64]), [1, 4, 4, 8]);
        assert_eq!(window.of(&[64]), [8]);
        assert_eq!(Window::ALL.of(&[3, 64, 128]), [3, 64, 128]);
    }

    #[test]
    fn copies_beyond_the_window_are_counted() {
        let names = ["T0:0", "T4:0", "T8:0"].map(str::to_owned);
        assert_eq!(label(&names, 3), "T0:0|T4:0|T8:0");
        assert_eq!(label(&names, 1), "T0:0 +2");
    }
}
