//! Prints the operations that have no declarative format. [`super::custom_parse`] reads what is written here.

use super::printer::Printer;
use crate::ir::core::{Attr, AttrData, Block, Name, Op, Type, TypeData, Value};
use crate::ir::dialects::{ArithOp, BuiltinOp, CfOp, OpKind, ScfOp, TtOp, TtgOp};

/// Writes the operation after its results, with its name. The result is `false` if nothing was written and the generic
/// form is needed.
pub(super) fn print(p: &mut Printer<'_>, op: Op, kind: OpKind) -> bool {
    let blocks = |region: usize| p.ir.regions_of(op).get(region).map_or(0, |&r| p.ir.blocks_of(r).len());
    match kind {
        OpKind::Builtin(BuiltinOp::Module) => module(p, op),
        OpKind::Tt(TtOp::Func) => return func(p, op),
        OpKind::Arith(ArithOp::Constant) => constant(p, op),
        OpKind::Arith(ArithOp::Select) => select(p, op),
        OpKind::Scf(ScfOp::For) if blocks(0) == 1 => return scf_for(p, op),
        OpKind::Scf(ScfOp::If) if blocks(0) == 1 && blocks(1) <= 1 => scf_if(p, op),
        OpKind::Scf(ScfOp::While) if blocks(0) == 1 && blocks(1) == 1 => return scf_while(p, op),
        OpKind::Scf(ScfOp::ExecuteRegion) => execute_region(p, op),
        OpKind::Cf(CfOp::Br) => branch(p, op),
        OpKind::Cf(CfOp::CondBr) => cond_branch(p, op),
        OpKind::Ttg(TtgOp::Barrier) => barrier(p, op),
        OpKind::Ttg(TtgOp::WarpSpecialize) => return warp_specialize(p, op),
        _ => return false,
    }
    true
}

fn module(p: &mut Printer<'_>, op: Op) {
    p.push("module");
    if let Some(name) = p.ir.str_attr(op, "sym_name") {
        p.push(" ");
        p.text.symbol_name(name);
    }
    p.attr_dict_without(op, &["sym_name"], true);
    p.push(" ");
    p.region(p.ir.region(op, 0), true, true, false);
}

fn constant(p: &mut Printer<'_>, op: Op) {
    p.push("arith.constant");
    p.attr_dict_without(op, &["value"], false);
    if let Some(value) = p.ir.stored_attr(op, "value") {
        p.push(" ");
        p.text.attr(value);
    }
}

fn select(p: &mut Printer<'_>, op: Op) {
    p.push("arith.select ");
    p.values(p.ir.operands(op));
    p.attr_dict_without(op, &[], false);
    p.push(" : ");
    let condition = p.ir.ty(p.ir.operand(op, 0));
    if condition.is_tensor() {
        p.text.ty(condition);
        p.push(", ");
    }
    p.text.ty(p.ir.ty(p.ir.result(op)));
}

/// The entries of the attributes of an argument or a result.
fn attr_list(dicts: Option<Attr>, index: usize) -> &'static [(Name, Attr)] {
    let AttrData::Array(items) = dicts.map_or(&AttrData::Unit, Attr::data) else { return &[] };
    match items.get(index).map(|a| a.data()) {
        Some(AttrData::Dict(entries)) => entries,
        _ => &[],
    }
}

fn func(p: &mut Printer<'_>, op: Op) -> bool {
    let Some(ty) = p.ir.stored_attr(op, "function_type").and_then(Attr::as_type) else { return false };
    let TypeData::Function { inputs, results } = ty.data() else { return false };
    let Some(name) = p.ir.str_attr(op, "sym_name") else { return false };
    let entry = p.ir.entry(p.ir.region(op, 0));
    if entry.is_some_and(|b| p.ir.args(b).len() != inputs.len()) {
        return false;
    }
    p.push("tt.func ");
    if let Some(visibility) = p.ir.str_attr(op, "sym_visibility") {
        p.push(visibility);
        p.push(" ");
    }
    p.text.symbol_name(name);
    p.push("(");
    let arg_attrs = p.ir.stored_attr(op, "arg_attrs");
    for (i, &input) in inputs.iter().enumerate() {
        p.push(if i > 0 { ", " } else { "" });
        if let Some(b) = entry {
            p.region_argument(p.ir.args(b)[i], attr_list(arg_attrs, i));
        } else {
            p.text.ty(input);
            p.attr_dict(attr_list(arg_attrs, i), false);
        }
    }
    p.push(")");
    func_results(p, results, p.ir.stored_attr(op, "res_attrs"));
    p.attr_dict_without(op, &["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"], true);
    if entry.is_some() {
        p.push(" ");
        p.region(p.ir.region(op, 0), false, true, false);
    }
    true
}

fn func_results(p: &mut Printer<'_>, results: &[Type], attrs: Option<Attr>) {
    if results.is_empty() {
        return;
    }
    p.push(" -> ");
    if results.len() == 1 && attr_list(attrs, 0).is_empty() {
        p.text.result_types(results);
        return;
    }
    p.push("(");
    for (i, &ty) in results.iter().enumerate() {
        p.push(if i > 0 { ", " } else { "" });
        p.text.ty(ty);
        p.attr_dict(attr_list(attrs, i), false);
    }
    p.push(")");
}

/// Writes `(%a = %b, %c = %d)` behind `before`, or nothing.
fn init_list(p: &mut Printer<'_>, before: &str, args: &[Value], inits: &[Value]) {
    if inits.is_empty() {
        return;
    }
    p.push(before);
    p.push("(");
    for (i, (&arg, &init)) in args.iter().zip(inits).enumerate() {
        p.push(if i > 0 { ", " } else { "" });
        p.value(arg);
        p.push(" = ");
        p.value(init);
    }
    p.push(")");
}

fn scf_for(p: &mut Printer<'_>, op: Op) -> bool {
    let body = p.ir.entry(p.ir.region(op, 0)).expect("checked: one block");
    let (args, operands) = (p.ir.args(body), p.ir.operands(op));
    if args.len() + 2 != operands.len() || p.ir.results(op).len() + 3 != operands.len() {
        return false;
    }
    p.push(if p.ir.stored_attr(op, "unsignedCmp").is_some() { "scf.for unsigned " } else { "scf.for " });
    p.value(args[0]);
    p.push(" = ");
    p.value(operands[0]);
    p.push(" to ");
    p.value(operands[1]);
    p.push(" step ");
    p.value(operands[2]);
    let inits = &operands[3..];
    init_list(p, " iter_args", &args[1..], inits);
    if !inits.is_empty() {
        p.push(" -> (");
        p.type_list(inits);
        p.push(")");
    }
    p.push(" ");
    let iv = p.ir.ty(args[0]);
    if !matches!(iv.data(), TypeData::Index) {
        p.push(" : ");
        p.text.ty(iv);
        p.push(" ");
    }
    p.region(p.ir.region(op, 0), false, !inits.is_empty(), false);
    p.attr_dict_without(op, &["unsignedCmp"], false);
    true
}

fn scf_if(p: &mut Printer<'_>, op: Op) {
    p.push("scf.if ");
    p.value(p.ir.operand(op, 0));
    let results = p.ir.results(op);
    if !results.is_empty() {
        p.push(" -> (");
        p.type_list(results);
        p.push(")");
    }
    p.push(" ");
    p.region(p.ir.region(op, 0), false, !results.is_empty(), false);
    if !p.ir.blocks_of(p.ir.region(op, 1)).is_empty() {
        p.push(" else ");
        p.region(p.ir.region(op, 1), false, !results.is_empty(), false);
    }
    p.attr_dict_without(op, &[], false);
}

fn scf_while(p: &mut Printer<'_>, op: Op) -> bool {
    let before = p.ir.entry(p.ir.region(op, 0)).expect("checked: one block");
    let (args, inits) = (p.ir.args(before), p.ir.operands(op));
    if args.len() != inits.len() {
        return false;
    }
    p.push("scf.while");
    init_list(p, " ", args, inits);
    p.push(" : ");
    let (inputs, results) = (p.types(inits), p.types(p.ir.results(op)));
    p.text.function_type(&inputs, &results);
    p.push(" ");
    p.region(p.ir.region(op, 0), false, true, false);
    p.push(" do ");
    p.region(p.ir.region(op, 1), true, true, false);
    p.attr_dict_without(op, &[], true);
    true
}

fn execute_region(p: &mut Printer<'_>, op: Op) {
    p.push("scf.execute_region");
    let types = p.types(p.ir.results(op));
    if !types.is_empty() {
        p.push(" -> ");
        p.text.result_types(&types);
    }
    p.push(if p.ir.stored_attr(op, "no_inline").is_some() { " no_inline " } else { " " });
    p.region(p.ir.region(op, 0), false, true, false);
    p.attr_dict_without(op, &["no_inline"], false);
}

fn target(p: &mut Printer<'_>, block: Block, args: &[Value]) {
    p.block_name(block);
    if !args.is_empty() {
        p.push("(");
        p.values(args);
        p.push(" : ");
        p.type_list(args);
        p.push(")");
    }
}

fn branch(p: &mut Printer<'_>, op: Op) {
    p.push("cf.br ");
    target(p, p.ir.successors(op)[0], p.ir.operands(op));
    p.attr_dict_without(op, &[], false);
}

fn cond_branch(p: &mut Printer<'_>, op: Op) {
    p.push("cf.cond_br ");
    p.value(p.ir.operand(op, 0));
    if let Some(weights) = p.ir.stored_attr(op, "branch_weights").and_then(Attr::as_dense_array) {
        p.push(" weights([");
        p.text.commas(weights, |t, w| t.push(&w.to_string()));
        p.push("])");
    }
    p.push(", ");
    target(p, p.ir.successors(op)[0], p.ir.operand_group(op, 1));
    p.push(", ");
    target(p, p.ir.successors(op)[1], p.ir.operand_group(op, 2));
    p.attr_dict_without(op, &["branch_weights"], false);
}

/// The address spaces of `ttg.barrier`, by bit.
pub(super) const ADDRESS_SPACES: [(&str, i64); 5] =
    [("local", 1), ("global_read", 2), ("global_write", 4), ("tensor_read", 8), ("tensor_write", 16)];

fn barrier(p: &mut Printer<'_>, op: Op) {
    let bits = p.ir.int_attr(op, "addrSpace").unwrap_or(31);
    p.push("ttg.barrier ");
    let words: Vec<&str> = ADDRESS_SPACES.iter().filter(|s| bits & s.1 != 0).map(|s| s.0).collect();
    p.push(&match bits {
        31 => "all".to_owned(),
        0 => "none".to_owned(),
        _ => words.join("|"),
    });
}

/// Writes captures, the default region, and the partitions that the operation in the second region holds.
fn warp_specialize(p: &mut Printer<'_>, op: Op) -> bool {
    let holder = p.ir.entry(p.ir.region(op, 1)).and_then(|b| p.ir.first_op(b));
    let Some(partitions) = holder.filter(|&h| p.ir.is(h, TtgOp::WarpSpecializePartitions)) else { return false };
    let warps = p.ir.attr(op, "partitionNumWarps").and_then(Attr::as_dense_array).unwrap_or(&[]);
    let regions = p.ir.regions_of(partitions);
    if warps.len() != regions.len() || regions.iter().any(|&r| p.ir.entry(r).is_none()) {
        return false;
    }
    let captures = p.ir.operands(partitions);
    p.push("ttg.warp_specialize(");
    p.values(captures);
    p.push(")");
    p.attr_dict_without(op, &["partitionNumWarps"], true);
    p.newline();
    p.push("default ");
    p.region(p.ir.region(op, 0), false, true, false);
    for (i, (&region, warps)) in regions.iter().zip(warps).enumerate() {
        p.newline();
        p.push(&format!("partition{i}("));
        let args = p.ir.entry(region).map_or(&[][..], |b| p.ir.args(b));
        for (j, &arg) in args.iter().enumerate() {
            p.push(if j > 0 { ", " } else { "" });
            p.region_argument(arg, &[]);
        }
        p.push(&format!(") num_warps({warps}) "));
        p.region(region, false, true, false);
    }
    p.push(" : ");
    let (inputs, results) = (p.types(captures), p.types(p.ir.results(op)));
    p.text.function_type(&inputs, &results);
    true
}
