//! The open documents: their texts as the client sees them, and what is known of each.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use super::analysis::Analysis;
use super::compiled::Compiled;
use super::positions::Encoding;
use super::snapshot::Snapshot;
use super::uri;

/// An open document.
pub(super) struct Document {
    pub(super) uri: Uri,
    /// Its path, or a name with an extension if it is not saved.
    pub(super) path: PathBuf,
    /// Whether there is such a file, next to which imports are looked for.
    pub(super) on_disk: bool,
    pub(super) version: i32,
    pub(super) text: Arc<str>,
    /// The analysis of this version or of an older one.
    pub(super) analysis: Option<Arc<Analysis>>,
    /// What compiling gave, the last time.
    pub(super) compiled: Option<Compiled>,
    /// Stops the work on the version before.
    pub(super) stop: Arc<AtomicBool>,
}

impl Document {
    /// A document that was opened. `language` is the client's word for what it holds.
    #[must_use]
    pub(super) fn new(uri: Uri, language: &str, version: i32, text: String) -> Document {
        let path = uri::to_path(&uri);
        let on_disk = path.is_some();
        let extension = match language {
            "ttir" | "ttgir" => language,
            "python" => "py",
            _ => "tk",
        };
        let path = path.unwrap_or_else(|| PathBuf::from(format!("untitled.{extension}")));
        let (text, stop) = (text.into(), Arc::default());
        Document { uri, path, on_disk, version, text, analysis: None, compiled: None, stop }
    }

    /// Applies changes in their order.
    pub(super) fn change(&mut self, encoding: Encoding, changes: Vec<TextDocumentContentChangeEvent>) {
        let mut text = self.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let lo = encoding.offset(&text, range.start);
                    let hi = encoding.offset(&text, range.end).max(lo);
                    text.replace_range(lo..hi, &change.text);
                }
            }
        }
        self.text = text.into();
    }

    /// The analysis of the text as it is now.
    #[must_use]
    pub(super) fn fresh(&self) -> Option<&Arc<Analysis>> {
        self.analysis.as_ref().filter(|a| a.version == self.version)
    }
}

/// All open documents by URI.
#[derive(Default)]
pub(super) struct Documents(pub(super) BTreeMap<String, Document>);

impl Documents {
    #[must_use]
    pub(super) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.0.get(uri.as_str())
    }

    pub(super) fn get_mut(&mut self, uri: &Uri) -> Option<&mut Document> {
        self.0.get_mut(uri.as_str())
    }

    /// The texts of all documents that are files: what imports read instead of what is on the disk.
    #[must_use]
    pub(super) fn snapshots(&self) -> Vec<Snapshot> {
        let snapshot = |d: &Document| Snapshot { path: d.path.clone(), on_disk: d.on_disk, text: d.text.clone() };
        self.0.values().map(snapshot).collect()
    }
}
