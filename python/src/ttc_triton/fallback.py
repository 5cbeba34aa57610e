"""Leaves a kernel to Triton with one warning per reason and process, or raises where that is forbidden."""

from __future__ import annotations

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
        stacklevel=2,
    )


def forget() -> None:
    """Lets every reason warn again."""
    with _lock:
        _warned.clear()
