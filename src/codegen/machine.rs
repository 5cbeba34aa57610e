//! The instructions of a vendor, as lowering asks for them.
//!
//! The files of `codegen` decide *what* happens: which threads hold an element, which accesses go together, which
//! values move where, who waits for whom. A [`Machine`] says *how* one of these steps is written for its GPUs. So a new
//! vendor implements this trait and changes nothing in `codegen`, and a new kind of access is a method here before it
//! is an instruction there. Triton's `TargetInfoBase` has the same role.
//!
//! Methods get the [`Lower`] that is at work and append to the code that it builds. Addresses in shared memory are
//! integers of 32 bits, and a mask is a predicate: an access whose predicate is false does not happen.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{CallSiteValue, FunctionValue, InstructionValue, IntValue, PointerValue};

use super::llvm::LlvmTarget;
use super::lower::{Lower, Res, Val, defect};
use crate::ir::dialects::enums::{
    CacheModifier, EvictionPolicy, FpRounding, MemScope, MemSemantic, ProgramDim, RmwKind,
};
use crate::ir::dialects::{ArithOp, MathOp};
use crate::ir::{FloatKind, Op, Type, Value};

/// LLVM's numbers of the address spaces.
#[derive(Clone, Copy)]
pub(crate) struct AddressSpaces {
    pub(crate) global: u16,
    pub(crate) shared: u16,
}

/// What a launch says of a kernel's blocks, for the attributes of the function.
pub(crate) struct KernelShape {
    pub(crate) threads: u32,
    pub(crate) max_registers: Option<u32>,
    /// Blocks of a cluster.
    pub(crate) blocks: u32,
    /// How many programs a launch has, where the kernel says so ([`crate::analysis::programs`]).
    pub(crate) programs: Option<u32>,
}

/// From which lane a shuffle takes its values.
#[derive(Clone, Copy)]
pub(crate) enum Source<'c> {
    /// The lane whose number differs in these bits.
    Flip(u32),
    /// The lane of this number.
    Lane(IntValue<'c>),
    /// The lane whose number has `to` in these bits, and the lane's own bits elsewhere.
    Set {
        bits: u32,
        to: u32,
    },
    /// The lane whose number is that much lower, or higher. Where the warp has none, the lane's own.
    Below(u32),
    Above(u32),
}

/// What an atomic operation promises about other accesses, and to whom.
pub(crate) struct Order {
    pub(crate) sem: MemSemantic,
    pub(crate) scope: MemScope,
}

impl Order {
    pub(crate) fn acquires(&self) -> bool {
        matches!(self.sem, MemSemantic::Acquire | MemSemantic::AcqRel)
    }

    pub(crate) fn releases(&self) -> bool {
        matches!(self.sem, MemSemantic::Release | MemSemantic::AcqRel)
    }
}

/// What a program asks of the grid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grid {
    /// Its own number.
    ProgramId,
    /// How many programs there are.
    NumPrograms,
}

/// A function of floats beyond LLVM's own instructions.
#[derive(Clone, Copy)]
pub(crate) enum FloatFunction {
    Math(MathOp),
    /// The quotient as `arith.divf` means it: to within two units in the last place for 32 bits.
    Divide,
    /// The correctly rounded quotient.
    PreciseDivide,
    /// A product with an approximate reciprocal.
    ApproximateDivide,
    /// The correctly rounded square root.
    PreciseSqrt,
}

/// How an access is to be cached.
pub(crate) struct Caching {
    pub(crate) cache: CacheModifier,
    pub(crate) evict: EvictionPolicy,
    pub(crate) volatile: bool,
}

impl Caching {
    /// What an access states; without a statement the caches do as usual.
    pub(crate) fn of(cache: Option<CacheModifier>, evict: Option<EvictionPolicy>, volatile: bool) -> Caching {
        Caching {
            cache: cache.unwrap_or(CacheModifier::None),
            evict: evict.unwrap_or(EvictionPolicy::EvictNormal),
            volatile,
        }
    }
}

/// What a machine makes of [`Caching`]: words of its instructions, and a value that they take.
pub(crate) struct CacheHint<'c> {
    pub(crate) words: String,
    pub(crate) operand: Option<Val<'c>>,
}

/// The words that one access moves.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) count: usize,
    /// Bits of each: 8, 16, 32 or 64. A word of 8 bits is handed over in 16.
    pub(crate) bits: u32,
}

/// A load of one thread from global memory.
pub(crate) struct GlobalLoad<'x, 'c> {
    pub(crate) words: Words,
    pub(crate) address: Val<'c>,
    /// Bytes behind the address; 0 unless the machine [takes distances](Machine::takes_distances).
    pub(crate) offset: u32,
    pub(crate) pred: Option<Val<'c>>,
    /// What each word is where the predicate is false; empty without one.
    pub(crate) otherwise: Vec<Val<'c>>,
    pub(crate) volatile: bool,
    pub(crate) hint: &'x CacheHint<'c>,
}

/// A store of one thread to global memory.
pub(crate) struct GlobalStore<'x, 'c> {
    pub(crate) bits: u32,
    pub(crate) address: Val<'c>,
    /// Bytes behind the address; 0 unless the machine [takes distances](Machine::takes_distances).
    pub(crate) offset: u32,
    pub(crate) pred: Option<Val<'c>>,
    pub(crate) values: Vec<Val<'c>>,
    pub(crate) hint: &'x CacheHint<'c>,
}

/// A copy of one thread from global to shared memory that goes on by itself.
pub(crate) struct AsyncCopy<'c> {
    /// One of [`Machine::async_copy_bytes`].
    pub(crate) bytes: u32,
    pub(crate) to: IntValue<'c>,
    pub(crate) from: Val<'c>,
    pub(crate) pred: Option<IntValue<'c>>,
    /// How many bytes are read where that is not all; zeros stand for the rest.
    pub(crate) read: Option<IntValue<'c>>,
}

/// An atomic access of one thread to global memory.
pub(crate) struct AtomicAccess<'x, 'c> {
    pub(crate) words: Words,
    /// Elements of a word.
    pub(crate) per_word: usize,
    pub(crate) order: &'x Order,
    pub(crate) address: Val<'c>,
    pub(crate) pred: Option<Val<'c>>,
}

/// How a machine does an atomic operation on elements of a type.
#[derive(Clone, Copy)]
pub(crate) struct AtomicForm {
    /// Bits of the widest access.
    pub(crate) widest: u32,
    /// Whether there is no such instruction, and a loop stands for it.
    pub(crate) emulated: bool,
}

/// Waiting until an element in global memory has a value.
pub(crate) struct Poll<'c> {
    pub(crate) bits: u32,
    pub(crate) scope: MemScope,
    pub(crate) address: Val<'c>,
    pub(crate) expected: Val<'c>,
    /// When the operation started, and how many nanoseconds it may take.
    pub(crate) limit: Option<(Val<'c>, Val<'c>)>,
    /// A thread whose predicate is false does not wait.
    pub(crate) pred: Option<Val<'c>>,
}

/// How one `tt.print` hands over what it prints.
pub(crate) enum Printer<'c> {
    /// A function of the driver gets the format, and memory with the arguments.
    Call { format: PointerValue<'c>, arguments: PointerValue<'c> },
    /// The host finds records in a buffer, which start with these words of 64 bits: `constant` ones name the format,
    /// others are its text.
    Record { format: Vec<u64>, constant: bool },
}

/// Where an assertion stands, and what it says.
pub(crate) struct Assertion<'x> {
    pub(crate) message: &'x str,
    pub(crate) file: &'x str,
    pub(crate) line: u32,
}

/// What a vendor's GPUs can do. See the module documentation.
pub(crate) trait Machine: Sync {
    /// The back end of LLVM behind it.
    fn llvm(&self) -> &'static dyn LlvmTarget;

    // ---- modules and functions ----

    fn spaces(&self) -> AddressSpaces;

    /// Adds what every module of this machine carries.
    fn prepare_module(&self, module: &inkwell::module::Module<'_>);

    /// Adds the attributes of a kernel.
    fn describe_kernel<'c>(&self, cx: &Lower<'c, '_>, kernel: FunctionValue<'c>, shape: &KernelShape);

    /// Says that parameter `place` of a kernel is a tensor descriptor, which lies where parameters lie.
    fn describe_descriptor<'c>(&self, cx: &Lower<'c, '_>, kernel: FunctionValue<'c>, place: u32);

    /// The address of a tensor descriptor that is a parameter of the kernel, for those that use it.
    fn descriptor_address<'c>(&self, _: &mut Lower<'c, '_>, parameter: Val<'c>) -> Res<Val<'c>> {
        Ok(parameter)
    }

    // ---- threads and programs ----

    /// The number of the thread in its block.
    fn thread_id<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>>;

    /// The number of the block in its cluster, where that has several.
    fn block_in_cluster<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>>;

    /// The grid counts blocks, or clusters where a program is a cluster.
    fn grid<'c>(&self, cx: &mut Lower<'c, '_>, what: Grid, axis: ProgramDim) -> Res<IntValue<'c>>;

    /// `tt.griddepcontrol_wait` and its counterpart.
    fn grid_dependency(&self, cx: &mut Lower<'_, '_>, op: Op, waits: bool) -> Res<()>;

    // ---- waiting ----

    /// Waits for every thread of the block, and for what they wrote to shared memory.
    fn barrier(&self, cx: &mut Lower<'_, '_>) -> Res<()>;

    /// Whether code whose last instruction this is ends with what [`Machine::barrier`] makes.
    fn ends_with_barrier(&self, last: InstructionValue<'_>) -> bool;

    /// Waits for the threads of the warp, and for what they wrote to shared memory.
    fn warp_barrier(&self, cx: &mut Lower<'_, '_>) -> Res<()>;

    /// Waits for every thread of the cluster, and for what they wrote to shared memory. `relaxed`: for the threads
    /// alone.
    fn cluster_barrier(&self, cx: &mut Lower<'_, '_>, relaxed: bool) -> Res<()>;

    /// Waits for accesses of this thread to memory of the machine's own, of those spaces that a `ttg.barrier` names.
    fn wait_for_spaces(&self, cx: &mut Lower<'_, '_>, spaces: i64) -> Res<()>;

    // ---- lanes ----

    /// The 32 bits that another lane has in place of these.
    fn shuffle<'c>(&self, cx: &mut Lower<'c, '_>, word: IntValue<'c>, from: Source<'c>) -> Res<IntValue<'c>>;

    /// The values of all lanes of a warp combined; `None` where there is no instruction for that.
    fn reduce_warp<'c>(&self, cx: &mut Lower<'c, '_>, kind: ArithOp, value: Val<'c>) -> Res<Option<Val<'c>>>;

    /// Whether [`Machine::permute_bytes`] is one instruction for a selector that differs from lane to lane.
    fn permutes_by_lane(&self) -> bool {
        false
    }

    /// Bytes of `a` (0 to 3) and `b` (4 to 7) picked by the low four hexadecimal digits of the selector, the lowest
    /// digit for the lowest byte.
    fn permute_bytes<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        a: IntValue<'c>,
        b: IntValue<'c>,
        selector: IntValue<'c>,
    ) -> Res<IntValue<'c>>;

    // ---- global memory ----

    fn load_hint<'c>(&self, cx: &mut Lower<'c, '_>, caching: &Caching) -> Res<CacheHint<'c>>;

    fn store_hint<'c>(&self, cx: &mut Lower<'c, '_>, caching: &Caching) -> Res<CacheHint<'c>>;

    /// Whether accesses of global memory that follow one another take one address and their distances from it, as text
    /// of the instruction. Where accesses are LLVM's own, LLVM looks for such addresses.
    fn takes_distances(&self) -> bool {
        false
    }

    fn load_global<'c>(&self, cx: &mut Lower<'c, '_>, load: GlobalLoad<'_, 'c>) -> Res<Vec<Val<'c>>>;

    fn store_global<'c>(&self, cx: &mut Lower<'c, '_>, store: GlobalStore<'_, 'c>) -> Res<()>;

    /// The address of an access of so many bytes, a power of two, for which the hardware waits until a number is there,
    /// in 32 bits. Where nothing is gained by that, it is the address as it is.
    fn address_behind<'c>(
        &self,
        _cx: &mut Lower<'c, '_>,
        address: Val<'c>,
        _bytes: u32,
        _number: IntValue<'c>,
    ) -> Res<Val<'c>> {
        Ok(address)
    }

    // ---- shared memory ----

    /// The address in another block of the cluster that corresponds to one of this block's shared memory.
    fn in_block<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        address: PointerValue<'c>,
        block: IntValue<'c>,
    ) -> Res<PointerValue<'c>>;

    /// Stores values of so many bits each, side by side, where the predicate holds. `ordered`: LLVM's own loads may
    /// read them.
    fn store_shared<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        pred: IntValue<'c>,
        address: IntValue<'c>,
        values: (&[Val<'c>], u32),
        ordered: bool,
    ) -> Res<()>;

    /// Whether stores to shared memory are instructions with a predicate, and need no branch.
    fn predicates_stores(&self) -> bool {
        false
    }

    /// The bits of one value of 32 bits where those of a mask are set, and of another one elsewhere, without a
    /// predicate. `None`, and nothing that is used, where the machine has no instruction for that.
    fn select_bits<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        mask: IntValue<'c>,
        set: Val<'c>,
        clear: Val<'c>,
    ) -> Res<Option<Val<'c>>> {
        let _ = (cx, mask, set, clear);
        Ok(None)
    }

    /// Has a number computed where it is, though only what is behind a branch uses it. Does nothing where the machine's
    /// compiler leaves it there.
    fn keep<'c>(&self, cx: &mut Lower<'c, '_>, number: Val<'c>) -> Res<()> {
        let _ = (cx, number);
        Ok(())
    }

    /// Adds 1 to 32 bits where the predicate holds, atomically.
    fn count_shared<'c>(&self, cx: &mut Lower<'c, '_>, pred: IntValue<'c>, address: IntValue<'c>) -> Res<()>;

    /// Loads `count` matrices of 8 × 8 halves, a row from each address that the lanes give; a word of each comes back.
    fn load_matrices<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        address: PointerValue<'c>,
        count: usize,
        transposed: bool,
    ) -> Res<Vec<IntValue<'c>>>;

    /// The reverse of [`Machine::load_matrices`], in the warps in which the predicate holds, if there is one.
    fn store_matrices<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        pred: Option<IntValue<'c>>,
        address: PointerValue<'c>,
        words: &[Val<'c>],
        transposed: bool,
    ) -> Res<()>;

    // ---- asynchronous copies ----

    /// The sizes of a copy, the widest first.
    fn async_copy_bytes(&self) -> &'static [u32];

    fn copy_async<'c>(&self, cx: &mut Lower<'c, '_>, copy: AsyncCopy<'c>) -> Res<()>;

    /// Ends a group of copies.
    fn commit_copies(&self, cx: &mut Lower<'_, '_>) -> Res<()>;

    /// Waits until at most `pending` groups of this thread are under way, for a `ttg.async_wait`.
    fn wait_for_copies(&self, cx: &mut Lower<'_, '_>, wait: Op, pending: u64) -> Res<()>;

    /// `ttg.async_copy_global_to_local`, where the vendor's copies are not one of each thread; whether they were made.
    fn copy_by_warps(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<bool>;

    /// Tells LLVM that the loads of a `ttg.local_load` with this token, those behind an instruction of the block, do
    /// not read what copies under way write.
    fn mark_loads(&self, cx: &Lower<'_, '_>, token: Option<Value>, behind: Option<InstructionValue<'_>>) -> Res<()>;

    // ---- atomics ----

    /// How an operation is done; `None` where it cannot be done atomically.
    fn atomic_form(&self, cx: &Lower<'_, '_>, rmw: RmwKind, elem: Type) -> Option<AtomicForm>;

    /// The new words are combined with those in memory, whose old values come back; zeros where the predicate is
    /// false.
    fn atomic_rmw<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        access: &AtomicAccess<'_, 'c>,
        function: (RmwKind, Type),
        words: Vec<Val<'c>>,
    ) -> Res<Vec<Val<'c>>>;

    fn compare_and_swap<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        access: &AtomicAccess<'_, 'c>,
        compared: Vec<Val<'c>>,
        words: Vec<Val<'c>>,
    ) -> Res<Vec<Val<'c>>>;

    fn atomic_load<'c>(&self, cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>) -> Res<Vec<Val<'c>>>;

    fn atomic_store<'c>(&self, cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>, words: Vec<Val<'c>>) -> Res<()>;

    /// Gives 32 bits: 1 if the value came in time.
    fn poll<'c>(&self, cx: &mut Lower<'c, '_>, poll: &Poll<'c>) -> Res<Val<'c>>;

    /// Makes the reads before it acquire.
    fn fence(&self, cx: &mut Lower<'_, '_>, scope: MemScope) -> Res<()>;

    /// Reports assembly of a kernel that is not this device's.
    fn check_assembly(&self, _: &Lower<'_, '_>, _: Op, _: &str) -> Res<()> {
        Ok(())
    }

    /// The time in nanoseconds, as 64 bits.
    fn clock<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<Val<'c>>;

    // ---- numbers ----

    /// A function of floats, element by element.
    fn float_function<'c>(&self, cx: &mut Lower<'c, '_>, function: FloatFunction, args: &[Val<'c>]) -> Res<Val<'c>>;

    /// The functions that [`Machine::functions_of_tile`] computes together with one function of the same operand, that
    /// one among them; empty where it computes the function element by element.
    fn shares_work(&self, _: MathOp) -> &'static [MathOp] {
        &[]
    }

    /// Functions of one operand of all registers that differ: each function's results, in the order of `functions`.
    fn functions_of_tile<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        functions: &[MathOp],
        args: &[Val<'c>],
    ) -> Res<Vec<Vec<Val<'c>>>> {
        one_by_one(cx, functions, args)
    }

    /// The function of the `math` dialect that a name of the vendor's library stands for, with the same results.
    fn function_of_library(&self, _: &str) -> Option<MathOp> {
        None
    }

    /// A function of the vendor's library by its name, element by element: a call that is linked later, or code for it.
    ///
    /// # Errors
    /// `E0712` where there is no such function.
    fn library_function<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        symbol: &str,
        library: &str,
        result: BasicTypeEnum<'c>,
        args: &[Val<'c>],
    ) -> Res<Val<'c>>;

    /// The high half of the product of two unsigned integers of 64 bits.
    fn high_product<'c>(&self, cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<Val<'c>>;

    /// Converts all registers of a value between float formats.
    ///
    /// # Errors
    /// `E0704` where the target has no such conversion.
    fn convert_floats<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        values: &[Val<'c>],
        formats: (FloatKind, FloatKind),
        rounding: FpRounding,
    ) -> Res<Vec<Val<'c>>>;

    // ---- whole operations ----

    /// A `tt.dot` whose result has a layout of this machine's matrix instructions; `false`, and no code, where it has
    /// not.
    fn dot(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<bool>;

    /// As [`Machine::dot`] of a `tt.dot_scaled`.
    fn dot_scaled(&self, _: &mut Lower<'_, '_>, _: Op) -> Res<bool> {
        Ok(false)
    }

    /// An operation of a vendor's dialect.
    fn vendor_op(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<()>;

    // ---- talking to the host ----

    /// A format in C's words, for arguments of at most so many bytes.
    fn printer<'c>(&self, cx: &mut Lower<'c, '_>, format: &str, bytes: u32) -> Res<Printer<'c>>;

    /// Prints arguments of 32 or 64 bits.
    fn print<'c>(&self, cx: &mut Lower<'c, '_>, printer: &Printer<'c>, args: &[Val<'c>]) -> Res<()>;

    /// Ends the grid with a message.
    fn fail(&self, cx: &mut Lower<'_, '_>, assertion: &Assertion<'_>) -> Res<()>;
}

/// The name of the function that an instruction calls.
pub(crate) fn called(instruction: InstructionValue<'_>) -> Option<String> {
    let function = CallSiteValue::try_from(instruction).ok()?.get_called_fn_value()?;
    Some(function.get_name().to_string_lossy().into_owned())
}

/// Calls an intrinsic that gives several values.
pub(crate) fn fields<'c>(cx: &Lower<'c, '_>, value: Val<'c>, count: usize) -> Res<Vec<Val<'c>>> {
    match value {
        Val::StructValue(all) => (0..count as u32).map(|i| Ok(cx.b.build_extract_value(all, i, "")?)).collect(),
        one if count == 1 => Ok(vec![one]),
        _ => Err(defect("an instruction with fewer results")),
    }
}

/// Functions of one operand, one register after the other.
pub(crate) fn one_by_one<'c>(cx: &mut Lower<'c, '_>, functions: &[MathOp], args: &[Val<'c>]) -> Res<Vec<Vec<Val<'c>>>> {
    let mut of = |&function: &MathOp| {
        let one = |&x: &Val<'c>| cx.machine.float_function(cx, FloatFunction::Math(function), &[x]);
        args.iter().map(one).collect()
    };
    functions.iter().map(&mut of).collect()
}
