//! The decoder of a function: its parameters, its declarations, and its instructions one after the other.

use super::context::{self, Cx, Names};
use super::error::{DecodeError, Result};
use super::form::Form;
use super::op::{Callee, Op};
use super::program::{Formal, Function, Place, Program, Reg};
use super::scope::{Register, Storage, Variable};
use super::{flow, registers};
use super::{place, size};
use crate::emu::num::Type;
use crate::emu::ptx::syntax::{self, Instruction, RegisterName, Statement, VariableSpace};

/// How many registers and predicates a function may have.
const MAX_SLOTS: u32 = 1 << 20;

/// The bytes of local memory that a thread has on a GPU.
const MAX_LOCAL: u64 = 512 << 10;

/// The bytes of the parameters of a kernel ("PTX ISA, Kernel Function Parameters").
const MAX_PARAMS: u64 = 32_764;

/// What a function says about the program that it is in.
pub(super) struct Facts {
    pub(super) communicates: bool,
    pub(super) narrow_scopes: bool,
    pub(super) narrowest: u32,
}

/// Decodes a function that has a body.
pub(super) fn decode<'a>(f: &syntax::Function<'a>, names: &Names<'a>) -> Result<(Function, Facts)> {
    let mut cx = Cx::new(names, f.entry);
    f.name.clone_into(&mut cx.function.name);
    cx.scopes.open();
    cx.parameters(f)?;
    cx.directives(f);
    cx.body(f.body.as_deref().unwrap_or_default())?;
    // A body that ends without `ret` returns.
    cx.push(if f.entry { Op::Exit } else { Op::Return }, None);
    flow::resolve(&mut cx.function, &cx.labels);
    registers::mark(&mut cx.function);
    let facts = Facts { communicates: cx.communicates, narrow_scopes: cx.narrow_scopes, narrowest: cx.narrowest };
    Ok((cx.function, facts))
}

/// Refuses calls whose arguments do not fit the function.
pub(super) fn check_calls(program: &Program) -> Result<()> {
    for f in &program.functions {
        for (step, place) in f.code.iter().zip(&f.places) {
            let Op::Call(call) = &step.op else { continue };
            let Callee::Function(index) = call.callee else { continue };
            let callee = &program.functions[index];
            let bytes = |all: &[Formal]| all.iter().map(|f| f.bytes).collect::<Vec<_>>();
            if bytes(&call.arguments) != bytes(&callee.params) || bytes(&call.results) != bytes(&callee.returns) {
                let message = format!("the call does not fit the parameters of `{}`", callee.name);
                return Err(DecodeError::new(place.at, message));
            }
        }
    }
    Ok(())
}

impl<'a> Cx<'_, 'a> {
    fn parameters(&mut self, f: &syntax::Function<'a>) -> Result<()> {
        let most = if f.entry { MAX_PARAMS } else { MAX_LOCAL };
        let mut end = 0;
        let mut formals = [vec![], vec![]];
        for (kind, all) in [&f.params, &f.returns].into_iter().enumerate() {
            for v in all {
                let (bytes, align) = size(v)?;
                let (offset, past) = place(v, u64::from(end), most)?;
                let offset = offset as u32;
                let formal = Formal { offset, bytes: bytes as u32, align };
                end = past as u32;
                let storage = if f.entry { Storage::KernelParam(offset) } else { Storage::CallParam(offset) };
                self.scopes.add_variable(v.name, Variable { storage, bytes: formal.bytes, align });
                formals[kind].push(formal);
            }
        }
        let [params, returns] = formals;
        self.function.param_bytes = end;
        (self.function.params, self.function.returns) = (params, returns);
        Ok(())
    }

    fn directives(&mut self, f: &syntax::Function<'a>) {
        let three = |n: &[u32]| [0, 1, 2].map(|i| n.get(i).copied().unwrap_or(1));
        for (name, numbers) in &f.directives {
            match *name {
                "reqntid" => self.function.required_block = Some(three(numbers)),
                "maxnreg" => self.function.max_registers = numbers.first().copied(),
                "maxntid" => self.function.max_threads = Some(three(numbers).iter().product()),
                "reqnctapercluster" => self.function.required_cluster = Some(three(numbers)),
                _ => {}
            }
        }
    }

    /// The statements of a pair of braces. Labels are known before the code that jumps to them.
    fn body(&mut self, statements: &[Statement<'a>]) -> Result<()> {
        for s in statements {
            match s {
                Statement::Label(name, at) => {
                    let label = self.new_label();
                    if !self.scopes.add_label(name, label) {
                        return Err(DecodeError::new(*at, format!("the label `{name}` is there twice")));
                    }
                }
                Statement::BranchTargets(name, labels, _) => self.scopes.add_table(name, labels.clone()),
                _ => {}
            }
        }
        for s in statements {
            match s {
                Statement::Label(name, _) => {
                    let label = self.scopes.label(name).expect("the labels of this body were added above");
                    self.labels[label as usize] = self.function.code.len() as u32;
                }
                Statement::Instruction(ins) => self.instruction(ins)?,
                Statement::Registers { ty, names, at } => {
                    self.place = context::at(*at);
                    self.registers(ty, names)?;
                }
                Statement::Variable(v) => self.variable(v)?,
                Statement::Scope(inner) => {
                    self.scopes.open();
                    self.body(inner)?;
                    self.scopes.close();
                }
                Statement::BranchTargets(..) => {}
            }
        }
        Ok(())
    }

    fn registers(&mut self, ty: &str, names: &[RegisterName<'a>]) -> Result<()> {
        let ty = Type::parse(ty).ok_or_else(|| self.error(format!("registers of the unknown type `{ty}`")))?;
        if ty.bits() > 64 {
            return Err(self.error("the emulator has no registers of 128 bits"));
        }
        for one in names {
            let slots = if ty == Type::Pred { &mut self.function.predicates } else { &mut self.function.registers };
            let first = *slots;
            *slots = slots.saturating_add(one.count.unwrap_or(1));
            if *slots > MAX_SLOTS {
                return Err(self.error("the function has too many registers"));
            }
            let added = match (one.count, ty) {
                (Some(count), _) => self.scopes.add_range(one.name, first, count, ty),
                (None, Type::Pred) => self.scopes.add_register(one.name, Register::Pred(super::program::Pred(first))),
                (None, _) => self.scopes.add_register(one.name, Register::Value(Reg(first), ty)),
            };
            if !added {
                return Err(self.error(format!("the register `{}` is there twice", one.name)));
            }
        }
        Ok(())
    }

    /// A variable inside of a function.
    fn variable(&mut self, v: &syntax::Variable<'a>) -> Result<()> {
        let (bytes, align) = size(v)?;
        let allocate = |end: &mut u32| -> Result<u32> {
            let (at, past) = place(v, u64::from(*end), MAX_LOCAL)?;
            *end = past as u32;
            Ok(at as u32)
        };
        let storage = match v.space {
            VariableSpace::Param => Storage::CallParam(allocate(&mut self.function.param_bytes)?),
            VariableSpace::Local => Storage::Local(allocate(&mut self.function.local_bytes)?),
            // It has a place in the module.
            VariableSpace::Shared => return Ok(()),
            VariableSpace::Global | VariableSpace::Const => {
                return Err(DecodeError::new(v.at, "the emulator runs no global variables inside of functions"));
            }
        };
        self.scopes.add_variable(v.name, Variable { storage, bytes: bytes as u32, align });
        Ok(())
    }

    fn instruction(&mut self, ins: &Instruction<'a>) -> Result<()> {
        self.place = Place { at: ins.at, source: ins.source };
        let form = Form::new(ins);
        // Special registers in operands become steps of their own, which no guard needs to keep from running.
        let op = self.op(&form)?;
        form.finish()?;
        let guard = self.guard(&form)?;
        self.push(op, guard);
        Ok(())
    }

    fn op(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        type Family<'m, 'a> = for<'f, 'i, 'c> fn(&'c mut Cx<'m, 'a>, &'f Form<'i, 'a>) -> Result<Option<Op>>;
        let families: [Family<'_, 'a>; 10] = [
            Cx::moves,
            Cx::integer,
            Cx::float,
            Cx::comparison,
            Cx::memory,
            Cx::control,
            Cx::together,
            Cx::asynchronous,
            Cx::tensor,
            |_, form| Err(form.unknown()),
        ];
        for family in families {
            if let Some(op) = family(self, form)? {
                return Ok(op);
            }
        }
        Err(form.unknown())
    }
}
