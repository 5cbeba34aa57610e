// Loop nests become one loop. The parts with ARGS are also run before and after, with these arguments behind %out.
// RUN: ttc opt %s --split-input-file --tritongpu-fuse-nested-loops --canonicalize --cse | FileCheck %s
// KEEPS: tritongpu-fuse-nested-loops

// The nest stands on the second side of a branch; on the first, the inner loop is gone, because it would not run.
// CHECK-LABEL: @flatten(
// CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %k, %{{.*}} : i32
// CHECK: scf.if %[[EMPTY]]
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.flatten
// CHECK: } else {
// CHECK: %[[LEN:.*]] = arith.maxsi %k, %{{.*}} : i32
// CHECK: %[[TOTAL:.*]] = arith.muli %tiles, %[[LEN]] : i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TOTAL]] step
// The prologue is under a condition, the body is not.
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[T:.*]], %c0_i32 : i32
// CHECK: scf.if %[[FIRST]]
// CHECK: tt.store
// CHECK: } else {
// CHECK: }
// CHECK: tt.store
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[T]], %{{.*}} : i32
// CHECK: scf.if %[[LAST]]
// CHECK-NOT: scf.for
// CHECK: tt.return
// ARGS: 3 4
// ARGS: 3 1
// ARGS: 1 5
// ARGS: 3 0
// ARGS: 3 -2
// ARGS: 0 4
// ARGS: -4 4
// ARGS: -4 -4
tt.func public @flatten(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %c31 = arith.constant 31 : i32
  %r = scf.for %i = %c0 to %tiles step %c1 iter_args(%h = %c1) -> (i32) : i32 {
    %p = tt.addptr %out, %i : !tt.ptr<i32>, i32
    tt.store %p, %h : !tt.ptr<i32>
    %at = arith.muli %i, %c16 : i32
    %s = scf.for %j = %c0 to %k step %c1 iter_args(%g = %at) -> (i32) : i32 {
      %x = arith.muli %g, %c31 : i32
      %y = arith.addi %x, %j : i32
      %b0 = arith.addi %at, %c16 : i32
      %b1 = arith.addi %b0, %j : i32
      %q = tt.addptr %out, %b1 : !tt.ptr<i32>, i32
      tt.store %q, %y : !tt.ptr<i32>
      scf.yield %y : i32
    }
    %z = arith.addi %h, %s : i32
    scf.yield %z : i32
  } {tt.flatten}
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}

// -----

// Nobody asked.
// CHECK-LABEL: @not_asked(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.if
tt.func public @not_asked(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    scf.for %j = %c0 to %k step %c1 : i32 {
      %q = tt.addptr %out, %j : !tt.ptr<i32>, i32
      tt.store %q, %i : !tt.ptr<i32>
    }
  }
  tt.return
}

// -----

// Two loops inside are left alone with `tt.flatten`, and so is a nest of three.
// CHECK-LABEL: @not_simple(
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @not_simple(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    scf.for %j = %c0 to %k step %c1 : i32 {
      tt.store %out, %i : !tt.ptr<i32>
    }
    scf.for %j = %c0 to %k step %c1 : i32 {
      tt.store %out, %j : !tt.ptr<i32>
    }
  } {tt.flatten}
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    scf.for %j = %c0 to %k step %c1 : i32 {
      scf.for %l = %c0 to %k step %c1 : i32 {
        tt.store %out, %l : !tt.ptr<i32>
      }
    }
  } {tt.flatten}
  tt.return
}

// -----

// The bound depends on the outer loop, but is said to be positive: a loop in front adds up the lengths, and nothing is tested.
// CHECK-LABEL: @assumed(
// CHECK: %[[TOTAL:.*]] = scf.for
// CHECK: arith.maxsi
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TOTAL]]
// CHECK-NOT: arith.andi
// CHECK-NOT: scf.for
// CHECK: tt.return
// ARGS: 4 1
// ARGS: 4 3
// ARGS: 0 2
// ARGS: -3 2
tt.func public @assumed(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %tiles step %c1 iter_args(%h = %c1) -> (i32) : i32 {
    %end = arith.addi %i, %k : i32
    %runs = arith.cmpi sgt, %end, %c0 : i32
    llvm.intr.assume %runs : i1
    %s = scf.for %j = %c0 to %end step %c1 iter_args(%g = %h) -> (i32) : i32 {
      %x = arith.muli %g, %c3 : i32
      %y = arith.addi %x, %j : i32
      scf.yield %y : i32
    }
    %p = tt.addptr %out, %i : !tt.ptr<i32>, i32
    tt.store %p, %s : !tt.ptr<i32>
    scf.yield %s : i32
  } {tt.flatten}
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}

// -----

// An assumption on one side of a branch says nothing about the loop.
// CHECK-LABEL: @assumed_elsewhere(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
// ARGS: 4 -2
tt.func public @assumed_elsewhere(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    %end = arith.addi %i, %k : i32
    %runs = arith.cmpi sgt, %end, %c0 : i32
    scf.if %runs {
      llvm.intr.assume %runs : i1
      tt.store %out, %end : !tt.ptr<i32>
    }
    scf.for %j = %c0 to %end step %c1 : i32 {
      %p = tt.addptr %out, %j : !tt.ptr<i32>, i32
      tt.store %p, %i : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}

// -----

// The loop writes, so its bound may change and is read where it was.
// CHECK-LABEL: @bound_from_memory(
// CHECK: scf.for
// CHECK: tt.load
// CHECK: scf.for
// CHECK: tt.return
// ARGS: 4 3
tt.func public @bound_from_memory(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tt.store %out, %k : !tt.ptr<i32>
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    %end = tt.load %out : !tt.ptr<i32>
    scf.for %j = %c0 to %end step %c1 : i32 {
      %d = arith.subi %end, %c1 : i32
      tt.store %out, %d : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}

// -----

// Two inner loops share an iteration: the last of one, the prologue of the next, and its first. Either may be empty; then its result is what it
// started from.
// CHECK-LABEL: @two_inner(
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: arith.subi %[[SUM]], %c1_i32
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
// ARGS: 3 2 4
// ARGS: 3 0 4
// ARGS: 3 2 0
// ARGS: 3 0 0
// ARGS: 3 -5 -5
// ARGS: 0 2 4
// ARGS: -2 -3 1
tt.func public @two_inner(%out: !tt.ptr<i32>, %tiles: i32, %k: i32, %l: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %r = scf.for %i = %c0 to %tiles step %c1 iter_args(%h = %c1) -> (i32) : i32 {
    %a = arith.addi %h, %i : i32
    %s = scf.for %j = %c0 to %k step %c1 iter_args(%g = %a) -> (i32) : i32 {
      %x = arith.muli %g, %c7 : i32
      %y = arith.addi %x, %h : i32
      scf.yield %y : i32
    }
    %b = arith.xori %s, %a : i32
    %t:2 = scf.for %j = %k to %l step %c1 iter_args(%g = %b, %f = %c7) -> (i32, i32) : i32 {
      %x = arith.muli %g, %c7 : i32
      %y = arith.addi %x, %s : i32
      %z = arith.addi %f, %y : i32
      scf.yield %y, %z : i32, i32
    }
    %e = arith.addi %t#0, %t#1 : i32
    %p = tt.addptr %out, %i : !tt.ptr<i32>, i32
    tt.store %p, %e : !tt.ptr<i32>
    scf.yield %e : i32
  } {"ttg.always-fuse"}
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}

// -----

// Both lengths depend on the outer loop, the second on what stands behind the first.
// CHECK-LABEL: @two_lengths(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
// ARGS: 4 2
// ARGS: 4 -2
// ARGS: 0 2
// ARGS: -4 2
tt.func public @two_lengths(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %r = scf.for %i = %c0 to %tiles step %c1 iter_args(%h = %c1) -> (i32) : i32 {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%g = %i) -> (i32) : i32 {
      %x = arith.muli %g, %c5 : i32
      %y = arith.addi %x, %j : i32
      scf.yield %y : i32
    }
    %end = arith.addi %i, %k : i32
    %t = scf.for %j = %i to %end step %c1 iter_args(%g = %s) -> (i32) : i32 {
      %x = arith.muli %g, %c5 : i32
      %y = arith.addi %x, %h : i32
      scf.yield %y : i32
    }
    scf.yield %t : i32
  } {"ttg.always-fuse"}
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}

// -----

// The innermost loop starts where the middle one is: its lengths are added up.
// CHECK-LABEL: @three_deep(
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
// ARGS: 2 3 4
// ARGS: 2 0 4
// ARGS: 2 3 0
// ARGS: 0 3 4
// ARGS: 2 -1 -1
tt.func public @three_deep(%out: !tt.ptr<i32>, %n: i32, %m: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %r = scf.for %a = %c0 to %n step %c1 iter_args(%h = %c1) -> (i32) : i32 {
    %s = scf.for %b = %c0 to %m step %c1 iter_args(%g = %h) -> (i32) : i32 {
      %t = scf.for %c = %b to %k step %c1 iter_args(%f = %g) -> (i32) : i32 {
        %x = arith.muli %f, %c5 : i32
        %y = arith.addi %x, %c : i32
        scf.yield %y : i32
      }
      %z = arith.addi %t, %b : i32
      scf.yield %z : i32
    }
    %w = arith.addi %s, %a : i32
    scf.yield %w : i32
  } {"ttg.always-fuse"}
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}

// -----

// Values that change places, and the index of the iteration before: neither may change before the last iteration of an inner loop.
// CHECK-LABEL: @changes_late(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %c0_i32, %{{.*}} = %{{.*}}, %[[A:.*]] = %c1_i32, %[[B:.*]] = %c5_i32, %[[PREV:.*]] = %c0_i32, %{{.*}} = %c1_i32,
// CHECK: %[[I:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK: arith.subi
// CHECK: %[[LAST:.*]] = arith.cmpi eq
// CHECK-NEXT: arith.select %[[LAST]], %[[B]], %[[A]]
// CHECK-NEXT: arith.select %[[LAST]], %[[A]], %[[B]]
// CHECK-NEXT: arith.select %[[LAST]], %[[I]], %[[PREV]]
// ARGS: 4 3
// ARGS: 3 1
// ARGS: 4 0
tt.func public @changes_late(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %r:4 = scf.for %i = %c0 to %tiles step %c1 iter_args(%a = %c1, %b = %c5, %prev = %c0, %h = %c1) -> (i32, i32, i32, i32) : i32 {
    %s = scf.for %j = %c0 to %k step %c1 iter_args(%g = %h) -> (i32) : i32 {
      %x = arith.muli %g, %c5 : i32
      %y = arith.addi %x, %a : i32
      scf.yield %y : i32
    }
    %e = arith.muli %s, %prev : i32
    %f = arith.addi %e, %b : i32
    %p = tt.addptr %out, %i : !tt.ptr<i32>, i32
    tt.store %p, %f : !tt.ptr<i32>
    scf.yield %b, %a, %i, %s : i32, i32, i32, i32
  } {tt.flatten}
  %sum = arith.addi %r#0, %r#3 : i32
  tt.store %out, %sum : !tt.ptr<i32>
  tt.return
}

// -----

// Bounds beyond 2^31: six iterations, counted without sign.
// CHECK-LABEL: @without_sign(
// CHECK: arith.cmpi ule, %k
// CHECK: arith.ceildivui
// ARGS: 3 -1073741824
// ARGS: 3 536870912
// ARGS: 0 536870912
// ARGS: 3 0
tt.func public @without_sign(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 536870912 : i32
  %r = scf.for unsigned %i = %c0 to %tiles step %c1 iter_args(%h = %c1) -> (i32) : i32 {
    %s = scf.for unsigned %j = %c0 to %k step %step iter_args(%g = %h) -> (i32) : i32 {
      %y = arith.addi %g, %c1 : i32
      scf.yield %y : i32
    }
    %p = tt.addptr %out, %i : !tt.ptr<i32>, i32
    tt.store %p, %s : !tt.ptr<i32>
    scf.yield %s : i32
  } {tt.flatten}
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}

// -----

// The largest number of stages counts; the copy without the inner loop has no warps to specialise.
// CHECK-LABEL: @attributes(
// CHECK: } {tt.flatten, tt.num_stages = 2 : i32}
// CHECK: } {tt.disallow_acc_multi_buffer, tt.num_stages = 4 : i32, tt.warp_specialize}
tt.func public @attributes(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    tt.store %out, %i : !tt.ptr<i32>
    scf.for %j = %c0 to %k step %c1 : i32 {
      tt.store %out, %j : !tt.ptr<i32>
    } {tt.num_stages = 4 : i32, tt.disallow_acc_multi_buffer}
  } {tt.flatten, tt.num_stages = 2 : i32, tt.warp_specialize}
  tt.return
}

// -----

// A start value from outside is set again by the epilogue; what only the epilogue needs is computed there; and the lengths have the wider type.
// CHECK-LABEL: @start_values(
// CHECK: scf.if
// CHECK: } else {
// CHECK: arith.extsi %{{.*}} : i32 to i64
// CHECK: scf.for %{{.*}} iter_args(%[[T:.*]] = %c0_i64, %{{.*}} = %{{.*}}, %{{.*}} = %c0_i32, %[[SUM:.*]] = %c9_i32)
// CHECK: %[[NEXT:.*]] = arith.muli %[[SUM]],
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[T]],
// CHECK: arith.select %[[LAST]], %c9_i32, %[[NEXT]]
// CHECK: scf.if %[[LAST]]
// CHECK: arith.trunci
// CHECK: tt.store
// ARGS: 4 3
// ARGS: 3 0
// ARGS: 0 5
tt.func public @start_values(%out: !tt.ptr<i32>, %tiles: i64, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %w0 = arith.constant 0 : i64
  %w1 = arith.constant 1 : i64
  scf.for %i = %w0 to %tiles step %w1 : i64 {
    %only_behind = arith.trunci %i : i64 to i32
    %s = scf.for %j = %c0 to %k step %c1 iter_args(%g = %c9) -> (i32) : i32 {
      %y = arith.muli %g, %c9 : i32
      scf.yield %y : i32
    }
    %p = tt.addptr %out, %only_behind : !tt.ptr<i32>, i32
    tt.store %p, %s : !tt.ptr<i32>
  } {tt.flatten}
  tt.return
}

// -----

// One value of the epilogue is carried twice.
// CHECK-LABEL: @carried_twice(
// CHECK-NOT: tt.flatten
// CHECK: tt.return
// ARGS: 4 3
// ARGS: 3 0
tt.func public @carried_twice(%out: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %r:2 = scf.for %i = %c0 to %tiles step %c1 iter_args(%a = %c0, %b = %c1) -> (i32, i32) : i32 {
    %s = scf.for %j = %c0 to %k step %c1 iter_args(%g = %i) -> (i32) : i32 {
      %x = arith.muli %g, %c9 : i32
      %y = arith.addi %x, %b : i32
      scf.yield %y : i32
    }
    %z = arith.addi %s, %a : i32
    scf.yield %z, %z : i32, i32
  } {"ttg.always-fuse"}
  %sum = arith.addi %r#0, %r#1 : i32
  tt.store %out, %sum : !tt.ptr<i32>
  tt.return
}
