@triton.jit
def no_colon(a)
    x = 1

@triton.jit
def bad_parameters(a, a, b=1, c, *, **kw, d): return a

@triton.jit
def more_parameters(/, a, *b, *c, /): return a

@triton.jit
def not closed(a, b:
    return a

@triton.jit
def blocks(a):
    if a:
    x = 1
    if a:
        x = 1
          y = 2
        z = 3
    if a:
            x = 1
        y = 2
    for i in range(3)
        x = 1
    else if a:
        x = 1
    elif a:
        x = 2
    for in x:
        inside a bad header
    while:
        pass
    def (x): pass
    if a: for b in c: pass
    x = 1;; y = 2
    ; z = 3
    a = load(x, y
    b = load(x + y
    c = 1
    return c

@triton.jit
def unclosed(a):
    x = foo(a, [b
    return x

@triton.autotune(configs=[1 2], key=[])
@triton.jit
def bad_decorator(a): return a

@triton.jit
x = 1

@triton.jit
def empty():

@triton.jit
def after(a):
    return a +

def host():
    this does not parse
    @triton.jit
    def nested(x):
        return x +

@triton.jit
def last(a):
    x = """ never closed
