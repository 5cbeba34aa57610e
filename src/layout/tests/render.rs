//! The tables of text, as users see them.

use super::super::render::render;
use super::super::*;
use super::tables::encoding;

#[test]
fn blocked_tile() {
    let table = render(to_linear_layout(&[4, 8], encoding("blocked 1,2 8,4 1,1 1,0 -", 2)));
    // Rows 4 to 7 of the tile fold back onto the tensor, so threads 16 to 31 hold copies.
    assert_eq!(
        table,
        "    0            1            2            3            4            5            6            7
0 | T0:0|T16:0   T0:1|T16:1   T1:0|T17:0   T1:1|T17:1   T2:0|T18:0   T2:1|T18:1   T3:0|T19:0   T3:1|T19:1
1 | T4:0|T20:0   T4:1|T20:1   T5:0|T21:0   T5:1|T21:1   T6:0|T22:0   T6:1|T22:1   T7:0|T23:0   T7:1|T23:1
2 | T8:0|T24:0   T8:1|T24:1   T9:0|T25:0   T9:1|T25:1   T10:0|T26:0  T10:1|T26:1  T11:0|T27:0  T11:1|T27:1
3 | T12:0|T28:0  T12:1|T28:1  T13:0|T29:0  T13:1|T29:1  T14:0|T30:0  T14:1|T30:1  T15:0|T31:0  T15:1|T31:1
"
    );
}

#[test]
fn swizzled_matrix() {
    let table = render(to_linear_layout(&[4, 4], encoding("swizzled 1 1 4 1,0 -", 2)));
    assert_eq!(
        table,
        "    0   1   2   3
0 | 0   1   2   3
1 | 5   4   7   6
2 | 10  11  8   9
3 | 15  14  13  12
"
    );
}

#[test]
fn vectors_wrap_and_batches_are_titled() {
    let vector = render(to_linear_layout(&[32], encoding("swizzled 1 1 1 0 -", 1)));
    assert_eq!(vector.lines().nth(2).map(|l| &l[..12]), Some("16 | 16  17 "));
    let batch = render(to_linear_layout(&[2, 1, 2], encoding("swizzled 1 1 1 2,1,0 -", 3)));
    assert_eq!(batch, "[0, :, :]\n    0  1\n0 | 0  1\n[1, :, :]\n    0  1\n0 | 2  3\n");
    let blocks = render(to_linear_layout(&[2], encoding("swizzled 1 1 1 0 1", 1)));
    assert_eq!(blocks.lines().nth(1), Some("0 | B0:0  B1:0"));
}
