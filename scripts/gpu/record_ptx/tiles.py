"""Copies by tensor maps that are recorded: boxes of a tensor to shared memory, and back.

Each is (instruction, PTX, blocks, threads, bytes of the result, pools, map). The map is
`element:dims:strides:box:element strides:swizzle:fill:where`, the innermost axis first, with the numbers of
`cuTensorMapEncodeTiled`; `where` is the buffer in which the tensor lies: the first pool, or the output.
"""
BYTES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2}
POOLS = {1: "tensor.i8.wide.0", 2: "tensor.f16.wide.0", 4: "tensor.f32.wide.0", 8: "tensor.f64.wide.0"}
SHARED = 8192


def head(registers):
    return (".visible .entry ENTRY(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .align 64 .b8 map[128])\n{\n"
            f"    .reg .pred %p; .reg .b32 %i, %s, %v, %m, %b; .reg .b64 %x, %y, %t; {registers}\n"
            "    mov.u32 %i, %tid.x; mov.u32 %m, mem; mov.u32 %b, bar; mov.b64 %t, map; cvta.param.u64 %t, %t;\n"
            "    setp.eq.u32 %p, %i, 0;\n")


def fill(letter):
    """Copies a pool into shared memory, over and over, or poison where there is no letter."""
    source = ("shr.u32 %v, %s, 12; mad.lo.u32 %v, %v, 36, %s; and.b32 %v, %v, 4095; cvt.u64.u32 %y, %v; add.s64 %y, %x, %y; ld.global.b32 %v, [%y];"
              if letter else "mov.b32 %v, 0xa5a5a5a5;")
    start = f"ld.param.u64 %x, [p{letter}]; " if letter else ""
    return (f"    {start}shl.b32 %s, %i, 2;\n$fill_ENTRY:\n    {source}\n"
            "    add.u32 %s, %s, %m; st.shared.b32 [%s], %v; sub.u32 %s, %s, %m;\n"
            f"    add.u32 %s, %s, 512; setp.lt.u32 %p, %s, {SHARED}; @%p bra $fill_ENTRY;\n"
            "    fence.proxy.async; bar.sync 0; setp.eq.u32 %p, %i, 0;\n")


def copy_out(size):
    """Copies shared memory to the output."""
    return ("    ld.param.u64 %x, [out]; shl.b32 %s, %i, 2;\n$copy_ENTRY:\n"
            "    add.u32 %v, %s, %m; ld.shared.b32 %v, [%v]; cvt.u64.u32 %y, %s; add.s64 %y, %x, %y; st.global.b32 [%y], %v;\n"
            f"    add.u32 %s, %s, 512; setp.lt.u32 %p, %s, {size}; @%p bra $copy_ENTRY;\n    ret;\n}}\n")


def describe(element, dims, strides, box, steps, swizzle, fill_nan, where):
    lists = [",".join(map(str, x)) for x in (dims, strides, box, steps)]
    return ":".join([str(element), *lists, str(swizzle), str(int(fill_nan)), where])


def load(element, dims, strides, box, at, swizzle=0, steps=None, fill_nan=False):
    """A box to shared memory, all of which is stored."""
    rank, steps = len(dims), steps or [1] * len(dims)
    size = BYTES[element]
    for b, s in zip(box, steps):
        size *= -(-b // s)
    op = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    place = ", ".join(map(str, at))
    body = head("") + fill("") + (
        "    @%p mbarrier.init.shared.b64 [%b], 1;\n    fence.proxy.async; bar.sync 0;\n"
        f"    @%p mbarrier.arrive.expect_tx.shared.b64 _, [%b], {size};\n"
        f"    @%p {op} [%m], [%t, {{{place}}}], [%b];\n"
        # A copy of another size than expected must not hang the GPU.
        "    mov.b32 %s, 0;\n$wait_ENTRY:\n    mbarrier.try_wait.parity.shared.b64 %p, [%b], 0; @%p bra $done_ENTRY;\n"
        "    add.u32 %s, %s, 1; setp.lt.u32 %p, %s, 100000; @%p bra $wait_ENTRY;\n$done_ENTRY:\n") + copy_out(SHARED)
    return op, body, 1, 128, SHARED, (POOLS[BYTES[element]],), describe(element, dims, strides, box, steps, swizzle, fill_nan, "a")


def store(element, dims, strides, box, at, swizzle=0, steps=None, reduce=""):
    """A box from shared memory into the output, or reduced into it. The output is poison before."""
    rank, steps = len(dims), steps or [1] * len(dims)
    op = f"cp{'.reduce' if reduce else ''}.async.bulk.tensor.{rank}d.global.shared::cta{reduce}.tile.bulk_group"
    place = ", ".join(map(str, at))
    body = head("") + fill("a") + (f"    @%p {op} [%t, {{{place}}}], [%m];\n"
                                   "    @%p cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group 0;\n    ret;\n}\n")
    size = (strides[-1] if strides else BYTES[element]) * dims[-1]
    return op, body, 1, 128, size, (POOLS[BYTES[element]],), describe(element, dims, strides, box, steps, swizzle, False, "out")


def forms():
    for swizzle, columns in ((0, 64), (1, 16), (2, 32), (3, 64)):
        yield load(6, (60, 30), (128,), (columns, 16), (8, 4), swizzle)
        yield load(6, (60, 30), (128,), (columns, 16), (-8, 24), swizzle)
        yield store(6, (60, 30), (128,), (columns, 16), (8, 4), swizzle)
        yield store(6, (60, 30), (128,), (columns, 16), (-8, 24), swizzle)
    yield load(0, (100, 20), (112,), (32, 16), (3, 5))
    yield load(0, (100, 20), (112,), (128, 16), (90, -3), 3)
    yield load(7, (28, 20), (112,), (32, 16), (4, -3), 3)
    yield load(8, (14, 20), (112,), (8, 16), (10, 10), 2)
    yield load(4, (14, 20), (112,), (8, 16), (-2, 3))
    yield load(2, (28, 20), (112,), (8, 16), (25, 3), 1)
    for element, columns in ((6, 64), (9, 64), (7, 32), (8, 16)):
        yield load(element, (columns - 4, 12), (128,), (columns, 16), (0, 2), fill_nan=True)
    yield load(6, (1000,), (), (256,), (900,))
    yield load(6, (24, 5, 7), (64, 320), (32, 4, 6), (-4, 2, 3), 2)
    yield load(6, (24, 5, 3, 2), (64, 320, 960), (16, 4, 2, 3), (4, 2, 1, -1))
    yield load(6, (16, 5, 2, 2, 3), (32, 160, 320, 640), (16, 4, 2, 2, 2), (-2, 2, 1, 1, 2), 1)
    yield load(6, (60, 30), (128,), (32, 16), (4, 2), steps=(1, 3))
    yield store(6, (60, 30), (128,), (32, 16), (4, 2), steps=(1, 3))
    yield store(7, (28, 20), (112,), (16, 8), (20, -3))
    yield store(6, (24, 5, 7), (64, 320), (32, 4, 6), (-4, 2, 3), 2)
    for element, op in ((6, "add"), (9, "add"), (7, "add"), (6, "min"), (6, "max"), (2, "add"), (2, "min"), (3, "max"), (2, "inc"), (2, "dec"),
                        (2, "and"), (2, "or"), (2, "xor"), (4, "add"), (5, "min")):
        columns = 64 // BYTES[element]
        yield store(element, (columns - 2, 12), (64,), (columns, 8), (0, 2), reduce=f".{op}")
    # Boxes of all ranks that start at a chunk of 16 bytes; of those above that do not, the GPU takes none.
    yield load(0, (100, 20), (112,), (32, 16), (16, 5))
    yield load(0, (100, 20), (112,), (128, 16), (80, -3), 3)
    yield load(2, (28, 20), (112,), (8, 16), (24, 3), 1)
    yield load(6, (1000,), (), (256,), (896,))
    yield load(6, (24, 5, 7), (64, 320), (32, 4, 6), (-8, 2, 3), 2)
    yield load(6, (24, 5, 3, 2), (64, 320, 960), (16, 4, 2, 3), (8, 2, 1, -1))
    yield load(6, (16, 5, 2, 2, 3), (32, 160, 320, 640), (16, 4, 2, 2, 2), (-8, 2, 1, 1, 2), 1)
    yield load(6, (60, 30), (128,), (32, 16), (8, 2), steps=(1, 3))
    yield store(6, (60, 30), (128,), (32, 16), (8, 2), steps=(1, 3))
    yield store(0, (100, 20), (112,), (32, 16), (80, 8))
    yield store(7, (26, 20), (112,), (16, 8), (20, 14))
    yield store(6, (1000,), (), (256,), (896,))
    yield store(6, (24, 5, 7), (64, 320), (32, 4, 6), (8, 2, 3), 2)
    yield store(6, (24, 5, 3, 2), (64, 320, 960), (16, 4, 2, 2), (8, 2, 1, 1))
    yield store(6, (16, 5, 2, 2, 3), (32, 160, 320, 640), (16, 4, 2, 2, 2), (8, 2, 1, 1, 2), 1)
    # Boxes that start before the tensor along one axis.
    for at in ((-8, 4), (8, -4)):
        yield store(6, (60, 30), (128,), (64, 16), at)
        yield store(6, (60, 30), (128,), (64, 16), at, reduce=".add")


def build():
    return [("tiles", list(forms()))]
