//! Rust launchers as `ttc` prints them, for kernels that lead through everything that a launcher has to do.
//!
//! 1. [`kernels`] makes descriptors by hand. Their cubins are texts, which the stub of the driver knows.
//! 2. What is printed of them must be `crates/ttc-rt/tests/launchers/kernels.rs`, which the tests of that crate compile
//!    and run. `BLESS=1 cargo test launchers_rust` writes it.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use ttc::ir::{FloatKind, Type, TypeData};
use ttc::launch::{
    Access, Argument, ArrayMap, Descriptor, Kernel, Options, TensorMap, VERSION, Value, Variant, flatten, rust,
};

const READS: Access = Access { reads: true, writes: false };
const WRITES: Access = Access { reads: false, writes: true };

fn argument(name: &str, ty: &str, access: Option<Access>) -> Argument {
    Argument { name: name.into(), ty: ty.into(), access, ..Argument::default() }
}

fn float(bits: u32) -> Type {
    Type::float(match bits {
        16 => FloatKind::F16,
        32 => FloatKind::F32,
        _ => FloatKind::F64,
    })
}

fn pointer() -> Type {
    Type::ptr(float(32))
}

/// A variant with a text for a cubin.
fn variant(arch: &str, name: &str, arguments: Vec<Argument>, types: &[Type], hidden: Vec<Value>) -> Variant {
    let parameters = flatten(&arguments, types, hidden).unwrap();
    let descriptor = Descriptor {
        version: VERSION,
        symbol: name.into(),
        threads: 128,
        shared: 0,
        cluster: [1; 3],
        programmatic: false,
        grid: None,
        parameter_bytes: parameters.last().map_or(0, |p| p.offset + p.size),
        arguments,
        parameters,
        elsewhere: Access::default(),
    };
    let constants = [("BLOCK".to_owned(), "1024".to_owned())].into_iter().collect();
    let image = format!("{name} {arch}{};\0\u{7f}\"\\ \n", places(&descriptor)).into_bytes();
    Variant { arch: arch.into(), constants, descriptor, image }
}

/// Where the parameters are, for the stub of the driver, which has no cubin to read it from: `|0+8|8+4`.
fn places(descriptor: &Descriptor) -> String {
    descriptor.parameters.iter().map(|p| format!("|{}+{}", p.offset, p.size)).collect()
}

fn grid(axes: [&str; 3]) -> Option<[String; 3]> {
    Some(axes.map(str::to_owned))
}

/// Addition with a variant for aligned arguments, one for n = 1, and one for anything, on two architectures.
fn add() -> Kernel {
    let mut variants = vec![];
    for arch in ["sm_80", "sm_90a"] {
        for (divisor, equals) in [(Some(16), None), (None, None), (None, Some(1))] {
            let hint = |a: Argument| Argument { divisible_by: divisor, ..a };
            let arguments = vec![
                hint(argument("x_ptr", "*fp32", Some(READS))),
                hint(argument("out_ptr", "*fp32", Some(WRITES))),
                Argument { equals, divisible_by: divisor, ..argument("n", "i32", None) },
            ];
            let types = [pointer(), pointer(), Type::int(32)];
            let types = if equals.is_some() { &types[..2] } else { &types[..] };
            let mut made = variant(arch, "add", arguments, types, vec![]);
            made.descriptor.grid = grid(["cdiv(n, 1024)", "1", "1"]);
            let which = equals.map_or(divisor.map_or("any", |_| "16"), |_| "one");
            made.image = format!("add {arch} {which}{};", places(&made.descriptor)).into_bytes();
            variants.push(made);
        }
    }
    Kernel::of("add".into(), variants).unwrap()
}

/// A copy through tensor descriptors: the hardware's maps on sm_90a, and taken apart on sm_80.
fn copy() -> Kernel {
    let map = TensorMap {
        data_type: 7,
        rank: 2,
        element_bytes: 4,
        box_dim: vec![32, 64],
        element_strides: vec![1, 1],
        interleave: 0,
        swizzle: 3,
        l2_promotion: 2,
        fill: 0,
        packed: 1,
    };
    let arguments = |map: Option<TensorMap>| {
        let with = |a: Argument| Argument { tensor_map: map.clone(), ..a };
        vec![
            with(argument("from", "tensordesc<fp32[64, 32]>", Some(READS))),
            with(argument("to", "tensordesc<fp32[64, 32]>", Some(WRITES))),
        ]
    };
    let (narrow, wide, bit) = (Type::int(32), Type::int(64), Type::int(1));
    let tile = Type::new(TypeData::TensorDesc { shape: vec![64, 32], elem: float(32), layout: None, im2col: false });
    let hopper = [tile, narrow, narrow, wide, wide].repeat(2);
    let ampere = [pointer(), wide, wide, wide, wide, bit, bit, narrow, narrow, wide, wide].repeat(2);
    let mut variants = vec![
        variant("sm_90a", "copy", arguments(Some(map)), &hopper, vec![]),
        variant("sm_80", "copy", arguments(None), &ampere, vec![]),
    ];
    for v in &mut variants {
        v.descriptor.shared = 65536;
    }
    Kernel::of("copy".into(), variants).unwrap()
}

/// A kernel whose tensor map the launch makes of other arguments.
fn rows() -> Kernel {
    let map = TensorMap {
        data_type: 6,
        rank: 3,
        element_bytes: 2,
        box_dim: vec![64, 128, 1],
        element_strides: vec![1, 1, 1],
        interleave: 0,
        swizzle: 3,
        l2_promotion: 2,
        fill: 0,
        packed: 1,
    };
    let texts = |all: &[&str]| all.iter().map(|t| (*t).to_owned()).collect();
    let array = ArrayMap {
        base: "x".into(),
        extents: texts(&["2147483647", "max(min(m, n * 2), 1)", "64"]),
        strides: texts(&["batch", "stride * 2"]),
        map,
    };
    let arguments = vec![
        argument("x", "*fp16", Some(READS)),
        argument("m", "i32", None),
        argument("n", "u64", None),
        argument("stride", "i32", None),
        argument("batch", "i64", None),
    ];
    let types = [Type::ptr(float(16)), Type::int(32), Type::int(64), Type::int(32), Type::int(64)];
    let hidden = vec![Value::ArrayMap(array), Value::GlobalScratch { bytes_per_block: 0, memory_align: 1 }];
    Kernel::of("rows".into(), vec![variant("sm_90", "rows", arguments, &types, hidden)]).unwrap()
}

/// A kernel of clusters that uses scratch memory, has both hidden parameters, and waits for the kernel before it.
fn clusters() -> Kernel {
    let hidden = vec![Value::GlobalScratch { bytes_per_block: 256, memory_align: 1024 }, Value::ProfileScratch];
    let arguments = vec![argument("table", "*i64", None), argument("rows", "u64", None)];
    let mut made = variant("sm_90", "clusters", arguments, &[pointer(), Type::int(64)], hidden);
    let d = &mut made.descriptor;
    (d.cluster, d.programmatic, d.threads) = ([16, 1, 1], true, 256);
    d.grid = grid(["min(rows, 132)", "max(rows // 4, 1) * 2", "(rows % 3) + (5 - rows)"]);
    d.elsewhere = Access { reads: true, writes: true };
    Kernel::of("clusters".into(), vec![made]).unwrap()
}

/// Every type of scalar and element, and names that Rust keeps for itself.
fn types() -> Kernel {
    let scalars = [
        ("type", "i1", Type::int(1)),
        ("self", "i8", Type::int(8)),
        ("a", "u16", Type::int(16)),
        ("b", "i64", Type::int(64)),
        ("c", "u32", Type::int(32)),
        ("d", "fp16", float(16)),
        ("e", "bf16", float(16)),
        ("f", "fp32", float(32)),
        ("g", "fp64", float(64)),
        ("é", "*fp8e4nv", pointer()),
        ("h", "*kfp8e5", pointer()),
        ("i", "*bf16", pointer()),
        ("j", "**fp32", pointer()),
        ("k", "*i1", pointer()),
    ];
    let access = |ty: &str| ty.starts_with('*').then_some(READS);
    let arguments = scalars.iter().map(|(name, ty, _)| argument(name, ty, access(ty))).collect();
    let types: Vec<Type> = scalars.iter().map(|s| s.2).collect();
    let made = variant("sm_80", "loop", arguments, &types, vec![]);
    Kernel::of("loop".into(), vec![made]).unwrap()
}

/// Nothing to pass.
fn nothing() -> Kernel {
    let mut made = variant("sm_80", "nothing", vec![], &[], vec![]);
    made.descriptor.grid = grid(["4", "1", "1"]);
    Kernel::of("nothing".into(), vec![made]).unwrap()
}

/// Code for GPUs of both vendors, with scratch memory and a tensor. Where the hardware reads a map, the code is
/// another.
fn both() -> Kernel {
    let made = |arch: &str, divisor: Option<u64>| {
        let (narrow, wide, bit) = (Type::int(32), Type::int(64), Type::int(1));
        let parts = [pointer(), wide, wide, wide, wide, bit, bit, narrow, narrow, wide, wide];
        let arguments = vec![
            argument("from", "tensordesc<fp32[64, 32]>", Some(READS)),
            Argument { divisible_by: divisor, ..argument("out", "*fp32", Some(WRITES)) },
        ];
        let hidden = vec![Value::GlobalScratch { bytes_per_block: 64, memory_align: 512 }];
        let types: Vec<Type> = parts.into_iter().chain([pointer()]).collect();
        let mut v = variant(arch, "both", arguments, &types, hidden);
        v.descriptor.grid = grid(["3", "2", "1"]);
        (v.descriptor.threads, v.descriptor.shared) = (256, 65_536);
        v
    };
    let all = [("gfx942", None), ("sm_90a", None), ("gfx1100", None), ("gfx942", Some(16))];
    Kernel::of("both".into(), all.map(|(arch, divisor)| made(arch, divisor)).into()).unwrap()
}

#[test]
fn the_printed_launchers_are_those_that_the_runtime_tests_use() {
    let options = Options { module: "kernels".into(), embed: true };
    let files = rust::print(&[add(), copy(), rows(), clusters(), types(), nothing(), both()], &options);
    let [(name, printed)] = &files[..] else { panic!("one file") };
    let printed = String::from_utf8(printed.clone()).unwrap();
    assert_eq!(name, "kernels.rs");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/ttc-rt/tests/launchers/kernels.rs");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &printed).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let differ = expected.lines().zip(printed.lines()).position(|(a, b)| a != b);
    assert!(expected == printed, "line {differ:?} differs; BLESS=1 writes {}", path.display());
}

#[test]
fn cubins_that_are_not_embedded_are_files_beside() {
    let options = Options { module: "m".into(), embed: false };
    let mut twice = types();
    let mut newer = twice.variants[0].clone();
    newer.arch = "sm_86".into();
    twice = Kernel::of(twice.name, vec![twice.variants.remove(0), newer]).unwrap();
    let mut other = nothing();
    (other.name, other.variants[0].arch) = ("other".into(), "gfx942".into());
    let files = rust::print(&[twice, nothing(), other], &options);
    let names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
    let expected = ["m.rs", "m.loop.0.sm_86.cubin", "m.nothing.0.sm_80.cubin", "m.other.0.gfx942.hsaco"];
    assert_eq!(names, expected, "equal images are one file");
    assert_eq!(files[2].1, nothing().variants[0].image);
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    assert!(text.contains("spec::Aligned(*include_bytes!(\"m.nothing.0.sm_80.cubin\"));"), "{text}");
}
