//! Control flow and calls ("PTX ISA, Control Flow Instructions"), and what does nothing here.

use super::context::Cx;
use super::error::Result;
use super::form::Form;
use super::op::{Call, Callee, Op};
use super::program::{Formal, NOWHERE};
use super::scope::Storage;
use crate::emu::num::Type;
use crate::emu::ptx::syntax::Operand;

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn control(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        Ok(Some(match form.ins.opcode {
            "bra" => {
                form.has("uni");
                let [target] = form.operands()?;
                Op::Branch { target: self.label(target)?, meet: NOWHERE }
            }
            "brx" => {
                form.has("idx");
                form.has("uni");
                let [index, table] = form.operands()?;
                let Operand::Name { name, .. } = table else { return Err(form.error("expected a table of labels")) };
                let labels =
                    self.scopes.table(name).ok_or_else(|| form.error(format!("there is no table `{name}`")))?;
                let labels: Vec<_> = labels.iter().map(|l| Operand::Name { name: l, offset: 0 }).collect();
                let targets = labels.iter().map(|l| self.label(l)).collect::<Result<_>>()?;
                Op::BranchTable { index: self.source(index, Type::U32)?, targets, meet: NOWHERE }
            }
            "call" => self.call(form)?,
            "ret" => {
                form.has("uni");
                if self.entry { Op::Exit } else { Op::Return }
            }
            "exit" => Op::Exit,
            "trap" => Op::Trap,
            "griddepcontrol" if form.has("wait") => Op::GridWait,
            "griddepcontrol" if form.has("launch_dependents") => Op::Nop,
            "brkpt" | "nanosleep" | "pmevent" => {
                while form.find(|_| Some(())).is_some() {}
                Op::Nop
            }
            _ => return Ok(None),
        }))
    }

    /// `call.uni (results), name, (arguments);`
    fn call(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        form.has("uni");
        let mut operands = form.ins.operands.as_slice();
        let results = match operands {
            [Operand::Group(all), rest @ ..] => {
                operands = rest;
                self.formals(form, all)?
            }
            _ => vec![],
        };
        let [Operand::Name { name, .. }, rest @ ..] = operands else {
            return Err(form.error("expected the name of a function"));
        };
        if self.scopes.register(name).is_some() {
            return Err(form.error("the emulator does not run calls through a pointer"));
        }
        let arguments = match rest {
            [] => vec![],
            [Operand::Group(all)] => self.formals(form, all)?,
            _ => return Err(form.error("expected the arguments in parentheses")),
        };
        let callee = match *name {
            "vprintf" => Callee::Printf,
            "__assertfail" => Callee::AssertFail,
            _ => match self.names.functions.get(name) {
                Some(&index) => Callee::Function(index),
                None => return Err(form.error(format!("the module has no function `{name}`"))),
            },
        };
        let expected = match callee {
            Callee::Printf => Some(2),
            Callee::AssertFail => Some(5),
            Callee::Function(_) => None,
        };
        if expected.is_some_and(|n| n != arguments.len()) {
            return Err(form.error(format!("`{name}` takes {} arguments", expected.unwrap_or_default())));
        }
        Ok(Op::Call(Box::new(Call { callee, arguments, results })))
    }

    /// The places of parameter variables.
    fn formals(&self, form: &Form<'_, 'a>, operands: &[Operand<'a>]) -> Result<Vec<Formal>> {
        let one = |operand: &Operand<'a>| {
            let Operand::Name { name, offset: 0 } = operand else {
                return Err(form.error("an argument of a call is no variable"));
            };
            let variable = self.scopes.variable(name);
            match variable.map(|v| (v.storage, v)) {
                Some((Storage::CallParam(offset), v)) => Ok(Formal { offset, bytes: v.bytes, align: v.align }),
                _ => Err(form.error(format!("`{name}` is no variable in parameter space"))),
            }
        };
        operands.iter().map(one).collect()
    }
}
