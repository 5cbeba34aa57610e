#!/usr/bin/env python3
"""Times `ttc build` over real kernels, beside the time that ptxas alone takes for them.

    scripts/bench_build.py TTC KERNELS.jsonl SOURCES [--count 40] [--archs sm_80,sm_90a,sm_100a] [--jobs 2]

KERNELS.jsonl has a kernel a line (id, repo, commit, path, func, signature, defines, num_warps, num_stages), whose file
is SOURCES/OWNER+NAME/PATH. Kernels that one architecture cannot have, or that
ptxas takes more than 20 s for, are passed over. Run it on a quiet machine.

It prints: the build from nothing; the sum of the times that ptxas takes for the same PTX, one after the other, before
and after the build; the ratio, and that of ptxas itself on as many cores; the build with nothing to do; the build after
one kernel file was touched and changed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def toml(value):
    return json.dumps(value)


def entry(name, kernel, file, include):
    lines = [f"[kernel.{name}]", f"file = {toml(str(file))}", f"function = {toml(kernel['func'])}", f"include = {toml([str(include)])}"]
    lines.append(f"signature = {toml(', '.join(kernel['signature']))}")
    if kernel["defines"]:
        defines = ", ".join(f"{toml(k)} = {toml(v)}" for k, v in kernel["defines"].items())
        lines.append(f"constants = {{ {defines} }}")
    lines += [f"num_warps = {kernel['num_warps']}", f"num_stages = {kernel['num_stages']}"]
    return "\n".join(lines)


def timed(command, **more):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, **more)
    return time.perf_counter() - start, done


def ptxas_times(ptxas, files, jobs=1):
    """The sum of the times that ptxas takes for these files, and the time until all are done."""

    def one(file):
        arch = file.name.split(".")[-2]
        seconds, done = timed([ptxas, "-v", f"--gpu-name={arch}", "-lineinfo", file, "-o", "/dev/null"])
        if done.returncode:
            sys.exit(f"{file}: {done.stderr}")
        return seconds

    start = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        total = sum(pool.map(one, files))
    return total, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ttc")
    parser.add_argument("kernels")
    parser.add_argument("sources", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--archs", default="sm_80,sm_90a,sm_100a")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--ptxas", default=os.environ.get("TTC_PTXAS") or shutil.which("ptxas"))
    a = parser.parse_args()
    known = [json.loads(line) for line in open(a.kernels)]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        step, picked = max(1, len(known) // (2 * a.count)), []
        for kernel in known[::step]:
            include = a.sources / kernel["repo"].replace("/", "+")
            source = include / kernel["path"]
            if len(picked) == a.count or not source.is_file():
                continue
            name = f"k{len(picked)}"
            head = [a.ttc, source, "-I", include, "-k", kernel["func"], "--signature", ", ".join(kernel["signature"])]
            defines = [w for k, v in kernel["defines"].items() for w in ("-D", f"{k}={v}")]
            options = ["--num-warps", str(kernel["num_warps"]), "--num-stages", str(kernel["num_stages"])]
            _, done = timed(head + defines + options + ["--arch", a.archs, "--emit", "cubin", "--out-dir", folder / "try", "--ptxas-timeout", "20"])
            if done.returncode == 0:
                picked.append((name, kernel, source, include))
        # The file that is changed in the end is a copy in the folder. One that imports nothing beside it can be moved.
        at = next(i for i, p in enumerate(picked) if "\nfrom ." not in p[2].read_text())
        copy = folder / picked[at][2].name
        shutil.copy(picked[at][2], copy)
        picked[at] = (*picked[at][:2], copy, picked[at][3])
        archs = ", ".join(toml(arch) for arch in a.archs.split(","))
        build = [f"[build]\narchs = [{archs}]\nemit = [\"cubin\", \"ptx\"]"]
        manifest = folder / "ttc.toml"
        manifest.write_text("\n\n".join(build + [entry(*p) for p in picked]) + "\n")
        command = [a.ttc, "build", manifest, "-j", a.jobs, "--no-cache"]

        def run():
            seconds, done = timed(command)
            if done.returncode:
                sys.exit(done.stderr)
            return seconds, done.stdout.strip()

        first, said = run()
        files = sorted((folder / "out").glob("*.ptx"))
        before, _ = ptxas_times(a.ptxas, files)
        again = min(run()[0] for _ in range(5))
        shutil.rmtree(folder / "out")
        second, _ = run()
        after, _ = ptxas_times(a.ptxas, files)
        _, together = ptxas_times(a.ptxas, files, int(a.jobs))
        best, alone = min(first, second), min(before, after)
        print(f"{len(picked)} kernels x {len(a.archs.split(','))}: {said}")
        print(f"build {first:.2f} s and {second:.2f} s; ptxas alone {before:.2f} s and {after:.2f} s; ratio {best / alone:.3f}")
        print(f"ptxas alone, {a.jobs} at a time: {together:.2f} s, ratio {together / alone:.3f}: no build is faster than that")
        print(f"again {again * 1000:.1f} ms")
        os.utime(copy)
        print("touched:", run()[1])
        copy.write_text(copy.read_text() + "\n# changed\n")
        seconds, said = run()
        print(f"changed: {said} ({seconds:.2f} s)")


if __name__ == "__main__":
    main()
