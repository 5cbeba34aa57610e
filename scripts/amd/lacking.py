"""What tinygrad's emulator lacks of the instructions that LLVM writes for compute kernels, as functions over the registers of a wave.

- Buffer instructions: loads, stores and atomic operations with offsets that are checked against the size of the resource ("CDNA3 ISA", "RDNA3 ISA",
  "RDNA4 ISA", chapters on memory buffers). A resource is swizzled or indexed in no kernel of ttc.
- Matrix instructions (`products.py`).
- Writing caches back and invalidating them does nothing: there is one memory.

A function takes the place of what the emulator compiles of an instruction: it gets the addresses of the scalar and of the vector registers, does the
work, and advances the program counter.
"""
import ctypes
import functools
import struct
import types

import numpy as np

import products

CACHES = ("BUFFER_WBL2", "BUFFER_INV", "BUFFER_GL0_INV", "BUFFER_GL1_INV", "GLOBAL_INV", "GLOBAL_WB", "GLOBAL_WBINV", "S_ICACHE_INV", "S_DCACHE_INV", "S_DCACHE_WB")

# Bytes and the way into the register, by the end of the name.
LOADS = {
    "DWORD": 4, "DWORDX2": 8, "DWORDX3": 12, "DWORDX4": 16, "B32": 4, "B64": 8, "B96": 12, "B128": 16,
    "UBYTE": "B", "SBYTE": "b", "USHORT": "H", "SSHORT": "h", "U8": "B", "I8": "b", "U16": "H", "I16": "h",
}
# Halves of a register: bytes or shorts that leave the other half as it is.
HALVES = {"SHORT_D16": "H", "D16_B16": "H", "UBYTE_D16": "B", "SBYTE_D16": "b", "D16_U8": "B", "D16_I8": "b",
          "SHORT_D16_HI": "H", "D16_HI_B16": "H", "UBYTE_D16_HI": "B", "SBYTE_D16_HI": "b", "D16_HI_U8": "B", "D16_HI_I8": "b"}
STORES = {"DWORD": 4, "DWORDX2": 8, "DWORDX3": 12, "DWORDX4": 16, "B32": 4, "B64": 8, "B96": 12, "B128": 16, "BYTE": 1, "SHORT": 2, "B8": 1, "B16": 2}
UPPER = {"BYTE_D16_HI": 1, "SHORT_D16_HI": 2, "D16_HI_B8": 1, "D16_HI_B16": 2}

ATOMICS = {
    "SWAP": lambda old, new, _: new, "ADD": lambda old, new, n: (old + new) % n, "SUB": lambda old, new, n: (old - new) % n, "AND": lambda old, new, _: old & new,
    "OR": lambda old, new, _: old | new, "XOR": lambda old, new, _: old ^ new, "UMAX": lambda old, new, _: max(old, new), "UMIN": lambda old, new, _: min(old, new),
    "SMAX": lambda old, new, n: max(old, new, key=lambda x: (x + n // 2) % n), "SMIN": lambda old, new, n: min(old, new, key=lambda x: (x + n // 2) % n),
}


def whole(address, count):
    return np.ctypeslib.as_array(words(address, count))


def words(address, count):
    return (ctypes.c_uint32 * count).from_address(address)


class Buffer:
    """A buffer instruction: its fields, and what it does."""

    def __init__(self, emu, inst, data, family):
        kind, number = type(inst), int.from_bytes(data[:inst.size()], "little")
        field = lambda name, default=0: (number >> getattr(kind, name).lo) & ((1 << getattr(kind, name).hi - getattr(kind, name).lo + 1) - 1) if hasattr(kind, name) else default
        self.name = emu._op_name(inst)[len("BUFFER_"):]
        self.data, self.address = field("vdata"), field("vaddr")
        # RDNA4 names the first register, the others a group of four.
        self.resource = field("rsrc") if hasattr(kind, "rsrc") else 4 * field("srsrc")
        self.scalar, self.offset = field("soffset"), field("offset") + field("ioffset")
        self.by_offset, self.by_index = field("offen"), field("idxen")
        self.returns = field("glc") or field("sc0") or field("th") & 1
        self.accumulates = family == "cdna" and field("acc")
        self.lanes, self.size, self.emu, self.family = (64 if family == "cdna" else 32), inst.size(), emu, family

    def addresses(self, scalars, vectors):
        """The address of each lane that takes part; `None` for one that is outside."""
        low, high, records, _ = scalars[self.resource:self.resource + 4]
        base = low | (high & 0xFFFF) << 32
        scalar = scalars[self.scalar] if self.scalar < 128 else self.scalar - 128
        if self.family != "cdna" and self.scalar == 124:
            scalar = 0
        active = scalars[126] | (scalars[127] << 32 if self.lanes == 64 else 0)
        if self.by_index:
            raise NotImplementedError("a buffer with an index")
        for lane in range(self.lanes):
            if active >> lane & 1:
                offset = self.offset + (vectors[self.address * self.lanes + lane] if self.by_offset else 0)
                yield lane, base + scalar + offset if (offset + scalar if self.family != "cdna" else offset) < records else None

    def __call__(self, scalar_address, vector_address, accumulator_address):
        scalars = words(scalar_address, 260)
        vectors = words(vector_address, 256 * self.lanes)
        values = words(accumulator_address, 256 * self.lanes) if self.accumulates else vectors
        operation, _, kind = self.name.partition("_")
        places = list(self.addresses(scalars, vectors))
        {"LOAD": self.load, "STORE": self.store, "ATOMIC": self.atomic}[operation](kind, places, values)

    def register(self, values, lane, i=0):
        return (self.data + i) * self.lanes + lane

    def load(self, kind, places, values):
        for lane, at in places:
            if kind in HALVES:
                size = struct.calcsize(HALVES[kind])
                value = struct.unpack(HALVES[kind], ctypes.string_at(at, size))[0] & 0xFFFF if at else 0
                old = values[self.register(values, lane)]
                values[self.register(values, lane)] = old & 0xFFFF | value << 16 if "_HI" in kind else old & 0xFFFF0000 | value
            elif isinstance(LOADS[kind], str):
                value = struct.unpack(LOADS[kind], ctypes.string_at(at, struct.calcsize(LOADS[kind])))[0] if at else 0
                values[self.register(values, lane)] = value & 0xFFFFFFFF
            else:
                data = ctypes.string_at(at, LOADS[kind]) if at else bytes(LOADS[kind])
                for i, word in enumerate(struct.unpack(f"<{len(data) // 4}I", data)):
                    values[self.register(values, lane, i)] = word

    def store(self, kind, places, values):
        for lane, at in places:
            if not at:
                continue
            if kind in UPPER:
                data = (values[self.register(values, lane)] >> 16).to_bytes(2, "little")[:UPPER[kind]]
            else:
                count = -(-STORES[kind] // 4)
                data = b"".join(values[self.register(values, lane, i)].to_bytes(4, "little") for i in range(count))[:STORES[kind]]
            ctypes.memmove(at, data, len(data))

    def atomic(self, kind, places, values):
        wide = kind.endswith(("_X2", "64"))
        count = 2 if wide else 1
        modulus = 1 << 32 * count
        name = kind.removesuffix("_X2").rsplit("_", 1)[0] if kind.rsplit("_", 1)[-1][1:].isdigit() else kind.removesuffix("_X2")
        signed = kind.endswith(("I32", "I64"))
        name = {"MAX": "SMAX" if signed else "UMAX", "MIN": "SMIN" if signed else "UMIN"}.get(name, name)
        take = lambda lane, first: sum(values[self.register(values, lane, first + i)] << 32 * i for i in range(count))
        for lane, at in places:
            old = int.from_bytes(ctypes.string_at(at, 4 * count), "little") if at else 0
            new = take(lane, 0)
            if name == "CMPSWAP":
                new = new if old == take(lane, count) else old
            elif kind.endswith("F32") or name.endswith("F32"):
                add = struct.unpack("<f", struct.pack("<I", new))[0] + struct.unpack("<f", struct.pack("<I", old))[0]
                new = struct.unpack("<I", struct.pack("<f", add))[0]
            else:
                new = ATOMICS[name](old, new, modulus)
            if at:
                ctypes.memmove(at, new.to_bytes(4 * count, "little"), 4 * count)
            if self.returns:
                for i in range(count):
                    values[self.register(values, lane, i)] = old >> 32 * i & 0xFFFFFFFF


def add(emu, arch):
    """Adds them to the emulator's module."""
    compiled = emu._get_runner

    @functools.cache
    def runner(data, family):
        inst = emu.decode_inst(data, family)
        name = emu._op_name(inst)
        if name in CACHES:
            work = lambda *_: None
        elif name.startswith("BUFFER_") and not getattr(inst, "lds", 0):
            work = Buffer(emu, inst, data, family)
        elif products.is_product(name):
            product = products.Product(emu, inst, data, arch)
            registers = 256 * product.lanes
            work = lambda s, v, a: product(whole(s, 260), whole(v, registers), whole(a, registers) if product.lanes == 64 else None)
        else:
            return compiled(data, family)
        size = inst.size()

        def run(scalar, vector, accumulator):
            work(scalar.value, vector.value, accumulator.value)
            counter = ctypes.c_uint64.from_address(scalar.value + 4 * emu.PC_LO_IDX)
            counter.value += size

        return types.SimpleNamespace(arg=types.SimpleNamespace(globals=[0, 1, 5])), types.SimpleNamespace(fxn=run)

    emu._get_runner = runner
