"""PyTorch itself, where it is installed: its compile workers and the keys of its caches."""

import os

import pytest

import ttc_triton
from ttc_triton import switch

torch = pytest.importorskip("torch")


def state() -> tuple[int, bool]:
    """The process, and whether ttc compiles what it compiles. It runs in a worker."""
    import triton

    assert triton.__version__
    return os.getpid(), ttc_triton.is_enabled()


@pytest.fixture
def ask_a_worker():
    from torch._inductor import async_compile, config

    def ask() -> tuple[int, bool]:
        async_compile.AsyncCompile.wait_pool_ready()
        return async_compile.AsyncCompile.process_pool().submit(state).result()

    with config.patch(compile_threads=2, worker_start_method="subprocess"):
        yield ask
        async_compile.shutdown_compile_workers()


def test_workers_follow_the_switch(ask_a_worker):
    first, by_ttc = ask_a_worker()
    assert first != os.getpid()
    assert not by_ttc
    with ttc_triton.enabled():
        assert ask_a_worker()[1]
    assert not ask_a_worker()[1]


def test_the_keys_of_pytorchs_caches_follow_the_switch():
    from torch._inductor.codecache import FxGraphHashDetails
    from torch.compiler import config

    def tag() -> str:
        details = FxGraphHashDetails(torch.fx.symbolic_trace(torch.nn.Identity()), [], {}, [])
        return details.cache_key_tag

    assert tag() == config.cache_key_tag == ""
    with ttc_triton.enabled():
        assert switch.current().key in tag()
    assert tag() == ""
