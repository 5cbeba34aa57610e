"""Threads and processes compile at the same time, as autotuners and Inductor's workers do."""

import concurrent.futures
import multiprocessing

import kernels

import ttc_triton

NAMES = ["vector_add", "softmax", "gelu", "layer_norm", "matmul", "cumsum", "sort", "transpose"]


def compile_one(name: str) -> tuple[str, bool, bytes]:
    """The kernel's hash, whether ttc made it, and the cubin."""
    made = kernels.build(kernels.find(name))
    return made.hash, hasattr(made.metadata, "ttc"), made.kernel


def test_threads_compile_different_kernels_and_the_same_one():
    for name in NAMES:
        kernels.source(kernels.find(name))
    ttc_triton.enable(fallback=False)
    jobs = NAMES + ["gelu"] * 8
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        made = dict(zip(jobs, pool.map(compile_one, jobs), strict=True))
    assert all(by_ttc for _, by_ttc, _ in made.values())
    assert len({cubin for _, _, cubin in made.values()}) == len(NAMES)
    with ttc_triton.enabled(fallback=False):
        assert {name: compile_one(name) for name in NAMES} == made


def test_processes_share_a_cache(tmp_path, monkeypatch):
    log = tmp_path / "log"
    monkeypatch.setenv("TTC_TRITON_LOG", str(log))
    ttc_triton.enable(fallback=False)
    with concurrent.futures.ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as pool:
        made = list(pool.map(compile_one, NAMES * 2))
    assert all(by_ttc for _, by_ttc, _ in made)
    assert made[: len(NAMES)] == made[len(NAMES) :]
    records = ttc_triton.read_log(log).records
    assert {record.kernel for record in records} == set(NAMES)
    assert len({record.pid for record in records}) > 1
