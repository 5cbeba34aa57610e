"""Writes the PTX programs whose results are recorded on a GPU, and what they are launched with.

usage: generate.py --ptx DIR [--cubins DIR [--ptxas PATH]]

DIR gets a few PTX modules, each with many entries, one an instruction form. Each thread of an entry loads its operands
from buffers, runs the instruction, and stores the result. `--cubins` gets what the GPU machine needs: the modules
assembled for sm_90a, and `forms.txt`, which lists for each entry its module, its launch and the pools of operands, and
then the pools. Forms that ptxas refuses end the run: the list must be right.
"""
import argparse
import base64
import os
import shutil
import subprocess
import sys

import pools
import scalar
import tensor
import tiles

HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"
# The shared memory of a module's entries.
SHARED = {
    "scalar": ".shared .align 8 .b8 own[1024];\n", "mma": "", "matrix": ".shared .align 1024 .b8 mem[4096];\n",
    "wgmma": ".shared .align 1024 .b8 mem[49152];\n", "tiles": f".shared .align 1024 .b8 mem[{tiles.SHARED}];\n.shared .align 8 .b8 bar[8];\n",
}


# Of several instructions in a form, the one that the form is about.
SUBJECTS = ("atom.", "match.", "vote.", "redux.", "shfl.", "addc", "subc", "madc")


def name_of(text, taken):
    """A name for an entry: the opcode, numbered where it has been seen."""
    opcodes = [word.rstrip(";") for word in text.split() if word[0].isalpha()]
    opcode = next((w for w in opcodes if w.startswith(SUBJECTS)), opcodes[0])
    base = "".join(c if c.isalnum() else "_" for c in opcode)
    name, n = base, 1
    while name in taken:
        n += 1
        name = f"{base}_{n}"
    taken.add(name)
    return name


def scalar_entry(name, text, result, operands):
    """One instruction, a thread each."""
    lines = [f"// {text}", f".visible .entry {name}(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc)", "{",
             f"    .reg .pred %p, %q, %r; .reg .b32 %i, %n, %m; .reg .b64 %x, %y; .reg .b{result} %d, %t;",
             "    mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %m, %ctaid.x; mad.lo.s32 %i, %m, %n, %i;"]
    for letter, pool in zip("abc", operands):
        bits = scalar.width(pool)
        lines.append(f"    .reg .b{bits} %{letter}; ld.param.u64 %x, [p{letter}]; mul.wide.u32 %y, %i, {bits // 8}; add.s64 %x, %x, %y; "
                     f"ld.global.b{bits} %{letter}, [%x];")
    for bits in (32, 64):
        if f"%u{bits}" in text:
            lines.append(f"    .reg .b{bits} %u{bits}; not.b{bits} %u{bits}, %a; brev.b{bits} %u{bits}, %u{bits};")
    lines += [f"    {text}", f"    ld.param.u64 %x, [out]; mul.wide.u32 %y, %i, {result // 8}; add.s64 %x, %x, %y; st.global.b{result} [%x], %d;",
              "    ret;", "}"]
    return "\n".join(lines).replace("ENTRY", name) + "\n"


def modules():
    """Yields (module, text, forms); a form is (entry, grid, block, bytes of the result, pools, tensor map or none)."""
    taken = set()
    forms, text = [], [HEADER + SHARED["scalar"]]
    for instruction, result, operands in scalar.build():
        name = name_of(instruction, taken)
        text.append(scalar_entry(name, instruction, result, operands))
        forms.append((name, pools.THREADS // 96, 96, pools.THREADS * result // 8, operands, ()))
    yield "scalar", "\n".join(text), forms
    for module, entries in tensor.build() + tiles.build():
        forms, text = [], [HEADER + SHARED[module]]
        for instruction, body, grid, block, size, operands, *tensor_map in entries:
            name = name_of(instruction, taken)
            text.append(body.replace("ENTRY", name))
            forms.append((name, grid, block, size, operands, tensor_map))
        yield module, "\n".join(text), forms


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--ptx", required=True)
    ap.add_argument("--cubins")
    ap.add_argument("--ptxas", default=os.environ.get("TTC_PTXAS", "ptxas"))
    o = ap.parse_args()
    os.makedirs(o.ptx, exist_ok=True)
    if o.cubins:
        os.makedirs(o.cubins, exist_ok=True)
    manifest, used, results = [], {}, 0
    for module, text, forms in modules():
        path = f"{o.ptx}/{module}.ptx"
        with open(path, "w") as f:
            f.write(text)
        if o.cubins and subprocess.run([o.ptxas, "-arch=sm_90a", path, "-o", f"{o.cubins}/{module}.cubin"]).returncode:
            sys.exit(f"{path}: ptxas refuses it")
        for name, grid, block, size, operands, tensor_map in forms:
            manifest.append(" ".join(["form", module, name, str(grid), str(block), str(size), *operands, *(f"map={m}" for m in tensor_map)]))
            used.update(dict.fromkeys(operands))
        results += sum(grid * block for _, grid, block, *_ in forms)
    manifest += [f"pool {p} {base64.b64encode(pools.build(p)).decode()}" for p in used]
    print(f"{sum(m.startswith('form') for m in manifest)} forms, {results} threads with results, {len(used)} pools")
    if o.cubins:
        with open(f"{o.cubins}/forms.txt", "w") as f:
            f.write("\n".join(manifest) + "\n")
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "record.py"), o.cubins)


if __name__ == "__main__":
    main()
