//! Attributes as text.

use crate::ir::core::Attr;

/// Writes an attribute without aliases.
///
/// # Errors
/// When the writer fails.
pub fn write_attr(f: &mut dyn std::fmt::Write, attr: Attr) -> std::fmt::Result {
    write!(f, "{:?}", attr.data())
}
