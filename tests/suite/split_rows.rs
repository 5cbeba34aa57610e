//! `ttc-split-rows` keeps what kernels compute: random chains of two products with masks, carried rows, branches, stores
//! between them, a second loop, and ends in which rows meet or are read where others are written.
//!
//! 1. `kernel` makes a kernel from a seed, and `arguments` its matrices. All sums are exact, whatever their order.
//! 2. The interpreter runs it before and after the pass.
//! 3. Some of the kernels run as PTX in the emulator too, in three schedules.
//!
//! `TTC_ROWS_SEEDS=100000 cargo test split_rows` tries as many, `TTC_ROWS_SEED=17` shows one.

use ttc::interp::{Arg, BufferId, Memory};
use ttc::ir::{FloatKind, Type};

use super::random_ir::Random;
use super::random_kernels::{self, Became, Kernel, number, pick};

/// Columns of the operands and of the result.
const DEPTH: i64 = 16;

/// Rows of the result and of the right-hand operands.
#[derive(Clone, Copy, Debug)]
struct Shape {
    m: i64,
    n: i64,
}

fn kernel(seed: u64) -> (Kernel, Shape) {
    let r = &mut Random::new(seed ^ 0x5b17);
    let block_m = number(r, &[128, 128, 128, 128, 128, 64]);
    let block_n = number(r, &[16, 32, 128]);
    let tiles = number(r, &[1, 1, 2]);
    let shape = Shape { m: tiles * block_m - number(r, &[0, 0, 3, 65]), n: number(r, &[0, 1, 2, 3]) * block_n };
    let changed = pick(
        r,
        &[
            "s",
            "tl.where(rm[:, None] >= at[None, :], s, 0)",
            "tl.where(at[None, :] % 3 != 1, s, -1)",
            "s + tl.load(x_ptr + rm * D, mask=rm < M, other=0)[:, None]",
            "tl.minimum(tl.cumsum(s, 1), 64)",
            "tl.trans(tl.trans(s) + 1)",
            "tl.maximum(s - high[:, None], -64)",
        ],
    );
    let meanwhile = pick(
        r,
        &[
            "",
            "",
            "        tl.store(y_ptr + M * D + rm, high, mask=rm < M)\n",
            "        if i % 2 == 0:\n            acc = acc * 2\n            low = low + high\n",
            "        if i > 0:\n            tl.store(y_ptr + rm, low, mask=rm < M)\n",
            // A row of the other part, which may have been written.
            "        low += tl.load(y_ptr + other, mask=other < M, other=3)\n        tl.store(y_ptr + rm, low + 1, mask=rm < M)\n",
            "        tl.store(y_ptr + M * D + tl.program_id(0), i)\n",
            "        for j in range(2):\n            low = tl.minimum(low + j, 5)\n",
        ],
    );
    let second = pick(
        r,
        &[
            "",
            "",
            "",
            "    for i in range(0, N, BN):\n        at = i + tl.arange(0, BN)\n        k = tl.load(w_ptr + at[None, :] * D + rd[:, None])\n        \
             acc = tl.dot(tl.dot(q, k).to(tl.float16), tl.load(w_ptr + at[:, None] * D + rd[None, :]), acc)\n",
        ],
    );
    // In the last of these, rows meet.
    let finish = pick(
        r,
        &[
            "",
            "",
            "    acc += high[:, None]\n",
            "    acc = acc * (1 + tl.abs(low))[:, None]\n",
            "    acc += tl.load(Y, mask=rm[:, None] < M, other=0)\n",
            "    acc += tl.load(y_ptr + other[:, None] * D + rd[None, :], mask=other[:, None] < M, other=0)\n",
            "    if tl.program_id(0) == 0:\n        acc = -acc\n",
            "    acc += tl.sum(acc, 1)[:, None] + tl.arange(0, BM)[:, None]\n",
            "    acc += tl.sum(acc, 0)[None, :]\n",
        ],
    );
    let start = pick(r, &["tl.zeros([BM, D], dtype=tl.float32)", "tl.load(Y, mask=rm[:, None] < M, other=0)"]);
    let yields = "y_ptr + rm[:, None] * D + rd[None, :]";
    let source = format!(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n\
         def k(x_ptr: \"*fp16:16\", w_ptr: \"*fp16:16\", y_ptr: \"*fp32:16\", M: \"i32\", N: \"i32\", \
         BM: tl.constexpr = {block_m}, BN: tl.constexpr = {block_n}, D: tl.constexpr = {DEPTH}):\n\
         \x20   rm = tl.program_id(0) * BM + tl.arange(0, BM)\n    rd = tl.arange(0, D)\n\
         \x20   other = tl.program_id(0) * BM + (tl.arange(0, BM) + 64) % BM\n\
         \x20   q = tl.load(x_ptr + rm[:, None] * D + rd[None, :], mask=rm[:, None] < M, other=1)\n\
         \x20   acc = {}\n    high = tl.full([BM], -8, dtype=tl.float32)\n    low = tl.zeros([BM], dtype=tl.float32)\n\
         \x20   for i in range(0, N, BN):\n        at = i + tl.arange(0, BN)\n\
         \x20       k = tl.load(w_ptr + at[None, :] * D + rd[:, None])\n        s = tl.dot(q, k)\n\
         \x20       high = tl.minimum(tl.maximum(high, tl.max(s, 1)), 8)\n        p = {changed}\n{meanwhile}\
         \x20       v = tl.load(w_ptr + at[:, None] * D + rd[None, :])\n        acc = tl.dot(p.to(tl.float16), v, acc)\n\
         {second}{}    tl.store({yields}, acc, mask=rm[:, None] < M)\n",
        start.replace('Y', yields),
        finish.replace('Y', yields),
    );
    let made = Kernel {
        source,
        grid: [u32::try_from(tiles).unwrap(), 1, 1],
        names: ["x_ptr", "w_ptr", "y_ptr", "M", "N"].map(String::from).to_vec(),
        arguments: Box::new(move || arguments(&shape)),
        pipeline: "whole-rows",
    };
    (made, shape)
}

/// Integers of which few are not 0, so that no sum is rounded.
fn matrix(count: i64) -> Vec<u8> {
    let value = |i: i64| if i * 7 % 5 == 0 { i * 11 % 5 - 2 } else { 0 };
    (0..count.max(1)).flat_map(|i| FloatKind::F16.from_f64(value(i) as f64).to_le_bytes()[..2].to_vec()).collect()
}

fn arguments(shape: &Shape) -> (Memory, Vec<Arg>, BufferId) {
    let Shape { m, n } = *shape;
    let mut memory = Memory::new();
    let half = Type::float(FloatKind::F16);
    let x = memory.add("x_ptr", half, &matrix(m * DEPTH));
    let w = memory.add("w_ptr", half, &matrix(n * DEPTH));
    let start: Vec<u8> = (0..m * (DEPTH + 1) + 2).flat_map(|i| ((i % 7) as f32).to_le_bytes()).collect();
    let y = memory.add("y_ptr", Type::f32(), &start);
    let args = [x, w, y].map(|buffer| Arg::Ptr(buffer, 0)).into_iter().chain([m, n].map(Arg::Int)).collect();
    (memory, args, y)
}

fn check(seed: u64, emulate: bool) -> Result<Became, String> {
    let (kernel, shape) = kernel(seed);
    random_kernels::check(&kernel, "ttc-split-rows", emulate)
        .map_err(|what| format!("seed {seed}, {shape:?}: {what}\n{}", kernel.source))
}

#[test]
fn split_rows_keep_what_random_kernels_compute() {
    random_kernels::check_seeds("TTC_ROWS", 200, |seed| kernel(seed).0.source, check);
}
