"""Switches ttc on and off for this process and the processes that it starts."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Callable

from . import hook, keys, pytorch, session, versions

SWITCH = "TTC_TRITON"
STRICT = "strict"
_lock = threading.RLock()
_current: _State | None = None


class _State:
    """An enabled session, and what has to be undone at its end, last things first."""

    def __init__(self, opened: session.Session, installed: hook.InspectionHook) -> None:
        self.session = opened
        self.hook = installed
        self.undo: list[Callable[[], None]] = []


def enable(ttc: str | os.PathLike[str] | None = None, *, fallback: bool = True) -> None:
    """Lets ttc compile what Triton's front end has made into TTIR, from now on.

    ``ttc`` is the path of the program; without it, the variable ``TTC``, ``PATH`` and the folder of this package
    count. With ``fallback=False`` a kernel that ttc cannot compile raises `NotCompiled`. Processes started later do
    the same, by way of the environment. Kernels that were compiled before keep the code they have where somebody holds
    them, as compiled graphs of PyTorch do.

    Raises `TtcNotFound` and `UnsupportedTriton`; then everything stays as it was.
    """
    global _current
    with _lock:
        version = versions.check()
        opened = session.start(ttc, fallback)
        if _current is not None:
            if _current.session == opened and hook.is_first(_current.hook):
                return
            disable()
        state = _State(opened, hook.install(opened))
        state.undo.append(lambda: hook.remove(state.hook))
        state.undo.append(keys.add_to_keys(lambda: hook.mark(state.hook), not versions.hook_adds_to_keys(version)))
        state.undo.append(pytorch.tag_caches(opened.key))
        state.undo.append(_set_environment({SWITCH: "1" if fallback else STRICT, "TTC": opened.ttc.path}))
        _current = state


def disable() -> None:
    """Lets Triton compile everything again. Does nothing where ttc is not enabled."""
    global _current
    with _lock:
        if _current is None:
            return
        state, _current = _current, None
        for undo in reversed(state.undo):
            undo()


@contextlib.contextmanager
def enabled(ttc: str | os.PathLike[str] | None = None, *, fallback: bool = True) -> Iterator[None]:
    """`enable` for a ``with`` statement. What held before holds again afterwards. All threads are concerned."""
    before = current()
    enable(ttc, fallback=fallback)
    try:
        yield
    finally:
        disable()
        if before is not None:
            enable(before.ttc.path, fallback=before.fallback)


def is_enabled() -> bool:
    """Whether ttc compiles kernels in this process."""
    with _lock:
        return _current is not None and hook.is_installed(_current.hook)


def current() -> session.Session | None:
    """The session that is enabled."""
    with _lock:
        return _current.session if _current is not None else None


def _set_environment(values: dict[str, str]) -> Callable[[], None]:
    """Sets variables for this process and its children. Returns a function that puts the old ones back."""
    old = {name: os.environ.get(name) for name in values}
    changed = old != values
    os.environ.update(values)
    if changed:
        pytorch.restart_workers()

    def undo() -> None:
        for name, value in old.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if changed:
            pytorch.restart_workers()

    return undo
