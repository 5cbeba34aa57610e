//! E08xx: tools: LLVM, ptxas, libdevice.

crate::diag::code::codes! {
    TOOL_NOT_FOUND = "E0801", "a tool of the CUDA toolkit was not found",
"ptxas turns PTX into machine code, nvdisasm shows machine code as text, and libdevice.10.bc holds the math functions. \
ttc looks for each, in this order: the path given on the command line, an environment variable (`TTC_PTXAS`, \
`TTC_NVDISASM`, `TTC_LIBDEVICE`), `PATH`, `CUDA_HOME` and `CUDA_PATH`, `/usr/local/cuda`, the folder `.toolchain` of \
ttc's repository where the executable was built there, and the Python packages of NVIDIA and of Triton. A path that is \
given or set must exist; it is never replaced by another.

    ttc compile add.tk --arch sm_80 --emit cubin

What to do: run `make toolchain` in ttc's repository, or `pip install nvidia-cuda-nvcc nvidia-nvvm \
nvidia-cuda-nvdisasm`, or install the CUDA toolkit. `--emit ptx` needs none of them for a kernel that calls no \
libdevice function.";

    TOOL_NOT_RUNNABLE = "E0802", "a tool of the CUDA toolkit cannot be started",
"The file was found, but the system refuses to start it: it is not executable, it is for another processor, or a \
script's interpreter is missing.

    TTC_PTXAS=/etc/hostname ttc compile add.tk

What to do: `chmod +x` the file, or name another one with `--ptxas`.";

    PTXAS_FAILED = "E0803", "ptxas rejected the PTX",
"ptxas ended with an error. The message holds its log and a command that repeats the run on a copy of the PTX. The \
last 20 copies are kept, in the folder `ttc-failed-UID` of the temporary folder.

What to do: if you wrote the PTX, its error lines say what is wrong with it. If ttc made it from a kernel, this is a \
defect in ttc or a limit of the target that ttc does not know: report it with the kernel and the kept PTX.";

    TOOL_KILLED = "E0804", "a tool of the CUDA toolkit was killed by a signal",
"The tool did not end by itself. Signal 9 usually means that the system ran out of memory, and signal 11 is a defect \
of the tool.

What to do: run the command that the message names. If memory is short, run fewer jobs at once. If the tool crashes, \
take another version of the CUDA toolkit (`--ptxas`).";

    PTXAS_TOO_OLD = "E0805", "ptxas is too old for the architecture or the PTX version",
"Each ptxas knows the architectures and PTX ISA versions up to its own release.

    ttc compile add.tk --arch sm_120a --ptxas /usr/local/cuda-12.4/bin/ptxas

What to do: use a newer ptxas (`make toolchain` installs one), or compile for an older architecture.";

    SCRATCH_FAILED = "E0806", "a temporary file cannot be written or read",
"The tools of the CUDA toolkit work on files. ttc keeps these in memory where the system can do that (Linux with \
`/proc`), and in a temporary folder elsewhere.

    TMPDIR=/does/not/exist ttc compile add.tk

What to do: free space in the temporary folder, or set `TMPDIR` to a folder that can be written.";

    DISASSEMBLY_FAILED = "E0807", "nvdisasm rejected the cubin",
"nvdisasm ended with an error on a cubin. In most cases it is older than the ptxas that made the cubin.

What to do: use an nvdisasm of the same release as ptxas (`make toolchain` installs both), or name one with \
`TTC_NVDISASM`.";

    REGISTER_USE = "E0808", "registers and spills of a kernel",
"This is a remark of `--remarks spill`: the 32-bit registers of a thread, as ptxas counts them, and the bytes that did \
not fit and are stored to and loaded from local memory. ptxas has to count them, so a cubin must be asked for.

What to do about spills: use more warps (`--num-warps 8`) or smaller blocks, so that each thread holds fewer elements; \
raise `--maxnreg` if it was given; look for tensors that live across a loop. A few spilled bytes outside of the loop \
are harmless.";

    TOOL_TIMEOUT = "E0815", "a tool of the CUDA toolkit took too long",
"ptxas or nvdisasm ran longer than the time limit, and was stopped. The limit is an hour, or the seconds of \
`--ptxas-timeout`; 0 sets no limit.

    ttc compile add.tk --ptxas-timeout 60

What to do: allow more time, or make the kernel smaller: ptxas's time grows faster than the code, and unrolled loops \
make much of it.";

    BAD_CUBIN = "E0816", "ptxas wrote something that is no cubin",
"ptxas ended without an error, but what it wrote is no ELF file of CUDA's machine code for the architecture that was \
asked for. In most cases the program that runs is not ptxas: a script around it, or another file of that name.

What to do: look which program runs (the message names it), and name another one with `--ptxas` or `TTC_PTXAS`.";

    BUNDLE_FAILED = "E0817", "fatbinary made no fat binary",
"NVIDIA's fatbinary puts the cubins of a kernel for several architectures into one file. It ended with an error: in most \
cases it is older than the ptxas that made the cubins, and does not know one of the architectures.

What to do: use a fatbinary of the same release as ptxas (`make toolchain` installs both), or name one with \
`TTC_FATBINARY`; or take the cubins by themselves (`emit = [\"cubin\"]`).";

    CODE_OBJECT_FAILED = "E0818", "LLVM's tools made no code object",
"For AMD's GPUs ttc assembles and links by itself. Assembly that it cannot assemble goes to LLVM's `llvm-mc`, an object \
that it cannot link goes to `ld.lld`, and `llvm-objdump` lists a code object. One of them ended with an error. Either \
the assembly is wrong, which the message shows, or the program belongs to an older LLVM than the one that wrote it.

    ttc compile add.tk --arch gfx942 -o add.hsaco

What to do: use the tools of the LLVM that `ttc --version` names (`make toolchain` installs them), or name one with \
`TTC_LLVM_MC`, `TTC_LLD` or `TTC_LLVM_OBJDUMP`.";
}
