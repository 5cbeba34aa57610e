//! Global memory: the buffers of the host and the variables of the module.
//!
//! Words are atomic, so that blocks may run on several threads. Accesses of one byte or two change their word in one
//! step.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::GLOBALS_BASE;

/// A buffer, by the order in which buffers were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferId(pub u32);

const SPACE_BITS: u32 = 40;

/// A stretch of global memory.
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) len: u64,
    /// Whether the launch before this one may still use it.
    pub(crate) earlier: bool,
    words: Vec<AtomicU32>,
    /// A bit for each byte that was written. `None` means all.
    written: Option<Vec<AtomicU32>>,
}

/// The buffers of a launch.
#[derive(Default)]
pub struct Memory {
    pub(crate) buffers: Vec<Buffer>,
    globals: Option<Buffer>,
}

impl Buffer {
    fn new(name: &str, bytes: &[u8], is_written: bool) -> Buffer {
        let word = |chunk: &[u8]| {
            let mut all = [0; 4];
            all[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(all))
        };
        let zeros = || (0..bytes.len().div_ceil(32)).map(|_| AtomicU32::new(0)).collect();
        Buffer {
            name: name.to_owned(),
            len: bytes.len() as u64,
            earlier: false,
            words: bytes.chunks(4).map(word).collect(),
            written: (!is_written).then(zeros),
        }
    }

    pub(crate) fn holds(&self, at: u64, size: usize) -> bool {
        at.checked_add(size as u64).is_some_and(|end| end <= self.len)
    }

    /// The bytes `at..at + size`, inside and aligned. `size` is 1, 2, 4 or 8.
    #[inline]
    pub(crate) fn read(&self, at: u64, size: usize) -> u64 {
        let word = |i: usize| u64::from(self.words[i].load(Relaxed));
        let index = at as usize / 4;
        match size {
            8 => word(index + 1) << 32 | word(index),
            4 => word(index),
            _ => word(index) >> (at % 4 * 8) & ((1 << (size * 8)) - 1),
        }
    }

    #[inline]
    pub(crate) fn write(&self, at: u64, size: usize, value: u64) {
        let index = at as usize / 4;
        match size {
            8 => {
                self.words[index].store(value as u32, Relaxed);
                self.words[index + 1].store((value >> 32) as u32, Relaxed);
            }
            4 => self.words[index].store(value as u32, Relaxed),
            _ => {
                let shift = at % 4 * 8;
                let mask = ((1u32 << (size * 8)) - 1) << shift;
                let put = |old: u32| Some(old & !mask | (value as u32) << shift & mask);
                // The closure always gives a value, so the update cannot fail.
                let _ = self.words[index].fetch_update(Relaxed, Relaxed, put);
            }
        }
        if let Some(written) = &self.written {
            let bit = at % 32;
            let ones = (((1u64 << size) - 1) << bit) as u32;
            written[at as usize / 32].fetch_or(ones, Relaxed);
        }
    }

    /// The bytes from `at` on, which are inside.
    pub(crate) fn read_bytes(&self, at: u64, bytes: &mut [u8]) {
        let word = |at: u64| self.words[at as usize / 4].load(Relaxed).to_le_bytes();
        if at.is_multiple_of(4) {
            let places = (at..).step_by(4);
            bytes.chunks_mut(4).zip(places).for_each(|(to, at)| to.copy_from_slice(&word(at)[..to.len()]));
        } else {
            bytes.iter_mut().zip(at..).for_each(|(to, at)| *to = word(at)[at as usize % 4]);
        }
    }

    /// Whether all of `at..at + size` was written, of any size.
    pub(crate) fn is_all_written(&self, at: u64, size: u64) -> bool {
        self.written.is_none() || (at..at + size).all(|i| self.is_written(i, 1))
    }

    #[inline]
    pub(crate) fn is_written(&self, at: u64, size: usize) -> bool {
        let Some(written) = &self.written else { return true };
        let ones = (((1u64 << size) - 1) << (at % 32)) as u32;
        written[at as usize / 32].load(Relaxed) & ones == ones
    }
}

impl Memory {
    #[must_use]
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds a buffer with contents.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> BufferId {
        self.push(Buffer::new(name, bytes, true))
    }

    /// Adds a buffer that nobody has written. It holds `bytes`, which a kernel that reads it sees.
    pub fn add_uninit(&mut self, name: &str, bytes: &[u8]) -> BufferId {
        self.push(Buffer::new(name, bytes, false))
    }

    /// Says that the launch before this one may use a buffer until `griddepcontrol.wait`.
    pub fn share_with_earlier(&mut self, id: BufferId) {
        self.buffers[id.0 as usize].earlier = true;
    }

    fn push(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// The address of a buffer's first byte.
    #[must_use]
    pub fn address(&self, id: BufferId) -> u64 {
        (u64::from(id.0) + 1) << SPACE_BITS
    }

    /// The contents of a buffer.
    #[must_use]
    pub fn bytes(&self, id: BufferId) -> Vec<u8> {
        let b = &self.buffers[id.0 as usize];
        let mut out: Vec<u8> = b.words.iter().flat_map(|w| w.load(Relaxed).to_le_bytes()).collect();
        out.truncate(b.len as usize);
        out
    }

    /// Which bytes of a buffer were written.
    #[must_use]
    pub fn written(&self, id: BufferId) -> Vec<bool> {
        let b = &self.buffers[id.0 as usize];
        (0..b.len).map(|at| b.is_written(at, 1)).collect()
    }

    /// Puts the variables of a module in place.
    pub(crate) fn set_globals(&mut self, bytes: &[u8]) {
        self.globals = Some(Buffer::new("the variables of the module", bytes, true));
    }

    /// The buffer of an address, and the distance from its start. The buffer need not hold the address.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<(usize, &Buffer, u64)> {
        if address >= GLOBALS_BASE {
            return self.globals.as_ref().map(|b| (self.buffers.len(), b, address.wrapping_sub(GLOBALS_BASE)));
        }
        let index = (address >> SPACE_BITS).checked_sub(1)? as usize;
        let buffer = self.buffers.get(index)?;
        Some((index, buffer, address & ((1 << SPACE_BITS) - 1)))
    }

    /// The buffer that an address outside of all is nearest to, and the distance from its start.
    pub(crate) fn nearest(&self, address: u64) -> Option<(&str, i64, u64)> {
        let index = (address.wrapping_add(1 << (SPACE_BITS - 1)) >> SPACE_BITS).checked_sub(1)?;
        let buffer = self.buffers.get(index as usize)?;
        let start = (index + 1) << SPACE_BITS;
        Some((&buffer.name, address.wrapping_sub(start) as i64, buffer.len))
    }

    /// A text that ends with a zero byte, in the buffers or in the module.
    pub(crate) fn text(&self, address: u64) -> Option<String> {
        let (_, buffer, at) = self.find(address)?;
        let bytes: Vec<u8> = (at..buffer.len).map(|i| buffer.read(i, 1) as u8).take_while(|&b| b != 0).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
