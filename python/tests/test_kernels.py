"""Kernels go through ttc, and what comes out looks as Triton's own does."""

import struct

import extra
import kernels
import pytest

import ttc_triton

EM_CUDA = 190
# What ttc adds to Triton's keys.
ADDED = {"ttc"}
# What two compilers may choose differently. The hash is that of the cache, which they must not share.
FREE = {"hash", "shared"} | ADDED


def check_cubin(cubin: bytes, name: str) -> None:
    """The cubin is an ELF file for CUDA that holds the kernel's code."""
    assert cubin[:4] == b"\x7fELF"
    assert struct.unpack_from("<H", cubin, 18)[0] == EM_CUDA
    assert f".text.{name}".encode() in cubin


@pytest.mark.parametrize("arch", [80, 90, 100])
@pytest.mark.parametrize("case", kernels.CASES, ids=lambda case: case.id)
def test_ttc_compiles(case, arch):
    ttc_triton.enable(fallback=False)
    made = kernels.build(case, arch)
    assert [record.outcome for record in ttc_triton.stats().records] == ["ttc"]
    assert list(made.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert "// ttc.metadata" in made.asm["ttgir"]
    assert made.metadata.ttc.startswith("ttc ")
    assert made.metadata.name == case.kernel
    check_cubin(made.kernel, case.kernel)


@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("case", kernels.CASES, ids=lambda case: case.id)
def test_metadata_is_that_of_triton(case, arch):
    theirs = kernels.build(case, arch).metadata._asdict()
    ttc_triton.enable(fallback=False)
    ours = kernels.build(case, arch).metadata._asdict()
    assert set(ours) - ADDED == set(theirs)
    for meta in ours["tensordesc_meta"]:
        # Before 3.8 Triton does not write this key, and its launcher does not read it.
        assert meta.pop("is_im2col") is False
    for meta in theirs["tensordesc_meta"]:
        meta.pop("is_im2col", None)
    assert {key: ours[key] for key in set(theirs) - FREE} == {key: theirs[key] for key in set(theirs) - FREE}


def test_a_barrier_is_read_from_every_release_of_triton():
    ttc_triton.enable(fallback=False)
    made = extra.build(extra.with_barrier)
    assert "bar.sync" in made.asm["ptx"]


def test_a_name_that_is_too_long_for_a_file():
    ttc_triton.enable(fallback=False)
    made = extra.build(extra.with_long_name, num_warps=8)
    assert made.metadata.name == "with_long_name_" + 300 * "x"
    assert made.metadata.num_warps == 8
    assert list(made.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert ".reqntid 256" in made.asm["ptx"]
    check_cubin(made.kernel, made.metadata.name)


def test_a_function_of_libdevice_is_linked():
    ttc_triton.enable(fallback=False)
    made = extra.build(extra.with_libdevice)
    assert "tt.extern_elementwise" in made.asm["ttir"]
    check_cubin(made.kernel, "with_libdevice")
