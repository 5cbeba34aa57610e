#!/usr/bin/env python3
"""Shows that two builds of ttc make the same PTX, byte for byte, or names where they differ.

usage: same_ptx.py OLD NEW [--cases FILE] [--kernels LIST ROOT] [--most N] [--products N] [--jobs N]

1. With --cases, the cases of `kernels/` for six architectures. FILE is what
   `cargo run --release --example case_commands` prints.
2. With --kernels, the real kernels of LIST (a JSON object a line: repo, path, func, signature, defines, num_warps,
   num_stages), whose files lie in ROOT/<owner>+<name>/<path>: N of them, evenly chosen, for sm_80 and sm_90a.
3. With --products, N configurations of the sweep over matrix products (`scripts/gpu/sweep_products.py`), spread over
   all, for sm_90a.

A case that both refuse is equal when the codes of their errors are. Exit code 1 if a case differs.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ARCHITECTURES = ["sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120a"]


def own_kernels(listing):
    with open(listing, encoding="utf-8") as f:
        cases = [json.loads(line) for line in f]
    for case in cases:
        command = [case["path"], "-k", case["func"]]
        command += ["--signature", case["signature"]] if case["signature"] is not None else []
        for name, value in case["defines"]:
            command += ["-D", f"{name}={value}"]
        for name, value in case["options"].items():
            command += [f"--{name}", str(value)] if value is not None else []
        for arch in ARCHITECTURES:
            yield f"{case['id']} {arch}", [*command, "--arch", arch]


def real_kernels(listing, root, most):
    with open(listing, encoding="utf-8") as f:
        kernels = [json.loads(line) for line in f]
    found = [k for k in kernels if os.path.exists(f"{root}/{k['repo'].replace('/', '+')}/{k['path']}")]
    for k in found[:: max(1, len(found) // most)]:
        folder = f"{root}/{k['repo'].replace('/', '+')}"
        command = [f"{folder}/{k['path']}", "-k", k["func"], "--signature", ", ".join(k["signature"]), "-I", folder]
        command += ["--num-warps", str(k["num_warps"]), "--num-stages", str(k["num_stages"])]
        for name, value in k["defines"].items():
            command += ["-D", f"{name}={value}"]
        for arch in ["sm_80", "sm_90a"]:
            yield f"{k['id']} {arch}", [*command, "--arch", arch]


def products(count):
    here = pathlib.Path(__file__).resolve().parent
    sys.path.insert(0, str(here / "gpu"))
    import sweep_products

    for c in sweep_products.configurations(argparse.Namespace(count=count, slice="0/1")):
        yield f"{sweep_products.name(c)} sm_90a", [*sweep_products.arguments(str(here.parent / "kernels"), c), "--arch", "sm_90a"]


def outputs(ttc, command):
    """What a compilation writes, without the line that names the compiler; or the codes of its errors."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = subprocess.run([ttc, "compile", *command, "--emit", "ptx", "--out-dir", folder], capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "time"
        if run.returncode:
            return " ".join(sorted(set(re.findall(r"error\[(E\d+)\]", run.stderr)))) or f"exit {run.returncode}"
        files = sorted(pathlib.Path(folder).glob("*.ptx"))
        return "".join(f"{p.name}\n{re.sub(r'(?m)^//.*$', '', p.read_text())}" for p in files)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("old", type=os.path.abspath)
    p.add_argument("new", type=os.path.abspath)
    p.add_argument("--cases")
    p.add_argument("--kernels", nargs=2, metavar=("LIST", "ROOT"))
    p.add_argument("--most", type=int, default=300)
    p.add_argument("--products", type=int, default=0)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    o = p.parse_args()
    cases = (list(own_kernels(o.cases)) if o.cases else []) + (list(real_kernels(*o.kernels, o.most)) if o.kernels else [])
    cases += list(products(o.products)) if o.products else []

    def one(case):
        name, command = case
        old, new = outputs(o.old, command), outputs(o.new, command)
        return name, old == new, old.startswith(("E", "exit", "time")) and len(old) < 200, new[:60].splitlines()

    differ = refused = 0
    with ThreadPoolExecutor(o.jobs) as pool:
        for name, equal, no_code, new in pool.map(one, cases):
            refused += no_code
            if not equal:
                differ += 1
                print(f"{name}: differs, now {new[0] if new else 'empty'}", flush=True)
    print(f"{len(cases)} cases, {refused} refused, {differ} differ")
    sys.exit(differ > 0)


main()
