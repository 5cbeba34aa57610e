//! Lowering a module: its kernels, and what they call.
//!
//! 1. Limits of the target and of the time that somebody waits for are checked.
//! 2. Kernels and what they call are declared ([`functions`](super::functions)), callees first, then lowered one after
//!    the other.
//! 3. The thread's number is read at the entry; everything that depends on the thread starts from it.
//! 4. Blocks are lowered in reverse post-order, so definitions come before uses; block arguments are phis, one per
//!    register.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use inkwell::basic_block::BasicBlock;

use super::debug_info::LineTable;
use super::declared::Declared;
use super::functions::Functions;
use super::llvm::{Draft, Facts, Module};
use super::lower::{Label, Lower, Res, defect, located};
use super::machine::Machine;
use super::options::CodegenOptions;
use super::{ops, shared};
use crate::analysis::clusters;
use crate::analysis::prepared::{Prepared, PreparedFunction};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::core::hash::Map;
use crate::ir::dialects::discardable::{GLOBAL_ALIGNMENT, GLOBAL_SIZE, NUM_CTAS, NUM_WARPS, SHARED};
use crate::ir::dialects::keys::{Int, Key};
use crate::ir::dialects::tt::tt::Func;
use crate::ir::{Ir, Op, Type};
use crate::layout::{Dim, layout_of};
use crate::target::Target;

/// Lowers a module; see [`super::lower`].
pub(crate) fn module(
    ir: &Ir,
    options: &CodegenOptions,
    prepared: &Prepared,
    machine: &'static dyn Machine,
) -> Result<Module, Vec<Diagnostic>> {
    let one = |d: Diagnostic| vec![d];
    let attr = |key: Key<Int<32>>, default: u32| {
        ir.get(ir.module(), key).map_or(default, |v| u32::try_from(v).unwrap_or(u32::MAX))
    };
    let (num_warps, num_ctas) = (attr(NUM_WARPS, options.num_warps), attr(NUM_CTAS, options.num_ctas));
    check_limits(ir, options, num_warps, num_ctas).map_err(one)?;
    check_size(ir).map_err(one)?;
    shared::check_limit(ir, prepared, options).map_err(one)?;
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
        let Some(known) = prepared.functions.get(&func) else {
            return Err(one(defect("a function that was not prepared")));
        };
        let found = Lower::function(ir, (&draft, machine), options, &facts, (func, kernel, known), &declared);
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
    Func(func).sym_name(ir).unwrap_or_default()
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
    let text = format!(
        "one thread would compute {all} values, more than {most}: LLVM and the assembler would work on it for minutes"
    );
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
        (func, kernel, prepared): (Op, bool, &'a PreparedFunction),
        functions: &'a BTreeMap<Op, Declared<'static>>,
    ) -> Lowered {
        let llvm = draft.llvm();
        let name = name_of(ir, func);
        // A placeholder of the right kind until the parameters are known.
        let placeholder = draft.module.add_function("", llvm.void_type().fn_type(&[], false), None);
        let mut cx = Lower {
            ir,
            func,
            llvm,
            module: &draft.module,
            b: llvm.create_builder(),
            options,
            machine,
            num_ctas: facts.num_ctas,
            num_warps: facts.num_warps,
            prepared,
            function: placeholder,
            declared: Declared::nothing(placeholder),
            functions,
            blocks: BTreeMap::new(),
            families: ops::lower,
            values: vec![None; ir.value_capacity()],
            copies: Map::default(),
            computed: BTreeSet::new(),
            lines: None,
            tid: llvm.i32_type().const_zero(),
            register_use: OnceCell::new(),
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
}
