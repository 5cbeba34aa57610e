"""Tables of what `build.py` and `race.py` measured: compile times, registers and spills, and speed by family of
kernels.

usage: report.py [--build RESULTS.jsonl ...] [--race RACE.json] [--least US]

RESULTS.jsonl are files that `build.py` wrote, RACE.json is what `race.py --json` wrote. A *ratio* of speed is
Triton's time by ttc's, one of compile time ttc's by Triton's. Families are chosen by words in the name of the kernel,
the first that fits.
"""

import argparse
import json
import math
import statistics

FAMILIES = [
    ("attention", ("attn", "attention", "flash", "mla", "paged", "decode", "prefill", "mqa")),
    ("products", ("gemm", "matmul", "mm_", "_mm", "bmm", "linear", "dot", "mv_", "wave", "mac_loop", "bgmv")),
    (
        "MoE, routing, sorting, histograms",
        ("moe", "routing", "sort", "hist", "topk", "expt", "align", "unique", "scatter", "radix"),
    ),
    ("norms", ("norm", "rms")),
    ("losses and softmax", ("softmax", "loss", "entropy", "celoss", "kldiv", "logsumexp", "jsd")),
    ("rotary embeddings", ("rope", "rotary", "rotate")),
    ("quantization", ("quant", "fp8", "fp4", "int8", "mx")),
    ("convolutions and images", ("conv", "upsample", "interpolate", "pool", "winograd")),
    (
        "scans, chunks and recurrences",
        ("scan", "cumsum", "chunk", "recurrent", "state", "gla", "delta", "rwkv", "ssm", "mamba", "segsum", "wy"),
    ),
    ("reductions", ("sum", "mean", "max", "min", "prod", "reduce", "std", "var", "any", "all", "count")),
]


def family(case):
    name = case.split("__", 1)[-1].lower()
    return next((title for title, words in FAMILIES if any(w in name for w in words)), "elementwise and others")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def quantiles(values):
    values = sorted(values)
    at = lambda q: values[min(len(values) - 1, int(q * len(values)))]
    return at(0.1), at(0.5), at(0.9), at(0.99), values[-1]


def build_tables(paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            rows += map(json.loads, f)
    both = [r for r in rows if "triton" in r and "error" not in r["triton"] and "error" not in r["ttc"]]
    print(f"{len(rows)} kernels, {len(both)} compile with both")
    ratios = [r["ttc"]["seconds"] / r["triton"]["seconds"] for r in both]
    print(
        "whole process by Triton's warm time: "
        + ", ".join(
            f"{name} {value:.3f}"
            for name, value in zip(("10 %", "median", "90 %", "99 %", "largest"), quantiles(ratios))
        )
    )
    own = sum(sum(s for stage, s in r["ttc"]["stages"].items() if stage != "ptxas") for r in both)
    triton = sum(r["triton"]["seconds"] for r in both)
    print(
        f"our own stages {own:.1f} s of Triton's {triton:.1f} s: {own / triton:.3f}; {sum(r > 1 for r in ratios)} of {len(ratios)} above 1"
    )
    for r in sorted(both, key=lambda r: -r["ttc"]["seconds"] / r["triton"]["seconds"])[:12]:
        stages = r["ttc"]["stages"]
        print(
            f"  {r['ttc']['seconds'] / r['triton']['seconds']:.2f} {r['case'][:70]} {r['ttc']['seconds']:.2f} s, ptxas {stages.get('ptxas', 0):.2f} s"
        )
    spilled = lambda r: r["triton"]["spill_stores"] + r["triton"]["spill_loads"]
    ours, theirs = [r for r in both if r["ttc"]["spills"]], [r for r in both if spilled(r)]
    print(
        f"spills: ttc {len(ours)} kernels, Triton {len(theirs)}; only ttc {sum(not spilled(r) for r in ours)}, only Triton "
        f"{sum(not r['ttc']['spills'] for r in theirs)}; more bytes than Triton {sum(r['ttc']['spills'] > spilled(r) for r in both)}, "
        f"fewer {sum(r['ttc']['spills'] < spilled(r) for r in both)}"
    )
    for r in ours:
        if not spilled(r):
            print(f"  only ttc: {r['case'][:70]} {r['ttc']['spills']} bytes")


def race_table(path, least):
    with open(path, encoding="utf-8") as f:
        cases = [json.loads(line) for line in f]
    timed = [(case, r["us"][1] / r["us"][0]) for case, r in cases if "us" in r and max(r["us"][:2]) > least]
    groups = {}
    for case, ratio in timed:
        groups.setdefault(family(case), []).append(ratio)
    print(
        "| family | kernels | geometric mean | below 0.95 | above 1.05 | least | largest |\n|---|---|---|---|---|---|---|"
    )
    for title, ratios in sorted(groups.items(), key=lambda g: -len(g[1])) + [("all", [ratio for _, ratio in timed])]:
        print(
            f"| {title} | {len(ratios)} | {geometric_mean(ratios):.3f} | {sum(r < 0.95 for r in ratios)} | {sum(r > 1.05 for r in ratios)} "
            f"| {min(ratios):.3f} | {max(ratios):.3f} |"
        )
    print(f"median {statistics.median(ratio for _, ratio in timed):.3f}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", nargs="*", default=[])
    p.add_argument("--race")
    p.add_argument("--least", type=float, default=4)
    options = p.parse_args()
    if options.build:
        build_tables(options.build)
    if options.race:
        race_table(options.race, options.least)


main()
