//! The state of lowering one function, and what every family of operations does with it: values, blocks, calls.
//!
//! A value is the vector of its registers in one thread. [`Lower::op`] hands an operation to its family (in `ops`).
//! When that fails, the diagnostic gets the operation's place, the results become poison and the walk goes on, so that
//! one run reports everything in a module that is not supported.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module as LlvmModule;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PhiValue, PointerValue};

use super::debug_info::LineTable;
use super::declared::Declared;
use super::machine::Machine;
use super::options::CodegenOptions;
use crate::analysis::exchange::ExchangePlan;
use crate::analysis::prepared::PreparedFunction;
use crate::analysis::register_use::RegisterUse;
use crate::diag::{Diagnostic, Place, codes::codegen as codes};
use crate::ir::core::entity::Entity;
use crate::ir::core::hash::Map;
use crate::ir::{Block, Ir, Loc, Op, Type, Value};
use crate::layout;

pub(crate) type Res<T> = Result<T, Diagnostic>;
pub(crate) type Val<'c> = BasicValueEnum<'c>;
/// A value: one LLVM value per register of a thread.
pub(crate) type Regs<'c> = Rc<[Val<'c>]>;

/// A diagnostic for what cannot happen with verified IR.
pub(crate) fn defect(what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(&codes::DEFECT, format!("defect in code generation: {what}"))
}

impl From<BuilderError> for Diagnostic {
    fn from(e: BuilderError) -> Diagnostic {
        defect(e)
    }
}

/// Lowers one operation, whatever its kind. The families of operations know this file, so it does not know them.
pub(super) type Families = fn(&mut Lower<'_, '_>, Op) -> Res<()>;

/// An IR block in LLVM: its start and the phis of its arguments.
#[derive(Clone)]
pub(crate) struct Label<'c> {
    pub(crate) block: BasicBlock<'c>,
    /// The phis of each argument, with the numbers of their registers. Copies of a register have none.
    pub(crate) phis: Vec<Vec<(usize, PhiValue<'c>)>>,
}

/// The lowering of one function.
pub(crate) struct Lower<'c, 'a> {
    pub(crate) ir: &'a Ir,
    pub(super) func: Op,
    pub(crate) llvm: &'c Context,
    pub(crate) module: &'a LlvmModule<'c>,
    pub(crate) b: Builder<'c>,
    pub(crate) options: &'a CodegenOptions,
    pub(crate) machine: &'static dyn Machine,
    pub(crate) num_ctas: u32,
    pub(crate) num_warps: u32,
    /// What was computed of the function before.
    pub(crate) prepared: &'a PreparedFunction,
    pub(crate) function: FunctionValue<'c>,
    pub(crate) declared: Declared<'c>,
    /// The functions that calls can call.
    pub(crate) functions: &'a BTreeMap<Op, Declared<'c>>,
    pub(crate) blocks: BTreeMap<Block, Label<'c>>,
    /// Lowers one operation by its kind.
    pub(super) families: Families,
    pub(super) values: Vec<Option<Regs<'c>>>,
    /// What [`Lower::set`] knows of copies, by types.
    pub(super) copies: Map<Type, Option<Rc<[usize]>>>,
    /// Operations that were lowered together with an earlier one.
    pub(super) computed: BTreeSet<Op>,
    pub(super) lines: Option<LineTable>,
    pub(super) tid: IntValue<'c>,
    /// What [`Lower::registers_across`] counts, once it is asked.
    pub(super) register_use: OnceCell<RegisterUse>,
    /// Version of the assembly language that the kernel's inline assembly needs.
    pub(super) isa_version: u32,
    pub(super) errors: Vec<Diagnostic>,
}

/// Adds the place that a location names, unless the diagnostic has one.
pub(crate) fn located(d: Diagnostic, loc: Loc) -> Diagnostic {
    match loc.file_line_col() {
        Some((file, line, col)) if d.labels.is_empty() => {
            d.at(Place::At { file: file.as_str().to_owned(), line, col: col.max(1) }, "")
        }
        _ => d,
    }
}

impl<'c> Lower<'c, '_> {
    pub(crate) fn reverse_post_order(&self, first: Block) -> Vec<Block> {
        let mut order = vec![];
        let mut seen = BTreeSet::from([first]);
        // A block with the successors that are still to be visited.
        let mut stack = vec![(first, 0)];
        while let Some((block, next)) = stack.pop() {
            let successors = self.ir.last_op(block).map_or(&[][..], |op| self.ir.successors(op));
            match successors.get(next) {
                Some(&successor) => {
                    stack.push((block, next + 1));
                    if seen.insert(successor) {
                        stack.push((successor, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }

    /// An LLVM block with phis for values of these types; the phis become the arguments' values.
    pub(crate) fn new_block(&mut self, name: &str, args: &[Value]) -> Res<Label<'c>> {
        let back = self.b.get_insert_block();
        let block = self.llvm.append_basic_block(self.function, name);
        self.b.position_at_end(block);
        let mut phis = Vec::with_capacity(args.len());
        for &arg in args {
            let types = self.register_types(self.ir.ty(arg))?;
            let copies = self.copies(self.ir.ty(arg));
            let mut made: Vec<(usize, PhiValue<'c>)> = vec![];
            let mut regs: Vec<Val<'c>> = vec![];
            for (i, ty) in types.into_iter().enumerate() {
                if let Some(first) = copies.as_ref().map(|first| first[i]).filter(|&first| first < i) {
                    regs.push(regs[first]);
                    continue;
                }
                let phi = self.b.build_phi(ty, "")?;
                regs.push(phi.as_basic_value());
                made.push((i, phi));
            }
            self.set(arg, regs);
            phis.push(made);
        }
        if let Some(back) = back {
            self.b.position_at_end(back);
        }
        Ok(Label { block, phis })
    }

    /// Adds the values that reach a block's phis from the current block.
    pub(crate) fn pass(&self, target: &Label<'c>, values: &[Value]) -> Res<()> {
        let from = self.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
        for (phis, &value) in target.phis.iter().zip(values) {
            let regs = self.get(value)?;
            for (register, phi) in phis {
                phi.add_incoming(&[(&regs[*register], from)]);
            }
        }
        Ok(())
    }

    /// Lowers one operation with all that is nested in it.
    ///
    /// # Errors
    /// Only when the walk cannot go on; everything else is collected.
    pub(crate) fn op(&mut self, op: Op) -> Res<()> {
        self.at(self.ir.loc(op));
        let Err(d) = (self.families)(self, op) else { return Ok(()) };
        let d = located(d, self.ir.loc(op));
        if self.ir.kind(op).is_terminator() {
            return Err(d);
        }
        // With poison in place of the results the walk goes on and finds what else there is.
        for &result in self.ir.results(op) {
            match self.poison(self.ir.ty(result)) {
                Ok(regs) => self.set(result, regs.to_vec()),
                Err(_) => return Err(d),
            }
        }
        // A region that runs for each element reports once what it cannot do.
        if !self.errors.contains(&d) {
            self.errors.push(d);
        }
        Ok(())
    }

    /// The diagnostic for an operation that has no code generation.
    pub(crate) fn unsupported(&self, op: Op, why: &str) -> Diagnostic {
        let name = self.ir.op_name(op);
        let text =
            if why.is_empty() { format!("`{name}` has no code generation yet") } else { format!("`{name}`: {why}") };
        Diagnostic::error(&codes::UNSUPPORTED_OP, text)
    }

    pub(super) fn at(&mut self, loc: Loc) {
        if let Some(lines) = &mut self.lines {
            lines.set(self.llvm, &self.b, loc);
        }
    }

    // ---- values ----

    /// Sets the registers of a value. Those that hold copies of an element become the first one of them, whatever they
    /// were computed from: what is computed from them is then computed once.
    pub(crate) fn set(&mut self, value: Value, mut regs: Vec<Val<'c>>) {
        if let Some(first) = self.copies(self.ir.ty(value)).filter(|first| first.len() == regs.len()) {
            for i in 0..regs.len() {
                regs[i] = regs[first[i]];
            }
        }
        self.values[value.index()] = Some(regs.into());
    }

    /// For each register of a tensor the first one that holds the same element; `None` where no two do.
    pub(crate) fn copies(&mut self, ty: Type) -> Option<Rc<[usize]>> {
        if !ty.is_tensor() {
            return None;
        }
        if let Some(known) = self.copies.get(&ty) {
            return known.clone();
        }
        let found = Self::layout(ty).ok().and_then(layout::first_holders).map(Rc::from);
        self.copies.insert(ty, found.clone());
        found
    }

    /// The registers of a value.
    pub(crate) fn get(&self, value: Value) -> Res<Regs<'c>> {
        self.values[value.index()].clone().ok_or_else(|| defect(format!("{value:?} is used before it is defined")))
    }

    /// The only register of a scalar.
    pub(crate) fn scalar(&self, value: Value) -> Res<Val<'c>> {
        self.get(value)?.first().copied().ok_or_else(|| defect("a scalar without a register"))
    }

    /// As [`Lower::scalar`], but the scalar must be an integer.
    pub(crate) fn int(&self, value: Value) -> Res<IntValue<'c>> {
        as_int(self.scalar(value)?)
    }

    // ---- the thread ----

    /// The number of this thread in its block.
    pub(crate) fn thread_id(&self) -> IntValue<'c> {
        self.tid
    }

    /// The number of this block in its cluster.
    pub(crate) fn block_in_cluster(&mut self) -> Res<IntValue<'c>> {
        if self.num_ctas == 1 { Ok(self.i32(0)) } else { self.machine.block_in_cluster(self) }
    }

    // ---- calls ----

    /// Calls an intrinsic; `overloads` are the types that its name leaves open.
    pub(crate) fn intrinsic(&mut self, name: &str, overloads: &[BasicTypeEnum<'c>], args: &[Val<'c>]) -> Res<Val<'c>> {
        let function = self.declared(name, overloads)?;
        self.call(function, args)
    }

    /// Calls an intrinsic that has no result; see [`Lower::intrinsic`].
    pub(crate) fn effect(&mut self, name: &str, overloads: &[BasicTypeEnum<'c>], args: &[Val<'c>]) -> Res<()> {
        let function = self.declared(name, overloads)?;
        let args: Vec<_> = args.iter().map(|&a| a.into()).collect();
        self.b.build_direct_call(function, &args, "")?;
        Ok(())
    }

    fn declared(&self, name: &str, overloads: &[BasicTypeEnum<'c>]) -> Res<FunctionValue<'c>> {
        let found = Intrinsic::find(name).ok_or_else(|| defect(format!("LLVM has no intrinsic `{name}`")))?;
        found.get_declaration(self.module, overloads).ok_or_else(|| defect(format!("`{name}` has other types")))
    }

    /// Calls a function that the vendor's library defines, or another with this C signature.
    pub(crate) fn external(&mut self, name: &str, result: BasicTypeEnum<'c>, args: &[Val<'c>]) -> Res<Val<'c>> {
        let function = self.external_function(name, Some(result), args)?;
        self.call(function, args)
    }

    /// Calls such a function that has no result.
    pub(crate) fn external_effect(&mut self, name: &str, args: &[Val<'c>]) -> Res<()> {
        let function = self.external_function(name, None, args)?;
        let args: Vec<_> = args.iter().map(|&a| a.into()).collect();
        self.b.build_direct_call(function, &args, "")?;
        Ok(())
    }

    fn external_function(
        &mut self,
        name: &str,
        result: Option<BasicTypeEnum<'c>>,
        args: &[Val<'c>],
    ) -> Res<FunctionValue<'c>> {
        let types: Vec<BasicTypeEnum<'c>> = args.iter().map(BasicValueEnum::get_type).collect();
        let ty = self.fn_type(result, &types);
        match self.module.get_function(name) {
            Some(known) if known.get_type() == ty => Ok(known),
            Some(_) => Err(Diagnostic::error(&codes::BAD_LIBRARY, format!("`{name}` is used with two signatures"))),
            None => Ok(self.module.add_function(name, ty, None)),
        }
    }

    /// Memory of the thread itself for `count` elements, for as long as the function runs.
    pub(crate) fn local_memory(&mut self, element: BasicTypeEnum<'c>, count: u32) -> Res<PointerValue<'c>> {
        let entry = self.function.get_first_basic_block().ok_or_else(|| defect("a function without a block"))?;
        let first = entry.get_first_instruction();
        let builder = self.llvm.create_builder();
        first.map_or_else(|| builder.position_at_end(entry), |first| builder.position_before(&first));
        Ok(builder.build_array_alloca(element, self.i32(u64::from(count)), "")?)
    }

    fn call(&mut self, function: FunctionValue<'c>, args: &[Val<'c>]) -> Res<Val<'c>> {
        let args: Vec<_> = args.iter().map(|&a| a.into()).collect();
        let call = self.b.build_direct_call(function, &args, "")?;
        call.try_as_basic_value().basic().ok_or_else(|| defect("a call without a result"))
    }

    /// Inline assembly; the results come back one by one.
    pub(crate) fn inline_asm(
        &mut self,
        asm: &str,
        constraints: &str,
        results: &[BasicTypeEnum<'c>],
        args: &[Val<'c>],
        side_effects: bool,
    ) -> Res<Vec<Val<'c>>> {
        self.isa_version = self.isa_version.max(self.machine.llvm().version_of_text(asm, &self.options.target));
        let result: Option<BasicTypeEnum<'c>> = match results {
            [] => None,
            [one] => Some(*one),
            many => Some(self.llvm.struct_type(many, false).into()),
        };
        let types: Vec<BasicTypeEnum<'c>> = args.iter().map(BasicValueEnum::get_type).collect();
        let ty = self.fn_type(result, &types);
        let callee =
            self.llvm.create_inline_asm(ty, asm.to_owned(), constraints.to_owned(), side_effects, false, None, false);
        let args: Vec<_> = args.iter().map(|&a| a.into()).collect();
        let call = self.b.build_indirect_call(ty, callee, &args, "")?;
        for name in if side_effects { &["nounwind"][..] } else { &["nounwind", "willreturn", "memory"] } {
            let kind = inkwell::attributes::Attribute::get_named_enum_kind_id(name);
            call.add_attribute(AttributeLoc::Function, self.llvm.create_enum_attribute(kind, 0));
        }
        let value = call.try_as_basic_value().basic();
        match (results.len(), value) {
            (0, _) => Ok(vec![]),
            (1, Some(value)) => Ok(vec![value]),
            (n, Some(BasicValueEnum::StructValue(s))) => {
                (0..n as u32).map(|i| Ok(self.b.build_extract_value(s, i, "")?)).collect()
            }
            _ => Err(defect("inline assembly without a result")),
        }
    }
}

impl<'a> Lower<'_, 'a> {
    /// The plan that was made for an operation when shared memory was laid out.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn plan(&self, op: Op) -> Res<&'a ExchangePlan> {
        let prepared: &'a PreparedFunction = self.prepared;
        let plan = prepared.allocation.plan(op).ok_or_else(|| defect("an operation without a plan"))?;
        plan.as_ref().map_err(|e| self.unsupported(op, &e.reason))
    }

    /// The registers of a thread that tensors made before an operation and used behind it take, roughly.
    pub(crate) fn registers_across(&self, op: Op) -> u64 {
        self.register_use.get_or_init(|| RegisterUse::new(self.ir, self.func)).across(op)
    }
}

/// The value as an integer.
pub(crate) fn as_int(value: Val<'_>) -> Res<IntValue<'_>> {
    match value {
        BasicValueEnum::IntValue(v) => Ok(v),
        _ => Err(defect("an integer was expected")),
    }
}
