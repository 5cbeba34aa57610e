//! E05xx: IR verification.

super::codes! {
    INVALID_OP = "E0501", "operation breaks a rule of its dialect", "The verifier found an operation whose operands, results, regions or successors do not satisfy the rules that its dialect states. The message says what was expected and what was found.

```mlir
%0 = tt.splat %x : i32 -> tensor<8xf32>   // the source must be the result's element type
```";
    INVALID_ATTRIBUTE = "E0502", "attribute missing or of the wrong form", "An operation lacks an attribute that its dialect requires, or has one of another form: an integer of another width, a number that names no case of an enumeration.";
    TYPE_RULE = "E0503", "types that should agree do not", "The operation is elementwise, or otherwise demands that its operands and results agree in type, shape or layout encoding, and they do not.";
    TENSOR_SIZE = "E0504", "tensor of a size that Triton does not allow", "A tensor has at most 1048576 elements, and their number is a power of two.";
    LAYOUT = "E0505", "layout does not fit the tensor or the launch", "A tensor's layout has another number of dimensions than the tensor, or other numbers of threads and warps than the module's `ttg.threads-per-warp` and `ttg.num-warps` (or the partition it stands in).";
    NOT_DOMINATED = "E0506", "value is not defined where it is used", "A value is used before its definition, on a path that does not pass the definition, or across the border of a function.";
    SYMBOL = "E0507", "symbol that is defined twice", "Two functions of a module have the same name.";
}
