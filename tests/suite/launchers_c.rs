//! The C launchers: what is printed compiles as C99 and C++11 without warnings and calls the driver as it must.
//!
//! The driver is `tests/launch/libcuda.c`, which shows every call and the bytes of every parameter, and fails on
//! demand. `tests/launch/scenarios.c` is the program; `scenarios.out` is what it must say, written by `BLESS=1` and
//! read by a person.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ttc::launch::c;
use ttc::launch::{
    Access, Argument, ArrayMap, Descriptor, Kernel, Options, Parameter, TensorMap, VERSION, Value, Variant,
};

/// A program's folder with the launchers and the driver.
struct World(tempfile::TempDir);

const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-g"];

/// Says that a test did not run, past the test runner, which would keep it to itself.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Whether there is a C compiler. Where `TTC_TEST_TOOLS` is set, there must be.
fn has_compiler() -> bool {
    let there = Command::new("cc").arg("--version").output().is_ok_and(|o| o.status.success());
    assert!(there || std::env::var_os("TTC_TEST_TOOLS").is_none(), "there is no C compiler `cc`");
    if !there {
        skipped("the tests of C launchers need a C compiler, and there is no `cc`");
    }
    there
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/launch")
}

impl World {
    /// A folder with the drivers of both vendors.
    fn empty() -> World {
        let world = World(tempfile::tempdir().unwrap());
        for name in ["libcuda", "libamdhip64"] {
            let (stub, library) = (sources().join(format!("{name}.c")), format!("{name}.so"));
            let options = ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", "-o", &library];
            world.compile("cc", &options, &[&stub]);
        }
        world
    }

    fn new(kernels: &[Kernel], embed: bool) -> World {
        let world = World::empty();
        for (name, bytes) in c::print(kernels, &Options { module: "kernels".into(), embed }) {
            std::fs::write(world.at(&name), bytes).unwrap();
        }
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn compile(&self, compiler: &str, options: &[&str], files: &[&Path]) {
        let done = Command::new(compiler)
            .args(options)
            .args(WARNINGS)
            .args(files)
            .arg("-I.")
            .args(["-ldl", "-lpthread"])
            .current_dir(self.0.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{compiler}: {}", text(&done));
    }

    /// Compiles a program of `tests/launch` with the launchers.
    fn program(&self, name: &str) {
        let main = sources().join(format!("{name}.c"));
        self.compile("cc", &["-std=c99", "-o", name], &[&main, Path::new("kernels.c")]);
    }

    fn run(&self, program: &[&str], environment: &[(&str, &str)]) -> String {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).current_dir(self.0.path());
        command.env("TTC_LIBCUDA", self.at("libcuda.so")).env("TTC_LIBAMDHIP64", self.at("libamdhip64.so"));
        command.envs(environment.iter().copied());
        let done = command.output().unwrap();
        assert!(done.status.success(), "{program:?}: {}", text(&done));
        text(&done)
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn argument(name: &str, ty: &str) -> Argument {
    let memory = ty.starts_with('*') || ty.starts_with("tensordesc");
    let access = memory.then_some(Access { reads: true, writes: name == "y" });
    Argument { name: name.into(), ty: ty.into(), access, ..Argument::default() }
}

fn parameter(value: Value, offset: u32, size: u32) -> Parameter {
    Parameter { value, offset, size, align: size }
}

/// A variant with a text in place of a cubin, which says where the parameters are, in the words of `libcuda.c`.
fn variant(arch: &str, symbol: &str, arguments: Vec<Argument>, values: Vec<(Value, u32)>) -> Variant {
    let (mut end, mut image, mut parameters) = (0u32, symbol.to_owned(), vec![]);
    for (value, size) in values {
        let offset = end.next_multiple_of(size.min(64));
        end = offset + size;
        let _ = write!(image, " {offset}:{size}");
        parameters.push(parameter(value, offset, size));
    }
    let descriptor = Descriptor {
        version: VERSION,
        symbol: symbol.into(),
        threads: 128,
        shared: 0,
        cluster: [1; 3],
        programmatic: false,
        grid: None,
        arguments,
        parameters,
        parameter_bytes: end,
        elsewhere: Access::default(),
    };
    Variant {
        arch: arch.into(),
        constants: [("BLOCK".to_owned(), "1024".to_owned())].into_iter().collect(),
        descriptor,
        image: (image + "\0").into_bytes(),
    }
}

fn of(argument: &str) -> Value {
    Value::Argument { argument: argument.into() }
}

fn grid(axes: [&str; 3]) -> Option<[String; 3]> {
    Some(axes.map(str::to_owned))
}

/// All scalar types, with promises of three strengths. `int` is 1 in all variants, so it is no parameter.
fn scale(arch: &str, symbol: &str, x: u64, n: u64) -> Variant {
    let mut arguments: Vec<Argument> = [
        ("x", "*fp32"),
        ("y", "*fp32"),
        ("n", "i32"),
        ("flag", "i1"),
        ("a", "fp32"),
        ("h", "fp16"),
        ("b", "bf16"),
        ("d", "fp64"),
        ("wide", "i64"),
        ("int", "i32"),
        ("q", "fp8e4nv"),
        ("big", "u64"),
    ]
    .iter()
    .map(|(name, ty)| argument(name, ty))
    .collect();
    arguments[0].divisible_by = Some(x);
    arguments[2].divisible_by = Some(n);
    arguments[9].equals = Some(1);
    let values = [
        ("x", 8),
        ("y", 8),
        ("n", 4),
        ("flag", 1),
        ("a", 4),
        ("h", 2),
        ("b", 2),
        ("d", 8),
        ("wide", 8),
        ("q", 1),
        ("big", 8),
    ];
    let mut v = variant(arch, symbol, arguments, values.iter().map(|&(name, size)| (of(name), size)).collect());
    v.descriptor.grid = grid(["cdiv(n, 1024)", "1", "1"]);
    v
}

fn tensor_map(box_dim: &[u32]) -> Option<TensorMap> {
    Some(TensorMap {
        data_type: 6,
        rank: 2,
        element_bytes: 2,
        box_dim: box_dim.to_vec(),
        element_strides: vec![1, 1],
        interleave: 0,
        swizzle: 3,
        l2_promotion: 2,
        fill: 0,
        packed: 1,
    })
}

/// Tensor maps, clusters and scratch memory on sm_90a; on sm_80 the same arguments as numbers, for Triton's launcher.
fn gemm(hopper: bool) -> Variant {
    let mut arguments = vec![
        argument("a", "tensordesc<fp16[64, 64]>"),
        argument("b", "tensordesc<fp16[64, 32]>"),
        argument("k", "i32"),
    ];
    let mut values = vec![];
    for name in ["a", "b"] {
        let argument = || name.to_owned();
        let extents = |size| (0..2).map(move |axis| (Value::Extent { argument: name.to_owned(), axis }, size));
        let strides = || (0..2).map(|axis| (Value::Stride { argument: name.to_owned(), axis }, 8));
        if hopper {
            values.push((Value::TensorMap { argument: argument() }, 128));
        } else {
            values.push((Value::Base { argument: argument() }, 8));
            values.extend(extents(8).chain(strides()));
            values.push((Value::PadsWithNan { argument: argument() }, 1));
            values.push((Value::RoundsToTf32 { argument: argument() }, 1));
        }
        values.extend(extents(4).chain(strides()));
    }
    values.push((of("k"), 4));
    values.push((Value::GlobalScratch { bytes_per_block: if hopper { 256 } else { 0 }, memory_align: 128 }, 8));
    if hopper {
        arguments[0].tensor_map = tensor_map(&[64, 64]);
        arguments[1].tensor_map = tensor_map(&[32, 64]);
    } else {
        values.push((Value::ProfileScratch, 8));
    }
    let mut v = variant(if hopper { "sm_90a" } else { "sm_80" }, "gemm", arguments, values);
    v.descriptor.grid = grid(["4", "2", "1"]);
    v.descriptor.shared = if hopper { 131_072 } else { 49_152 };
    v.descriptor.cluster = if hopper { [2, 1, 1] } else { [1; 3] };
    v
}

/// Two maps that the launch makes: of rows, and of batches of rows, in front of scratch memory.
fn arrays() -> Variant {
    let types =
        [("x", "*fp16"), ("y", "*fp16"), ("rows", "i32"), ("columns", "i32"), ("stride", "i32"), ("batch", "i64")];
    let arguments = types.iter().map(|(name, ty)| argument(name, ty)).collect();
    let array = |base: &str, extents: &[&str], strides: &[&str]| {
        let texts = |all: &[&str]| all.iter().map(|t| (*t).to_owned()).collect();
        let box_dim = &[32, 64, 1][..extents.len()];
        let rank = extents.len() as u32;
        let map = TensorMap { rank, element_strides: vec![1; extents.len()], ..tensor_map(box_dim).unwrap() };
        let (base, extents, strides) = (base.to_owned(), texts(extents), texts(strides));
        (Value::ArrayMap(ArrayMap { base, extents, strides, map }), 128)
    };
    let mut values: Vec<(Value, u32)> =
        [("x", 8), ("y", 8), ("rows", 4), ("columns", 4), ("stride", 4), ("batch", 8)].map(|(n, s)| (of(n), s)).into();
    values.push(array("x", &["max(rows, 1)", "max(columns, 1)"], &["stride"]));
    values.push(array("y", &["2147483647", "max(rows, 1)", "64"], &["batch * 2", "stride"]));
    values.push((Value::GlobalScratch { bytes_per_block: 128, memory_align: 128 }, 8));
    variant("sm_90", "arrays", arguments, values)
}

fn grids() -> Variant {
    let arguments = vec![argument("n", "i64"), argument("m", "i32"), argument("u", "u64")];
    let mut v = variant("sm_80", "grids", arguments, vec![(of("n"), 8), (of("m"), 4), (of("u"), 8)]);
    v.descriptor.grid = grid(["(n + 1) * 3", "(m % 5) + (n // 2)", "min(u, 9) - max(m, 2)"]);
    v
}

fn dependent(arch: &str) -> Variant {
    let mut v = variant(arch, "dependent", vec![], vec![]);
    v.descriptor.programmatic = true;
    v.descriptor.elsewhere.writes = true;
    v
}

fn kernels() -> Vec<Kernel> {
    let of = |name: &str, variants| Kernel::of(name.to_owned(), variants).unwrap();
    let with_arch = |mut v: Variant, arch: &str| {
        arch.clone_into(&mut v.arch);
        v
    };
    vec![
        of(
            "scale",
            vec![
                scale("sm_80", "scale_free", 4, 1),
                scale("sm_80", "scale_80", 16, 16),
                scale("sm_90a", "scale_90a", 16, 16),
                scale("sm_90", "scale_90", 16, 16),
                scale("sm_90", "scale_free", 4, 1),
            ],
        ),
        of("grids", vec![grids(), with_arch(grids(), "sm_90")]),
        of("gemm", vec![gemm(false), gemm(true)]),
        of("arrays", vec![arrays()]),
        of("dependent", vec![dependent("sm_90")]),
    ]
}

#[test]
fn c_launchers_call_the_driver_as_they_must() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&kernels(), true);
    world.program("scenarios");
    let mut said = String::new();
    for capability in ["90", "86", "100"] {
        let _ = writeln!(said, "==== compute capability {capability} ====");
        said += &world.run(&["./scenarios"], &[("STUB_CAPABILITY", capability)]);
    }
    let _ = writeln!(said, "==== no context ====");
    said +=
        world.run(&["./scenarios"], &[("STUB_CONTEXT", "0")]).lines().take(4).collect::<Vec<_>>().join("\n").as_str();
    compare(&said, "scenarios.out");
}

/// Compares a text with a file of `tests/launch`.
fn compare(said: &str, file: &str) {
    let expected = sources().join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&expected, said).unwrap();
    }
    let expected = std::fs::read_to_string(expected).unwrap();
    for (got, want) in said.lines().zip(expected.lines()) {
        assert_eq!(got, want, "{file}; all of it:\n{said}");
    }
    assert_eq!(said.lines().count(), expected.lines().count(), "{file}:\n{said}");
}

/// Each call of the driver may fail: the launcher says so, and nothing stays behind.
#[test]
fn c_launchers_give_back_everything_whatever_fails() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&kernels(), true);
    world.program("scenarios");
    let calls = [
        ("cuCtxGetCurrent", 4),
        ("cuCtxGetDevice", 4),
        ("cuDeviceGetAttribute", 12),
        ("cuModuleLoadData", 5),
        ("cuModuleGetFunction", 5),
        ("cuFuncSetAttribute", 1),
        ("cuTensorMapEncodeTiled", 8),
        ("cuMemAllocAsync", 1),
        ("cuMemFreeAsync", 1),
        ("cuLaunchKernel", 6),
        ("cuLaunchKernelEx", 3),
        ("cuModuleUnload", 5),
        ("cuCtxPushCurrent", 1),
        ("cuCtxPopCurrent", 1),
    ];
    let mut seen = 0;
    for (function, count) in calls {
        for call in 1..=count {
            let fail = format!("{function}:{call}");
            let said = world.run(&["./scenarios"], &[("STUB_FAIL", &fail), ("STUB_CAPABILITY", "90")]);
            assert!(said.contains(&format!("{function} fails")), "{fail} was not reached:\n{said}");
            // Where a context could not be made current, the program's second call unloads.
            assert!(said.contains("left: 0 modules, 0 blocks"), "{fail}:\n{said}");
            let told = said.contains(&format!(": {function}")) && said.contains("CUDA_ERROR_OUT_OF_MEMORY");
            assert!(told || said.contains("no current CUDA context"), "{fail}:\n{said}");
            seen += 1;
        }
    }
    assert_eq!(seen, calls.iter().map(|(_, n)| n).sum::<u32>());
}

/// A kernel with code for both vendors, and one for AMD alone with scratch memory, shared memory and a tensor.
fn vendors() -> Vec<Kernel> {
    let both = |arch: &str, symbol: &str, threads: u32, divisor: u64| {
        let mut arguments = vec![argument("x", "*fp32"), argument("y", "*fp32"), argument("n", "i32")];
        arguments[0].divisible_by = Some(4);
        arguments[2].divisible_by = Some(divisor);
        let mut v = variant(arch, symbol, arguments, vec![(of("x"), 8), (of("y"), 8), (of("n"), 4)]);
        v.descriptor.grid = grid(["cdiv(n, 1024)", "1", "1"]);
        v.descriptor.threads = threads;
        v
    };
    let wave = |arch: &str| {
        let name = || "d".to_owned();
        let mut values = vec![(of("y"), 8), (Value::Base { argument: name() }, 8)];
        values.extend((0..2).map(|axis| (Value::Extent { argument: name(), axis }, 8)));
        values.extend((0..2).map(|axis| (Value::Stride { argument: name(), axis }, 8)));
        values.push((Value::GlobalScratch { bytes_per_block: 128, memory_align: 256 }, 8));
        let mut v =
            variant(arch, "wave", vec![argument("y", "*fp32"), argument("d", "tensordesc<fp16[32, 32]>")], values);
        (v.descriptor.threads, v.descriptor.shared) = (256, 65_536);
        v
    };
    vec![
        Kernel::of(
            "both".to_owned(),
            vec![
                both("gfx942", "wide", 256, 1),
                both("sm_90a", "hopper", 128, 1),
                both("gfx1100", "narrow", 128, 1),
                both("gfx942", "wide_16", 256, 16),
            ],
        )
        .unwrap(),
        Kernel::of("wave".to_owned(), vec![wave("gfx942"), wave("gfx1100")]).unwrap(),
    ]
}

#[test]
fn c_launchers_choose_between_the_vendors() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&vendors(), true);
    world.program("vendors");
    let mut said = String::new();
    let nowhere = ("TTC_LIBCUDA", "/nowhere/libcuda.so");
    for (what, environment) in [
        ("a context of CUDA, and AMD's runtime", vec![]),
        ("no context of CUDA", vec![("STUB_CONTEXT", "0")]),
        ("no driver of CUDA", vec![nowhere]),
        ("the second device", vec![nowhere, ("STUB_DEVICE", "1")]),
        ("another processor", vec![nowhere, ("STUB_PROCESSOR", "gfx90a")]),
        ("too little shared memory", vec![nowhere, ("STUB_SHARED", "32768")]),
        ("no device of AMD", vec![nowhere, ("STUB_PROCESSOR", "")]),
        ("no context of CUDA, no device of AMD", vec![("STUB_CONTEXT", "0"), ("STUB_PROCESSOR", "")]),
        ("no runtime of AMD", vec![("TTC_LIBAMDHIP64", "/nowhere/libamdhip64.so")]),
        ("neither driver", vec![nowhere, ("TTC_LIBAMDHIP64", "/nowhere/libamdhip64.so")]),
        ("a driver of CUDA that fails", vec![("STUB_FAIL", "cuDeviceGetAttribute")]),
    ] {
        let _ = writeln!(said, "==== {what} ====");
        said += &world.run(&["./vendors"], &environment);
    }
    compare(&said, "vendors.out");
}

/// Each call of AMD's runtime may fail: the launcher says so, and nothing stays behind.
#[test]
fn c_launchers_give_back_everything_whatever_fails_in_amds_runtime() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&vendors(), true);
    world.program("vendors");
    for (function, count) in [
        ("hipGetDevice", 4),
        ("hipGetDeviceProperties", 2),
        ("hipModuleLoadData", 3),
        ("hipModuleGetFunction", 3),
        ("hipModuleLaunchKernel", 5),
        ("hipMallocAsync", 1),
        ("hipFreeAsync", 1),
        ("hipModuleUnload", 3),
        ("hipSetDevice", 3),
    ] {
        for call in 1..=count {
            let fail = format!("{function}:{call}");
            let environment = [("TTC_LIBCUDA", "/nowhere/libcuda.so"), ("STUB_FAIL", &*fail)];
            let said = world.run(&["./vendors"], &environment);
            assert!(said.contains(&format!("{function} fails")), "{fail} was not reached:\n{said}");
            // Where a device could not be made current, the program's second call unloads.
            assert!(said.contains("left: 0 modules, 0 blocks"), "{fail}:\n{said}");
            // The first call of hipSetDevice is the program's own.
            let told = said.contains(&format!(": {function}")) && said.contains("hipErrorOutOfMemory");
            assert!(told || fail == "hipSetDevice:1", "{fail}:\n{said}");
        }
    }
}

/// What a launch passes is what a code object's own metadata says, and a block has the threads of its warps: 64 lanes a
/// warp or 32. One source has the code for both vendors.
#[test]
fn c_launchers_pass_what_code_objects_declare() {
    if !has_compiler() {
        return;
    }
    let world = World::empty();
    let kernel = "import triton\nimport triton.language as tl\n\n@triton.jit\n\
                  def fill(x: \"*fp32\", half: \"fp16\", n: \"i32\", wide: \"i64\", BLOCK: tl.constexpr = 256):\n    \
                  offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    \
                  tl.store(x + offs + wide, half.to(tl.float32), mask=offs < n)\n";
    std::fs::write(world.at("fill.py"), kernel).unwrap();
    ttc(&world, "fill.py --arch gfx942,sm_90a,gfx1100 --grid cdiv(n,BLOCK) --emit c --out-dir .", 0);
    let program = "#include \"fill.h\"\nint main(void) { fill_kernel k; fill_args a; ttc_error e;\n    \
                   a.x = 64; a.half = 0x3c00; a.n = 1000; a.wide = -1; e.text[0] = 0;\n    \
                   fill_load(&k, &e); printf(\"%s\\n\", e.text); fill_launch(&k, NULL, &a, &e);\n    \
                   printf(\"%s\\n\", e.text); return fill_unload(&k, &e); }\n";
    std::fs::write(world.at("main.c"), program).unwrap();
    world.compile("cc", &["-std=c99", "-o", "main"], &[Path::new("main.c"), Path::new("fill.c")]);
    let nowhere = ("TTC_LIBCUDA", "/nowhere/libcuda.so");
    for (environment, call, threads) in [
        (vec![], "cuLaunchKernel", 128),
        (vec![nowhere], "hipModuleLaunchKernel", 256),
        (vec![nowhere, ("STUB_DEVICE", "1")], "hipModuleLaunchKernel", 128),
    ] {
        let said = world.run(&["./main"], &environment);
        let line = format!("{call} fill grid 4,1,1 block {threads},1,1 shared 0 stream 0: ");
        assert!(said.contains(&line), "{said}");
        assert!(said.contains(" 0:8=0000000000000040 8:2=3c00 12:4=000003e8 16:8=ffffffffffffffff\n"), "{said}");
    }
}

/// A program with a default stream for each thread launches on AMD's stream of this meaning.
#[test]
fn c_launchers_know_the_default_stream_of_a_thread_on_amd() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&vendors(), true);
    let main = sources().join("vendors.c");
    let options = ["-std=c99", "-DTTC_PER_THREAD_DEFAULT_STREAM", "-o", "vendors"];
    world.compile("cc", &options, &[&main, Path::new("kernels.c")]);
    let said = world.run(&["./vendors"], &[("TTC_LIBCUDA", "/nowhere/libcuda.so")]);
    assert!(said.contains("grid 4,1,1 block 256,1,1 shared 0 stream 7:"), "{said}");
    assert!(said.contains("grid 4,1,1 block 256,1,1 shared 0 stream 2:"), "{said}");
    assert!(said.contains("bytes stream 2") && said.contains("hipFreeAsync stream 2"), "{said}");
}

#[test]
fn c_launchers_load_and_launch_from_eight_threads() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&kernels(), true);
    world.program("threads");
    let said = world.run(&["./threads"], &[("STUB_QUIET", "1")]);
    assert_eq!(said, "0 failed\nleft: 0 modules, 0 blocks; 8000 launches\n");
}

/// Nobody reads what was not written, and nothing is lost. Where valgrind is not installed, the other tests remain.
#[test]
fn c_launchers_are_clean_under_valgrind() {
    let there = Command::new("valgrind").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        skipped("valgrind is not installed");
    }
    if !there || !has_compiler() {
        return;
    }
    let world = World::new(&kernels(), true);
    world.program("scenarios");
    let check = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "./scenarios"];
    let said = world.run(&check, &[("STUB_CAPABILITY", "90")]);
    assert!(said.contains("left: 0 modules, 0 blocks"), "{said}");
}

#[test]
fn c_launchers_are_cpp_as_well() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&kernels(), true);
    let main = sources().join("scenarios.c");
    world.compile("c++", &["-std=c++11", "-x", "c++", "-o", "scenarios"], &[&main, Path::new("kernels.c")]);
    let said = world.run(&["./scenarios"], &[]);
    assert!(said.contains("all promises hold: 0 ok"), "{said}");
}

#[test]
fn c_launchers_read_cubins_beside_them() {
    if !has_compiler() {
        return;
    }
    let world = World::new(&kernels()[..1], false);
    let program = "#include \"kernels.h\"\nint main(void) { scale_kernel k; ttc_error e; e.text[0] = 0;\n\
                   printf(\"%d %s\\n\", (int)scale_load(&k, \".\", &e), e.text); scale_unload(&k, NULL);\n\
                   printf(\"%d %s\\n\", (int)scale_load(&k, \"nowhere\", &e), e.text); return 0; }\n";
    std::fs::write(world.at("main.c"), program).unwrap();
    world.compile("cc", &["-std=c99", "-o", "main"], &[Path::new("main.c"), Path::new("kernels.c")]);
    let said = world.run(&["./main"], &[]);
    assert!(said.contains("cuModuleLoad kernels.scale.0.sm_90a.cubin\ncuModuleLoadData scale_90a\n"), "{said}");
    let missing = "3 scale: cuModuleLoad failed for the code for sm_90a with CUDA_ERROR_NOT_FOUND (500)";
    assert!(said.contains(missing) && said.contains("left: 0 modules"), "{said}");
}

/// A kernel that was compiled for `n: i32:1` as well: the launcher takes that code where n is 1, and the general one
/// elsewhere. Without a general one, it refuses another value.
#[test]
fn c_launchers_choose_and_check_what_is_compiled_for_1() {
    if !has_compiler() {
        return;
    }
    let world = World::empty();
    let kernel = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef fill(x: \"*fp32\", n):\n    \
                  tl.store(x + tl.arange(0, 4) * n, 1.0)\n";
    std::fs::write(world.at("fill.py"), kernel).unwrap();
    let compile = |module: &str, variants: &[&str]| {
        let variants = variants.iter().flat_map(|v| ["--variant", v]);
        let fixed = ["compile", "fill.py", "--arch", "sm_80", "--emit", "c", "--out-dir", ".", "--module", module];
        let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
        let done = command.args(fixed).args(variants).current_dir(world.0.path()).output().unwrap();
        assert!(done.status.success(), "{}", text(&done));
    };
    compile("both", &["any: n=i64", "one: n=i64:1"]);
    compile("one", &["one: n=i64:1"]);
    let program = "int main(void) { fill_kernel k; fill_args a; ttc_error e; a.x = 64;\n    \
                   e.text[0] = 0; fill_load(&k, &e); printf(\"%s\\n\", e.text);\n    \
                   for (a.n = 1; a.n <= 2; a.n++) { e.text[0] = 0; fill_launch_grid(&k, NULL, 1, 1, 1, &a, &e);\n    \
                   printf(\"n is %d: %s\\n\", (int)a.n, e.text); }\n    \
                   fill_unload(&k, &e); return 0; }\n";
    let general = "0:8=0000000000000040 8:8=0000000000000002\nn is 2: \n";
    let refused = "n is 2: fill: `n` must be 1";
    for (module, loaded, of_two) in [("both", 2, general), ("one", 1, refused)] {
        std::fs::write(world.at("main.c"), format!("#include \"{module}.h\"\n{program}")).unwrap();
        let source = format!("{module}.c");
        world.compile("cc", &["-std=c99", "-o", module], &[Path::new("main.c"), Path::new(&source)]);
        let said = world.run(&[&format!("./{module}")], &[("STUB_CAPABILITY", "80")]);
        assert_eq!(said.matches("cuModuleLoadData").count(), loaded, "{said}");
        assert!(said.contains("stream 0: 0:8=0000000000000040\nn is 1: \n"), "{module}: {said}");
        assert!(said.contains(of_two), "{module}: {said}");
    }
}

/// Code for two architectures, of which the better one needs more shared memory than the GPU has: the other one is
/// loaded. Where neither fits, the message has both numbers. Names of architectures that begin alike are all named.
#[test]
fn c_launchers_take_code_that_fits_into_shared_memory() {
    if !has_compiler() {
        return;
    }
    let large = |arch: &str, symbol: &str, shared: u32| {
        let mut v = variant(arch, symbol, vec![argument("x", "*fp32")], vec![(of("x"), 8)]);
        v.descriptor.shared = shared;
        v
    };
    let variants = vec![
        large("sm_86", "k_86", 163_840),
        large("sm_80", "k_80", 65_536),
        large("sm_90a", "k_90a", 0),
        large("sm_90", "k_90", 0),
    ];
    let world = World::new(&[Kernel::of("k".to_owned(), variants).unwrap()], true);
    let program = "#include \"kernels.h\"\nint main(void) { k_kernel k; k_args a; ttc_error e; a.x = 64; e.text[0] = 0;\n    \
                   if (k_load(&k, &e) == TTC_OK) k_launch_grid(&k, NULL, 1, 1, 1, &a, &e);\n    \
                   printf(\"%s\\n\", e.text);\n    \
                   return k_unload(&k, &e) != TTC_OK; }\n";
    std::fs::write(world.at("main.c"), program).unwrap();
    world.compile("cc", &["-std=c99", "-o", "main"], &[Path::new("main.c"), Path::new("kernels.c")]);
    for (capability, shared, expected) in [
        ("86", "163840", "cuModuleLoadData k_86\n"),
        ("86", "101376", "cuModuleLoadData k_80\n"),
        ("86", "49152", "needs 163840 bytes of shared memory in the code for sm_86, and this GPU has 49152 for one"),
        ("100", "232448", "compiled for sm_90a, sm_90, sm_86, sm_80, and this GPU"),
    ] {
        let said = world.run(&["./main"], &[("STUB_CAPABILITY", capability), ("STUB_SHARED", shared)]);
        assert!(said.contains(expected), "{capability} {shared}:\n{said}");
        assert_eq!(said.matches("cuModuleLoadData").count(), usize::from(expected.starts_with("cuModule")), "{said}");
    }
}

/// Arguments whose names are words, types or macros of C and C++, and texts that would turn a comment around.
#[test]
fn c_launchers_of_odd_names_and_texts_compile() {
    if !has_compiler() {
        return;
    }
    let names = [
        "_Bool",
        "_Atomic",
        "__int128",
        "uint8_t",
        "int32_t",
        "ttc_ptr",
        "ttc_tensor",
        "TTC_RT_VERSION",
        "INT32_MAX",
        "z",
    ];
    let arguments = names.iter().map(|name| argument(name, "i32")).collect();
    let mut v = variant("sm_80", "k", arguments, names.iter().map(|name| (of(name), 4)).collect());
    v.constants.insert("ACT".to_owned(), "'\u{202e}gelu\u{2066}\u{7}'".to_owned());
    let kernel = Kernel::of("k".to_owned(), vec![v]).unwrap();
    let world = World::new(std::slice::from_ref(&kernel), true);
    let source = std::fs::read_to_string(world.at("kernels.c")).unwrap();
    assert!(source.contains("ACT = '\\u{202e}gelu\\u{2066}\\u{7}'"), "{source}");
    for (compiler, standard) in [("cc", "-std=c99"), ("c++", "-std=c++11")] {
        let options = [standard, "-x", if compiler == "cc" { "c" } else { "c++" }, "-c", "-o", "k.o"];
        world.compile(compiler, &options, &[Path::new("kernels.c")]);
    }
    let rust = ttc::launch::rust::print(&[kernel], &Options { module: "k".into(), embed: true });
    assert!(rust[0].1.is_ascii(), "nothing hides in a comment");
}

#[test]
fn c_launchers_are_printed_alike_each_time() {
    let options = Options { module: "kernels".into(), embed: true };
    assert_eq!(c::print(&kernels(), &options), c::print(&kernels(), &options));
}

/// The examples build without CUDA, and their launchers pass what the cubins declare.
#[test]
fn c_launchers_of_the_examples_pass_what_the_cubins_declare() {
    if !has_compiler() {
        return;
    }
    let world = World::empty();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/c");
    for file in ["Makefile", "kernels.py", "device.h", "examples.c", "overhead.c"] {
        std::fs::copy(examples.join(file), world.at(file)).unwrap();
    }
    let ttc = format!("TTC={}", env!("CARGO_BIN_EXE_ttc"));
    let flags = "CFLAGS=-std=c99 -O2 -Wall -Wextra -Werror -pedantic";
    let made = Command::new("make").args(["-j2", &ttc, flags]).current_dir(world.0.path()).output().unwrap();
    assert!(made.status.success(), "{}", text(&made));
    let main = sources().join("real.c");
    let modules = ["add", "add_in_clusters", "softmax", "matmul"].map(|m| format!("generated/{m}.c"));
    let files: Vec<&Path> = std::iter::once(main.as_path()).chain(modules.iter().map(Path::new)).collect();
    world.compile("cc", &["-std=c99", "-Igenerated", "-o", "real"], &files);
    let mut said = String::new();
    for capability in ["90", "80"] {
        let _ = writeln!(said, "==== compute capability {capability} ====");
        said += &world.run(&["./real"], &[("STUB_CAPABILITY", capability)]);
    }
    compare(&without_sizes(&said), "real.out");
}

/// The text without bytes of shared memory, which change with what the compiler makes of a kernel.
fn without_sizes(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut before = "";
        for word in line.split(' ') {
            let size = (before == "shared" || before == "=") && word.parse::<u64>().is_ok_and(|n| n > 0);
            let _ = write!(out, "{}{}", if before.is_empty() { "" } else { " " }, if size { "SIZE" } else { word });
            before = word;
        }
        out.push('\n');
    }
    out
}

/// Hidden parameters, and the attribute for an early start, with real cubins.
#[test]
fn c_launchers_pass_hidden_parameters_of_real_cubins() {
    if !has_compiler() {
        return;
    }
    let world = World::empty();
    std::fs::copy(sources().join("hidden.py"), world.at("hidden.py")).unwrap();
    for (kernel, module, options) in
        [("fill", "abi", "--triton-abi"), ("scaled", "scratch", "--num-warps 4"), ("after", "early", "--num-warps 4")]
    {
        let grid = if kernel == "scaled" { "cdiv(rows,64)" } else { "4" };
        ttc(&world, &format!("hidden.py -k {kernel} {options} --arch sm_90a --grid {grid} -o {module}.c"), 0);
    }
    let main = sources().join("hidden.c");
    let files = ["abi.c", "scratch.c", "early.c"].map(Path::new);
    world.compile("cc", &["-std=c99", "-o", "hidden"], &[&[main.as_path()], files.as_slice()].concat());
    compare(&without_sizes(&world.run(&["./hidden"], &[])), "hidden.out");
}

/// Runs `ttc` in a folder with one kernel of two configurations; it must end with this exit code.
fn ttc(world: &World, args: &str, exit: i32) -> String {
    let kernel = "import triton\nimport triton.language as tl\n@triton.autotune([triton.Config({'BLOCK': 64}), \
                  triton.Config({'BLOCK': 128})], key=['n'])\n@triton.jit\n\
                  def copy(int: '*fp32:16', out: '*fp32', n: 'i32', BLOCK: tl.constexpr):\n    \
                  at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    \
                  tl.store(out + at, tl.load(int + at, mask=at < n), mask=at < n)\n";
    std::fs::write(world.at("copy.py"), kernel).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
    let done = command.args(args.split_whitespace()).current_dir(world.0.path()).output().unwrap();
    assert_eq!(done.status.code(), Some(exit), "{args}: {}", text(&done));
    text(&done)
}

/// `--emit c` writes one set of files for all that a run makes, under the names that it was told.
#[test]
fn emit_c_puts_a_run_into_one_set_of_files() {
    let world = World(tempfile::tempdir().unwrap());
    let read = |name: &str| std::fs::read_to_string(world.at(name)).unwrap();
    let names = |dir: &str| {
        let mut all: Vec<String> =
            std::fs::read_dir(world.at(dir)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    };
    ttc(&world, "copy.py --config all --arch sm_80,sm_90a --emit c --out-dir o --grid cdiv(n,BLOCK)", 0);
    assert_eq!(names("o"), ["copy.c", "copy.h", "ttc_rt.h"]);
    let (header, source) = (read("o/copy.h"), read("o/copy.c"));
    for word in ["copy_0_launch(", "copy_1_launch(", "ttc_const_ptr int_;", "ttc_ptr out;", "int32_t n;"] {
        assert!(header.contains(word), "{word}:\n{header}");
    }
    for word in [
        "ttcrt_cdiv((int64_t)args->n, 64, &fits)",
        "\"sm_80\", TTCRT_NVIDIA, 8, 0, false",
        "\"sm_90a\", TTCRT_NVIDIA, 9, 0, true",
    ] {
        assert!(source.contains(word), "{word}");
    }
    ttc(&world, "copy.py --config 0 --arch sm_80 -o p/k.c --embed no", 0);
    assert_eq!(names("p"), ["k.c", "k.copy.0.sm_80.cubin", "k.h", "ttc_rt.h"]);
    assert!(!read("p/k.h").contains("copy_launch("), "without a grid there is only copy_launch_grid");
    ttc(&world, "copy.py --config 0 --arch sm_80 --emit c,ptx,cubin --module a-b --out-dir q", 0);
    assert_eq!(names("q"), ["a-b.c", "a-b.h", "copy.cubin", "copy.json", "copy.ptx", "ttc_rt.h"]);
    // From PTX of ttc, whose last line says how to launch it, come the same launchers.
    ttc(&world, "q/copy.ptx --emit c --module a-b --out-dir r", 0);
    assert_eq!(read("r/a-b.c"), read("q/a-b.c"));
    for (args, code) in [
        ("copy.py --config 0 --emit c --module a/b", "E0910"),
        ("copy.py --config 0 --emit c --module ttc_rt", "E0910"),
        ("copy.py --config 0 --module k -o k.ptx", "E0910"),
        ("copy.py --config 0 --embed no -o k.ptx", "E0910"),
        ("copy.py --config 0 --emit c,ptx -o k.c", "E0908"),
        ("copy.py --config 0 --emit c -o k.cubin", "E0908"),
        ("copy.py --config 0 -o k.h", "E0907"),
    ] {
        let said = ttc(&world, args, 2);
        assert!(said.contains(code), "{args}: {said}");
    }
    // Variants of one kernel are tried in turn, those that promise more first.
    let two = "copy.py --config 0 --arch sm_80 --emit c --grid cdiv(n,BLOCK) --out-dir v";
    ttc(&world, &format!("{two} --variant any:n=i32 --variant fast:n=i32:16"), 0);
    let source = read("v/copy.c");
    let first = "if (kernel->variants[0].function != NULL\n        && args->int_ % 16 == 0\n        \
                 && args->n % 16 == 0) {";
    let second = "if (kernel->variants[1].function != NULL\n        && args->int_ % 16 == 0) {";
    assert!(source.contains(first) && source.contains(second), "{source}");
    // Variants with other types are no variants of one kernel, unless each has a name.
    let types = format!("{two} --variant a:out=*fp32 --variant b:out=*fp16");
    assert!(ttc(&world, &types, 2).contains("E0940"));
    ttc(&world, &format!("{types} --symbol {{kernel}}_{{variant}} --module w"), 0);
    // Configurations are numbered, so another kernel may be called as one of them.
    let numbered = "import triton\nimport triton.language as tl\n\n\n\
        @triton.autotune(configs=[triton.Config({'C': 1}), triton.Config({'C': 2})], key=[])\n@triton.jit\n\
        def a(p: \"*i32\", C: tl.constexpr):\n    tl.store(p, C)\n\n\n\
        @triton.jit\ndef a_1(p: \"*i32:16\"):\n    tl.store(p, 7)\n";
    std::fs::write(world.at("numbered.py"), numbered).unwrap();
    let said = ttc(&world, "numbered.py --config all --emit c --out-dir n", 2);
    assert!(said.contains("`a_1` would be the launcher of two kernels, `a` and `a_1`"), "{said}");
    let header = read("v/w.h");
    assert!(header.contains("copy_a_launch(") && header.contains("copy_b_launch("), "{header}");
    // A kernel that does not compile leaves no launchers of the others.
    ttc(&world, "copy.py --config 0 --arch sm_80 --grid cdiv(m,BLOCK) --emit c --out-dir s", 1);
    assert!(!world.at("s/copy.c").exists());
}
