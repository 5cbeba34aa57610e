"""Enables ttc in every process that has ``TTC_TRITON=1``, at the moment when it imports Triton.

``ttc_triton.pth``, or ``sitecustomize.py`` in a checkout, calls `at_start` when Python starts. So Inductor's compile
workers and other subprocesses are reached without a change to them. A process that never imports Triton pays for a
look at the environment only.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

from .errors import FallbackWarning, TtcTritonError
from .switch import STRICT, SWITCH, enable


def wanted() -> bool:
    """Whether the environment asks for ttc."""
    return os.environ.get(SWITCH, "0") not in ("", "0")


def at_start() -> None:
    """Enables ttc as soon as Triton is imported, if the environment asks for it."""
    if not wanted():
        return
    if "triton" in sys.modules:
        enable_from_environment()
    elif not any(isinstance(finder, _AfterTriton) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterTriton())


def enable_from_environment() -> None:
    """Enables ttc as ``TTC_TRITON`` says: ``strict`` forbids that Triton compiles what ttc cannot.

    Where ttc or a known Triton is missing, that is a warning, and an error with ``strict``.
    """
    strict = os.environ.get(SWITCH) == STRICT
    try:
        enable(fallback=not strict)
    except TtcTritonError as error:
        if strict:
            raise
        warnings.warn(f"{SWITCH} is set, but Triton compiles as ever: {error}", FallbackWarning, stacklevel=2)


class _AfterTriton(importlib.abc.MetaPathFinder):
    """Finds Triton as the other finders do, and enables ttc behind the code of its package.

    It stays until that code runs: many programs look for Triton, by `importlib.util.find_spec`, before they import it.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """What the other finders say, with a loader that does more."""
        if fullname != "triton":
            return None
        spec = self._spec_of_the_others(fullname, path, target)
        if spec is not None and spec.loader is not None:
            self._extend(spec.loader)
        return spec

    def _spec_of_the_others(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> importlib.machinery.ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is not self:
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None

    def _extend(self, loader: importlib.abc.Loader) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                enable_from_environment()

        loader.exec_module = exec_module  # type: ignore[method-assign]
