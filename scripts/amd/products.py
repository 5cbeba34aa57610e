"""Matrix instructions for tinygrad's emulator, from AMD's instruction sets ("CDNA3" and "CDNA4 ISA", chapter "Matrix
arithmetic instructions"; "RDNA3" and "RDNA4 ISA", "Wave matrix multiply accumulate"; AMD's matrix instruction
calculator).

The emulator's own place the rows of a result of 32x32 otherwise than the hardware does, do not know broadcasts of
blocks, f64, xf32 and floats of 4 bits, and read 8-bit floats of `wmma` as halves.

Of an instruction for MxNxK, a lane has the row i = lane mod M of A and the column j = lane mod N of B, and elements
along K; further lanes continue along K, or are further blocks. A result of 32x32 has in register r and lane l the row 8
(r div 4) + 4 (l div 32) + r mod 4.
"""
import ctypes
import re

import numpy as np

# Inline constants of a source ("Scalar source operands").
FLOATS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0}


def small_floats(exponent, mantissa, bias, kind):
    """All values of a format of 4 or 8 bits. `kind`: "ocp" has NaN at the end, with infinity if there are 2 bits of
    mantissa; "fnuz" has NaN for minus zero."""
    bits = 1 + exponent + mantissa
    out = []
    for n in range(1 << bits):
        sign, e, m = n >> bits - 1, n >> mantissa & (1 << exponent) - 1, n & (1 << mantissa) - 1
        value = m * 2.0 ** (1 - bias - mantissa) if e == 0 else (1 + m / (1 << mantissa)) * 2.0 ** (e - bias)
        top = e == (1 << exponent) - 1
        if kind == "ieee" and top:
            value = np.inf if m == 0 else np.nan
        if kind == "ocp" and top and m == (1 << mantissa) - 1 or kind == "fnuz" and n == 1 << bits - 1:
            value = np.nan
        out.append(-value if sign else value)
    return np.array(out)


OCP = {"FP8": small_floats(4, 3, 7, "ocp"), "BF8": small_floats(5, 2, 15, "ieee")}
FNUZ = {"FP8": small_floats(4, 3, 8, "fnuz"), "BF8": small_floats(5, 2, 16, "fnuz")}
FP4 = small_floats(2, 1, 1, "all")


def reduced(values):
    """The 19 bits of f32 that xf32 reads."""
    return (values & np.uint32(0xFFFFE000)).view(np.float32)


def elements(words, kind, floats8):
    """Elements of words of a lane, in order: lanes x words of 32 bits in."""
    raw = np.ascontiguousarray(words, dtype="<u4")
    match kind:
        case "F64":
            return raw.view("<f8")
        case "F32":
            return raw.view("<f4").astype(np.float64)
        case "XF32":
            return reduced(raw).astype(np.float64)
        case "F16":
            return raw.view("<f2").astype(np.float64)
        case "BF16":
            return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        case "I8" | "IU8":
            return raw.view("i1").astype(np.int64)
        case "U8":
            return raw.view("u1").astype(np.int64)
        case "FP4":
            data = raw.view("u1")
            return FP4[np.stack([data & 15, data >> 4], axis=-1).reshape(data.shape[0], -1)]
        case _:
            return floats8[kind][raw.view("u1")]


BITS = {"F64": 64, "F32": 32, "XF32": 32, "F16": 16, "BF16": 16, "FP4": 4}


class Product:
    """One matrix instruction."""

    def __init__(self, emu, inst, data, arch):
        number = int.from_bytes(data[:inst.size()], "little")
        self.name, self.size = emu._op_name(inst), inst.size()
        self.lanes = 64 if arch.startswith("gfx9") else 32
        self.arch, self.floats8 = arch, FNUZ if arch == "gfx942" else OCP
        self.scales = None
        if "MFMA_SCALE" in self.name:
            # A word for the scales stands in front.
            self.scales = [(number >> at & 511, number >> bit & 1 | (number >> top & 1) << 1) for at, bit, top in ((32, 11, 59), (41, 12, 60))]
            number >>= 64
        self.result = number & 255
        self.sources = [number >> at & 511 for at in (32, 41, 50)]
        self.modes = {"cbsz": number >> 8 & 7, "abid": number >> 11 & 15, "blgp": number >> 61 & 7}
        cdna = self.lanes == 64
        # Which operands are accumulation registers: A, B, and the result with C.
        self.accumulates = [cdna and number >> bit & 1 for bit in (59, 60, 15)]
        self.m, self.n, self.k = map(int, re.search(r"_(\d+)X(\d+)X(\d+)", self.name).groups())
        self.blocks = 16 if self.m == 4 else 1
        parts = self.name.split("_")
        self.sums = next(p for p in parts if p in ("F32", "F64", "I32"))
        if "F8F6F4" in self.name:
            self.kinds = [{0: "FP8", 1: "BF8", 4: "FP4"}[self.modes[key]] for key in ("cbsz", "blgp")]
        elif parts[-1] == "IU8":
            self.kinds = ["I8" if number >> bit & 1 else "U8" for bit in (61, 62)]
        else:
            self.kinds = parts[-2:] if parts[-2] in OCP else [parts[-1]] * 2

    def registers(self, memory, source, count, accumulates):
        """Words, lanes x count."""
        if source >= 256:
            words = memory[1 + bool(accumulates)].reshape(-1, self.lanes)[source - 256:source - 256 + count]
            return words.T.copy()
        if source < 128:
            return np.tile(memory[0][source:source + 1], (self.lanes, count))
        if source in FLOATS:
            one = np.array([FLOATS[source]], "<f8" if self.sums == "F64" else "<f4").view("<u4")
            return np.tile(one, (self.lanes, count // len(one)))
        value = source - 128 if source <= 192 else 192 - source
        return np.tile(np.array([value], "<i4").view("<u4"), (self.lanes, count))

    def matrix(self, memory, index):
        """blocks x rows x K of A, or blocks x columns x K of B."""
        side, kind = (self.m, self.n)[index], self.kinds[index]
        # Both halves of a wave of RDNA3 hold the same.
        copies = 2 if self.arch.startswith("gfx11") else 1
        per_lane = self.blocks * side * self.k * copies // self.lanes
        words = self.registers(memory, self.sources[index], max(per_lane * BITS.get(kind, 8) // 32, 1), self.accumulates[index])
        values = elements(words, kind, self.floats8)[:, :per_lane]
        if self.blocks > 1:
            return values.reshape(self.blocks, side, self.k)
        groups = self.lanes // side // copies
        values = values[:groups * side].reshape(groups, side, per_lane)
        if self.k >= 64 and "F8F6F4" in self.name and kind != "FP4":
            # Either half of a lane's elements lies in its own half of K.
            values = values.reshape(groups, side, 2, per_lane // 2).transpose(1, 2, 0, 3)
        else:
            values = values.transpose(1, 0, 2)
        return values.reshape(1, side, self.k)

    def places(self):
        """Block, row and column of each register and lane of the result."""
        count = self.blocks * self.m * self.n // self.lanes
        r, lane = np.arange(count)[:, None], np.arange(self.lanes)[None, :]
        zero = 0 * r + 0 * lane
        if self.blocks > 1:
            return zero + lane // 4, zero + r, zero + lane % 4
        group = lane // self.n
        if self.arch.startswith("gfx11"):
            row = 2 * r + group
        elif self.arch.startswith("gfx12"):
            row = 8 * group + r
        elif self.sums == "F64":
            row = 4 * r + group
        elif self.m == 32:
            row = 8 * (r // 4) + 4 * group + r % 4
        else:
            row = 4 * group + r
        return zero, row, zero + lane % self.n

    def scaled(self, memory, matrix, index):
        """Each 32 elements along K times their scale, which stands in the lane that continues along K as far."""
        source, byte = self.scales[index]
        words = self.registers(memory, source, 1, False)[:, 0]
        exponents = (words >> 8 * byte & 255).astype(np.int64)
        side = (self.m, self.n)[index]
        scale = exponents.reshape(-1, side)[:self.k // 32].T
        factors = np.where(scale == 255, np.nan, 2.0 ** (scale - 127.0))
        return matrix * np.repeat(factors, 32, axis=1)[None]

    def __call__(self, *addresses):
        """The addresses of scalar, vector and accumulation registers."""
        whole = lambda address, count: np.ctypeslib.as_array((ctypes.c_uint32 * count).from_address(address))
        memory = [whole(address, count) for address, count in zip(addresses, (260, 256 * self.lanes, 256 * self.lanes))]
        a, b = self.matrix(memory, 0), self.matrix(memory, 1)
        if self.scales:
            a, b = self.scaled(memory, a, 0), self.scaled(memory, b, 1)
        if self.blocks > 1 and self.modes["cbsz"]:
            group = 1 << self.modes["cbsz"]
            a = a[np.arange(self.blocks) // group * group + self.modes["abid"]]
        block, row, column = self.places()
        wide = 2 if self.sums == "F64" else 1
        kind = {"F32": "<f4", "F64": "<f8", "I32": "<i4"}[self.sums]
        before = self.registers(memory, self.sources[2], len(row) * wide, self.accumulates[2]).view(kind).T
        with np.errstate(all="ignore"):
            product = np.einsum("bik,bjk->bij", a, b)[block, row, column]
            after = (before + product).astype(np.int64).astype("<i4") if kind == "<i4" else (before + product).astype(kind)
        target = memory[1 + bool(self.accumulates[2])].reshape(-1, self.lanes)
        words = np.ascontiguousarray(after.T).view("<u4").T
        target[self.result:self.result + len(words)] = words


def is_product(name):
    return name.startswith(("V_MFMA_F", "V_MFMA_I", "V_MFMA_SCALE", "V_WMMA"))
