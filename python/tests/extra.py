"""Kernels for what the repository's own do not use."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.language.extra import libdevice


@triton.jit
def with_libdevice(x_ptr, BLOCK: tl.constexpr):
    """Calls a function that is linked from libdevice."""
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, libdevice.tanh(tl.load(x_ptr + offsets)))


@triton.jit
def with_barrier(x_ptr, BLOCK: tl.constexpr):
    """Has a barrier, which Triton 3.6 writes in another way than later releases."""
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0)
    tl.debug_barrier()
    tl.store(x_ptr + offsets, tl.load(x_ptr + BLOCK - 1 - offsets) + 1.0)


@triton.jit(repr=lambda _: "with_long_name_" + 300 * "x")
def with_long_name(x_ptr, BLOCK: tl.constexpr):
    """Has a name that is too long for a file."""
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


@gluon.jit
def in_gluon(x_ptr, BLOCK: gl.constexpr):
    """Is written in Gluon, with a layout of its own."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.arange(0, BLOCK, layout=layout)
    gl.store(x_ptr + offsets, gl.load(x_ptr + offsets) + 1.0)


def build(fn: object, arch: int = 90, **options: object) -> CompiledKernel:
    """Compiles one of the kernels above."""
    kind = GluonASTSource if fn is in_gluon else ASTSource
    source = kind(fn=fn, signature={"x_ptr": "*fp32", "BLOCK": "constexpr"}, constexprs={"BLOCK": 128})
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
