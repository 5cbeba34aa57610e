#!/bin/sh
# Tries the extension in VS Code's own extension host. Usage: vscode_host.sh; the program is $TTC.
#
# VS Code's server and workbench come from the npm package code-server, into .toolchain/vscode-host, once. What its other
# scripts would build or fetch (terminals, search, logins) is left out. Chromium comes from the system's packages.
set -eu
version=4.100.3
cd "$(dirname "$0")/.."
host=$PWD/.toolchain/vscode-host
server=$host/node_modules/code-server/lib/vscode

if ! command -v chromium >/dev/null; then
    echo "installing chromium"
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    $sudo apt-get install -y --no-install-recommends chromium >/dev/null
fi
if [ "$(cat "$host/version" 2>/dev/null)" != "$version" ]; then
    echo "installing VS Code's server into .toolchain/vscode-host"
    rm -rf "$host"
    mkdir -p "$host"
    npm install --prefix "$host" --ignore-scripts --no-audit --no-fund "code-server@$version" >/dev/null
    cd "$server"
    npm install --omit=dev --ignore-scripts --no-audit --no-fund >/dev/null
    # Node's headers lie beside it where it comes with them; else node-gyp fetches them.
    [ ! -d /usr/include/node ] || export npm_config_nodedir=/usr
    for module in @vscode/spdlog native-watchdog @parcel/watcher; do
        npm rebuild "$module" >/dev/null
    done
    cd - >/dev/null
    echo "$version" >"$host/version"
fi

cd editors/vscode
npm ci --no-audit --no-fund >/dev/null
npm run build >/dev/null
node host/run.mjs "$server" "$TTC"
