import triton

@triton.jit
def kernel(a, b):
    if a = 1:
        pass
    if a == 1
        pass
    if a && b:
        pass
    if a || b:
        pass
    if !a:
        pass
    a++
    b--
    c = a <> b
    c = a === b
    c = a ? b : c
    lambda = 3
    class = 4
    in, x = 1, 2
    x.from = 3
    f(is=1)
    while a = 2: pass
    c = (a = 1)
    x = 12ab
    x = 1__0
    x = 0777
    x = 340282366920938463463374607431768211456
    x = 2j
    x = a b
    f(a b)
    print "hello"
    x = = 1
    x =
    x = a +
    x = (a, b
    x = a)
    y = [a, b)
    x = 'never closed
    x = f('never closed)
    x = "smart" + “quotes”
    x = a $ b

@triton.jit
def signs_of_elsewhere(a, b):
    x = 10f
    x = 1.0f
    x = 0xZZ
    x = 1e
    x = a – 1
    x = a × 2
    x = a ≤ b
    x = f（a）
    x = a​ + 1
    // a comment
    /* a comment */
    x = a // a comment here
