// A conversion that gives each thread more words than it has registers for has all elements in shared memory at once,
// unless that costs a block: a repetition would have to be loaded whole before the next begins.
// RUN: ttc opt %s --split-input-file --allocate-shared-memory-nv | FileCheck %s

#from = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#to = #ttg.slice<{dim = 2, parent = #wide}>

// 1024 words a thread, which take 32 KiB: four blocks of threads with so many registers fit beside each other.
// CHECK: ttg.shared = 32768 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @many_words(
  // CHECK: ttg.convert_layout {{.*}}ttc.at_once
  tt.func public @many_words(%x: tensor<64x128xf32, #from>) -> tensor<64x128xf32, #to> {
    %0 = ttg.convert_layout %x : tensor<64x128xf32, #from> -> tensor<64x128xf32, #to>
    tt.return %0 : tensor<64x128xf32, #to>
  }
}

// -----

#from = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#to = #ttg.slice<{dim = 2, parent = #wide}>

// 128 KiB would leave room for one block.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @costs_blocks(
  // CHECK-NOT: ttc.at_once
  tt.func public @costs_blocks(%x: tensor<256x128xf32, #from>) -> tensor<256x128xf32, #to> {
    %0 = ttg.convert_layout %x : tensor<256x128xf32, #from> -> tensor<256x128xf32, #to>
    tt.return %0 : tensor<256x128xf32, #to>
  }
}

// -----

#from = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#to = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#few = #ttg.slice<{dim = 2, parent = #wide}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What a thread gives frees the registers for what it gets.
  // CHECK-LABEL: @as_many_words(
  // CHECK-NOT: ttc.at_once
  tt.func public @as_many_words(%x: tensor<128x256xf32, #from>) -> tensor<128x256xf32, #to> {
    %0 = ttg.convert_layout %x : tensor<128x256xf32, #from> -> tensor<128x256xf32, #to>
    tt.return %0 : tensor<128x256xf32, #to>
  }

  // 128 words are not too many.
  // CHECK-LABEL: @few_words(
  // CHECK-NOT: ttc.at_once
  tt.func public @few_words(%x: tensor<8x128xf32, #from>) -> tensor<8x128xf32, #few> {
    %0 = ttg.convert_layout %x : tensor<8x128xf32, #from> -> tensor<8x128xf32, #few>
    tt.return %0 : tensor<8x128xf32, #few>
  }
}
