"""Runs ttc once: text of a stage in, the stages below it and the launch metadata out."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import debugging
from .binary import Ttc
from .diagnostics import Diagnostic, first_error
from .options import Plan

STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin")
LONGEST_NAME = 240
"""Bytes of a kernel's name that leave room for an extension in the 255 of a file's name."""


@dataclasses.dataclass(frozen=True)
class Made:
    """What ttc made of a kernel."""

    stages: dict[str, str | bytes]
    """By extension: text, and bytes of the cubin."""
    metadata: dict[str, Any]
    """ttc's JSON file."""


def run(ttc: Ttc, plan: Plan, text: str, kind: str, name: str) -> Made | Diagnostic:
    """Compiles ``text``, which is of stage ``kind``, down to the last stage of ``plan``.

    The files lie in a folder of their own that is deleted afterwards, so that any number of threads and processes may
    do this at once.
    """
    try:
        return _run(ttc, plan, text, kind, name)
    except OSError as error:
        return Diagnostic("system", f"ttc could not be run: {error}")


def _run(ttc: Ttc, plan: Plan, text: str, kind: str, name: str) -> Made | Diagnostic:
    wanted = STAGES[STAGES.index(kind) + 1 :]
    with tempfile.TemporaryDirectory(prefix="ttc-triton-") as folder:
        source = Path(folder, f"kernel.{kind}")
        source.write_text(text, encoding="utf-8")
        out = Path(folder, "out")
        out.mkdir()
        environment = {**os.environ, **plan.environment}
        for options in _steps(source, out, wanted, name):
            command = [ttc.path, "compile", *options, "--arch", plan.arch, "--error-format", "json", *plan.arguments]
            command += plan.launch if options[0].endswith(".ttir") else ()
            command += debugging.arguments(name)
            done = subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, check=False)
            stderr = done.stderr.decode("utf-8", "replace")
            if done.returncode != 0:
                return first_error(stderr, done.returncode)
            debugging.show(stderr)
        return _collect(out, wanted, plan)


def _steps(source: Path, out: Path, wanted: Sequence[str], name: str) -> list[list[str]]:
    """What to read and what to write, for each run of ttc: one run, unless the kernel's name is no name for a file.

    ttc names several outputs after the kernel. Where that name is too long, each stage is made from the one above it,
    in a file of a name of its own.
    """
    if len(name.encode("utf-8")) <= LONGEST_NAME:
        return [[str(source), "--emit", ",".join(wanted), "--out-dir", str(out)]]
    files = [source, *(out / f"kernel.{kind}" for kind in wanted)]
    return [[str(above), "-o", str(below)] for above, below in zip(files, files[1:])]


def _collect(out: Path, wanted: Sequence[str], plan: Plan) -> Made | Diagnostic:
    stages: dict[str, str | bytes] = {}
    metadata: dict[str, Any] = {}
    for kind in (*wanted, "json"):
        files = [file for file in out.iterdir() if file.suffix == f".{kind}"]
        if len(files) != 1:
            return Diagnostic("crash", f"ttc wrote {len(files)} files of the kind {kind} instead of one")
        content = files[0].read_bytes()
        if kind == "json":
            metadata = json.loads(content)
        else:
            stages[kind] = content if kind == "cubin" else content.decode("utf-8")
    if plan.triton_assembles:
        # The metadata comes with a cubin only, so that one was asked for.
        del stages["cubin"]
    return Made(stages, metadata)
