//! Finds the layout of shared memory through which a tensor passes from one register layout to another.
//!
//! # Algorithm
//!
//! Elements are vectors over F2 (the bits of their coordinates, packed). A shared layout is a basis of that space in
//! order: bit `i` of the offset stands for the `i`-th vector. Four groups follow one another:
//!
//! 1. **Vector**: what one thread moves with one access, up to 16 bytes. Vectors that are registers on both sides serve
//!    both. More registers of one side widen only that side's accesses.
//! 2. **Segment** `S`: what separates lines of 128 bytes, that is, elements in the same bank. Let `P` be spanned by
//!    what a phase of the store touches at once (vector and lanes), and `Q` likewise for the load. The store is free of
//!    conflicts exactly when `S ∩ P = 0`, and the load when `S ∩ Q = 0`. Vectors outside of both are taken first. Then
//!    follow sums `p ⊕ q` of a `p` in `P` outside of `Q` and a `q` in `Q` outside of `P`, since such a sum is in
//!    neither. Two proper subspaces never fill the space, so this goes on until one of them, together with `S`, does.
//! 3. **Bank**: the rest of a line, which is any complement.
//! 4. **Repetitions**: vectors of the segment that no thread's number reaches on either side. They are put last, so
//!    they can be moved one after the other through the same memory. Where all are to be there at once
//!    ([`SharedMemory::conversions_at_once`]), there are none.
//!
//! The vector may also be the row of a matrix that `ldmatrix` or `stmatrix` moves ([`SharedAccess::as_matrices`]), on
//! one side or both. Several choices of the vector are tried, and the one with the fewest predicted wavefronts and
//! barriers wins; a barrier counts as [`BARRIER`], words of a product's operand that a load puts apart count as what
//! moves them ([`READERS`]), and bytes that are loaded as what joins them to words. Ties go to fewer accesses, then to
//! less memory, which means more repetitions. Less memory counts always where warps exchange elements. Within a warp it
//! counts only beyond what a warp may use without keeping others off the multiprocessor. Where memory is short
//! ([`SharedMemory::ample_for_conversions`]), it comes first.
//!
//! # Example
//!
//! A warp transposes 32×32 floats: at first rows are in registers and columns in lanes, afterwards it is the other way
//! around. `P` is the columns, `Q` the rows, `S = {row bit i ⊕ column bit i}`, and the bank is the columns. Element
//! `(i, j)` lies in line `i` and bank `j ⊕ i`.

use crate::layout::plan::shared_access::{AccessStep, SharedAccess, element_bytes};
use crate::layout::solve::Pivots;
use crate::layout::{ConversionKind, Dim, LayoutError, LinearLayout, conversion_kind, free_variable_masks};
use crate::target::SharedMemory;

/// What a barrier costs, in quarters of a wavefront. Each repetition but the first has two.
const BARRIER: u32 = 32;

/// How many instructions are taken to read a register of an operand of a matrix product.
const READERS: u32 = 4;

/// A layout of shared memory with the accesses of both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Swizzle {
    /// A map from (`offset`, `block`) to the tensor.
    pub layout: LinearLayout,
    pub store: SharedAccess,
    pub load: SharedAccess,
    /// The highest bits of the offset that only registers decide.
    pub repetition_bits: u32,
}

impl Swizzle {
    /// The bytes of shared memory that hold one repetition of elements of `bits` bits.
    #[must_use]
    pub fn bytes(&self, bits: u32) -> u32 {
        element_bytes(bits) << (self.layout.in_bits(Dim::Offset) - self.repetition_bits)
    }
}

/// What is known of one side: its bases as packed vectors, without zeros.
struct Side {
    registers: Vec<u64>,
    lanes: Vec<u64>,
    warps: Vec<u64>,
}

impl Side {
    /// Of a side that reaches into other blocks, its vectors without what tells blocks apart.
    fn of(layout: &LinearLayout, own: Option<&Own>) -> Side {
        let all = |dim| layout.columns_of(dim).iter().map(|&c| own.map_or(c, |own| own.part(c))).collect::<Vec<_>>();
        let columns = |dim| all(dim).into_iter().filter(|&c| c != 0).collect();
        Side { registers: columns(Dim::Register), lanes: all(Dim::Lane), warps: columns(Dim::Warp) }
    }

    /// The registers that the other side does not hold in registers, in one order or two: as they are, and in front of
    /// that with those first along which no lane of the other side moves. What such a vector is free of conflicts by
    /// may part it: a warp then moves along the vector as well.
    fn alone(&self, other: &Side) -> Vec<Vec<u64>> {
        let alone: Vec<u64> = self.registers.iter().copied().filter(|r| !other.registers.contains(r)).collect();
        let mut sorted = alone.clone();
        sorted.sort_by_key(|r| other.lanes.contains(r));
        if sorted == alone { vec![alone] } else { vec![sorted, alone] }
    }
}

/// What a block of the source holds, and so its memory: the space that its registers, lanes and warps span.
struct Own {
    pivots: Pivots,
    blocks: Vec<u64>,
    /// The number of the first vector that stands for a block.
    first: usize,
}

impl Own {
    fn new(source: &LinearLayout, blocks: &[u64]) -> Own {
        let mut pivots = Pivots::new();
        let own = [Dim::Register, Dim::Lane, Dim::Warp].iter().flat_map(|&d| source.columns_of(d));
        let mut first = 0;
        for &column in own {
            pivots.insert(first, column);
            first += 1;
        }
        blocks.iter().enumerate().for_each(|(i, &column)| {
            pivots.insert(first + i, column);
        });
        Own { pivots, blocks: blocks.to_vec(), first }
    }

    /// The part of a vector that lies in every block's space.
    fn part(&self, vector: u64) -> u64 {
        let used = self.pivots.reduce(vector).1;
        let block = |(i, &column): (usize, &u64)| if used >> (self.first + i) & 1 == 1 { column } else { 0 };
        vector ^ self.blocks.iter().enumerate().map(block).fold(0, |acc, column| acc ^ column)
    }
}

/// The way in which one side uses the vector.
#[derive(Clone, Copy)]
enum Use {
    /// A thread's access moves this many of its vectors.
    Width(usize),
    /// The vector is the row of a matrix.
    Rows { transposed: bool },
}

/// A choice of the vector.
struct Choice {
    vector: Vec<u64>,
    store: Use,
    load: Use,
}

struct Search<'a> {
    source: &'a LinearLayout,
    destination: &'a LinearLayout,
    from: Side,
    to: Side,
    /// Where the conversion reaches into other blocks.
    own: Option<Own>,
    /// What tells the blocks of the cluster apart, each of which has a shared memory of its own: 0 where two hold the
    /// same.
    blocks: Vec<u64>,
    bits: u32,
    memory: SharedMemory,
    /// The logarithm of the elements in 32 bits. It is negative for wider ones.
    word: i32,
}

/// Finds the best layout to pass a tensor of `bits` bits an element from `source` to `destination`. Every block stores
/// what it holds in its own memory. Where the destination wants what other blocks hold, its loads reach into their
/// memory.
///
/// # Errors
/// Fails if the layouts are of different tensors.
pub fn swizzle(
    source: &LinearLayout,
    destination: &LinearLayout,
    bits: u32,
    memory: &SharedMemory,
) -> Result<Swizzle, LayoutError> {
    let outs: Vec<Dim> = source.out_dims().collect();
    let destination = &destination.transpose_outs(&outs);
    let word = 2 - element_bytes(bits).trailing_zeros() as i32;
    let copies = free_variable_masks(source).block;
    let blocks =
        source.columns_of(Dim::Block).iter().enumerate().map(|(i, &c)| if copies >> i & 1 == 1 { 0 } else { c });
    let blocks: Vec<u64> = blocks.collect();
    let kind = conversion_kind(source, destination)?;
    let own = (kind == ConversionKind::Blocks).then(|| Own::new(source, &blocks));
    let search = Search {
        source,
        destination,
        from: Side::of(source, None),
        to: Side::of(destination, own.as_ref()),
        own,
        blocks,
        bits,
        memory: *memory,
        word,
    };
    // Within warps every repetition waits for the one before, and shuffles are the alternative. There, more repetitions
    // are only worth it for the memory that they save.
    let across_warps = kind > ConversionKind::Lanes;
    let warps = source.in_size(Dim::Warp);
    let mut best: Option<((u32, u32), Swizzle)> = None;
    let mut least_repetitions = 0;
    for choice in search.choices() {
        let Some(found) = search.build(&choice) else { continue };
        let found = found?;
        let barriers = (2 << found.repetition_bits) - 1;
        let cost = 4 * (found.store.total_wavefronts() + found.load.total_wavefronts())
            + (found.store.accesses().len() + found.load.accesses().len()) as u32
            + BARRIER * barriers
            + search.moves(&found.load)
            + search.joins(&found.load);
        let bytes = found.bytes(bits);
        let bytes = if across_warps || bytes > memory.free_bytes_per_warp * warps { bytes } else { 0 };
        if best.is_none() {
            least_repetitions = found.repetition_bits;
        }
        let rank = if memory.ample_for_conversions { (cost, bytes) } else { (bytes, cost) };
        if found.repetition_bits >= least_repetitions && best.as_ref().is_none_or(|b| rank < b.0) {
            best = Some((rank, found));
        }
    }
    best.map(|b| b.1).ok_or_else(|| LayoutError::new("no layout of shared memory serves both sides"))
}

impl Search<'_> {
    /// Step 1 lists the vectors to try. The first is the widest that serves both sides.
    fn choices(&self) -> Vec<Choice> {
        let most = (16 / element_bytes(self.bits)).max(1).trailing_zeros() as usize;
        let mut known = Basis::new(&self.blocks);
        let shared = self.from.registers.iter().copied().filter(|r| self.to.registers.contains(r));
        let both: Vec<u64> = shared.filter(|&r| known.push(r)).take(most).collect();
        let wide = both.len();
        let mut choices = vec![Choice { vector: both.clone(), store: Use::Width(wide), load: Use::Width(wide) }];
        for (side, other, is_store) in [(&self.from, &self.to, true), (&self.to, &self.from, false)] {
            for alone in side.alone(other) {
                let mut vector = both.clone();
                for register in alone.into_iter().take(most - wide) {
                    vector.push(register);
                    let (own, others) = (Use::Width(vector.len()), Use::Width(wide));
                    let (store, load) = if is_store { (own, others) } else { (others, own) };
                    choices.push(Choice { vector: vector.clone(), store, load });
                }
            }
        }
        // This is less than a word, since elements that only warps tell apart can share words without conflicts.
        let word = self.word.max(0) as usize;
        if wide < word {
            let warps =
                |a: &Side, b: &Side| a.warps.iter().copied().filter(|w| b.warps.contains(w)).collect::<Vec<_>>();
            let fill = [warps(&self.from, &self.to), self.from.warps.clone(), self.to.warps.clone()].concat();
            let vector: Vec<u64> = both.iter().copied().chain(fill).take(word).collect();
            choices.push(Choice { vector, store: Use::Width(wide), load: Use::Width(wide) });
        }
        self.matrix_choices(&both, &mut choices);
        choices
    }

    /// Adds the choices with rows of matrices. A row is the registers of a word and lane bits 0 and 1, or transposed
    /// lane bits 2 to 4.
    fn matrix_choices(&self, both: &[u64], choices: &mut Vec<Choice>) {
        let word = self.word.max(0) as usize;
        for (side, other, is_store) in [(&self.to, &self.from, false), (&self.from, &self.to, true)] {
            if side.lanes.len() != 5 || !self.has_matrices(is_store) {
                continue;
            }
            let plain = both.iter().take(word).chain(&side.lanes[..2]).copied().collect();
            for (vector, transposed) in [(plain, false), (side.lanes[2..].to_vec(), true)] {
                let own = self.row_use(side, &vector, is_store);
                let others = self.row_use(other, &vector, !is_store);
                if let (Some(own @ Use::Rows { transposed: t }), Some(others)) = (own, others)
                    && t == transposed
                {
                    let (store, load) = if is_store { (own, others) } else { (others, own) };
                    choices.push(Choice { vector, store, load });
                }
            }
        }
    }

    /// The way in which a side can move rows of 16 bytes, if there is one.
    fn row_use(&self, side: &Side, row: &[u64], is_store: bool) -> Option<Use> {
        let word = self.word.max(0) as usize;
        if row.iter().all(|v| side.registers.contains(v)) {
            return (row.len() == word + 2).then_some(Use::Width(row.len()));
        }
        if !self.has_matrices(is_store) || row.len() != word + 2 || side.lanes.len() != 5 {
            return None;
        }
        let plain = side.lanes[..2] == row[word..] && row[..word].iter().all(|v| side.registers.contains(v));
        let transposed = self.word == 1 && side.lanes[2..] == *row && side.registers.iter().any(|r| !row.contains(r));
        (plain || transposed).then_some(Use::Rows { transposed: !plain })
    }

    /// Whether the target has `ldmatrix` or `stmatrix`, and elements fit their words.
    fn has_matrices(&self, is_store: bool) -> bool {
        (0..=2).contains(&self.word) && (if is_store { self.memory.stmatrix } else { self.memory.ldmatrix })
    }

    /// Steps 2 to 4 build the layout. The result is `None` when the choice is not independent.
    fn build(&self, choice: &Choice) -> Option<Result<Swizzle, LayoutError>> {
        let total = self.source.total_out_bits();
        let mut basis = Basis::new(&self.blocks);
        if !choice.vector.iter().all(|&v| basis.push(v)) {
            return None;
        }
        let size = total as usize - self.blocks.iter().filter(|&&c| c != 0).count();
        let line = (self.memory.banks.ilog2() as i32 + self.word).max(choice.vector.len() as i32) as usize;
        let store = self.touched(&self.from, choice, choice.store);
        let load = self.touched(&self.to, choice, choice.load);
        let segment = self.segment(&store, &load, size.saturating_sub(line), total);
        let mut full = basis.clone();
        if !segment.iter().all(|&v| full.push(v)) {
            return None;
        }
        // Step 3. The vectors along which lanes move come first, so that the low bits of addresses are bits of the
        // lane.
        let units = self.units(total);
        let all = [
            &self.from.lanes,
            &self.to.lanes,
            &self.from.registers,
            &self.to.registers,
            &self.from.warps,
            &self.to.warps,
        ];
        let bank: Vec<u64> = all.into_iter().flatten().copied().chain(units).filter(|&v| full.push(v)).collect();
        let columns = [&choice.vector[..], &bank, &segment, &self.blocks].concat();
        let ins = vec![(Dim::Offset, size as u32), (Dim::Block, self.blocks.len() as u32)];
        let layout = LinearLayout { ins, outs: self.source.outs.clone(), columns };
        Some(self.finish(layout, segment.len() as u32))
    }

    fn finish(&self, layout: LinearLayout, segment: u32) -> Result<Swizzle, LayoutError> {
        let store = SharedAccess::new(self.source, &layout, self.bits, 0, &self.memory)?;
        let load = SharedAccess::across_blocks(self.destination, &layout, self.bits, 0, &self.memory)?;
        let reached = |a: &SharedAccess| {
            let threads = [Dim::Lane, Dim::Warp, Dim::Block];
            threads.iter().flat_map(|&d| a.address_map().columns_of(d)).fold(0, |acc, &c| acc | c)
                / u64::from(element_bytes(self.bits))
        };
        let reached = reached(&store) | reached(&load);
        let size = layout.in_bits(Dim::Offset);
        let apart = |i: &u32| !self.memory.conversions_at_once && reached >> (size - 1 - i) & 1 == 0;
        let repetition_bits = (0..segment).take_while(apart).count() as u32;
        let limit = element_bytes(self.bits) << (size - repetition_bits);
        let (store, load) = (self.best(store, limit, true), self.best(load, limit, false));
        Ok(Swizzle { layout, store, load, repetition_bits })
    }

    /// What it costs, in instructions, that loads put words side by side that products read apart. A product reads two
    /// words of an operand in one pair of registers, and an access fills registers in a row. Where the two do not
    /// agree, the assembler moves both words in front of each product.
    fn moves(&self, load: &SharedAccess) -> u32 {
        let [pair, next, ..] = self.to.registers[..] else { return 0 };
        // The columns of a tile of 16-bit elements: two in a word, four lanes, and as many again in the next word.
        let is_operand = self.word == 1 && self.to.lanes.get(..2) == Some(&[pair << 1, pair << 2]) && next == pair << 3;
        if !is_operand {
            return 0;
        }
        let is_apart = |step: &&AccessStep| step.registers.len() > 2 && step.registers[2] != step.registers[0] ^ 2;
        let words = |step: &AccessStep| step.registers.len() as u32 / 2;
        READERS * load.accesses().iter().filter(is_apart).map(words).sum::<u32>()
    }

    /// What it costs, in instructions, that loads bring bytes that are put together to words. All warps have just met
    /// then, and wait for the loads; what stores take apart, each warp does in its own time.
    fn joins(&self, load: &SharedAccess) -> u32 {
        let is_less_than_word = |step: &&AccessStep| step.registers.len() < 4;
        let is_byte = self.bits == 8;
        if is_byte { load.accesses().iter().filter(is_less_than_word).count() as u32 } else { 0 }
    }

    /// The form of an access with the fewest wavefronts, and then with the fewest instructions.
    fn best(&self, access: SharedAccess, limit: u32, is_store: bool) -> SharedAccess {
        if !self.has_matrices(is_store) {
            return access;
        }
        let matrices = [false, true].into_iter().filter_map(|t| access.as_matrices(t, limit));
        let cost = |a: &SharedAccess| (a.total_wavefronts(), a.accesses().len());
        match matrices.min_by_key(cost) {
            Some(better) if cost(&better) < cost(&access) => better,
            _ => access,
        }
    }

    /// The vectors that one phase of an access touches: the vector and the word around it, and lanes.
    fn touched(&self, side: &Side, choice: &Choice, used: Use) -> Vec<u64> {
        let width = match used {
            Use::Width(width) => width,
            Use::Rows { transposed } => {
                let word = if transposed {
                    // This is the register that is the lowest bit of the row. If possible, it is one that does not also
                    // tell repetitions apart.
                    let free = |r: &&u64| !choice.vector.contains(r);
                    let alone = |r: &&u64| !(self.from.registers.contains(r) && self.to.registers.contains(r));
                    let found =
                        side.registers.iter().filter(free).find(alone).or_else(|| side.registers.iter().find(free));
                    found.copied().into_iter().collect()
                } else {
                    choice.vector[..self.word.max(0) as usize].to_vec()
                };
                return word.iter().chain(&side.lanes).chain(&self.blocks).copied().filter(|&v| v != 0).collect();
            }
        };
        let vector = width.max(choice.vector.len().min(self.word.max(0) as usize));
        let lanes = side.lanes.len().saturating_sub((width as i32 - self.word).max(0) as usize);
        choice.vector[..vector]
            .iter()
            .chain(&side.lanes[..lanes])
            .chain(&self.blocks)
            .copied()
            .filter(|&v| v != 0)
            .collect()
    }

    /// The unit vectors, or their parts in a block's own space.
    fn units(&self, total: u32) -> impl Iterator<Item = u64> {
        (0..total).map(|i| self.own.as_ref().map_or(1 << i, |own| own.part(1 << i)))
    }

    /// Step 2 finds `count` vectors that are independent of each of `store` and `load`, or fewer when there are no
    /// more. Those that only registers decide come last.
    fn segment(&self, store: &[u64], load: &[u64], count: usize, total: u32) -> Vec<u64> {
        let (mut p, mut q) = (Basis::new(store), Basis::new(load));
        let mut segment = vec![];
        let mut take = |v: u64| {
            let fits = segment.len() < count && p.is_independent(v) && q.is_independent(v);
            if fits {
                p.push(v);
                q.push(v);
                segment.push(v);
            }
        };
        self.from.registers.iter().filter(|r| self.to.registers.contains(r)).for_each(|&v| take(v));
        self.units(total).for_each(&mut take);
        // Equal positions come first: row bit i with column bit i.
        let pairs = load
            .iter()
            .enumerate()
            .flat_map(|(j, &b)| store.iter().enumerate().map(move |(i, &a)| (i.abs_diff(j), a ^ b)));
        let mut pairs: Vec<(usize, u64)> = pairs.collect();
        pairs.sort_by_key(|x| x.0);
        pairs.iter().for_each(|x| take(x.1));
        segment.reverse();
        segment
    }
}

/// A set of independent vectors.
#[derive(Clone)]
struct Basis {
    pivots: Pivots,
}

impl Basis {
    fn new(vectors: &[u64]) -> Basis {
        let mut basis = Basis { pivots: Pivots::new() };
        vectors.iter().for_each(|&v| {
            basis.push(v);
        });
        basis
    }

    fn is_independent(&self, v: u64) -> bool {
        self.pivots.reduce(v).0 != 0
    }

    /// Adds a vector. The result is `false` when it depends on the others.
    fn push(&mut self, v: u64) -> bool {
        self.pivots.insert(0, v)
    }
}
