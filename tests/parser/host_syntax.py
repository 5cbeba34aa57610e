# Host code of every kind that Python takes: none of it is an error.
import a
from b import (c, d,)
lazy import e
lazy from f import g
type Alias = list[int]
type Pair[T: (int, str) = int, *Ts, **P] = tuple[T, *Ts]; after_alias = 1
type = match = case = lazy = _ = 1
match: int = 2
match[0]: int
match (1, 2)
print >>file, x
class A[T: int, *Ts](B[T], *bases, metaclass=M, **more): pass
class C: x: int
class D[T]:
    def method[U](self, /, a, *, b: U = (yield)) -> "U": return self
try:
    pass
except* (E, F) as group:
    pass
except* G:
    pass
try: pass
except A, B: pass
except: pass
else: pass
finally: pass
async def coroutine():
    async with a as b, c: pass
    async for x in y:
        break
    else:
        return await z
    try: await (yield)
    except E as e: raise
    else: continue_ = 1
    finally: del e, (f, [g])
    return [x async for x in y if await z]
@decorator[0](lambda: 1)
async def decorated(): yield
@triton.jit(2j)
class Jitted: pass
match x, *y:
    case [Point(x=0 as zero), *_] | (1 | 2) as pair if (n := zero) > 1: pass
    case {"k": -1 + 2j, **rest}: pass
    case A.B() | None | "a" "b" | [*_]: pass
    case 1, *others: pass
    case _ if n: pass
match (yield_ := x):
    case str() as s: deep = s
while a: continue
else: b = 1
for x, *y in *a, b: break
else: c = 2
with (a as b, c() as (d, *e),): pass
with (a), b as c: pass
x = y = *a, *b
x[*a, 1:2, ...], (y.z), [w] = 1, 2, 3
big = 1 << 2 + 340282366920938463463374607431768211456
one = 1if x else 2
text = f"{x!r:>{width}}{'nested' f"{"quotes"}"}{y=}{{}}" "\N{BULLET}" if 0 else b"\777"
t = t"{x}"
x = [
        # ======= inside of brackets
    1]
"""
<<<<<<< a conflict in a text is text
=======
>>>>>>> is text
"""
def deep(): return lambda *a, b=(yield), **c: (yield)
global_ = lambda: (yield)
if x: pass
elif y: z = 1
else: w = 2
