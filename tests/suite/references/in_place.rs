//! References of kernels that read what they have stored.

use std::collections::BTreeMap;

use ttc::cases::Inputs;

use super::single;

/// Each row without its first element; the last one stands twice.
pub(crate) fn shift(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let rows = inputs.array("x_ptr").chunks(inputs.size("n"));
    single("x_ptr", rows.flat_map(|row| row[1..].iter().chain(row.last()).copied()).collect())
}

/// In round i, `counts[i]` of the numbers from `i * block` are appended.
pub(crate) fn append(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (programs, block) = (inputs.size("programs"), inputs.size("block"));
    let counts = inputs.array("counts_ptr");
    let mut list: Vec<f64> = vec![];
    for (i, &count) in counts.iter().enumerate() {
        list.extend((0..count as usize).map(|r| (i * block + r) as f64));
    }
    let used = vec![list.len() as f64; programs];
    list.resize(counts.len() * block, 0.0);
    BTreeMap::from([("used_ptr".to_owned(), used), ("out_ptr".to_owned(), list.repeat(programs))])
}

/// `x[i + 1] = x[i] b / 4`
pub(crate) fn recurrence(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (n, b) = (inputs.size("block"), inputs.array("b_ptr"));
    let mut x = inputs.array("x_ptr")[..n * n].to_vec();
    for step in 0..inputs.size("steps") {
        let before = x[step * n * n..].to_vec();
        x.extend((0..n * n).map(|at| (0..n).map(|k| before[at / n * n + k] * b[k * n + at % n]).sum::<f64>() / 4.0));
    }
    single("x_ptr", x)
}

/// With `d = 2 x`: the first row of `x` becomes the sums `s` of the columns of `d`, the others are `d`, and
/// `y[j, i] = d[i, j] + s[j] + s[1]`.
pub(crate) fn through_memory(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (rows, cols) = (inputs.size("rows"), inputs.size("cols"));
    let (mut x, mut y) = (vec![], vec![]);
    for tile in inputs.array("x_ptr").chunks(rows * cols) {
        let d: Vec<f64> = tile.iter().map(|x| 2.0 * x).collect();
        let sums: Vec<f64> = (0..cols).map(|j| d.iter().skip(j).step_by(cols).sum()).collect();
        y.extend((0..rows * cols).map(|at| d[at % rows * cols + at / rows] + sums[at / rows] + sums[1]));
        x.extend(sums.iter().chain(&d[cols..]).copied());
    }
    BTreeMap::from([("x_ptr".to_owned(), x), ("y_ptr".to_owned(), y)])
}
