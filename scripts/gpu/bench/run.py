"""Checks and times what `build.py` made, on a GPU: every kernel against PyTorch, then all compilers in turns.

usage: run.py OUT [--cases FILE] [--only TEXT] [--folders ttc,refill] [--rounds N] [--json FILE]

OUT has a folder for each compiler or choice of options. Outputs are poisoned with NaN and compared with PyTorch before
a kernel is timed. A sample is one launch behind a flush of L2; the median of 8 N samples counts. The ratio is the time
of Triton's kernel divided by this one's, so above 1 is faster. Needs the CUDA driver and PyTorch. Exits with 1 if a
result is wrong or a kernel does not run.
"""

import argparse
import ctypes
import json
import math
import statistics
import sys
from pathlib import Path

import torch
from build import HERE, load

SCALARS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "fp32": ctypes.c_float}


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")

    def check(self, code, what):
        if code:
            p = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(p))
            raise RuntimeError(f"{what}: {p.value.decode() if p.value else code}")


class Kernel:
    """A cubin with the arguments of its case."""

    def __init__(self, driver, path, case, parameters, arguments):
        self.driver, cu = driver, driver.lib
        self.meta = meta = json.loads(path.with_suffix(".json").read_text())
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        driver.check(cu.cuModuleLoadData(ctypes.byref(self.module), path.read_bytes()), "load")
        name = meta["name"].encode()
        driver.check(cu.cuModuleGetFunction(ctypes.byref(self.function), self.module, name), "function")
        if meta["shared"] > 48 * 1024:
            driver.check(cu.cuFuncSetAttribute(self.function, 8, ctypes.c_int(meta["shared"])), "shared memory")
        self.registers, self.local = self.attribute(4), self.attribute(3)
        self.grid = case.grid
        size = meta["global_scratch_size"] * math.prod(case.grid)
        self.scratch = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        self.words = [self.word(kind.partition(":")[0], a) for (_, kind), a in zip(parameters, arguments, strict=True)]
        hidden = [ctypes.c_void_p(self.scratch.data_ptr() if size else 0), ctypes.c_void_p(0)]
        self.words += hidden[: meta["hidden_params"]]
        pointers = [ctypes.cast(ctypes.byref(w), ctypes.c_void_p) for w in self.words]
        self.pointers = (ctypes.c_void_p * len(pointers))(*pointers)

    def attribute(self, number):
        value = ctypes.c_int()
        self.driver.check(self.driver.lib.cuFuncGetAttribute(ctypes.byref(value), number, self.function), "attribute")
        return value.value

    def word(self, kind, argument):
        return ctypes.c_void_p(argument.data_ptr()) if kind.startswith("*") else SCALARS[kind](argument)

    def __call__(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        block = 32 * self.meta["num_warps"]
        shared = self.meta["shared"]
        launch = self.driver.lib.cuLaunchKernel
        self.driver.check(launch(self.function, *self.grid, block, 1, 1, shared, stream, self.pointers, None), "launch")


def samples(function, flush, count=8):
    pairs = []
    for _ in range(count):
        flush.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        pairs.append((begin, end))
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in pairs]


def check(kernel, outputs, expected, tolerance):
    for output in outputs:
        output.fill_(float("nan"))
    kernel()
    torch.cuda.synchronize()
    for got, want in zip(outputs, expected, strict=True):
        # Infinities must be where they are expected; a norm would be infinite with them.
        got, want = got.double(), want.double()
        if not torch.equal(got.isinf(), want.isinf()):
            raise RuntimeError("wrong: infinities at other places")
        got, want = (x.masked_fill(x.isinf(), 0.0) for x in (got, want))
        error = ((got - want).norm() / want.norm()).item()
        if not error <= tolerance:
            raise RuntimeError(f"wrong: relative error {error:.3g}")


def achieved(case, ms):
    return f"{case.flops / ms / 1e9:.0f} TFLOP/s" if case.flops else f"{case.bytes / ms / 1e9:.2f} TB/s"


def race(driver, options, case, folders, parameters, flush):
    arguments, outputs = case.setup(torch)
    expected = case.reference(torch, arguments)
    kernels, row = {}, {"case": case.id, "wrong": {}, "ms": {}, "registers": {}}
    for folder in folders:
        path = options.out / folder / f"{case.id}.cubin"
        if not path.exists():
            continue
        try:
            kernel = Kernel(driver, path, case, parameters, arguments)
            check(kernel, outputs, expected, case.tolerance)
            kernels[folder] = kernel
            row["registers"][folder] = (kernel.registers, kernel.local)
        except RuntimeError as e:
            row["wrong"][folder] = str(e)
    del expected
    functions = dict(kernels)
    if case.library:
        functions["library"] = case.library(torch, arguments)
    times = {name: [] for name in functions}
    for function in functions.values():
        samples(function, flush, 3)
    for _ in range(options.rounds):
        for name, function in functions.items():
            times[name] += samples(function, flush)
    row["ms"] = {name: statistics.median(t) for name, t in times.items()}
    return row


def show(case, row):
    reference = row["ms"].get("triton")
    print(case.id)
    for name, ms in row["ms"].items():
        registers, local = row["registers"].get(name, ("", ""))
        ratio = f"{reference / ms:.3f}" if reference else ""
        print(f"    {name:24}{ms:9.3f} ms {achieved(case, ms):>14} {ratio:>7}   {registers} registers, {local} local")
    for name, why in row["wrong"].items():
        print(f"    {name:24} {why}")
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out", type=Path)
    p.add_argument("--cases", type=Path, default=HERE / "cases.py")
    p.add_argument("--only", default="")
    p.add_argument("--folders", default="")
    p.add_argument("--rounds", type=int, default=4)
    p.add_argument("--json", type=Path)
    options = p.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    launches = json.loads((options.out / "launches.json").read_text())
    folders = sorted((d.name for d in options.out.iterdir() if d.is_dir()), key=lambda n: (n == "triton", n != "ttc", n))
    folders = [f for f in folders if not options.folders or f in options.folders.split(",") or f == "triton"]
    print(torch.cuda.get_device_name(), "| the ratio is Triton's time divided by this one's")
    driver, rows = Driver(), []
    for case in load("cases", options.cases).CASES:
        if options.only not in case.id or case.id not in launches:
            continue
        rows.append(race(driver, options, case, folders, launches[case.id], flush))
        show(case, rows[-1])
        torch.cuda.empty_cache()
    wrong = sum(len(row["wrong"]) for row in rows)
    pairs = [(row["ms"][f], row["ms"]["triton"]) for row in rows for f in ("ttc",) if {f, "triton"} <= set(row["ms"])]
    if pairs:
        mean = math.exp(statistics.mean(math.log(theirs / ours) for ours, theirs in pairs))
        print(f"{len(rows)} cases, {wrong} kernels wrong; geometric mean {mean:.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
