//! Tests of the verifier on IR made by hand. Each rule has a case that holds and cases that break it.
//!
//! [`good`] and [`bad`] make one operation whose operands are arguments of a function. The modules below use them as
//! tables, and build what needs more (regions, blocks, calls) themselves.

mod ops;
mod regions;
mod structure;
mod types;

use super::verify;
use crate::ir::core::{Attr, AttrData, Builder, FloatKind, InsertPoint, Ir, Loc, Op, Type, Value};
use crate::ir::dialects::{OpKind, TtOp};

type Attrs<'a> = &'a [(&'a str, Attr)];

fn i(width: u32) -> Type {
    Type::int(width)
}

fn f16() -> Type {
    Type::float(FloatKind::F16)
}

fn f32() -> Type {
    Type::f32()
}

fn t(shape: &[i64], elem: Type) -> Type {
    Type::tensor(shape, elem, None)
}

fn p(pointee: Type) -> Type {
    Type::ptr(pointee)
}

fn sizes(list: &[i64]) -> (&'static str, Attr) {
    ("operandSegmentSizes", Attr::i32_array(list))
}

/// Adds an empty function to the module, and returns it with its entry block's arguments.
fn function(ir: &mut Ir, name: &str, inputs: &[Type], results: &[Type]) -> (Op, Vec<Value>) {
    let loc = Loc::file("k.ttir", 1, 1);
    let block = ir.module_block();
    let mut b = Builder::new(ir, InsertPoint::End(block), loc);
    let ty = Type::function(inputs, results);
    let state = b.state(TtOp::Func).regions(1).attr("sym_name", Attr::str(name)).attr("function_type", Attr::ty(ty));
    let func = b.insert(state);
    let args: Vec<(Type, Loc)> = inputs.iter().map(|&ty| (ty, loc)).collect();
    let region = ir.region(func, 0);
    let entry = ir.add_block(region, &args);
    (func, ir.args(entry).to_vec())
}

/// A module with one function `f` that has these arguments and returns nothing. `fill` fills it in.
fn module(inputs: &[Type], fill: impl FnOnce(&mut Builder<'_>, &[Value])) -> Ir {
    let mut ir = Ir::new(Loc::unknown());
    let (func, args) = function(&mut ir, "f", inputs, &[]);
    let entry = ir.body(func, 0).unwrap();
    let mut b = Builder::new(&mut ir, InsertPoint::End(entry), Loc::file("k.ttir", 2, 3));
    fill(&mut b, &args);
    b.set_point(InsertPoint::End(entry));
    b.op(TtOp::Return, &[], &[]);
    ir
}

/// Each fault as `E0501 message`.
fn faults(ir: &Ir) -> Vec<String> {
    verify(ir).iter().map(|d| format!("{} {}", d.code.id, d.message)).collect()
}

#[track_caller]
fn holds(ir: &Ir) {
    assert_eq!(faults(ir), Vec::<String>::new());
}

/// Checks that the module has exactly these faults, each given by its code and a part of its message.
#[track_caller]
fn breaks(ir: &Ir, expected: &[(&str, &str)]) {
    let found = faults(ir);
    let as_expected = found.len() == expected.len()
        && found.iter().zip(expected).all(|(f, (code, part))| f.starts_with(code) && f.contains(part));
    assert!(as_expected, "expected {expected:#?}, found {found:#?}");
}

fn one(kind: impl Into<OpKind>, operands: &[Type], results: &[Type], attrs: Attrs<'_>) -> Ir {
    module(operands, |b, args| {
        let mut state = b.state(kind).operands(args).results(results);
        for &(name, attr) in attrs {
            state = state.attr(name, attr);
        }
        b.insert(state);
    })
}

/// Checks that one operation has no fault.
#[track_caller]
fn good(kind: impl Into<OpKind>, operands: &[Type], results: &[Type], attrs: Attrs<'_>) {
    holds(&one(kind, operands, results, attrs));
}

/// Checks that one operation has one fault.
#[track_caller]
fn bad(kind: impl Into<OpKind>, operands: &[Type], results: &[Type], attrs: Attrs<'_>, code: &str, part: &str) {
    breaks(&one(kind, operands, results, attrs), &[(code, part)]);
}

fn array(items: &[Attr]) -> Attr {
    Attr::new(AttrData::Array(items.to_vec()))
}
