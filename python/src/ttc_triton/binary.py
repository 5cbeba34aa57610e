"""Finds the program ``ttc`` and says which one it is.

The order is: the argument of `ttc_triton.enable`, the variable ``TTC``, ``PATH``, and the folder of this package.
A path that was given is never replaced by another.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from .errors import TtcNotFound


@dataclasses.dataclass(frozen=True)
class Ttc:
    """A ``ttc`` that was found and started once."""

    path: str
    """Its absolute path."""
    version: str
    """What ``ttc --version`` prints: ``ttc 0.1.0 (LLVM 22.1.8)``."""
    digest: str
    """SHA-256 of the file, in hexadecimal."""


def find(given: str | os.PathLike[str] | None = None) -> Ttc:
    """The ``ttc`` to use. Raises `TtcNotFound`, which says where it was looked for."""
    return load(_path(given))


def _path(given: str | os.PathLike[str] | None) -> str:
    named = os.fspath(given) if given is not None else os.environ.get("TTC")
    if named:
        source = "the argument of enable()" if given is not None else "the variable TTC"
        found = shutil.which(os.path.expanduser(named))
        if found is None:
            raise TtcNotFound(f"{source} names {named!r}, which is no program that can be run")
        return os.path.abspath(found)
    beside = Path(__file__).parent / "bin" / "ttc"
    found = shutil.which("ttc") or shutil.which(str(beside))
    if found is None:
        raise TtcNotFound(
            "ttc was not found. Give its path as `enable(ttc=...)` or in the variable TTC, or put it on PATH. "
            f"It was also looked for at {beside}."
        )
    return os.path.abspath(found)


def load(path: str) -> Ttc:
    """Starts ``path`` for its version and reads it for its digest. The answer is kept as long as the file stays."""
    stat = os.stat(path)
    return _load(path, stat.st_size, stat.st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _load(path: str, _size: int, _mtime_ns: int) -> Ttc:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TtcNotFound(f"{path} cannot be started: {error}") from error
    version = done.stdout.strip()
    if done.returncode != 0 or not version.startswith("ttc "):
        raise TtcNotFound(f"{path} is not ttc: `--version` printed {version or done.stderr.strip()!r}")
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return Ttc(path, version, digest.hexdigest())
