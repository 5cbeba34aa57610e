//! Puts the file of a code object together: headers, segments, sections, and the tables of symbols and of names.

use super::elf::{ABSOLUTE, ALLOC, Object, STRTAB, SYMTAB};
use super::layout::{DYNAMIC_ENTRY, FILE_HEADER, Layout, PAGE, Placed, SEGMENT_HEADER, SEGMENTS, SYMBOL, Source};
use super::relocate::address;
use super::tables::Tables;

/// A library that is loaded where there is room.
const SHARED_OBJECT: u16 = 3;
const SECTION_HEADER: u16 = 64;
/// The binding and visibility of `_DYNAMIC`, by which the library's own code would find the dynamic section.
const HIDDEN: u8 = 2;

/// Bytes of a file, little-endian.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u16(&mut self, values: &[u16]) {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }

    fn u32(&mut self, values: &[u32]) {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }

    fn u64(&mut self, values: &[u64]) {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }

    /// An entry of a table of symbols.
    fn symbol(&mut self, name: u32, info: u8, other: u8, section: u16, value: u64, size: u64) {
        self.u32(&[name]);
        self.0.extend([info, other]);
        self.u16(&[section]);
        self.u64(&[value, size]);
    }

    fn align(&mut self, to: u64) -> u64 {
        self.0.resize((self.0.len() as u64).next_multiple_of(to) as usize, 0);
        self.0.len() as u64
    }
}

/// The file.
pub(super) fn write(
    object: &Object<'_>,
    tables: &Tables,
    layout: &Layout<'_>,
    contents: Vec<Vec<u8>>,
) -> Option<Vec<u8>> {
    let mut file = Bytes(vec![0; (FILE_HEADER + SEGMENTS * SEGMENT_HEADER) as usize]);
    for section in &layout.sections {
        let bytes = match section.source {
            Source::Input(i) => contents[i].clone(),
            Source::Dynsym => seen_symbols(object, tables, layout)?,
            Source::GnuHash => tables.gnu_hash.clone(),
            Source::Hash => tables.hash.clone(),
            Source::Dynstr => tables.names.clone(),
            Source::Dynamic => dynamic(layout)?,
            Source::Padding => continue,
        };
        file.0.resize(section.offset as usize, 0);
        file.0.extend(bytes);
    }
    let (symbols, names, locals) = all_symbols(object, layout)?;
    let headers = section_headers(layout, &mut file, &symbols, &names, locals)?;
    let at = file.align(8);
    file.0.extend(headers.0);
    let mut head = file_header(object, at, layout.sections.len() as u16 + 4);
    head.0.extend(segments(layout)?.0);
    file.0[..head.0.len()].copy_from_slice(&head.0);
    Some(file.0)
}

/// The table of the symbols that the loader sees.
fn seen_symbols(object: &Object<'_>, tables: &Tables, layout: &Layout<'_>) -> Option<Vec<u8>> {
    let mut table = Bytes::default();
    table.symbol(0, 0, 0, 0, 0, 0);
    for (&i, &name) in tables.exported.iter().zip(&tables.name_at) {
        let s = &object.symbols[i];
        let section = layout.number(Source::Input(s.section as usize))?;
        table.symbol(name, s.info, s.other, section, address(object, layout, i)?, s.size);
    }
    Some(table.0)
}

/// The table of all symbols, their names, and how many of them are local, which come first.
fn all_symbols(object: &Object<'_>, layout: &Layout<'_>) -> Option<(Vec<u8>, Vec<u8>, u32)> {
    let (mut table, mut names) = (Bytes::default(), vec![0]);
    let mut name = |text: &str| {
        let at = names.len() as u32;
        names.extend(text.bytes());
        names.push(0);
        at
    };
    table.symbol(0, 0, 0, 0, 0, 0);
    let is_kept = |i: &usize| !object.symbols[*i].is_section();
    // A symbol that no other library may see is local to this one.
    let is_local = |i: &usize| object.symbols[*i].is_local() || matches!(object.symbols[*i].other & 3, 1 | 2);
    let (locals, globals): (Vec<usize>, Vec<usize>) = (1..object.symbols.len()).filter(is_kept).partition(is_local);
    let mut add = |i: usize, table: &mut Bytes, mask: u8| {
        let s = &object.symbols[i];
        let section = match s.section {
            ABSOLUTE => ABSOLUTE,
            section => layout.number(Source::Input(section as usize))?,
        };
        table.symbol(name(s.name), s.info & mask, s.other, section, address(object, layout, i)?, s.size);
        Some(())
    };
    for &i in &locals {
        add(i, &mut table, 15)?;
    }
    for &i in &globals {
        add(i, &mut table, 0xff)?;
    }
    let dynamic = layout.get(Source::Dynamic)?;
    let mut own = Bytes::default();
    own.symbol(name("_DYNAMIC"), 0, HIDDEN, layout.number(Source::Dynamic)?, dynamic.address, 0);
    let behind = (locals.len() + 1) * SYMBOL as usize;
    table.0.splice(behind..behind, own.0);
    Some((table.0, names, locals.len() as u32 + 2))
}

/// What the loader needs to find the tables.
fn dynamic(layout: &Layout<'_>) -> Option<Vec<u8>> {
    let mut table = Bytes::default();
    let names = layout.get(Source::Dynstr)?;
    table.u64(&[6, layout.get(Source::Dynsym)?.address]);
    table.u64(&[11, SYMBOL]);
    table.u64(&[5, names.address, 10, names.size]);
    table.u64(&[0x6fff_fef5, layout.get(Source::GnuHash)?.address]);
    table.u64(&[4, layout.get(Source::Hash)?.address]);
    table.u64(&[0; DYNAMIC_ENTRY as usize / 8]);
    Some(table.0)
}

/// Adds the tables of symbols and of names to the file, and makes the headers of all sections.
fn section_headers(layout: &Layout<'_>, file: &mut Bytes, symbols: &[u8], names: &[u8], locals: u32) -> Option<Bytes> {
    let own = [".symtab", ".shstrtab", ".strtab"];
    let called = std::iter::once("").chain(layout.sections.iter().map(|s| s.name)).chain(own);
    let called: Vec<u8> = called.flat_map(|name| name.bytes().chain([0])).collect();
    let mut all = vec![];
    for section in &layout.sections {
        let (link, info) = match section.source {
            Source::Dynsym => (layout.number(Source::Dynstr)?, 1),
            Source::Dynamic => (layout.number(Source::Dynstr)?, 0),
            Source::GnuHash | Source::Hash => (layout.number(Source::Dynsym)?, 0),
            Source::Input(_) | Source::Dynstr | Source::Padding => (0, 0),
        };
        all.push((*section, link, info));
    }
    let strings = layout.sections.len() as u16 + 3;
    let of_symbols = (SYMTAB, symbols, 8, SYMBOL, strings, locals);
    let tables = [of_symbols, (STRTAB, &called[..], 1, 0, 0, 0), (STRTAB, names, 1, 0, 0, 0)];
    for (name, (kind, bytes, align, entry, link, info)) in own.into_iter().zip(tables) {
        let (offset, size) = (file.align(align), bytes.len() as u64);
        file.0.extend(bytes);
        // It is not loaded, so nothing looks for what fills it.
        let source = Source::Padding;
        all.push((Placed { source, name, kind, flags: 0, align, entry, address: 0, offset, size }, link, info));
    }
    let mut headers = Bytes(vec![0; SECTION_HEADER as usize]);
    let mut name_at = 1;
    for (s, link, info) in all {
        headers.u32(&[name_at, s.kind]);
        name_at += s.name.len() as u32 + 1;
        headers.u64(&[s.flags, s.address, s.offset, s.size]);
        headers.u32(&[link.into(), info]);
        headers.u64(&[s.align, s.entry]);
    }
    Some(headers)
}

/// The file's header; sections' headers are at `at`.
fn file_header(object: &Object<'_>, at: u64, sections: u16) -> Bytes {
    let mut head = Bytes(object.ident.to_vec());
    head.u16(&[SHARED_OBJECT, object.machine]);
    head.u32(&[1]);
    head.u64(&[0, FILE_HEADER, at]);
    head.u32(&[object.flags]);
    head.u16(&[FILE_HEADER as u16, SEGMENT_HEADER as u16, SEGMENTS as u16, SECTION_HEADER, sections, sections - 2]);
    head
}

/// The headers of the segments, in `lld`'s order.
fn segments(layout: &Layout<'_>) -> Option<Bytes> {
    const READ: u32 = 4;
    let mut headers = Bytes::default();
    let mut add = |kind: u32, flags: u32, offset: u64, address: u64, sizes: [u64; 2], align: u64| {
        headers.u32(&[kind, flags]);
        headers.u64(&[offset, address, address, sizes[0], sizes[1], align]);
    };
    let loaded: Vec<&Placed<'_>> = layout.sections.iter().filter(|s| s.flags & ALLOC != 0).collect();
    let [.., constants, code, dynamic, padding] = loaded[..] else { return None };
    let note = loaded.first()?;
    let table = SEGMENTS * SEGMENT_HEADER;
    let read = constants.offset + constants.size;
    let written = [dynamic.size, dynamic.size + padding.size];
    add(6, READ, FILE_HEADER, FILE_HEADER, [table; 2], 8);
    add(1, READ, 0, 0, [read; 2], PAGE);
    add(1, READ | 1, code.offset, code.address, [code.size; 2], PAGE);
    add(1, READ | 2, dynamic.offset, dynamic.address, written, PAGE);
    add(2, READ | 2, dynamic.offset, dynamic.address, [dynamic.size; 2], 8);
    add(0x6474_e552, READ, dynamic.offset, dynamic.address, written, 1);
    add(0x6474_e551, READ | 2, 0, 0, [0; 2], 0);
    add(4, READ, note.offset, note.address, [note.size; 2], note.align);
    Some(headers)
}
