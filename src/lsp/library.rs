//! The files of the library, which are part of the compiler, as files that an editor can open: they are written to a
//! folder of temporary files when somebody goes to one of them.

use std::path::{Path, PathBuf};

use lsp_types::Uri;

use super::uri;
use crate::source::{FileId, SourceMap};
use crate::whole_file;

/// The URI of a file of a compilation. `None` for a text that is no file.
#[must_use]
pub(super) fn uri_of(sources: &SourceMap, file: FileId) -> Option<Uri> {
    let source = sources.get(file)?;
    if let Some(path) = &source.path {
        return uri::of_path(path);
    }
    if !file.is_embedded() {
        return None;
    }
    let name = Path::new(&source.name).file_name()?;
    let path = folder().join(name);
    if std::fs::read(&path).ok().as_deref() != Some(source.text.as_bytes()) {
        std::fs::create_dir_all(folder()).ok()?;
        whole_file::replace(&path, source.text.as_bytes()).ok()?;
    }
    uri::of_path(&path)
}

fn folder() -> PathBuf {
    std::env::temp_dir().join(concat!("ttc-library-", env!("CARGO_PKG_VERSION")))
}
