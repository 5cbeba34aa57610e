#!/bin/sh
# gcc in place of clang for tinygrad's emulator, where `CC` names this file: it leaves out what gcc does not know, names
# vectors, half floats and casts of bits as gcc does, and writes through a file, since gcc's assembler writes to no pipe.
out=$(mktemp /tmp/gcc_for_emulator.XXXXXX) || exit 1
last=
for word in "$@"; do
    shift
    case "$last $word" in
    "-o -") set -- "$@" "$out" ;;
    *" --target="*) ;;
    *) set -- "$@" "$word" ;;
    esac
    last=$word
done
vector='^typedef ([A-Za-z_][A-Za-z0-9_ ]*) ([a-z_A-Z0-9]+) __attribute__\(\(aligned\(([0-9]+)\),ext_vector_type\(([0-9]+)\)\)\);'
bits='({__typeof__(x) from_=(x); T to_; __builtin_memcpy(&to_,&from_,sizeof to_); to_;})'
sed -E "s/$vector/typedef \\1 \\2 __attribute__((aligned(\\3),vector_size(\\4*sizeof(\\1))));/" |
    gcc -D__fp16=_Float16 "-D__builtin_bit_cast(T,x)=$bits" -fexcess-precision=16 -fno-strict-aliasing -fwrapv -w \
        -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables "$@"
status=$?
cat "$out"
rm -f "$out"
exit $status
