"""What two compilers' assembly for AMD GPUs comes to: instructions, registers, shared memory, scratch.

Used by `real.py --code`. The numbers of a kernel are those that LLVM writes behind it (".vgpr_count:" and the others),
the dynamic shared memory that the compiler's metadata names, and the instructions of its text, without the padding
behind its end.
"""
import collections
import math
import re

NUMBERS = {
    "vgpr": r"^\s*\.vgpr_count:\s*(\d+)",
    "sgpr": r"^\s*\.sgpr_count:\s*(\d+)",
    "lds": r"^\s*\.group_segment_fixed_size:\s*(\d+)",
    "scratch": r"^\s*\.private_segment_fixed_size:\s*(\d+)",
}
NAMES = ("instructions", *NUMBERS)
# What a kernel that needs nothing of a kind counts as, so that a ratio exists: a granule of what hardware hands out.
FLOOR = {"instructions": 1, "vgpr": 8, "sgpr": 16, "lds": 512, "scratch": 16}


def of(assembly, shared):
    """The numbers of a kernel, and how often it has each instruction."""
    code = re.findall(r"^\s+([a-z][a-z0-9_]*)(?:\s|$)", assembly, flags=re.M)
    words = collections.Counter(word for word in code if re.match(r"(s|v|ds|buffer|global|flat|scratch)_", word) and word != "s_code_end")
    found = {name: int(m.group(1)) if (m := re.search(pattern, assembly, flags=re.M)) else 0 for name, pattern in NUMBERS.items()}
    found["lds"] += shared
    return {"instructions": sum(words.values()), **found}, words


def ratio(name, want, got):
    return max(got, FLOOR[name]) / max(want, FLOOR[name])


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def table(rows):
    """The lines of a table over (kernel, reference's numbers, ttc's numbers)."""
    yield f"{'':14} {'geo. mean':>10} {'less':>6} {'equal':>6} {'more':>6}  the most"
    for name in NAMES:
        ratios = [(ratio(name, want[name], got[name]), kernel) for kernel, want, got in rows]
        counts = [sum(1 for r, _ in ratios if test(r)) for test in (lambda r: r < 1, lambda r: r == 1, lambda r: r > 1)]
        worst, kernel = max(ratios, default=(float("nan"), ""))
        yield f"{name:14} {mean([r for r, _ in ratios]):10.3f} {counts[0]:6} {counts[1]:6} {counts[2]:6}  {worst:.2f} {kernel}"


def more(want, got, most=6):
    """Which instructions got has more of, and fewer, in words."""
    differ = sorted(((got[word] - want[word], word) for word in want | got if got[word] != want[word]), key=lambda d: -abs(d[0]))
    return ", ".join(f"{word} {'+' if n > 0 else ''}{n}" for n, word in differ[:most])
