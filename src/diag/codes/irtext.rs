//! E04xx: IR text.

super::codes! {
    IR_SYNTAX = "E0401", "syntax error in IR text",
"The text does not follow the form of the operation, type or attribute that it starts. The message says what would fit \
and what stands there.

```mlir
%0 = arith.addi %a %b : i32   // a comma is missing between the operands
```";
    IR_UNKNOWN_OP = "E0402", "operation of no known dialect",
"No dialect has an operation of this name. Check the spelling. Operations of other dialects are kept, in their generic \
form, under `--allow-unregistered-dialect`.";
    IR_UNDEFINED = "E0403", "name that is not defined",
"A value `%x`, a block `^bb`, or an alias `#a` or `!t` is used but nothing in reach defines it. Values defined in a \
region are not visible outside of it, and functions see no values of their surroundings.";
    IR_REDEFINED = "E0404", "name that is defined twice",
"A value, block or alias is defined although its name is taken in the same scope. Give one of the two another name.";
    IR_TYPE_MISMATCH = "E0405", "value used at another type",
"The operation states another type for an operand than the value has, or the counts of values and types differ.

```mlir
%0 = arith.constant 1 : i32
%1 = arith.addi %0, %0 : i64   // %0 is an i32
```";
    IR_TOO_LARGE = "E0406", "IR text beyond a limit",
"The text nests deeper than 100 levels, or a type, an attribute or a chain of aliases is larger than any compiler \
would write. The limits keep hostile input from exhausting memory.";
    IR_BAD_LITERAL = "E0407", "literal that does not fit its type",
"A number does not fit the type it is given, a string holds an unknown escape, or the elements of a dense constant do \
not match its shape.";
    IR_BAD_ENCODING = "E0408", "ill-formed layout encoding",
"A layout attribute lacks a field, has one that it does not know, or its fields disagree, for example in their number \
of dimensions.";
    IR_BAD_TYPE = "E0409", "type of memory that cannot be",
"The parts of a memory descriptor or a tensor descriptor disagree: it has a layout of registers, a layout for another \
memory space, dimensions that are no powers of two, or an allocation smaller than the view of it.

```mlir
!ttg.memdesc<64x64xf16, #blocked, #ttg.shared_memory>   // #blocked is a layout of registers
```";
}
