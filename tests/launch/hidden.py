"""Kernels whose launchers pass more than arguments."""
import triton
import triton.language as tl


@triton.jit
def fill(y: "*i32", v: "i32"):
    tl.store(y + tl.program_id(0) * 64 + tl.arange(0, 64), v)


@triton.jit
def scaled(x: "*fp16:16", y: "*fp16:16", rows: "i32:16", columns: "i32:16"):
    """The kernel makes its descriptors in scratch memory."""
    source = tl.make_tensor_descriptor(x, shape=[rows, columns], strides=[columns, 1], block_shape=[64, 64])
    target = tl.make_tensor_descriptor(y, shape=[rows, columns], strides=[columns, 1], block_shape=[64, 64])
    row = tl.program_id(0) * 64
    target.store([row, 0], source.load([row, 0]) * 2.0)


@triton.jit
def after(y: "*i32", v: "i32"):
    tl.extra.cuda.gdc_wait()
    tl.store(y + tl.program_id(0) * 64 + tl.arange(0, 64), v)
    tl.extra.cuda.gdc_launch_dependents()
