//! One program instance: walks the operations of the kernel with a table of values.
//!
//! A block runs from its first operation to its terminator, which says what happens next ([`Flow`]). Operations with regions (loops,
//! conditionals, reductions) run their blocks through [`Program::block`]; branches between blocks are followed in [`Program::region`].
//! Functions cannot call themselves, so one table serves all of them.

use super::access::Shared;
use super::fault::{self, Fault};
use super::ops;
use super::races::Ranges;
use super::render;
use super::value::Val;
use super::{Printed, Traced};
use crate::diag::Code;
use crate::diag::codes::interp as codes;
use crate::ir::core::entity::Entity;
use crate::ir::{Block, Ir, Op, OpKind, Region, Value};

/// What a program leaves besides its stores.
pub(crate) struct Outcome {
    pub(crate) printed: Vec<Printed>,
    pub(crate) traced: Vec<Traced>,
    pub(crate) ops: u64,
}

/// Where control goes at the end of a block.
pub(crate) enum Flow {
    /// Out of the region, with these values: yields, returns of functions and combining regions.
    Leave(Vec<Val>),
    /// `scf.condition`
    Condition(bool, Vec<Val>),
    Branch(Block, Vec<Val>),
}

pub(crate) struct Program<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) ir: &'a Ir,
    pub(crate) pid: [u32; 3],
    /// Linear program id.
    pub(crate) id: u32,
    /// The programs that are known to have come before this one.
    pub(crate) before: Ranges,
    pub(crate) printed: Vec<Printed>,
    /// The functions that are running.
    pub(crate) stack: Vec<Op>,
    values: Vec<Option<Val>>,
    traced: Vec<Traced>,
    traces: bool,
    ops: u64,
}

impl<'a> Program<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>) -> Program<'a> {
        Program {
            shared,
            ir: shared.ir,
            pid: [0; 3],
            id: 0,
            before: Ranges::default(),
            printed: vec![],
            stack: vec![],
            values: vec![None; shared.plan.values],
            traced: vec![],
            traces: false,
            ops: 0,
        }
    }

    /// Runs the program with this linear id from the start.
    pub(crate) fn run(&mut self, kernel: Op, id: u32, args: &[Val]) -> Result<Outcome, Fault> {
        let [gx, gy, _] = self.shared.grid;
        self.pid = [id % gx, id / gx % gy, id / gx / gy];
        self.id = id;
        self.before = Ranges::default();
        self.stack = vec![kernel];
        self.ops = 0;
        self.traces = self.shared.options.trace.as_ref().is_some_and(|t| t.program == self.pid);
        let body = self.ir.region(kernel, 0);
        self.region(body, args.to_vec())?;
        Ok(Outcome { printed: std::mem::take(&mut self.printed), traced: std::mem::take(&mut self.traced), ops: self.ops })
    }

    /// Runs a region from its first block, following branches, until control leaves it.
    pub(crate) fn region(&mut self, region: Region, args: Vec<Val>) -> Result<Vec<Val>, Fault> {
        let Some(mut block) = self.ir.entry(region) else { return Ok(vec![]) };
        let mut args = args;
        loop {
            match self.block(block, args)? {
                Flow::Leave(values) | Flow::Condition(_, values) => return Ok(values),
                Flow::Branch(to, values) => (block, args) = (to, values),
            }
        }
    }

    /// Runs one block.
    pub(crate) fn block(&mut self, block: Block, args: Vec<Val>) -> Result<Flow, Fault> {
        for (&param, arg) in self.ir.args(block).iter().zip(args) {
            self.set(param, arg);
        }
        let ir = self.ir;
        for op in ir.ops(block) {
            self.ops += 1;
            if self.ops > self.shared.options.max_ops {
                let limit = self.shared.options.max_ops;
                return Err(self.fault(
                    op,
                    &codes::TOO_LONG,
                    format!("the program ran more than {limit} operations"),
                    "still running here",
                ));
            }
            if ir.kind(op).is_terminator() {
                return ops::control::terminator(self, op);
            }
            self.op(op)?;
            if self.traces {
                self.trace(op);
            }
        }
        Ok(Flow::Leave(vec![]))
    }

    /// Runs one operation that is no terminator.
    fn op(&mut self, op: Op) -> Result<(), Fault> {
        match self.ir.kind(op) {
            OpKind::Arith(kind) => {
                let v = ops::arith::eval(self, op, kind)?;
                self.set(self.ir.result(op), v);
                Ok(())
            }
            OpKind::Math(kind) => {
                let v = ops::math::eval(self, op, kind);
                self.set(self.ir.result(op), v);
                Ok(())
            }
            OpKind::Tt(kind) => ops::tt::eval(self, op, kind),
            OpKind::Scf(kind) => ops::control::scf(self, op, kind),
            OpKind::Cf(kind) => ops::control::cf(self, op, kind),
            OpKind::Ub(kind) => {
                ops::control::ub(self, op, kind);
                Ok(())
            }
            // An assumption is a promise to the optimiser; it changes nothing.
            OpKind::Llvm(crate::ir::LlvmOp::Assume) => Ok(()),
            OpKind::Ttg(kind) => ops::ttg::ttg(self, op, kind),
            OpKind::Ttng(kind) => ops::ttg::ttng(self, op, kind),
            OpKind::Builtin(_) | OpKind::Unregistered(_) => Err(self.unsupported(op, "")),
        }
    }

    /// The value that an SSA value holds now. The verifier has seen to it that there is one.
    pub(crate) fn get(&self, value: Value) -> Val {
        self.values.get(value.index()).and_then(Clone::clone).unwrap_or_else(|| Val::splat(0))
    }

    /// Operand `index` of an operation.
    pub(crate) fn operand(&self, op: Op, index: usize) -> Val {
        self.get(self.ir.operand(op, index))
    }

    /// The only value of an operand group, if there is one.
    pub(crate) fn optional(&self, op: Op, group: usize) -> Option<Val> {
        self.ir.operand_group(op, group).first().map(|&v| self.get(v))
    }

    /// The values of an operand group.
    pub(crate) fn group(&self, op: Op, group: usize) -> Vec<Val> {
        self.ir.operand_group(op, group).iter().map(|&v| self.get(v)).collect()
    }

    pub(crate) fn set(&mut self, value: Value, v: Val) {
        if let Some(slot) = self.values.get_mut(value.index()) {
            *slot = Some(v);
        }
    }

    pub(crate) fn set_results(&mut self, op: Op, values: Vec<Val>) {
        for (&r, v) in self.ir.results(op).iter().zip(values) {
            self.set(r, v);
        }
    }

    /// A fault of this program at an operation.
    pub(crate) fn fault(&self, op: Op, code: &'static Code, message: String, label: &str) -> Fault {
        Box::new(fault::at(self.ir, op, code, format!("{message}, in {}", fault::program(self.pid)), label))
    }

    pub(crate) fn unsupported(&self, op: Op, why: &str) -> Fault {
        let name = self.ir.op_name(op);
        let message = if why.is_empty() {
            format!("the interpreter cannot run `{name}`")
        } else {
            format!("the interpreter cannot run `{name}`: {why}")
        };
        Box::new(fault::at(self.ir, op, &codes::UNSUPPORTED_OP, message, "this operation"))
    }

    /// Records the results of an operation on the traced line.
    fn trace(&mut self, op: Op) {
        let Some(wanted) = &self.shared.options.trace else { return };
        let loc = self.ir.loc(op);
        let Some((file, line, col)) = loc.file_line_col() else { return };
        if line != wanted.line || wanted.file.as_ref().is_some_and(|f| !file.as_str().ends_with(f.as_str())) {
            return;
        }
        for &result in self.ir.results(op) {
            let ty = self.ir.ty(result);
            let text = render::tensor(ty, &self.get(result));
            let name = loc.value_name().map(|n| n.as_str().to_owned());
            self.traced.push(Traced { line, col, name, op: self.ir.op_name(op), ty, text });
        }
    }
}
