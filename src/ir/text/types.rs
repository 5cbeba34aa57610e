//! Types as text.

use crate::ir::core::Type;

/// Writes a type without aliases.
///
/// # Errors
/// When the writer fails.
pub fn write_type(f: &mut dyn std::fmt::Write, ty: Type) -> std::fmt::Result {
    write!(f, "{:?}", ty.data())
}
