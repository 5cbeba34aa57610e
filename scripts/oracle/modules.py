"""Modules of the reference compiler as text: parsing and printing them, single passes, comparing two of them op for op.

Everything runs in this process, so that thousands of modules take minutes. Needs Triton 3.9 (`make oracle` installs
it), no GPU.
"""
import difflib
import os
import re
import tempfile

from triton._C import libtriton

# Options of `ttc compile` with which it schedules loops as the reference does.
TRITONS_SCHEDULES = ["--tma", "off", "--pipeline", "no-refill,all-stages,one-step,one-program,one-version"]

# Pass names of ours, and the reference's functions that add them.
PASSES = {
    "inline": ("common", "add_inliner"),
    "canonicalize": ("common", "add_canonicalizer"),
    "cse": ("common", "add_cse"),
    "sccp": ("common", "add_sccp"),
    "symbol-dce": ("common", "add_symbol_dce"),
    "loop-invariant-code-motion": ("common", "add_licm"),
    "triton-rewrite-tensor-descriptor-to-pointer": ("ttir", "add_rewrite_tensor_descriptor_to_pointer"),
    "triton-combine": ("ttir", "add_combine"),
    "triton-reorder-broadcast": ("ttir", "add_reorder_broadcast"),
    "triton-loop-unroll": ("ttir", "add_loop_unroll"),
    "triton-loop-aware-cse": ("ttir", "add_loop_aware_cse"),
    "triton-licm": ("ttir", "add_triton_licm"),
}

_context = libtriton.ir.context()
libtriton.ir.load_dialects(_context)
libtriton.nvidia.load_dialects(_context)
libtriton.amd.load_dialects(_context)
_scratch = os.path.join(tempfile.mkdtemp(), "module.mlir")


def reprint(text, *passes):
    """What the reference prints after reading a module and running passes. The text is always read under the same name,
    so that locations agree."""
    with open(_scratch, "w") as f:
        f.write(text)
    module = libtriton.ir.parse_mlir_module(_scratch, _context)
    module.context = _context
    if passes:
        manager = libtriton.ir.pass_manager(_context)
        for name in passes:
            group, add = PASSES[name]
            getattr(getattr(libtriton.passes, group), add)(manager)
        manager.run(module, "compare")
    return str(module)


def without_locations(text):
    lines = []
    for line in text.splitlines():
        if not line.strip() or re.match(r"#loc\d* = ", line):
            continue
        lines.append(_strip(re.sub(r" loc\(#loc\d*\)", "", line)))
    return "\n".join(lines)


def _strip(line):
    while (at := line.find(" loc(")) >= 0:
        depth, end, quoted = 0, at + 4, False
        while True:
            c = line[end]
            quoted ^= c == '"'
            depth += 0 if quoted else {"(": 1, ")": -1}.get(c, 0)
            end += 1
            if depth == 0:
                break
        line = line[:at] + line[end:]
    return line.rstrip()


def operations(text):
    """A module as the reference prints it without locations: values and aliases are named by their order, so only
    operations, types and attributes count."""
    return without_locations(reprint(without_locations(text)))


def difference(want, got, lines=40):
    """How two modules differ op for op; empty if they do not."""
    want, got = without_locations(want), without_locations(got)
    if want == got:
        return ""
    want, got = operations(want).splitlines(), operations(got).splitlines()
    return "\n".join(list(difflib.unified_diff(want, got, "reference", "ttc", lineterm="", n=1))[:lines])
