"""Does for a checkout on PYTHONPATH what ``ttc_triton.pth`` does for an installed package.

Python imports the first ``sitecustomize`` on its path at every start, so this one hides another that comes later.
It therefore runs that one too.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _run_the_hidden_one() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("TTC_TRITON", "0") not in ("", "0"):
    from ttc_triton import startup

    startup.at_start()
_run_the_hidden_one()
