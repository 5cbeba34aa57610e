@jit
def kernel():
    0, 00, 7, 1_000, 0xFF, 0X_ff, 0o17, 0O1_7, 0b101, 0B_1
    340282366920938463463374607431768211455
    1.0, 1., .5, 1e5, 1E+5, 1.5e-3, 1_0.0_1e1_0, 1e400, 0e0, 00.5, 09.5
    True, False, None, ...
    1if a else 2
    'a', "b", '''c''', """d
e"""
    "it's", 'say "x"', '''a'b''c''', """a"b""c"""
    'a' "b" '''c'''
    '\n\t\\\'\"\a\b\f\v\r\0\101\x41\u00e9\U0001F600\N{BULLET}\q\
joined'
    r'\n\'', R"\d", u"x", U'x'
    b'a\x00\xff\101\u0041', B"b", br'\x', Rb"\x", b'a' b"b"
    f"", f"a", f"{a}", f"a{b}c{d}"
    f"{{{a}}}", f"{a!r}", f"{a!s:>10}", f"{a:{b}.{c}}", f"{a:%H:%M}"
    f"{a=}", f"{a = }", f"{a=!s}", f"{a=:x}", f"x {a+b=} y"
    f"{a == b}", f"{a != b}", f"{a <= b}", f"{a >= b}"
    f"{d['k']}", f'{d["k"]}', f"{d["k"]}", f"{x:{'>'}10}"
    f"{(lambda x: x)(1)}", f"{ {1: 2}[1] }", f"{a, b}", f"{*a, b}"
    f"{f'{f"{x}"}'}"
    rf"\d{a}", fR"\{a}", f"\x41{a}\n", f"\N{BULLET}{a}"
    f"""a
{b
 + c}
d"""
    "a" f"{b}" "c" f"d"
    t"a{b}"
    (f"{a}"
     f"{b}")
