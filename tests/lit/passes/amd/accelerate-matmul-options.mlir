// A size of instructions that there is not is refused.
// RUN: not ttc opt %s --tritonamdgpu-accelerate-matmul="matrix-instruction-size=8" 2>&1 | FileCheck %s
// CHECK: error[E0605]{{.*}}`matrix-instruction-size` is one of [0, 16, 32], found 8
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
}
