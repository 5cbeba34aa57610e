import triton
import triton.language as tl
from .cycle_a import *


@triton.jit
def doubled(x):
    return tl.maximum(x * 2, 0)
