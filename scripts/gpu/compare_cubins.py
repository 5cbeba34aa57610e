"""Run the same kernels as compiled by two compilers on a GPU, on the same random inputs, and compare every buffer bit
by bit.

usage: compare_cubins.py OURS REFERENCE [--only TEXT] [--jobs N] [--grid X,Y,Z] [--distinct]

OURS and REFERENCE hold one folder a case, each with one .cubin and the .json of launch metadata beside it (ttc's for
OURS, which also lists the parameters; the reference may leave that out). Each case runs in a process of its own, so a
fault poisons nothing else:
1. pointers get buffers of random values of their type (small integers, floats near 1), floats a random value, integers
   64, or with --distinct different primes from 131 on (16 times as many where 16 divides them): strides of one number
   let elements of a tile overlap;
2. each cubin runs on a fresh copy of the buffers, the reference twice;
3. a case counts as equal when all buffers agree bit for bit after both; as unstable when the reference does not agree
   with itself (programs that race), as unusable when it faults (the made-up arguments do not suit the kernel).

Needs the CUDA driver and NumPy. Exits with 1 if any case differs or faults in OURS alone.
"""
import argparse
import ctypes
import glob
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

BYTES = 8 << 20


def primes(start):
    """Prime numbers from `start` on."""
    return (n for n in itertools.count(start) if all(n % d for d in range(2, int(n ** 0.5) + 1)))


def run_case(ours, reference, grid, distinct):
    import numpy as np
    cu = ctypes.CDLL("libcuda.so.1")

    def check(code, what):
        if code:
            p = ctypes.c_char_p()
            cu.cuGetErrorString(code, ctypes.byref(p))
            raise RuntimeError(f"{what}: {p.value.decode() if p.value else code}")

    check(cu.cuInit(0), "cuInit")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(cu.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
    check(cu.cuCtxSetCurrent(context), "context")

    def load(folder):
        [cubin] = glob.glob(f"{folder}/*.cubin")
        with open(cubin[:-6] + ".json") as f:
            meta = json.load(f)
        module, fn = ctypes.c_void_p(), ctypes.c_void_p()
        with open(cubin, "rb") as f:
            check(cu.cuModuleLoadData(ctypes.byref(module), f.read()), "load")
        check(cu.cuModuleGetFunction(ctypes.byref(fn), module, meta["name"].encode()), "function")
        if meta["shared"] > 48 * 1024:
            check(cu.cuFuncSetAttribute(fn, 8, meta["shared"]), "shared")
        return fn, meta

    random = np.random.default_rng(0)

    def make(ty):
        n = BYTES
        if ty in ("fp32", "f32"):
            return random.normal(1, 0.5, n // 4).astype(np.float32)
        if ty in ("fp64", "f64"):
            return random.normal(1, 0.5, n // 8)
        if ty in ("fp16", "f16"):
            return random.normal(1, 0.5, n // 2).astype(np.float16)
        if ty == "bf16":
            return (random.normal(1, 0.5, n // 2).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        if ty.startswith("fp8") or ty in ("i8", "u8", "i1", "u1"):
            return random.integers(0, 2 if ty.endswith("1") else 64, n, dtype=np.uint8)
        width = int(ty.lstrip("iu")) // 8
        return random.integers(0, 8, n // width).astype(f"i{width}")

    fn, meta = load(ours)
    buffers, scalars = [], []
    numbers = primes(131) if distinct else itertools.repeat(64)
    for p in meta["params"]:
        ty = p["type"]
        if ty.startswith("*"):
            buffers.append(make(ty[1:].split(":")[0].removeprefix("k")))
            scalars.append(len(buffers) - 1)
        elif ty.startswith(("fp", "bf", "f")):
            value = float(random.uniform(0.1, 0.9))
            half = {"fp16": lambda v: ctypes.c_uint16(int(np.float16(v).view(np.uint16))),
                    "bf16": lambda v: ctypes.c_uint16(int(np.float32(v).view(np.uint32) >> 16)),
                    "fp64": ctypes.c_double}
            scalars.append(half.get(ty, ctypes.c_float)(value))
        else:
            number = next(numbers)
            scalars.append(ctypes.c_int64(number if number == 64 else number * (p.get("divisibility") or 1)))
    memory = []
    for b in buffers:
        p = ctypes.c_uint64()
        check(cu.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(b.nbytes)), "alloc")
        memory.append(p)

    def run(folder):
        fn, meta = load(folder)
        for p, b in zip(memory, buffers):
            check(cu.cuMemcpyHtoD_v2(p, b.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(b.nbytes)), "copy")
        values = [memory[s] if isinstance(s, int) else s for s in scalars]
        # Scratch memory, a piece for each block.
        scratch = ctypes.c_uint64(0)
        size = meta.get("global_scratch_size", 0) * grid[0] * grid[1] * grid[2]
        if size:
            check(cu.cuMemAlloc_v2(ctypes.byref(scratch), ctypes.c_size_t(size)), "scratch")
        values += [scratch, ctypes.c_uint64(0)][: meta.get("hidden_params", 2)]
        params = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        check(cu.cuLaunchKernel(fn, *grid, 32 * meta["num_warps"], 1, 1, meta["shared"], None, params, None), "launch")
        check(cu.cuCtxSynchronize(), "run")
        if size:
            check(cu.cuMemFree_v2(scratch), "free")
        out = []
        for p, b in zip(memory, buffers):
            o = np.empty_like(b)
            check(cu.cuMemcpyDtoH_v2(o.ctypes.data_as(ctypes.c_void_p), p, ctypes.c_size_t(b.nbytes)), "copy")
            out.append(o.view(np.uint8))
        return out

    try:
        want, again = run(reference), run(reference)
    except RuntimeError as e:
        return f"unusable {e}"
    if any((a != b).any() for a, b in zip(want, again)):
        return "unstable"
    got = run(ours)
    changed = sum(int((a != b.view(np.uint8)).sum()) for a, b in zip(want, buffers))
    for i, (a, b) in enumerate(zip(want, got)):
        if (a != b).any():
            at = int((a != b).argmax())
            kind = buffers[i].dtype
            size = buffers[i].itemsize
            x, y = a.view(kind)[at // size], b.view(kind)[at // size]
            bad = int((a.view(kind).view(f"u{size}") != b.view(kind).view(f"u{size}")).sum())
            return f"DIFFERS in buffer {i} at element {at // size}: reference {x!r}, ours {y!r}; {bad} elements"
    return f"equal {changed}"


def main():
    if sys.argv[1:2] == ["--case"]:
        print(run_case(sys.argv[2], sys.argv[3], tuple(map(int, sys.argv[4].split(","))), sys.argv[5] == "True"))
        return 0
    ap = argparse.ArgumentParser()
    ap.add_argument("ours"); ap.add_argument("reference")
    ap.add_argument("--only", default=""); ap.add_argument("--jobs", type=int, default=8)
    ap.add_argument("--grid", default="3,2,2", help="1,1,1 rules out races between programs")
    ap.add_argument("--distinct", action="store_true")
    o = ap.parse_args()
    cases = sorted(c for c in os.listdir(o.ours) if o.only in c and os.path.isdir(f"{o.reference}/{c}"))

    def one(case):
        try:
            r = subprocess.run([sys.executable, __file__, "--case", f"{o.ours}/{case}", f"{o.reference}/{case}", o.grid, str(o.distinct)],
                               capture_output=True, text=True, timeout=120)
            text = r.stdout.strip() or "FAULT " + (r.stderr.strip().splitlines() or ["?"])[-1]
        except subprocess.TimeoutExpired:
            text = "unusable (more than 120 s)"
        return case, text

    counts = {}
    with ThreadPoolExecutor(o.jobs) as pool:
        for case, text in pool.map(one, cases):
            word = text.split()[0]
            if text == "equal 0":
                word = "idle"
            counts[word] = counts.get(word, 0) + 1
            if word != "equal":
                print(f"{case}: {text}")
    bad = counts.get("DIFFERS", 0) + counts.get("FAULT", 0)
    print(", ".join(f"{n} {w}" for w, n in sorted(counts.items())))
    print(f"{counts.get('equal', 0)} passed, {bad} failed")
    return 1 if bad else 0


sys.exit(main())
