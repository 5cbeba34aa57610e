//! How the layouts of an operation's results follow from those of its operands, and the other way around.
//!
//! A table entry states it, `layouts: LayoutRule::Reduced`; an operation whose traits say that all have one layout
//! need not. The layouts themselves are computed where passes ask for them.

use super::spec::{OpSpec, Traits};
use super::{Classes, OpKind};

/// How layouts follow from one another; each case is answered wherever a pass asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayoutRule {
    /// They do not: the operation chooses the layout of its results, or has no tensors.
    Own,
    /// All operands and results share one.
    Shared,
    /// As `Shared`, if it is blocked.
    Blocked,
    /// Control flow: a value keeps its own when it is handed on.
    Carried,
    /// The result's is a slice of the operand's, without the axis that is reduced.
    Reduced,
    /// The operand's is a slice of the result's, without the axis that is new.
    Expanded,
    /// The axes are permuted.
    Permuted,
    /// The elements keep their places, in row-major order, under another shape.
    Reshaped,
    /// The result has the elements of two operands side by side along a new last axis.
    Joined,
    /// The results are the halves along the last axis of the operand.
    Halved,
    /// Operand 1, the indices, and the result share one.
    Indexed,
    /// The result has two elements for each of the operand along an axis.
    Unpacked,
}

impl OpSpec {
    /// The rule that the entry states, or that follows from its traits.
    #[must_use]
    pub fn layout_rule(&self) -> LayoutRule {
        let one = Traits::SAME_OPERANDS_AND_RESULT_ENCODING;
        let shared = self.has(one) || self.has(Traits::ELEMENTWISE) || self.classes.contains(Classes::ATOMIC);
        if self.layouts == LayoutRule::Own && shared { LayoutRule::Shared } else { self.layouts }
    }
}

impl OpKind {
    /// How the layouts of results follow from those of operands.
    #[must_use]
    pub fn layout_rule(self) -> LayoutRule {
        self.spec().layout_rule()
    }
}
