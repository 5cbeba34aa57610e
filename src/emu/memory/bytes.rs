//! Bytes of one owner that know whether they were written: shared memory, local memory.

/// A stretch of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    data: Vec<u8>,
    /// A bit for each byte.
    written: Vec<u64>,
    /// How many writes there were, for those who keep what they have read.
    version: u64,
}

impl Bytes {
    /// Memory that nobody has written. It holds `fill`, so that what is read of it is seen.
    pub(crate) fn new(len: usize, fill: u8) -> Bytes {
        Bytes { data: vec![fill; len], written: vec![0; len.div_ceil(64)], version: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether `at..at + size` is inside.
    pub(crate) fn holds(&self, at: u64, size: usize) -> bool {
        at.checked_add(size as u64).is_some_and(|end| end <= self.data.len() as u64)
    }

    /// Makes room for `len` bytes. The first room takes memory of the host only where it is touched.
    pub(crate) fn grow(&mut self, len: usize) {
        if self.data.is_empty() {
            (self.data, self.written) = (vec![0; len], vec![0; len.div_ceil(64)]);
        } else if len > self.data.len() {
            self.data.resize(len, 0);
            self.written.resize(len.div_ceil(64), 0);
        }
    }

    /// The bytes `at..at + size`, of which there are up to 8, as a number.
    #[inline]
    pub(crate) fn read(&self, at: usize, size: usize) -> u64 {
        let bytes = &self.data[at..at + size];
        match size {
            4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            2 => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            1 => u64::from(bytes[0]),
            _ => bytes.iter().rev().fold(0, |all, &b| all << 8 | u64::from(b)),
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, at: usize, size: usize, value: u64) {
        self.data[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        self.mark(at, size);
    }

    pub(crate) fn slice(&self, at: usize, size: usize) -> &[u8] {
        &self.data[at..at + size]
    }

    pub(crate) fn write_slice(&mut self, at: usize, bytes: &[u8]) {
        self.data[at..at + bytes.len()].copy_from_slice(bytes);
        self.mark(at, bytes.len());
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    #[inline]
    fn mark(&mut self, at: usize, size: usize) {
        self.version += 1;
        let (word, bit) = (at / 64, at % 64);
        if bit + size <= 64 {
            let ones = if size == 64 { u64::MAX } else { ((1u64 << size) - 1) << bit };
            self.written[word] |= ones;
        } else {
            (at..at + size).for_each(|i| self.written[i / 64] |= 1 << (i % 64));
        }
    }

    /// Whether all of `at..at + size` was written.
    #[inline]
    pub(crate) fn is_written(&self, at: usize, size: usize) -> bool {
        let (word, bit) = (at / 64, at % 64);
        if bit + size <= 64 {
            let ones = if size == 64 { u64::MAX } else { ((1u64 << size) - 1) << bit };
            return self.written[word] & ones == ones;
        }
        (at..at + size).all(|i| self.written[i / 64] >> (i % 64) & 1 == 1)
    }
}
