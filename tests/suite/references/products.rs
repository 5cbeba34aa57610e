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
    let (&[images, height, width, channels], &[taps_h, taps_w, _, filters]) = (inputs.shape("x_ptr"), inputs.shape("w_ptr")) else {
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
