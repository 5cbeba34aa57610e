//! E05xx: IR verification.

super::codes! {
    INVALID_OP = "E0501", "operation breaks a rule of its dialect",
"The parts of an operation are there and of the right kinds, but they do not fit together as the operation demands. \
The message names the operation, the rule, and what was found. The table entry in `src/ir/dialects/` says what the \
operation takes.

    %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<128xi32>

The range has 64 elements and the result 128. What to do: correct the text. If a pass made the operation, this is a \
defect of ttc.";

    INVALID_OPERAND = "E0502", "wrong number or kind of operands or results",
"An operation has more or fewer operands or results than its dialect states, or one of them is of a type that it does \
not take.

    %0 = \"arith.addi\"(%a) : (i32) -> i32
    %1 = arith.addf %a, %a : i32

The first lacks an operand; the second adds integers as floats. What to do: correct the operation.";

    INVALID_ATTRIBUTE = "E0503", "attribute is missing or of the wrong kind",
"An operation lacks an attribute that it needs, or an attribute is of another kind than the dialect states: a string \
where a number is expected, an integer of another width, the number of no case of an enumeration, or sizes of operand \
groups that do not add up.

    %0 = \"tt.get_program_id\"() {axis = 7 : i32} : () -> i32

The axis is 0, 1 or 2. What to do: give the attribute as the message says.";

    INVALID_REGION = "E0504", "regions, blocks or successors are not as they must be",
"An operation has more or fewer regions or successors than its dialect states, a block does not end in a terminator or \
has one in its middle, or a branch passes values to a block that takes others.

    cf.br ^bb1(%a : i32)
  ^bb1(%x: f32):

The block takes an f32. What to do: correct the control flow.";

    NOT_AVAILABLE = "E0505", "value is used where it is not available",
"A value can be used after the operation that defines it, in the same block, in blocks that control reaches only \
through that one, and in regions nested there. A function sees nothing of what is around it.

    %1 = arith.addi %0, %0 : i32
    %0 = arith.constant 1 : i32

What to do: move the definition up, or pass the value as an argument.";

    INVALID_SYMBOL = "E0506", "symbol is defined twice, not defined, or used with other types",
"Each function of a module has a name of its own, and a call names a function of the module and passes and receives \
what that takes and returns.

    tt.func @f(%x: i32) { tt.return }
    tt.func @g(%y: f32) { tt.call @f(%y) : (f32) -> () tt.return }

What to do: correct the name or the types.";

    INVALID_TENSOR = "E0507", "type of a tensor that cannot be",
"Every dimension of a tensor is a power of two, and a tensor has at most 1048576 elements.

    %0 = tt.splat %x : f32 -> tensor<3xf32>

What to do: use the next power of two and mask the rest.";

    INVALID_LAYOUT = "E0508", "layout does not fit its tensor or the module",
"A layout says which thread holds which element, so it has the rank of the tensor, and as many threads, warps and \
blocks as the module's attributes `ttg.threads-per-warp`, `ttg.num-warps` and `ttg.num-ctas` say.

    #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
    module attributes {\"ttg.num-warps\" = 4 : i32} { … tensor<128xf32, #blocked> … }

The layout has 8 warps and the module 4. What to do: correct the one or the other.";

    TYPE_MISMATCH = "E0509", "operands and results are not of the types they must share",
"The operation works element by element, or passes its operand on, so some of its operands and results have one type, \
one shape or one encoding.

    %2 = \"arith.addi\"(%0, %1) : (i32, i64) -> i32

What to do: convert the operands to one type.";

    INCONSISTENT = "E0510", "the compiler's own records of uses disagree",
"The list of a value's uses does not match the operands in the module. No input can cause this: it is a defect of ttc. \
Report it with the command and the input; `--print-ir-after` shows after which pass it appears.";
}
