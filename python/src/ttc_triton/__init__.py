"""ttc inside Triton's JIT: Triton's front end and launcher stay, and ttc compiles what lies between.

::

    import ttc_triton

    ttc_triton.enable()     # or TTC_TRITON=1 in the environment
    ...                     # kernels of @triton.jit and torch.compile go through ttc
    print(ttc_triton.stats())

It works with Triton 3.6 to 3.9 on NVIDIA GPUs. What ttc cannot compile is compiled by Triton, with one warning per
reason. docs/pytorch.md of ttc's repository says more.
"""

from __future__ import annotations

from ._version import __version__
from .errors import FallbackWarning, NotCompiled, TtcNotFound, TtcTritonError, UnsupportedTriton
from .report import Record, Stats, read_log, reset_stats, stats
from .switch import disable, enable, enabled, is_enabled

__all__ = [
    "FallbackWarning",
    "NotCompiled",
    "Record",
    "Stats",
    "TtcNotFound",
    "TtcTritonError",
    "UnsupportedTriton",
    "__version__",
    "disable",
    "enable",
    "enabled",
    "is_enabled",
    "read_log",
    "reset_stats",
    "stats",
]
