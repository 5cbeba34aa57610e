//! AMD's instructions behind [`Machine`], each in the file of its family.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{FlagBehavior, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{FunctionValue, InstructionValue, IntValue, PointerValue};

use super::llvm::Amdgcn;
use super::raw::SPACES;
use super::{atomics, copies, debug, dialect, dot, fp_convert, inline_asm, math, memory, ocml, threads};
use crate::codegen::llvm::LlvmTarget;
use crate::codegen::lower::{Lower, Res, Val, as_int};
use crate::codegen::machine::Source;
use crate::codegen::machine::{
    AddressSpaces, Assertion, AsyncCopy, AtomicAccess, AtomicForm, CacheHint, Caching, FloatFunction, GlobalLoad,
    GlobalStore, Grid, KernelShape, Machine, Poll, Printer,
};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::enums::{FpRounding, MemScope, ProgramDim, RmwKind};
use crate::ir::{FloatKind, Op, Type, Value};

/// The version of the code object's metadata and of the arguments that the runtime adds, times 100, as Triton has it.
const CODE_OBJECT: u64 = 500;

/// AMD's GPUs.
pub(crate) struct Amd;

/// Lets LLVM load each argument of a kernel where it is needed, as Triton does. By default it loads all of them where
/// the kernel starts, several at once, and a loop then keeps them in scalar registers. `inreg` asks for arguments in
/// registers from the start; where hardware has no such thing, only this is left of it.
fn load_arguments_late<'c>(cx: &Lower<'c, '_>, kernel: FunctionValue<'c>) {
    let inreg = cx.llvm.create_enum_attribute(Attribute::get_named_enum_kind_id("inreg"), 0);
    for i in 0..kernel.count_params() {
        kernel.add_attribute(AttributeLoc::Param(i), inreg);
    }
}

/// What no GPU of the vendor has.
fn lacking(cx: &Lower<'_, '_>, what: &str) -> Diagnostic {
    Diagnostic::error(&codes::UNSUPPORTED_OP, format!("{} has no {what}", cx.options.target))
}

impl Machine for Amd {
    fn llvm(&self) -> &'static dyn LlvmTarget {
        &Amdgcn
    }

    fn spaces(&self) -> AddressSpaces {
        SPACES
    }

    fn check_assembly(&self, cx: &Lower<'_, '_>, op: Op, asm: &str) -> Res<()> {
        inline_asm::check(cx, op, asm)
    }

    fn prepare_module(&self, module: &Module<'_>) {
        let version = module.get_context().i32_type().const_int(CODE_OBJECT, false);
        module.add_basic_value_flag("amdhsa_code_object_version", FlagBehavior::Error, version);
    }

    /// A block has exactly these threads. Denormals of f32 are kept. Accumulation registers, which CDNA has beside the
    /// others, are left to matrix instructions.
    fn describe_kernel<'c>(&self, cx: &Lower<'c, '_>, kernel: FunctionValue<'c>, shape: &KernelShape) {
        let attribute = |key: &str, value: &str| {
            kernel.add_attribute(AttributeLoc::Function, cx.llvm.create_string_attribute(key, value));
        };
        let threads = shape.threads;
        attribute("amdgpu-flat-work-group-size", &format!("{threads},{threads}"));
        attribute("uniform-work-group-size", "true");
        attribute("denormal-fp-math-f32", "ieee");
        if !cx.options.target.can_preload_arguments() {
            load_arguments_late(cx, kernel);
        }
        if let Some(n) = shape.max_registers {
            attribute("amdgpu-num-vgpr", &n.to_string());
        }
        // At least and at most: LLVM then has one number of registers to aim at.
        if let Some(n) = cx.options.waves_per_eu.filter(|&n| n != 0) {
            attribute("amdgpu-waves-per-eu", &format!("{n},{n}"));
        }
    }

    fn describe_descriptor<'c>(&self, _: &Lower<'c, '_>, _: FunctionValue<'c>, _: u32) {}

    fn thread_id<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>> {
        threads::thread_id(cx)
    }

    fn block_in_cluster<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>> {
        Err(lacking(cx, "clusters of blocks"))
    }

    fn grid<'c>(&self, cx: &mut Lower<'c, '_>, what: Grid, axis: ProgramDim) -> Res<IntValue<'c>> {
        threads::grid(cx, what, axis)
    }

    fn grid_dependency(&self, cx: &mut Lower<'_, '_>, op: Op, _: bool) -> Res<()> {
        Err(cx.unsupported(op, &format!("{} has no dependent launches", cx.options.target)))
    }

    fn barrier(&self, cx: &mut Lower<'_, '_>) -> Res<()> {
        threads::barrier(cx)
    }

    fn ends_with_barrier(&self, last: InstructionValue<'_>) -> bool {
        threads::ends_with_barrier(last)
    }

    fn warp_barrier(&self, cx: &mut Lower<'_, '_>) -> Res<()> {
        threads::warp_barrier(cx)
    }

    fn cluster_barrier(&self, cx: &mut Lower<'_, '_>, _: bool) -> Res<()> {
        Err(lacking(cx, "clusters of blocks"))
    }

    /// There is no memory beside shared and global memory.
    fn wait_for_spaces(&self, _: &mut Lower<'_, '_>, _: i64) -> Res<()> {
        Ok(())
    }

    fn shuffle<'c>(&self, cx: &mut Lower<'c, '_>, word: IntValue<'c>, from: Source<'c>) -> Res<IntValue<'c>> {
        threads::shuffle(cx, word, from)
    }

    /// A reduction is steps of DPP, which [`Machine::shuffle`] makes; no single instruction does it.
    fn reduce_warp<'c>(&self, _: &mut Lower<'c, '_>, _: ArithOp, _: Val<'c>) -> Res<Option<Val<'c>>> {
        Ok(None)
    }

    /// `v_perm_b32` has a byte for each place where the selector has four bits, and counts the bytes of its second
    /// operand first.
    fn permute_bytes<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        a: IntValue<'c>,
        b: IntValue<'c>,
        selector: IntValue<'c>,
    ) -> Res<IntValue<'c>> {
        let mut wide = cx.b.build_and(selector, cx.i32(0xffff), "")?;
        for (shift, mask) in [(8, 0x00ff_00ff), (4, 0x0f0f_0f0f)] {
            let moved = cx.b.build_left_shift(wide, cx.i32(shift), "")?;
            wide = cx.b.build_and(cx.b.build_or(wide, moved, "")?, cx.i32(mask), "")?;
        }
        as_int(cx.intrinsic("llvm.amdgcn.perm", &[], &[b.into(), a.into(), wide.into()])?)
    }

    fn load_hint<'c>(&self, _: &mut Lower<'c, '_>, caching: &Caching) -> Res<CacheHint<'c>> {
        Ok(memory::load_hint(caching))
    }

    fn store_hint<'c>(&self, _: &mut Lower<'c, '_>, caching: &Caching) -> Res<CacheHint<'c>> {
        Ok(memory::store_hint(caching))
    }

    fn load_global<'c>(&self, cx: &mut Lower<'c, '_>, load: GlobalLoad<'_, 'c>) -> Res<Vec<Val<'c>>> {
        memory::load(cx, load)
    }

    fn store_global<'c>(&self, cx: &mut Lower<'c, '_>, store: GlobalStore<'_, 'c>) -> Res<()> {
        memory::store(cx, store)
    }

    fn in_block<'c>(&self, cx: &mut Lower<'c, '_>, _: PointerValue<'c>, _: IntValue<'c>) -> Res<PointerValue<'c>> {
        Err(lacking(cx, "clusters of blocks"))
    }

    fn store_shared<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        pred: IntValue<'c>,
        address: IntValue<'c>,
        values: (&[Val<'c>], u32),
        _: bool,
    ) -> Res<()> {
        memory::store_shared(cx, pred, address, values)
    }

    fn count_shared<'c>(&self, cx: &mut Lower<'c, '_>, pred: IntValue<'c>, address: IntValue<'c>) -> Res<()> {
        memory::count_shared(cx, pred, address)
    }

    fn load_matrices<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        _: PointerValue<'c>,
        _: usize,
        _: bool,
    ) -> Res<Vec<IntValue<'c>>> {
        Err(lacking(cx, "loads of matrices of 8 × 8 halves"))
    }

    fn store_matrices<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        _: Option<IntValue<'c>>,
        _: PointerValue<'c>,
        _: &[Val<'c>],
        _: bool,
    ) -> Res<()> {
        Err(lacking(cx, "stores of matrices of 8 × 8 halves"))
    }

    fn async_copy_bytes(&self) -> &'static [u32] {
        &[]
    }

    fn copy_async<'c>(&self, cx: &mut Lower<'c, '_>, _: AsyncCopy<'c>) -> Res<()> {
        Err(lacking(cx, "copies of single threads"))
    }

    /// Waits count instructions.
    fn commit_copies(&self, _: &mut Lower<'_, '_>) -> Res<()> {
        Ok(())
    }

    fn wait_for_copies(&self, cx: &mut Lower<'_, '_>, wait: Op, _: u64) -> Res<()> {
        copies::wait(cx, wait)
    }

    fn copy_by_warps(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<bool> {
        copies::lower(cx, op)
    }

    fn mark_loads(&self, cx: &Lower<'_, '_>, token: Option<Value>, behind: Option<InstructionValue<'_>>) -> Res<()> {
        copies::mark_loads(cx, token, behind)
    }

    fn atomic_form(&self, _: &Lower<'_, '_>, rmw: RmwKind, elem: Type) -> Option<AtomicForm> {
        atomics::form(rmw, elem)
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
        atomics::compare_and_swap(cx, access, &compared, &words)
    }

    fn atomic_load<'c>(&self, cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>) -> Res<Vec<Val<'c>>> {
        atomics::load(cx, access)
    }

    fn atomic_store<'c>(&self, cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>, words: Vec<Val<'c>>) -> Res<()> {
        atomics::store(cx, access, &words)
    }

    fn poll<'c>(&self, cx: &mut Lower<'c, '_>, poll: &Poll<'c>) -> Res<Val<'c>> {
        atomics::poll(cx, poll)
    }

    fn fence(&self, cx: &mut Lower<'_, '_>, scope: MemScope) -> Res<()> {
        atomics::fence(cx, scope)
    }

    fn clock<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<Val<'c>> {
        atomics::clock(cx)
    }

    fn float_function<'c>(&self, cx: &mut Lower<'c, '_>, function: FloatFunction, args: &[Val<'c>]) -> Res<Val<'c>> {
        math::apply_function(cx, function, args)
    }

    fn library_function<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        symbol: &str,
        _: &str,
        result: BasicTypeEnum<'c>,
        args: &[Val<'c>],
    ) -> Res<Val<'c>> {
        ocml::call(cx, symbol, result, args)
    }

    /// The upper half of a product of 128 bits, which LLVM makes of products of 32.
    fn high_product<'c>(&self, cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<Val<'c>> {
        math::high_product(cx, args)
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
        dot::lower(cx, op)
    }

    fn dot_scaled(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<bool> {
        dot::lower_scaled(cx, op)
    }

    fn vendor_op(&self, cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
        dialect::lower(cx, op)
    }

    fn printer<'c>(&self, cx: &mut Lower<'c, '_>, format: &str, _: u32) -> Res<Printer<'c>> {
        debug::printer(cx, format)
    }

    fn print<'c>(&self, cx: &mut Lower<'c, '_>, printer: &Printer<'c>, args: &[Val<'c>]) -> Res<()> {
        debug::print(cx, printer, args)
    }

    fn fail(&self, cx: &mut Lower<'_, '_>, _: &Assertion<'_>) -> Res<()> {
        debug::fail(cx)
    }
}
