"""The keys of Triton 3.6, whose inspection hook does not add to them.

`CUDABackend.hash` is part of the key of the cache on disk, so it says which ttc is at work. Kernels in memory have no
part in their key that could be changed. They are forgotten when the compiler changes; what is launched next is found
on disk or compiled.
"""

from __future__ import annotations

import gc
from typing import Any, Callable


def add_to_keys(key: str) -> Callable[[], None]:
    """Adds ``key`` to the keys. Returns a function that undoes it."""
    from triton.backends.nvidia.compiler import CUDABackend

    original = CUDABackend.hash

    def hash_with_ttc(self: Any) -> str:
        return f"{original(self)}-ttc-{key}"

    CUDABackend.hash = hash_with_ttc
    _forget_kernels_in_memory()

    def undo() -> None:
        if CUDABackend.hash is hash_with_ttc:
            CUDABackend.hash = original
        _forget_kernels_in_memory()

    return undo


def _forget_kernels_in_memory() -> None:
    from triton.runtime.jit import JITFunction

    for thing in gc.get_objects():
        if type(thing) is JITFunction:
            thing.device_caches.clear()
