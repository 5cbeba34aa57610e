//! References of attention, by its definition: no blocks, all scores at once.

use std::collections::BTreeMap;

use ttc::cases::Inputs;

use super::single;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sum += factor * row`
fn accumulate(sum: &mut [f64], factor: f64, row: &[f64]) {
    sum.iter_mut().zip(row).for_each(|(s, x)| *s += factor * x);
}

/// Attention among rows of `dim` elements: the results, and the logarithms of the sums.
fn attend(q: &[&[f64]], k: &[&[f64]], v: &[&[f64]], scale: f64, causal: bool) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (mut out, mut lses) = (vec![], vec![]);
    for (i, q) in q.iter().enumerate() {
        let seen = if causal { i + 1 } else { k.len() };
        let scores: Vec<f64> = k[..seen].iter().map(|k| scale * dot(q, k)).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|s| (s - top).exp()).sum();
        let mut row = vec![0.0; q.len()];
        scores.iter().zip(v).for_each(|(s, v)| accumulate(&mut row, (s - top).exp() / sum, v));
        out.push(row);
        lses.push(top + sum.ln());
    }
    (out, lses)
}

/// `out = softmax(scale * q @ k^T) @ v` for each head; and the logarithms of the sums of the softmax.
pub(crate) fn attention(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (length, dim) = (inputs.size("length"), inputs.size("dim"));
    let (mut out, mut lse) = (vec![], vec![]);
    for head in 0..inputs.size("heads") {
        let rows = |name| inputs.array(name)[head * length * dim..][..length * dim].chunks(dim).collect::<Vec<_>>();
        let (o, l) =
            attend(&rows("q_ptr"), &rows("k_ptr"), &rows("v_ptr"), inputs.float("scale"), inputs.bool("causal"));
        out.extend(o.into_iter().flatten());
        lse.extend(l);
    }
    BTreeMap::from([("out_ptr".to_owned(), out), ("lse_ptr".to_owned(), lse)])
}

/// The same within each sequence; a token's row holds all heads.
pub(crate) fn attention_varlen(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (heads, dim) = (inputs.size("heads"), inputs.size("dim"));
    let mut out = vec![0.0; inputs.array("out_ptr").len()];
    for pair in inputs.array("first_ptr").windows(2) {
        let tokens = pair[0] as usize..pair[1] as usize;
        for head in 0..heads {
            let rows = |name| {
                tokens.clone().map(|t| &inputs.array(name)[(t * heads + head) * dim..][..dim]).collect::<Vec<_>>()
            };
            let (o, _) =
                attend(&rows("q_ptr"), &rows("k_ptr"), &rows("v_ptr"), inputs.float("scale"), inputs.bool("causal"));
            for (t, row) in tokens.clone().zip(o) {
                out[(t * heads + head) * dim..][..dim].copy_from_slice(&row);
            }
        }
    }
    single("out_ptr", out)
}

/// Attention of each query to the keys of one part of its sequence, for every part, and the base-2 logarithms of the
/// sums of the softmax. A part without keys gives zeros and minus infinity.
pub(crate) fn attention_decode(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let [heads, group, room, dim] = ["heads", "group", "room", "dim"].map(|name| inputs.size(name));
    let (splits, part) = (inputs.size("splits"), inputs.size("split_length"));
    let (mut out, mut lse) = (vec![], vec![]);
    for (row, q) in inputs.array("q_ptr").chunks(dim).enumerate() {
        let head = row / group;
        let length = inputs.array("lengths_ptr")[head / heads] as usize;
        let rows = |name| inputs.array(name)[head * room * dim..][..room * dim].chunks(dim).collect::<Vec<_>>();
        let (keys, values) = (rows("k_ptr"), rows("v_ptr"));
        for split in 0..splits {
            let (begin, end) = ((split * part).min(length), (split * part + part).min(length));
            if begin == end {
                out.extend(vec![0.0; dim]);
                lse.push(f64::NEG_INFINITY);
                continue;
            }
            let (o, l) = attend(&[q], &keys[begin..end], &values[begin..end], inputs.float("scale"), false);
            out.extend(o.into_iter().flatten());
            lse.push(l[0] / std::f64::consts::LN_2);
        }
    }
    BTreeMap::from([("out_ptr".to_owned(), out), ("lse_ptr".to_owned(), lse)])
}

/// The mean of a row's parts, weighted by two to the power of their `lse`; zero where no part has any weight.
pub(crate) fn attention_decode_join(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (splits, dim) = (inputs.size("splits"), inputs.size("dim"));
    let parts = inputs.array("part_ptr").chunks(splits * dim);
    let one = |(parts, lse): (&[f64], &[f64])| {
        let total: f64 = lse.iter().map(|l| l.exp2()).sum();
        let mut row = vec![0.0; dim];
        if total > 0.0 {
            parts.chunks(dim).zip(lse).for_each(|(part, l)| accumulate(&mut row, l.exp2() / total, part));
        }
        row
    };
    single("out_ptr", parts.zip(inputs.array("lse_ptr").chunks(splits)).flat_map(one).collect())
}

/// The gradients of queries, keys and values for given `lse` and `delta`, pair of query and key by pair.
pub(crate) fn attention_bwd(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (length, dim, scale) = (inputs.size("length"), inputs.size("dim"), inputs.float("scale"));
    let row = |name: &str, r: usize| &inputs.array(name)[r * dim..][..dim];
    let n = inputs.array("q_ptr").len();
    let (mut dq, mut dk, mut dv) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for i in 0..n / dim {
        let (head, place) = (i / length * length, i % length);
        for j in head..head + if inputs.bool("causal") { place + 1 } else { length } {
            let p = (scale * dot(row("q_ptr", i), row("k_ptr", j)) - inputs.array("lse_ptr")[i]).exp();
            let ds = scale * p * (dot(row("dout_ptr", i), row("v_ptr", j)) - inputs.array("delta_ptr")[i]);
            accumulate(&mut dv[j * dim..][..dim], p, row("dout_ptr", i));
            accumulate(&mut dk[j * dim..][..dim], ds, row("q_ptr", i));
            accumulate(&mut dq[i * dim..][..dim], ds, row("k_ptr", j));
        }
    }
    BTreeMap::from([("dq_ptr".to_owned(), dq), ("dk_ptr".to_owned(), dk), ("dv_ptr".to_owned(), dv)])
}

/// `out[t] = scale * q[t] @ S[t]`, with the state `S[t] = S[t - 1] + k[t]^T v[t]`, token by token; and the last state.
pub(crate) fn linear_attention(inputs: &Inputs) -> BTreeMap<String, Vec<f64>> {
    let (length, keys, values) = (inputs.size("length"), inputs.size("key_dim"), inputs.size("value_dim"));
    let (mut out, mut states) = (vec![], vec![]);
    for head in 0..inputs.size("heads") {
        let mut state = vec![0.0; keys * values];
        for t in head * length..(head + 1) * length {
            let (q, k) = (&inputs.array("q_ptr")[t * keys..][..keys], &inputs.array("k_ptr")[t * keys..][..keys]);
            let v = &inputs.array("v_ptr")[t * values..][..values];
            let mut row = vec![0.0; values];
            for (d, line) in state.chunks_mut(values).enumerate() {
                accumulate(line, k[d], v);
                accumulate(&mut row, inputs.float("scale") * q[d], line);
            }
            out.extend(row);
        }
        states.extend(state);
    }
    BTreeMap::from([("out_ptr".to_owned(), out), ("state_ptr".to_owned(), states)])
}
