"""The scalar instructions that are recorded: a form each, with the pools of its operands.

A form is (instruction, result's width, pools). `%d` is the result, `%a`, `%b` and `%c` the operands, `%p` and `%q`
predicates, and `%t` and `%u` registers of the result's width. Without operands in it, the instruction is an opcode: its
operands are appended.
"""
from pools import BITS

FORMS = []
WIDTHS = {"e4m3x2": 16, "e5m2x2": 16, "f16x2": 32, "bf16x2": 32, "i16x2": 32, "amount": 32, "real": 32}


def width(pool):
    kind = pool.split(".")[1 if pool.startswith("convert") else 0]
    return WIDTHS.get(kind) or BITS[kind]


def form(text, result, *pools):
    operands = ("%a", "%b", "%c")[:len(pools)]
    if "%" not in text:
        text = f"{text} {', '.join(('%d',) + operands)};"
    FORMS.append((text, result, pools))


def operands(kind, count):
    return [f"{kind}.{i}" for i in range(count)]


def each(opcodes, kind, count, result=None):
    """The same operands for several opcodes. `{t}` is the kind."""
    name = kind.replace("i", "s") if kind[0] == "i" else kind
    unsigned = kind.replace("i", "u")
    for opcode in opcodes.split():
        form(opcode.format(t=name, u=unsigned, b=f"b{kind[1:]}"), result or WIDTHS.get(kind) or BITS[kind], *operands(kind, count))


def floats():
    each("add.{t} add.rn.{t} add.rz.{t} add.rm.{t} add.rp.{t} add.ftz.{t} add.rz.ftz.{t} add.sat.{t} add.ftz.sat.{t} sub.{t} sub.rp.{t} sub.ftz.{t}", "f32", 2)
    each("mul.{t} mul.rn.{t} mul.rz.{t} mul.rm.{t} mul.rp.{t} mul.ftz.{t} mul.rp.ftz.{t} mul.sat.{t} mul.rz.ftz.{t}", "f32", 2)
    each("fma.rn.{t} fma.rz.{t} fma.rm.{t} fma.rp.{t} fma.rn.ftz.{t} fma.rz.ftz.{t} fma.rn.sat.{t} fma.rn.ftz.sat.{t}", "f32", 3)
    each("div.rn.{t} div.rz.{t} div.rm.{t} div.rp.{t} div.rn.ftz.{t} div.full.{t} div.full.ftz.{t} div.approx.{t} div.approx.ftz.{t}", "f32", 2)
    each("min.{t} max.{t} min.ftz.{t} max.ftz.{t} min.NaN.{t} max.NaN.{t} max.ftz.NaN.{t} min.xorsign.abs.{t} max.xorsign.abs.{t} min.NaN.xorsign.abs.{t} copysign.{t}", "f32", 2)
    each("abs.{t} neg.{t} abs.ftz.{t} neg.ftz.{t} sqrt.rn.{t} sqrt.rz.{t} sqrt.rm.{t} sqrt.rp.{t} sqrt.rn.ftz.{t} rcp.rn.{t} rcp.rz.{t} rcp.rm.{t} rcp.rp.{t} rcp.rn.ftz.{t}", "f32", 1)
    each("add.{t} add.rz.{t} add.rm.{t} add.rp.{t} sub.{t} mul.{t} mul.rz.{t} mul.rm.{t} mul.rp.{t} div.rn.{t} div.rz.{t} div.rm.{t} div.rp.{t} min.{t} max.{t} copysign.{t}", "f64", 2)
    each("fma.rn.{t} fma.rz.{t} fma.rm.{t} fma.rp.{t}", "f64", 3)
    each("abs.{t} neg.{t} sqrt.rn.{t} sqrt.rp.{t} sqrt.rz.{t} rcp.rn.{t} rcp.rz.{t}", "f64", 1)
    for kind in ("f16", "f16x2"):
        each("add.{t} add.ftz.{t} add.sat.{t} sub.{t} sub.sat.{t} mul.{t} mul.ftz.{t} mul.sat.{t} min.{t} max.{t} min.NaN.{t} max.NaN.{t} max.ftz.{t} min.xorsign.abs.{t} max.NaN.xorsign.abs.{t}", kind, 2)
        each("fma.rn.{t} fma.rn.ftz.{t} fma.rn.sat.{t} fma.rn.relu.{t} fma.rn.ftz.relu.{t}", kind, 3)
        each("abs.{t} neg.{t} abs.ftz.{t} ex2.approx.{t} tanh.approx.{t}", kind, 1)
    for kind in ("bf16", "bf16x2"):
        each("add.{t} sub.{t} mul.{t} min.{t} max.{t} min.NaN.{t} max.NaN.{t} max.xorsign.abs.{t} min.NaN.xorsign.abs.{t}", kind, 2)
        each("fma.rn.{t} fma.rn.relu.{t}", kind, 3)
        each("abs.{t} neg.{t} ex2.approx.ftz.{t} tanh.approx.{t}", kind, 1)


def functions():
    for name in ("ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt"):
        for ftz in ("", ".ftz"):
            form(f"{name}.approx{ftz}.f32", 32, "real.0")
            form(f"{name}.approx{ftz}.f32", 32, "f32.0")
    form("tanh.approx.f32", 32, "real.0")
    form("tanh.approx.f32", 32, "f32.0")
    form("rcp.approx.ftz.f64", 64, "f64.0")
    form("rsqrt.approx.ftz.f64", 64, "f64.0")
    for ftz in ("", ".ftz"):
        form(f"div.full{ftz}.f32", 32, "real.0", "real.1")
        form(f"div.approx{ftz}.f32", 32, "real.0", "real.1")


def comparisons():
    select = "selp.b32 %d, 1, 0, %p;"
    for op in "eq ne lt le gt ge equ neu ltu leu gtu geu num nan".split():
        form(f"setp.{op}.f32 %p, %a, %b; {select}", 32, *operands("f32", 2))
    for op in "eq lt geu nan".split():
        form(f"setp.{op}.ftz.f32 %p, %a, %b; {select}", 32, *operands("f32", 2))
        form(f"setp.{op}.f64 %p, %a, %b; {select}", 32, *operands("f64", 2))
        form(f"setp.{op}.f16 %p, %a, %b; {select}", 32, *operands("f16", 2))
        form(f"setp.{op}.bf16 %p, %a, %b; {select}", 32, *operands("bf16", 2))
        both = "selp.b32 %t, 1, 0, %p; selp.b32 %d, 2, 0, %q; or.b32 %d, %d, %t;"
        form(f"setp.{op}.f16x2 %p|%q, %a, %b; {both}", 32, *operands("f16x2", 2))
    for op in "eq ne lt le gt ge".split():
        form(f"setp.{op}.s32 %p, %a, %b; {select}", 32, *operands("i32", 2))
        form(f"setp.{op}.u16 %p, %a, %b; {select}", 32, *operands("i16", 2))
    for op in "lo ls hi hs lt ge".split():
        form(f"setp.{op}.u32 %p, %a, %b; {select}", 32, *operands("i32", 2))
    for op in "lt ge".split():
        form(f"setp.{op}.s64 %p, %a, %b; {select}", 32, *operands("i64", 2))
        form(f"setp.{op}.u64 %p, %a, %b; {select}", 32, *operands("i64", 2))
    both = "selp.b32 %t, 1, 0, %p; selp.b32 %d, 2, 0, %q; or.b32 %d, %d, %t;"
    for combine in ("and", "or", "xor"):
        form(f"setp.ne.s32 %r, %a, 0; setp.lt.{combine}.f32 %p|%q, %b, %c, %r; {both}", 32, "i32.0", "f32.0", "f32.1")
        form(f"setp.ne.s32 %r, %a, 0; setp.gt.{combine}.u32 %p, %b, %c, !%r; {select}", 32, "i32.0", "i32.1", "i32.2")
    form("set.lt.u32.f32 %d, %a, %b;", 32, *operands("f32", 2))
    form("set.ge.f32.f32 %d, %a, %b;", 32, *operands("f32", 2))
    form("set.gt.s32.u32 %d, %a, %b;", 32, *operands("i32", 2))
    form("slct.f32.s32 %d, %a, %b, %c;", 32, "f32.0", "f32.1", "i32.0")
    form("slct.f32.f32 %d, %a, %b, %c;", 32, "f32.0", "f32.1", "f32.2")
    for test in "finite infinite number notanumber normal subnormal".split():
        form(f"testp.{test}.f32 %p, %a; {select}", 32, "f32.0")
        form(f"testp.{test}.f64 %p, %a; {select}", 32, "f64.0")


def integers():
    for kind in ("i16", "i32", "i64"):
        each("add.{t} sub.{t} mul.lo.{t} mul.hi.{t} mul.hi.{u} div.{t} div.{u} rem.{t} rem.{u} min.{t} max.{t} min.{u} max.{u} and.{b} or.{b} xor.{b}", kind, 2)
        each("mad.lo.{t}", kind, 3)
        each("sad.{t} sad.{u}", kind, 3)
        each("abs.{t} neg.{t} not.{b}", kind, 1)
        form(f"cnot.b{kind[1:]}", BITS[kind], f"{kind}.0")
        for op in (f"shl.b{kind[1:]}", f"shr.s{kind[1:]}", f"shr.u{kind[1:]}"):
            form(op, BITS[kind], f"{kind}.1", "amount.0")
    each("add.sat.{t} sub.sat.{t} mul24.lo.{t} mul24.hi.{t} mul24.lo.{u} mul24.hi.{u} min.relu.{t} max.relu.{t}", "i32", 2)
    each("mad.hi.{t} mad.hi.{u} mad.hi.sat.{t} mad24.lo.{t} mad24.hi.{u} mad24.hi.sat.{t} dp4a.{t}.{t} dp4a.{u}.{u} dp4a.{t}.{u} dp4a.{u}.{t}", "i32", 3)
    each("dp2a.lo.{t}.{t} dp2a.hi.{t}.{u} dp2a.lo.{u}.{t} dp2a.hi.{u}.{u}", "i32", 3)
    each("mad.hi.{t} mad.hi.{u}", "i64", 3)
    each("add.{u} min.{t} max.{t} min.{u} max.{u} min.relu.{t} max.relu.{t}", "i16x2", 2)
    for sign in "su":
        form(f"mul.wide.{sign}16", 32, *operands("i16", 2))
        form(f"mul.wide.{sign}32", 64, *operands("i32", 2))
        form(f"mad.wide.{sign}16", 32, "i16.0", "i16.1", "i32.2")
        form(f"mad.wide.{sign}32", 64, "i32.0", "i32.1", "i64.2")
        for bits in (32, 64):
            form(f"bfe.{sign}{bits}", bits, f"i{bits}.0", "amount.0", "amount.1")
            form(f"bfind.{sign}{bits}", 32, f"i{bits}.0")
            form(f"bfind.shiftamt.{sign}{bits}", 32, f"i{bits}.0")
        form(f"szext.clamp.{sign}32", 32, "i32.0", "amount.0")
        form(f"szext.wrap.{sign}32", 32, "i32.0", "amount.0")
    form("bmsk.clamp.b32", 32, "amount.0", "amount.1")
    form("bmsk.wrap.b32", 32, "amount.0", "amount.1")
    for bits in (32, 64):
        form(f"bfi.b{bits} %d, %a, %u{bits}, %b, %c;", bits, f"i{bits}.0", "amount.0", "amount.1")
        form(f"brev.b{bits}", bits, f"i{bits}.0")
        form(f"clz.b{bits}", 32, f"i{bits}.0")
        form(f"popc.b{bits}", 32, f"i{bits}.0")
    form("fns.b32 %d, %a, %b, %c;", 32, "i32.1", "amount.0", "i32.0")
    for direction in "lr":
        for mode in ("clamp", "wrap"):
            form(f"shf.{direction}.{mode}.b32", 32, "i32.0", "i32.1", "amount.0")
    form("prmt.b32", 32, *operands("i32", 3))
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        form(f"prmt.b32.{mode}", 32, *operands("i32", 3))
    for table in (0x96, 0xca, 0x80, 0xfe, 0x1b):
        form(f"lop3.b32 %d, %a, %b, %c, {table};", 32, *operands("i32", 3))
    for bits in (32, 64):
        form(f"add.cc.u{bits} %t, %a, %b; addc.u{bits} %d, %c, 0;", bits, *operands(f"i{bits}", 3))
        form(f"sub.cc.u{bits} %t, %a, %b; subc.u{bits} %d, %c, 0;", bits, *operands(f"i{bits}", 3))
    form("add.cc.u32 %t, %a, %b; addc.cc.u32 %t, %b, %c; addc.u32 %d, %t, 0;", 32, *operands("i32", 3))
    form("mad.lo.cc.u32 %t, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0;", 32, *operands("i32", 3))
    form("mad.hi.cc.s32 %t, %a, %b, %c; addc.u32 %d, %t, 0;", 32, *operands("i32", 3))


def contains(target, source):
    """Whether an integer type has all values of another; then nothing can be clamped."""
    (t, n), (s, m) = (target[0], int(target[1:])), (source[0], int(source[1:]))
    return n >= m and t == s or n > m and s == "u"


def warps():
    """Instructions whose lanes see each other's operands."""
    for mode in ("up", "down", "bfly", "idx"):
        for bounds in ("0", "31", "0x181f", "0x1c1f"):
            form(f"shfl.sync.{mode}.b32 %d|%p, %a, %b, {bounds}, -1; @!%p not.b32 %d, %d;", 32, "i32.0", "amount.0")
    for op in ("add", "min", "max"):
        form(f"redux.sync.{op}.s32 %d, %a, -1;", 32, "i32.0")
        form(f"redux.sync.{op}.u32 %d, %a, -1;", 32, "i32.0")
    for op in ("and", "or", "xor"):
        form(f"redux.sync.{op}.b32 %d, %a, -1;", 32, "i32.0")
    form("and.b32 %t, %a, 3; match.any.sync.b32 %d, %t, -1;", 32, "i32.0")
    form("match.any.sync.b64 %d, %a, -1;", 32, "i64.0")
    form("shr.u32 %t, %i, 6; match.all.sync.b32 %d|%p, %t, -1; @!%p not.b32 %d, %d;", 32, "i32.0")
    form("and.b32 %t, %a, 3; match.all.sync.b32 %d|%p, %t, -1; @!%p not.b32 %d, %d;", 32, "i32.0")
    form("setp.lt.s32 %p, %a, %b; vote.sync.ballot.b32 %d, %p, -1;", 32, *operands("i32", 2))
    for op in ("any", "all", "uni"):
        form(f"setp.lt.s32 %p, %a, %b; vote.sync.{op}.pred %q, %p, -1; selp.b32 %d, 1, 0, %q;", 32, *operands("i32", 2))


def atomics():
    """What atomics leave in memory, and what they return; each thread has its own place."""
    def one(op, bits, kind, memory):
        size = bits // 8
        place = f"ld.param.u64 %x, [out]; mul.wide.u32 %y, %i, {size}; add.s64 %x, %x, %y;"
        if memory == "shared":
            place = f"mov.u32 %m, %tid.x; mul.lo.u32 %m, %m, {size}; mov.u32 %n, own; add.u32 %m, %m, %n; cvt.u64.u32 %x, %m;"
        after = "%b, %c" if op.startswith("cas") else "%b"
        count = 3 if op.startswith("cas") else 2
        form(f"{{ {place} st.{memory}.b{bits} [%x], %a; atom.{memory}.{op} %t, [%x], {after}; ld.{memory}.b{bits} %d, [%x]; "
             f"xor.b{bits} %d, %d, %t; }}", bits, *operands(kind, count))

    for memory in ("global", "shared"):
        for op in ("add.f32", "add.noftz.f16x2", "add.noftz.bf16x2"):
            one(op, 32, op.split(".")[-1], memory)
        one("add.f64", 64, "f64", memory)
        for op in ("add.s32", "add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "inc.u32", "dec.u32", "and.b32", "or.b32", "xor.b32", "exch.b32", "cas.b32"):
            one(op, 32, "i32", memory)
        for op in ("add.u64", "min.s64", "max.s64", "min.u64", "max.u64", "exch.b64", "cas.b64"):
            one(op, 64, "i64", memory)
    one("add.noftz.f16", 16, "f16", "global")
    one("add.noftz.bf16", 16, "bf16", "global")


def conversions():
    modes = ("rn", "rz", "rm", "rp")
    whole = ("rni", "rzi", "rmi", "rpi")
    for target, bits in (("s8", 32), ("u8", 32), ("s16", 16), ("u16", 16), ("s32", 32), ("u32", 32), ("s64", 64), ("u64", 64)):
        for source in ("f32", "f64", "f16"):
            for mode in whole if target in ("s32", "u32", "s64") and source != "f16" else ("rzi",):
                form(f"cvt.{mode}.{target}.{source}", bits, f"convert.{source}")
        for source in ("f16", "f32", "f64", "bf16"):
            if target[1:] == "8" or source == "bf16" and target in ("s16", "u16", "s64", "u64"):
                continue
            for mode in modes if (source, target) in (("f32", "s32"), ("f32", "u64"), ("f64", "s64"), ("f16", "s32")) else ("rn",):
                form(f"cvt.{mode}.{source}.{target}", BITS[source], f"i{target[1:]}.0")
    form("cvt.rzi.ftz.s32.f32", 32, "convert.f32")
    form("cvt.rpi.ftz.s32.f32", 32, "convert.f32")
    form("cvt.rni.ftz.s64.f32", 64, "convert.f32")
    form("cvt.rpi.s32.bf16", 32, "convert.bf16")
    form("cvt.rn.sat.f32.s32", 32, "i32.0")
    for mode in whole:
        form(f"cvt.{mode}.f32.f32", 32, "convert.f32")
        form(f"cvt.{mode}.f64.f64", 64, "convert.f64")
        form(f"cvt.{mode}.f16.f16", 16, "convert.f16")
    form("cvt.rmi.ftz.f32.f32", 32, "convert.f32")
    form("cvt.rpi.ftz.f32.f32", 32, "convert.f32")
    form("cvt.rzi.sat.f32.f32", 32, "convert.f32")
    form("cvt.sat.f32.f32", 32, "convert.f32")
    form("cvt.ftz.f32.f32 %d, %a;", 32, "convert.f32")
    form("cvt.sat.f64.f64", 64, "convert.f64")
    for mode in modes:
        form(f"cvt.{mode}.f32.f64", 32, "convert.f64")
        form(f"cvt.{mode}.f16.f32", 16, "convert.f32")
        form(f"cvt.{mode}.f16.f64", 16, "convert.f64")
    for mode in ("rn", "rz"):
        for relu in ("", ".relu"):
            form(f"cvt.{mode}{relu}.bf16.f32", 16, "convert.f32")
            form(f"cvt.{mode}{relu}.f16x2.f32 %d, %a, %b;", 32, "convert.f32", "f32.1")
            form(f"cvt.{mode}{relu}.bf16x2.f32 %d, %a, %b;", 32, "convert.f32", "f32.1")
    form("cvt.rn.relu.f16.f32", 16, "convert.f32")
    form("cvt.rn.ftz.f16.f32", 16, "convert.f32")
    form("cvt.rn.sat.f16.f32", 16, "convert.f32")
    form("cvt.rn.ftz.f32.f64", 32, "convert.f64")
    form("cvt.rn.sat.f32.f64", 32, "convert.f64")
    form("cvt.f32.f16", 32, "convert.f16")
    form("cvt.ftz.f32.f16", 32, "convert.f16")
    form("cvt.sat.f32.f16", 32, "convert.f16")
    form("cvt.f32.bf16", 32, "convert.bf16")
    form("cvt.f64.f32", 64, "convert.f32")
    form("cvt.ftz.f64.f32", 64, "convert.f32")
    form("cvt.f64.f16", 64, "convert.f16")
    form("cvt.rna.tf32.f32", 32, "convert.f32")
    form("cvt.rn.tf32.f32", 32, "convert.f32")
    form("cvt.rz.relu.tf32.f32", 32, "convert.f32")
    form("cvt.rna.satfinite.tf32.f32", 32, "convert.f32")
    for ty in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            form(f"cvt.rn.satfinite{relu}.{ty}.f32 %d, %a, %b;", 16, "convert.f32", "f32.1")
            form(f"cvt.rn.satfinite{relu}.{ty}.f16x2 %d, %a;", 16, "f16x2.0")
            form(f"cvt.rn{relu}.f16x2.{ty} %d, %a;", 32, f"{ty}.0")
        form(f"cvt.rn.satfinite.{ty}.f16x2 %d, %a;", 16, "f16x2.1")
    names = {"8": 32, "16": 16, "32": 32, "64": 64}
    for target in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
        for source in ("s16", "u16", "s32", "u32", "s64", "u64"):
            if target[1:] == source[1:] and target[0] == source[0]:
                continue
            if not contains(target, source):
                form(f"cvt.sat.{target}.{source}", names[target[1:]], f"i{source[1:]}.0")
            if int(target[1:]) != int(source[1:]):
                form(f"cvt.{target}.{source}", names[target[1:]], f"i{source[1:]}.0")
    for source in ("s8", "u8"):
        for target in ("s16", "u32", "s64"):
            form(f"cvt.{target}.{source}", names[target[1:]], "i32.0")
        form(f"cvt.rn.f32.{source}", 32, "i32.0")


def build():
    FORMS.clear()
    for family in (floats, functions, comparisons, integers, conversions, warps, atomics):
        family()
    return FORMS
