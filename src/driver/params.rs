//! The run-time parameters of a kernel, read from its function in TTIR or TTGIR.
//!
//! 1. A parameter's type, name and `tt.divisibility` stand in the text:
//!    `%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}` is `*fp32`, a multiple of 16.
//! 2. A tensor descriptor is followed by its extents and strides, two integers for each axis, which belong to it.
//! 3. Tensor maps that the launch makes follow them, and are none ([`ArrayMap`]).
//! 4. The metadata line says more: the signs of integers, descriptors that passes took apart, and arguments whose value
//!    is settled, for which the function has no parameter. It is used where it fits the text.

use super::metadata::Param;
use crate::ir::dialects::array_map::ArrayMap;
use crate::ir::dialects::tt::tt::Func;
use crate::ir::{AttrData, FloatKind, Ir, Op, Type, TypeData};
use crate::launch::{descriptor_rank, parameter_count};

/// The parameters of a kernel. They are those that were carried if these fit the function, else those of the function
/// itself.
pub(super) fn of_kernel(ir: &Ir, func: Op, carried: Vec<Param>) -> Vec<Param> {
    let Some(entry) = ir.body(func, 0) else { return carried };
    let args = &ir.args(entry)[..ArrayMap::passed(ir, func)];
    let types: Vec<Type> = args.iter().map(|&a| ir.ty(a)).collect();
    if fits(&carried, &types) {
        return carried;
    }
    let (mut params, mut at) = (vec![], 0);
    while let Some(&ty) = types.get(at) {
        let name = ir.value_loc(args[at]).value_name().map_or_else(|| format!("arg{at}"), |n| n.as_str().to_owned());
        params.push(Param { name, ty: word(ty), divisibility: Some(divisor(ir, func, at)), equals: None });
        at += 1 + extents(&types[at..]);
    }
    params
}

/// The value of a parameter's `tt.divisibility`, or 1 without one.
fn divisor(ir: &Ir, func: Op, index: usize) -> u64 {
    let Some(items) = Func::of(ir, func).and_then(|f| f.arg_attrs(ir)) else { return 1 };
    let Some(AttrData::Dict(entries)) = items.get(index).map(|a| a.data()) else { return 1 };
    let stated = entries.iter().find(|(n, _)| n.as_str() == "tt.divisibility").and_then(|(_, a)| a.as_int());
    stated.and_then(|d| u64::try_from(d).ok()).unwrap_or(1)
}

/// How many of the types belong to the descriptor at their start: its extents and strides, if they follow.
fn extents(types: &[Type]) -> usize {
    let Some(TypeData::TensorDesc { shape, .. }) = types.first().map(|t| t.data()) else { return 0 };
    let scalars = 2 * shape.len();
    let integers = types.iter().skip(1).take(scalars).filter(|t| matches!(t.data(), TypeData::Int(_))).count();
    if integers == scalars { scalars } else { 0 }
}

/// Whether carried parameters belong to a function with arguments of these types.
fn fits(carried: &[Param], types: &[Type]) -> bool {
    let mut rest = types;
    for p in carried.iter().filter(|p| p.equals.is_none()) {
        let Some(&first) = rest.first() else { return false };
        let taken = if descriptor_rank(&p.ty).is_some() {
            match first.data() {
                TypeData::TensorDesc { .. } => 1 + extents(rest),
                // A pass took the descriptor apart.
                TypeData::Pointer { .. } => parameter_count(&p.ty, first),
                _ => return false,
            }
        } else if same(&p.ty, &word(first)) {
            1
        } else {
            return false;
        };
        let Some(after) = rest.get(taken..) else { return false };
        rest = after;
    }
    rest.is_empty() && !carried.is_empty()
}

/// Whether a signature's type has this form in IR, where integers have no sign, pointers have no `const`, and some fp8
/// types are bytes.
fn same(ty: &str, ir: &str) -> bool {
    let plain = |t: &str| t.replacen("*k", "*", 1).replace('u', "i");
    plain(ty) == ir || (ir.ends_with("i8") && ty.trim_start_matches(['*', 'k']).starts_with("fp8"))
}

/// The word for a type in a signature.
fn word(ty: Type) -> String {
    match ty.data() {
        TypeData::Int(width) => format!("i{width}"),
        TypeData::SignedInt { width, signed } => format!("{}{width}", if *signed { "i" } else { "u" }),
        TypeData::Float(kind) => float(*kind).to_owned(),
        TypeData::Pointer { pointee, .. } => format!("*{}", word(*pointee)),
        TypeData::TensorDesc { shape, elem, .. } => format!("tensordesc<{}{shape:?}>", word(*elem)),
        _ => ty.to_string(),
    }
}

/// The word for a float type in a signature.
fn float(kind: FloatKind) -> &'static str {
    match kind {
        FloatKind::F8E4M3FN => "fp8e4nv",
        FloatKind::F8E4M3FNUZ => "fp8e4b8",
        FloatKind::F8E5M2 => "fp8e5",
        FloatKind::F8E5M2FNUZ => "fp8e5b16",
        FloatKind::F16 => "fp16",
        FloatKind::BF16 => "bf16",
        FloatKind::F32 => "fp32",
        FloatKind::F64 => "fp64",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parser::{ParseOptions, parse_module};
    use crate::source::SourceMap;

    /// A type such as `i32 = 1` is that of an argument of a settled value.
    fn read(args: &str, carried: &[(&str, &str)]) -> Vec<String> {
        let mut sources = SourceMap::default();
        let file = sources.add("k.ttir", None, format!("module {{ tt.func public @k({args}) {{ tt.return }} }}"));
        let ir = parse_module(&sources, file, &ParseOptions::default()).unwrap();
        let param = |(name, ty): &(&str, &str)| {
            let (ty, equals) = ty.split_once(" = ").map_or((*ty, None), |(ty, v)| (ty, v.parse().ok()));
            Param { name: (*name).into(), ty: ty.into(), divisibility: Some(1), equals }
        };
        let carried = carried.iter().map(param).collect();
        let params = of_kernel(&ir, ir.functions()[0], carried);
        params.iter().map(|p| format!("{}: {} {}", p.name, p.ty, p.divisibility.unwrap())).collect()
    }

    #[test]
    fn types_names_and_divisors_come_from_the_text() {
        let text = "%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %n: i32, %d: !tt.tensordesc<64x32xf16>, %d0: i32, %d1: i32, %d2: i64, %d3: i64, %s: f32";
        assert_eq!(read(text, &[]), ["x: *bf16 16", "n: i32 1", "d: tensordesc<fp16[64, 32]> 1", "s: fp32 1"]);
    }

    #[test]
    fn what_is_carried_wins_only_where_it_fits() {
        let fitting = [("x", "*ku8"), ("n", "u32")];
        assert_eq!(read("%a: !tt.ptr<i8>, %b: i32", &fitting), ["x: *ku8 1", "n: u32 1"]);
        for changed in
            ["%a: !tt.ptr<i8>", "%a: !tt.ptr<i8>, %b: i64", "%a: !tt.ptr<i8>, %b: i32, %c: i32", "%a: i32, %b: i32"]
        {
            assert!(read(changed, &fitting)[0].starts_with("a: "), "{changed}");
        }
        let settled = [("one", "i64 = 1"), ("x", "*ku8"), ("n", "u32"), ("last", "u32 = 1")];
        let all = ["one: i64 1", "x: *ku8 1", "n: u32 1", "last: u32 1"];
        assert_eq!(read("%a: !tt.ptr<i8>, %b: i32", &settled), all, "no parameter is needed for a settled value");
        assert_eq!(read("%a: !tt.ptr<i8>, %b: i32, %c: i64", &settled).len(), 3);
        let apart = "%d: !tt.ptr<f16>, %0: i64, %1: i64, %2: i1, %3: i1, %4: i32, %5: i64";
        assert_eq!(read(apart, &[("d", "tensordesc<fp16[64]>")]), ["d: tensordesc<fp16[64]> 1"]);
    }
}
