//! Rules of single operations of `arith` and `tt`.

use super::*;
use crate::ir::core::{DenseData, Encoding};
use crate::ir::dialects::ArithOp;

#[test]
fn constants() {
    let ty = t(&[4], i(32));
    good(ArithOp::Constant, &[], &[i(32)], &[("value", Attr::i32(1))]);
    bad(
        ArithOp::Constant,
        &[],
        &[i(64)],
        &[("value", Attr::i32(1))],
        "E0501",
        "its value has type i32, and the result has type i64",
    );
    let dense = |n: u64| Attr::new(AttrData::Dense(ty, DenseData::Elements((0..n).collect())));
    good(ArithOp::Constant, &[], &[ty], &[("value", dense(4))]);
    bad(ArithOp::Constant, &[], &[ty], &[("value", dense(3))], "E0501", "lists 3 elements");
}

#[test]
fn casts() {
    good(ArithOp::Extsi, &[i(8)], &[i(32)], &[]);
    bad(ArithOp::Extsi, &[i(32)], &[i(32)], &[], "E0501", "extends 32 bits to 32");
    bad(ArithOp::Extui, &[i(32)], &[i(8)], &[], "E0501", "expected more bits");
    bad(ArithOp::Extsi, &[i(32)], &[Type::index()], &[], "E0501", "index has no width");
    good(ArithOp::Trunci, &[i(32)], &[i(8)], &[]);
    bad(ArithOp::Trunci, &[i(8)], &[i(32)], &[], "E0501", "expected fewer bits");
    good(ArithOp::Extf, &[f16()], &[f32()], &[]);
    bad(ArithOp::Extf, &[f16()], &[Type::float(FloatKind::BF16)], &[], "E0501", "a wider float");
    good(ArithOp::Truncf, &[f32()], &[f16()], &[]);
    bad(ArithOp::Truncf, &[f16()], &[f32()], &[], "E0501", "a narrower float");
    good(ArithOp::Sitofp, &[i(32)], &[f32()], &[]);
    bad(ArithOp::Sitofp, &[Type::index()], &[f32()], &[], "E0501", "expected integers");
    good(ArithOp::Fptosi, &[f32()], &[i(8)], &[]);
    bad(ArithOp::Fptoui, &[f32()], &[Type::index()], &[], "E0501", "expected integers");
    good(ArithOp::Bitcast, &[f32()], &[i(32)], &[]);
    bad(ArithOp::Bitcast, &[f32()], &[i(64)], &[], "E0501", "32 and 64 bits");
    bad(ArithOp::Bitcast, &[p(f32())], &[i(64)], &[], "E0501", "no bits to reinterpret");
    good(ArithOp::IndexCast, &[Type::index()], &[i(64)], &[]);
    bad(ArithOp::IndexCast, &[i(32)], &[i(64)], &[], "E0501", "index on one side");
}

#[test]
fn selects() {
    let ty = t(&[4], f32());
    good(ArithOp::Select, &[t(&[4], i(1)), ty, ty], &[ty], &[]);
    good(ArithOp::Select, &[i(1), ty, ty], &[ty], &[]);
    bad(ArithOp::Select, &[i(1), f32(), f16()], &[f32()], &[], "E0501", "between f32 and f16");
    bad(ArithOp::Select, &[i(1), f32(), f32()], &[f16()], &[], "E0501", "the result has type f16");
    bad(ArithOp::Select, &[t(&[4], i(1)), f32(), f32()], &[f32()], &[], "E0509", "expected a tensor");
}

#[test]
fn conversions_of_tt() {
    let f8 = Type::float(FloatKind::F8E5M2);
    good(TtOp::FpToFp, &[f32()], &[f8], &[("rounding", Attr::i32(1))]);
    good(TtOp::FpToFp, &[f8], &[f32()], &[]);
    bad(TtOp::FpToFp, &[f32()], &[f8], &[], "E0501", "expected attribute `rounding`");
    good(TtOp::Bitcast, &[p(f32())], &[p(i(8))], &[]);
    bad(TtOp::Bitcast, &[p(f32())], &[i(64)], &[], "E0501", "tt.ptr_to_int");
    bad(TtOp::Bitcast, &[f32()], &[i(64)], &[], "E0501", "32 bits to 64 bits");
    let far = Type::new(crate::ir::core::TypeData::Pointer { pointee: f32(), space: 3 });
    bad(TtOp::Bitcast, &[p(f32())], &[far], &[], "E0501", "address space 3");
    good(TtOp::IntToPtr, &[i(64)], &[p(f32())], &[]);
    bad(TtOp::IntToPtr, &[i(32)], &[p(f32())], &[], "E0502", "64-bit");
    bad(TtOp::PtrToInt, &[t(&[4], p(f32()))], &[i(64)], &[], "E0509", "shape");
    let nan = [("propagateNan", Attr::i32(0))];
    good(TtOp::Clampf, &[f32(); 3], &[f32()], &nan);
    bad(TtOp::Clampf, &[f32(), f16(), f32()], &[f32()], &nan, "E0509", "operand #1");
}

#[test]
fn ranges() {
    let range = |a, b| [("start", Attr::i32(a)), ("end", Attr::i32(b))];
    good(TtOp::MakeRange, &[], &[t(&[64], i(32))], &range(64, 128));
    bad(
        TtOp::MakeRange,
        &[],
        &[t(&[128], i(32))],
        &range(0, 64),
        "E0501",
        "[0, 64) has 64 elements, and the result has 128",
    );
    bad(TtOp::MakeRange, &[], &[t(&[64], i(32))], &range(64, 64), "E0501", "expected a larger end");
    bad(TtOp::MakeRange, &[], &[t(&[8, 8], i(32))], &range(0, 64), "E0502", "in one dimension");
    bad(TtOp::MakeRange, &[], &[t(&[64], i(64))], &range(0, 64), "E0502", "32-bit integers");
}

#[test]
fn tensors_from_scalars_and_back() {
    good(TtOp::Splat, &[p(f32())], &[t(&[4], p(f32()))], &[]);
    bad(
        TtOp::Splat,
        &[i(32)],
        &[t(&[4], f32())],
        &[],
        "E0501",
        "the operand has type i32, and the result has elements of type f32",
    );
    bad(TtOp::Splat, &[t(&[1], f32())], &[t(&[4], f32())], &[], "E0501", "expected a scalar");
    good(TtOp::Unsplat, &[t(&[1, 1], f32())], &[f32()], &[]);
    bad(TtOp::Unsplat, &[t(&[2], f32())], &[f32()], &[], "E0501", "expected one element");
    bad(TtOp::Unsplat, &[t(&[1], f32())], &[i(32)], &[], "E0501", "expected f32");
}

#[test]
fn shapes() {
    let axis = |a| [("axis", Attr::i32(a))];
    good(TtOp::ExpandDims, &[t(&[8], f32())], &[t(&[8, 1], f32())], &axis(1));
    bad(TtOp::ExpandDims, &[t(&[8], f32())], &[t(&[8, 1], f32())], &axis(0), "E0501", "expected the shape [1, 8]");
    bad(TtOp::ExpandDims, &[t(&[8], f32())], &[t(&[8, 1], f32())], &axis(2), "E0501", "its axis is 2, expected 0 to 1");
    bad(
        TtOp::ExpandDims,
        &[t(&[8], f32())],
        &[t(&[8, 1], f16())],
        &axis(1),
        "E0501",
        "from elements of type f32 to f16",
    );
    good(TtOp::Reshape, &[t(&[8, 4], f32())], &[t(&[32], f32())], &[]);
    bad(TtOp::Reshape, &[t(&[8, 4], f32())], &[t(&[64], f32())], &[], "E0501", "32 elements, and the result 64");
    good(TtOp::Broadcast, &[t(&[8, 1], f32())], &[t(&[8, 4], f32())], &[]);
    bad(TtOp::Broadcast, &[t(&[8, 2], f32())], &[t(&[8, 4], f32())], &[], "E0501", "dimension 1 goes from size 2 to 4");
    bad(TtOp::Broadcast, &[t(&[8], f32())], &[t(&[8, 4], f32())], &[], "E0501", "rank 1, and the result 2");
    good(TtOp::Cat, &[t(&[8], f32()); 2], &[t(&[16], f32())], &[]);
    bad(TtOp::Cat, &[t(&[8], f32()); 2], &[t(&[8], f32())], &[], "E0501", "8 elements, expected 16");
    bad(TtOp::Cat, &[t(&[8], f32()), t(&[4], f32())], &[t(&[16], f32())], &[], "E0501", "which `lhs` has");
    good(TtOp::Join, &[t(&[8], f32()); 2], &[t(&[8, 2], f32())], &[]);
    bad(TtOp::Join, &[t(&[8], f32()); 2], &[t(&[2, 8], f32())], &[], "E0501", "expected the shape [8, 2]");
    good(TtOp::Split, &[t(&[8, 2], f32())], &[t(&[8], f32()); 2], &[]);
    bad(TtOp::Split, &[t(&[8, 4], f32())], &[t(&[8], f32()); 2], &[], "E0501", "expected the shape [8, 2]");
    bad(TtOp::Split, &[t(&[8, 2], f32())], &[t(&[8], f32()), t(&[4], f32())], &[], "E0501", "which `lhs` has");
    let order = |o: &[i64]| [("order", Attr::i32_array(o))];
    good(TtOp::Trans, &[t(&[8, 4], f32())], &[t(&[4, 8], f32())], &order(&[1, 0]));
    bad(TtOp::Trans, &[t(&[8, 4], f32())], &[t(&[4, 8], f32())], &order(&[0, 1]), "E0501", "expected the shape [8, 4]");
    bad(
        TtOp::Trans,
        &[t(&[8, 4], f32())],
        &[t(&[4, 8], f32())],
        &order(&[1, 1]),
        "E0501",
        "expected each of 0 to 1 once",
    );
    bad(TtOp::Trans, &[t(&[8, 4], f32())], &[t(&[4, 8], f32())], &order(&[0]), "E0501", "order has 1 entries");
    bad(TtOp::Trans, &[t(&[8, 4], f32())], &[t(&[4, 8], f32())], &order(&[1, 7]), "E0501", "expected each of");
}

#[test]
fn layouts_of_views() {
    let parent = {
        let e = crate::ir::core::encoding::Blocked {
            size_per_thread: vec![1, 1],
            threads_per_warp: vec![8, 4],
            warps_per_cta: vec![4, 1],
            order: vec![1, 0],
            cga: vec![],
        };
        Attr::encoding(Encoding::Blocked(e))
    };
    let slice = |dim| Attr::encoding(Encoding::Slice { dim, parent });
    let expand = |encoding, result| {
        let mut ir = one(
            TtOp::ExpandDims,
            &[Type::tensor(&[32], f32(), Some(encoding))],
            &[Type::tensor(&[32, 1], f32(), result)],
            &[("axis", Attr::i32(1))],
        );
        let module = ir.module();
        ir.set_attr(module, "ttg.num-warps", Attr::i32(4));
        ir
    };
    holds(&expand(slice(1), Some(parent)));
    breaks(&expand(slice(0), Some(parent)), &[("E0501", "a slice along dimension 0, and the axis is 1")]);
    breaks(&expand(slice(1), None), &[("E0501", "one has a layout and the other has none")]);
}

#[test]
fn gathers_and_histograms() {
    let axis = |a| [("axis", Attr::i32(a))];
    let (src, indices) = (t(&[8, 16], f32()), t(&[8, 4], i(32)));
    good(TtOp::Gather, &[src, indices], &[t(&[8, 4], f32())], &axis(1));
    bad(
        TtOp::Gather,
        &[src, indices],
        &[t(&[8, 4], f32())],
        &axis(0),
        "E0501",
        "dimension 1 has size 16 in the source and 4",
    );
    bad(TtOp::Gather, &[src, indices], &[t(&[8, 4], f32())], &axis(2), "E0501", "its axis is 2");
    bad(TtOp::Gather, &[src, indices], &[t(&[8, 4], f16())], &axis(1), "E0501", "the result has type");
    bad(TtOp::Gather, &[src, t(&[8], i(32))], &[t(&[8], f32())], &axis(1), "E0501", "rank 2, and the indices 1");
    let values = t(&[64], i(32));
    good(TtOp::Histogram, &[values, t(&[64], i(1))], &[t(&[16], i(32))], &[]);
    bad(TtOp::Histogram, &[values, t(&[8], i(1))], &[t(&[16], i(32))], &[], "E0501", "`mask` has type");
    bad(TtOp::Histogram, &[t(&[8, 8], i(32))], &[t(&[16], i(32))], &[], "E0502", "in one dimension");
}

#[test]
fn pointers() {
    good(TtOp::Addptr, &[t(&[4], p(f32())), t(&[4], i(64))], &[t(&[4], p(f32()))], &[]);
    bad(TtOp::Addptr, &[p(f32()), i(64)], &[p(f16())], &[], "E0501", "`result` has type");
    bad(TtOp::Addptr, &[p(f32()), t(&[4], i(64))], &[p(f32())], &[], "E0509", "shape");
}

#[test]
fn loads_and_stores() {
    let (ptr, value, mask) = (t(&[16], p(f32())), t(&[16], f32()), t(&[16], i(1)));
    let plain = [sizes(&[1, 0, 0])];
    good(TtOp::Load, &[p(f32())], &[f32()], &plain);
    bad(TtOp::Load, &[ptr], &[t(&[16], i(32))], &plain, "E0501", "`result` has type tensor<16xi32>");
    bad(TtOp::Load, &[i(32)], &[i(32)], &plain, "E0501", "expected a pointer");
    bad(TtOp::Load, &[ptr, t(&[8], i(1))], &[value], &[sizes(&[1, 1, 0])], "E0509", "shape");
    bad(
        TtOp::Load,
        &[ptr, mask, t(&[16], f16())],
        &[value],
        &[sizes(&[1, 1, 1])],
        "E0501",
        "`other` has type tensor<16xf16>",
    );
    bad(TtOp::Load, &[ptr, value], &[value], &[sizes(&[1, 0, 1])], "E0501", "no mask");
    let block = p(t(&[16, 4], f32()));
    let check = |dims: &[i64]| [sizes(&[1, 0, 0]), ("boundaryCheck", Attr::i32_array(dims))];
    good(TtOp::Load, &[block], &[t(&[16, 4], f32())], &check(&[0, 1]));
    bad(TtOp::Load, &[block], &[t(&[16, 4], f32())], &check(&[2]), "E0501", "dimension 2, and the block has rank 2");
    bad(TtOp::Load, &[block], &[t(&[16, 4], f32())], &check(&[1, 1]), "E0501", "twice");
    bad(TtOp::Load, &[ptr], &[value], &check(&[0]), "E0501", "only a pointer to a tensor");
    good(TtOp::Store, &[ptr, value, mask], &[], &[]);
    bad(TtOp::Store, &[ptr, t(&[16], f16())], &[], &[], "E0501", "`value` has type tensor<16xf16>");
    bad(TtOp::Store, &[ptr, value, i(1)], &[], &[], "E0509", "shape");
}

#[test]
fn atomics() {
    let rmw = [("atomic_rmw_op", Attr::i32(4)), ("sem", Attr::i32(4)), ("scope", Attr::i32(1))];
    let (ptr, value, mask) = (t(&[16], p(i(32))), t(&[16], i(32)), t(&[16], i(1)));
    good(TtOp::AtomicRmw, &[ptr, value, mask], &[value], &rmw);
    bad(TtOp::AtomicRmw, &[ptr, t(&[16], i(64))], &[value], &rmw, "E0501", "`val` has type");
    bad(TtOp::AtomicRmw, &[ptr, value], &[t(&[16], i(64))], &rmw, "E0501", "`result` has type");
    bad(TtOp::AtomicRmw, &[ptr, value, t(&[8], i(1))], &[value], &rmw, "E0501", "`mask` has type");
    good(TtOp::AtomicCas, &[p(i(32)), i(32), i(32)], &[i(32)], &rmw[1..]);
    bad(TtOp::AtomicCas, &[p(i(32)), i(64), i(32)], &[i(32)], &rmw[1..], "E0501", "`cmp` has type i64");
}

#[test]
fn dots() {
    let m = |rows, columns, elem| t(&[rows, columns], elem);
    let (a, b, c) = (m(16, 32, f16()), m(32, 8, f16()), m(16, 8, f32()));
    good(TtOp::Dot, &[a, b, c], &[c], &[]);
    good(
        TtOp::Dot,
        &[t(&[2, 16, 32], f16()), t(&[2, 32, 8], f16()), t(&[2, 16, 8], f32())],
        &[t(&[2, 16, 8], f32())],
        &[],
    );
    bad(TtOp::Dot, &[a, b, c], &[m(16, 8, f16())], &[], "E0501", "which `c` has");
    bad(TtOp::Dot, &[a, m(16, 8, f16()), c], &[c], &[], "E0501", "the inner dimensions are 32 and 16");
    bad(TtOp::Dot, &[a, m(32, 8, f32()), c], &[c], &[], "E0501", "expected one width");
    bad(TtOp::Dot, &[a, b, m(8, 8, f32())], &[m(8, 8, f32())], &[], "E0501", "8 × 8, expected 16 × 8");
    bad(TtOp::Dot, &[t(&[16], f16()), b, c], &[c], &[], "E0501", "two dimensions");
    bad(
        TtOp::Dot,
        &[t(&[4, 16, 32], f16()), t(&[2, 32, 8], f16()), t(&[2, 16, 8], f32())],
        &[t(&[2, 16, 8], f32())],
        &[],
        "E0501",
        "batches",
    );
}

#[test]
fn scaled_dots() {
    let kinds = |a: i64, b: i64| {
        vec![("a_elem_type", Attr::i32(a)), ("b_elem_type", Attr::i32(b)), ("fastMath", Attr::bool(false))]
    };
    let with = |a: Type, b: Type, scales: [Option<Type>; 2], kinds: Vec<(&'static str, Attr)>| {
        let c = t(&[128, 64], f32());
        let operands: Vec<Type> = [a, b, c].into_iter().chain(scales.into_iter().flatten()).collect();
        let groups = sizes(&[1, 1, 1, i64::from(scales[0].is_some()), i64::from(scales[1].is_some())]);
        let attrs: Vec<(&str, Attr)> = kinds.into_iter().chain([groups]).collect();
        one(TtOp::DotScaled, &operands, &[c], &attrs)
    };
    let (f8a, f8b) = (t(&[128, 64], Type::float(FloatKind::F8E4M3FN)), t(&[64, 64], Type::float(FloatKind::F8E4M3FN)));
    let scale = |rows, columns| Some(t(&[rows, columns], i(8)));
    holds(&with(f8a, f8b, [scale(128, 2), None], kinds(0, 0)));
    holds(&with(t(&[128, 32], i(8)), f8b, [scale(128, 4), scale(64, 4)], kinds(4, 0)));
    breaks(&with(f8a, f8b, [scale(64, 2), None], kinds(0, 0)), &[("E0501", "`a_scale` has 64 rows, expected 128")]);
    breaks(&with(f8a, f8b, [scale(128, 8), None], kinds(0, 0)), &[("E0501", "scales 8 elements, expected 16 or 32")]);
    breaks(&with(f8a, f8b, [scale(128, 2), scale(64, 4)], kinds(0, 0)), &[("E0501", "serve 32 and 16 elements")]);
    breaks(&with(f8a, f8b, [None, None], kinds(4, 0)), &[("E0501", "the inner dimensions are 128 and 64")]);
}

#[test]
fn inline_assembly_prints_and_asserts() {
    let asm = |pack| {
        [
            ("asm_string", Attr::str("")),
            ("constraints", Attr::str("")),
            ("pure", Attr::bool(true)),
            ("packed_element", Attr::i32(pack)),
        ]
    };
    let ty = t(&[8], i(8));
    good(TtOp::ElementwiseInlineAsm, &[ty], &[ty], &asm(4));
    bad(
        TtOp::ElementwiseInlineAsm,
        &[ty],
        &[ty],
        &asm(16),
        "E0501",
        "8 elements, expected a multiple of packed_element, which is 16",
    );
    bad(TtOp::ElementwiseInlineAsm, &[ty], &[ty], &asm(0), "E0501", "expected at least 1");
    bad(TtOp::ElementwiseInlineAsm, &[ty], &[t(&[4], i(8))], &asm(1), "E0509", "the shape of operand #0");
    let print =
        |signs: &[i64]| [("prefix", Attr::str("x")), ("hex", Attr::bool(false)), ("isSigned", Attr::i32_array(signs))];
    good(TtOp::Print, &[ty], &[], &print(&[1]));
    bad(TtOp::Print, &[ty], &[], &print(&[]), "E0501", "one for each of the 1 arguments");
    let message = [("message", Attr::str("no"))];
    good(TtOp::Assert, &[t(&[8], i(1))], &[], &message);
    bad(TtOp::Assert, &[ty], &[], &message, "E0501", "expected i1 or a tensor of i1");
}

fn desc(shape: &[i64], elem: Type) -> Type {
    Type::new(crate::ir::core::TypeData::TensorDesc { shape: shape.to_vec(), elem, layout: None, im2col: false })
}

#[test]
fn descriptors() {
    let d = desc(&[8, 64], f16());
    let make = |extents: usize, strides: usize, base| {
        let mut operands = vec![base];
        operands.extend(std::iter::repeat_n(i(32), extents).chain(std::iter::repeat_n(i(64), strides)));
        one(TtOp::MakeTensorDesc, &operands, &[d], &[sizes(&[1, extents as i64, strides as i64])])
    };
    holds(&make(2, 2, p(f16())));
    breaks(&make(1, 2, p(f16())), &[("E0501", "1 extents, and the descriptor has rank 2")]);
    breaks(&make(2, 3, p(f16())), &[("E0501", "3 strides")]);
    breaks(&make(2, 2, p(f32())), &[("E0501", "the base has type")]);
    good(TtOp::DescriptorLoad, &[d, i(32), i(32)], &[t(&[8, 64], f16())], &[]);
    bad(TtOp::DescriptorLoad, &[d, i(32), i(32)], &[t(&[8, 32], f16())], &[], "E0501", "expected as many elements");
    bad(
        TtOp::DescriptorLoad,
        &[d, i(32), i(32)],
        &[t(&[8, 64], f32())],
        &[],
        "E0501",
        "elements have type f16, and the tensor's f32",
    );
    bad(TtOp::DescriptorLoad, &[d, i(32)], &[t(&[8, 64], f16())], &[], "E0501", "1 indices");
    good(TtOp::DescriptorStore, &[d, t(&[8, 64], f16()), i(32), i(32)], &[], &[]);
    bad(TtOp::DescriptorStore, &[d, t(&[8], f16()), i(32), i(32)], &[], &[], "E0501", "expected as many elements");
    let (row, rows) = (desc(&[1, 64], f16()), t(&[8], i(32)));
    good(TtOp::DescriptorGather, &[row, rows, i(32)], &[t(&[8, 64], f16())], &[]);
    bad(TtOp::DescriptorGather, &[d, rows, i(32)], &[t(&[8, 64], f16())], &[], "E0501", "a block of one row");
    bad(
        TtOp::DescriptorGather,
        &[row, t(&[4], i(32)), i(32)],
        &[t(&[4, 64], f16())],
        &[],
        "E0501",
        "4 rows, expected at least 8",
    );
    bad(
        TtOp::DescriptorGather,
        &[row, t(&[16], i(32)), i(32)],
        &[t(&[8, 64], f16())],
        &[],
        "E0501",
        "16 row numbers for 8 rows",
    );
    good(TtOp::DescriptorScatter, &[row, rows, i(32), t(&[8, 64], f16())], &[], &[]);
    bad(
        TtOp::DescriptorScatter,
        &[row, rows, i(32), t(&[8, 32], f16())],
        &[],
        &[],
        "E0501",
        "32 columns, and the descriptor 64",
    );
}

#[test]
fn block_pointers() {
    let block = p(t(&[16, 4], f32()));
    let make = |order: &[i64], offsets: usize, base| {
        let mut operands = vec![base];
        operands.extend([i(64); 4].into_iter().chain(std::iter::repeat_n(i(32), offsets)));
        one(
            TtOp::MakeTensorPtr,
            &operands,
            &[block],
            &[sizes(&[1, 2, 2, offsets as i64]), ("order", Attr::i32_array(order))],
        )
    };
    holds(&make(&[1, 0], 2, p(f32())));
    breaks(&make(&[1, 1], 2, p(f32())), &[("E0501", "each dimension of the block, of rank 2, once")]);
    breaks(&make(&[1, 0], 1, p(f32())), &[("E0501", "1 offsets")]);
    breaks(&make(&[1, 0], 2, p(f16())), &[("E0501", "the base has type")]);
    good(TtOp::Advance, &[block, i(32), i(32)], &[block], &[]);
    bad(TtOp::Advance, &[block, i(32)], &[block], &[], "E0501", "1 offsets, and the block has rank 2");
    bad(TtOp::Advance, &[p(f32()), i(32)], &[p(f32())], &[], "E0501", "no pointer to a tensor");
}
