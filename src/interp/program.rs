//! One program instance: walks the operations of the kernel with a table of values.
//!
//! A block runs from its first operation to its terminator, which says what happens next ([`Flow`]). Operations with
//! regions (loops, conditionals, reductions) run their blocks through [`Program::block`]; branches between blocks are
//! followed in [`Program::region`]. Functions cannot call themselves, so one table serves all of them. What an
//! operation does is told by its family, which a program reaches through [`Families`].
//!
//! Work is counted, not operations alone (`kernel_facts.rs` says what each one costs), so that the limit bounds the
//! time that a program takes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::fault::{self, Fault};
use super::lines::Lines;
use super::races::Ranges;
use super::render;
use super::report::Traced;
use super::shared::Shared;
use super::undef::Undef;
use super::value::{Lanes, Val};
use crate::diag::Code;
use crate::diag::codes::interp as codes;
use crate::ir::core::entity::Entity;
use crate::ir::{Block, Ir, Op, Region, Value};

/// What a program leaves beside its stores.
pub(crate) struct Outcome {
    pub(crate) printed: Lines<String>,
    pub(crate) traced: Lines<Traced>,
    pub(crate) ops: u64,
    pub(crate) work: u64,
    /// Whether the program had a fault and went on.
    pub(crate) faulty: bool,
}

/// Where control goes at the end of a block.
pub(crate) enum Flow {
    /// Out of the region, with these values: yields, returns of functions and combining regions.
    Leave(Vec<Val>),
    /// `scf.condition`
    Condition(bool, Vec<Val>),
    Branch(Block, Vec<Val>),
}

/// What operations do, whatever their kind. The families of operations know this file, so it does not know them.
#[derive(Clone, Copy)]
pub(crate) struct Families {
    /// Runs an operation that is no terminator, and checks its results.
    pub(crate) run: fn(&mut Program<'_>, Op) -> Result<(), Fault>,
    /// Runs a terminator, which says where control goes.
    pub(crate) leave: fn(&mut Program<'_>, Op) -> Result<Flow, Fault>,
}

/// A loop that is running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) op: Op,
    /// How many iterations have begun.
    pub(crate) iterations: u64,
    /// How much the program had spent when the loop began.
    pub(crate) since: u64,
}

pub(crate) struct Program<'a> {
    pub(crate) shared: &'a Shared<'a>,
    families: Families,
    pub(crate) ir: &'a Ir,
    pub(crate) pid: [u32; 3],
    /// The linear id of the program.
    pub(crate) id: u32,
    /// The programs that are known to have come before this one.
    pub(crate) before: Ranges,
    pub(crate) printed: Lines<String>,
    /// The functions that are running.
    pub(crate) stack: Vec<Op>,
    /// The calls by which they run.
    pub(crate) calls: Vec<Op>,
    /// The `scf.while` and `scf.for` that are running, from the outermost on.
    pub(crate) loops: Vec<Loop>,
    /// Whether any element has been left undefined so far.
    pub(crate) undefined: Cell<bool>,
    /// How many times this program has changed memory.
    pub(crate) changes: Cell<u64>,
    /// The faults of this program that do not stop it, by place and code.
    reported: RefCell<BTreeSet<(Op, &'static str)>>,
    values: Vec<Option<Val>>,
    /// The bytes of the elements in `values`.
    held: u64,
    traced: Lines<Traced>,
    traces: bool,
    ops: u64,
    pub(crate) work: u64,
}

impl<'a> Program<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, families: Families) -> Program<'a> {
        Program {
            shared,
            families,
            ir: shared.ir,
            pid: [0; 3],
            id: 0,
            before: Ranges::default(),
            printed: Lines::default(),
            stack: vec![],
            calls: vec![],
            loops: vec![],
            undefined: Cell::new(false),
            changes: Cell::new(0),
            reported: RefCell::default(),
            values: vec![None; shared.facts.values],
            held: 0,
            traced: Lines::default(),
            traces: false,
            ops: 0,
            work: 0,
        }
    }

    /// Runs the program with this linear id from the start.
    pub(crate) fn run(&mut self, kernel: Op, id: u32, args: &[Val]) -> Result<Outcome, Fault> {
        let [gx, gy, _] = self.shared.grid;
        self.pid = [id % gx, id / gx % gy, id / gx / gy];
        self.id = id;
        self.before = Ranges::default();
        self.stack = vec![kernel];
        (self.ops, self.work) = (0, 0);
        self.loops.clear();
        self.calls.clear();
        self.undefined.set(false);
        self.reported.borrow_mut().clear();
        (self.printed, self.traced) = (Lines::default(), Lines::default());
        self.traces = self.shared.options.trace.as_ref().is_some_and(|t| t.program == self.pid);
        let body = self.ir.region(kernel, 0);
        self.region(body, args.to_vec())?;
        Ok(Outcome {
            printed: std::mem::take(&mut self.printed),
            traced: std::mem::take(&mut self.traced),
            ops: self.ops,
            work: self.work,
            faulty: !self.reported.borrow().is_empty(),
        })
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
            self.spend(op, self.shared.facts.cost(op))?;
            if ir.kind(op).is_terminator() {
                return (self.families.leave)(self, op);
            }
            (self.families.run)(self, op)?;
            if self.traces {
                self.trace(op);
            }
        }
        Ok(Flow::Leave(vec![]))
    }

    /// The present value of an SSA value. The verifier has seen to it that there is one.
    pub(crate) fn get(&self, value: Value) -> Val {
        self.values.get(value.index()).and_then(Clone::clone).unwrap_or_else(|| Val::splat(0))
    }

    /// The operands of an operation that has `N` of them.
    pub(crate) fn operands<const N: usize>(&self, op: Op) -> [Val; N] {
        self.ir.all_operands(op).map(|v| self.get(v))
    }

    /// The value of an operand that may be absent.
    pub(crate) fn optional(&self, value: Option<Value>) -> Option<Val> {
        value.map(|v| self.get(v))
    }

    /// The values of a group of operands.
    pub(crate) fn all(&self, values: &[Value]) -> Vec<Val> {
        values.iter().map(|&v| self.get(v)).collect()
    }

    pub(crate) fn set(&mut self, value: Value, v: Val) {
        if let Some(slot) = self.values.get_mut(value.index()) {
            let bytes = |v: &Val| if let Lanes::Full(l) = &v.lanes { 8 * l.len() as u64 } else { 0 };
            self.held = self.held + bytes(&v) - slot.as_ref().map_or(0, bytes);
            *slot = Some(v);
        }
    }

    /// The bytes of the elements of all values.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Notes which elements of a value are undefined.
    pub(crate) fn set_undef(&mut self, value: Value, undef: Option<Arc<Undef>>) {
        if let Some(Some(v)) = self.values.get_mut(value.index()) {
            v.undef = undef;
        }
    }

    /// Notes a store, and whether it has changed anything.
    #[inline]
    pub(crate) fn wrote(&self, changed: bool) {
        if changed {
            self.changes.set(self.changes.get() + 1);
        }
    }

    /// Reports a fault with which the program can go on. It is noted, or it ends the program where one fault is all
    /// that is asked for.
    pub(crate) fn report(&self, op: Op, code: &'static Code, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
        if self.shared.options.max_faults <= 1 {
            return Err(fault());
        }
        let order = self.reported.borrow().len();
        if self.reported.borrow_mut().insert((op, code.id)) {
            self.shared.faults.add((op, code.id), (self.id, order), fault);
        }
        Ok(())
    }

    pub(crate) fn set_results(&mut self, op: Op, values: Vec<Val>) {
        for (&r, v) in self.ir.results(op).iter().zip(values) {
            self.set(r, v);
        }
    }

    /// Makes a fault of this program at an operation.
    pub(crate) fn fault(&self, op: Op, code: &'static Code, message: String, label: &str) -> Fault {
        let mut d = fault::at(self.ir, op, code, format!("{message}, in {}", fault::program(self.pid)), label);
        for &call in self.calls.iter().rev() {
            if let Some(p) = fault::place(self.ir.loc(call)) {
                d = d.at(p, "called from here");
            }
        }
        Box::new(d)
    }

    /// What the kernel's author wrote: the operation itself, or the call of the language's own library that led to it.
    pub(crate) fn written(&self, op: Op) -> Op {
        let own = |&o: &Op| fault::is_library(self.ir.loc(o));
        if own(&op) { self.calls.iter().rev().copied().find(|o| !own(o)).unwrap_or(op) } else { op }
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
        let room = self.shared.options.max_lines;
        for &result in self.ir.results(op) {
            let ty = self.ir.ty(result);
            let text = render::tensor(ty, &self.get(result));
            let name = loc.value_name().map(|n| n.as_str().to_owned());
            self.traced.push(room, || Traced { line, col, name, op: self.ir.op_name(op), ty, text });
        }
    }
}
