//! Plans an exchange within warps by shuffles.
//!
//! # Setting
//!
//! Both layouts give each bit of a place (bits of the register number, bits of the lane number) one basis vector, and
//! hold the same vectors. So the conversion moves bits. A register bit of the source becomes a register bit or a lane
//! bit of the destination, and so does a lane bit. Registers can be renamed for nothing. The costs are the `m` register
//! bits that become lane bits, together with the `m` lane bits that become register bits, and lane bits that change
//! places.
//!
//! # Algorithm
//!
//! 1. Copies are left out, and the side with fewer registers is filled up with bits that mean nothing. Such bits are
//!    matched so that they stay where they are.
//! 2. Each register bit `x` that leaves is paired with a lane bit `y` that becomes a register bit. `y` is the last of
//!    the chain of lane bits that begins where `x` goes. A pair is exchanged in three moves, in which `r_x` and `l_y`
//!    are the values of the bits:
//!
//!    ```text
//!    r_x ^= l_y   a select in each thread
//!    l_y ^= r_x   a shuffle: register r comes from the lane with y flipped where r_x is 1
//!    r_x ^= l_y   a select
//!    ```
//!
//!    All pairs share the shuffle, and a permutation of the lanes is part of it. With one pair and no permutation, a
//!    select takes the register that is sent and another the one that stays. That is one shuffle and three selects for
//!    two registers.
//! 3. Register bits that stay registers come first in the numbering, so that several elements below 32 bits travel in
//!    one word. A 64-bit element is two words.
//!
//! # Example
//!
//! From `register = [1], lane = [2, 4, 8, 16, 32]` to `register = [2], lane = [1, 4, 8, 16, 32]` there is one pair,
//! register bit 0 with lane bit 0. Lanes `2i` and `2i + 1` exchange one register, with one `shfl.sync.bfly`.

use std::collections::BTreeMap;

use crate::layout::{Dim, LinearLayout};

/// A register bit and a lane bit that change places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pair {
    /// The bit of the word number.
    word: u32,
    /// The bit of the lane number before the shuffle.
    before: u32,
    /// The bit of the lane number after the shuffle.
    after: u32,
}

/// An exchange within warps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShufflePlan {
    /// The source register that each working register starts from.
    inputs: Vec<usize>,
    /// The working register that each destination register ends in.
    outputs: Vec<usize>,
    /// The logarithm of the elements in a word.
    pack_bits: u32,
    /// How many words an element is: 2 for 64 bits.
    parts: u32,
    pairs: Vec<Pair>,
    /// The lane that each bit of the lane number reads from.
    lanes: Vec<u32>,
}

/// Something that can execute a plan: code generation, a simulation, or a counter.
pub trait Machine {
    /// A word in every lane.
    type Value: Clone + PartialEq;
    type Error;

    /// Gives `off` in lanes whose bit is 0, and `on` in the others.
    ///
    /// # Errors
    /// Fails on what the machine cannot do.
    fn select(&mut self, lane_bit: u32, off: &Self::Value, on: &Self::Value) -> Result<Self::Value, Self::Error>;

    /// Gives in each lane the value of lane `l ⊕ flip`. There, `l` is the exclusive or of the entries of `lanes` that
    /// the bits of the lane's number pick.
    ///
    /// # Errors
    /// Fails on what the machine cannot do.
    fn shuffle(&mut self, value: &Self::Value, lanes: &[u32], flip: u32) -> Result<Self::Value, Self::Error>;
}

/// A bit of a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bit {
    Register(usize),
    Lane(usize),
}

/// One side: its register bits that are no copies, filled up, each with its bit in the layout.
struct Side {
    /// The bit of the register number, or `None` for one that means nothing, and the vector.
    registers: Vec<(Option<usize>, u64)>,
    lanes: Vec<u64>,
}

impl Side {
    fn of(layout: &LinearLayout) -> Side {
        let registers = layout.columns_of(Dim::Register).iter().copied().enumerate().filter(|r| r.1 != 0);
        Side { registers: registers.map(|(i, c)| (Some(i), c)).collect(), lanes: layout.columns_of(Dim::Lane).to_vec() }
    }

    fn bits(&self) -> Vec<(Bit, u64)> {
        let registers = self.registers.iter().enumerate().map(|(i, r)| (Bit::Register(i), r.1));
        registers.chain(self.lanes.iter().enumerate().map(|(i, &c)| (Bit::Lane(i), c))).collect()
    }
}

/// Step 1 finds where each bit of the source goes. The result is `None` when the layouts do not hold the same vectors,
/// each once.
fn bit_moves(source: &Side, destination: &Side) -> Option<BTreeMap<Bit, Bit>> {
    let (mut from, mut to) = (source.bits(), destination.bits());
    let mut moves = BTreeMap::new();
    let holders = |side: &[(Bit, u64)], v: u64| side.iter().filter(|b| b.1 == v).count();
    for &(bit, v) in from.iter().filter(|b| b.1 != 0) {
        if holders(&from, v) != 1 || holders(&to, v) != 1 {
            return None;
        }
        moves.insert(bit, to.iter().find(|b| b.1 == v)?.0);
    }
    from.retain(|b| b.1 == 0);
    to.retain(|b| !moves.values().any(|m| *m == b.0));
    if to.iter().any(|b| b.1 != 0) || from.len() != to.len() {
        return None;
    }
    let stays: Vec<Bit> = from.iter().map(|b| b.0).filter(|&b| to.iter().any(|t| t.0 == b)).collect();
    moves.extend(stays.iter().map(|&b| (b, b)));
    let others =
        |side: Vec<(Bit, u64)>| side.into_iter().map(|b| b.0).filter(|b| !stays.contains(b)).collect::<Vec<_>>();
    moves.extend(others(from).into_iter().zip(others(to)));
    Some(moves)
}

impl ShufflePlan {
    /// Makes the plan for a conversion that stays within warps. The result is `None` when the bases of the layouts
    /// differ in more than their order, or the elements are wider than 64 bits.
    #[must_use]
    pub fn new(source: &LinearLayout, destination: &LinearLayout, bits: u32) -> Option<ShufflePlan> {
        let outs: Vec<Dim> = source.out_dims().collect();
        let (mut from, mut to) = (Side::of(source), Side::of(&destination.transpose_outs(&outs)));
        let size = from.registers.len().max(to.registers.len());
        from.registers.resize(size, (None, 0));
        to.registers.resize(size, (None, 0));
        if from.lanes.len() != to.lanes.len() || bits > 64 {
            return None;
        }
        let moves = bit_moves(&from, &to)?;
        // Step 2 pairs the bits.
        let mut order: Vec<usize> = vec![];
        let mut leaving = vec![];
        for i in 0..size {
            match moves[&Bit::Register(i)] {
                Bit::Register(_) => order.push(i),
                Bit::Lane(first) => leaving.push((i, first, chain_end(&moves, first))),
            }
        }
        let stored_bits = bits.next_power_of_two().max(8);
        let pack_bits = (32 / stored_bits.min(32)).trailing_zeros().min(order.len() as u32);
        let stay = order.len();
        order.extend(leaving.iter().map(|l| l.0));
        let mut lanes: Vec<u32> = vec![0; from.lanes.len()];
        for (i, _) in from.lanes.iter().enumerate() {
            if let Bit::Lane(j) = moves[&Bit::Lane(i)] {
                lanes[j] = 1 << i;
            }
        }
        let mut pairs = vec![];
        for (k, &(_, first, last)) in leaving.iter().enumerate() {
            lanes[first] = 1 << last;
            pairs.push(Pair { word: (stay + k) as u32 - pack_bits, before: last as u32, after: first as u32 });
        }
        // These are the register bits of the destination as which the working bits end.
        let ends = order.iter().enumerate().map(|(j, &i)| {
            let bit = if j < stay { Bit::Register(i) } else { Bit::Lane(leaving[j - stay].2) };
            match moves[&bit] {
                Bit::Register(end) => end,
                Bit::Lane(_) => size,
            }
        });
        let ends: Vec<usize> = ends.collect();
        let outputs = (0..destination.in_size(Dim::Register) as usize).map(|d| {
            let bit = |end: usize| to.registers.get(end).and_then(|r| r.0).map_or(0, |b| d >> b & 1);
            ends.iter().enumerate().fold(0, |acc, (j, &end)| acc | bit(end) << j)
        });
        let inputs = (0..1usize << size).map(|w| {
            order.iter().enumerate().fold(0, |acc, (j, &i)| acc | from.registers[i].0.map_or(0, |b| (w >> j & 1) << b))
        });
        let (inputs, outputs) = (inputs.collect(), outputs.collect());
        Some(ShufflePlan { inputs, outputs, pack_bits, parts: stored_bits.div_ceil(32), pairs, lanes })
    }

    /// The source registers of each word, in the order in which they lie in it, the lowest first.
    pub fn words(&self) -> impl Iterator<Item = &[usize]> + '_ {
        self.inputs.chunks(self.elements_per_word())
    }

    /// How many elements travel in one word.
    #[must_use]
    pub fn elements_per_word(&self) -> usize {
        1 << self.pack_bits
    }

    /// How many words one element takes.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// For each destination register, its word after [`ShufflePlan::run`] and its place there.
    pub fn results(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.outputs.iter().map(|&o| (o >> self.pack_bits, o & (self.elements_per_word() - 1)))
    }

    /// How many register bits become lane bits.
    #[must_use]
    pub fn exchanged_bits(&self) -> usize {
        self.pairs.len()
    }

    /// Whether a shuffle reads from the lane's own number with only fixed bits changed.
    #[must_use]
    pub fn keeps_lanes(&self) -> bool {
        self.lanes.iter().enumerate().all(|(i, &l)| l == 1 << i)
    }

    /// Executes the plan on words, each one part of an element. The result is the words by number, or `None` for those
    /// that no result needs.
    ///
    /// # Errors
    /// Fails on what the machine cannot do.
    pub fn run<M: Machine>(&self, machine: &mut M, words: &[M::Value]) -> Result<Vec<Option<M::Value>>, M::Error> {
        let mut run = Run { plan: self, machine, words, memo: BTreeMap::new() };
        let mut results = vec![None; words.len()];
        for (word, _) in self.results() {
            if results[word].is_none() {
                results[word] = Some(run.result(word)?);
            }
        }
        Ok(results)
    }
}

/// The last of the lane bits that follow one another from `first`.
fn chain_end(moves: &BTreeMap<Bit, Bit>, first: usize) -> usize {
    let mut last = first;
    while let Bit::Lane(next) = moves[&Bit::Lane(last)] {
        last = next;
    }
    last
}

/// An execution of the plan, which goes from the results backwards.
struct Run<'a, M: Machine> {
    plan: &'a ShufflePlan,
    machine: &'a mut M,
    words: &'a [M::Value],
    /// The words that are already made, by stage and number.
    memo: BTreeMap<(usize, usize), M::Value>,
}

impl<M: Machine> Run<'_, M> {
    fn result(&mut self, word: usize) -> Result<M::Value, M::Error> {
        if let ([pair], true) = (&self.plan.pairs[..], self.plan.keeps_lanes()) {
            let bit = 1 << pair.word;
            let (low, high) = (self.words[word & !bit].clone(), self.words[word | bit].clone());
            return self.send(*pair, word, &low, &high);
        }
        self.stage(2 * self.plan.pairs.len() + 1, word)
    }

    /// Exchanges one pair without a permutation: of `low` and `high`, a lane keeps one and sends the other.
    fn send(&mut self, pair: Pair, word: usize, low: &M::Value, high: &M::Value) -> Result<M::Value, M::Error> {
        let key = (0, word & !(1 << pair.word));
        let got = if let Some(got) = self.memo.get(&key) {
            got.clone()
        } else {
            let sent = self.select(pair.before, high, low)?;
            let got = self.machine.shuffle(&sent, &self.plan.lanes, 1 << pair.before)?;
            self.memo.insert(key, got.clone());
            got
        };
        if word >> pair.word & 1 == 0 {
            self.select(pair.before, low, &got)
        } else {
            self.select(pair.before, &got, high)
        }
    }

    fn select(&mut self, bit: u32, off: &M::Value, on: &M::Value) -> Result<M::Value, M::Error> {
        if off == on { Ok(off.clone()) } else { self.machine.select(bit, off, on) }
    }

    /// A word after so many of the stages: a select for each pair, the shuffle, and again a select for each pair.
    fn stage(&mut self, stage: usize, word: usize) -> Result<M::Value, M::Error> {
        let count = self.plan.pairs.len();
        if stage == 0 {
            return Ok(self.words[word].clone());
        }
        if let Some(known) = self.memo.get(&(stage, word)) {
            return Ok(known.clone());
        }
        let made = if stage == count + 1 {
            let value = self.stage(count, word)?;
            let flip = self.plan.pairs.iter().filter(|p| word >> p.word & 1 == 1).fold(0, |acc, p| acc | 1 << p.before);
            if flip == 0 && self.plan.keeps_lanes() {
                value
            } else {
                self.machine.shuffle(&value, &self.plan.lanes, flip)?
            }
        } else {
            let first = stage <= count;
            let pair = self.plan.pairs[if first { stage - 1 } else { stage - count - 2 }];
            let (off, on) = (self.stage(stage - 1, word)?, self.stage(stage - 1, word ^ 1 << pair.word)?);
            self.select(if first { pair.before } else { pair.after }, &off, &on)?
        };
        self.memo.insert((stage, word), made.clone());
        Ok(made)
    }
}
