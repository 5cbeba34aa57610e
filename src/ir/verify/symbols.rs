//! Checks the symbols of a module. Each name comes once, and calls are of functions that exist, with the types that
//! these have.

use std::collections::BTreeMap;

use super::structure::count;
use super::{Context, Verifier};
use crate::diag::codes::verify as codes;
use crate::ir::core::{Op, Type, TypeData, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::spec::Traits;

/// The symbols that one module defines.
pub(super) type Symbols = BTreeMap<&'static str, Op>;

impl Verifier<'_> {
    /// Adds the table of a module.
    pub(super) fn collect_symbols(&mut self, module: Op) {
        let ir = self.ir;
        let mut symbols = Symbols::new();
        let blocks = ir.regions_of(module).iter().flat_map(|&r| ir.blocks_of(r));
        for op in blocks.flat_map(|&b| ir.ops(b)).filter(|&op| ir.spec(op).has(Traits::SYMBOL)) {
            let Some(name) = ir.str_attr(op, "sym_name") else { continue };
            if symbols.contains_key(name) {
                self.fault(&codes::INVALID_SYMBOL, op, &format!("the module already has a symbol @{name}"));
            } else {
                symbols.insert(name, op);
            }
        }
        self.symbols.push(symbols);
    }

    pub(super) fn check_call(&mut self, op: Op, context: Context) {
        let ir = self.ir;
        if !ir.is(op, TtOp::Call) {
            return;
        }
        // A missing callee is a fault of the attribute.
        let Some(name) = ir.str_attr(op, "callee") else { return };
        let callee =
            self.symbols.get(context.symbols).and_then(|s| s.get(name)).copied().filter(|&f| ir.kind(f).is_function());
        let Some(callee) = callee else {
            self.fault(&codes::INVALID_SYMBOL, op, &format!("the module has no function @{name}"));
            return;
        };
        let signature =
            ir.stored_attr(callee, "function_type").and_then(super::super::core::attrs::Attr::as_type).map(Type::data);
        let Some(TypeData::Function { inputs, results }) = signature else { return };
        self.check_side(op, name, "argument", ir.operands(op), inputs);
        self.check_side(op, name, "result", ir.results(op), results);
    }

    fn check_side(&mut self, op: Op, name: &str, what: &str, found: &[Value], expected: &[Type]) {
        if found.len() != expected.len() {
            let message = format!("it has {}, and @{name} has {}", count(found.len(), what), expected.len());
            self.fault(&codes::INVALID_SYMBOL, op, &message);
            return;
        }
        for (index, (&value, &ty)) in found.iter().zip(expected).enumerate() {
            let has = self.ir.ty(value);
            if has != ty {
                self.fault(
                    &codes::INVALID_SYMBOL,
                    op,
                    &format!("{what} #{index} has type {has}, and that of @{name} has type {ty}"),
                );
            }
        }
    }
}
