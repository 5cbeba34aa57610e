//! Computes how the tensor memory accelerator (TMA) cuts a block of a tensor into messages.
//!
//! 1. A *box* is what one message moves: at most 256 elements along each axis, and as many bytes along the contiguous
//!    one as the swizzle is wide (CUDA driver API, `cuTensorMapEncodeTiled`: "the inner dimension must be <= the
//!    swizzle size").
//! 2. Messages are numbered with the first axis fastest. The bits of a message's number move its box in the tensor, and
//!    its part of the buffer in shared memory; both maps are linear.
//!
//! Example: a block of 64×128 of f16 with a swizzle of 128 bytes has boxes of 64×64. Message 0 takes columns 0 to 63 to
//! offset 0, and message 1 takes columns 64 to 127 to offset 4096 (in elements).

use super::combine::shape_per_cta;
use super::lookup::layout_of;
use super::shared::tma_box;
use crate::ir::core::encoding::NvmmaShared;
use crate::ir::core::{Attr, Encoding, FloatKind, Type, TypeData};
use crate::layout::{Dim, LayoutError, free_variable_masks};

/// The bytes of a descriptor (PTX ISA, "Tensormap"). Its address must be a multiple of this number here.
pub const DESCRIPTOR_BYTES: u32 = 128;

/// What the descriptor of a tensor in memory says about the blocks that it moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TmaBlock {
    /// The box, outermost axis first. With `fp4_padded` the last axis counts elements of 4 bits.
    pub box_shape: Vec<i64>,
    /// 0 for none; 1, 2 and 3 for 32, 64 and 128 bytes (PTX ISA, "tensormap.replace", `.swizzle_mode`).
    pub swizzle_mode: u32,
    /// The number of the type (PTX ISA, "tensormap.replace", `.elemtype`).
    pub element_type: u32,
    /// The bytes of an element in global memory.
    pub element_bytes: u32,
    /// Whether two elements of 4 bits lie in a byte of global memory, and 8 such bytes fill 16 in shared memory.
    pub fp4_padded: bool,
}

/// The messages that fill, or empty, a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TmaMessages {
    /// For each bit of a message's number, how far it moves the box along each axis of the buffer, in the descriptor's
    /// elements.
    pub coordinates: Vec<Vec<u32>>,
    /// For each bit, how far it moves the part of the buffer, in the buffer's elements.
    pub offsets: Vec<u32>,
    /// For each bit of the block's number in its cluster, how far it moves all boxes along each axis.
    pub blocks: Vec<Vec<u32>>,
    /// The bits of the block's number in which blocks differ that hold the same.
    pub copies: u32,
    pub fp4_padded: bool,
}

impl TmaMessages {
    #[must_use]
    pub fn count(&self) -> u32 {
        1 << self.offsets.len()
    }
}

fn nvmma(layout: Option<Attr>) -> Result<&'static NvmmaShared, LayoutError> {
    match layout.and_then(Attr::as_encoding) {
        Some(Encoding::NvmmaShared(e)) if !e.transposed => Ok(e),
        Some(Encoding::NvmmaShared(_)) => Err(LayoutError::new("its layout is transposed, which TMA does not do")),
        _ => Err(LayoutError::new("it has no nvmma_shared layout, which is what TMA reads and writes")),
    }
}

/// The least bytes of a box along the fastest axis (CUDA driver API, `cuTensorMapEncodeTiled`).
const NARROWEST_LINE: i64 = 16;

/// Computes what a descriptor of this type says.
///
/// # Errors
/// Fails if it has no layout that TMA can fill, or elements of a type that TMA does not have.
pub fn tma_block(descriptor: Type) -> Result<TmaBlock, LayoutError> {
    let TypeData::TensorDesc { shape, elem, layout, .. } = descriptor.data() else {
        return Err(LayoutError::new(format!("{descriptor} is no tensor descriptor")));
    };
    let e = nvmma(*layout)?;
    let share = shape_per_cta(&e.cga, shape)?;
    let line = share.last().map_or(0, |&n| n * i64::from(descriptor.bit_width().unwrap_or(0)) / 8);
    if !e.cga.is_empty() && line < NARROWEST_LINE {
        return Err(LayoutError::new(format!(
            "{line} bytes of a row are one block's share, and TMA moves {NARROWEST_LINE} or more"
        )));
    }
    let mut box_shape = tma_box(&share, e)?;
    if e.fp4_padded
        && let Some(last) = box_shape.last_mut()
    {
        *last *= 2;
        if *last != 128 || e.swizzling_byte_width != 128 {
            return Err(LayoutError::new(
                "padded 4-bit elements need 128 of them in the last axis and a swizzle of 128 bytes",
            ));
        }
    }
    let swizzle_mode = match e.swizzling_byte_width {
        128 => 3,
        64 => 2,
        32 => 1,
        _ => 0,
    };
    let element_bytes = descriptor.bit_width().unwrap_or(0) / 8;
    Ok(TmaBlock {
        box_shape,
        swizzle_mode,
        element_type: element_type(*elem, e.fp4_padded)?,
        element_bytes,
        fp4_padded: e.fp4_padded,
    })
}

/// The number of the type (PTX ISA, "tensormap.replace", the values of `.elemtype`).
fn element_type(elem: Type, fp4_padded: bool) -> Result<u32, LayoutError> {
    if fp4_padded {
        return Ok(14);
    }
    let signed = matches!(*elem, TypeData::SignedInt { signed: true, .. });
    Ok(match (elem.as_float(), elem.bit_width()) {
        (Some(FloatKind::F16), _) => 6,
        (Some(FloatKind::F32), _) => 7,
        (Some(FloatKind::F64), _) => 9,
        (Some(FloatKind::BF16), _) => 10,
        (_, Some(8)) => 0,
        (_, Some(16)) => 1,
        (_, Some(32)) => 2 + u32::from(signed),
        (_, Some(64)) => 4 + u32::from(signed),
        _ => return Err(LayoutError::new(format!("TMA has no elements of type {elem}"))),
    })
}

/// The messages for a buffer of this type.
///
/// # Errors
/// Fails if its layout is not one that TMA can fill.
pub fn tma_messages(buffer: Type) -> Result<TmaMessages, LayoutError> {
    let memory = buffer.as_memdesc().ok_or_else(|| LayoutError::new(format!("{buffer} is no memory descriptor")))?;
    let e = nvmma(Some(memory.encoding))?;
    if e.rank as usize != memory.shape.len() {
        return Err(LayoutError::new("its layout describes one of several buffers"));
    }
    let share = shape_per_cta(&e.cga, &memory.shape)?;
    let boxed = tma_box(&share, e)?;
    let inverse =
        layout_of(buffer)?.pseudoinvert().ok_or_else(|| LayoutError::new("its layout does not hold every element"))?;
    let (mut coordinates, mut offsets) = (vec![], vec![]);
    for (axis, (&size, &part)) in share.iter().zip(&boxed).enumerate() {
        for bit in part.trailing_zeros()..size.trailing_zeros() {
            let mut moved = vec![0; share.len()];
            // Each byte of the buffer holds two elements of 4 bits.
            let packed = u32::from(e.fp4_padded && axis + 1 == share.len());
            moved[axis] = 1 << (bit + packed);
            coordinates.push(moved);
            offsets.push(inverse.basis(Dim::axis(axis), bit as usize, Dim::Offset));
        }
    }
    let layout = layout_of(buffer)?;
    let mut blocks = layout.bases(Dim::Block);
    if let Some(Some(last)) = e.fp4_padded.then(|| share.len().checked_sub(1)) {
        blocks.iter_mut().for_each(|b| b[last] *= 2);
    }
    let blocks = blocks.into_iter().map(|b| b.into_iter().map(i32::unsigned_abs).collect()).collect();
    let copies = free_variable_masks(layout).block;
    Ok(TmaMessages { coordinates, offsets, blocks, copies, fp4_padded: e.fp4_padded })
}

/// How many bytes one block's messages for this buffer move, which is what an mbarrier waits for.
///
/// # Errors
/// Fails where [`tma_messages`] does.
pub fn tma_bytes(buffer: Type) -> Result<u32, LayoutError> {
    let memory = buffer.as_memdesc().ok_or_else(|| LayoutError::new(format!("{buffer} is no memory descriptor")))?;
    let e = nvmma(Some(memory.encoding))?;
    let elements: i64 = shape_per_cta(&e.cga, &memory.shape)?.iter().product();
    let bytes = elements * i64::from(buffer.bit_width().unwrap_or(0)) / 8;
    u32::try_from(bytes).map_err(|_| LayoutError::new(format!("{buffer} has too many bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::core::{AttrData, MemDesc};

    fn encoding(swizzle: u32, bits: u32, fp4_padded: bool) -> Attr {
        let (transposed, cga) = (false, vec![]);
        Attr::encoding(Encoding::NvmmaShared(NvmmaShared {
            swizzling_byte_width: swizzle,
            transposed,
            element_bit_width: bits,
            fp4_padded,
            rank: 2,
            cga,
        }))
    }

    fn buffer(shape: [i64; 2], elem: Type, encoding: Attr) -> Type {
        let memory_space = Attr::new(AttrData::SharedMemory);
        let (shape, alloc_shape) = (shape.to_vec(), shape.to_vec());
        Type::new(TypeData::MemDesc(MemDesc { shape, elem, encoding, memory_space, mutable: true, alloc_shape }))
    }

    fn descriptor(shape: [i64; 2], elem: Type, encoding: Attr) -> Type {
        Type::new(TypeData::TensorDesc { shape: shape.to_vec(), elem, layout: Some(encoding), im2col: false })
    }

    #[test]
    fn wide_blocks_take_several_messages() {
        let f16 = Type::float(FloatKind::F16);
        let m = tma_messages(buffer([512, 128], f16, encoding(128, 16, false))).unwrap();
        assert_eq!((m.coordinates, m.offsets), (vec![vec![256, 0], vec![0, 64]], vec![256 * 64, 512 * 64]));
        assert_eq!(tma_bytes(buffer([512, 128], f16, encoding(128, 16, false))).unwrap(), 512 * 128 * 2);
        let one = tma_messages(buffer([64, 32], f16, encoding(64, 16, false))).unwrap();
        assert_eq!(one.count(), 1);
    }

    #[test]
    fn every_element_of_a_message_lies_where_the_hardware_puts_it() {
        // Without a swizzle, a message's elements follow one another, row by row of its box.
        let ty = buffer([512, 512], Type::int(8), encoding(0, 8, false));
        let m = tma_messages(ty).unwrap();
        let inverse = layout_of(ty).unwrap().pseudoinvert().unwrap();
        for message in 0..m.count() {
            let pick = |of: &dyn Fn(usize) -> u32| {
                (0..m.offsets.len()).filter(|b| message >> b & 1 == 1).fold(0, |s, b| s ^ of(b))
            };
            let (row, column) = (pick(&|b| m.coordinates[b][0]), pick(&|b| m.coordinates[b][1]));
            let start = pick(&|b| m.offsets[b]);
            for (r, c) in [(0, 0), (1, 0), (0, 1), (255, 255), (17, 200)] {
                let at = inverse.apply(&[(Dim::axis(0), row + r), (Dim::axis(1), column + c)]);
                assert_eq!(at.iter().find(|a| a.0 == Dim::Offset).unwrap().1, start + r * 256 + c);
            }
        }
    }

    #[test]
    fn what_a_descriptor_says() {
        let f16 = Type::float(FloatKind::F16);
        let block = tma_block(descriptor([512, 128], f16, encoding(128, 16, false))).unwrap();
        assert_eq!(
            (block.box_shape, block.swizzle_mode, block.element_type, block.element_bytes),
            (vec![256, 64], 3, 6, 2)
        );
        let signed = Type::new(TypeData::SignedInt { width: 32, signed: true });
        assert_eq!(tma_block(descriptor([8, 8], signed, encoding(32, 32, false))).unwrap().element_type, 3);
        let fp4 = tma_block(descriptor([64, 64], Type::int(8), encoding(128, 8, true))).unwrap();
        assert_eq!((fp4.box_shape, fp4.element_type, fp4.fp4_padded), (vec![64, 128], 14, true));
        assert!(tma_block(descriptor([8, 8], Type::int(1), encoding(0, 8, false))).is_err());
    }
}
