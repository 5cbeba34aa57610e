//! With which loads and stores an operation moves a tensor from or to shared memory: the plan that code generation
//! emits, and whose bank conflicts the report counts.
//!
//! 1. [`view_access`] gives the accesses from the layouts of the tensor and of the view, knowing which address bits the
//!    view's offsets can set.
//! 2. [`load`] and [`store`] take whole matrices instead (`ldmatrix`, `stmatrix`), where the target has them and they
//!    take fewer wavefronts, or as many with fewer instructions.
//! 3. [`of_op`] lists all that an operation does by threads: those of descriptors, and those in scratch memory that the
//!    plan of a conversion has. Reductions, scans and gathers move partial results, whose accesses have no plan of
//!    this kind.
//!
//! Example: `ttg.local_load` of `memdesc<128x64xf16, #swizzled>` for an operand of `mma` is 8 `ldmatrix.x4`, without
//! conflicts.

use super::axis_info::{AxisInfoAnalysis, held_side_by_side};
use super::exchange::ExchangePlan;
use super::prepared::PreparedFunction;
use super::scratch::element_bits;
use crate::ir::dialects::ttg::ttg;
use crate::ir::{Encoding, Ir, Op, Type, Value};
use crate::layout::plan::{ConversionPlan, SharedAccess};
use crate::layout::{Dim, LayoutError, LinearLayout, layout_of};
use crate::target::{SharedMemory, Target};

/// More bytes than any buffer has: an instruction may read anywhere in it.
const WHOLE: u32 = 1 << 31;

/// How a tensor lies in a view of shared memory.
#[derive(Clone, Debug)]
pub struct ViewAccess {
    pub access: SharedAccess,
    /// For each dimension of the view the bits of its offset that may be set, each with the bytes to which it moves an
    /// address.
    pub columns: Vec<Vec<(u32, u64)>>,
    /// All bits of an address that the offsets can set.
    pub reached: u64,
}

/// How a tensor lies in a view of shared memory.
///
/// # Errors
/// When a type has no layout, the view does not hold every element, or it is of several buffers.
pub fn view_access(view: Type, tensor: Type, memory: &SharedMemory) -> Result<ViewAccess, LayoutError> {
    let columns = view_columns(view)?;
    let reached = columns.iter().flatten().fold(0u64, |acc, &(_, column)| acc | column);
    let bits = element_bits(view);
    let foreign = reached / u64::from(bits / 8);
    let access = SharedAccess::new(layout_of(tensor)?, layout_of(view)?, bits, foreign, memory)?;
    let access = match view.as_memdesc().map(|m| m.encoding.as_encoding()) {
        Some(Some(Encoding::PaddedShared(e))) => access.padded(&e.intervals)?,
        _ => access,
    };
    Ok(ViewAccess { access, columns, reached })
}

/// The columns of [`ViewAccess`].
///
/// # Errors
/// When the view has no layout, or is of several buffers.
pub fn view_columns(view: Type) -> Result<Vec<Vec<(u32, u64)>>, LayoutError> {
    let memory = view.as_memdesc().ok_or_else(|| LayoutError::new("it is no memory descriptor"))?;
    let shared = layout_of(view)?;
    let rank = shared.out_dims().count();
    if memory.shape.len() != rank {
        let text = "its layout describes one of several buffers: take one of them with `ttg.memdesc_index` first";
        return Err(LayoutError::new(text));
    }
    let inverse = shared.pseudoinvert().ok_or_else(|| LayoutError::new("its layout does not hold every element"))?;
    let alloc = &memory.alloc_shape[memory.alloc_shape.len() - rank..];
    Ok(offset_columns(&inverse, &memory.shape, alloc, element_bits(view) / 8))
}

fn offset_columns(inverse: &LinearLayout, shape: &[i64], alloc: &[i64], element_bytes: u32) -> Vec<Vec<(u32, u64)>> {
    let bits = |size: i64| (size.max(1) as u64).ilog2();
    let column = |d: usize, bit: u32| {
        u64::from(inverse.basis(Dim::axis(d), bit as usize, Dim::Offset)) * u64::from(element_bytes)
    };
    (0..shape.len()).map(|d| (bits(shape[d])..bits(alloc[d])).map(|bit| (bit, column(d, bit))).collect()).collect()
}

/// The accesses of a `ttg.local_load`.
#[must_use]
pub fn load(at: &ViewAccess, memory: &SharedMemory) -> SharedAccess {
    Some(at).filter(|_| memory.ldmatrix).and_then(as_matrices).unwrap_or_else(|| at.access.clone())
}

/// The accesses of a `ttg.local_store`, or of a `ttg.local_alloc` with a tensor.
#[must_use]
pub fn store(at: &ViewAccess, memory: &SharedMemory) -> SharedAccess {
    Some(at).filter(|_| memory.stmatrix).and_then(as_matrices).unwrap_or_else(|| at.access.clone())
}

/// The load or the store by whole matrices, where that takes fewer wavefronts, or as many with fewer instructions.
fn as_matrices(at: &ViewAccess) -> Option<SharedAccess> {
    // Rows of matrices are 16 bytes; a view that starts within one has no addresses for them.
    if at.reached & 15 != 0 {
        return None;
    }
    let cost = |a: &SharedAccess| (a.total_wavefronts(), a.accesses().len());
    let matrices = [false, true].into_iter().filter_map(|transposed| at.access.as_matrices(transposed, WHOLE));
    matrices.min_by_key(cost).filter(|m| cost(m) < cost(&at.access))
}

/// One copy of every thread: consecutive registers from `first`, and where they go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub first: usize,
    pub offset: u32,
}

/// How many elements of a thread lie side by side in global memory, and are copied together: what analysis knows, or
/// the operation states.
#[must_use]
pub fn run_of(ir: &Ir, copy: ttg::AsyncCopyGlobalToLocal, axis: &AxisInfoAnalysis) -> u32 {
    let src = copy.src(ir);
    let stated = copy.contiguity(ir).and_then(|c| u32::try_from(c).ok()).unwrap_or(1);
    // Consecutive registers may be neighbours along another axis, and far from each other in global memory.
    let stated = stated.min(held_side_by_side(ir.ty(src)));
    let mask = copy.mask(ir).map_or(u32::MAX, |m| axis.mask_alignment(ir, m));
    axis.ptr_contiguity(ir, src).max(stated).min(mask)
}

/// The widest copies, of one of these widths in bytes, that do all of a `ttg.async_copy_global_to_local`; `None` where
/// elements must go through registers.
#[must_use]
pub fn pieces(
    ir: &Ir,
    copy: ttg::AsyncCopyGlobalToLocal,
    access: &SharedAccess,
    axis: &AxisInfoAnalysis,
    widths: &[u32],
) -> Option<(u32, Vec<Piece>)> {
    let element = access.access_bytes() / access.vec() as u32;
    let run = run_of(ir, copy, axis);
    widths.iter().find_map(|&bytes| {
        let count = (bytes / element) as usize;
        if !bytes.is_multiple_of(element) || count == 0 || count > run as usize || count > access.vec() {
            return None;
        }
        let mut pieces = vec![];
        for step in access.accesses() {
            for (i, registers) in step.registers.chunks(count).enumerate() {
                let first = registers[0];
                // In global memory a run starts at a multiple of its length.
                if !first.is_multiple_of(count) || registers.iter().enumerate().any(|(k, &r)| r != first + k) {
                    return None;
                }
                pieces.push(Piece { first, offset: step.offset + i as u32 * bytes });
            }
        }
        Some((bytes, pieces))
    })
}

/// By what an operation reads or writes shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    Load,
    Store,
    /// Straight from global memory, so many bytes at once.
    Copy(u32),
}

/// What the threads do with shared memory in an operation.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The descriptor; `None` for scratch memory.
    pub view: Option<Value>,
    pub way: Way,
    pub access: SharedAccess,
}

impl Moved {
    /// How many instructions a warp runs.
    #[must_use]
    pub fn instructions(&self) -> u32 {
        self.access.accesses().len() as u32 * (self.access.access_bytes() / self.bytes())
    }

    /// Bytes that a thread moves with one instruction.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        if let Way::Copy(bytes) = self.way { bytes } else { self.access.access_bytes() }
    }

    /// The wavefronts of one instruction of a warp, and how many there would be without bank conflicts.
    #[must_use]
    pub fn wavefronts(&self) -> (u32, u32) {
        (self.access.wavefronts_of(self.bytes()), self.access.ideal_wavefronts_of(self.bytes()))
    }
}

/// The accesses of an operation, in their order. `widths` are the bytes that the target copies at once.
///
/// # Errors
/// As [`view_access`].
pub fn of_op(
    ir: &Ir,
    op: Op,
    target: &Target,
    function: &PreparedFunction,
    widths: &[u32],
) -> Result<Vec<Moved>, LayoutError> {
    let memory = &target.shared;
    let at = |view: Value, tensor: Value| view_access(ir.ty(view), ir.ty(tensor), memory);
    let one = |view, way, access| Ok(vec![Moved { view: Some(view), way, access }]);
    if let Some(local) = ttg::LocalLoad::of(ir, op) {
        return one(local.src(ir), Way::Load, load(&at(local.src(ir), ir.result(op))?, memory));
    }
    if let Some(local) = ttg::LocalStore::of(ir, op) {
        return one(local.dst(ir), Way::Store, store(&at(local.dst(ir), local.src(ir))?, memory));
    }
    if let Some((alloc, source)) = ttg::LocalAlloc::of(ir, op).and_then(|a| Some((a, a.src(ir)?))) {
        return one(alloc.result(ir), Way::Store, store(&at(alloc.result(ir), source)?, memory));
    }
    if let Some(copy) = ttg::AsyncCopyGlobalToLocal::of(ir, op) {
        let access = at(copy.result(ir), copy.src(ir))?.access;
        let width = pieces(ir, copy, &access, &function.axis, widths).map(|(bytes, _)| bytes);
        return one(copy.result(ir), width.map_or(Way::Store, Way::Copy), access);
    }
    if let Some(Ok(ExchangePlan::Conversion(ConversionPlan::Shared(plan)))) = function.allocation.plan(op) {
        let moved = |way, access: &SharedAccess| Moved { view: None, way, access: access.clone() };
        return Ok(vec![moved(Way::Store, plan.store()), moved(Way::Load, plan.load())]);
    }
    Ok(vec![])
}
