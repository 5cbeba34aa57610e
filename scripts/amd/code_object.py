"""Reads AMD's code objects: segments, symbols, and the metadata of kernels.

LLVM, "User Guide for AMDGPU Backend", "Code Object".
"""
import struct


def unpack(data, at=0):
    """One value of MessagePack, and where the next one begins."""
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind < 0x90:
        return pairs(data, at, kind & 15)
    if kind < 0xA0:
        return items(data, at, kind & 15)
    if kind < 0xC0:
        return data[at:at + (kind & 31)].decode(), at + (kind & 31)
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at
    numbers = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    numbers |= {0xCA: ">f", 0xCB: ">d"}
    if kind in numbers:
        return struct.unpack_from(numbers[kind], data, at)[0], at + struct.calcsize(numbers[kind])
    if kind >= 0xE0:
        return kind - 256, at
    sizes = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}
    count, at = struct.unpack_from(sizes[kind], data, at)[0], at + struct.calcsize(sizes[kind])
    if kind <= 0xDB:
        return data[at:at + count].decode(), at + count
    return items(data, at, count) if kind <= 0xDD else pairs(data, at, count)


def items(data, at, count):
    out = []
    for _ in range(count):
        value, at = unpack(data, at)
        out.append(value)
    return out, at


def pairs(data, at, count):
    out = {}
    for _ in range(count):
        key, at = unpack(data, at)
        out[key], at = unpack(data, at)
    return out, at


class CodeObject:
    """The memory of all segments is `image`; `symbols` has (address, size) by name, and `kernels` the metadata by name.

    `formats` has the text of each format that the kernels print by, by its number.
    """

    def __init__(self, data):
        if data[:4] != b"\x7fELF":
            raise ValueError("it is no ELF file")
        (headers,) = struct.unpack_from("<Q", data, 0x20)
        size, count = struct.unpack_from("<HH", data, 0x36)
        segments = [struct.unpack_from("<IIQQQQIQ", data, headers + i * size) for i in range(count)]
        loaded = [s for s in segments if s[0] == 1]
        self.image = bytearray(max(s[3] + s[6] for s in loaded))
        for _, _, offset, address, _, length, _, _ in loaded:
            self.image[address:address + length] = data[offset:offset + length]
        self.kernels, self.formats = {}, {}
        for _, _, offset, _, _, length, *_ in (s for s in segments if s[0] == 4):
            self.notes(data[offset:offset + length])
        self.symbols = self.table(data)

    def notes(self, data):
        at = 0
        while at + 12 <= len(data):
            name, length, kind = struct.unpack_from("<III", data, at)
            owner = data[at + 12:at + 12 + name].rstrip(b"\0")
            at += 12 + (name + 3) // 4 * 4
            if owner == b"AMDGPU" and kind == 32:
                found, _ = unpack(data[at:at + length])
                self.kernels.update({k[".name"]: k for k in found["amdhsa.kernels"]})
                for entry in found.get("amdhsa.printf", []):
                    number, _, text = entry.split(":", 2)[2].partition(",")
                    self.formats[int(number, 16)] = text.replace("\\n", "\n")
            at += (length + 3) // 4 * 4

    @staticmethod
    def table(data):
        (headers,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, headers + i * size) for i in range(count)]
        out = {}
        for section in (s for s in sections if s[1] in (2, 11)):
            names = sections[section[6]][4]
            for i in range(section[5] // 24):
                name, _, _, _, value, length = struct.unpack_from("<IBBHQQ", data, section[4] + i * 24)
                start = names + name
                out[data[start:data.index(0, start)].decode()] = (value, length)
        return out
