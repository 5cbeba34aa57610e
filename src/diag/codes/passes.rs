//! E06xx: passes and their options.

crate::diag::code::codes! {
    UNKNOWN_PASS = "E0601", "unknown pass",
"A pipeline names a pass that ttc does not have.

```text
ttc opt kernel.ttir --canonicalise
```

The message lists the passes with the most similar names, and `ttc opt --help` lists them all. The names are those of \
Triton and MLIR.";
    BAD_OPTION = "E0602", "bad pass option",
"A pass got an option that it does not have, or a value of the wrong form.

```text
ttc opt kernel.ttir --pass-pipeline 'tritongpu-pipeline{num-stages=many}'
```

Options are written `name{option=value option=value}`. The message names the options of the pass and what they take.";
    PIPELINE_SYNTAX = "E0603", "malformed pipeline",
"A pipeline is a list of passes separated by commas, each with its options in braces: \
`canonicalize,tritongpu-pipeline{num-stages=3},cse`. `builtin.module(…)` around the list is accepted.";
    BROKEN_BY_PASS = "E0604", "a pass produced invalid IR",
"The module was valid before a pass and is not after it. This is a defect in ttc, not in the input: please report it \
together with the input and the pass named in the message. `--dump-dir DIR` writes the module before and after each \
pass.";
    PASS_FAILED = "E0605", "a pass cannot handle the module",
"The module is valid, but holds something that the named pass cannot work with. The message says what it is. Change \
the module accordingly, or leave the pass out.";
    MISSING_ATTRIBUTE = "E0606", "module attribute missing",
"Passes on TTGIR read from the module's attributes what it is compiled for: `\"ttg.num-warps\"`, \
`\"ttg.threads-per-warp\"`, `\"ttg.num-ctas\"` and `ttg.target`. `--convert-triton-to-tritongpu=target=cuda:90` sets \
them on a TTIR module.";
    AXIS_INFO = "E0607", "what axis analysis knows",
"This is a remark of `--test-print-alignment`: for each result of an operation its contiguity, divisibility, constancy \
and, where known, value.";
    MISSING_OPTION = "E0608", "required pass option missing",
"A pass needs an option that was not given: `convert-triton-to-tritongpu` needs `target=cuda:90` or the like.";
    SHARED_MEMORY = "E0609", "what is known of shared memory",
"This is a remark of `--test-print-allocation` (the offset and the size of each buffer in bytes) or of \
`--test-print-alias` (which buffers a memory descriptor may be part of).

```text
%0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>     offset = 0, size = 8192
```";
    SLOWER_DOT = "E0610", "a product cannot use the fastest instruction",
"This is a remark: the GPU has a faster matrix instruction than the one that multiplies here. `wgmma` (sm_90a) takes M \
in multiples of 64, N in multiples of 8, K of at least 32 bytes, a number of warps that 4 divides, and f16, bf16, \
tf32, fp8 or int8 operands. `input_precision=\"ieee\"` keeps f32 products off tensor cores.";
    PIPELINED_IN_REGISTERS = "E0611", "a load waits in registers",
"This is a remark: a load of a pipelined loop is started iterations ahead, but one thread reads fewer than four \
adjacent bytes at a time, so it cannot go to shared memory on its own (`cp.async`) and its values are kept in \
registers. Make the accesses contiguous along the fastest axis and their start divisible by 16 bytes.";
    NOT_PIPELINED = "E0612", "a loop cannot be pipelined",
"This is a remark: the loop has a schedule, but an operation in it can neither run ahead nor be switched off for \
iterations that do not exist. The message names it.";
    NARROW_ACCESS = "E0613", "an access of global memory is narrow",
"This is a remark of `--remarks vectorize`: a thread could move up to 16 bytes at once here, but moves fewer, because \
something is not known of the addresses or of the mask.

```text
def scale(x_ptr: \"*fp32:16\", n: \"i32\", BLOCK: tl.constexpr = 1024):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
```

`n` may be 1021, and then the mask changes inside of four neighbours. The help names the parameters whose divisibility \
is missing: write `n: \"i32:16\"`, or `i32:16` in the signature, if every value it will have is a multiple of 16.";
    SCATTERED_ACCESS = "E0614", "neighbouring threads access scattered addresses",
"This is a remark of `--remarks vectorize`: the elements that the threads of a warp hold side by side are not known to \
be side by side in memory, so each thread may read a sector (32 bytes) of its own. In most cases a stride is a \
parameter that is 1 in practice. Make it a constant then (`stride: tl.constexpr = 1`, or 1 in the signature). \
Addresses that were loaded themselves (a gather) cannot be known.";
    LAYOUT_CONVERSION = "E0615", "a conversion between layouts costs something",
"This is a remark of `--remarks layout`: two operations hold a tensor in different layouts, and its elements move \
between threads by shuffles or through shared memory. The notes say what that costs a warp: instructions, wavefronts \
lost to bank conflicts, barriers. `ttc layout FROM TO SHAPE` shows the plan in full.";
    SHARED_BUFFER = "E0616", "a buffer in shared memory",
"This is a remark of `--remarks shared`: a piece of a block's shared memory, its size and its offset, and what it is \
for. Buffers that are not alive at the same time share bytes. The total limits how many blocks run on a multiprocessor \
at once: smaller blocks or fewer `num_stages` make it smaller.";
    WRONG_STAGE = "E0617", "a pass for another stage",
"Passes on TTGIR ask for the layouts of tensors. `convert-triton-to-tritongpu` and the passes on TTIR work on tensors \
that have none yet.

```text
ttc opt kernel.ttir --tritongpu-coalesce
```

The message names the pass and the tensor. `--convert-triton-to-tritongpu=target=cuda:90` makes TTGIR out of TTIR.";
    TOO_MANY_OPS = "E0618", "a module that grows without end",
"The passes have made more operations than `--max-ops` allows. A few lines are enough for that, if functions call \
others twice each, or loops are unrolled inside of unrolled loops.

```python
@triton.jit
def f(x, n: tl.constexpr):
    if n == 0:
        return x
    return f(x, n - 1) + f(x, n - 1)  # 2 ** n calls
```

Use loops (`range`) instead of `tl.static_range`, `@triton.jit(noinline=True)` for large functions called from many \
places, or raise `--max-ops`.";
    SHARED_MEMORY_UNSAFE = "E0619", "accesses to shared memory are not kept apart",
"`--ttc-check-shared-memory` reads the offsets, fences and barriers that stand in a module and could not prove that \
they are enough: a buffer lies over another one that is still needed, threads may race for some bytes, or nobody waits \
for what is under way. The message names both operations.

```text
%0 = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
%1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>     other threads may still be \
writing
```

A module that ttc has made itself passes. If one does not, in a build with debug assertions, that is a defect in ttc. \
Please report it together with the kernel.";
    COPIES_WAIT = "E0620", "copies into slots wait for the block",
"This is a remark of loops that would refill slots without a barrier (by default where warp groups gain from it, with \
`--pipeline refill` all): the copies by hardware of a loop keep the barrier of the block that they begin with, because it \
is not known when all warps have left the slot that they fill. The message says why. Loads whose values are used in one \
iteration, by products outside of branches or through registers, can do without.";
    TMA_LOAD = "E0621", "whether a load becomes a copy by hardware",
"This is a remark of `--remarks tma`, unless `--tma off` is given. A load of a tile becomes one instruction of the tensor \
memory accelerator if the compiler can prove that the tile is a rectangle of a strided array: every address is a sum of indices \
times strides, one stride is the constant 1, the array's start and the other strides are multiples of 16 bytes, and the \
mask compares indices with sizes. The message names what is missing.

```python
a = tl.load(a_ptrs, mask=rk[None, :] < K - k * BLOCK_K, other=0.0)
```

Most often it is a fact: write `a_ptr: \"*fp16:16\"` and `stride_am: \"i32:16\"`, and 1 for a stride that is always 1.";
    FEWER_STAGES = "E0622", "fewer stages, so that two blocks fit on a multiprocessor",
"This is a remark of `--remarks pipeline`. A loop starts its loads ahead into rotating slots of shared memory, one for each \
stage. With as many stages as were asked for, a block would be alone on its multiprocessor, and with the number that the \
remark names two fit. Then one multiplies while the other starts or stores its results, which was measured to be worth \
more than the slots. `--pipeline all-stages` keeps the number that was asked for; so does `tl.range(…, num_stages=N)`.";
    FUSED_STEPS = "E0623", "several steps of K in one fetch",
"This is a remark of `--remarks pipeline`. A row of a tile that is 32 halves deep has 64 bytes, half of a line of memory, so \
each line is asked for twice. Where a loop does nothing but multiply what it loads, an iteration fetches as many steps as make \
a line of 128 bytes, into fewer slots. The sum is the same, in the same order. `--pipeline one-step` leaves it.";
    MERGED_PROGRAMS = "E0624", "one block does two programs",
"This is a remark of `--remarks pipeline`. Two neighbouring programs of a product mostly read the same tile of A or of B. Where \
the launch has enough programs, a block with an even number does its own and the next one, loads the common tile once, and the \
block with the odd number returns at once. The launch and the results stay the same. `--pipeline one-program` leaves it.";
    NOT_AHEAD = "E0625", "a load that is not started ahead of a store",
"This is a remark of `--remarks pipeline`. A loop starts its loads iterations ahead, which would bring old values where an \
iteration stores to the memory that a later one loads from. Such a load stays where it is:

```python
for i in range(n):
    x = tl.load(p + i * BLOCK + r)
    tl.store(p + (i + 1) * BLOCK + r, f(x))
```

Tiles are known to be apart if each iteration stores where it loads, and the next one moves on by a tile.";
    GLOBAL_BARRIER = "E0626", "a barrier for global memory",
"This is a remark of `--remarks order`. A kernel is written as if a program were one thread, but its warps run at their own \
pace. Where one could load what another one has not stored yet, or has overwritten already, all warps wait for each other:

```python
n = tl.load(count)
tl.store(count, n + 1)     # a late warp would load n + 1
tl.store(out + n + r, x)
```

A barrier that is there already, as `tl.debug_barrier()` or one of shared memory, serves as well.";
    SPLIT_ROWS = "E0627", "products in parts of their rows",
"This is a remark of `--remarks pipeline`. Four warps multiply 64 rows in one instruction, and the results of all rows of a tile \
are in registers before the next product of a chain, such as that of attention, can begin. So a chain on 128 rows becomes two \
of 64, and one half's softmax runs while the other half is multiplied. Each row is computed as before. `--pipeline whole-rows` \
leaves it.";
}
