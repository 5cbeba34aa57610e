//! Draws a layout as a picture: a cell for each element, with the names of its holders, coloured by who holds it.
//!
//! 1. The cells are those of [`super::render`]. The last two axes are a table; further axes stack tables below each
//!    other.
//! 2. The hue of a colour is the warp's and its lightness the lane's, so neighbouring lanes can be told apart and a
//!    warp is one patch of colour. In shared memory the hue is the bank's.
//!
//! Example: element (0, 0) is `<rect x="40" y="24" width="56" height="20" fill="hsl(0,70%,62%)"/><text …>T0:0</text>`.

use std::fmt::Write;

use super::render::{cells, holder, title};
use super::{Dim, LinearLayout};

const CELL_HEIGHT: usize = 20;
/// The room for row numbers on the left, and for column numbers and the title above.
const MARGIN: usize = 40;

/// The picture of a layout whose elements have `element_bytes` bytes.
#[must_use]
pub fn svg(layout: &LinearLayout, element_bytes: u32) -> String {
    let shape: Vec<usize> = layout.out_sizes().iter().map(|s| s.1 as usize).collect();
    let columns = shape.last().copied().unwrap_or(1);
    let rows = if shape.len() > 1 { shape[shape.len() - 2] } else { 1 };
    let names = cells(layout, &shape, holder);
    // The first holder decides the colour.
    let colours = cells(layout, &shape, |l, place| colour(l, place, element_bytes));
    let width = names.iter().map(String::len).max().unwrap_or(1).clamp(4, 24) * 7 + 6;
    let table_height = rows * CELL_HEIGHT + MARGIN;
    let (all_width, all_height) =
        (MARGIN + columns * width + 8, names.len().div_ceil(rows * columns) * table_height + 8);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all_width}\" height=\"{all_height}\" font-family=\"monospace\" font-size=\"11\">\n"
    );
    let _ = writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
    for (number, (names, colours)) in names.chunks(rows * columns).zip(colours.chunks(rows * columns)).enumerate() {
        let top = number * table_height + MARGIN - 8;
        if shape.len() > 2 {
            text(&mut out, MARGIN + width, top - 18, &title(number, &shape[..shape.len() - 2]));
        }
        (0..columns).for_each(|c| text(&mut out, MARGIN + c * width + width / 2, top - 5, &c.to_string()));
        (0..rows).for_each(|r| text(&mut out, MARGIN / 2, top + r * CELL_HEIGHT + 14, &r.to_string()));
        for (i, (name, colour)) in names.iter().zip(colours).enumerate() {
            let (x, y) = (MARGIN + i % columns * width, top + i / columns * CELL_HEIGHT);
            let fill = colour.split('|').next().unwrap_or("none");
            let _ = write!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{CELL_HEIGHT}\" fill=\"{fill}\" stroke=\"white\"/>"
            );
            // Many holders do not fit into the cell. The title shows them all.
            let short: String =
                if name.len() > 24 { name.chars().take(22).chain("…".chars()).collect() } else { name.clone() };
            let _ = write!(out, "<g><title>{name}</title>");
            text(&mut out, x + width / 2, y + 14, &short);
            out.push_str("</g>\n");
        }
    }
    out.push_str("</svg>\n");
    out
}

fn text(out: &mut String, x: usize, y: usize, text: &str) {
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>");
}

/// The colour of a place: by bank, or by warp and lane.
fn colour(layout: &LinearLayout, place: u64, element_bytes: u32) -> String {
    if layout.has_in(Dim::Offset) {
        let offset = place & (u64::from(layout.in_size(Dim::Offset)) - 1);
        let bank = offset * u64::from(element_bytes) / 4 % 32;
        return format!("hsl({},70%,{}%)", bank * 45 / 4, if bank.is_multiple_of(2) { 72 } else { 80 });
    }
    let shift = layout.in_bits(Dim::Register);
    let lane = place >> shift & (u64::from(layout.in_size(Dim::Lane)) - 1);
    let warp = place >> (shift + layout.in_bits(Dim::Lane)) & (u64::from(layout.in_size(Dim::Warp)) - 1);
    // The hues of neighbouring warps are 137 degrees apart, so they differ most.
    format!("hsl({},70%,{}%)", warp * 137 % 360, 62 + lane * 29 / 31)
}
