# Types by name: the same TTIR as by a signature, a ready command from `ttc list`, and a case file that runs as it is.
# RUN: ttc %s -k add --signature "*fp32:16, *fp32:16, i32, 64" --emit ttir -o %t.a.ttir
# RUN: ttc %s -k add --type "*_ptr=*fp32:16" --type n=i32 -D BLOCK=64 --emit ttir -o %t.b.ttir
# RUN: diff %t.a.ttir %t.b.ttir
# RUN: not ttc %s -k add --emit ttir -o - --error-format short 2>&1 | FileCheck %s --check-prefix=MISSING
# MISSING: :[[#@LINE+29]]:5: error[E0216]: the kernel `add` needs the types of x_ptr, y_ptr, n and the values of BLOCK; help: these are guesses
# MISSING-SAME: --type "x_ptr=*fp32" --type "y_ptr=*fp32" --type n=i32 -D BLOCK=64{{$}}
# RUN: not ttc check %s -k add --type nn=i32 --error-format short 2>&1 | FileCheck %s --check-prefix=UNUSED
# UNUSED: error[E0229]: `--type nn=i32` fits no parameter of the kernel `add`
# RUN: not ttc %s --type nonsense 2>&1 | FileCheck %s --check-prefix=USAGE
# USAGE: expected NAME=TYPE
# RUN: ttc check %s -k add --type "*_ptr=*fp32" --type "n*=i32" -D BLOCK=64 2>&1 | FileCheck %s --check-prefix=ALL --allow-empty
# ALL-NOT: remark
# RUN: ttc list %s | FileCheck %s --check-prefix=LIST
# LIST: types.py:[[#@LINE+20]]: add(x_ptr, y_ptr, n, BLOCK: constexpr)   needs x_ptr, y_ptr, n, BLOCK
# LIST-NEXT: types.py:[[#@LINE+27]]: tuned(out, n, BLOCK: constexpr (configuration), EVEN: constexpr (heuristic))   needs out, n, --config
# LIST-NEXT: --config 0: BLOCK=16
# RUN: ttc list %s -k tuned --json | FileCheck %s --check-prefix=JSON
# JSON: {"command":"ttc compile {{.*}}types.py -k tuned --config 0 --type \"out=*fp32\" --type n=i32 -D EVEN=False","configs":[{{.*}}],"file":"{{.*}}","heuristics":["EVEN"],"line":[[#@LINE+24]],"name":"tuned"
# JSON-SAME: {"annotation":null,"guess":"*fp32","kind":"pointer","name":"out","needed":true,"source":null,"type":null,"value":null}
# JSON-SAME: {"annotation":"tl.constexpr","guess":null,"kind":"constexpr","name":"BLOCK","needed":true,"source":"configuration","type":"constexpr","value":null}
# RUN: not ttc list %s -k tunde --error-format short 2>&1 | FileCheck %s --check-prefix=NAME
# NAME: error[E0212]: there is no kernel `tunde`; help: did you mean `tuned`?
# RUN: mkdir -p %t.case && cp %s %t.case/k.py
# RUN: ttc list %t.case/k.py -k add --template > %t.case/add.toml && ttc interpret %t.case/add.toml | FileCheck %s --check-prefix=RAN
# RUN: eval "`grep -o 'ttc compile .*-D.*' %t.case/add.toml` --emit ttir -o %t.c.ttir"
# RUN: ttc list %t.case/k.py -k tuned --template > %t.case/tuned.toml && ttc interpret %t.case/tuned.toml | FileCheck %s --check-prefix=TUNED
# RAN: y_ptr
# TUNED: out
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 16}, num_warps=2)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out + offs, 1.0)
    else:
        tl.store(out + offs, 2.0, mask=offs < n)


# RUN: rm -rf %t.build && mkdir %t.build && cp %s %t.build/k.py && cd %t.build && ttc list --manifest k.py > ttc.toml
# RUN: FileCheck %s --check-prefix=MANIFEST < %t.build/ttc.toml && ttc build %t.build --arch sm_80 | FileCheck %s --check-prefix=BUILT
# MANIFEST: [kernel.add]
# MANIFEST-NEXT: file = "k.py"
# MANIFEST-NEXT: types = { "x_ptr" = "*fp32", "y_ptr" = "*fp32", "n" = "i32" }
# MANIFEST-NEXT: constants = { "BLOCK" = "64" }
# MANIFEST: [kernel.tuned]
# MANIFEST: config = 0
# BUILT: compiled 2 of 2 kernels
