// RUN: ttc opt %s --split-input-file --verify-diagnostics
// Warp specialisation: partitions, captures, results.

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @good(%x: i32) {
    %0 = ttg.warp_specialize(%x)
    default {
      ttg.warp_yield %x : i32
    }
    partition0(%a: i32) num_warps(2) {
      ttg.warp_return
    } : (i32) -> i32
    tt.return
  }
  tt.func @bad(%x: i32) {
    // expected-error @below {{partition #0 has 3 warps, expected a power of two}}
    ttg.warp_specialize(%x)
    default {
      ttg.warp_yield
    }
    partition0(%a: i32) num_warps(3) {
      ttg.warp_return
    } : (i32) -> ()
    %0 = ttg.warp_specialize(%x)
    default {
      // expected-error @below {{it has 0 values, expected 1}}
      ttg.warp_yield
    } : (i32) -> i32
    // expected-error @below {{`warpGroupStartIds` has 1 entries, and there are 2 partitions}}
    "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 2, 2>, warpGroupStartIds = array<i32: 0>}> ({
      ttg.warp_yield
    }, {
      "ttg.warp_specialize.partitions"() ({
        ttg.warp_return
      }, {
        ttg.warp_return
      }) : () -> ()
    }) : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 2 : i32} {
  tt.func @few() {
    // expected-error @below {{its kernel has 2 warps, expected a multiple of 4}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}

// -----

tt.func @misplaced() {
  // expected-error @below {{it stands in `tt.func`, expected `ttg.warp_specialize`}}
  ttg.warp_yield
}

// -----

tt.func @unfinished(%x: i32) {
  // expected-error @below {{it is the last of a block of `tt.func`, expected a terminator after it}}
  %0 = arith.addi %x, %x : i32
}
