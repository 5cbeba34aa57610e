"""Compare ttc's TTIR and TTGIR with the reference compiler's, op for op.

usage: compare.py TTC FILE… [--arch sm_90a|gfx942] [--stage ttir,ttgir] [--num-warps N] [--keep DIR] [--dumps DIR] [-k
    KERNEL] [--signature TYPES]

For each kernel of each file (all parameters annotated as in a signature, or one kernel with --signature):
1. both compilers lower it; the results are compared op for op, without names of values and locations;
2. the reference parses what ttc printed, prints it again, and finishes it to a cubin or a code object;
3. with --dumps, what the reference made (TTIR before and after passes, TTGIR) is written for `tables.py`.

Runs in an environment that holds Triton 3.9 (`make oracle` makes one). Needs no GPU. Exits with 1 if anything differs.
"""
import argparse
import importlib.util
import importlib.machinery
import inspect
import os
import re
import subprocess
import sys
import tempfile

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
import modules
import triton
from triton._C import libtriton
from triton.backends.compiler import GPUTarget


def load(path):
    loader = importlib.machinery.SourceFileLoader("kernels", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("kernels", loader))
    loader.exec_module(module)
    return module


def signature_of(fn):
    """The signature text of a kernel whose parameters are annotated with it, or None."""
    items = []
    for p in inspect.signature(fn.fn).parameters.values():
        if isinstance(p.annotation, str) and p.annotation != "tl.constexpr":
            items.append(p.annotation)
        elif p.default is not inspect.Parameter.empty:
            items.append(repr(p.default))
        else:
            return None
    return ", ".join(items)


def reference(fn, signature, arch, num_warps):
    sig, const, attrs = {}, {}, {}
    for i, (name, item) in enumerate(zip(fn.arg_names, [s.strip() for s in signature.split(",")], strict=True)):
        ty, _, hint = item.partition(":")
        try:
            const[(i,)] = eval(ty, {"__builtins__": {}})
            sig[name] = "constexpr"
        except (NameError, SyntaxError):
            sig[name] = ty
            if hint == "16":
                attrs[(i,)] = [["tt.divisibility", 16]]
            elif hint == "1":
                const[(i,)] = 1
                sig[name] = "constexpr"
    src = triton.compiler.ASTSource(fn=fn, signature=sig, constexprs=const, attrs=attrs)
    return src, triton.compile(src, target=target(arch), options={"num_warps": num_warps}).asm


def dump(folder, name, arch, num_warps, src, asm):
    """NAME_90.raw.ttir, NAME_90.ttir and NAME_90.ttgir."""
    gpu = target(arch)
    backend = triton.compiler.make_backend(gpu)
    options = backend.parse_options({"num_warps": num_warps})
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    backend.load_dialects(context)
    raw = src.make_ir(gpu, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    os.makedirs(folder, exist_ok=True)
    for stage, text in (("raw.ttir", str(raw)), ("ttir", asm["ttir"]), ("ttgir", asm["ttgir"])):
        with open(f"{folder}/{name}_{gpu.arch}.{stage}", "w") as f:
            f.write(text)


def target(arch):
    if arch.startswith("gfx"):
        return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    return GPUTarget("cuda", int(re.sub(r"\D", "", arch)), 32)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("ttc"); ap.add_argument("files", nargs="+")
    ap.add_argument("--arch", default="sm_90a"); ap.add_argument("--stage", default="ttir,ttgir")
    ap.add_argument("--num-warps", type=int, default=4); ap.add_argument("--keep"); ap.add_argument("--dumps")
    ap.add_argument("-k", "--kernel"); ap.add_argument("--signature")
    o = ap.parse_args()
    keep = o.keep or tempfile.mkdtemp()
    os.makedirs(keep, exist_ok=True)
    passed = failed = 0
    for path in o.files:
        module = load(path)
        for name, fn in vars(module).items():
            if not isinstance(fn, triton.runtime.jit.JITFunction) or fn.fn.__module__ != "kernels" or (o.kernel and name != o.kernel):
                continue
            signature = o.signature or signature_of(fn)
            if signature is None:
                continue
            src, asm = reference(fn, signature, o.arch, o.num_warps)
            if o.dumps:
                dump(o.dumps, name, o.arch, o.num_warps, src, asm)
            for stage in o.stage.split(","):
                why = check(o, path, name, signature, stage, asm[stage], keep)
                print(f"{'FAIL' if why else 'ok  '} {stage:6s} {os.path.basename(path)}:{name}{': ' + why if why else ''}")
                passed, failed = passed + (not why), failed + bool(why)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def check(o, path, name, signature, stage, want, keep):
    """What is wrong with ttc's output for one kernel and stage; empty if nothing."""
    ours = f"{keep}/{name}.{stage}"
    with open(f"{keep}/{name}.reference.{stage}", "w") as f:
        f.write(want)
    r = subprocess.run([o.ttc, "compile", path, "-k", name, "--signature", signature, "--arch", o.arch, "--num-warps", str(o.num_warps),
                        "--emit", stage, "-o", ours, *modules.TRITONS_SCHEDULES], capture_output=True, text=True)
    if r.returncode:
        return r.stderr.strip()[:2000]
    with open(ours) as f:
        got = f.read()
    try:
        if why := modules.difference(want, got):
            return "differs\n" + why
        triton.compile(ours, target=target(o.arch))
    except Exception as e:  # noqa: BLE001  the reference reports in many ways
        return f"the reference refuses it: {e}"
    return ""


sys.exit(main())
