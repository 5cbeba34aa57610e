"""Compare ttc's TTIR and TTGIR of real kernels with the reference compiler's, op for op, for an AMD GPU.

usage: real.py TTC LIST SRC --load FILE [--arch gfx942] [--step N] [--only TEXT] [--keep DIR] [--finish] [--code]

LIST has a JSON object a line: id, repo, path, func, signature, defines, num_warps, num_stages. The file of a kernel
lies in SRC/<owner>+<name>/<path>; FILE is a Python file with `load(root, path)`, which imports one whose surroundings
are missing (`scripts/wild/build.py` has the same). Every N-th kernel is taken.

Each kernel that the reference lowers in a fork of this process is compiled by ttc, and the modules are compared without
locations and names:

  same     line for line
  order    the same lines in another order
  ops      as many of each operation; attributes, types or operands differ
  differs  others; which operations are more or fewer is printed

The reference must read ttc's TTGIR, and ttc the reference's. With --finish, the reference also compiles ttc's TTGIR to
a code object. With --code, both compile on to assembly, without fused multiplications and additions, and instructions,
registers, shared memory and scratch are compared (`final_code.py`). Runs in an environment that holds Triton 3.9
(`make oracle` makes one). Needs no GPU. DIR keeps the modules, and those of the reference from one run to the next.
"""
import argparse
import collections
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
import triton
from triton._C import libtriton
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

import final_code

STAGES = ("ttir", "ttgir")
# Seconds that the reference may take for a kernel.
LIMIT = 120


def target(arch):
    return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)


def context_of(backend):
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def source(row, options):
    module = sys.modules["kernel_loader"].load(root(row, options), row["path"])
    kernel = getattr(module, row["func"])
    while not isinstance(kernel, triton.runtime.jit.JITFunction):
        kernel = kernel.fn
    signature, constants, facts = {}, {}, {}
    for i, (name, part) in enumerate(zip(kernel.arg_names, row["signature"], strict=True)):
        kind, _, hint = part.partition(":")
        if kind == "constexpr":
            constants[(i,)] = eval(row["defines"][name], {**module.__dict__, "tl": triton.language})
            signature[name] = "constexpr"
        elif re.fullmatch(r"-?[\d.]+(e-?\d+)?", kind):
            constants[(i,)] = float(kind) if "." in kind else int(kind)
            signature[name] = "constexpr"
        else:
            signature[name] = kind
            if hint == "16":
                facts[(i,)] = [["tt.divisibility", 16]]
    return triton.compiler.ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=facts)


def root(row, options):
    return f"{options.src}/{row['repo'].replace('/', '+')}"


def lower(row, options, path):
    """Writes PATH.ttir and PATH.ttgir of the reference, and with --code its assembly and metadata."""
    backend = make_backend(target(options.arch))
    chosen = backend.parse_options({"num_warps": row["num_warps"], "num_stages": row["num_stages"], "enable_fp_fusion": False})
    context = context_of(backend)
    src = source(row, options)
    module = src.make_ir(target(options.arch), chosen, backend.get_codegen_implementation(chosen), backend.get_module_map(), context)
    stages, metadata = {}, {"num_ctas": 1, "num_warps": row["num_warps"], "target": target(options.arch), "shared": 0}
    backend.add_stages(stages, chosen, src.language)
    for stage in STAGES:
        module = stages[stage](module, metadata)
        with open(f"{path}.{stage}", "w") as f:
            f.write(str(module))
    if options.code:
        for stage in ("llir", "amdgcn"):
            module = stages[stage](module, metadata)
            with open(f"{path}.{stage}", "w") as f:
                f.write(module)
        with open(f"{path}.json", "w") as f:
            json.dump({"shared": metadata["shared"]}, f)


def read_back(row, options, path):
    """The reference reads, and finishes, a module of ttc's."""
    backend = make_backend(target(options.arch))
    context = context_of(backend)
    module = libtriton.ir.parse_mlir_module(path, context)
    module.context = context
    if not options.finish:
        return
    chosen = backend.parse_options({"num_warps": module.get_int_attr("ttg.num-warps"), "num_stages": row["num_stages"]})
    metadata = {"num_ctas": 1, "num_warps": row["num_warps"], "target": target(options.arch), "shared": 0}
    code = backend.make_amdgcn(backend.make_llir(module, metadata, chosen), metadata, chosen)
    with open(path.replace(".ttgir", ".hsaco"), "wb") as f:
        f.write(backend.make_hsaco(code, metadata, chosen))


def in_fork(work, *args):
    """The error of some work that may end its process; empty if it has none."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        text = ""
        signal.alarm(LIMIT)
        try:
            work(*args)
        except BaseException as e:  # noqa: BLE001  the reference's errors have no common type
            text = (str(e).strip() or type(e).__name__).splitlines()[-1][:200]
        os.write(write, text.encode())
        os._exit(1 if text else 0)
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    status = os.waitpid(child, 0)[1]
    return text or ("" if status == 0 else f"ended with {status}")


def normal(text):
    """Lines without locations and the kernel's name, with layouts in place of their names, and values numbered in
    order."""
    text = re.sub(r"^#loc.*\n|^// ttc.*\n", "", text, flags=re.M)
    # The reference prints products of one warp in a form that it does not read; ttc prints one that it does.
    text = re.sub(r"(ctaLayout = \{)warp = \[\](\})(?:, rank = \d+)?", r"\1\2", text)
    # A kernel may have a name of its own for the reference's cache (`repr=` of its decorator).
    text = re.sub(r"(tt\.func public) @[\w$.]+", r"\1 @kernel", text)
    while (shorter := re.sub(r' ?loc\((?:[^()"]|"[^"]*"|\([^()]*\))*\)', "", text)) != text:
        text = shorter
    alias = dict(re.findall(r"^(#\w+) = (.*)$", text, flags=re.M))
    named = lambda line: re.sub(r"#(\w+)\b(?![.])", lambda m: alias.get(m.group(0), m.group(0)), line)
    for _ in range(4):
        alias = {name: named(value) for name, value in alias.items()}
    lines = [named(line) for line in text.split("\n") if line.strip() and not re.match(r"^#\w+ = ", line)]
    numbers = {}
    return [re.sub(r"%[\w$.\-]+(?:#\d+)?", lambda m: numbers.setdefault(m.group(0), f"%{len(numbers)}"), line).strip() for line in lines]


def operations(lines):
    found = (re.search(r'(?:^|= )("?[a-z_]+\.[a-z_.0-9]+"?)', line) for line in lines)
    return collections.Counter(m.group(1) for m in found if m)


def kind_of(want, got):
    if want == got:
        return "same", ""
    anonymous = lambda lines: sorted(re.sub(r"%\d+", "%", line) for line in lines)
    if anonymous(want) == anonymous(got):
        return "order", ""
    a, b = operations(want), operations(got)
    if a == b:
        return "ops", ""
    return "differs", ", ".join(f"{op} {b[op]} for {a[op]}" for op in sorted(a | b) if a[op] != b[op])


def numbers(path, shared):
    """What `final_code.of` says of the assembly of a path, and the dynamic shared memory that the file `shared`
    names."""
    with open(path) as f, open(shared) as g:
        return final_code.of(f.read(), json.load(g)["shared"])


def compare(row, options, name, counts, code):
    want, ours = f"{options.keep}/{options.arch}/reference/{name}", f"{options.keep}/{options.arch}/ttc/{name}"
    if not os.path.exists(f"{want}.{'amdgcn' if options.code else 'ttgir'}"):
        if in_fork(lower, row, options, want):
            counts["refused by the reference"] += 1
            return
    command = [options.ttc, "compile", f"{root(row, options)}/{row['path']}", "-k", row["func"], "--arch", options.arch, "-I", root(row, options),
               "--num-warps", str(row["num_warps"]), "--num-stages", str(row["num_stages"]), "--signature", ", ".join(row["signature"]),
               "--emit", ",".join(STAGES + (("llir", "amdgcn") if options.code else ())), "--out-dir", ours]
    for key, value in row["defines"].items():
        command += ["-D", f"{key}={value}"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        counts["refused by ttc"] += 1
        print(f"{name}: ttc: {made.stderr.strip().splitlines()[:1]}")
        return
    file_of = lambda end: next(f"{ours}/{f}" for f in sorted(os.listdir(ours)) if f.endswith(end))
    for stage in STAGES:
        path = file_of(f".{stage}")
        with open(path) as f, open(f"{want}.{stage}") as g:
            kind, text = kind_of(normal(g.read()), normal(f.read()))
        counts[f"{stage} {kind}"] += 1
        if kind in ("ops", "differs"):
            print(f"{name}: {stage} {kind} {text}"[:400])
    if error := in_fork(read_back, row, options, path):
        counts["ttc's TTGIR refused by the reference"] += 1
        print(f"{name}: the reference on ttc's TTGIR: {error}")
    if subprocess.run([options.ttc, "opt", f"{want}.ttgir", "-o", os.devnull], capture_output=True).returncode:
        counts["the reference's TTGIR refused by ttc"] += 1
        print(f"{name}: ttc refuses the reference's TTGIR")
    if options.code:
        (theirs, words), (own, own_words) = numbers(f"{want}.amdgcn", f"{want}.json"), numbers(file_of(".amdgcn"), file_of(".json"))
        code.append((name, theirs, own))
        print(f"{name}: {', '.join(f'{n} {own[n]}/{theirs[n]}' for n in final_code.NAMES)}; {final_code.more(words, own_words)}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for word in ("ttc", "list", "src"):
        p.add_argument(word)
    p.add_argument("--load", required=True)
    p.add_argument("--arch", default="gfx942")
    p.add_argument("--step", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--keep", default=tempfile.mkdtemp())
    p.add_argument("--finish", action="store_true")
    p.add_argument("--code", action="store_true")
    options = p.parse_args()
    spec = importlib.util.spec_from_file_location("kernel_loader", options.load)
    sys.modules["kernel_loader"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["kernel_loader"])
    for side in ("reference", "ttc"):
        os.makedirs(f"{options.keep}/{options.arch}/{side}", exist_ok=True)
    with open(options.list, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    counts, code = collections.Counter(), []
    for number in range(0, len(rows), options.step):
        name = f"{number:05d}_{rows[number]['func']}"
        if options.only in name:
            compare(rows[number], options, name, counts, code)
    for what, count in sorted(counts.items()):
        print(f"{count:5d} {what}")
    if code:
        print(*final_code.table(code), sep="\n")


main()
