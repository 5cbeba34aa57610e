import os

import triton
import triton.language as language

from .sub.leaf import helper as _helper

LIMIT = language.constexpr(int(os.environ.get("LIMIT", "7")))
aliased = triton.jit


def _plain(x):
    return _helper(x) + 1


shared = triton.jit(_plain)
