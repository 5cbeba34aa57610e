@triton.jit
def crlf(a):
    x = """a
b"""
    y = a + \
        1

    z = (a,
         b)

    # comment
    return x