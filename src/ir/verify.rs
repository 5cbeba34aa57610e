//! The verifier: the rules every module obeys.
//!
//! It runs after every pass, so each step is linear in the size of the module:
//! 1. number the operations of each block, which makes "stands before" a comparison;
//! 2. per operation, parents first: its table ([`table`]: counts, types, attributes, regions, terminators, successors), its traits ([`traits`]),
//!    its tensors' sizes and layouts ([`layouts`]), and the hook that its table names (`dialects::verify`); the first fault of an operation
//!    hides its others, which mostly follow from it;
//! 3. every operand is defined where it is used ([`values`]);
//! 4. symbols are unique.
//!
//! One diagnostic a fault, at the operation's own location: `` `tt.splat`: the source must be the result's element `f32`, found `i32` ``.

mod layouts;
mod table;
mod traits;
mod values;

use std::collections::{BTreeMap, HashSet};

use crate::diag::codes::verify as codes;
use crate::diag::{Code, Diagnostic, Place};
use crate::ir::core::{Ir, Loc, Op, Region, Type};
use crate::ir::dialects::{OpKind, Traits, TtgOp};

/// Checks a module; one diagnostic a fault, in the order of the text.
#[must_use]
pub fn verify(ir: &Ir) -> Vec<Diagnostic> {
    let mut v = Verifier {
        ir,
        faults: vec![],
        order: values::Order::new(ir),
        target: layouts::Target::of_module(ir),
        good_types: HashSet::new(),
        good_layouts: HashSet::new(),
    };
    v.op(ir.module());
    v.symbols();
    v.faults
}

struct Verifier<'a> {
    ir: &'a Ir,
    faults: Vec<Diagnostic>,
    order: values::Order,
    /// Warps and threads that layouts must fill, of the partition that is being checked.
    target: Option<layouts::Target>,
    /// Types whose size is fine, and with their target, whose layout is.
    good_types: HashSet<Type>,
    good_layouts: HashSet<(Type, layouts::Target)>,
}

/// A fault without its operation: the code and the message.
type Fault = (&'static Code, String);

impl Verifier<'_> {
    fn op(&mut self, op: Op) {
        if let Err((code, message)) = self.check(op) {
            let message = format!("`{}`: {message}", self.ir.op_name(op));
            self.faults.push(fault_at(self.ir.loc(op), code, message));
        }
        let regions = self.ir.regions_of(op);
        for (i, &region) in regions.iter().enumerate() {
            let saved = self.target;
            if let Some(target) = &mut self.target
                && let Some(warps) = partition_warps(self.ir, op, i)
            {
                target.warps = warps;
            }
            self.region(region);
            self.target = saved;
        }
    }

    fn region(&mut self, region: Region) {
        for &block in self.ir.blocks_of(region) {
            for op in self.ir.ops(block) {
                self.op(op);
            }
        }
    }

    /// The first fault of one operation.
    fn check(&mut self, op: Op) -> Result<(), Fault> {
        let invalid = |message| (&codes::INVALID_OP, message);
        table::regions(self.ir, op).map_err(invalid)?;
        if !matches!(self.ir.kind(op), OpKind::Unregistered(_)) {
            table::operands(self.ir, op).map_err(invalid)?;
            table::attributes(self.ir, op).map_err(|m| (&codes::INVALID_ATTRIBUTE, m))?;
            table::successors(self.ir, op).map_err(invalid)?;
            traits::check(self.ir, op).map_err(|m| (&codes::TYPE_RULE, m))?;
            self.sizes(op)?;
            self.layouts(op)?;
        }
        self.order.check(self.ir, op).map_err(|m| (&codes::NOT_DOMINATED, m))?;
        match self.ir.spec(op).verify {
            Some(hook) => hook(self.ir, op).map_err(invalid),
            None => Ok(()),
        }
    }

    /// Tensors of `tt` operations have a power of two of elements, and not too many.
    fn sizes(&mut self, op: Op) -> Result<(), Fault> {
        if !matches!(self.ir.kind(op), OpKind::Tt(_)) {
            return Ok(());
        }
        for &value in self.ir.operands(op).iter().chain(self.ir.results(op)) {
            let ty = self.ir.ty(value);
            if ty.is_tensor() && !self.good_types.contains(&ty) {
                layouts::size(ty).map_err(|m| (&codes::TENSOR_SIZE, m))?;
                self.good_types.insert(ty);
            }
        }
        Ok(())
    }

    /// Layouts fill the warps and threads that the module has.
    fn layouts(&mut self, op: Op) -> Result<(), Fault> {
        let Some(target) = self.target else { return Ok(()) };
        for &value in self.ir.operands(op).iter().chain(self.ir.results(op)) {
            let ty = self.ir.ty(value);
            if ty.encoding().is_some() && !self.good_layouts.contains(&(ty, target)) {
                layouts::layout(ty, target).map_err(|m| (&codes::LAYOUT, m))?;
                self.good_layouts.insert((ty, target));
            }
        }
        Ok(())
    }

    fn symbols(&mut self) {
        let mut seen: BTreeMap<&str, Op> = BTreeMap::new();
        for op in self.ir.ops(self.ir.module_block()) {
            if !self.ir.kind(op).has(Traits::SYMBOL) {
                continue;
            }
            let Some(name) = self.ir.str_attr(op, "sym_name") else { continue };
            if seen.insert(name, op).is_some() {
                let message = format!("`{}`: the symbol `@{name}` is defined twice", self.ir.op_name(op));
                self.faults.push(fault_at(self.ir.loc(op), &codes::SYMBOL, message));
            }
        }
    }
}

/// How many warps run region `index` of an operation, where that is not what runs the operation.
fn partition_warps(ir: &Ir, op: Op, index: usize) -> Option<u64> {
    if !ir.is(op, TtgOp::WarpSpecializePartitions) {
        return None;
    }
    let outer = ir.parent_op(op)?;
    let warps = ir.attr(outer, "partitionNumWarps")?.as_dense_array()?;
    u64::try_from(*warps.get(index)?).ok()
}

fn fault_at(loc: Loc, code: &'static Code, message: String) -> Diagnostic {
    let d = Diagnostic::error(code, message);
    match loc.file_line_col() {
        Some((file, line, col)) => d.at(Place::At { file: file.as_str().to_owned(), line, col }, ""),
        None => d,
    }
}
