"""Runs a kernel of a code object in tinygrad's emulator of AMD's instructions (its `test/mockgpu/amd/emu.py`).

tinygrad executes each instruction from AMD's own pseudocode. It needs `clang` on PATH. What its emulator lacks of what
LLVM writes is added here (`lacking.py`). Of missing waits it knows those for copies straight to shared memory alone.
"""
import ctypes
import os
import re
import struct
import sys

from code_object import CodeObject
from printed import records

FAMILIES = {"gfx90a": "cdna", "gfx942": "cdna", "gfx950": "cdna", "gfx1100": "rdna3", "gfx1201": "rdna4"}

# Bytes of shared memory that the descriptor counts in.
LDS_GRANULE = 512

# Bytes of the buffer that kernels print to, with its head.
PRINTED = 1 << 16

# The registers that a kernel may ask for, in order: the bit of `kernel_code_properties` and how many there are.
USER_REGISTERS = [
    (0, 4, "private"), (1, 2, "dispatch"), (2, 2, None), (3, 2, "arguments"), (4, 2, None), (5, 2, None), (6, 1, None),
]


def load(tinygrad, arch):
    """Imports tinygrad from its folder."""
    if not os.path.isfile(os.path.join(tinygrad, "test/mockgpu/amd/emu.py")):
        sys.exit(f"{tinygrad} is no folder of tinygrad's repository")
    os.environ["DEV"] = "CPU"
    sys.path.insert(0, tinygrad)
    from test.mockgpu.amd import emu
    import lacking
    lacking.add(emu, arch)
    return emu


class Emulator:
    def __init__(self, tinygrad, arch):
        self.emu, self.family = load(tinygrad, arch), FAMILIES[arch]
        self.memory, self.private = sys.modules["lacking"].Memory, sys.modules["lacking"].PRIVATE

    def run(self, code, launch, grid, values, bytes_of_shared, blocks):
        """Runs a kernel and gives the text that it printed.

        `values`: bytes for each parameter of the launch descriptor. Buffers are changed where they lie. `blocks` are
        their addresses and sizes: an access of what lies elsewhere fails.
        """
        object_ = CodeObject(code)
        symbol = launch["symbol"]
        meta = object_.kernels[symbol]
        descriptor, (entry, size) = object_.symbols[symbol + ".kd"][0], object_.symbols[symbol]
        (scratch,) = struct.unpack_from("<I", object_.image, descriptor + 4)
        (rsrc2,) = struct.unpack_from("<I", object_.image, descriptor + 52)
        (properties,) = struct.unpack_from("<H", object_.image, descriptor + 56)
        # The emulator reads beyond the last instruction.
        image = (ctypes.c_uint8 * (len(object_.image) + 8192)).from_buffer(object_.image + bytes(8192))
        printed = ctypes.create_string_buffer(struct.pack("<II", 0, PRINTED - 8), PRINTED)
        arguments = self.arguments(meta, launch, grid, values, ctypes.addressof(printed))
        held = ctypes.create_string_buffer(bytes(arguments), len(arguments))
        dispatch = ctypes.create_string_buffer(64)
        places = {"arguments": ctypes.addressof(held), "dispatch": ctypes.addressof(dispatch)}
        own = [(ctypes.addressof(memory), ctypes.sizeof(memory)) for memory in (image, held, dispatch, printed)]
        self.memory.blocks = [*blocks, *own]
        user = []
        for bit, count, what in USER_REGISTERS:
            if properties >> bit & 1:
                place = places.get(what, 0)
                user += [place & 0xFFFFFFFF, place >> 32, 0, self.private][:count] if what else [0] * count
        # The command processor fills in the shared memory of the launch.
        blocks = -(-(bytes_of_shared + meta[".group_segment_fixed_size"]) // LDS_GRANULE)
        rsrc2 = rsrc2 & ~(0x1FF << 15) | blocks << 15
        self.emu.run_asm(ctypes.addressof(image) + entry, size, *grid, launch["threads"], 1, 1, places["arguments"], rsrc2,
                         scratch, self.family, user)
        return "".join(records(printed.raw, object_.formats))

    @staticmethod
    def arguments(meta, launch, grid, values, printed):
        """The memory that a kernel finds its parameters in, and behind them what the runtime adds."""
        out = bytearray(meta[".kernarg_segment_size"] + 256)
        own = [a for a in meta[".args"] if not a[".value_kind"].startswith("hidden_")]
        if len(own) != len(values):
            raise ValueError(f"the kernel takes {len(own)} parameters, and the launch descriptor names {len(values)}")
        for a, value in zip(own, values):
            out[a[".offset"]:a[".offset"] + a[".size"]] = value[:a[".size"]].ljust(a[".size"], b"\0")
        hidden = {f"hidden_block_count_{axis}": n for axis, n in zip("xyz", grid)}
        hidden |= {f"hidden_group_size_{axis}": n for axis, n in zip("xyz", (launch["threads"], 1, 1))}
        hidden |= {"hidden_grid_dims": 3, "hidden_printf_buffer": printed}
        for a in meta[".args"]:
            if a[".value_kind"] in hidden:
                out[a[".offset"]:a[".offset"] + a[".size"]] = hidden[a[".value_kind"]].to_bytes(a[".size"], "little")
        return out
