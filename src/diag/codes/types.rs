//! E03xx: types and shapes of the language.

super::codes! {
    OPERAND_TYPES = "E0301", "operands that an operator does not take", "The operator is not defined for these types.\n\n```python\ny = x_ptr * 2\n```\n\nThe message names both types; convert one with `.to(...)`.";
    BROADCAST = "E0302", "shapes that do not broadcast", "Two shapes broadcast if each pair of dimensions is equal or one of them is 1.\n\n```python\nx = tl.arange(0, 64) + tl.arange(0, 128)\n```\n\nAdd dimensions with `x[:, None]` and `x[None, :]`.";
    NOT_A_POINTER = "E0303", "value that is no pointer", "Memory is accessed through pointers.\n\n```python\nx = tl.load(offs)\n```\n\nAdd the offsets to a pointer parameter: `tl.load(x_ptr + offs)`.";
    CAST = "E0304", "conversion that does not exist", "There is no conversion between these types, or a bitcast changes the width.\n\n```python\ny = x_fp32.to(tl.float16, bitcast=True)\n```\n\nLeave `bitcast` out to convert the value; a bitcast keeps the bits and needs a type of the same width.";
    BLOCK_SHAPE = "E0305", "shape that no tensor can have", "Dimensions are powers of two, and a tensor has at most 1048576 elements. A reshape keeps the number of elements.\n\n```python\noffs = tl.arange(0, 100)\n```\n\nRound up and mask: `tl.arange(0, 128)`, `mask=offs < 100`.";
    INT_RANGE = "E0306", "integer out of range", "A number does not fit into its type.\n\n```python\ny = x_u8 + 300\n```";
    LOOP_TYPE = "E0307", "loop that changes a type", "A variable that a loop carries from one iteration to the next keeps its type.\n\n```python\nacc = 0\nfor i in range(n):\n    acc += 0.5\n```\n\nStart with the right type: `acc = 0.0`.";
    BRANCH_TYPE = "E0308", "branches that disagree on a type", "After a run-time `if` a variable has one type, whichever branch ran.\n\n```python\nif n > 0:\n    x = 1\nelse:\n    x = 0.5\n```";
    RETURN_TYPE = "E0309", "returns that disagree on a type", "A function returns one type on all paths, and a combining function the type of the elements.\n\n```python\nif n > 0:\n    return tl.load(p)  # fp32\nreturn 0               # an integer\n```\n\nConvert the values to one type, here `return 0.0`.";
    ARGUMENT_TYPE = "E0310", "argument of the wrong type", "The function does not take an argument of this type.\n\n```python\ny = tl.exp(x_fp16)\n```\n\nConvert it: `tl.exp(x.to(tl.float32))`.";
    CONDITION = "E0311", "condition that is no truth value", "`if`, `while`, `and`, `or` and `not` take one truth value.\n\n```python\nif x > 0:  # x is a tensor\n    ...\n```\n\nReduce it, or use `tl.where`.";
    INDEX = "E0312", "index that is not possible", "Tensors are indexed by `:` and `None` only, tuples by compile-time integers and slices.\n\n```python\nfirst = x[0]\n```\n\nUse a reduction or `tl.gather`, or load the element that you need.";
    MASK = "E0313", "mask or value that does not fit the pointer", "Mask, `other` and value of a memory access are truth values and values in the pointer's shape.\n\n```python\nx = tl.load(p, other=0.0)  # without mask\n```";
    DOT = "E0314", "operands that cannot be multiplied", "Types, shapes or accumulator of a matrix product do not fit.\n\n```python\nc = tl.dot(a, b)  # a: 64x32, b: 64x64\n```";
    UNSUPPORTED_DTYPE = "E0315", "type that the target does not have", "8-bit floats depend on the architecture: fp8e5 everywhere, fp8e4nv from sm_89 on.\n\n```text\nttc compile add.tk --arch sm_80 --signature \"*fp8e4nv, *fp32\"\n```\n\nUse fp8e5, or compile for a later architecture.";
    AXIS = "E0316", "axis or dimension that does not exist", "An axis is outside of the tensor's rank, or lists of dimensions differ in length.\n\n```python\ntotal = tl.sum(x, axis=1)  # x has one dimension\n```\n\nAxes count from 0, or from -1 for the last.";
}
