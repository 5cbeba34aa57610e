"""Assembles planted faults for a GPU of sm_90, beside the script that runs them.

usage: assemble.py FAULTS OUT [--count N] [--ptxas PATH] [--only TEXT]

FAULTS is what `make gpu-faults` wrote: a folder a kernel, with `launch.json`, `faults.jsonl` and a text for each fault.
OUT gets the cubins, the buffers, `faults.json` with what the emulator says, and `run.py`. At most N faults are taken,
of all kinds and kernels in turn; each kernel that has one is there without a fault too.
"""
import argparse
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# The faults of a kind that do not matter.
HARMLESS = 2


def read(folder, only):
    """The kernels by name, and the texts of each."""
    kernels, texts = {}, []
    for path in sorted(glob.glob(f"{folder}/*/faults.jsonl")):
        directory = os.path.dirname(path)
        name = os.path.basename(directory)
        if only not in name:
            continue
        with open(f"{directory}/launch.json") as f:
            kernels[name] = json.load(f)
        with open(path) as f:
            texts += [{**json.loads(line), "kernel": name} for line in f]
    return kernels, texts


def choose(texts, count):
    """Faults of all kinds in turn, and for each kind of all kernels in turn."""
    kinds = collections.defaultdict(lambda: collections.defaultdict(list))
    for text in texts:
        if text["fault"]:
            kinds[text["fault"]][text["kernel"]].append(text)
    chosen, taken, harmless = [], collections.Counter(), collections.Counter()
    while len(chosen) < count and kinds:
        for kind in sorted(kinds):
            if len(chosen) == count:
                break
            kernels = kinds[kind]
            # The kernel of which the fewest faults are taken gives the next one.
            name = min(kernels, key=lambda k: (taken[kind, k], taken[k], k))
            text = kernels[name].pop(0)
            if not kernels[name]:
                del kernels[name]
            if not text["broken"]:
                harmless[kind] += 1
                if harmless[kind] > HARMLESS:
                    continue
            chosen.append(text)
            taken.update([name, (kind, name)])
        kinds = {k: v for k, v in kinds.items() if v}
    used = {t["kernel"] for t in chosen}
    return [t for t in texts if not t["fault"] and t["kernel"] in used] + sorted(chosen, key=lambda t: (t["fault"], t["kernel"], t["line"]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("faults")
    ap.add_argument("out")
    ap.add_argument("--count", type=int, default=130)
    ap.add_argument("--only", default="")
    ap.add_argument("--ptxas", default=os.environ.get("TTC_PTXAS", "ptxas"))
    o = ap.parse_args()
    kernels, texts = read(o.faults, o.only)
    texts = choose(texts, o.count)
    shutil.rmtree(o.out, ignore_errors=True)
    os.makedirs(f"{o.out}/cubins")

    def assemble(numbered):
        number, text = numbered
        text["cubin"] = f"cubins/{number}.cubin"
        # With a line table reports name lines of the source.
        command = [o.ptxas, "-arch=sm_90a", "-lineinfo", f"{o.faults}/{text['kernel']}/{text['ptx']}", "-o", f"{o.out}/{text['cubin']}"]
        return subprocess.run(command, capture_output=True, text=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for text, done in zip(texts, pool.map(assemble, enumerate(texts))):
            if done.returncode:
                sys.exit(f"{text['kernel']}/{text['ptx']}: {done.stderr}")
    used = {t["kernel"] for t in texts}
    for name in used:
        for buffer in kernels[name]["buffers"]:
            if "file" in buffer:
                os.makedirs(f"{o.out}/{name}", exist_ok=True)
                shutil.copy(f"{o.faults}/{name}/{buffer['file']}", f"{o.out}/{name}")
    with open(f"{o.out}/faults.json", "w") as f:
        json.dump({"kernels": {k: v for k, v in kernels.items() if k in used}, "texts": texts}, f, indent=1)
    shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py"), o.out)
    print(f"{len(texts) - len(used)} faults of {len({t['fault'] for t in texts}) - 1} kinds in {len(used)} kernels")


if __name__ == "__main__":
    main()
