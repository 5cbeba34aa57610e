//! Rules of the `tt` dialect: functions, arithmetic, dots, reductions. Shapes are in `tt_shape`, memory in `tt_memory`.

use super::{body, count, ending, ensure, inside, operand_ty, result_ty, same_types, types_are};
use crate::ir::core::{AttrData, Encoding, Ir, Op, Type, TypeData, Value};
use crate::ir::dialects::array_map::ArrayMap;
use crate::ir::dialects::enums::{InputPrecision, ScaledElem};
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::tt::tt as view;
use crate::ir::dialects::{BuiltinOp, OpKind, TtOp};

// ---- functions ----

/// In a module; entry arguments and attribute lists as the type says.
pub fn func(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Builtin(BuiltinOp::Module)])?;
    let ty = view::Func(op).function_type(ir);
    let Some(TypeData::Function { inputs, results }) = ty.map(Type::data) else {
        return Err("attribute `function_type` is no function type".to_owned());
    };
    for (name, expected) in [("arg_attrs", inputs.len()), ("res_attrs", results.len())] {
        let Some(attr) = ir.stored_attr(op, name) else { continue };
        let AttrData::Array(items) = attr.data() else { continue };
        ensure!(items.len() == expected, "{name} has {} entries, and the function's type {expected}", items.len());
        ensure!(items.iter().all(|a| matches!(**a, AttrData::Dict(_))), "{name} holds something that is no dictionary");
    }
    (0..inputs.len()).try_for_each(|index| ArrayMap::check(ir, op, index))?;
    let Some(entry) = ir.body(op, 0) else { return Ok(()) };
    types_are(ir, "entry block arguments", ir.args(entry), inputs.iter().copied())
}

/// In a function, with its result types.
pub fn r#return(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Tt(TtOp::Func)])?;
    let func = ir.parent_op(op).ok_or("it is in no function")?;
    let ty = view::Func::of(ir, func).and_then(|f| f.function_type(ir));
    let Some(TypeData::Function { results, .. }) = ty.map(Type::data) else { return Ok(()) };
    let name = view::Func::of(ir, func).and_then(|f| f.sym_name(ir)).unwrap_or_default();
    types_are(ir, &format!("values to return from @{name}"), ir.operands(op), results.iter().copied())
}

// ---- arithmetic ----

/// A narrowing conversion says how it rounds.
pub fn fp_to_fp(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    let narrows = to.bit_width() < from.bit_width();
    ensure!(
        !narrows || view::FpToFp(op).rounding(ir).is_some(),
        "it narrows {from} to {to}, expected attribute `rounding`"
    );
    Ok(())
}

/// Pointers to pointers of one address space, or numbers of one width.
pub fn bitcast(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0).elem(), result_ty(ir, op).elem());
    match (from.data(), to.data()) {
        (TypeData::Pointer { space: a, .. }, TypeData::Pointer { space: b, .. }) => {
            ensure!(a == b, "it casts a pointer to address space {a} to one to address space {b}");
        }
        (TypeData::Pointer { .. }, _) | (_, TypeData::Pointer { .. }) => {
            return Err(format!(
                "it casts {from} to {to}; between pointers and integers use `tt.ptr_to_int` and `tt.int_to_ptr`"
            ));
        }
        _ => {
            let number = |t: Type| t.is_int() || t.is_float();
            ensure!(number(from) && number(to), "it casts {from} to {to}, expected integers, floats or pointers");
            let (a, b) = (from.bit_width().unwrap_or(0), to.bit_width().unwrap_or(0));
            ensure!(a == b, "it casts {a} bits to {b} bits ({from} to {to}), expected one width");
        }
    }
    Ok(())
}

/// The operands are split evenly into packs.
pub fn elementwise_inline_asm(ir: &Ir, op: Op) -> VerifyResult {
    let pack = view::ElementwiseInlineAsm(op).packed_element(ir).unwrap_or(1);
    ensure!(pack >= 1, "packed_element is {pack}, expected at least 1");
    if let Some(&first) = ir.operands(op).first() {
        let ty = ir.ty(first);
        let n = if ty.is_tensor() { count(ty.shape()).unwrap_or(0) } else { 0 };
        ensure!(
            n % pack == 0,
            "the first operand has {n} elements, expected a multiple of packed_element, which is {pack}"
        );
    }
    ensure!(!ir.results(op).is_empty(), "it has no results, expected at least 1");
    Ok(())
}

/// An entry of `isSigned` for each argument; without arguments Triton writes one all the same.
pub fn print(ir: &Ir, op: Op) -> VerifyResult {
    let signs = view::Print(op).isSigned(ir).map_or(0, <[i64]>::len);
    let args = ir.operands(op).len();
    ensure!(args == 0 || signs == args, "isSigned has {signs} entries, expected one for each of the {args} arguments");
    Ok(())
}

/// A bit or a tensor of bits.
pub fn assert(ir: &Ir, op: Op) -> VerifyResult {
    let ty = operand_ty(ir, op, 0);
    ensure!(ty.elem().is_int_of(1), "the condition has type {ty}, expected i1 or a tensor of i1");
    Ok(())
}

// ---- dots ----

/// `[b,] m × k`, `[b,] k × n`, `[b,] m × n` of numbers; the operands of equal width, with layouts that fit together.
pub fn dot(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, c) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 2));
    for (name, ty) in [("a", a), ("b", b), ("c", c)] {
        ensure!(
            ty.elem().is_float() || ty.elem().is_int(),
            "operand `{name}` has type {ty}, expected a tensor of floats or integers"
        );
    }
    ensure!(
        a.bit_width() == b.bit_width(),
        "the operands have elements {} and {}, expected one width",
        a.elem(),
        b.elem()
    );
    let (ashape, bshape, cshape) = (a.shape(), b.shape(), c.shape());
    let rank = ashape.len();
    ensure!(rank == 2 || rank == 3, "operand `a` has type {a}, expected two dimensions, or three with a batch");
    ensure!(
        bshape.len() == rank && cshape.len() == rank,
        "the operands have ranks {rank}, {} and {}",
        bshape.len(),
        cshape.len()
    );
    let batch = rank - 2;
    ensure!(
        ashape[..batch] == bshape[..batch] && ashape[..batch] == cshape[..batch],
        "the batches of {a}, {b} and {c} differ"
    );
    ensure!(
        ashape[rank - 1] == bshape[rank - 2],
        "the inner dimensions are {} and {}",
        ashape[rank - 1],
        bshape[rank - 2]
    );
    let expected = (ashape[rank - 2], bshape[rank - 1]);
    let found = (cshape[rank - 2], cshape[rank - 1]);
    ensure!(
        found == expected,
        "the accumulator is {} × {}, expected {} × {}",
        found.0,
        found.1,
        expected.0,
        expected.1
    );
    dot_layouts(a, b, c)?;
    on_tensor_cores(ir, op, a, b, c)
}

/// All three have layouts or none has; operands in registers are laid out for their place, under the accumulator's
/// layout.
fn dot_layouts(a: Type, b: Type, c: Type) -> VerifyResult {
    let (Some(a), Some(b)) = (a.encoding(), b.encoding()) else {
        ensure!(
            a.encoding().is_none() && b.encoding().is_none(),
            "one of the operands `a` and `b` has a layout and the other has none"
        );
        return Ok(());
    };
    let c = c.encoding().ok_or("the operands have layouts, and the accumulator has none")?;
    let mut widths = vec![];
    for (index, encoding) in [a, b].into_iter().enumerate() {
        let Some(Encoding::DotOp { op_idx, parent, k_width }) = encoding.as_encoding() else {
            return Err(format!("operand #{index} has the layout {encoding}, expected one of an operand of a dot"));
        };
        ensure!(*op_idx as usize == index, "operand #{index} has a layout for operand {op_idx}");
        ensure!(*parent == c, "operand #{index} has a layout under {parent}, and the accumulator has {c}");
        widths.push(*k_width);
    }
    ensure!(widths[0] == widths[1], "the operands have kWidth {} and {}", widths[0], widths[1]);
    Ok(())
}

/// Tensor cores multiply 32-bit floats only in their own reduced precision.
fn on_tensor_cores(ir: &Ir, op: Op, a: Type, b: Type, c: Type) -> VerifyResult {
    let Some(Encoding::NvidiaMma(_)) = c.layout() else { return Ok(()) };
    for (name, ty) in [("a", a), ("b", b)] {
        ensure!(
            super::ttng::multiplies(ty.elem()),
            "operand `{name}` has elements of type {}, which no tensor core takes",
            ty.elem()
        );
    }
    let precision = view::Dot(op).inputPrecision(ir);
    let f32s = a.elem() == Type::f32() && b.elem() == Type::f32();
    ensure!(
        !f32s || precision == Some(InputPrecision::Tf32),
        "it multiplies f32 on tensor cores, expected inputPrecision tf32"
    );
    Ok(())
}

/// Operands and scales of a scaled dot: fp4 counts double along the packed dimension; a scale serves 16 or 32 elements.
pub fn dot_scaled(ir: &Ir, op: Op) -> VerifyResult {
    let of = |group: usize| ir.operand_group(op, group).first().map(|&v| ir.ty(v));
    let (Some(a), Some(b), Some(c)) = (of(0), of(1), of(2)) else { return Ok(()) };
    let rank = a.rank();
    ensure!(rank >= 2, "operand `a` has type {a}, expected at least two dimensions");
    for ty in [Some(b), Some(c), of(3), of(4)].into_iter().flatten() {
        ensure!(ty.rank() == rank, "the operands have ranks {rank} and {}", ty.rank());
    }
    let factor = |kind: &str, pack: &str, along_k: bool| {
        if ir.enum_attr(op, kind) == Some(ScaledElem::E2m1) && ir.bool_attr(op, pack) == along_k { 2 } else { 1 }
    };
    let (ka, kb) = (
        a.shape()[rank - 1] * factor("a_elem_type", "lhs_k_pack", true),
        b.shape()[rank - 2] * factor("b_elem_type", "rhs_k_pack", true),
    );
    ensure!(ka == kb, "the inner dimensions are {ka} and {kb}");
    let m = a.shape()[rank - 2] * factor("a_elem_type", "lhs_k_pack", false);
    let n = b.shape()[rank - 1] * factor("b_elem_type", "rhs_k_pack", false);
    let (cm, cn) = (c.shape()[rank - 2], c.shape()[rank - 1]);
    ensure!((cm, cn) == (m, n), "the accumulator is {cm} × {cn}, expected {m} × {n}");
    let mut per_scale = None;
    for (name, scale, rows) in [("a_scale", of(3), m), ("b_scale", of(4), n)] {
        let Some(ty) = scale.filter(|t| count(t.shape()) != Some(1)) else { continue };
        let (found, along) = (ty.shape()[rank - 2], ty.shape()[rank - 1]);
        ensure!(found == rows, "`{name}` has {found} rows, expected {rows}");
        let each = ka / along.max(1);
        ensure!(
            (each == 16 || each == 32) && each * along == ka,
            "each element of `{name}` scales {each} elements, expected 16 or 32"
        );
        ensure!(
            per_scale.is_none_or(|p| p == each),
            "the scales serve {} and {each} elements, expected one number",
            per_scale.unwrap_or(0)
        );
        per_scale = Some(each);
    }
    Ok(())
}

// ---- reductions ----

/// The results have the operands' element types and shapes without the axis; scalars when nothing is left.
pub fn reduce(ir: &Ir, op: Op) -> VerifyResult {
    let axis = combined(ir, op)?;
    for (index, (&src, &result)) in ir.operands(op).iter().zip(ir.results(op)).enumerate() {
        let (src, result) = (ir.ty(src), ir.ty(result));
        let mut shape = src.shape().to_vec();
        shape.remove(axis);
        ensure!(result.elem() == src.elem(), "result #{index} has elements {}, expected {}", result.elem(), src.elem());
        ensure!(result.shape() == shape, "result #{index} has type {result}, expected the shape {shape:?}");
        ensure!(
            result.is_tensor() != shape.is_empty(),
            "result #{index} has type {result}, expected a {}",
            if shape.is_empty() { "scalar" } else { "tensor" }
        );
        ensure!(
            shape.is_empty() || result.encoding().is_some() == src.encoding().is_some(),
            "one of operand and result #{index} has a layout and the other has none"
        );
    }
    combiner(ir, op, TtOp::ReduceReturn)
}

/// The results have the operands' types.
pub fn scan(ir: &Ir, op: Op) -> VerifyResult {
    combined(ir, op)?;
    same_types(ir, "results", ir.results(op), ir.operands(op))?;
    combiner(ir, op, TtOp::ScanReturn)
}

/// At least one operand, as many results, and an axis that all operands have; gives the axis.
fn combined(ir: &Ir, op: Op) -> Result<usize, String> {
    let operands = ir.operands(op);
    ensure!(!operands.is_empty(), "it has no operands, expected at least 1");
    ensure!(
        operands.len() == ir.results(op).len(),
        "it has {} operands and {} results",
        operands.len(),
        ir.results(op).len()
    );
    let axis = ir.get(op, view::Reduce::ATTR.axis).unwrap_or(-1);
    let rank = operand_ty(ir, op, 0).rank();
    usize::try_from(axis)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("its axis is {axis}, and its operands have rank {rank}"))
}

/// The region takes two elements for each operand and returns one.
fn combiner(ir: &Ir, op: Op, end: TtOp) -> VerifyResult {
    let block = body(ir, op, 0, "combineOp")?;
    let elems: Vec<Type> = ir.operands(op).iter().map(|&v| ir.ty(v).elem()).collect();
    types_are(ir, "arguments of its region", ir.args(block), elems.repeat(2).into_iter())?;
    types_are(ir, "values that its region returns", ending(ir, block, end)?, elems.into_iter())
}

/// The region takes packs of elements.
pub fn map_elementwise(ir: &Ir, op: Op) -> VerifyResult {
    ensure!(!ir.operands(op).is_empty(), "it has no operands, expected at least 1");
    let pack = view::MapElementwise(op).pack(ir).unwrap_or(0);
    ensure!(pack > 0 && pack & (pack - 1) == 0 && pack <= 1 << 20, "pack is {pack}, expected a power of two");
    let packed = |values: &[Value]| -> Vec<Type> {
        values.iter().flat_map(|&v| std::iter::repeat_n(ir.ty(v).elem(), pack as usize)).collect()
    };
    let entry = body(ir, op, 0, "scalarOp")?;
    let expected = ir.operands(op).len() * pack as usize;
    ensure!(ir.args(entry).len() == expected, "its region has {} arguments, expected {expected}", ir.args(entry).len());
    types_are(ir, "arguments of its region", ir.args(entry), packed(ir.operands(op)).into_iter())?;
    Ok(())
}

/// Stands in `tt.reduce`.
pub fn reduce_return(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Tt(TtOp::Reduce)])
}

/// Stands in `tt.scan`.
pub fn scan_return(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Tt(TtOp::Scan)])
}

/// Stands in `tt.map_elementwise` and returns packs of elements of its results.
pub fn map_elementwise_return(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Tt(TtOp::MapElementwise)])?;
    let Some(parent) = ir.parent_op(op) else { return Ok(()) };
    let pack = usize::try_from(view::MapElementwise::of(ir, parent).and_then(|map| map.pack(ir)).unwrap_or(1))
        .unwrap_or(1)
        .min(1 << 20);
    let expected = ir.results(parent).len().saturating_mul(pack);
    ensure!(ir.operands(op).len() == expected, "it returns {} values, expected {expected}", ir.operands(op).len());
    let elems: Vec<Type> =
        ir.results(parent).iter().flat_map(|&v| std::iter::repeat_n(ir.ty(v).elem(), pack)).collect();
    types_are(ir, "values that it returns", ir.operands(op), elems.into_iter())
}
