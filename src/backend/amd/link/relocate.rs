//! Writes addresses into the sections ("User Guide for AMDGPU Backend", "Relocation Records").

use super::elf::{ABSOLUTE, ALLOC, Object, Relocation};
use super::layout::{Layout, Source};

const NONE: u32 = 0;
const ABS64: u32 = 3;
const REL32: u32 = 4;
const REL64: u32 = 5;
const ABS32: u32 = 6;
const REL32_LO: u32 = 10;
const REL32_HI: u32 = 11;
const REL16: u32 = 14;

/// The bytes of each section of the object, by its number, with addresses filled in. `None` if a relocation would be
/// the loader's or another linker's work.
pub(super) fn contents(object: &Object<'_>, layout: &Layout<'_>) -> Option<Vec<Vec<u8>>> {
    let mut contents: Vec<Vec<u8>> = object.sections.iter().map(|s| s.bytes.to_vec()).collect();
    for (i, (section, bytes)) in object.sections.iter().zip(&mut contents).enumerate() {
        let Some(placed) = layout.get(Source::Input(i)) else { continue };
        for relocation in &section.relocations {
            let is_loaded = section.flags & ALLOC != 0;
            let value = value(object, layout, relocation, placed.address, is_loaded)?;
            let at = relocation.offset as usize;
            let room = bytes.get_mut(at..at.checked_add(value.len())?)?;
            room.copy_from_slice(&value);
        }
    }
    Some(contents)
}

/// The address of a symbol; the number itself for one that is absolute.
pub(super) fn address(object: &Object<'_>, layout: &Layout<'_>, symbol: usize) -> Option<u64> {
    let symbol = object.symbols.get(symbol)?;
    match symbol.section {
        ABSOLUTE => Some(symbol.value),
        section => Some(layout.get(Source::Input(section as usize))?.address.wrapping_add(symbol.value)),
    }
}

/// What a relocation writes, in a section at `base`.
fn value(
    object: &Object<'_>,
    layout: &Layout<'_>,
    relocation: &Relocation,
    base: u64,
    is_loaded: bool,
) -> Option<Vec<u8>> {
    let symbol = object.symbols.get(relocation.symbol)?;
    let to = || Some(address(object, layout, relocation.symbol)?.wrapping_add(relocation.addend as u64));
    let distance = || {
        let from = base.wrapping_add(relocation.offset);
        (is_loaded && !symbol.can_be_replaced() && symbol.section != ABSOLUTE).then_some(to()?.wrapping_sub(from))
    };
    Some(match relocation.kind {
        NONE => vec![],
        // Where a section is loaded, its own address is known to the loader alone.
        ABS32 if !is_loaded => u32::try_from(to()?).ok()?.to_le_bytes().to_vec(),
        ABS64 if !is_loaded => to()?.to_le_bytes().to_vec(),
        REL32 => i32::try_from(distance()? as i64).ok()?.to_le_bytes().to_vec(),
        REL64 => distance()?.to_le_bytes().to_vec(),
        REL32_LO => (distance()? as u32).to_le_bytes().to_vec(),
        REL32_HI => ((distance()? >> 32) as u32).to_le_bytes().to_vec(),
        // In instructions of 4 bytes, from the one behind the branch.
        REL16 => {
            let bytes = (distance()? as i64).wrapping_sub(4);
            i16::try_from(bytes / 4).ok().filter(|_| bytes % 4 == 0)?.to_le_bytes().to_vec()
        }
        _ => return None,
    })
}
