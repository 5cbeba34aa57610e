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
        command = [ttc.path, "compile", str(source), "--arch", plan.arch, "--emit", ",".join(wanted)]
        command += ["--out-dir", str(out), "--error-format", "json", *plan.arguments]
        command += plan.launch if kind == "ttir" else ()
        command += debugging.arguments(name)
        environment = {**os.environ, **plan.environment}
        done = subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, check=False)
        stderr = done.stderr.decode("utf-8", "replace")
        if done.returncode != 0:
            return first_error(stderr, done.returncode)
        debugging.show(stderr)
        return _collect(out, wanted, plan)


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
