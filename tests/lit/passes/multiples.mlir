// A kernel gets a copy for launches whose integers are multiples of 2, 4, 8 or 16.
// RUN: ttc opt %s --split-input-file --ttc-multiples | FileCheck %s

// The rows of a matrix: its stride and its width. Four floats are 16 bytes, so both are to be multiples of four.
module {
  // CHECK: module attributes {ttc.versions = 2 : i32
  // CHECK-LABEL: @rows
  // CHECK: %[[LOW:.*]] = arith.constant 3 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -4 : i32
  // CHECK: %[[REST:.*]] = arith.andi %stride, %[[LOW]] : i32
  // CHECK: %[[A:.*]] = arith.cmpi eq, %[[REST]], %{{.*}} : i32
  // CHECK: %[[STRIDE:.*]] = arith.andi %stride, %[[HIGH]] : i32
  // CHECK: %[[LOW:.*]] = arith.constant 3 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -4 : i32
  // CHECK: %[[REST:.*]] = arith.andi %n, %[[LOW]] : i32
  // CHECK: %[[B:.*]] = arith.cmpi eq, %[[REST]], %{{.*}} : i32
  // CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
  // CHECK: %[[N:.*]] = arith.andi %n, %[[HIGH]] : i32
  // CHECK: scf.if %[[BOTH]] {
  // CHECK: arith.muli %{{.*}}, %[[STRIDE]]
  // CHECK: tt.splat %[[N]]
  // CHECK: tt.store
  // CHECK: } else {
  // CHECK: arith.muli %{{.*}}, %stride
  // CHECK: tt.splat %n
  // CHECK: tt.store
  // CHECK: }
  // CHECK-NEXT: tt.return
  tt.func public @rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32, %n: i32) {
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %limit = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %range, %limit : tensor<1024xi32>
    %start = tt.addptr %p, %at : !tt.ptr<f32>, i32
    %from = tt.splat %start : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src, %mask : tensor<1024x!tt.ptr<f32>>
    %to = tt.addptr %q, %at : !tt.ptr<f32>, i32
    %all = tt.splat %to : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %dst = tt.addptr %all, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %dst, %x, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Only a mask: another pass finds the programs in which it splits no vector.
module {
  // CHECK-LABEL: @masked
  // CHECK-NOT: scf.if
  tt.func public @masked(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %limit = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %range, %limit : tensor<1024xi32>
    %from = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src, %mask : tensor<1024x!tt.ptr<f32>>
    tt.store %src, %x, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Elements of a column, a stride apart: no multiple brings them together.
module {
  // CHECK-LABEL: @column
  // CHECK-NOT: scf.if
  tt.func public @column(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %step = tt.splat %stride : i32 -> tensor<1024xi32>
    %at = arith.muli %range, %step : tensor<1024xi32>
    %from = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src : tensor<1024x!tt.ptr<f32>>
    tt.store %src, %x : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Eight halves are 16 bytes.
module {
  // CHECK-LABEL: @halves
  // CHECK: %[[LOW:.*]] = arith.constant 7 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -8 : i32
  // CHECK: arith.andi %stride, %[[LOW]] : i32
  // CHECK: arith.andi %stride, %[[HIGH]] : i32
  // CHECK: scf.if
  tt.func public @halves(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32) {
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %start = tt.addptr %p, %at : !tt.ptr<f16>, i32
    %from = tt.splat %start : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %x = tt.load %src : tensor<1024x!tt.ptr<f16>>
    %to = tt.addptr %q, %at : !tt.ptr<f16>, i32
    %all = tt.splat %to : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %dst = tt.addptr %all, %range : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    tt.store %dst, %x : tensor<1024x!tt.ptr<f16>>
    tt.return
  }
}

// -----

// A thread has two halves, so more are never accessed at once. A copy would save one access of two in the load and in the
// store, which is too little.
module {
  // CHECK-LABEL: @two_halves
  // CHECK-NOT: scf.if
  tt.func public @two_halves(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32) {
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %start = tt.addptr %p, %at : !tt.ptr<f16>, i32
    %from = tt.splat %start : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %src = tt.addptr %from, %range : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %x = tt.load %src : tensor<256x!tt.ptr<f16>>
    %to = tt.addptr %q, %at : !tt.ptr<f16>, i32
    %all = tt.splat %to : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %dst = tt.addptr %all, %range : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    tt.store %dst, %x : tensor<256x!tt.ptr<f16>>
    tt.return
  }
}

// -----

// Doubles: two are 16 bytes.
module {
  // CHECK-LABEL: @doubles
  // CHECK: %[[LOW:.*]] = arith.constant 1 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -2 : i32
  // CHECK: arith.andi %stride, %[[LOW]] : i32
  // CHECK: arith.andi %stride, %[[HIGH]] : i32
  // CHECK: scf.if
  tt.func public @doubles(%p: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %stride: i32) {
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %start = tt.addptr %p, %at : !tt.ptr<f64>, i32
    %from = tt.splat %start : !tt.ptr<f64> -> tensor<1024x!tt.ptr<f64>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f64>>, tensor<1024xi32>
    %x = tt.load %src : tensor<1024x!tt.ptr<f64>>
    %to = tt.addptr %q, %at : !tt.ptr<f64>, i32
    %all = tt.splat %to : !tt.ptr<f64> -> tensor<1024x!tt.ptr<f64>>
    %dst = tt.addptr %all, %range : tensor<1024x!tt.ptr<f64>>, tensor<1024xi32>
    tt.store %dst, %x : tensor<1024x!tt.ptr<f64>>
    tt.return
  }
}

// -----

// Sixteen bytes.
module {
  // CHECK-LABEL: @bytes
  // CHECK: %[[LOW:.*]] = arith.constant 15 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -16 : i32
  // CHECK: arith.andi %stride, %[[LOW]] : i32
  // CHECK: arith.andi %stride, %[[HIGH]] : i32
  // CHECK: scf.if
  tt.func public @bytes(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %stride: i32) {
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
    %start = tt.addptr %p, %at : !tt.ptr<i8>, i32
    %from = tt.splat %start : !tt.ptr<i8> -> tensor<2048x!tt.ptr<i8>>
    %src = tt.addptr %from, %range : tensor<2048x!tt.ptr<i8>>, tensor<2048xi32>
    %x = tt.load %src : tensor<2048x!tt.ptr<i8>>
    %to = tt.addptr %q, %at : !tt.ptr<i8>, i32
    %all = tt.splat %to : !tt.ptr<i8> -> tensor<2048x!tt.ptr<i8>>
    %dst = tt.addptr %all, %range : tensor<2048x!tt.ptr<i8>>, tensor<2048xi32>
    tt.store %dst, %x : tensor<2048x!tt.ptr<i8>>
    tt.return
  }
}

// -----

// Rows of floats, a stride apart, are written as halves into rows that are known: the mask alone would keep these from
// being written eight at once. So the width is to be a multiple of eight.
module {
  // CHECK-LABEL: @cast
  // CHECK: %[[LOW:.*]] = arith.constant 3 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -4 : i32
  // CHECK: arith.andi %stride, %[[LOW]] : i32
  // CHECK: arith.andi %stride, %[[HIGH]] : i32
  // CHECK: %[[LOW:.*]] = arith.constant 7 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -8 : i32
  // CHECK: arith.andi %n, %[[LOW]] : i32
  // CHECK: arith.andi %n, %[[HIGH]] : i32
  // CHECK: scf.if
  tt.func public @cast(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32, %n: i32) {
    %c1024 = arith.constant 1024 : i32
    %row = tt.get_program_id x : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %limit = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %range, %limit : tensor<1024xi32>
    %at = arith.muli %row, %stride : i32
    %start = tt.addptr %p, %at : !tt.ptr<f32>, i32
    %from = tt.splat %start : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src, %mask : tensor<1024x!tt.ptr<f32>>
    %h = arith.truncf %x : tensor<1024xf32> to tensor<1024xf16>
    %to = arith.muli %row, %c1024 : i32
    %there = tt.addptr %q, %to : !tt.ptr<f16>, i32
    %all = tt.splat %there : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %dst = tt.addptr %all, %range : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    tt.store %dst, %h, %mask : tensor<1024x!tt.ptr<f16>>
    tt.return
  }
}

// -----

// An atomic addition of halves, eight at once, beside rows of floats.
module {
  // CHECK-LABEL: @atomic
  // CHECK: %[[LOW:.*]] = arith.constant 7 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -8 : i32
  // CHECK: arith.andi %stride, %[[LOW]] : i32
  // CHECK: arith.andi %stride, %[[HIGH]] : i32
  // CHECK: scf.if
  tt.func public @atomic(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32) {
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %start = tt.addptr %p, %at : !tt.ptr<f32>, i32
    %from = tt.splat %start : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src : tensor<1024x!tt.ptr<f32>>
    %h = arith.truncf %x : tensor<1024xf32> to tensor<1024xf16>
    %there = tt.addptr %q, %at : !tt.ptr<f16>, i32
    %all = tt.splat %there : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %dst = tt.addptr %all, %range : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %dst, %h : (tensor<1024x!tt.ptr<f16>>, tensor<1024xf16>) -> tensor<1024xf16>
    tt.return
  }
}

// -----

// Rows of floats in groups of 16. `ttc-whole-groups` needs to know that the number of rows, which is the stride too, is
// a multiple of the group.
module {
  // CHECK-LABEL: @groups
  // CHECK: %[[LOW:.*]] = arith.constant 15 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -16 : i32
  // CHECK: arith.andi %n, %[[LOW]] : i32
  // CHECK: arith.andi %n, %[[HIGH]] : i32
  // CHECK: scf.if
  tt.func public @groups(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c16 : i32
    %next = arith.addi %first, %c16 : i32
    %last = arith.minsi %next, %n : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    scf.for %row = %first to %last step %c1 : i32 {
      %at = arith.muli %row, %n : i32
      %start = tt.addptr %p, %at : !tt.ptr<f32>, i32
      %from = tt.splat %start : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
      %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
      %x = tt.load %src : tensor<1024x!tt.ptr<f32>>
      tt.store %src, %x : tensor<1024x!tt.ptr<f32>>
    }
    tt.return
  }
}

// -----

// Each thread stores eight halves at once, and computes one quotient for all of them if `n` is a multiple of eight. For
// the mask of the floats, four would do.
module {
  // CHECK-LABEL: @quotients
  // CHECK: %[[LOW:.*]] = arith.constant 3 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -4 : i32
  // CHECK: arith.andi %stride, %[[LOW]] : i32
  // CHECK: arith.andi %stride, %[[HIGH]] : i32
  // CHECK: %[[LOW:.*]] = arith.constant 7 : i32
  // CHECK: %[[HIGH:.*]] = arith.constant -8 : i32
  // CHECK: arith.andi %n, %[[LOW]] : i32
  // CHECK: arith.andi %n, %[[HIGH]] : i32
  // CHECK: scf.if
  tt.func public @quotients(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32, %n: i32) {
    %row = tt.get_program_id x : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %size = tt.splat %n : i32 -> tensor<1024xi32>
    %group = arith.divsi %range, %size : tensor<1024xi32>
    %few = arith.cmpi slt, %range, %size : tensor<1024xi32>
    %at = arith.muli %row, %stride : i32
    %start = tt.addptr %p, %at : !tt.ptr<f32>, i32
    %from = tt.splat %start : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src, %few : tensor<1024x!tt.ptr<f32>>
    %number = arith.sitofp %group : tensor<1024xi32> to tensor<1024xf32>
    %sum = arith.addf %x, %number : tensor<1024xf32>
    %h = arith.truncf %sum : tensor<1024xf32> to tensor<1024xf16>
    %all = tt.splat %q : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
    %dst = tt.addptr %all, %range : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
    tt.store %dst, %h : tensor<1024x!tt.ptr<f16>>
    tt.return
  }
}

// -----

// Each result is the sum of eight elements that lie two apart. A thread with four results in a row, which would be
// stored at once, loads 32 elements one by one, further from those of its neighbours.
module {
  // CHECK-LABEL: @scattered
  // CHECK-NOT: scf.if
  tt.func public @scattered(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32) {
    %two = arith.constant dense<2> : tensor<512xi32>
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %even = arith.muli %range, %two : tensor<512xi32>
    %start = tt.addptr %p, %at : !tt.ptr<f32>, i32
    %from = tt.splat %start : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %s0 = tt.addptr %from, %even : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %x0 = tt.load %s0 : tensor<512x!tt.ptr<f32>>
    %s1 = tt.addptr %s0, %two : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %y1 = tt.load %s1 : tensor<512x!tt.ptr<f32>>
    %x1 = arith.addf %x0, %y1 : tensor<512xf32>
    %s2 = tt.addptr %s1, %two : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %y2 = tt.load %s2 : tensor<512x!tt.ptr<f32>>
    %x2 = arith.addf %x1, %y2 : tensor<512xf32>
    %s3 = tt.addptr %s2, %two : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %y3 = tt.load %s3 : tensor<512x!tt.ptr<f32>>
    %x3 = arith.addf %x2, %y3 : tensor<512xf32>
    %s4 = tt.addptr %s3, %two : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %y4 = tt.load %s4 : tensor<512x!tt.ptr<f32>>
    %x4 = arith.addf %x3, %y4 : tensor<512xf32>
    %s5 = tt.addptr %s4, %two : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %y5 = tt.load %s5 : tensor<512x!tt.ptr<f32>>
    %x5 = arith.addf %x4, %y5 : tensor<512xf32>
    %s6 = tt.addptr %s5, %two : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %y6 = tt.load %s6 : tensor<512x!tt.ptr<f32>>
    %x6 = arith.addf %x5, %y6 : tensor<512xf32>
    %s7 = tt.addptr %s6, %two : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %y7 = tt.load %s7 : tensor<512x!tt.ptr<f32>>
    %x7 = arith.addf %x6, %y7 : tensor<512xf32>
    %to = tt.addptr %q, %at : !tt.ptr<f32>, i32
    %all = tt.splat %to : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %dst = tt.addptr %all, %range : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %dst, %x7 : tensor<512x!tt.ptr<f32>>
    tt.return
  }
}
