"""Passes on Triton's variables for looking inside the compiler: what they show is shown for ttc's passes.

``MLIR_ENABLE_DUMP`` prints the IR before every pass, of all kernels (``1``) or of one (its name);
``MLIR_ENABLE_TIMING`` prints how long each pass took.
"""

from __future__ import annotations

import os
import sys

_OFF = ("", "0", "off", "false", "n", "no")


def arguments(kernel: str) -> list[str]:
    """The options of ttc for what the environment asks for."""
    wanted = []
    dump = os.environ.get("MLIR_ENABLE_DUMP", "")
    if dump.lower() not in _OFF and (dump.lower() in ("1", "on", "true", "y", "yes") or dump == kernel):
        wanted.append("--print-ir-before")
    if os.environ.get("MLIR_ENABLE_TIMING", "").lower() not in _OFF:
        wanted.append("--time-passes")
    return wanted


def show(stderr: str) -> None:
    """Writes what a successful run printed to standard error. Its diagnostics, which are JSON, are left out."""
    text = "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith('{"code"'))
    if text.strip():
        sys.stderr.write(text)
