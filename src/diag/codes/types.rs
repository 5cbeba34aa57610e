//! E03xx: types and shapes of the language.

super::codes! {
    OPERAND_TYPES = "E0301", "operands that an operator does not take",
"The operator is not defined for these types.

```python
y = x_ptr * 2
```

The message names both types. Convert one with `.to(...)`.";
    BROADCAST = "E0302", "shapes that do not broadcast",
"Two shapes broadcast if each pair of dimensions is equal or one of them is 1.

```python
x = tl.arange(0, 64) + tl.arange(0, 128)
```

Add dimensions with `x[:, None]` and `x[None, :]`.";
    NOT_A_POINTER = "E0303", "value that is no pointer",
"Memory is accessed through pointers.

```python
x = tl.load(offs)
```

Add the offsets to a pointer parameter: `tl.load(x_ptr + offs)`.";
    CAST = "E0304", "conversion that does not exist",
"There is no conversion between these types, or a bitcast changes the width.

```python
y = x_fp32.to(tl.float16, bitcast=True)
```

Leave `bitcast` out to convert the value; a bitcast keeps the bits and needs a type of the same width.";
    BLOCK_SHAPE = "E0305", "shape that no tensor can have",
"Dimensions are powers of two, and a tensor has at most 1048576 elements. A reshape keeps the number of elements.

```python
offs = tl.arange(0, 100)
```

Round up and mask: `tl.arange(0, 128)`, `mask=offs < 100`.";
    INT_RANGE = "E0306", "integer out of range",
"A number does not fit into its type.

```python
y = x_u8 + 300
```

Convert to a wider type first: `x_u8.to(tl.int32) + 300`.";
    LOOP_TYPE = "E0307", "loop that changes a type",
"A variable that a loop carries from one iteration to the next keeps its type.

```python
acc = 0
for i in range(n):
    acc += 0.5
```

Start with the right type: `acc = 0.0`.";
    BRANCH_TYPE = "E0308", "branches that disagree on a type",
"After a run-time `if` a variable has one type, whichever branch ran.

```python
if n > 0:
    x = 1
else:
    x = 0.5
```

Give it the same type in both, here `x = 1.0`.";
    RETURN_TYPE = "E0309", "returns that disagree on a type",
"A function returns one type on all paths, and a combining function the type of the elements.

```python
if n > 0:
    return tl.load(p)  # fp32
return 0               # an integer
```

Convert the values to one type, here `return 0.0`.";
    ARGUMENT_TYPE = "E0310", "argument of the wrong type",
"The function does not take an argument of this type.

```python
y = tl.exp(x_fp16)
```

Convert it: `tl.exp(x.to(tl.float32))`.";
    CONDITION = "E0311", "condition that is no truth value",
"`if`, `while`, `and`, `or` and `not` take one truth value.

```python
if x > 0:  # x is a tensor
    ...
```

Reduce it, or use `tl.where`.";
    INDEX = "E0312", "index that is not possible",
"Tensors are indexed by `:` and `None` only, tuples by compile-time integers and slices.

```python
first = x[0]
```

Use a reduction or `tl.gather`, or load the element that you need.";
    MASK = "E0313", "mask or value that does not fit the pointer",
"The mask of a memory access holds truth values, and `other` and the value that is stored hold elements, all in the \
pointer's shape. `other` needs a mask.

```python
x = tl.load(p, other=0.0)  # without mask
```

Pass a mask together with `other`, and give both the shape of the pointer.";
    DOT = "E0314", "operands that cannot be multiplied",
"The types, the shapes or the accumulator of a matrix product do not fit.

```python
c = tl.dot(a, b)  # a: 64x32, b: 64x64
```

The first operand needs as many columns as the second has rows. The message says what fits.";
    UNSUPPORTED_DTYPE = "E0315", "type that the target does not have",
"8-bit floats depend on the architecture: fp8e5 everywhere, fp8e4nv from sm_89 on.

```text
ttc compile add.tk --arch sm_80 --signature \"*fp8e4nv, *fp32\"
```

Use fp8e5, or compile for a later architecture.";
    AXIS = "E0316", "axis or dimension that does not exist",
"An axis lies outside of the tensor's rank, or lists of dimensions differ in length.

```python
total = tl.sum(x, axis=1)  # x has one dimension
```

Axes count from 0, or from -1 for the last.";
}
