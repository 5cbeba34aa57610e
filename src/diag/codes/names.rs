//! E02xx: names, calls, constexpr values, signatures.

crate::diag::code::codes! {
    UNKNOWN_NAME = "E0201", "name that is not defined",
"The name is neither a local, nor defined in the file, nor a builtin; or it has a value only on some paths.

```python
for i in range(n):
    last = i
tl.store(p, last)  # the loop may not run
```

Check the spelling, or give the name a value before the loop or `if`.";
    UNKNOWN_ATTRIBUTE = "E0202", "attribute that does not exist",
"The package or value has nothing of this name.

```python
y = tl.expp(x)
```

Check the spelling. `ttc` follows Triton 3.9.";
    NOT_CALLABLE = "E0203", "call of something that is no function",
"Only functions, types and methods can be called.

```python
x = tl.float32(y)
```

To convert, write `y.to(tl.float32)`.";
    BAD_ARGUMENTS = "E0204", "arguments that do not fit",
"The call has too many or too few arguments, a keyword that does not exist, or a value that is none of the choices.

```python
tl.load(p, msk=m)
```

The message lists the parameters.";
    NOT_CONSTEXPR = "E0205", "value that is not known at compile time",
"Shapes, axes, options and the like must be known when the kernel is compiled.

```python
offs = tl.arange(0, n)  # n is a run-time parameter
```

Use a literal or a parameter annotated `tl.constexpr`.";
    RECURSION = "E0206", "recursion",
"A function calls itself, directly or through others, or calls nest too deeply. GPUs have no call stack for that.

Write a loop.";
    UNSUPPORTED = "E0207", "part of the language that is not supported yet",
"The name exists in Triton, but this compiler cannot lower it yet.

```python
first = tl.slice(0, 2, None)
```

Say it in another way where there is one.";
    NOT_IN_KERNELS = "E0208", "Python that is not part of the kernel language",
"Kernels are written in a subset of Python.

```python
with open(f): ...
```

The message says what to write instead, where there is something.";
    UNKNOWN_VALUE = "E0209", "name of something that kernels cannot use",
"The file defines the name, but as nothing known at compile time: the result of host code, a class, or something of \
NumPy or PyTorch.

```python
device = torch.device(0)
@triton.jit
def k(p): tl.store(p, device)
```

Kernels can use constants, dtypes, `tl.constexpr` values and `@triton.jit` functions. `-D NAME=EXPR` gives a value to \
any name of the file: `-D rsqrt=tl.math.rsqrt`. A constant that host code changes in a loop, through `global` or in \
place (`X.append(1)`), or that hangs on a test of the host, counts as a result of host code, because nothing is \
executed.";
    STATIC_ASSERT = "E0210", "static assertion that does not hold",
"`tl.static_assert` was given a condition that is false for these compile-time values.

```python
tl.static_assert(BLOCK % 256 == 0, \"BLOCK must be a multiple of 256\")
```

The message is the assertion's own; change the values with `-D` or in the signature.";
    CONST_EVAL = "E0211", "compile-time operation without a value",
"A compile-time operation divides by zero, shifts by a negative number, or has a result that does not fit.

```python
N: tl.constexpr = 1 // 0
```

Check the values that it gets, from the file, the signature or `-D`.";
    UNKNOWN_KERNEL = "E0212", "kernel that does not exist",
"The file has no `@triton.jit` function of this name, or none at all.

```text
ttc compile add.tk -k ad_kernel
```

`ttc list FILE` shows the kernels of a file.";
    AMBIGUOUS_KERNEL = "E0213", "several kernels to choose from",
"The file has more than one `@triton.jit` function that could be the kernel.

```text
ttc compile attention.tk -k forward
```

Name one with `-k`; `ttc list FILE` shows them all with their parameters.";
    SIGNATURE_LENGTH = "E0214", "signature of the wrong length",
"A signature has one item for each parameter of the kernel, compile-time ones included.

```text
--signature \"*fp32:16, *fp32:16, i32, 1024\"
```";
    SIGNATURE_TYPE = "E0215", "signature item that is no type",
"An item of a signature is a type (`i32`, `*fp16:16`), a literal, or `constexpr`.

```text
--signature \"*fp32:16, i32, 128\"
```

The message lists the types there are. `:16` is for pointers and integers: a float has no multiples that a launch \
could check.";
    MISSING_PARAMETER = "E0216", "parameter without type or value",
"Every parameter needs a type, every compile-time parameter a value. The message holds options to copy. They are \
guesses from how the kernel uses its parameters: correct them.

```text
ttc compile add.py --type \"*_ptr=*fp32:16\" --type n=i32 -D BLOCK=1024
```

`ttc list --template FILE` prints the whole command, and a case file for `ttc interpret`.

In a `.tk` file annotations can say it: `x_ptr: \"*fp32:16\"`, `BLOCK: tl.constexpr = 1024`.";
    BAD_DEFINE = "E0217", "compile-time value that cannot be used",
"`-D NAME=VALUE` names a parameter that does not exist, or its value is no literal, dtype, tuple or function of the \
file.

```text
-D ACT=gelu   # a string needs quotes: -D \"ACT='gelu'\"
```";
    REASSIGNED = "E0218", "compile-time value that is changed at run time",
"A name that holds a compile-time value cannot be changed by a run-time loop, nor a run-time name become a \
compile-time one.

```python
for i in range(n):
    BLOCK += 1
```

Assign it to another name first.";
    UNPACK = "E0219", "unpacking that does not fit",
"The number of names differs from the number of values.

```python
a, b = tl.program_id(0)
```

Write as many names as there are values.";
    RETURN_IN_LOOP = "E0220", "return from inside a loop",
"Run-time loops have one way out.

```python
for i in range(n):
    if i == m:
        return
```

Put the condition into the bounds, a mask, or the condition of a `while`.";
    TOO_LARGE = "E0221", "kernel that unrolls without end",
"Unrolled loops, compile-time loops and calls produced more operations, statements or values than `--max-ops` allows.

Use `range` instead of `tl.static_range`, or raise `--max-ops`.";
    RAISED = "E0222", "exception raised while compiling",
"The kernel reaches a `raise` for these compile-time values.

```python
if KIND == \"relu\":
    y = tl.maximum(x, 0.0)
else:
    raise ValueError(KIND)
```

Pass values that the kernel provides for.";
    CONFIGS = "E0223", "configurations that cannot be evaluated",
"`--config` was given, but the list of `@triton.autotune` cannot be known without running the file: it reads files, \
asks the device, or calls what cannot be found.

```python
@triton.autotune(configs=load_from_yaml(\"mm\"), key=[\"M\"])
```

Give the values with `-D` and the options with `--num-warps` and the like. For imports pass the folder with `-I`.";
    NO_CONFIG = "E0224", "configuration that does not exist",
"`--config N` counts the configurations of `@triton.autotune` from 0.

```text
ttc compile mm.py -k mm --config 7
```

`ttc list FILE` shows them; `--config all` takes each.";
    BAD_CONFIG = "E0225", "configuration that does not fit the kernel",
"A configuration or a heuristic gives a value for something that is no parameter of the kernel, or an option that no \
launch can have.

```python
triton.Config({\"BLOK\": 128}, num_warps=3)
```

The number of warps is a power of two up to 32.";
    HEURISTIC = "E0226", "heuristic that needs a launch",
"`@triton.heuristics` computes the parameter from values that exist only at a launch.

```python
@triton.heuristics({\"EVEN_K\": lambda args: args[\"K\"] % args[\"BLOCK_K\"] == 0})
```

Give its value: `-D EVEN_K=True` compiles the variant for launches where that holds. Whether an argument is `None` is \
known: it is not, unless the signature or `-D` says so.";
    IMPORT = "E0227", "import that cannot be found",
"A kernel uses a name whose import leads nowhere: there is no such file, or the file does not define the name.

```python
from my_utils.act import silu
```

Imports are looked for in the folder of the file, in the folders above it, and in those of `-I` (and `src` and \
`python` in them). Imports that no kernel uses need not exist.

Where there is no such file, `tl`, `triton`, `libdevice` and `tldevice` are taken for the parts of Triton that everybody \
calls so, with a warning: many projects import them by way of a file of their own, which a copied kernel lacks.";
    DOUBTFUL = "E0228", "code that means something else than it seems to",
"This is a warning. The kernel compiles as Triton compiles it, or compiled it once, but it should be written in \
another way:

- `and` and `or` on tensors compute both sides for every element: write `&` and `|`, with parentheses around \
comparisons.
- `is` with a string or a number asks for identity, which Python does not promise: write `==`.
- A scalar indexed with `[:, None]` is a tensor of one element only in Triton up to 3.6.
- A number may not fit the integer type that it is compared with: Triton 3.9 refuses that, earlier releases cut the \
number off.
- An integer given to `tl.full` may not fit its type: Triton takes the lower bits, so that 300 as an int8 is 44.

```python
mask = (offs < n) and (offs > 0)  # write: (offs < n) & (offs > 0)
```";
    BAD_TYPE = "E0229", "type by name that cannot be used",
"`--type NAME=TYPE` fits no parameter of the kernel, two of them disagree about a parameter, or the parameter is a \
`tl.constexpr`, which has a value and no type.

```text
ttc compile add.py --type \"x_*=*fp32\" --type \"*_ptr=*fp16\"   # x_ptr is which?
```

A name in full wins over a pattern, and a variant over both. `*` stands for any text and `?` for one character. A \
pattern passes over compile-time parameters.";
}
