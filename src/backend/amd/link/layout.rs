//! Where everything of a code object is, in memory and in the file.
//!
//! ```text
//! headers  .note .dynsym .gnu.hash .hash .dynstr .rodata  |  .text  |  .dynamic .relro_padding  |  not loaded
//! ```
//! A bar starts pages of its own, so that each group has one protection. An address behind a bar keeps its distance
//! from the start of the page, so the file has no gap for it ([`next_group`]).

use super::elf::{
    ALLOC, DYNAMIC, DYNSYM, EXECUTE, GNU_HASH, HASH, MERGE, NOBITS, NOTE, Object, PROGBITS, RELA, STRINGS, STRTAB,
    SYMTAB, Section, WRITE,
};
use super::tables::Tables;

/// The size of a page, as the linker and the loader take it.
pub(super) const PAGE: u64 = 0x1000;
/// The file's header and that of each segment.
pub(super) const FILE_HEADER: u64 = 64;
pub(super) const SEGMENT_HEADER: u64 = 56;
pub(super) const SEGMENTS: u64 = 8;
/// The size of an entry of the tables of symbols and of the dynamic section.
pub(super) const SYMBOL: u64 = 24;
pub(super) const DYNAMIC_ENTRY: u64 = 16;
/// How many entries the dynamic section has.
pub(super) const DYNAMIC_ENTRIES: u64 = 7;

/// What fills a section of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// A section of the object, by its number.
    Input(usize),
    Dynsym,
    GnuHash,
    Hash,
    Dynstr,
    Dynamic,
    /// Nothing; it fills the last page that is only read once the loader is done.
    Padding,
}

/// A section of the output. What is not loaded has the address 0.
#[derive(Clone, Copy)]
pub(super) struct Placed<'o> {
    pub(super) source: Source,
    pub(super) name: &'o str,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) align: u64,
    pub(super) entry: u64,
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// All sections of the output but those that follow from them: symbols and names.
pub(super) struct Layout<'o> {
    pub(super) sections: Vec<Placed<'o>>,
}

impl<'o> Layout<'o> {
    /// `None` for an object with other parts than this linker knows.
    pub(super) fn of(object: &Object<'o>, tables: &Tables) -> Option<Layout<'o>> {
        let found = Found::of(object)?;
        let of = |i: usize| input(i, &object.sections[i]);
        let symbols = (tables.exported.len() as u64 + 1) * SYMBOL;
        let read = [
            of(found.note),
            made(Source::Dynsym, ".dynsym", DYNSYM, 8, SYMBOL, symbols),
            made(Source::GnuHash, ".gnu.hash", GNU_HASH, 8, 0, tables.gnu_hash.len() as u64),
            made(Source::Hash, ".hash", HASH, 4, 4, tables.hash.len() as u64),
            made(Source::Dynstr, ".dynstr", STRTAB, 1, 0, tables.names.len() as u64),
            of(found.constants),
        ];
        let size = DYNAMIC_ENTRIES * DYNAMIC_ENTRY;
        let dynamic =
            Placed { flags: ALLOC | WRITE, ..made(Source::Dynamic, ".dynamic", DYNAMIC, 8, DYNAMIC_ENTRY, size) };
        let padding = Placed { flags: ALLOC | WRITE, ..made(Source::Padding, ".relro_padding", NOBITS, 1, 0, 0) };

        let mut sections = vec![];
        let start = FILE_HEADER + SEGMENTS * SEGMENT_HEADER;
        let mut end = (start, start);
        for (group, is_first) in [(&read[..], true), (&[of(found.code)], false), (&[dynamic, padding], false)] {
            for (section, i) in group.iter().zip(0..) {
                let mut placed = *section;
                let from = if i == 0 && !is_first { next_group(end.0) } else { end.0 };
                placed.address = from.next_multiple_of(placed.align);
                placed.offset = end.1 + (placed.address.wrapping_sub(end.1) % PAGE);
                if placed.source == Source::Padding {
                    (placed.address, placed.offset) = end;
                    placed.size = end.0.next_multiple_of(PAGE) - end.0;
                } else {
                    end = (placed.address + placed.size, placed.offset + placed.size);
                }
                sections.push(placed);
            }
        }
        for i in found.not_loaded {
            let mut placed = of(i);
            placed.offset = end.1.next_multiple_of(placed.align);
            end.1 = placed.offset + placed.size;
            sections.push(placed);
        }
        Some(Layout { sections })
    }

    /// The section that a source fills.
    pub(super) fn get(&self, source: Source) -> Option<&Placed<'o>> {
        self.sections.iter().find(|s| s.source == source)
    }

    /// The number of the section that a source fills, in the table of sections, which starts with one of nothing.
    pub(super) fn number(&self, source: Source) -> Option<u16> {
        self.sections.iter().position(|s| s.source == source).map(|i| i as u16 + 1)
    }
}

/// The first address behind `end` for a group of sections with another protection.
fn next_group(end: u64) -> u64 {
    end.next_multiple_of(PAGE) + end % PAGE
}

fn input<'o>(number: usize, section: &Section<'o>) -> Placed<'o> {
    Placed {
        source: Source::Input(number),
        name: section.name,
        kind: section.kind,
        flags: section.flags,
        align: section.align,
        entry: section.entry,
        address: 0,
        offset: 0,
        size: section.bytes.len() as u64,
    }
}

fn made(source: Source, name: &'static str, kind: u32, align: u64, entry: u64, size: u64) -> Placed<'static> {
    Placed { source, name, kind, flags: ALLOC, align, entry, address: 0, offset: 0, size }
}

/// What the object has, by the numbers of its sections.
struct Found {
    note: usize,
    constants: usize,
    code: usize,
    not_loaded: Vec<usize>,
}

impl Found {
    fn of(object: &Object<'_>) -> Option<Found> {
        let (mut note, mut constants, mut code, mut not_loaded) = (None, None, None, vec![]);
        for (section, i) in object.sections.iter().zip(0..) {
            let place = match (section.kind, section.flags) {
                // Nothing, the tables of the object, and a mark without content.
                (0 | SYMTAB | STRTAB | RELA, _) => continue,
                (PROGBITS, 0) if section.name == ".note.GNU-stack" => continue,
                (PROGBITS, flags) if flags & !(MERGE | STRINGS) == 0 => {
                    not_loaded.push(i);
                    continue;
                }
                (NOTE, ALLOC) => &mut note,
                (PROGBITS, ALLOC) => &mut constants,
                (PROGBITS, flags) if flags == ALLOC | EXECUTE => &mut code,
                _ => return None,
            };
            if place.replace(i).is_some() || !section.align.is_power_of_two() || section.align > PAGE {
                return None;
            }
        }
        Some(Found { note: note?, constants: constants?, code: code?, not_loaded })
    }
}
