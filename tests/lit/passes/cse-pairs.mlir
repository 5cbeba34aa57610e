// RUN: ttc opt %s --cse | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// Equal operations become one.
// CHECK-LABEL: tt.func public @same(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %a, %b : i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.muli %[[V0]], %[[V0]] : i32
// CHECK-NEXT: tt.return %[[V1]] : i32
// CHECK-NEXT: }
tt.func public @same(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %2 = arith.muli %0, %1 : i32
  tt.return %2 : i32
}

// Also with their operands exchanged, where that does not matter.
// CHECK-LABEL: tt.func public @commuted(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %a, %b : i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.muli %[[V0]], %[[V0]] : i32
// CHECK-NEXT: tt.return %[[V1]] : i32
// CHECK-NEXT: }
tt.func public @commuted(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %b, %a : i32
  %2 = arith.muli %0, %1 : i32
  tt.return %2 : i32
}

// A difference is another one then.
// CHECK-LABEL: tt.func public @not_commuted(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.subi %a, %b : i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.subi %b, %a : i32
// CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.muli %[[V0]], %[[V1]] : i32
// CHECK-NEXT: tt.return %[[V2]] : i32
// CHECK-NEXT: }
tt.func public @not_commuted(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  %1 = arith.subi %b, %a : i32
  %2 = arith.muli %0, %1 : i32
  tt.return %2 : i32
}

// Other attributes, another operation.
// CHECK-LABEL: tt.func public @other_attribute(%a: i32, %b: i32) -> (i1, i1) {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.cmpi slt, %a, %b : i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.cmpi ult, %a, %b : i32
// CHECK-NEXT: tt.return %[[V0]], %[[V1]] : i1, i1
// CHECK-NEXT: }
tt.func public @other_attribute(%a: i32, %b: i32) -> (i1, i1) {
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpi ult, %a, %b : i32
  tt.return %0, %1 : i1, i1
}

// Nothing is written between these loads.
// CHECK-LABEL: tt.func public @loads(%p: !tt.ptr<f32>) -> f32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.load %p : !tt.ptr<f32>
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.addf %[[V0]], %[[V0]] : f32
// CHECK-NEXT: tt.return %[[V1]] : f32
// CHECK-NEXT: }
tt.func public @loads(%p: !tt.ptr<f32>) -> f32 {
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %p : !tt.ptr<f32>
  %2 = arith.addf %0, %1 : f32
  tt.return %2 : f32
}

// Here something is.
// CHECK-LABEL: tt.func public @loads_around_store(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %v: f32) -> f32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.load %p : !tt.ptr<f32>
// CHECK-NEXT: tt.store %q, %v : !tt.ptr<f32>
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.load %p : !tt.ptr<f32>
// CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.addf %[[V0]], %[[V1]] : f32
// CHECK-NEXT: tt.return %[[V2]] : f32
// CHECK-NEXT: }
tt.func public @loads_around_store(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %v: f32) -> f32 {
  %0 = tt.load %p : !tt.ptr<f32>
  tt.store %q, %v : !tt.ptr<f32>
  %1 = tt.load %p : !tt.ptr<f32>
  %2 = arith.addf %0, %1 : f32
  tt.return %2 : f32
}

// Two atomic operations are two.
// CHECK-LABEL: tt.func public @atomics(%p: !tt.ptr<i32>, %v: i32) -> i32 {
// CHECK-NEXT: %[[M:[^ ,:)#]+]] = arith.constant true
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.atomic_rmw add, relaxed, gpu, %p, %v, %[[M]] : (!tt.ptr<i32>, i32, i1) -> i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.atomic_rmw add, relaxed, gpu, %p, %v, %[[M]] : (!tt.ptr<i32>, i32, i1) -> i32
// CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.addi %[[V0]], %[[V1]] : i32
// CHECK-NEXT: tt.return %[[V2]] : i32
// CHECK-NEXT: }
tt.func public @atomics(%p: !tt.ptr<i32>, %v: i32) -> i32 {
  %m = arith.constant true
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %m : (!tt.ptr<i32>, i32, i1) -> i32
  %1 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %m : (!tt.ptr<i32>, i32, i1) -> i32
  %2 = arith.addi %0, %1 : i32
  tt.return %2 : i32
}

// What nobody uses goes.
// CHECK-LABEL: tt.func public @unused(%a: i32) {
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @unused(%a: i32) {
  %0 = arith.addi %a, %a : i32
  tt.return
}
