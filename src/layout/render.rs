//! A layout as a table of text: for every element of the tensor, who holds it.
//!
//! 1. Each place of the layout is visited once, in order, and written into the cell of its element.
//! 2. A place of a distributed layout is `T<thread>:<register>`, with threads counted through the warps of the block,
//!    and with `B<block>` before it where there are several blocks. A place of shared memory is its offset, one of
//!    tensor memory is `(row, col)`.
//! 3. The last two axes are a table. For a higher rank there is a table for each index of the others. A vector is
//!    wrapped.
//!
//! ```text
//!     0     1     2     3
//! 0 | T0:0  T0:1  T1:0  T1:1
//! 1 | T2:0  T2:1  T3:0  T3:1
//! ```

use super::{Dim, LinearLayout};
use std::fmt::Write;

/// How many elements stand in a line of a vector.
const WRAP: usize = 16;

/// The table of a layout. The copies of an element are joined with `|`.
///
/// Time and space are proportional to the number of places, so a caller bounds the size of what a user may ask for.
#[must_use]
pub fn render(layout: &LinearLayout) -> String {
    render_cells(layout, holder)
}

/// The table of the banks of shared memory that hold the first bytes of each element, for elements of so many bytes.
#[must_use]
pub fn render_banks(layout: &LinearLayout, element_bytes: u32) -> String {
    let offsets = u64::from(layout.in_size(Dim::Offset)) - 1;
    render_cells(layout, |_, place| ((place & offsets) * u64::from(element_bytes) / 4 % 32).to_string())
}

fn render_cells(layout: &LinearLayout, holder: impl Fn(&LinearLayout, u64) -> String) -> String {
    let shape: Vec<usize> = layout.out_sizes().iter().map(|s| s.1 as usize).collect();
    let cells: Vec<String> = cells(layout, &shape, holder).iter().map(|names| names.join("|")).collect();
    let width = cells.iter().map(String::len).max().unwrap_or(0);
    let (rows, columns) = match shape[..] {
        [] => (1, 1),
        [n] => (n.div_ceil(WRAP), n.min(WRAP)),
        [.., m, n] => (m, n),
    };
    let mut text = String::new();
    for (number, table) in cells.chunks(rows * columns).enumerate() {
        if shape.len() > 2 {
            let _ = writeln!(text, "{}", title(number, &shape[..shape.len() - 2]));
        }
        let step = if shape.len() == 1 { columns } else { 1 };
        write_table(&mut text, table, columns, width, step);
    }
    text
}

/// The title of a table: `[2, 0, :, :]`.
pub(super) fn title(mut number: usize, outer: &[usize]) -> String {
    let mut indices: Vec<String> =
        outer.iter().rev().map(|&size| (number % size, number /= size).0.to_string()).collect();
    indices.reverse();
    format!("[{}, :, :]", indices.join(", "))
}

/// Writes one table, whose rows are labelled in steps of `step`.
fn write_table(text: &mut String, cells: &[String], columns: usize, width: usize, step: usize) {
    let label = ((cells.len() / columns).saturating_sub(1) * step).to_string().len();
    let width = width.max((columns - 1).to_string().len());
    let heads: Vec<String> = (0..columns).map(|c| format!("{c:<width$}")).collect();
    let _ = writeln!(text, "{:label$}   {}", "", heads.join("  ").trim_end());
    for (row, line) in cells.chunks(columns).enumerate() {
        let line: Vec<String> = line.iter().map(|cell| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{:>label$} | {}", row * step, line.join("  ").trim_end());
    }
}

/// What is said of the holders of each element, in row-major order, for the elements of the box `shape`.
pub(super) fn cells<T>(
    layout: &LinearLayout,
    shape: &[usize],
    holder: impl Fn(&LinearLayout, u64) -> T,
) -> Vec<Vec<T>> {
    let mut cells: Vec<Vec<T>> = (0..shape.iter().product()).map(|_| vec![]).collect();
    for place in 0..1u64 << layout.total_in_bits() {
        let element = layout.unpack(layout.apply_packed(place));
        let inside = |(&c, &size): (&i32, &usize)| (c.unsigned_abs() as usize) < size;
        if element.iter().zip(shape).all(inside) {
            let index = element.iter().zip(shape).fold(0, |acc, (&c, &size)| acc * size + c.unsigned_abs() as usize);
            cells[index].push(holder(layout, place));
        }
    }
    cells
}

/// The name of a place.
pub(super) fn holder(layout: &LinearLayout, place: u64) -> String {
    let mut rest = place;
    let mut values = Vec::new();
    for dim in layout.in_dims() {
        values.push((dim, rest & ((1 << layout.in_bits(dim)) - 1)));
        rest >>= layout.in_bits(dim);
    }
    let of = |dim| values.iter().find(|v| v.0 == dim).map_or(0, |v| v.1);
    let block = if layout.in_size(Dim::Block) > 1 { format!("B{}:", of(Dim::Block)) } else { String::new() };
    if layout.has_in(Dim::Offset) {
        format!("{block}{}", of(Dim::Offset))
    } else if layout.has_in(Dim::Row) {
        format!("{block}({}, {})", of(Dim::Row), of(Dim::Col))
    } else {
        let thread = of(Dim::Lane) + of(Dim::Warp) * u64::from(layout.in_size(Dim::Lane));
        format!("{block}T{thread}:{}", of(Dim::Register))
    }
}
