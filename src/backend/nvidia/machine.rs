//! NVIDIA's instructions behind [`Machine`], each in the file of its family.

use inkwell::attributes::AttributeLoc;
use inkwell::module::{FlagBehavior, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{FunctionValue, InstructionValue, IntValue, PointerValue};

use super::llvm::Nvptx;
use super::{atomics, debug, dialect, fp_convert, math, memory, mma, pins, sines, tma, warp};
use crate::codegen::llvm::LlvmTarget;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::Source;
use crate::codegen::machine::{
    AddressSpaces, Assertion, AsyncCopy, AtomicAccess, AtomicForm, CacheHint, Caching, FloatFunction, GlobalLoad,
    GlobalStore, Grid, KernelShape, Machine, Poll, Printer, called,
};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::enums::{FpRounding, MemScope, ProgramDim, RmwKind};
use crate::ir::dialects::{ArithOp, MathOp};
use crate::ir::{Encoding, FloatKind, Op, Type, Value};

/// LLVM's address spaces in NVPTX.
pub(super) const SPACES: AddressSpaces = AddressSpaces { global: 1, shared: 3 };

/// The spaces of `ttg.barrier` that have instructions of their own: reads and writes of tensor memory, which are
/// asynchronous.
const TENSOR_SPACES: [(i64, &str); 2] = [(8, "tcgen05.wait::ld.sync.aligned;"), (16, "tcgen05.wait::st.sync.aligned;")];

/// NVIDIA's GPUs.
pub(crate) struct Nvidia;

impl Machine for Nvidia {
    fn llvm(&self) -> &'static dyn LlvmTarget {
        &Nvptx
    }

    fn spaces(&self) -> AddressSpaces {
        SPACES
    }

    fn prepare_module(&self, module: &Module<'_>) {
        let ftz = module.get_context().i32_type().const_int(1, false);
        module.add_basic_value_flag("nvvm-reflect-ftz", FlagBehavior::Override, ftz);
    }

    fn describe_kernel<'c>(&self, cx: &Lower<'c, '_>, kernel: FunctionValue<'c>, shape: &KernelShape) {
        let attribute = |key: &str, value: u32| {
            kernel.add_attribute(AttributeLoc::Function, cx.llvm.create_string_attribute(key, &value.to_string()));
        };
        attribute("nvvm.reqntid", shape.threads);
        if let Some(n) = shape.max_registers {
            attribute("nvvm.maxnreg", n);
        } else if shape.blocks == 1 && shape.programs.is_some_and(|n| n <= cx.options.target.multiprocessors()) {
            // A program for each multiprocessor: ptxas need not make room for more (PTX ISA, ".minnctapersm").
            attribute("nvvm.minctasm", 1);
        }
        if shape.blocks > 1 {
            attribute("nvvm.cluster_dim", shape.blocks);
        }
    }

    fn describe_descriptor<'c>(&self, cx: &Lower<'c, '_>, kernel: FunctionValue<'c>, place: u32) {
        let constant = cx.llvm.create_string_attribute("nvvm.grid_constant", "");
        kernel.add_attribute(AttributeLoc::Param(place), constant);
    }

    fn descriptor_address<'c>(&self, cx: &mut Lower<'c, '_>, parameter: Val<'c>) -> Res<Val<'c>> {
        tma::shared_address(cx, parameter)
    }

    fn thread_id<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>> {
        warp::special_register(cx, "tid.x")
    }

    fn block_in_cluster<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>> {
        warp::special_register(cx, "cluster.ctarank")
    }

    fn grid<'c>(&self, cx: &mut Lower<'c, '_>, what: Grid, axis: ProgramDim) -> Res<IntValue<'c>> {
        warp::grid(cx, what, axis)
    }

    /// Programmatic dependent launch (PTX ISA, "griddepcontrol").
    fn grid_dependency(&self, cx: &mut Lower<'_, '_>, op: Op, waits: bool) -> Res<()> {
        if !cx.options.target.has_dependent_launch() {
            return Err(cx.unsupported(op, "dependent launches need sm_90 or later"));
        }
        let asm = if waits { "griddepcontrol.wait;" } else { "griddepcontrol.launch_dependents;" };
        cx.inline_asm(asm, "~{memory}", &[], &[], true)?;
        Ok(())
    }

    fn barrier(&self, cx: &mut Lower<'_, '_>) -> Res<()> {
        cx.effect(warp::BARRIER, &[], &[cx.i32(0).into()])
    }

    fn ends_with_barrier(&self, last: InstructionValue<'_>) -> bool {
        called(last).is_some_and(|name| name == warp::BARRIER)
    }

    /// PTX ISA, "bar.warp.sync".
    fn warp_barrier(&self, cx: &mut Lower<'_, '_>) -> Res<()> {
        cx.effect("llvm.nvvm.bar.warp.sync", &[], &[cx.i32(u64::from(u32::MAX)).into()])
    }

    /// PTX ISA, "barrier.cluster": arriving releases and waiting acquires unless it is relaxed.
    fn cluster_barrier(&self, cx: &mut Lower<'_, '_>, relaxed: bool) -> Res<()> {
        let arrive = if relaxed { "arrive.relaxed" } else { "arrive" };
        cx.effect(&format!("llvm.nvvm.barrier.cluster.{arrive}.aligned"), &[], &[])?;
        cx.effect("llvm.nvvm.barrier.cluster.wait.aligned", &[], &[])
    }

    fn wait_for_spaces(&self, cx: &mut Lower<'_, '_>, spaces: i64) -> Res<()> {
        if cx.options.target.has_tcgen05() {
            for (_, wait) in TENSOR_SPACES.into_iter().filter(|&(bit, _)| spaces & bit != 0) {
                cx.inline_asm(wait, "~{memory}", &[], &[], true)?;
            }
        }
        Ok(())
    }

    fn shuffle<'c>(&self, cx: &mut Lower<'c, '_>, word: IntValue<'c>, from: Source<'c>) -> Res<IntValue<'c>> {
        warp::shuffle(cx, word, from)
    }

    fn reduce_warp<'c>(&self, cx: &mut Lower<'c, '_>, kind: ArithOp, value: Val<'c>) -> Res<Option<Val<'c>>> {
        warp::reduce(cx, kind, value)
    }

    fn permutes_by_lane(&self) -> bool {
        true
    }

    fn permute_bytes<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        a: IntValue<'c>,
        b: IntValue<'c>,
        selector: IntValue<'c>,
    ) -> Res<IntValue<'c>> {
        fp_convert::permute(cx, a, b, selector)
    }

    fn load_hint<'c>(&self, cx: &mut Lower<'c, '_>, caching: &Caching) -> Res<CacheHint<'c>> {
        memory::hint(cx, caching, &memory::LOAD_CACHE)
    }

    fn store_hint<'c>(&self, cx: &mut Lower<'c, '_>, caching: &Caching) -> Res<CacheHint<'c>> {
        memory::hint(cx, caching, &memory::STORE_CACHE)
    }

    fn takes_distances(&self) -> bool {
        true
    }

    fn load_global<'c>(&self, cx: &mut Lower<'c, '_>, load: GlobalLoad<'_, 'c>) -> Res<Vec<Val<'c>>> {
        memory::load(cx, load)
    }

    fn store_global<'c>(&self, cx: &mut Lower<'c, '_>, store: GlobalStore<'_, 'c>) -> Res<()> {
        memory::store(cx, store)
    }

    fn address_behind<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        address: Val<'c>,
        bytes: u32,
        number: IntValue<'c>,
    ) -> Res<Val<'c>> {
        memory::address_behind(cx, address, bytes, number)
    }

    /// PTX ISA, "mapa".
    fn in_block<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        address: PointerValue<'c>,
        block: IntValue<'c>,
    ) -> Res<PointerValue<'c>> {
        match cx.intrinsic("llvm.nvvm.mapa.shared.cluster", &[], &[address.into(), block.into()])? {
            Val::PointerValue(there) => Ok(there),
            _ => Err(defect("`mapa` gives an address")),
        }
    }

    fn store_shared<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        pred: IntValue<'c>,
        address: IntValue<'c>,
        values: (&[Val<'c>], u32),
        ordered: bool,
    ) -> Res<()> {
        memory::store_shared(cx, pred, address, values, ordered)
    }

    fn predicates_stores(&self) -> bool {
        true
    }

    fn select_bits<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        mask: IntValue<'c>,
        set: Val<'c>,
        clear: Val<'c>,
    ) -> Res<Option<Val<'c>>> {
        warp::select_bits(cx, mask, set, clear).map(Some)
    }

    fn keep<'c>(&self, cx: &mut Lower<'c, '_>, number: Val<'c>) -> Res<()> {
        Ok(pins::hold_here(&cx.b, number)?)
    }

    fn count_shared<'c>(&self, cx: &mut Lower<'c, '_>, pred: IntValue<'c>, address: IntValue<'c>) -> Res<()> {
        memory::count_shared(cx, pred, address)
    }

    fn load_matrices<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        address: PointerValue<'c>,
        count: usize,
        transposed: bool,
    ) -> Res<Vec<IntValue<'c>>> {
        memory::load_matrices(cx, address, count, transposed)
    }

    fn store_matrices<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        pred: Option<IntValue<'c>>,
        address: PointerValue<'c>,
        words: &[Val<'c>],
        transposed: bool,
    ) -> Res<()> {
        memory::store_matrices(cx, pred, address, words, transposed)
    }

    fn async_copy_bytes(&self) -> &'static [u32] {
        &memory::COPY_BYTES
    }

    fn copy_async<'c>(&self, cx: &mut Lower<'c, '_>, copy: AsyncCopy<'c>) -> Res<()> {
        memory::copy_async(cx, copy)
    }

    fn commit_copies(&self, cx: &mut Lower<'_, '_>) -> Res<()> {
        cx.effect("llvm.nvvm.cp.async.commit.group", &[], &[])
    }

    fn wait_for_copies(&self, cx: &mut Lower<'_, '_>, _: Op, pending: u64) -> Res<()> {
        cx.effect("llvm.nvvm.cp.async.wait.group", &[], &[cx.i32(pending).into()])
    }

    /// Each thread copies by itself.
    fn copy_by_warps(&self, _: &mut Lower<'_, '_>, _: Op) -> Res<bool> {
        Ok(false)
    }

    /// Waits are in front of barriers, which LLVM moves no load across.
    fn mark_loads(&self, _: &Lower<'_, '_>, _: Option<Value>, _: Option<InstructionValue<'_>>) -> Res<()> {
        Ok(())
    }

    fn atomic_form(&self, cx: &Lower<'_, '_>, rmw: RmwKind, elem: Type) -> Option<AtomicForm> {
        atomics::form(&cx.options.target, rmw, elem)
    }

    fn atomic_rmw<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        access: &AtomicAccess<'_, 'c>,
        function: (RmwKind, Type),
        words: Vec<Val<'c>>,
    ) -> Res<Vec<Val<'c>>> {
        atomics::rmw(cx, access, function, words)
    }

    fn compare_and_swap<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        access: &AtomicAccess<'_, 'c>,
        compared: Vec<Val<'c>>,
        words: Vec<Val<'c>>,
    ) -> Res<Vec<Val<'c>>> {
        atomics::compare_and_swap(cx, access, compared, words)
    }

    fn atomic_load<'c>(&self, cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>) -> Res<Vec<Val<'c>>> {
        atomics::load(cx, access)
    }

    fn atomic_store<'c>(&self, cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>, words: Vec<Val<'c>>) -> Res<()> {
        atomics::store(cx, access, words)
    }

    fn poll<'c>(&self, cx: &mut Lower<'c, '_>, poll: &Poll<'c>) -> Res<Val<'c>> {
        atomics::poll(cx, poll)
    }

    fn fence(&self, cx: &mut Lower<'_, '_>, scope: MemScope) -> Res<()> {
        cx.inline_asm(&format!("fence.acq_rel.{scope};"), "~{memory}", &[], &[], true)?;
        Ok(())
    }

    fn clock<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<Val<'c>> {
        atomics::clock(cx)
    }

    fn float_function<'c>(&self, cx: &mut Lower<'c, '_>, function: FloatFunction, args: &[Val<'c>]) -> Res<Val<'c>> {
        math::apply_function(cx, function, args)
    }

    fn shares_work(&self, function: MathOp) -> &'static [MathOp] {
        sines::FUNCTIONS.iter().find(|shared| shared.contains(&function)).copied().unwrap_or_default()
    }

    fn functions_of_tile<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        functions: &[MathOp],
        args: &[Val<'c>],
    ) -> Res<Vec<Vec<Val<'c>>>> {
        sines::of_tile(cx, functions, args)
    }

    fn function_of_library(&self, symbol: &str) -> Option<MathOp> {
        math::of_symbol(symbol)
    }

    /// A call of a function of libdevice, which is linked later.
    fn library_function<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        symbol: &str,
        library: &str,
        result: BasicTypeEnum<'c>,
        args: &[Val<'c>],
    ) -> Res<Val<'c>> {
        let (known, prefix) = self.llvm().library();
        if !symbol.starts_with(prefix) {
            let text = format!(
                "`{symbol}` of library `{library}` cannot be linked; only functions of {known} (`{prefix}…`) can"
            );
            return Err(Diagnostic::error(&codes::BAD_LIBRARY, text));
        }
        cx.external(symbol, result, args)
    }

    fn high_product<'c>(&self, cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<Val<'c>> {
        cx.intrinsic("llvm.nvvm.mulhi.ull", &[], args)
    }

    fn convert_floats<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        values: &[Val<'c>],
        formats: (FloatKind, FloatKind),
        rounding: FpRounding,
    ) -> Res<Vec<Val<'c>>> {
        fp_convert::lower(cx, values, formats, rounding)
    }

    fn dot(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<bool> {
        let Some(Encoding::NvidiaMma(mma)) = cx.ir.ty(cx.ir.result(op)).layout() else { return Ok(false) };
        if mma.version_major != 2 {
            let text = "the result has the layout nvidia_mma of version";
            return Err(cx.unsupported(op, &format!("{text} {}, expected version 2", mma.version_major)));
        }
        mma::lower(cx, op)?;
        Ok(true)
    }

    fn vendor_op(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
        dialect::lower(cx, op)
    }

    fn printer<'c>(&self, cx: &mut Lower<'c, '_>, format: &str, bytes: u32) -> Res<Printer<'c>> {
        debug::printer(cx, format, bytes)
    }

    fn print<'c>(&self, cx: &mut Lower<'c, '_>, printer: &Printer<'c>, args: &[Val<'c>]) -> Res<()> {
        debug::print(cx, printer, args)
    }

    fn fail(&self, cx: &mut Lower<'_, '_>, assertion: &Assertion<'_>) -> Res<()> {
        debug::fail(cx, assertion)
    }
}
