"""What ttc cannot compile: fallbacks and their warnings, Triton's own exceptions, strict mode."""

import json
import pickle
import warnings

import extra
import kernels
import pytest
import triton
from triton import knobs
from triton.runtime.errors import OutOfResources, PTXASError

import ttc_triton
from ttc_triton import diagnostics

ADD = kernels.find("vector_add")
MATMUL = kernels.find("matmul")
TOO_BIG = kernels.Case(
    "matmul.tk", "matmul", kernels.MATMUL, (("BLOCK_M", 256), ("BLOCK_N", 256), ("BLOCK_K", 128)), (("num_stages", 5),)
)


def stub(tmp_path, ttc: str, then: str) -> str:
    """A ttc that tells its version and does ``then`` instead of compiling."""
    path = tmp_path / "stub"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec {ttc} --version\n{then}\n')
    path.chmod(0o755)
    return str(path)


def test_triton_compiles_what_ttc_refuses_with_one_warning_per_reason():
    ttc_triton.enable()
    with pytest.warns(ttc_triton.FallbackWarning, match="`transpose_tiles` to Triton: E0605") as caught:
        first = kernels.build(kernels.REFUSED, num_ctas=8)
        second = kernels.build(kernels.REFUSED, num_ctas=8, num_warps=8)
    [warning] = [w for w in caught if w.category is ttc_triton.FallbackWarning]
    assert warning.filename == kernels.__file__, "the warning points at the code that launched the kernel"
    for made in (first, second):
        assert not hasattr(made.metadata, "ttc")
        assert list(made.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    stats = ttc_triton.stats()
    assert stats.fallbacks == {"E0605": ["transpose_tiles", "transpose_tiles"]}
    assert "2 compiled by Triton, E0605: " in str(stats)


def test_strict_mode_raises_what_ttc_said():
    ttc_triton.enable(fallback=False)
    with pytest.raises(ttc_triton.NotCompiled, match=r"(?s)`transpose_tiles`: E0605: .*kernels/descriptors\.tk:\d+"):
        kernels.build(kernels.REFUSED, num_ctas=8)


@pytest.mark.parametrize("fallback", [True, False])
def test_too_much_shared_memory_is_tritons_exception_with_true_numbers(fallback):
    ttc_triton.enable(fallback=fallback)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ttc_triton.FallbackWarning)
        with pytest.raises(OutOfResources) as caught:
            kernels.build(TOO_BIG)
    error = caught.value
    assert (error.limit, error.name) == (232448, "shared memory")
    # Five copies of a 256x128 and a 128x256 tile of two bytes are the least.
    assert error.required >= 5 * 2 * 256 * 128 * 2
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    [record] = ttc_triton.stats().records
    assert (record.outcome, record.reason) == ("out of resources", "E0714")


def test_the_limit_is_that_of_the_gpu():
    ttc_triton.enable()
    with pytest.raises(OutOfResources) as caught:
        kernels.build(TOO_BIG, arch=80)
    assert caught.value.limit == 166912


def test_the_limit_of_another_gpu_is_no_limit(monkeypatch):
    monkeypatch.setattr(knobs.runtime, "override_arch", "sm80")
    ttc_triton.enable(fallback=False)
    with pytest.raises(ttc_triton.NotCompiled, match="E0714"):
        kernels.build(TOO_BIG, arch=90)


def test_an_autotuner_passes_over_a_configuration_that_does_not_fit(fake_gpu):
    sizes = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 128}
    small = triton.Config(dict.fromkeys(sizes, 64), num_stages=2)
    configs = [triton.Config(sizes, num_stages=5), small]

    def time(call, quantiles):
        call()
        return [1.0] * len(quantiles)

    matmul = triton.autotune(configs=configs, key=["m"], do_bench=time)(kernels.module("matmul.tk").matmul)
    pointer = triton.runtime.jit.MockTensor(triton.language.float16)
    ttc_triton.enable(fallback=False)
    matmul[(1,)](pointer, pointer, pointer, 512, 512, 512, 512, 1, 512, 1, 512, 1)
    assert matmul.best_config is small
    assert [record.outcome for record in ttc_triton.stats().records] == ["out of resources", "ttc"]
    assert len(fake_gpu.launches) == 2, "the one that fits is timed and launched"


def test_a_ptxas_that_fails(monkeypatch, tmp_path):
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho 'ptxas fatal : no' >&2\nexit 255\n")
    ptxas.chmod(0o755)
    monkeypatch.setenv("TTC_PTXAS", str(ptxas))
    with ttc_triton.enabled(fallback=False), pytest.raises(PTXASError, match="E0803"):
        kernels.build(ADD)
    with ttc_triton.enabled(), pytest.warns(ttc_triton.FallbackWarning, match="E0803"):
        assert kernels.build(ADD).kernel[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ("kill -SEGV $$", "crash: ttc ended with signal 11"),
        ("echo 'thread main panicked' >&2; exit 101", "crash: ttc ended with exit code 101: thread main panicked"),
        ("exit 0", "ttc could not be run|crash: ttc wrote 0 files"),
    ],
)
def test_a_ttc_that_crashes(ttc, tmp_path, then, message):
    ttc_triton.enable(stub(tmp_path, ttc, then))
    with pytest.warns(ttc_triton.FallbackWarning, match=message):
        assert kernels.build(ADD).kernel[:4] == b"\x7fELF"


def test_gluon_is_left_to_triton():
    ttc_triton.enable()
    with pytest.warns(ttc_triton.FallbackWarning, match="`in_gluon` to Triton: it is written in Gluon"):
        made = extra.build(extra.in_gluon)
    assert made.kernel[:4] == b"\x7fELF"
    with ttc_triton.enabled(fallback=False), pytest.raises(ttc_triton.NotCompiled, match="Gluon"):
        extra.build(extra.in_gluon)


def test_stages_that_another_hook_has_changed_are_left_alone(monkeypatch):
    def other(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return ("other", "other")
        ptx = stages["ptx"]
        stages["ptx"] = lambda source, metadata: ptx(source, metadata) + "\n// other\n"
        return None

    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", other)
    with ttc_triton.enabled(), pytest.warns(ttc_triton.FallbackWarning, match="another hook"):
        made = kernels.build(ADD)
    assert made.asm["ptx"].endswith("// other\n")
    assert not hasattr(made.metadata, "ttc")


def test_diagnostics_are_read_from_json():
    fields = {
        "code": "E0401",
        "severity": "error",
        "message": "bad\nworse",
        "file": "k.ttir",
        "line": 3,
        "help": "mend",
    }
    warning = {"code": "E0100", "severity": "warning", "message": "hm"}
    text = "noise\n{not json\n" + json.dumps(warning) + "\n" + json.dumps(fields)
    found = diagnostics.first_error(text, 1)
    assert found == diagnostics.Diagnostic("E0401", "bad", "k.ttir:3", "mend")
    assert str(found) == "E0401: bad (at k.ttir:3)"
    assert diagnostics.first_error("", -9).message == "ttc ended with signal 9"
    other = diagnostics.Diagnostic("E0714", "the kernel is too big")
    assert diagnostics.shared_memory(other) is None
