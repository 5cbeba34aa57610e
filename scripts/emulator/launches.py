"""Launch files for `ttc emulate`, from numpy arrays and numbers; and the results of a run as arrays again."""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

LANDINGS = ("late", "early", "random")


@dataclass
class Empty:
    """A buffer that nobody has written."""

    shape: tuple
    dtype: type

    @property
    def nbytes(self):
        return int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize


@dataclass
class Repeated:
    """A large buffer: the bytes of an array again and again."""

    values: np.ndarray
    nbytes: int


@dataclass
class Run:
    """One schedule: whether it went well, what was said, and what the buffers hold."""

    schedule: str
    ok: bool
    text: str
    steps: int = 0
    results: dict = field(default_factory=dict)

    def codes(self):
        return re.findall(r"\b(?:error|warning)\[?:?\s*(E\d{4})|\b(E12\d\d)\b", self.text)


def entry(ptx):
    """The name of the only entry, and the types of its parameters."""
    found = re.search(r"\.entry\s+([\w$]+)\s*\((.*?)\)", ptx, re.S)
    types = re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)", found[2])
    return found[1], types


def number(ty, value):
    """A number as an argument of a PTX type; `bf16` and `fp16` are types of the kernel's source."""
    if ty == "bf16":
        return {"bytes": list(to_bf16(np.array([value], np.float32)).tobytes())}
    for bits, kind in ((16, np.float16), (32, np.float32), (64, np.float64)):
        if ty in (f"f{bits}", f"fp{bits}"):
            # JSON has no infinity.
            by_bytes = bits == 16 or not np.isfinite(value)
            return {"bytes": list(kind(value).tobytes())} if by_bytes else {f"f{bits}": float(value)}
    bits = 8 if ty in ("i1", "u1") else int(ty.lstrip("iub"))
    return {"bytes": list((int(value) & ((1 << bits) - 1)).to_bytes(bits // 8, "little"))}


def write(folder, ptx, grid, block, shared, arguments, cluster=(1, 1, 1)):
    """Writes the launch of the only entry of a PTX text. An argument is an array, `Empty`, `Repeated`, a tuple of a
    type and a number, or a form of the launch file. Parameters behind the last argument are pointers that stay null."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name, types = entry(ptx)
    buffers, given = [], []
    for i, a in enumerate(arguments):
        if isinstance(a, tuple):
            given.append(number(*a))
            continue
        if isinstance(a, dict):
            given.append(a)
            continue
        buffer = {"name": f"b{i}"}
        if isinstance(a, Empty):
            buffer["bytes"] = a.nbytes
        else:
            values = a.values if isinstance(a, Repeated) else a
            (folder / f"b{i}.bin").write_bytes(np.ascontiguousarray(values).tobytes())
            if isinstance(a, Repeated):
                buffer["repeated"] = {"file": f"b{i}.bin", "bytes": a.nbytes}
            else:
                buffer["file"] = f"b{i}.bin"
        buffers.append(buffer)
        given.append({"buffer": f"b{i}"})
    given += [number(ty, 0) for ty in types[len(given) :]]
    launch = {
        "kernel": name,
        "grid": (list(grid) + [1, 1])[:3],
        "block": [block, 1, 1],
        "cluster": list(cluster),
        "shared": shared,
        "buffers": buffers,
        "arguments": given,
    }
    (folder / "kernel.ptx").write_text(ptx)
    (folder / "launch.json").write_text(json.dumps(launch))


def run(ttc, folder, arguments, schedules, seconds=600, options=()):
    """Runs a folder that `write` made in some schedules. The results are those of the arguments that are `Empty`."""
    folder = Path(folder)
    for n in range(schedules):
        landing = LANDINGS[n % 3]
        command = [ttc, "emulate", folder / "kernel.ptx", "--launch", folder / "launch.json", "--seed", str(n), "--landing", landing]
        outs = {i: folder / f"after{i}.bin" for i, a in enumerate(arguments) if isinstance(a, Empty)}
        for i, path in outs.items():
            command += ["--out", f"b{i}={path}"]
        schedule = f"seed {n}, {landing}"
        try:
            done = subprocess.run([*map(str, command), *options], capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            yield Run(schedule, False, f"takes more than {seconds} s")
            continue
        text = done.stdout + done.stderr
        steps = re.search(r": (\d+) steps", text)
        result = Run(schedule, done.returncode == 0, text, int(steps[1]) if steps else 0)
        if done.returncode < 0 or done.returncode > 1:
            result.text += f"\nttc ended with {done.returncode}"
        if result.ok:
            for i, path in outs.items():
                result.results[i] = np.fromfile(path, arguments[i].dtype).reshape(arguments[i].shape)
        yield result


def to_bf16(x):
    """The bits of bf16, rounded to the nearest, of an array of f32."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return rounded.astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)
