"""Runs tests with ttc under Triton: ``pytest -p ttc_triton.pytest_plugin``. Triton's own tests are run this way.

``TTC_TRITON=strict`` makes a kernel that ttc cannot compile a failure of its test. Otherwise Triton compiles it, and
the summary counts it. Under pytest-xdist, the counts are in the file that ``TTC_TRITON_LOG`` names.
"""

from __future__ import annotations

import os
from typing import Any

from . import report
from .switch import STRICT, SWITCH, enable


def _enable() -> None:
    enable(fallback=os.environ.get(SWITCH) != STRICT)


def pytest_configure(config: Any) -> None:
    """Enables ttc before any test is imported."""
    _enable()


def pytest_runtest_setup(item: Any) -> None:
    """Enables ttc again after a test that has reset Triton's knobs."""
    _enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Shows what this process compiled."""
    terminalreporter.section("ttc_triton")
    terminalreporter.write_line(str(report.stats()))
