//! The kernels of a module, the parameters that they have, and the arguments that they take.

use super::memory::BufferId;
use crate::diag::Diagnostic;
use crate::diag::codes::interp as codes;
use crate::ir::dialects::array_map::ArrayMap;
use crate::ir::dialects::tt::tt::Func;
use crate::ir::{Ir, Name, Op, TtOp, Type};

/// The most axes that a tensor descriptor can have.
pub const MAX_DESCRIPTOR_RANK: usize = 5;

/// An argument of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arg {
    /// A buffer and a distance in bytes from its start.
    Ptr(BufferId, u64),
    /// A descriptor of a whole buffer, with the extents of its axes. Its rows follow one another.
    Desc(BufferId, [i64; MAX_DESCRIPTOR_RANK]),
    /// An integer of any width. A float parameter takes its value.
    Int(i64),
    /// A float, rounded to the parameter's type.
    Float(f64),
}

/// A parameter of a kernel, as the interpreter wants its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name in the source, if the module has kept it.
    pub name: Option<&'static str>,
    pub ty: Type,
}

/// The names of the module's kernels: public functions with a body.
#[must_use]
pub fn kernels(ir: &Ir) -> Vec<&'static str> {
    let functions = ir.functions().into_iter().filter_map(|f| Func::of(ir, f));
    let public = |f: &Func| f.sym_visibility(ir).is_none_or(|v| v == "public");
    functions.filter(|f| ir.body(f.0, 0).is_some() && public(f)).filter_map(|f| f.sym_name(ir)).collect()
}

/// The parameters of a kernel. `Err` names the kernels that there are.
pub fn params(ir: &Ir, kernel: &str) -> Result<Vec<Param>, Box<Diagnostic>> {
    let function = find_kernel(ir, kernel)?;
    let args = ir.body(function, 0).map(|b| ir.args(b)).unwrap_or_default();
    let args = &args[..ArrayMap::passed(ir, function)];
    Ok(args.iter().map(|&a| Param { name: ir.value_loc(a).value_name().map(Name::as_str), ty: ir.ty(a) }).collect())
}

/// The function of this name, if it is a kernel.
pub(crate) fn find_kernel(ir: &Ir, name: &str) -> Result<Op, Box<Diagnostic>> {
    let function = ir.function(name).filter(|&f| ir.is(f, TtOp::Func) && ir.body(f, 0).is_some());
    function.ok_or_else(|| {
        let known = kernels(ir);
        let d = Diagnostic::error(&codes::NO_KERNEL, format!("the module has no kernel `{name}`"));
        Box::new(if known.is_empty() { d } else { d.help(format!("the kernels are: {}", known.join(", "))) })
    })
}
