//! Kernels with a fault planted in them. Each fault is found, at the right line, with the right numbers.

use super::*;

/// A kernel that computes `y[i] = x[i]` for 128 elements a program, with the given code between the loads and the
/// addresses. Operations carry locations: line 10 for the offsets, 12 for the load, 13 for the store.
fn copy(offsets: &str, mask: bool) -> Ir {
    let (m, n) = if mask { (", %mask", ", %mask") } else { ("", "") };
    let text = format!(
        "module {{
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {{
    %pid = tt.get_program_id x : i32
    %r = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32>
    {offsets}
    %ns = tt.splat %n : i32 -> tensor<128xi32>
    %mask = arith.cmpi slt, %o, %ns : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %yp = tt.addptr %ys, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %xp{m} : tensor<128x!tt.ptr<f32>> loc(#load)
    tt.store %yp, %v{n} : tensor<128x!tt.ptr<f32>> loc(#store)
    tt.return
  }}
}}
#offsets = loc(\"k.tk\":10:4)
#load = loc(\"k.tk\":12:8)
#store = loc(\"k.tk\":13:4)
"
    );
    parse(&text)
}

/// Offsets that put program p at `p * stride`, with the multiplication on line 10.
fn blocks(stride: i64) -> String {
    format!(
        "%s = arith.constant {stride} : i32
    %start = arith.muli %pid, %s : i32 loc(#offsets)
    %starts = tt.splat %start : i32 -> tensor<128xi32>
    %o = arith.addi %starts, %r : tensor<128xi32>"
    )
}

/// Buffers of n floats, of which the output is not initialised.
fn buffers(n: usize) -> (Memory, Vec<Arg>) {
    let mut memory = Memory::new();
    let x = memory.add_values("x", f32(), &Random(5).units(n));
    let y = memory.add_uninit("y", f32(), 4 * n);
    (memory, vec![Arg::Ptr(x, 0), Arg::Ptr(y, 0), Arg::Int(n as i64)])
}

#[test]
fn a_correct_kernel_has_no_fault() {
    let (mut memory, args) = buffers(300);
    launch(&copy(&blocks(128), true), [3, 1, 1], &args, &mut memory).unwrap();
    let (x, y) = (BufferId(0), BufferId(1));
    assert_eq!(memory.bytes(x), memory.bytes(y));
    assert!(memory.is_written(y));
}

#[test]
fn out_of_bounds_by_one() {
    let (mut memory, args) = buffers(255);
    let d = fault(&copy(&blocks(128), false), [2, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1004", Some(12)));
    assert_eq!(d.message, "a load from element 255 of `x`, out of bounds, in program (1, 0, 0)");
    assert_eq!(d.notes[0], "tensor index [127]");
    assert!(d.notes[1].contains("byte offset 1020") && d.notes[1].contains("255 elements"), "{:?}", d.notes);
}

#[test]
fn a_missing_mask_on_the_store() {
    let ir = copy(&blocks(128), true);
    let (mut memory, mut args) = buffers(300);
    // The mask allows 310 elements, as if it were computed from another size.
    args[2] = Arg::Int(310);
    let big = memory.add_values("big", f32(), &[0.0; 400]);
    args[0] = Arg::Ptr(big, 0);
    let d = fault(&ir, [3, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1004", Some(13)));
    assert!(d.message.starts_with("a store to element 300 of `y`"), "{}", d.message);
}

#[test]
fn before_the_start() {
    let (mut memory, args) = buffers(256);
    let offsets = "%one = arith.constant dense<1> : tensor<128xi32>
    %o = arith.subi %r, %one : tensor<128xi32>";
    let d = fault(&copy(offsets, false), [1, 1, 1], &args, &mut memory);
    assert!(d.message.starts_with("a load from element -1 of `x`"), "{}", d.message);
}

#[test]
fn without_the_check_an_access_out_of_bounds_does_nothing() {
    let (mut memory, args) = buffers(100);
    let mut options = RunOptions::default();
    options.checks.bounds = false;
    run(&copy(&blocks(128), false), "k", [1, 1, 1], &args, &mut memory, &options).unwrap();
    assert_eq!(memory.bytes(BufferId(0)), memory.bytes(BufferId(1)));
}

#[test]
fn overlapping_stores_of_programs() {
    // Blocks of 128 elements lie at a distance of 64, so program 1 starts in the middle of program 0's.
    let (mut memory, args) = buffers(256);
    for threads in [1, 2, 4] {
        let options = RunOptions { threads, ..RunOptions::default() };
        let found = run(&copy(&blocks(64), true), "k", [3, 1, 1], &args, &mut memory, &options).unwrap_err();
        let d = &found[0];
        assert_eq!((d.code.id, line(d)), ("E1007", Some(13)));
        assert_eq!(
            d.message,
            "a race: program (1, 0, 0) stores element 64 of `y`, which program (0, 0, 0) has stored, and nothing orders the two"
        );
    }
}

#[test]
fn a_read_of_what_another_program_writes() {
    let (mut memory, mut args) = buffers(256);
    args[1] = args[0];
    // The kernel works in place, so program 1 reads what program 0 has written.
    let d = fault(&copy(&blocks(64), true), [2, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1007", Some(12)));
}

#[test]
fn overlapping_elements_of_one_store() {
    let (mut memory, args) = buffers(256);
    let offsets = "%three = arith.constant dense<3> : tensor<128xi32>
    %o = arith.andi %r, %three : tensor<128xi32>";
    // The values are loaded from the same four addresses, so equal values meet.
    launch(&copy(offsets, true), [1, 1, 1], &args, &mut memory).unwrap();
    let ir = module(
        "%y: !tt.ptr<i32>",
        "    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %three = arith.constant dense<3> : tensor<8xi32>
    %o = arith.andi %r, %three : tensor<8xi32>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %yp, %r : tensor<8x!tt.ptr<i32>>",
    );
    let y = memory.add_values("z", i32(), &[0.0; 4]);
    let d = fault(&ir, [1, 1, 1], &[Arg::Ptr(y, 0)], &mut memory);
    assert_eq!(d.code.id, "E1008");
    assert_eq!(d.notes[0], "tensor index [0]");
    assert_eq!(d.notes[1], "the other one is [4]");
}

#[test]
fn an_uninitialised_read() {
    let (mut memory, mut args) = buffers(256);
    args.swap(0, 1);
    let d = fault(&copy(&blocks(128), true), [2, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1006", Some(12)));
    assert!(d.message.starts_with("element 0 of `y` is read, and nobody has written it"), "{}", d.message);
}

#[test]
fn an_integer_overflow_in_an_index() {
    let (mut memory, args) = buffers(256);
    // 3 * 2^30 wraps to a negative number. The access would be out of bounds, but the cause is the product on line 10.
    let d = fault(&copy(&blocks(1 << 30), false), [4, 1, 1], &[args[0], args[1], Arg::Int(256)], &mut memory);
    assert_eq!(d.code.id, "E1004", "program 1 is plainly out of bounds: {}", d.message);
    let zero = "%c = arith.constant 1073741824 : i32
    %four = arith.constant 4 : i32
    %start = arith.muli %c, %four : i32 loc(#offsets)
    %starts = tt.splat %start : i32 -> tensor<128xi32>
    %o = arith.addi %starts, %r : tensor<128xi32>";
    // 2^30 * 4 wraps to 0, so that every access is in bounds and yet wrong.
    let d = fault(&copy(zero, false), [1, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1009", Some(10)));
    assert!(d.message.contains("`arith.muli` wraps around in 32 bits"), "{}", d.message);
    assert!(d.notes[1].contains("17179869184 bytes away"), "{:?}", d.notes);
    assert_eq!(d.labels.len(), 2);
}

#[test]
fn a_sum_that_wraps_and_comes_back_is_no_fault() {
    let (mut memory, args) = buffers(256);
    let offsets = "%big = arith.constant dense<2147483647> : tensor<128xi32>
    %up = arith.addi %r, %big : tensor<128xi32>
    %o = arith.subi %up, %big : tensor<128xi32>";
    launch(&copy(offsets, true), [1, 1, 1], &args, &mut memory).unwrap();
}

#[test]
fn an_overflow_is_found_through_casts_and_quotients() {
    let (mut memory, args) = buffers(256);
    // 70000 * 70000 is computed in 64 bits and cut to 32 bits.
    let cut = "%k = arith.constant 70000 : i64
    %kk = arith.muli %k, %k : i64
    %s = arith.trunci %kk : i64 to i32 loc(#offsets)
    %ss = tt.splat %s : i32 -> tensor<128xi32>
    %o = arith.addi %ss, %r : tensor<128xi32>";
    // 50000 * 50000 in 32 bits, divided by 2^25, is 74 and not -53.
    let divided = "%k = arith.constant dense<50000> : tensor<128xi32>
    %d = arith.constant dense<33554432> : tensor<128xi32>
    %kk = arith.muli %k, %k : tensor<128xi32> loc(#offsets)
    %q = arith.divsi %kk, %d : tensor<128xi32>
    %o = arith.addi %q, %r : tensor<128xi32>";
    for offsets in [cut, divided] {
        let d = fault(&copy(offsets, false), [1, 1, 1], &args, &mut memory);
        assert_eq!((d.code.id, line(&d)), ("E1009", Some(10)), "{d:#?}");
    }
    // The upper half of the 32-bit numbers is valid where they have no sign.
    let unsigned = "%k = arith.constant dense<1500000000> : tensor<128xi32>
    %kk = arith.addi %k, %k : tensor<128xi32>
    %w = arith.extui %kk : tensor<128xi32> to tensor<128xi64>
    %far = arith.constant dense<3000000000> : tensor<128xi64>
    %z = arith.subi %w, %far : tensor<128xi64>
    %n32 = arith.trunci %z : tensor<128xi64> to tensor<128xi32>
    %o = arith.addi %n32, %r : tensor<128xi32>";
    launch(&copy(unsigned, true), [1, 1, 1], &args, &mut memory).unwrap();
}

#[test]
fn a_hash_that_wraps_is_no_fault() {
    let (mut memory, args) = buffers(256);
    let offsets = "%odd = arith.constant dense<-1640531527> : tensor<128xi32>
    %h = arith.muli %r, %odd : tensor<128xi32>
    %low = arith.constant dense<127> : tensor<128xi32>
    %o = arith.andi %h, %low : tensor<128xi32>";
    launch(&copy(offsets, true), [1, 1, 1], &args, &mut memory).unwrap();
}

#[test]
fn an_unaligned_access() {
    let (mut memory, mut args) = buffers(256);
    args[0] = Arg::Ptr(BufferId(0), 2);
    let d = fault(&copy(&blocks(128), true), [1, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1005", Some(12)));
}

#[test]
fn a_null_pointer() {
    let (mut memory, mut args) = buffers(256);
    args[0] = Arg::Int(0);
    let d = fault(&copy(&blocks(128), true), [1, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1016", Some(12)));
}

#[test]
fn a_division_by_zero() {
    let (mut memory, args) = buffers(256);
    let offsets = "%k = arith.constant dense<5> : tensor<128xi32>
    %d = arith.subi %r, %k : tensor<128xi32>
    %q = arith.divsi %r, %d : tensor<128xi32> loc(#offsets)
    %o = arith.subi %q, %q : tensor<128xi32>";
    let d = fault(&copy(offsets, true), [1, 1, 1], &args, &mut memory);
    assert_eq!((d.code.id, line(&d)), ("E1010", Some(10)));
    assert!(d.message.contains("at tensor index [5]"), "{}", d.message);
}

#[test]
fn an_assertion() {
    let ir = module(
        "%n: i32",
        "    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %ns = tt.splat %n : i32 -> tensor<8xi32>
    %c = arith.cmpi slt, %r, %ns : tensor<8xi32>
    tt.assert %c, \"too many\" : tensor<8xi1>",
    );
    launch(&ir, [1, 1, 1], &[Arg::Int(8)], &mut Memory::new()).unwrap();
    let d = fault(&ir, [1, 1, 1], &[Arg::Int(6)], &mut Memory::new());
    assert_eq!(d.code.id, "E1011");
    assert_eq!(d.message, "assertion failed: too many, at tensor index [6], in program (0, 0, 0)");
}

#[test]
fn an_endless_loop() {
    let ir = module(
        "%p: !tt.ptr<i32>",
        "    scf.while : () -> () {
      %v = tt.load %p : !tt.ptr<i32>
      %zero = arith.constant 0 : i32
      %c = arith.cmpi eq, %v, %zero : i32
      scf.condition(%c)
    } do {
      scf.yield
    }",
    );
    let mut memory = Memory::new();
    let p = memory.add_values("flag", i32(), &[0.0]);
    let options = RunOptions { max_ops: 10_000, ..RunOptions::default() };
    let found = run(&ir, "k", [1, 1, 1], &[Arg::Ptr(p, 0)], &mut memory, &options).unwrap_err();
    assert_eq!(found[0].code.id, "E1012");
}

#[test]
fn a_place_that_control_must_not_reach() {
    let ir = module(
        "%c: i1",
        "    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    tt.return
  ^bb2:
    ub.unreachable
  ^bb3:",
    );
    launch(&ir, [1, 1, 1], &[Arg::Int(1)], &mut Memory::new()).unwrap();
    assert_eq!(fault(&ir, [1, 1, 1], &[Arg::Int(0)], &mut Memory::new()).code.id, "E1015");
}

#[test]
fn a_function_that_calls_itself() {
    let text = "module {
  tt.func public @k(%n: i32) {
    tt.call @f(%n) : (i32) -> ()
    tt.return
  }
  tt.func private @f(%n: i32) {
    tt.call @f(%n) : (i32) -> ()
    tt.return
  }
}";
    assert_eq!(fault(&parse(text), [1, 1, 1], &[Arg::Int(0)], &mut Memory::new()).code.id, "E1013");
}

#[test]
fn arguments_that_do_not_fit() {
    let (mut memory, args) = buffers(256);
    let ir = copy(&blocks(128), true);
    for (bad, words) in [
        (vec![args[0]], "has 3 parameters, and there are 1 arguments"),
        (vec![args[0], Arg::Float(1.0), args[2]], "expected a value of type !tt.ptr<f32>, found the float 1"),
        (vec![args[0], args[1], Arg::Int(1 << 40)], "1099511627776 does not fit into i32"),
        (vec![args[0], args[1], args[0]], "expected a value of type i32, found a buffer"),
        (vec![args[0], Arg::Ptr(BufferId(9), 0), args[2]], "there is no buffer number 9"),
    ] {
        let d = fault(&ir, [1, 1, 1], &bad, &mut memory);
        assert_eq!(d.code.id, "E1003");
        assert!(d.message.contains(words), "{}", d.message);
    }
    let found = run(&ir, "other", [1, 1, 1], &args, &mut memory, &RunOptions::default()).unwrap_err();
    assert_eq!(found[0].code.id, "E1002");
    assert_eq!(found[0].help.as_deref(), Some("the kernels are: k"));
}

#[test]
fn a_promise_of_divisibility() {
    let ir = module("%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}", "");
    let mut memory = Memory::new();
    let p = memory.add_values("p", f32(), &[0.0; 8]);
    launch(&ir, [1, 1, 1], &[Arg::Ptr(p, 16), Arg::Int(32)], &mut memory).unwrap();
    for bad in [[Arg::Ptr(p, 8), Arg::Int(32)], [Arg::Ptr(p, 0), Arg::Int(24)]] {
        let d = fault(&ir, [1, 1, 1], &bad, &mut memory);
        assert!(d.message.contains("promises a multiple of 16"), "{}", d.message);
    }
}

#[test]
fn the_first_faulting_program_is_reported() {
    let (mut memory, args) = buffers(1000);
    for threads in [1, 2, 8] {
        let options = RunOptions { threads, ..RunOptions::default() };
        let found = run(&copy(&blocks(128), false), "k", [64, 1, 1], &args, &mut memory, &options).unwrap_err();
        assert!(found[0].message.ends_with("in program (7, 0, 0)"), "{}", found[0].message);
    }
}

#[test]
fn inline_assembly_is_not_run() {
    let ir = module(
        "%n: i32",
        "    %v = tt.elementwise_inline_asm \"mov.b32 $0, $1;\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = true} %n : i32 -> i32",
    );
    let d = fault(&ir, [1, 1, 1], &[Arg::Int(1)], &mut Memory::new());
    assert_eq!(d.code.id, "E1001");
    assert!(d.message.contains("`tt.elementwise_inline_asm`"), "{}", d.message);
}

#[test]
fn a_fault_in_a_helper_shows_the_call() {
    let ir = parse(
        "module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %one = arith.constant 1 : i32
    %p = tt.addptr %x, %one : !tt.ptr<f32>, i32
    %v = tt.load %p : !tt.ptr<f32> loc(callsite(\"helper.tk\":7:3 at \"k.tk\":20:5))
    tt.return
  }
}",
    );
    let mut memory = Memory::new();
    let x = memory.add_values("x", f32(), &[1.0]);
    let d = fault(&ir, [1, 1, 1], &[Arg::Ptr(x, 0)], &mut memory);
    assert_eq!(line(&d), Some(7));
    assert_eq!(d.labels[1].text, "called from here");
    assert_eq!(d.labels[1].place, crate::diag::Place::At { file: "k.tk".to_owned(), line: 20, col: 5 });
}

#[test]
fn integers_wider_than_a_lane_are_not_run() {
    let ir = module("%n: i64", "    %w = arith.extsi %n : i64 to i128\n    %m = arith.addi %w, %w : i128");
    let d = fault(&ir, [1, 1, 1], &[Arg::Int(1)], &mut Memory::new());
    assert_eq!(d.code.id, "E1001");
    assert!(d.message.contains("wider than 64 bits"), "{}", d.message);
}

#[test]
fn waiting_for_what_nobody_stored_before_is_reported() {
    let kernel = |limit: &str| {
        parse(&format!(
            "module {{
  tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {{
    %one = arith.constant 1 : i32
    %time = arith.constant 100 : i64
    %came = tt.atomic_poll acquire, gpu, %p, %one{limit} : !tt.ptr<i32>, i32 -> i1 loc(#wait)
    %i = arith.extui %came : i1 to i32
    tt.atomic_store relaxed, gpu, %q, %i : !tt.ptr<i32>
    tt.return
  }}
}}
#wait = loc(\"k.tk\":7:4)
"
        ))
    };
    let run = |limit: &str, flag: i64| {
        let mut memory = Memory::new();
        let p = memory.add_values("p", Type::int(32), &[flag as f64]);
        let q = memory.add_values("q", Type::int(32), &[5.0]);
        let done = launch(&kernel(limit), [1, 1, 1], &[Arg::Ptr(p, 0), Arg::Ptr(q, 0)], &mut memory);
        done.map(|_| memory.bytes(q).clone())
    };
    assert_eq!(run("", 1).unwrap(), [1, 0, 0, 0]);
    assert_eq!(run(" timeout %time", 0).unwrap(), [0, 0, 0, 0]);
    let found = run("", 0).unwrap_err();
    assert_eq!((found[0].code.id, line(&found[0])), ("E1012", Some(7)));
}
