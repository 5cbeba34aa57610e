//! E11xx: running, measuring and tuning kernels on a GPU.

crate::diag::code::codes! {
    NO_DRIVER = "E1101", "the CUDA driver does not work",
"`ttc run`, `ttc bench` and `ttc tune` open NVIDIA's driver, `libcuda.so.1` (`nvcuda.dll` on Windows). It is not there, \
it lacks a function, or it cannot be started. Nothing else of CUDA is needed.

```text
$ ttc run kernels/add.toml
error[E1101]: the CUDA driver cannot be opened: libcuda.so.1: cannot open shared object file
```

What to do: run the command on a machine with a GPU. `nvidia-smi` says whether its driver works. In a container, give \
it the GPU (`--gpus all`). `TTC_LIBCUDA` names the library if it lies elsewhere. `ttc interpret` runs kernels without a \
GPU.";
    WRONG_GPU = "E1102", "there is no GPU that runs the kernel",
"The machine has no GPU of the number that `--device` gives, ttc compiles nothing for the GPU that is there, or a cubin \
was compiled for another one. A cubin for `sm_80` runs on GPUs of compute capability 8.x, one for `sm_90a` on 9.0 alone.

What to do: choose another GPU with `--device`, or compile for the one that is there. `CUDA_VISIBLE_DEVICES` hides GPUs \
from every program.";
    REFUSED = "E1103", "the driver refuses a kernel",
"The driver did not load or launch the kernel: it needs more registers or shared memory than a block may have, or the \
driver found something else wrong. The message names the function of the driver and its status as `cuda.h` has it.

What to do: for `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES`, compile with fewer warps or with `--maxnreg`. For too much shared \
memory, take smaller blocks or fewer stages.";
    ILLEGAL_ADDRESS = "E1104", "a kernel accessed memory that is not there",
"The kernel read or wrote an address outside of all memory of the GPU. The GPU ends the kernel and does not say where it \
was. Accesses outside of a buffer that reach another one go unnoticed, so even a kernel that runs may have this fault.

    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)                    # the last block reads past the end

What to do: `ttc interpret` with the same case or the same arguments finds the access, and names its line, its program \
and its element. The notes list the arguments: compare the sizes of the buffers with what the kernel is told about them.";
    MISALIGNED_ADDRESS = "E1105", "a kernel accessed an address that is not aligned",
"The GPU loads and stores 2, 4, 8 or 16 bytes only at multiples of that number. The compiler makes wide accesses where a \
promise allows them: an argument is a multiple of 16, or `tl.multiple_of` says so.

    ttc run add.cubin …        # compiled for `n: i32:16`, and run with n=1000 in an address

What to do: compare the promises in the notes with the addresses and values. `ttc interpret` checks promises (E1019) and \
alignment (E1005) of every access.";
    KERNEL_FAILED = "E1106", "a kernel failed",
"The GPU ended the kernel: `tl.device_assert` failed, it ran for too long on a GPU with a display, it executed an \
illegal instruction, or something else that the status names.

What to do: `ttc interpret` runs the same on the CPU and says what it finds. If it finds nothing, the compiler may be \
wrong: report it with the kernel, its arguments and the output of `ttc --version`.";
    NO_DEVICE_MEMORY = "E1107", "the GPU has not enough memory",
"A buffer does not fit into the memory of the GPU beside what is there. The notes give the sizes.

What to do: take smaller sizes with `--param`, or end what else runs on the GPU (`nvidia-smi` lists it).";
    BAD_LAUNCH = "E1108", "a kernel cannot be launched with these arguments",
"An argument is missing or of another kind, it breaks a promise that the code was compiled for, the grid is larger than \
a GPU allows, or a tensor breaks a rule of tensor descriptors.

    ttc run add.cubin --arg n=1001 …             # compiled with `n: i32:16`

What to do: pass an argument that fits, or compile without the promise.";
    BAD_CUBIN = "E1109", "a cubin's description cannot be used",
"A cubin is launched as the JSON beside it says: `add.json` for `add.cubin`. ttc writes both. The JSON of another \
compiler must have `name`, `num_warps` and `shared`, and does where ttc has compiled the same kernel with the same \
arguments, as for `ttc bench CASE.toml --against add.cubin`.

What to do: compile the kernel with `ttc compile KERNEL -o KERNEL.cubin`, or keep the two files together.";
    NO_CONFIGURATION = "E1110", "no configuration is left to tune",
"`ttc tune` found no configuration of the kernel, or each one was left out before it was measured: it does not compile, \
needs more than the GPU has, or computes something else than the others. The table says why.

```text
$ ttc tune matmul.toml --space 'BLOCK_M=64,128 num_warps=4,8'
```

What to do: give a search space with `--space`, with a table `[tune]` in the case, or with `@triton.autotune` in the \
kernel; or change the one that is there.";
    BAD_LOCK = "E1111", "a lock file cannot be read",
"`ttc tune` keeps the best configuration of each kernel in a lock file, `ttc.lock`. A lock file is TOML with a \
`version`, and a table `[[kernel]]` for each kernel, GPU, key and types. The file was changed by hand, comes from \
another ttc, or is no lock file.

What to do: undo the change, or delete the file and tune again.";
    BAD_RUN = "E1112", "a file holds no earlier measurement",
"`ttc bench --against FILE.json` compares with what an earlier `ttc bench --json FILE.json` wrote. The file is something \
else, comes from another version of ttc, or has no row for the same case.

What to do: measure again with `--json`, or name a cubin (`--against other.cubin`) to run it beside ttc's own.";
    DISAGREE = "E1113", "configurations compute different results",
"Two configurations of a kernel gave different results for the same arguments, by more than the case's `tolerance`. The \
kernel may depend on its block sizes where it should not, its sums may be rounded otherwise, or the compiler is wrong. \
The configuration that was measured first counts as right, and the other one is left out.

What to do: run both with `ttc run --check interpret` at a size that the interpreter can do. If both are right, the \
`tolerance` of the case is too small.";
}
