//! The lowering's state, and its frame: modules, kernels, blocks, one operation after the other.
//!
//! 1. Kernels and what they call are declared ([`functions`](super::functions)), then lowered one after the other.
//! 2. The thread's number is read at the entry; everything that depends on the thread starts from it.
//! 3. Blocks are lowered in reverse post-order, so definitions come before uses; block arguments are phis, one per
//!    register.
//! 4. [`Lower::op`] hands each operation to its family in `ops`. When that fails, the diagnostic gets the operation's
//!    place, the results become poison and the walk goes on, so that one run reports everything a module has that is
//!    not supported.

use std::collections::BTreeMap;
use std::rc::Rc;

use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module as LlvmModule;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PhiValue};

use super::debug_info::LineTable;
use super::functions::{Declared, Functions};
use super::llvm::{Draft, Facts, Module};
use super::machine::Machine;
use super::{CodegenOptions, ops, shared};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::analysis::clusters;
use crate::analysis::scratch::{GLOBAL_ALIGNMENT, GLOBAL_SIZE, SHARED};
use crate::diag::{Diagnostic, Place, codes::codegen as codes};
use crate::ir::core::entity::Entity;
use crate::ir::{Block, Ir, Loc, Op, Type, Value};
use crate::layout::{Dim, layout_of};
use crate::target::Target;

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

/// An IR block in LLVM: its start and the phis of its arguments.
#[derive(Clone)]
pub(crate) struct Label<'c> {
    pub(crate) block: BasicBlock<'c>,
    pub(crate) phis: Vec<Vec<PhiValue<'c>>>,
}

/// The lowering of one function.
pub(crate) struct Lower<'c, 'a> {
    pub(crate) ir: &'a Ir,
    pub(crate) llvm: &'c Context,
    pub(crate) module: &'a LlvmModule<'c>,
    pub(crate) b: Builder<'c>,
    pub(crate) options: &'a CodegenOptions,
    pub(crate) machine: &'static dyn Machine,
    pub(crate) num_ctas: u32,
    pub(crate) num_warps: u32,
    pub(crate) axis: AxisInfoAnalysis,
    pub(crate) function: FunctionValue<'c>,
    pub(crate) declared: Declared<'c>,
    /// What calls call.
    pub(crate) functions: &'a BTreeMap<Op, Declared<'c>>,
    pub(crate) blocks: BTreeMap<Block, Label<'c>>,
    values: Vec<Option<Regs<'c>>>,
    lines: Option<LineTable>,
    tid: IntValue<'c>,
    /// Version of the assembly language that the kernel's inline assembly needs.
    isa_version: u32,
    errors: Vec<Diagnostic>,
}

/// Lowers a module; see [`super::lower`].
pub(crate) fn module(
    ir: &Ir,
    options: &CodegenOptions,
    machine: &'static dyn Machine,
) -> Result<Module, Vec<Diagnostic>> {
    let one = |d: Diagnostic| vec![d];
    let attr = |name: &str, default: u32| {
        ir.int_attr(ir.module(), name).map_or(default, |v| u32::try_from(v).unwrap_or(u32::MAX))
    };
    let (num_warps, num_ctas) = (attr("ttg.num-warps", options.num_warps), attr("ttg.num-ctas", options.num_ctas));
    check_limits(ir, options, num_warps, num_ctas).map_err(one)?;
    check_size(ir).map_err(one)?;
    shared::check_limit(ir, options).map_err(one)?;
    let functions = Functions::of_module(ir)?;
    let draft = Draft::new("ttc");
    machine.prepare_module(&draft.module);
    let (scratch_size, scratch_align) = (attr(GLOBAL_SIZE, 0), attr(GLOBAL_ALIGNMENT, 1));
    let mut facts = Facts {
        num_warps,
        num_ctas,
        shared: attr(SHARED, 0),
        global_scratch_size: scratch_size,
        global_scratch_align: scratch_align,
        hidden_params: if options.triton_abi { 2 } else { u32::from(scratch_size > 0) },
        isa_version: machine.llvm().version_of_text("", &options.target),
        ..Facts::default()
    };
    for &kernel in &functions.kernels {
        facts.kernels.push(name_of(ir, kernel).to_owned());
    }
    let mut errors = vec![];
    let mut declared = BTreeMap::new();
    for (func, kernel) in
        functions.called.iter().map(|&f| (f, false)).chain(functions.kernels.iter().map(|&f| (f, true)))
    {
        let found = Lower::function(ir, (&draft, machine), options, &facts, (func, kernel), &declared);
        facts.isa_version = facts.isa_version.max(found.isa_version);
        errors.extend(found.errors);
        // What calls a function that cannot be declared would only report that again.
        let Some(d) = found.declared else { break };
        declared.insert(func, d);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut module = draft.seal(facts, options, machine.llvm()).map_err(one)?;
    module.verify_lowered().map_err(one)?;
    Ok(module)
}

fn name_of(ir: &Ir, func: Op) -> &str {
    ir.str_attr(func, "sym_name").unwrap_or_default()
}

/// Values of one thread for each operation that a module may have. LLVM and the assembler take time and memory for
/// each: half a million are half a minute.
const OPS_A_VALUE: usize = 8;

/// Whether the registers that all operations together fill in one thread stay within what LLVM finishes in a time that
/// somebody waits for. Example: a sum of two tiles of 2^20 elements, on one warp, fills 3 · 32,768.
fn check_size(ir: &Ir) -> Res<()> {
    let most = ir.max_ops() / OPS_A_VALUE;
    let mut largest: (usize, Option<Op>) = (0, None);
    let mut all = 0usize;
    for op in ir.functions().into_iter().flat_map(|f| ir.all_ops(f)) {
        // What has no layout is reported where it is lowered.
        let registers =
            |ty: Type| if ty.is_tensor() { layout_of(ty).map_or(1, |l| l.in_size(Dim::Register) as usize) } else { 1 };
        let own: usize = ir.results(op).iter().map(|&r| registers(ir.ty(r))).sum();
        all = all.saturating_add(own);
        if own > largest.0 && ir.loc(op).file_line_col().is_some() {
            largest = (own, Some(op));
        }
    }
    if all <= most {
        return Ok(());
    }
    let text =
        format!("one thread would compute {all} values, more than {most}: LLVM and ptxas would work on it for minutes");
    let at = largest.1.map_or(ir.loc(ir.module()), |op| ir.loc(op));
    Err(located(Diagnostic::error(&codes::TOO_MANY_VALUES, text), at)
        .note(format!("this operation has {} of them", largest.0))
        .help("use smaller blocks, more warps, or loops that are not unrolled, or raise the limit with --max-ops"))
}

fn check_limits(ir: &Ir, options: &CodegenOptions, num_warps: u32, num_ctas: u32) -> Res<()> {
    let place = |d: Diagnostic| located(d, ir.loc(ir.module()));
    let threads = u64::from(num_warps) * u64::from(options.target.warp_size());
    if !num_warps.is_power_of_two() || threads > u64::from(Target::MAX_THREADS_PER_BLOCK) {
        let most = options.target.max_warps();
        let text = format!("the kernel asks for {num_warps} warps a block; expected a power of two up to {most}");
        return Err(place(Diagnostic::error(&codes::LIMITS, text)));
    }
    if !num_ctas.is_power_of_two() || num_ctas > Target::MAX_PORTABLE_CLUSTER {
        let text = format!(
            "the kernel asks for {num_ctas} blocks a cluster; expected a power of two up to {}",
            Target::MAX_PORTABLE_CLUSTER
        );
        return Err(place(Diagnostic::error(&codes::LIMITS, text)));
    }
    clusters::check(ir, num_ctas, &options.target)?;
    match options.maxnreg {
        Some(n) if n == 0 || n > Target::MAX_REGISTERS_PER_THREAD => {
            let text = format!(
                "at most {n} registers a thread were asked for; expected 1 to {}",
                Target::MAX_REGISTERS_PER_THREAD
            );
            Err(Diagnostic::error(&codes::LIMITS, text))
        }
        _ => Ok(()),
    }
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

/// What lowering a function gave.
struct Lowered {
    declared: Option<Declared<'static>>,
    /// Version of the assembly language that it needs.
    isa_version: u32,
    errors: Vec<Diagnostic>,
}

impl<'a> Lower<'static, 'a> {
    /// Lowers one function. What it calls is declared.
    fn function(
        ir: &'a Ir,
        (draft, machine): (&'a Draft, &'static dyn Machine),
        options: &'a CodegenOptions,
        facts: &Facts,
        (func, kernel): (Op, bool),
        functions: &'a BTreeMap<Op, Declared<'static>>,
    ) -> Lowered {
        let llvm = draft.llvm();
        let name = name_of(ir, func);
        // A placeholder of the right kind until the parameters are known.
        let placeholder = draft.module.add_function("", llvm.void_type().fn_type(&[], false), None);
        let mut cx = Lower {
            ir,
            llvm,
            module: &draft.module,
            b: llvm.create_builder(),
            options,
            machine,
            num_ctas: facts.num_ctas,
            num_warps: facts.num_warps,
            axis: AxisInfoAnalysis::new(ir, func),
            function: placeholder,
            declared: Declared::nothing(placeholder),
            functions,
            blocks: BTreeMap::new(),
            values: vec![None; ir.value_capacity()],
            lines: None,
            tid: llvm.i32_type().const_zero(),
            isa_version: facts.isa_version,
            errors: vec![],
        };
        let declared = if kernel { cx.declare_kernel(func, name, facts) } else { cx.declare_called(func, name) };
        // SAFETY: nothing refers to the placeholder.
        unsafe { placeholder.delete() };
        let declared = match declared {
            Ok(declared) => declared,
            Err(d) => return Lowered { declared: None, isa_version: 0, errors: vec![located(d, ir.loc(func))] },
        };
        (cx.function, cx.declared) = (declared.function, declared);
        if let Err(d) = cx.whole(func, name) {
            cx.errors.push(located(d, ir.loc(func)));
        }
        if let Some(lines) = &cx.lines {
            lines.finish();
        }
        Lowered { declared: Some(declared), isa_version: cx.isa_version, errors: cx.errors }
    }
}

impl<'c> Lower<'c, '_> {
    fn whole(&mut self, func: Op, name: &str) -> Res<()> {
        if self.options.lineinfo {
            self.lines = LineTable::new(self.llvm, self.module, self.function, name, self.ir.loc(func));
        }
        let entry = self.llvm.append_basic_block(self.function, "entry");
        self.b.position_at_end(entry);
        self.at(self.ir.loc(func));
        self.tid = self.machine.thread_id(self)?;
        self.bind_params(func)?;
        self.body(func, entry)
    }

    /// Lowers the blocks of a function, the first of them into `entry`.
    fn body(&mut self, func: Op, entry: BasicBlock<'c>) -> Res<()> {
        let Some(first) = self.ir.body(func, 0) else { return Err(defect("a function without a body")) };
        self.blocks.insert(first, Label { block: entry, phis: vec![] });
        let order = self.reverse_post_order(first);
        for &block in &order[1..] {
            let target = self.new_block("", self.ir.args(block))?;
            self.blocks.insert(block, target);
        }
        for block in order {
            self.b.position_at_end(self.blocks[&block].block);
            for op in self.ir.op_list(block) {
                self.op(op)?;
            }
        }
        Ok(())
    }

    pub(crate) fn reverse_post_order(&self, first: Block) -> Vec<Block> {
        let mut order = vec![];
        let mut seen = std::collections::BTreeSet::from([first]);
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
            let regs: Vec<PhiValue<'c>> =
                types.into_iter().map(|ty| self.b.build_phi(ty, "")).collect::<Result<_, _>>()?;
            self.set(arg, regs.iter().map(|p| p.as_basic_value()).collect());
            phis.push(regs);
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
            for (phi, reg) in phis.iter().zip(regs.iter()) {
                phi.add_incoming(&[(reg, from)]);
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
        let Err(d) = ops::lower(self, op) else { return Ok(()) };
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

    fn at(&mut self, loc: Loc) {
        if let Some(lines) = &mut self.lines {
            lines.set(self.llvm, &self.b, loc);
        }
    }

    // ---- values ----

    pub(crate) fn set(&mut self, value: Value, regs: Vec<Val<'c>>) {
        self.values[value.index()] = Some(regs.into());
    }

    /// The registers of a value.
    pub(crate) fn get(&self, value: Value) -> Res<Regs<'c>> {
        self.values[value.index()].clone().ok_or_else(|| defect(format!("{value:?} is used before it is defined")))
    }

    /// The only register of a scalar.
    pub(crate) fn scalar(&self, value: Value) -> Res<Val<'c>> {
        self.get(value)?.first().copied().ok_or_else(|| defect("a scalar without a register"))
    }

    /// As [`Lower::scalar`], of an integer.
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

    /// As [`Lower::intrinsic`], of one without a result.
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
        let types: Vec<BasicTypeEnum<'c>> = args.iter().map(BasicValueEnum::get_type).collect();
        let ty = self.fn_type(Some(result), &types);
        let function = match self.module.get_function(name) {
            Some(known) if known.get_type() == ty => known,
            Some(_) => {
                return Err(Diagnostic::error(&codes::BAD_LIBRARY, format!("`{name}` is used with two signatures")));
            }
            None => self.module.add_function(name, ty, None),
        };
        self.call(function, args)
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

/// The value as an integer.
pub(crate) fn as_int(value: Val<'_>) -> Res<IntValue<'_>> {
    match value {
        BasicValueEnum::IntValue(v) => Ok(v),
        _ => Err(defect("an integer was expected")),
    }
}
