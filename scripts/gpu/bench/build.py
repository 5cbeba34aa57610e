"""Compiles the cases of a `cases.py` with ttc and with Triton, without a GPU: OUT/<name>/<case>.cubin and .json.

usage: build.py TTC OUT [--kernels DIR] [--cases FILE] [--only TEXT] [--variant "NAME=OPTIONS"] [--ptxas PATH]
    [--no-triton]

Runs under a Python with Triton. OUT/ttc has ttc's defaults and OUT/triton what Triton makes. Each `--variant` makes one
more folder with other options of `ttc compile`, such as `--variant "refill=--tma device --pipeline refill"`; in it,
cases that become the same code as by default are left out. `--ptxas` is the assembler of both compilers. Prints
registers, shared memory and times of compilation.
"""

import argparse
import importlib.machinery
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load(name, path):
    """A Python file as a module, whatever its extension is."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("ttc")
    p.add_argument("out", type=Path)
    p.add_argument("--kernels", type=Path, default=HERE.parents[2] / "kernels")
    p.add_argument("--cases", type=Path, default=HERE / "cases.py")
    p.add_argument("--only", default="")
    p.add_argument("--variant", action="append", default=[])
    p.add_argument("--ptxas")
    p.add_argument("--no-triton", action="store_true")
    return p.parse_args()


def parameters(function, case):
    """(name, type) of the parameters that a launch passes, in order."""
    return [(name, case.types[name]) for name in function.arg_names if name in case.types]


def with_triton(function, case, out):
    import triton
    from triton.backends.compiler import GPUTarget

    signature, constants, attributes = {}, {}, {}
    for i, name in enumerate(function.arg_names):
        kind, _, hint = case.types.get(name, "").partition(":")
        if kind:
            signature[name] = kind
            if hint == "16":
                attributes[(i,)] = [["tt.divisibility", 16]]
        else:
            signature[name] = "constexpr"
            constants[(i,)] = case.constants.get(name, function.params[i].default)
    source = triton.compiler.ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes)
    start = time.perf_counter()
    options = {"num_warps": case.num_warps, "num_stages": case.num_stages}
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    seconds = time.perf_counter() - start
    out.with_suffix(".cubin").write_bytes(kernel.asm["cubin"])
    out.with_suffix(".ptx").write_text(kernel.asm["ptx"])
    meta = {name: getattr(kernel.metadata, name) for name in ("name", "num_warps", "shared", "global_scratch_size")}
    out.with_suffix(".json").write_text(json.dumps(meta | {"hidden_params": 2}))
    return seconds


def with_ttc(options, function, case, out, words):
    words_of = []
    for name in function.arg_names:
        words_of.append(case.types.get(name, "constexpr"))
    command = [options.ttc, "compile", str(options.kernels / f"{case.file}.tk"), "-k", case.kernel, "--arch", "sm_90a"]
    command += ["--signature", ",".join(words_of), "--num-warps", str(case.num_warps)]
    command += ["--num-stages", str(case.num_stages), *words]
    for name, value in case.constants.items():
        command += ["-D", f"{name}={value!r}"]
    start = time.perf_counter()
    done = subprocess.run([*command, "-o", str(out.with_suffix(".cubin"))], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:300])
    subprocess.run([*command, "--emit", "ptx", "-o", str(out.with_suffix(".ptx"))], check=True, capture_output=True)
    return seconds


def main():
    options = arguments()
    if options.ptxas:
        os.environ["TTC_PTXAS"] = os.environ["TRITON_PTXAS_PATH"] = options.ptxas
    os.environ.setdefault("TRITON_ALWAYS_COMPILE", "1")
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    cases = [c for c in load("cases", options.cases).CASES if options.only in c.id]
    variants = {"ttc": []} | {n: shlex.split(o) for n, _, o in (v.partition("=") for v in options.variant)}
    launches, failed = {}, 0
    for name in [*variants, "triton"]:
        (options.out / name).mkdir(parents=True, exist_ok=True)
    for case in cases:
        function = getattr(load(case.file, options.kernels / f"{case.file}.tk"), case.kernel)
        launches[case.id] = parameters(function, case)
        makers = {n: lambda out, words=words: with_ttc(options, function, case, out, words) for n, words in variants.items()}
        if not options.no_triton:
            makers["triton"] = lambda out: with_triton(function, case, out)
        line = f"{case.id:62}"
        for name, make in makers.items():
            out = options.out / name / case.id
            try:
                seconds = make(out)
            except Exception as e:  # noqa: BLE001  whatever it is, the other cases go on
                failed += 1
                print(f"{case.id}, {name}: {e}", flush=True)
                continue
            usual = options.out / "ttc" / f"{case.id}.cubin"
            made = {k: out.with_suffix(k) for k in (".cubin", ".json", ".ptx")}
            if name not in ("ttc", "triton") and made[".cubin"].read_bytes() == usual.read_bytes():
                for path in made.values():
                    path.unlink()
                line += f"  {name}: the same"
                continue
            shared = json.loads(made[".json"].read_text())["shared"]
            line += f"  {name}: {seconds * 1e3:5.0f} ms, {shared} bytes"
        print(line, flush=True)
    (options.out / "launches.json").write_text(json.dumps(launches, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
