//! `ttc-fuse-k-steps` keeps what kernels compute: random products with the loops, masks, steps and addresses that the
//! pass must tell apart.
//!
//! 1. `kernel` makes a kernel from a seed, and `arguments` matrices that end where their last elements do, so that an
//!    access outside of them is found. All sums are exact, whatever their order.
//! 2. The interpreter runs it before and after the pass. A kernel that itself reads outside of a matrix proves nothing
//!    and is left out.
//! 3. Some of the kernels run as PTX in the emulator too, in three schedules.
//!
//! `TTC_STEPS_SEEDS=100000 cargo test fused_steps` tries as many, `TTC_STEPS_SEED=17` shows one.

use ttc::interp::{Arg, BufferId, Memory};
use ttc::ir::{FloatKind, Type};

use super::random_ir::Random;
use super::random_kernels::{self, Became, Kernel, number, pick};

/// The sizes of a product, and where its matrices lie.
#[derive(Clone, Copy, Debug)]
struct Shape {
    m: i64,
    n: i64,
    k: i64,
    /// Elements from one row of A to the next.
    stride_a: i64,
    /// Elements from one row of B to the next, or, where B is transposed, from one column to the next.
    stride_b: i64,
    block_m: i64,
    block_n: i64,
    is_transposed: bool,
    is_byte: bool,
    low: i64,
}

/// Step 1.
fn kernel(seed: u64) -> (Kernel, Shape) {
    let r = &mut Random::new(seed ^ 0x57e9);
    let is_byte = r.below(5) == 0;
    let block_m = number(r, &[64, 64, 64, 128]);
    let block_n = number(r, &[16, 32, 64]);
    let block_k = number(r, if is_byte { &[32, 64] } else { &[16, 32, 32, 32, 32] });
    let m = number(r, &[1, block_m - 3, block_m, block_m]);
    let n = number(r, &[1, block_n - 5, block_n, block_n]);
    let steps = number(r, &[0, 1, 2, 3, 4, 5, 7]);
    let k = (steps * block_k + number(r, &[0, 0, 0, 1, -1, 8, -7])).max(0);
    let is_transposed = r.below(3) == 0;
    let round = |x: i64| (x.max(1) + 15) / 16 * 16;
    let stride_a = round(k) + number(r, &[0, 0, 16]);
    let stride_b = if is_transposed { round(k) } else { round(n) } + number(r, &[0, 0, 16]);
    let low = number(r, &[0, 0, 1, 5, -3]);
    let shape = Shape { m, n, k, stride_a, stride_b, block_m, block_n, is_transposed, is_byte, low };
    let row_mask = pick(r, &["", "", " & (rm < M)[:, None]"]);
    let extra = pick(
        r,
        &[
            "",
            "",
            "",
            "",
            " & (ks % 3 != 1)[None, :]",
            " & (low > 0)",
            " & (rm[:, None] >= ks[None, :])",
            " & (STEP % 2 == 0)",
            " & (AT[None, :] >= low)",
            " & (AT[None, :] + rm[:, None] != 40)",
        ],
    );
    // What the pass must leave alone is rare.
    let rarely =
        |r: &mut Random, often: &'static str, else_: &'static str| if r.below(12) == 0 { else_ } else { often };
    let other = rarely(r, ", other=0", ", other=1");
    let cast = pick(r, &["", "", ".to(tl.float32).to(x_ptr.dtype.element_ty)"]);
    let between = rarely(r, cast, " * 2");
    let start = rarely(r, "tl.zeros([BM, BN], dtype=T)", "tl.full([BM, BN], 3, dtype=T)");
    let style = [0, 0, 0, 1, 1, 2, 3, 4, 5, 5][r.below(10)];
    let (at_a, at_b) = ("rm % M", "rn % N");
    let address_a = format!("x_ptr + ({at_a})[:, None] * stride_a + {{}}[None, :]");
    let address_b = if is_transposed {
        format!("w_ptr + {{}}[:, None] + ({at_b})[None, :] * stride_b")
    } else {
        format!("w_ptr + {{}}[:, None] * stride_b + ({at_b})[None, :]")
    };
    let step_b = if is_transposed { "BK" } else { "BK * stride_b" };
    let step = |at: &str, text: &str| text.replace("STEP", at);
    let deep = "        ";
    // Each style: what stands in front of the loop, its head, the columns that an iteration reads, whether pointers are
    // carried, and what stands at the end of the body.
    let (front, head, columns, step_of, end): (String, &str, &str, &str, String) = match style {
        0 => (
            format!("    a_ptrs = {}\n    b_ptrs = {}\n", address_a.replace("{}", "ks"), address_b.replace("{}", "ks")),
            "for i in range(0, tl.cdiv(K, BK)):",
            "i * BK + ks",
            "i",
            format!("{deep}a_ptrs += BK\n{deep}b_ptrs += {step_b}\n"),
        ),
        1 => (String::new(), "for i in range(0, K, BK):", "i + ks", "(i // BK)", String::new()),
        2 => (String::new(), "for i in range(BK, K, BK):", "i + ks", "(i // BK)", String::new()),
        3 => (String::new(), "for i in range(low, K, BK):", "i + ks", "(i // BK)", String::new()),
        4 => (
            "    at = 0\n".to_owned(),
            "for i in range(0, tl.cdiv(K, BK)):",
            "at + ks",
            "i",
            format!("{deep}at += BK\n"),
        ),
        _ => (String::new(), "for i in range(0, 5):", "i * BK + ks", "i", String::new()),
    };
    let carried = style == 0;
    let columns_are_there =
        pick(r, &["AT < K", "AT < K", "AT < K", "ks < K - STEP * BK", "AT <= K - 1", "AT < 4 * BK"]);
    let mask = |text: &str| step(step_of, &text.replace("AT", "at_k"));
    let mask_a = mask(&format!("({columns_are_there})[None, :]{row_mask}{extra}"));
    let mask_b = mask(&format!("({columns_are_there})[:, None]"));
    let (read_a, read_b) = if carried {
        ("a_ptrs".to_owned(), "b_ptrs".to_owned())
    } else {
        (address_a.replace("{}", "at_k"), address_b.replace("{}", "at_k"))
    };
    // Rows of B by a list of them.
    let (list, read_b) = if !carried && r.below(5) == 0 {
        let list = format!("{deep}of = tl.load(i_ptr + at_k, mask={}, other=0)\n", mask(columns_are_there));
        (list, address_b.replace("{}", "of"))
    } else {
        (String::new(), read_b)
    };
    let trans = r.below(4) == 0;
    let load_a = if trans {
        // The same tile, read with its axes the other way around.
        format!("tl.trans(tl.load(tl.trans({read_a}), mask=tl.trans(mask_a){other}))")
    } else {
        format!("tl.load({read_a}, mask=mask_a{other})")
    };
    let element = if is_byte { "i8" } else { "fp16" };
    let sum = if is_byte { "tl.int32" } else { "tl.float32" };
    let source = format!(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n\
         def k(x_ptr: \"*{element}:16\", w_ptr: \"*{element}:16\", i_ptr: \"*i32:16\", y_ptr: \"*fp32:16\", M: \"i32\", N: \"i32\", K: \"i32\", \
         stride_a: \"i32:16\", stride_b: \"i32:16\", low: \"i32\", \
         BM: tl.constexpr = {block_m}, BN: tl.constexpr = {block_n}, BK: tl.constexpr = {block_k}):\n\
         \x20   T: tl.constexpr = {sum}\n    rm = tl.arange(0, BM)\n    rn = tl.arange(0, BN)\n    ks = tl.arange(0, BK)\n\
         \x20   acc = {start}\n{front}    {head}\n{deep}at_k = {columns}\n{list}\
         {deep}mask_a = (rm[:, None] >= 0) & {mask_a}\n\
         {deep}a = {load_a}{between}\n{deep}b = tl.load({read_b}, mask={mask_b}, other=0)\n\
         {deep}acc = tl.dot(a, b, acc, out_dtype=T)\n{end}\
         \x20   tl.store(y_ptr + rm[:, None] * BN + rn[None, :], acc.to(tl.float32))\n"
    );
    let names = ["x_ptr", "w_ptr", "i_ptr", "y_ptr", "M", "N", "K", "stride_a", "stride_b", "low"];
    let made = Kernel {
        source,
        grid: [1, 1, 1],
        names: names.map(String::from).to_vec(),
        arguments: Box::new(move || arguments(&shape)),
        pipeline: "one-step",
    };
    (made, shape)
}

/// Small integers, of which all sums are exact.
fn matrix(count: i64, period: i64, is_byte: bool) -> Vec<u8> {
    let value = |i: i64| i * 7 % period - period / 2;
    let half = |i: i64| FloatKind::F16.from_f64(value(i) as f64).to_le_bytes()[..2].to_vec();
    (0..count).flat_map(|i| if is_byte { vec![value(i) as u8] } else { half(i) }).collect()
}

fn arguments(shape: &Shape) -> (Memory, Vec<Arg>, BufferId) {
    let Shape { m, n, k, stride_a, stride_b, block_m, block_n, is_transposed, is_byte, low } = *shape;
    let mut memory = Memory::new();
    let element = if is_byte { Type::int(8) } else { Type::float(FloatKind::F16) };
    let (rows, columns) = if is_transposed { (n, k) } else { (k, n) };
    let x = memory.add("x_ptr", element, &matrix(((m - 1) * stride_a + k).max(1), 23, is_byte));
    let w = memory.add("w_ptr", element, &matrix(((rows - 1) * stride_b + columns).max(1), 19, is_byte));
    let list: Vec<u8> = (0..k.max(1)).flat_map(|i| ((i * 5 % k.max(1)) as i32).to_le_bytes()).collect();
    let i = memory.add("i_ptr", Type::int(32), &list);
    let poison = vec![0x5a; usize::try_from(block_m * block_n * 4).unwrap()];
    let y = memory.add("y_ptr", Type::f32(), &poison);
    let numbers = [m, n, k, stride_a, stride_b, low].map(Arg::Int);
    let args = [x, w, i, y].map(|buffer| Arg::Ptr(buffer, 0)).into_iter().chain(numbers).collect();
    (memory, args, y)
}

fn check(seed: u64, emulate: bool) -> Result<Became, String> {
    let (kernel, shape) = kernel(seed);
    // Rows that start anywhere are rewritten too, as where a launch checks them: what the pass computes is the same.
    random_kernels::check(&kernel, "ttc-fuse-k-steps{launch=true}", emulate)
        .map_err(|what| format!("seed {seed}, {shape:?}: {what}\n{}", kernel.source))
}

#[test]
fn fused_steps_keep_what_random_kernels_compute() {
    random_kernels::check_seeds("TTC_STEPS", 300, |seed| kernel(seed).0.source, check);
}
