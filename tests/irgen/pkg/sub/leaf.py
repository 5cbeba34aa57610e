import triton
from ..host import tl


@triton.jit
def helper(x):
    return x * 2


@triton.jit
def new(x):
    return x - 1


@triton.jit
def old(x):
    return x - 2


@triton.jit
def starred(x):
    return tl.abs(x)
