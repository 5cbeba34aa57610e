//! Attributes that an operation may carry without its table entry knowing them, each with its key: what the module is
//! compiled for, promises on values, wishes on loops, and what one pass tells a later one.

use super::keys::{Any, Bool, Int, Key, Str, Unit};

/// Of a module, or of an operation whose regions have warps of their own: how many warps there are.
pub const NUM_WARPS: Key<Int<32>> = Key::new("ttg.num-warps");
/// Of a module: how many blocks work on one program.
pub const NUM_CTAS: Key<Int<32>> = Key::new("ttg.num-ctas");
/// Of a module: how many threads a warp has.
pub const THREADS_PER_WARP: Key<Int<32>> = Key::new("ttg.threads-per-warp");
/// Of a module: the device it is for.
pub const TARGET: Key<Str> = Key::new("ttg.target");
/// Of a module: whether products of matrices are shared by two blocks.
pub const TWO_CTAS: Key<Any> = Key::new("ttng.two-ctas");
/// Of a module: how many registers a thread may have.
pub const MAX_REGISTERS: Key<Int<32>> = Key::new("ttg.maxnreg");
/// Of a module: how many bytes of shared memory a block uses.
pub const SHARED: Key<Int<32>> = Key::new("ttg.shared");
/// Of a module: how many versions of its code there are, of which each program runs one.
pub const VERSIONS: Key<Int<32>> = Key::new("ttc.versions");
/// Of an operation with shared memory: where that begins.
pub const OFFSET: Key<Int<32>> = Key::new("allocation.offset");
/// Of a conversion: it takes as little shared memory as it can, for more barriers.
pub const SPARING: Key<Unit> = Key::new("ttc.sparing");
/// Of a conversion: all elements are in shared memory at once, and a thread loads each when it needs it.
pub const AT_ONCE: Key<Unit> = Key::new("ttc.at_once");
/// Of a buffer in tensor memory: where it begins.
pub const TENSOR_MEMORY_OFFSET: Key<Int<32>> = Key::new("tensor_memory_col_offset");
/// Of an operation with scratch in global memory: where that begins.
pub const GLOBAL_OFFSET: Key<Int<32>> = Key::new("ttg.global_scratch_memory_offset");
/// Of a function: how many bytes of scratch in global memory a program uses.
pub const GLOBAL_SIZE: Key<Int<32>> = Key::new("ttg.global_scratch_memory_size");
/// Of a function: the alignment of its scratch in global memory.
pub const GLOBAL_ALIGNMENT: Key<Int<32>> = Key::new("ttg.global_scratch_memory_alignment");
/// As [`GLOBAL_OFFSET`], of the scratch that a profiler uses.
pub const PROFILE_OFFSET: Key<Int<32>> = Key::new("ttg.profile_scratch_memory_offset");
/// As [`GLOBAL_SIZE`], of the scratch that a profiler uses.
pub const PROFILE_SIZE: Key<Int<32>> = Key::new("ttg.profile_scratch_memory_size");
/// As [`GLOBAL_ALIGNMENT`], of the scratch that a profiler uses.
pub const PROFILE_ALIGNMENT: Key<Int<32>> = Key::new("ttg.profile_scratch_memory_alignment");

/// Of a wait for asynchronous copies: how many instructions of those that were issued last may be under way.
pub const COPIES_BEHIND: Key<Int<32>> = Key::new("ttc.copies-behind");
/// Of a load or a store that the front end makes: cache modifier and eviction policy in the one attribute that Triton
/// 3.9 has for both.
pub const CACHE_POLICY: Key<Any> = Key::new("cachePolicy");

/// Of a parameter or an operation: the value, or the first of each group, is a multiple of this.
pub const DIVISIBILITY: Key<Any> = Key::new("tt.divisibility");
/// Of a parameter or an operation: so many values in a row count up by one.
pub const CONTIGUITY: Key<Any> = Key::new("tt.contiguity");
/// Of a parameter: bits that offsets from this pointer fit into; 32 if its array lies within 2 GiB.
pub const POINTER_RANGE: Key<Int<32>> = Key::new("tt.pointer_range");
/// Of a parameter or an operation: so many values in a row are equal.
pub const CONSTANCY: Key<Any> = Key::new("tt.constancy");
/// Of a parameter: what it points to.
pub const POINTEE_TYPE: Key<Any> = Key::new("tt.pointee_type");
/// Of a parameter that is a tensor descriptor: what the launch makes it of ([`super::array_map`]).
pub const ARRAY_MAP: Key<Any> = Key::new("ttc.array_map");
/// Of a parameter: it is in constant memory, and the kernel's for as long as it runs.
pub const GRID_CONSTANT: Key<Any> = Key::new("nvvm.grid_constant");
/// Of a function: whether calls of it stay calls.
pub const NOINLINE: Key<Bool> = Key::new("noinline");

/// Of a loop: how many iterations may be in flight at once.
pub const NUM_STAGES: Key<Int<32>> = Key::new("tt.num_stages");
/// Of a loop: how often its body is repeated.
pub const UNROLL_FACTOR: Key<Int<32>> = Key::new("tt.loop_unroll_factor");
/// Of a loop: it is to become one with the loop around it.
pub const FLATTEN: Key<Unit> = Key::new("tt.flatten");
/// Of a loop: it is to become one with the loop around it whatever that costs.
pub const ALWAYS_FUSE: Key<Unit> = Key::new("ttg.always-fuse");
/// Of a loop: its body runs at least once.
pub const MUST_EXECUTE: Key<Unit> = Key::new("ttg.must-execute");
/// Of a loop: its warps are to have different work.
pub const WARP_SPECIALIZE: Key<Unit> = Key::new("tt.warp_specialize");
/// Of a loop: it does what a loop in front of it leaves, which is little.
pub const DOES_THE_REST: Key<Unit> = Key::new("ttc.does_the_rest");
/// Of a loop: an accumulator has one buffer only.
pub const DISALLOW_MULTI_BUFFER: Key<Unit> = Key::new("tt.disallow_acc_multi_buffer");
/// Of a loop: what LLVM is told of it.
pub const LOOP_ANNOTATION: Key<Any> = Key::new("llvm.loop_annotation");
/// Of a loop, in tests of the pass that peels loops: its last iteration is to come after it.
pub const PEEL_EPILOGUE: Key<Unit> = Key::new("__test_peel_epilogue");
/// Of a loop: the last stage of its schedule.
pub const MAX_STAGE: Key<Int<32>> = Key::new("tt.scheduled_max_stage");
/// Of an operation in a loop: after how many stages its result is used.
pub const LATENCY: Key<Int<32>> = Key::new("tt.latency");
/// Of an operation in a loop: the stage of the schedule that it is in.
pub const STAGE: Key<Int<32>> = Key::new("loop.stage");
/// Of an operation in a loop: its place among those of all stages.
pub const CLUSTER: Key<Int<32>> = Key::new("loop.cluster");
/// Of a `ttng.arrive_barrier`: no thread waits for another warp, and each warp arrives when its own threads have got
/// here.
pub const EACH_WARP: Key<Unit> = Key::new("ttc.each_warp");
/// Of a `ttng.wait_barrier`, a `ttng.barrier_expect` or a `ttng.async_tma_copy_global_to_local`: the first warp alone
/// does it, and nobody waits for the others.
pub const FIRST_WARP: Key<Unit> = Key::new("ttc.first_warp");
/// Of a `ttng.warp_group_dot_wait`: while a product is still under way behind it, the loop writes the registers that
/// this product reads its first operand from.
pub const OPERAND_CHANGES: Key<Unit> = Key::new("ttc.operand_changes");
/// Of a `ttng.tensormap_create` or a `ttng.tensormap_fenceproxy_acquire`: the warp that does it, instead of the first.
pub const BY_WARP: Key<Int<32>> = Key::new("ttc.by_warp");
/// Of a `ttng.tensormap_fenceproxy_acquire`: nobody waits for it. One that follows holds the block.
pub const JOINED: Key<Unit> = Key::new("ttc.joined");
