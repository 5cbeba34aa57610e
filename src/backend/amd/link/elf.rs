//! The parts of an ELF object file that linking looks at.
//!
//! Numbers are little-endian and 64 bits wide ("ELF-64 Object File Format"). Whatever does not fit gives `None`.

/// Types of sections.
pub(super) const PROGBITS: u32 = 1;
pub(super) const SYMTAB: u32 = 2;
pub(super) const STRTAB: u32 = 3;
pub(super) const RELA: u32 = 4;
pub(super) const HASH: u32 = 5;
pub(super) const DYNAMIC: u32 = 6;
pub(super) const NOTE: u32 = 7;
pub(super) const NOBITS: u32 = 8;
pub(super) const DYNSYM: u32 = 11;
pub(super) const GNU_HASH: u32 = 0x6fff_fff6;

/// Flags of sections.
pub(super) const WRITE: u64 = 1;
pub(super) const ALLOC: u64 = 2;
pub(super) const EXECUTE: u64 = 4;
pub(super) const MERGE: u64 = 0x10;
pub(super) const STRINGS: u64 = 0x20;
/// That a section of relocations names the section that they are for.
const INFO: u64 = 0x40;

/// A symbol whose value is a number and no place.
pub(super) const ABSOLUTE: u16 = 0xfff1;

const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;
const RELOCATION: usize = 24;

/// A section.
pub(super) struct Section<'o> {
    pub(super) name: &'o str,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) align: u64,
    pub(super) entry: u64,
    pub(super) bytes: &'o [u8],
    pub(super) relocations: Vec<Relocation>,
}

/// An entry of the table of symbols.
pub(super) struct Symbol<'o> {
    pub(super) name: &'o str,
    /// Kind in the low half, binding in the high one.
    pub(super) info: u8,
    /// Who may see it.
    pub(super) other: u8,
    /// The section that has it, or [`ABSOLUTE`].
    pub(super) section: u16,
    pub(super) value: u64,
    pub(super) size: u64,
}

impl Symbol<'_> {
    pub(super) fn is_local(&self) -> bool {
        self.info >> 4 == 0
    }

    /// Whether it stands for its section.
    pub(super) fn is_section(&self) -> bool {
        self.info & 15 == 3
    }

    /// Whether another library's symbol could take its place when the code object is loaded.
    pub(super) fn can_be_replaced(&self) -> bool {
        !self.is_local() && self.other.is_multiple_of(4)
    }
}

/// A place that wants an address.
#[derive(Clone, Copy)]
pub(super) struct Relocation {
    pub(super) offset: u64,
    pub(super) kind: u32,
    pub(super) symbol: usize,
    pub(super) addend: i64,
}

/// An object file.
pub(super) struct Object<'o> {
    /// The first 16 bytes: the format, the system, and its version.
    pub(super) ident: [u8; 16],
    pub(super) machine: u16,
    /// The processor.
    pub(super) flags: u32,
    pub(super) sections: Vec<Section<'o>>,
    pub(super) symbols: Vec<Symbol<'o>>,
}

impl<'o> Object<'o> {
    pub(super) fn read(file: &'o [u8]) -> Option<Object<'o>> {
        let ident: [u8; 16] = file.get(..16)?.try_into().ok()?;
        // 64 bits, little-endian, an object to be linked.
        if ident[..6] != *b"\x7fELF\x02\x01" || u16_at(file, 16)? != 1 {
            return None;
        }
        let (start, count) = (u64_at(file, 40)? as usize, u16_at(file, 60)? as usize);
        let headers: Vec<&[u8]> =
            (0..count).map(|i| slice(file, start.checked_add(i * SECTION)?, SECTION)).collect::<Option<_>>()?;
        let bytes = |header: &[u8]| match u32_at(header, 4)? {
            NOBITS => Some(&[][..]),
            _ => slice(file, u64_at(header, 24)? as usize, u64_at(header, 32)? as usize),
        };
        let names = bytes(headers.get(u16_at(file, 62)? as usize)?)?;
        let mut sections = vec![];
        for header in &headers {
            sections.push(Section {
                name: text_at(names, u32_at(header, 0)? as usize)?,
                kind: u32_at(header, 4)?,
                flags: u64_at(header, 8)? & !INFO,
                align: u64_at(header, 48)?.max(1),
                entry: u64_at(header, 56)?,
                bytes: bytes(header)?,
                relocations: vec![],
            });
        }
        let mut symbols = vec![];
        for (header, i) in headers.iter().zip(0..) {
            match sections[i].kind {
                SYMTAB if symbols.is_empty() => {
                    let names = sections.get(u32_at(header, 40)? as usize)?.bytes;
                    symbols = sections[i].bytes.chunks(SYMBOL).map(|s| symbol(s, names)).collect::<Option<_>>()?;
                }
                RELA => {
                    let made = sections[i].bytes.chunks(RELOCATION).map(relocation).collect::<Option<_>>()?;
                    sections.get_mut(u32_at(header, 44)? as usize)?.relocations = made;
                }
                _ => {}
            }
        }
        let (machine, flags) = (u16_at(file, 18)?, u32_at(file, 48)?);
        (file.len() >= HEADER).then_some(Object { ident, machine, flags, sections, symbols })
    }
}

fn symbol<'o>(entry: &[u8], names: &'o [u8]) -> Option<Symbol<'o>> {
    Some(Symbol {
        name: text_at(names, u32_at(entry, 0)? as usize)?,
        info: *entry.get(4)?,
        other: *entry.get(5)?,
        section: u16_at(entry, 6)?,
        value: u64_at(entry, 8)?,
        size: u64_at(entry, 16)?,
    })
}

fn relocation(entry: &[u8]) -> Option<Relocation> {
    Some(Relocation {
        offset: u64_at(entry, 0)?,
        kind: u32_at(entry, 8)?,
        symbol: u32_at(entry, 12)? as usize,
        addend: u64_at(entry, 16)? as i64,
    })
}

fn slice(bytes: &[u8], at: usize, size: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(size)?)
}

fn text_at(names: &[u8], at: usize) -> Option<&str> {
    let rest = names.get(at..)?;
    std::str::from_utf8(&rest[..rest.iter().position(|b| *b == 0)?]).ok()
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(slice(bytes, at, 2)?.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(slice(bytes, at, 4)?.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(slice(bytes, at, 8)?.try_into().ok()?))
}
