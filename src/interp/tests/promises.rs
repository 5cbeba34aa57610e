//! Promises of a kernel that hold and some that do not; the operations that make a NaN or an infinity.

use super::*;
use crate::interp::Checks;

/// A kernel that loads `x[i]` for 8 elements and promises something about them.
fn loaded(promise: &str) -> Ir {
    module(
        "%x: !tt.ptr<i32>",
        &format!(
            "    %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %v = tt.load %xp {{{promise}}} : tensor<8x!tt.ptr<i32>>"
        ),
    )
}

#[test]
fn promises_are_checked() {
    let long = |n: i64, name: &str| format!("tt.{name} = dense<{n}> : tensor<1xi32>");
    for (promise, values, wrong) in [
        (long(16, "divisibility"), [16, 17, 18, 19, 64, 65, 66, 67], None),
        (long(16, "divisibility"), [0, 16, 32, 48, 64, -16, -32, 80], None),
        (long(16, "divisibility"), [16, 17, 18, 19, 65, 66, 67, 68], Some("multiples of 16, and there is 65")),
        (long(4, "contiguity"), [9, 10, 11, 12, 0, 1, 2, 3], None),
        (
            long(8, "contiguity"),
            [9, 10, 11, 12, 0, 1, 2, 3],
            Some("groups of 8 consecutive elements, and 0 breaks one"),
        ),
        (long(4, "constancy"), [7, 7, 7, 7, 5, 5, 5, 5], None),
        (long(8, "constancy"), [7, 7, 7, 7, 5, 5, 5, 5], Some("groups of 8 equal elements, and 5 breaks one")),
    ] {
        let mut memory = Memory::new();
        let x = memory.add_values("x", i32(), &values.map(f64::from));
        let done = launch(&loaded(&promise), [1, 1, 1], &[Arg::Ptr(x, 0)], &mut memory);
        match (done, wrong) {
            (Ok(_), None) => {}
            (Err(found), Some(words)) => {
                assert_eq!(found[0].code.id, "E1019");
                assert!(found[0].message.contains(words), "{}", found[0].message);
            }
            (done, _) => panic!("{promise} {values:?}: {done:#?}"),
        }
        let options = RunOptions { checks: Checks { promises: false, ..Checks::default() }, ..RunOptions::default() };
        run(&loaded(&promise), "k", [1, 1, 1], &[Arg::Ptr(x, 0)], &mut memory, &options).unwrap();
    }
}

#[test]
fn rows_of_a_matrix_are_runs() {
    // There are two rows of four at a distance of 16, so each row starts at a multiple of 16.
    let rows = |distance: i64| {
        module(
            "%n: i32",
            &format!(
                "    %r = tt.make_range {{end = 2 : i32, start = 0 : i32}} : tensor<2xi32>
    %c = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>
    %r2 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<2xi32> -> tensor<2x1xi32>
    %c2 = tt.expand_dims %c {{axis = 0 : i32}} : tensor<4xi32> -> tensor<1x4xi32>
    %w = arith.constant dense<{distance}> : tensor<2x1xi32>
    %m = arith.muli %r2, %w : tensor<2x1xi32>
    %mb = tt.broadcast %m : tensor<2x1xi32> -> tensor<2x4xi32>
    %cb = tt.broadcast %c2 : tensor<1x4xi32> -> tensor<2x4xi32>
    %o = arith.addi %mb, %cb {{tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 4]> : tensor<2xi32>}} : tensor<2x4xi32>"
            ),
        )
    };
    launch(&rows(16), [1, 1, 1], &[Arg::Int(1)], &mut Memory::new()).unwrap();
    let d = fault(&rows(24), [1, 1, 1], &[Arg::Int(1)], &mut Memory::new());
    assert_eq!(d.notes, ["tensor index [1, 0]"]);
}

#[test]
fn an_assumption_that_is_false() {
    let ir = module(
        "%n: i32",
        "    %z = arith.constant 5 : i32
    %c = arith.cmpi sgt, %n, %z : i32
    llvm.intr.assume %c : i1",
    );
    launch(&ir, [1, 1, 1], &[Arg::Int(6)], &mut Memory::new()).unwrap();
    assert_eq!(fault(&ir, [1, 1, 1], &[Arg::Int(5)], &mut Memory::new()).code.id, "E1019");
}

#[test]
fn the_operation_that_makes_a_nan_is_named() {
    let run = |code: &str, x: f64| {
        let ir = module("%x: f32, %y: f32", code);
        let options = RunOptions { checks: Checks { nan: true, ..Checks::default() }, ..RunOptions::default() };
        run(&ir, "k", [1, 1, 1], &[Arg::Float(x), Arg::Float(0.0)], &mut Memory::new(), &options)
    };
    let message = |code: &str, x: f64| run(code, x).unwrap_err()[0].message.clone();
    let twice = "    %d = arith.subf %x, %x : f32\n    %e = math.exp %d : f32\n    %f = arith.addf %e, %d : f32";
    assert_eq!(message(twice, f64::NEG_INFINITY), "`arith.subf` makes a NaN of -inf and -inf, in program (0, 0, 0)");
    run(twice, 1.0).unwrap();
    assert_eq!(
        message("    %d = arith.divf %x, %y : f32", 1.0),
        "`arith.divf` makes an infinity of 1 and 0, in program (0, 0, 0)"
    );
    assert!(message("    %d = arith.truncf %x : f32 to f16", 70000.0).contains("makes an infinity of 70000"));
    // A NaN or an infinity that came in is only passed on.
    run("    %d = arith.addf %x, %y : f32", f64::INFINITY).unwrap();
    run("    %d = arith.addf %x, %y : f32", f64::NAN).unwrap();
}
