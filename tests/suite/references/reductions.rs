//! References of kernels that combine the elements of a row or a column.

use std::collections::BTreeMap;

use ttc::cases::Inputs;

use super::single;

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

fn logsumexp(row: &[f64]) -> f64 {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + row.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

/// `y = exp(x) / sum(exp(x))` of each row.
pub(crate) fn softmax(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let rows = inputs.array("x_ptr").chunks(inputs.size("n"));
    let one = |row: &[f64]| {
        let lse = logsumexp(row);
        row.iter().map(|x| (x - lse).exp()).collect::<Vec<_>>()
    };
    single("y_ptr", rows.flat_map(one).collect())
}

/// Rows less their mean, over their deviation, times `w` plus `b`; and mean and 1 / deviation.
pub(crate) fn layer_norm(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (w, b) = (inputs.array("w_ptr"), inputs.array("b_ptr"));
    let (mut y, mut means, mut rstds) = (vec![], vec![], vec![]);
    for row in inputs.array("x_ptr").chunks(inputs.size("n")) {
        let middle = mean(row.iter().copied());
        let rstd = 1.0 / (mean(row.iter().map(|x| (x - middle).powi(2))) + inputs.float("eps")).sqrt();
        y.extend(row.iter().zip(w.iter().zip(b)).map(|(x, (w, b))| (x - middle) * rstd * w + b));
        means.push(middle);
        rstds.push(rstd);
    }
    BTreeMap::from([("y_ptr".to_owned(), y), ("mean_ptr".to_owned(), means), ("rstd_ptr".to_owned(), rstds)])
}

/// The mean of each row from `start` on, and the sum of the squares of what its elements differ from it; 0 for both
/// where there are none. A row whose length is known starts at its start.
pub(crate) fn welford(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let n = inputs.size("n");
    let start = if inputs.size("known") == 1 { 0 } else { inputs.size("start").min(n) };
    let (mut means, mut squares) = (vec![], vec![]);
    for row in inputs.array("x_ptr").chunks(n) {
        let row = &row[start..];
        let middle = if row.is_empty() { 0.0 } else { mean(row.iter().copied()) };
        means.push(middle);
        squares.push(row.iter().map(|x| (x - middle).powi(2)).sum());
    }
    BTreeMap::from([("mean_ptr".to_owned(), means), ("squares_ptr".to_owned(), squares)])
}

/// The gradient of a row's sum of `dy * y` by `x`, and by `w` and `b` summed over every `programs`-th row.
pub(crate) fn layer_norm_bwd(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, w, dy) = (inputs.array("x_ptr"), inputs.array("w_ptr"), inputs.array("dy_ptr"));
    let (n, programs) = (inputs.size("n"), inputs.size("programs"));
    let (mut dx, mut dw, mut db) = (vec![], vec![0.0; programs * n], vec![0.0; programs * n]);
    for (r, (x, dy)) in x.chunks(n).zip(dy.chunks(n)).enumerate() {
        let (middle, rstd) = (inputs.array("mean_ptr")[r], inputs.array("rstd_ptr")[r]);
        let h: Vec<f64> = x.iter().map(|x| (x - middle) * rstd).collect();
        let g: Vec<f64> = dy.iter().zip(w).map(|(dy, w)| dy * w).collect();
        let along = mean(g.iter().zip(&h).map(|(g, h)| g * h).collect::<Vec<_>>().into_iter());
        let level = mean(g.iter().copied());
        dx.extend(g.iter().zip(&h).map(|(g, h)| rstd * (g - level - h * along)));
        for c in 0..n {
            dw[r % programs * n + c] += dy[c] * h[c];
            db[r % programs * n + c] += dy[c];
        }
    }
    BTreeMap::from([("dx_ptr".to_owned(), dx), ("dw_ptr".to_owned(), dw), ("db_ptr".to_owned(), db)])
}

/// The sums of the columns.
pub(crate) fn sum_partials(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let mut out = vec![0.0; inputs.size("n")];
    for row in inputs.array("partial_ptr").chunks(out.len()) {
        out.iter_mut().zip(row).for_each(|(o, x)| *o += x);
    }
    single("out_ptr", out)
}

/// The greatest and the least element of each row, and the places of the first of each.
pub(crate) fn extremes(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let rows = || inputs.array("x_ptr").chunks(inputs.size("block"));
    let found = |row: &[f64], sought: f64| {
        row.iter().position(|&x| x.total_cmp(&sought).is_eq()).expect("an element of the row") as f64
    };
    let most = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
    BTreeMap::from([
        ("most_ptr".to_owned(), rows().map(most).collect()),
        ("where_most_ptr".to_owned(), rows().map(|row| found(row, most(row))).collect()),
        ("least_ptr".to_owned(), rows().map(least).collect()),
        ("where_least_ptr".to_owned(), rows().map(|row| found(row, least(row))).collect()),
    ])
}

/// The sum of each row, and of each pair the first element minus twice the second.
pub(crate) fn fold(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let sums = inputs.array("x_ptr").chunks(512).map(|row| row.iter().sum()).collect();
    let (first, second) = inputs.array("pair_ptr").split_at(inputs.array("pair_ptr").len() / 2);
    let differences = first.iter().zip(second).map(|(a, b)| a - 2.0 * b).collect();
    BTreeMap::from([("sum_ptr".to_owned(), sums), ("difference_ptr".to_owned(), differences)])
}

/// Rows over the root of their mean square, times `w`.
pub(crate) fn rms_norm(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let w = inputs.array("w_ptr");
    let one = |row: &[f64]| {
        let root = (mean(row.iter().map(|x| x * x)) + inputs.float("eps")).sqrt();
        row.iter().zip(w).map(|(x, w)| x / root * w).collect::<Vec<_>>()
    };
    single("y_ptr", inputs.array("x_ptr").chunks(w.len()).flat_map(one).collect())
}

/// The negative log-likelihood of each row's target, 0 where it is to be ignored; and the logarithm of the sum of
/// exponentials.
pub(crate) fn cross_entropy(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (mut losses, mut lses) = (vec![], vec![]);
    for (row, &target) in inputs.array("logits_ptr").chunks(inputs.size("classes")).zip(inputs.array("target_ptr")) {
        let lse = logsumexp(row);
        losses.push(if target as i64 == inputs.int("ignore") { 0.0 } else { lse - row[target as usize] });
        lses.push(lse);
    }
    BTreeMap::from([("loss_ptr".to_owned(), losses), ("lse_ptr".to_owned(), lses)])
}

/// The gradient of the loss by the logits, for the given logarithms of the sums.
pub(crate) fn cross_entropy_bwd(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let mut out = vec![];
    for (r, row) in inputs.array("logits_ptr").chunks(inputs.size("classes")).enumerate() {
        let (target, lse) = (inputs.array("target_ptr")[r] as i64, inputs.array("lse_ptr")[r]);
        let dloss = if target == inputs.int("ignore") { 0.0 } else { inputs.array("dloss_ptr")[r] };
        let hit = |c: usize| f64::from(u8::from(c as i64 == target));
        out.extend(row.iter().enumerate().map(|(c, x)| dloss * ((x - lse).exp() - hit(c))));
    }
    single("logits_ptr", out)
}

/// Running sums of rows, from the left or from the right.
pub(crate) fn cumsum(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let mut out = inputs.array("x_ptr").to_vec();
    for row in out.chunks_mut(inputs.size("n")) {
        let mut sum = 0.0;
        let mut step = |x: &mut f64| {
            sum += *x;
            *x = sum;
        };
        if inputs.bool("reverse") {
            row.iter_mut().rev().for_each(&mut step);
        } else {
            row.iter_mut().for_each(&mut step);
        }
    }
    single("y_ptr", out)
}

/// Down each column, or up: running sums of `x`, and `y = a * (the y before) + x`.
pub(crate) fn column_scan(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, a, n) = (inputs.array("x_ptr"), inputs.array("a_ptr"), inputs.size("n"));
    let mut order: Vec<usize> = (0..x.len()).step_by(n).collect();
    if inputs.bool("reverse") {
        order.reverse();
    }
    let (mut sums, mut y) = (x.to_vec(), x.to_vec());
    for column in 0..n {
        for step in order.windows(2) {
            let (before, at) = (step[0] + column, step[1] + column);
            sums[at] += sums[before];
            y[at] += a[at] * y[before];
        }
    }
    BTreeMap::from([("sum_ptr".to_owned(), sums), ("y_ptr".to_owned(), y)])
}

/// The inner product of each row of `out` and `dout`.
pub(crate) fn attention_bwd_delta(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let dim = inputs.size("dim");
    let rows = inputs.array("out_ptr").chunks(dim).zip(inputs.array("dout_ptr").chunks(dim));
    single("delta_ptr", rows.map(|(o, d)| o.iter().zip(d).map(|(o, d)| o * d).sum()).collect())
}

/// Rows less their mean, over their deviation, less the largest of that in the first block.
pub(crate) fn standardize(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let one = |row: &[f64]| {
        let middle = mean(row.iter().copied());
        let rstd = 1.0 / (mean(row.iter().map(|x| (x - middle).powi(2))) + inputs.float("eps")).sqrt();
        let top = row.iter().take(inputs.size("block")).copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter().map(|x| (x - top) * rstd).collect::<Vec<_>>()
    };
    single("y_ptr", inputs.array("x_ptr").chunks(inputs.size("n")).flat_map(one).collect())
}

/// Rows cut off below at 0, then at a half if the sum is above 1; what is above is divided by the sum over the padded
/// row.
pub(crate) fn cut_rows(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (n, block) = (inputs.size("n"), inputs.size("block"));
    let one = |row: &[f64]| {
        let cut = |row: &[f64], low: f64| row.iter().map(|x| x.max(low)).collect::<Vec<_>>();
        let first = cut(row, 0.0);
        let total: f64 = first.iter().sum();
        if total <= 1.0 {
            return first.iter().map(|x| if *x > 0.0 { x / total } else { *x }).collect::<Vec<_>>();
        }
        let second = cut(&first, 0.5);
        let total = second.iter().sum::<f64>() + 0.5 * (block - n) as f64;
        second.iter().map(|x| if *x > 0.5 { x / total } else { *x }).collect()
    };
    single("y_ptr", inputs.array("x_ptr").chunks(n).flat_map(one).collect())
}

/// The sum and the product of each column.
pub(crate) fn column_major(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, m) = (inputs.array("x_ptr"), inputs.size("m"));
    let column = |i: usize| x.iter().skip(i).step_by(m);
    let sums = (0..m).map(|i| column(i).sum()).collect();
    let products = (0..m).map(|i| column(i).product()).collect();
    BTreeMap::from([("sum_ptr".to_owned(), sums), ("product_ptr".to_owned(), products)])
}

/// Whether all and whether any of each row are not zero.
pub(crate) fn truths(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let rows = || inputs.array("x_ptr").chunks(inputs.size("n"));
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    let all = rows().map(|row| truth(row.iter().all(|&x| x != 0.0))).collect();
    let any = rows().map(|row| truth(row.iter().any(|&x| x != 0.0))).collect();
    BTreeMap::from([("all_ptr".to_owned(), all), ("any_ptr".to_owned(), any)])
}

/// Sums of all elements up to each; that no wait was in vain but the one that had to be; and the flags behind each
/// program.
pub(crate) fn running_sum(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let mut sum = 0.0;
    let add = |x: &f64| {
        sum += x;
        sum
    };
    let y = inputs.array("x_ptr").iter().map(add).collect();
    let late = inputs.array("late_ptr").chunks(8).flat_map(|_| [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]).collect();
    BTreeMap::from([("y_ptr".to_owned(), y), ("late_ptr".to_owned(), late)])
}
