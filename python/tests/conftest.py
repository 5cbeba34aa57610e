"""What all tests share: where ttc is, and a fresh state for each test.

``TTC`` names the program; otherwise it is the release build of this repository, or the one on PATH. The tests need
Triton and no GPU.
"""

import os
import shutil
from pathlib import Path

import pytest
import triton
from fake import FakeDriver

import ttc_triton
from ttc_triton import fallback

REPOSITORY = Path(__file__).parents[2]

# Triton 3.9 warns where neither the caller nor this variable says what it wants.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


def _find_ttc() -> str:
    built = REPOSITORY / "target" / "release" / "ttc"
    found = os.environ.get("TTC") or (str(built) if built.exists() else shutil.which("ttc"))
    if not found:
        raise pytest.UsageError("no ttc: run `make build`, or name the program in the variable TTC")
    return os.path.abspath(found)


TTC = _find_ttc()


@pytest.fixture
def ttc() -> str:
    return TTC


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """An empty cache of Triton, no ttc enabled, no counts, every warning still to come."""
    for name in [name for name in os.environ if name.startswith(("TTC_TRITON", "TORCH_COMPILE_CACHE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TTC", TTC)
    monkeypatch.delenv("TTC_PTXAS", raising=False)
    ttc_triton.reset_stats()
    fallback.forget()
    yield
    ttc_triton.disable()


@pytest.fixture
def fake_gpu(monkeypatch):
    """A driver of a GPU that is not there; its `launches` are what was launched."""
    driver = FakeDriver()
    monkeypatch.setattr(triton.runtime.driver, "_active", driver)
    return driver
