//! What a layout encoding or a type of memory must satisfy by itself, whatever uses it.
//!
//! The reader of IR text asks here for each attribute and type that it reads, and reports faults where those stand; the
//! verifier asks for what passes make. Nothing here knows of a module or an operation, and nothing computes a layout.
//!
//! 1. Lists that run along dimensions have one length; sizes are powers of two; `order` is a permutation.
//! 2. Bases have one number of coordinates. Of a register layout, and of the blocks of a cluster, those that are not 0
//!    are powers of two along one axis each, and every axis has its powers from 1 on, once: a permutation matrix. Of a
//!    shared layout they are linearly independent and span the shape.
//! 3. A parent is a layout of registers that the child can stand on.
//! 4. A memory descriptor's layout is one of memory, in the space where that memory is, with a rank and extents that
//!    fit.
//!
//! ```text
//! #ttg.slice<{dim = 2, parent = #blocked}>      `dim` is below the parent's 2 dimensions, found 2
//! ```

use super::questions::{is_distributed, is_shared, rank_of, split};
use crate::ir::core::encoding::{AmdMfma, AmdWmma, Blocked, NvidiaMma, NvmmaShared, PaddedShared, TensorMemory};
use crate::ir::core::{Attr, AttrData, Bases, Encoding, MemDesc, Type};

/// Why something is not well-formed, without its name.
pub type Rule = Result<(), String>;

/// More dimensions than any tensor has; keeps hostile text from costing time.
const MAX_RANK: usize = 64;

macro_rules! ensure {
    ($cond:expr, $($message:tt)+) => {
        if !$cond {
            return Err(format!($($message)+));
        }
    };
}

/// The rules of one encoding; its parent has been checked already.
///
/// # Errors
/// The first rule that does not hold.
pub fn encoding(e: &Encoding) -> Rule {
    match e {
        Encoding::Blocked(e) => blocked(e),
        Encoding::Slice { dim, parent } => slice(*dim, *parent),
        Encoding::DotOp { op_idx, parent, k_width } => dot_op(*op_idx, *parent, *k_width),
        Encoding::NvidiaMma(e) => nvidia_mma(e),
        Encoding::AmdMfma(e) => amd_mfma(e),
        Encoding::AmdWmma(e) => amd_wmma(e),
        Encoding::Linear(e) => {
            let lists = [&e.register, &e.lane, &e.warp, &e.block];
            permutation_matrix("a linear layout", &lists)
        }
        Encoding::GenericLinear(e) => {
            let lists = [&e.register, &e.lane, &e.warp, &e.block];
            let (rank, coordinates) = equal_lengths(&lists)?;
            for (name, list) in [("register", &e.register), ("lane", &e.lane), ("block", &e.block)] {
                ensure!(
                    list.iter().all(|b| moves(b) <= 1),
                    "a basis of `{name}` moves along several axes; only those of `warp` may"
                );
            }
            ensure!(
                rank == coordinates,
                "the bases of a generic linear layout span all elements, and those given span 2^{rank} of 2^{coordinates}"
            );
            Ok(())
        }
        Encoding::SwizzledShared(e) | Encoding::AmdRotatingShared(e) => {
            same_rank(&[], &e.order, &e.cga)?;
            powers_of_two(&[("vec", &[e.vec]), ("perPhase", &[e.per_phase]), ("maxPhase", &[e.max_phase])])
        }
        Encoding::NvmmaShared(e) => nvmma(e),
        Encoding::SharedLinear { offset, block, alignment } => {
            ensure!(alignment.is_power_of_two(), "`alignment` is a power of two, found {alignment}");
            shared_bases(offset, block)
        }
        Encoding::PaddedShared(e) => padded(e),
        Encoding::TensorMemory(e) => tensor_memory(e),
        Encoding::TensorMemoryScales { cga, .. } => cluster(cga, 2),
    }
}

fn blocked(e: &Blocked) -> Rule {
    let lists = [
        ("sizePerThread", &e.size_per_thread[..]),
        ("threadsPerWarp", &e.threads_per_warp),
        ("warpsPerCTA", &e.warps_per_cta),
    ];
    same_rank(&lists, &e.order, &e.cga)?;
    powers_of_two(&lists)
}

fn slice(dim: u32, parent: Attr) -> Rule {
    distributed_parent(parent)?;
    match rank_of(parent) {
        Some(rank) if rank < 2 => Err(format!("a slice's parent has at least 2 dimensions, found {rank}")),
        Some(rank) if dim as usize >= rank => {
            Err(format!("`dim` is below the parent's {rank} dimensions, found {dim}"))
        }
        _ => Ok(()),
    }
}

fn distributed_parent(parent: Attr) -> Rule {
    ensure!(parent.as_encoding().is_some_and(is_distributed), "the parent is a layout of threads, found `{parent}`");
    Ok(())
}

/// A tensor core's operand packs `kWidth` elements; `mma` has them, fused multiply-adds do not; `wgmma` reads only its
/// first operand from registers.
fn dot_op(op_idx: u32, parent: Attr, k_width: u32) -> Rule {
    ensure!(op_idx <= 1, "`opIdx` is 0 or 1, found {op_idx}");
    distributed_parent(parent)?;
    match parent.as_encoding() {
        Some(Encoding::NvidiaMma(m)) if m.version_major == 2 || m.version_major == 3 => {
            ensure!(k_width != 0, "`kWidth` is not 0 when the parent is an nvidia_mma of version {}", m.version_major);
            ensure!(
                m.version_major == 2 || op_idx == 0,
                "`opIdx` is 0 when the parent is an nvidia_mma of version 3, found {op_idx}"
            );
        }
        Some(Encoding::NvidiaMma(m)) => {
            ensure!(
                k_width == 0,
                "`kWidth` is 0 when the parent is an nvidia_mma of version {}, found {k_width}",
                m.version_major
            );
        }
        Some(Encoding::AmdMfma(_)) => {
            ensure!(
                k_width.is_power_of_two(),
                "`kWidth` is a power of two when the parent is an amd_mfma, found {k_width}"
            );
        }
        Some(Encoding::AmdWmma(m)) => {
            let widths: &[u32] = match m.version {
                1 => &[8, 16],
                2 => &[4, 8, 16],
                _ => &[1, 2, 4, 8, 16, 32],
            };
            ensure!(
                widths.contains(&k_width),
                "`kWidth` is one of {widths:?} when the parent is an amd_wmma of version {}, found {k_width}",
                m.version
            );
        }
        Some(Encoding::Blocked(_)) => {
            ensure!(k_width == 0, "`kWidth` is 0 when the parent is blocked, found {k_width}");
        }
        _ => {
            return Err(format!(
                "the parent of an operand is blocked or the result of a matrix instruction, found `{parent}`"
            ));
        }
    }
    Ok(())
}

fn nvidia_mma(e: &NvidiaMma) -> Rule {
    let rank = e.warps_per_cta.len();
    powers_of_two(&[("warpsPerCTA", &e.warps_per_cta)])?;
    ensure!(rank >= 2, "`warpsPerCTA` has at least 2 dimensions, found {rank}");
    ensure!((1..=3).contains(&e.version_major), "`versionMajor` is 1, 2 or 3, found {}", e.version_major);
    ensure!(
        e.instr_shape.len() >= 2 && !e.instr_shape.contains(&0),
        "`instrShape` has at least 2 sizes, none 0, found {:?}",
        e.instr_shape
    );
    cluster(&e.cga, rank).map_err(|e| {
        if e.contains("coordinates") {
            "`warpsPerCTA` and `CGALayout` have the same number of dimensions".into()
        } else {
            e
        }
    })
}

/// The tiles of `mfma` as M × N (AMD, "CDNA3 ISA", "Matrix Arithmetic Instructions"); those of 4 × 64 are sixteen of
/// 4 × 4 that share an operand.
const MFMA_TILES: [[u32; 2]; 4] = [[32, 32], [16, 16], [64, 4], [4, 64]];

fn amd_mfma(e: &AmdMfma) -> Rule {
    let rank = e.warps_per_cta.len();
    let lists = [("warpsPerCTA", &e.warps_per_cta[..]), ("tilesPerWarp", &e.tiles_per_warp)];
    ensure!((2..=3).contains(&rank), "`warpsPerCTA` has 2 or 3 dimensions, found {rank}");
    ensure!(
        e.tiles_per_warp.len() == rank,
        "`tilesPerWarp` has {rank} dimensions as `warpsPerCTA` has, found {}",
        e.tiles_per_warp.len()
    );
    powers_of_two(&lists)?;
    ensure!(e.version <= 4, "`version` is 0 to 4, found {}", e.version);
    let shape = &e.instr_shape;
    ensure!(
        MFMA_TILES.iter().any(|t| shape.starts_with(t)),
        "`instrShape` starts with 32, 32 or 16, 16 or 64, 4 or 4, 64, found {shape:?}"
    );
    ensure!(
        shape.len() == 3 && shape[2].is_power_of_two(),
        "`instrShape` has a third size, a power of two, found {shape:?}"
    );
    ensure!(
        e.is_transposed || shape[..2] != [64, 4],
        "`isTransposed` is true for a tile of 64 × 4, which is one of 4 × 64 with the operands exchanged"
    );
    let bits = e.element_bit_width;
    ensure!(bits == 32 || bits == 64, "`elementBitWidth` is 32 or 64, found {bits}");
    cluster(&e.cga, rank)
}

/// The tiles of `wmma` as M × N × K, by version from 1 on.
const WMMA_TILES: [&[[u32; 3]]; 3] = [
    &[[16, 16, 16]],
    &[[16, 16, 16], [16, 16, 32]],
    &[[16, 16, 4], [16, 16, 32], [16, 16, 64], [16, 16, 128], [32, 16, 64], [32, 16, 128]],
];

fn amd_wmma(e: &AmdWmma) -> Rule {
    let tiles = (e.version as usize).checked_sub(1).and_then(|v| WMMA_TILES.get(v));
    let Some(tiles) = tiles else { return Err(format!("`version` is 1 to 3, found {}", e.version)) };
    ensure!(
        tiles.iter().any(|t| t[..] == e.instr_shape),
        "`instrShape` of version {} is one of {tiles:?}, found {:?}",
        e.version,
        e.instr_shape
    );
    let rank = e.rank as usize;
    ensure!((2..=3).contains(&rank), "the layout has 2 or 3 dimensions, found {rank}");
    let lists = [&e.tiles, &e.warps];
    ensure!(
        lists.iter().all(|list| list.iter().all(|basis| basis.len() == rank)),
        "the bases of `ctaLayout` have {rank} coordinates"
    );
    if lists.iter().any(|list| !list.is_empty()) {
        permutation_matrix("`ctaLayout`", &lists)?;
    }
    cluster(&e.cga, rank)
}

fn nvmma(e: &NvmmaShared) -> Rule {
    ensure!(
        [0, 32, 64, 128].contains(&e.swizzling_byte_width),
        "`swizzlingByteWidth` is 0, 32, 64 or 128, found {}",
        e.swizzling_byte_width
    );
    ensure!(e.element_bit_width != 0, "`elementBitWidth` is not 0");
    cluster(&e.cga, e.rank as usize)
}

fn padded(e: &PaddedShared) -> Rule {
    let powers = e.intervals.iter().all(|(a, b)| a.is_power_of_two() && b.is_power_of_two());
    ensure!(
        !e.intervals.is_empty() && powers,
        "intervals and paddings are powers of two, and there is at least one pair"
    );
    for (at, (interval, _)) in e.intervals.iter().enumerate() {
        ensure!(e.intervals[..at].iter().all(|(i, _)| i != interval), "the interval {interval} is there twice");
    }
    powers_of_two(&[("shape", &e.shape)])?;
    ensure!(!e.shape.is_empty(), "a layout without any basis has no dimensions");
    ensure!(e.shape.len() <= MAX_RANK, "a layout has at most {MAX_RANK} dimensions, found {}", e.shape.len());
    ensure!(
        e.offset.iter().chain(&e.block).all(|b| b.len() == e.shape.len()),
        "all bases have the same number of coordinates"
    );
    let all = || e.offset.iter().chain(&e.block);
    ensure!(all().all(|b| moves(b) <= 1), "each basis of a padded layout moves along one axis");
    ensure!(
        all().flatten().all(|&c| c == 0 || (c > 0 && c & (c - 1) == 0)),
        "each coordinate of a basis is 0 or a power of two"
    );
    ensure!(
        rank_of_bases(&[&e.offset]) == e.offset.len(),
        "no two offsets hold the same element, so the bases of `offset` are independent"
    );
    Ok(())
}

/// `tcgen05` computes blocks of 64 or 128 rows; two blocks of a cluster share one by rows.
fn tensor_memory(e: &TensorMemory) -> Rule {
    ensure!(e.block_m == 64 || e.block_m == 128, "`blockM` is 64 or 128, found {}", e.block_m);
    ensure!(
        e.block_n.is_power_of_two() && e.block_n <= 512,
        "`blockN` is a power of two up to 512, found {}",
        e.block_n
    );
    ensure!([1, 2, 4].contains(&e.col_stride), "`colStride` is 1, 2 or 4, found {}", e.col_stride);
    ensure!(!e.fp4_padded || e.col_stride == 1, "`colStride` is 1 when `fp4Padded` is set, found {}", e.col_stride);
    cluster(&e.cga, 2)?;
    ensure!(
        !e.two_ctas || e.cga.first().is_some_and(|b| b[..] == [1, 0]),
        "the first basis of `CGALayout` is [1, 0] when `twoCTAs` is set"
    );
    Ok(())
}

/// Whether all lists have as many entries as `order`, which names each dimension once.
fn same_rank(lists: &[(&str, &[u32])], order: &[u32], cga: &Bases) -> Rule {
    let rank = order.len();
    if let Some((name, list)) = lists.iter().find(|l| l.1.len() != rank) {
        return Err(format!("`order` has {rank} dimensions, but `{name}` has {}", list.len()));
    }
    ensure!(cga.iter().all(|b| b.len() == rank), "`order` has {rank} dimensions, but `CGALayout` has others");
    permutation(order)?;
    cluster(cga, rank)
}

/// Whether `order` names each dimension once.
///
/// # Errors
/// That it does not.
pub fn permutation(order: &[u32]) -> Rule {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let last = order.len().saturating_sub(1);
    ensure!(
        sorted.iter().enumerate().all(|(i, &d)| i as u32 == d),
        "`order` names each dimension from 0 to {last} once, found {order:?}"
    );
    Ok(())
}

/// Whether every entry of these lists, given with their names, is a power of two.
///
/// # Errors
/// The first list with one that is none.
pub fn powers_of_two(lists: &[(&str, &[u32])]) -> Rule {
    match lists.iter().find(|l| l.1.iter().any(|v| !v.is_power_of_two())) {
        Some((name, list)) => Err(format!("every entry of `{name}` is a power of two, found {list:?}")),
        None => Ok(()),
    }
}

// ---- bases ----

/// How many coordinates of a basis are not 0.
fn moves(basis: &[i32]) -> usize {
    basis.iter().filter(|&&c| c != 0).count()
}

/// The number of bases that are linearly independent over the field of two elements, and the number of bits that their
/// coordinates take.
fn equal_lengths(lists: &[&Bases]) -> Result<(usize, usize), String> {
    let mut lengths = lists.iter().flat_map(|b| b.iter().map(Vec::len));
    let first = lengths.next().ok_or("a layout without any basis has no dimensions")?;
    ensure!(first > 0 && lengths.all(|l| l == first), "all bases have the same number of coordinates");
    ensure!(first <= MAX_RANK, "a layout has at most {MAX_RANK} dimensions, found {first}");
    let largest = |axis: usize| lists.iter().flat_map(|b| b.iter()).map(|b| b[axis]).fold(0, i32::max);
    let bits = (0..first).map(|axis| 32 - largest(axis).leading_zeros() as usize).sum();
    Ok((rank_of_bases(lists), bits))
}

/// Gaussian elimination: each basis is reduced by those kept so far, which have different leading places.
fn rank_of_bases(lists: &[&Bases]) -> usize {
    let mut kept: Vec<Vec<i32>> = vec![];
    for basis in lists.iter().flat_map(|l| l.iter()) {
        let mut rest = basis.clone();
        while let Some(lead) = leading(&rest) {
            let Some(by) = kept.iter().find(|k| leading(k) == Some(lead)) else {
                kept.push(rest);
                break;
            };
            rest.iter_mut().zip(by).for_each(|(r, b)| *r ^= b);
        }
    }
    kept.len()
}

/// The first axis along which a basis moves, and the highest bit there.
fn leading(basis: &[i32]) -> Option<(usize, u32)> {
    let axis = basis.iter().position(|&c| c != 0)?;
    Some((axis, 31 - basis[axis].leading_zeros()))
}

/// Without bases that are 0, the layout is a permutation matrix: rule 2 of the module documentation.
fn permutation_matrix(what: &str, lists: &[&Bases]) -> Rule {
    let (rank, bits) = equal_lengths(lists)?;
    let moving: Vec<&Vec<i32>> = lists.iter().flat_map(|l| l.iter()).filter(|b| moves(b) > 0).collect();
    let simple = moving.iter().all(|b| moves(b) == 1 && b.iter().all(|&c| c == 0 || (c > 0 && c & (c - 1) == 0)));
    ensure!(
        simple && rank == moving.len() && rank == bits,
        "the bases of {what} that are not 0 are the powers of two of each axis, each once"
    );
    Ok(())
}

/// The bases of a cluster's blocks, of which there may be none.
///
/// # Errors
/// The first rule that does not hold.
pub fn cluster(cga: &Bases, rank: usize) -> Rule {
    ensure!(cga.iter().all(|b| b.len() == rank), "the bases of `CGALayout` have {rank} coordinates");
    if cga.is_empty() { Ok(()) } else { permutation_matrix("`CGALayout`", &[cga]) }
}

/// Each element has one place, but for copies in other blocks or at other offsets.
fn shared_bases(offset: &Bases, block: &Bases) -> Rule {
    let (rank, bits) = equal_lengths(&[offset, block])?;
    let moving = offset.iter().chain(block).filter(|b| moves(b) > 0).count();
    ensure!(rank == bits, "the bases span all elements, and those given span 2^{rank} of 2^{bits}");
    ensure!(rank == moving, "the bases that are not 0 are independent, and of {moving} only {rank} are");
    Ok(())
}

// ---- memory descriptors ----

/// The rules of a memory descriptor.
///
/// # Errors
/// The first rule that does not hold.
pub fn memdesc(m: &MemDesc) -> Rule {
    ensure!(!m.shape.is_empty(), "a memory descriptor has at least one dimension");
    let bits =
        m.elem.bit_width().ok_or_else(|| format!("its elements are integers, floats or pointers, found {}", m.elem))?;
    ensure!(bits == 1 || bits >= 8, "an element has 1 bit or at least 8, found {}", m.elem);
    let positive = |shape: &[i64]| shape.iter().all(|&s| s > 0);
    ensure!(positive(&m.shape), "its dimensions are above 0, found {:?}", m.shape);
    ensure!(positive(&m.alloc_shape), "the dimensions of its allocation are above 0, found {:?}", m.alloc_shape);
    ensure!(
        m.alloc_shape.len() >= m.shape.len(),
        "its allocation has {} dimensions, expected at least its own {}",
        m.alloc_shape.len(),
        m.shape.len()
    );
    let alloc = &m.alloc_shape[m.alloc_shape.len() - m.shape.len()..];
    ensure!(
        m.shape.iter().zip(alloc).all(|(s, a)| s <= a),
        "its shape {:?} lies in that of its allocation, found {:?}",
        m.shape,
        m.alloc_shape
    );
    let Some(e) = m.encoding.as_encoding() else {
        return Err(format!("its layout is one of memory, found `{}`", m.encoding));
    };
    match e {
        Encoding::TensorMemory(e) => in_tensor_memory(m, e),
        Encoding::TensorMemoryScales { .. } => {
            ensure!(
                *m.memory_space == AttrData::TensorMemory,
                "its layout is one of tensor memory, found the space `{}`",
                m.memory_space
            );
            let (rank, allocated) = (m.shape.len(), m.alloc_shape.len());
            ensure!(
                rank == 2 && allocated == 2,
                "scales in tensor memory have two dimensions, found {rank} of {allocated}"
            );
            layout_dimensions(m, 2)?;
            ensure!(m.elem.bit_width() == Some(8), "scales in tensor memory have 8 bits, found {}", m.elem);
            Ok(())
        }
        e if is_shared(e) => in_shared_memory(m, e),
        _ => Err(format!("its layout is one of memory, found `{}`", m.encoding)),
    }
}

fn in_tensor_memory(m: &MemDesc, e: &TensorMemory) -> Rule {
    ensure!(
        *m.memory_space == AttrData::TensorMemory,
        "its layout is one of tensor memory, found the space `{}`",
        m.memory_space
    );
    let rank = m.shape.len();
    ensure!(
        rank == 2 || rank == 3,
        "a buffer in tensor memory has two dimensions, or three with several buffers, found {rank}"
    );
    layout_dimensions(m, 2)?;
    let bits = m.elem.bit_width().unwrap_or(u32::MAX);
    ensure!(bits >= 8, "an element in tensor memory has at least 8 bits, found {}", m.elem);
    ensure!(
        bits <= 32 / e.col_stride.max(1),
        "an element of {} at a column stride of {} takes more than a column of 32 bits",
        m.elem,
        e.col_stride
    );
    let shape = &m.shape[rank - 2..];
    let block_n = i64::from(e.block_n).min(shape[1]);
    let least = (i64::from(e.block_m) * split(&e.cga, 0), block_n * split(&e.cga, 1));
    ensure!(
        shape[0] >= least.0 && shape[1] >= least.1,
        "its shape is at least {} × {}, found {shape:?}",
        least.0,
        least.1
    );
    Ok(())
}

fn in_shared_memory(m: &MemDesc, e: &Encoding) -> Rule {
    ensure!(
        *m.memory_space == AttrData::SharedMemory,
        "its layout is one of shared memory, found the space `{}`",
        m.memory_space
    );
    let rank = rank_of(m.encoding).unwrap_or(m.shape.len());
    let found = m.shape.len();
    ensure!(
        found == rank || found == rank + 1,
        "its layout has rank {rank}, and it has rank {found}; one more than the layout's is the most"
    );
    layout_dimensions(m, rank)?;
    let Some(alloc) = m.alloc_shape.len().checked_sub(rank).map(|at| &m.alloc_shape[at..]) else { return Ok(()) };
    match e {
        Encoding::PaddedShared(e) => extents_agree(&e.shape, alloc),
        Encoding::SharedLinear { offset, block, .. } => extents_agree(&extents(&[offset, block]), alloc),
        Encoding::NvmmaShared(e) => swizzle_fits(e, alloc),
        _ => Ok(()),
    }
}

/// The last dimensions, which the layout lays out, are powers of two; one before them counts the buffers of a pipeline
/// and may be any number.
fn layout_dimensions(m: &MemDesc, rank: usize) -> Rule {
    for (whose, shape) in [("its dimensions", &m.shape), ("the dimensions of its allocation", &m.alloc_shape)] {
        let laid_out = &shape[shape.len().saturating_sub(rank)..];
        ensure!(
            laid_out.iter().all(|s| s & (s - 1) == 0),
            "{whose} are powers of two but for the number of buffers, found {shape:?}"
        );
    }
    Ok(())
}

fn extents_agree(found: &[u32], alloc: &[i64]) -> Rule {
    for (axis, (&found, &size)) in found.iter().zip(alloc).enumerate() {
        ensure!(
            i64::from(found) == size,
            "its layout has {found} elements along dimension {axis}, and its allocation {size}"
        );
    }
    Ok(())
}

/// The extent that bases span in each dimension.
#[must_use]
pub fn extents(bases: &[&Bases]) -> Vec<u32> {
    let all = || bases.iter().flat_map(|b| b.iter());
    let rank = all().map(Vec::len).max().unwrap_or(0);
    let largest = |axis: usize| all().filter_map(|b| b.get(axis)).fold(0, |a, &b| a.max(b)) as u32;
    (0..rank).map(|axis| (largest(axis) + 1).next_power_of_two()).collect()
}

/// A block's share holds at least one row of the swizzle pattern along the contiguous dimension.
fn swizzle_fits(e: &NvmmaShared, alloc: &[i64]) -> Rule {
    let axis = if e.transposed { 0 } else { alloc.len().saturating_sub(1) };
    let Some(&size) = alloc.get(axis) else { return Ok(()) };
    let share = (size / split(&e.cga, axis).min(size.max(1)) * if e.fp4_padded { 2 } else { 1 }).min(256);
    let row = i64::from(8 * e.swizzling_byte_width / e.element_bit_width.max(1));
    ensure!(
        e.swizzling_byte_width == 0 || share >= row,
        "a block has {share} elements along dimension {axis}, and a row of the swizzle of {} bytes has {row}",
        e.swizzling_byte_width
    );
    Ok(())
}

/// The rules of a pointer. Up to 3.6 Triton had pointers to blocks, which are tensors.
///
/// # Errors
/// What it points at is neither a number nor a block of numbers or pointers.
pub fn pointer(pointee: Type) -> Rule {
    let number = |ty: Type| ty.is_int() || ty.is_float();
    let block = pointee.as_tensor().is_some_and(|t| number(t.elem) || t.elem.is_ptr());
    ensure!(
        number(pointee) || pointee.is_ptr() || block,
        "a pointer points at an integer, a float or a block of them, found {pointee}"
    );
    Ok(())
}

/// The rules of the block of a tensor descriptor.
///
/// # Errors
/// The first rule that does not hold.
pub fn tensor_desc(shape: &[i64], elem: Type, layout: Option<Attr>, im2col: bool) -> Rule {
    ensure!(!elem.is_tensor(), "a descriptor's elements are no tensors");
    ensure!(!im2col || shape.len() == 2, "an im2col descriptor has two dimensions, found {}", shape.len());
    if let Some(layout) = layout {
        ensure!(
            layout.as_encoding().is_some_and(is_shared),
            "a descriptor's layout is one of shared memory, found `{layout}`"
        );
    }
    Ok(())
}
