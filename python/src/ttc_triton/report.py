"""Counts which kernels ttc compiled and which Triton did, and why.

The counts are those of this process. ``TTC_TRITON_LOG`` names a file that gets one JSON object a kernel from every
process, so that Inductor's workers are counted too; `read_log` adds it up.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import threading
import warnings
from pathlib import Path
from typing import Any

TTC = "ttc"
TRITON = "triton"
OUT_OF_RESOURCES = "out of resources"
FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class Record:
    """What became of one kernel that was not in Triton's cache."""

    kernel: str
    arch: str
    outcome: str
    """``ttc``, ``triton``, ``out of resources`` or ``failed``."""
    reason: str = ""
    """A code of ttc or the name of an option; empty where ttc compiled the kernel."""
    message: str = ""
    """The reason in words."""
    seconds: float = 0.0
    """How long ttc worked, ptxas included."""
    pid: int = 0


@dataclasses.dataclass(frozen=True)
class Stats:
    """The kernels of a process or of a log, in the order in which they were compiled."""

    records: tuple[Record, ...]

    def by(self, outcome: str) -> list[Record]:
        """The kernels with one outcome."""
        return [record for record in self.records if record.outcome == outcome]

    @property
    def compiled(self) -> int:
        """How many kernels ttc compiled."""
        return len(self.by(TTC))

    @property
    def fallbacks(self) -> dict[str, list[str]]:
        """Names of the kernels that Triton compiled, by reason."""
        reasons: dict[str, list[str]] = {}
        for record in self.by(TRITON):
            reasons.setdefault(record.reason, []).append(record.kernel)
        return dict(sorted(reasons.items()))

    @property
    def seconds(self) -> float:
        """How long ttc worked in all."""
        return sum(record.seconds for record in self.records)

    def __str__(self) -> str:
        """A line for the kernels of ttc, and one for each reason why others are not among them."""
        lines = [f"{self.compiled} kernels compiled by ttc in {self.seconds:.2f} s"]
        for outcome, words in ((TRITON, "compiled by Triton"), (OUT_OF_RESOURCES, "too big"), (FAILED, "not compiled")):
            found = self.by(outcome)
            for reason, count in sorted(collections.Counter(record.reason for record in found).items()):
                message = next(record.message for record in found if record.reason == reason)
                lines.append(f"{count} {words}, {reason}: {message.removeprefix(f'{reason}: ')}")
        return "\n".join(lines)


_lock = threading.Lock()
_records: list[Record] = []


def add(record: Record) -> None:
    """Counts a kernel, here and in the log."""
    record = dataclasses.replace(record, pid=os.getpid())
    with _lock:
        _records.append(record)
    log = os.environ.get("TTC_TRITON_LOG")
    if log:
        try:
            _append(log, json.dumps(dataclasses.asdict(record)) + "\n")
        except OSError as error:
            warnings.warn(f"TTC_TRITON_LOG cannot be written: {error}", RuntimeWarning, stacklevel=2)


def _append(path: str, line: str) -> None:
    """A single write of a line to a file opened for appending does not mix with those of other processes."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, line.encode("utf-8"))
    finally:
        os.close(file)


def stats() -> Stats:
    """The kernels of this process that were compiled since the start or the last `reset_stats`."""
    with _lock:
        return Stats(tuple(_records))


def reset_stats() -> None:
    """Forgets the kernels counted so far."""
    with _lock:
        _records.clear()


def read_log(path: str | os.PathLike[str]) -> Stats:
    """The kernels of all processes that wrote to ``TTC_TRITON_LOG``."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    fields: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return Stats(tuple(Record(**entry) for entry in fields))
