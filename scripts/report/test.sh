#!/bin/sh
# Opens pages of `ttc report` in Chromium without a screen. Usage: test.sh OUT; the program is $TTC.
#
# Chromium comes from the system's packages if it is not there. FLA names a checkout of flash-linear-attention: then the
# page of one of its kernels is tested too, as its Python file has it. PAGES are further pages to test.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

if ! command -v chromium >/dev/null; then
    echo "installing chromium"
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    $sudo apt-get install -y --no-install-recommends chromium >/dev/null
fi
(cd "$here" && npm ci --no-audit --no-fund >/dev/null)
page() {
    name=$1
    shift
    "$TTC" report "$@" -o "$out/$name.html"
}
rm -f "$out"/*.html
for kernel in add softmax layer_norm matmul attention; do
    page "$kernel" "kernels/$kernel.toml" --arch sm_90a
done
# Tiles as large as they are on a GPU.
page matmul_large kernels/matmul.toml --arch sm_90a -D BLOCK_M=128 -D BLOCK_N=128 -D BLOCK_K=64 --num-warps 8
page matmul_arch kernels/matmul.toml --arch sm_90a --against sm_80
page softmax_warps kernels/softmax.toml --arch sm_90a --against "num_warps=8"
"$TTC" compile kernels/add.toml --arch sm_80 --emit ttir,ttgir,llir,ptx,cubin --out-dir "$out/add_folder"
page add_folder kernels/add.toml --arch sm_90a --against "$out/add_folder"
page matmul_amd kernels/matmul.toml --arch gfx942
if [ -n "${FLA:-}" ]; then
    page fla_chunk_o "$FLA/fla/ops/common/chunk_o.py" -k chunk_fwd_kernel_o -I "$FLA" --arch sm_90a --num-warps 4 --signature \
        "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, None, *fp16:16, None, None, fp32, i32, 8, 8, 128, 128, 64, 64, 64, constexpr, constexpr, False, constexpr"
fi
exec node "$here/test.js" "$out"/*.html ${PAGES:-}
