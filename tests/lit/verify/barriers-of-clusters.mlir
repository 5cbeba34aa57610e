// RUN: ttc opt %s --split-input-file --verify-diagnostics
// Which block arrives at whose barrier.

#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @alone(%b: !ttg.memdesc<1xi64, #one, #ttg.shared_memory, mutable>) {
    // expected-error @below {{it arrives at barriers of several blocks, and the cluster has 1 block}}
    ttng.arrive_barrier %b, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<1xi64, #one, #ttg.shared_memory, mutable>
    tt.return
  }
}

// -----

#own = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1], [2]]}>
#same = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0], [0]]}>
!own = !ttg.memdesc<4xi64, #own, #ttg.shared_memory, mutable>
!same = !ttg.memdesc<1xi64, #same, #ttg.shared_memory, mutable>
module attributes {"ttg.num-ctas" = 4 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @four(%b: !own, %s: !same, %p: i1) {
    ttng.arrive_barrier %b, 1 {multicastCTA = 3 : i32} : !own
    ttng.arrive_barrier %b, 1 {fromCTA = 2 : i32} : !own
    ttng.barrier_expect %b, 64 {fromCTA = 0 : i32}, %p : !own
    // expected-error @below {{`multicastCTA` is 4, expected bits of a block's number, 0 to 3}}
    ttng.arrive_barrier %b, 1 {multicastCTA = 4 : i32} : !own
    // expected-error @below {{the barrier it arrives at has CGALayout [[0], [0]], expected [[1], [2]]}}
    ttng.arrive_barrier %s, 1 {multicastCTA = 1 : i32} : !same
    ttng.arrive_barrier %b, 1 {ttc.each_warp} : !own
    ttng.arrive_barrier %b, 1 {multicastCTA = 3 : i32, ttc.each_warp} : !own
    // expected-error @below {{each warp arrives for itself, expected no `fromCTA`}}
    ttng.arrive_barrier %b, 1 {fromCTA = 2 : i32, ttc.each_warp} : !own
    // expected-error @below {{`fromCTA` is 4, expected bits of a block's number, 0 to 3}}
    ttng.arrive_barrier %b, 1 {fromCTA = 4 : i32} : !own
    // expected-error @below {{`fromCTA` is -1, expected bits of a block's number, 0 to 3}}
    ttng.barrier_expect %b, 64 {fromCTA = -1 : i32}, %p : !own
    // expected-error @below {{expected 4 × i64 with CGALayout [[1], [2]], one for each block}}
    ttng.barrier_expect %s, 64 {fromCTA = 1 : i32}, %p : !same
    // expected-error @below {{it has both `fromCTA` and `multicastCTA`}}
    ttng.arrive_barrier %b, 1 {fromCTA = 1 : i32, multicastCTA = 1 : i32} : !own
    tt.return
  }
}
