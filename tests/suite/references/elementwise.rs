//! References of kernels that treat every element by itself, or every pair.

use std::collections::BTreeMap;

use ttc::cases::Inputs;

use super::{philox, single};

/// `out = x + y`
pub(crate) fn add(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, y) = (inputs.array("x_ptr"), inputs.array("y_ptr"));
    single("out_ptr", x.iter().zip(y).map(|(x, y)| x + y).collect())
}

/// Of `at = least + i`: `x[i]`, or -1 where `at / divisor` is 0; and `x[divisor + at % divisor]`. Both round toward
/// zero.
pub(crate) fn below_zero(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, least, divisor) = (inputs.array("x_ptr"), inputs.int("least"), inputs.int("divisor"));
    let all = || (0..inputs.size("n")).map(|i| (i, least + i as i64));
    let quotients = all().map(|(i, at)| if at / divisor == 0 { -1.0 } else { x[i] }).collect();
    let remainders = all().map(|(_, at)| x[(divisor + at % divisor) as usize]).collect();
    BTreeMap::from([("quotient_ptr".to_owned(), quotients), ("remainder_ptr".to_owned(), remainders)])
}

/// `out = gate * sigmoid(gate) * up`
pub(crate) fn swiglu(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (gate, up) = (inputs.array("gate_ptr"), inputs.array("up_ptr"));
    single("out_ptr", gate.iter().zip(up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect())
}

/// `out = x * Φ(x)`, or its approximation by tanh.
pub(crate) fn gelu(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let approximate = inputs.bool("approximate");
    let one = |&x: &f64| {
        if approximate {
            0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
        } else {
            0.5 * x * (1.0 + libm::erf(x / 2.0f64.sqrt()))
        }
    };
    single("out_ptr", inputs.array("x_ptr").iter().map(one).collect())
}

/// `out[i] = x[i] / (1 - p)` where random number `i` of the seed is at least `p`.
pub(crate) fn dropout(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (p, seed) = (inputs.float("p"), inputs.int("seed") as u64);
    let one = |(i, x): (usize, &f64)| if philox::uniform(seed, i as u64) >= p { x / (1.0 - p) } else { 0.0 };
    single("out_ptr", inputs.array("x_ptr").iter().enumerate().map(one).collect())
}

/// Pairs of features as complex numbers, each times `cos + i sin`.
pub(crate) fn rotary(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (x, cos, sin) = (inputs.array("x_ptr"), inputs.array("cos_ptr"), inputs.array("sin_ptr"));
    let [tokens, heads, dim] = inputs.shape("x_ptr") else { panic!("x has three dimensions") };
    let half = dim / 2;
    let mut out = vec![0.0; x.len()];
    for (row, pair) in (0..tokens * heads).flat_map(|row| (0..half).map(move |pair| (row, pair))) {
        let (first, second) = if inputs.bool("interleaved") { (2 * pair, 2 * pair + 1) } else { (pair, pair + half) };
        let (first, second) = (row * dim + first, row * dim + second);
        let angle = row / heads * half + pair;
        out[first] = x[first] * cos[angle] - x[second] * sin[angle];
        out[second] = x[second] * cos[angle] + x[first] * sin[angle];
    }
    single("out_ptr", out)
}

/// Division, scale and product are rounded to fp32, as the kernel's are, so that halves are decided alike.
pub(crate) fn quantize(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (mut q, mut scales) = (vec![], vec![]);
    for row in inputs.array("x_ptr").chunks(inputs.size("n")) {
        let greatest = row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let scale = if greatest == 0.0 { 1.0 } else { greatest as f32 / 127.0 };
        q.extend(row.iter().map(|&x| f64::from((x as f32 / scale + 0.5).floor()).clamp(-127.0, 127.0)));
        scales.push(f64::from(scale));
    }
    BTreeMap::from([("q_ptr".to_owned(), q), ("scale_ptr".to_owned(), scales)])
}

/// `x[r, c] = q[r, c] * scale[r]`
pub(crate) fn dequantize(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let rows = inputs.array("q_ptr").chunks(inputs.size("n")).zip(inputs.array("scale_ptr"));
    single("x_ptr", rows.flat_map(|(row, s)| row.iter().map(move |q| q * s)).collect())
}

/// `out = x`, in every format.
pub(crate) fn cast(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let formats = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64", "e4", "e5"];
    formats.iter().map(|f| (format!("{f}_ptr"), inputs.array("x_ptr").to_vec())).collect()
}

/// Selu of neighbours in order, and quotients, remainders and Collatz steps of whole numbers.
pub(crate) fn map_elementwise(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let selu = |x: &f64| if *x > 0.0 { *x } else { 1.5 * (x.exp() - 1.0) };
    let y: Vec<f64> = inputs.array("x_ptr").iter().map(selu).collect();
    let y = y.chunks(2).flat_map(|pair| [pair[0].min(pair[1]), pair[0].max(pair[1])]).collect();
    let i = inputs.array("i_ptr");
    let steps = |&i: &f64| {
        std::iter::successors(Some(i as i64), |&i| (i > 1).then(|| if i % 2 == 0 { i / 2 } else { 3 * i + 1 })).count()
            as f64
            - 1.0
    };
    let q = i.iter().map(|i| (i / 7.0).floor()).collect();
    let r = i.iter().map(|i| i % 7.0 + steps(i)).collect();
    BTreeMap::from([("y_ptr".to_owned(), y), ("q_ptr".to_owned(), q), ("r_ptr".to_owned(), r)])
}

/// Quotients and rests of x and y as numbers with a sign and without one, of x and 7, and of each place and y. Every
/// seventh x is the least number, and y is -1 where it was 0.
pub(crate) fn divide(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let least = |(at, &x): (usize, &f64)| if at % 7 == 0 { i64::from(i32::MIN) } else { x as i64 };
    let x: Vec<i64> = inputs.array("x_ptr").iter().enumerate().map(least).collect();
    let y: Vec<i64> = inputs.array("y_ptr").iter().map(|&y| if y == 0.0 { -1 } else { y as i64 }).collect();
    let both = |f: &dyn Fn(i64, i64) -> i64| x.iter().zip(&y).map(|(&x, &y)| f(x, y) as f64).collect();
    let unsigned = |v: i64| i64::from(v as i32 as u32);
    let row = |(at, &y): (usize, &i64)| (at as i64 / y.max(1)) as f64;
    BTreeMap::from([
        ("quotient_ptr".to_owned(), both(&|x, y| x / y)),
        ("rest_ptr".to_owned(), both(&|x, y| x % y)),
        ("unsigned_quotient_ptr".to_owned(), both(&|x, y| unsigned(x) / unsigned(y))),
        ("unsigned_rest_ptr".to_owned(), both(&|x, y| unsigned(x) % unsigned(y))),
        ("sevenths_ptr".to_owned(), both(&|x, _| x / 7)),
        ("by_seven_ptr".to_owned(), both(&|x, _| x % 7)),
        ("row_ptr".to_owned(), y.iter().enumerate().map(row).collect()),
    ])
}

/// Sines, cosines, and what the kernel makes of tangents.
pub(crate) fn angles(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let of = |function: fn(f64) -> f64| inputs.array("x_ptr").iter().map(|&x| function(x)).collect();
    BTreeMap::from([
        ("sine_ptr".to_owned(), of(f64::sin)),
        ("cosine_ptr".to_owned(), of(f64::cos)),
        ("tangent_ptr".to_owned(), of(|x| x.tan() - (2.0 * x).cos())),
    ])
}
