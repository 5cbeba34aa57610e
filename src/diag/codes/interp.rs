//! E10xx: running a kernel in the interpreter, and the faults it finds.

super::codes! {
    UNSUPPORTED_OP = "E1001", "the interpreter cannot run an operation",
"The operation has no meaning that a CPU can evaluate: inline PTX, a function of an external library that ttc does not \
know, or an operation of a dialect that comes after TTIR.

    tt.elementwise_inline_asm \"ex2.approx.f32 $0, $1;\" …

What to do: guard the inline assembly so that the kernel can also run without it, or check that kernel on a device.";

    NO_KERNEL = "E1002", "there is no such kernel",
"The module has no public `tt.func` with a body under this name.

What to do: name one of the kernels that the message lists.";

    BAD_ARGUMENTS = "E1003", "the arguments do not fit the kernel",
"Every parameter needs one argument of its kind: a buffer for a pointer, an integer or a float for a scalar. A \
parameter that promises divisibility (`*fp32:16`, `tt.divisibility = 16`) needs an address or a number that keeps the \
promise: vector accesses rely on it.

    ttc interpret add.tk --arg x=@x.npy --arg n=1000

What to do: compare the arguments with the kernel's signature.";

    OUT_OF_BOUNDS = "E1004", "an access outside of a buffer",
"An element whose mask is true (or that has no mask) lies before the start or past the end of its buffer. On a device \
this reads or overwrites whatever is there.

    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)                    # the last block reads past the end

What to do: mask the access, `tl.load(x_ptr + offs, mask=offs < n)`. The message gives the program, the element, the \
offset and the size.";

    UNALIGNED = "E1005", "an access to an address that is no multiple of its size",
"The hardware loads and stores an element of 2, 4 or 8 bytes only at multiples of its size, and stops the kernel \
otherwise. It happens where a pointer was cast to another element type or an argument points into the middle of an \
element.

What to do: check casts of pointers and the byte offset of the argument.";

    UNINITIALISED = "E1006", "a read of memory that nobody has written",
"The buffer was created without contents (an output), and this element was not stored before it was read. On a device \
the value is arbitrary.

    tl.atomic_add(out_ptr + offs, x)             # adds to whatever out holds

What to do: initialise the buffer before the launch (zeros for an accumulation), or store before loading.";

    RACE = "E1007", "two programs access the same address without an order",
"Two program instances of one launch touch the same element, at least one of them with a plain store, and nothing \
orders them. Programs run in any order and at the same time, so the result is a matter of luck.

    offs = pid * 64 + tl.arange(0, 128)          # blocks of 128 at a distance of 64
    tl.store(y_ptr + offs, x)

What to do: give each program its own part of the buffer, or use an atomic operation. Atomics on a single address with \
acquire and release semantics (a lock, a counter) order the programs, and the interpreter respects that.";

    OVERLAP = "E1008", "one store writes different values to the same address",
"Two elements of the stored tensor go to the same address and differ; which one stays is a matter of luck.

    tl.store(y_ptr + offs % 4, offs)

What to do: make the addresses distinct, mask all but one, or use an atomic operation.";

    INDEX_OVERFLOW = "E1009", "an integer overflow in an index",
"An addition, subtraction, multiplication or shift wrapped around, and the result became part of an address that is \
accessed. Program ids and `tl.arange` are 32 bits wide, so a product with a stride overflows from 2^31 elements on.

    offs = pid * stride + tl.arange(0, BLOCK)    # pid * stride >= 2^31

What to do: compute in 64 bits, `pid.to(tl.int64) * stride`.";

    DIVISION_BY_ZERO = "E1010", "an integer division by zero",
"The divisor of a `//`, a `%` or a `cdiv` is zero in the element that the message names. The hardware gives an \
unspecified number.

What to do: check the argument that the divisor comes from; in a tensor, replace zeros first with `tl.where`.";

    ASSERTION = "E1011", "a device assertion failed",
"The condition of a `tl.device_assert` (or of an assertion that `sanitize_overflow` adds) is false in the element that \
the message names.

What to do: check the arguments of the launch, or correct the kernel.";

    TOO_LONG = "E1012", "a program does not come to an end",
"The program ran more operations than the limit allows. Programs run one after the other here when a kernel uses \
locks, so one that waits for a program with a higher number waits forever.

    while tl.atomic_add(flag, 0) == 0: pass      # set by a later program

If an iteration of a loop changes nothing, the loop is reported at once. Work is counted by operations and elements: \
an operation is one unit, and one more for every 16 elements; `--max-ops` says how many units a program may take, \
`--timeout` how many seconds the launch.

What to do: check the loop's condition; raise the limit if the kernel really runs this long.";

    TOO_DEEP = "E1013", "a function calls itself",
"A device has no stack for recursion in a kernel, and neither has the interpreter.

What to do: write the recursion as a loop.";

    BAD_NPY = "E1014", "a NumPy file cannot be read",
"The interpreter reads `.npy` files of versions 1 to 3 with plain numbers: booleans, integers of 8 to 64 bits, floats \
of 16 to 64 bits, and `V2` or `uint16` for bfloat16. Objects, strings, complex numbers and big-endian data are not \
supported.

What to do: save with `np.save(file, np.ascontiguousarray(x))`.";

    UNREACHABLE = "E1015", "control reached a place that the program declares unreachable",
"`ub.unreachable` promises that control never gets there. This is a defect of the kernel, or of the pass that put it \
there.

What to do: correct the condition that leads there. If the kernel does not hold the operation, please report it.";

    NULL_POINTER = "E1016", "an access through a pointer into no buffer",
"The address lies in none of the launch's buffers: a null pointer, an integer cast to a pointer, or an address read \
from memory that was never a pointer.

What to do: trace where the pointer comes from (`--trace LINE` prints its value).";

    BAD_CASE = "E1017", "a case file is wrong",
"The `.toml` beside a kernel says how to run it: grid, parameters, constants and arguments. Strings in it are \
expressions over the parameters; text is written with quotes inside of the string. Every parameter of the kernel needs \
an argument, a constant, or a default value.

    grid = [\"cdiv(n, BLOCK)\"]
    [params]
    n = [1000, 1]
    [constants]
    BLOCK = 256
    [args.x_ptr]
    shape = [\"n\"]
    dtype = \"fp32\"
    fill = \"normal\"

What to do: compare the file with docs/interpreter.md, which lists all keys.";

    UNDEFINED = "E1018", "an undefined element is used",
"A load with a mask and without `other` leaves the elements undefined whose mask is false: on a device they are \
whatever the register held. Here one of them was stored, or became part of an address, a mask, a condition or an \
atomic operation, perhaps after a reduction or a product that combined it with others. The message names the load and \
the use.

    v = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr, tl.min(v, 0))              # the least of what was loaded and of what was not

Elements that the use's own mask leaves out are no fault, and `tl.where(mask, v, 0)` makes all of them defined. The \
same holds for a block pointer's `boundary_check` without `padding_option`, and for what a masked atomic operation \
returns.

What to do: give the load `other=…`, a value that does not matter to what follows: 0 for a sum, `float('-inf')` for a \
maximum.";

    BROKEN_PROMISE = "E1019", "a promise of the kernel does not hold",
"`tl.multiple_of`, `tl.max_contiguous`, `tl.max_constancy` and `tl.assume` tell the compiler what it may rely on. It \
does not check them. If a load of four elements at once does not start at a multiple of 16 bytes, it stops the kernel \
or reads other elements.

    offs = tl.multiple_of(tl.load(start_ptr), 16) + tl.arange(0, BLOCK)    # start is 1

What to do: promise what always holds. `tl.max_contiguous(offs % n, BLOCK)` holds only where BLOCK divides n.";

    NOT_FINITE = "E1020", "a NaN or an infinity is made",
"`--check nan` looks for the operation that is the first to make one: its operands have none. The message gives the \
operands of the element.

    e = tl.exp(x - tl.max(x, 0))                 # -inf - -inf where a whole row is masked

Constants and loaded values are not reported, nor is a result that is no NaN of an operation on an infinity.

What to do: guard the operation, for instance with `tl.where` on its operand.";

    TOO_MUCH_MEMORY = "E1021", "the launch takes too much memory",
"Buffers, what the checks remember about them (who wrote each element), and the values of the running programs share \
one limit, so that a wrong size ends with this message and not with the machine out of memory.

    ttc interpret add.tk --arg x=fp32[4294967296]

What to do: use smaller sizes, or raise the limit with `--max-memory 16G`. Without `races` in `--check` a launch takes \
about a third as much.";

    UNEXPECTED = "E1022", "a result is not what was expected",
"`--expect out=ref.npy` compares a buffer with a NumPy file after the run, element by element: `|got - want| / max(1, \
|want|)` must not be above `--tolerance`, or the case's tolerance, or 0. The message counts the elements that differ \
and shows the worst one.

What to do: `--trace LINE --program X,Y,Z` shows what a line computes in the program that stores the element.";
}
