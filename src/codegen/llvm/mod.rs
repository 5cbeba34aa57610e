//! An LLVM module with its context and target machine, and what is done to it: optimise, print, make assembly.
//!
//! 1. [`Module::build`] (used by the lowering) or [`parse_llir`] makes one, with triple, data layout and target machine
//!    set;
//! 2. [`Module::link_library`], when [`Module::needs_library`];
//! 3. [`Module::optimize`];
//! 4. [`Module::to_llir`] is the `llir` stage, [`Module::emit_assembly`] the next one (LLVM's code generator changes
//!    the module: print first).
//!
//! What depends on the vendor is asked of an [`LlvmTarget`].
//!
//! Every step that can meet a fatal error of LLVM runs under [`guard`]; after such an error the module is gone and
//! further steps fail too.

mod floats;
mod guard;
pub(crate) mod loops;
mod order;
mod target;

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::path::Path;

use inkwell::context::Context;
use inkwell::llvm_sys;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module as LlvmModule;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{TargetMachine, TargetTriple};
use inkwell::values::{FastMathFlags, FunctionValue, InstructionOpcode};

use self::guard::Failure;
use super::options::CodegenOptions;
use crate::diag::codes::cli::NO_RESOURCES;
use crate::diag::{Diagnostic, Place, codes::codegen as codes};
pub use guard::on_out_of_memory;
pub(crate) use guard::run as guarded;
pub(crate) use target::{Attempt, Effort, InFlight, LlvmTarget, text_of};

/// LLVM's own `O3`, for LLVM IR that somebody else made.
const FULL: &str = "default<O3>";

/// What LLVM reported about a context while it worked.
type Messages = RefCell<Vec<String>>;

/// An LLVM module for one target. See the module documentation for the order of the steps.
pub struct Module {
    /// `None` after a fatal error of LLVM.
    inner: Option<Inner>,
    facts: Facts,
    options: CodegenOptions,
    llvm: &'static dyn LlvmTarget,
    /// Whether it was read from text instead of lowered from TTGIR.
    foreign: bool,
}

/// What is known of a module without asking LLVM.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// Names of the kernels, in the module's order.
    pub kernels: Vec<String>,
    /// Bytes of shared memory a block needs.
    pub shared: u32,
    /// Bytes of scratch memory in global memory that one program (of a cluster: one block) needs.
    pub global_scratch_size: u32,
    /// What that memory's start must be a multiple of.
    pub global_scratch_align: u32,
    /// Pointer parameters that follow the kernel's own.
    pub hidden_params: u32,
    /// Version of the assembly language, times ten.
    pub isa_version: u32,
    /// Warps of a block.
    pub num_warps: u32,
    /// Blocks of a cluster.
    pub num_ctas: u32,
}

/// The fields drop in this order, the context last: everything else lives in it.
struct Inner {
    module: LlvmModule<'static>,
    /// The module as it was before the back end changed it.
    kept: Option<LlvmModule<'static>>,
    /// Whether something can be done for registers that the first attempt has not done.
    can_spare: bool,
    machine: TargetMachine,
    messages: Box<Messages>,
    context: Box<Context>,
}

/// A context and an empty module in it, before the target machine is known.
pub(crate) struct Draft {
    pub(crate) module: LlvmModule<'static>,
    messages: Box<Messages>,
    context: Box<Context>,
}

impl Draft {
    fn context() -> (Box<Context>, Box<Messages>) {
        let context = Box::new(Context::create());
        let messages = Box::new(Messages::default());
        let sink = std::ptr::from_ref::<Messages>(&messages) as *mut c_void;
        // SAFETY: the box keeps its address and is dropped after the context's last use ([`Inner`], [`Draft`]).
        unsafe { llvm_sys::core::LLVMContextSetDiagnosticHandler(context.raw(), Some(on_message), sink) };
        (context, messages)
    }

    pub(crate) fn new(name: &str) -> Draft {
        let (context, messages) = Draft::context();
        let module = extend(&context).create_module(name);
        Draft { module, messages, context }
    }

    /// The context, for as long as this draft or the module made from it lives.
    pub(crate) fn llvm(&self) -> &'static Context {
        extend(&self.context)
    }

    /// Sets triple and data layout and makes the target machine.
    ///
    /// # Errors
    /// `E0709` when LLVM has no such target, `E0711` when a kernel has more parameters than the target takes.
    pub(crate) fn seal(
        self,
        mut facts: Facts,
        options: &CodegenOptions,
        llvm: &'static dyn LlvmTarget,
    ) -> Result<Module, Diagnostic> {
        let mut machine = llvm.machine(&options.target, facts.isa_version, Effort::Full)?;
        let layout = machine.get_target_data();
        let mut wanted = facts.isa_version;
        for kernel in self.module.get_functions().filter(|f| is_kernel(*f, llvm)) {
            wanted = wanted.max(llvm.version_of_parameters(kernel, &layout)?);
        }
        if wanted > facts.isa_version {
            facts.isa_version = wanted;
            machine = llvm.machine(&options.target, wanted, Effort::Full)?;
        }
        self.module.set_triple(&TargetTriple::create(llvm.triple()));
        self.module.set_data_layout(&machine.get_target_data().get_data_layout());
        let inner = Inner {
            module: self.module,
            kept: None,
            can_spare: false,
            machine,
            messages: self.messages,
            context: self.context,
        };
        Ok(Module { inner: Some(inner), facts, options: options.clone(), llvm, foreign: false })
    }
}

fn is_kernel(function: FunctionValue<'_>, llvm: &dyn LlvmTarget) -> bool {
    function.get_call_conventions() == llvm.kernel_convention().0
}

/// Forgets that a context is borrowed from its box.
fn extend(context: &Context) -> &'static Context {
    // SAFETY: the box that owns the context is stored beside whatever uses the reference and dropped after it
    // ([`Draft`], [`Inner`]); the reference does not leave `codegen`.
    unsafe { &*std::ptr::from_ref(context) }
}

extern "C" fn on_message(info: llvm_sys::prelude::LLVMDiagnosticInfoRef, sink: *mut c_void) {
    use llvm_sys::{LLVMDiagnosticSeverity, core};
    // SAFETY: LLVM passes a valid message and the pointer that was registered with the handler, which outlives the
    // context.
    unsafe {
        if !matches!(core::LLVMGetDiagInfoSeverity(info), LLVMDiagnosticSeverity::LLVMDSError) {
            return;
        }
        let text = core::LLVMGetDiagInfoDescription(info);
        (*sink.cast::<Messages>()).borrow_mut().push(CStr::from_ptr(text).to_string_lossy().into_owned());
        core::LLVMDisposeMessage(text);
    }
}

impl Module {
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Runs a step on the module under [`guard`].
    fn step<R: 'static>(
        &mut self,
        work: impl FnOnce(&Inner) -> Result<R, Diagnostic> + 'static,
    ) -> Result<R, Diagnostic> {
        let inner = self
            .inner
            .take()
            .ok_or_else(|| Diagnostic::error(&codes::LLVM_FAILED, "LLVM gave up on this module before"))?;
        let done = guard::run(move || {
            let result = work(&inner);
            (inner, result)
        });
        let (inner, result) = done.map_err(|failure| ended(failure, |text| self.failed(&text)))?;
        let reported = inner.messages.borrow_mut().drain(..).next();
        self.inner = Some(inner);
        match reported {
            Some(text) => Err(self.failed(&text)),
            None => result,
        }
    }

    fn failed(&self, text: &str) -> Diagnostic {
        let text = text.trim();
        Diagnostic::error(
            &codes::LLVM_FAILED,
            format!("LLVM cannot compile this for {}: {text}", self.options.target.name),
        )
    }

    /// Whether the module calls functions of the vendor's library that are not linked yet.
    #[must_use]
    pub fn needs_library(&self) -> bool {
        let prefix = self.llvm.library().1.as_bytes();
        let lacks = |f: FunctionValue<'_>| f.count_basic_blocks() == 0 && f.get_name().to_bytes().starts_with(prefix);
        self.inner.as_ref().is_some_and(|inner| inner.module.get_functions().any(lacks))
    }

    /// Links the functions of the vendor's library that the module calls.
    ///
    /// # Errors
    /// `E0712` when the file cannot be read or lacks a function, `E0709` when LLVM fails.
    pub fn link_library(&mut self, path: &Path) -> Result<(), Diagnostic> {
        let path = path.to_owned();
        let llvm = self.llvm;
        self.step(move |inner| {
            let file = Place::File(path.display().to_string());
            let name = llvm.library().0;
            let failed = |why: String| Diagnostic::error(&codes::BAD_LIBRARY, why).at(file.clone(), "");
            let missing = llvm
                .link_library(&inner.module, extend(&inner.context), &path)
                .map_err(|e| failed(format!("{name} cannot be linked: {e}")))?;
            match missing.as_slice() {
                [] => Ok(()),
                names => Err(failed(format!("{name} has no function `{}`", names.join("`, `")))),
            }
        })
    }

    /// Checks the module against LLVM's rules.
    ///
    /// # Errors
    /// `code` with LLVM's findings.
    fn verify(&mut self, code: &'static crate::diag::Code, what: &'static str) -> Result<(), Diagnostic> {
        self.step(move |inner| {
            inner.module.verify().map_err(|e| {
                let text = e.to_string();
                let mut lines = text.lines();
                let first = lines.next().unwrap_or("no reason given").to_owned();
                lines.take(6).fold(Diagnostic::error(code, format!("{what}: {first}")), |d, line| d.note(line.trim()))
            })
        })
    }

    /// Verifies what the lowering made. With inline assembly that the input wrote, a failure is mostly its fault.
    pub(crate) fn verify_lowered(&mut self) -> Result<(), Diagnostic> {
        self.verify(&codes::DEFECT, "ttc made LLVM IR that LLVM rejects")
    }

    /// The pipeline of [`Module::optimize`], in the form of `opt -passes=`.
    #[must_use]
    pub fn pipeline(&self) -> String {
        match (&self.options.llvm_passes, self.foreign) {
            (Some(given), _) => given.clone(),
            (None, true) => FULL.to_owned(),
            (None, false) => self.llvm.passes(self.inner.as_ref().map(|inner| &inner.module), &self.options.target),
        }
    }

    /// Runs LLVM's middle end.
    ///
    /// # Errors
    /// `E0709` when LLVM fails or does not know a pass of the options' pipeline.
    pub fn optimize(&mut self) -> Result<(), Diagnostic> {
        let (slp, passes) = (self.llvm.vectorizes(&self.options.target), self.pipeline());
        let llvm = (!self.foreign).then_some(self.llvm);
        self.step(move |inner| {
            if let Some(llvm) = llvm {
                llvm.before_passes(&inner.module)?;
            }
            let failed =
                |e| Diagnostic::error(&codes::LLVM_FAILED, format!("LLVM cannot run the pipeline `{passes}`: {e}"));
            run_passes(&inner.module, &inner.machine, &passes, slp).map_err(failed)
        })
    }

    /// The module as text.
    #[must_use]
    pub fn to_llir(&self) -> String {
        self.inner.as_ref().map(|inner| inner.module.to_string()).unwrap_or_default()
    }

    /// Makes assembly. LLVM rewrites the module on the way, so [`Module::to_llir`] comes before.
    ///
    /// # Errors
    /// `E0709` when LLVM fails.
    pub fn emit_assembly(&mut self) -> Result<String, Diagnostic> {
        let fuse = self.options.fp_fusion;
        let (target, version, llvm) = (self.options.target, self.facts.isa_version, self.llvm);
        let (text, can_spare) = self.step(move |inner| {
            let simple =
                if is_huge(&inner.module) { Some(llvm.machine(&target, version, Effort::Least)?) } else { None };
            let machine = simple.as_ref().unwrap_or(&inner.machine);
            if fuse {
                allow_contraction(&inner.module);
            }
            let can_spare = llvm.before_emission(&inner.module, &inner.machine, Attempt::First)?;
            Ok((written(&inner.module, machine, llvm)?, can_spare))
        })?;
        if let Some(inner) = &mut self.inner {
            inner.can_spare = can_spare;
        }
        Ok(self.llvm.after_emission(text))
    }

    /// Keeps the module as it is for [`Module::emit_again`], if it has blocks that would get another order and
    /// is not huge. Comes before [`Module::emit_assembly`], which changes it.
    ///
    /// # Errors
    /// `E0709` when LLVM fails.
    pub fn keep(&mut self) -> Result<(), Diagnostic> {
        let llvm = self.llvm;
        let kept = self.step(move |inner| {
            let worth = !is_huge(&inner.module) && order::is_crowded(&inner.module, llvm);
            Ok(worth.then(|| inner.module.clone()))
        })?;
        if let Some(inner) = &mut self.inner {
            inner.kept = kept;
        }
        Ok(())
    }

    /// Makes assembly of the module that was kept, in a way that spares registers. `None` if nothing was kept or it
    /// would be the same.
    ///
    /// # Errors
    /// `E0709` when LLVM fails.
    pub(crate) fn emit_again(&mut self) -> Result<Option<String>, Diagnostic> {
        let (fuse, llvm) = (self.options.fp_fusion, self.llvm);
        let text = self.step(move |inner| {
            let Some(module) = inner.kept.clone() else { return Ok(None) };
            if fuse {
                allow_contraction(&module);
            }
            llvm.before_emission(&module, &inner.machine, Attempt::Sparing)?;
            if !order::crowded_blocks(&module, llvm) && !inner.can_spare {
                return Ok(None);
            }
            written(&module, &inner.machine, llvm).map(Some)
        })?;
        Ok(text.map(|text| self.llvm.after_emission(text)))
    }
}

/// What the back end writes for a module.
fn written(module: &LlvmModule<'_>, machine: &TargetMachine, llvm: &dyn LlvmTarget) -> Result<String, Diagnostic> {
    let failed = |e: String| Diagnostic::error(&codes::LLVM_FAILED, format!("LLVM made no assembly: {e}"));
    llvm.written(module, machine).map_err(failed)
}

/// Runs a pipeline in the text form of LLVM's `opt -passes=`.
///
/// # Errors
/// LLVM's message when the text names an unknown pass.
fn run_passes(module: &LlvmModule<'_>, machine: &TargetMachine, passes: &str, slp: bool) -> Result<(), String> {
    let options = PassBuilderOptions::create();
    options.set_loop_unrolling(true);
    options.set_loop_interleaving(true);
    options.set_loop_vectorization(true);
    options.set_loop_slp_vectorization(slp);
    module.run_passes(passes, machine, options).map_err(|e| e.to_string())
}

/// Why LLVM came to no end: an error of its own, or no thread or memory, of which it needs one and much.
fn ended(failure: Failure, fatal: impl FnOnce(String) -> Diagnostic) -> Diagnostic {
    let lacks = match failure {
        Failure::Fatal(text) => return fatal(text),
        Failure::NoThread(why) => format!("LLVM needs a thread, and the system gives none: {why}"),
        Failure::NoMemory => "LLVM needs memory, and the system gives none".to_owned(),
    };
    Diagnostic::error(&NO_RESOURCES, lacks).help(
        "run fewer jobs at once (`-j 1`), or raise the limits on memory (`ulimit -v`) and processes (`ulimit -u`)",
    )
}

/// Instructions of a function beyond which the back end selects instructions and does nothing else. 100,000 take it 3
/// seconds in full, 330,000 more than ten minutes. The few real kernels that are beyond are more than the
/// assembler finishes in five minutes.
const MOST_INSTRUCTIONS: usize = 150_000;

/// The same for blocks, between which the back end moves instructions: the time for that grows with their square.
const MOST_BLOCKS: u32 = 10_000;

fn is_huge(module: &LlvmModule<'_>) -> bool {
    let count = |f: FunctionValue<'_>| f.get_basic_block_iter().map(|b| b.get_instructions().count()).sum::<usize>();
    module.get_functions().any(|f| f.count_basic_blocks() > MOST_BLOCKS || count(f) > MOST_INSTRUCTIONS)
}

/// Lets the back end fuse `a * b + c`: the flag `contract` on every addition, subtraction and multiplication, which is
/// what Triton's `enable_fp_fusion` amounts to. Per instruction, since LLVM's switch for all of them is not in its C
/// interface.
fn allow_contraction(module: &LlvmModule<'_>) {
    let fusable = [InstructionOpcode::FAdd, InstructionOpcode::FSub, InstructionOpcode::FMul];
    for function in module.get_functions() {
        for block in function.get_basic_block_iter() {
            for instruction in block.get_instructions().filter(|i| fusable.contains(&i.get_opcode())) {
                if let Ok(flags) = instruction.get_fast_math_flags() {
                    // The opcode has been checked, so setting cannot fail.
                    let _ = instruction.set_fast_math_flags(flags | FastMathFlags::AllowContract);
                }
            }
        }
    }
}

/// What LLVM's reader says, `llir:3:37: error: use of undefined value '%q'` with the line and a caret below, as a
/// diagnostic at that place.
fn unreadable(text: &str, file: Option<&str>) -> Diagnostic {
    let parse = || {
        let mut parts = text.trim().strip_prefix("llir:")?.splitn(3, ':');
        let (line, col) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let why = parts.next()?.trim().strip_prefix("error:")?.lines().next()?;
        Some((line, col, why.trim()))
    };
    match (parse(), file) {
        (Some((line, col, why)), Some(file)) => {
            let place = Place::At { file: file.to_owned(), line, col };
            Diagnostic::error(&codes::BAD_LLIR, format!("the LLVM IR cannot be read: {why}")).at(place, "")
        }
        _ => Diagnostic::error(&codes::BAD_LLIR, format!("the LLVM IR cannot be read: {}", text.trim())),
    }
}

/// Reads LLVM IR text, as `--emit llir` writes it or Triton dumps it.
///
/// # Errors
/// `E0708` when it is no valid LLVM IR, `E0705` when it holds no kernel.
pub(crate) fn parse_llir(
    text: &str,
    options: &CodegenOptions,
    llvm: &'static dyn LlvmTarget,
) -> Result<Module, Diagnostic> {
    let isa_version = llvm.version_of_text(text, &options.target);
    let (context, messages) = Draft::context();
    let owned = floats::older(text).into_owned();
    let failed = |e: String| unreadable(&e, options.source_name.as_deref());
    let parsed = guard::run(move || {
        let buffer = MemoryBuffer::create_from_memory_range_copy(owned.as_bytes(), "llir");
        let module = extend(&context).create_module_from_ir(buffer).map_err(|e| e.to_string());
        (module, messages, context)
    });
    let (module, messages, context) = parsed.map_err(|failure| ended(failure, failed))?;
    let module = module.map_err(failed)?;
    let kernels: Vec<FunctionValue<'_>> = module.get_functions().filter(|f| is_kernel(*f, llvm)).collect();
    let names: Vec<String> = kernels.iter().map(|f| f.get_name().to_string_lossy().into_owned()).collect();
    if names.is_empty() {
        return Err(Diagnostic::error(
            &codes::NO_KERNEL,
            format!("the LLVM IR has no function of the calling convention `{}`", llvm.kernel_convention().1),
        ));
    }
    let facts = Facts {
        kernels: names,
        isa_version,
        num_warps: options.num_warps,
        num_ctas: options.num_ctas,
        ..Facts::default()
    };
    let mut module = Draft { module, messages, context }.seal(facts, options, llvm)?;
    module.foreign = true;
    module.verify(&codes::BAD_LLIR, "the LLVM IR breaks LLVM's rules")?;
    Ok(module)
}
