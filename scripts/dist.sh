#!/usr/bin/env bash
# Lays out an installation of ttc, or packs one.
#
# usage: dist.sh install TTC PREFIX      the files, into PREFIX
#        dist.sh packages TTC FOLDER     ttc-VERSION-MACHINE.tar.xz and, where dpkg-deb is, ttc_VERSION_ARCH.deb
#
# An installation has
#   bin/ttc                             without the tables of symbols, if it is packed
#   lib/ttc/nvvm/libdevice/             NVIDIA's library of math functions, which its licence lets others pass on, with that licence
#   include/ttc_rt.h                    what launchers in C share; they are printed with a copy, so only programs of one's own need it
#   share/cmake/ttc                     find_package(ttc), which gives ttc_add_kernels()
#   share/pkgconfig/ttc.pc              pkg-config --cflags --libs ttc
#   share/ttc/examples                  programs in C and Rust, and with CMake
#   share/ttc/crates                    the Rust crates ttc-rt and ttc-build
#   share/ttc/python                    the Python package ttc_triton, for pip
#   share/man/man1/                     a page for ttc and for each of its commands
#   share/bash-completion, zsh, fish    completions
#   share/doc/ttc/                      licences, changelog, documents
# ptxas may not be passed on. ttc looks for it in the places that `ttc explain E0801` lists, lib/ttc/bin among them, and says how to get it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'dist: %s\n' "$*" >&2; }
usage() { sed -nE '4,5s/^# ?//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
[ $# = 3 ] || usage
readonly ttc=$2 to=$3
[ -x "$ttc" ] || { say "$ttc is not there: run make build"; exit 1; }

# put MODE FILE FOLDER [NAME]
put() { install -D -m "$1" "$2" "$3/${4:-$(basename "$2")}"; }

# A template with the version filled in.
filled() { sed "s/@VERSION@/$(version)/g" "$1"; }

lay_out() { # PREFIX
    local prefix=$1 scratch libdevice command
    scratch=$(mktemp -d)
    put 755 "$ttc" "$prefix/bin" ttc
    libdevice=$(ls -d .toolchain/nvidia/cu[0-9]*/nvvm/libdevice/libdevice.10.bc)
    put 644 "$libdevice" "$prefix/lib/ttc/nvvm/libdevice"
    # shellcheck disable=SC2012 # names of our own
    put 644 "$(ls -d .toolchain/nvidia_nvvm-*.dist-info/licenses/License.txt .toolchain/nvidia_nvvm-*.dist-info/License.txt 2>/dev/null | head -1)" \
        "$prefix/lib/ttc/nvvm" License.txt
    "$ttc" man | gzip -9n >"$scratch/ttc.1.gz"
    put 644 "$scratch/ttc.1.gz" "$prefix/share/man/man1"
    # All commands, as the help lists them.
    for command in $("$ttc" --help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p' | grep -vx help); do
        "$ttc" man "$command" | gzip -9n >"$scratch/ttc-$command.1.gz"
        put 644 "$scratch/ttc-$command.1.gz" "$prefix/share/man/man1"
    done
    put 644 src/launch/ttc_rt.h "$prefix/include"
    put 644 packaging/cmake/ttc-config.cmake "$prefix/share/cmake/ttc"
    filled packaging/cmake/ttc-config-version.cmake.in >"$scratch/version.cmake"
    put 644 "$scratch/version.cmake" "$prefix/share/cmake/ttc" ttc-config-version.cmake
    filled packaging/ttc.pc.in >"$scratch/ttc.pc"
    put 644 "$scratch/ttc.pc" "$prefix/share/pkgconfig"
    for file in $(git ls-files examples/c examples/cmake examples/rust crates/ttc-rt/src crates/ttc-build/src python 2>/dev/null ||
        find examples/c examples/cmake examples/rust/src examples/rust/*.* crates/*/src python -type f); do
        case $file in *.gitignore | python/tests/*) continue ;; esac
        put 644 "$file" "$prefix/share/ttc/$(dirname "$file")"
    done
    # Lints are inherited from the workspace, which an installation is not.
    for file in crates/ttc-rt crates/ttc-build; do
        sed '/^\[lints\]$/,/^$/d' "$file/Cargo.toml" >"$scratch/Cargo.toml"
        put 644 "$scratch/Cargo.toml" "$prefix/share/ttc/$file"
    done
    "$ttc" completions bash >"$scratch/bash"
    "$ttc" completions zsh >"$scratch/zsh"
    "$ttc" completions fish >"$scratch/fish"
    put 644 "$scratch/bash" "$prefix/share/bash-completion/completions" ttc
    put 644 "$scratch/zsh" "$prefix/share/zsh/site-functions" _ttc
    put 644 "$scratch/fish" "$prefix/share/fish/vendor_completions.d" ttc.fish
    for file in README.md CHANGELOG.md CONTRIBUTING.md LICENSE-MIT LICENSE-APACHE docs/*.md docs/*.svg docs/*/*.md \
        docs/pictures/*; do
        put 644 "$file" "$prefix/share/doc/ttc/$(dirname "$file")"
    done
    rm -rf "$scratch"
}

version() { "$ttc" --version | sed -nE 's/^ttc ([^ ]+).*/\1/p'; }

packages() {
    local scratch name version arch
    version=$(version)
    name=ttc-$version-$(uname -m)-linux
    scratch=$(mktemp -d)
    # shellcheck disable=SC2064 # the path of now
    trap "rm -rf '$scratch'" EXIT
    lay_out "$scratch/$name"
    strip "$scratch/$name/bin/ttc"
    mkdir -p "$to"
    # The same files give the same archive, whoever packs them and when.
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime='@0' -C "$scratch" -cf - "$name" | xz -T0 -6 >"$to/$name.tar.xz"
    say "$to/$name.tar.xz"
    if ! command -v dpkg-deb >/dev/null; then
        say "no dpkg-deb here, so no Debian package"
        return
    fi
    arch=$(dpkg --print-architecture)
    mkdir -p "$scratch/deb/DEBIAN" "$scratch/deb/usr"
    cp -a "$scratch/$name/." "$scratch/deb/usr/"
    # The oldest C library that has all that the program asks for.
    local glibc
    glibc=$(objdump -T "$scratch/deb/usr/bin/ttc" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1 | cut -d_ -f2)
    cat >"$scratch/deb/DEBIAN/control" <<CONTROL
Package: ttc
Version: $version
Architecture: $arch
Maintainer: the ttc authors <ttc@localhost>
Depends: libc6 (>= $glibc), libgcc-s1
Suggests: nvidia-cuda-toolkit
Section: devel
Priority: optional
Description: ahead-of-time compiler for GPU kernels in the Triton language
 A kernel file goes in; PTX and a cubin come out on disk. No Python and no GPU
 are needed to compile. ptxas, which makes cubins, is NVIDIA's: ttc finds the
 one of a CUDA toolkit or of the Python package nvidia-cuda-nvcc.
CONTROL
    find "$scratch/deb" -exec touch -h -d @0 {} +
    SOURCE_DATE_EPOCH=0 dpkg-deb --root-owner-group -Zxz --build "$scratch/deb" "$to/ttc_${version}_$arch.deb" >/dev/null
    say "$to/ttc_${version}_$arch.deb"
}

case $1 in
    install) lay_out "$to" ;;
    packages) packages ;;
    *) usage ;;
esac
