//! Counts, constraints, attributes, terminators, successors, dominance, symbols, use lists.

use super::*;
use crate::diag::Place;
use crate::ir::core::Name;
use crate::ir::dialects::{ArithOp, CfOp, MathOp, ScfOp};

#[test]
fn counts_of_operands_and_results() {
    good(ArithOp::Addi, &[i(32), i(32)], &[i(32)], &[]);
    bad(ArithOp::Addi, &[i(32)], &[i(32)], &[], "E0502", "1 operand, expected 2");
    bad(ArithOp::Addi, &[i(32), i(32)], &[], &[], "E0502", "0 results, expected 1");
    bad(TtOp::Store, &[p(f32())], &[], &[], "E0502", "1 operand, expected 2 to 3");
    breaks(&one(ScfOp::For, &[i(32)], &[], &[]), &[("E0502", "1 operand, expected at least 3")]);
}

#[test]
fn constraints_of_types() {
    good(MathOp::Exp, &[f32()], &[f32()], &[]);
    // The result's type is as bad, but it follows the operand's.
    breaks(
        &one(MathOp::Exp, &[i(32)], &[i(32)], &[]),
        &[("E0502", "operand `operand` has type i32, expected floating-point-like")],
    );
}

#[test]
fn segment_sizes() {
    let ptr = t(&[16], p(f32()));
    let (value, mask) = (t(&[16], f32()), t(&[16], i(1)));
    good(TtOp::Load, &[ptr, mask, value], &[value], &[sizes(&[1, 1, 1])]);
    good(TtOp::Load, &[ptr], &[value], &[sizes(&[1, 0, 0])]);
    bad(TtOp::Load, &[ptr], &[value], &[], "E0503", "`operandSegmentSizes` is missing");
    bad(TtOp::Load, &[ptr], &[value], &[sizes(&[1, 0])], "E0503", "expected an array of 3 sizes");
    bad(TtOp::Load, &[ptr], &[value], &[sizes(&[0, 1, 0])], "E0503", "gives 0 to `ptr`");
    bad(TtOp::Load, &[ptr, mask], &[value], &[sizes(&[1, 1, 1])], "E0503", "add up to 3");
    bad(TtOp::Load, &[ptr, mask], &[value], &[sizes(&[1, -1, 2])], "E0503", "gives -1 to `mask`");
    bad(ArithOp::Addi, &[i(32), i(32)], &[i(32)], &[sizes(&[9, 9])], "E0503", "does not belong");
}

#[test]
fn attributes() {
    let axis = |a| [("axis", a)];
    good(TtOp::GetProgramId, &[], &[i(32)], &axis(Attr::i32(2)));
    bad(TtOp::GetProgramId, &[], &[i(32)], &[], "E0503", "`axis` is missing");
    bad(
        TtOp::GetProgramId,
        &[],
        &[i(32)],
        &axis(Attr::i32(3)),
        "E0503",
        "expected the number of a case of grid dimension",
    );
    bad(TtOp::GetProgramId, &[], &[i(32)], &axis(Attr::str("x")), "E0503", "`axis`");
    let two = [i(32), i(32)];
    good(ArithOp::Addi, &two, &[i(32)], &[("overflowFlags", Attr::i32(3))]);
    bad(ArithOp::Addi, &two, &[i(32)], &[("overflowFlags", Attr::i32(4))], "E0503", "overflowFlags");
    bad(ArithOp::Extui, &[i(8)], &[i(32)], &[("nonNeg", Attr::i32(1))], "E0503", "unit attribute");
}

#[test]
fn every_kind_of_attribute_has_values_that_it_takes() {
    use crate::ir::dialects::enums::{Enumeration, FASTMATH, ProgramDim};
    use crate::ir::dialects::spec::AttrKind;
    let takes = |kind: AttrKind, yes: Attr, no: Attr| {
        assert!(super::super::structure::is_of_kind(yes, &kind), "{yes}");
        assert!(!super::super::structure::is_of_kind(no, &kind), "{no}");
    };
    takes(AttrKind::Unit, Attr::unit(), Attr::i32(0));
    takes(AttrKind::Bool, Attr::bool(true), Attr::i32(1));
    takes(AttrKind::Int(64), Attr::int(1, i(64)), Attr::i32(1));
    takes(AttrKind::Enum(ProgramDim::SPEC), Attr::i32(1), Attr::i32(5));
    takes(AttrKind::Flags(&FASTMATH), Attr::i32(3), Attr::i32(128));
    takes(AttrKind::F32, Attr::float(1.0, FloatKind::F32), Attr::float(1.0, FloatKind::F64));
    takes(AttrKind::Str, Attr::str("a"), Attr::symbol("a"));
    takes(AttrKind::Symbol, Attr::symbol("a"), Attr::str("a"));
    takes(AttrKind::Type, Attr::ty(i(1)), Attr::unit());
    takes(AttrKind::DenseArray(32), Attr::i32_array(&[1]), Attr::new(AttrData::DenseArray(i(64), vec![1])));
    takes(AttrKind::Array, array(&[]), Attr::unit());
    takes(AttrKind::Dict, Attr::new(AttrData::Dict(vec![])), array(&[]));
    takes(AttrKind::Typed, Attr::i32(1), Attr::str("a"));
}

#[test]
fn regions_and_terminators() {
    let ir = module(&[], |b, _| {
        b.op(TtOp::Return, &[], &[]);
    });
    breaks(&ir, &[("E0504", "before the end of its block")]);

    let mut ir = Ir::new(Loc::unknown());
    let (func, _) = function(&mut ir, "f", &[], &[]);
    breaks(&ir, &[("E0504", "has no terminator: it is empty")]);
    let entry = ir.body(func, 0).unwrap();
    Builder::new(&mut ir, InsertPoint::End(entry), Loc::unknown()).i32(1);
    breaks(&ir, &[("E0504", "`arith.constant`: it is the last of a block of `tt.func`")]);

    bad(ScfOp::If, &[i(1)], &[], &[], "E0504", "0 regions, expected 2");
    let ir = module(&[i(1)], |b, args| {
        let state = b.state(ScfOp::If).operands(args).regions(2);
        let op = b.insert(state);
        for _ in 0..2 {
            let block = b.ir.add_block(b.ir.region(op, 0), &[]);
            let end = b.ir.create_op(crate::ir::core::OpState::new(ScfOp::Yield, Loc::unknown()));
            b.ir.append(block, end);
        }
    });
    breaks(&ir, &[("E0504", "region `then` has 2 blocks, expected one")]);
}

/// A function `f(c: i1, x: i32)` whose blocks are entry → a (with an i32) → b.
fn branches(passed: impl Fn(&[Value]) -> Vec<Value>, back: bool) -> Ir {
    let mut ir = Ir::new(Loc::unknown());
    let (func, args) = function(&mut ir, "f", &[i(1), i(32)], &[]);
    let region = ir.region(func, 0);
    let entry = ir.entry(region).unwrap();
    let a = ir.add_block(region, &[(i(32), Loc::unknown())]);
    let last = ir.add_block(region, &[]);
    let mut b = Builder::new(&mut ir, InsertPoint::End(entry), Loc::unknown());
    let passed = passed(&args);
    let groups = sizes(&[1, passed.len() as i64, 0]);
    let state =
        b.state(CfOp::CondBr).operands(&args[..1]).operands(&passed).successors(&[a, last]).attr(groups.0, groups.1);
    b.insert(state);
    b.set_point(InsertPoint::End(a));
    let state = b.state(CfOp::Br).successors(&[if back { entry } else { last }]);
    b.insert(state);
    b.set_point(InsertPoint::End(last));
    b.op(TtOp::Return, &[], &[]);
    ir
}

#[test]
fn successors() {
    holds(&branches(|args| vec![args[1]], false));
    breaks(&branches(|_| vec![], false), &[("E0504", "passes 0 values to successor #0, expected 1")]);
    breaks(&branches(|args| vec![args[0]], false), &[("E0504", "has type i1, expected i32")]);
    breaks(&branches(|args| vec![args[1]], true), &[("E0504", "the entry block")]);
    bad(CfOp::Assert, &[i(1)], &[], &[], "E0503", "`msg` is missing");
    let ir = module(&[i(32)], |b, args| {
        let other = b.ir.module_block();
        let entry = b.ir.value_block(args[0]).unwrap();
        let region = b.ir.parent_region(entry).unwrap();
        let next = b.ir.add_block(region, &[]);
        b.set_point(InsertPoint::End(next));
        let state = b.state(CfOp::Br).successors(&[other]);
        b.insert(state);
        b.set_point(InsertPoint::End(entry));
    });
    let found = faults(&ir);
    assert!(found.iter().any(|f| f.contains("successor #0 is a block of another region")), "{found:?}");
}

#[test]
fn dominance_in_one_block() {
    let ir = module(&[], |b, _| {
        let x = b.i32(1);
        let def = b.ir.def_op(x).unwrap();
        let user = b.value(ArithOp::Addi, &[x, x], i(32));
        let user = b.ir.def_op(user).unwrap();
        b.ir.move_before(user, def);
    });
    breaks(&ir, &[("E0505", "operand #0 is a result of `arith.constant`, which stands after it")]);
    let ir = module(&[i(32)], |b, args| {
        let user = b.value(ArithOp::Addi, &[args[0], args[0]], i(32));
        let op = b.ir.def_op(user).unwrap();
        b.ir.set_operand(op, 1, user);
    });
    breaks(&ir, &[("E0505", "operand #1 is a result of the operation itself")]);
}

#[test]
fn dominance_across_blocks_and_regions() {
    // The constant of block a does not reach the last block, which the entry also jumps to.
    let mut ir = branches(|args| vec![args[1]], false);
    let func = ir.function("f").unwrap();
    let blocks = ir.blocks_of(ir.region(func, 0)).to_vec();
    let constant = Builder::new(&mut ir, InsertPoint::Start(blocks[1]), Loc::unknown()).i32(1);
    let mut user = Builder::new(&mut ir, InsertPoint::Start(blocks[2]), Loc::unknown());
    user.value(ArithOp::Addi, &[constant, constant], i(32));
    let found = faults(&ir);
    assert!(found.len() == 1 && found[0].contains("through which control need not have come"), "{found:?}");
    // From the entry it does reach it.
    let def = ir.def_op(constant).unwrap();
    let first = ir.first_op(blocks[0]).unwrap();
    ir.move_before(def, first);
    holds(&ir);
    // Another function does not see it.
    let (other, _) = function(&mut ir, "g", &[], &[]);
    let entry = ir.body(other, 0).unwrap();
    let mut b = Builder::new(&mut ir, InsertPoint::End(entry), Loc::unknown());
    b.value(MathOp::Absi, &[constant], i(32));
    b.op(TtOp::Return, &[], &[]);
    breaks(&ir, &[("E0505", "operand #0 is defined outside of `tt.func`")]);
}

#[test]
fn results_of_detached_operations_are_not_available() {
    let ir = module(&[], |b, _| {
        let x = b.i32(1);
        b.value(MathOp::Absi, &[x], i(32));
        let def = b.ir.def_op(x).unwrap();
        b.ir.detach(def);
    });
    breaks(&ir, &[("E0505", "no longer in the module")]);
}

#[test]
fn uses_by_detached_operations_are_found() {
    let ir = module(&[i(32)], |b, args| {
        let x = b.value(MathOp::Absi, &[args[0]], i(32));
        let op = b.ir.def_op(x).unwrap();
        b.ir.detach(op);
    });
    breaks(&ir, &[("E0510", "a use of its value is recorded that does not exist")]);
}

fn call(callee: &str, args: &[Type], results: &[Type]) -> Ir {
    let mut ir = one(TtOp::Call, args, results, &[("callee", Attr::symbol(callee))]);
    let (func, values) = function(&mut ir, "g", &[f32()], &[f32()]);
    let entry = ir.body(func, 0).unwrap();
    Builder::new(&mut ir, InsertPoint::End(entry), Loc::unknown()).op(TtOp::Return, &values, &[]);
    ir
}

#[test]
fn symbols_and_calls() {
    holds(&call("g", &[f32()], &[f32()]));
    breaks(&call("h", &[f32()], &[f32()]), &[("E0506", "no function @h")]);
    breaks(&call("g", &[i(32)], &[f32()]), &[("E0506", "argument #0 has type i32, and that of @g has type f32")]);
    breaks(&call("g", &[], &[f32()]), &[("E0506", "0 arguments, and @g has 1")]);
    breaks(&call("g", &[f32()], &[f16()]), &[("E0506", "result #0")]);
    let mut ir = call("g", &[f32()], &[f32()]);
    let func = ir.function("g").unwrap();
    ir.set_attr(func, "sym_name", Attr::str("f"));
    breaks(&ir, &[("E0506", "already has a symbol @f"), ("E0506", "no function @g")]);
}

#[test]
fn unregistered_operations_may_be_anything() {
    let ir = module(&[i(32)], |b, args| {
        let state = b.state(OpKind::Unregistered(Name::of("my.op"))).operands(args).results(&[i(1)]).regions(1);
        let op = b.insert(state);
        b.ir.add_block(b.ir.region(op, 0), &[]);
    });
    holds(&ir);
}

#[test]
fn a_fault_points_at_the_operation() {
    let found = verify(&one(MathOp::Absi, &[i(32)], &[i(8)], &[]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place(), Some(&Place::At { file: "k.ttir".to_owned(), line: 2, col: 3 }));
    assert!(found[0].message.starts_with("`math.absi`: "), "{}", found[0].message);
}

#[test]
fn erased_operations_are_not_looked_at() {
    let ir = module(&[f32()], |b, args| {
        let x = b.value(MathOp::Exp, &[args[0]], i(8));
        let op = b.ir.def_op(x).unwrap();
        b.ir.erase_op(op);
    });
    holds(&ir);
}
