//! Elements that nobody defined: uses that are faults, and uses that are not.

use super::*;
use crate::diag::Place;
use crate::interp::Checks;

/// A kernel that loads 8 elements of `x` at line 5 and goes on with the given code. `%mask` leaves out the elements
/// from `n` on.
fn masked(body: &str) -> Ir {
    parse(&format!(
        "module {{
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {{
    %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
    %ns = tt.splat %n : i32 -> tensor<8xi32>
    %mask = arith.cmpi slt, %r, %ns : tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %yp = tt.addptr %ys, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %zero = arith.constant dense<0> : tensor<8xi32>
    %v = tt.load %xp, %mask : tensor<8x!tt.ptr<i32>> loc(#load)
{body}
    tt.return
  }}
}}
#load = loc(\"k.tk\":5:8)
#use = loc(\"k.tk\":9:4)
#mix = loc(\"k.tk\":7:4)
"
    ))
}

fn memory() -> (Memory, [Arg; 3]) {
    let mut memory = Memory::new();
    let x = memory.add_values("x", i32(), &[3.0; 8]);
    let y = memory.add_values("y", i32(), &[0.0; 8]);
    (memory, [Arg::Ptr(x, 0), Arg::Ptr(y, 0), Arg::Int(5)])
}

const SUM: &str = "%s = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %g = arith.addi %a, %b : i32
      tt.reduce.return %g : i32
    }) : (tensor<8xi32>) -> i32 loc(#mix)\n";

#[test]
fn uses_of_undefined_elements_are_faults() {
    let uses = [
        ("tt.store %yp, %v : tensor<8x!tt.ptr<i32>> loc(#use)", "is stored", Some("tensor index [5]")),
        (
            "%d = arith.addi %v, %r : tensor<8xi32>\n tt.store %yp, %d : tensor<8x!tt.ptr<i32>> loc(#use)",
            "is stored",
            Some("tensor index [5]"),
        ),
        (
            "%p = tt.addptr %xs, %v : tensor<8x!tt.ptr<i32>>, tensor<8xi32>\n %w = tt.load %p : tensor<8x!tt.ptr<i32>> loc(#use)",
            "part of an address",
            Some("tensor index [5]"),
        ),
        (
            "%c = arith.cmpi sgt, %v, %zero : tensor<8xi32>\n tt.store %yp, %r, %c : tensor<8x!tt.ptr<i32>> loc(#use)",
            "whether an element is accessed",
            Some("tensor index [5]"),
        ),
        (&format!("{SUM} tt.store %y, %s : !tt.ptr<i32> loc(#use)"), "is stored", None),
        (
            &format!(
                "{SUM} %z = arith.constant 0 : i32\n %c = arith.cmpi sgt, %s, %z : i32\n scf.if %c {{\n tt.store %y, %z : !tt.ptr<i32>\n }} loc(#use)"
            ),
            "decides a condition",
            None,
        ),
        (
            &format!(
                "{SUM} %z = arith.constant 0 : i32\n %o = arith.constant 1 : i32\n scf.for %i = %z to %s step %o  : i32 {{\n tt.store %y, %z : !tt.ptr<i32>\n }} loc(#use)"
            ),
            "bound of a loop",
            None,
        ),
        (
            "%on = arith.constant dense<true> : tensor<8xi1>\n %o = tt.atomic_rmw add, relaxed, gpu, %yp, %v, %on : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32> loc(#use)",
            "atomic operation",
            Some("tensor index [5]"),
        ),
        ("tt.assert %c, \"positive\" : tensor<8xi1> loc(#use)", "decides a condition", Some("tensor index [5]")),
    ];
    for (code, words, note) in uses {
        let code = if code.contains("tt.assert") {
            format!("%c = arith.cmpi sgt, %v, %zero : tensor<8xi32>\n {code}")
        } else {
            code.to_owned()
        };
        let (mut memory, args) = memory();
        let d = fault(&masked(&code), [1, 1, 1], &args, &mut memory);
        assert_eq!((d.code.id, line(&d)), ("E1018", Some(9)), "{code}\n{d:#?}");
        assert!(d.message.contains(words), "{code}\n{}", d.message);
        assert_eq!(d.notes.first().map(String::as_str), note, "{code}");
        let place = |line, col| Place::At { file: "k.tk".to_owned(), line, col };
        assert_eq!(d.labels[1].place, place(5, 8), "{code}");
        assert_eq!(d.labels.get(2).map(|l| &l.place), code.contains("tt.reduce").then_some(&place(7, 4)), "{code}");
    }
}

#[test]
fn what_cannot_depend_on_undefined_elements_is_none() {
    let fine = [
        "tt.store %yp, %v, %mask : tensor<8x!tt.ptr<i32>>".to_owned(),
        "%w = arith.select %mask, %v, %zero : tensor<8xi1>, tensor<8xi32>\n tt.store %yp, %w : tensor<8x!tt.ptr<i32>>".to_owned(),
        // The mask is false where the comparison is undefined.
        "%c = arith.cmpi sgt, %v, %zero : tensor<8xi32>\n %m = arith.andi %c, %mask : tensor<8xi1>\n tt.store %yp, %v, %m : tensor<8x!tt.ptr<i32>>".to_owned(),
        "%e = arith.extui %mask : tensor<8xi1> to tensor<8xi32>\n %m = arith.muli %v, %e : tensor<8xi32>\n tt.store %yp, %m : tensor<8x!tt.ptr<i32>>".to_owned(),
        // Dividing by an element that is not there is no division by zero.
        "%q = arith.divsi %r, %v : tensor<8xi32>\n tt.store %yp, %q, %mask : tensor<8x!tt.ptr<i32>>".to_owned(),
        format!("%w = arith.select %mask, %v, %zero : tensor<8xi1>, tensor<8xi32>\n{}", SUM.replace("(%v)", "(%w)"))
            + " tt.store %y, %s : !tt.ptr<i32>",
        // A prefix sum is defined up to the first undefined element.
        SUM.replace("tt.reduce\"", "tt.scan\"").replace("axis = 0 : i32", "axis = 0 : i32, reverse = false").replace("reduce.return", "scan.return").replace("-> i32 loc", "-> tensor<8xi32> loc")
            + " tt.store %yp, %s, %mask : tensor<8x!tt.ptr<i32>>",
    ];
    for code in fine {
        let (mut memory, args) = memory();
        launch(&masked(&code), [1, 1, 1], &args, &mut memory).unwrap_or_else(|d| panic!("{code}\n{d:#?}"));
    }
}

#[test]
fn elements_are_followed_where_they_move() {
    // There are two rows of four. The second row is left out from its second element on.
    let moved = "%t = tt.reshape %v : tensor<8xi32> -> tensor<2x4xi32>
    %tt = tt.trans %t {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
    %a, %b = tt.split %tt : tensor<4x2xi32> -> tensor<4xi32>
    %q = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %ps = tt.splat %y : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %pp = tt.addptr %ps, %q : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    tt.store %pp, %HALF : tensor<4x!tt.ptr<i32>> loc(#use)";
    let (mut memory, args) = memory();
    launch(&masked(&moved.replace("HALF", "a")), [1, 1, 1], &args, &mut memory).unwrap();
    let d = fault(&masked(&moved.replace("HALF", "b")), [1, 1, 1], &args, &mut memory);
    assert_eq!(d.notes, ["tensor index [1]"]);
}

#[test]
fn rows_that_are_left_out_as_a_whole_are_no_fault_behind_the_same_mask() {
    // The kernel sums the rows of a 2 by 4 matrix, of which n = 1 are there, and stores the sums under the mask of the
    // rows.
    let ir = module(
        "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %m: i32",
        "    %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %c = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %four = arith.constant dense<4> : tensor<2x1xi32>
    %r4 = arith.muli %r2, %four : tensor<2x1xi32>
    %rb = tt.broadcast %r4 : tensor<2x1xi32> -> tensor<2x4xi32>
    %cb = tt.broadcast %c2 : tensor<1x4xi32> -> tensor<2x4xi32>
    %o = arith.addi %rb, %cb : tensor<2x4xi32>
    %ns = tt.splat %n : i32 -> tensor<2xi32>
    %rows = arith.cmpi slt, %r, %ns : tensor<2xi32>
    %ms = tt.splat %m : i32 -> tensor<1x4xi32>
    %columns = arith.cmpi slt, %c2, %ms : tensor<1x4xi32>
    %rows2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<2xi1> -> tensor<2x1xi1>
    %rows4 = tt.broadcast %rows2 : tensor<2x1xi1> -> tensor<2x4xi1>
    %columns2 = tt.broadcast %columns : tensor<1x4xi1> -> tensor<2x4xi1>
    %mask = arith.andi %rows4, %columns2 : tensor<2x4xi1>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<2x4x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %o : tensor<2x4x!tt.ptr<f32>>, tensor<2x4xi32>
    %v = tt.load %xp, %mask : tensor<2x4x!tt.ptr<f32>>
    %s = \"tt.reduce\"(%v) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %g = arith.addf %a, %b : f32
      tt.reduce.return %g : f32
    }) : (tensor<2x4xf32>) -> tensor<2xf32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<2x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %r : tensor<2x!tt.ptr<f32>>, tensor<2xi32>
    tt.store %yp, %s, %rows : tensor<2x!tt.ptr<f32>>",
    );
    let mut memory = Memory::new();
    let x = memory.add_values("x", f32(), &[1.0; 8]);
    let y = memory.add_values("y", f32(), &[0.0; 2]);
    let run = |memory: &mut Memory, m: i64| {
        launch(&ir, [1, 1, 1], &[Arg::Ptr(x, 0), Arg::Ptr(y, 0), Arg::Int(1), Arg::Int(m)], memory)
    };
    run(&mut memory, 4).unwrap();
    assert_eq!(memory.values(y), [4.0, 0.0]);
    assert_eq!(run(&mut memory, 3).unwrap_err()[0].code.id, "E1018");
}

#[test]
fn a_product_with_an_undefined_row_is_undefined_there() {
    let ir = |rows: &str| {
        module(
            "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32",
            &format!(
                "    %r = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
    %r2 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<16xi32> -> tensor<16x1xi32>
    %c2 = tt.expand_dims %r {{axis = 0 : i32}} : tensor<16xi32> -> tensor<1x16xi32>
    %w = arith.constant dense<16> : tensor<16x1xi32>
    %r4 = arith.muli %r2, %w : tensor<16x1xi32>
    %rb = tt.broadcast %r4 : tensor<16x1xi32> -> tensor<16x16xi32>
    %cb = tt.broadcast %c2 : tensor<1x16xi32> -> tensor<16x16xi32>
    %o = arith.addi %rb, %cb : tensor<16x16xi32>
    %ns = tt.splat %n : i32 -> tensor<16x1xi32>
    %m = arith.cmpi slt, %r2, %ns : tensor<16x1xi32>
    %mask = tt.broadcast %m : tensor<16x1xi1> -> tensor<16x16xi1>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %v = tt.load %xp, %mask : tensor<16x16x!tt.ptr<f32>>
    %all = tt.load %xp : tensor<16x16x!tt.ptr<f32>>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tt.dot {rows}, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %yp, %d, %mask : tensor<16x16x!tt.ptr<f32>>"
            ),
        )
    };
    let mut memory = Memory::new();
    let x = memory.add_values("x", f32(), &[1.0; 256]);
    let y = memory.add_values("y", f32(), &[0.0; 256]);
    let args = [Arg::Ptr(x, 0), Arg::Ptr(y, 0), Arg::Int(10)];
    // Rows of the left operand are rows of the result. Rows of the right operand are summed over.
    launch(&ir("%v, %all"), [1, 1, 1], &args, &mut memory).unwrap();
    assert_eq!(fault(&ir("%all, %v"), [1, 1, 1], &args, &mut memory).code.id, "E1018");
}

#[test]
fn without_the_check_nothing_is_said() {
    let (mut memory, args) = memory();
    let ir = masked("tt.store %yp, %v : tensor<8x!tt.ptr<i32>>");
    let options = RunOptions { checks: Checks { undefined: false, ..Checks::default() }, ..RunOptions::default() };
    run(&ir, "k", [1, 1, 1], &args, &mut memory, &options).unwrap();
    assert_eq!(memory.values(BufferId(1))[4..6], [3.0, 0.0]);
}
