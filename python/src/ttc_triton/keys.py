"""The keys of Triton's caches that the inspection hook does not reach.

`CUDABackend.hash` is part of the key of tuned configurations on disk (``TRITON_CACHE_AUTOTUNING``) and of compiled
kernels, so it says which ttc is at work. In Triton 3.6, where the inspection hook adds to no key, it is the only part
that can say so, and kernels in memory have none. There they are forgotten when the compiler changes; what is launched
next is found on disk or compiled.
"""

from __future__ import annotations

import gc
from typing import Any, Callable


def add_to_keys(mark: Callable[[], str], forget_kernels: bool) -> Callable[[], None]:
    """Adds what ``mark`` returns to the keys, and forgets the kernels in memory if asked to.

    Returns a function that undoes it.
    """
    from triton.backends.nvidia.compiler import CUDABackend

    original = CUDABackend.hash

    def hash_with_ttc(self: Any) -> str:
        return f"{original(self)}{mark()}"

    CUDABackend.hash = hash_with_ttc
    if forget_kernels:
        _forget_kernels_in_memory()

    def undo() -> None:
        if CUDABackend.hash is hash_with_ttc:
            CUDABackend.hash = original
        if forget_kernels:
            _forget_kernels_in_memory()

    return undo


def _forget_kernels_in_memory() -> None:
    from triton.runtime.jit import JITFunction

    for thing in gc.get_objects():
        if type(thing) is JITFunction:
            thing.device_caches.clear()
