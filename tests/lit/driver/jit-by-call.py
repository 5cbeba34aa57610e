# RUN: ttc list %s | FileCheck %s
# RUN: ttc compile %s -k _plain --signature '*fp32' -o %t.cubin
# RUN: not ttc compile %s -k _host --signature '*fp32' -o %t.cubin 2>&1 | FileCheck %s --check-prefix=HOST

# A function that the file hands to `triton.jit` is a kernel; one that it hands to something else is not.
import triton
import triton.language as tl


# CHECK: jit-by-call.py:[[#@LINE+1]]: _plain(x)
def _plain(x):
    tl.store(x, 1.0)


# CHECK-NOT: _host
# HOST: `_host` is no kernel: it is not decorated with `@triton.jit`
def _host(x):
    return x


kernel = triton.jit(debug=False)(_plain)
size = _host(3)
