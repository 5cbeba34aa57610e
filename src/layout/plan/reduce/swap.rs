//! Partial results that two warps exchange through shared memory.
//!
//! # Algorithm
//!
//! What is left of a reduction is one bit of the warp's number, and a thread has partial results of what it wants. It
//! has to see only those of the thread in the other warp, so it stores its own and loads the other's, in wide accesses.
//!
//! 1. A slot's number has the bits of the result's coordinates and the bit that tells the two partial results apart.
//!    Some of its bits are decided by registers alone: the lowest of these, up to a wide access, go first. Then come
//!    the bits that lanes and warps decide, so that lanes access neighbours.
//! 2. The other bits number the rounds. Rounds take turns with two buffers where these are small. Then a barrier a
//!    round is enough: who stores to a buffer again is behind the barrier of the round between, and so behind all
//!    loads.

use super::{AlongAxis, Directions, WIDEST, free_thread_bits};
use crate::layout::linear::{low_bits, select};
use crate::layout::{Dim, LinearLayout};

/// The most bytes of two buffers; larger ones are no two.
const MOST_BUFFERED: u32 = 8192;

/// Partial results that two warps exchange through shared memory.
///
/// Example: bit 0 of the warp's number moves along the axis, and a thread has eight partial results of four bytes. In
/// each of two rounds it stores four of them in one access, waits, and reads the four at the slots that differ in
/// `partner`. The rounds take turns with two buffers, so one barrier a round is enough.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Swap {
    /// A map from (register, lane, warp) to the slot, in elements. A group is stored at the slot of its first register.
    pub slot: LinearLayout,
    /// The bit of the slot that differs in the other partial result. Where it is set, the partial result comes second.
    pub partner: u32,
    /// The bits of the thread's number that must all be 0 for the thread to store.
    pub copies: u32,
    /// The number of slots of a round, for each operand.
    pub slots: u32,
    /// The rounds, each of the groups that one access moves.
    pub rounds: Vec<Vec<usize>>,
    /// The buffers that rounds take turns with.
    pub buffers: u32,
    /// The group that each register of the result copies.
    pub table: Vec<usize>,
}

impl Swap {
    /// Lays out partial results. `None` where lanes have something to combine, so that they have the same partial
    /// results, where a thread has only one, and where what one access moves does not lie side by side.
    pub(super) fn new(
        places: &AlongAxis,
        along: &Directions,
        (groups, table): (&[Vec<usize>], Vec<usize>),
        element_bytes: &[u32],
    ) -> Option<Swap> {
        let has_widths = element_bytes.iter().all(|&bytes| (2..=WIDEST).contains(&bytes));
        if along.warps != 1 || !along.lanes.is_empty() || groups.len() < 2 || !has_widths {
            return None;
        }
        let all = places.rest_bits + 1;
        let plain = places.offsets(all, |place| places.beside(place) << 1 | along.part(places.along(place)));
        let widest = element_bytes.iter().copied().max().unwrap_or(1);
        let mut threads: Vec<u32> = vec![];
        for column in &plain.columns[places.register_bits as usize..] {
            threads.extend((0..all).filter(|bit| column >> bit & 1 == 1 && !threads.contains(bit)).collect::<Vec<_>>());
        }
        let registers: Vec<u32> = (0..all).filter(|bit| !threads.contains(bit)).collect();
        let run_bits = registers.len().min((WIDEST / widest).trailing_zeros() as usize);
        let order = [&registers[..run_bits], &threads, &registers[run_bits..]].concat();
        let bits = (run_bits + threads.len()) as u32;
        let place_of = |old: u32| order.iter().position(|&bit| bit == old).map_or(0, |new| 1 << new);
        let reordered = |slot: u64| (0..all).filter(|bit| slot >> bit & 1 == 1).fold(0, |new, bit| new | place_of(bit));
        let columns: Vec<u64> = plain.columns.iter().map(|&c| reordered(c)).collect();
        let slot_of = |group: &usize| select(&columns, groups[*group][0] as u64);
        let mut sorted: Vec<usize> = (0..groups.len()).collect();
        sorted.sort_by_key(slot_of);
        let rounds: Vec<Vec<usize>> = sorted.chunks(1 << run_bits).map(<[usize]>::to_vec).collect();
        let is_run = |round: &Vec<usize>| round.iter().map(slot_of).eq((slot_of(&round[0])..).take(1 << run_bits));
        if !rounds.iter().all(is_run) || rounds.len() != 1 << (all - bits) {
            return None;
        }
        let slots = 1 << bits;
        let buffered = rounds.len() > 1 && 2 * slots * element_bytes.iter().sum::<u32>() <= MOST_BUFFERED;
        Some(Swap {
            copies: free_thread_bits(&plain),
            slot: LinearLayout {
                columns: columns.iter().map(|c| c & low_bits(bits)).collect(),
                outs: vec![(Dim::Offset, bits)],
                ..plain
            },
            partner: place_of(0) as u32,
            slots,
            rounds,
            buffers: if buffered { 2 } else { 1 },
            table,
        })
    }
}
