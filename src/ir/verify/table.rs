//! What the tables state: how many operands, results, regions and successors, of which types, and which attributes.

use crate::ir::core::{Attr, AttrData, Ir, Op, Type, TypeData, Value};
use crate::ir::dialects::spec::{Arity, AttrKind, AttrSpec, DefaultValue, OperandSpec};
use crate::ir::dialects::{OpKind, Traits};

type Check = Result<(), String>;

/// Counts and types of operands and results.
pub(super) fn operands(ir: &Ir, op: Op) -> Check {
    let spec = ir.spec(op);
    let sizes = segment_sizes(ir, op, "operandSegmentSizes", spec.operands, ir.operands(op).len())?;
    if sizes.is_none() && spec.has(Traits::ATTR_SIZED_OPERANDS) {
        return Err("must say in `operandSegmentSizes` which operands are which".to_owned());
    }
    group_types(ir, "operand", spec.operands, ir.operands(op), sizes)?;
    let sizes = segment_sizes(ir, op, "resultSegmentSizes", spec.results, ir.results(op).len())?;
    group_types(ir, "result", spec.results, ir.results(op), sizes)
}

/// The stored sizes of groups, checked against how many values there are and may be.
fn segment_sizes(ir: &Ir, op: Op, name: &str, specs: &[OperandSpec], total: usize) -> Result<Option<&'static [i64]>, String> {
    let Some(attr) = ir.stored_attr(op, name) else { return Ok(None) };
    let sizes = attr.as_dense_array().filter(|s| s.len() == specs.len() && s.iter().all(|n| *n >= 0));
    let Some(sizes) = sizes else { return Err(format!("`{name}` must hold {} sizes, found `{attr}`", specs.len())) };
    let sum = sizes.iter().try_fold(0i64, |a, &b| a.checked_add(b));
    if sum != i64::try_from(total).ok() {
        return Err(format!("`{name}` must add up to {total}, found `{attr}`"));
    }
    Ok(Some(sizes))
}

fn group_types(ir: &Ir, what: &str, specs: &[OperandSpec], values: &[Value], sizes: Option<&[i64]>) -> Check {
    let ones = specs.iter().filter(|s| s.arity == Arity::One).count();
    let open = specs.len() - ones;
    let spare = values
        .len()
        .checked_sub(ones)
        .filter(|&n| sizes.is_some() || n == 0 || (open == 1 && (n == 1 || specs.iter().any(|s| s.arity == Arity::Variadic))));
    let Some(spare) = spare else {
        let wanted = if open == 0 { ones.to_string() } else { format!("at least {ones}") };
        return Err(format!("expected {wanted} {what}s, found {}", values.len()));
    };
    let mut at = 0;
    for (i, s) in specs.iter().enumerate() {
        let n = match (sizes, s.arity) {
            (Some(sizes), _) => sizes[i] as usize,
            (None, Arity::One) => 1,
            (None, _) if open == 1 => spare,
            (None, _) => 0,
        };
        let fits = match s.arity {
            Arity::One => n == 1,
            Arity::Optional => n <= 1,
            Arity::Variadic => true,
        };
        if !fits {
            return Err(format!("expected {} {what} `{}`, found {n}", if s.arity == Arity::One { "one" } else { "at most one" }, s.name));
        }
        for &value in &values[at..at + n] {
            let ty = ir.ty(value);
            if !(s.constraint.holds)(ty) {
                return Err(format!("{what} `{}` must be {}, found `{ty}`", s.name, s.constraint.what));
            }
        }
        at += n;
    }
    Ok(())
}

/// Required attributes are there, and all that the table knows have the form it says.
pub(super) fn attributes(ir: &Ir, op: Op) -> Check {
    for spec in ir.spec(op).attrs {
        match ir.stored_attr(op, spec.name) {
            None if matches!(spec.default, DefaultValue::Required) => return Err(format!("the attribute `{}` is missing", spec.name)),
            Some(value) if !has_kind(spec, value) => {
                return Err(format!("the attribute `{}` must be {}, found `{value}`", spec.name, kind_name(spec)));
            }
            _ => {}
        }
    }
    Ok(())
}

fn has_kind(spec: &AttrSpec, value: Attr) -> bool {
    let int = |w: u32| matches!(value.data(), AttrData::Int(_, t) if t.is_int_of(w));
    match &spec.kind {
        AttrKind::Unit => matches!(value.data(), AttrData::Unit),
        AttrKind::Bool => int(1),
        AttrKind::Int(w) => int(*w),
        AttrKind::Enum(e) => int(32) && value.as_int().is_some_and(|v| e.case(v).is_some()),
        AttrKind::Flags(e) => int(32) && value.as_int().is_some_and(|v| v & !e.cases.iter().fold(0, |all, c| all | c.1) == 0),
        AttrKind::F32 => matches!(value.data(), AttrData::Float(_, crate::ir::core::FloatKind::F32)),
        AttrKind::Str => matches!(value.data(), AttrData::Str(_)),
        AttrKind::Symbol => matches!(value.data(), AttrData::Symbol(_)),
        AttrKind::Type => matches!(value.data(), AttrData::Type(_)),
        AttrKind::DenseArray(w) => matches!(value.data(), AttrData::DenseArray(t, _) if t.is_int_of(*w)),
        AttrKind::Array => matches!(value.data(), AttrData::Array(_)),
        AttrKind::Dict => matches!(value.data(), AttrData::Dict(_)),
        AttrKind::Typed => value.type_of().is_some(),
        AttrKind::Any => true,
    }
}

fn kind_name(spec: &AttrSpec) -> String {
    match &spec.kind {
        AttrKind::Unit => "without a value".to_owned(),
        AttrKind::Bool => "`true` or `false`".to_owned(),
        AttrKind::Int(w) => format!("an integer of type `i{w}`"),
        AttrKind::Enum(e) | AttrKind::Flags(e) => format!("a {}", e.name),
        AttrKind::F32 => "a float of type `f32`".to_owned(),
        AttrKind::Str => "a string".to_owned(),
        AttrKind::Symbol => "a symbol".to_owned(),
        AttrKind::Type => "a type".to_owned(),
        AttrKind::DenseArray(w) => format!("an array of `i{w}`"),
        AttrKind::Array => "an array".to_owned(),
        AttrKind::Dict => "a dictionary".to_owned(),
        AttrKind::Typed => "a value with a type".to_owned(),
        AttrKind::Any => "an attribute".to_owned(),
    }
}

/// Counts of regions and blocks; each block ends in a terminator and has no other.
pub(super) fn regions(ir: &Ir, op: Op) -> Check {
    let (kind, spec) = (ir.kind(op), ir.spec(op));
    let regions = ir.regions_of(op);
    let known = !matches!(kind, OpKind::Unregistered(_));
    let open = spec.regions.last().is_some_and(|r| r.ends_with('*'));
    if known && if open { regions.len() + 1 < spec.regions.len() } else { regions.len() != spec.regions.len() } {
        return Err(format!("expected {} regions, found {}", spec.regions.len(), regions.len()));
    }
    for &region in regions {
        let blocks = ir.blocks_of(region);
        if spec.has(Traits::SINGLE_BLOCK) && blocks.len() > 1 {
            return Err(format!("a region must have one block, found {}", blocks.len()));
        }
        for &block in blocks {
            let last = ir.last_op(block);
            let ended = last.is_some_and(|l| ir.kind(l).is_terminator() || matches!(ir.kind(l), OpKind::Unregistered(_)));
            if known && !ended && !spec.has(Traits::NO_TERMINATOR) {
                let found = last.map_or("nothing".to_owned(), |l| format!("`{}`", ir.op_name(l)));
                return Err(format!("a block must end in a terminator, found {found}"));
            }
            if let Some(early) = ir.ops(block).find(|&o| Some(o) != last && ir.kind(o).is_terminator()) {
                return Err(format!("`{}` must be the last operation of its block", ir.op_name(early)));
            }
        }
    }
    if kind.is_terminator() && ir.parent_block(op).is_some_and(|b| ir.last_op(b) != Some(op)) {
        // Said at the operation around it.
        return Ok(());
    }
    if kind.has(Traits::SYMBOL) && ir.parent_op(op) != Some(ir.module()) && op != ir.module() {
        return Err("a symbol must stand directly in the module".to_owned());
    }
    Ok(())
}

/// Successors are other blocks of the region, and take what the branch passes.
pub(super) fn successors(ir: &Ir, op: Op) -> Check {
    let (spec, successors) = (ir.spec(op), ir.successors(op));
    if successors.len() != spec.successors {
        return Err(format!("expected {} successors, found {}", spec.successors, successors.len()));
    }
    let region = ir.parent_block(op).and_then(|b| ir.parent_region(b));
    for (i, &block) in successors.iter().enumerate() {
        if ir.parent_region(block) != region {
            return Err("a successor must be a block of the same region".to_owned());
        }
        if region.and_then(|r| ir.entry(r)) == Some(block) {
            return Err("the entry block of a region must not be a successor".to_owned());
        }
        // The last groups belong to the successors, in order.
        let group = spec.operands.len() - successors.len() + i;
        let types = |values: &[Value]| -> Vec<Type> { values.iter().map(|&v| ir.ty(v)).collect() };
        let (passed, taken) = (types(ir.operand_group(op, group)), types(ir.args(block)));
        if spec.has(Traits::BRANCH) && passed != taken {
            let text = crate::ir::dialects::verify::type_names;
            return Err(format!(
                "the values passed to successor {i} must have the types of its arguments: expected {}, found {}",
                text(&taken),
                text(&passed)
            ));
        }
    }
    Ok(())
}

/// Whether a type is a tensor of pointers' or block pointer's pointee; here for [`super::traits`].
pub(super) fn block_pointee(ty: Type) -> Option<Type> {
    match ty.data() {
        TypeData::Pointer { pointee, .. } if pointee.is_tensor() => Some(*pointee),
        _ => None,
    }
}
