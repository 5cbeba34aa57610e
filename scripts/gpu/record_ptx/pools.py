"""Operands for the recorded instructions: pools of values, seeded, so that every run makes the same bytes.

A pool is a list of integers of one width. Scalar forms take operand i of thread t from place t of a pool:
- the first 144 threads get every pair of 12 extreme values in the first two operands, and a third one in the last;
- the others get random values: any bits, numbers near each other, numbers with few bits, and values near the limits and
  halfway points of the formats that conversions round to.
Tensor instructions read their fragments from longer pools, in three classes: numbers of like size, of all sizes, and
with infinities and NaN among them.
"""
import random
import struct

THREADS = 192
EXTREMES = 12
PAIRS = EXTREMES ** 2
TENSOR_BYTES = 4096

FLOATS = {  # exponent bits, mantissa bits
    "f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52), "tf32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2),
}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "tf32": 32, "e4m3": 8, "e5m2": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def bits_of(value):
    """The pattern of a number in f32."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def double_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def extremes(kind):
    """12 values at which arithmetic changes its mind."""
    if kind in FLOATS:
        e, m = FLOATS[kind]
        sign, top, bias = 1 << (e + m), ((1 << e) - 1) << m, (1 << (e - 1)) - 1
        one = bias << m
        odd = (1 << (m - 1)) | 1
        return [0, sign, one, top, sign | top, top | odd, sign | top | max(1, (1 << (m - 2)) | 1), 1,
                sign | ((1 << m) - 1), 1 << m, one - 1, top - 1]
    n = BITS[kind]
    high = 1 << (n - 1)
    full = (1 << n) - 1
    return [0, 1, full, 2, high, high - 1, high + 1, full // 3, full - full // 3, 3, 7, full - 1]


def near_formats(rng, kind):
    """A value halfway between two neighbours of a narrower format, or next to that."""
    e, m = FLOATS[kind]
    drop = rng.choice([d for d in (m - 10, m - 7, m - 3, m - 2, m - 23) if d > 0] or [1])
    bias = (1 << (e - 1)) - 1
    exponent = min((1 << e) - 2, max(0, bias + rng.choice([0, 1, 5, 8, 15, 16, -6, -7, -9, -14, -15, -16, -24, -25])))
    kept = rng.getrandbits(m - drop) << drop
    low = (1 << (drop - 1)) + rng.choice([-1, 0, 0, 1])
    return rng.getrandbits(1) << (e + m) | exponent << m | kept | (low & ((1 << drop) - 1))


def some(rng, kind):
    """One random value."""
    n = BITS[kind]
    if kind not in FLOATS:
        choice = rng.randrange(4)
        if choice == 0:
            return rng.getrandbits(n)
        if choice == 1:
            return rng.getrandbits(rng.randrange(1, n + 1))
        if choice == 2:
            return -rng.getrandbits(rng.randrange(1, n)) & ((1 << n) - 1)
        return rng.randrange(80) & ((1 << n) - 1)
    e, m = FLOATS[kind]
    bias = (1 << (e - 1)) - 1
    choice = rng.randrange(5)
    if choice == 0:
        return rng.getrandbits(n)
    if choice == 1:  # near one
        return rng.getrandbits(1) << (n - 1) | (bias + rng.randrange(-3, 4)) << m | rng.getrandbits(m)
    if choice == 2:  # few bits
        return rng.getrandbits(1) << (n - 1) | (bias + rng.randrange(-3, 4)) << m | rng.getrandbits(2) << (m - 2)
    if choice == 3:  # subnormal or small
        return rng.getrandbits(1) << (n - 1) | rng.randrange(3) << m | rng.getrandbits(m)
    return near_formats(rng, kind)


def scalar_pool(kind, operand):
    """The pool of operand 0, 1 or 2 of this kind."""
    if kind in ("f16x2", "bf16x2", "i16x2"):
        half = kind[:-2]
        low, high = scalar_pool(half, operand), scalar_pool(half, (operand + 1) % 3)
        return [x | y << 16 for x, y in zip(low, high)]
    if kind in ("e4m3x2", "e5m2x2"):
        rng = random.Random(f"{kind}{operand}")
        return [(i * 683) & 0xffff if i < 96 else rng.getrandbits(16) for i in range(THREADS)]
    if kind == "amount":  # of a shift, a place, a width
        rng = random.Random(f"{kind}{operand}")
        fixed = [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, (1 << 32) - 1]
        return [fixed[(i // EXTREMES + i * operand) % 16] if i < PAIRS else rng.randrange(70) for i in range(THREADS)]
    if kind == "real":  # f32 where functions are neither zero nor infinite
        rng = random.Random(f"{kind}{operand}")
        first = [bits_of(x) for x in (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 10.0, -10.0, 126.0, -126.0, -127.0, -149.0, -150.0, 128.0)]
        rest = [bits_of(rng.choice([1, 1, 1, -1]) * rng.uniform(0.5, 1) * 2.0 ** rng.choice([0, 1, 2, 3, 4, 5, 6, -1, -2, -5, -10, -20, 20, 126, -126])) for _ in range(300)]
        values = first + extremes("f32") + rest
        return (values + [rng.getrandbits(32) for _ in range(THREADS)])[:THREADS]
    rng = random.Random(f"{kind}{operand}")
    special = extremes(kind)
    pick = [lambda i: i // EXTREMES, lambda i: i % EXTREMES, lambda i: (i * 5 + i // EXTREMES) % EXTREMES][operand]
    return [special[pick(i)] if i < PAIRS else some(rng, kind) for i in range(THREADS)]


def conversion_pool(kind):
    """Floats around the limits and halfway points of what they are converted to."""
    rng = random.Random(f"convert {kind}")
    e, m = FLOATS[kind]
    limits = []
    for x in (0.5, 1.5, 2.5, 0.75, 127, 127.5, 128, 128.5, 255, 255.5, 256, 32767, 32767.5, 32768, 65535, 65535.5, 65536, 2.0 ** 31 - 1,
              2.0 ** 31, 2.0 ** 32 - 1, 2.0 ** 32, 2.0 ** 63 - 1024, 2.0 ** 63, 2.0 ** 64 - 2048, 2.0 ** 64, 448, 464, 465, 480, 57344, 61440, 65504, 65519, 65520,
              2.0 ** -14, 2.0 ** -24, 2.0 ** -25, 2.0 ** -26, 2.0 ** -9, 2.0 ** -10, 2.0 ** -16, 2.0 ** -17, 3.4e38, 1e-45, 1e-40, 2.0 ** -126, 2.0 ** -133, 2.0 ** -134):
        limits += [x, -x]
    patterns = [narrow(kind, x) for x in limits]
    patterns += extremes(kind)
    while len(patterns) < THREADS:
        patterns.append(near_formats(rng, kind) if rng.randrange(3) and kind in ("f32", "f64") else some(rng, kind))
    return patterns[:THREADS]


def narrow(kind, value):
    """A pattern near a number; which neighbour does not matter here."""
    if kind == "f64":
        return double_bits(value)
    value = float(value)
    single = bits_of(max(-3.4e38, min(3.4e38, value)))
    if kind == "f32":
        return single
    if kind == "bf16":
        return single >> 16
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7bff if value > 0 else 0xfbff


def tensor_pool(kind, size, operand):
    """Elements for fragments, 4096 bytes of them: `size` is like, wide or special."""
    rng = random.Random(f"{kind} {size} {operand}")
    count = TENSOR_BYTES * 8 // BITS[kind]
    if kind not in FLOATS:
        return [rng.getrandbits(BITS[kind]) for _ in range(count)]
    e, m = FLOATS[kind]
    n, bias = BITS[kind], (1 << (e - 1)) - 1

    def one():
        if size == "like":
            low, high = bias - 2, bias + 1
        else:
            low, high = {"f16": (1, 24), "bf16": (bias - 12, bias + 12), "e4m3": (0, 14), "e5m2": (3, 27)}.get(kind, (bias - 12, bias + 12))
        exponent = rng.randint(low, high)
        if size != "like" and rng.randrange(8) == 0:
            return rng.choice([0, 1 << (n - 1), rng.getrandbits(m)])
        if size == "special" and rng.randrange(40) == 0:
            return rng.choice([0, 1]) << (n - 1) | ((1 << e) - 1) << m | (rng.choice([0, 0, 1]) if e != 4 else 7)
        return rng.getrandbits(1) << (n - 1) | exponent << m | rng.getrandbits(m)

    return [one() for _ in range(count)]


def sum_pool(kind, size):
    """Accumulators, 4096 bytes of them."""
    count = TENSOR_BYTES * 8 // BITS[kind]
    if kind == "i32":
        rng = random.Random(f"sum {kind} {size}")
        return [rng.choice([rng.getrandbits(32), rng.getrandbits(16), 0x7fffff00, 0x80000100]) for _ in range(count)]
    if size == "like":
        return tensor_pool(kind, "like", 2)
    rng = random.Random(f"sum {kind} {size}")
    e, m = FLOATS[kind]
    n, bias = BITS[kind], (1 << (e - 1)) - 1
    reach = 12 if kind == "f16" else 30

    def one():
        if rng.randrange(4) == 0:
            return rng.choice([0, 1 << (n - 1)])
        if size == "special" and rng.randrange(20) == 0:
            return rng.choice([0, 1]) << (n - 1) | ((1 << e) - 1) << m | rng.choice([0, 0, 1])
        return rng.getrandbits(1) << (n - 1) | (bias + rng.randint(-reach, reach)) << m | rng.getrandbits(m)

    return [one() for _ in range(count)]


def pack(kind, values):
    """The bytes of a pool, little end first."""
    width = {"e4m3x2": 16, "e5m2x2": 16, "f16x2": 32, "bf16x2": 32, "i16x2": 32, "amount": 32, "real": 32}.get(kind) or BITS[kind]
    return b"".join((v & ((1 << width) - 1)).to_bytes(width // 8, "little") for v in values)


def build(name):
    """The bytes of the pool of this name: `f32.1`, `convert.f16`, `tensor.f16.wide.0` or `sum.f32.like`."""
    parts = name.split(".")
    if parts[0] == "convert":
        return pack(parts[1], conversion_pool(parts[1]))
    if parts[0] == "tensor":
        return pack(parts[1], tensor_pool(parts[1], parts[2], int(parts[3])))
    if parts[0] == "sum":
        return pack(parts[1], sum_pool(parts[1], parts[2]))
    return pack(parts[0], scalar_pool(parts[0], int(parts[1])))
