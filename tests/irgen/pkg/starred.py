"""What `from … import *` gives, and what it does not."""
import triton

__all__ = ["step", "LATE"]
LATE = 8
HIDDEN = 9


@triton.jit
def step(x):
    return x + 10


def min(a, b):
    return a * b
