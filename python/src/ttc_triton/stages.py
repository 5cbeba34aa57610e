"""The stages of one kernel below TTIR, as Triton's `compile` calls them: TTGIR, LLVM IR, PTX and cubin.

1. The first of them hands its source to ttc, which makes all the rest in one run. It fills the metadata and returns
   its own stage.
2. The others return what that run made, so that Triton's cache folder, dumps and ``compiled.asm`` have every stage.
3. A source that is not what the stage before returned comes from the user: an IR file, or an override
   (``TRITON_KERNEL_OVERRIDE``, ``ir_override``). ttc starts again from there. PTX goes to Triton's ptxas stage.
4. Where ttc refuses, Triton's own functions take over from that stage on.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import time
from typing import Any, Callable

from . import fallback, metadata, program, report
from .diagnostics import OUT_OF_SHARED_MEMORY, PTXAS_FAILURES, Diagnostic, shared_memory
from .errors import NotCompiled
from .options import Plan, Refusal, plan, refusal_of_text
from .program import STAGES, Made
from .session import Session

Stage = Callable[[Any, dict[str, Any]], Any]


@dataclasses.dataclass(frozen=True)
class Request:
    """What Triton asks its backend for: the arguments of the inspection hook."""

    backend: Any
    stages: dict[str, Stage]
    """Triton's own functions by extension."""
    options: Any
    """`CUDAOptions`."""
    capability: int
    """`90` for sm_90: what the code is for, which `TRITON_OVERRIDE_ARCH` may change."""


class Kernel:
    """One compilation. Triton makes it in `add_stages` and drops it with the stages."""

    def __init__(self, session: Session, request: Request, refusal: Refusal | None = None) -> None:
        """``refusal`` is a reason that is known before there is a kernel."""
        self._session = session
        self._request = request
        self._refusal = refusal
        self._left_to_triton = False
        self._made: Made | None = None

    def install(self, stages: dict[str, Stage]) -> None:
        """Puts this kernel's functions in the place of Triton's."""
        for kind in STAGES[1:]:
            if kind in stages:
                stages[kind] = functools.partial(self._stage, kind)

    def _stage(self, kind: str, source: Any, md: dict[str, Any]) -> Any:
        above = STAGES[STAGES.index(kind) - 1]
        if self._left_to_triton:
            return self._request.stages[kind](source, md)
        if self._made is None or source is not self._made.stages.get(above):
            if kind == "cubin":
                return self._request.stages[kind](source, md)
            made = self._compile(source, above, md)
            if made is None:
                return self._request.stages[kind](source, md)
            self._made = made
        if kind not in self._made.stages:
            return self._request.stages[kind](source, md)
        if kind == "ptx":
            _dump_ptx(self._made.stages[kind])
        return self._made.stages[kind]

    def _compile(self, source: Any, above: str, md: dict[str, Any]) -> Made | None:
        """What ttc makes of ``source``; nothing where Triton has to go on."""
        text = str(source)
        name = kernel_name(text)
        settled = self._settle(text)
        if isinstance(settled, Refusal):
            self._leave(name, settled)
            return None
        start = time.perf_counter()
        made = program.run(self._session.ttc, settled, text, above, name)
        seconds = time.perf_counter() - start
        if isinstance(made, Diagnostic):
            self._failed(name, made, seconds)
            return None
        newer = newer_ptx(made, settled)
        if newer is not None:
            self._leave(name, newer, seconds)
            return None
        metadata.fill(md, made.metadata, settled, self._session.ttc)
        self._record(name, report.TTC, seconds=seconds)
        return made

    def _settle(self, text: str) -> Plan | Refusal:
        request = self._request
        known = self._refusal or refusal_of_text(request.options, text)
        return known or plan(request.backend, request.options, request.capability, self._session.ptxas)

    def _failed(self, name: str, diagnostic: Diagnostic, seconds: float) -> None:
        numbers = shared_memory(diagnostic) if diagnostic.code == OUT_OF_SHARED_MEMORY else None
        if self._request.capability != self._request.backend.target.arch:
            # TRITON_OVERRIDE_ARCH: the limit is that of another GPU.
            numbers = None
        if numbers is not None:
            from triton.runtime.errors import OutOfResources

            self._record(name, report.OUT_OF_RESOURCES, diagnostic.code, diagnostic.message, seconds)
            raise OutOfResources(*numbers, "shared memory")
        if diagnostic.code in PTXAS_FAILURES and not self._session.fallback:
            from triton.runtime.errors import PTXASError

            self._record(name, report.FAILED, diagnostic.code, diagnostic.message, seconds)
            raise PTXASError(f"kernel `{name}`, compiled by ttc: {diagnostic}")
        self._leave(name, Refusal(diagnostic.code, str(diagnostic)), seconds, diagnostic.help)

    def _leave(self, name: str, refusal: Refusal, seconds: float = 0.0, advice: str = "") -> None:
        """Leaves the kernel to Triton, from this stage on, or raises where that is forbidden."""
        if not self._session.fallback:
            self._record(name, report.FAILED, refusal.key, refusal.text, seconds)
            raise NotCompiled(f"ttc cannot compile the kernel `{name}`: {refusal.text}" + (advice and f"\n{advice}"))
        self._record(name, report.TRITON, refusal.key, refusal.text, seconds)
        self._left_to_triton = True
        fallback.warn(name, refusal)

    def _record(self, name: str, outcome: str, reason: str = "", message: str = "", seconds: float = 0.0) -> None:
        report.add(report.Record(name, f"sm_{self._request.capability}", outcome, reason, message, seconds))


def kernel_name(text: str) -> str:
    """The kernel of a module: its public function in TTIR and TTGIR, the kernel in LLVM IR."""
    match = re.search(r'(?:tt\.func public|ptx_kernel void) @"?([^"(\s]+)', text)
    return match.group(1) if match else "?"


def newer_ptx(made: Made, settled: Plan) -> Refusal | None:
    """A reason to leave the kernel to Triton: its PTX is newer than the option `ptx_version` allows."""
    ptx, allowed = made.stages.get("ptx"), settled.max_ptx_version
    match = re.search(r"^\.version (\d+)\.(\d+)", ptx, re.MULTILINE) if isinstance(ptx, str) else None
    if allowed is None or match is None or int(match.group(1)) * 10 + int(match.group(2)) <= allowed:
        return None
    return Refusal("ptx_version", f"ptx_version={allowed}, but ttc's code needs PTX {match.group(1)}.{match.group(2)}")


def _dump_ptx(ptx: str | bytes) -> None:
    from triton import knobs

    if knobs.nvidia.dump_nvptx:
        print("// -----// NVPTX Dump //----- //")
        print(ptx)
