"""Compare ttc with the reference compiler on modules that the reference made: text and TTIR passes, op for op.

usage: tables.py TTC DUMPS [--only TEXT] [--keep DIR] [--part K/N] [--no-passes]

DUMPS holds three files for each kernel, NAME_80.raw.ttir (before any pass), NAME_80.ttir and NAME_80.ttgir, where 80 is
the compute capability. `compare.py --dumps DIR` writes them. Counted are:

  parses        ttc reads and verifies the module
  fixed point   printed, read and printed again, it is the same text
  same module   the reference reads what ttc printed, and prints it as it prints its own text, locations included
  pipeline      ttc's TTIR passes on NAME.raw.ttir give NAME.ttir, op for op
  (pass)        one pass of ttc gives what that pass of the reference gives, each on what the reference's passes before
  it gave

Names of values and locations do not count for the last two. Every difference is printed (and kept with both sides under
--keep); exits with 1 if there is one.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

import modules

# Passes that no TTIR pipeline has, tried on its result.
EXTRA = ["sccp", "loop-invariant-code-motion", "triton-licm", "triton-loop-aware-cse"]


def pipeline(capability):
    """The TTIR passes of the reference in order."""
    descriptors = ["triton-rewrite-tensor-descriptor-to-pointer"] if capability < 90 else []
    rest = ["canonicalize", "triton-combine", "triton-reorder-broadcast", "cse", "symbol-dce", "triton-loop-unroll"]
    return ["inline", *descriptors, *rest]


class Table:
    def __init__(self, options):
        self.o = options
        self.done, self.good = collections.Counter(), collections.Counter()

    def ttc(self, *args, text=None):
        """Standard output of ttc; raises with what it says if it fails."""
        r = subprocess.run([self.o.ttc, *args], input=text, capture_output=True, text=True)
        if r.returncode:
            raise RuntimeError(f"ttc exits with {r.returncode}: {r.stderr.strip()[:600]}")
        return r.stdout

    def check(self, row, name, compare):
        """Counts one comparison, which returns a difference or raises."""
        self.done[row] += 1
        try:
            why = compare()
        except Exception as e:  # noqa: BLE001  the reference reports in many ways
            why = str(e) or repr(e)
        if why:
            print(f"FAIL {row}: {name}\n{why}", flush=True)
        else:
            self.good[row] += 1
        return not why

    def kept(self, name, row, want, got):
        why = modules.difference(want, got)
        if why and self.o.keep:
            os.makedirs(self.o.keep, exist_ok=True)
            for side, text in (("reference", want), ("ttc", got)):
                with open(f"{self.o.keep}/{name}.{row}.{side}.mlir", "w") as f:
                    f.write(text)
        return why

    def text(self, path):
        name, stage = os.path.basename(path), path.rsplit(".", 1)[1]
        with open(path) as f:
            own = f.read()
        printed = []
        if not self.check(f"{stage} parses", name, lambda: printed.append(self.ttc("opt", path, "--locations"))):
            return
        again = lambda: self.ttc("opt", "-", "--locations", text=printed[0])  # noqa: E731
        self.check(f"{stage} fixed point", name, lambda: "" if again() == printed[0] else "printing is not a fixed point")
        same = lambda: modules.reprint(printed[0]) == modules.reprint(own)  # noqa: E731
        self.check(f"{stage} same module", name, lambda: "" if same() else self.kept(name, "text", own, printed[0]) or "locations differ")

    def passes(self, base, capability):
        name = os.path.basename(base)
        with open(f"{base}.ttir") as f:
            want = f.read()
        ours = ["compile", f"{base}.raw.ttir", "--arch", f"sm_{capability}", "--emit", "ttir", "-o", "-"]
        self.check("pipeline", name, lambda: self.kept(name, "pipeline", want, self.ttc(*ours)))
        if self.o.no_passes:
            return
        with open(f"{base}.raw.ttir") as f:
            text = modules.reprint(f.read())
        for step in pipeline(capability):
            text = self.one(name, step, text)
        for step in EXTRA:
            self.one(name, step, text)

    def one(self, name, step, text):
        """Compares one pass; returns what the reference made."""
        want = modules.reprint(text, step)
        self.check(step, name, lambda: self.kept(name, step, want, self.ttc("opt", "-", f"--{step}", text=text)))
        return want


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("ttc"); ap.add_argument("dumps")
    ap.add_argument("--only", default=""); ap.add_argument("--keep"); ap.add_argument("--part", default="0/1"); ap.add_argument("--no-passes", action="store_true")
    table = Table(ap.parse_args())
    found = sorted(f[: -len(".raw.ttir")] for f in os.listdir(table.o.dumps) if f.endswith(".raw.ttir") and table.o.only in f)
    part, parts = map(int, table.o.part.split("/"))
    kernels = 0
    for name in found[part::parts]:
        base, capability = f"{table.o.dumps}/{name}", re.search(r"_(\d+)a?$", name)
        if not capability or not os.path.exists(f"{base}.ttir"):
            continue
        kernels += 1
        for stage in ("ttir", "ttgir"):
            if os.path.exists(f"{base}.{stage}"):
                table.text(f"{base}.{stage}")
        table.passes(base, int(capability[1]))
    print(f"\n{kernels} kernels")
    for row, n in table.done.items():
        print(f"  {row:46s} {table.good[row]} of {n}")
    return 1 if table.good != table.done or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
