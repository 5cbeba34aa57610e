"""Runs what Triton makes of the benchmark's kernels in the emulator, at small sizes, and compares with numpy.

usage: triton_bench.py TTC FOLDER OUT [--archs 90,80] [--schedules 3] [--only TEXT]

FOLDER holds the benchmark: `kernels.py`, and `cases.py` with a list `CASES` of kernels, signatures, warps and stages.
Runs under a Python with Triton and numpy. Each case keeps its tiles, warps and stages; tensors and grids are a few
tiles large. Sizes are no multiples of the tiles where the kernel allows it. OUT gets a folder for each, with which
`ttc emulate` runs again. Exits with 1 if anything is found or differs.
"""

import argparse
import importlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ.setdefault("TRITON_ALWAYS_COMPILE", "1")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import numpy as np
from launches import Empty, from_bf16, run, to_bf16, write


def cdiv(a, b):
    return -(-a // b)


def some(shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def softmax_of(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def vector_add(block):
    n = 2 * block + 48
    x, y = some((n,)), some((n + 1,))[1:]
    return (cdiv(n, block),), [x, y, Empty((n,), np.float32), ("i32", n)], x + y


def swiglu(block):
    n = 2 * block + 48
    g, u = to_bf16(some((n,))), to_bf16(some((n + 1,))[1:])
    wide = from_bf16(g).astype(np.float64)
    want = wide / (1 + np.exp(-wide)) * from_bf16(u)
    return (cdiv(n, block),), [g, u, Empty((n,), np.uint16), ("i32", n)], want


def softmax(cols):
    x = some((4, cols))
    want = softmax_of(x.astype(np.float64))
    return (4,), [Empty(x.shape, np.float32), x, *[("i32", cols)] * 3], want


def layer_norm(block):
    rows, cols = 3, 2 * block + 272
    x, w, b = to_bf16(some((rows, cols))), to_bf16(some((cols,))), to_bf16(some((cols + 1,))[1:])
    wide = from_bf16(x).astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * from_bf16(w) + from_bf16(b)
    return (rows,), [x, Empty(x.shape, np.uint16), w, b, ("i32", cols), ("i32", cols), ("f32", 1e-5)], want


def transpose(block_m, block_n):
    m, n = 2 * block_m + 16, block_n + 48
    x = some((m, n), np.float16)
    grid = (cdiv(m, block_m), cdiv(n, block_n))
    return grid, [x, Empty((n, m), np.float16), ("i32", m), ("i32", n)], x.T


def row_cumsum(block):
    x = np.random.default_rng(1).random((2, block), np.float32)
    return (2,), [x, Empty(x.shape, np.float32), ("i32", block)], np.cumsum(x.astype(np.float64), -1)


def philox(counter, seed, rounds=10):
    """The first word of Philox 4x32 for each counter."""
    c = [counter.astype(np.uint64)] + [np.zeros_like(counter, np.uint64) for _ in range(3)]
    low = np.uint64(0xFFFFFFFF)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(rounds):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> 32 ^ c[1] ^ np.uint64(k0), b & low, a >> 32 ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[0].astype(np.uint32)


def dropout(block):
    n, p, seed = 2 * block + 48, 0.25, 1234
    x = np.abs(some((n,))) + np.float32(0.5)
    word = philox(np.arange(n), seed).view(np.int32).astype(np.int64)
    uniform = np.where(word < 0, -word - 1, word).astype(np.float32) * np.float32(4.6566127342e-10)
    want = np.where(uniform > np.float32(p), x / np.float32(1 - p), 0)
    return (cdiv(n, block),), [x, Empty((n,), np.float32), ("i32", n), ("f32", p), ("i32", seed)], want


def matmul(block_m, block_n, block_k, transposed):
    # Six tiles along K fill every pipeline; the last one is cut where the masks of the case allow it.
    m, n, k = block_m + 16, block_n + 48, 5 * block_k + 16
    a, b = some((m, k), np.float16), some((k, n), np.float16)
    kept = np.ascontiguousarray(b.T) if transposed else b
    grid = (cdiv(m, block_m) * cdiv(n, block_n),)
    sizes = [("i32", v) for v in (m, n, k, k, k if transposed else n, n)]
    return grid, [a, kept, Empty((m, n), np.float16), *sizes], a.astype(np.float64) @ b.astype(np.float64)


def attention(head, block_m, block_n, causal):
    heads, seq = 2, 3 * max(block_m, block_n)
    q, k, v = (some((heads, seq, head + i), np.float16)[..., :head] for i in range(3))
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / head**0.5
    if causal:
        scores = np.where(np.tri(seq, dtype=bool), scores, -np.inf)
    want = softmax_of(scores) @ v.astype(np.float64)
    strides = [("i32", seq * head), ("i32", head)]
    return (seq // block_m, heads), [q, k, v, Empty(q.shape, np.float16), ("f32", head**-0.5), ("i32", seq), *strides], want


def problem(case):
    """(grid, arguments, what the result should be) of a case; the last constants of its signature are the tile."""
    literals = [int(part) for part in case.signature.split(",") if part.lstrip("-").isdigit()]
    kernel = case.kernel
    if kernel == "softmax":
        return softmax(int(case.id.rsplit("_", 1)[1]))
    if kernel == "matmul":
        *tile, _group = literals[-4:]
        return matmul(*tile, case.signature.split(",")[8] == "1")
    if kernel == "attention":
        head, block_m, block_n, causal = literals[-4:]
        return attention(head, block_m, block_n, bool(causal))
    simple = {f.__name__: f for f in (vector_add, swiglu, layer_norm, transpose, row_cumsum, dropout)}
    return simple[kernel](*literals)


def compile_case(case, arch):
    import triton
    from triton.backends.compiler import GPUTarget

    function = getattr(importlib.import_module("kernels"), case.kernel)
    signature, constants, attributes = {}, {}, {}
    for i, (name, part) in enumerate(zip(function.arg_names, case.signature.split(","), strict=True)):
        ty, _, hint = part.partition(":")
        if ty.lstrip("-").isdigit():
            constants[(i,)], signature[name] = int(ty), "constexpr"
        else:
            signature[name] = ty
            if hint == "16":
                attributes[(i,)] = [["tt.divisibility", 16]]
    source = triton.compiler.ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes)
    options = {"num_warps": case.num_warps, "num_stages": case.num_stages}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def differences(case, got, want):
    """What is wrong with a result, in words."""
    got = from_bf16(got) if got.dtype == np.uint16 else got
    bad = ~(np.abs(got.astype(np.float64) - want) <= case.tol * (1 + np.abs(want)))
    if not bad.any():
        return None
    first = tuple(int(i[0]) for i in np.nonzero(bad))
    return f"{bad.sum()} of {bad.size} elements are wrong; the first is {first}: {got[first]}, and not {want[first]}"


def check(options, case, arch, kernel):
    grid, arguments, want = problem(case)
    folder = Path(options.out) / f"{case.id}.{arch}"
    write(folder, kernel.asm["ptx"], grid, 32 * case.num_warps, kernel.metadata.shared, arguments)
    start, wrong, steps = time.time(), [], 0
    for done in run(options.ttc, folder, arguments, options.schedules):
        steps += done.steps
        said = done.text if not done.ok else differences(case, *done.results.values(), want)
        if said:
            wrong.append(f"{done.schedule}: {said}")
    state = "right" if not wrong else "WRONG"
    print(f"{case.id:34} sm_{arch} grid {grid}: {state}, {steps:,} steps of warps, {time.time() - start:.1f} s", flush=True)
    for text in wrong:
        print(text, flush=True)
    return not wrong


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("ttc")
    p.add_argument("folder")
    p.add_argument("out")
    p.add_argument("--archs", default="90,80")
    p.add_argument("--schedules", type=int, default=3)
    p.add_argument("--only", default="")
    options = p.parse_args()
    sys.path.insert(0, options.folder)
    cases = [c for c in importlib.import_module("cases").CASES if options.only in c.id]
    good = []
    for arch in map(int, options.archs.split(",")):
        compiled = [(case, compile_case(case, arch)) for case in cases]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            good += pool.map(lambda pair: check(options, pair[0], arch, pair[1]), compiled)
    print(f"{sum(good)} of {len(good)} right, each in {options.schedules} schedules")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
