#!/bin/sh
# Builds the book of docs/ into OUT/book. Usage: book.sh OUT.
#
# 1. mdBook is built once, into .toolchain/mdbook.
# 2. The pages are copied to OUT/book-src. Files of the repository that they link to, such as sources, come along as
#    text (book_sources.py), so the book is complete in itself.
# 3. mdBook makes the pages. A warning of it is an error.
set -eu
version=0.5.4
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
tool=$PWD/.toolchain/mdbook

if [ "$("$tool/bin/mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    echo "building mdbook $version"
    "${CARGO:-cargo}" install --quiet mdbook --version "$version" --locked --no-default-features --features search \
        --root "$tool"
fi
python3 scripts/book_sources.py "$out/book-src"
"$tool/bin/mdbook" build "$out/book-src" --dest-dir "$out/book" 2>"$out/book.log" || { cat "$out/book.log"; exit 1; }
if grep -E 'WARN|ERROR' "$out/book.log"; then exit 1; fi
python3 scripts/book_sources.py --check "$out/book"
echo "$out/book/index.html"
