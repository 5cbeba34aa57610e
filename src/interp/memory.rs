//! The memory of a launch: buffers with a name, an element type, bounds, and which of their bytes have been written.
//!
//! Pointers are addresses in one 64-bit space, in which buffer `i` starts at `(i + 1) << 40`. An address belongs to the
//! buffer whose start is nearest, so arithmetic up to 512 GiB to either side keeps its provenance and an access there
//! is recognised as out of that buffer's bounds. Addresses are plain numbers: a kernel may store them in memory and
//! load them again (a list of matrices), see [`Memory::address`].
//!
//! The bytes are relaxed atomic words, since programs run in parallel; a race is a fault to be reported, not undefined
//! behaviour.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::numbers;
use crate::diag::Diagnostic;
use crate::diag::codes::interp as codes;
use crate::ir::{Type, TypeData};

/// A buffer of a [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub u32);

pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) elem: Type,
    /// The length in bytes.
    pub(crate) len: usize,
    words: Vec<AtomicU64>,
    /// As many words as the contents, with a byte of 0xff for each byte that has been written. `None` means that all
    /// bytes have been written from the start.
    written: Option<Vec<AtomicU64>>,
}

/// The buffers that a launch may access.
#[derive(Default)]
pub struct Memory {
    pub(crate) buffers: Vec<Buffer>,
}

pub(crate) const SPACE_BITS: u32 = 40;

impl Memory {
    #[must_use]
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds a buffer with contents. Faults call it `name`, and `elem` is the type of its elements (a scalar type of the
    /// IR).
    pub fn add(&mut self, name: &str, elem: Type, bytes: &[u8]) -> BufferId {
        let mut words: Vec<AtomicU64> = Vec::with_capacity(bytes.len().div_ceil(8));
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(AtomicU64::new(u64::from_le_bytes(word)));
        }
        self.push(Buffer { name: name.to_owned(), elem, len: bytes.len(), words, written: None })
    }

    /// Adds a buffer of `len` bytes that nobody has written yet. Reading from it before it is written is a fault.
    pub fn add_uninit(&mut self, name: &str, elem: Type, len: usize) -> BufferId {
        let zeros = || (0..len.div_ceil(8)).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        self.push(Buffer { name: name.to_owned(), elem, len, words: zeros(), written: Some(zeros()) })
    }

    /// Adds a buffer of floats or integers, each rounded to the element type.
    pub fn add_values(&mut self, name: &str, elem: Type, values: &[f64]) -> BufferId {
        let size = element_size(elem);
        let mut bytes = Vec::with_capacity(values.len() * size);
        for &v in values {
            let bits = match *elem {
                TypeData::Float(kind) => numbers::round_to(kind, v, numbers::Rounding::ToNearestEven),
                _ => v as i128 as u64,
            };
            bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
        }
        self.add(name, elem, &bytes)
    }

    fn push(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// The address of a buffer's first byte, to be put into another buffer.
    #[must_use]
    pub fn address(&self, id: BufferId) -> u64 {
        base(id)
    }

    #[must_use]
    pub fn name(&self, id: BufferId) -> &str {
        &self.buffers[id.0 as usize].name
    }

    #[must_use]
    pub fn elem(&self, id: BufferId) -> Type {
        self.buffers[id.0 as usize].elem
    }

    /// The contents of a buffer. Bytes that nobody wrote are zero.
    #[must_use]
    pub fn bytes(&self, id: BufferId) -> Vec<u8> {
        let b = &self.buffers[id.0 as usize];
        let mut out: Vec<u8> = b.words.iter().flat_map(|w| w.load(Relaxed).to_le_bytes()).collect();
        out.truncate(b.len);
        out
    }

    /// The elements of a buffer as `f64`. Integers count as signed, except single bits.
    #[must_use]
    pub fn values(&self, id: BufferId) -> Vec<f64> {
        self.each_value(id).collect()
    }

    /// The elements that [`Memory::values`] gives, one after the other.
    pub fn each_value(&self, id: BufferId) -> impl Iterator<Item = f64> {
        let b = &self.buffers[id.0 as usize];
        let size = element_size(b.elem);
        (0..b.len / size).map(move |i| {
            let bits = b.read(i * size, size);
            match *b.elem {
                TypeData::Float(kind) => numbers::to_f64(kind, bits),
                TypeData::Int(1) => (bits & 1) as f64,
                TypeData::Int(w) => numbers::signed(bits, w) as f64,
                _ => bits as f64,
            }
        })
    }

    /// Whether every byte of the buffer has been written.
    #[must_use]
    pub fn is_written(&self, id: BufferId) -> bool {
        let b = &self.buffers[id.0 as usize];
        let Some(marks) = &b.written else { return true };
        let whole = b.len / 8;
        marks[..whole].iter().all(|w| w.load(Relaxed) == u64::MAX) && (8 * whole..b.len).all(|i| b.is_written(i, 1))
    }

    /// Whether the buffer had contents from the start, or a byte of it has been written since.
    #[must_use]
    pub fn is_touched(&self, id: BufferId) -> bool {
        !self.buffers[id.0 as usize].is_untouched()
    }

    /// Sets every byte of the buffer that nobody has written to this one. It still counts as not written.
    pub fn fill_unwritten(&self, id: BufferId, byte: u8) {
        let b = &self.buffers[id.0 as usize];
        let pattern = u64::from_ne_bytes([byte; 8]);
        for (word, mark) in b.words.iter().zip(b.written.iter().flatten()) {
            let mark = mark.load(Relaxed);
            word.store(word.load(Relaxed) & mark | pattern & !mark, Relaxed);
        }
    }

    /// The buffer that an address belongs to, and its distance in bytes from the start.
    pub(crate) fn find(&self, address: u64) -> Option<(usize, i64)> {
        let id = (address.wrapping_add(1 << (SPACE_BITS - 1)) >> SPACE_BITS) as usize;
        let index = id.checked_sub(1).filter(|&i| i < self.buffers.len())?;
        Some((index, address.wrapping_sub(base(BufferId(index as u32))) as i64))
    }

    /// The bytes of a [`Memory::snapshot`].
    pub(crate) fn snapshot_size(&self) -> u64 {
        let size = |b: &Buffer| b.len as u64 * if b.written.is_some() { 2 } else { 1 };
        self.buffers.iter().filter(|b| !b.is_untouched()).map(size).sum()
    }

    /// The bytes of all buffers, with the marks of what has been written.
    pub(crate) fn size(&self) -> u64 {
        self.buffers.iter().map(|b| b.len as u64 * if b.written.is_some() { 2 } else { 1 }).sum()
    }

    /// A copy of the contents, to start over.
    pub(crate) fn snapshot(&self) -> Vec<(Vec<u64>, Vec<u64>)> {
        let copy = |w: &[AtomicU64]| w.iter().map(|x| x.load(Relaxed)).collect::<Vec<_>>();
        let one = |b: &Buffer| (copy(&b.words), b.written.as_deref().map(copy).unwrap_or_default());
        // What nobody has written yet is zero, so it needs no copy.
        self.buffers.iter().map(|b| if b.is_untouched() { Default::default() } else { one(b) }).collect()
    }

    pub(crate) fn restore(&self, snapshot: &[(Vec<u64>, Vec<u64>)]) {
        let put = |to: &[AtomicU64], from: &[u64]| {
            to.iter().enumerate().for_each(|(i, t)| t.store(from.get(i).copied().unwrap_or(0), Relaxed));
        };
        for (buffer, (words, written)) in self.buffers.iter().zip(snapshot) {
            put(&buffer.words, words);
            put(buffer.written.as_deref().unwrap_or_default(), written);
        }
    }
}

/// The memory that a launch may take. Its buffers get their part before they are made.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    max: u64,
    used: u64,
}

impl Budget {
    #[must_use]
    pub fn new(max: u64) -> Budget {
        Budget { max, used: 0 }
    }

    /// Takes some bytes for what the message calls `what`.
    ///
    /// # Errors
    /// `E1021` if there are not that many left.
    pub fn take(&mut self, what: &str, bytes: u64) -> Result<(), Box<Diagnostic>> {
        let before = self.used;
        self.used = before.saturating_add(bytes);
        if self.used <= self.max {
            return Ok(());
        }
        let already = if before == 0 { String::new() } else { format!(", {before} are taken") };
        let message = format!("{what} takes {bytes} bytes{already}, and at most {} are allowed", self.max);
        Err(Box::new(Diagnostic::error(&codes::TOO_MUCH_MEMORY, message).help("`--max-memory SIZE` raises the limit")))
    }
}

/// The address at which a buffer starts.
pub(crate) fn base(id: BufferId) -> u64 {
    (u64::from(id.0) + 1) << SPACE_BITS
}

/// The bytes of an element in memory: at least one, and 8 for a pointer.
#[must_use]
pub fn element_size(ty: Type) -> usize {
    (ty.bit_width().unwrap_or(64).div_ceil(8) as usize).next_power_of_two()
}

/// The bytes of what a pointer, or each pointer of a tensor, points at.
pub(crate) fn pointee_size(ty: Type) -> usize {
    element_size(ty.elem().pointee().map_or(ty.elem(), Type::elem))
}

impl Buffer {
    /// Whether nobody has written any byte of it.
    fn is_untouched(&self) -> bool {
        self.written.as_ref().is_some_and(|w| w.iter().all(|w| w.load(Relaxed) == 0))
    }

    /// The bytes `offset..offset + size`, in bounds and aligned to `size`, which is 1, 2, 4 or 8.
    #[inline]
    pub(crate) fn read(&self, offset: usize, size: usize) -> u64 {
        field(&self.words, offset, size)
    }

    /// Writes the low `size` bytes of `bits`. Returns whether anything is different now.
    #[inline]
    pub(crate) fn write(&self, offset: usize, size: usize, bits: u64) -> bool {
        let changed = set_field(&self.words, offset, size, bits);
        self.written.as_ref().is_some_and(|w| set_field(w, offset, size, u64::MAX)) | changed
    }

    /// Replaces the element by `f` of it, in one step. Returns what was there.
    pub(crate) fn update(&self, offset: usize, size: usize, f: impl Fn(u64) -> u64) -> u64 {
        let (word, shift, mask) = (&self.words[offset / 8], offset % 8 * 8, numbers::mask(size as u32 * 8));
        let mut old = word.load(Relaxed);
        loop {
            let before = old >> shift & mask;
            let new = old & !(mask << shift) | (f(before) & mask) << shift;
            match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                Ok(_) => return before,
                Err(now) => old = now,
            }
        }
    }

    #[inline]
    pub(crate) fn is_written(&self, offset: usize, size: usize) -> bool {
        self.written.as_ref().is_none_or(|w| field(w, offset, size) == numbers::mask(size as u32 * 8))
    }
}

#[inline]
fn field(words: &[AtomicU64], offset: usize, size: usize) -> u64 {
    let word = words[offset / 8].load(Relaxed);
    word >> (offset % 8 * 8) & numbers::mask(size as u32 * 8)
}

#[inline]
fn set_field(words: &[AtomicU64], offset: usize, size: usize, bits: u64) -> bool {
    let word = &words[offset / 8];
    let mut old = word.load(Relaxed);
    if size == 8 {
        word.store(bits, Relaxed);
        return old != bits;
    }
    let (shift, mask) = (offset % 8 * 8, numbers::mask(size as u32 * 8));
    loop {
        let new = old & !(mask << shift) | (bits & mask) << shift;
        if new == old {
            return false;
        }
        // Other programs may write the neighbouring elements of this word.
        match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(now) => old = now,
        }
    }
}
