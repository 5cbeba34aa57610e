//! URIs of files, both ways.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The path of a `file:` URI.
#[must_use]
pub(super) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // A host may stand before the path.
    let path = &rest[rest.find('/')?..];
    let mut bytes = vec![];
    let mut at = path.bytes();
    while let Some(b) = at.next() {
        if b == b'%' {
            let hex = [at.next()?, at.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
        } else {
            bytes.push(b);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/C:/x` is `C:/x`.
    let drive = text.as_bytes().get(2) == Some(&b':') && text.as_bytes()[1].is_ascii_alphabetic();
    Some(PathBuf::from(if drive { &text[1..] } else { &text }))
}

/// The URI of a file.
#[must_use]
pub(super) fn of_path(path: &Path) -> Option<Uri> {
    let absolute = std::path::absolute(path).ok()?;
    let mut text = "file://".to_owned();
    let path = absolute.to_str()?.replace('\\', "/");
    if !path.starts_with('/') {
        text.push('/');
    }
    for b in path.bytes() {
        if b.is_ascii_alphanumeric() || b"/-._~:".contains(&b) {
            text.push(b as char);
        } else {
            text.push_str(&format!("%{b:02X}"));
        }
    }
    Uri::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for path in ["/home/me/add.tk", "/a b/é#1?.py", "/100%/k.tk"] {
            let uri = of_path(Path::new(path)).unwrap();
            assert_eq!(to_path(&uri).unwrap(), PathBuf::from(path), "{}", uri.as_str());
        }
        assert_eq!(to_path(&Uri::from_str("untitled:Untitled-1").unwrap()), None);
        assert_eq!(to_path(&Uri::from_str("file:///c:/k.tk").unwrap()), Some("c:/k.tk".into()));
    }
}
