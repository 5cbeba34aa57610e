//! How long a person waits after a key in a file of 1,000 lines: a table for `make lsp-latency`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, range, uri};

/// Kernels with `$` in the place of a number.
const KERNELS: &str = "\
@triton.jit
def scaled$(x, factor):
    \"\"\"The product of both.\"\"\"
    return x * factor


@triton.jit
def softmax$(out_ptr: \"*fp32:16\", in_ptr: \"*fp32:16\", stride: \"i32:16\", n: \"i32\", BLOCK: tl.constexpr = 1024):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(in_ptr + row * stride + offs, mask=mask, other=-float(\"inf\"))
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    y = e / tl.sum(e, axis=0)
    tl.store(out_ptr + row * stride + offs, scaled$(y, 1.0), mask=mask)


@triton.jit
def matmul$(
    a_ptr: \"*fp16:16\", b_ptr: \"*fp16:16\", c_ptr: \"*fp16:16\",
    M: \"i32\", N: \"i32\", K: \"i32:16\",
    stride_am: \"i32:16\", stride_bk: \"i32:16\", stride_cm: \"i32:16\",
    BLOCK_M: tl.constexpr = 128, BLOCK_N: tl.constexpr = 128, BLOCK_K: tl.constexpr = 32,
):
    pid = tl.program_id(0)
    blocks_n = tl.cdiv(N, BLOCK_N)
    pid_m = pid // blocks_n
    pid_n = pid % blocks_n
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_bk
    out_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + out_m[:, None] * stride_cm + out_n[None, :]
    tl.store(c_ptrs, acc.to(tl.float16), mask=(out_m[:, None] < M) & (out_n[None, :] < N))


";

/// A file of 1,000 lines.
fn file() -> String {
    let mut text = "import triton\nimport triton.language as tl\n\n\n".to_owned();
    let mut n = 0;
    while text.lines().count() < 1000 {
        text.push_str(&KERNELS.replace('$', &n.to_string()));
        n += 1;
    }
    text.lines().take(1000).collect::<Vec<_>>().join("\n") + "\n"
}

struct Times(&'static str, Vec<Duration>);

impl Times {
    fn row(&mut self, out: &mut String) {
        self.1.sort_unstable();
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let at = |part: f64| ms(self.1[((self.1.len() - 1) as f64 * part) as usize]);
        let _ = writeln!(out, "{:34} {:6} {:8.1} {:8.1} {:8.1}", self.0, self.1.len(), at(0.5), at(0.95), at(1.0));
    }
}

#[test]
#[ignore = "measures; `make lsp-latency` runs it on the release binary"]
fn latencies_in_a_file_of_a_thousand_lines() {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::var_os("TTC_LSP_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_ttc").into());
    let mut client = Client::start_program(program.as_ref(), folder.path());
    let doc = uri(&folder.path().join("thousand.tk"));
    let text = file();
    let kernels = text.matches("@triton.jit").count();
    let mut opened = Times("open to diagnostics", vec![]);
    let begin = Instant::now();
    client.open(&doc, "triton", &text);
    let said = client.diagnostics(&doc, 1);
    opened.1.push(begin.elapsed());
    assert_eq!(said, Vec::<serde_json::Value>::new());
    // A line of the matmul in the middle is typed key by key, through all the faults on the way.
    let line =
        text.lines().enumerate().filter(|(_, l)| l.contains("pid_n = pid %")).map(|(i, _)| i).nth(10).unwrap() as u64;
    let typed = "    extra = tl.load(a_ptr + offs_k + pid_n, mask=offs_k < K, other=0.0)\n";
    let typed: Vec<char> = typed.chars().collect();
    let mut tables = [
        Times("key to diagnostics", vec![]),
        Times("key to hover", vec![]),
        Times("key to completion", vec![]),
        Times("hover, text as it was", vec![]),
        Times("definition", vec![]),
        Times("completion of `tl.`", vec![]),
        Times("inlay hints of the whole file", vec![]),
        Times("references in file and workspace", vec![]),
    ];
    let (mut version, mut col) = (1, 0);
    client.edit(&doc, 2, [line + 1, 0, line + 1, 0], "\n");
    version += 1;
    client.diagnostics(&doc, version);
    for key in &typed[..typed.len() - 1] {
        version += 1;
        let begin = Instant::now();
        client.edit(&doc, version, [line + 1, col, line + 1, col], &key.to_string());
        col += 1;
        client.diagnostics(&doc, version);
        tables[0].1.push(begin.elapsed());
    }
    for i in 0..20 {
        for (table, method) in [(1, "textDocument/hover"), (2, "textDocument/completion")] {
            version += 1;
            let begin = Instant::now();
            client.edit(&doc, version, [0, 0, 0, u64::from(i + table > 1)], "i");
            client.at(method, &doc, line, 8);
            tables[table].1.push(begin.elapsed());
        }
    }
    client.diagnostics(&doc, version);
    let mut timed = |table: usize, method: &str, params: serde_json::Value| {
        for _ in 0..30 {
            let begin = Instant::now();
            client.ask(method, params.clone());
            tables[table].1.push(begin.elapsed());
        }
    };
    timed(3, "textDocument/hover", super::client::place(&doc, line, 4));
    timed(4, "textDocument/definition", super::client::place(&doc, line, 12));
    timed(5, "textDocument/completion", super::client::place(&doc, line + 1, 15));
    timed(6, "textDocument/inlayHint", json!({ "textDocument": { "uri": doc }, "range": range([0, 0, 9999, 0]) }));
    timed(7, "textDocument/references", super::client::place(&doc, line, 12));
    let mut out = format!(
        "\n{} lines, {kernels} functions\n{:34} {:>6} {:>8} {:>8} {:>8}\n",
        text.lines().count(),
        "milliseconds",
        "count",
        "median",
        "95 %",
        "most"
    );
    opened.row(&mut out);
    tables.iter_mut().for_each(|t| t.row(&mut out));
    println!("{out}");
    client.stop();
}
