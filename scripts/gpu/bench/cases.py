"""Kernels of `kernels/` at sizes that people run, for `build.py` and `run.py`.

A case names a kernel of a file, the types of its parameters in the words of Triton's ahead-of-time tool, and its
constants. `setup` and `reference` run only where PyTorch and a GPU are: `setup(torch)` gives the arguments in the order
of the parameters and the outputs among them, `reference(torch, args)` what these should hold.
"""

from dataclasses import dataclass, field
from typing import Callable

# Persistent kernels are launched with one program for each multiprocessor of an H100 or H200.
PROGRAMS = 132


@dataclass
class Case:
    id: str
    file: str
    kernel: str
    types: dict
    constants: dict
    grid: tuple
    setup: Callable
    reference: Callable
    num_warps: int = 4
    num_stages: int = 3
    tolerance: float = 1e-2  # of the norm of the difference, relative to the norm of what is expected
    flops: float = 0.0
    bytes: float = 0.0
    library: Callable = field(default=None)  # (torch, args) -> what does the same in PyTorch, or None


def cdiv(a, b):
    return -(-a // b)


def poisoned(t, shape, dtype):
    return t.full(shape, float("nan"), device="cuda", dtype=dtype)


def attention_gradients(t, args, causal):
    """dq, dk and dv by the formulas of kernels/attention_bwd.tk, head by head in fp32."""
    q, k, v, dout, lse, delta = args[:6]
    scale, length = args[-1], q.shape[1]
    hidden = t.ones(length, length, device="cuda", dtype=t.bool).triu(1) if causal else None
    results = [t.empty_like(q) for _ in range(3)]
    for h in range(q.shape[0]):
        qh, kh, vh, dh = (x[h].float() for x in (q, k, v, dout))
        p = t.exp(scale * (qh @ kh.T) - lse[h][:, None])
        if causal:
            p.masked_fill_(hidden, 0.0)
        ds = scale * p * (dh @ vh.T - delta[h][:, None])
        for result, value in zip(results, (ds @ kh, ds.T @ qh, p.T @ dh), strict=True):
            result[h] = value.to(q.dtype)
    return results


def attention_inputs(t, heads, length, dim, causal):
    q, k, v, dout = (t.randn(heads, length, dim, device="cuda", dtype=t.float16) for _ in range(4))
    scale = dim**-0.5
    lse, delta = (t.empty(heads, length, device="cuda") for _ in range(2))
    for h in range(heads):
        scores = scale * (q[h].float() @ k[h].float().T)
        if causal:
            scores.masked_fill_(t.ones_like(scores, dtype=t.bool).triu(1), float("-inf"))
        lse[h] = scores.logsumexp(-1)
        delta[h] = ((scores.softmax(-1) @ v[h].float()) * dout[h].float()).sum(-1)
    return [q, k, v, dout, lse, delta, length, scale]


POINTERS = ("q_ptr", "k_ptr", "v_ptr", "dout_ptr")


def attention_bwd(part, dim, causal, block_m, block_n, warps, stages, heads=64, length=4096):
    outs = 2 if part == "kv" else 1

    def setup(t):
        args = attention_inputs(t, heads, length, dim, causal)
        results = [poisoned(t, (heads, length, dim), t.float16) for _ in range(outs)]
        return [*args[:6], *results, *args[6:]], results

    def reference(t, args):
        gradients = attention_gradients(t, args, causal)
        return gradients[1:] if part == "kv" else gradients[:1]

    types = {p: "*fp16:16" for p in POINTERS} | {"lse_ptr": "*fp32:16", "delta_ptr": "*fp32:16"}
    types |= {p: "*fp16:16" for p in (("dk_ptr", "dv_ptr") if part == "kv" else ("dq_ptr",))}
    products = 4 if part == "kv" else 3
    name = f"attention_bwd_{part}_d{dim}{'_causal' if causal else ''}_{block_m}x{block_n}_w{warps}s{stages}"
    return Case(
        name,
        "attention_bwd",
        f"attention_bwd_{part}",
        types | {"length": "i32:16", "scale": "fp32"},
        {"CAUSAL": causal, "BLOCK_M": block_m, "BLOCK_N": block_n, "DIM": dim},
        (cdiv(length, block_n if part == "kv" else block_m), heads, 1),
        setup,
        reference,
        warps,
        stages,
        flops=2.0 * products * heads * length * length * dim * (0.5 if causal else 1.0),
    )


def attention_decode(dim, block_n, warps, stages, batch=64, heads=8, group=8, room=8192, splits=4):
    part = room // splits

    def setup(t):
        q = t.randn(batch, heads, group, dim, device="cuda", dtype=t.float16)
        k, v = (t.randn(batch, heads, room, dim, device="cuda", dtype=t.float16) for _ in range(2))
        out = poisoned(t, (batch, heads, group, splits, dim), t.float32)
        lse = poisoned(t, (batch, heads, group, splits), t.float32)
        lengths = t.full((batch,), room, device="cuda", dtype=t.int32)
        lengths[::4] -= 100
        return [q, k, v, out, lse, lengths, heads, room, part, dim**-0.5], [out, lse]

    def reference(t, args):
        q, k, v, out, lse, lengths = args[:6]
        out, lse = t.empty_like(out), t.empty_like(lse)
        for b in range(batch):
            scores = args[-1] * (q[b].float() @ k[b].float().transpose(1, 2))
            scores[..., int(lengths[b]) :] = float("-inf")
            parts = scores.view(heads, group, splits, part)
            values = v[b].float().view(heads, splits, part, dim)
            out[b] = t.einsum("hgsp,hspd->hgsd", parts.softmax(-1), values)
            lse[b] = parts.logsumexp(-1) * 1.4426950408889634
        return [out, lse]

    types = {p: "*fp16:16" for p in POINTERS[:3]} | {"out_ptr": "*fp32:16", "lse_ptr": "*fp32:16"}
    types |= {"lengths_ptr": "*i32:16", "heads": "i32", "room": "i32:16", "split_length": "i32:16", "scale": "fp32"}
    return Case(
        f"attention_decode_d{dim}_{block_n}_w{warps}s{stages}",
        "attention_decode",
        "attention_decode",
        types,
        {"GROUP": group, "BLOCK_M": 16, "BLOCK_N": block_n, "DIM": dim},
        (batch * heads, splits, 1),
        setup,
        reference,
        warps,
        stages,
        bytes=4.0 * batch * heads * room * dim,
    )


def grouped(block_m, block_n, block_k, warps, stages, groups=16, rows=16384, n=4096, k=2048):
    def setup(t):
        # Groups of different sizes, as a router makes them; none is a multiple of a tile.
        shares = t.linspace(0.2, 1.8, groups).cumsum(0)
        first = t.cat([t.zeros(1), shares / shares[-1] * rows]).round().to(t.int32).cuda()
        a = t.randn(rows, k, device="cuda", dtype=t.float16)
        b = t.randn(groups, k, n, device="cuda", dtype=t.float16)
        c = poisoned(t, (rows, n), t.float16)
        return [a, b, c, first, groups, n, k], [c]

    def reference(t, args):
        a, b, c, first = args[:4]
        ends = first.tolist()
        return [t.cat([a[s:e] @ b[g] for g, (s, e) in enumerate(zip(ends, ends[1:], strict=False))])]

    types = {p: "*fp16:16" for p in ("a_ptr", "b_ptr", "c_ptr")} | {"first_ptr": "*i32:16"}
    return Case(
        f"grouped_matmul_{block_m}x{block_n}x{block_k}_w{warps}s{stages}",
        "grouped_matmul",
        "grouped_matmul",
        types | {"groups": "i32:16", "n": "i32:16", "k": "i32:16"},
        {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k},
        (PROGRAMS, 1, 1),
        setup,
        reference,
        warps,
        stages,
        flops=2.0 * rows * n * k,
    )


def product(file, kernel, name, size, tile, warps, stages, dtype="fp16", transposed=False, grid=None, **constants):
    """c = a @ b by a kernel with pointers, sizes and, but for those with descriptors, strides."""
    (m, n, k), (block_m, block_n, block_k) = size, tile
    descriptors = file == "matmul_tma"

    def setup(t):
        kind = t.float8_e4m3fn if dtype == "fp8e4nv" else t.float16
        a = t.randn(m, k, device="cuda", dtype=t.float16).to(kind)
        b = t.randn(n, k, device="cuda", dtype=t.float16).to(kind).T
        b = b if transposed else b.contiguous()
        c = poisoned(t, (m, n), t.float16)
        strides = [] if descriptors else [k, *((k,) if transposed else (n,)), n]
        return [a, b, c, m, n, k, *strides], [c]

    types = {"a_ptr": f"*{dtype}:16", "b_ptr": f"*{dtype}:16", "c_ptr": "*fp16:16"}
    types |= {p: "i32:16" for p in ("m", "n", "k")}
    if not descriptors:
        ones = {"stride_ak", "stride_cn", "stride_bk" if transposed else "stride_bn"}
        strides = ("stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn")
        types |= {p: "i32:16" for p in strides if p not in ones}
        constants |= {p: 1 for p in ones}
    return Case(
        f"{name}_{m}x{n}x{k}_{block_m}x{block_n}x{block_k}_w{warps}s{stages}",
        file,
        kernel,
        types,
        {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, **constants},
        grid or (cdiv(m, block_m) * cdiv(n, block_n), 1, 1),
        setup,
        lambda t, args: [(args[0].float() @ args[1].float()).half()],
        warps,
        stages,
        flops=2.0 * m * n * k,
        library=None if dtype != "fp16" else lambda t, args: lambda: t.matmul(args[0], args[1], out=args[2]),
    )


def fp8(size, tile, warps, stages):
    return product(
        "matmul", "matmul", "matmul_fp8", size, tile, warps, stages, "fp8e4nv", True, PRECISION="tf32", GROUP=8
    )


def persistent(size, tile, warps, stages, flatten=True):
    name = "matmul_persistent" if flatten else "matmul_persistent_two_loops"
    grid = (PROGRAMS, 1, 1)
    return product("matmul_persistent", "matmul_persistent", name, size, tile, warps, stages, grid=grid, FLATTEN=flatten)


def tma_persistent(size, tile, warps, stages):
    kernel = "matmul_tma_persistent"
    return product("matmul_tma", kernel, kernel, size, tile, warps, stages, transposed=True, grid=(PROGRAMS, 1, 1))


CASES = [
    attention_bwd("kv", 64, False, 64, 128, 8, 2),
    attention_bwd("kv", 64, False, 32, 128, 4, 3),
    attention_bwd("kv", 64, True, 64, 128, 8, 2),
    attention_bwd("kv", 128, False, 64, 128, 8, 2),
    attention_bwd("kv", 128, True, 64, 128, 8, 2),
    attention_bwd("q", 64, False, 128, 64, 8, 3),
    attention_bwd("q", 64, False, 128, 64, 4, 3),
    attention_bwd("q", 128, False, 128, 64, 8, 3),
    attention_bwd("q", 128, True, 128, 64, 8, 3),
    attention_decode(128, 64, 4, 3),
    attention_decode(128, 128, 4, 2),
    attention_decode(64, 128, 4, 3),
    grouped(128, 128, 64, 4, 4),
    grouped(128, 128, 64, 8, 3),
    grouped(128, 256, 64, 8, 3),
    fp8((8192, 8192, 8192), (128, 256, 128), 8, 3),
    fp8((4096, 4096, 4096), (128, 128, 128), 4, 4),
    fp8((8192, 8192, 8192), (128, 256, 64), 8, 4),
    persistent((8192, 8192, 8192), (128, 256, 64), 8, 3),
    persistent((4096, 4096, 4096), (128, 128, 64), 4, 4),
    persistent((8192, 8192, 512), (128, 128, 64), 8, 3),
    persistent((8192, 8192, 512), (128, 256, 64), 8, 3, flatten=False),
    tma_persistent((8192, 8192, 8192), (128, 256, 64), 8, 3),
    tma_persistent((8192, 8192, 512), (128, 128, 64), 8, 3),
]
