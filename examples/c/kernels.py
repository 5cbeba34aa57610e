"""The kernels of the examples. Their types stand in the annotations, so no command line repeats them."""
import triton
import triton.language as tl


@triton.jit
def add(x: "*fp32:16", y: "*fp32:16", out: "*fp32:16", n: "i32", BLOCK: tl.constexpr = 1024):
    """out[i] = x[i] + y[i] for i < n."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def add_in_clusters(x: "*fp32:16", y: "*fp32:16", out: "*fp32:16", n: "i32", BLOCK: tl.constexpr = 2048):
    """The same, for two blocks of threads a program (num_ctas=2)."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x: "*fp32:16", y: "*fp32:16", rows: "i32", n: "i32", BLOCK: tl.constexpr = 1024):
    """y[r, :] = exp(x[r, :] - max) / sum, where x and y are [rows, n] and n <= BLOCK; a program has a row."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    e = tl.load(x + row * n + at, mask=inside, other=-float("inf"))
    e = tl.exp(e - tl.max(e, axis=0))
    tl.store(y + row * n + at, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def matmul(a: "tensordesc<fp16[128, 64]>", b: "tensordesc<fp16[128, 64]>", c: "tensordesc<fp16[128, 128]>", m: "i32",
           n: "i32", k: "i32"):
    """c = a @ b.T, where a is [m, k], b [n, k] and c [m, n]. The launcher makes the descriptors."""
    row, col = tl.program_id(0) * 128, tl.program_id(1) * 128
    acc = tl.zeros((128, 128), tl.float32)
    for start in range(0, k, 64):
        acc = tl.dot(a.load([row, start]), b.load([col, start]).T, acc)
    c.store([row, col], acc.to(tl.float16))
