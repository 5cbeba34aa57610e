"""Turns ttc's launch metadata into the keys that Triton's launchers and tools read."""

from __future__ import annotations

from typing import Any

from .binary import Ttc
from .options import Plan


def fill(metadata: dict[str, Any], made: dict[str, Any], plan: Plan, ttc: Ttc) -> None:
    """Sets in Triton's ``metadata`` what lowering adds to it, from ``made``, ttc's JSON.

    A value that ttc could not know, because it started from LLVM IR, keeps what an earlier stage said. ttc uses neither
    tensor memory nor the profiler's buffer. The keys are those of Triton and one more, ``ttc``, which says who
    compiled the kernel. Tools tell releases of Triton apart by the keys that are there, so there must be no others.
    """
    known = {key: value for key, value in made.items() if value is not None}
    for key in ("name", "num_warps", "shared", "global_scratch_size", "global_scratch_align"):
        if key in known:
            metadata[key] = known[key]
    if "shared" in metadata:
        metadata["shared"] = max(metadata["shared"], plan.min_shared)
    metadata["tensordesc_meta"] = known.get("tensordesc_meta") or metadata.get("tensordesc_meta") or []
    metadata.update(tmem_size=0, profile_scratch_size=0, profile_scratch_align=1)
    metadata["ttc"] = ttc.version
