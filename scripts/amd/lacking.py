"""What tinygrad's emulator lacks of the instructions that LLVM writes for compute kernels, as functions over the
registers of a wave.

- Matrix instructions (`products.py`).
- Accesses to memory. Those of the emulator read where lanes that do not take part point, too, and go wrong where a
  load's result lies in the registers of its address; all waves share one private memory, and results of atomic
  operations on CDNA are lost. Buffer instructions ("CDNA3 ISA", "RDNA3 ISA", "RDNA4 ISA", chapters on memory buffers)
  check offsets against the size of the resource; no kernel of ttc has one that is indexed, and none but that of private
  memory on gfx90a is swizzled.
- The clock and the program counter as a value.
- Operands from other lanes (DPP) and parts of operands (SDWA): the emulator goes from lane to lane and may read what it
  wrote for the lane before.
- Registers from 128 on as operands of 16 bits on CDNA, where they are no upper halves as on RDNA.
- `v_fma_mix…`, `ds_swizzle`, `v_permlane…`, and additions of pairs of halves to memory.
- Copies from global straight to shared memory, which land when they are waited for.
- Writing caches back and invalidating them does nothing: there is one memory.

A function takes the place of what the emulator compiles of an instruction: it gets the addresses of the scalar and of
the vector registers, does the work, and advances the program counter.
"""
import ctypes
import functools
import os
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


def words(address, count):
    return (ctypes.c_uint32 * count).from_address(address)


def array(address, count):
    return np.frombuffer(words(address, count), np.uint32)


class Fields:
    """The fields of an instruction's encoding."""

    def __init__(self, inst, data):
        self.kind, self.number = type(inst), int.from_bytes(data[:inst.size()], "little")

    def __call__(self, name, default=0):
        place = getattr(self.kind, name, None)
        return default if place is None else self.number >> place.lo & (1 << place.hi - place.lo + 1) - 1


class Wave:
    """The registers of a wave."""

    def __init__(self, family, scalar, vector):
        self.lanes = 64 if family == "cdna" else 32
        self.scalars, self.vectors = array(scalar, 260), array(vector, 256 * self.lanes).reshape(256, self.lanes)
        active = int(self.scalars[126]) | (int(self.scalars[127]) << 32 if self.lanes == 64 else 0)
        self.active = np.array([active >> lane & 1 for lane in range(self.lanes)], bool)

    def source(self, number):
        """An operand of 32 bits in each lane. Constants stand behind the scalar registers."""
        return self.vectors[number - 256].copy() if number >= 256 else np.full(self.lanes, self.scalars[number], np.uint32)

    def write(self, register, value):
        self.vectors[register] = np.where(self.active, value, self.vectors[register])


# The last word of the resource of private memory. The runtime's has flags there; a kernel only hands it on.
PRIVATE = 0x50524956


# All memory of the process, from the first page on.
PAGE = 4096
MEMORY = np.frombuffer((ctypes.c_uint8 * ((1 << 47) - 2 * PAGE)).from_address(PAGE), np.uint8)


class Memory:
    """A load, a store or an atomic operation: its fields, and what it does. Where addresses come from, the families of
    instructions say."""

    prefix = ""
    # The blocks of memory that a kernel may access, as pairs of an address and a size.
    blocks = ()

    def __init__(self, emu, inst, data, family):
        self.f, self.family = Fields(inst, data), family
        self.name = emu._op_name(inst)[len(self.prefix):]
        self.kind = type(inst)
        self.operation, _, self.what = self.name.partition("_")
        self.source = self.f("vdata") if hasattr(self.kind, "vdata") else self.f("vsrc") if hasattr(self.kind, "vsrc") else self.f("data")
        self.to = self.f("vdata") if hasattr(self.kind, "vdata") else self.f("vdst")
        self.returns = self.f("glc") or self.f("sc0") or self.f("th") & 1
        self.accumulates = family == "cdna" and self.f("acc")

    def signed_offset(self):
        name = "ioffset" if hasattr(self.kind, "ioffset") else "offset"
        place, value = getattr(self.kind, name), self.f(name)
        width = place.hi - place.lo + 1
        return value - (value >> width - 1 << width)

    def __call__(self, scalar, vector, accumulator):
        wave = Wave(self.family, scalar, vector)
        values = array(accumulator, 256 * wave.lanes).reshape(256, wave.lanes) if self.accumulates else wave.vectors
        lanes, at, there = self.addresses(wave, scalar)
        self.check(at[there])
        Pending.add(scalar)
        if len(lanes):
            {"LOAD": self.load, "STORE": self.store, "ATOMIC": self.atomic}[self.operation](values, lanes, at, there)

    def size(self):
        """Bytes of an access of a lane."""
        kind = HALVES.get(self.what) or LOADS.get(self.what) if self.operation == "LOAD" else UPPER.get(self.what) or STORES.get(self.what)
        return struct.calcsize(kind) if isinstance(kind, str) else kind or (8 if self.what.endswith(("_X2", "64")) else 4)

    def check(self, at):
        """Fails where a lane accesses what the kernel was not given: the process would go wrong later or not at all."""
        size = self.size()
        inside = np.zeros(len(at), bool)
        for start, count in self.blocks:
            inside |= (at >= start) & (at + size <= start + count)
        if not inside.all():
            place = int(at[~inside][0])
            near = min(self.blocks, key=lambda block: min(abs(place - block[0]), abs(place - block[0] - block[1])), default=(0, 0))
            raise IndexError(f"{self.prefix}{self.name} of {size} bytes at {place - near[0]} of a block of {near[1]} bytes")

    def load(self, values, lanes, at, there):
        kind = HALVES.get(self.what) or LOADS[self.what]
        size = struct.calcsize(kind) if isinstance(kind, str) else kind
        data = np.zeros((len(lanes), size), np.uint8)
        data[there] = MEMORY[(at[there] - PAGE)[:, None] + np.arange(size)]
        if not isinstance(kind, str):
            for i, word in enumerate(np.ascontiguousarray(data).view(np.uint32).T):
                values[self.to + i][lanes] = word
            return
        value = np.ascontiguousarray(data).view(kind)[:, 0].astype(np.int32).view(np.uint32)
        if self.what in HALVES:
            old = values[self.to][lanes]
            value = old & 0xFFFF | value << 16 if "_HI" in self.what else old & 0xFFFF0000 | value & 0xFFFF
        values[self.to][lanes] = value

    def store(self, values, lanes, at, there):
        size = UPPER.get(self.what) or STORES[self.what]
        words_ = np.stack([values[self.source + i][lanes] for i in range(-(-size // 4))], 1)
        words_ = words_ >> 16 if self.what in UPPER else words_
        data = np.ascontiguousarray(words_).view(np.uint8)[:, :size]
        MEMORY[(at[there] - PAGE)[:, None] + np.arange(size)] = data[there]

    def atomic(self, values, lanes, at, there):
        kind, wide = self.what, self.what.endswith(("_X2", "64"))
        count = 2 if wide else 1
        name = kind.removesuffix("_X2")
        name = name.rsplit("_", 1)[0] if name.rsplit("_", 1)[-1][1:].isdigit() else name
        signed = kind.endswith(("I32", "I64"))
        name = {"MAX": "SMAX" if signed else "UMAX", "MIN": "SMIN" if signed else "UMIN"}.get(name, name)
        take = lambda lane, first: sum(int(values[self.source + first + i][lane]) << 32 * i for i in range(count))
        for lane, place, inside in zip(lanes, at, there):
            old = int.from_bytes(MEMORY[place - PAGE:place - PAGE + 4 * count].tobytes(), "little") if inside else 0
            new = take(lane, 0)
            if name == "CMPSWAP":
                new = new if old == take(lane, count) else old
            elif "PK_ADD" in kind:
                new = int.from_bytes(pair_sum(old.to_bytes(4, "little"), new.to_bytes(4, "little"), "BF16" in kind), "little")
            elif kind.endswith(("F32", "F64")):
                format_ = ("<f", "<I") if count == 1 else ("<d", "<Q")
                a, b = (struct.unpack(format_[0], struct.pack(format_[1], x))[0] for x in (old, new))
                new = struct.unpack(format_[1], struct.pack(format_[0], np.float32(a + b) if count == 1 else a + b))[0]
            else:
                new = ATOMICS[name](old, new, 1 << 32 * count)
            if inside:
                MEMORY[place - PAGE:place - PAGE + 4 * count] = np.frombuffer(new.to_bytes(4 * count, "little"), np.uint8)
            if self.returns:
                for i in range(count):
                    values[self.to + i][lane] = old >> 32 * i & 0xFFFFFFFF


def pair_sum(a, b, is_brain):
    """The sums of two pairs of halves."""
    with np.errstate(all="ignore"):
        if not is_brain:
            return (np.frombuffer(a, np.float16) + np.frombuffer(b, np.float16)).tobytes()
        wide = [(np.frombuffer(x, np.uint16).astype(np.uint32) << 16).view(np.float32) for x in (a, b)]
        bits = (wide[0] + wide[1]).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).tobytes()


class Buffer(Memory):
    """A scalar resource and offsets. One kind is the private memory of lanes, which gfx90a has no other instructions
    for."""

    prefix = "BUFFER_"
    private = False

    def check(self, at):
        if not self.private:
            super().check(at)

    def addresses(self, wave, key):
        f = self.f
        # RDNA4 names the first register, the others a group of four.
        resource = f("rsrc") if hasattr(self.kind, "rsrc") else 4 * f("srsrc")
        low, high, records, kind = (int(w) for w in wave.scalars[resource:resource + 4])
        number = f("soffset")
        scalar = 0 if self.family != "cdna" and number == 124 else int(wave.scalars[number])
        if f("idxen"):
            raise NotImplementedError("a buffer with an index")
        lanes = np.flatnonzero(wave.active)
        offset = np.full(len(lanes), f("offset") + f("ioffset"), np.int64)
        if f("offen"):
            offset = offset + wave.vectors[f("vaddr")][lanes]
        self.private = kind == PRIVATE
        if self.private:
            # The offset in a scalar register counts the bytes of all lanes, which lie interleaved.
            memory, size = Scratch.of_wave(wave, key)
            return lanes, memory + lanes * size + offset + scalar // wave.lanes, np.ones(len(lanes), bool)
        checked = offset if self.family == "cdna" else offset + scalar
        return lanes, (low | (high & 0xFFFF) << 32) + scalar + offset, checked < records


class Global(Memory):
    """Addresses of 64 bits, or a scalar one with offsets of 32."""

    prefix = "GLOBAL_"

    def addresses(self, wave, _):
        f, lanes = self.f, np.flatnonzero(wave.active)
        register, saddr = f("vaddr") if hasattr(self.kind, "vaddr") else f("addr"), f("saddr", 127)
        low = wave.vectors[register][lanes].astype(np.int64)
        if saddr < 124:
            at = low + (int(wave.scalars[saddr]) | int(wave.scalars[saddr + 1]) << 32)
        else:
            at = low | wave.vectors[register + 1][lanes].astype(np.int64) << 32
        return lanes, at + self.signed_offset(), np.ones(len(lanes), bool)


class Flat(Global):
    prefix = "FLAT_"


# The upper half of the first word of `v_mfma_ld_scale_b32`, with which a scaled product starts ("CDNA4 ISA",
# `V_MFMA_SCALE_…`).
LOADED_SCALES = b"\xac\xd3"


class Pending:
    """What each wave has under way of `vmcnt`: copies to shared memory, and places of other accesses, which the counter
    counts as well.

    A copy lands at the last moment: when a wait says that no more than so many may be under way ("CDNA3 ISA",
    `S_WAITCNT`). So a kernel that lacks a wait reads what was there before. With `EARLY` it lands at once, which shows
    a copy that is started before all have read what it overwrites.
    """

    EARLY = os.environ.get("TTC_EMULATED_COPIES") == "early"
    waves = {}

    @classmethod
    def add(cls, scalar, landing=None):
        if landing is not None and cls.EARLY:
            landing()
            landing = None
        if landing is not None or scalar in cls.waves:
            cls.waves.setdefault(scalar, []).append(landing)

    @classmethod
    def wait(cls, scalar, count):
        under_way = cls.waves.get(scalar, [])
        while len(under_way) > count:
            if landing := under_way.pop(0):
                landing()


class Wait:
    """`s_waitcnt`, of which the counter of memory accesses matters."""

    def __init__(self, emu, inst, data, family):
        number = int.from_bytes(data[:4], "little") & 0xFFFF
        self.count = number & 0xF | number >> 14 << 4

    def __call__(self, scalar, *_):
        Pending.wait(scalar, self.count)


def ending(compiled):
    """The end of a program, behind which nothing is under way."""
    program, runtime = compiled
    place = list(program.arg.globals).index(0)

    def run(*addresses):
        Pending.waves.pop(addresses[place].value, None)
        runtime.fxn(*addresses)

    return program, types.SimpleNamespace(fxn=run)


class DirectCopy(Global):
    """`global_load_lds_…`: what each lane has the address of goes to shared memory, lane behind lane.

    It starts at M0 and the instruction's offset.
    """

    prefix = "GLOBAL_LOAD_LDS_"
    BYTES = {"DWORD": 4, "DWORDX3": 12, "DWORDX4": 16}

    def size(self):
        return self.BYTES[self.name]

    def __call__(self, scalar, vector, _, shared):
        wave, size = Wave(self.family, scalar, vector), self.size()
        lanes, at, there = self.addresses(wave, scalar)
        self.check(at)
        data = MEMORY[(at - PAGE)[:, None] + np.arange(size)]
        to = int(wave.scalars[124]) + self.signed_offset() + lanes * size

        def land():
            memory = np.frombuffer((ctypes.c_uint8 * (int(to.max()) + size)).from_address(shared), np.uint8)
            memory[to[:, None] + np.arange(size)] = data

        Pending.add(scalar, land if len(lanes) else None)


class Scratch(Memory):
    """Memory of each lane's own."""

    prefix = "SCRATCH_"
    waves = {}

    @classmethod
    def of_wave(cls, wave, scalar):
        """Where the memory of a wave's lanes lies, and how much each lane has."""
        size = int(wave.scalars[259])
        held = cls.waves.get((scalar, size))
        if held is None:
            held = cls.waves[scalar, size] = ctypes.create_string_buffer(size * wave.lanes + 64)
        return ctypes.addressof(held), size

    def check(self, at):
        pass

    def addresses(self, wave, scalar):
        f, lanes = self.f, np.flatnonzero(wave.active)
        memory, size = self.of_wave(wave, scalar)
        offset = np.full(len(lanes), self.signed_offset(), np.int64)
        if f("sve"):
            offset += wave.vectors[f("vaddr") if hasattr(self.kind, "vaddr") else f("addr")][lanes]
        if f("saddr", 127) < 124:
            offset += int(wave.scalars[f("saddr")])
        return lanes, memory + lanes * size + offset, np.ones(len(lanes), bool)


class Counter:
    """The program counter as a value, calls and returns; and the clocks, which tick once for each look."""

    time = 0

    def __init__(self, emu, inst, data, family):
        self.emu, self.name, self.size = emu, emu._op_name(inst), inst.size()
        f = Fields(inst, data)
        self.to = f("sdata") if hasattr(type(inst), "sdata") else f("sdst")
        self.source = f("ssrc0")

    def __call__(self, scalar, *_):
        scalars, counter = array(scalar, 260), ctypes.c_uint64.from_address(scalar + 4 * self.emu.PC_LO_IDX)
        value = counter.value + self.size
        jumps = self.name.startswith(("S_SETPC", "S_SWAPPC"))
        if jumps:
            counter.value = int(scalars[self.source]) | int(scalars[self.source + 1]) << 32
        elif not self.name.startswith("S_GETPC"):
            Counter.time += 1
            value = Counter.time
        if not self.name.startswith("S_SETPC"):
            scalars[self.to], scalars[self.to + 1] = value & 0xFFFFFFFF, value >> 32
        return jumps


# Constants of an instruction as halves.
HALF_CONSTANTS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0, 248: 0.15915494}


class Mix:
    """`v_fma_mix_f32`, `v_fma_mixlo_f16` and `v_fma_mixhi_f16`: a fused product and sum of f32 and f16, each as the
    instruction says."""

    def __init__(self, emu, inst, data, family):
        self.fields, self.name, self.family, self.literal = Fields(inst, data), emu._op_name(inst), family, int.from_bytes(data[8:12], "little")

    def operand(self, wave, i):
        f = self.fields
        number, negate, absolute = f(f"src{i}"), f("neg") >> i & 1, f("neg_hi") >> i & 1
        is_half = f("opsel_hi") >> i & 1 if i < 2 else f("opsel_hi2")
        bits = np.full(wave.lanes, self.literal, np.uint32) if number == 255 else wave.source(number)
        if not is_half:
            value = bits.view(np.float32).astype(np.float64)
        elif number in HALF_CONSTANTS:
            value = np.full(wave.lanes, HALF_CONSTANTS[number])
        else:
            value = (bits >> 16 if f("opsel") >> i & 1 else bits).astype(np.uint16).view(np.float16).astype(np.float64)
        value = np.abs(value) if absolute else value
        return -value if negate else value

    def __call__(self, scalar, vector, _):
        wave = Wave(self.family, scalar, vector)
        with np.errstate(all="ignore"):
            # The product of two f32 is exact in f64; the sum is rounded there and then to f32.
            value = (self.operand(wave, 0) * self.operand(wave, 1) + self.operand(wave, 2)).astype(np.float32)
            value = np.clip(value, 0, 1) if self.fields("clmp") else value
            half = value.astype(np.float16).view(np.uint16).astype(np.uint32)
        to = self.fields("vdst")
        old = wave.vectors[to]
        wave.write(to, value.view(np.uint32) if self.name.endswith("F32") else old & 0xFFFF | half << 16 if "MIXHI" in self.name else old & 0xFFFF0000 | half)


class Move64:
    """`v_mov_b64` of a literal, of which the emulator takes the word behind it for the upper half."""

    def __init__(self, emu, inst, data, family):
        self.to, self.family, self.literal = Fields(inst, data)("vdst"), family, int.from_bytes(data[4:8], "little")

    def __call__(self, scalar, vector, _):
        wave = Wave(self.family, scalar, vector)
        wave.write(self.to, np.uint32(self.literal))
        wave.write(self.to + 1, np.uint32(0))


class Swizzle:
    """`ds_swizzle_b32`: within 32 lanes by bits, or within four by a table."""

    def __init__(self, emu, inst, data, family):
        fields = Fields(inst, data)
        self.offset, self.family = fields("offset1") << 8 | fields("offset0"), family
        self.source, self.to = fields("addr"), fields("vdst")

    def __call__(self, scalar, vector, _):
        wave = Wave(self.family, scalar, vector)
        lane, offset = np.arange(wave.lanes), self.offset
        if offset >> 15:
            other = lane & ~3 | offset >> 2 * (lane & 3) & 3
        else:
            other = lane & ~31 | (lane & 31 & offset | offset >> 5) & 31 ^ offset >> 10 & 31
        wave.write(self.to, np.where(wave.active[other], wave.vectors[self.source][other], 0))


# Bytes of an access to shared memory, by the end of the name.
SHARED = {"B8": 1, "U8": 1, "I8": 1, "B16": 2, "U16": 2, "I16": 2, "B32": 4, "B64": 8, "B96": 12, "B128": 16}


class Shared:
    """`ds_read…` and `ds_write…`, or `ds_load…` and `ds_store…`."""

    def __init__(self, emu, inst, data, family):
        f = self.fields = Fields(inst, data)
        self.name, self.family = emu._op_name(inst), family
        words = self.name.split("_")
        self.is_store = words[1].startswith(("WRITE", "STORE"))
        kind = next(w for w in words if w in SHARED)
        self.size, self.is_signed = SHARED[kind], kind[0] == "I"
        self.half = "HI" if "HI" in words else "LO" if "D16" in words else None
        scale = 64 if any("ST64" in w or w == "STRIDE64" for w in words) else 1
        if any(w.startswith(("READ2", "WRITE2")) or w.startswith("2ADDR") for w in words):
            self.offsets = [f("offset0") * self.size * scale, f("offset1") * self.size * scale]
        else:
            self.offsets = [f("offset1") << 8 | f("offset0")]

    def __call__(self, scalar, vector, accumulator, shared):
        wave, f = Wave(self.family, scalar, vector), self.fields
        accumulates = self.family == "cdna" and f("acc")
        values = array(accumulator, 256 * wave.lanes).reshape(256, wave.lanes) if accumulates else wave.vectors
        lanes = np.flatnonzero(wave.active)
        base = wave.vectors[f("addr")][lanes].astype(np.int64)
        loaded = []
        for i, offset in enumerate(self.offsets):
            at = base + offset
            memory = np.frombuffer((ctypes.c_uint8 * (int(at.max()) + 16)).from_address(shared), np.uint8) if len(lanes) else None
            if memory is None:
                return
            bytes_ = at[:, None] + np.arange(self.size)
            if self.is_store:
                first, count = f("data1" if i else "data0"), -(-self.size // 4)
                data = np.stack([values[first + n][lanes] for n in range(count)], 1)
                data = data >> 16 if self.half == "HI" else data
                memory[bytes_] = np.ascontiguousarray(data).view(np.uint8)[:, :self.size]
            else:
                loaded.append(memory[bytes_])
        if not self.is_store:
            self.write(values, lanes, np.concatenate(loaded, 1))

    def write(self, values, lanes, data):
        to = self.fields("vdst")
        if self.size >= 4:
            for n, value in enumerate(np.ascontiguousarray(data).view(np.uint32).T):
                values[to + n][lanes] = value
            return
        value = np.ascontiguousarray(data).view({1: np.uint8, 2: np.uint16}[self.size])[:, 0]
        if self.is_signed:
            value = value.view({1: np.int8, 2: np.int16}[self.size])
        value = value.astype(np.int32).view(np.uint32)
        old = values[to][lanes]
        value = {None: value, "LO": old & 0xFFFF0000 | value & 0xFFFF, "HI": old & 0xFFFF | value << 16}[self.half]
        values[to][lanes] = value


class SharedAdd:
    """`ds_add_u32`, lane by lane."""

    def __init__(self, emu, inst, data, family):
        self.fields, self.family = Fields(inst, data), family

    def __call__(self, scalar, vector, _, shared):
        wave, f = Wave(self.family, scalar, vector), self.fields
        for lane in np.flatnonzero(wave.active):
            place = ctypes.c_uint32.from_address(shared + int(wave.vectors[f("addr")][lane]) + (f("offset1") << 8 | f("offset0")))
            place.value += int(wave.vectors[f("data0")][lane])


class Rewritten:
    """An instruction with DPP or SDWA: its operands are made in two registers that are put back afterwards, and the
    plain form of the instruction runs on these. The plain form lies in memory of its own, since the emulator reads
    fields where the program counter points."""

    # Numbers from 128 on mean upper halves where operands have 16 bits.
    TEMPORARIES = (127, 126)

    def __init__(self, emu, inst, data, family, compiled):
        self.fields, self.family, self.emu, self.name = Fields(inst, data), family, emu, emu._op_name(inst)
        word = int.from_bytes(data[:4], "little")
        self.is_dpp = word & 0x1FF == 0xFA
        self.is_compare = self.name.startswith("V_CMP")
        self.has_two = word >> 25 != 0x3F
        word = word & ~0x1FF | 256 + self.TEMPORARIES[0]
        if self.has_two and not self.is_dpp:
            word = word & ~(0xFF << 9) | self.TEMPORARIES[1] << 9
        self.plain = ctypes.create_string_buffer(word.to_bytes(4, "little") + bytes(12), 16)
        program, runtime = compiled(bytes(self.plain.raw[:8]), family)
        self.work, self.places = runtime.fxn, program.arg.globals

    def lane_of(self, lanes):
        """The lane that each lane reads from, and whether it is there."""
        dpp, lane = self.fields("dpp"), np.arange(lanes)
        row, place = lane & ~15, lane & 15
        if dpp < 0x100:
            return lane & ~3 | dpp >> 2 * (lane & 3) & 3, lane >= 0
        kind, n = dpp & 0x1F0, dpp & 15
        other = {0x100: place + n, 0x110: place - n, 0x120: place - n & 15, 0x140: (15 if n == 0 else 7) - (place if n == 0 else place & 7) + (place & 8 if n else 0),
                 0x150: place * 0 + n, 0x160: place ^ n}[kind]
        return row | other & 15, (other >= 0) & (other < 16)

    def changed(self, value, i):
        """Parts, and signs, of operand `i`."""
        f = self.fields
        if not self.is_dpp:
            select = f(f"src{i}_sel")
            value, bits = (value, 32) if select == 6 else (value >> 16 * (select - 4) & 0xFFFF, 16) if select >= 4 else (value >> 8 * select & 0xFF, 8)
            if f(f"src{i}_sext") and bits < 32:
                value = np.where(value >> bits - 1, value | (0xFFFFFFFF << bits & 0xFFFFFFFF), value)
        sign = 0x8000 if "F16" in self.name and "CVT_F16" not in self.name else 0x80000000
        value = value & ~np.uint32(sign) if f(f"src{i}_abs") else value
        return (value ^ np.uint32(sign) if f(f"src{i}_neg") else value).astype(np.uint32)

    def __call__(self, *addresses):
        wave, f = Wave(self.family, addresses[0], addresses[1]), self.fields
        kept = wave.vectors[list(self.TEMPORARIES)].copy()
        to = None if self.is_compare else f("vdst")
        old = None if to is None else wave.vectors[to].copy()
        first = wave.scalars[f("vsrc0")] * np.ones(wave.lanes, np.uint32) if f("s0") else wave.vectors[f("vsrc0")].copy()
        if self.is_dpp:
            other, there = self.lane_of(wave.lanes)
            there &= wave.active[other] | bool(f("fi"))
            takes = there if not (f("bc")) else np.ones(wave.lanes, bool)
            first = np.where(there, first[other], 0).astype(np.uint32)
            takes &= np.array([f("row_mask", 15) >> lane // 16 & f("bank_mask", 15) >> lane // 4 % 4 & 1 for lane in range(wave.lanes)], bool)
        elif self.has_two:
            second = wave.scalars[f("vsrc1")] * np.ones(wave.lanes, np.uint32) if f("s1") else wave.vectors[f("vsrc1")].copy()
            wave.vectors[self.TEMPORARIES[1]] = self.changed(second, 1)
        wave.vectors[self.TEMPORARIES[0]] = self.changed(first, 0)
        condition = wave.scalars[106:108].copy()
        counter = ctypes.c_uint64.from_address(addresses[0] + 4 * self.emu.PC_LO_IDX)
        at = counter.value
        counter.value = ctypes.addressof(self.plain)
        self.work(*[ctypes.c_uint64(addresses[i]) for i in self.places])
        counter.value = at
        if to is not None:
            self.finish(wave, to, old, takes if self.is_dpp else None)
        elif not self.is_dpp and f("sd"):
            wave.scalars[f("sdst"):f("sdst") + 2] = wave.scalars[106:108]
            wave.scalars[106:108] = condition
        for register, value in zip(self.TEMPORARIES, kept):
            if register != to:
                wave.vectors[register] = value

    def finish(self, wave, to, old, takes):
        """What of the result goes into the register."""
        if takes is not None:
            wave.vectors[to] = np.where(takes, wave.vectors[to], old)
            return
        select, unused = self.fields("dst_sel", 6), self.fields("dst_unused")
        if select == 6:
            return
        bits, place = (16, 16 * (select - 4)) if select >= 4 else (8, 8 * select)
        part = (wave.vectors[to] & (1 << bits) - 1) << place
        if unused == 2:
            part = part | old & ~np.uint32((1 << bits) - 1 << place)
        elif unused == 1:
            part = np.where(part >> place + bits - 1 & 1, part | (0xFFFFFFFF << place + bits & 0xFFFFFFFF), part)
        wave.write(to, part.astype(np.uint32))


class Permlane:
    """`v_permlane16_b32` and `v_permlanex16_b32`: each lane picks a lane of its row, or of the other row of the
    pair."""

    def __init__(self, emu, inst, data, family):
        self.fields, self.family, self.other = Fields(inst, data), family, "X16" in emu._op_name(inst)
        self.literal = int.from_bytes(data[8:12], "little")

    def __call__(self, scalar, vector, _):
        wave, f = Wave(self.family, scalar, vector), self.fields
        low, high = (self.literal if f(s) == 255 else int(wave.source(f(s))[0]) for s in ("src1", "src2"))
        table = low | high << 32
        lane = np.arange(wave.lanes)
        picked = np.array([table >> 4 * (int(i) & 15) & 15 for i in lane]) | (lane ^ 16 if self.other else lane) & ~15
        wave.write(f("vdst"), wave.source(f("src0"))[picked])


def without_upper_halves(emu, compiled):
    """On CDNA no operand is an upper half by the number of its register: the numbers where that begins are moved out of
    reach."""
    constant = emu._c

    def compiled_for(data, family):
        inst = emu.decode_inst(data, family) if family == "cdna" else None
        # Where operands have 64 bits, the same number says where constants begin.
        if inst is None or type(inst).__name__[:4] not in ("VOP1", "VOP2", "VOPC") or "16" not in emu._op_name(inst):
            return compiled(data, family)
        emu._c = lambda value, *dtype: constant(1 << 20 if value in (128, 384) else value, *dtype)
        try:
            return compiled(data, family)
        finally:
            emu._c = constant

    return compiled_for


def buffer_formats():
    """Adds the encodings of buffer instructions that the decoder has no line for."""
    from tinygrad.renderer import amd
    from tinygrad.runtime.autogen.amd.rdna3.ins import MUBUF
    from tinygrad.runtime.autogen.amd.rdna4.ins import VBUFFER
    formats = amd._load_formats()
    formats["rdna3"].insert(0, MUBUF)
    formats["rdna4"].insert(0, VBUFFER)


MEMORIES = {kind.prefix: kind for kind in (Buffer, Global, Flat, Scratch)}


def is_plain_shared(name):
    words = name.split("_")
    known = ("READ", "WRITE", "LOAD", "STORE")
    return words[0] == "DS" and words[1].rstrip("2").removesuffix("ST64").rstrip("2") in known and any(w in SHARED for w in words) and not any(w.startswith("TR") for w in words)


def exact(decode):
    """The decoder takes whatever stands before a product of `f8f6f4` for the scales of this product.

    They are only where its first word says so.
    """
    def decoded(data, family):
        inst = decode(data, family)
        if type(inst).__name__ == "VOP3PX2" and data[2:4] != LOADED_SCALES:
            inst = decode(data[:8] + bytes(8), family)
        return inst

    return decoded


def add(emu, arch):
    """Adds them to the emulator's module."""
    emu.decode_inst = exact(emu.decode_inst)
    buffer_formats()
    compiled = without_upper_halves(emu, emu._get_runner)

    @functools.cache
    def runner(data, family):
        inst = emu.decode_inst(data, family)
        name = emu._op_name(inst)
        places, size = [0, 1, 5], inst.size()
        if name == "S_ENDPGM" and family == "cdna":
            return ending(compiled(data, family))
        if name in CACHES:
            work = lambda *_: None
        elif name == "S_WAITCNT" and family == "cdna":
            work = Wait(emu, inst, data, family)
        elif name == "DS_ADD_U32":
            work, places = SharedAdd(emu, inst, data, family), [0, 1, 5, 3]
        elif is_plain_shared(name):
            work, places = Shared(emu, inst, data, family), [0, 1, 5, 3]
        elif type(inst).__name__.endswith("_DPP16") or "SDWA" in type(inst).__name__:
            work, places = Rewritten(emu, inst, data, family, compiled), [0, 1, 2, 3, 4, 5]
        elif name.startswith(DirectCopy.prefix):
            work, places = DirectCopy(emu, inst, data, family), [0, 1, 5, 3]
        elif name.startswith(tuple(MEMORIES)) and not getattr(inst, "lds", 0):
            work = MEMORIES[name.split("_")[0] + "_"](emu, inst, data, family)
        elif name.startswith(("S_GETPC", "S_SETPC", "S_SWAPPC", "S_MEMREALTIME", "S_MEMTIME", "S_SENDMSG_RTN")):
            work = Counter(emu, inst, data, family)
        elif name.startswith(("V_FMA_MIX", "V_MAD_MIX")):
            work = Mix(emu, inst, data, family)
        elif name.startswith(("V_PERMLANE16_B32", "V_PERMLANEX16_B32")):
            work = Permlane(emu, inst, data, family)
        elif name.startswith("V_MOV_B64") and data[0] == 0xFF and data[1] & 1 == 0:
            # The size of the plain form leaves the literal out.
            work, size = Move64(emu, inst, data, family), 8
        elif name == "DS_SWIZZLE_B32":
            work = Swizzle(emu, inst, data, family)
        elif products.is_product(name):
            work = products.Product(emu, inst, data, arch)
        else:
            return compiled(data, family)

        def run(scalar, *others):
            if not work(scalar.value, *[o.value for o in others]):
                counter = ctypes.c_uint64.from_address(scalar.value + 4 * emu.PC_LO_IDX)
                counter.value += size

        return types.SimpleNamespace(arg=types.SimpleNamespace(globals=places)), types.SimpleNamespace(fxn=run)

    emu._get_runner = runner
