//! Finds in how many rounds the partial results of a reduction go through shared memory.
//!
//! # Algorithm
//!
//! A round is a store, a barrier and a load of one part of all slots, which some register bits decide. Rounds reuse the
//! same bytes. More rounds save bytes and cost two barriers each, so there are no more than the reference compiler
//! makes, which moves the same values:
//!
//! 1. A *vector* is what one access moves: register bits, up to 16 bytes.
//! 2. Slots beyond a line of 128 bytes are told apart by slot bits that are neither in the vector nor among the lanes
//!    that access memory at once, the lowest first. The partial results of one result are loaded by lanes that hold
//!    nothing else, or else by the lowest lanes.
//! 3. Those of these bits that are register bits are the rounds.
//!
//! # Example
//!
//! 64 results have two partial results each, of four bytes, 32 to a thread. The 512 bytes are four lines, told apart by
//! two bits. The lowest ones outside of the vector are one that warps decide and one of a register, so there are two
//! rounds of 256 bytes.

use super::along_axis::AlongAxis;

/// The logarithm of the bytes of a line.
const LINE: u32 = 7;
/// The logarithm of the bytes of the widest access.
const WIDEST: u32 = 4;
/// The logarithm of the bytes of a bank.
const WORD: u32 = 2;

/// A bit of the slot's number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotBit {
    /// A bit of the result's coordinates.
    Rest(u32),
    /// A bit that tells the partial results of a result apart.
    Part(u32),
}

/// The logarithm of the number of rounds, for `1 << parts` partial results to a result, in elements of so many bytes.
pub(super) fn round_bits(places: &AlongAxis, parts: u32, element_bytes: u32) -> u32 {
    let size = element_bytes.trailing_zeros();
    let first = places.register_bits;
    let registers = units(places, 0..first);
    let vector = &registers[..registers.len().min(WIDEST.saturating_sub(size) as usize)];
    let line = LINE.saturating_sub(size).max(vector.len() as u32);
    let beyond = (places.rest_bits + parts).saturating_sub(line) as usize;
    // A wide access moves in several phases, each of fewer lanes.
    let phases = (vector.len() as u32 + size).saturating_sub(WORD);
    let at_once = places.lane_bits.saturating_sub(phases);
    let lanes = units(places, first..first + at_once);
    let is_part_at_once = |part: u32| part_lane(places, parts, part) < at_once;
    let is_apart = |bit: &SlotBit| match bit {
        SlotBit::Part(part) => !is_part_at_once(*part),
        SlotBit::Rest(_) => !vector.contains(bit) && !lanes.contains(bit),
    };
    let rest = |range: std::ops::Range<u32>| range.map(SlotBit::Rest);
    let bits = rest(0..places.before_bits)
        .chain((0..parts).map(SlotBit::Part))
        .chain(rest(places.before_bits..places.rest_bits));
    bits.filter(is_apart).take(beyond).filter(|bit| registers.contains(bit)).count() as u32
}

/// The bits of the result's coordinates that these bits of places decide, each of them alone.
fn units(places: &AlongAxis, bits: std::ops::Range<u32>) -> Vec<SlotBit> {
    let mut units = vec![];
    for column in bits.map(|bit| places.beside(1 << bit)).filter(|c| c.is_power_of_two()) {
        let unit = SlotBit::Rest(column.trailing_zeros());
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    units
}

/// The bit of the lane that tells partial results apart when they are loaded.
fn part_lane(places: &AlongAxis, parts: u32, part: u32) -> u32 {
    let idle: Vec<u32> =
        (0..places.lane_bits).filter(|lane| places.beside(1 << (places.register_bits + lane)) == 0).collect();
    if idle.len() >= parts as usize { idle[part as usize] } else { part }
}
