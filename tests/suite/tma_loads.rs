//! `ttc-loads-to-tma` keeps what kernels compute: random kernels that sum tiles of a matrix, with the masks, wraps,
//! strides and loops that the pass must tell apart.
//!
//! 1. `source` makes a kernel from a seed, and `arguments` a matrix that ends where its last element does, so that an
//!    access outside of it is found.
//! 2. The interpreter runs it before and after the pass. A kernel that itself reads outside of the matrix proves
//!    nothing and is left out.
//! 3. Some of the kernels run as PTX in the emulator too, in three schedules.
//!
//! `TTC_TMA_SEEDS=100000 cargo test tma_loads` tries as many, `TTC_TMA_SEED=17` shows one. `TTC_TMA_LAUNCH_SEEDS` and
//! `TTC_TMA_LAUNCH_SEED` are for tensor maps that the launch makes.

use ttc::interp::{self, Arg, Memory};
use ttc::ir::{FloatKind, Type};

use super::random_ir::Random;
use super::random_kernels::{self, Became, number, pick};

/// What a seed stands for.
#[derive(Clone, Copy, Debug)]
struct Shape {
    m: i64,
    n: i64,
    /// The elements from one row of the matrix to the next.
    stride: i64,
    block_m: i64,
    block_n: i64,
    batches: i64,
    /// Tiles along the rows.
    tiles: i64,
    /// The programs that share them out, or one for each.
    launched: i64,
    /// A number for masks.
    low: i64,
    /// Whether the matrix is transposed in memory.
    turned: bool,
}

struct Seeded {
    source: String,
    shape: Shape,
}

/// Step 1.
fn kernel(seed: u64) -> Seeded {
    let r = &mut Random::new(seed ^ 0x7a11);
    // A product is pipelined, and with 64 rows it is one of a warpgroup.
    let product = r.below(3) == 0;
    let (block_m, block_n) = (number(r, if product { &[16, 64] } else { &[16, 32] }), number(r, &[16, 32, 64]));
    let m = number(r, &[1, block_m - 1, block_m, block_m, block_m + 3, 2 * block_m]);
    let n = number(r, &[0, 1, block_n, block_n, block_n - 8, block_n + 8, 3 * block_n, 3 * block_n - 1]);
    let wide = (n.max(m) + 15) / 16 * 16;
    let stride = wide + number(r, &[0, 0, 16]);
    let batches = number(r, &[1, 1, 2]);
    let tiles = (m + block_m - 1) / block_m + number(r, &[0, 0, 1]);
    let low = number(r, &[0, 0, -3, 5, 1]);
    let turned = r.below(4) == 0;
    let mut shape = Shape { m, n, stride, block_m, block_n, batches, tiles, launched: tiles, low, turned };
    let aligned = pick(r, &["i32:16", "i32:16", "i32:16", "i64:16", "i32"]);
    let rows = pick(
        r,
        &[
            "pid * BM + tl.arange(0, BM)",
            "pid.to(tl.int64) * BM + tl.arange(0, BM)",
            "pid * BM + tl.arange(0, BM) + low",
        ],
    );
    let index = pick(
        r,
        &["rm", "rm", "rm % M", "rm % M", "tl.where(rm < M, rm, 0)", "tl.minimum(rm, M - 1)", "rm % (M + low)"],
    );
    let row_mask = pick(
        r,
        &["", "rm[:, None] < M", "rm[:, None] < M", "rm[:, None] <= M - 1", "M > rm[:, None]", "rm[:, None] < low"],
    );
    let extra = pick(
        r,
        &[
            "",
            "",
            "",
            "low > 0",
            "low == 0",
            "cols[None, :] + rm[:, None] < M",
            "rm[:, None] >= low",
            "cols[None, :] >= low",
            "rm[:, None] >= cols[None, :]",
            "(rm[:, None] != cols[None, :])",
            "cols[None, :] < M",
            "cols[None, :] < n_end",
        ],
    );
    let other = pick(r, &["", ", other=0.0", ", other=0.0", ", other=5.0"]);
    let base = pick(r, &["x_ptr", "x_ptr + b * batch", "x_ptr + low"]);
    let style = r.below(5);
    let address = if turned {
        format!("xb + rr[:, None] + {{}}[None, :] * stride{}", pick(r, &["", " * 1"]))
    } else {
        "xb + rr[:, None] * stride + {}[None, :]".to_owned()
    };
    let column_mask = match style {
        0 => pick(r, &["rn[None, :] < N - k * BN", "rn[None, :] < N - k * BN", "rn[None, :] + k * BN < N", ""]),
        4 => pick(r, &["cols[None, :] < N - low", "cols[None, :] < N"]),
        _ => pick(
            r,
            &[
                "cols[None, :] < N",
                "cols[None, :] < N",
                "cols[None, :] < N",
                "",
                "(cols >= 0)[None, :] & (cols < N)[None, :]",
            ],
        ),
    };
    let masks: Vec<&str> = [row_mask, column_mask, extra].into_iter().filter(|m| !m.is_empty()).collect();
    let mask = masks.iter().map(|m| format!("({m})")).collect::<Vec<_>>().join(" & ");
    let (mask, other) = match (mask.as_str(), other) {
        ("", _) => ("None".to_owned(), ""),
        (all, other) => (format!("tl.zeros([BM, BN], tl.int1) | ({all})"), other),
    };
    // Without a scalar condition the mask is a tensor already.
    let mask = if extra.starts_with("low") || mask == "None" {
        mask
    } else {
        mask.replace("tl.zeros([BM, BN], tl.int1) | ", "")
    };
    let undefined = mask != "None" && other.is_empty();
    let value = if undefined { "tl.where(mask, x, 1.0)" } else { "x" };
    let body = |cols: &str, indent: &str| {
        let at = address.replace("{}", cols);
        let lines = [
            format!("mask = {mask}"),
            format!("x = tl.load({at}, mask=mask{other})"),
            if product {
                format!("acc = tl.dot({value}.to(tl.float16), w, acc)")
            } else {
                format!("acc += {value} * (1 + cols % 3)[None, :]")
            },
        ];
        let mut text = String::new();
        for line in if mask == "None" {
            vec![lines[1].replace("mask=mask", "mask=None"), lines[2].clone()]
        } else {
            lines.to_vec()
        } {
            text.push_str(&format!("{indent}{line}\n"));
        }
        text
    };
    let deep = "        ";
    let looped = match style {
        0 => {
            let step = if turned { "BN * stride" } else { "BN" };
            let lines = body("rn", deep).replace(&address.replace("{}", "rn"), "ptrs");
            format!(
                "    ptrs = {}\n    for k in range(0, tl.cdiv(N, BN)):\n{deep}cols = k * BN + rn\n{lines}{deep}ptrs += {step}\n",
                address.replace("{}", "rn")
            )
        }
        1 => format!("    for n in range(0, N, BN):\n{deep}cols = n + rn\n{}", body("cols", deep)),
        2 => format!("    cols = rn\n{}", body("cols", "    ")),
        3 => format!(
            "    for t in range(0, 2):\n        for n in range(t * BN, N, 2 * BN):\n{deep}    cols = n + rn\n{}",
            body("cols", "            ")
        ),
        _ => format!("    cols = rn\n    for n in range(0, N, BN):\n{}{deep}cols += BN\n", body("cols", deep)),
    };
    let store = pick(
        r,
        &[
            "rm[:, None] < M",
            "rm[:, None] < M",
            "rm[:, None] < M",
            "(rm[:, None] < M) & (rn[None, :] < N)",
            "rm[:, None] < out",
        ],
    );
    let out = if rows.contains("low") { "(rm - low)" } else { "rm" };
    let after = pick(
        r,
        &[
            "acc",
            "acc",
            "acc * 2.0",
            "tl.trans(tl.trans(acc) + 1.0)",
            "acc + tl.sum(acc, 1)[:, None]",
            "acc + tl.sum(acc, 0)[None, :]",
        ],
    );
    // Programs that go from tile to tile know a row by two numbers that are always equal.
    let persistent = r.below(4) == 0;
    let flatten = pick(r, &["True", "True", "False"]);
    let tile = |number: &str| rows.replace("pid", number);
    let store = format!(
        "tl.store(y_ptr + b * out * BN + {out}[:, None] * BN + rn[None, :], acc, mask=({store}) & ({out}[:, None] < out))"
    );
    let rest = if persistent {
        shape.launched = (tiles + 1) / 2;
        let (row, stored) = (tile("tile"), tile("stored"));
        let inner: String = looped.lines().map(|line| format!("    {line}\n")).collect();
        format!(
            "    stored = pid\n    for tile in tl.range(pid, out // BM, tl.num_programs(0), flatten={flatten}):\n\
             {deep}rm = {row}\n{deep}rr = {index}\n{deep}acc = tl.zeros([BM, BN], dtype=tl.float32)\n{inner}\
             {deep}acc = {after}\n{deep}rm = {stored}\n{deep}{store}\n{deep}stored += tl.num_programs(0)\n"
        )
    } else {
        let row = tile("pid");
        format!(
            "    rm = {row}\n    rr = {index}\n    acc = tl.zeros([BM, BN], dtype=tl.float32)\n{looped}\
             \x20   acc = {after}\n    {store}\n"
        )
    };
    let source = format!(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n\
         def k(x_ptr: \"*fp16:16\", y_ptr: \"*fp32:16\", M: \"i32\", N: \"i32\", stride: \"{aligned}\", batch: \"i32:16\", low: \"i32\", \
         n_end: \"i32\", out: \"i32\", BM: tl.constexpr = {block_m}, BN: tl.constexpr = {block_n}):\n\
         \x20   pid = tl.program_id(0)\n    b = tl.program_id(1)\n    xb = {base}\n    rn = tl.arange(0, BN)\n    w = ((rn[:, None] * 3 + rn[None, :]) % 5).to(tl.float16)\n{rest}"
    );
    Seeded { source, shape }
}

/// The memory and the arguments of a kernel, and the buffer with the result.
fn arguments(shape: &Shape) -> (Memory, Vec<Arg>, interp::BufferId) {
    let Shape { m, n, stride, block_n, batches, tiles, low, block_m, turned, .. } = *shape;
    let rows = if turned { n.max(1) } else { m };
    let per_batch = rows * stride;
    let size = per_batch * batches;
    let values: Vec<u8> =
        (0..size).flat_map(|i| FloatKind::F16.from_f64((i * 7 % 23) as f64).to_le_bytes()[..2].to_vec()).collect();
    let out = tiles * block_m;
    let mut memory = Memory::new();
    let x = memory.add("x_ptr", Type::float(FloatKind::F16), &values);
    let poison: Vec<u8> = vec![0x5a; usize::try_from(out * block_n * batches * 4).unwrap()];
    let y = memory.add("y_ptr", Type::f32(), &poison);
    let numbers = [m, n, stride, per_batch, low, n - 1, out].map(Arg::Int);
    let args = [Arg::Ptr(x, 0), Arg::Ptr(y, 0)].into_iter().chain(numbers).collect();
    (memory, args, y)
}

fn check(seed: u64, emulate: bool, pass: &str) -> Result<Became, String> {
    let Seeded { source, shape } = kernel(seed);
    let fail = |what: String| format!("seed {seed}, {shape:?}: {what}\n{source}");
    let names = ["x_ptr", "y_ptr", "M", "N", "stride", "batch", "low", "n_end", "out"].map(String::from).to_vec();
    let made = random_kernels::Kernel {
        source: source.clone(),
        grid: [shape.launched as u32, shape.batches as u32, 1],
        names,
        arguments: Box::new(move || arguments(&shape)),
        pipeline: "one-step",
    };
    random_kernels::check(&made, pass, emulate).map_err(fail)
}

#[test]
fn tma_loads_keep_what_random_kernels_compute() {
    let check = |seed, emulate| check(seed, emulate, "ttc-loads-to-tma");
    random_kernels::check_seeds("TTC_TMA", 600, |seed| kernel(seed).source, check);
}

#[test]
fn tma_loads_whose_maps_the_launch_makes_keep_what_random_kernels_compute() {
    let check = |seed, emulate| check(seed, emulate, "ttc-loads-to-tma{device=false launch=true}");
    random_kernels::check_seeds("TTC_TMA_LAUNCH", 600, |seed| kernel(seed).source, check);
}
