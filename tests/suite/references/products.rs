//! References of kernels that are products of matrices.

use std::collections::BTreeMap;

use ttc::cases::Inputs;

use super::single;

/// The product of `a`, [m, k], and `b`, [k, n], row by row.
fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for (i, l) in (0..m).flat_map(|i| (0..k).map(move |l| (i, l))) {
        for j in 0..n {
            c[i * n + j] += a[i * k + l] * b[l * n + j];
        }
    }
    c
}

fn sizes(inputs: &Inputs) -> [usize; 3] {
    ["m", "n", "k"].map(|name| inputs.size(name))
}

/// The transposed of a matrix of `rows` times `cols`, if it is wanted.
fn transposed(x: &[f64], rows: usize, cols: usize, wanted: bool) -> Vec<f64> {
    if wanted { (0..x.len()).map(|at| x[at % rows * cols + at / rows]).collect() } else { x.to_vec() }
}

/// `c = a @ b`, all row by row.
pub(crate) fn matmul(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    single("c_ptr", product(inputs.array("a_ptr"), inputs.array("b_ptr"), sizes(inputs)))
}

/// `c = a @ b.T`, all row by row.
pub(crate) fn matmul_nt(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [m, n, k] = sizes(inputs);
    let b = transposed(inputs.array("b_ptr"), n, k, true);
    single("c_ptr", product(inputs.array("a_ptr"), &b, [m, n, k]))
}

/// As [`matmul`], with the sums of the rows of `a`.
pub(crate) fn matmul_row_sums(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [_, _, k] = sizes(inputs);
    let sums = inputs.array("a_ptr").chunks(k).map(|row| row.iter().sum()).collect();
    let mut all = matmul(inputs);
    all.insert("sums_ptr".to_owned(), sums);
    all
}

/// As [`matmul_nt`], of buffers that descriptors describe.
pub(crate) fn matmul_descriptors(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [m, n, k] = sizes(inputs);
    let b = transposed(inputs.array("b_desc"), n, k, true);
    single("c_desc", product(inputs.array("a_desc"), &b, [m, n, k]))
}

/// `c = a @ b`, each of which may lie in memory column by column.
pub(crate) fn matmul_transposed(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [m, n, k] = sizes(inputs);
    let a = transposed(inputs.array("a_ptr"), k, m, inputs.bool("trans_a"));
    let b = transposed(inputs.array("b_ptr"), n, k, inputs.bool("trans_b"));
    single("c_ptr", transposed(&product(&a, &b, [m, n, k]), m, n, inputs.bool("trans_c")))
}

/// `c[i] = relu(a[i] @ b[i] + bias)`
pub(crate) fn batched_matmul(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [m, n, k] = sizes(inputs);
    let (a, b, bias) = (inputs.array("a_ptr"), inputs.array("b_ptr"), inputs.array("bias_ptr"));
    let mut out = vec![];
    for i in 0..inputs.size("batch") {
        let c = product(&a[i * m * k..], &b[i * k * n..], [m, n, k]);
        let activated = |x: f64| if inputs.bool("relu") { x.max(0.0) } else { x };
        out.extend(c.iter().enumerate().map(|(at, x)| activated(x + bias[at % n])));
    }
    single("c_ptr", out)
}

/// `c[r, :] = a[r, :] @ b[g]` for the rows of group `g`.
pub(crate) fn grouped_matmul(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (a, b, n, k) = (inputs.array("a_ptr"), inputs.array("b_ptr"), inputs.size("n"), inputs.size("k"));
    let mut out = vec![];
    for (g, pair) in inputs.array("first_ptr").windows(2).enumerate() {
        let (start, end) = (pair[0] as usize, pair[1] as usize);
        out.extend(product(&a[start * k..end * k], &b[g * k * n..], [end - start, n, k]));
    }
    single("c_ptr", out)
}

/// A convolution by its definition.
pub(crate) fn conv2d(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, w) = (inputs.array("x_ptr"), inputs.array("w_ptr"));
    let (&[images, height, width, channels], &[taps_h, taps_w, _, filters]) =
        (inputs.shape("x_ptr"), inputs.shape("w_ptr"))
    else {
        panic!("image and filters have four dimensions")
    };
    let &[_, out_height, out_width, _] = inputs.shape("y_ptr") else { panic!("the result has four dimensions") };
    let (stride, padding) = (inputs.size("stride"), inputs.size("padding"));
    let mut y = vec![];
    for pixel in 0..images * out_height * out_width {
        let (i, p, q) = (pixel / out_width / out_height, pixel / out_width % out_height, pixel % out_width);
        let mut sums = vec![0.0; filters];
        for (r, s) in (0..taps_h).flat_map(|r| (0..taps_w).map(move |s| (r, s))) {
            let (row, col) = ((p * stride + r).wrapping_sub(padding), (q * stride + s).wrapping_sub(padding));
            if row < height && col < width {
                let pixel = &x[((i * height + row) * width + col) * channels..][..channels];
                let tap = &w[(r * taps_w + s) * channels * filters..][..channels * filters];
                sums.iter_mut().zip(product(pixel, tap, [1, filters, channels])).for_each(|(sum, v)| *sum += v);
            }
        }
        y.extend(sums);
    }
    single("y_ptr", y)
}

/// Each element of the image adds its products with the taps to the result, `stride` apart from its neighbours'.
pub(crate) fn transposed_conv(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, w) = (inputs.array("x_ptr"), inputs.array("w_ptr"));
    let (&[images, channels, height, width], &[_, filters, taps, _], &[_, _, out_height, out_width]) =
        (inputs.shape("x_ptr"), inputs.shape("w_ptr"), inputs.shape("y_ptr"))
    else {
        panic!("image, taps and result have four dimensions")
    };
    let (stride, padding) = (inputs.size("stride"), inputs.size("padding"));
    let mut y = vec![0.0; images * filters * out_height * out_width];
    for (at, &value) in x.iter().enumerate() {
        let (row, col) = (at / width % height, at % width);
        let (image, channel) = (at / width / height / channels, at / width / height % channels);
        for (k, weight) in w[channel * filters * taps * taps..][..filters * taps * taps].iter().enumerate() {
            let (filter, r, s) = (k / taps / taps, k / taps % taps, k % taps);
            let (p, q) = ((row * stride + r).wrapping_sub(padding), (col * stride + s).wrapping_sub(padding));
            if p < out_height && q < out_width {
                y[((image * filters + filter) * out_height + p) * out_width + q] += value * weight;
            }
        }
    }
    single("y_ptr", y)
}

/// `c = q @ w` with two numbers of four bits in each byte of `q`.
pub(crate) fn int4_matmul(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let unpacked: Vec<f64> = inputs
        .array("q_ptr")
        .iter()
        .flat_map(|&b| [b as i64 & 15, b as i64 >> 4 & 15])
        .map(|number| number as f64)
        .collect();
    single("c_ptr", product(&unpacked, inputs.array("w_ptr"), sizes(inputs)))
}

/// The left half of `x @ w` times the right half.
pub(crate) fn gated(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [m, n, k] = sizes(inputs);
    let z = product(inputs.array("x_ptr"), inputs.array("w_ptr"), [m, n, k]);
    let row = |row: &[f64]| (0..n / 2).map(|i| row[i] * row[n / 2 + i]).collect::<Vec<_>>();
    single("y_ptr", z.chunks(n).flat_map(row).collect())
}

/// The element of a format with these bits: sign, exponent, `mantissa` bits of mantissa. Codes for infinity and NaN are
/// not in the cases.
fn narrow(code: u64, bits: u32, mantissa: u32, bias: i32) -> f64 {
    let sign = if code >> (bits - 1) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = (code >> mantissa & ((1 << (bits - 1 - mantissa)) - 1)) as i32;
    let fraction = (code & ((1 << mantissa) - 1)) as f64 / f64::from(1 << mantissa);
    sign * if exponent == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(exponent - bias) }
}

/// Elements [rows, cols] from what lies in memory; `along_cols` says where the neighbours in a byte of e2m1 lie.
fn unpacked(stored: &[f64], format: &str, [rows, cols]: [usize; 2], along_cols: bool) -> Vec<f64> {
    let at = |r: usize, c: usize| match format {
        "e2m1" => {
            let (byte, second) = if along_cols { (r * (cols / 2) + c / 2, c % 2) } else { (r / 2 * cols + c, r % 2) };
            narrow(stored[byte] as u64 >> (4 * second) & 15, 4, 1, 1)
        }
        "e4m3" => narrow(stored[r * cols + c] as u64, 8, 3, 7),
        "e5m2" => narrow(stored[r * cols + c] as u64, 8, 2, 15),
        _ => stored[r * cols + c],
    };
    (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))).map(|(r, c)| at(r, c)).collect()
}

/// `c = a @ (w * scale)`; `w` holds bytes, or integers of 4 bits, 8 more than they stand for, in bytes or words along
/// k.
pub(crate) fn matmul_dequant(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [m, n, k] = sizes(inputs);
    let (stored, scale) = (inputs.array("w_ptr"), inputs.array("scale_ptr"));
    let many = match inputs.str("how") {
        "nibbles" => 2,
        "words" => 8,
        _ => 1,
    };
    let weight = |l: usize, j: usize| {
        let at = if inputs.bool("trans") { j * (k / many) + l / many } else { l / many * n + j };
        if many == 1 { stored[at] } else { f64::from((stored[at] as i64 >> (4 * (l % many)) & 15) as i32 - 8) }
    };
    let w: Vec<f64> = (0..k).flat_map(|l| (0..n).map(move |j| (l, j))).map(|(l, j)| weight(l, j) * scale[j]).collect();
    single("c_ptr", product(inputs.array("a_ptr"), &w, [m, n, k]))
}

/// `c = a @ b` in microscaling formats: 32 elements along k share the scale 2^(s - 127), of which 255 is not a number.
pub(crate) fn dot_scaled(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [m, n, k] = sizes(inputs);
    let mut a = unpacked(inputs.array("a_ptr"), inputs.str("a_format"), [m, k], inputs.bool("a_pack"));
    let mut b = unpacked(inputs.array("b_ptr"), inputs.str("b_format"), [k, n], !inputs.bool("b_pack"));
    let scale = |s: f64| if s as i32 == 255 { f64::NAN } else { 2f64.powi(s as i32 - 127) };
    let (of_a, of_b) = (inputs.array("a_scale_ptr"), inputs.array("b_scale_ptr"));
    for l in 0..k {
        if inputs.bool("scale_a") {
            (0..m).for_each(|i| a[i * k + l] *= scale(of_a[i * (k / 32) + l / 32]));
        }
        if inputs.bool("scale_b") {
            (0..n).for_each(|j| b[l * n + j] *= scale(of_b[j * (k / 32) + l / 32]));
        }
    }
    single("c_ptr", product(&a, &b, [m, n, k]))
}
