"""The tensor instructions that are recorded: entries for whole warps and warp groups.

Each is (instruction, PTX with ENTRY for the entry's name, blocks, threads, bytes of the result, pools).
"""
SIZES = ("like", "wide", "special")
REGION = 16384  # where B starts in shared memory
SPANS = {"none": 16, "32": 32, "64": 64, "128": 128}
MODES = {"none": 0, "128": 1, "64": 2, "32": 3}
ELEMENT_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "f64": 64}


def head(registers):
    return (".visible .entry ENTRY(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n"
            "    .reg .pred %p; .reg .b32 %i, %j, %n, %m, %s, %v; .reg .b64 %x, %y, %z, %da, %db;\n"
            f"    {registers}\n"
            "    mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %m, %ctaid.x; mad.lo.s32 %j, %m, %n, %i;\n")


def load(letter, count, bits, wrap=4095):
    """Loads a thread's registers, which follow one another in the pool."""
    lines = [f"    ld.param.u64 %x, [p{letter}]; mul.lo.u32 %s, %j, {count * bits // 8};"]
    for r in range(count):
        lines.append(f"    add.u32 %v, %s, {r * bits // 8}; and.b32 %v, %v, {wrap}; cvt.u64.u32 %y, %v; add.s64 %y, %x, %y; ld.global.b{bits} %{letter}{r}, [%y];")
    return "\n".join(lines) + "\n"


def store(letter, count, bits):
    lines = [f"    ld.param.u64 %x, [out]; mul.wide.u32 %y, %j, {count * bits // 8}; add.s64 %x, %x, %y;"]
    lines += [f"    st.global.b{bits} [%x+{r * bits // 8}], %{letter}{r};" for r in range(count)]
    return "\n".join(lines) + "\n    ret;\n}\n"


def fill(letter, first, size):
    """Copies a pool into shared memory, over and over, until `size` bytes are full; each time it starts 36 bytes
    later."""
    return (f"    ld.param.u64 %x, [p{letter}]; shl.b32 %s, %i, 2; shl.b32 %n, %n, 2; mov.u32 %m, mem; add.u32 %m, %m, {first};\n"
            f"$fill_{letter}_ENTRY:\n"
            "    shr.u32 %v, %s, 12; mad.lo.u32 %v, %v, 36, %s; and.b32 %v, %v, 4095; cvt.u64.u32 %y, %v; add.s64 %y, %x, %y; ld.global.b32 %v, [%y];\n"
            "    add.u32 %s, %s, %m; st.shared.b32 [%s], %v; sub.u32 %s, %s, %m;\n"
            f"    add.u32 %s, %s, %n; setp.lt.u32 %p, %s, {size}; @%p bra $fill_{letter}_ENTRY;\n"
            "    shr.u32 %n, %n, 2;\n")


def vector(letter, count):
    return "{" + ", ".join(f"%{letter}{r}" for r in range(count)) + "}"


def pool_kind(ty):
    return "i8" if ty in ("s8", "u8") else ty


def mma_forms():
    for size in SIZES:
        for shape, a, b, d in [
            ("m16n8k8", "f16", "f16", "f32"), ("m16n8k16", "f16", "f16", "f32"), ("m16n8k8", "f16", "f16", "f16"), ("m16n8k16", "f16", "f16", "f16"),
            ("m16n8k8", "bf16", "bf16", "f32"), ("m16n8k16", "bf16", "bf16", "f32"), ("m16n8k4", "tf32", "tf32", "f32"), ("m16n8k8", "tf32", "tf32", "f32"),
            ("m16n8k32", "e4m3", "e4m3", "f32"), ("m16n8k32", "e5m2", "e5m2", "f32"), ("m16n8k32", "e4m3", "e5m2", "f32"), ("m16n8k32", "e5m2", "e4m3", "f32"),
            ("m16n8k16", "e4m3", "e4m3", "f32"), ("m16n8k16", "e5m2", "e4m3", "f32"), ("m16n8k32", "e4m3", "e5m2", "f16"), ("m16n8k16", "e5m2", "e5m2", "f16"),
            ("m8n8k4", "f64", "f64", "f64"), ("m16n8k4", "f64", "f64", "f64"), ("m16n8k8", "f64", "f64", "f64"), ("m16n8k16", "f64", "f64", "f64"),
        ]:
            yield mma(shape, a, b, d, "", size)
    for shape in ("m8n8k16", "m16n8k16", "m16n8k32"):
        for a in ("s8", "u8"):
            for b in ("s8", "u8"):
                for saturate in ("", ".satfinite"):
                    yield mma(shape, a, b, "s32", saturate, "wide")


def mma(shape, a, b, d, saturate, size):
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    m, n, k = int(m), int(n), int(k)
    bits = 64 if a == "f64" else 32
    count_a, count_b = (m * k * ELEMENT_BITS[a] // (32 * bits)), (n * k * ELEMENT_BITS[b] // (32 * bits))
    count_c = m * n // 32 // (2 if d == "f16" else 1)
    op = f"mma.sync.aligned.{shape}.row.col{saturate}.{d}.{a}.{b}.{d}"
    body = head(f".reg .b{bits} %a<8>, %b<4>; .reg .b{bits} %c<8>;") + load("a", count_a, bits) + load("b", count_b, bits) + load("c", count_c, bits)
    c = vector("c", count_c)
    body += f"    {op} {c}, {vector('a', count_a)}, {vector('b', count_b)}, {c};\n" + store("c", count_c, bits)
    total = {"f16": "f16", "f32": "f32", "s32": "i32", "f64": "f64"}[d]
    blocks = 2
    return op, body, blocks, 32, blocks * 32 * count_c * bits // 8, (f"tensor.{pool_kind(a)}.{size}.0", f"tensor.{pool_kind(b)}.{size}.1", f"sum.{total}.{size}")


def matrices():
    for trans in ("", ".trans"):
        for count in (1, 2, 4):
            rows = "    mul.lo.u32 %s, %i, 7; and.b32 %s, %s, 31; mul.lo.u32 %s, %s, 48; mov.u32 %m, mem; add.u32 %s, %s, %m;\n"
            body = head(".reg .b32 %a<4>;") + fill("a", 0, 4096) + "    bar.sync 0;\n" + rows
            op = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            body += f"    {op} {vector('a', count)}, [%s];\n" + store("a", count, 32)
            yield op, body, 1, 32, 32 * count * 4, ("tensor.f16.wide.0",)
            op = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            body = head(".reg .b32 %a<4>, %b<64>;") + fill("b", 0, 4096) + load("a", count, 32) + "    bar.sync 0;\n" + rows
            body += f"    {op} [%s], {vector('a', count)};\n    bar.sync 0; mov.u32 %m, mem; mad.lo.u32 %m, %i, 64, %m;\n"
            body += "\n".join(f"    ld.shared.b32 %b{r}, [%m+{4 * r}];" for r in range(16)) + "\n" + store("b", 16, 32)
            yield op, body, 1, 32, 32 * 64, ("tensor.f16.wide.0", "tensor.f16.wide.1")


def describe(lines, major, swizzle):
    """The strides of a descriptor, and the bytes that it covers, for so many lines of M or N."""
    span = SPANS[swizzle]
    if swizzle == "none":
        return (lines // 8 * 128, 128, lines * 32) if major == "k" else (128, 256, lines * 32)
    if major == "k":
        return 16, 8 * span, lines * span
    return 16 * span, 8 * span, -(-lines * 2 // span) * 16 * span


def wgmma(a, b, d, n, size, swizzle="128", majors="kk", registers=False, scales=(1, 1), zero=False, saturate="", offset=0):
    """One `wgmma`. `offset` moves the start of both operands along the line, in bytes."""
    k = 256 // ELEMENT_BITS[a]
    count = n // 2 // (2 if d == "f16" else 1)
    op = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{saturate}"
    la, lb = describe(64, majors[0], swizzle), describe(n, majors[1], swizzle)
    body = head(f".reg .b32 %a<4>, %c<{count}>;")
    body += load("a", 4, 32) if registers else fill("a", 0, la[2])
    body += fill("b", REGION, lb[2]) + load("c", count, 32)
    body += "    fence.proxy.async; bar.sync 0;\n"
    for letter, first, (leading, stride, _) in (("a", 0, la), ("b", REGION, lb)):
        fixed = MODES[swizzle] << 62 | leading // 16 << 16 | stride // 16 << 32
        body += (f"    mov.u32 %m, mem; add.u32 %m, %m, {first + offset}; shr.u32 %m, %m, 4; and.b32 %m, %m, 0x3fff; cvt.u64.u32 %d{letter}, %m; "
                 f"mov.b64 %x, {fixed:#x}; or.b64 %d{letter}, %d{letter}, %x;\n")
    left = vector("a", 4) if registers else "%da"
    rest = [str(x) for x in scales] if d != "s32" else []
    if ELEMENT_BITS[a] == 16:
        rest += ([] if registers else [str(int(majors[0] == "m"))]) + [str(int(majors[1] == "m"))]
    body += f"    setp.eq.u32 %p, %n, {0 if zero else 128};\n    wgmma.fence.sync.aligned;\n"
    body += f"    {op} {vector('c', count)}, {left}, {', '.join(['%db', '%p'] + rest)};\n"
    body += "    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" + store("c", count, 32)
    total = {"f16": "f16", "f32": "f32", "s32": "i32"}[d]
    return op, body, 1, 128, 128 * count * 4, (f"tensor.{pool_kind(a)}.{size}.0", f"tensor.{pool_kind(b)}.{size}.1", f"sum.{total}.{size}")


def wgmma_forms():
    for size in SIZES:
        for a, b, d in [("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"), ("e4m3", "e4m3", "f32"),
                        ("e5m2", "e5m2", "f32"), ("e4m3", "e5m2", "f32"), ("e5m2", "e4m3", "f32"), ("e4m3", "e4m3", "f16"), ("e5m2", "e4m3", "f16")]:
            yield wgmma(a, b, d, 8, size)
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            for saturate in ("", ".satfinite"):
                yield wgmma(a, b, "s32", 8, "wide", saturate=saturate)
    for swizzle in SPANS:
        for majors in ("kk", "km", "mk", "mm"):
            yield wgmma("f16", "f16", "f16", 32, "like", swizzle, majors)
        yield wgmma("tf32", "tf32", "f32", 8, "like", swizzle)
        yield wgmma("s8", "s8", "s32", 8, "wide", swizzle)
    for n in (24, 104, 192):
        yield wgmma("f16", "f16", "f16", n, "like", "128", "mm")
    yield wgmma("f16", "f16", "f16", 256, "like", "128", "kk")
    yield wgmma("bf16", "bf16", "f32", 96, "like", "64", "km")
    for swizzle, offset in (("64", 32), ("128", 32), ("128", 64), ("128", 96)):
        yield wgmma("f16", "f16", "f16", 32, "like", swizzle, offset=offset)
    for a, b, d in [("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"), ("e4m3", "e4m3", "f32"), ("s8", "u8", "s32")]:
        yield wgmma(a, b, d, 8, "wide", registers=True)
    yield wgmma("f16", "f16", "f32", 16, "like", "64", "km", registers=True)
    for scales in ((-1, 1), (1, -1), (-1, -1)):
        yield wgmma("f16", "f16", "f32", 8, "special", scales=scales)
        yield wgmma("tf32", "tf32", "f32", 8, "wide", scales=scales)
    for a, d in (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("e4m3", "f32"), ("s8", "s32")):
        yield wgmma(a, a, d, 8, "special", zero=True)


def build():
    return [("mma", list(mma_forms())), ("matrix", list(matrices())), ("wgmma", list(wgmma_forms()))]
