"""Leaves a kernel to Triton with one warning per reason and process, or raises where that is forbidden."""

from __future__ import annotations

import os
import sys
import threading
import warnings

from .errors import FallbackWarning
from .options import Refusal

_lock = threading.Lock()
_warned: set[str] = set()


def warn(kernel: str, refusal: Refusal) -> None:
    """Warns that Triton compiles ``kernel``, unless this reason was given before."""
    with _lock:
        if refusal.key in _warned:
            return
        _warned.add(refusal.key)
    warnings.warn(
        f"ttc leaves the kernel `{kernel}` to Triton: {refusal.text}. Other kernels with the same reason follow "
        "without a warning; ttc_triton.stats() counts them.",
        FallbackWarning,
        stacklevel=_level_of_the_user(),
    )


def _level_of_the_user() -> int:
    """How far above `warn` the first frame lies that is neither this package's nor Triton's."""
    import triton

    inside = tuple(os.path.join(os.path.dirname(path), "") for path in (__file__, triton.__file__))
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    return level


def forget() -> None:
    """Lets every reason warn again."""
    with _lock:
        _warned.clear()
