// RUN: ttc opt %s --split-input-file --verify-diagnostics --triton-rewrite-tensor-pointer

tt.func private @callee(%p: !tt.ptr<tensor<16xf32>>) attributes {noinline = true} { // expected-error {{`tt.func` has a block pointer as an argument}}
  tt.return
}
tt.func public @call(%x: !tt.ptr<f32>, %o: i32, %n: i64) {
  %p = tt.make_tensor_ptr %x, [%n], [%n], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
  tt.call @callee(%p) : (!tt.ptr<tensor<16xf32>>) -> ()
  tt.return
}

// -----

tt.func public @mask(%x: !tt.ptr<f32>, %o: i32, %n: i64, %m: tensor<16xi1>) {
  %p = tt.make_tensor_ptr %x, [%n], [%n], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
  // expected-error @below {{`tt.load` through a block pointer has a mask}}
  %v = tt.load %p, %m : !tt.ptr<tensor<16xf32>>
  tt.store %p, %v : !tt.ptr<tensor<16xf32>>
  tt.return
}

// -----

tt.func public @nan(%x: !tt.ptr<i32>, %o: i32, %n: i64) {
  %p = tt.make_tensor_ptr %x, [%n], [%n], [%o] {order = array<i32: 0>} : <tensor<16xi32>>
  // expected-error @below {{`tt.load` pads with NaN, and the elements have type i32}}
  %v = tt.load %p {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<16xi32>>
  tt.store %p, %v : !tt.ptr<tensor<16xi32>>
  tt.return
}

// -----

tt.func public @region(%x: !tt.ptr<f32>, %o: i32, %n: i64) {
  // expected-error @below {{`scf.execute_region` gives a block pointer}}
  %p = scf.execute_region -> !tt.ptr<tensor<16xf32>> {
    %q = tt.make_tensor_ptr %x, [%n], [%n], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
    scf.yield %q : !tt.ptr<tensor<16xf32>>
  }
  %v = tt.load %p : !tt.ptr<tensor<16xf32>>
  tt.store %p, %v : !tt.ptr<tensor<16xf32>>
  tt.return
}

// -----

tt.func public @bases(%c: i1, %x: !tt.ptr<f32>, %y: !tt.ptr<f32, "constant">, %o: i32, %n: i64) {
  %p = tt.make_tensor_ptr %x, [%n], [%n], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
  %q = "tt.make_tensor_ptr"(%y, %n, %n, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>, order = array<i32: 0>}> : (!tt.ptr<f32, "constant">, i64, i64, i32) -> !tt.ptr<tensor<16xf32>>
  // expected-error @below {{`arith.select` gets block pointers with bases of types}}
  %r = arith.select %c, %p, %q : !tt.ptr<tensor<16xf32>>
  %v = tt.load %r : !tt.ptr<tensor<16xf32>>
  tt.store %r, %v : !tt.ptr<tensor<16xf32>>
  tt.return
}
