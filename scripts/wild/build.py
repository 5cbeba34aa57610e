"""Compile real kernels with ttc and with Triton for one comparison: code, registers, spills, and the time that each
compiler takes.

usage: build.py TTC LIST SRC OUT [--load FILE] [--arch 90] [--only TEXT] [--part K/N] [--limit S] [--ours-only]
    [--ptxas PATH]

ARCH is a compute capability of NVIDIA's, 90, or a processor of AMD's, gfx942; then code objects take the place of
cubins. Beside results.jsonl, counts of what either compiler compiles are printed at the end, and the ratio of their
times.

Runs in an environment that holds Triton 3.9 (`make oracle` makes one). Needs no GPU. LIST has a JSON object a line:
id, repo, path, func, signature, defines, num_warps, num_stages, and maxnreg if the launch has one. The file of a kernel lies in
SRC/<owner>+<name>/<path>. FILE is a Python file with `load(root, path)`, which imports a kernel file whose
surroundings (torch, the rest of its package) are missing.

For each kernel:
1. Triton compiles it in a fork of this process, so that what is timed is what a warm process takes: from the Python
   function to the cubin, without reading the file and without Triton's own cache.
2. `ttc compile` runs as a whole process, from the file to the cubin, without its cache. `--summary` divides its time.

OUT/triton/<case> and OUT/ttc/<case> get k.cubin and k.json, and OUT/results.jsonl one object a kernel with times in
seconds, registers and spilled bytes of both. Times come twice: by the clock,
and of the processor, which other work on the machine disturbs less; both count the programs that a compiler starts.
Kernels that are there already are not compiled again, so a run can be
continued. --ours-only leaves Triton out and writes to OUT/ttc alone.
"""

import argparse
import collections
import glob
import importlib.util
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("ttc", "list", "src", "out"):
        p.add_argument(name)
    p.add_argument("--load")
    p.add_argument("--arch", default="90")
    p.add_argument("--only", default="")
    p.add_argument("--part", default="0/1")
    p.add_argument("--limit", type=int, default=120, help="seconds that a compiler may take for a kernel")
    p.add_argument("--ours-only", action="store_true")
    p.add_argument("--ptxas", help="what ttc runs instead of its own ptxas")
    p.add_argument("--keep", default="", help="further stages of Triton's to keep, separated by commas: ttgir,llir,ptx")
    return p.parse_args()


def read_list(options):
    with open(options.list, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    k, n = map(int, options.part.split("/"))
    rows = [r for i, r in enumerate(rows) if i % n == k]
    return [r for r in rows if options.only in r["id"] + r["repo"]]


def case_name(row):
    return row["id"].replace("/", "__").replace("@", "_at_")


def is_amd(options):
    return options.arch.startswith("gfx")


def target(options):
    from triton.backends.compiler import GPUTarget

    if is_amd(options):
        return GPUTarget("hip", options.arch, 64 if options.arch.startswith("gfx9") else 32)
    return GPUTarget("cuda", int(options.arch), 32)


def binary(options):
    return "hsaco" if is_amd(options) else "cubin"


def processor_seconds():
    """What this process and the programs that it waited for have used so far."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def usage_of(log):
    """Registers and bytes of local memory that ptxas reports with -v; calls count with their own stack."""
    number = lambda pattern: [int(x) for x in re.findall(pattern, log)]
    return {
        "registers": max(number(r"Used (\d+) registers"), default=0),
        "stack": sum(number(r"(\d+) bytes stack frame")),
        "spill_stores": sum(number(r"(\d+) bytes spill stores")),
        "spill_loads": sum(number(r"(\d+) bytes spill loads")),
    }


def constant(text, module, language, root):
    """The value of a compile-time parameter: in the kernel's file, or a function with the path of another file."""
    try:
        return eval(text, {**module.__dict__, "tl": language})
    except NameError:
        *path, name = text.split(".")
        found = glob.glob(f"{root}/**/{'/'.join(path)}.py", recursive=True) if path else []
        if not found:
            raise
        return getattr(sys.modules["kernel_loader"].load(root, os.path.relpath(min(found, key=len), root)), name)


def triton_job(row, options, folder):
    """Runs in a fork: compiles one kernel with Triton and writes its files. Returns what is known about it."""
    import triton

    load = sys.modules["kernel_loader"].load
    root = f"{options.src}/{row['repo'].replace('/', '+')}"
    module = load(root, row["path"])
    kernel = getattr(module, row["func"])
    while not isinstance(kernel, triton.runtime.jit.JITFunction):
        kernel = kernel.fn
    signature, constants, facts = {}, {}, {}
    for i, (name, part) in enumerate(zip(kernel.arg_names, row["signature"], strict=True)):
        kind, _, hint = part.partition(":")
        if kind == "constexpr":
            constants[(i,)] = constant(row["defines"][name], module, triton.language, root)
            signature[name] = "constexpr"
        elif re.fullmatch(r"-?[\d.]+(e-?\d+)?", kind):
            constants[(i,)] = float(kind) if "." in kind else int(kind)
            signature[name] = "constexpr"
        else:
            signature[name] = kind
            if hint == "16":
                facts[(i,)] = [["tt.divisibility", 16]]
    source = triton.compiler.ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=facts)
    log = open(f"{folder}/log", "w+")
    os.dup2(log.fileno(), 1)
    start, busy = time.perf_counter(), processor_seconds()
    # As a launch does: `@triton.jit(debug=True)` keeps the assertions.
    stated = {"debug": True} if getattr(kernel, "debug", None) else {}
    stated |= {name: row[name] for name in ("num_warps", "num_stages", "maxnreg") if name in row}
    compiled = triton.compile(source, target=target(options), options=stated)
    seconds, busy = time.perf_counter() - start, processor_seconds() - busy
    sys.stdout.flush()
    with open(f"{folder}/k.{binary(options)}", "wb") as f:
        f.write(compiled.asm[binary(options)])
    for stage in filter(None, options.keep.split(",")):
        with open(f"{folder}/k.{stage}", "w") as f:
            f.write(compiled.asm[stage])
    with open(f"{folder}/k.json", "w") as f:
        json.dump(
            {
                k: getattr(compiled.metadata, k, 0)
                for k in ("name", "num_warps", "num_ctas", "shared", "global_scratch_size")
            },
            f,
        )
    with open(f"{folder}/log") as f:
        return {"seconds": seconds, "processor": busy, **usage_of(f.read())}


def triton_compiles(row, options, folder):
    os.makedirs(folder, exist_ok=True)
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            result = triton_job(row, options, folder)
        except BaseException as e:  # noqa: BLE001  Triton's errors have no common type
            result = {"error": (str(e).strip() or traceback.format_exc()).splitlines()[-1][:200]}
        with open(f"{folder}/result", "w") as f:
            json.dump(result, f)
        os._exit(0)
    end = time.time() + options.limit
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.time() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return {"error": f"more than {options.limit} s"}
        time.sleep(0.005)
    try:
        with open(f"{folder}/result") as f:
            return json.load(f)
    except FileNotFoundError:
        return {"error": "the process died"}


def ours_compiles(row, options, folder):
    os.makedirs(folder, exist_ok=True)
    root = f"{options.src}/{row['repo'].replace('/', '+')}"
    command = [
        options.ttc,
        "compile",
        f"{root}/{row['path']}",
        "-k",
        row["func"],
        "-I",
        root,
        "--signature",
        ", ".join(row["signature"]),
        "--num-warps",
        str(row["num_warps"]),
        "--num-stages",
        str(row["num_stages"]),
        "--error-format",
        "short",
        "--summary",
        "--arch",
        options.arch if is_amd(options) else f"sm_{options.arch}" + ("a" if int(options.arch) >= 90 else ""),
        "-o",
        f"{folder}/k.{binary(options)}",
    ]
    if "maxnreg" in row and not is_amd(options):
        command += ["--maxnreg", str(row["maxnreg"])]
    for name, value in row["defines"].items():
        command += ["-D", f"{name}={value}"]
    if options.ptxas:
        command += ["--ptxas", options.ptxas]
    start, busy = time.perf_counter(), processor_seconds()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TTC_CACHE": "0"},
    ) as p:
        try:
            summary, messages = p.communicate(timeout=options.limit)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.communicate()
            return {"error": f"more than {options.limit} s"}
    seconds, busy = time.perf_counter() - start, processor_seconds() - busy
    if p.returncode:
        return {
            "error": next((l for l in messages.splitlines() if "error" in l), f"exit {p.returncode}")[:200],
            "seconds": seconds,
        }
    stages = {name: float(ms) / 1000 for name, ms in re.findall(r"(?m)^(\S[\w ]*?) {2,}([\d.]+) ms$", summary)}
    stages.pop("total", None)
    return {
        "seconds": seconds,
        "processor": busy,
        "stages": stages,
        "registers": int(re.search(r"registers +(\d+)", summary)[1]),
        "spills": int(re.search(r"spills +(\d+) bytes", summary)[1]),
    }


WARM_UP = """
import triton
import triton.language as tl
@triton.jit
def warm_up(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
"""


def warm_up(options):
    """Compiles a small kernel, so that forks have what Triton loads, asks and caches once in a process."""
    import triton

    with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
        f.write(WARM_UP)
        f.flush()
        spec = importlib.util.spec_from_file_location("warm_up", f.name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        source = triton.compiler.ASTSource(
            fn=module.warm_up,
            signature={"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"},
            constexprs={(3,): 128},
        )
        triton.compile(source, target=target(options))


def counts(results):
    """Which compiler compiles how many, why ttc compiles none of the others, and the ratio of the times."""
    with open(results) as f:
        rows = [json.loads(line) for line in f]
    both = [r for r in rows if "error" not in r["ttc"] and "error" not in r.get("triton", {"error": ""})]
    theirs = [r for r in rows if "error" not in r.get("triton", {"error": ""})]
    ours = sum("error" not in r["ttc"] for r in rows)
    lines = [f"{len(rows)} kernels; ttc compiles {ours}"]
    if theirs:
        lines.append(f"Triton compiles {len(theirs)}, of which ttc compiles {len(both)}: {100 * len(both) / len(theirs):.1f} %")
    if both:
        for name, what in (("seconds", "time"), ("processor", "processor time")):
            pairs = [(r["ttc"][name], r["triton"][name]) for r in both if name in r["ttc"] and name in r["triton"]]
            if not pairs:
                continue
            ratios = [ours / reference for ours, reference in pairs]
            sums = sum(ours for ours, _ in pairs) / sum(reference for _, reference in pairs)
            lines.append(f"{what} of ttc by Triton's: {statistics.geometric_mean(ratios):.3f} as a geometric mean, {sums:.3f} of the sums")
    reasons = collections.Counter(r["ttc"]["error"].split(": ", 1)[-1][:100] for r in (theirs or rows) if "error" in r["ttc"])
    return "\n".join(lines + [f"{n:5} {why}" for why, n in reasons.most_common(40)])


def main():
    options = arguments()
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    os.environ["TRITON_DUMP_PTXAS_LOG"] = "1"
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    if not options.ours_only:
        sys.path.insert(0, os.path.dirname(os.path.abspath(options.load)))
        spec = importlib.util.spec_from_file_location("kernel_loader", options.load)
        loader = importlib.util.module_from_spec(spec)
        sys.modules["kernel_loader"] = loader
        spec.loader.exec_module(loader)
        warm_up(options)
    os.makedirs(options.out, exist_ok=True)
    results = f"{options.out}/results.jsonl"
    known = set()
    if os.path.exists(results):
        with open(results) as f:
            known = {json.loads(line)["case"] for line in f}
    with open(results, "a") as out:
        for row in read_list(options):
            case = case_name(row)
            if case in known:
                continue
            result = {"case": case}
            if not options.ours_only:
                result["triton"] = triton_compiles(row, options, f"{options.out}/triton/{case}")
            result["ttc"] = ours_compiles(row, options, f"{options.out}/ttc/{case}")
            print(json.dumps(result), file=out, flush=True)
    print(counts(results))


main()
