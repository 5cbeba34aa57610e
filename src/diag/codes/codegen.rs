//! E07xx: code generation and limits of the target.

crate::diag::code::codes! {
    UNSUPPORTED_OP = "E0701", "an operation has no code generation yet",
"ttc reads, verifies and prints this operation, but cannot turn it into LLVM IR. If there is another reason than that \
nobody has written it yet, the message gives it.

    %old = tt.atomic_rmw add, relaxed, gpu, %p, %x : (!tt.ptr<i16>, i16) -> i16

What to do: write it with operations that the hardware has (here: 32 bits), or finish the module with another \
compiler: the TTGIR that `--emit ttgir` writes is Triton's.";

    UNSUPPORTED_TYPE = "E0702", "a type has no form in LLVM IR",
"A value of this type reached code generation, which knows integers, floats, pointers to global memory and tensors of \
those.

    %p = ub.poison : !tt.tensordesc<64x64xf16>        (below sm_90, where no hardware reads descriptors)

What to do: an earlier pass should have replaced the value; run the whole pipeline instead of single passes.";

    NO_LAYOUT = "E0704", "a tensor has no layout that code generation can use",
"Code generation places every element of a tensor in a register of a thread. The tensor's type must carry an encoding \
for that, and the encoding must fit the shape.

    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>

What to do: run `convert-triton-to-tritongpu` first, or start from a `.ttir` file and let ttc run its pipeline.";

    NO_KERNEL = "E0705", "the module has no kernel",
"A kernel is a public `tt.func` with a body. In LLVM IR it is a function with the calling convention `ptx_kernel`.

    module { tt.func private @helper() { tt.return } }

What to do: make the function public.";

    BAD_CALL = "E0706", "a function that cannot be called",
"Calls that the pass `inline` leaves become calls on the GPU. Most of them are calls of functions marked `noinline`. \
The function must be private, have a body in the module, and not call itself, directly or through others.

    tt.func private @count(%n: i32) -> i32 attributes {noinline = true} {
      %0 = tt.call @count(%n) : (i32) -> i32
      tt.return %0 : i32
    }

What to do: write a loop, or put the function's body into the module.";

    UNSUPPORTED_CONVERSION = "E0707", "the target cannot convert between these float types",
"Conversions from and to f8E4M3FN need instructions of sm_89 and later. Other 8-bit formats have no conversion at all.

    %1 = tt.fp_to_fp %0, rounding = rtne : tensor<128xf32, #blocked> -> tensor<128xf8E4M3FN, #blocked>

What to do: compile for sm_89 or later, or use f8E5M2.";

    BAD_LLIR = "E0708", "the LLVM IR cannot be read",
"The `.llir` file is not LLVM IR as LLVM 22 reads it, or breaks LLVM's rules.

What to do: the message names the place. LLVM IR of newer releases may need `opt` or `llvm-dis` of that release to be \
rewritten.";

    LLVM_FAILED = "E0709", "LLVM gave up",
"LLVM ended with a fatal error. In most cases the target has no instruction for an operation that the input asks for \
(an intrinsic of a newer architecture, say), or inline assembly does not fit its constraints.

What to do: compile for the architecture that the input was written for. If the input was a kernel, this is a defect \
in ttc: please report it.";

    DEFECT = "E0710", "ttc made invalid LLVM IR",
"Code generation produced something that LLVM's verifier rejects. This is a defect in ttc, whatever the input.

What to do: report it with the input file. `--emit ttgir` gives a module that another compiler can finish.";

    LIMITS = "E0711", "the kernel exceeds a limit of the target",
"Warps per block, blocks per cluster, registers per thread and bytes of parameters have limits that the hardware sets.

    module attributes {\"ttg.num-warps\" = 64 : i32} { … }

What to do: use fewer warps (at most 32), blocks (at most 8) or registers (at most 255). Parameters take at most \
32,764 bytes: pass more in a buffer.";

    BAD_LIBRARY = "E0712", "a function of an external library cannot be linked",
"`tt.extern_elementwise` calls functions of NVIDIA's libdevice. Other libraries are not supported, and the function \
must exist.

    tt.extern_elementwise %x {libname = \"libdevice\", libpath = \"\", symbol = \"__nv_no_such\", pure = true} : (f32) \
-> f32

What to do: check the function's name in the libdevice documentation; `--libdevice` names the file.";

    BAD_INLINE_ASM = "E0713", "inline assembly does not fit its operands",
"The constraints of `tt.elementwise_inline_asm` must name one output for each 32-bit word of the results and one input \
for each word of the operands. Elements narrower than 32 bits are packed into words, `packed_element` elements at a \
time.

    tt.elementwise_inline_asm \"add.u32 $0, $1, $2;\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = true} \
%a, %b : …

What to do: count the constraints: `=r,r,r` for one result and two operands of 32 bits.";

    SHARED_LIMIT = "E0714", "the kernel needs more shared memory than a block can have",
"Buffers in shared memory that are alive at the same time must fit into what the hardware gives one block: 99 KiB to \
227 KiB, depending on the architecture. The message names the largest ones.

    %0 = ttg.local_alloc : () -> !ttg.memdesc<8x128x128xf16, #shared, #smem, mutable>

What to do: use fewer pipeline stages (`num_stages`), each of which keeps a copy of the loop's buffers, or smaller \
blocks. Where fewer stages suffice, the kernel gets the most that fit, and this is a warning; `--pipeline all-stages` \
makes it an error.";

    CLUSTER = "E0715", "the target has no clusters",
"With `num_ctas` above 1 a program is a cluster of blocks that share its tensors and reach into each other's shared \
memory. GPUs have clusters from sm_90 on.

    ttc compile matmul.tk --num-ctas 2 --arch sm_80

What to do: compile with `--num-ctas 1`, or for sm_90 or later; the grid stays as it is, and one block does the work \
of a program.";

    TOO_MANY_VALUES = "E0716", "a kernel that is too large to compile",
"Every element of a tensor that a thread holds becomes instructions of its own. Tiles of many elements on few warps, \
or long unrolled bodies, become millions, on which LLVM and ptxas work for minutes and fill gigabytes.

    ttc compile wide.tk -D BLOCK=1048576 --num-warps 1

What to do: use smaller blocks, more warps, or loops (`range`) instead of unrolled code. `--max-ops` raises the limit: \
an eighth of it is how many values one thread may compute.";

    KERNEL_NAME = "E0730", "a kernel's name cannot stand in PTX",
"A kernel keeps its name in PTX and in the cubin, where the launcher looks for it. There a name has letters from a to \
z, digits, `_` and `$`, and does not start with a digit (PTX ISA, \"Identifiers\"). Python allows more.

```python
@triton.jit
def größe(x: \"*fp32\"):
    ...
```

What to do: rename the kernel. Functions that it calls may have any name.";
}
