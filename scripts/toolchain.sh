#!/usr/bin/env bash
# Installs what building and testing ttc needs, and fetches nothing that is present:
#   1. Rust, from the system's package rustup where there is one (Debian 13, Ubuntu 24.04; needs root);
#   2. LLVM's development packages and tools, and a C++ compiler that also links, from the system's packages (needs root);
#   3. ptxas (the newest and, for the tests, the oldest supported one), nvdisasm, fatbinary and libdevice from NVIDIA's Python packages, into the ignored
#      folder .toolchain.
# Exit status: 0 all is there, 1 something is missing and the message says what to do.
set -euo pipefail

# The pinned versions. The ptxas is the release that Triton 3.9 uses from capability 90 on, so cubins can be compared with Triton's.
LLVM_MAJOR=22
PACKAGES=(llvm-22-dev libpolly-22-dev llvm-22-tools libzstd-dev zlib1g-dev lld-22 llvm-22)
# The tests also assemble with the oldest release that the README promises.
WHEELS=(nvidia-cuda-nvcc==13.4.59 nvidia-nvvm==13.4.59 nvidia-cuda-nvdisasm==13.4.49 nvidia-cuda-nvcc-cu12==12.8.93)
# What of the wheels is kept: the programs, the bitcode library, and NVIDIA's licences.
WANTED='/bin/(ptxas|nvdisasm|fatbinary)$|/libdevice\.10\.bc$|/License\.txt$'

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly root=$PWD folder=.toolchain

say() { printf 'toolchain: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }
retry() { # a command that uses the network: three tries
    local try
    for try in 1 2 3; do
        "$@" && return 0
        [ "$try" = 3 ] || { say "try $try of 3 failed: $*"; sleep $((try * 5)); }
    done
    return 1
}

# --- LLVM and the linker's needs -------------------------------------------------------------------------------------------------------

llvm_prefix=${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-$LLVM_MAJOR}

# Whether a library can be linked, by asking the linker's driver where it is.
has_library() { [ "$(cc -print-file-name="$1" 2>/dev/null)" != "$1" ]; }

# The packages whose files are missing. Files are looked at, not the package database, so an LLVM from elsewhere counts too.
missing_packages() {
    [ -x "$llvm_prefix/bin/llvm-config" ] && [ -e "$llvm_prefix/lib/libLLVM-$LLVM_MAJOR.so" ] &&
        [ -e "$llvm_prefix/include/llvm/MC/MCStreamer.h" ] || echo "${PACKAGES[0]}"
    [ -e "$llvm_prefix/lib/libPolly.a" ] || echo "${PACKAGES[1]}"
    [ -x "$llvm_prefix/bin/FileCheck" ] || echo "${PACKAGES[2]}"
    [ -x "$llvm_prefix/bin/ld.lld" ] || echo "${PACKAGES[5]}"
    # The assembler and the disassembler for AMD's GPUs.
    [ -x "$llvm_prefix/bin/llvm-mc" ] && [ -x "$llvm_prefix/bin/llvm-objdump" ] || echo "${PACKAGES[6]}"
    # The crate llvm-sys compiles one C file and links libstdc++ by name, and build.rs compiles one file of C++.
    if ! command -v cc >/dev/null || ! command -v c++ >/dev/null || ! has_library libstdc++.so; then echo g++; fi
    if ! has_library libzstd.so; then echo "${PACKAGES[3]}"; fi
    if ! has_library libz.so; then echo "${PACKAGES[4]}"; fi
}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@" </dev/null >&2
}
# Whether the package lists offer all of these.
offered() {
    local package
    for package in "$@"; do
        [ -n "$(apt-cache madison "$package" 2>/dev/null)" ] || return 1
    done
}
# Installs packages; the lists are updated only when they do not offer a package or offer one that is gone.
install_packages() {
    if offered "$@" && apt install -y --no-install-recommends "$@"; then return; fi
    say "updating the package lists"
    retry apt update || fail "apt-get update failed; see above"
    offered "$@" || no_llvm_here "$@"
    retry apt install -y --no-install-recommends "$@" || fail "apt-get could not install: $*; see above"
}
no_llvm_here() {
    say "the package sources of this system do not offer all of: $*"
    say "LLVM's own repository has LLVM $LLVM_MAJOR for Debian and Ubuntu (https://apt.llvm.org); add it as root with"
    say "    wget https://apt.llvm.org/llvm.sh && bash llvm.sh $LLVM_MAJOR"
    fail "then run this again. An LLVM $LLVM_MAJOR elsewhere is used when LLVM_SYS_221_PREFIX names its folder."
}

ensure_packages() {
    local missing
    missing=$(missing_packages | sort -u | tr '\n' ' ')
    missing=${missing% }
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        fail "this is not Debian or Ubuntu: install LLVM $LLVM_MAJOR with headers, libPolly, FileCheck and lld, a C++ compiler, zstd and zlib," \
            "and set LLVM_SYS_221_PREFIX to LLVM's folder. Missing by Debian's names: $missing"
    fi
    if [ "$(id -u)" != 0 ]; then
        say "these packages are missing, and installing them needs root: $missing"
        say "run as root"
        say "    apt-get update && apt-get install -y --no-install-recommends $missing"
        say "and then this again; where apt-get does not know them, LLVM's own repository does: https://apt.llvm.org"
        exit 1
    fi
    say "installing $missing"
    # shellcheck disable=SC2086 # a list of words
    install_packages $missing
    missing=$(missing_packages | sort -u | tr '\n' ' ')
    [ -z "$missing" ] || fail "installed, but the files are still not there: $missing"
}

# --- ptxas, nvdisasm, libdevice ---------------------------------------------------------------------------------------------------------

has_wheels() {
    [ -r "$folder/versions" ] && [ "$(<"$folder/versions")" = "${WHEELS[*]}" ] || return 1
    local part
    for part in bin/ptxas bin/nvdisasm bin/fatbinary nvvm/libdevice/libdevice.10.bc; do
        compgen -G "$folder/nvidia/cu[0-9]*/$part" >/dev/null || return 1
    done
    [ -x "$folder/nvidia/cuda_nvcc/bin/ptxas" ]
}

# The first Python that has pip. Debian's own lacks it without the package python3-pip.
python_with_pip() {
    local python
    for python in python3 /usr/bin/python3 python; do
        if "$python" -m pip --version >/dev/null 2>&1; then echo "$python"; return 0; fi
    done
    return 1
}

ensure_wheels() {
    if has_wheels; then return 0; fi
    local python scratch
    if ! python=$(python_with_pip); then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            say "installing python3-pip"
            install_packages python3-pip
            python=$(python_with_pip) || fail "python3-pip is installed, but no python3 finds pip"
        else
            fail "pip is missing, and it fetches ptxas: as root run  apt-get install -y --no-install-recommends python3-pip"
        fi
    fi
    mkdir -p "$folder"
    scratch=$(mktemp -d "$root/$folder/fetch.XXXXXX")
    # shellcheck disable=SC2064 # the path of now
    trap "rm -rf '$scratch'" EXIT
    say "fetching ${WHEELS[*]}"
    retry "$python" -m pip download --quiet --no-input --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$scratch/wheels" "${WHEELS[@]}" </dev/null >&2 || fail "pip could not fetch ${WHEELS[*]}; see above"
    "$python" - "$scratch" "$WANTED" <<'PYTHON'
import os, pathlib, re, sys, zipfile
scratch, wanted = pathlib.Path(sys.argv[1]), re.compile(sys.argv[2])
for wheel in sorted((scratch / "wheels").iterdir()):
    with zipfile.ZipFile(wheel) as z:
        for name in filter(wanted.search, z.namelist()):
            path = pathlib.Path(z.extract(name, scratch / "new"))
            path.chmod(0o755 if "/bin/" in name else 0o644)
PYTHON
    # The file of versions is removed first and written last: a run that is interrupted is repeated.
    rm -rf "$folder/versions" "$folder"/nvidia*
    mv "$scratch/new"/* "$folder"
    printf '%s\n' "${WHEELS[*]}" >"$folder/versions"
    rm -rf "$scratch"
    trap - EXIT
    has_wheels || fail "the wheels do not hold what they should: ${WHEELS[*]}"
}

# --- Rust -------------------------------------------------------------------------------------------------------------------------------

# The oldest Rust that builds ttc, as Cargo.toml says it.
rust_needed() { sed -nE 's/^rust-version = "([0-9.]+)"/\1/p' Cargo.toml | head -1; }
# The cargo that make uses: Rust's installer puts it where not every shell's PATH leads.
find_cargo() { command -v cargo || { [ -x "$HOME/.cargo/bin/cargo" ] && echo "$HOME/.cargo/bin/cargo"; }; }
# The version of that cargo. A rustup without a toolchain has a cargo that fails, which is no version.
rust_version() { "$(find_cargo)" --version 2>/dev/null | sed -nE 's/^cargo ([0-9.]+).*/\1/p'; }
rust_is_new_enough() {
    local version=$1
    [ -n "$version" ] && [ "$(printf '%s\n' "$(rust_needed)" "$version" | sort -V | head -1)" = "$(rust_needed)" ]
}

ensure_rust() {
    local version
    version=$(rust_version || true)
    if rust_is_new_enough "$version"; then return; fi
    if ! command -v rustup >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        offered rustup || apt update || true
        if offered rustup; then
            say "installing rustup"
            install_packages rustup
        fi
    fi
    if command -v rustup >/dev/null && [ -z "$version" ]; then
        say "fetching Rust's stable toolchain"
        retry rustup default stable </dev/null >&2 || fail "rustup could not fetch the stable toolchain; see above"
        version=$(rust_version || true)
        if rust_is_new_enough "$version"; then return; fi
    fi
    say "ttc needs Rust $(rust_needed) or newer, and ${version:+there is }${version:-no cargo was found}"
    if command -v rustup >/dev/null; then fail "run  rustup update stable && rustup default stable"; fi
    fail "install it with  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh  (https://rustup.rs), and then run this again"
}

ensure_packages
ensure_wheels
ensure_rust
