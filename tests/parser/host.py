#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""A module docstring with @triton.jit
def no(): pass
"""
from __future__ import annotations
import os, sys as system
import a.b.c as abc
from . import x
from .. import y as z
from ...pkg.mod import (p, q as r,)
from .... import deep
from m import *
try:
    import fast
except ImportError:
    fast = None
else:
    FAST = True
finally:
    done = True
if os.name == "nt": import windows
elif sys.version_info >= (3, 9): from modern import thing
else: thing = None
print "Python 2", x
exec "code"
X = 1
Y: tl.constexpr = tl.constexpr(2)
A, B = 1, 2
exp = tl.exp
X += 1
Z = tl.constexpr(1); W = 2
bad = = 3
bad = 1 +
def works(): return 1
def old():
    print "hello %s" % name
    @triton.jit
    def kernel_in_old(x): return x
def broken(:
    x = 1
match command.split():
    case [action]:
        import in_match
    case _:
        pass
type Alias = list[int]
class K(metaclass=M):
    """doc"""
    x: int = 1
    def method(self): return self.x
    async def run(self): yield
@dataclass
class L: y = 2
with open("f") as f, open("g"): data = f.read()
while True: break
lambda: (yield)
x = [
    1, 2,
        3,
]
text = """
@triton.jit
def in_text(x):
"""
dict(a=1,
b=2)
if __name__ == "__main__":
    main()
    @triton.jit
    def in_main(x): return x
      weird = 1
  dedent = 2
$ ? ` garbage
x = 'unterminated
(unclosed, bracket
@triton.jit
def last(x): return x
