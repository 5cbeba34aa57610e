// Structured control flow.
module {
  tt.func @good(%n: i32, %c: i1, %x: f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) : i32 {
      %1 = scf.if %c -> (f32) {
        scf.yield %acc : f32
      } else {
        scf.yield %x : f32
      }
      scf.yield %1 : f32
    }
    %2 = scf.while (%y = %0) : (f32) -> f32 {
      scf.condition(%c) %y : f32
    } do {
    ^bb0(%z: f32):
      scf.yield %z : f32
    }
    tt.return
  }
}
// -----
module {
  tt.func @bad(%n: i32, %c: i1, %x: f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) : i32 { // expected: E0501 yielded values has type i32, expected f32
      scf.yield %i : i32
    }
    scf.if %c { // expected: E0501 1 values yielded by `then`, expected 0
      scf.yield %x : f32
    }
    tt.return
  }
}
