"""What holds from one `enable` to the next: the program, what to do where it refuses, and the key for caches."""

from __future__ import annotations

import dataclasses
import hashlib
import os

from . import binary
from ._version import __version__
from .binary import Ttc


@dataclasses.dataclass(frozen=True)
class Session:
    """One setting of this package."""

    ttc: Ttc
    fallback: bool
    """Whether Triton compiles what ttc cannot."""
    ptxas: str | None
    """``TTC_PTXAS``, or nothing: then Triton's own ptxas counts."""
    key: str
    """A digest of all that changes what is compiled: it goes into the keys of Triton's and PyTorch's caches."""


def start(ttc: str | os.PathLike[str] | None, fallback: bool) -> Session:
    """Finds ttc and computes the key. Raises `ttc_triton.TtcNotFound`."""
    found = binary.find(ttc)
    ptxas = os.environ.get("TTC_PTXAS") or None
    parts = [__version__, found.version, found.digest, "fallback" if fallback else "strict", _identity(ptxas)]
    return Session(found, fallback, ptxas, hashlib.sha256("\n".join(parts).encode()).hexdigest())


def _identity(ptxas: str | None) -> str:
    """Path, size and time of a tool. Triton's own ptxas is in Triton's keys already."""
    if ptxas is None:
        return ""
    try:
        stat = os.stat(ptxas)
    except OSError:
        return ptxas
    return f"{ptxas} {stat.st_size} {stat.st_mtime_ns}"
