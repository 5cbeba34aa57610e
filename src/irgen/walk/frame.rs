//! The state of one function that is being lowered or evaluated.

use std::sync::Arc;

use super::scope::Scope;
use crate::ir::{Block, Loc, Region};
use crate::irgen::value::{Object, ObjectType};
use crate::source::Span;

/// A `return` whose operation is made once the function's type is known.
pub(super) struct Return {
    pub(super) block: Block,
    pub(super) loc: Loc,
    pub(super) value: Object,
    pub(super) span: Span,
}

/// How a compile-time loop is left early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Jump {
    Break,
    Continue,
}

/// One function being lowered.
pub(super) struct Frame {
    pub(super) module: usize,
    /// Tells frames apart: no other one has had it.
    pub(super) number: u32,
    pub(super) scope: Scope,
    /// The names that it sees of the functions around it.
    pub(super) outer: Scope,
    /// Names that are the function's own, or of those around it, whether they have a value yet or not: the file's value
    /// is not meant.
    pub(super) own: Vec<Arc<str>>,
    /// Names set since the innermost branch or loop began.
    pub(super) defs: Vec<Arc<str>>,
    /// `x: tl.constexpr` without a value.
    pub(super) pending: Vec<Arc<str>>,
    pub(super) returns: Vec<Return>,
    /// The types of what would be returned behind a `return` that a compile-time `if` runs.
    pub(super) behind: Vec<ObjectType>,
    /// Of the function's body; `None` while a constant is evaluated.
    pub(super) region: Option<Region>,
    /// Whether a statement of the file itself is evaluated, which sees what is bound above it.
    pub(super) statement: bool,
    /// Where in the file the statement stands that is on its way, if a function that it calls is evaluated.
    pub(super) before: Option<u32>,
    /// How many loops are around this place.
    pub(super) loops: u32,
    /// Evaluated at compile time like plain Python: assignments keep constants, loops run.
    pub(super) host: bool,
    /// Names bound only inside a loop or one branch that is over: for messages.
    pub(super) lost: Vec<Arc<str>>,
    /// Those of them that had another value before, or are the variable of a loop: the file's value is not meant.
    pub(super) hiding: Vec<Arc<str>>,
    /// What a function evaluated at compile time returned.
    pub(super) host_result: Option<Object>,
    /// A `break` or `continue` of a compile-time loop that is on its way.
    pub(super) jump: Option<Jump>,
}

impl Frame {
    #[must_use]
    pub(super) fn new(number: u32, module: usize, region: Option<Region>, host: bool) -> Frame {
        Frame {
            module,
            number,
            scope: Scope::default(),
            outer: Scope::default(),
            own: vec![],
            defs: vec![],
            pending: vec![],
            returns: vec![],
            behind: vec![],
            region,
            statement: false,
            before: None,
            loops: 0,
            host,
            lost: vec![],
            hiding: vec![],
            host_result: None,
            jump: None,
        }
    }

    /// The value of a name here or in the functions around.
    #[must_use]
    pub(super) fn local(&self, name: &str) -> Option<&Object> {
        let is_own = || self.own.iter().any(|own| &**own == name);
        self.scope.get(name).or_else(|| self.outer.get(name).filter(|_| !is_own()))
    }

    /// Whether a name is one of the function or of those around it, with a value or without.
    #[must_use]
    pub(super) fn binds(&self, name: &str) -> bool {
        self.local(name).is_some() || self.own.iter().chain(&self.hiding).any(|own| &**own == name)
    }

    /// All names with values.
    #[must_use]
    pub(super) fn visible(&self) -> Scope {
        let mut all = self.scope.clone();
        for (name, v) in self.outer.iter() {
            if self.scope.get(name).is_none() && !self.own.contains(name) {
                all.set(name, v.clone());
            }
        }
        all
    }
}
