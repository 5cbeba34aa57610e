// Functions, calls and returns.
module {
  tt.func @callee(%x: i32) -> f32 {
    %0 = arith.sitofp %x : i32 to f32
    tt.return %0 : f32
  }
  tt.func @good(%x: i32) {
    %0 = tt.call @callee(%x) : (i32) -> f32
    tt.return
  }
}
// -----
module {
  tt.func @f(%x: i32) -> f32 {
    tt.return %x : i32 // expected: E0501 has type i32, expected f32
  }
  tt.func @f() { // expected: E0506 already has a symbol @f
    %c = arith.constant 1.0 : f32
    tt.call @g(%c) : (f32) -> () // expected: E0506 no function @g
    %0 = tt.call @f(%c) : (f32) -> f32 // expected: E0506 argument #0 has type f32, and that of @f has type i32
    tt.return
  }
}
