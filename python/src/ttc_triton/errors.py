"""The exceptions and the warning of this package."""

from __future__ import annotations


class TtcTritonError(RuntimeError):
    """The base of all errors that this package raises itself."""


class TtcNotFound(TtcTritonError):
    """The program ``ttc`` was not found, or cannot be started."""


class UnsupportedTriton(TtcTritonError):
    """Triton is not installed, or its version is not one that this package knows."""


class NotCompiled(TtcTritonError):
    """ttc cannot compile a kernel, and ``enable(fallback=False)`` forbids that Triton does."""


class FallbackWarning(UserWarning):
    """Triton compiles a kernel because ttc cannot. There is one such warning per reason and process."""
