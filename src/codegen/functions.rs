//! Functions: what a kernel and a called function look like in LLVM, and calls between them.
//!
//! | | kernel | called function (private, left by `inline`) |
//! |---|---|---|
//! | calling convention | the machine's for kernels | `fastcc`, internal linkage |
//! | parameters | its own, then the hidden ones | the registers of its own, then the shared memory and the scratch memory that it may use |
//! | result | none | the registers of its results: one as such, several as a struct |
//! | attributes | the machine's | `convergent`, and `noinline` where the IR says so; `alwaysinline` otherwise |
//!
//! 1. [`Functions::of_module`] lists the kernels and, callees first, what they reach through calls. A call of a kernel,
//!    of itself or of something without a body is refused here.
//! 2. Callees are declared and lowered first, so a call finds what it calls.
//! 3. A callee's offsets in shared memory and in scratch memory count from where the call's piece starts in its caller,
//!    so the call passes that address on. A callee that needs neither gets no parameter for it.
//!
//! Example: `tt.func private @f(%p: !tt.ptr<f32>) -> (f32, i32)` with a reduction becomes
//! `define internal fastcc { float, i32 } @f(ptr addrspace(1), ptr addrspace(3)) convergent noinline`.

use std::collections::BTreeSet;

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::Linkage;
use inkwell::types::{AnyType, BasicTypeEnum};
use inkwell::values::FunctionValue;

use super::declared::Declared;
use super::llvm::Facts;
use super::lower::{Lower, Res, Val, defect, located};
use super::machine::KernelShape;
use crate::analysis::programs::programs;
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::discardable::{DIVISIBILITY, GLOBAL_OFFSET, MAX_REGISTERS, NOINLINE, OFFSET};
use crate::ir::dialects::keys::{Int, Key};
use crate::ir::dialects::tt::tt::{Call, Func};
use crate::ir::{Attr, Ir, Op, Type, TypeData};
use crate::layout::encodings::DESCRIPTOR_BYTES;

/// LLVM's number of the calling convention `fastcc`.
pub(crate) const FAST: u32 = 8;

/// The functions of a module that become code.
pub(crate) struct Functions {
    pub(crate) kernels: Vec<Op>,
    /// What kernels call, directly or not: callees first.
    pub(crate) called: Vec<Op>,
}

impl Functions {
    /// Lists the functions of a module that become code (step 1).
    ///
    /// # Errors
    /// E0705 without a kernel, E0706 for calls that no code can be made for.
    pub(crate) fn of_module(ir: &Ir) -> Result<Functions, Vec<Diagnostic>> {
        let kernels: Vec<Op> = ir.functions().into_iter().filter(|&f| is_kernel(ir, f)).collect();
        if kernels.is_empty() {
            return Err(vec![Diagnostic::error(&codes::NO_KERNEL, "the module has no public function with a body")]);
        }
        let mut walk = Walk { ir, path: vec![], done: BTreeSet::new(), called: vec![], errors: vec![] };
        for &kernel in &kernels {
            walk.visit(kernel);
        }
        if !walk.errors.is_empty() {
            return Err(walk.errors);
        }
        let called = walk.called.into_iter().filter(|f| !kernels.contains(f)).collect();
        Ok(Functions { kernels, called })
    }
}

/// A walk over the graph of calls.
struct Walk<'a> {
    ir: &'a Ir,
    /// The functions that are being visited, each called by the one before.
    path: Vec<Op>,
    done: BTreeSet<Op>,
    called: Vec<Op>,
    errors: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn visit(&mut self, func: Op) {
        if !self.done.insert(func) {
            return;
        }
        self.path.push(func);
        for call in self.ir.all_ops(func).into_iter().filter_map(|op| Call::of(self.ir, op)) {
            let name = call.callee(self.ir).unwrap_or("?");
            match self.ir.function(name) {
                Some(callee) => match self.refused(callee, name) {
                    Some(found) => self.errors.push(located(found, self.ir.loc(call.0))),
                    None => self.visit(callee),
                },
                None => self.errors.push(located(no_body(name), self.ir.loc(call.0))),
            }
        }
        self.path.pop();
        self.called.push(func);
    }

    /// Why a function cannot be called.
    fn refused(&self, callee: Op, name: &str) -> Option<Diagnostic> {
        let found = if self.path.contains(&callee) {
            let text = format!("`{name}` calls itself");
            Diagnostic::error(&codes::BAD_CALL, text).help("a GPU has no stack for that; write a loop")
        } else if self.ir.body(callee, 0).is_none() {
            no_body(name)
        } else if is_kernel(self.ir, callee) {
            let text = format!("`{name}` is a kernel, which only the host can start");
            Diagnostic::error(&codes::BAD_CALL, text).help("make it private: `tt.func private`")
        } else {
            return None;
        };
        Some(found)
    }
}

fn no_body(name: &str) -> Diagnostic {
    Diagnostic::error(&codes::BAD_CALL, format!("`{name}` is called, but has no body"))
        .help("put its definition into the module")
}

/// Public functions with a body are kernels.
fn is_kernel(ir: &Ir, func: Op) -> bool {
    let public = Func(func).sym_visibility(ir).is_none_or(|v| v == "public");
    public && ir.body(func, 0).is_some()
}

fn function_type(ir: &Ir, func: Op) -> Res<(&'static [Type], &'static [Type])> {
    match Func(func).function_type(ir).map(Type::data) {
        Some(TypeData::Function { inputs, results }) => Ok((inputs, results)),
        _ => Err(defect("a function without a type")),
    }
}

impl<'c> Lower<'c, '_> {
    /// Declares a kernel.
    pub(crate) fn declare_kernel(&self, func: Op, name: &str, facts: &Facts) -> Res<Declared<'c>> {
        let (inputs, results) = function_type(self.ir, func)?;
        if !results.is_empty() {
            return Err(Diagnostic::error(&codes::UNSUPPORTED_OP, "a kernel cannot return values")
                .help("store the results through pointers"));
        }
        if let Some(ty) = inputs.iter().find(|ty| ty.is_tensor()) {
            return Err(Diagnostic::error(
                &codes::UNSUPPORTED_TYPE,
                format!("a kernel's parameter cannot be a tensor, `{ty}`"),
            ));
        }
        let mut params: Vec<BasicTypeEnum<'c>> = inputs.iter().map(|&ty| self.elem_type(ty)).collect::<Res<_>>()?;
        let scratch = self.llvm.ptr_type(AddressSpace::from(self.machine.spaces().global));
        params.extend(vec![BasicTypeEnum::from(scratch); facts.hidden_params as usize]);
        let function = self.module.add_function(name, self.fn_type(None, &params), None);
        function.set_call_conventions(self.machine.llvm().kernel_convention().0);
        let threads = facts.num_warps * self.options.target.warp_size();
        let stated = self.ir.get(self.ir.module(), MAX_REGISTERS).and_then(|n| u32::try_from(n).ok());
        let max_registers = self.options.maxnreg.or(stated);
        let shape = KernelShape { threads, max_registers, blocks: facts.num_ctas, programs: programs(self.ir, func) };
        self.machine.describe_kernel(self, function, &shape);
        enum_attribute(self.llvm, function, "nounwind");
        let places: Vec<u32> = (0..inputs.len() as u32).collect();
        self.align_params(func, function, inputs, &places);
        self.pass_descriptors(function, inputs);
        let scratch = (facts.hidden_params > 0).then_some(inputs.len() as u32);
        Ok(Declared { function, shared: None, scratch, kernel: true })
    }

    /// Declares a function that kernels call.
    pub(crate) fn declare_called(&self, func: Op, name: &str) -> Res<Declared<'c>> {
        let (inputs, results) = function_type(self.ir, func)?;
        if let Some(&ty) = inputs.iter().chain(results).find(|ty| ty.as_memdesc().is_some()) {
            // Where barriers must stand is not known across functions.
            let text = format!("`{ty}` cannot be handed to or returned by a function that is not inlined");
            return Err(Diagnostic::error(&codes::UNSUPPORTED_TYPE, text).help("do not mark the function `noinline`"));
        }
        let (mut params, mut places) = (vec![], vec![]);
        for &ty in inputs {
            places.push(params.len() as u32);
            params.extend(self.register_types(ty)?);
        }
        let uses = |key: Key<Int<32>>| self.ir.all_ops(func).into_iter().any(|op| self.ir.get(op, key).is_some());
        let spaces = self.machine.spaces();
        let mut pointer = |wanted: bool, space: u16| {
            wanted.then(|| {
                params.push(self.llvm.ptr_type(AddressSpace::from(space)).into());
                params.len() as u32 - 1
            })
        };
        let (shared, scratch) = (pointer(uses(OFFSET), spaces.shared), pointer(uses(GLOBAL_OFFSET), spaces.global));
        let ty = self.fn_type(self.result_type(results)?, &params);
        let function = self.module.add_function(&symbol(name), ty, Some(Linkage::Internal));
        function.set_call_conventions(FAST);
        // The function may hold barriers and shuffles, so no call may move into or out of a branch.
        enum_attribute(self.llvm, function, "convergent");
        enum_attribute(self.llvm, function, "nounwind");
        let noinline = self.ir.get(func, NOINLINE).unwrap_or(false);
        enum_attribute(self.llvm, function, if noinline { "noinline" } else { "alwaysinline" });
        self.align_params(func, function, inputs, &places);
        Ok(Declared { function, shared, scratch, kernel: false })
    }

    /// The LLVM type that holds the registers of these results.
    fn result_type(&self, results: &[Type]) -> Res<Option<BasicTypeEnum<'c>>> {
        let types = results.iter().map(|&ty| self.register_types(ty)).collect::<Res<Vec<_>>>()?.concat();
        Ok(match types.as_slice() {
            [] => None,
            [one] => Some(*one),
            many => Some(self.llvm.struct_type(many, false).into()),
        })
    }

    /// Descriptors are passed by value, in parameters that the hardware reads where they are (CUDA driver API,
    /// `CUtensorMap`: 64-byte alignment).
    fn pass_descriptors(&self, function: FunctionValue<'c>, inputs: &[Type]) {
        let bytes = self.llvm.i8_type().array_type(DESCRIPTOR_BYTES);
        for (place, _) in inputs.iter().enumerate().filter(|(_, ty)| matches!(***ty, TypeData::TensorDesc { .. })) {
            let at = AttributeLoc::Param(place as u32);
            function.add_attribute(
                at,
                self.llvm.create_type_attribute(Attribute::get_named_enum_kind_id("byval"), bytes.as_any_type_enum()),
            );
            function.add_attribute(at, self.llvm.create_enum_attribute(Attribute::get_named_enum_kind_id("align"), 64));
            self.machine.describe_descriptor(self, function, place as u32);
        }
    }

    /// Passes the known alignment of pointer parameters on.
    fn align_params(&self, func: Op, function: FunctionValue<'c>, inputs: &[Type], places: &[u32]) {
        for (index, (ty, &place)) in inputs.iter().zip(places).enumerate() {
            let known = self.ir.param_attr(func, index, DIVISIBILITY).and_then(Attr::as_int);
            if let Some(align) =
                known.and_then(|v| u32::try_from(v).ok()).filter(|a| a.is_power_of_two() && ty.is_ptr())
            {
                function.set_param_alignment(place, align.min(128));
            }
        }
    }

    /// Makes a function's parameters the registers of the arguments of its first block.
    pub(crate) fn bind_params(&mut self, func: Op) -> Res<()> {
        let ir = self.ir;
        let Some(first) = ir.body(func, 0) else { return Err(defect("a function without a body")) };
        let mut params = self.declared.function.get_params().into_iter();
        for &arg in ir.args(first) {
            let count = self.register_types(ir.ty(arg))?.len();
            let regs: Vec<Val<'c>> = params.by_ref().take(count).collect();
            match regs[..] {
                [parameter] if self.declared.kernel && matches!(*ir.ty(arg), TypeData::TensorDesc { .. }) => {
                    let address = self.machine.descriptor_address(self, parameter)?;
                    self.set(arg, vec![address]);
                }
                _ if regs.len() == count => self.set(arg, regs),
                _ => return Err(defect("a parameter too few")),
            }
        }
        Ok(())
    }
}

/// The name with only characters that assemblers take: mangled names hold the values of compile-time arguments. Where
/// two names become equal, LLVM numbers them.
fn symbol(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '$') { c } else { '_' }).collect()
}

fn enum_attribute(llvm: &Context, function: FunctionValue<'_>, name: &str) {
    let kind = Attribute::get_named_enum_kind_id(name);
    function.add_attribute(AttributeLoc::Function, llvm.create_enum_attribute(kind, 0));
}
