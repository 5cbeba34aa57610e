//! Reading text files, with everything that can be wrong with one before its text is looked at: it is missing, a
//! directory, unreadable, too large to be a kernel, or not text.
//!
//! Every file that a user or an input names is read here, so none is read without a limit. What an input names (an
//! import, the file of a location) must be a plain file as well: a pipe or a device could block, or change with every
//! read.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

use crate::diag::{Diagnostic, Place, codes};

/// Files over this size are refused: no kernel is 64 MiB long, and offsets must fit in 32 bits.
pub const MAX_BYTES: u64 = 64 << 20;

/// Kernel files over this size are refused: their syntax trees take two hundred times as much memory.
pub const MAX_SOURCE_BYTES: u64 = 12 << 20;

/// Refuses a kernel file of `size` bytes if that is beyond [`MAX_SOURCE_BYTES`].
///
/// # Errors
/// `E0903`.
pub fn check_source(path: &Path, size: usize) -> Result<(), Diagnostic> {
    if size as u64 > MAX_SOURCE_BYTES {
        let text =
            format!("`{}` is too large: {size} bytes, kernel files have at most {MAX_SOURCE_BYTES}", path.display());
        return Err(Diagnostic::error(&codes::cli::TOO_LARGE, text).at(place(path), ""));
    }
    Ok(())
}

/// Reads the text of a file that the user named; `-` is standard input.
///
/// # Errors
/// `E0901` (cannot be read), `E0902` (a directory), `E0903` (too large), `E0904` (not UTF-8 text).
pub fn read(path: &Path) -> Result<String, Diagnostic> {
    if path == Path::new("-") {
        let stdin = std::io::stdin();
        return text(path, stdin.lock());
    }
    let (file, meta) = open(path)?;
    check_size(path, meta.len())?;
    text(path, file)
}

/// Reads the text of a file that an input names. This works as [`read`] does, but only for plain files.
///
/// # Errors
/// The same as those of [`read`].
pub fn read_plain_file(path: &Path) -> Result<String, Diagnostic> {
    // Opening a pipe would already wait for whoever writes to it.
    let meta = std::fs::metadata(path).map_err(|e| unreadable(path, &e))?;
    if !meta.is_file() && !meta.is_dir() {
        return Err(unreadable(path, &Error::new(ErrorKind::InvalidInput, "It is a device or a pipe")));
    }
    read(path)
}

/// The operating system's words for an error, without Rust's `(os error 2)`.
#[must_use]
pub fn plain(e: &Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn open(path: &Path) -> Result<(File, Metadata), Diagnostic> {
    let meta = std::fs::metadata(path).map_err(|e| unreadable(path, &e))?;
    if meta.is_dir() {
        return Err(Diagnostic::error(
            &codes::cli::IS_DIRECTORY,
            format!("`{}` is a directory, expected a file", path.display()),
        )
        .at(place(path), "")
        .help("name the kernel file itself; several files may be given"));
    }
    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
    Ok((file, meta))
}

/// Reads up to the limit, whatever size the file claims to have, because a device claims none.
fn text(path: &Path, from: impl Read) -> Result<String, Diagnostic> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| unreadable(path, &e))?;
    check_size(path, bytes.len() as u64)?;
    String::from_utf8(bytes)
        .map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            let help = foreign_encoding(e.as_bytes(), at);
            Diagnostic::error(
                &codes::cli::NOT_TEXT,
                format!("`{}` is not UTF-8 text: byte {at} starts no character", path.display()),
            )
            .at(place(path), "")
            .help(help)
        })
        .and_then(|text| match text.as_bytes() {
            [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Err(Diagnostic::error(
                &codes::cli::NOT_TEXT,
                format!("`{}` is not UTF-8 text: every second byte is 0", path.display()),
            )
            .at(place(path), "")
            .help("it looks like UTF-16: save it as UTF-8")),
            _ => Ok(text),
        })
}

/// What to do about bytes that are no UTF-8 from a place on.
fn foreign_encoding(bytes: &[u8], at: usize) -> String {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return "it looks like UTF-16: save it as UTF-8".to_owned();
    }
    if bytes.contains(&0) {
        return "kernel files and IR are text; was a compiled file named by mistake?".to_owned();
    }
    let line = bytes[..at].split(|&b| b == b'\n').count();
    format!("save it as UTF-8: line {line} has a character of another encoding, such as Latin-1")
}

fn place(path: &Path) -> Place {
    Place::File(path.to_string_lossy().into_owned())
}

fn unreadable(path: &Path, e: &Error) -> Diagnostic {
    Diagnostic::error(&codes::cli::CANNOT_READ, format!("cannot read `{}`: {}", path.display(), plain(e)))
        .at(place(path), "")
}

/// Refuses a text of `size` bytes if that is beyond [`MAX_BYTES`].
///
/// # Errors
/// `E0903`.
pub fn check_size(path: &Path, size: u64) -> Result<(), Diagnostic> {
    if size <= MAX_BYTES {
        return Ok(());
    }
    let text = format!("`{}` is too large: {size} bytes, at most {MAX_BYTES} are read", path.display());
    Err(Diagnostic::error(&codes::cli::TOO_LARGE, text).at(place(path), ""))
}
