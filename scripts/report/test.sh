#!/bin/sh
# Opens pages of `ttc report` in Chromium without a screen. Usage: test.sh OUT; the program is $TTC.
#
# Chromium comes from the system's packages if it is not there.
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
for kernel in add softmax layer_norm matmul attention; do
    "$TTC" report "kernels/$kernel.toml" --arch sm_90a -o "$out/$kernel.html"
done
exec node "$here/test.js" "$out"/*.html
