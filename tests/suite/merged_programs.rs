//! `ttc-merge-programs` keeps what kernels compute: random products of several programs, with the orders of tiles,
//! loops and ends that the pass must tell apart.
//!
//! 1. `kernel` makes a kernel from a seed, and `arguments` matrices that end where their last elements do, so that an
//!    access outside of them is found. All sums are exact, whatever their order.
//! 2. The interpreter runs it before and after the pass.
//! 3. Some of the kernels run as PTX in the emulator too, in three schedules.
//!
//! `TTC_MERGED_SEEDS=100000 cargo test merged_programs` tries as many, `TTC_MERGED_SEED=17` shows one.

use ttc::interp::{Arg, BufferId, Memory};
use ttc::ir::{FloatKind, Type};

use super::random_ir::Random;
use super::random_kernels::{self, Became, Kernel, number, pick};

/// The sizes of a product.
#[derive(Clone, Copy, Debug)]
struct Shape {
    m: i64,
    n: i64,
    k: i64,
}

/// How programs are numbered. `{}` is what a program computes from its numbers, and the grid follows.
const ORDERS: [&str; 6] = [
    "    pm = pid // nn\n    pn = pid % nn\n",
    "    pm = pid % nm\n    pn = pid // nm\n",
    "    group = 2 * nn\n    first = pid // group * 2\n    size = min(nm - first, 2)\n    pm = first + pid % group % size\n    \
     pn = pid % group // size\n",
    // The first axis is one of the two.
    "    pm = pid\n    pn = other\n",
    "    pm = other\n    pn = pid\n",
    // Neighbours have nothing in common.
    "    pm = (pid + other) % nm\n    pn = (pid * 3 + pid // nm) % nn\n",
];

fn kernel(seed: u64) -> (Kernel, Shape) {
    let r = &mut Random::new(seed ^ 0x3e26);
    let block_m = 64;
    let block_n = number(r, &[16, 32, 64, 64, 128]);
    let block_k = number(r, &[16, 32]);
    let (tiles_m, tiles_n) = (number(r, &[1, 2, 3, 4]), number(r, &[1, 2, 3]));
    let m = tiles_m * block_m - number(r, &[0, 0, 3, 63]);
    // Rows start at multiples of 16 elements, so that a thread loads 16 bytes at once.
    let n = tiles_n * block_n - if block_n > 16 { number(r, &[0, 0, 16]) } else { 0 };
    let k = number(r, &[0, 1, 3, 4, 5]) * block_k + number(r, &[0, 0, 16]);
    let shape = Shape { m, n, k };
    let order = r.below(ORDERS.len());
    let grid = match order {
        3 => [tiles_m, tiles_n, 1],
        4 => [tiles_n, tiles_m, 1],
        5 => [tiles_m * tiles_n, 2, 1],
        _ => [tiles_m * tiles_n, 1 + i64::from(r.below(6) == 0), 1],
    };
    // How far a program goes along K: some stop earlier than their neighbours.
    let until = pick(r, &["K", "K", "K", "min(K, (pn + 1) * BK)", "min(K, (pm + 1) * BK)", "K - pid % 2 * 16"]);
    let carried = r.below(2) == 0;
    let (front, read_a, read_b, end) = if carried {
        (
            "    a_ptrs = x_ptr + (rm % M)[:, None] * K + ks[None, :]\n    b_ptrs = w_ptr + ks[:, None] * N + (rn % N)[None, :]\n",
            "a_ptrs",
            "b_ptrs",
            "        a_ptrs += BK\n        b_ptrs += BK * N\n",
        )
    } else {
        ("", "x_ptr + (rm % M)[:, None] * K + at[None, :]", "w_ptr + at[:, None] * N + (rn % N)[None, :]", "")
    };
    let extra = pick(
        r,
        &["", "", "", " & (rm < M)[:, None]", " & (ks % 3 != 1)[None, :]", " & (pid % 3 != 1)", " & (pn != 1)"],
    );
    // A second product of the same operand.
    let twice = r.below(4) == 0;
    let (second, sum) = if twice {
        (
            "        c = tl.load(B, mask=(at < until)[:, None], other=0)\n        acc2 = tl.dot(a, c * 1, acc2)\n",
            "acc + acc2",
        )
    } else {
        ("", "acc")
    };
    let finish = pick(
        r,
        &[
            "",
            "",
            "    acc += tl.load(i_ptr + rn % N).to(tl.float32)[None, :]\n",
            "    acc += tl.load(i_ptr + pm).to(tl.float32)\n",
            "    if pn % 2 == 1:\n        acc = acc * 2\n",
            "    acc += tl.load(Y, mask=inside, other=0)\n",
        ],
    );
    // What the pass must leave alone is rare.
    let store = if r.below(12) == 0 {
        "    tl.atomic_xchg(Y, acc, mask=inside)\n"
    } else {
        "    tl.store(Y, acc, mask=inside)\n"
    };
    let source = format!(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n\
         def k(x_ptr: \"*fp16:16\", w_ptr: \"*fp16:16\", i_ptr: \"*i32:16\", y_ptr: \"*fp32:16\", M: \"i32\", N: \"i32:16\", K: \"i32:16\", \
         BM: tl.constexpr = {block_m}, BN: tl.constexpr = {block_n}, BK: tl.constexpr = {block_k}):\n\
         \x20   pid = tl.program_id(0)\n    other = tl.program_id(1)\n    nm = tl.cdiv(M, BM)\n    nn = tl.cdiv(N, BN)\n{}\
         \x20   rm = pm * BM + tl.arange(0, BM)\n    rn = pn * BN + tl.arange(0, BN)\n    ks = tl.arange(0, BK)\n\
         \x20   inside = (rm < M)[:, None] & (rn < N)[None, :]\n    until = {until}\n\
         \x20   acc = tl.zeros([BM, BN], dtype=tl.float32)\n    acc2 = tl.zeros([BM, BN], dtype=tl.float32)\n{front}\
         \x20   for i in range(0, until, BK):\n        at = i + ks\n\
         \x20       a = tl.load({read_a}, mask=(at < until)[None, :]{extra}, other=0)\n\
         \x20       b = tl.load({read_b}, mask=(at < until)[:, None], other=0)\n\
         \x20       acc = tl.dot(a, b, acc)\n{}{end}    acc = {sum}\n{}{}",
        ORDERS[order],
        second.replace('B', read_b).replace("c * 1", if r.below(4) == 0 { "c * 2" } else { "c" }),
        finish.replace('Y', "y_ptr + rm[:, None] * N + rn[None, :]"),
        store.replace('Y', "y_ptr + rm[:, None] * N + rn[None, :]"),
    );
    let names = ["x_ptr", "w_ptr", "i_ptr", "y_ptr", "M", "N", "K"];
    let made = Kernel {
        source,
        grid: grid.map(|n| u32::try_from(n).unwrap()),
        names: names.map(String::from).to_vec(),
        arguments: Box::new(move || arguments(&shape)),
        pipeline: "one-step,one-program",
    };
    (made, shape)
}

/// Small integers, of which all sums are exact.
fn matrix(count: i64, period: i64) -> Vec<u8> {
    let half = |i: i64| FloatKind::F16.from_f64((i * 7 % period - period / 2) as f64).to_le_bytes()[..2].to_vec();
    (0..count.max(1)).flat_map(half).collect()
}

fn arguments(shape: &Shape) -> (Memory, Vec<Arg>, BufferId) {
    let Shape { m, n, k } = *shape;
    let mut memory = Memory::new();
    let half = Type::float(FloatKind::F16);
    let x = memory.add("x_ptr", half, &matrix(m * k, 23));
    let w = memory.add("w_ptr", half, &matrix(k * n, 19));
    let list: Vec<u8> = (0..n.max(16)).flat_map(|i| (i as i32 % 9 - 4).to_le_bytes()).collect();
    let i = memory.add("i_ptr", Type::int(32), &list);
    let start: Vec<u8> = (0..m * n).flat_map(|i| ((i % 7) as f32).to_le_bytes()).collect();
    let y = memory.add("y_ptr", Type::f32(), &start);
    let args = [x, w, i, y].map(|buffer| Arg::Ptr(buffer, 0)).into_iter().chain([m, n, k].map(Arg::Int)).collect();
    (memory, args, y)
}

fn check(seed: u64, emulate: bool) -> Result<Became, String> {
    let (kernel, shape) = kernel(seed);
    random_kernels::check(&kernel, "ttc-merge-programs", emulate)
        .map_err(|what| format!("seed {seed}, {shape:?}: {what}\n{}", kernel.source))
}

#[test]
fn merged_programs_keep_what_random_kernels_compute() {
    random_kernels::check_seeds("TTC_MERGED", 200, |seed| kernel(seed).0.source, check);
}
