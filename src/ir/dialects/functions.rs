//! Questions about functions and calls.

use super::keys::Slot;
use super::keys::{Form, Key};
use super::tt::tt::{Call, Func};
use crate::ir::core::{AttrData, Ir, Op, Value, ValueDef};

impl Ir {
    /// The function that a call calls; `None` for any other operation, and where the module has no such function.
    #[must_use]
    pub fn callee(&self, op: Op) -> Option<Op> {
        self.function(Call::of(self, op)?.callee(self)?)
    }

    /// What an attribute of a function's parameter holds.
    #[must_use]
    pub fn param_attr<F: Form>(&self, func: Op, index: usize, key: Key<F>) -> Option<F::Read> {
        let AttrData::Dict(entries) = Func::of(self, func)?.arg_attrs(self)?.get(index)?.data() else { return None };
        key.find(entries)
    }

    /// As [`Ir::param_attr`], of a value that is a function's parameter.
    #[must_use]
    pub fn value_attr<F: Form>(&self, value: Value, key: Key<F>) -> Option<F::Read> {
        let ValueDef::Arg { block, index } = self.def(value) else { return None };
        let func = self.block_op(block).filter(|&f| self.body(f, 0) == Some(block))?;
        self.param_attr(func, index as usize, key)
    }

    /// The operands that a branch hands on to the successor of this index.
    #[must_use]
    pub fn successor_slot(&self, branch: Op, index: usize) -> Slot {
        // A condition comes before the groups of the successors.
        let before = self.spec(branch).operands.len().saturating_sub(self.spec(branch).successors);
        Slot::new(before + index)
    }

    /// What a branch hands on to the successor of this index.
    #[must_use]
    pub fn successor_operands(&self, branch: Op, index: usize) -> &[Value] {
        self.operand_group(branch, self.successor_slot(branch, index).group())
    }

    /// Whether a function is called by this module only.
    #[must_use]
    pub fn is_private(&self, func: Op) -> bool {
        Func::of(self, func).and_then(|f| f.sym_visibility(self)) == Some("private")
    }
}
