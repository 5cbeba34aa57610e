"""Assemble PTX files with several releases of ptxas, and name those that do not assemble.

usage: assemble.py FOLDER PTXAS... [--jobs N] [--timeout SECONDS]

A file that a release refuses only because of its `.version` or `.target` is counted as too new for it; a crash, another
error or a time limit is a failure. Prints the failures and a line for each release; exits with 1 if there was one.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TOO_NEW = re.compile(r"Unsupported \.version|not defined for option 'gpu-name'|PTX version .* does not support|SM version specified by \.target is")


def one(job):
    path, ptxas, seconds = job
    with open(path, encoding="utf-8", errors="replace") as f:
        target = re.search(r"^\.target\s+(\w+)", f.read(), re.M)
    try:
        r = subprocess.run([ptxas, f"--gpu-name={target.group(1)}", path, "-o", os.devnull], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "slow", f"more than {seconds} s"
    if r.returncode == 0:
        return "assembled", ""
    if r.returncode > 0 and TOO_NEW.search(r.stdout + r.stderr):
        return "too new", ""
    return "failed", f"ended with {r.returncode}: {(r.stdout + r.stderr).strip()[:200]}"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder"); ap.add_argument("ptxas", nargs="+"); ap.add_argument("--jobs", type=int, default=os.cpu_count())
    ap.add_argument("--timeout", type=int, default=300)
    o = ap.parse_args()
    files = sorted(os.path.join(d, n) for d, _, names in os.walk(o.folder) for n in names if n.endswith(".ptx"))
    jobs = [(path, ptxas, o.timeout) for path in files for ptxas in o.ptxas]
    counts = {p: collections.Counter() for p in o.ptxas}
    with ThreadPoolExecutor(o.jobs) as pool:
        for (path, ptxas, _), (status, text) in zip(jobs, pool.map(one, jobs)):
            counts[ptxas][status] += 1
            if status in ("failed", "slow"):
                print(f"{status} [{ptxas}] {path}: {text}", flush=True)
    for ptxas, count in counts.items():
        print(f"{ptxas}: {len(files)} files, " + ", ".join(f"{n} {s}" for s, n in sorted(count.items())))
    return 1 if any(c["failed"] or c["slow"] for c in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
