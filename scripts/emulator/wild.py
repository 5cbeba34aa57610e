"""Runs other people's kernels, as a compiler made them, in the emulator, and lists what it finds.

usage: wild.py TTC PTX PARAMS OUT [--launches FILE] [--count 60] [--grid 2,2,1] [--int 64] [--max-ops N] [--jobs N]
    [--json FILE] [--keep]

PTX and PARAMS hold one folder a kernel, as scripts/wild/build.py writes them: PTX/NAME has k.ptx and k.json, and
PARAMS/NAME/k.json names the parameters. FILE is scripts/wild/launches.jsonl: the grid, values of arguments and contents
of buffers, by the kernel's id. Kernels with an entry there come first. Grids are cut to at most two blocks an axis,
other integers are N, and buffers hold 64 MiB of small values. Nothing is known of the results, so this looks for three
things:

- `unknown`: the text or an instruction is not known to the emulator (E1201, E1202). This and a crash end with exit code
  1.
- findings: races, accesses out of bounds and the like. An access out of bounds says most often that the arguments do
  not go together, and a race that the cut grid or the values are none that the kernel is made for: look at each.
- `bounded`: more steps than the bound.
"""

import argparse
import collections
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from launches import Repeated, run, to_bf16, write

BYTES = 64 << 20
FLOATS = {"fp16": np.float16, "f16": np.float16, "fp32": np.float32, "f32": np.float32, "fp64": np.float64, "f64": np.float64}


def of_type(kind, values):
    """Values as the type that a pointer points to."""
    if kind == "bf16":
        return to_bf16(values)
    if kind in FLOATS:
        with np.errstate(over="ignore"):
            return values.astype(FLOATS[kind])
    bits = 8 if kind.startswith("fp8") or kind in ("i1", "u1") else int(kind.lstrip("iu"))
    return values.astype(np.int64).astype(f"int{bits}")


def contents(kind, fill, random):
    """A buffer as `launches.jsonl` says."""
    count = 1 << 16
    if fill is None:
        floating = kind in FLOATS or kind == "bf16"
        small = 2 if kind in ("i1", "u1") else 8
        return of_type(kind, random.standard_normal(count) * 0.5 + 1 if floating else random.integers(0, small, count))
    [(how, what)] = fill.items()
    if how == "values":
        whole = np.zeros(max(count, len(what)))
        whole[: len(what)] = what
        return of_type(kind, whole)
    if how == "constant":
        return of_type(kind, np.full(count, what))
    if how == "random":
        return of_type(kind, random.integers(0, what, count))
    return of_type(kind, np.arange(count) * (what if how == "steps" else 1))


def arguments(options, params, entry):
    random = np.random.default_rng(0)
    values, fills = ((entry or {}).get(k, {}) for k in ("values", "fill"))
    for p in params:
        name, kind = p["name"], p["type"].split(":")[0]
        if kind.startswith("*"):
            yield Repeated(contents(kind[1:].removeprefix("k"), fills.get(name), random), BYTES)
        elif "equals" not in p:
            usual = 0.5 if kind[0] in "fb" else 1 if kind in ("i1", "u1") else options.integer
            yield (kind, values.get(name, usual))


def one(options, name, entry):
    """(what happened, the text) of a kernel."""
    meta = json.loads((Path(options.ptx) / name / "k.json").read_text())
    params = json.loads((Path(options.params) / name / "k.json").read_text())["params"]
    ptx = (Path(options.ptx) / name / "k.ptx").read_text()
    wanted = entry["grid"] if entry else options.grid
    grid = [min(a, b) for a, b in zip((wanted + [1, 1])[:3], options.grid)]
    given = list(arguments(options, params, entry))
    folder = Path(options.out) / name
    given_scratch = meta.get("global_scratch_size", 0)
    if given_scratch:
        given.append(Repeated(np.zeros(16, np.uint8), given_scratch * int(np.prod(grid))))
    write(folder, ptx, grid, 32 * meta["num_warps"], meta["shared"], given)
    [done] = run(options.ttc, folder, [], 1, seconds=300, options=["--max-ops", options.max_ops])
    if not options.keep:
        for file in folder.glob("*.bin"):
            file.unlink()
    if "ttc ended with" in done.text or "panicked" in done.text:
        return "crash", done
    if done.ok:
        return "clean", done
    codes = sorted({m for m in re.findall(r"E12\d\d", done.text)})
    kinds = {"E1201": "unknown", "E1202": "unknown", "E1214": "bounded"}
    return " ".join(sorted({kinds.get(c, c) for c in codes})) or "time", done


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("ttc")
    p.add_argument("ptx")
    p.add_argument("params")
    p.add_argument("out")
    p.add_argument("--launches")
    p.add_argument("--only", default="")
    p.add_argument("--count", type=int, default=60)
    p.add_argument("--grid", type=lambda g: list(map(int, g.split(","))), default=[2, 2, 1])
    p.add_argument("--int", type=int, default=64, dest="integer")
    p.add_argument("--max-ops", default="300000")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--keep", action="store_true", help="keep the buffers, for `ttc emulate`")
    p.add_argument("--json")
    options = p.parse_args()
    entries = {}
    if options.launches:
        for line in Path(options.launches).read_text().splitlines():
            entry = json.loads(line)
            entries[entry["id"].replace("/", "__").replace("@", "_at_")] = entry
    names = [d.name for d in sorted(Path(options.ptx).iterdir()) if options.only in d.name]
    names = [n for n in names if all((Path(f) / n / "k.json").exists() for f in (options.ptx, options.params))]
    names = [n for n in names if (Path(options.ptx) / n / "k.ptx").exists()]
    names.sort(key=lambda n: n not in entries)
    names = names[: options.count]
    states, results = collections.Counter(), {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, (state, done) in zip(names, pool.map(lambda n: one(options, n, entries.get(n)), names)):
            states[state] += 1
            results[name] = {"state": state, "steps": done.steps, "text": done.text}
            print(f"{name:75} {state:14} {done.steps:>9,} steps", flush=True)
    print(", ".join(f"{count} {state}" for state, count in states.most_common()))
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if any("unknown" in s or s == "crash" for s in states) else 0


if __name__ == "__main__":
    sys.exit(main())
