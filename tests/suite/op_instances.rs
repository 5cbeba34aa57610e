//! A made instance of every operation in the tables goes to text and back.
//!
//! 1. From a table entry: operands and results of types that its constraints admit, every required attribute, an empty
//!    block a region. Three forms: with as little as may be, with one of everything, and with all attributes away from
//!    their defaults.
//! 2. The types are tried in order until the verifier finds no fault; some operations need more than their entry says
//!    (a body, say).
//! 3. The generic form reads back to itself, whatever the verifier says. What the verifier accepts does so in its own
//!    form too.

use std::collections::{BTreeMap, BTreeSet};

use ttc::ir::core::{Attr, AttrData, Block, DenseData, Ir, Loc, Name, Op, OpState, Type};
use ttc::ir::dialects::spec::{Arity, AttrKind, AttrSpec, DefaultValue, OperandSpec};
use ttc::ir::dialects::{Traits, TtOp};
use ttc::ir::text::{ParseOptions, PrintOptions, parse_module, print_module};
use ttc::ir::{OpKind, TypeData};
use ttc::source::SourceMap;

/// How much an instance has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Least,
    One,
    Everything,
}

/// At most this many choices of types are tried.
const TRIES: usize = 600;

const GENERIC: PrintOptions = PrintOptions { locations: false, generic: true };

fn try_read(text: &str) -> Result<Ir, String> {
    let mut map = SourceMap::default();
    let file = map.add("instance.mlir", None, text);
    let options = ParseOptions { value_names: false, ..ParseOptions::default() };
    parse_module(&map, file, &options).map_err(|e| format!("{} at {:?}", e[0].message, e[0].place()))
}

fn read(text: &str) -> Ir {
    try_read(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Types from which operands and results are chosen; read from text so that they are written as users write them.
fn palette() -> Vec<Type> {
    let text = r"
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#v = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>
tt.func private @types(i32, f32, i1, i64, !tt.ptr<f32>, tensor<16xi32>, tensor<16xf32>, tensor<16xi1>, tensor<16xi64>, tensor<16x!tt.ptr<f32>>, tensor<16x16xf16>,
  tensor<16x16xf32>, tensor<1xf32>, tensor<2x16xi32>, tensor<16x1xi32>, !ttg.memdesc<16x16xf16, #s, #ttg.shared_memory, mutable>, !ttg.memdesc<1xi64, #v, #ttg.shared_memory, mutable>,
  !ttg.memdesc<128x16xf32, #t, #ttng.tensor_memory, mutable>, !tt.tensordesc<16xf32>, !tt.tensordesc<16x16xf16, #s>, !ttg.async.token, f16, index, f8E5M2, tensor<16xf8E5M2>, !tt.ptr<tensor<16xf32>>,
  tensor<16x16xf16, #b>, tensor<16x16xi32, #b>, tensor<16x16xf32, #b>, i128, i16, i8, tensor<16xi16>, tensor<16xi8>)";
    let ir = read(text);
    let ty = ir.stored_attr(ir.functions()[0], "function_type").and_then(Attr::as_type).unwrap();
    let TypeData::Function { inputs, .. } = ty.data() else { panic!("{ty}") };
    inputs.clone()
}

fn attribute(spec: &AttrSpec, ty: Type) -> Attr {
    match &spec.kind {
        AttrKind::Unit => Attr::unit(),
        AttrKind::Bool => Attr::bool(true),
        AttrKind::Int(w) => Attr::int(if spec.name == "axis" { 0 } else { 16 }, Type::int(*w)),
        AttrKind::Enum(e) | AttrKind::Flags(e) => Attr::i32(e.cases[e.cases.len() - 1].1),
        AttrKind::F32 => Attr::float(1.5, ttc::ir::core::FloatKind::F32),
        AttrKind::Str | AttrKind::Any => Attr::str("r"),
        AttrKind::Symbol => Attr::symbol("f"),
        AttrKind::Type => Attr::ty(Type::function(&[], &[])),
        AttrKind::DenseArray(w) => Attr::new(AttrData::DenseArray(Type::int(*w), vec![0])),
        AttrKind::Array => Attr::new(AttrData::Array(vec![Attr::i32(1)])),
        AttrKind::Dict => Attr::new(AttrData::Dict(vec![(Name::of("k"), Attr::unit())])),
        AttrKind::Typed if ty.is_tensor() => Attr::new(AttrData::Dense(ty, DenseData::Splat(1))),
        AttrKind::Typed => Attr::i32(1),
    }
}

/// How many values a group has.
fn count(spec: &OperandSpec, form: Form) -> usize {
    match (spec.arity, form) {
        (Arity::One, _) => 1,
        (_, Form::Least) => 0,
        (Arity::Optional, _) | (Arity::Variadic, Form::One) => 1,
        (Arity::Variadic, Form::Everything) => 2,
    }
}

/// A module with a function that holds one such operation; `types` has one for each group of operands, then of results.
fn instance(kind: OpKind, form: Form, types: &[Type]) -> (Ir, Op) {
    let spec = kind.spec();
    let mut ir = Ir::new(Loc::unknown());
    let mut inputs = vec![];
    let sizes: Vec<usize> = spec.operands.iter().map(|s| count(s, form)).collect();
    for (&n, &ty) in sizes.iter().zip(types) {
        inputs.extend(std::iter::repeat_n(ty, n));
    }
    let outputs: Vec<Type> = spec
        .results
        .iter()
        .zip(&types[sizes.len()..])
        .flat_map(|(s, &ty)| std::iter::repeat_n(ty, count(s, form)))
        .collect();
    let state = OpState::new(TtOp::Func, Loc::unknown())
        .attr("sym_name", Attr::str("f"))
        .attr("function_type", Attr::ty(Type::function(&inputs, &[])))
        .regions(1);
    let func = ir.create_op(state);
    let module = ir.module_block();
    ir.append(module, func);
    let args: Vec<_> = inputs.iter().map(|&ty| (ty, Loc::unknown())).collect();
    let region = ir.region(func, 0);
    let body = ir.add_block(region, &args);
    let target = if spec.successors > 0 { vec![ir.add_block(region, &[]); spec.successors] } else { vec![] };
    let op = add(&mut ir, kind, form, body, &target, &outputs, &sizes);
    for block in target.first().copied().into_iter().chain((!kind.is_terminator()).then_some(body)) {
        let end = ir.create_op(OpState::new(TtOp::Return, Loc::unknown()));
        ir.append(block, end);
    }
    (ir, op)
}

fn add(ir: &mut Ir, kind: OpKind, form: Form, body: Block, target: &[Block], outputs: &[Type], sizes: &[usize]) -> Op {
    let spec = kind.spec();
    let first = outputs.first().copied().unwrap_or(Type::int(32));
    let operands = ir.args(body).to_vec();
    let mut state = OpState::new(kind, Loc::unknown()).operands(&operands).results(outputs).successors(target);
    for a in spec.attrs {
        if matches!(a.default, DefaultValue::Required) || form == Form::Everything {
            state = state.attr(a.name, attribute(a, first));
        }
    }
    if kind.has(Traits::ATTR_SIZED_OPERANDS) {
        let sizes: Vec<i64> = sizes.iter().map(|&n| n as i64).collect();
        state = state.attr("operandSegmentSizes", Attr::i32_array(&sizes));
    }
    if spec.results.iter().filter(|r| r.arity != Arity::One).count() > 1 {
        let sizes: Vec<i64> = spec.results.iter().map(|r| count(r, form) as i64).collect();
        state = state.attr("resultSegmentSizes", Attr::i32_array(&sizes));
    }
    let op = ir.create_op(state.regions(spec.regions.len()));
    ir.append(body, op);
    for &region in &ir.regions_of(op).to_vec() {
        ir.add_block(region, &[]);
    }
    op
}

/// The first choice of types that the verifier accepts, else the first.
fn choose(kind: OpKind, form: Form, palette: &[Type]) -> (Ir, bool) {
    let spec = kind.spec();
    let groups: Vec<Vec<Type>> = spec
        .operands
        .iter()
        .chain(spec.results)
        .map(|s| palette.iter().copied().filter(|&ty| (s.constraint.holds)(ty)).collect::<Vec<_>>())
        .collect();
    assert!(groups.iter().all(|g| !g.is_empty()), "{}: no type for an operand or result", kind.name());
    let mut at = vec![0; groups.len()];
    for _ in 0..TRIES {
        let types: Vec<Type> = groups.iter().zip(&at).map(|(g, &i)| g[i]).collect();
        let (ir, _) = instance(kind, form, &types);
        // What an operation's own text leaves out is computed from the rest, so the types have to fit together in that
        // way too.
        if ttc::ir::verify::verify(&ir).is_empty() && try_read(&print_module(&ir, &PrintOptions::default())).is_ok() {
            return (ir, true);
        }
        let Some(next) = (0..at.len()).find(|&i| at[i] + 1 < groups[i].len()) else { break };
        at[next] += 1;
        at[..next].fill(0);
    }
    let types: Vec<Type> = groups.iter().map(|g| g[0]).collect();
    (instance(kind, form, &types).0, false)
}

#[test]
fn an_instance_of_every_operation_goes_to_text_and_back() {
    let palette = palette();
    let (mut accepted, mut all) = (BTreeSet::new(), BTreeMap::new());
    for kind in OpKind::all().filter(|k| !matches!(k, OpKind::Builtin(ttc::ir::dialects::BuiltinOp::Module))) {
        for form in [Form::Least, Form::One, Form::Everything] {
            let (ir, valid) = choose(kind, form, &palette);
            let made = print_module(&ir, &GENERIC);
            assert!(made.contains(&format!("\"{}\"", kind.name())), "{made}");
            let back = read(&made);
            assert_eq!(print_module(&back, &GENERIC), made, "{} {form:?}", kind.name());
            *all.entry(kind.name()).or_insert(0) += 1;
            if valid {
                accepted.insert(kind.name());
                let own = print_module(&back, &PrintOptions::default());
                let again = read(&own);
                assert_eq!(print_module(&again, &GENERIC), made, "{} {form:?}\n{own}", kind.name());
                assert_eq!(print_module(&again, &PrintOptions::default()), own, "{} {form:?}", kind.name());
            }
        }
    }
    let rest: Vec<&str> = all.keys().copied().filter(|n| !accepted.contains(n)).collect();
    println!("{} operations, {} with an instance that is valid; not: {rest:?}", all.len(), accepted.len());
    assert!(accepted.len() * 10 >= all.len() * 6, "{} of {}: {rest:?}", accepted.len(), all.len());
}

/// Every lit input that parses prints to what parses to the same text.
#[test]
fn every_lit_file_goes_to_text_and_back() {
    let (mut files, mut modules) = (0, 0);
    let mut queue = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")];
    while let Some(path) = queue.pop() {
        if path.is_dir() {
            queue.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        if !path.extension().is_some_and(|e| e == "mlir" || e == "ttir" || e == "ttgir") {
            continue;
        }
        files += 1;
        let whole = std::fs::read_to_string(&path).unwrap();
        for text in whole.split("// -----") {
            let mut map = SourceMap::default();
            let file = map.add("lit.mlir", None, text);
            let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
            let Ok(ir) = parse_module(&map, file, &options) else { continue };
            for print in [PrintOptions::with_locations(), GENERIC, PrintOptions::default()] {
                if !print.generic && !ttc::ir::verify::verify(&ir).is_empty() {
                    continue;
                }
                let once = print_module(&ir, &print);
                let file = map.add("again.mlir", None, once.as_str());
                let again = parse_module(&map, file, &options)
                    .unwrap_or_else(|e| panic!("{}: {}\n{once}", path.display(), e[0].message));
                assert_eq!(print_module(&again, &print), once, "{}", path.display());
                modules += 1;
            }
        }
    }
    assert!(files > 40 && modules > 200, "{files} files, {modules} modules");
}
