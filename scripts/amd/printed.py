"""What the HIP runtime prints of the buffer that a kernel leaves, for a code object of ttc's.

usage: printed.py CODE BUFFER

CODE is a code object, whose metadata have the formats, and BUFFER a file with the bytes of the buffer;
`src/backend/amd/debug.rs` says what it holds.
"""
import re
import struct
import sys

from code_object import CodeObject


def records(buffer, formats):
    """The lines that the HIP runtime prints of the buffer behind a kernel; `src/backend/amd/debug.rs` says what it
    holds."""
    (end,) = struct.unpack_from("<I", buffer)
    at = 8
    while at < 8 + end:
        (control,) = struct.unpack_from("<I", buffer, at)
        words = list(struct.unpack_from(f"<{(control >> 2) // 8}Q", buffer, at + 4))
        if control & 2:
            text = formats[words.pop(0)]
        else:
            text = buffer[at + 4:buffer.index(b"\0", at + 4)].decode()
            words = words[len(text) // 8 + 1:]
        yield re.sub(r"%(0?\d*)(?:ll)?([a-z%])", lambda m: shown(m, words), text)
        at += control >> 2


def shown(directive, words):
    """One argument as C prints it."""
    width, kind = directive[1], directive[2]
    if kind == "%":
        return "%"
    word = words.pop(0)
    if kind in "fa":
        (value,) = struct.unpack("<d", struct.pack("<Q", word))
        return value.hex() if kind == "a" else f"{value:f}"
    if kind == "p":
        return hex(word)
    if kind == "i":
        bits = 64 if "ll" in directive[0] else 32
        word = (word & (1 << bits) - 1 ^ 1 << bits - 1) - (1 << bits - 1)
    return f"{word:{width}{'x' if kind == 'x' else 'd'}}"


def main():
    code, buffer = (open(path, "rb").read() for path in sys.argv[1:3])
    sys.stdout.write("".join(records(buffer, CodeObject(code).formats)))


if __name__ == "__main__":
    main()
