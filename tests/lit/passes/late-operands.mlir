// RUN: ttc opt %s --split-input-file --ttc-late-operands=registers=150 | FileCheck %s
// RUN: ttc opt %s --split-input-file --ttc-late-operands | FileCheck %s --check-prefix=ROOM
// Where tiles need more registers than a thread has, operands are loaded right before the products that need them. Here
// a first operand takes 16 registers of a thread, a second one 64, and a sum 32.

// The load goes over the wait, which is for other buffers, to the product. With 255 registers for a thread, all stay.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @late
// CHECK: scf.for
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: ttg.local_load %B
// CHECK-NEXT: ttg.local_load %A
// CHECK-NEXT: tt.dot
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: ttg.convert_layout
// CHECK-NEXT: ttg.local_load %C
// CHECK-NEXT: tt.dot
// ROOM-LABEL: @late
// ROOM: scf.for
// ROOM-NEXT: ttg.local_load %A
// ROOM-NEXT: ttg.local_load %B
// ROOM-NEXT: ttg.local_load %C
// ROOM-NEXT: ttg.async_wait
tt.func public @late(%s: tensor<64x64xf16, #blocked>, %n: i32, %init: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %A = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %B = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %C = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
    %a = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %b = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %c = ttg.local_load %C : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %w = ttg.async_wait {num = 0 : i32}
    %x = tt.dot %a, %b, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %eh = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %e = ttg.convert_layout %eh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %y = tt.dot %e, %c, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    scf.yield %y : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}

// -----

// It stays in front of a write to its buffer.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @written
// CHECK: scf.for
// CHECK: tt.dot
// CHECK: ttg.convert_layout
// CHECK-NEXT: ttg.local_load %C
// CHECK-NEXT: ttg.local_store %{{.*}}, %C
// CHECK-NEXT: tt.dot
tt.func public @written(%s: tensor<64x64xf16, #blocked>, %n: i32, %init: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %A = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %B = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %C = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
    %a = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %b = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %c = ttg.local_load %C : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %x = tt.dot %a, %b, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %eh = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %e = ttg.convert_layout %eh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    ttg.local_store %s, %C : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %y = tt.dot %e, %c, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    scf.yield %y : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}

// -----

// So it does in front of what tells others that the buffer has been read, which leaves nothing to gain here.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @told
// CHECK: scf.for
// CHECK-NEXT: ttg.local_load %A
// CHECK-NEXT: ttg.local_load %B
// CHECK-NEXT: ttg.local_load %C
// CHECK-NEXT: ttng.arrive_barrier
tt.func public @told(%s: tensor<64x64xf16, #blocked>, %n: i32, %init: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %A = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %B = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %C = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
    %a = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %b = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %c = ttg.local_load %C : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    ttng.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %x = tt.dot %a, %b, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %eh = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %e = ttg.convert_layout %eh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %y = tt.dot %e, %c, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    scf.yield %y : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}

// -----

// The second operand of the first product is loaded once more for the last one, instead of being held.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @again
// CHECK: scf.for
// CHECK-NEXT: ttg.local_load %B
// CHECK: tt.dot
// CHECK: ttg.local_load %C
// CHECK: tt.dot
// CHECK: %[[B:.*]] = ttg.local_load %B
// CHECK-NEXT: tt.dot %{{.*}}, %[[B]], %acc
tt.func public @again(%s: tensor<64x64xf16, #blocked>, %n: i32, %init: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %A = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %B = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %C = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
    %a = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %b = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %c = ttg.local_load %C : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %x = tt.dot %a, %b, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %eh = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %e = ttg.convert_layout %eh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %u = tt.dot %e, %c, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %fh = arith.truncf %u : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %f = ttg.convert_layout %fh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %y = tt.dot %f, %b, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    scf.yield %y : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}

// -----

// Not where it was written since.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @once
// CHECK: scf.for
// CHECK: ttg.local_load %B
// CHECK: ttg.local_store %{{.*}}, %B
// CHECK-NOT: ttg.local_load %B
// CHECK: scf.yield
tt.func public @once(%s: tensor<64x64xf16, #blocked>, %n: i32, %init: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %A = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %B = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %C = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
    %a = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %b = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %c = ttg.local_load %C : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %x = tt.dot %a, %b, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    ttg.local_store %s, %B : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %eh = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %e = ttg.convert_layout %eh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %u = tt.dot %e, %c, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %fh = arith.truncf %u : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %f = ttg.convert_layout %fh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %y = tt.dot %f, %b, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    scf.yield %y : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}

// -----

// A product that is needed late is computed late, behind the exchange, and its operands are loaded there. What goes
// through the buffer stays: it frees the sum.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @product
// CHECK: scf.for
// CHECK: ttg.local_load %B
// CHECK-NEXT: ttg.local_load %A
// CHECK-NEXT: tt.dot
// CHECK: ttg.convert_layout
// CHECK-NEXT: ttg.local_load %C
// CHECK-NEXT: ttg.local_load %Z
// CHECK-NEXT: tt.dot
// CHECK-NEXT: ttg.local_load %B
// CHECK-NEXT: tt.dot
// CHECK-NEXT: scf.yield
tt.func public @product(%s: tensor<64x64xf16, #blocked>, %n: i32, %init: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %A = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %B = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %C = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
    %a = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %b = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %c = ttg.local_load %C : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %zh = arith.truncf %acc : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %Z = ttg.local_alloc %zh : (tensor<64x64xf16, #mma>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %g = ttg.local_load %Z : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
    %v = tt.dot %g, %c, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %x = tt.dot %a, %b, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %eh = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %e = ttg.convert_layout %eh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %y = tt.dot %e, %b, %v : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    scf.yield %y : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}

// -----

// Beside products of Hopper's tensor cores nothing moves: that order was chosen.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @others
// CHECK: scf.for
// CHECK-NEXT: ttg.local_load %A
// CHECK-NEXT: ttg.local_load %B
// CHECK-NEXT: ttg.local_load %C
// CHECK-NEXT: ttg.async_wait
tt.func public @others(%s: tensor<64x64xf16, #blocked>, %n: i32, %init: tensor<64x64xf32, #mma>, %sum: tensor<64x64xf32, #mma3>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %A = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %B = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %C = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %W = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #wide, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32, #mma>) : i32 {
    %a = ttg.local_load %A : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %b = ttg.local_load %B : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %c = ttg.local_load %C : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %w = ttg.async_wait {num = 0 : i32}
    %x = tt.dot %a, %b, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %eh = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %e = ttg.convert_layout %eh : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #a>
    %y = tt.dot %e, %c, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
    %p = ttng.warp_group_dot %W, %W, %sum : !ttg.memdesc<64x64xf16, #wide, #smem, mutable> * !ttg.memdesc<64x64xf16, #wide, #smem, mutable> -> tensor<64x64xf32, #mma3>
    scf.yield %y : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}
