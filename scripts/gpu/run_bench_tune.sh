#!/usr/bin/env bash
# Try `ttc run`, `ttc bench` and `ttc tune` on a GPU.
#
# usage: scripts/gpu/run_bench_tune.sh TTC OUT     (from the root of the repository)
#
# TTC is the program, OUT a folder for results. The machine needs NVIDIA's driver, but neither CUDA nor a compiler:
# TTC_PTXAS and TTC_LIBDEVICE name the two files that ttc takes from CUDA. RIVAL names a cubin of matmul.tk that another
# compiler made, with its JSON beside it, for `RIVAL_OPTIONS`; it is measured beside ttc's own.
#
# 1. Cases of kernels/ run on the GPU and in the interpreter, and must agree.
# 2. A cubin runs with arguments of its own, and must give what the interpreter gives.
# 3. Kernels that fault must be reported with the right code.
# 4. Two cases are measured, beside an earlier measurement and beside other cubins.
# 5. The matrix product is tuned.
#
# Every step says `ok` or `WRONG`; the script exits with 1 if one is wrong. OUT then holds log.txt, the measurements, the
# pictures and the lock file.
set -u
ttc=$(realpath "$1") out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
exec > >(tee "$out/log.txt") 2>&1

# Runs a command whose exit code must be $2 and whose output must hold $3.
step() {
    local name=$1 code=$2 text=$3
    shift 3
    local start=$SECONDS said got
    said=$("$@" 2>&1)
    got=$?
    if [ $got = "$code" ] && grep -qF -- "$text" <<<"$said"; then echo "ok    $name ($((SECONDS - start)) s)"; else
        echo "WRONG $name: exit code $got, expected $code and \`$text\`"
        wrong=1
    fi
    sed 's/^/    /' <<<"$said"
}

"$ttc" --version
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true

echo "== cases against the interpreter"
for case in add softmax softmax_online layer_norm matmul matmul_tma matmul_tma_host matmul_persistent cumsum attention \
    cross_entropy dropout histogram split_k sort; do
    step "run $case" 0 "the results are those of the interpreter" "$ttc" run "kernels/$case.toml" --check interpret
done
step "run add, other parameters" 0 "the results are those" \
    "$ttc" run kernels/add.toml --check interpret --param n=1000 --param dtype=bf16

echo "== a cubin with arguments of its own"
args=(--arg 'x_ptr=normal(98304)' --arg 'y_ptr=normal(98304)' --arg 'out_ptr=fp32[98304]' --arg n=98304 --grid 96)
step "interpret add" 0 "vector_add" "$ttc" interpret kernels/add.tk "${args[@]}" --out out_ptr="$work/ref.npy"
step "compile add" 0 "" "$ttc" compile kernels/add.tk -D BLOCK=1024 -o "$work/add.cubin"
step "run add.cubin" 0 "out_ptr: f32[98304]" \
    "$ttc" run "$work/add.cubin" "${args[@]}" --expect out_ptr="$work/ref.npy" --tolerance 1e-6
step "run add.tk" 0 "out_ptr: f32[98304]" \
    "$ttc" run kernels/add.tk "${args[@]}" --expect out_ptr="$work/ref.npy" --tolerance 1e-6
step "a broken promise" 1 "E1108" "$ttc" run "$work/add.cubin" "${args[@]}" --arg n=98305

echo "== kernels that fault"
cat >"$work/faults.tk" <<'KERNELS'
import triton
import triton.language as tl


@triton.jit
def far(x_ptr: "*fp32", n: "i64"):
    tl.store(x_ptr + n, 1.0)


@triton.jit
def odd(x_ptr: "*fp32", n: "i64"):
    tl.store((x_ptr.to(tl.int64) + n).to(tl.pointer_type(tl.float32)), 1.0)


@triton.jit
def fails(x_ptr: "*fp32", n: "i64"):
    tl.device_assert(n == 0, "n is not zero")
    tl.store(x_ptr, 1.0)
KERNELS
fault() { "$ttc" run "$work/faults.tk" -k "$1" --arg 'x_ptr=fp32[1024]' --arg n="$2" "${@:3}"; }
step "an illegal address" 1 "E1104" fault far 1099511627776
step "a misaligned address" 1 "E1105" fault odd 2
step "a failed assertion" 1 "E1106" fault fails 1 --debug
step "the GPU works after them" 0 "the results are those" "$ttc" run kernels/add.toml --check interpret

echo "== measurements"
step "bench add" 0 "of copy" "$ttc" bench kernels/add.toml --sweep dtype=fp32,fp16 --json "$out/add.json" --svg "$out/add.svg"
step "compile add with 8 warps" 0 "" "$ttc" compile kernels/add.toml --num-warps 8 -o "$work/add_8_warps.cubin"
step "bench add against" 0 "add_8_warps us" \
    "$ttc" bench kernels/add.toml --against "$out/add.json" --against "$work/add_8_warps.cubin" --sweep dtype=fp32
step "bench softmax" 0 "of copy" "$ttc" bench kernels/softmax.toml --json "$out/softmax.json"
best=(-D BLOCK_M=128 -D BLOCK_N=256 -D BLOCK_K=64 -D GROUP=8 --num-warps 8 --num-stages 3)
step "bench matmul" 0 "TFLOP/s" \
    "$ttc" bench kernels/matmul.toml "${best[@]}" --json "$out/matmul.json" --svg "$out/matmul.svg"
if [ -n "${RIVAL:-}" ]; then
    # shellcheck disable=SC2086 # the options are words
    step "bench matmul against $RIVAL" 0 "us" \
        "$ttc" bench kernels/matmul.toml ${RIVAL_OPTIONS:-"${best[@]}"} --sweep m=4096 --against "$RIVAL"
fi

echo "== tuning"
step "tune matmul" 0 "best" "$ttc" tune kernels/matmul.tk --lock "$out/ttc.lock"
cat "$out/ttc.lock"
exit $wrong
