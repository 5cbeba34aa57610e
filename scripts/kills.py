#!/usr/bin/env python3
"""Kills ttc at random moments and looks at what is left: no process, no temporary file, no torn output.

usage: kills.py TTC PTXAS [--runs 100] [--seed 1]

1. A run compiles several kernels for several architectures into a folder that holds the outputs of an earlier run, so
   files are made and replaced.
2. Three kinds of ptxas take turns: PTXAS itself, a script that waits and then becomes it, and a script that stays its
   parent. The last is killed with the signals that ttc can catch alone, for nobody can end the child of a child when
   both parents are killed outright.
3. At a random moment ttc gets SIGKILL, SIGTERM, SIGINT or SIGHUP. Two seconds later no process that carries the run's
   mark in its environment may be there, nothing may lie in the run's TMPDIR, and every file of the folder must be one
   that a whole run writes.

Needs Linux (/proc). Exit code 1 if anything is left.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

KERNEL = """
import triton
import triton.language as tl
@triton.jit
def NAME(x_ptr: "*fp32:16", y_ptr: "*fp32:16", n: "i32", BLOCK: tl.constexpr = 1024):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    for i in tl.static_range(STEPS):
        x = tl.exp(x) * x + tl.sum(x)
    tl.store(y_ptr + offs, x, mask=offs < n)
"""
MARK = "TTC_KILL_RUN"


def make_inputs(folder):
    names = []
    for name, steps in [("one", 1), ("two", 4), ("three", 12)]:
        path = folder / f"{name}.tk"
        path.write_text(KERNEL.replace("NAME", name).replace("STEPS", str(steps)))
        names.append(path.name)
    return names


def make_ptxas(folder, ptxas):
    wait = "sleep 0.$(( $$ % 4 ))"
    kinds = {"plain": None, "becomes": f"#!/bin/sh\n{wait}\nexec {ptxas} \"$@\"\n", "parent": f"#!/bin/sh\n{wait}\n{ptxas} \"$@\"\n"}
    paths = {}
    for kind, text in kinds.items():
        paths[kind] = ptxas
        if text:
            paths[kind] = folder / f"ptxas-{kind}"
            paths[kind].write_text(text)
            paths[kind].chmod(0o755)
    return paths


def command(ttc, inputs, ptxas, stages):
    kinds = ["--arch", "sm_80,sm_90a", "--num-stages", str(stages), "--emit", "ttgir,ptx,cubin"]
    return [ttc, *inputs, *kinds, "--out-dir", "out", "--ptxas", str(ptxas), "-j", "3"]


def contents(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def marked(mark):
    """Processes that carry the mark and have not ended."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state = (entry / "stat").read_text().rsplit(") ", 1)[1][0]
            if state != "Z" and f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(f"{entry.name} {(entry / 'cmdline').read_bytes().decode(errors='replace').replace(chr(0), ' ')[:100]}")
        except (OSError, IndexError):
            continue
    return found


def one_kill(o, work, inputs, ptxas, number, wholes, longest):
    kind = ["plain", "becomes", "parent"][number % 3]
    signals = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP] + ([] if kind == "parent" else [signal.SIGKILL])
    sent, mark = random.choice(signals), f"{os.getpid()}-{number}"
    for p in (work / "out").iterdir():
        if random.random() < 0.5:
            p.unlink()
    temporary = tempfile.TemporaryDirectory()
    env = {**os.environ, MARK: mark, "TMPDIR": temporary.name}
    moment = random.uniform(0, longest[kind])
    process = subprocess.Popen(command(o.ttc, inputs, ptxas[kind], random.choice([2, 3])), cwd=work, env=env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(moment)
    finished = process.poll() is not None
    process.send_signal(sent)
    process.wait()
    deadline, left = time.time() + 2, marked(mark)
    while left and time.time() < deadline:
        time.sleep(0.05)
        left = marked(mark)
    faults = [f"process {p}" for p in left]
    faults += [f"temporary {name}" for name in os.listdir(temporary.name)]
    for name, data in contents(work / "out").items():
        if all(whole.get(name) != data for whole in wholes):
            faults.append(f"torn or stray {name}, {len(data)} bytes")
    temporary.cleanup()
    for name in [p.name for p in (work / "out").iterdir() if not any(p.name in whole for whole in wholes)]:
        (work / "out" / name).unlink()
    return kind, sent.name, finished, moment, faults


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ttc", type=os.path.abspath)
    p.add_argument("ptxas", type=os.path.abspath)
    p.add_argument("--runs", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    random.seed(o.seed)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        inputs, ptxas, wholes, longest = make_inputs(work), make_ptxas(work, o.ptxas), [], {}
        for stages in (2, 3):
            subprocess.run(command(o.ttc, inputs, o.ptxas, stages), cwd=work, check=True)
            wholes.append(contents(work / "out"))
        for kind, path in ptxas.items():
            start = time.time()
            subprocess.run(command(o.ttc, inputs, path, 3), cwd=work, check=True)
            longest[kind] = time.time() - start
        results = [one_kill(o, work, inputs, ptxas, n, wholes, longest) for n in range(o.runs)]
    for kind, name, finished, moment, faults in results:
        for fault in faults:
            print(f"{kind}, {name} after {moment:.3f} s: {fault}")
    killed = sum(not finished for _, _, finished, _, _ in results)
    bad = sum(bool(faults) for *_, faults in results)
    print(f"{len(results)} runs, {killed} of them killed before their end, {bad} with something left")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
