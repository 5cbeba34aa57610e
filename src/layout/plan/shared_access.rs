//! Finds the loads or stores with which each thread moves its registers from or to shared memory.
//!
//! # Algorithm
//!
//! 1. The map `registers.invert_and_compose(shared)` takes a place (register, lane, warp) to the element offset in
//!    shared memory. It is linear, so an address is `thread part ⊕ constant of the register`.
//! 2. The constants of all registers form a vector space. Registers with equal constants hold copies, of which one is
//!    stored, and one load serves them all.
//! 3. One access moves `2^k` neighbours, up to 16 bytes, when the space contains `1, 2, …, 2^(k-1)` and no thread part
//!    has one of these bits. Then every thread's group starts at a multiple of its size.
//! 4. A warp's access is served in *phases*: all 32 lanes together for up to 4 bytes a lane, 16 for 8 bytes, 8 for 16
//!    bytes. A phase takes as many *wavefronts* as there are different 32-bit words in its fullest bank (32 banks, word
//!    address modulo 32). The map is linear, so every bank that is hit is hit equally often:
//!    `2^(rank of word addresses - rank of their low 5 bits)` times.
//!    - rank of their low 5 bits)` times.
//!
//! # Matrices
//!
//! `ldmatrix` and `stmatrix` (PTX ISA, "Matrix instructions") move one, two or four matrices of eight rows of 16 bytes.
//! Lane `8i + j` gives the address of row `j` of matrix `i`. Of each matrix, lane `l` has the 32-bit word `l mod 4` of
//! row `l div 4`, or transposed the 16-bit elements `l div 4` of the rows `2(l mod 4)` and `2(l mod 4) + 1`. So the
//! form fits under two conditions. Lane bits 0 and 1 lead to bytes 4 and 8 (transposed: lane bits 2 to 4 lead to bytes
//! 2, 4 and 8), and nothing but the registers of a word leads to fewer than 16 bytes. [`SharedAccess::address_map`] is
//! then the map of the lanes that give addresses.
//!
//! # Example
//!
//! A warp holds 32×4 floats, `register=1 → (0,1), 2 → (0,2)`, `lane=1 → (1,0)…`, in row-major shared memory. The
//! register columns are 1 and 2, and the lane columns are 4, 8, …, 64. So there is one access of 16 bytes,
//! `[r0, r1, r2, r3]` at offset 0. A phase is 8 lanes and 32 words in 32 banks, which is one wavefront, and four for
//! the warp. With columns `(0,1)` on lanes and rows in registers, it would be four accesses of 4 bytes.

use std::collections::BTreeMap;

use crate::layout::linear::low_bits;
use crate::layout::queries::free_variable_masks;
use crate::layout::solve::Pivots;
use crate::layout::{Dim, LayoutError, LinearLayout};
use crate::target::SharedMemory;

/// The kind of instruction that moves an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `ld.shared` or `st.shared`. Each thread moves its own bytes.
    Vector,
    /// `ldmatrix` or `stmatrix`. The warp moves 8×8 matrices of 16-bit elements together.
    Matrix { transposed: bool },
}

/// One load or store of every thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessStep {
    /// The register's part of the address, in bytes. Its exclusive or with the thread's part is the address.
    pub offset: u32,
    /// The register's part of the number of the block in whose memory the elements lie, for an access that leaves the
    /// block ([`SharedAccess::block_map`]).
    pub block: u32,
    /// The registers that lie side by side there, in order.
    pub registers: Vec<usize>,
}

/// All accesses between the registers of a tensor and shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedAccess {
    /// A map from (register, lane, warp, block) to the address in bytes.
    map: LinearLayout,
    /// A map from (register, lane, warp, block) to the block in whose memory the element lies; `None` where each block
    /// finds all its elements in its own.
    blocks: Option<LinearLayout>,
    fills_blocks: bool,
    element_bytes: u32,
    accesses: Vec<AccessStep>,
    /// For each register, the access and the place in it that hold its element.
    places: Vec<(usize, usize)>,
    form: Form,
    free_lanes: u32,
    free_warps: u32,
    /// Pairs of numbers of bytes: behind every `interval`, `padding` are left out.
    padding: Vec<(u32, u32)>,
    memory: SharedMemory,
}

impl SharedAccess {
    /// The accesses that move a tensor of layout `registers` from or to shared memory of layout `shared` (from
    /// `offset`, in elements of `bits` bits). An address may be combined with something else by exclusive or, such as
    /// the start of a view. `foreign_bits` are the bits of that, in elements, or 0 if there is none. They bound the
    /// width.
    ///
    /// # Errors
    /// Fails if `shared` does not hold every element, or holds some in other blocks of the cluster.
    pub fn new(
        registers: &LinearLayout,
        shared: &LinearLayout,
        bits: u32,
        foreign_bits: u64,
        memory: &SharedMemory,
    ) -> Result<SharedAccess, LayoutError> {
        let access = SharedAccess::across_blocks(registers, shared, bits, foreign_bits, memory)?;
        if access.blocks.is_some() {
            return Err(LayoutError::new("elements lie in the shared memory of other blocks of the cluster"));
        }
        Ok(access)
    }

    /// As [`SharedAccess::new`], but elements may lie in the shared memory of other blocks of the cluster. What several
    /// blocks hold, each takes from its own.
    ///
    /// # Errors
    /// Fails if `shared` does not hold every element.
    pub fn across_blocks(
        registers: &LinearLayout,
        shared: &LinearLayout,
        bits: u32,
        foreign_bits: u64,
        memory: &SharedMemory,
    ) -> Result<SharedAccess, LayoutError> {
        let elements = registers
            .invert_and_compose(shared)
            .ok_or_else(|| LayoutError::new("the shared memory does not hold every element of the tensor"))?;
        let ins = Dim::DISTRIBUTED.into_iter().filter(|&d| elements.has_in(d)).collect::<Vec<_>>();
        let blocks = holders(&elements, &ins, shared);
        let element_bytes = element_bytes(bits);
        let moves_by_block = elements.has_in(Dim::Block) && !elements.sublayout_is_zero(&[Dim::Block], &[Dim::Offset]);
        let own: Vec<Dim> = ins.iter().copied().filter(|&d| d != Dim::Block).collect();
        let fills_blocks = !moves_by_block
            || elements.sublayout(&own, &[Dim::Offset]).rank() == elements.sublayout(&ins, &[Dim::Offset]).rank();
        let elements = elements.sublayout(if moves_by_block { &ins } else { &own }, &[Dim::Offset]);
        let (accesses, places) = group(&elements, blocks.as_ref(), element_bytes, foreign_bits, memory);
        let free = free_variable_masks(registers);
        let in_range = |mask: u32, dim| mask & (registers.in_size(dim) - 1);
        Ok(SharedAccess {
            map: in_bytes(&elements, element_bytes),
            blocks,
            fills_blocks,
            element_bytes,
            accesses,
            places,
            form: Form::Vector,
            free_lanes: in_range(free.lane, Dim::Lane),
            free_warps: in_range(free.warp, Dim::Warp),
            padding: vec![],
            memory: *memory,
        })
    }

    /// The same accesses to memory in which `padding` elements are left out behind every `interval`, for each of these
    /// pairs of powers of two.
    ///
    /// # Errors
    /// Fails if an access would reach beyond an interval.
    pub fn padded(self, intervals: &[(u32, u32)]) -> Result<SharedAccess, LayoutError> {
        let bytes = self.element_bytes;
        let padding: Vec<(u32, u32)> = intervals.iter().map(|&(i, p)| (i * bytes, p * bytes)).collect();
        if padding.iter().any(|&(interval, _)| interval < self.access_bytes()) {
            return Err(LayoutError::new("its padding is within what one thread moves at once"));
        }
        Ok(SharedAccess { padding, ..self })
    }

    /// The padding in bytes: behind every multiple of the first number, as many as the second are left out.
    #[must_use]
    pub fn padding(&self) -> &[(u32, u32)] {
        &self.padding
    }

    /// The accesses in order of their offsets. Matrices are in order of their registers.
    #[must_use]
    pub fn accesses(&self) -> &[AccessStep] {
        &self.accesses
    }

    /// For each register, the index of the access and of the element in it that hold its value.
    #[must_use]
    pub fn places(&self) -> &[(usize, usize)] {
        &self.places
    }

    /// A map from (register, lane, warp) to the address in bytes, whose output is [`Dim::Offset`].
    #[must_use]
    pub fn address_map(&self) -> &LinearLayout {
        &self.map
    }

    /// A map from (register, lane, warp, block) to the block in whose memory the element lies, whose output is
    /// [`Dim::Block`]; `None` where each block finds all its elements in its own.
    #[must_use]
    pub fn block_map(&self) -> Option<&LinearLayout> {
        self.blocks.as_ref()
    }

    /// Whether the threads of each block hold all that its memory has, and so may store it. Otherwise several blocks
    /// hold parts of what each of them wants in its memory.
    #[must_use]
    pub fn fills_blocks(&self) -> bool {
        self.fills_blocks
    }

    /// How many elements one access moves.
    #[must_use]
    pub fn vec(&self) -> usize {
        self.accesses.first().map_or(1, |a| a.registers.len())
    }

    /// How many bytes one thread moves with one access.
    #[must_use]
    pub fn access_bytes(&self) -> u32 {
        self.element_bytes * self.vec() as u32
    }

    /// The bits of the lane number that do not decide which element is held.
    #[must_use]
    pub fn free_lanes(&self) -> u32 {
        self.free_lanes
    }

    /// The bits of the warp number that do not decide which element is held. Only the warps in which all of them are 0
    /// need to store.
    #[must_use]
    pub fn free_warps(&self) -> u32 {
        self.free_warps
    }

    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The same elements moved as matrices, where that fits. Every instruction stays within a part of `limit` bytes (a
    /// power of two).
    #[must_use]
    pub fn as_matrices(&self, transposed: bool, limit: u32) -> Option<SharedAccess> {
        if self.blocks.is_some() || !self.padding.is_empty() {
            return None;
        }
        let (lanes, size) = (self.map.columns_of(Dim::Lane), self.element_bytes);
        let fits = match *lanes {
            [a, b, ..] if !transposed => size <= 4 && (a, b) == (4, 8),
            [_, _, c, d, e] => size == 2 && (c, d, e) == (2, 4, 8),
            _ => false,
        };
        let rows = if transposed { &lanes[..2] } else { &lanes[2..] };
        let mut first: BTreeMap<u32, usize> = BTreeMap::new();
        for access in &self.accesses {
            first.extend(access.registers.iter().enumerate().map(|(i, &r)| (access.offset + i as u32 * size, r)));
        }
        let word = if transposed { 1 } else { 4 };
        let in_row = |c: u64| c.trailing_zeros() < 4;
        let whole_words = transposed || (0..4 / size).all(|i| first.contains_key(&(i * size)));
        if !fits
            || lanes.len() != 5
            || !whole_words
            || first.keys().any(|o| o & 15 >= word)
            || rows.iter().chain(self.map.columns_of(Dim::Warp)).any(|&c| in_row(c))
        {
            return None;
        }
        let starts: Vec<u32> = first.keys().copied().filter(|o| o.trailing_zeros() >= 4).collect();
        if !transposed {
            return Some(self.matrices(&starts, &first, rows, None, limit));
        }
        // Any register may be the lowest bit of the row.
        let columns = self.map.columns_of(Dim::Register).iter().map(|&c| c as u32).filter(|&c| c != 0 && c < limit);
        columns
            .map(|row| self.matrices(&starts, &first, rows, Some(row), limit))
            .min_by_key(|a| (a.total_wavefronts(), a.accesses.len()))
    }

    /// Cuts the matrices that begin at `starts` into instructions. Of a transposed matrix, `row` is the column of the
    /// register that is the lowest bit of the row.
    fn matrices(
        &self,
        starts: &[u32],
        first: &BTreeMap<u32, usize>,
        rows: &[u64],
        row: Option<u32>,
        limit: u32,
    ) -> SharedAccess {
        // A complement of `row` are the offsets without its highest bit. In sorted order, the first 2^k offsets of a
        // vector space are a space themselves, and each run of as many is a coset of it. The same holds for registers.
        // So they are taken in their order, which leaves an instruction's words in registers that follow one another.
        let by_offset: Vec<u32> =
            starts.iter().copied().filter(|o| row.is_none_or(|r| o >> r.ilog2() & 1 == 0)).collect();
        let mut by_register = by_offset.clone();
        by_register.sort_by_key(|o| first[o]);
        let widest = |starts: &[u32]| {
            [4, 2, 1].into_iter().find(|&n| n <= starts.len() && starts[..n].iter().all(|&s| s < limit)).unwrap_or(1)
        };
        let starts = if widest(&by_register) == widest(&by_offset) { by_register } else { by_offset };
        let count = widest(&starts);
        let mut lanes: Vec<u64> = row.map(u64::from).into_iter().chain(rows.iter().copied()).collect();
        lanes.extend([1, 2].map(|i| if i < count { u64::from(starts[i]) } else { 0 }));
        let (mut accesses, mut place_of) = (vec![], BTreeMap::new());
        for group in starts.chunks(count) {
            let word = |&start: &u32| match row {
                Some(row) => vec![start, start ^ row],
                None => (0..4 / self.element_bytes).map(|i| start + i * self.element_bytes).collect(),
            };
            let offsets: Vec<u32> = group.iter().flat_map(word).collect();
            place_of.extend(offsets.iter().enumerate().map(|(i, &o)| (o, (accesses.len(), i))));
            accesses.push(AccessStep {
                offset: group[0],
                block: 0,
                registers: offsets.iter().map(|o| first[o]).collect(),
            });
        }
        let offset_of = |r: usize| crate::layout::linear::select(self.map.columns_of(Dim::Register), r as u64) as u32;
        let places = (0..self.places.len()).map(|r| place_of[&offset_of(r)]).collect();
        let mut map = self.map.clone();
        let start = map.in_bits(Dim::Register) as usize;
        map.columns[start..start + 5].copy_from_slice(&lanes);
        SharedAccess { map, accesses, places, form: Form::Matrix { transposed: row.is_some() }, ..self.clone() }
    }

    /// How many wavefronts one access of one warp takes. It is the same number for all.
    #[must_use]
    pub fn wavefronts(&self) -> u32 {
        self.wavefronts_of(self.access_bytes())
    }

    /// As [`SharedAccess::wavefronts`], for accesses that are cut into instructions of so many bytes.
    #[must_use]
    pub fn wavefronts_of(&self, bytes: u32) -> u32 {
        let (phase_lanes, words) = self.phase(bytes);
        let columns: Vec<u64> = words.map(|w| 1 << w).chain(self.lane_words().take(phase_lanes as usize)).collect();
        let rank = |mask: u64| {
            let mut pivots = Pivots::new();
            columns.iter().enumerate().filter(|(i, c)| pivots.insert(*i, **c & mask)).count() as u32
        };
        let banks = u64::from(self.memory.banks - 1);
        self.ideal_wavefronts_of(bytes) << (rank(u64::MAX) - rank(banks))
    }

    /// How many wavefronts all accesses of one warp take.
    #[must_use]
    pub fn total_wavefronts(&self) -> u32 {
        self.wavefronts() * self.accesses.len() as u32
    }

    /// How many wavefronts one access would take if no bank held two words: as many as there are phases.
    #[must_use]
    pub fn ideal_wavefronts(&self) -> u32 {
        self.ideal_wavefronts_of(self.access_bytes())
    }

    /// As [`SharedAccess::ideal_wavefronts`], for accesses that are cut into instructions of so many bytes.
    #[must_use]
    pub fn ideal_wavefronts_of(&self, bytes: u32) -> u32 {
        match self.form {
            Form::Vector => 1 << (self.map.in_bits(Dim::Lane) - self.phase(bytes).0),
            Form::Matrix { .. } => bytes / self.memory.bank_bytes,
        }
    }

    /// The bits of the lane number that change within a phase, and the bits of the word address that change within one
    /// thread's access.
    fn phase(&self, bytes: u32) -> (u32, std::ops::Range<u32>) {
        if let Form::Matrix { .. } = self.form {
            return (3, 0..2);
        }
        let words = (bytes / self.memory.bank_bytes).max(1).trailing_zeros();
        (self.map.in_bits(Dim::Lane).saturating_sub(words), 0..words)
    }

    /// The word address at each bit of the lane number.
    fn lane_words(&self) -> impl Iterator<Item = u64> + '_ {
        self.map.columns_of(Dim::Lane).iter().map(|c| c / u64::from(self.memory.bank_bytes))
    }
}

/// How many bytes an element takes in shared memory: 1 for `i1`, otherwise a power of two.
#[must_use]
pub fn element_bytes(bits: u32) -> u32 {
    (bits / 8).max(1).next_power_of_two()
}

/// In whose memory the elements lie, where that is not the own for all of them.
fn holders(elements: &LinearLayout, ins: &[Dim], shared: &LinearLayout) -> Option<LinearLayout> {
    if !elements.has_out(Dim::Block) || !elements.has_in(Dim::Block) {
        return None;
    }
    let mut found = elements.sublayout(ins, &[Dim::Block]);
    // Of what several blocks hold, `elements` names the lowest.
    let copies = free_variable_masks(shared).block;
    let first = found.columns.len() - found.in_bits(Dim::Block) as usize;
    for bit in (0..found.in_bits(Dim::Block)).filter(|bit| copies >> bit & 1 == 1) {
        found.columns[first + bit as usize] |= 1 << bit;
    }
    let own = |(i, &column): (usize, &u64)| column == if i < first { 0 } else { 1 << (i - first) };
    if found.columns.iter().enumerate().all(own) { None } else { Some(found) }
}

/// Steps 2 and 3 group the registers into accesses. `blocks` is in whose memory the elements lie, where that is not the
/// own for all; the elements of one access lie in one.
fn group(
    elements: &LinearLayout,
    blocks: Option<&LinearLayout>,
    element_bytes: u32,
    foreign_bits: u64,
    memory: &SharedMemory,
) -> (Vec<AccessStep>, Vec<(usize, usize)>) {
    let block = |r| blocks.map_or(0, |b| register_offset(b, r));
    let offsets: Vec<(u64, u64)> =
        (0..u64::from(elements.in_size(Dim::Register))).map(|r| (block(r), register_offset(elements, r))).collect();
    let mut first: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    for (register, &offset) in offsets.iter().enumerate() {
        first.entry(offset).or_insert(register);
    }
    let others = elements.in_dims().filter(|&d| d != Dim::Register);
    let of_threads = others.flat_map(|d| elements.columns_of(d)).fold(foreign_bits, |acc, c| acc | c);
    let most = (memory.max_access_bits / (8 * element_bytes)).max(1).trailing_zeros();
    let bits = (0..most).take_while(|&k| first.contains_key(&(0, 1 << k)) && of_threads >> k & 1 == 0).count() as u32;
    let (mut accesses, mut index) = (Vec::new(), BTreeMap::new());
    for &(block, offset) in first.keys().filter(|o| o.1 & low_bits(bits) == 0) {
        index.insert((block, offset), accesses.len());
        let registers = (0..1u64 << bits).map(|i| first[&(block, offset | i)]).collect();
        accesses.push(AccessStep { offset: offset as u32 * element_bytes, block: block as u32, registers });
    }
    let place = |o: &(u64, u64)| (index[&(o.0, o.1 & !low_bits(bits))], (o.1 & low_bits(bits)) as usize);
    let places = offsets.iter().map(place).collect();
    (accesses, places)
}

fn register_offset(elements: &LinearLayout, register: u64) -> u64 {
    crate::layout::linear::select(elements.columns_of(Dim::Register), register)
}

/// The same map with the offset counted in bytes.
fn in_bytes(elements: &LinearLayout, element_bytes: u32) -> LinearLayout {
    let scale = LinearLayout::strided1d(elements.out_size(Dim::Offset), element_bytes, Dim::Offset, Dim::Offset);
    elements.compose(&scale)
}
