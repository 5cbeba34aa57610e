"""Compare ttc's TTIR and TTGIR with the reference compiler's, op for op.

usage: compare.py TTC FILE… [--arch sm_90a] [--stage ttir,ttgir] [--num-warps N] [--keep DIR] [-k KERNEL] [--signature TYPES]

For each kernel of each file (all parameters annotated as in a signature, or one kernel with --signature):
1. both compilers lower it; value names and locations are replaced by position, so that only operations, types and attributes count;
2. the results are compared line by line;
3. the reference parses what ttc printed, prints it again, and finishes it to a cubin.

Runs in an environment that holds Triton 3.9 (`make oracle` makes one). Needs no GPU. Exits with 1 if anything differs.
"""
import argparse
import difflib
import importlib.util
import importlib.machinery
import inspect
import os
import re
import subprocess
import sys
import tempfile

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
import triton
from triton._C import libtriton
from triton.backends.compiler import GPUTarget


def normalize(text):
    """Operations only: no locations, values numbered in order of appearance, aliases spelled out."""
    lines = [l for l in text.splitlines() if l.strip() and not re.match(r"#loc\d* = ", l)]
    text = "\n".join(strip_locations(l) for l in lines)
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    text = re.sub(r"^#\w+ = .*\n", "", text, flags=re.M)
    for _ in range(4):
        text = re.sub(r"#\w+\b(?!\.)", lambda m: aliases.get(m[0], m[0]), text)
    numbers = {}
    return re.sub(r"%[\w$.-]+", lambda m: numbers.setdefault(m[0], f"%{len(numbers)}"), text).splitlines()


def strip_locations(line):
    while (at := line.find(" loc(")) >= 0:
        depth, end, quoted = 0, at + 4, False
        while True:
            c = line[end]
            quoted ^= c == '"'
            depth += 0 if quoted else {"(": 1, ")": -1}.get(c, 0)
            end += 1
            if depth == 0:
                break
        line = line[:at] + line[end:]
    return line.rstrip()


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
    return triton.compile(src, target=target(arch), options={"num_warps": num_warps}).asm


def target(arch):
    return GPUTarget("cuda", int(re.sub(r"\D", "", arch)), 32)


def reprint(path):
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    libtriton.nvidia.load_dialects(context)
    module = libtriton.ir.parse_mlir_module(path, context)
    return str(module)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("ttc"); ap.add_argument("files", nargs="+")
    ap.add_argument("--arch", default="sm_90a"); ap.add_argument("--stage", default="ttir,ttgir")
    ap.add_argument("--num-warps", type=int, default=4); ap.add_argument("--keep")
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
            asm = reference(fn, signature, o.arch, o.num_warps)
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
                        "--emit", stage, "-o", ours], capture_output=True, text=True)
    if r.returncode:
        return r.stderr.strip()[:2000]
    with open(ours) as f:
        got = f.read()
    diff = list(difflib.unified_diff(normalize(want), normalize(got), "reference", "ttc", lineterm="", n=1))
    if diff:
        return "differs\n" + "\n".join(diff[:40])
    try:
        if normalize(reprint(ours)) != normalize(got):
            return "the reference prints another module than it read"
        triton.compile(ours, target=target(o.arch))
    except Exception as e:  # noqa: BLE001  the reference reports in many ways
        return f"the reference refuses it: {e}"
    return ""


sys.exit(main())
