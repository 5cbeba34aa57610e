"""Switching ttc on and off: keys of caches, other hooks, versions, the environment, subprocesses."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import kernels
import pytest
import triton
from triton import knobs

import ttc_triton
from ttc_triton import pytorch, switch, versions

SRC = Path(__file__).parents[1] / "src"
ADD = kernels.find("vector_add")


def python(code: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs a fresh Python that has this package on its path and nothing else of this process's setting."""
    path = os.pathsep.join([str(SRC), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
    )


def test_each_setting_has_its_own_entry_in_the_cache(ttc, tmp_path):
    wrapper = tmp_path / "ttc"
    wrapper.write_text(f'#!/bin/sh\nexec {ttc} "$@"\n')
    wrapper.chmod(0o755)
    hashes = [kernels.build(ADD).hash]
    for setting in ({}, {"fallback": False}, {"ttc": wrapper}):
        with ttc_triton.enabled(**setting):
            hashes.append(kernels.build(ADD).hash)
    assert len(set(hashes)) == 4
    assert kernels.build(ADD).hash == hashes[0]
    ttc_triton.reset_stats()
    with ttc_triton.enabled():
        again = kernels.build(ADD)
    assert again.hash == hashes[1]
    assert again.metadata.ttc, "the metadata of a cache hit says who compiled the kernel"
    assert not ttc_triton.stats().records, "a cache hit starts no ttc"


def test_a_new_ttc_at_the_old_path_has_another_key(ttc, tmp_path):
    wrapper = tmp_path / "ttc"
    hashes = set()
    for build in range(2):
        wrapper.write_text(f'#!/bin/sh\n# build {build}\nexec {ttc} "$@"\n')
        wrapper.chmod(0o755)
        with ttc_triton.enabled(wrapper):
            hashes.add(kernels.build(ADD).hash)
    assert len(hashes) == 2


def test_tuned_configurations_of_each_compiler_are_kept_apart():
    backend = triton.compiler.make_backend(kernels.GPUTarget("cuda", 90, 32))
    plain = backend.hash()
    with ttc_triton.enabled():
        assert switch.current().key in backend.hash()
        knobs.runtime.add_stages_inspection_hook = None
        assert backend.hash() == plain, "the hook was taken out, so Triton compiles"
    assert backend.hash() == plain


def test_kernels_in_memory_follow_the_switch(fake_gpu):
    fn = kernels.module("add.tk").vector_add
    fn.device_caches.clear()

    def compiler() -> str:
        made = fn.warmup(*arguments, grid=(1,))
        return "ttc" if hasattr(made.metadata, "ttc") else "triton"

    pointer = triton.runtime.jit.MockTensor(triton.language.float32)
    arguments = (pointer, pointer, pointer, 1024)
    seen = [compiler()]
    with ttc_triton.enabled():
        seen += [compiler(), compiler()]
    seen.append(compiler())
    assert seen == ["triton", "ttc", "ttc", "triton"]
    assert len(ttc_triton.stats().records) == 1


def test_enabled_restores_what_held_before(ttc):
    before = dict(os.environ)
    ttc_triton.enable(fallback=False)
    assert os.environ["TTC_TRITON"] == "strict"
    assert os.environ["TTC"] == ttc
    with ttc_triton.enabled():
        assert os.environ["TTC_TRITON"] == "1"
    assert switch.current().fallback is False
    ttc_triton.disable()
    ttc_triton.disable()
    assert not ttc_triton.is_enabled()
    assert dict(os.environ) == before
    assert knobs.runtime.add_stages_inspection_hook is None


def test_enabling_twice_changes_nothing():
    ttc_triton.enable()
    hook = knobs.runtime.add_stages_inspection_hook
    ttc_triton.enable()
    assert knobs.runtime.add_stages_inspection_hook is hook


def test_enabling_again_brings_back_a_hook_that_was_taken_out():
    ttc_triton.enable()
    knobs.runtime.add_stages_inspection_hook = None
    assert not ttc_triton.is_enabled()
    ttc_triton.enable()
    kernels.build(ADD)
    assert ttc_triton.stats().compiled == 1


def test_a_hook_that_was_there_before_is_called_and_stays(monkeypatch):
    seen = []

    def other(*arguments):
        seen.append(len(arguments))
        return ("other-key", "other-hash")

    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", other)
    with ttc_triton.enabled():
        kernels.build(ADD)
        key, digest = knobs.runtime.add_stages_inspection_hook()
    assert 5 in seen
    assert key.startswith("other-key-ttc-")
    assert digest.startswith("other-hashttc-")
    assert knobs.runtime.add_stages_inspection_hook is other


def test_enabling_again_comes_in_front_of_another_hook(monkeypatch):
    ttc_triton.enable()
    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", lambda *arguments: ("other", "other"))
    kernels.build(ADD)
    assert ttc_triton.stats().compiled == 0
    ttc_triton.enable()
    kernels.build(ADD)
    assert ttc_triton.stats().compiled == 1


def test_a_hook_over_this_one_may_outlive_it(monkeypatch):
    ttc_triton.enable()
    inner = knobs.runtime.add_stages_inspection_hook
    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", lambda *arguments: inner(*arguments))
    kernels.build(ADD)
    assert ttc_triton.stats().compiled == 1
    ttc_triton.disable()
    assert not hasattr(kernels.build(ADD).metadata, "ttc")


@pytest.mark.parametrize("version", ["3.5.1", "3.10.0", "4.0.0+git"])
def test_other_releases_of_triton_are_refused(monkeypatch, version):
    monkeypatch.setattr(triton, "__version__", version)
    with pytest.raises(ttc_triton.UnsupportedTriton, match=re.escape(version)):
        ttc_triton.enable()
    assert not ttc_triton.is_enabled()
    assert "TTC_TRITON" not in os.environ


def test_versions_with_suffixes_are_read():
    assert versions.parse("3.6.0+git9844da95") == (3, 6)


def test_a_missing_ttc_is_an_error_that_says_where_it_was_looked_for(monkeypatch, tmp_path):
    with pytest.raises(ttc_triton.TtcNotFound, match="argument of enable"):
        ttc_triton.enable("/nowhere/ttc")
    monkeypatch.setenv("TTC", "/nowhere/ttc")
    with pytest.raises(ttc_triton.TtcNotFound, match="variable TTC"):
        ttc_triton.enable()
    monkeypatch.delenv("TTC")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ttc_triton.TtcNotFound, match="PATH"):
        ttc_triton.enable()
    with pytest.raises(ttc_triton.TtcNotFound, match="is not ttc"):
        ttc_triton.enable("/bin/true")


COMPILE = """
    import kernels
    made = kernels.build(kernels.find("vector_add"))
    print("ttc" if hasattr(made.metadata, "ttc") else "triton")
"""


def test_the_environment_reaches_a_subprocess(tmp_path):
    log = tmp_path / "log"
    assert python(COMPILE).stdout == "triton\n"
    done = python(COMPILE, TTC_TRITON="1", TTC_TRITON_LOG=str(log))
    assert done.stdout == "ttc\n", done.stderr
    assert [record.kernel for record in ttc_triton.read_log(log).records] == ["vector_add"]
    assert python(COMPILE, TTC_TRITON="0").stdout == "triton\n"


def test_looking_for_triton_before_importing_it_changes_nothing():
    look = """
    import importlib.util
    assert importlib.util.find_spec("triton") and importlib.util.find_spec("triton")
    """
    done = python(textwrap.dedent(look) + textwrap.dedent(COMPILE), TTC_TRITON="1")
    assert done.stdout == "ttc\n", done.stderr


def test_a_log_that_cannot_be_written_is_a_warning(monkeypatch):
    monkeypatch.setenv("TTC_TRITON_LOG", "/nowhere/log")
    ttc_triton.enable()
    with pytest.warns(RuntimeWarning, match="TTC_TRITON_LOG"):
        assert kernels.build(ADD).metadata.ttc


def test_enable_reaches_a_subprocess():
    ttc_triton.enable()
    assert python(COMPILE).stdout == "ttc\n"
    ttc_triton.disable()
    assert python(COMPILE).stdout == "triton\n"


def test_the_environment_without_a_ttc_is_a_warning_and_an_error_with_strict():
    done = python(COMPILE, TTC_TRITON="1", TTC="/nowhere/ttc")
    assert done.stdout == "triton\n", done.stderr
    assert "FallbackWarning" in done.stderr
    assert "/nowhere/ttc" in done.stderr
    done = python(COMPILE, TTC_TRITON="strict", TTC="/nowhere/ttc")
    assert done.returncode == 1
    assert "TtcNotFound" in done.stderr


def test_a_process_without_triton_does_not_import_it():
    done = python("import sys; print([m for m in sys.modules if m.partition('.')[0] == 'triton'])", TTC_TRITON="1")
    assert done.stdout == "[]\n", done.stderr


def test_another_sitecustomize_still_runs(tmp_path):
    tmp_path.joinpath("sitecustomize.py").write_text("print('the other one')")
    path = os.pathsep.join([str(SRC), str(tmp_path)])
    done = python("pass", PYTHONPATH=path)
    assert done.stdout == "the other one\n", done.stderr


def test_the_pth_file_enables_too(tmp_path):
    # A folder that `site` reads as it reads site-packages.
    pth = SRC.parent / "ttc_triton.pth"
    tmp_path.joinpath("ttc_triton.pth").write_text(f"{SRC}\n{pth.read_text()}")
    code = f"import site; site.addsitedir({str(tmp_path)!r})\n" + textwrap.dedent(COMPILE)
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    path = os.pathsep.join(part for part in path.split(os.pathsep) if Path(part).resolve() != SRC.resolve())
    assert python(code, TTC_TRITON="1", PYTHONPATH=path).stdout == "ttc\n"
    assert python(code, PYTHONPATH=path).stdout == "triton\n"


def test_the_tag_of_pytorchs_caches_follows_the_switch(monkeypatch):
    config = type(sys)("torch.compiler.config")
    config.cache_key_tag = "mine"
    monkeypatch.setitem(sys.modules, "torch.compiler.config", config)
    monkeypatch.setenv(pytorch.TAG, "theirs")
    with ttc_triton.enabled():
        key = switch.current().key
        assert config.cache_key_tag == f"mine+ttc-{key}"
        assert os.environ[pytorch.TAG] == f"theirs+ttc-{key}"
    assert config.cache_key_tag == "mine"
    assert os.environ[pytorch.TAG] == "theirs"


def test_inductors_workers_are_started_anew(monkeypatch):
    calls = []
    module = type(sys)("torch._inductor.async_compile")
    module.shutdown_compile_workers = lambda: calls.append(os.environ.get("TTC_TRITON"))
    monkeypatch.setitem(sys.modules, "torch._inductor.async_compile", module)
    with ttc_triton.enabled():
        assert calls == ["1"]
    assert calls == ["1", None]
