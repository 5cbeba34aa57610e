//! Tensor types, layouts, and relations between types.

use super::*;
use crate::ir::core::encoding::{Blocked, LinearBases, NvidiaMma, SwizzledShared};
use crate::ir::core::{Encoding, MemDesc, TypeData};
use crate::ir::dialects::{ArithOp, TtgOp};

fn blocked(threads: u32, warps: u32) -> Attr {
    let e = Blocked {
        size_per_thread: vec![1],
        threads_per_warp: vec![threads],
        warps_per_cta: vec![warps],
        order: vec![0],
        cga: vec![],
    };
    Attr::encoding(Encoding::Blocked(e))
}

fn laid_out(shape: &[i64], elem: Type, encoding: Attr) -> Type {
    Type::tensor(shape, elem, Some(encoding))
}

/// One operation in a module of four warps.
fn ttgir(kind: impl Into<OpKind>, operands: &[Type], results: &[Type]) -> Ir {
    let mut ir = one(kind, operands, results, &[]);
    let module = ir.module();
    ir.set_attr(module, "ttg.num-warps", Attr::i32(4));
    ir
}

#[test]
fn sizes_of_tensors() {
    good(TtOp::Splat, &[f32()], &[t(&[4, 8], f32())], &[]);
    good(TtOp::Splat, &[f32()], &[t(&[1 << 20], f32())], &[]);
    bad(TtOp::Splat, &[f32()], &[t(&[3], f32())], &[], "E0507", "dimension 0 has size 3, expected a power of two");
    bad(TtOp::Splat, &[f32()], &[t(&[4, 0], f32())], &[], "E0507", "dimension 1 has size 0");
    bad(TtOp::Splat, &[f32()], &[t(&[1 << 20, 2], f32())], &[], "E0507", "2097152 elements");
    bad(TtOp::Splat, &[f32()], &[t(&[1 << 40, 1 << 40], f32())], &[], "E0507", "more than 2^63");
    // Only Triton's own operations are bound by this, and a value is reported once.
    let odd = t(&[3], i(32));
    good(ArithOp::Addi, &[odd, odd], &[odd], &[]);
    let twice = module(&[odd], |b, args| {
        b.value(TtOp::Mulhiui, &[args[0], args[0]], odd);
        b.op(TtOp::Mulhiui, &[args[0], args[0]], &[t(&[4], i(32))]);
    });
    breaks(&twice, &[("E0507", "operand #0 has type tensor<3xi32>"), ("E0509", "result #0 has type tensor<4xi32>")]);
}

#[test]
fn layouts_agree_with_the_module() {
    let of = |e| laid_out(&[128], f32(), e);
    holds(&ttgir(TtOp::Splat, &[f32()], &[of(blocked(32, 4))]));
    breaks(
        &ttgir(TtOp::Splat, &[f32()], &[of(blocked(32, 8))]),
        &[("E0508", "8 warps per block, and the module has 4")],
    );
    breaks(
        &ttgir(TtOp::Splat, &[f32()], &[of(blocked(16, 4))]),
        &[("E0508", "16 threads per warp, and the module has 32")],
    );
    breaks(
        &ttgir(TtOp::Splat, &[f32()], &[laid_out(&[8, 8], f32(), blocked(32, 4))]),
        &[("E0508", "rank 1, and the tensor has rank 2")],
    );
    bad(
        TtOp::Splat,
        &[f32()],
        &[of(blocked(32, 4))],
        &[],
        "E0508",
        "nothing around the operation says `ttg.num-warps`",
    );
    let mut ir = ttgir(TtOp::Splat, &[f32()], &[of(blocked(32, 4))]);
    let module = ir.module();
    ir.set_attr(module, "ttg.num-ctas", Attr::i32(2));
    breaks(&ir, &[("E0508", "1 blocks per cluster, and the module has 2")]);
}

#[test]
fn encodings_are_well_formed() {
    let splat = |shape: &[i64], e| ttgir(TtOp::Splat, &[f32()], &[laid_out(shape, f32(), Attr::encoding(e))]);
    let slice = |dim, parent| Encoding::Slice { dim, parent };
    let mma = NvidiaMma {
        version_major: 2,
        version_minor: 0,
        warps_per_cta: vec![2, 2],
        cga: vec![],
        instr_shape: vec![16, 8],
    };
    let parent = Attr::encoding(Encoding::NvidiaMma(mma));
    holds(&splat(&[64], slice(1, parent)));
    breaks(&splat(&[64], slice(2, parent)), &[("E0508", "`dim` is below the parent's 2 dimensions, found 2")]);
    breaks(&splat(&[64], slice(0, Attr::unit())), &[("E0508", "parent")]);
    let dot = |op_idx| Encoding::DotOp { op_idx, parent, k_width: 2 };
    holds(&splat(&[64, 64], dot(1)));
    breaks(&splat(&[64, 64], dot(2)), &[("E0508", "`opIdx` is 0 or 1, found 2")]);
    let linear = |warp| {
        let lane = (0..5).map(|b| vec![1 << b]).collect();
        Encoding::Linear(LinearBases { register: vec![], lane, warp, block: vec![] })
    };
    holds(&splat(&[128], linear(vec![vec![32], vec![64]])));
    breaks(&splat(&[128], linear(vec![vec![32]])), &[("E0508", "2 warps")]);
    breaks(&splat(&[128], linear(vec![vec![32], vec![32]])), &[("E0508", "powers of two of each axis, each once")]);
    breaks(
        &splat(&[128], linear(vec![vec![32], vec![0, 1]])),
        &[("E0508", "all bases have the same number of coordinates")],
    );
    let odd = |e: Blocked| splat(&[8, 8], Encoding::Blocked(e));
    let base = Blocked {
        size_per_thread: vec![1, 1],
        threads_per_warp: vec![8, 4],
        warps_per_cta: vec![2, 2],
        order: vec![1, 0],
        cga: vec![],
    };
    holds(&odd(base.clone()));
    breaks(
        &odd(Blocked { size_per_thread: vec![1], ..base.clone() }),
        &[("E0508", "`order` has 2 dimensions, but `sizePerThread` has 1")],
    );
    breaks(&odd(Blocked { order: vec![1, 1], ..base.clone() }), &[("E0508", "each dimension from 0 to 1 once")]);
    breaks(
        &odd(Blocked { warps_per_cta: vec![3, 1], ..base }),
        &[("E0508", "every entry of `warpsPerCTA` is a power of two, found [3, 1]")],
    );
    let shared = SwizzledShared { vec: 1, per_phase: 1, max_phase: 1, order: vec![0], cga: vec![] };
    breaks(&splat(&[64], Encoding::SwizzledShared(shared)), &[("E0508", "one of memory, expected one of registers")]);
}

#[test]
fn memory_descriptors() {
    let buffer = |shape: &[i64], encoding| {
        let m = MemDesc {
            shape: shape.to_vec(),
            elem: f32(),
            encoding,
            memory_space: Attr::new(AttrData::SharedMemory),
            mutable: true,
            alloc_shape: shape.to_vec(),
        };
        Type::new(TypeData::MemDesc(m))
    };
    let shared = Attr::encoding(Encoding::SwizzledShared(SwizzledShared {
        vec: 1,
        per_phase: 1,
        max_phase: 1,
        order: vec![0],
        cga: vec![],
    }));
    holds(&ttgir(TtgOp::LocalAlloc, &[], &[buffer(&[64], shared)]));
    holds(&ttgir(TtgOp::LocalAlloc, &[], &[buffer(&[3, 64], shared)]));
    breaks(&ttgir(TtgOp::LocalAlloc, &[], &[buffer(&[4, 4, 64], shared)]), &[("E0508", "rank 1, and it has rank 3")]);
    breaks(
        &ttgir(TtgOp::LocalAlloc, &[], &[buffer(&[64], blocked(32, 4))]),
        &[("E0508", "its layout is one of memory")],
    );
    breaks(&ttgir(TtgOp::LocalAlloc, &[], &[buffer(&[-1], shared)]), &[("E0507", "negative")]);
}

fn with_rules(ir: &Ir, fits: fn(Type) -> Result<(), String>, same: fn(&[i64], Attr, Attr) -> bool) -> Vec<String> {
    let found = super::super::verify_with_layouts(ir, super::super::LayoutRules { fits, same, of_op: |_, _| Ok(()) });
    found.iter().map(|d| format!("{} {}", d.code.id, d.message)).collect()
}

#[test]
fn rules_on_layouts_can_be_given() {
    let ir = ttgir(TtOp::Splat, &[f32()], &[laid_out(&[128], f32(), blocked(32, 4))]);
    assert!(with_rules(&ir, |_| Ok(()), |_, _, _| false).is_empty());
    let found = with_rules(&ir, |_| Err("it is not wanted".to_owned()), |_, _, _| true);
    assert!(found.len() == 1 && found[0].starts_with("E0508") && found[0].ends_with("it is not wanted"), "{found:?}");
}

#[test]
fn views_keep_their_layouts() {
    let wide = Blocked {
        size_per_thread: vec![2],
        threads_per_warp: vec![32],
        warps_per_cta: vec![4],
        order: vec![0],
        cga: vec![],
    };
    let wide = Attr::encoding(Encoding::Blocked(wide));
    let ir = ttgir(TtOp::Broadcast, &[laid_out(&[1], f32(), blocked(32, 4))], &[laid_out(&[128], f32(), wide)]);
    holds(&ir);
    assert!(with_rules(&ir, |_| Ok(()), |shape, _, _| shape == [1]).is_empty());
    let found = with_rules(&ir, |_| Ok(()), |_, _, _| false);
    assert!(found.len() == 1 && found[0].contains("expected the layout of operand #0"), "{found:?}");
    let same = ttgir(TtOp::Broadcast, &[laid_out(&[1], f32(), wide)], &[laid_out(&[128], f32(), wide)]);
    assert!(with_rules(&same, |_| Ok(()), |_, _, _| false).is_empty());
}

#[test]
fn relations_between_types() {
    bad(
        ArithOp::Addi,
        &[i(32), i(64)],
        &[i(32)],
        &[],
        "E0509",
        "operand #1 has type i64, expected the type of operand #0",
    );
    bad(ArithOp::Addi, &[i(32), i(32)], &[i(64)], &[], "E0509", "result #0 has type i64");
    let eq = [("predicate", Attr::i32(0))];
    good(ArithOp::Cmpi, &[i(32), i(32)], &[i(1)], &eq);
    bad(ArithOp::Cmpi, &[i(32), i(8)], &[i(1)], &eq, "E0509", "operand #1");
    bad(ArithOp::Cmpi, &[i(32), i(32)], &[t(&[4], i(1))], &eq, "E0509", "the shape of operand #0");
    bad(ArithOp::Extsi, &[t(&[4], i(8))], &[t(&[8], i(32))], &[], "E0509", "shape");
    let wide = Blocked {
        size_per_thread: vec![2],
        threads_per_warp: vec![32],
        warps_per_cta: vec![4],
        order: vec![0],
        cga: vec![],
    };
    let (a, b) =
        (laid_out(&[128], i(32), blocked(32, 4)), laid_out(&[128], i(64), Attr::encoding(Encoding::Blocked(wide))));
    holds(&ttgir(ArithOp::Extsi, &[a], &[a.with_elem(i(64))]));
    breaks(&ttgir(ArithOp::Extsi, &[a], &[b]), &[("E0509", "result #0 has the encoding")]);
    holds(&ttgir(TtgOp::ConvertLayout, &[a], &[b.with_elem(i(32))]));
    breaks(&ttgir(TtgOp::ConvertLayout, &[a], &[b]), &[("E0501", "elements of type i32 to i64")]);
    breaks(
        &ttgir(TtgOp::ConvertLayout, &[a], &[t(&[128], i(32))]),
        &[("E0501", "the result has type tensor<128xi32>, which has no layout")],
    );
    // Sizes that only Triton's operations forbid do not hide other faults.
    bad(ArithOp::Addi, &[t(&[3], i(32)), t(&[5], i(32))], &[t(&[3], i(32))], &[], "E0509", "operand #1");
}
