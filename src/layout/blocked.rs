//! Chooses blocked encodings: the default one, and one from a size per thread and an order (for coalescing).
//!
//! # Rule
//!
//! 1. Blocks of a cluster are given to the axes from the slowest to the fastest. Each axis gets at most as many as it
//!    has pieces of a thread's size.
//! 2. Threads are given to the axes from the fastest on. Each axis gets as many as fill it, lanes of one warp first,
//!    then warps.
//! 3. The slowest axis takes all lanes and warps that are left, even if they then hold copies.
//!
//! Example: shape 32×64, size per thread `[1, 4]`, order `[1, 0]`, 4 warps of 32 lanes. Axis 1 needs 16 threads, so
//! `threadsPerWarp[1] = 16` and one warp. Axis 0 takes the remaining 2 lanes and 4 warps.

use crate::ir::core::encoding::{Bases, Blocked, Encoding};
use crate::ir::encoding::questions::share;

/// A blocked encoding with one element a thread and the last axis fastest.
///
/// # Panics
/// Panics where [`blocked_from_size`] does.
#[must_use]
pub fn default_blocked(shape: &[i64], num_warps: u32, threads_per_warp: u32, num_ctas: u32) -> Encoding {
    let order: Vec<u32> = (0..shape.len() as u32).rev().collect();
    blocked_from_size(shape, &vec![1; shape.len()], &order, num_warps, threads_per_warp, num_ctas)
}

/// A blocked encoding with this size per thread and order. The module's rule distributes threads and blocks.
///
/// # Panics
/// Panics if the shape is that of a scalar, or `size_per_thread` and `order` are not of its rank.
#[must_use]
pub fn blocked_from_size(
    shape: &[i64],
    size_per_thread: &[u32],
    order: &[u32],
    num_warps: u32,
    threads_per_warp: u32,
    num_ctas: u32,
) -> Encoding {
    let cga = distribute_blocks(shape, size_per_thread, order, num_ctas);
    blocked_in_cga(shape, size_per_thread, order, num_warps, threads_per_warp, &cga)
}

/// As [`blocked_from_size`], with the blocks of a cluster distributed as another encoding of the tensor has them: `cga`
/// are their bases.
///
/// # Panics
/// Panics where [`blocked_from_size`] does.
#[must_use]
pub fn blocked_in_cga(
    shape: &[i64],
    size_per_thread: &[u32],
    order: &[u32],
    num_warps: u32,
    threads_per_warp: u32,
    cga: &Bases,
) -> Encoding {
    let rank = shape.len();
    assert!(
        rank > 0 && size_per_thread.len() == rank && order.len() == rank,
        "a blocked encoding needs a size and an order of its rank"
    );
    let (mut lanes, mut warps) = (vec![1; rank], vec![1; rank]);
    let (mut lanes_left, mut warps_left, mut threads_left) =
        (threads_per_warp, num_warps, num_warps * threads_per_warp);
    let share = share(shape, cga);
    let (&slowest, faster) = order.split_last().expect("the rank is not 0");
    for &axis in faster {
        let axis = axis as usize;
        let pieces = u32::try_from(share[axis] / i64::from(size_per_thread[axis])).unwrap_or(u32::MAX).max(1);
        let threads = threads_left.min(pieces).max(1);
        lanes[axis] = threads.min(lanes_left).max(1);
        warps[axis] = (threads / lanes[axis]).min(warps_left).max(1);
        warps_left /= warps[axis];
        lanes_left /= lanes[axis];
        threads_left /= threads;
    }
    lanes[slowest as usize] = lanes_left.max(1);
    warps[slowest as usize] = warps_left.max(1);
    Encoding::Blocked(Blocked {
        size_per_thread: size_per_thread.to_vec(),
        threads_per_warp: lanes,
        warps_per_cta: warps,
        order: order.to_vec(),
        cga: cga.clone(),
    })
}

/// Rule 1: the bases of the blocks. Blocks that no axis takes hold copies.
fn distribute_blocks(shape: &[i64], size_per_thread: &[u32], order: &[u32], num_ctas: u32) -> Bases {
    let rank = shape.len();
    let mut split = vec![1u32; rank];
    let mut left = num_ctas;
    for &axis in order.iter().rev() {
        let axis = axis as usize;
        let pieces = u32::try_from(shape[axis] / i64::from(size_per_thread[axis])).unwrap_or(u32::MAX).max(1);
        split[axis] = left.min(pieces).max(1);
        left /= split[axis];
    }
    // The blocks that are left over are counted along the last axis. Their bases are 0.
    let mut bases: Bases = Vec::new();
    for &axis in order {
        let axis = axis as usize;
        for bit in 0..split[axis].ilog2() {
            let mut basis = vec![0; rank];
            basis[axis] = 1 << bit;
            bases.push(basis);
        }
        if axis == rank - 1 {
            bases.extend(std::iter::repeat_n(vec![0; rank], left.max(1).ilog2() as usize));
        }
    }
    bases
}
