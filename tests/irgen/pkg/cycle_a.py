import triton
import triton.language as tl
from .cycle_b import *


@triton.jit
def squared(x):
    return doubled(x) * x
