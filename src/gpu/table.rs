//! Tables of text: columns that are as wide as their widest cell.

use std::fmt::Write as _;

/// The rows, each on a line: the first column stands on the left, all others on the right.
#[must_use]
pub fn align(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|r| r.get(column).map_or(0, |c| c.chars().count())).max().unwrap_or(0);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (n, (cell, w)) in row.iter().zip(&widths).enumerate() {
            let _ = if n == 0 { write!(line, "{cell:w$}") } else { write!(line, "  {cell:>w$}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
