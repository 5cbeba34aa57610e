@triton.jit
def kernel(a, b):
    x = '\x4'
    x = b'é'
    x = 'a' b'b'
    f(a=1, b)
    f(a=1, a=2)
    f(a, b for b in c)
    f(x for x in y, 1)
    a + b = c
    f() = 1
    1 = x
    a == b = c
    f(x) += 1
    (a, b): int = 1
    *a = b
    for 1 in x: pass
    with a as 1: pass
    del f()
    a * not b
    else:
        pass
    x = f"{}"
    x = f"{a"
    x = f"}"
    x = f"{a!x}"
    x = f"{a b}"
    return return
