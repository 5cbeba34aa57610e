//! The text of a document as it was at some moment: threads work on those.

use std::path::PathBuf;
use std::sync::Arc;

/// A text for an analysis.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) path: PathBuf,
    pub(super) on_disk: bool,
    pub(super) text: Arc<str>,
}
