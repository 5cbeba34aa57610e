//! Advice for messages: what stands here for words that people bring from Python, NumPy and PyTorch.
//!
//! 1. [`instead_of`] knows words that are no misspelling but come from elsewhere: `mean`, `relu`, `float8`,
//!    `np.maximum`.
//! 2. [`host_package`] and [`missing_import`] know the packages that kernel files import or forget to import.
//! 3. [`statement`] says what to write instead of a statement that kernels do not have.
//!
//! Example: for `x.mean()` the advice is `tl.sum(x, axis) / n`. For misspelt words there is [`crate::diag::suggest`].

/// Functions that people look for in `tl`, on tensors, in NumPy and in PyTorch: their names, and what to write.
const FUNCTIONS: &[(&[&str], &str)] = &[
    (&["mean", "average"], "there is no mean: write `tl.sum(x, axis) / n`, with the number of elements that count"),
    (
        &["var", "std"],
        "the mean is `m = tl.sum(x, axis, keep_dims=True) / n`, and the variance `tl.sum((x - m) * (x - m), axis) / n`; the standard deviation is `tl.sqrt` of it",
    ),
    (&["norm"], "write `tl.sqrt(tl.sum(x * x, axis))`"),
    (&["relu"], "write `tl.maximum(x, 0.0)`"),
    (
        &["gelu", "silu", "swish"],
        "write it out: silu is `x * tl.sigmoid(x)`; gelu is made of `tl.erf`, or of `libdevice.tanh`",
    ),
    (&["sign", "sgn"], "write `tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0))`"),
    (&["fmax"], "use `tl.maximum(x, y)`"),
    (&["fmin"], "use `tl.minimum(x, y)`"),
    (&["div", "divide", "true_divide"], "write `x / y`, or `x // y` for integers; `tl.cdiv(x, y)` rounds up"),
    (&["floor_divide"], "write `x // y`"),
    (&["mod", "remainder"], "write `x % y`"),
    (&["neg", "negative"], "write `-x`"),
    (&["tril"], "write `tl.where(rows[:, None] >= cols[None, :], x, 0.0)`"),
    (&["triu"], "write `tl.where(rows[:, None] <= cols[None, :], x, 0.0)`"),
    (&["square"], "write `x * x`"),
    (&["reciprocal"], "write `1.0 / x`"),
    (&["popcount"], "libdevice has it: `from triton.language.extra import libdevice`, then `libdevice.popc(x)`"),
    (&["pi"], "write the number: `3.141592653589793`"),
    (&["log2e"], "write the number: `1.4426950408889634`"),
    (&["inf", "infty", "infinity", "Inf"], "write `float(\"inf\")`"),
    (&["nan", "NaN", "NAN"], "write `float(\"nan\")`"),
    (&["ndim", "dim"], "the number of dimensions is `len(x.shape)`"),
    (&["reduce_sum"], "use `tl.sum(x, axis)`"),
    (&["reduce_max", "amax"], "use `tl.max(x, axis)`"),
    (&["reduce_min", "amin"], "use `tl.min(x, axis)`"),
    (
        &["pow", "power"],
        "use `libdevice.pow(x, y)` (`from triton.language.extra import libdevice`), or `x * x` for a square",
    ),
    (&["matmul", "mm", "bmm", "einsum"], "use `tl.dot(a, b)`"),
    (&["absolute", "fabs"], "use `tl.abs(x)`"),
    (&["concatenate", "concat", "cat", "hstack"], "use `tl.cat(a, b)`, which puts one tensor after the other"),
    (&["stack", "vstack"], "use `tl.join(a, b)`, which puts two tensors side by side along a new last dimension"),
    (&["transpose", "t"], "use `tl.trans(x)`, or `tl.permute(x, order)`"),
    (&["empty", "empty_like"], "use `tl.zeros(shape, dtype)`: a tensor of a kernel always has values"),
    (&["ones", "ones_like"], "use `tl.full(shape, 1, dtype)`"),
    (&["linspace"], "use `tl.arange(0, n)` and compute from it"),
    (&["clip"], "use `tl.clamp(x, min, max)`"),
    (&["prod"], "use `tl.reduce(x, axis, f)` with a `@triton.jit` function that multiplies"),
    (&["unsqueeze"], "use `tl.expand_dims(x, axis)`, or `x[:, None]`"),
    (&["flatten"], "use `tl.ravel(x)`"),
    (&["repeat", "tile", "expand"], "use `tl.broadcast_to(x, shape)`"),
    (&["isclose", "allclose"], "compare with `tl.abs(a - b) < eps`"),
    (&["float"], "the type is `tl.float32`; convert with `x.to(tl.float32)`"),
    (&["half"], "the type is `tl.float16`; convert with `x.to(tl.float16)`"),
    (&["bfloat16"], "convert with `x.to(tl.bfloat16)`"),
    (&["double"], "the type is `tl.float64`; convert with `x.to(tl.float64)`"),
    (&["int"], "the type is `tl.int32`; convert with `x.to(tl.int32)`"),
    (&["long"], "the type is `tl.int64`; convert with `x.to(tl.int64)`"),
    (&["astype", "type_as"], "convert with `x.to(dtype)`"),
    (&["size"], "the shape of a tensor is `x.shape`; that of an array in memory is to be passed to the kernel"),
    (&["stride", "strides"], "a kernel sees addresses, not arrays: pass strides as integer parameters"),
    (&["data_ptr"], "a pointer parameter is the address already: leave `.data_ptr()` out"),
    (
        &["element_ty"],
        "the type of what a pointer points to is `x_ptr.dtype.element_ty`; that of a tensor's elements is `x.dtype`",
    ),
    (&["float8", "fp8", "float8_e4m3"], "the 8-bit floats are `tl.float8e5` and `tl.float8e4nv`"),
    (&["float8_e4m3fn"], "it is `tl.float8e4nv` here"),
    (&["float8_e5m2"], "it is `tl.float8e5` here"),
    (&["fp16"], "it is `tl.float16`"),
    (&["fp32"], "it is `tl.float32`"),
    (&["fp64"], "it is `tl.float64`"),
    (&["bf16"], "it is `tl.bfloat16`"),
    (&["int4", "uint4", "float4"], "4-bit values are unpacked from bytes by shifts and masks"),
    (&["bool", "bool_"], "it is `tl.int1`"),
    (&["constexp", "const_expr", "constant"], "it is `tl.constexpr`"),
    (&["printf"], "use `tl.device_print(\"x\", x)`"),
    (
        &["syncthreads", "__syncthreads", "barrier"],
        "use `tl.debug_barrier()`; a kernel rarely needs it, the compiler puts barriers where they are needed",
    ),
    (
        &["thread_id", "threadIdx", "block_id", "blockIdx"],
        "use `tl.program_id(axis)`; what one thread does is up to the compiler",
    ),
    (&["num_blocks", "gridDim"], "use `tl.num_programs(axis)`"),
    (
        &[
            "_experimental_descriptor_load",
            "_experimental_descriptor_store",
            "_experimental_make_tensor_descriptor",
            "experimental_device_tensormap_create2d",
            "experimental_tensormap_fenceproxy_acquire",
        ],
        "Triton replaced it: make a descriptor with `tl.make_tensor_descriptor`, then `desc.load([offsets])` and `desc.store([offsets], x)`",
    ),
    (&["atomic_sub"], "use `tl.atomic_add(p, -x)`"),
    (&["atomic_inc"], "use `tl.atomic_add(p, 1)`"),
    (&["atomic_dec"], "use `tl.atomic_add(p, -1)`"),
    (&["atomic_exch"], "use `tl.atomic_xchg(p, x)`"),
    (&["any"], "use `tl.max(x.to(tl.int32), axis) != 0`"),
    (&["all"], "use `tl.min(x.to(tl.int32), axis) != 0`"),
];

/// What to write instead of a function or type of another library.
#[must_use]
pub fn instead_of(word: &str) -> Option<String> {
    FUNCTIONS.iter().find(|(words, _)| words.contains(&word)).map(|(_, advice)| (*advice).to_owned())
}

/// What to write instead of a name that Python, C or another language has and kernels do not.
#[must_use]
pub fn python_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "true" => "write `True`",
        "false" => "write `False`",
        "null" | "nullptr" | "NULL" | "none" | "nil" => "write `None`",
        "pow" => "write `x ** y` at compile time; tensors take `libdevice.pow(x, y)`, or `x * x` for a square",
        "type" => "the type of a tensor's elements is `x.dtype`; ask for a class with `isinstance(x, tl.tensor)`",
        "divmod" => "write `a // b` and `a % b`",
        "round" => "tensors take `libdevice.round(x)`; at compile time ttc does not round: give the value with -D",
        "open" => "no file is read at compile time: pass what it holds as a parameter, or give the value with -D",
        "input" | "exec" | "eval" | "compile" | "globals" | "locals" => {
            "kernels are compiled without Python: compute it on the host, and pass the result as a parameter"
        }
        "hash" | "id" | "iter" | "next" | "super" | "object" | "set" | "frozenset" | "bytes" | "callable" | "vars"
        | "dir" | "repr" | "format" | "ord" | "chr" | "hex" | "bin" | "oct" | "setattr" | "complex" | "slice"
        | "ascii" | "bytearray" | "delattr" | "issubclass" => {
            "kernels do not have this function of Python: compute it on the host, and pass the result as a parameter"
        }
        _ => return None,
    })
}

/// Whether Python's `math` has a function of this name.
#[must_use]
pub fn is_of_math(name: &str) -> bool {
    [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "comb",
        "copysign",
        "cos",
        "cosh",
        "degrees",
        "dist",
        "erf",
        "erfc",
        "exp2",
        "expm1",
        "fabs",
        "factorial",
        "fma",
        "fmod",
        "frexp",
        "fsum",
        "gamma",
        "gcd",
        "hypot",
        "isclose",
        "isfinite",
        "isinf",
        "isnan",
        "isqrt",
        "lcm",
        "ldexp",
        "lgamma",
        "log1p",
        "modf",
        "nextafter",
        "perm",
        "pow",
        "prod",
        "radians",
        "remainder",
        "sin",
        "sinh",
        "sumprod",
        "tan",
        "tanh",
        "tau",
        "trunc",
        "ulp",
    ]
    .contains(&name)
}

/// Packages of the host that kernel files import, with the names they usually get: nothing of them runs on the GPU.
const HOST_PACKAGES: &[(&str, &str, &str)] = &[
    ("numpy", "np", "NumPy"),
    ("torch", "torch", "PyTorch"),
    ("scipy", "scipy", "SciPy"),
    ("cupy", "cp", "CuPy"),
    ("jax", "jnp", "JAX"),
    ("tensorflow", "tf", "TensorFlow"),
    ("pandas", "pd", "pandas"),
];

/// How a package of the host is called, by the path of an import or the name that it usually gets. `None` for the parts
/// of PyTorch that have functions for kernels: they are found with -I like other files.
#[must_use]
pub fn host_package(path: &[String]) -> Option<&'static str> {
    let name = path.first()?;
    if path.len() > 1 && name == "torch" && path[1] == "_inductor" {
        return None;
    }
    HOST_PACKAGES.iter().find(|(module, usual, _)| *module == name || *usual == name).map(|p| p.2)
}

/// The import that is missing where a name that files usually import is not defined.
#[must_use]
pub fn missing_import(name: &str) -> Option<&'static str> {
    Some(match name {
        "tl" => "import it: `import triton.language as tl`",
        "triton" => "import it: `import triton`",
        "math" => "import it at the top of the file: `import math`; on tensors use `tl.exp`, `tl.sqrt` and the like",
        "libdevice" => "import it: `from triton.language.extra import libdevice`",
        "np" | "numpy" | "torch" | "jnp" | "cp" => {
            "a kernel runs on the GPU: use the functions of `triton.language`, such as `tl.exp`"
        }
        _ => return None,
    })
}

/// What to write instead of a statement that kernels do not have, by its keyword.
#[must_use]
pub fn statement(keyword: &str) -> &'static str {
    match keyword {
        "try" | "except" | "finally" => {
            "nothing is raised on a GPU: test for the special case with `if` or `tl.where`, and guard memory accesses with `mask=`"
        }
        "with" | "async with" => "there is nothing to open or close on a GPU: write the body without it",
        "class" => {
            "pass values one by one or as a tuple; functions stand at the top level of the file, with `@triton.jit`"
        }
        "match" | "case" => "write `if` and `elif`; on compile-time values they cost nothing",
        "del" => "leave it out: the compiler frees what is not used any more",
        "global" | "nonlocal" => "a kernel cannot change variables outside of it: return the value, or `tl.store` it",
        "import" => "move the import to the top of the file",
        "yield" => "a function of a kernel returns once: return a tuple, or `tl.store` each value",
        "await" | "async" => "loads are asynchronous by themselves: `num_stages` says how far loops run ahead",
        "type" => "leave it out: types follow from the values",
        _ => "write it without this statement",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_from_elsewhere_have_advice() {
        assert!(instead_of("atomic_inc").is_some_and(|a| a.contains("tl.atomic_add(p, 1)")));
        assert!(instead_of("mean").is_some());
        assert_eq!(instead_of("arange"), None);
    }
}
