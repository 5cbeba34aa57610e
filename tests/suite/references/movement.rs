//! References of kernels that move, order or count elements.

use std::collections::BTreeMap;

use ttc::cases::Inputs;

use super::single;

/// `y[j, i] = x[i, j]`
pub(crate) fn transpose(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, m, n) = (inputs.array("x_ptr"), inputs.size("m"), inputs.size("n"));
    single("y_ptr", (0..m * n).map(|at| x[at % m * n + at / m]).collect())
}

/// `y = x`
pub(crate) fn copy(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    single("y_ptr", inputs.array("x_ptr").to_vec())
}

/// `y[i, j]` is the sum of all `x[i + t * block_m, j]`.
pub(crate) fn add_tiles(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (n, rows) = (inputs.size("n"), inputs.size("block_m"));
    let mut y = vec![0.0; rows * n];
    for (i, row) in inputs.array("x_ptr").chunks(n).enumerate() {
        row.iter().zip(&mut y[i % rows * n..]).for_each(|(x, y)| *y += x);
    }
    single("y_ptr", y)
}

/// `y[i, j]` is the sum of all `x[i, t * block_n + j]`.
pub(crate) fn sum_tiles(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (n, columns) = (inputs.size("n"), inputs.size("block_n"));
    let mut y = vec![];
    for row in inputs.array("x_ptr").chunks(n) {
        y.extend((0..columns).map(|j| row.iter().skip(j).step_by(columns).sum::<f64>()));
    }
    single("y_ptr", y)
}

/// `y = x + 1`
pub(crate) fn add_rows(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    single("y_ptr", inputs.array("x_ptr").iter().map(|x| x + 1.0).collect())
}

/// Rows in order.
pub(crate) fn sort(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let mut out = inputs.array("x_ptr").to_vec();
    for row in out.chunks_mut(inputs.size("n")) {
        row.sort_by(f64::total_cmp);
        if inputs.bool("descending") {
            row.reverse();
        }
    }
    single("y_ptr", out)
}

/// The `k` greatest elements of each row and where they were; of equal elements the first one first.
pub(crate) fn topk(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (mut values, mut indices) = (vec![], vec![]);
    for row in inputs.array("x_ptr").chunks(inputs.size("n")) {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        order.truncate(inputs.size("k"));
        values.extend(order.iter().map(|&i| row[i]));
        indices.extend(order.iter().map(|&i| i as f64));
    }
    BTreeMap::from([("value_ptr".to_owned(), values), ("index_ptr".to_owned(), indices)])
}

/// How often each value occurs.
pub(crate) fn histogram(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let mut counts = vec![0.0; inputs.size("bins")];
    inputs.array("x_ptr").iter().for_each(|&x| counts[x as usize] += 1.0);
    single("counts_ptr", counts)
}

/// `out[t, :] = table[index[t], :]`
pub(crate) fn embedding(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (table, dim) = (inputs.array("table_ptr"), inputs.size("dim"));
    single(
        "out_ptr",
        inputs.array("index_ptr").iter().flat_map(|&i| &table[i as usize * dim..][..dim]).copied().collect(),
    )
}

/// `dtable[index[t], :] += dout[t, :]`
pub(crate) fn embedding_bwd(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (mut table, dim) = (inputs.array("dtable_ptr").to_vec(), inputs.size("dim"));
    for (row, &i) in inputs.array("dout_ptr").chunks(dim).zip(inputs.array("index_ptr")) {
        table[i as usize * dim..][..dim].iter_mut().zip(row).for_each(|(t, d)| *t += d);
    }
    single("dtable_ptr", table)
}

/// Each row twice as large up to its length, and -2 behind that, in the first two blocks.
pub(crate) fn padded(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (mut out, width) = (inputs.array("out_ptr").to_vec(), inputs.shape("x_ptr")[1]);
    let rows = out.chunks_mut(width).zip(inputs.array("x_ptr").chunks(width)).zip(inputs.array("lengths_ptr"));
    for ((row, x), &length) in rows {
        for (c, out) in row.iter_mut().enumerate().take((2 * inputs.size("block")).min(length as usize + 1)) {
            *out = if c < length as usize { 2.0 * x[c] } else { -2.0 };
        }
    }
    single("out_ptr", out)
}

/// Each row plus the sum of the block; the sums, for each fourth row, times its length, if that is more than three.
pub(crate) fn padded_tiles(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (rows, width, block) = (inputs.size("rows"), inputs.size("width"), inputs.size("block"));
    let (x, lengths) = (inputs.array("x_ptr"), inputs.array("lengths_ptr"));
    let (mut out, mut sums) = (inputs.array("out_ptr").to_vec(), inputs.array("sums_ptr").to_vec());
    let (stride, blocks) = (inputs.shape("x_ptr")[1], width.div_ceil(block));
    for (r, b) in (0..rows).flat_map(|r| (0..blocks).map(move |b| (r, b))) {
        let block = r * stride + b * block..r * stride + ((b + 1) * block).min(width);
        let sum: f64 = x[block.clone()].iter().sum();
        block.for_each(|at| out[at] = x[at] + sum);
        let length = lengths[r / 4 * 4];
        if length > 3.0 {
            sums[r * blocks + b] = sum * length;
        }
    }
    BTreeMap::from([("out_ptr".to_owned(), out), ("sums_ptr".to_owned(), sums)])
}

/// Neighbours turned by an angle.
pub(crate) fn rotate_pairs(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let turned = inputs.array("x_ptr").chunks(2).zip(inputs.array("angle_ptr")).flat_map(|(pair, angle)| {
        let (s, c) = angle.sin_cos();
        [pair[0] * c - pair[1] * s, pair[0] * s + pair[1] * c]
    });
    single("y_ptr", turned.collect())
}

/// Rows from their end to their start; and rows with their halves swapped, in tiles whose rows are in reversed order.
pub(crate) fn reverse(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, rows, cols) = (inputs.array("x_ptr"), inputs.size("rows"), inputs.size("cols"));
    let reversed = x.chunks(cols).flat_map(|row| row.iter().rev().copied());
    let tiles = x.chunks(rows * cols).flat_map(|tile| tile.chunks(cols).rev());
    let swapped = tiles.flat_map(|row| row[cols / 2..].iter().chain(&row[..cols / 2]).copied());
    BTreeMap::from([("rows_ptr".to_owned(), reversed.collect()), ("halves_ptr".to_owned(), swapped.collect())])
}

/// Rows of two arrays behind each other; the sums of each row, and over every eighth position.
pub(crate) fn both_rows(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let block = inputs.size("block");
    let (mut y, mut totals) = (vec![], vec![]);
    for (x, z) in inputs.array("x_ptr").chunks(block).zip(inputs.array("z_ptr").chunks(block)) {
        y.extend(x.iter().chain(z));
        let both: Vec<f64> = x.iter().zip(z).map(|(x, z)| x + z).collect();
        totals.push(both.iter().sum());
        totals.extend((0..8).map(|i| both.iter().skip(i).step_by(8).sum::<f64>()));
    }
    BTreeMap::from([("y_ptr".to_owned(), y), ("total_ptr".to_owned(), totals)])
}
