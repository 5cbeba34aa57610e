"""Which releases of Triton this package works with, and where they differ.

| | 3.6 | 3.7 to 3.9 |
|---|---|---|
| the inspection hook changes the stages | yes | yes |
| the inspection hook adds to the keys of compiled kernels | no | yes |
"""

from __future__ import annotations

import re

from .errors import UnsupportedTriton

OLDEST = (3, 6)
NEWEST = (3, 9)


def parse(version: str) -> tuple[int, int]:
    """Major and minor number: ``"3.6.0+git1234"`` is ``(3, 6)``."""
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is None:
        raise UnsupportedTriton(f"ttc_triton cannot read the version of Triton: {version!r}")
    return int(match.group(1)), int(match.group(2))


def check() -> tuple[int, int]:
    """The version of the installed Triton. Raises `UnsupportedTriton` if it is missing, too old or too new."""
    try:
        import triton
    except ImportError as error:
        raise UnsupportedTriton("ttc_triton needs Triton 3.6 to 3.9, which is not installed") from error
    found = parse(getattr(triton, "__version__", "nothing"))
    if not OLDEST <= found <= NEWEST:
        raise UnsupportedTriton(
            f"ttc_triton works with Triton 3.6 to 3.9, but {triton.__version__} is installed; Triton stays as it is"
        )
    return found


def hook_adds_to_keys(version: tuple[int, int]) -> bool:
    """Whether the inspection hook of this Triton also adds to the cache keys."""
    return version >= (3, 7)
