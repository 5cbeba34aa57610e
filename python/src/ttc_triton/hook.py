"""The hook that Triton calls when it has set up the stages of a kernel: ``knobs.runtime.add_stages_inspection_hook``.

Triton calls it in two ways. With arguments it may change the stages. Without any, from 3.7 on, it answers with two
strings: one for the key of the cache on disk, and one for the key of the kernels in memory. A hook that was there
before is called first, and its strings stay part of the keys.
"""

from __future__ import annotations

from typing import Any, Callable

from .options import Refusal
from .session import Session
from .stages import Kernel, Request, Stage

Hook = Callable[..., Any]


class InspectionHook:
    """The hook of one `Session`. Once it is switched off, it only passes on to the hook before it."""

    def __init__(self, session: Session, previous: Hook | None) -> None:
        """``previous`` is the hook that was installed before this one."""
        self.session = session
        self.previous = previous
        self.active = True
        # Triton asks for the keys at every launch, so that they are made once.
        self._keys = (f"-ttc-{session.key}", f"ttc-{session.key}")

    def __call__(
        self,
        backend: Any = None,
        stages: dict[str, Stage] | None = None,
        options: Any = None,
        language: Any = None,
        capability: int | None = None,
    ) -> tuple[str, str] | None:
        """Called by Triton, in one of the two ways that the module describes."""
        if stages is None:
            return self.keys()
        if self.previous is not None:
            self.previous(backend, stages, options, language, capability)
        if self.active and backend.target.backend == "cuda" and capability is not None:
            refusal = _refusal(stages, language)
            Kernel(self.session, Request(backend, dict(stages), options, capability), refusal).install(stages)
        return None

    def keys(self) -> tuple[str, str]:
        """What goes into the keys of the cache on disk and of the kernels in memory."""
        mine = self._keys if self.active else ("", "")
        if self.previous is None:
            return mine
        key, digest = self.previous()
        return f"{key}{mine[0]}", f"{digest}{mine[1]}"


def _refusal(stages: dict[str, Stage], language: Any) -> Refusal | None:
    from triton.backends.compiler import Language

    if language != Language.TRITON:
        return Refusal("Gluon", "it is written in Gluon")
    triton = "triton.backends.nvidia.compiler"
    if any(getattr(stage, "__module__", None) != triton for kind, stage in stages.items() if kind != "ttir"):
        return Refusal("stages", "another hook has changed Triton's stages below TTIR")
    return None


def install(session: Session) -> InspectionHook:
    """Installs a hook for ``session`` behind the one that is there."""
    from triton import knobs

    hook = InspectionHook(session, knobs.runtime.add_stages_inspection_hook)
    knobs.runtime.add_stages_inspection_hook = hook
    return hook


def remove(hook: InspectionHook) -> None:
    """Switches ``hook`` off, and takes it out unless another hook has been installed over it."""
    from triton import knobs

    hook.active = False
    if knobs.runtime.add_stages_inspection_hook is hook:
        knobs.runtime.add_stages_inspection_hook = hook.previous


def mark(hook: InspectionHook) -> str:
    """What keys must say of ``hook``: nothing where it was taken out, and the name of a hook in front of it.

    That other hook may or may not call this one, so that nobody knows which compiler is at work.
    """
    from triton import knobs

    first: Any = knobs.runtime.add_stages_inspection_hook
    if first is None:
        return ""
    name = "" if first is hook else f"-{getattr(first, '__module__', '')}.{getattr(first, '__qualname__', first)}"
    return f"-ttc-{hook.session.key}{name}"


def is_first(hook: InspectionHook) -> bool:
    """Whether Triton calls ``hook`` itself, and no hook of somebody else in front of it."""
    from triton import knobs

    return knobs.runtime.add_stages_inspection_hook is hook


def is_installed(hook: InspectionHook) -> bool:
    """Whether Triton still reaches ``hook``. Code that resets Triton's knobs may have taken it out."""
    from triton import knobs

    found = knobs.runtime.add_stages_inspection_hook
    # A hook of somebody else was installed later, and may call this one: it counts as reached.
    return found is hook or (found is not None and not isinstance(found, InspectionHook))
