"""Looking inside and changing stages: the cache folder, dumps, overrides, IR files, listeners."""

import os
import re

import kernels
import pytest
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget

import ttc_triton

ADD = kernels.find("vector_add")
GPU = GPUTarget("cuda", 90, 32)
FLOAT_ADD = r"\badd(\.rn)?\.f32\b"


def multiplies(ptx: str) -> bool:
    """Whether the addition of the kernel has become a product. The kernel as it is must not count."""
    return not re.search(FLOAT_ADD, ptx) and re.search(r"\bmul(\.rn)?\.f32\b", ptx) is not None


@pytest.fixture(autouse=True)
def strict():
    ttc_triton.enable(fallback=False)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Folders for dumps and overrides, on one file system with the cache."""
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "override"))
    return tmp_path


def dump(monkeypatch, folders):
    """Every stage of the kernel as files; the folder is named as an override's must be."""
    monkeypatch.setattr(knobs.compilation, "dump_ir", True)
    kernels.build(ADD)
    monkeypatch.setattr(knobs.compilation, "dump_ir", False)
    [folder] = (folders / "dump").iterdir()
    return folder


def override(monkeypatch, folders, kind: str, change):
    """Compiles with one dumped stage changed."""
    dumped = dump(monkeypatch, folders)
    folder = folders / "override" / dumped.name
    folder.mkdir(parents=True)
    text = (dumped / f"vector_add.{kind}").read_text()
    changed = change(text)
    assert changed != text
    (folder / f"vector_add.{kind}").write_text(changed)
    monkeypatch.setattr(knobs.compilation, "override", True)
    monkeypatch.setattr(knobs.compilation, "always_compile", True)
    return kernels.build(ADD)


def test_the_kernel_as_it_is_adds():
    ptx = kernels.build(ADD).asm["ptx"]
    assert re.search(FLOAT_ADD, ptx)
    assert not multiplies(ptx)


def test_the_cache_folder_holds_every_stage(tmp_path):
    made = kernels.build(ADD)
    [folder] = [f for f in (tmp_path / "cache").iterdir() if (f / "vector_add.cubin").exists()]
    kinds = {path.suffix for path in folder.iterdir() if path.stem == "vector_add"}
    assert kinds == {".source", ".ttir", ".ttgir", ".llir", ".ptx", ".cubin", ".json"}
    assert (folder / "vector_add.ttgir").read_text() == made.asm["ttgir"]


def test_only_the_binary_is_stored_where_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(knobs.compilation, "store_binary_only", True)
    kernels.build(ADD)
    [folder] = [f for f in (tmp_path / "cache").iterdir() if (f / "vector_add.cubin").exists()]
    assert not (folder / "vector_add.ttgir").exists()


def test_dumps_hold_every_stage(monkeypatch, folders):
    folder = dump(monkeypatch, folders)
    kinds = {path.suffix for path in folder.iterdir()}
    assert {".ttir", ".ttgir", ".llir", ".ptx", ".cubin", ".sass"} <= kinds


@pytest.mark.parametrize("kind", ["ttir", "ttgir"])
def test_an_override_of_ir_is_compiled_by_ttc(monkeypatch, folders, kind):
    made = override(monkeypatch, folders, kind, lambda text: text.replace("arith.addf", "arith.mulf"))
    assert "arith.mulf" in made.asm[kind]
    assert multiplies(made.asm["ptx"])
    assert made.metadata.shared == 0
    assert {record.outcome for record in ttc_triton.stats().records} == {"ttc"}


def test_an_override_of_llvm_ir_is_compiled_by_ttc(monkeypatch, folders):
    made = override(monkeypatch, folders, "llir", lambda text: text.replace(" fadd ", " fmul "))
    assert multiplies(made.asm["ptx"])
    assert made.metadata.shared == 0
    assert made.metadata.name == "vector_add"


def test_an_override_of_ptx_is_assembled(monkeypatch, folders):
    made = override(monkeypatch, folders, "ptx", lambda text: re.sub(FLOAT_ADD, "mul.f32", text))
    assert multiplies(made.asm["ptx"])
    [dumped] = (folders / "dump").glob("*/vector_add.cubin")
    assert made.kernel != dumped.read_bytes()
    assert made.metadata.shared == 0


def test_the_option_ir_override(tmp_path):
    text = kernels.build(ADD).asm["ttgir"]
    file = tmp_path / "mine.ttgir"
    file.write_text(text.replace("arith.addf", "arith.mulf"))
    made = kernels.build(ADD, ir_override=str(file))
    assert multiplies(made.asm["ptx"])
    assert made.metadata.ttc


@pytest.mark.parametrize("kind", ["ttir", "ttgir"])
def test_an_ir_file_is_compiled_by_ttc(tmp_path, kind):
    file = tmp_path / f"kernel.{kind}"
    file.write_text(kernels.build(ADD, num_warps=8).asm[kind])
    options = {"num_warps": 8} if kind == "ttir" else None
    made = triton.compile(str(file), target=GPU, options=options)
    assert made.metadata.name == "vector_add"
    assert made.metadata.ttc
    assert ".reqntid 256" in made.asm["ptx"]
    assert made.kernel[:4] == b"\x7fELF"


def test_a_listener_hears_of_every_stage(monkeypatch):
    heard = []
    monkeypatch.setattr(knobs.compilation, "listener", lambda **event: heard.append(event))
    kernels.build(ADD)
    kernels.build(ADD)
    assert [event["cache_hit"] for event in heard] == [False, True]
    assert [name for name, _ in heard[0]["times"].lowering_stages] == ["ttir", "ttgir", "llir", "ptx", "cubin"]
    assert heard[0]["metadata"]["ttc"]


def test_variables_that_print_the_ir_and_the_ptx(monkeypatch, capfd):
    monkeypatch.setattr(knobs.compilation, "always_compile", True)
    kernels.build(ADD)
    before = capfd.readouterr()
    assert before.out == before.err == ""
    monkeypatch.setattr(knobs.nvidia, "dump_nvptx", True)
    monkeypatch.setitem(os.environ, "MLIR_ENABLE_DUMP", "another_kernel")
    kernels.build(ADD)
    after = capfd.readouterr()
    assert "NVPTX Dump" in after.out
    assert ".visible .entry vector_add" in after.out
    assert "tritongpu-coalesce" not in after.err
    monkeypatch.setitem(os.environ, "MLIR_ENABLE_DUMP", "vector_add")
    monkeypatch.setitem(os.environ, "MLIR_ENABLE_TIMING", "1")
    kernels.build(ADD)
    assert "tritongpu-coalesce" in capfd.readouterr().err
