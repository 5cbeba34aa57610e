"""``pytest -p ttc_triton.pytest_plugin`` runs any test with ttc."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"

TESTS = """
    import kernels
    from triton import knobs

    def test_first():
        assert kernels.build(kernels.find("vector_add")).metadata.ttc
        knobs.runtime.add_stages_inspection_hook = None

    def test_second():
        assert kernels.build(kernels.find("softmax")).metadata.ttc

    def test_left_to_triton():
        assert not hasattr(kernels.build(kernels.REFUSED, num_ctas=8).metadata, "ttc")
"""


def run_tests(tmp_path, **environment: str) -> subprocess.CompletedProcess:
    tmp_path.joinpath("test_it.py").write_text(textwrap.dedent(TESTS))
    path = os.pathsep.join([str(SRC), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ttc_triton.pytest_plugin", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
    )


def test_every_test_runs_with_ttc(tmp_path):
    done = run_tests(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "2 kernels compiled by ttc" in done.stdout
    assert "1 compiled by Triton, E0605: " in done.stdout


def test_strict_makes_a_refusal_a_failure(tmp_path):
    done = run_tests(tmp_path, TTC_TRITON="strict")
    assert done.returncode == 1
    assert "NotCompiled: ttc cannot compile the kernel `transpose_tiles`: E0605" in done.stdout
    assert "2 passed" in done.stdout
