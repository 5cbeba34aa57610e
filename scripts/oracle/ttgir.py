"""Compare ttc's TTGIR with the reference compiler's on modules that the reference made: conversions of layouts, and
bytes of shared memory.

usage: ttgir.py TTC DUMPS [--only TEXT] [--keep DIR] [--part K/N] [--num-stages N]

DUMPS holds NAME_80.ttir and NAME_80.ttgir, where 80 is the compute capability (`compare.py --dumps DIR` writes them).
ttc makes TTGIR of the TTIR, with the number of warps that the reference's TTGIR states. Counted are:

  same          both are the same, op for op
  conversions   ttc's has no more `ttg.convert_layout` than the reference's
  one more      ttc's has at most one more
  shared        ttc needs no more shared memory, each by its own allocation

Every kernel that misses one is printed with both numbers; exits with 1 if one has more than one conversion above the
reference's.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

import modules
from triton._C import libtriton


def ttc(program, *args):
    r = subprocess.run([program, *args], capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(f"ttc exits with {r.returncode}: {r.stderr.strip()[:300]}")
    return r.stdout


def reference_shared(path, capability):
    """Bytes of shared memory after the reference's allocation."""
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    libtriton.nvidia.load_dialects(context)
    module = libtriton.ir.parse_mlir_module(path, context)
    module.context = context
    manager = libtriton.ir.pass_manager(context)
    libtriton.passes.ttgpuir.add_combine_tensor_select_and_if(manager)
    libtriton.passes.ttgpuir.add_allocate_warp_groups(manager, False)
    libtriton.passes.convert.add_scf_to_cf(manager)
    libtriton.nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, capability, 87)
    manager.run(module, "shared")
    return module.get_int_attr("ttg.shared")


def own_shared(program, path, capability):
    text = ttc(program, "opt", path, f"--allocate-shared-memory-nv=compute-capability={capability}")
    found = re.search(r"ttg\.shared = (\d+)", text)
    return int(found[1]) if found else 0


def conversions(text):
    return text.count("ttg.convert_layout")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ttc")
    p.add_argument("dumps")
    p.add_argument("--only", default="")
    p.add_argument("--keep", default="ttgir-kept")
    p.add_argument("--part", default="0/1")
    p.add_argument("--num-stages", default="3")
    o = p.parse_args()
    os.makedirs(o.keep, exist_ok=True)
    part, parts = map(int, o.part.split("/"))
    names = sorted(f[:-5] for f in os.listdir(o.dumps) if re.search(r"_(80|90)\.ttir$", f) and not f.endswith(".raw.ttir") and o.only in f)
    count, worst = collections.Counter(), 0
    for name in names[part::parts]:
        capability = int(name.rsplit("_", 1)[1])
        path = f"{o.dumps}/{name}.ttgir"
        want = open(path).read()
        warps = re.search(r'"ttg.num-warps" = (\d+)', want)[1]
        own = f"{o.keep}/{name}.ttgir"
        count["kernels"] += 1
        try:
            arch = "sm_90a" if capability == 90 else f"sm_{capability}"
            ttc(o.ttc, f"{o.dumps}/{name}.ttir", "--emit", "ttgir", "-o", own, "--arch", arch, "--num-warps", warps, "--num-stages", o.num_stages, *modules.TRITONS_SCHEDULES)
            got = open(own).read()
            shared = own_shared(o.ttc, own, capability), reference_shared(path, capability)
        except RuntimeError as e:
            print(f"FAIL {name}: {e}", flush=True)
            worst = 99
            continue
        more = conversions(got) - conversions(want)
        rows = {"same": not modules.difference(want, got), "conversions": more <= 0, "one more": more <= 1, "shared": shared[0] <= shared[1]}
        count.update(row for row, good in rows.items() if good)
        worst = max(worst, more)
        if not all(rows[r] for r in ("conversions", "shared")):
            print(f"{name}: conversions {conversions(got)} and {conversions(want)}, shared bytes {shared[0]} and {shared[1]}", flush=True)
    for row in ("kernels", "same", "conversions", "one more", "shared"):
        print(f"{row:12} {count[row]}")
    sys.exit(worst > 1)


if __name__ == "__main__":
    main()
