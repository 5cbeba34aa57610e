"""Run kernels as two compilers made them on one GPU: the same inputs, results compared by value, then both timed in
turns.

usage: race.py OURS REFERENCE [--before DIR] [--launches FILE] [--only TEXT] [--grid X,Y,Z] [--int N] [--least US]
    [--rounds N] [--json FILE]

OURS, REFERENCE and DIR (an earlier state of ours, which is only timed) hold one folder a case with k.cubin and k.json
(`build.py` writes them). FILE is `launches.jsonl`: a grid, values of arguments and contents of buffers, by the
kernel's id. A kernel without an entry there gets N (128) for each integer, a random number for each float, and the
grid 64,8,2. Pointers get 64 MiB of random values of their type (floats near 1, integers below 8) unless the entry
says otherwise.

1. The reference runs. Where it faults, or needs more than there is, the kernel is `unusable`.
2. The reference, ours and the reference again run on fresh buffers. `equal` is bit for bit; `close` and `differs`
   judge elements beyond 1e-2 of the value; `idle` writes nothing. Made-up arguments often let programs write over each
   other. So where the reference does not repeat itself, or ours differs, results are compared on smaller grids: the
   axes one by one, then a single program. What differs and then agrees on fewer programs is `scattered`; where the
   reference repeats itself on no grid, the kernel is `unstable`. `compared` and `agrees` tell the grids. A race within
   a block stays among those that differ: `scripts/emulator/wild.py` finds it.
3. Both are timed in turns: each sample is as many launches as take two milliseconds, at least 20 (4 or 1 of launches
   beyond 2.5 or 20 milliseconds), and the median of N samples counts.

A worker does one case after the other until one faults; then another process goes on behind it. Ends with the
distribution of the reference's time divided by ours over the cases where either takes longer than US (4)
microseconds. Exits with 1 if a result differs or only ours faults. Needs the CUDA driver and PyTorch.
"""

import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import threading

BYTES = 64 << 20


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("ours")
    p.add_argument("reference")
    p.add_argument("--before")
    p.add_argument("--launches")
    p.add_argument("--only", default="")
    p.add_argument("--grid", default="64,8,2")
    p.add_argument("--int", type=int, default=128, dest="integer")
    p.add_argument("--least", type=float, default=4)
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--json")
    p.add_argument("--worker", help=argparse.SUPPRESS)
    return p.parse_args()


def case_name(identity):
    return identity.replace("/", "__").replace("@", "_at_")


def read_launches(path):
    if not path:
        return {}
    with open(path, encoding="utf-8") as f:
        return {case_name(entry["id"]): entry for entry in map(json.loads, f)}


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")

    def check(self, code, what):
        if code:
            p = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(p))
            raise RuntimeError(f"{what}: {p.value.decode() if p.value else code}")

    def load(self, folder):
        with open(f"{folder}/k.json") as f:
            meta = json.load(f)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(f"{folder}/k.cubin", "rb") as f:
            self.check(self.lib.cuModuleLoadData(ctypes.byref(module), f.read()), "load")
        self.check(self.lib.cuModuleGetFunction(ctypes.byref(function), module, meta["name"].encode()), "function")
        if meta["shared"] > 48 * 1024:
            self.check(self.lib.cuFuncSetAttribute(function, 8, meta["shared"]), "shared memory")
        usage = {}
        for name, code in (("registers", 4), ("local", 3)):
            value = ctypes.c_int()
            self.check(self.lib.cuFuncGetAttribute(ctypes.byref(value), code, function), name)
            usage[name] = value.value
        return function, meta, usage


def buffer(kind, size, fill):
    """The start of a buffer: `kind` is the type that the pointer points to."""
    import torch

    floats = {
        "fp16": torch.float16,
        "f16": torch.float16,
        "bf16": torch.bfloat16,
        "fp32": torch.float32,
        "f32": torch.float32,
        "fp64": torch.float64,
        "f64": torch.float64,
    }
    bits = 8 if kind.startswith("fp8") or kind in ("i1", "u1") else int(kind.lstrip("iu")) if kind not in floats else 0
    dtype = floats.get(kind) or getattr(torch, "uint8" if bits == 8 else f"int{bits}")
    count = size // dtype.itemsize
    if fill is None:
        # The same 8 MiB again and again: values do not matter for time, and random ones take long to make.
        part = min(count, (8 << 20) // dtype.itemsize)
        if kind in floats:
            values = (
                torch.randn(part, device="cuda", dtype=torch.float64 if dtype is torch.float64 else torch.float32) * 0.5
                + 1
            ).to(dtype)
        else:
            values = torch.randint(
                0,
                2 if kind.endswith("i1") or kind == "u1" else 64 if bits == 8 else 8,
                (part,),
                device="cuda",
                dtype=dtype,
            )
        return values.repeat(-(-count // part))[:count].contiguous()
    [(how, what)] = fill.items()
    if how == "values":
        whole = torch.zeros(count, device="cuda", dtype=dtype)
        whole[: len(what)] = torch.tensor(what, device="cuda").to(dtype)
        return whole
    if how == "constant":
        return torch.full((count,), what, device="cuda", dtype=dtype)
    if how == "random":
        return torch.randint(0, what, (count,), device="cuda", dtype=torch.int64).to(dtype)
    steps = torch.arange(count, device="cuda", dtype=torch.int64)
    return (steps * (what if how == "steps" else 1)).to(dtype)


def scalar(kind, value):
    import numpy as np

    if kind in ("fp16", "f16"):
        return ctypes.c_uint16(int(np.float16(value).view(np.uint16)))
    if kind == "bf16":
        return ctypes.c_uint16(int(np.float32(value).view(np.uint32) >> 16))
    if kind in ("fp64", "f64"):
        return ctypes.c_double(value)
    return ctypes.c_float(value) if kind.startswith("f") else ctypes.c_int64(int(value))


class Unusable(Exception):
    """The reference cannot be run."""


class Case:
    """One kernel in both forms, with its arguments."""

    def __init__(self, options, case, entry):
        import numpy as np
        import torch

        self.cu = Driver()
        torch.zeros(1, device="cuda")
        torch.manual_seed(0)
        random = np.random.default_rng(0)
        self.ours = self.cu.load(f"{options.ours}/{case}")
        try:
            self.reference = self.cu.load(f"{options.reference}/{case}")
        except RuntimeError as e:
            raise Unusable(str(e)) from e
        self.forms = [self.ours, self.reference]
        if options.before and os.path.exists(f"{options.before}/{case}/k.cubin"):
            self.forms.append(self.cu.load(f"{options.before}/{case}"))
        self.grid = tuple((entry["grid"] + [1, 1])[:3]) if entry else tuple(map(int, options.grid.split(",")))
        values, fills, sizes = (entry.get(k, {}) if entry else {} for k in ("values", "fill", "bytes"))
        self.start, self.buffers, self.arguments = [], [], []
        for p in self.ours[1]["params"]:
            name, kind = p["name"], p["type"].split(":")[0]
            if kind.startswith("*"):
                self.start.append(buffer(kind[1:].removeprefix("k"), sizes.get(name, BYTES), fills.get(name)))
                self.buffers.append(self.start[-1].clone())
                self.arguments.append(ctypes.c_uint64(self.buffers[-1].data_ptr()))
            elif "equals" not in p:
                usual = (
                    float(random.uniform(0.1, 0.9))
                    if kind[0] in "fb"
                    else 1 if kind in ("i1", "u1") else options.integer
                )
                self.arguments.append(scalar(kind, values.get(name, usual)))

    def parameters(self, meta, blocks):
        import torch

        size = meta.get("global_scratch_size", 0) * math.prod(blocks)
        if size > 8 << 30:
            raise RuntimeError("too much scratch memory")
        scratch = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        words = [*self.arguments, ctypes.c_uint64(scratch.data_ptr() if size else 0), ctypes.c_uint64(0)]
        pointers = (ctypes.c_void_p * len(words))(*[ctypes.cast(ctypes.byref(w), ctypes.c_void_p) for w in words])
        return pointers, (scratch, words)

    def launcher(self, form, grid=None):
        """A function that launches `form`, on `grid` if given."""
        import torch

        function, meta, _ = form
        x, y, z = grid or self.grid
        # A program is a cluster of blocks, which follow one another along x.
        blocks = x * (meta.get("num_ctas") or 1), y, z
        pointers, kept = self.parameters(meta, blocks)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        block = 32 * meta["num_warps"]

        def launch(_kept=kept):
            return self.cu.lib.cuLaunchKernel(function, *blocks, block, 1, 1, meta["shared"], stream, pointers, None)

        return launch

    def results(self, form, grid):
        import torch

        for b, s in zip(self.buffers, self.start):
            b.copy_(s)
        self.cu.check(self.launcher(form, grid)(), "launch")
        torch.cuda.synchronize()
        return [b.clone() for b in self.buffers]

    def time(self, rounds):
        """Microseconds of a launch, ours and the reference's and those of before: medians, in turns.

        Each sample starts from the same buffers, after one launch that is not timed, and each round begins with
        another form. A kernel that works in place leaves other values behind after each launch, and those can take
        another time: the same code once differed by 16 % from itself when every form worked on what the last one left.
        """
        import torch

        launchers = [self.launcher(form) for form in self.forms]

        def sample(launch, count):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            for b, s in zip(self.buffers, self.start):
                b.copy_(s)
            launch()
            # Launches take the host up to 10 us each: they wait behind this.
            torch.cuda._sleep(20_000 * max(count, 20))
            begin.record()
            for _ in range(count):
                launch()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) * 1000 / count

        once = max(min(sample(launch, 2) for _ in range(2)) for launch in launchers)
        count = 20 if once < 2500 else 4 if once < 20000 else 1
        count = max(count, min(100, int(2000 / max(once, 1))))
        samples = [[] for _ in launchers]
        for k in range(rounds):
            for i in range(len(launchers)):
                form = (i + k) % len(launchers)
                samples[form].append(sample(launchers[form], count))
        return [statistics.median(column) for column in samples]


def same(a, b):
    import torch

    return torch.equal(a.view(torch.uint8), b.view(torch.uint8))


def apart(a, b):
    """Which elements differ by value: by more than a hundredth, or at all if they are integers."""
    if not a.dtype.is_floating_point:
        return a != b
    x, y = a.double(), b.double()
    return ~(((x - y).abs() <= 1e-2 * x.abs().clamp(min=1e-3)) | (x.isnan() & y.isnan()) | (x == y))


def difference(a, b):
    """The share of elements that differ by value; 0 if all bits agree, and less than 1e-20 if only bits differ."""
    if same(a, b):
        return 0.0
    return apart(a, b).float().mean().item() or 1e-30


def examples(a, b, count=4):
    """Some elements that differ by value, or by their bits if all values are close: place, ours, the reference's."""
    places = (apart(a, b) if apart(a, b).any() else a != b).nonzero().flatten()[:count].tolist()
    return [(i, float(b[i]), float(a[i])) for i in places]


def compare_on(c, grid):
    """Whether both forms compute the same on a grid. The reference runs again behind ours, to see if it repeats."""
    first, got, second = (c.results(form, grid) for form in (c.reference, c.ours, c.reference))
    if not all(map(same, first, second)):
        return {"state": "unstable"}
    worst = max(map(difference, first, got), default=0.0)
    changed = not all(map(same, first, c.start))
    state = "differs" if worst > 1e-20 else "close" if worst else "equal" if changed else "idle"
    result = {"state": state, "compared": grid, "worst": worst}
    if worst:
        result["examples"] = next(examples(a, b) for a, b in zip(first, got) if difference(a, b) == worst)
    return result


def compare(c):
    """What is known from a few grids, the largest first, until the forms agree on one."""
    x, y, z = c.grid
    differs = None
    for grid in dict.fromkeys([(x, y, z), (x, 1, 1), (1, y, 1), (1, 1, z), (1, 1, 1)]):
        result = compare_on(c, grid)
        if result["state"] == "differs":
            differs = differs or result
        elif result["state"] in ("equal", "close") or result["state"] == "idle" and grid == c.grid:
            return dict(differs, state="scattered", agrees=grid) if differs else result
    return differs or {"state": "unstable"}


def run_case(options, case, entry):
    try:
        c = Case(options, case, entry)
    except Unusable as e:
        return {"state": "unusable", "why": str(e)[:100]}
    result = {
        "registers": (c.ours[2]["registers"], c.reference[2]["registers"]),
        "local": (c.ours[2]["local"], c.reference[2]["local"]),
        "shared": (c.ours[1]["shared"], c.reference[1]["shared"]),
        "warps": c.ours[1]["num_warps"],
        "given": entry is not None,
    }
    try:
        c.results(c.reference, c.grid)
    except RuntimeError as e:
        return {"state": "unusable", "why": str(e)[:100]}
    result.update(compare(c))
    result["us"] = c.time(options.rounds)
    return result


def work(options):
    launches = read_launches(options.launches)
    for case in options.worker.split(","):
        try:
            result = run_case(options, case, launches.get(case))
        except Exception as e:  # noqa: BLE001  whatever it is, the reference ran
            print(json.dumps([case, {"state": "fault", "why": str(e)[:150]}]), flush=True)
            os._exit(3)
        print(json.dumps([case, result]), flush=True)
        if result["state"] == "unusable":
            os._exit(0)


def results(options, cases):
    """A worker takes cases until one faults; then another goes on behind it."""
    left = list(cases)
    while left:
        command = [sys.executable, *[a for a in sys.argv if a], "--worker", ",".join(left)]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        timer = threading.Timer(90, worker.kill)
        timer.start()
        before = len(left)
        for line in worker.stdout:
            timer.cancel()
            timer = threading.Timer(90, worker.kill)
            timer.start()
            if line.startswith("["):
                case, result = json.loads(line)
                left.remove(case)
                yield case, result
        timer.cancel()
        if worker.wait() not in (0, 3) or len(left) == before:
            yield left.pop(0), {"state": "time or crash"}


def main():
    options = arguments()
    if options.worker:
        work(options)
        return
    cases = [
        c
        for c in sorted(os.listdir(options.reference))
        if options.only in c and all(os.path.exists(f"{d}/{c}/k.cubin") for d in (options.ours, options.reference))
    ]
    states, timed, bad = {}, [], False
    log = open(options.json, "w") if options.json else None
    for case, r in results(options, cases):
        states[r["state"]] = states.get(r["state"], 0) + 1
        bad |= r["state"] in ("differs", "fault")
        if log:
            print(json.dumps([case, r]), file=log, flush=True)
        if r["state"] in ("differs", "scattered", "fault", "time or crash"):
            print(f"{r['state']}: {case} {r}", flush=True)
        if "us" in r and max(r["us"][:2]) > options.least:
            timed.append((r["us"][1] / r["us"][0], case, r))
    print(states)
    timed.sort(key=lambda t: t[0])
    for ratio, case, r in timed[:25] + timed[-8:]:
        print(
            f"{ratio:.3f} {case[:70]} {r['us'][0]:.1f} us, reference {r['us'][1]:.1f}; registers {r['registers']} local {r['local']}"
        )
    if timed:
        mean = math.exp(sum(math.log(t[0]) for t in timed) / len(timed))
        before = [math.log(r["us"][2] / r["us"][0]) for _, _, r in timed if len(r["us"]) > 2]
        if before:
            print(
                f"{len(before)} against before: geometric mean {math.exp(sum(before) / len(before)):.3f}, "
                f"{sum(b < math.log(0.95) for b in before)} below 0.95, {sum(b > math.log(1.05) for b in before)} above 1.05"
            )
        print(
            f"{len(timed)} timed: geometric mean {mean:.3f}, {sum(t[0] < 0.95 for t in timed)} below 0.95, {sum(t[0] > 1.05 for t in timed)} above 1.05"
        )
    sys.exit(bad)


if __name__ == "__main__":
    main()
