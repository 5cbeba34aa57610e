"""What PyTorch must know: its caches hold kernels too, and its compile workers are processes of their own.

`torch.compiler.config.cache_key_tag` is part of the keys of the caches of FX graphs, AOTAutograd and Inductor's
autotuning. PyTorch reads it from ``TORCH_COMPILE_CACHE_KEY_TAG`` when it is imported. Nothing here imports PyTorch.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

TAG = "TORCH_COMPILE_CACHE_KEY_TAG"


def tag_caches(key: str) -> Callable[[], None]:
    """Adds ``key`` to the tag, in the environment and in an imported PyTorch. Returns a function that undoes it."""
    mark = f"ttc-{key}"
    _change(lambda tag: tag if mark in tag.split("+") else "+".join(filter(None, [tag, mark])))
    return lambda: _change(lambda tag: "+".join(part for part in tag.split("+") if part and part != mark))


def _change(change: Callable[[str], str]) -> None:
    tag = change(os.environ.get(TAG, ""))
    if tag:
        os.environ[TAG] = tag
    else:
        os.environ.pop(TAG, None)
    config: Any = sys.modules.get("torch.compiler.config")
    if config is not None and hasattr(config, "cache_key_tag"):
        config.cache_key_tag = change(config.cache_key_tag)


def restart_workers() -> None:
    """Ends Inductor's compile workers. The next ones start with the environment as it is now."""
    module = sys.modules.get("torch._inductor.async_compile")
    shutdown = getattr(module, "shutdown_compile_workers", None)
    if shutdown is not None:
        shutdown()
