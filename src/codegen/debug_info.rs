//! Line tables: IR locations as LLVM's debug metadata.
//!
//! 1. A kernel gets a compile unit of kind "line tables only" and a subprogram at its own location.
//! 2. `loc("f":l:c)` becomes a debug location in the subprogram's scope, or in a lexical block of the subprogram when
//!    it lies in another file.
//! 3. `loc(callsite(callee at caller))` becomes the callee's location inlined at the caller's; names and fusions are
//!    looked through.
//! 4. A location without a file leaves the one before in force at line 0, which LLVM's line tables skip.
//!
//! inkwell has no lexical blocks with a file of their own, so this file talks to LLVM's C interface.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_uint};
use std::path::Path;

use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::debuginfo::{self, LLVMDWARFEmissionKind, LLVMDWARFSourceLanguage};
use inkwell::llvm_sys::prelude::{LLVMDIBuilderRef, LLVMMetadataRef};
use inkwell::llvm_sys::{core, debuginfo::LLVMDIFlagZero};
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::{AsValueRef, FunctionValue};

use crate::ir::core::hash::Map;
use crate::ir::{Loc, LocData, Name};

/// The debug metadata of one function. Call [`LineTable::finish`] when the function is complete.
pub(crate) struct LineTable {
    builder: LLVMDIBuilderRef,
    subprogram: LLVMMetadataRef,
    /// The file of the subprogram.
    home: Name,
    files: BTreeMap<Name, LLVMMetadataRef>,
    /// Lexical blocks for other files.
    scopes: BTreeMap<Name, LLVMMetadataRef>,
    /// Locations made so far.
    places: Map<Loc, LLVMMetadataRef>,
}

fn parts(text: &str) -> (*const c_char, usize) {
    (text.as_ptr().cast(), text.len())
}

impl LineTable {
    /// Starts the table of a function; `None` when the location names no file.
    pub(crate) fn new<'c>(
        llvm: &'c Context,
        module: &Module<'c>,
        function: FunctionValue<'c>,
        name: &str,
        loc: Loc,
    ) -> Option<LineTable> {
        let (home, line, _) = loc.file_line_col()?;
        if module.get_flag("Debug Info Version").is_none() {
            let version = llvm.i32_type().const_int(u64::from(inkwell::debug_info::debug_metadata_version()), false);
            module.add_basic_value_flag("Debug Info Version", FlagBehavior::Warning, version);
        }
        // SAFETY: the module is alive; the builder is disposed of in `drop`.
        let builder = unsafe { debuginfo::LLVMCreateDIBuilder(module.as_mut_ptr()) };
        let mut table = LineTable {
            builder,
            subprogram: std::ptr::null_mut(),
            home,
            files: BTreeMap::new(),
            scopes: BTreeMap::new(),
            places: Map::default(),
        };
        let file = table.file(home);
        let ((producer, producer_len), (label, label_len), (empty, _)) = (parts("ttc"), parts(name), parts(""));
        // SAFETY: all strings outlive the calls with their lengths, all metadata comes from this builder.
        unsafe {
            debuginfo::LLVMDIBuilderCreateCompileUnit(
                builder,
                LLVMDWARFSourceLanguage::LLVMDWARFSourceLanguageC,
                file,
                producer,
                producer_len,
                1,
                empty,
                0,
                0,
                empty,
                0,
                LLVMDWARFEmissionKind::LLVMDWARFEmissionKindLineTablesOnly,
                0,
                1,
                0,
                empty,
                0,
                empty,
                0,
            );
            let ty =
                debuginfo::LLVMDIBuilderCreateSubroutineType(builder, file, std::ptr::null_mut(), 0, LLVMDIFlagZero);
            table.subprogram = debuginfo::LLVMDIBuilderCreateFunction(
                builder,
                file,
                label,
                label_len,
                label,
                label_len,
                file,
                line,
                ty,
                0,
                1,
                line,
                LLVMDIFlagZero,
                1,
            );
            debuginfo::LLVMSetSubprogram(function.as_value_ref(), table.subprogram);
        }
        Some(table)
    }

    fn file(&mut self, path: Name) -> LLVMMetadataRef {
        let builder = self.builder;
        *self.files.entry(path).or_insert_with(|| {
            let path = Path::new(path.as_str());
            let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            let folder = path.parent().map_or_else(String::new, |p| p.to_string_lossy().into_owned());
            let ((name, name_len), (folder, folder_len)) = (parts(&name), parts(&folder));
            // SAFETY: valid strings with their lengths.
            unsafe { debuginfo::LLVMDIBuilderCreateFile(builder, name, name_len, folder, folder_len) }
        })
    }

    fn scope(&mut self, path: Name) -> LLVMMetadataRef {
        if path == self.home {
            return self.subprogram;
        }
        let file = self.file(path);
        let (builder, parent) = (self.builder, self.subprogram);
        // SAFETY: all metadata comes from this builder.
        *self
            .scopes
            .entry(path)
            .or_insert_with(|| unsafe { debuginfo::LLVMDIBuilderCreateLexicalBlockFile(builder, parent, file, 0) })
    }

    /// The debug location of an IR location, inlined at `at` if that is not null.
    fn place(&mut self, llvm: &Context, loc: Loc, at: LLVMMetadataRef) -> LLVMMetadataRef {
        let (line, col, scope) = match loc.data() {
            LocData::CallSite { callee, caller } => {
                let caller = self.place(llvm, *caller, at);
                return self.place(llvm, *callee, caller);
            }
            LocData::Name { child, .. } => return self.place(llvm, *child, at),
            LocData::Fused(locs) => match locs.iter().find(|l| l.file_line_col().is_some()) {
                Some(&first) => return self.place(llvm, first, at),
                None => (0, 0, self.subprogram),
            },
            LocData::File { file, line, col } => (*line, *col, self.scope(*file)),
            LocData::Unknown => (0, 0, self.subprogram),
        };
        // Inlined code needs a scope of its own: LLVM drops an inlined location whose scope is the function itself.
        let scope = if !at.is_null() && scope == self.subprogram { self.inlined_home() } else { scope };
        // SAFETY: all metadata lives in this context.
        unsafe { debuginfo::LLVMDIBuilderCreateDebugLocation(llvm.raw(), line as c_uint, col as c_uint, scope, at) }
    }

    /// A lexical block for code of the kernel's own file that was inlined.
    fn inlined_home(&mut self) -> LLVMMetadataRef {
        let (builder, parent, home) = (self.builder, self.subprogram, self.home);
        let file = self.file(home);
        // SAFETY: all metadata comes from this builder.
        *self
            .scopes
            .entry(home)
            .or_insert_with(|| unsafe { debuginfo::LLVMDIBuilderCreateLexicalBlockFile(builder, parent, file, 0) })
    }

    /// Gives what the builder makes from now on this location.
    pub(crate) fn set(&mut self, llvm: &Context, b: &Builder<'_>, loc: Loc) {
        let known = self.places.get(&loc).copied();
        let place = known.unwrap_or_else(|| self.place(llvm, loc, std::ptr::null_mut()));
        self.places.insert(loc, place);
        // SAFETY: builder and location belong to one context.
        unsafe { core::LLVMSetCurrentDebugLocation2(b.as_mut_ptr(), place) };
    }

    /// Resolves what is still open.
    pub(crate) fn finish(&self) {
        // SAFETY: the builder is alive.
        unsafe { debuginfo::LLVMDIBuilderFinalize(self.builder) };
    }
}

impl Drop for LineTable {
    fn drop(&mut self) {
        // SAFETY: made in `new`, disposed of once.
        unsafe { debuginfo::LLVMDisposeDIBuilder(self.builder) };
    }
}
