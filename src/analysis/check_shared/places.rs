//! The bytes that a memory descriptor stands for.
//!
//! A [`Place`] is an interval of a block's shared memory. It starts as a whole buffer, at the offset that stands in the
//! module, and views narrow it: an index to one of the buffers of an allocation, if its value is known here; a
//! sub-slice to a box of elements, whose bytes are not contiguous.

use crate::analysis::allocation::buffer_bytes;
use crate::ir::core::{Attr, AttrData, Encoding, Ir, Op, Type};
use crate::ir::dialects::discardable::OFFSET;
use crate::ir::dialects::ttg::ttg::{LocalAlloc, MemDescIndex, MemDescSubslice};

/// Memory of the caller's that a function gets as an argument lies here, beyond all of its own.
pub(super) const FOREIGN: u64 = 1 << 40;

/// To whom bytes belong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Owner {
    /// What a `ttg.local_alloc` made when it ran last.
    Buffer(Op),
    /// What it made in an earlier round of a loop, if a descriptor of it is still there.
    Older(Op),
    /// Scratch memory of an operation.
    Scratch(Op),
    /// What a caller passed.
    Foreign,
}

/// A box of elements: offset and size along each dimension of an allocation of this encoding and shape.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    encoding: Attr,
    /// Bits of an element. A buffer may be shown with elements of another width.
    width: Option<u32>,
    shape: Vec<i64>,
    ranges: Vec<(i64, i64)>,
}

/// Some bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub owner: Owner,
    pub low: u64,
    /// One past the last byte.
    pub high: u64,
    /// Which elements of them, if a view takes a part.
    pub part: Option<Part>,
    /// Whether the interval holds no byte beside.
    pub whole: bool,
    /// Whether the index of every view is known. Otherwise it is one of several buffers, nobody knows which.
    pub known: bool,
}

impl Place {
    pub(super) fn new(owner: Owner, low: u64, bytes: u64) -> Place {
        Place { owner, low, high: low + bytes, part: None, whole: true, known: true }
    }

    /// All that a caller's memory may be.
    pub(super) fn foreign() -> Place {
        Place { whole: false, known: false, ..Place::new(Owner::Foreign, FOREIGN, FOREIGN) }
    }

    pub(super) fn overlaps(&self, other: &Place) -> bool {
        let apart = match (&self.part, &other.part) {
            (Some(a), Some(b)) if self.low == other.low && self.high == other.high => a.is_apart(b),
            _ => false,
        };
        self.low < other.high && other.low < self.high && !apart
    }

    /// The bytes that both have.
    pub(super) fn common(&self, other: &Place) -> Option<(u64, u64)> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low < high).then_some((low, high))
    }
}

impl Part {
    fn is_apart(&self, other: &Part) -> bool {
        let same = self.encoding == other.encoding && self.width == other.width && self.shape == other.shape;
        same && self.ranges.iter().zip(&other.ranges).any(|(a, b)| a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0)
    }
}

/// Whether values of this type are descriptors of shared memory.
pub(super) fn is_shared(ty: Type) -> bool {
    ty.as_memdesc().is_some_and(|m| *m.memory_space.data() == AttrData::SharedMemory)
}

/// The offset that stands at an operation.
pub(super) fn offset(ir: &Ir, op: Op) -> Option<u64> {
    ir.get(op, OFFSET).and_then(|offset| u64::try_from(offset).ok())
}

/// What the start of a buffer must be a multiple of. The hardware computes a swizzle from address bits, so the rows
/// over which it repeats, eight of them, must start where these bits are zero; TMA and `wgmma` want 128 bytes without a
/// swizzle, vectors and `cp.async` 16, an mbarrier 8 (PTX ISA, "Shared Memory Matrix Layout", "cp.async.bulk.tensor",
/// "cp.async", "mbarrier").
pub(super) fn alignment(ir: &Ir, alloc: LocalAlloc) -> u64 {
    let ty = ir.ty(alloc.result(ir));
    let wanted = match ty.as_memdesc().and_then(|m| m.encoding.as_encoding()) {
        Some(Encoding::NvmmaShared(e)) => match e.swizzling_byte_width {
            128 => 1024,
            64 => 512,
            32 => 256,
            _ => 128,
        },
        _ if ty.elem().bit_width() == Some(64) => 8,
        _ => 16,
    };
    let stated = alloc.alignment(ir).and_then(|a| u64::try_from(a).ok()).unwrap_or(1);
    wanted.max(stated)
}

/// What a view shows of a place. `index` is the value of its index, where that is known. `Err` when it lies outside.
pub(super) fn view(ir: &Ir, op: Op, from: &Place, index: Option<i64>) -> Result<Place, String> {
    let shown = ir.ty(ir.result(op));
    if let Some(view) = MemDescIndex::of(ir, op) {
        return indexed(from, ir.ty(view.src(ir)), shown, index);
    }
    if let Some(view) = MemDescSubslice::of(ir, op) {
        return Ok(Place { part: part(ir, view, from), whole: false, ..from.clone() });
    }
    // The same bytes; of a part, which elements it has under the other name is not followed.
    Ok(Place { part: None, whole: from.whole && from.part.is_none(), ..from.clone() })
}

fn indexed(from: &Place, source: Type, shown: Type, index: Option<i64>) -> Result<Place, String> {
    let unknown = Place { part: None, whole: false, known: false, ..from.clone() };
    let count = source.shape().first().copied().unwrap_or(0);
    let stride = u64::from(buffer_bytes(shown).unwrap_or(0));
    let Some(index) = index.filter(|_| from.whole && from.known && from.owner != Owner::Foreign) else {
        return Ok(unknown);
    };
    let Some(number) = u64::try_from(index).ok().filter(|_| index < count) else {
        return Err(format!("buffer {index} of {count} is asked for"));
    };
    // A type whose buffers do not lie side by side is not cut up.
    if stride == 0 || stride * count.unsigned_abs() != from.high - from.low {
        return Ok(unknown);
    }
    Ok(Place { low: from.low + number * stride, high: from.low + (number + 1) * stride, ..from.clone() })
}

fn part(ir: &Ir, view: MemDescSubslice, from: &Place) -> Option<Part> {
    let (source, shown) = (ir.ty(view.src(ir)).as_memdesc()?, ir.ty(view.result(ir)).as_memdesc()?);
    let offsets = view.offsets(ir)?;
    let starts: Vec<i64> = match &from.part {
        Some(part) => part.ranges.iter().map(|r| r.0).collect(),
        // Without a part the source must show all, or else where it starts is not known.
        None if from.whole && shown.alloc_shape.ends_with(&source.shape) => vec![0; offsets.len()],
        None => return None,
    };
    let ranges =
        starts.iter().zip(offsets).zip(&shown.shape).map(|((start, offset), &size)| (start + offset, size)).collect();
    Some(Part { encoding: shown.encoding, width: shown.elem.bit_width(), shape: shown.alloc_shape.clone(), ranges })
}
