"""Compile matrix products of every type, tile, number of warps and number of stages with ttc, run them on a GPU and
compare every element.

usage: sweep_products.py TTC KERNELS [--count N] [--slice K/N] [--arch sm_90a] [--jobs N] [--ptxas PATH]... [--sanitizer
    TOOL] [--out FILE]

KERNELS is the folder `kernels/`. Needs the CUDA driver and NumPy; TTC_LIBDEVICE and so on are passed on to ttc.

1. The configurations are the product of types, tiles, warps, stages and orders of the operands, less those that no GPU
   has room for. `--count` takes as many of them, spread evenly over all; `--slice K/N` of these every N-th, from the
   K-th on.
2. Operands are small random integers, which every type holds exactly and whose sums every accumulator holds exactly:
   the result is compared bit by bit. The buffer of the result is filled with NaN before, and the sizes do not divide
   the tiles.
3. The PTX is made once. Each `--ptxas` assembles it, and each cubin runs; without one ttc's own choice assembles.
4. Workers compile and run side by side. When a fault ends one, another goes on behind the configuration that caused it.
"""
import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_cases import SIZES, Gpu, decode, encode  # noqa: E402

SIZES = {**SIZES, "fp8e4nv": 1, "fp8e5": 1}
# Operand type, precision, result type, and the greatest operand: fp8's accumulator is short.
KINDS = [
    ("fp16", "tf32", "fp32", 7), ("bf16", "tf32", "fp32", 7), ("fp32", "tf32", "fp32", 7), ("fp32", "ieee", "fp32", 7), ("fp32", "tf32x3", "fp32", 7),
    ("fp8e4nv", "tf32", "fp32", 2), ("fp8e5", "tf32", "fp32", 2), ("i8", "tf32", "i32", 7), ("fp64", "ieee", "fp64", 7),
]
TILES = [16, 32, 64, 128, 256]
DEPTHS = [16, 32, 64, 128]
ORDERS = ["rr", "rc", "cr", "cc"]


def fits(kind, bm, bn, bk, warps, stages):
    """Whether a block has the registers, the shared memory and the time for it."""
    dtype, precision = kind[:2]
    a_thread = bm * bn // (32 * warps)
    shared = (bm + bn) * bk * SIZES[dtype] * max(stages - 1, 1)
    by_threads = precision == "ieee" or dtype == "fp64"
    return shared <= 200 * 1024 and a_thread <= (32 if by_threads else 256) and (not by_threads or bk <= 32) and \
        (dtype in ("fp16", "bf16", "fp32", "fp64") or bk >= 32)


def configurations(o):
    everything = [c for c in itertools.product(KINDS, TILES, TILES, DEPTHS, [1, 2, 4, 8], [1, 2, 3, 4, 5]) if fits(*c)]
    # The order of operands changes with the number of the configuration, by a step that shares no factor with the other
    # dimensions' periods.
    everything = [(*c, ORDERS[(i * 7 // 3) % 4]) for i, c in enumerate(everything)]
    take = min(o.count or len(everything), len(everything))
    k, n = map(int, o.slice.split("/"))
    return [everything[i * len(everything) // take] for i in range(take)][k::n]


def name(c):
    (dtype, precision, _, _), bm, bn, bk, warps, stages, order = c
    return f"{dtype} {precision} {bm}x{bn}x{bk} warps={warps} stages={stages} {order}"


def arguments(kernels, c):
    """What `ttc compile` takes for a configuration, without architecture and outputs."""
    (dtype, precision, result, _), bm, bn, bk, warps, stages, order = c
    a = "i32:16, 1" if order[0] == "r" else "1, i32:16"
    b = "i32:16, 1" if order[1] == "r" else "1, i32:16"
    signature = f"*{dtype}:16, *{dtype}:16, *{result}:16, i32:16, i32:16, i32:16, {a}, {b}, i32:16, 1, '{precision}', {bm}, {bn}, {bk}, 4"
    return [os.path.join(kernels, "matmul.tk"), "-k", "matmul", "--signature", signature, "--num-warps", str(warps), "--num-stages", str(stages)]


def compiled(o, c, folder):
    """The metadata and the cubins by ptxas, or an error's first line."""
    command = [o.ttc, "compile", *arguments(o.kernels, c), "--arch", o.arch, "--emit", "ptx,cubin", "--out-dir", folder]
    if o.ptxas:
        command += ["--ptxas", o.ptxas[0]]
    r = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if r.returncode:
        return None, r.stderr.strip().splitlines()[0] if r.stderr.strip() else f"ttc ended with {r.returncode}"
    read = lambda path: open(path, "rb").read()
    cubins = {o.ptxas[0] if o.ptxas else "ttc": read(f"{folder}/matmul.cubin")}
    for ptxas in o.ptxas[1:]:
        p = subprocess.run([ptxas, f"--gpu-name={o.arch}", f"{folder}/matmul.ptx", "-o", f"{folder}/other.cubin"], capture_output=True, text=True, timeout=300)
        if p.returncode:
            return None, f"{ptxas} ended with {p.returncode}: {p.stderr.strip()[:200]}"
        cubins[ptxas] = read(f"{folder}/other.cubin")
    return json.loads(read(f"{folder}/matmul.json")), cubins


def run(np, gpu, o, index, c):
    (dtype, _, result, most), bm, bn, bk, warps, stages, order = c
    with tempfile.TemporaryDirectory() as folder:
        meta, cubins = compiled(o, c, folder)
    if meta is None:
        return {"status": "no room" if "E0714" in cubins else "not compiled", "text": cubins}
    random = np.random.default_rng(index)
    m, n, k = 2 * bm - 16 * (bm > 16), 2 * bn - 16 * (bn > 16), 5 * bk + 16 * (bk > 16)
    a, b = random.integers(-most, most + 1, (m, k)), random.integers(-most, most + 1, (k, n))
    want = (a.astype(np.float64) @ b.astype(np.float64)).ravel()
    laid = lambda x, how: np.ascontiguousarray(x if how == "r" else x.T).ravel().astype(np.float64)
    stride = lambda rows, columns, how: columns if how == "r" else rows
    scalars = {"m": m, "n": n, "k": k, "stride_am": stride(m, k, order[0]), "stride_ak": stride(m, k, order[0]),
               "stride_bk": stride(k, n, order[1]), "stride_bn": stride(k, n, order[1]), "stride_cm": n}
    scalars = {name: value.to_bytes(8, "little") for name, value in scalars.items()}
    launch = {"kernel": meta["name"], "shared": meta["shared"], "threads": 32 * meta["num_warps"], "hidden_params": meta["hidden_params"],
              "grid": [-(-m // bm) * -(-n // bn), 1, 1], "args": [{"name": p["name"]} for p in meta["params"]]}
    for who, cubin in cubins.items():
        buffers = {"a_ptr": bytearray(encode(np, dtype, laid(a, order[0]))), "b_ptr": bytearray(encode(np, dtype, laid(b, order[1]))),
                   "c_ptr": bytearray(b"\xff" * (m * n * SIZES[result]))}
        gpu.run(cubin, launch, buffers, scalars)
        got = decode(np, result, bytes(buffers["c_ptr"]))
        bad = got != want
        if bad.any():
            at = int(bad.argmax())
            return {"status": "wrong", "text": f"{who}: {int(bad.sum())} of {bad.size} differ, first [{at}]: got {got[at]!r}, want {want[at]!r}"}
    return {"status": "right"}


def worker(o, part, first):
    """Every `jobs`-th configuration from `part` on, from number `first` of them: a line when one begins, a line of JSON
    when it ends."""
    import numpy as np
    mine = list(enumerate(configurations(o)))[part::o.jobs]
    gpu = Gpu()
    for i, (index, c) in list(enumerate(mine))[first:]:
        print(f"begin {i}", flush=True)
        try:
            result = run(np, gpu, o, index, c)
        except subprocess.TimeoutExpired as e:
            result = {"status": "not compiled", "text": f"{os.path.basename(e.cmd[0])} took more than {e.timeout} s"}
        except Exception as e:
            # The context may be lost with a fault: another process goes on.
            print("end " + json.dumps({"status": "failed", "text": f"{type(e).__name__}: {e}"}), flush=True)
            os._exit(3)
        print("end " + json.dumps(result), flush=True)


def part_of(o, part):
    mine = configurations(o)[part::o.jobs]
    results, first = [], 0
    while first < len(mine):
        command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--worker", str(part), str(first)]
        if o.sanitizer:
            tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
            command = [tool, "--tool", o.sanitizer, "--error-exitcode", "9"] + command
        r = subprocess.run(command, capture_output=True, text=True)
        at = None
        for line in r.stdout.splitlines():
            if line.startswith("begin "):
                at = int(line[6:])
            elif line.startswith("end ") and at is not None:
                results.append((name(mine[at]), json.loads(line[4:])))
                first, at = at + 1, None
        if at is not None:
            results.append((name(mine[at]), {"status": "failed", "text": (r.stderr.strip().splitlines() or [str(r.returncode)])[-1]}))
            first = at + 1
        elif r.returncode == 9:
            report = [l.strip("= ") for l in r.stdout.splitlines() if l.startswith("=========")]
            results.append((f"part {part}", {"status": "failed", "text": f"{o.sanitizer}: " + " ".join(report[1:5])}))
            break
        elif r.returncode not in (0, 3):
            results.append((f"part {part}", {"status": "failed", "text": f"the worker ended with {r.returncode}: {r.stderr.strip()[-300:]}"}))
            break
    return results


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("ttc"); ap.add_argument("kernels"); ap.add_argument("--count", type=int); ap.add_argument("--slice", default="0/1"); ap.add_argument("--arch", default="sm_90a")
    ap.add_argument("--jobs", type=int, default=os.cpu_count()); ap.add_argument("--ptxas", action="append", default=[])
    ap.add_argument("--sanitizer"); ap.add_argument("--out"); ap.add_argument("--worker", nargs=2, type=int)
    o = ap.parse_args()
    if o.worker:
        return worker(o, *o.worker)
    with ThreadPoolExecutor(o.jobs) as pool:
        results = [r for part in pool.map(lambda p: part_of(o, p), range(o.jobs)) for r in part]
    total = {}
    for what, r in results:
        total[r["status"]] = total.get(r["status"], 0) + 1
        if r["status"] not in ("right", "no room"):
            print(f"{r['status']} [{what}]: {r['text']}")
    print(", ".join(f"{n} {s}" for s, n in sorted(total.items())))
    if o.out:
        with open(o.out, "w") as f:
            f.writelines(f"{r['status']}\t{what}\t{r.get('text', '')}\n" for what, r in results)
    return 1 if total.get("wrong") or total.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
