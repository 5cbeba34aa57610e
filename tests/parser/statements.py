import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n: "i32", BLOCK: tl.constexpr = 1024):
    """Every statement that a kernel may hold."""
    pid = tl.program_id(0)
    a = b = c = 0
    a, b = b, a
    (a, b), [c, *d] = b, a
    a, = b
    x[0], y.z = 1, 2
    *head, tail = values
    acc: tl.tensor = tl.zeros((BLOCK,), dtype=tl.float32)
    later: tl.constexpr
    acc += 1; acc -= 2; acc *= 3; acc @= 4
    acc /= 1
    acc //= 2
    acc %= 3
    acc **= 4
    acc <<= 5
    acc >>= 6
    acc |= 7
    acc ^= 8
    acc &= 9;
    if pid == 0: a = 1
    elif pid == 1:
        a = 2
    elif pid == 2:
        a = 3
    else:
        a = 4
    for i in range(0, n, BLOCK):
        if i > 3:
            break
        continue
    else:
        pass
    for k, (v, *w) in items, more:
        pass
    while a < b and not c:
        a += 1
    else:
        a = 0
    with region("a"), region("b") as r:
        a = 1
    with (region("a") as q, region("b"),):
        a = 2
    with (region("a"), region("b")) as pair:
        a = 3
    with (x for x in y):
        a = 4
    with (region("a")): a = 5
    assert a, "message"
    assert a
    raise
    raise ValueError("no")
    raise ValueError("no") from cause
    del a, b[0]
    del (c)
    global g, h
    nonlocal p
    import math
    from .x import y

    @inner.jit(noinline=True)
    def nested(u, *, v):
        return u + v

    def plain[T](u: T) -> T:
        return
    try:
        a = 1
    except (ValueError, KeyError) as e:
        a = 2
    else:
        a = 3
    finally:
        a = 4
    class Inner(Base):
        a = 1
    match a:
        case 1 if b:
            a = 1
        case _: pass
    match = case = type = 1
    type X = int
    return a, b
