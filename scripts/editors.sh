#!/bin/sh
# Tries the language server in real editors. Usage: editors.sh OUT; the program is $TTC.
#
# Neovim comes from the system's packages if it is not there; the VS Code extension takes what its package-lock.json says.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../editors"

if ! command -v nvim >/dev/null; then
    echo "installing neovim"
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    $sudo apt-get install -y --no-install-recommends neovim >/dev/null
fi
nvim --headless -u NONE -c 'luafile neovim/session.lua'
echo

cd vscode
npm ci --no-audit --no-fund
npm test
npm run package
cp dist/ttc.vsix "$out/ttc.vsix"
