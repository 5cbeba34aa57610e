// Branches and dominance.
module {
  tt.func @good(%c: i1, %x: i32) {
    cf.cond_br %c, ^bb1(%x : i32), ^bb2
  ^bb1(%y: i32):
    %0 = arith.addi %y, %x : i32
    cf.br ^bb2
  ^bb2:
    tt.return
  }
}
// -----
module {
  tt.func @bad(%c: i1, %x: i32) {
    cf.cond_br %c, ^bb1(%x : i32), ^bb2
  ^bb1(%y: i32):
    %0 = arith.addi %y, %x : i32
    cf.br ^bb2
  ^bb2:
    %1 = arith.addi %0, %x : i32 // expected: E0505 operand #0 is defined in a block through which control need not have come
    tt.return
  }
}
// -----
module {
  tt.func @bad(%x: f32) {
    cf.br ^bb1(%x : f32) // expected: E0504 value #0 that it passes to successor #0 has type f32, expected i32
  ^bb1(%y: i32):
    tt.return
  }
}
// -----
module {
  tt.func @order(%x: i32) {
    %1 = arith.addi %0, %x : i32 // expected: E0505 `arith.muli`, which stands after it
    %0 = arith.muli %x, %x : i32
    tt.return
  }
}
