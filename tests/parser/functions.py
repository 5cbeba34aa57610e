# What counts as a kernel, and parameters.
import triton
from triton import jit


@triton.jit
def a(): pass


@jit
def b(x, /, y, *args, k=1, **kw) -> None: return x


@triton.jit(noinline=True)
def c(x, *, k: int, m: "str" = 'a'): return x


@triton.autotune(
    configs=[triton.Config({'BLOCK': b}, num_warps=w) for b in (64, 128) for w in (4, 8)],
    key=['n'],
)
@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})
# a comment between
@triton.jit
def d(n, BLOCK: tl.constexpr, EVEN: tl.constexpr, *, x: (a, b)=(1, 2), **kw: int): return n


@my_jit
def e(): pass


@registry["x"].jit
def not_a_path(): pass


@jit.something
def not_last(): pass


@torch.compile
def plain(): pass


def helper(x): return x


class Outer:
    BLOCK = 64

    @staticmethod
    @triton.jit
    def method(x):
        return x

    def host(self):
        @triton.jit
        def in_method(x):
            return x
        return in_method


def factory():
    if True:
        try:
            @triton.jit
            def in_factory(x):
                def inner(y):
                    return y
                return inner(x)
        except Exception:
            pass


if triton.__version__ >= "3.0":
    @triton.jit
    def versioned(x): return x
else:
    @triton.jit
    def versioned(x, y): return y

for i in range(2):
    @triton.jit
    def in_loop(x): return x

with context():
    with other():
        import inside

async def host():
    @triton.jit
    def in_async(x): return x

@decorated
async def more(): await x

@triton.jit
class Odd:
    x = 1 +
