@jit
def kernel():
    # Binding.
    a + b * c - d
    (a + b) * c
    a - b - c
    a ** b ** c
    -a ** -b
    -a * b
    ~a ** b
    a * -b ** c
    - - +a
    a // b % c @ d / e
    a << b + c >> d
    a | b ^ c & d << e
    a < b == c != d
    a < b <= c > d >= e
    a is b is not c
    a in b not in c
    not a == b
    not not a
    a and b and c or d and not e or f
    a or (b or c)
    (a and b) and c
    not a in b
    a if b else c if d else e
    (a if b else c) if d else e
    a if b or c else lambda: d if e else f
    lambda: 0
    lambda x, y=1, /, z=2, *args, k, m=3, **kw: x + y
    lambda *, k: (yield)
    # Displays.
    ()
    (a,)
    (a)
    a,
    a, *b
    (a, *b, c := 1)
    []
    [a]
    [a, *b,]
    {}
    {a}
    {a, *b}
    {a: b}
    {a: b, **c, "d": lambda: e,}
    [a for b in c]
    [a for b, in c if d if e for f, *g in h]
    {a for b in c}
    {a: b for a, b in c}
    (a for b in c)
    [a async for b in c]
    [x for x in y if (z := x) if w]
    # Postfix.
    a.b.c
    a()
    a(b)(c).d[e]
    a(b, *c, d=e, **f)
    a(*b, c)
    a(b for b in c)
    a(b := 1, c=2)
    a(print=1, match=2)
    x[0]
    x[:]
    x[a:b]
    x[a:b:c]
    x[::c]
    x[a::]
    x[:b:]
    x[:, None]
    x[None, :, ...]
    x[a, b:c, *d]
    x[(a, b)]
    x[a,]
    x[lambda: a:b]
    x[y := 1]
    ("a" "b").c
    (a +
     b
     # a comment
     + c)
    a + \
        b
    await a.b ** c
    y = yield
    y = yield a, b
    y = yield from a
    y = x = *a, b
