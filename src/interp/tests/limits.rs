//! Bounds of work, memory and lines; loops that do not end; several faults in one run.

use super::*;

fn options() -> RunOptions {
    RunOptions { threads: 1, ..RunOptions::default() }
}

/// Spins while `flag` is zero.
const SPIN: &str = "    scf.while : () -> () {
      %v = tt.load %p : !tt.ptr<i32>
      %zero = arith.constant 0 : i32
      %c = arith.cmpi eq, %v, %zero : i32
      scf.condition(%c)
    } do {
      scf.yield
    } loc(#loop)";

#[test]
fn a_loop_that_changes_nothing_is_endless() {
    let text = format!(
        "module {{\n tt.func public @k(%p: !tt.ptr<i32>) {{\n{SPIN}\n tt.return\n }}\n}}\n#loop = loc(\"k.tk\":7:4)\n"
    );
    let mut memory = Memory::new();
    let p = memory.add_values("flag", i32(), &[0.0]);
    let d = fault(&parse(&text), [1, 1, 1], &[Arg::Ptr(p, 0)], &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1012", Some(7)));
    assert!(d.message.starts_with("an endless loop: an iteration changed nothing"), "{}", d.message);
}

#[test]
fn a_loop_that_goes_on_too_long_is_named_with_the_option() {
    let counting = |step: &str| {
        module(
            "%n: i32",
            &format!(
                "    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %many = arith.constant 1000000000 : i32
    {step}"
            ),
        )
    };
    let endless = "%i = scf.while (%i = %zero) : (i32) -> i32 {
      %c = arith.cmpi sge, %n, %zero : i32
      scf.condition(%c) %i : i32
    } do {
    ^bb0(%j: i32):
      %k = arith.addi %j, %one : i32
      scf.yield %k : i32
    }";
    let long = "scf.for %i = %zero to %many step %one  : i32 {\n scf.yield\n }";
    for (code, words) in
        [(endless, "an endless loop, it seems: "), (long, "more than 5000 units of work, in iteration ")]
    {
        let options = RunOptions { max_ops: 5000, ..options() };
        let found = run(&counting(code), "k", [1, 1, 1], &[Arg::Int(1)], &mut Memory::new(), &options).unwrap_err();
        assert_eq!(found[0].code.id, "E1012");
        assert!(found[0].message.contains(words), "{}", found[0].message);
        assert!(found[0].help.as_ref().unwrap().contains("--max-ops"), "{:?}", found[0].help);
    }
}

#[test]
fn work_counts_elements_and_not_operations_alone() {
    // A hundred products of 64 by 64 by 64 are at least 100 * 64 * 64 * 64 / 128 units.
    let ir = module(
        "%n: i32",
        "    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %many = arith.constant 100 : i32
    %a = arith.constant dense<1.0> : tensor<64x64xf16>
    %c = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %i = %zero to %many step %one iter_args(%d = %c) -> (tensor<64x64xf32>)  : i32 {
      %e = tt.dot %a, %a, %d : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %e : tensor<64x64xf32>
    }",
    );
    let work = |max_ops| {
        run(&ir, "k", [1, 1, 1], &[Arg::Int(1)], &mut Memory::new(), &RunOptions { max_ops, ..options() })
            .map(|r| r.ops)
    };
    assert_eq!(work(100_000).unwrap_err()[0].code.id, "E1012");
    assert!(work(400_000).unwrap() < 1000);
}

#[test]
fn the_time_limit_ends_a_launch() {
    let ir = module(
        "%n: i32",
        "    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %many = arith.constant 1000000000 : i32
    scf.for %i = %zero to %many step %one  : i32 {\n scf.yield\n }",
    );
    let options = RunOptions { deadline: Some(std::time::Instant::now()), ..options() };
    let found = run(&ir, "k", [1, 1, 1], &[Arg::Int(1)], &mut Memory::new(), &options).unwrap_err();
    assert!(found[0].message.contains("longer than its time limit"), "{}", found[0].message);
}

#[test]
fn memory_is_bounded_before_it_is_taken() {
    let ir = module("%p: !tt.ptr<i32>", "    %v = tt.load %p : !tt.ptr<i32>");
    let mut memory = Memory::new();
    let p = memory.add_values("p", i32(), &[0.0; 1000]);
    let mut run =
        |max_memory| run(&ir, "k", [1, 1, 1], &[Arg::Ptr(p, 0)], &mut memory, &RunOptions { max_memory, ..options() });
    let found = run(10_000).unwrap_err();
    assert_eq!(found[0].code.id, "E1021");
    assert!(found[0].message.contains("20000 bytes of memory, 4000 of them for buffers"), "{}", found[0].message);
    run(100_000).unwrap();
    // The values of a program count as memory, too.
    let ir = module(
        "%n: i32",
        "    %r = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32>\n    %s = arith.addi %r, %r : tensor<65536xi32>\n    %t = arith.addi %s, %r : tensor<65536xi32>",
    );
    let run = |max_memory| {
        super::run(&ir, "k", [1, 1, 1], &[Arg::Int(1)], &mut Memory::new(), &RunOptions { max_memory, ..options() })
    };
    assert_eq!(run(1 << 20).unwrap_err()[0].code.id, "E1021");
    run(1 << 22).unwrap();
}

#[test]
fn grids_that_overflow_are_refused() {
    let ir = module("%n: i32", "");
    for grid in [[2_097_152, 2_097_152, 4_194_304], [u32::MAX; 3], [65536, 65536, 1]] {
        let d = fault(&ir, grid, &[Arg::Int(1)], &mut Memory::new());
        assert_eq!(d.code.id, "E1003");
        let count: u128 = grid.iter().map(|&g| u128::from(g)).product();
        assert!(d.message.contains(&format!("the grid has {count} programs")), "{}", d.message);
    }
}

#[test]
fn lines_are_kept_from_the_first_programs_on() {
    let ir = module(
        "%n: i32",
        "    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    tt.print \" r: \" {hex = false, isSigned = array<i32: 1>} : %r : tensor<16xi32>",
    );
    for threads in [1, 4] {
        let options = RunOptions { threads, max_lines: 40, ..RunOptions::default() };
        let report = run(&ir, "k", [100, 1, 1], &[Arg::Int(1)], &mut Memory::new(), &options).unwrap();
        assert_eq!((report.printed.len(), report.printed_more), (40, 1560));
        assert_eq!(report.printed[39].text, "pid (2, 0, 0) idx ( 7) r: 7");
    }
}

/// This kernel has a load out of bounds at line 5, a division by zero at line 6, and a store out of bounds at line 7.
const THREE: &str = "module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %far = arith.constant 100 : i32
    %p = tt.addptr %x, %far : !tt.ptr<i32>, i32
    %v = tt.load %p : !tt.ptr<i32> loc(\"k.tk\":5:1)
    %q = arith.divsi %far, %v : i32 loc(\"k.tk\":6:1)
    tt.store %p, %q : !tt.ptr<i32> loc(\"k.tk\":7:1)
    tt.return
  }
}";

#[test]
fn several_faults_come_in_one_run() {
    for threads in [1, 4] {
        let run = |max_faults| {
            let mut memory = Memory::new();
            let x = memory.add_values("x", i32(), &[0.0; 4]);
            let options = RunOptions { threads, max_faults, ..RunOptions::default() };
            run(&parse(THREE), "k", [5000, 1, 1], &[Arg::Ptr(x, 0)], &mut memory, &options).unwrap_err()
        };
        let found = run(10);
        let codes: Vec<_> = found.iter().map(|d| (d.code.id, line(d).unwrap())).collect();
        assert_eq!(codes, [("E1004", 5), ("E1010", 6), ("E1004", 7)]);
        assert!(found.iter().all(|d| d.message.contains("in program (0, 0, 0)")), "{found:#?}");
        let found = run(2);
        assert_eq!(found.len(), 2);
        assert!(found[1].notes.last().unwrap().contains("1 more places have faults"), "{:?}", found[1].notes);
        assert_eq!(run(1).len(), 1);
    }
}

#[test]
fn a_race_names_both_lines() {
    let ir = parse(
        "module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %v = tt.load %x : !tt.ptr<i32> loc(\"k.tk\":5:1)
    tt.store %x, %pid : !tt.ptr<i32> loc(\"k.tk\":6:1)
    tt.return
  }
}",
    );
    for threads in [1, 4] {
        let mut memory = Memory::new();
        let x = memory.add_values("x", i32(), &[0.0]);
        let options = RunOptions { threads, ..RunOptions::default() };
        let found = run(&ir, "k", [8, 1, 1], &[Arg::Ptr(x, 0)], &mut memory, &options).unwrap_err();
        let d = &found[0];
        assert_eq!((d.code.id, line(d)), ("E1007", Some(5)));
        assert_eq!(
            d.message,
            "a race: program (1, 0, 0) loads element 0 of `x`, which program (0, 0, 0) has stored, and nothing orders the two"
        );
        assert_eq!(d.labels[1].text, "program (0, 0, 0) stored it here");
        assert_eq!(d.labels[1].place, crate::diag::Place::At { file: "k.tk".to_owned(), line: 6, col: 1 });
    }
}
