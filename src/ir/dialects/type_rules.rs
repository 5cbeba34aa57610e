//! How the types of an operation's operands and results follow from one another, as data.
//!
//! A table entry states it once, `types: &[TypeRule::bits("mask", "src")]`, and two parts of the compiler act on it:
//! the reader of text fills in the types that the text leaves out ([`super::infer`]), and the verifier refuses types
//! that disagree (`ir::verify`).

use crate::ir::core::Type;

/// The type of one operand or result, by that of another. Both are called by their names in the entry.
pub struct TypeRule {
    pub value: &'static str,
    pub of: &'static str,
    pub relation: Relation,
}

/// How two types are related.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// They are equal.
    Same,
    /// The value has a bit for each element of the other, or of the block that the other points at.
    Bits,
    /// The value has a 32-bit integer for each element of the other.
    Indices,
    /// The value is what is read or written through the other: a scalar pointer, a tensor of pointers or a block
    /// pointer.
    Accessed,
}

impl TypeRule {
    /// Both have one type.
    #[must_use]
    pub const fn same(value: &'static str, of: &'static str) -> TypeRule {
        TypeRule { value, of, relation: Relation::Same }
    }

    /// `value` is a mask of `of`; see [`Relation::Bits`].
    #[must_use]
    pub const fn bits(value: &'static str, of: &'static str) -> TypeRule {
        TypeRule { value, of, relation: Relation::Bits }
    }

    /// `value` has offsets for `of`; see [`Relation::Indices`].
    #[must_use]
    pub const fn indices(value: &'static str, of: &'static str) -> TypeRule {
        TypeRule { value, of, relation: Relation::Indices }
    }

    /// `value` is what is accessed through `of`; see [`Relation::Accessed`].
    #[must_use]
    pub const fn accessed(value: &'static str, of: &'static str) -> TypeRule {
        TypeRule { value, of, relation: Relation::Accessed }
    }

    /// The type that `value` has where `of` has this one, in two parts, so that asking makes no type: one that has the
    /// shape and the layout, and the type of the elements.
    ///
    /// # Errors
    /// Why there is no such type.
    pub fn parts(&self, of: Type) -> Result<(Type, Type), String> {
        let block = of.pointee().filter(|p| p.is_tensor());
        match (self.relation, of.elem().pointee()) {
            (Relation::Same, _) => Ok((of, of.elem())),
            (Relation::Bits, _) => Ok((block.unwrap_or(of), Type::int(1))),
            (Relation::Indices, _) => Ok((of, Type::int(32))),
            (Relation::Accessed, Some(pointee)) => Ok(block.map_or((of, pointee), |block| (block, block.elem()))),
            (Relation::Accessed, None) => Err(format!(
                "the address has type {of}, expected a pointer, a tensor of pointers or a pointer to a tensor"
            )),
        }
    }

    /// Whether `value` may have the type `found` where `of` has this one.
    ///
    /// # Errors
    /// What disagrees.
    pub fn check(&self, of: Type, found: Type) -> Result<(), String> {
        let (like, elem) = self.parts(of)?;
        let (value, source) = (self.value.trim_end_matches('_'), self.of.trim_end_matches('_'));
        match self.relation {
            Relation::Same if found == of => Ok(()),
            Relation::Bits | Relation::Indices | Relation::Accessed if is_like(found, like, elem) => Ok(()),
            Relation::Same => Err(format!("`{value}` has type {found}, expected {of}, which `{source}` has")),
            Relation::Bits | Relation::Indices => {
                Err(format!("`{value}` has type {found}, expected {}", like.with_elem(elem)))
            }
            Relation::Accessed => {
                Err(format!("it accesses {} through {of}, and `{value}` has type {found}", like.with_elem(elem)))
            }
        }
    }
}

/// Whether `ty` is `like` with elements of type `elem`; makes no type, since rules run after every pass.
#[must_use]
pub fn is_like(ty: Type, like: Type, elem: Type) -> bool {
    match (ty.as_tensor(), like.as_tensor()) {
        (Some(a), Some(b)) => a.elem == elem && a.shape == b.shape && a.encoding == b.encoding,
        (None, None) => ty == elem,
        _ => false,
    }
}
