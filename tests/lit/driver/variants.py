# Several kernels and several specialisations in one run, and names for both.
# RUN: ttc %s -k add -k scale --type "*_ptr=*fp32:16" --type n=i32 --type factor=fp32 -D BLOCK=64 --emit ttir --out-dir %t.two
# RUN: ls %t.two | FileCheck %s --check-prefix=TWO
# TWO: add.ttir
# TWO-NEXT: scale.ttir
# TWO-NOT: {{.}}
# A type or a value may be for one kernel of the run; for none is an error, as before.
# RUN: not ttc %s -k add -k scale --type "*_ptr=*fp32:16" --type n=i32 --type factr=fp32 -D BLOCK=64 --emit ttir --out-dir %t.none --error-format short 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: error[E0229]: `--type factr=fp32` fits no parameter of the kernel `add`

# Variants win over the options of the run, and have options of their own.
# RUN: ttc %s -k add --type "*_ptr=*fp32:16" --type n=i32 -D BLOCK=64 --variant "small: n=i32:16" --variant "half: *_ptr=*fp16:16, BLOCK=128, num_warps=8" --symbol "{kernel}_{variant}_{arch}" --arch sm_80,sm_90 --emit ttir,ptx --out-dir %t.v
# RUN: ls %t.v | FileCheck %s --check-prefix=NAMES
# NAMES: add.half.sm_80.json
# NAMES-NEXT: add.half.sm_80.ptx
# NAMES-NEXT: add.half.sm_80.ttir
# NAMES-NEXT: add.half.sm_90.json
# NAMES-NEXT: add.half.sm_90.ptx
# NAMES-NEXT: add.half.sm_90.ttir
# NAMES-NEXT: add.small.sm_80.json
# NAMES-NEXT: add.small.sm_80.ptx
# NAMES-NEXT: add.small.sm_80.ttir
# NAMES-NEXT: add.small.sm_90.json
# NAMES-NEXT: add.small.sm_90.ptx
# NAMES-NEXT: add.small.sm_90.ttir
# NAMES-NOT: {{.}}
# RUN: FileCheck %s --input-file %t.v/add.small.sm_80.ttir --check-prefix=SMALL
# SMALL: tt.func public @add_small_sm_80(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} {{.*}}, %n: i32 {tt.divisibility = 16 : i32}
# RUN: FileCheck %s --input-file %t.v/add.half.sm_90.ptx --check-prefix=HALF
# HALF: .visible .entry add_half_sm_90(
# HALF: .reqntid 256
# HALF: "kernel":"add_half_sm_90"
# The name goes on with the stage files, and can be given to them as long as they are IR.
# RUN: ttc %t.v/add.small.sm_80.ttir --emit ptx -o - | FileCheck %s --check-prefix=ON
# ON: .visible .entry add_small_sm_80(
# RUN: ttc %t.v/add.small.sm_80.ttir --symbol other --emit ptx -o - | FileCheck %s --check-prefix=OTHER
# OTHER: .visible .entry other(
# RUN: not ttc %t.v/add.half.sm_90.ptx --symbol other --emit cubin -o %t.cubin 2>&1 | FileCheck %s --check-prefix=LATE
# LATE: error[E0910]: `--symbol`: {{.*}} is no kernel file, so its kernel has its name already

# Several signatures are variants s0, s1.
# RUN: ttc %s -k add --signature "*fp32, *fp32, i32, 64" --signature "*fp16, *fp16, i64, 128" --emit ttir --out-dir %t.s && ls %t.s | FileCheck %s --check-prefix=SIGNATURES
# SIGNATURES: add.s0.ttir
# SIGNATURES-NEXT: add.s1.ttir
# SIGNATURES-NOT: {{.}}
# RUN: FileCheck %s --input-file %t.s/add.s1.ttir --check-prefix=WIDE
# WIDE: @add(%x_ptr: !tt.ptr<f16> {{.*}}%n: i64

# What cannot be meant is an error.
# RUN: not ttc %s -k add --variant "a: n=i32" --variant "a: n=i64" --emit ttir --out-dir %t.no 2>&1 | FileCheck %s --check-prefix=SAME
# SAME: error[E0910]: `--variant a: …`: another variant has this name
# RUN: not ttc %s -k add --variant "n=i32" --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=FORM
# FORM: error[E0910]: `--variant n=i32`: expected NAME: PARAMETER=TYPE
# RUN: not ttc %s -k add --variant "a: num_warps=6, *_ptr=*fp32, n=i32, BLOCK=64" --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=WARPS
# WARPS: error[E0910]: `--num-warps 6`: expected a power of two
# WARPS: the variant `a` says so
# RUN: not ttc %s -k add -k scale --symbol one --emit ttir --out-dir %t.no 2>&1 | FileCheck %s --check-prefix=SYMBOL
# SYMBOL: error[E0910]: `--symbol one`: several kernels would be called `one`
# RUN: not ttc %s -k add --symbol "a b" --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=PLAIN
# PLAIN: error[E0910]: `--symbol a b`: `a b` cannot be a kernel's name

# What several jobs find is said once.
# RUN: not ttc %s -k add --arch sm_80,sm_90 --emit ttir --out-dir %t.no --error-format short 2>&1 | FileCheck %s --check-prefix=ONCE
# ONCE: error[E0216]
# ONCE-NOT: error

# A case file is compiled as it is interpreted; options win over it.
# RUN: mkdir -p %t.case && cp %s %t.case/k.py && echo 'file = "k.py"' > %t.case/c.toml && echo 'kernel = "add"' >> %t.case/c.toml
# RUN: ttc list %t.case/k.py -k add --template | grep -v '^kernel\|^file' >> %t.case/c.toml
# RUN: ttc %t.case/c.toml --emit ttir -o - | FileCheck %s --check-prefix=CASE
# CASE: @add(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} {{.*}}%n: i32 {tt.divisibility = 16 : i32}
# CASE: end = 64 : i32
# RUN: ttc %t.case/c.toml --type n=i64 -D BLOCK=32 --emit ttir -o - | FileCheck %s --check-prefix=OVER
# OVER: %n: i64 {{.*}}attributes
# OVER: end = 32 : i32
# RUN: ttc check %t.case/c.toml
# RUN: not ttc %t.case/c.toml --signature "*fp32, *fp32, i32, 64" --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=BOTH
# BOTH: error[E0910]: `--signature`: {{.*}} is a case file, which gives the types
# RUN: not ttc %t.case/c.toml --param m=3 --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=PARAM
# PARAM: has no parameter `m`
# RUN: not ttc interpret %t.case/c.toml --type n=i64 2>&1 | FileCheck %s --check-prefix=TYPED
# TYPED: error[E0910]: `--type n=i64` cannot go with a case file
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


@triton.jit
def scale(x_ptr, factor, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs) * factor)
