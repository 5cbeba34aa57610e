//! E02xx: names, calls, constexpr values, signatures.

super::codes! {
    UNKNOWN_NAME = "E0201", "name that is not defined", "The name is neither a local, nor defined in the file, nor a builtin; or it has a value only on some paths.\n\n```python\nfor i in range(n):\n    last = i\ntl.store(p, last)  # the loop may not run\n```\n\nCheck the spelling, or give the name a value before the loop or `if`.";
    UNKNOWN_ATTRIBUTE = "E0202", "attribute that does not exist", "The package or value has nothing of this name.\n\n```python\ny = tl.expp(x)\n```\n\nCheck the spelling; `ttc` follows Triton 3.9.";
    NOT_CALLABLE = "E0203", "call of something that is no function", "Only functions, types and methods can be called.\n\n```python\nx = tl.float32(y)\n```\n\nTo convert, write `y.to(tl.float32)`.";
    BAD_ARGUMENTS = "E0204", "arguments that do not fit", "Too many or too few arguments, a keyword that does not exist, or a value that is no choice.\n\n```python\ntl.load(p, msk=m)\n```\n\nThe message lists the parameters.";
    NOT_CONSTEXPR = "E0205", "value that is not known at compile time", "Shapes, axes, options and the like must be known when the kernel is compiled.\n\n```python\noffs = tl.arange(0, n)  # n is a run-time parameter\n```\n\nUse a literal or a parameter annotated `tl.constexpr`.";
    RECURSION = "E0206", "recursion", "A function calls itself, directly or through others, or calls nest too deep. GPUs have no call stack for that.\n\nWrite a loop.";
    UNSUPPORTED = "E0207", "part of the language that is not supported yet", "The name exists in Triton, but this compiler cannot lower it yet.";
    NOT_IN_KERNELS = "E0208", "Python that is not part of the kernel language", "Kernels are written in a subset of Python.\n\n```python\nwith open(f): ...\n```\n\nThe message says what to write instead, where there is something.";
    UNKNOWN_VALUE = "E0209", "name of something that kernels cannot use", "The file defines the name, but as nothing known at compile time: the result of host code, a class, or an import that cannot be found.\n\n```python\ndevice = torch.device(0)\n@triton.jit\ndef k(p): tl.store(p, device)\n```\n\nKernels can use constants, dtypes, `tl.constexpr` values and `@triton.jit` functions. For imports pass the folder with `-I`.";
    STATIC_ASSERT = "E0210", "static assertion that does not hold", "`tl.static_assert` was given a condition that is false for these compile-time values.";
    CONST_EVAL = "E0211", "compile-time operation without a value", "A division by zero, a negative shift or a result that does not fit.\n\n```python\nN: tl.constexpr = 1 // 0\n```";
    UNKNOWN_KERNEL = "E0212", "kernel that does not exist", "The file has no `@triton.jit` function of this name, or none at all.";
    AMBIGUOUS_KERNEL = "E0213", "several kernels to choose from", "The file has more than one kernel. Name one with `-k`.";
    SIGNATURE_LENGTH = "E0214", "signature of the wrong length", "A signature has one item for each parameter of the kernel, compile-time ones included.\n\n```text\n--signature \"*fp32:16, *fp32:16, i32, 1024\"\n```";
    SIGNATURE_TYPE = "E0215", "signature item that is no type", "An item of a signature is a type (`i32`, `*fp16:16`), a literal, or `constexpr`.";
    MISSING_PARAMETER = "E0216", "parameter without type or value", "Every parameter needs a type, every compile-time parameter a value.\n\n```text\nttc compile add.tk -D BLOCK=1024 --signature \"*fp32, i32, constexpr\"\n```\n\nIn a `.tk` file annotations can say it: `x_ptr: \"*fp32:16\"`, `BLOCK: tl.constexpr = 1024`.";
    BAD_DEFINE = "E0217", "compile-time value that cannot be used", "`-D NAME=VALUE` names a parameter that does not exist, or its value is no literal, dtype, tuple or function of the file.\n\n```text\n-D ACT=gelu   # a string needs quotes: -D \"ACT='gelu'\"\n```";
    REASSIGNED = "E0218", "compile-time value that is changed at run time", "A name that holds a compile-time value cannot be changed by a run-time loop, nor a run-time name become a compile-time one.\n\n```python\nfor i in range(n):\n    BLOCK += 1\n```\n\nAssign it to another name first.";
    UNPACK = "E0219", "unpacking that does not fit", "The number of names differs from the number of values.\n\n```python\na, b = tl.program_id(0)\n```";
    RETURN_IN_LOOP = "E0220", "return from inside a loop", "Run-time loops have one way out.\n\n```python\nfor i in range(n):\n    if i == m:\n        return\n```\n\nPut the condition into the bounds, a mask, or the condition of a `while`.";
    TOO_LARGE = "E0221", "kernel that unrolls without end", "Unrolling and compile-time loops produced too many statements.\n\nUse `range` instead of `tl.static_range`.";
    RAISED = "E0222", "exception raised while compiling", "The kernel reaches a `raise` for these compile-time values.";
}
