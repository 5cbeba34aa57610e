import triton


@triton.jit
def step(x):
    return x + 1
