"""Reads what ``ttc --error-format json`` writes: one JSON object a line."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

OUT_OF_SHARED_MEMORY = "E0714"
# What ptxas refuses or cannot finish. A tool that is missing or too old says nothing about the kernel.
PTXAS_FAILURES = ("E0803", "E0804", "E0815")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One message of ttc."""

    code: str
    """``E0714``, or ``crash`` where ttc ended without a message that can be read."""
    message: str
    """The first line: what happened."""
    place: str = ""
    """``file:line``, or nothing."""
    help: str = ""
    """What to do, or nothing."""

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        if self.place:
            text += f" (at {self.place})"
        return text


def first_error(stderr: str, returncode: int) -> Diagnostic:
    """The first error of a failed run. Text that is no diagnostic is the end of a crash."""
    for line in stderr.splitlines():
        fields = _object(line)
        if fields is not None and fields.get("severity") == "error":
            return _diagnostic(fields)
    how = f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
    last = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "")
    return Diagnostic("crash", f"ttc ended with {how}" + (f": {last[:300]}" if last else ""))


def _object(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _diagnostic(fields: dict[str, Any]) -> Diagnostic:
    file, line = fields.get("file"), fields.get("line")
    message = str(fields.get("message") or "").split("\n", 1)[0]
    return Diagnostic(
        str(fields.get("code") or "error"), message, f"{file}:{line}" if file and line else "", fields.get("help") or ""
    )


def shared_memory(diagnostic: Diagnostic) -> tuple[int, int] | None:
    """What the kernel needs and what a block can have, in bytes, from the message of E0714."""
    numbers = re.search(r"needs (\d+) bytes of shared memory, .* can have (\d+)", diagnostic.message)
    return (int(numbers.group(1)), int(numbers.group(2))) if numbers else None
