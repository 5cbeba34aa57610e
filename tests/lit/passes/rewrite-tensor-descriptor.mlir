// RUN: ttc opt %s --triton-rewrite-tensor-descriptor-to-pointer | FileCheck %s

// A load: the extent is extended, both comparisons of the mask are there, what is outside is 0 as the descriptor says.
// CHECK-LABEL: @load(
// CHECK-NEXT: %[[C1I64:[^ ,:)#]+]] = arith.constant 1 : i64
// CHECK-NEXT: %[[N0:[^ ,:)#]+]] = arith.extsi %n : i32 to i64
// CHECK-NEXT: %[[D:[^ ,:)#]+]] = arith.constant false
// CHECK-NEXT: %[[D1:[^ ,:)#]+]] = arith.constant false
// CHECK-NEXT: %[[O2:[^ ,:)#]+]] = arith.extsi %o : i32 to i64
// CHECK-NEXT: %[[V:[^ ,:)#]+]] = arith.constant dense<0x7E00> : tensor<64xf16>
// CHECK-NEXT: %[[V3:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64xf16>
// CHECK-NEXT: %[[V4:[^ ,:)#]+]] = arith.select %[[D]], %[[V]], %[[V3]] : tensor<64xf16>
// CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.splat %[[O2]] : i64 -> tensor<64xi64>
// CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
// CHECK-NEXT: %[[V7:[^ ,:)#]+]] = arith.extsi %[[V6]] : tensor<64xi32> to tensor<64xi64>
// CHECK-NEXT: %[[V8:[^ ,:)#]+]] = arith.addi %[[V5]], %[[V7]] : tensor<64xi64>
// CHECK-NEXT: %[[V9:[^ ,:)#]+]] = tt.reshape %[[V8]] : tensor<64xi64> -> tensor<64xi64>
// CHECK-NEXT: %[[V10:[^ ,:)#]+]] = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
// CHECK-NEXT: %[[V11:[^ ,:)#]+]] = tt.splat %[[C1I64]] : i64 -> tensor<64xi64>
// CHECK-NEXT: %[[V12:[^ ,:)#]+]] = arith.muli %[[V9]], %[[V11]] : tensor<64xi64>
// CHECK-NEXT: %[[V13:[^ ,:)#]+]] = tt.broadcast %[[V12]] : tensor<64xi64> -> tensor<64xi64>
// CHECK-NEXT: %[[V14:[^ ,:)#]+]] = tt.addptr %[[V10]], %[[V13]] : tensor<64x!tt.ptr<f16>>, tensor<64xi64>
// CHECK-NEXT: %[[V15:[^ ,:)#]+]] = tt.splat %[[O2]] : i64 -> tensor<64xi64>
// CHECK-NEXT: %[[V16:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
// CHECK-NEXT: %[[V17:[^ ,:)#]+]] = arith.extsi %[[V16]] : tensor<64xi32> to tensor<64xi64>
// CHECK-NEXT: %[[V18:[^ ,:)#]+]] = arith.addi %[[V15]], %[[V17]] : tensor<64xi64>
// CHECK-NEXT: %[[V19:[^ ,:)#]+]] = tt.reshape %[[V18]] : tensor<64xi64> -> tensor<64xi64>
// CHECK-NEXT: %[[V20:[^ ,:)#]+]] = arith.constant 0 : i64
// CHECK-NEXT: %[[V21:[^ ,:)#]+]] = tt.splat %[[V20]] : i64 -> tensor<64xi64>
// CHECK-NEXT: %[[V22:[^ ,:)#]+]] = arith.cmpi sge, %[[V19]], %[[V21]] : tensor<64xi64>
// CHECK-NEXT: %[[V23:[^ ,:)#]+]] = tt.splat %[[N0]] : i64 -> tensor<64xi64>
// CHECK-NEXT: %[[V24:[^ ,:)#]+]] = arith.cmpi slt, %[[V19]], %[[V23]] : tensor<64xi64>
// CHECK-NEXT: %[[V25:[^ ,:)#]+]] = arith.andi %[[V22]], %[[V24]] : tensor<64xi1>
// CHECK-NEXT: %[[V26:[^ ,:)#]+]] = tt.broadcast %[[V25]] : tensor<64xi1> -> tensor<64xi1>
// CHECK-NEXT: %[[V27:[^ ,:)#]+]] = tt.load %[[V14]], %[[V26]], %[[V4]] : tensor<64x!tt.ptr<f16>>
// CHECK-NEXT: tt.return %[[V27]] : tensor<64xf16>
tt.func public @load(%x: !tt.ptr<f16>, %n: i32, %o: i32) -> tensor<64xf16> {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n], [%c1] : <f16>, <64xf16>
  %v = tt.descriptor_load %d[%o] : !tt.tensordesc<64xf16> -> tensor<64xf16>
  tt.return %v : tensor<64xf16>
}

// Integers are padded with 0 whatever the descriptor says; an extent that is a constant stays one.
// CHECK-LABEL: @load_int(
// CHECK-NEXT: %[[C1I64:[^ ,:)#]+]] = arith.constant 1 : i64
// CHECK: %[[N:[^ ,:)#]+]] = arith.constant 100 : i32
// CHECK: %[[N0:[^ ,:)#]+]] = arith.constant 100 : i64
// CHECK: %[[D:[^ ,:)#]+]] = arith.constant true
// CHECK: %[[D1:[^ ,:)#]+]] = arith.constant false
// CHECK: %[[V:[^ ,:)#]+]] = arith.constant dense<0> : tensor<64xi32>
// CHECK: %[[V18:[^ ,:)#]+]] = arith.constant 0 : i64
// CHECK: %[[V25:[^ ,:)#]+]] = tt.load %[[V12:[^ ,:)#]+]], %[[V24:[^ ,:)#]+]], %[[V]] : tensor<64x!tt.ptr<i32>>
tt.func public @load_int(%x: !tt.ptr<i32>, %o: i32) -> tensor<64xi32> {
  %c1 = arith.constant 1 : i64
  %n = arith.constant 100 : i32
  %d = tt.make_tensor_descriptor %x, [%n], [%c1] {padding = 2 : i32} : <i32>, <64xsi32>
  %v = tt.descriptor_load %d[%o] : !tt.tensordesc<64xsi32> -> tensor<64xi32>
  tt.return %v : tensor<64xi32>
}

// A load of f32 rounds to tf32 if a descriptor that the host made says so.
// CHECK-LABEL: @load_f32(
// CHECK: %[[V25:[^ ,:)#]+]] = tt.load %[[V12:[^ ,:)#]+]], %[[V24:[^ ,:)#]+]], %[[V2:[^ ,:)#]+]] : tensor<64x!tt.ptr<f32>>
// CHECK: %[[V26:[^ ,:)#]+]] = scf.if %d.roundF32ToTF32 -> (tensor<64xf32>) {
// CHECK: %[[V27:[^ ,:)#]+]] = tt.bitcast %[[V25]] : tensor<64xf32> -> tensor<64xi32>
// CHECK: %[[V36:[^ ,:)#]+]] = arith.addi %[[V34:[^ ,:)#]+]], %[[V35:[^ ,:)#]+]] : tensor<64xi32>
// CHECK: %[[V37:[^ ,:)#]+]] = arith.addi %[[V27]], %[[V36]] : tensor<64xi32>
// CHECK: %[[V41:[^ ,:)#]+]] = tt.bitcast %[[V40:[^ ,:)#]+]] : tensor<64xi32> -> tensor<64xf32>
// CHECK: scf.yield %[[V41]] : tensor<64xf32>
// CHECK: scf.yield %[[V25]] : tensor<64xf32>
tt.func public @load_f32(%d: !tt.tensordesc<64xf32>, %o: i32) -> tensor<64xf32> {
  %v = tt.descriptor_load %d[%o] : !tt.tensordesc<64xf32> -> tensor<64xf32>
  tt.return %v : tensor<64xf32>
}

// A store in two dimensions, with its attributes.
// CHECK-LABEL: @store(
// CHECK: %[[V4:[^ ,:)#]+]] = tt.reshape %[[V3:[^ ,:)#]+]] : tensor<8xi64> -> tensor<8x1xi64>
// CHECK: %[[V9:[^ ,:)#]+]] = tt.reshape %[[V8:[^ ,:)#]+]] : tensor<64xi64> -> tensor<1x64xi64>
// CHECK: %[[V12:[^ ,:)#]+]] = arith.muli %[[V4]], %[[V11:[^ ,:)#]+]] : tensor<8x1xi64>
// CHECK: %[[V14:[^ ,:)#]+]] = tt.addptr %[[V10:[^ ,:)#]+]], %[[V13:[^ ,:)#]+]] : tensor<8x64x!tt.ptr<f16>>, tensor<8x64xi64>
// CHECK: %[[V16:[^ ,:)#]+]] = arith.muli %[[V9]], %[[V15:[^ ,:)#]+]] : tensor<1x64xi64>
// CHECK: %[[V18:[^ ,:)#]+]] = tt.addptr %[[V14]], %[[V17:[^ ,:)#]+]] : tensor<8x64x!tt.ptr<f16>>, tensor<8x64xi64>
// CHECK: %[[V23:[^ ,:)#]+]] = tt.reshape %[[V22:[^ ,:)#]+]] : tensor<8xi64> -> tensor<8x1xi64>
// CHECK: %[[V28:[^ ,:)#]+]] = tt.reshape %[[V27:[^ ,:)#]+]] : tensor<64xi64> -> tensor<1x64xi64>
// CHECK: %[[V33:[^ ,:)#]+]] = arith.andi %[[V30:[^ ,:)#]+]], %[[V32:[^ ,:)#]+]] : tensor<8x1xi1>
// CHECK: %[[V39:[^ ,:)#]+]] = arith.andi %[[V36:[^ ,:)#]+]], %[[V38:[^ ,:)#]+]] : tensor<1x64xi1>
// CHECK: %[[V41:[^ ,:)#]+]] = arith.andi %[[V34:[^ ,:)#]+]], %[[V40:[^ ,:)#]+]] : tensor<8x64xi1>
// CHECK: tt.store %[[V18]], %v, %[[V41]] {kept = 1 : i32} : tensor<8x64x!tt.ptr<f16>>
tt.func public @store(%x: !tt.ptr<f16>, %n: i32, %s: i64, %o: i32, %v: tensor<8x64xf16>) {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n, %n], [%s, %c1] : <f16>, <8x64xf16>
  tt.descriptor_store %d[%o, %o], %v {kept = 1 : i32} : !tt.tensordesc<8x64xf16>, tensor<8x64xf16>
  tt.return
}

// Reductions by the signedness that the descriptor's type gives.
// CHECK-LABEL: @reduce(
// CHECK: %[[V21:[^ ,:)#]+]] = tt.atomic_rmw fadd, release, gpu, %[[V9:[^ ,:)#]+]], %w, %[[V20:[^ ,:)#]+]] : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
// CHECK: %[[V43:[^ ,:)#]+]] = tt.atomic_rmw add, release, gpu, %[[V31:[^ ,:)#]+]], %v, %[[V42:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// CHECK: %[[V65:[^ ,:)#]+]] = tt.atomic_rmw min, release, gpu, %[[V53:[^ ,:)#]+]], %v, %[[V64:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// CHECK: %[[V87:[^ ,:)#]+]] = tt.atomic_rmw umin, release, gpu, %[[V75:[^ ,:)#]+]], %v, %[[V86:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// CHECK: %[[V109:[^ ,:)#]+]] = tt.atomic_rmw max, release, gpu, %[[V97:[^ ,:)#]+]], %v, %[[V108:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// CHECK: %[[V131:[^ ,:)#]+]] = tt.atomic_rmw umax, release, gpu, %[[V119:[^ ,:)#]+]], %v, %[[V130:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// CHECK: %[[V153:[^ ,:)#]+]] = tt.atomic_rmw and, release, gpu, %[[V141:[^ ,:)#]+]], %v, %[[V152:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// CHECK: %[[V175:[^ ,:)#]+]] = tt.atomic_rmw or, release, gpu, %[[V163:[^ ,:)#]+]], %v, %[[V174:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
// CHECK: %[[V197:[^ ,:)#]+]] = tt.atomic_rmw xor, release, gpu, %[[V185:[^ ,:)#]+]], %v, %[[V196:[^ ,:)#]+]] : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> tensor<64xi32>
tt.func public @reduce(%f: !tt.tensordesc<64xf32>, %s: !tt.tensordesc<64xsi32>, %u: !tt.tensordesc<64xui32>, %o: i32, %v: tensor<64xi32>, %w: tensor<64xf32>) {
  tt.descriptor_reduce add, %f[%o], %w : !tt.tensordesc<64xf32>, tensor<64xf32>
  tt.descriptor_reduce add, %s[%o], %v : !tt.tensordesc<64xsi32>, tensor<64xi32>
  tt.descriptor_reduce min, %s[%o], %v : !tt.tensordesc<64xsi32>, tensor<64xi32>
  tt.descriptor_reduce min, %u[%o], %v : !tt.tensordesc<64xui32>, tensor<64xi32>
  tt.descriptor_reduce max, %s[%o], %v : !tt.tensordesc<64xsi32>, tensor<64xi32>
  tt.descriptor_reduce max, %u[%o], %v : !tt.tensordesc<64xui32>, tensor<64xi32>
  tt.descriptor_reduce and, %u[%o], %v : !tt.tensordesc<64xui32>, tensor<64xi32>
  tt.descriptor_reduce or, %u[%o], %v : !tt.tensordesc<64xui32>, tensor<64xi32>
  tt.descriptor_reduce xor, %u[%o], %v : !tt.tensordesc<64xui32>, tensor<64xi32>
  tt.return
}

// Rows: the coordinates along dimension 0 are the row numbers.
// CHECK-LABEL: @rows(
// CHECK-NEXT: %[[V:[^ ,:)#]+]] = tt.reshape %r : tensor<32xi32> -> tensor<32x1xi32>
// CHECK: %[[C0:[^ ,:)#]+]] = arith.extsi %c : i32 to i64
// CHECK: %[[V1:[^ ,:)#]+]] = arith.extsi %[[V]] : tensor<32x1xi32> to tensor<32x1xi64>
// CHECK: %[[V4:[^ ,:)#]+]] = arith.extsi %[[V3:[^ ,:)#]+]] : tensor<64xi32> to tensor<64xi64>
// CHECK: %[[V6:[^ ,:)#]+]] = tt.reshape %[[V5:[^ ,:)#]+]] : tensor<64xi64> -> tensor<1x64xi64>
// CHECK: %[[V34:[^ ,:)#]+]] = tt.load %[[V15:[^ ,:)#]+]], %[[V30:[^ ,:)#]+]], %[[V33:[^ ,:)#]+]] : tensor<32x64x!tt.ptr<f16>>
// CHECK: %[[V0:[^ ,:)#]+]] = tt.reshape %r : tensor<32xi32> -> tensor<32x1xi32>
// CHECK: %[[C35:[^ ,:)#]+]] = arith.extsi %c : i32 to i64
// CHECK: %[[V1X:[^ ,:)#]+]] = arith.extsi %[[V0]] : tensor<32x1xi32> to tensor<32x1xi64>
// CHECK: %[[V4X:[^ ,:)#]+]] = arith.extsi %[[V3X:[^ ,:)#]+]] : tensor<64xi32> to tensor<64xi64>
// CHECK: %[[V6X:[^ ,:)#]+]] = tt.reshape %[[V5X:[^ ,:)#]+]] : tensor<64xi64> -> tensor<1x64xi64>
// CHECK: tt.store %[[V15X:[^ ,:)#]+]], %[[V34]], %[[V28:[^ ,:)#]+]] : tensor<32x64x!tt.ptr<f16>>
tt.func public @rows(%d: !tt.tensordesc<1x64xf16>, %r: tensor<32xi32>, %c: i32) {
  %v = tt.descriptor_gather %d[%r, %c] : (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  tt.descriptor_scatter %d[%r, %c], %v : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
  tt.return
}

// A parameter becomes its parts; the first keeps the attributes. Calls and returns pass the parts on.
// CHECK-LABEL: @callee(
// CHECK-NEXT: tt.return %n, %d, %d.shape.0, %d.stride.0, %d.padding, %d.roundF32ToTF32 : i32, !tt.ptr<f16>, i64, i64, i1, i1
tt.func private @callee(%d: !tt.tensordesc<64xf16> {tt.divisibility = 16 : i32}, %n: i32) -> (i32, !tt.tensordesc<64xf16>) attributes {noinline = true} {
  tt.return %n, %d : i32, !tt.tensordesc<64xf16>
}
// CHECK-LABEL: @caller(
// CHECK-NEXT: %[[R:[^ ,:)#]+]]:6 = tt.call @callee(%d, %d.shape.0, %d.stride.0, %d.padding, %d.roundF32ToTF32, %n) : (!tt.ptr<f16>, i64, i64, i1, i1, i32) -> (i32, !tt.ptr<f16>, i64, i64, i1, i1)
// CHECK: %[[S:[^ ,:)#]+]]:6 = tt.call @callee(%[[R]]#1, %[[R]]#2, %[[R]]#3, %[[R]]#4, %[[R]]#5, %[[R]]#0) : (!tt.ptr<f16>, i64, i64, i1, i1, i32) -> (i32, !tt.ptr<f16>, i64, i64, i1, i1)
tt.func public @caller(%d: !tt.tensordesc<64xf16>, %n: i32) {
  %r:2 = tt.call @callee(%d, %n) : (!tt.tensordesc<64xf16>, i32) -> (i32, !tt.tensordesc<64xf16>)
  %s:2 = tt.call @callee(%r#1, %r#0) : (!tt.tensordesc<64xf16>, i32) -> (i32, !tt.tensordesc<64xf16>)
  tt.return
}

// Two descriptors change places in a loop; its other results and its attributes stay.
// CHECK-LABEL: @loop(
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]]:11 = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]] iter_args(%[[P:[^ ,:)#]+]] = %d, %[[P0:[^ ,:)#]+]] = %d.shape.0, %[[P1:[^ ,:)#]+]] = %d.stride.0, %[[P2:[^ ,:)#]+]] = %d.padding, %[[P3:[^ ,:)#]+]] = %d.roundF32ToTF32, %[[K:[^ ,:)#]+]] = %[[C0I32]], %[[Q:[^ ,:)#]+]] = %e, %[[Q4:[^ ,:)#]+]] = %e.shape.0, %[[Q5:[^ ,:)#]+]] = %e.stride.0, %[[Q6:[^ ,:)#]+]] = %e.padding, %[[Q7:[^ ,:)#]+]] = %e.roundF32ToTF32) -> (!tt.ptr<f16>, i64, i64, i1, i1, i32, !tt.ptr<f16>, i64, i64, i1, i1)  : i32 {
// CHECK-NEXT: scf.yield %[[Q]], %[[Q4]], %[[Q5]], %[[Q6]], %[[Q7]], %[[I]], %[[P]], %[[P0]], %[[P1]], %[[P2]], %[[P3]] : !tt.ptr<f16>, i64, i64, i1, i1, i32, !tt.ptr<f16>, i64, i64, i1, i1
// CHECK-NEXT: } {tt.num_stages = 2 : i32}
// CHECK-NEXT: tt.return %[[R]]#5 : i32
tt.func public @loop(%d: !tt.tensordesc<64xf16>, %e: !tt.tensordesc<64xf16>, %n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %d, %k = %c0, %q = %e) -> (!tt.tensordesc<64xf16>, i32, !tt.tensordesc<64xf16>) : i32 {
    scf.yield %q, %i, %p : !tt.tensordesc<64xf16>, i32, !tt.tensordesc<64xf16>
  } {tt.num_stages = 2 : i32}
  tt.return %r#1 : i32
}

// In a while loop the condition passes descriptors on.
// CHECK-LABEL: @while(
// CHECK-NEXT: %[[R:[^ ,:)#]+]]:6 = scf.while (%[[P:[^ ,:)#]+]] = %d, %[[P0:[^ ,:)#]+]] = %d.shape.0, %[[P1:[^ ,:)#]+]] = %d.stride.0, %[[P2:[^ ,:)#]+]] = %d.padding, %[[P3:[^ ,:)#]+]] = %d.roundF32ToTF32, %[[I:[^ ,:)#]+]] = %n) : (!tt.ptr<f16>, i64, i64, i1, i1, i32) -> (i32, !tt.ptr<f16>, i64, i64, i1, i1) {
// CHECK-NEXT: %[[MORE:[^ ,:)#]+]] = arith.cmpi slt, %[[I]], %n : i32
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[I]], %[[P]], %[[P0]], %[[P1]], %[[P2]], %[[P3]] : i32, !tt.ptr<f16>, i64, i64, i1, i1
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[I]]: i32, %[[P]]: !tt.ptr<f16>, %[[P0]]: i64, %[[P1]]: i64, %[[P2]]: i1, %[[P3]]: i1):
// CHECK-NEXT: scf.yield %[[P]], %[[P0]], %[[P1]], %[[P2]], %[[P3]], %[[I]] : !tt.ptr<f16>, i64, i64, i1, i1, i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func public @while(%d: !tt.tensordesc<64xf16>, %n: i32) {
  %r:2 = scf.while (%p = %d, %i = %n) : (!tt.tensordesc<64xf16>, i32) -> (i32, !tt.tensordesc<64xf16>) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %p : i32, !tt.tensordesc<64xf16>
  } do {
  ^bb0(%i: i32, %p: !tt.tensordesc<64xf16>):
    scf.yield %p, %i : !tt.tensordesc<64xf16>, i32
  }
  tt.return
}

// An `scf.if` gives parts; a select becomes one.
// CHECK-LABEL: @choice(
// CHECK-NEXT: %[[R:[^ ,:)#]+]]:5 = scf.if %c -> (!tt.ptr<f16>, i64, i64, i1, i1) {
// CHECK: scf.yield %d, %d.shape.0, %d.stride.0, %d.padding, %d.roundF32ToTF32 : !tt.ptr<f16>, i64, i64, i1, i1
// CHECK: scf.yield %e, %e.shape.0, %e.stride.0, %e.padding, %e.roundF32ToTF32 : !tt.ptr<f16>, i64, i64, i1, i1
// CHECK: %[[S:[^ ,:)#]+]]:5 = scf.if %c -> (!tt.ptr<f16>, i64, i64, i1, i1) {
// CHECK: scf.yield %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3, %[[R]]#4 : !tt.ptr<f16>, i64, i64, i1, i1
// CHECK: scf.yield %d, %d.shape.0, %d.stride.0, %d.padding, %d.roundF32ToTF32 : !tt.ptr<f16>, i64, i64, i1, i1
tt.func public @choice(%d: !tt.tensordesc<64xf16>, %e: !tt.tensordesc<64xf16>, %c: i1) {
  %r = scf.if %c -> (!tt.tensordesc<64xf16>) {
    scf.yield %d : !tt.tensordesc<64xf16>
  } else {
    scf.yield %e : !tt.tensordesc<64xf16>
  }
  %s = arith.select %c, %r, %d : !tt.tensordesc<64xf16>
  tt.return
}

// Between blocks.
// CHECK-LABEL: @blocks(
// CHECK-NEXT: cf.cond_br %c, ^bb1(%d, %d.shape.0, %d.stride.0, %d.padding, %d.roundF32ToTF32 : !tt.ptr<f16>, i64, i64, i1, i1), ^bb2(%o, %e, %e.shape.0, %e.stride.0, %e.padding, %e.roundF32ToTF32 : i32, !tt.ptr<f16>, i64, i64, i1, i1)
// CHECK: ^bb1(%[[P:[^ ,:)#]+]]: !tt.ptr<f16>, %[[P0:[^ ,:)#]+]]: i64, %[[P1:[^ ,:)#]+]]: i64, %[[P2:[^ ,:)#]+]]: i1, %[[P3:[^ ,:)#]+]]: i1):
// CHECK: cf.br ^bb2(%o, %[[P]], %[[P0]], %[[P1]], %[[P2]], %[[P3]] : i32, !tt.ptr<f16>, i64, i64, i1, i1)
// CHECK: ^bb2(%[[I:[^ ,:)#]+]]: i32, %[[Q:[^ ,:)#]+]]: !tt.ptr<f16>, %[[Q4:[^ ,:)#]+]]: i64, %[[Q5:[^ ,:)#]+]]: i64, %[[Q6:[^ ,:)#]+]]: i1, %[[Q7:[^ ,:)#]+]]: i1):
tt.func public @blocks(%d: !tt.tensordesc<64xf16>, %e: !tt.tensordesc<64xf16>, %c: i1, %o: i32) {
  cf.cond_br %c, ^a(%d : !tt.tensordesc<64xf16>), ^b(%o, %e : i32, !tt.tensordesc<64xf16>)
^a(%p: !tt.tensordesc<64xf16>):
  cf.br ^b(%o, %p : i32, !tt.tensordesc<64xf16>)
^b(%i: i32, %q: !tt.tensordesc<64xf16>):
  tt.return
}

// Without descriptors nothing happens.
// CHECK-LABEL: @none(
// CHECK-NEXT: %[[V:[^ ,:)#]+]] = tt.load %x : !tt.ptr<f16>
// CHECK-NEXT: tt.return %[[V]] : f16
tt.func public @none(%x: !tt.ptr<f16>) -> f16 {
  %v = tt.load %x : !tt.ptr<f16>
  tt.return %v : f16
}
