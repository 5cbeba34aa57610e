"""Run the cases that `cargo run --example gpu_cases` wrote on a GPU and compare them with their references and with the
interpreter.

usage: run_cases.py FOLDER [--only TEXT] [--jobs N] [--json OUT] [--sanitizer memcheck|racecheck|initcheck|synccheck]
    [--sample N] [--repeat N] [--verbose]

1. Each case runs in a process of its own; when it dies, another one goes on behind the configuration that killed it.
2. A configuration gets its inputs from the seeds (the generator is that of src/cases/random.rs, bit for bit; a checksum
   proves it). Buffers that nobody fills hold 0xFF bytes, which is NaN in every float format that has one.
3. Outputs are compared with the reference (|got - want| <= tolerance * max(1, |want|)) and, in the same way, with the
   interpreter.
4. With --repeat each configuration runs N times on the same inputs, and its outputs must have the same bits each time.
5. One table, a line for each case; --json writes every configuration. Exits with 1 if anything is wrong or failed.

Needs the CUDA driver and NumPy.
"""
import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

SIZES = {"u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8}
# Exponent bits, mantissa bits, bias, and whether the format has infinities.
FLOATS8 = {"fp8e4nv": (4, 3, 7, False), "fp8e5": (5, 2, 15, True)}


def numbers(np, seed, n):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (np.arange(1, n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def values(np, fill, seed, n):
    """The elements before rounding, as float64."""
    kind = fill[0]
    if kind == "normal":
        z, mask = numbers(np, seed, 4 * n), np.uint64(0x1FFFFF)
        groups = (z & mask) + ((z >> np.uint64(21)) & mask) + ((z >> np.uint64(42)) & mask)
        bell = (groups.reshape(n, 4).sum(axis=1).astype(np.float64) - 6.0 * 2097151.0) / 2097152.0
        return fill[1] + fill[2] * bell
    if kind == "uniform":
        unit = (numbers(np, seed, n) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53
        return fill[1] + (fill[2] - fill[1]) * unit
    if kind == "randint":
        return (numbers(np, seed, n) % np.uint64(fill[2] - fill[1])).astype(np.int64).__add__(fill[1]).astype(np.float64)
    if kind == "permutation":
        return np.argsort(numbers(np, seed, n), kind="stable").astype(np.float64)
    if kind == "arange":
        return np.arange(n, dtype=np.float64)
    return np.full(n, float(fill[1]))


def table8(np, dtype):
    """The value of each of the 256 patterns of an 8-bit float."""
    exponent, mantissa, bias, infinite = FLOATS8[dtype]
    out = np.empty(256)
    for p in range(256):
        e, m, sign = (p >> mantissa) & ((1 << exponent) - 1), p & ((1 << mantissa) - 1), -1.0 if p >> 7 else 1.0
        if e == (1 << exponent) - 1 and (infinite or m == (1 << mantissa) - 1):
            out[p] = sign * np.inf if infinite and m == 0 else np.nan
        else:
            out[p] = sign * (m * 2.0 ** (1 - bias - mantissa) if e == 0 else (1 + m * 2.0 ** -mantissa) * 2.0 ** (e - bias))
    return out


def encode(np, dtype, v):
    """The bytes of float64 values; floats round to f32, then to the type, to nearest even."""
    if dtype == "fp64":
        return v.astype(np.float64).tobytes()
    f = v.astype(np.float32)
    if dtype == "fp32":
        return f.tobytes()
    if dtype == "fp16":
        return f.astype(np.float16).tobytes()
    if dtype == "bf16":
        bits = f.view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()
    if dtype in FLOATS8:
        table = table8(np, dtype)[:128]
        finite = table[np.isfinite(table)]
        a = np.abs(f.astype(np.float64))
        hi = np.clip(np.searchsorted(finite, a), 1, len(finite) - 1)
        lo = hi - 1
        down, up = a - finite[lo], finite[hi] - a
        p = np.where((down < up) | ((down == up) & (lo % 2 == 0)), lo, hi)
        return (p + np.where(np.signbit(f), 128, 0)).astype(np.uint8).tobytes()
    if dtype == "u1":
        return (v != 0).astype(np.uint8).tobytes()
    return np.trunc(v).astype(np.int64).astype("<" + dtype[0] + str(SIZES[dtype])).tobytes()


def decode(np, dtype, raw):
    if dtype == "bf16":
        return (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype in FLOATS8:
        return table8(np, dtype)[np.frombuffer(raw, np.uint8)]
    if dtype == "u1":
        return (np.frombuffer(raw, np.uint8) & 1).astype(np.float64)
    kind = "f" if dtype.startswith("fp") else dtype[0]
    return np.frombuffer(raw, f"<{kind}{SIZES[dtype]}").astype(np.float64)


def compare(np, got, want, tolerance):
    """Text that says what differs, and the greatest error."""
    with np.errstate(invalid="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        error = np.where(same, 0.0, np.abs(got - want) / np.maximum(1.0, np.abs(want)))
    error = np.where(np.isnan(error), np.inf, error)
    bad = error > (tolerance if tolerance is not None else 0.0)
    worst = float(error.max()) if error.size else 0.0
    if not bad.any():
        return None, worst
    at = int(error.argmax())
    return f"{int(bad.sum())} of {bad.size} differ, worst [{at}]: got {got[at]!r}, want {want[at]!r}", worst


class Gpu:
    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.check(self.cu.cuInit(0), "cuInit")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.check(self.cu.cuDeviceGet(ctypes.byref(device), 0), "device")
        self.check(self.cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
        self.check(self.cu.cuCtxSetCurrent(context), "context")

    def check(self, code, what):
        if code:
            p = ctypes.c_char_p()
            self.cu.cuGetErrorString(code, ctypes.byref(p))
            raise RuntimeError(f"{what}: {p.value.decode() if p.value else code}")

    def descriptor(self, a, address, meta):
        """What a tensor descriptor is as arguments: the map that hardware reads, extents and strides."""
        shape = a["shape"]
        rank = len(shape)
        strides = [1] * rank
        for d in range(rank - 1, 0, -1):
            strides[d - 1] = strides[d] * shape[d]
        # The driver has other numbers than PTX for f64, bf16 and f32 with flushed subnormals.
        kind = {8: 10, 9: 8, 10: 9}.get(meta["elem_type"], meta["elem_type"])
        held = (ctypes.c_uint8 * 192)()
        start = -ctypes.addressof(held) % 64
        tensor_map = (ctypes.c_uint8 * 128).from_buffer(held, start)
        extents = (ctypes.c_uint64 * rank)(*shape[::-1])
        pitches = (ctypes.c_uint64 * max(rank - 1, 1))(*[s * meta["elem_size"] for s in strides[:-1][::-1]])
        box = (ctypes.c_uint32 * rank)(*meta["block_size"][::-1])
        ones = (ctypes.c_uint32 * rank)(*[1] * rank)
        # No interleaving, L2 promotion of 128 bytes, zeros outside.
        code = self.cu.cuTensorMapEncodeTiled(tensor_map, kind, rank, ctypes.c_void_p(address.value), extents, pitches, box, ones, 0, meta["swizzle"], 2, 0)
        self.check(code, "descriptor")
        return [tensor_map, *[ctypes.c_int32(s) for s in shape], *[ctypes.c_int64(s) for s in strides]]

    def run(self, cubin, c, buffers, scalars):
        """buffers: name -> bytearray, replaced by what the kernel leaves."""
        cu, module, fn = self.cu, ctypes.c_void_p(), ctypes.c_void_p()
        self.check(cu.cuModuleLoadData(ctypes.byref(module), cubin), "load")
        self.check(cu.cuModuleGetFunction(ctypes.byref(fn), module, c["kernel"].encode()), "function")
        if c["shared"] > 48 * 1024:
            self.check(cu.cuFuncSetAttribute(fn, 8, c["shared"]), "shared memory")
        memory, keep = {}, []
        for name, data in buffers.items():
            p = ctypes.c_uint64()
            self.check(cu.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(max(len(data), 1))), "alloc")
            self.check(cu.cuMemcpyHtoD_v2(p, (ctypes.c_char * len(data)).from_buffer(data), ctypes.c_size_t(len(data))), "copy in")
            memory[name] = p
        descriptors = iter(c.get("descriptors", []))
        for a in c["args"]:
            if a.get("desc"):
                keep += self.descriptor(a, memory[a["name"]], next(descriptors))
                continue
            keep.append(memory[a["name"]] if a["name"] in memory else (ctypes.c_uint8 * 8)(*scalars[a["name"]]))
        # The first hidden parameter is scratch memory, a piece for each block; nobody has written it yet.
        scratch = ctypes.c_uint64(0)
        # A program is a cluster of blocks, which follow one another along x.
        grid = [c["grid"][0] * (c.get("cluster") or 1), *c["grid"][1:]]
        size = c.get("scratch", 0) * grid[0] * grid[1] * grid[2]
        if size:
            self.check(cu.cuMemAlloc_v2(ctypes.byref(scratch), ctypes.c_size_t(size)), "scratch")
            self.check(cu.cuMemsetD8_v2(scratch, ctypes.c_ubyte(0xff), ctypes.c_size_t(size)), "scratch")
        keep += [scratch, ctypes.c_uint64(0)][: c["hidden_params"]]
        params = (ctypes.c_void_p * max(len(keep), 1))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in keep])
        self.check(cu.cuLaunchKernel(fn, *grid, c["threads"], 1, 1, c["shared"], None, params, None), "launch")
        self.check(cu.cuCtxSynchronize(), "run")
        for name, data in buffers.items():
            self.check(cu.cuMemcpyDtoH_v2((ctypes.c_char * len(data)).from_buffer(data), memory[name], ctypes.c_size_t(len(data))), "copy out")
            self.check(cu.cuMemFree_v2(memory[name]), "free")
        if size:
            self.check(cu.cuMemFree_v2(scratch), "free")
        self.check(cu.cuModuleUnload(module), "unload")


def inputs(np, folder, c):
    buffers, scalars = {}, {}
    for a in c["args"]:
        if "bits" in a:
            scalars[a["name"]] = a["bits"]
            continue
        n = int(np.prod(a["shape"], dtype=np.int64))
        size = 1 if a["dtype"].startswith("fp8") else SIZES[a["dtype"]]
        if a["fill"][0] == "poison":
            data = b"\xff" * (n * size)
        elif a["fill"][0] == "file":
            with open(os.path.join(folder, a["fill"][1]), "rb") as f:
                data = f.read()
        else:
            data = encode(np, a["dtype"], values(np, a["fill"], int(a["seed"]), n))
        if a["crc32"] is not None and zlib.crc32(data) != a["crc32"]:
            raise RuntimeError(f"the inputs of {a['name']} are not those that were expected")
        buffers[a["name"]] = bytearray(data)
    return buffers, scalars


def run_config(np, gpu, folder, c, repeat=1):
    with open(os.path.join(folder, c["cubin"]), "rb") as f:
        cubin = f.read()
    first, scalars = inputs(np, folder, c)
    buffers = {name: bytearray(data) for name, data in first.items()}
    gpu.run(cubin, c, buffers, scalars)
    wrong, notes, worst = [], [], 0.0
    outs, other = [a["name"] for a in c["args"] if a.get("out")], 0
    for _ in range(repeat - 1):
        again = {name: bytearray(data) for name, data in first.items()}
        gpu.run(cubin, c, again, scalars)
        other += any(again[name] != buffers[name] for name in outs)
    if other:
        wrong.append(f"{other} of {repeat - 1} more runs have other bits")
    for a in c["args"]:
        if not a.get("out"):
            continue
        got = decode(np, a["dtype"], bytes(buffers[a["name"]]))
        want = c["expected"][a["name"]]
        for who in ("reference", "interpreter"):
            if isinstance(want[who], str):
                with open(os.path.join(folder, want[who]), "rb") as f:
                    text, error = compare(np, got, decode(np, a["dtype"], f.read()), a["tolerance"])
                worst = max(worst, error) if who == "reference" else worst
                if text:
                    wrong.append(f"{a['name']} against the {who}: {text}")
            elif isinstance(want[who], dict):
                notes.append(f"{who}: {want[who]['code']} {want[who]['message']}")
            elif who == "reference":
                wrong.append(f"{a['name']}: there is no reference")
    return {"status": "wrong" if wrong else "right", "text": "; ".join(wrong + notes), "error": worst}


def worker(folder, case, first, repeat):
    """Runs the configurations from `first` on: a line when one begins, a line of JSON when it ends."""
    import numpy as np
    with open(os.path.join(folder, "manifest.json")) as f:
        configs = json.load(f)["cases"][case]
    gpu = None
    for i in range(first, len(configs)):
        if "code" in configs[i]:
            continue
        print(f"begin {i}", flush=True)
        try:
            gpu = gpu or Gpu()
            result = run_config(np, gpu, folder, configs[i], repeat)
        except Exception as e:
            print("end " + json.dumps({"status": "failed", "text": f"{type(e).__name__}: {e}"}), flush=True)
            # The context may be lost with a fault: another process goes on.
            os._exit(3)
        print("end " + json.dumps(result), flush=True)


def run_case(o, case, configs):
    results, first = [None] * len(configs), 0
    for i, c in enumerate(configs):
        if "code" in c:
            results[i] = {"status": "not compiled", "text": f"{c['code']} {c['message']}"}
    while first < len(configs):
        command = [sys.executable, os.path.abspath(__file__), "--worker", o.folder, case, str(first), str(o.repeat)]
        if o.sanitizer:
            command = [o.tool, "--tool", o.sanitizer, "--error-exitcode", "9"] + command
        try:
            r = subprocess.run(command, capture_output=True, text=True, timeout=o.timeout)
            text, code, tail = r.stdout, r.returncode, (r.stderr.strip().splitlines() or [""])[-1]
        except subprocess.TimeoutExpired as e:
            text, code, tail = (e.stdout or b"").decode(), -1, f"more than {o.timeout} s"
        at = None
        for line in text.splitlines():
            if line.startswith("begin "):
                at = int(line[6:])
            elif line.startswith("end ") and at is not None:
                results[at], at = json.loads(line[4:]), None
        done = [i for i, r in enumerate(results) if r is not None and r["status"] != "not compiled"]
        if at is not None:
            results[at] = {"status": "failed", "text": tail or f"the process died with {code}"}
            first = at + 1
        elif code == 3 and done:
            first = max(done) + 1
        elif code == 9:
            report = [l for l in text.splitlines() if l.startswith("=========")]
            for i in done[-1:]:
                results[i] = {"status": "failed", "text": f"{o.sanitizer}: " + " ".join(l.strip("= ") for l in report[1:4])}
            break
        else:
            if code not in (0, 3):
                for i, r in enumerate(results):
                    results[i] = r or {"status": "failed", "text": tail or f"the process ended with {code}"}
            break
    return case, results


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    ap = argparse.ArgumentParser()
    ap.add_argument("folder"); ap.add_argument("--only", default=""); ap.add_argument("--jobs", type=int, default=4)
    ap.add_argument("--json"); ap.add_argument("--sanitizer"); ap.add_argument("--sample", type=int)
    ap.add_argument("--timeout", type=int, default=300); ap.add_argument("--verbose", action="store_true")
    ap.add_argument("--repeat", type=int, default=1)
    o = ap.parse_args()
    if o.sanitizer:
        o.tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        if not os.path.exists(o.tool):
            sys.exit("compute-sanitizer was not found")
    with open(os.path.join(o.folder, "manifest.json")) as f:
        manifest = json.load(f)
    cases = {n: c for n, c in manifest["cases"].items() if o.only in n}
    if o.sample:
        # A sample is a manifest of its own, for the workers to read.
        cases = {n: [c[i * len(c) // min(o.sample, len(c))] for i in range(min(o.sample, len(c)))] for n, c in cases.items()}
        sample = os.path.join(o.folder, "sample")
        os.makedirs(sample, exist_ok=True)
        with open(os.path.join(sample, "manifest.json"), "w") as f:
            json.dump({"arch": manifest["arch"], "cases": cases}, f)
        if not os.path.exists(os.path.join(sample, "data")):
            os.symlink("../data", os.path.join(sample, "data"))
        o.folder = sample
    words = ["right", "wrong", "failed", "not compiled"]
    print(f"{'case':28}{'configs':>8}" + "".join(f"{w:>14}" for w in words) + "   greatest error, codes")
    everything, total = {}, dict.fromkeys(words, 0)
    with ThreadPoolExecutor(o.jobs) as pool:
        for case, results in pool.map(lambda item: run_case(o, *item), sorted(cases.items())):
            results = [r or {"status": "failed", "text": "was not reached"} for r in results]
            count = {w: sum(r["status"] == w for r in results) for w in words}
            total = {w: total[w] + count[w] for w in words}
            codes = sorted({r["text"].split()[0] for r in results if r["status"] == "not compiled" and r["text"].split()})
            error = max((r.get("error", 0.0) for r in results), default=0.0)
            print(f"{case:28}{len(results):8}" + "".join(f"{count[w]:14}" for w in words) + f"   {error:.1e} {' '.join(codes)}", flush=True)
            bad = [(c, r) for c, r in zip(cases[case], results) if r["status"] in ("wrong", "failed")]
            for c, r in bad if o.verbose else bad[:3]:
                print(f"    {r['status']} [{c['config']}]: {r['text']}", flush=True)
            everything[case] = [{"config": c["config"], **r} for c, r in zip(cases[case], results)]
    print(f"{'total':28}{sum(total.values()):8}" + "".join(f"{total[w]:14}" for w in words))
    if o.json:
        with open(o.json, "w") as f:
            json.dump(everything, f, indent=1)
    return 1 if total["wrong"] or total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
