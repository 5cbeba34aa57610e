# RUN: ttc list %s | FileCheck %s --check-prefix=LIST
# RUN: ttc --emit ttir %s -k Second.kernel --signature '*fp32' | FileCheck %s --check-prefix=SECOND
# RUN: ttc --emit ttir %s -k make.kernel --signature '*fp32' --symbol '{kernel}' | FileCheck %s --check-prefix=MADE
# RUN: rm -rf %t && ttc compile %s -k First.kernel -k Second.kernel --signature '*fp32' --out-dir %t
# RUN: ls %t | FileCheck %s --check-prefix=FILES
# RUN: ttc --emit ttir %s -k kernel --signature '*fp32' 2>&1 | FileCheck %s --check-prefix=WHICH

# Kernels of one name are told apart by what is around them.
import triton
import triton.language as tl


# LIST: : First.kernel(x)
# LIST: : alone(x)
# LIST: : Outer.Second.kernel(x)
# LIST: : make.kernel(x)
# FILES: First.kernel.cubin
# FILES: Second.kernel.cubin
# WHICH: Help: name the one you mean with what is around it: First.kernel, Outer.Second.kernel, make.kernel
class First:
    @staticmethod
    @triton.jit
    def kernel(x):
        tl.store(x, 1.0)

    @staticmethod
    @triton.jit
    def alone(x):
        tl.store(x, 4.0)


class Outer:
    class Second:
        # SECOND: tt.func public @kernel(
        # SECOND: arith.constant 2.0
        @staticmethod
        @triton.jit
        def kernel(x):
            tl.store(x, 2.0)


# MADE: tt.func public @make_kernel(
# MADE: arith.constant 3.0
def make():
    @triton.jit
    def kernel(x):
        tl.store(x, 3.0)

    return kernel
