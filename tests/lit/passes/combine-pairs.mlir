// RUN: ttc opt %s --triton-combine | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// The addend becomes the accumulator.
// CHECK-LABEL: tt.func public @addf_dot(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> {
// CHECK-NEXT: %[[S:[^ ,:)#]+]] = tt.dot %a, %b, %d : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
// CHECK-NEXT: tt.return %[[S]] : tensor<16x16xf32>
// CHECK-NEXT: }
tt.func public @addf_dot(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %s = tt.dot %a, %b, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %r = arith.addf %s, %d : tensor<16x16xf32>
  tt.return %r : tensor<16x16xf32>
}

// Also the other way round.
// CHECK-LABEL: tt.func public @addf_dot_swapped(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> {
// CHECK-NEXT: %[[S:[^ ,:)#]+]] = tt.dot %a, %b, %d : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
// CHECK-NEXT: tt.return %[[S]] : tensor<16x16xf32>
// CHECK-NEXT: }
tt.func public @addf_dot_swapped(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %s = tt.dot %a, %b, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %r = arith.addf %d, %s : tensor<16x16xf32>
  tt.return %r : tensor<16x16xf32>
}

// Not where the product is needed too.
// CHECK-LABEL: tt.func public @addf_dot_used_twice(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
// CHECK-NEXT: %[[Z:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
// CHECK-NEXT: %[[S:[^ ,:)#]+]] = tt.dot %a, %b, %[[Z]] : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addf %[[S]], %d : tensor<16x16xf32>
// CHECK-NEXT: tt.return %[[R]], %[[S]] : tensor<16x16xf32>, tensor<16x16xf32>
// CHECK-NEXT: }
tt.func public @addf_dot_used_twice(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %s = tt.dot %a, %b, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %r = arith.addf %s, %d : tensor<16x16xf32>
  tt.return %r, %s : tensor<16x16xf32>, tensor<16x16xf32>
}

// Not where there is an accumulator.
// CHECK-LABEL: tt.func public @addf_dot_with_accumulator(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> {
// CHECK-NEXT: %[[S:[^ ,:)#]+]] = tt.dot %a, %b, %d : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addf %[[S]], %d : tensor<16x16xf32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16x16xf32>
// CHECK-NEXT: }
tt.func public @addf_dot_with_accumulator(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %d: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %s = tt.dot %a, %b, %d : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %r = arith.addf %s, %d : tensor<16x16xf32>
  tt.return %r : tensor<16x16xf32>
}

// Two constant distances become one.
// CHECK-LABEL: tt.func public @addptr_of_addptr(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 8 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = tt.addptr %p, %[[R]] : !tt.ptr<f32>, i32
// CHECK-NEXT: tt.return %[[R0]] : !tt.ptr<f32>
// CHECK-NEXT: }
tt.func public @addptr_of_addptr(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %q = tt.addptr %p, %c3 : !tt.ptr<f32>, i32
  %r = tt.addptr %q, %c5 : !tt.ptr<f32>, i32
  tt.return %r : !tt.ptr<f32>
}

// The sum of distances that are not known might overflow.
// CHECK-LABEL: tt.func public @addptr_of_unknown(%p: !tt.ptr<f32>, %i: i32) -> !tt.ptr<f32> {
// CHECK-NEXT: %[[C3I32:[^ ,:)#]+]] = arith.constant 3 : i32
// CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.addptr %p, %[[C3I32]] : !tt.ptr<f32>, i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.addptr %[[Q]], %i : !tt.ptr<f32>, i32
// CHECK-NEXT: tt.return %[[R]] : !tt.ptr<f32>
// CHECK-NEXT: }
tt.func public @addptr_of_unknown(%p: !tt.ptr<f32>, %i: i32) -> !tt.ptr<f32> {
  %c3 = arith.constant 3 : i32
  %q = tt.addptr %p, %c3 : !tt.ptr<f32>, i32
  %r = tt.addptr %q, %i : !tt.ptr<f32>, i32
  tt.return %r : !tt.ptr<f32>
}

// The load chooses by itself.
// CHECK-LABEL: tt.func public @select_of_load(%p: tensor<16x!tt.ptr<f32>>, %c: i1, %v: tensor<16xf32>) -> tensor<16xf32> {
// CHECK-NEXT: %[[M:[^ ,:)#]+]] = tt.splat %c : i1 -> tensor<16xi1>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.load %p, %[[M]], %v : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @select_of_load(%p: tensor<16x!tt.ptr<f32>>, %c: i1, %v: tensor<16xf32>) -> tensor<16xf32> {
  %m = tt.splat %c : i1 -> tensor<16xi1>
  %l = tt.load %p, %m, %v : tensor<16x!tt.ptr<f32>>
  %r = arith.select %c, %l, %v : tensor<16xf32>
  tt.return %r : tensor<16xf32>
}

// Another condition.
// CHECK-LABEL: tt.func public @select_by_another(%p: tensor<16x!tt.ptr<f32>>, %c: i1, %e: i1, %v: tensor<16xf32>) -> tensor<16xf32> {
// CHECK-NEXT: %[[M:[^ ,:)#]+]] = tt.splat %c : i1 -> tensor<16xi1>
// CHECK-NEXT: %[[L:[^ ,:)#]+]] = tt.load %p, %[[M]], %v : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %e, %[[L]], %v : tensor<16xf32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @select_by_another(%p: tensor<16x!tt.ptr<f32>>, %c: i1, %e: i1, %v: tensor<16xf32>) -> tensor<16xf32> {
  %m = tt.splat %c : i1 -> tensor<16xi1>
  %l = tt.load %p, %m, %v : tensor<16x!tt.ptr<f32>>
  %r = arith.select %e, %l, %v : tensor<16xf32>
  tt.return %r : tensor<16xf32>
}
