//! E12xx: compiled code under the PTX emulator, and what it finds.

crate::diag::code::codes! {
    SYNTAX = "E1201", "a text is no PTX",
"The emulator reads PTX as the PTX ISA describes it. The message says where the text departs from that.

    ttc emulate kernel.ptx --launch launch.json

What to do: assemble the file with `ptxas`, which explains faults of hand-written PTX. If `ptxas` takes it, the emulator \
lacks a form: report it.";

    UNKNOWN_INSTRUCTION = "E1202", "the emulator does not run an instruction",
"Nothing runs before every instruction is known, so that no result rests on a guess. The message shows the line and the \
modifier or the form that is not known. `docs/emulator.md` lists what is.

    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 128;

What to do: compile for an architecture without the instruction, or run the kernel on a GPU.";

    BAD_LAUNCH = "E1203", "a launch file cannot be used",
"`ttc emulate` reads a JSON file that says the grid, the block, the buffers and the arguments. The message says what is \
wrong with it.

    {\"grid\": [1, 1, 1], \"block\": [32, 1, 1], \"buffers\": [{\"name\": \"x\", \"bytes\": 128}],
     \"arguments\": [{\"buffer\": \"x\"}]}

What to do: compare the file with the example in `docs/emulator.md`.";

    RACE = "E1204", "two accesses of compiled code have no order",
"Two warps, two lanes, or a warp and something asynchronous access the same bytes, at least one of them writes, and no \
barrier, wait or fence stands between them. The result is a matter of luck, whatever it was this time. In shared memory \
of a compiled kernel this is a defect of the compiler.

    st.shared.b32 [%r1], %r2;        // no bar.sync
    ld.shared.b32 %r3, [%r4];        // reads what another warp writes

What to do: put the barrier, the wait or the proxy fence that the message names between the two lines. If a kernel in \
the Triton language has it, report it.";

    UNINITIALISED = "E1205", "compiled code reads bytes that nobody has written",
"A load found shared, local or global memory that nothing has written before.

    ld.shared.b32 %r1, [%r2];        // before any st.shared

What to do: write the bytes first, or mask the load. If a kernel in the Triton language reads unwritten shared memory, \
report it.";

    OUT_OF_BOUNDS = "E1206", "compiled code accesses memory outside of its bounds",
"The address is in no buffer, or past the end of shared or local memory. The message gives the buffer and the distance.

    ld.global.b32 %r1, [%rd1+4096];  // the buffer has 4096 bytes

What to do: look for a mask that is missing: `ttc interpret` finds it in the source.";

    MISALIGNED = "E1207", "compiled code uses an address that is no multiple of its access",
"A vector of 16 bytes needs an address that is a multiple of 16, and so on. A box that a tensor map copies starts at a \
multiple of 16 bytes along the innermost axis. The GPU stops the kernel.

    ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1+4];

What to do: check what was promised of the arguments (`*fp32:16`, `tl.multiple_of`).";

    DIVERGENCE = "E1208", "lanes or warps that must act together do not",
"A barrier, a shuffle or a tensor instruction needs all lanes of its mask at the same step, and some are elsewhere. \
`setmaxnreg` needs all warps of a warp group.

    @%p1 bar.sync 0;                 // %p1 differs from lane to lane

What to do: move the instruction to where the lanes meet again.";

    DEADLOCK = "E1209", "every warp waits",
"No warp can go on, and nothing asynchronous is left that could land. The notes say who waits for what.

    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;   // nobody arrives

What to do: compare the arrivals with the count of the barrier, and the bytes that land with those that are expected.";

    IN_FLIGHT = "E1210", "a register of an asynchronous product is touched while it runs",
"From `wgmma.mma_async` to the wait for its group the accumulators belong to the tensor core. Registers that were written \
since the last `wgmma.fence` may not be used by a product.

    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, 1, 1, 1, 0, 0;
    add.f32 %r5, %r1, %r1;           // no wgmma.wait_group

What to do: put `wgmma.wait_group` before the step, or `wgmma.fence` before the product.";

    MBARRIER = "E1211", "an `mbarrier` is used wrongly",
"There is no barrier at the address, it has more arrivals than it expects, or its bytes are overwritten.

    mbarrier.arrive.shared::cta.b64 _, [%r1];   // no mbarrier.init before

What to do: initialise the barrier once, with the number of arrivals of a phase, and invalidate it before its bytes are \
used for something else.";

    INVALID = "E1212", "compiled code asks for what cannot be",
"A launch that does not fit the kernel, or an operand that no instruction takes: a barrier with a number above 15, a \
tensor map that was not encoded, a box that is written from a negative coordinate on, a rank that the cluster has not.

    bar.sync 16;

What to do: see the message.";

    TRAP = "E1213", "compiled code ended with a trap or a failed assertion",
"The program executed `trap`, or `__assertfail` was called: a `tl.device_assert` or a check of `--debug` failed.

    tl.device_assert(n > 0, \"n must be positive\")

What to do: see the message of the assertion.";

    ENDLESS = "E1214", "compiled code does not end",
"The launch took more steps than `--max-ops` allows. A loop that waits for something that nobody does looks like this.

    LOOP: bra LOOP;

What to do: raise the limit if the kernel is large.";

    WRONG = "E1215", "a buffer is not what the launch file expects",
"After the run the bytes of a buffer differ from those of the file that `expect` names. The message gives the first \
place.

    \"expect\": [{\"buffer\": \"y\", \"file\": \"y.bin\"}]

What to do: run with `--trace` to see the steps of a warp.";
}
