"""Run the cases that `cargo run --example gpu_cases -- FOLDER --arch gfx942` wrote in tinygrad's emulator, and compare
them with their references.

usage: run_cases.py FOLDER TINYGRAD [--only TEXT] [--json OUT] [--seconds N] [--deadline N] [--jobs N] [--verbose]

TINYGRAD is a folder of tinygrad's repository; `clang` must be on PATH, or `CC` names `scripts/amd/gcc_for_emulator.sh`.
A configuration may take `--seconds`, and after `--deadline` seconds none is started any more; first comes one
configuration of each case, then the second ones, and so on. Inputs, references and the comparison are those of
`scripts/gpu/run_cases.py`. Each job is a process that takes configurations one after another; where it dies or takes
too long, another one goes on behind. A configuration on which it died gets a second try in the new process: the
emulator's own code dies now and then after many kernels.
"""
import argparse
import collections
import ctypes
import functools
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


@functools.cache
def gpu_cases():
    """`scripts/gpu/run_cases.py`, which makes inputs and compares."""
    spec = importlib.util.spec_from_file_location("gpu_cases", os.path.join(HERE, "../gpu/run_cases.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def address(buffer):
    return ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer)) if len(buffer) else 256


def values(np, c, buffers, scalars, scratch):
    """The bytes of each parameter, as the launch descriptor has them."""
    out = []
    given = {a["name"]: a for a in c["args"]}
    for p in c["launch"]["parameters"]:
        name, kind = p.get("argument"), p["value"]
        if kind == "argument" and name in scalars:
            out.append(bytes(scalars[name]))
        elif kind in ("argument", "base"):
            out.append(address(buffers[name]).to_bytes(8, "little"))
        elif kind == "extent":
            out.append(int(given[name]["shape"][p["axis"]]).to_bytes(8, "little"))
        elif kind == "stride":
            out.append(int(np.prod(given[name]["shape"][p["axis"] + 1:], dtype=np.int64)).to_bytes(8, "little"))
        elif kind == "global_scratch":
            out.append(address(scratch).to_bytes(8, "little"))
        else:
            out.append(bytes(8))
    return out


def run_config(np, emulator, folder, c):
    gpu = gpu_cases()
    with open(os.path.join(folder, c["cubin"]), "rb") as f:
        code = f.read()
    buffers, scalars = gpu.inputs(np, folder, c)
    # Addresses of a GPU's allocator are multiples of 256; those of tensors may count on 16.
    held = {name: aligned(data) for name, data in buffers.items()}
    scratch = aligned(b"\xff" * (c.get("scratch", 0) * c["grid"][0] * c["grid"][1] * c["grid"][2]))
    emulator.run(code, c["launch"], c["grid"], values(np, c, held, scalars, scratch), c["shared"],
                 [(address(memory), len(memory)) for memory in (*held.values(), scratch)])
    wrong, worst = [], 0.0
    for a in (a for a in c["args"] if a.get("out")):
        got = gpu.decode(np, a["dtype"], bytes(held[a["name"]]))
        want = c["expected"][a["name"]]
        compared = [w for w in ("reference", "interpreter") if isinstance(want[w], str)]
        for who in compared:
            with open(os.path.join(folder, want[who]), "rb") as f:
                text, error = gpu.compare(np, got, gpu.decode(np, a["dtype"], f.read()), a["tolerance"])
            worst = max(worst, error)
            if text:
                wrong.append(f"{a['name']} against the {who}: {text}")
        if not compared:
            wrong.append(f"{a['name']}: nothing says what it should be")
    return {"status": "wrong" if wrong else "right", "text": "; ".join(wrong), "error": worst}


def aligned(data):
    """The same bytes at an address that is a multiple of 256."""
    memory = bytearray(len(data) + 256)
    start = -address(memory) % 256
    view = memoryview(memory)[start:start + len(data)]
    view[:] = data
    return view


def worker(folder, tinygrad):
    """Takes numbers of configurations from its input, and answers each with a line of JSON."""
    import numpy as np
    from emulator import Emulator
    with open(os.path.join(folder, "manifest.json")) as f:
        manifest = json.load(f)
    emulator = Emulator(tinygrad, manifest["arch"])
    out = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin:
        case, number = line.split()
        try:
            result = run_config(np, emulator, folder, manifest["cases"][case][int(number)])
        except Exception as e:
            result = {"status": "failed", "text": f"{type(e).__name__}: {e}"}
        os.write(out, (json.dumps(result) + "\n").encode())


class Worker:
    """A process, which is started again when it dies."""

    def __init__(self, o):
        self.o, self.process = o, None

    def run(self, case, number):
        if self.process is None:
            command = [sys.executable, os.path.abspath(__file__), "--worker", self.o.folder, self.o.tinygrad]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        process = self.process
        timer = threading.Timer(self.o.seconds, process.kill)
        timer.start()
        try:
            process.stdin.write(f"{case} {number}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        late = not timer.is_alive()
        timer.cancel()
        if line:
            return json.loads(line)
        process.kill()
        process.wait()
        self.process = None
        return {"status": "failed", "text": f"more than {self.o.seconds} s" if late else f"the emulator died with {process.returncode}"}


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(*sys.argv[2:4])
    ap = argparse.ArgumentParser()
    ap.add_argument("folder"); ap.add_argument("tinygrad"); ap.add_argument("--only", default=""); ap.add_argument("--json")
    ap.add_argument("--seconds", type=int, default=120); ap.add_argument("--deadline", type=float, default=float("inf")); ap.add_argument("--jobs", type=int, default=1); ap.add_argument("--verbose", action="store_true")
    o = ap.parse_args()
    with open(os.path.join(o.folder, "manifest.json")) as f:
        manifest = json.load(f)
    cases = {n: c for n, c in manifest["cases"].items() if o.only in n}
    results = {n: [None] * len(c) for n, c in cases.items()}
    todo = collections.deque(sorted(((n, i) for n, c in cases.items() for i in range(len(c))), key=lambda one: (one[1], one[0])))
    started = time.time()

    def work():
        one = Worker(o)
        while todo:
            try:
                name, i = todo.popleft()
            except IndexError:
                return
            c, start = cases[name][i], time.time()
            if start - started > o.deadline:
                results[name][i] = {"status": "not run", "text": ""}
                continue
            if "code" in c:
                results[name][i] = {"status": "not compiled", "text": f"{c['code']} {c['message']}"}
            else:
                results[name][i] = one.run(name, i)
                if "died" in results[name][i]["text"]:
                    results[name][i] = one.run(name, i)
            r = results[name][i]
            r["time"] = round(time.time() - start, 1)
            if o.verbose or r["status"] != "right":
                print(f"{name} {c['config']}: {r['status']} {r['text'][:300]} ({time.time() - start:.1f} s)", flush=True)

    threads = [threading.Thread(target=work) for _ in range(o.jobs)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    counts = collections.Counter(r["status"] for rows in results.values() for r in rows)
    print(f"{'case':32} configurations  right")
    for name, rows in results.items():
        print(f"{name:32} {len(rows):14} {sum(r['status'] == 'right' for r in rows):6}")
    print(f"{manifest['arch']}: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))
    if o.json:
        with open(o.json, "w") as f:
            json.dump({"arch": manifest["arch"], "cases": {n: [dict(r, config=c["config"]) for r, c in zip(rows, cases[n])] for n, rows in results.items()}}, f, indent=1)
    return 0 if set(counts) <= {"right"} else 1


if __name__ == "__main__":
    sys.exit(main())
