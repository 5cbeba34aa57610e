//! Shared memory: one block of bytes whose size the launch gives, with offsets from `allocate-shared-memory-nv`.
//!
//! Accesses are ordinary LLVM loads and stores in the address space of shared memory, so LLVM may combine and reorder
//! them; what must not run for every thread is an instruction of the machine's with a predicate. Barriers inside an
//! operation's own protocol come from [`Lower::barrier`]; those between operations are operations of the IR.

use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, IntValue, PointerValue};

use super::lower::{Lower, Res, Val, as_int, defect, located};
use super::machine::Source;
use super::options::CodegenOptions;
use crate::analysis::allocation::BufferKind;
use crate::analysis::prepared::Prepared;
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::discardable::{OFFSET, SHARED};
use crate::ir::{Ir, Op};

const SYMBOL: &str = "global_smem";

/// How many buffers a message about the limit names.
const NAMED_BUFFERS: usize = 8;

/// Refuses a module that needs more shared memory than a block of the target can have, naming the buffers that lie
/// there.
///
/// # Errors
/// E0714, if it needs more.
pub(crate) fn check_limit(ir: &Ir, prepared: &Prepared, options: &CodegenOptions) -> Res<()> {
    let needed = ir.get(ir.module(), SHARED).unwrap_or(0);
    let most = options.target.shared.bytes;
    if needed <= i64::from(most) {
        return Ok(());
    }
    let text = format!(
        "the kernel needs {needed} bytes of shared memory, but a block on {} can have {most}",
        options.target.name
    );
    let mut found = Diagnostic::error(&codes::SHARED_LIMIT, text);
    let mut buffers: Vec<(u32, Op)> = prepared
        .functions
        .values()
        .flat_map(|f| &f.allocation.buffers)
        .filter(|b| b.kind != BufferKind::Callee)
        .map(|b| (b.bytes, b.owner))
        .collect();
    buffers.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
    for &(bytes, op) in buffers.iter().take(NAMED_BUFFERS) {
        let what = ir.results(op).first().map_or_else(String::new, |&r| format!(" of `{}`", ir.ty(r)));
        let line = format!("{bytes} bytes for `{}`{what}", ir.op_name(op));
        found = match ir.loc(op).file_line_col() {
            Some((file, row, _)) => found.note(format!("{line}, at {}:{row}", file.as_str())),
            None => found.note(line),
        };
    }
    if buffers.len() > NAMED_BUFFERS {
        found = found.note(format!("and {} smaller ones", buffers.len() - NAMED_BUFFERS));
    }
    Err(located(found, ir.loc(ir.module()))
        .help("use smaller blocks; where loops are pipelined, fewer stages (num_stages) help too: each keeps a copy of the buffers"))
}

impl<'c> Lower<'c, '_> {
    /// The start of the function's shared memory; a kernel has all of the block's.
    pub(crate) fn shared_base(&mut self) -> PointerValue<'c> {
        if let Some(base) = self.declared.shared_base() {
            return base;
        }
        let symbol = self.module.get_global(SYMBOL).unwrap_or_else(|| {
            let ty = self.llvm.i8_type().array_type(0);
            let global = self.module.add_global(ty, Some(AddressSpace::from(self.machine.spaces().shared)), SYMBOL);
            global.set_linkage(Linkage::External);
            global.set_alignment(16);
            global
        });
        symbol.as_pointer_value()
    }

    /// The shared memory that the allocation gave an operation.
    pub(crate) fn scratch(&mut self, op: Op) -> Res<PointerValue<'c>> {
        let offset = self.ir.get(op, OFFSET).ok_or_else(|| {
            defect(format!(
                "`{}` has no `{}`: the pass `allocate-shared-memory-nv` has not run",
                self.ir.op_name(op),
                OFFSET.name()
            ))
        })?;
        let base = self.shared_base();
        self.shared_at(base, self.i32(offset as u64))
    }

    /// The address `bytes` after `base`.
    pub(crate) fn shared_at(&mut self, base: PointerValue<'c>, bytes: IntValue<'c>) -> Res<PointerValue<'c>> {
        // SAFETY: the offset stays inside the block's shared memory, whose size covers every allocation.
        Ok(unsafe { self.b.build_in_bounds_gep(self.llvm.i8_type(), base, &[bytes], "")? })
    }

    /// Stores elements of one type side by side, as one access of their whole width.
    pub(crate) fn store_shared(&mut self, ptr: PointerValue<'c>, elements: &[Val<'c>]) -> Res<()> {
        let (value, bits) = match elements {
            [] => return Ok(()),
            [one] => (*one, self.bits_of(one.get_type())),
            many => {
                let elem = many[0].get_type();
                let mut vector = Lower::vector_type(elem, many.len() as u32)?.get_poison();
                for (i, &e) in many.iter().enumerate() {
                    vector = self.b.build_insert_element(vector, e, self.i32(i as u64), "")?;
                }
                (vector.as_basic_value_enum(), self.bits_of(elem) * many.len() as u32)
            }
        };
        let store = self.b.build_store(ptr, value)?;
        store.set_alignment((bits / 8).max(1)).map_err(|e| defect(e.to_string()))
    }

    /// Loads `count` elements of one type that lie side by side, as one access.
    pub(crate) fn load_shared(
        &mut self,
        ptr: PointerValue<'c>,
        elem: BasicTypeEnum<'c>,
        count: usize,
    ) -> Res<Vec<Val<'c>>> {
        let bits = self.bits_of(elem) * count as u32;
        let ty: BasicTypeEnum<'c> = if count == 1 { elem } else { Lower::vector_type(elem, count as u32)?.into() };
        let value = self.b.build_load(ty, ptr, "")?;
        if let Some(load) = value.as_instruction_value() {
            load.set_alignment((bits / 8).max(1)).map_err(|e| defect(e.to_string()))?;
        }
        match value {
            Val::VectorValue(v) => {
                (0..count).map(|i| Ok(self.b.build_extract_element(v, self.i32(i as u64), "")?)).collect()
            }
            one => Ok(vec![one]),
        }
    }

    /// Waits for every thread of the block, and for what they wrote to shared memory.
    pub(crate) fn barrier(&mut self) -> Res<()> {
        self.machine.barrier(self)
    }

    /// As [`Lower::barrier`], unless the code that was just made ends with one.
    pub(crate) fn barrier_once(&mut self) -> Res<()> {
        let last = self.b.get_insert_block().and_then(inkwell::basic_block::BasicBlock::get_last_instruction);
        let waits = last.is_some_and(|last| self.machine.ends_with_barrier(last));
        if waits { Ok(()) } else { self.barrier() }
    }

    /// Waits for the threads of this warp, and for what they wrote to shared memory.
    pub(crate) fn warp_barrier(&mut self) -> Res<()> {
        self.machine.warp_barrier(self)
    }

    /// Threads of the block.
    pub(crate) fn threads(&self) -> u32 {
        self.num_warps * self.options.target.warp_size()
    }

    /// This thread's lane in its warp.
    pub(crate) fn lane_id(&mut self) -> Res<IntValue<'c>> {
        let mask = u64::from(self.options.target.warp_size() - 1);
        Ok(self.b.build_and(self.thread_id(), self.i32(mask), "lane")?)
    }

    /// This thread's warp in its block.
    pub(crate) fn warp_id(&mut self) -> Res<IntValue<'c>> {
        let shift = u64::from(self.options.target.warp_size().trailing_zeros());
        Ok(self.b.build_right_shift(self.thread_id(), self.i32(shift), false, "warp")?)
    }

    /// The warp's number from lane 0, so that the assembler knows that it is the same in all lanes.
    pub(crate) fn uniform_warp_id(&mut self) -> Res<IntValue<'c>> {
        let warp = self.warp_id()?;
        as_int(self.shuffle(&[warp.into()], Source::Lane(self.i32(0)))?[0])
    }
}
