//! Programs that share memory: atomics, locks, determinism.

use super::*;

/// Each program adds its id to one counter through a float in memory, holding a lock.
const LOCKED: &str = "    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %yes = arith.constant true
    scf.while : () -> () {
      %old = tt.atomic_cas acq_rel, gpu, %lock, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %taken = arith.cmpi eq, %old, %one : i32
      scf.condition(%taken)
    } do {
      scf.yield
    }
    %v = tt.load %sum : !tt.ptr<f32>
    %pid = tt.get_program_id x : i32
    %f = arith.sitofp %pid : i32 to f32
    %w = arith.addf %v, %f : f32
    tt.store %sum, %w : !tt.ptr<f32>
    %u = tt.atomic_rmw exch, SEM, gpu, %lock, %zero, %yes : (!tt.ptr<i32>, i32, i1) -> i32";

fn locked(sem: &str) -> (Ir, Memory, Vec<Arg>) {
    let ir = module("%lock: !tt.ptr<i32>, %sum: !tt.ptr<f32>", &LOCKED.replace("SEM", sem));
    let mut memory = Memory::new();
    let lock = memory.add_values("lock", i32(), &[0.0]);
    let sum = memory.add_values("sum", f32(), &[0.0]);
    (ir, memory, vec![Arg::Ptr(lock, 0), Arg::Ptr(sum, 0)])
}

#[test]
fn a_lock_orders_programs() {
    let (ir, mut memory, args) = locked("acq_rel");
    let report = launch(&ir, [100, 1, 1], &args, &mut memory).unwrap();
    assert!(!report.parallel);
    assert_eq!(memory.values(BufferId(1)), [4950.0]);
}

#[test]
fn a_lock_that_is_not_released_with_release_does_not() {
    let (ir, mut memory, args) = locked("relaxed");
    // The compare-and-swap has release semantics too, so the first race is with what came after it. Here the exchange
    // orders nothing, but the next holder's swap follows the first one's.
    let result = launch(&ir, [2, 1, 1], &args, &mut memory);
    assert!(result.is_ok(), "programs are ordered by the swaps of the lock itself");
    let unordered = LOCKED.replace("SEM", "relaxed").replace("acq_rel", "relaxed");
    let ir = module("%lock: !tt.ptr<i32>, %sum: !tt.ptr<f32>", &unordered);
    assert_eq!(fault(&ir, [2, 1, 1], &args, &mut memory).code.id, "E1007");
}

/// A kernel with `atomic_rmw KIND` of `value[i]` at `p + i % 4` for 16 elements.
fn atomic(kind: &str, ty: &str, used: bool) -> Ir {
    let keep = if used {
        format!(
            "    %os = tt.splat %out : !tt.ptr<{ty}> -> tensor<16x!tt.ptr<{ty}>>
    %op = tt.addptr %os, %r : tensor<16x!tt.ptr<{ty}>>, tensor<16xi32>
    tt.store %op, %old : tensor<16x!tt.ptr<{ty}>>"
        )
    } else {
        String::new()
    };
    module(
        &format!("%p: !tt.ptr<{ty}>, %x: !tt.ptr<{ty}>, %out: !tt.ptr<{ty}>"),
        &format!(
            "    %r = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
    %three = arith.constant dense<3> : tensor<16xi32>
    %o = arith.andi %r, %three : tensor<16xi32>
    %ps = tt.splat %p : !tt.ptr<{ty}> -> tensor<16x!tt.ptr<{ty}>>
    %pp = tt.addptr %ps, %o : tensor<16x!tt.ptr<{ty}>>, tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<{ty}> -> tensor<16x!tt.ptr<{ty}>>
    %xp = tt.addptr %xs, %r : tensor<16x!tt.ptr<{ty}>>, tensor<16xi32>
    %v = tt.load %xp : tensor<16x!tt.ptr<{ty}>>
    %m = arith.constant dense<true> : tensor<16xi1>
    %old = tt.atomic_rmw {kind}, relaxed, gpu, %pp, %v, %m : (tensor<16x!tt.ptr<{ty}>>, tensor<16x{ty}>, tensor<16xi1>) -> tensor<16x{ty}>
{keep}"
        ),
    )
}

#[test]
fn atomics_of_every_kind() {
    let x: Vec<i64> = vec![5, -3, 7, 1, 2, 9, -8, 4, 6, 6, 0, -1, 3, 12, 10, 15];
    let fold = |start: i64, f: &dyn Fn(i64, i64) -> i64| -> Vec<f64> {
        (0..4).map(|b| x.iter().skip(b).step_by(4).fold(start, |a, &v| f(a, v)) as f64).collect()
    };
    let unsigned = |v: i64| v as u32;
    let cases: [(&str, Vec<f64>); 9] = [
        ("add", fold(1, &|a, v| a + v)),
        ("and", fold(1, &|a, v| a & v)),
        ("or", fold(1, &|a, v| a | v)),
        ("xor", fold(1, &|a, v| a ^ v)),
        ("max", fold(1, &i64::max)),
        ("min", fold(1, &i64::min)),
        ("umax", fold(1, &|a, v| if unsigned(a) > unsigned(v) { a } else { v })),
        ("umin", fold(1, &|a, v| if unsigned(a) < unsigned(v) { a } else { v })),
        ("exch", fold(1, &|_, v| v)),
    ];
    for (kind, want) in cases {
        let mut memory = Memory::new();
        let p = memory.add_values("p", i32(), &[1.0; 4]);
        let values: Vec<f64> = x.iter().map(|&v| v as f64).collect();
        let v = memory.add_values("x", i32(), &values);
        let out = memory.add_uninit("out", i32(), 64);
        launch(&atomic(kind, "i32", true), [1, 1, 1], &[Arg::Ptr(p, 0), Arg::Ptr(v, 0), Arg::Ptr(out, 0)], &mut memory)
            .unwrap();
        assert_eq!(memory.values(p), want, "{kind}");
        // The first four find the initial values.
        assert_eq!(memory.values(out)[..4], [1.0; 4], "{kind}");
    }
}

#[test]
fn a_histogram_runs_in_parallel_and_a_float_sum_does_not() {
    for (kind, ty, elem, parallel) in [("add", "i32", i32(), true), ("fadd", "f32", f32(), false)] {
        let mut memory = Memory::new();
        let p = memory.add_values("p", elem, &[0.0; 4]);
        let v = memory.add_values("x", elem, &(0..16).map(f64::from).collect::<Vec<_>>());
        let options = RunOptions { threads: 4, ..RunOptions::default() };
        let args = [Arg::Ptr(p, 0), Arg::Ptr(v, 0), Arg::Ptr(p, 0)];
        let report = run(&atomic(kind, ty, false), "k", [500, 1, 1], &args, &mut memory, &options).unwrap();
        assert_eq!(report.parallel, parallel);
        assert_eq!(memory.values(p), [24.0 * 500.0, 28.0 * 500.0, 32.0 * 500.0, 36.0 * 500.0]);
    }
}

#[test]
fn a_plain_store_races_with_an_atomic() {
    let ir = module(
        "%p: !tt.ptr<i32>",
        "    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %yes = arith.constant true
    %pid = tt.get_program_id x : i32
    %first = arith.cmpi eq, %pid, %zero : i32
    scf.if %first {
      tt.store %p, %one : !tt.ptr<i32>
    } else {
      %u = tt.atomic_rmw add, relaxed, gpu, %p, %one, %yes : (!tt.ptr<i32>, i32, i1) -> i32
    }",
    );
    let mut memory = Memory::new();
    let p = memory.add_values("p", i32(), &[0.0]);
    launch(&ir, [1, 1, 1], &[Arg::Ptr(p, 0)], &mut memory).unwrap();
    assert_eq!(fault(&ir, [2, 1, 1], &[Arg::Ptr(p, 0)], &mut memory).code.id, "E1007");
    let mut options = RunOptions::default();
    options.checks.races = false;
    run(&ir, "k", [2, 1, 1], &[Arg::Ptr(p, 0)], &mut memory, &options).unwrap();
}

#[test]
fn reading_together_is_no_race() {
    let ir = module("%p: !tt.ptr<i32>", "    %v = tt.load %p : !tt.ptr<i32>");
    let mut memory = Memory::new();
    let p = memory.add_values("p", i32(), &[0.0]);
    launch(&ir, [50, 1, 1], &[Arg::Ptr(p, 0)], &mut memory).unwrap();
}

#[test]
fn threads_give_the_bytes_and_the_lines_of_one() {
    let ir = module(
        "%p: !tt.ptr<i32>",
        "    %pid = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %nx = tt.get_num_programs x : i32
    %row = arith.muli %y, %nx : i32
    %id = arith.addi %row, %pid : i32
    %q = tt.addptr %p, %id : !tt.ptr<i32>, i32
    %sq = arith.muli %id, %id : i32
    tt.store %q, %sq : !tt.ptr<i32>
    tt.print \" id: \" {hex = false, isSigned = array<i32: 1>} : %id : i32",
    );
    let mut results = vec![];
    for threads in [1, 2, 7] {
        let mut memory = Memory::new();
        let p = memory.add_uninit("p", i32(), 4 * 200);
        let options = RunOptions { threads, ..RunOptions::default() };
        let report = run(&ir, "k", [20, 10, 1], &[Arg::Ptr(p, 0)], &mut memory, &options).unwrap();
        assert_eq!(report.printed[21].text, "pid (1, 1, 0) idx () id: 21");
        assert_eq!(memory.values(p)[199], 199.0 * 199.0);
        results.push((memory.bytes(p), report.printed));
    }
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}
