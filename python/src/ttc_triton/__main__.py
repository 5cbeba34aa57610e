"""``python -m ttc_triton`` says which ttc and which Triton would be used, or what is missing."""

from __future__ import annotations

import sys

from . import __version__, binary, versions
from .errors import TtcTritonError


def main() -> int:
    """Prints a line for each part. The exit code is 1 where a part is missing."""
    print(f"ttc_triton {__version__}")
    missing = 0
    try:
        ttc = binary.find()
        print(f"{ttc.version}, {ttc.path}")
    except TtcTritonError as error:
        print(f"error: {error}", file=sys.stderr)
        missing = 1
    try:
        versions.check()
        import triton

        print(f"triton {triton.__version__}, {triton.__path__[0]}")
    except TtcTritonError as error:
        print(f"error: {error}", file=sys.stderr)
        missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main())
