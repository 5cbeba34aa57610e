//! Makes a code object of an object file, as `ld.lld -shared` does, in this process.
//!
//! What LLVM assembles for a kernel is simple: instructions, constants with the kernels' descriptors, a note with the
//! metadata, debug information, and no symbol from elsewhere. So little of a linker suffices, and starting `ld.lld`
//! takes longer than most kernels take to compile.
//!
//! 1. [`elf::Object`] reads sections, symbols and relocations.
//! 2. [`layout::Layout`] gives every section of the output an address, in `lld`'s order: the note and the tables of the
//!    loader, constants, instructions, the dynamic section; each group on pages of its own.
//! 3. [`tables`] makes the tables by which the loader finds kernels.
//! 4. [`relocate`] writes addresses into the sections.
//! 5. [`image`] puts the file together.
//!
//! What is loaded is the same as `lld`'s, byte for byte (a test compares them). Whatever is out of the ordinary (a
//! symbol that is not defined, data that can be written, a relocation that the loader would have to finish) is left to
//! `lld`.

mod elf;
mod image;
mod layout;
mod relocate;
mod tables;
#[cfg(test)]
mod tests;

/// The code object of an object file; `None` if it needs more than this linker can do.
pub(super) fn link(object: &[u8]) -> Option<Vec<u8>> {
    let object = elf::Object::read(object)?;
    let tables = tables::Tables::of(&object)?;
    let layout = layout::Layout::of(&object, &tables)?;
    let contents = relocate::contents(&object, &layout)?;
    image::write(&object, &tables, &layout, contents)
}
