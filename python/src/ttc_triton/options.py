"""Decides how ttc honours Triton's options and knobs for a kernel, or that it cannot.

`plan` answers with a `Plan`, the command line of ttc, or with a `Refusal`, the reason why Triton has to compile the
kernel. Options that act above TTIR are Triton's own business, because its front end runs: the allowed types and
precisions of products, `max_num_imprecise_acc_default`, `debug`, `sanitize_overflow`. Those that act at the launch
are too: `launch_pdl` and `launch_cooperative_grid` go from the metadata to the launcher.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why ttc leaves a kernel to Triton."""

    key: str
    """What reasons are counted by: the name of an option, or a code of ttc."""
    text: str
    """The reason in words."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How to run ttc for one kernel."""

    arch: str
    """``sm_90a``."""
    arguments: tuple[str, ...]
    """Options of ``ttc compile`` that hold for every input."""
    launch: tuple[str, ...]
    """Options that the text of TTGIR settles itself, so that they go with TTIR only."""
    environment: dict[str, str]
    """Variables to set for ttc."""
    triton_assembles: bool
    """Whether Triton runs ptxas once more on ttc's PTX, because it has options for ptxas that ttc does not."""
    max_ptx_version: int | None
    """The newest PTX that the caller allows, `84` for 8.4."""
    min_shared: int
    """The shared memory to ask for at least, in bytes."""


def plan(backend: Any, options: Any, capability: int, ptxas: str | None) -> Plan | Refusal:
    """How to compile for ``options``, a ``CUDAOptions`` of any supported Triton.

    ``ptxas`` is a program to take instead of Triton's.
    """
    from triton import knobs

    refusal = _refusal(backend, options, capability)
    if refusal is not None:
        return refusal
    arguments = ["--triton-abi"]
    if options.maxnreg is not None:
        arguments += ["--maxnreg", str(options.maxnreg)]
    if not options.enable_fp_fusion:
        arguments.append("--no-fp-fusion")
    if knobs.compilation.disable_line_info:
        arguments.append("--no-line-info")
    launch = [
        *("--num-warps", str(options.num_warps)),
        *("--num-stages", str(options.num_stages)),
        *("--num-ctas", str(options.num_ctas)),
    ]
    environment = {}
    libdevice = dict(options.extern_libs or ()).get("libdevice")
    if libdevice:
        environment["TTC_LIBDEVICE"] = str(libdevice)
    arguments += ["--ptxas", ptxas or ptxas_of_triton(backend)]
    return Plan(
        arch=f"sm_{capability}a" if capability >= 90 else f"sm_{capability}",
        arguments=tuple(arguments),
        launch=tuple(launch),
        environment=environment,
        triton_assembles=_triton_assembles(backend, options, capability),
        max_ptx_version=options.ptx_version,
        min_shared=getattr(options, "min_shared_mem", None) or 0,
    )


def ptxas_of_triton(backend: Any) -> str:
    """The ptxas that Triton would run for this GPU; ``TRITON_PTXAS_PATH`` and its kin count."""
    from triton.backends.nvidia import compiler

    return str(compiler.get_ptxas(backend.target.arch).path)


def _triton_assembles(backend: Any, options: Any, capability: int) -> bool:
    from triton import knobs

    wishes = options.ptx_options or knobs.nvidia.disable_ptxas_opt or knobs.nvidia.dump_ptxas_log
    # With TRITON_OVERRIDE_ARCH the PTX is for one GPU, and the cubin for the GPU that is there.
    return bool(wishes) or capability != backend.target.arch


def _refusal(backend: Any, options: Any, capability: int) -> Refusal | None:
    """The first reason that the options and knobs give."""
    from triton import knobs

    gpu, ir_loc = backend.target.arch, knobs.compilation.use_ir_loc
    # PTX for sm_80 to sm_89 runs on every later GPU. That for sm_90a and its kin runs on no other.
    stranger = capability != gpu and (capability > gpu or capability >= 90)
    reasons = [
        (stranger, "arch", f"its code is to be for sm_{capability}, but the GPU is sm_{gpu}"),
        (options.warp_size != 32, "warp_size", f"warp_size={options.warp_size}, but a warp has 32 threads"),
        (bool(options.instrumentation_mode), "instrumentation", f"instrumentation_mode={options.instrumentation_mode}"),
        (_instrumented(backend), "instrumentation", "a profiler instruments the code (Proton)"),
        (getattr(options, "clc", False), "clc", "the option clc=True"),
        (getattr(options, "sched4reg", False), "sched4reg", "the option sched4reg=True"),
        (knobs.compilation.enable_asan, "asan", "TRITON_ENABLE_ASAN is set"),
        (
            knobs.compilation.dump_ir_extract_di_local_variables,
            "local variables",
            "LLVM_EXTRACT_DI_LOCAL_VARIABLES is set",
        ),
        (ir_loc not in (None, "", "ttir"), "use_ir_loc", f"USE_IR_LOC={ir_loc} needs IR that Triton itself has made"),
    ]
    return next((Refusal(key, text) for applies, key, text in reasons if applies), None)


def _instrumented(backend: Any) -> bool:
    """Whether Proton or another tool has put its passes into Triton's pipeline."""
    if getattr(type(backend), "instrumentation", None):
        return True
    try:
        from triton import _instrumentation
    except ImportError:
        return False
    return any(name == "nvidia" for _, name in getattr(_instrumentation, "_callbacks", {}))


def refusal_of_text(options: Any, text: str) -> Refusal | None:
    """A reason that only the kernel's TTIR shows: functions of libraries under options that ttc does not have."""
    if not re.search(r"\btt\.extern_elementwise\b", text):
        return None
    others = sorted(name for name, _ in options.extern_libs or () if name != "libdevice")
    if others:
        return Refusal("extern_libs", f"functions of other libraries than libdevice: {', '.join(others)}")
    if not options.enable_reflect_ftz:
        return Refusal("enable_reflect_ftz", "functions of libdevice with enable_reflect_ftz=False")
    return None
