//! Passes keep the meaning of programs: what the interpreter computes before a pass equals what it computes after it.
//!
//! Programs are straight-line code on tensors and scalars, made from a seed: two arguments in memory, constants (edge
//! values among them), and operations on what there is so far. Every value is stored. Floats compare by their bits, and
//! any NaN equals any other.

use proptest::prelude::*;

use ttc::interp::{Arg, Memory, RunOptions, run};
use ttc::ir::{FloatKind, Ir, Type};
use ttc::passes::manager::{self, Pipeline};
use ttc::source::SourceMap;

const N: usize = 16;

/// One step of a program: which operation, and which of the values so far it takes.
type Step = (u8, u8, u8, u8);

const INTS: [&str; 12] =
    ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "shli", "shrui"];
const DIVISIONS: [&str; 7] = ["divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi", "ceildivui"];
const FLOATS: [&str; 9] = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf", "remf"];
const CONSTANTS: [i64; 8] = [0, 1, -1, 2, 5, 31, i32::MAX as i64, i32::MIN as i64];
const FLOAT_CONSTANTS: [&str; 8] = ["0.0", "-0.0", "1.0", "-1.5", "3.0e38", "0x7F800000", "0x7FC00000", "1.0e-40"];
const COMPARISONS: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
const FLOAT_COMPARISONS: [&str; 8] = ["oeq", "olt", "oge", "one", "ueq", "une", "uno", "ord"];

/// The text of a program on integers, or on floats.
fn program(steps: &[Step], float: bool) -> String {
    let elem = if float { "f32" } else { "i32" };
    let t = format!("tensor<{N}x{elem}>");
    let mut values = vec!["%x".to_owned(), "%y".to_owned()];
    let mut code = String::new();
    for (i, &(kind, a, b, c)) in steps.iter().enumerate() {
        let pick = |at: u8| values[at as usize % values.len()].clone();
        let (a, b, c) = (pick(a), pick(b), c as usize);
        let v = format!("%v{i}");
        let line = match (kind % 8, float) {
            (0 | 1, false) => format!("{v} = arith.constant dense<{}> : {t}", CONSTANTS[c % 8]),
            (0 | 1, true) => format!("{v} = arith.constant dense<{}> : {t}", FLOAT_CONSTANTS[c % 8]),
            (2, false) => format!(
                "%m{i} = arith.cmpi {}, {a}, {b} : {t}\n    {v} = arith.select %m{i}, {a}, {b} : tensor<{N}xi1>, {t}",
                COMPARISONS[c % 10]
            ),
            (2, true) => format!(
                "%m{i} = arith.cmpf {}, {a}, {b} : {t}\n    {v} = arith.select %m{i}, {a}, {b} : tensor<{N}xi1>, {t}",
                FLOAT_COMPARISONS[c % 8]
            ),
            // The divisor is never zero, and never -1, which overflows with the least number.
            (3, false) => format!(
                "%w{i} = arith.maxui {b}, %one : {t}\n    %d{i} = arith.minui %w{i}, %large : {t}\n    {v} = arith.{} {a}, %d{i} : {t}",
                DIVISIONS[c % 7]
            ),
            (3, true) => format!("{v} = arith.negf {a} : {t}"),
            (4, false) => format!(
                "%n{i} = arith.trunci {a} : {t} to tensor<{N}xi8>\n    {v} = arith.extsi %n{i} : tensor<{N}xi8> to {t}"
            ),
            (4, true) => format!(
                "%n{i} = arith.truncf {a} : {t} to tensor<{N}xf16>\n    {v} = arith.extf %n{i} : tensor<{N}xf16> to {t}"
            ),
            (5, false) => format!("{v} = math.absi {a} : {t}"),
            (5, true) => format!("{v} = math.floor {a} : {t}"),
            // A shift stays below the width: beyond it a fold need not agree.
            (_, false) if c % 12 >= 10 => {
                format!("%s{i} = arith.andi {b}, %five : {t}\n    {v} = arith.{} {a}, %s{i} : {t}", INTS[c % 12])
            }
            (_, false) => format!("{v} = arith.{} {a}, {b} : {t}", INTS[c % 12]),
            (_, true) => format!("{v} = arith.{} {a}, {b} : {t}", FLOATS[c % 9]),
        };
        let store = format!(
            "    {line}
    %k{i} = arith.constant dense<{}> : tensor<{N}xi32>
    %q{i} = tt.addptr %op, %k{i} : tensor<{N}x!tt.ptr<{elem}>>, tensor<{N}xi32>
    tt.store %q{i}, {v} : tensor<{N}x!tt.ptr<{elem}>>\n",
            i * N
        );
        code.push_str(&store);
        values.push(v);
    }
    let helpers = if float {
        String::new()
    } else {
        format!(
            "    %one = arith.constant dense<1> : {t}
    %large = arith.constant dense<2147483647> : {t}
    %five = arith.constant dense<31> : {t}\n"
        )
    };
    format!(
        "module {{
  tt.func public @k(%x_ptr: !tt.ptr<{elem}>, %y_ptr: !tt.ptr<{elem}>, %out: !tt.ptr<{elem}>) {{
    %r = tt.make_range {{end = {N} : i32, start = 0 : i32}} : tensor<{N}xi32>
    %xs = tt.splat %x_ptr : !tt.ptr<{elem}> -> tensor<{N}x!tt.ptr<{elem}>>
    %ys = tt.splat %y_ptr : !tt.ptr<{elem}> -> tensor<{N}x!tt.ptr<{elem}>>
    %os = tt.splat %out : !tt.ptr<{elem}> -> tensor<{N}x!tt.ptr<{elem}>>
    %xp = tt.addptr %xs, %r : tensor<{N}x!tt.ptr<{elem}>>, tensor<{N}xi32>
    %yp = tt.addptr %ys, %r : tensor<{N}x!tt.ptr<{elem}>>, tensor<{N}xi32>
    %op = tt.addptr %os, %r : tensor<{N}x!tt.ptr<{elem}>>, tensor<{N}xi32>
    %x = tt.load %xp : tensor<{N}x!tt.ptr<{elem}>>
    %y = tt.load %yp : tensor<{N}x!tt.ptr<{elem}>>
{helpers}{code}    tt.return
  }}
}}
"
    )
}

fn parse(text: &str) -> Ir {
    let mut map = SourceMap::default();
    let file = map.add("random.ttir", None, text);
    ttc::ir::text::parser::parse_module(&map, file, &ttc::ir::text::parser::ParseOptions::default())
        .unwrap_or_else(|e| panic!("{e:#?}\n{text}"))
}

/// The bits that a program stores.
fn outcome(ir: &Ir, steps: usize, data: &[u32; 2 * N], float: bool) -> Vec<u32> {
    let elem = if float { Type::float(FloatKind::F32) } else { Type::int(32) };
    let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut memory = Memory::new();
    let (x, y) = (memory.add("x", elem, &bytes[..4 * N]), memory.add("y", elem, &bytes[4 * N..]));
    let out = memory.add_uninit("out", elem, 4 * N * steps);
    let args = [Arg::Ptr(x, 0), Arg::Ptr(y, 0), Arg::Ptr(out, 0)];
    run(ir, "k", [1, 1, 1], &args, &mut memory, &RunOptions::default()).unwrap_or_else(|e| panic!("{e:#?}"));
    let nan = |v: u32| if float && f32::from_bits(v).is_nan() { f32::NAN.to_bits() } else { v };
    memory.bytes(out).chunks(4).map(|c| nan(u32::from_le_bytes(c.try_into().unwrap()))).collect()
}

fn agrees(steps: &[Step], data: &[u32; 2 * N], float: bool) {
    let text = program(steps, float);
    let before = parse(&text);
    let want = outcome(&before, steps.len(), data, float);
    for pipeline in ["canonicalize", "cse", "sccp", "canonicalize,triton-combine,cse,canonicalize"] {
        let mut after = before.clone();
        let pipeline = Pipeline::parse(pipeline, ttc::passes::registry::named).unwrap();
        let report = manager::run(&mut after, &pipeline, ttc::ir::verify::verify, &mut []);
        assert!(report.is_ok(), "{:#?}\n{text}", report.diagnostics);
        let got = outcome(&after, steps.len(), data, float);
        // Which step differs, at which element: the whole list would bury it.
        let differs = (0..want.len()).find(|&i| got[i] != want[i]).map(|i| (i / N, i % N, want[i], got[i]));
        assert_eq!(differs, None, "(step, element, before, after) of {pipeline:?}\n{text}");
    }
}

fn data() -> impl Strategy<Value = [u32; 2 * N]> {
    let special = prop::sample::select(vec![
        0u32,
        1,
        u32::MAX,
        0x8000_0000,
        0x7fff_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x3f80_0000,
    ]);
    prop::collection::vec(prop_oneof![any::<u32>(), special], 2 * N).prop_map(|v| v.try_into().expect("2 N elements"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn passes_keep_integer_programs(steps in prop::collection::vec(any::<Step>(), 1..24), data in data()) {
        agrees(&steps, &data, false);
    }

    #[test]
    fn passes_keep_float_programs(steps in prop::collection::vec(any::<Step>(), 1..24), data in data()) {
        agrees(&steps, &data, true);
    }
}

/// What `programs` programs of a kernel on buffers and integers write into the last buffer, starting from `inputs`.
fn launch(ir: &Ir, programs: u32, elem: Type, inputs: &[Vec<u8>], out: usize, args: &[i64]) -> Vec<u8> {
    let mut memory = Memory::new();
    let mut list: Vec<Arg> = inputs.iter().map(|bytes| Arg::Ptr(memory.add("in", elem, bytes), 0)).collect();
    // A pattern that no kernel writes shows which elements it left alone.
    let out = memory.add("out", elem, &vec![0xA5; out]);
    list.push(Arg::Ptr(out, 0));
    list.extend(args.iter().map(|&a| Arg::Int(a)));
    run(ir, "k", [programs, 1, 1], &list, &mut memory, &RunOptions::default()).unwrap_or_else(|e| panic!("{e:#?}"));
    memory.bytes(out).clone()
}

fn passed(before: &Ir, pipeline: &str) -> Ir {
    let mut after = before.clone();
    let report = manager::run(
        &mut after,
        &Pipeline::parse(pipeline, ttc::passes::registry::named).unwrap(),
        ttc::ir::verify::verify,
        &mut [],
    );
    assert!(report.is_ok() && report.changed, "{:#?}", report.diagnostics);
    after
}

/// Each program sums the 4×8 blocks of four rows of `x` along the columns, from a column that may be outside, and adds
/// a block of `y`, or of `x` one further row down.
const BLOCKS: &str = "module {
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>, %m: i32, %n: i32, %first: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %one = arith.constant 1 : i64
    %rows = arith.extsi %m : i32 to i64
    %cols = arith.extsi %n : i32 to i64
    %pid = tt.get_program_id x : i32
    %row = arith.muli %pid, %c4 : i32
    %zero = arith.constant dense<0.0> : tensor<4x8xf32>
    %p = tt.make_tensor_ptr %x, [%rows, %cols], [%cols, %one], [%row, %first] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
    %s:2 = scf.for %i = %c0 to %n step %c8 iter_args(%q = %p, %a = %zero) -> (!tt.ptr<tensor<4x8xf32>>, tensor<4x8xf32>) : i32 {
      %v = tt.load %q {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<4x8xf32>>
      %b = arith.addf %a, %v : tensor<4x8xf32>
      %next = tt.advance %q, [%c0, %c8] : <tensor<4x8xf32>>
      scf.yield %next, %b : !tt.ptr<tensor<4x8xf32>>, tensor<4x8xf32>
    }
    %swap = arith.cmpi sgt, %m, %n : i32
    %z = scf.if %swap -> (!tt.ptr<tensor<4x8xf32>>) {
      %t = tt.make_tensor_ptr %y, [%cols, %rows], [%one, %cols], [%c0, %c1] {order = array<i32: 0, 1>} : <tensor<4x8xf32>>
      scf.yield %t : !tt.ptr<tensor<4x8xf32>>
    } else {
      %t = tt.advance %p, [%c1, %c0] : <tensor<4x8xf32>>
      scf.yield %t : !tt.ptr<tensor<4x8xf32>>
    }
    %e = tt.load %z {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<4x8xf32>>
    %r = arith.addf %s#1, %e : tensor<4x8xf32>
    %o = tt.make_tensor_ptr %out, [%rows, %cols], [%cols, %one], [%row, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
    tt.store %o, %r {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<4x8xf32>>
    tt.return
  }
}
";

/// Sums over a loop, and remembers the last induction variable.
const COUNTED: &str = "module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %lower: i32, %upper: i32, %step: i32) {
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %r:2 = scf.for %i = %lower to %upper step %step iter_args(%a = %c1, %b = %c3) -> (i32, i32) : i32 {
      %c = arith.muli %a, %c3 : i32
      %d = arith.addi %c, %i : i32
      scf.yield %d, %i : i32, i32
    } {tt.loop_unroll_factor = FACTOR : i32}
    tt.store %out, %r#0 : !tt.ptr<i32>
    %p = tt.addptr %out, %c1 : !tt.ptr<i32>, i32
    tt.store %p, %r#1 : !tt.ptr<i32>
    tt.return
  }
}
";

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn block_pointers_become_tensors_of_pointers(rows in 1i64..10, cols in 1i64..21, first in -9i64..9, seed in any::<u32>()) {
        let before = parse(BLOCKS);
        let n = (rows * cols) as u32;
        let values = |k: u32| (0..n).flat_map(|i| ((seed.wrapping_add(k * 977 + i * 31) % 1000) as f32).to_le_bytes()).collect::<Vec<u8>>();
        let (inputs, args) = ([values(1), values(2)], [rows, cols, first]);
        let elem = Type::float(FloatKind::F32);
        let want = launch(&before, 2, elem, &inputs, 4 * n as usize, &args);
        for pipeline in ["triton-rewrite-tensor-pointer", "triton-rewrite-tensor-pointer,canonicalize,cse"] {
            prop_assert_eq!(&launch(&passed(&before, pipeline), 2, elem, &inputs, 4 * n as usize, &args), &want, "{}", pipeline);
        }
    }

    #[test]
    fn unrolled_loops_do_the_same(lower in -30i64..30, upper in -30i64..30, step in 1i64..7, factor in 2i64..7) {
        let mut text = COUNTED.replace("FACTOR", &factor.to_string());
        // Bounds known at run time only, then known to the compiler.
        for _ in 0..2 {
            let before = parse(&text);
            let inputs = [vec![0; 4]];
            let want = launch(&before, 1, Type::int(32), &inputs, 8, &[lower, upper, step]);
            let got = launch(&passed(&before, "triton-loop-unroll"), 1, Type::int(32), &inputs, 8, &[lower, upper, step]);
            prop_assert_eq!(got, want);
            let known = format!("    %l = arith.constant {lower} : i32\n    %u = arith.constant {upper} : i32\n    %s = arith.constant {step} : i32\n");
            text = text.replace("    %r:2", &format!("{known}    %r:2")).replace("%lower to %upper step %step", "%l to %u step %s");
        }
    }
}
