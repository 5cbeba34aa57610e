"""Check that launches name the arguments of the kernels that they launch.

usage: check_launches.py LIST SRC LAUNCHES

LIST has a JSON object a kernel (id, repo, path, func, signature), and the file of a kernel lies in
SRC/<owner>+<name>/<path>, as for `build.py`.
LAUNCHES has a JSON object a launch, which `race.py` runs:

    id      the kernel
    grid    the number of programs along x, y and z
    values  by name, the value of every parameter that is a number and neither a constant nor part of the signature
    fill    by name, what a pointer points to: {"constant": c}, {"iota": true} (0, 1, 2, ...), {"steps": s}
            (0, s, 2s, ...), {"random": n} (integers from 0 to n - 1) or {"values": [...]} (these, then zeros);
            other pointers get random values of their type
    bytes   by name, the size of a pointer's buffer where 64 MiB are too few
    note    what the launch stands for

Prints one line a fault, and exits with 1 if there is one. Whether addresses stay within the buffers is not checked.
"""
import ast
import json
import re
import sys

USUAL_BYTES = 64 << 20
MOST_BYTES = 6 << 30
MOST_PROGRAMS = (2**31 - 1, 65535, 65535)
FILLS = {"constant": (int, float), "iota": bool, "steps": int, "random": int, "values": list}
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def parameter_names(row, src):
    """The names of the kernel's parameters. Of several with its name, the one nearest to the id's line counts."""
    with open(f"{src}/{row['repo'].replace('/', '+')}/{row['path']}", encoding="utf-8") as f:
        tree = ast.parse(f.read())
    # `@71.2` is the second launch of the kernel in line 71.
    line = int(row["id"].rpartition("@")[2].partition(".")[0])
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == row["func"]]
    a = min(found, key=lambda n: abs(n.lineno - line)).args
    return [p.arg for p in a.posonlyargs + a.args + a.kwonlyargs]


def number_faults(name, part, value):
    kind, _, hint = part.partition(":")
    if not isinstance(value, (int, float)):
        yield f"{name}: {value!r} is not a number"
    elif kind in BITS:
        if not isinstance(value, int):
            yield f"{name}: {value} is not an integer, but the parameter is {kind}"
        elif not -(1 << BITS[kind] - 1) <= value < 1 << max(BITS[kind] - 1, 1):
            yield f"{name}: {value} does not fit {kind}"
        elif hint == "16" and value % 16:
            yield f"{name}: {value} is not a multiple of 16"


def fill_faults(name, fill):
    if not isinstance(fill, dict) or len(fill) != 1:
        yield f"{name}: a fill has one key"
        return
    [(how, what)] = fill.items()
    if how not in FILLS:
        yield f"{name}: no fill is called {how!r}"
    elif not isinstance(what, FILLS[how]):
        yield f"{name}: {how!r} cannot be {what!r}"


def launch_faults(launch, row, src):
    names = parameter_names(row, src)
    if len(names) != len(row["signature"]):
        yield f"the kernel has {len(names)} parameters, and its signature {len(row['signature'])}"
        return
    parts = dict(zip(names, row["signature"]))
    kind = lambda name: f"the parameter is {parts[name]}" if name in parts else "no such parameter"
    pointers = {n for n, part in parts.items() if part.startswith("*")}
    numbers = {n for n, part in parts.items() if n not in pointers and re.fullmatch(r"(i|u|fp|bf|f)\d+(:16)?", part)}
    values, fills, sizes = (launch.get(k, {}) for k in ("values", "fill", "bytes"))
    for name in sorted(numbers - values.keys()):
        yield f"{name}: there is no value"
    for name, value in values.items():
        if name in numbers:
            yield from number_faults(name, parts[name], value)
        else:
            yield f"{name}: there is a value, but {kind(name)}"
    for name in sorted((fills.keys() | sizes.keys()) - pointers):
        yield f"{name}: there is a fill or a size, but {kind(name)}"
    for name, fill in fills.items():
        yield from fill_faults(name, fill)
    total = sum(sizes.get(n, USUAL_BYTES) for n in pointers)
    if total > MOST_BYTES:
        yield f"the buffers have {total} bytes, which is more than {MOST_BYTES}"
    grid = launch.get("grid", [])
    if len(grid) != 3 or not all(isinstance(n, int) and 0 < n <= most for n, most in zip(grid, MOST_PROGRAMS)):
        yield f"{grid} is not a grid"
    for key in sorted(launch.keys() - {"id", "grid", "values", "fill", "bytes", "note"}):
        yield f"{key}: no part of a launch has this name"


def main():
    kernels, src, launches = sys.argv[1:]
    rows, seen, faults = {}, set(), 0
    for row in read(kernels):
        rows.setdefault(row["id"], []).append(row)
    for launch in read(launches):
        identity = launch["id"]
        found = rows.get(identity, [])
        if len(found) != 1 or identity in seen:
            messages = ["is there twice" if identity in seen else f"the list has {len(found)} kernels with this id"]
        else:
            messages = list(launch_faults(launch, found[0], src))
        seen.add(identity)
        faults += len(messages)
        for message in messages:
            print(f"{identity}: {message}")
    print(f"{len(seen)} launches, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[2])
    main()
