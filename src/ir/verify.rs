//! The verifier: the rules that every module obeys. It runs after parsing and after every pass, so it is linear in the
//! module.
//!
//! # What is checked
//! 1. *Form* ([`structure`]), from the operation's table entry: how many operands, results, regions and successors; the
//!    type constraint of each; every attribute's presence and kind; one block where the entry says so; a terminator at
//!    the end of each block and nowhere else; what a branch passes to its successors.
//! 2. *Types of tensors* ([`types`]), at the operations of `tt`, `ttg` and `ttng`: sizes, and layouts against the
//!    module's `ttg.num-warps`, `ttg.threads-per-warp` and `ttg.num-ctas`. A value of a bad type is reported once.
//! 3. *Relations between types* ([`traits`]) that the entry's traits state: same type, same shape, same encoding.
//! 4. *The operation's own rules*: those on types in `OpSpec::types` ([`type_rules`]), then `OpSpec::verify`, found in
//!    `dialects::verify`. They run only on operations without a fault so far, and may take for granted what came
//!    before.
//! 5. *Layouts* of views ([`layouts`]) and what else needs their mathematics, when [`LayoutRules`] are given.
//! 6. *Dominance* ([`dominance`]): a value is used only where it is available, and not inside an operation that is
//!    isolated from above.
//! 7. *Symbols* ([`symbols`]): unique names; calls of functions that exist, with their types.
//! 8. In debug builds, *use lists* ([`uses`]): each operand is registered as a use and nothing else is.
//!
//! An operation gives at most one diagnostic, of its first fault, at its location; they come in the order of the text.
//!
//! ```text
//! %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<128xi32>
//! error[E0501]: `tt.make_range`: the range [0, 64) has 64 elements, and the result has 128
//! ```

mod dominance;
mod layouts;
mod structure;
mod symbols;
#[cfg(test)]
mod tests;
mod traits;
mod type_rules;
mod types;
mod uses;

use crate::diag::codes::verify as codes;
use crate::diag::{Code, Diagnostic, Place};
use crate::ir::core::entity::Entity;
use crate::ir::core::{Attr, Dominance, Ir, Loc, Op, Type};
use crate::ir::dialects::{BuiltinOp, OpKind};

/// What the verifier asks about layouts beyond the counts that an encoding states. The answers are in `layout`, which
/// `ir` may not import.
#[derive(Clone, Copy)]
pub struct LayoutRules {
    /// Whether a tensor's layout can lay out its shape, or why not.
    pub fits: fn(Type) -> Result<(), String>,
    /// Whether two layouts lay out a tensor of this shape alike.
    pub same: fn(&[i64], Attr, Attr) -> bool,
    /// The rules of one operation that need layouts, when all others hold.
    pub of_op: fn(&Ir, Op) -> Result<(), String>,
}

/// All faults of a module, in the order of its operations. There are none when it is valid.
#[must_use]
pub fn verify(ir: &Ir) -> Vec<Diagnostic> {
    Verifier::new(ir, None).run()
}

/// Does what [`verify`] does, with the rules on layouts that need their mathematics.
#[must_use]
pub fn verify_with_layouts(ir: &Ir, layouts: LayoutRules) -> Vec<Diagnostic> {
    Verifier::new(ir, Some(layouts)).run()
}

/// What an operation inherits from those around it.
#[derive(Clone, Copy)]
struct Context {
    /// The index into [`types::TypeRules::targets`].
    target: usize,
    /// The index of the symbols of the nearest module.
    symbols: usize,
}

struct Verifier<'a> {
    ir: &'a Ir,
    layouts: Option<LayoutRules>,
    faults: Vec<Diagnostic>,
    /// All operations of the module with what they inherit, parents first.
    order: Vec<(Op, Context)>,
    /// For each operation, its index in `order` plus 1. It is 0 for operations that are not in the module.
    position: Vec<u32>,
    types: types::TypeRules,
    symbols: Vec<symbols::Symbols>,
    dominance: Dominance,
}

impl<'a> Verifier<'a> {
    fn new(ir: &'a Ir, layouts: Option<LayoutRules>) -> Verifier<'a> {
        Verifier {
            ir,
            layouts,
            faults: vec![],
            order: vec![],
            position: vec![0; ir.op_capacity()],
            types: types::TypeRules::new(ir),
            symbols: vec![],
            dominance: Dominance::new(),
        }
    }

    fn run(mut self) -> Vec<Diagnostic> {
        self.number();
        for (op, context) in std::mem::take(&mut self.order) {
            self.check_op(op, context);
        }
        if cfg!(debug_assertions) {
            self.check_uses();
        }
        self.faults
    }

    /// Lists all operations, parents first. It has a stack of its own, because IR may be nested deeply.
    fn number(&mut self) {
        let ir = self.ir;
        let mut stack = vec![(ir.module(), Context { target: 0, symbols: 0 })];
        while let Some((op, mut context)) = stack.pop() {
            self.order.push((op, context));
            self.position[op.index()] = self.order.len() as u32;
            if ir.regions_of(op).is_empty() {
                continue;
            }
            if ir.is(op, BuiltinOp::Module) {
                self.collect_symbols(op);
                context.symbols = self.symbols.len() - 1;
            }
            context.target = self.types.target_inside(ir, op, context.target);
            for (index, &region) in ir.regions_of(op).iter().enumerate().rev() {
                let target = self.types.target_of_partition(ir, op, index, context.target);
                for &block in ir.blocks_of(region).iter().rev() {
                    let last = ir.last_op(block);
                    stack.extend(
                        std::iter::successors(last, |&o| ir.prev_op(o)).map(|o| (o, Context { target, ..context })),
                    );
                }
            }
        }
    }

    /// Checks an operation and keeps the first of its faults, because the others often follow from it.
    fn check_op(&mut self, op: Op, context: Context) {
        let before = self.faults.len();
        if matches!(self.ir.kind(op), OpKind::Unregistered(_)) {
            self.check_successors(op);
        } else {
            self.check_registered(op, context);
        }
        if self.faults.len() == before {
            self.check_operands_dominate(op);
        }
        self.faults.truncate(before + 1);
    }

    fn check_registered(&mut self, op: Op, context: Context) {
        let before = self.faults.len();
        self.check_structure(op);
        if self.faults.len() > before {
            return;
        }
        let sound = self.check_types(op, context);
        if self.faults.len() > before {
            return;
        }
        self.check_traits(op);
        let unfinished = self.has_unfinished_block(op);
        let own_rule = || self.ir.spec(op).verify.map_or(Ok(()), |rule| rule(self.ir, op));
        if sound
            && !unfinished
            && self.faults.len() == before
            && let Err(message) = self.type_rules(op).and_then(|()| own_rule())
        {
            self.fault(&codes::INVALID_OP, op, &message);
        }
        if sound && self.faults.len() == before {
            self.check_view(op);
        }
        self.check_call(op, context);
        if self.faults.len() == before {
            self.check_place(op);
        }
    }

    /// Records a fault of an operation. The message comes without the operation's name.
    fn fault(&mut self, code: &'static Code, op: Op, message: &str) {
        let diagnostic = Diagnostic::error(code, format!("`{}`: {message}", self.ir.op_name(op)));
        self.faults.push(at(diagnostic, self.ir.loc(op)));
    }
}

/// Points a diagnostic at a location, if that says where it is.
fn at(diagnostic: Diagnostic, loc: Loc) -> Diagnostic {
    match loc.file_line_col() {
        Some((file, line, col)) => diagnostic.at(Place::At { file: file.to_string(), line, col }, ""),
        None => diagnostic,
    }
}
