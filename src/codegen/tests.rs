//! Code generation of modules built by hand: what does not need the text form.

use super::CodegenOptions;
use crate::backend::{lower, parse_llir};
use crate::ir::core::FloatKind;
use crate::ir::core::encoding::Blocked;
use crate::ir::dialects::{ArithOp, TtOp};
use crate::ir::{Attr, AttrData, Builder, Encoding, InsertPoint, Ir, Loc, Name, OpState, Type, Value};
use crate::target::Target;

fn options(arch: &str) -> CodegenOptions {
    CodegenOptions::new(Target::parse(arch).unwrap())
}

/// A module with one kernel of these parameters (pointers and integers divisible by 16), whose body `build` fills.
fn kernel(params: &[Type], build: impl FnOnce(&mut Builder<'_>, &[Value])) -> Ir {
    let loc = |line| Loc::file("/k/add.tk", line, 3);
    let mut ir = Ir::new(loc(1));
    let module = ir.module();
    ir.set_attr(module, "ttg.num-warps", Attr::i32(4));
    let block = ir.module_block();
    let hints = Attr::new(AttrData::Dict(vec![(Name::of("tt.divisibility"), Attr::i32(16))]));
    let state = OpState::new(TtOp::Func, loc(1))
        .attr("sym_name", Attr::str("k"))
        .attr("function_type", Attr::ty(Type::function(params, &[])))
        .attr("arg_attrs", Attr::new(AttrData::Array(vec![hints; params.len()])))
        .regions(1);
    let func = Builder::new(&mut ir, InsertPoint::End(block), loc(1)).insert(state);
    let region = ir.region(func, 0);
    let args: Vec<(Type, Loc)> = params.iter().map(|&t| (t, loc(1))).collect();
    let body = ir.add_block(region, &args);
    let args = ir.args(body).to_vec();
    let mut b = Builder::new(&mut ir, InsertPoint::End(body), loc(2));
    build(&mut b, &args);
    b.op(TtOp::Return, &[], &[]);
    ir
}

fn blocked(per_thread: u32) -> Attr {
    Attr::encoding(Encoding::Blocked(Blocked {
        size_per_thread: vec![per_thread],
        threads_per_warp: vec![32],
        warps_per_cta: vec![4],
        order: vec![0],
        cga: vec![],
    }))
}

fn vector_add() -> Ir {
    vector_add_of(Type::f32())
}

fn vector_add_of(elem: Type) -> Ir {
    let ptr = Type::ptr(elem);
    kernel(&[ptr, ptr, ptr, Type::int(32)], |b, args| {
        let tensor = |elem| Type::tensor(&[1024], elem, Some(blocked(4)));
        let (ints, ptrs, floats) = (tensor(Type::int(32)), tensor(ptr), tensor(elem));
        let pid = b.value_with(TtOp::GetProgramId, &[], Type::int(32), &[("axis", Attr::i32(0))]);
        let size = b.i32(1024);
        let start = b.value(ArithOp::Muli, &[pid, size], Type::int(32));
        let range = b.value_with(TtOp::MakeRange, &[], ints, &[("start", Attr::i32(0)), ("end", Attr::i32(1024))]);
        let start = b.value(TtOp::Splat, &[start], ints);
        let offsets = b.value(ArithOp::Addi, &[start, range], ints);
        let n = b.value(TtOp::Splat, &[args[3]], ints);
        let mask = b.value_with(ArithOp::Cmpi, &[offsets, n], tensor(Type::int(1)), &[("predicate", Attr::i32(2))]);
        let at = |b: &mut Builder<'_>, base| {
            let base = b.value(TtOp::Splat, &[base], ptrs);
            b.value(TtOp::Addptr, &[base, offsets], ptrs)
        };
        let (x, y, out) = (at(b, args[0]), at(b, args[1]), at(b, args[2]));
        let segments = [("operandSegmentSizes", Attr::i32_array(&[1, 1, 0]))];
        let x = b.value_with(TtOp::Load, &[x, mask], floats, &segments);
        let y = b.value_with(TtOp::Load, &[y, mask], floats, &segments);
        let sum = b.value(ArithOp::Addf, &[x, y], floats);
        b.op(TtOp::Store, &[out, sum, mask], &[]);
    })
}

#[test]
fn vector_add_uses_the_widest_access() {
    let mut module = lower(&vector_add(), &options("sm_80"), None).unwrap();
    module.optimize().unwrap();
    let llir = module.to_llir();
    assert!(llir.contains("ptx_kernel") && llir.contains("\"nvvm.reqntid\"=\"128\""), "{llir}");
    let ptx = module.emit_assembly().unwrap();
    assert_eq!(ptx.matches("ld.global.v4.b32").count(), 4, "{ptx}");
    assert_eq!(ptx.matches("st.global.v4.b32").count(), 2, "{ptx}");
    assert!(ptx.contains(".version 7.0") && ptx.contains(".target sm_80\n") && ptx.contains(".loc"), "{ptx}");
}

#[test]
fn llir_round_trips() {
    let mut module = lower(&vector_add(), &options("sm_90a"), None).unwrap();
    module.optimize().unwrap();
    let mut again = parse_llir(&module.to_llir(), &options("sm_90a")).unwrap();
    assert_eq!(again.facts().kernels, ["k"]);
    assert_eq!(module.emit_assembly().unwrap(), again.emit_assembly().unwrap());
}

#[test]
fn what_llvm_cannot_select_is_a_diagnostic() {
    let text = "declare float @llvm.nvvm.fmin.xorsign.abs.f(float, float)
define ptx_kernel void @k(ptr addrspace(1) %p, float %a) {
  %v = call float @llvm.nvvm.fmin.xorsign.abs.f(float %a, float 2.0)
  store float %v, ptr addrspace(1) %p
  ret void
}";
    let mut module = parse_llir(text, &options("sm_80")).unwrap();
    let error = module.emit_assembly().unwrap_err();
    assert_eq!(error.code.id, "E0709");
    assert_eq!(module.emit_assembly().unwrap_err().code.id, "E0709");
    for text in [
        "",
        "define void @f() { ret void }",
        "define ptx_kernel void @k() { ret i32 0 }",
        "\u{0}\u{1}garbage",
        "declare ptx_kernel void @k(",
    ] {
        assert!(parse_llir(text, &options("sm_80")).is_err(), "{text:?}");
    }
}

#[test]
fn everything_unsupported_is_reported_with_its_place() {
    let byte = Type::int(8);
    let ir = kernel(&[Type::ptr(byte), byte], |b, args| {
        for line in [5, 6] {
            b.loc = Loc::file("/k/add.tk", line, 9);
            b.op(TtOp::AtomicRmw, &[args[0], args[1]], &[byte]);
        }
    });
    let errors = lower(&ir, &options("sm_80"), None).err().unwrap();
    assert_eq!(errors.len(), 2);
    assert!(errors.iter().all(|e| e.code.id == "E0701" && e.message.contains("tt.atomic_rmw")));
    assert_eq!(errors[1].place(), Some(&crate::diag::Place::At { file: "/k/add.tk".into(), line: 6, col: 9 }));
}

#[test]
fn limits_name_their_numbers() {
    let mut ir = kernel(&[], |_, _| ());
    let module = ir.module();
    ir.set_attr(module, "ttg.num-warps", Attr::i32(64));
    let errors = lower(&ir, &options("sm_80"), None).err().unwrap();
    assert!(
        errors[0].code.id == "E0711" && errors[0].message.contains("64") && errors[0].message.contains("32"),
        "{errors:?}"
    );
    ir.set_attr(module, "ttg.num-warps", Attr::i32(4));
    ir.set_attr(module, "ttg.num-ctas", Attr::i32(2));
    assert_eq!(lower(&ir, &options("sm_80"), None).err().unwrap()[0].code.id, "E0715");
    let mut clustered = lower(&ir, &options("sm_90"), None).unwrap();
    assert!(clustered.emit_assembly().unwrap().contains(".reqnctapercluster 2"));
}

#[test]
fn a_module_that_no_verifier_passed_is_called_a_defect() {
    let mut ir = kernel(&[], |_, _| ());
    let module = ir.module();
    let func = ir.all_ops(module).into_iter().find(|&op| ir.op_name(op) == "tt.func").unwrap();
    ir.remove_attr(func, "function_type");
    let errors = lower(&ir, &options("sm_80"), None).err().unwrap();
    assert_eq!(
        (errors[0].code.id, errors[0].message.as_str()),
        ("E0710", "defect in code generation: a function without a type")
    );
}

#[test]
fn vectors_are_looked_for_only_where_a_register_holds_two_elements() {
    let slp = |ir: &Ir, arch: &str| lower(ir, &options(arch), None).unwrap().pipeline().contains("slp-vectorizer");
    let half = vector_add_of(Type::float(FloatKind::F16));
    assert!(slp(&half, "sm_90a"));
    assert!(!slp(&half, "sm_80"), "ptxas rejects some of its vectors there");
    assert!(!slp(&vector_add(), "sm_90a"));
}

/// A kernel that multiplies 150 times, then combines the products one by one: as it stands, all of them are alive at
/// once.
fn crowded(barrier: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("define ptx_kernel void @k(ptr addrspace(1) %p, i32 %x, i32 %y) {\n");
    for i in 0..150 {
        let _ = writeln!(text, "  %a{i} = mul i32 %x, {}\n  %b{i} = xor i32 %a{i}, %y", 2 * i + 3);
    }
    text.push_str(barrier);
    let mut sum = "%y".to_owned();
    for i in 0..150 {
        let _ = writeln!(text, "  %s{i} = add i32 {sum}, %b{i}\n  %t{i} = shl i32 %s{i}, 1");
        sum = format!("%t{i}");
    }
    let _ = write!(text, "  store i32 {sum}, ptr addrspace(1) %p\n  ret void\n}}\n");
    text
}

/// In another order the products are made when they are needed.
#[test]
fn a_crowded_block_has_another_order() {
    let mut module = parse_llir(&crowded(""), &options("sm_80")).unwrap();
    module.keep().unwrap();
    let usual = module.emit_assembly().unwrap();
    let other = module.emit_again().unwrap().expect("there is a better order");
    let counts = |text: &str| ["mul.lo", "xor", "add", "shl"].map(|word| text.matches(word).count());
    assert_eq!(counts(&usual), counts(&other), "an order changes no instruction");
    let interleaves = |text: &str| text.find("shl").unwrap() < text.rfind("mul.lo").unwrap();
    assert!(!interleaves(&usual) && interleaves(&other));
}

/// Small kernels keep their order, and what stands beside asynchronous instructions stays there.
#[test]
fn other_blocks_keep_their_order() {
    let other = |text: &str, arch: &str| {
        let mut module = parse_llir(text, &options(arch)).unwrap();
        module.keep().unwrap();
        module.emit_assembly().unwrap();
        module.emit_again().unwrap()
    };
    assert!(other("define ptx_kernel void @k() {\n  ret void\n}\n", "sm_80").is_none());
    assert!(other(&crowded(""), "sm_90a").is_some());
    // What stands between a start and its wait stays there, and what stands in front of a wait for something that was
    // started in an earlier block stays in front of it.
    let wait = "  call void asm sideeffect \"wgmma.wait_group.sync.aligned 0;\", \"~{memory}\"()\n";
    let start = "  call void asm sideeffect \"wgmma.mma_async.sync.aligned;\", \"~{memory}\"()\n";
    let waited = other(&crowded(wait), "sm_90a").unwrap();
    assert!(waited.rfind("mul.lo").unwrap() < waited.find("wgmma.wait_group").unwrap());
    let started = other(&crowded(wait).replacen("{\n", &format!("{{\n{start}"), 1), "sm_90a").unwrap();
    let at = |word: &str| started.find(word).unwrap();
    assert!(at("wgmma.mma_async") < at("mul.lo") && started.rfind("mul.lo").unwrap() < at("wgmma.wait_group"));
    // What a start reads is there in front of its fence.
    let fence = "  call void asm sideeffect \"wgmma.fence.sync.aligned;\", \"~{memory}\"()\n";
    let reads = "  call void asm sideeffect \"wgmma.mma_async.sync.aligned $0;\", \"r,~{memory}\"(i32 %b149)\n";
    let fenced = other(&crowded(&format!("{fence}{reads}{wait}")), "sm_90a").unwrap();
    let (_, read) = fenced.split_once("mma_async.sync.aligned ").unwrap();
    let made = fenced.find(&format!("{}, ", read.split_once(';').unwrap().0)).unwrap();
    assert!(made < fenced.find("wgmma.fence").unwrap());
}
