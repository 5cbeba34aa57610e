//! Rules of operations with regions: functions, loops, reductions.

use super::*;
use crate::ir::core::{Block, OpState};
use crate::ir::dialects::{ArithOp, ScfOp};

/// Gives a new operation a block for each region, with arguments and an end.
fn with_regions(b: &mut Builder<'_>, state: OpState, regions: &[(&[Type], Option<(OpKind, usize)>)]) -> Op {
    let op = b.insert(state.regions(regions.len()));
    for (index, (args, end)) in regions.iter().enumerate() {
        let Some((kind, returned)) = end else { continue };
        let block = add(b, op, index, args);
        let values = b.ir.args(block).to_vec();
        let values = &values[values.len() - returned..];
        let end = b.ir.create_op(OpState::new(*kind, Loc::unknown()).operands(values));
        b.ir.append(block, end);
    }
    op
}

fn add(b: &mut Builder<'_>, op: Op, index: usize, args: &[Type]) -> Block {
    let args: Vec<(Type, Loc)> = args.iter().map(|&ty| (ty, Loc::unknown())).collect();
    let region = b.ir.region(op, index);
    b.ir.add_block(region, &args)
}

fn regional(
    kind: impl Into<OpKind>,
    operands: &[Type],
    results: &[Type],
    attrs: Attrs<'_>,
    regions: &[(&[Type], Option<(OpKind, usize)>)],
) -> Ir {
    module(operands, |b, args| {
        let mut state = b.state(kind).operands(args).results(results);
        for &(name, attr) in attrs {
            state = state.attr(name, attr);
        }
        with_regions(b, state, regions);
    })
}

const YIELD: OpKind = OpKind::Scf(ScfOp::Yield);

#[test]
fn functions() {
    let change = |f: &dyn Fn(&mut Ir, Op)| {
        let mut ir = module(&[i(32)], |_, _| {});
        let func = ir.function("f").unwrap();
        f(&mut ir, func);
        ir
    };
    let set = |name: &'static str, attr: Attr| change(&move |ir, func| ir.set_attr(func, name, attr));
    let dict = Attr::new(AttrData::Dict(vec![]));
    holds(&set("arg_attrs", array(&[dict])));
    breaks(&set("arg_attrs", array(&[])), &[("E0501", "arg_attrs has 0 entries, and the function's type 1")]);
    breaks(&set("arg_attrs", array(&[Attr::unit()])), &[("E0501", "no dictionary")]);
    breaks(&set("function_type", Attr::ty(i(32))), &[("E0501", "no function type")]);
    breaks(
        &set("function_type", Attr::ty(Type::function(&[f32()], &[]))),
        &[("E0501", "entry block arguments has type i32, expected f32")],
    );
    breaks(
        &set("function_type", Attr::ty(Type::function(&[i(32)], &[f32()]))),
        &[("E0501", "0 values to return from @f, expected 1")],
    );
    breaks(&module(&[], |b, _| drop(function(b.ir, "g", &[], &[]))), &[("E0504", "it is empty")]);
}

#[test]
fn terminators_stand_in_their_operations() {
    let in_if = |kind: OpKind| regional(ScfOp::If, &[i(1)], &[], &[], &[(&[], Some((kind, 0))), (&[], None)]);
    holds(&in_if(YIELD));
    breaks(
        &in_if(TtOp::Return.into()),
        &[("E0501", "`scf.if`: a region ends in `tt.return`"), ("E0501", "stands in `scf.if`, expected `tt.func`")],
    );
    breaks(&in_if(TtOp::ScanReturn.into()), &[("E0501", "ends in"), ("E0501", "expected `tt.scan`")]);
}

#[test]
fn counted_loops() {
    let f = |bounds: Type, args: &[Type], results: &[Type], yields: usize| {
        regional(ScfOp::For, &[bounds, bounds, bounds, f32()], results, &[], &[(args, Some((YIELD, yields)))])
    };
    holds(&f(i(32), &[i(32), f32()], &[f32()], 1));
    breaks(&f(i(64), &[i(32), f32()], &[f32()], 1), &[("E0501", "induction variable has type i32")]);
    breaks(
        &f(i(32), &[i(32), f16()], &[f32()], 1),
        &[("E0501", "carried region arguments has type f16, expected f32")],
    );
    breaks(&f(i(32), &[i(32), f32()], &[f32()], 0), &[("E0501", "0 yielded values, expected 1")]);
    breaks(&f(i(32), &[i(32), f32()], &[], 1), &[("E0501", "0 results, expected 1")]);
    breaks(&f(i(32), &[], &[f32()], 0), &[("E0501", "no argument for the induction variable")]);
    let mixed = regional(ScfOp::For, &[i(32), i(64), i(32)], &[], &[], &[(&[i(32)], Some((YIELD, 0)))]);
    breaks(&mixed, &[("E0501", "upper bound has type i64")]);
    breaks(&regional(ScfOp::For, &[i(32); 3], &[], &[], &[(&[], None)]), &[("E0501", "region `body` is empty")]);
}

#[test]
fn conditions() {
    let none: &[Type] = &[];
    holds(&regional(ScfOp::If, &[i(1)], &[], &[], &[(none, Some((YIELD, 0))), (none, Some((YIELD, 0)))]));
    breaks(
        &regional(ScfOp::If, &[i(1)], &[i(32)], &[], &[(none, Some((YIELD, 0))), (none, None)]),
        &[("E0501", "values yielded by `then`")],
    );
    breaks(
        &regional(ScfOp::If, &[i(1)], &[], &[], &[(none, None), (none, None)]),
        &[("E0501", "region `then` is empty")],
    );
    breaks(
        &regional(ScfOp::If, &[i(1)], &[], &[], &[(&[i(8)], Some((YIELD, 0))), (none, None)]),
        &[("E0501", "has arguments")],
    );
    let ir = module(&[i(1), i(32)], |b, args| {
        let state = b.state(ScfOp::If).operands(&args[..1]).results(&[i(32)]).regions(2);
        let op = b.insert(state);
        let block = add(b, op, 0, &[]);
        let end = b.ir.create_op(OpState::new(ScfOp::Yield, Loc::unknown()).operands(&args[1..]));
        b.ir.append(block, end);
    });
    breaks(&ir, &[("E0501", "region `else` is empty, and there are results")]);
}

#[test]
fn conditional_loops() {
    let condition: OpKind = ScfOp::Condition.into();
    let f = |before: &[Type], passed: usize, after: &[Type]| {
        let regions = [(before, Some((condition, passed))), (after, Some((YIELD, 1)))];
        regional(ScfOp::While, &[i(1)], &[i(1)], &[], &regions)
    };
    breaks(&f(&[i(1), i(1)], 2, &[i(1)]), &[("E0501", "2 arguments of region `before`, expected 1")]);
    breaks(&f(&[i(1)], 1, &[i(1)]), &[("E0501", "0 values passed on by `scf.condition`, expected 1")]);
    let passing = |after: Type| {
        module(&[i(1)], |b, args| {
            let state = b.state(ScfOp::While).operands(args).results(&[i(1)]).regions(2);
            let op = b.insert(state);
            for (index, kind) in [(0, condition), (1, YIELD)] {
                let block = add(b, op, index, &[if index == 0 { i(1) } else { after }]);
                let arg = b.ir.args(block)[0];
                let values = if index == 0 { vec![arg, arg] } else { vec![arg] };
                let end = b.ir.create_op(OpState::new(kind, Loc::unknown()).operands(&values));
                b.ir.append(block, end);
            }
        })
    };
    holds(&passing(i(1)));
    breaks(&passing(i(8)), &[("E0501", "arguments of region `after` has type i8, expected i1")]);
}

#[test]
fn reductions() {
    let end: OpKind = TtOp::ReduceReturn.into();
    let src = t(&[8, 16], f32());
    let f = |axis: i64, result: Type, args: &[Type], returned: usize| {
        regional(TtOp::Reduce, &[src], &[result], &[("axis", Attr::i32(axis))], &[(args, Some((end, returned)))])
    };
    let two = [f32(), f32()];
    holds(&f(1, t(&[8], f32()), &two, 1));
    holds(&regional(TtOp::Reduce, &[t(&[8], f32())], &[f32()], &[("axis", Attr::i32(0))], &[(&two, Some((end, 1)))]));
    breaks(&f(2, t(&[8], f32()), &two, 1), &[("E0501", "its axis is 2, and its operands have rank 2")]);
    breaks(&f(-1, t(&[8], f32()), &two, 1), &[("E0501", "its axis is -1")]);
    breaks(&f(0, t(&[8], f32()), &two, 1), &[("E0501", "expected the shape [16]")]);
    breaks(&f(1, t(&[8], f16()), &two, 1), &[("E0501", "elements f16, expected f32")]);
    breaks(&f(1, f32(), &two, 1), &[("E0501", "expected the shape [8]")]);
    breaks(&f(1, t(&[8], f32()), &two[..1], 1), &[("E0501", "1 arguments of its region, expected 2")]);
    breaks(&f(1, t(&[8], f32()), &two, 2), &[("E0501", "2 values that its region returns, expected 1")]);
    breaks(
        &regional(TtOp::Reduce, &[], &[], &[("axis", Attr::i32(0))], &[(&[], Some((end, 0)))]),
        &[("E0501", "no operands")],
    );
    let wrong_end =
        regional(TtOp::Reduce, &[src], &[t(&[8], f32())], &[("axis", Attr::i32(1))], &[(&two, Some((YIELD, 1)))]);
    breaks(&wrong_end, &[("E0501", "ends in `scf.yield`"), ("E0501", "stands in `tt.reduce`")]);
}

#[test]
fn scans() {
    let end: OpKind = TtOp::ScanReturn.into();
    let f = |axis: i64, result: Type| {
        let attrs = [("axis", Attr::i32(axis)), ("reverse", Attr::bool(false))];
        regional(TtOp::Scan, &[t(&[8], i(32))], &[result], &attrs, &[(&[i(32), i(32)], Some((end, 1)))])
    };
    holds(&f(0, t(&[8], i(32))));
    breaks(&f(1, t(&[8], i(32))), &[("E0501", "its axis is 1")]);
    breaks(&f(0, t(&[8], i(64))), &[("E0501", "results has type tensor<8xi64>, expected tensor<8xi32>")]);
}

#[test]
fn elementwise_maps() {
    let end: OpKind = TtOp::MapElementwiseReturn.into();
    let f = |pack: i64, args: &[Type], returned: usize| {
        let ty = t(&[8], i(32));
        regional(TtOp::MapElementwise, &[ty], &[ty], &[("pack", Attr::i32(pack))], &[(args, Some((end, returned)))])
    };
    holds(&f(2, &[i(32), i(32)], 2));
    breaks(&f(3, &[i(32); 3], 3), &[("E0501", "pack is 3")]);
    breaks(
        &f(2, &[i(32)], 1),
        &[("E0501", "its region has 1 arguments, expected 2"), ("E0501", "it returns 1 values, expected 2")],
    );
    breaks(
        &f(1, &[f32()], 1),
        &[("E0501", "has type f32, expected i32"), ("E0501", "it returns has type f32, expected i32")],
    );
    breaks(&f(2, &[i(32), i(32)], 1), &[("E0501", "returns 1 values, expected 2")]);
}

#[test]
fn nested_values_reach_outwards_only() {
    let ir = module(&[i(1), i(32)], |b, args| {
        let state = b.state(ScfOp::If).operands(&args[..1]).regions(2);
        let op = b.insert(state);
        let block = add(b, op, 0, &[]);
        let mut inner = Builder::new(b.ir, InsertPoint::End(block), Loc::unknown());
        let sum = inner.value(ArithOp::Addi, &[args[1], args[1]], i(32));
        inner.op(ScfOp::Yield, &[], &[]);
        b.value(ArithOp::Addi, &[sum, args[1]], i(32));
    });
    breaks(&ir, &[("E0505", "operand #0 is defined in a region that is not around the operation")]);
}
