//! The library as those who embed it see it: `ttc::Compiler` and nothing hidden.

use std::thread;

use ttc::{Compiler, Launch, Options, Source, Stage, Target};

const HALVE: &str = "
import triton
import triton.language as tl

@triton.jit
def halve(x, y, n, BLOCK: tl.constexpr = 4):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n, other=0)
    tl.store(y + offs, v >> 1, mask=offs < n)
";

fn compiler() -> Compiler {
    Compiler::new(Target::usual())
}

fn halve() -> Source {
    Source::text("halve.tk", HALVE)
}

fn kernel(name: &str) -> Source {
    Source::file(format!("{}/kernels/{name}.tk", env!("CARGO_MANIFEST_DIR")))
}

/// Every stage up to PTX of some kernels for two GPUs.
fn compile_some() -> Vec<Vec<u8>> {
    let signature =
        "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1, 'tf32', 64, 64, 32, 4";
    let stages = Options::new().stages([Stage::Ttir, Stage::Ttgir, Stage::Llir, Stage::Assembly]);
    let jobs = [(kernel("add"), stages.clone()), (kernel("matmul"), stages.clone().signature(signature))];
    let mut all = vec![];
    for target in ["sm_80", "sm_90a"] {
        for (source, options) in &jobs {
            let made = Compiler::new(target.parse().unwrap()).compile(source, options).unwrap();
            assert_eq!(made.stages().count(), 4);
            all.extend(made.stages().map(|(_, bytes)| bytes.to_vec()));
        }
    }
    all
}

#[test]
fn threads_compile_what_one_thread_compiles() {
    let alone = compile_some();
    let together: Vec<_> = (0..4).map(|_| thread::spawn(compile_some)).collect();
    for thread in together {
        assert!(thread.join().unwrap() == alone);
    }
}

#[test]
fn types_by_name_and_a_symbol_are_options() {
    let options = Options::new().param_type("*", "*fp16").param_type("n", "i64").define("BLOCK", 4).symbol("halve_f16");
    let text = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef halve(x, y, n, BLOCK: tl.constexpr):\n    \
                o = tl.arange(0, BLOCK)\n    tl.store(y + o, tl.load(x + o, mask=o < n), mask=o < n)\n";
    let source = Source::text("halve.py", text);
    let made = compiler().compile(&source, &options.stages([Stage::Assembly])).unwrap();
    assert_eq!((made.kernel.as_str(), made.metadata.name.as_str()), ("halve_f16", "halve_f16"));
    let types: Vec<&str> = made.metadata.params.iter().map(|p| p.ty.as_str()).collect();
    assert_eq!(types, ["*fp16", "*fp16", "i64"]);
    assert!(made.text(Stage::Assembly).unwrap().contains(".entry halve_f16("));
    // In the interpreter a type says what bytes are.
    let (mut x, mut y) = ([0u8, 0x3c].repeat(4), vec![0u8; 8]);
    let launch = Launch::new([1, 1, 1]).bytes("x", &mut x).bytes("y", &mut y).value("n", 4);
    let typed = Options::new().param_type("?", "*fp16").param_type("n", "i32").define("BLOCK", 4);
    compiler().interpret(&source, &typed, launch).unwrap();
    assert_eq!(x, y);
}

#[test]
fn the_text_of_a_stage_is_a_source() {
    let options = Options::new().stages([Stage::Ttgir, Stage::Assembly]);
    let made = compiler().compile(&kernel("add"), &options).unwrap();
    let again = Source::text("add.ttgir", made.text(Stage::Ttgir).unwrap());
    let again = compiler().compile(&again, &Options::new().stages([Stage::Assembly])).unwrap();
    let code = |ptx: &str| ptx.lines().filter(|l| l.trim_start().starts_with("ld.global")).count();
    assert_eq!(again.metadata.params, made.metadata.params);
    assert_eq!(code(again.ptx().unwrap()), code(made.ptx().unwrap()));
    assert!(made.cubin().is_none());
}

#[test]
fn what_is_wrong_comes_as_messages() {
    let code = |e: ttc::Diagnostics| {
        assert!(e.has_errors());
        e.iter().next().unwrap().code
    };
    assert_eq!(code(compiler().compile(&halve(), &Options::new().num_warps(3)).unwrap_err()), "E0910");
    assert_eq!(code(compiler().compile(&Source::text("halve.txt", HALVE), &Options::new()).unwrap_err()), "E0905");
    assert_eq!(code(compiler().compile(&Source::file("/no/such/file.tk"), &Options::new()).unwrap_err()), "E0901");
    assert_eq!(code(compiler().list(&Source::file("/no/such/file.tk"), &Options::new()).diagnostics), "E0901");
    assert_eq!(code("sm_12".parse::<Target>().unwrap_err()), "E0912");
    let missing = compiler().compile(&halve(), &Options::new()).unwrap_err();
    assert_eq!(format!("{missing:?}").lines().count(), missing.len());
    assert_eq!(missing.to_json().lines().count(), missing.len());
    assert_eq!(code(missing), "E0216");
}

#[test]
fn a_check_says_which_kernels_it_could_not_type() {
    let found = compiler().check(&halve(), &Options::new()).diagnostics;
    assert!(!found.has_errors(), "{found}");
    assert!(found.to_string().contains("`halve` needs the types or values of x, y, n"), "{found}");
    let typed = compiler().check(&halve(), &Options::new().signature("*i32, *i32, i32, 4")).diagnostics;
    assert!(typed.is_empty(), "{typed}");
}

/// The bits are those of -2 and -1; a kernel that took them for signed would shift the sign in.
#[test]
fn a_slice_of_unsigned_integers_is_unsigned() {
    let x = [u32::MAX - 1, u32::MAX, 8];
    let mut y = [0u32; 3];
    let launch = Launch::new([1, 1, 1]).input("x", &x).buffer("y", &mut y).value("n", 3);
    let run = compiler().interpret(&halve(), &Options::new(), launch).unwrap();
    assert_eq!((y, run.programs), ([0x7fff_ffff, 0x7fff_ffff, 4], 1));
    let x = [-2i32, -1, 8];
    let mut y = [0i32; 3];
    let launch = Launch::new([1, 1, 1]).input("x", &x).buffer("y", &mut y).value("n", 3);
    compiler().interpret(&halve(), &Options::new(), launch).unwrap();
    assert_eq!(y, [-1, -1, 4]);
}

#[test]
fn a_fault_leaves_the_buffers_as_they_were() {
    let mut y = [7i32; 4];
    let launch = Launch::new([2, 1, 1]).input("x", &[2i32; 8]).buffer("y", &mut y).value("n", 8);
    let faults = compiler().interpret(&halve(), &Options::new(), launch).unwrap_err();
    assert!(faults.to_string().contains("halve.tk:9:"), "{faults}");
    assert_eq!(y, [7; 4]);
}

#[test]
fn bytes_are_what_the_signature_says() {
    // 1.0 and -2.0 as fp16.
    let source = Source::text("k.tk", HALVE.replace("v >> 1", "v * 0.5"));
    let bits = [0x3c00u16, 0xc000];
    let mut x: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()).collect();
    let mut y = vec![0; 4];
    let launch = || Launch::new([1, 1, 1]).value("n", 2);
    let options = Options::new().signature("*fp16, *fp16, i32, constexpr");
    compiler().interpret(&source, &options, launch().bytes("x", &mut x).bytes("y", &mut y)).unwrap();
    let halves: Vec<u16> = y.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    assert_eq!(halves, [0x3800, 0xbc00]);
    let untyped =
        compiler().interpret(&source, &Options::new(), launch().bytes("x", &mut x).bytes("y", &mut y)).unwrap_err();
    assert!(untyped.to_string().contains("nothing says what the bytes of `x` are"), "{untyped}");
    let mut odd = [0; 3];
    let odd = compiler().interpret(&source, &options, launch().bytes("x", &mut odd).bytes("y", &mut y)).unwrap_err();
    assert!(odd.to_string().contains("3 bytes are no whole number of elements"), "{odd}");
}
