"""Options and knobs of Triton: ttc honours them, or Triton compiles the kernel."""

import dataclasses
import json
from pathlib import Path

import extra
import kernels
import pytest
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDAOptions

import ttc_triton

ADD = kernels.find("vector_add")
NORM = kernels.find("layer_norm")
HAS_MIN_SHARED = "min_shared_mem" in CUDAOptions.__dataclass_fields__


@pytest.fixture
def spy(ttc, tmp_path):
    """A ttc that notes its command lines and the libdevice that it is given."""
    log = tmp_path / "commands"
    log.touch()
    wrapper = tmp_path / "spy"
    note = 'import json, os, sys; print(json.dumps([os.environ.get("TTC_LIBDEVICE"), *sys.argv[1:]]))'
    wrapper.write_text(f'#!/bin/sh\npython3 -c \'{note}\' "$@" >>{log}\nexec {ttc} "$@"\n')
    wrapper.chmod(0o755)

    def commands() -> list[list[str]]:
        return [command for command in map(json.loads, log.read_text().splitlines()) if "--version" not in command]

    ttc_triton.enable(wrapper, fallback=False)
    return commands


def test_ttc_is_started_once_a_kernel_with_tritons_tools(spy):
    made = kernels.build(ADD)
    [command] = spy()
    assert command[0] == dict(made.metadata.extern_libs)["libdevice"]
    assert command[command.index("--ptxas") + 1].startswith(triton.__path__[0])
    assert command[command.index("--emit") + 1] == "ttgir,llir,ptx,cubin"


def test_another_ptxas_and_another_libdevice_may_be_named(spy, monkeypatch, tmp_path):
    ptxas = knobs.nvidia.ptxas_blackwell.path
    copy = tmp_path / "libdevice.10.bc"
    copy.write_bytes(Path(dict(CUDAOptions(arch="sm90").extern_libs)["libdevice"]).read_bytes())
    monkeypatch.setattr(knobs.nvidia, "libdevice_path", str(copy))
    monkeypatch.setenv("TTC_PTXAS", ptxas)
    ttc_triton.enable(ttc_triton.switch.current().ttc.path, fallback=False)
    kernels.build(ADD)
    [command] = spy()
    assert command[0] == str(copy)
    assert command[command.index("--ptxas") + 1] == ptxas


def test_the_shape_of_the_launch(spy):
    made = kernels.build(ADD, num_warps=8, num_stages=2, num_ctas=2)
    assert ".reqntid 256" in made.asm["ptx"]
    assert (made.metadata.num_warps, made.metadata.num_ctas) == (8, 2)
    [command] = spy()
    assert command[command.index("--num-stages") + 1] == "2"


def test_registers_and_fusion(spy):
    made = kernels.build(NORM, maxnreg=64)
    assert ".maxnreg 64" in made.asm["ptx"]
    assert made.metadata.maxnreg == 64
    fused, apart = (kernels.build(NORM, enable_fp_fusion=on).asm["ptx"].count("fma.rn") for on in (True, False))
    assert fused > apart


def test_attributes_of_the_launch_reach_the_metadata(spy):
    made = kernels.build(ADD, launch_pdl=True, launch_cooperative_grid=True)
    assert made.metadata.launch_pdl is True
    assert made.metadata.launch_cooperative_grid is True


def test_assertions_and_overflow_checks(spy):
    assert "__assertfail" not in kernels.build(ADD).asm["ptx"]
    assert "int32 overflow" in kernels.build(ADD, debug=True, sanitize_overflow=True).asm["ttir"]
    assert "__assertfail" in kernels.build(ADD, debug=True, sanitize_overflow=True).asm["ptx"]


def test_line_info_can_be_left_out(spy, monkeypatch):
    assert ".loc" in kernels.build(ADD).asm["ptx"]
    monkeypatch.setattr(knobs.compilation, "disable_line_info", True)
    monkeypatch.setattr(knobs.compilation, "always_compile", True)
    assert ".loc" not in kernels.build(ADD).asm["ptx"]


def test_options_of_ptxas_go_to_tritons_ptxas(spy):
    made = kernels.build(ADD, ptx_options="--opt-level 1")
    assert "ttc.metadata" in made.asm["ptx"]
    assert made.kernel[:4] == b"\x7fELF"
    assert made.kernel != kernels.build(ADD).kernel
    assert ttc_triton.stats().compiled == 2


def test_an_older_architecture_than_the_gpu(spy, monkeypatch):
    monkeypatch.setattr(knobs.runtime, "override_arch", "sm80")
    made = kernels.build(kernels.find("matmul"))
    assert ".target sm_80" in made.asm["ptx"]
    assert "ttc.metadata" in made.asm["ptx"]
    assert made.kernel[:4] == b"\x7fELF"


@pytest.mark.parametrize(("code", "gpu"), [("sm100", 90), ("sm90", 100)])
def test_an_architecture_that_the_gpu_cannot_run_is_left_to_triton(monkeypatch, code, gpu):
    monkeypatch.setattr(knobs.runtime, "override_arch", code)
    ttc_triton.enable(fallback=False)
    with pytest.raises(ttc_triton.NotCompiled, match=f"but the GPU is sm_{gpu}"):
        kernels.build(ADD, arch=gpu)


@pytest.mark.skipif(not HAS_MIN_SHARED, reason="this Triton has no option min_shared_mem")
def test_shared_memory_to_ask_for_at_least(spy):
    assert kernels.build(ADD, min_shared_mem=4096).metadata.shared == 4096


def test_the_version_of_ptx_is_an_upper_bound():
    scatter = kernels.find("embedding_bwd")
    with ttc_triton.enabled(fallback=False):
        assert ".version 8.1" in kernels.build(scatter, ptx_version=84).asm["ptx"]
    with ttc_triton.enabled(), pytest.warns(ttc_triton.FallbackWarning, match="ptx_version=80"):
        made = kernels.build(scatter, ptx_version=80)
    assert not hasattr(made.metadata, "ttc")
    assert ".version 8.0" in made.asm["ptx"]


REFUSED = {"instrumentation_mode": "consan", "clc": True, "sched4reg": True}


@pytest.mark.parametrize("option", [o for o in REFUSED if o in CUDAOptions.__dataclass_fields__])
def test_what_ttc_has_not(option):
    ttc_triton.enable(fallback=False)
    with pytest.raises(ttc_triton.NotCompiled, match=option):
        kernels.build(ADD, arch=100, **{option: REFUSED[option]})


@pytest.mark.parametrize(
    ("knob", "value"), [("enable_asan", True), ("use_ir_loc", "ttgir"), ("dump_ir_extract_di_local_variables", True)]
)
def test_knobs_that_ttc_has_not(monkeypatch, knob, value):
    monkeypatch.setattr(knobs.compilation, knob, value)
    ttc_triton.enable(fallback=False)
    with pytest.raises(ttc_triton.NotCompiled, match=r"is set|USE_IR_LOC"):
        kernels.build(ADD)


def test_functions_of_other_libraries_are_left_to_triton(tmp_path):
    library = tmp_path / "mine.bc"
    library.write_bytes(b"")
    ttc_triton.enable(fallback=False)
    kernels.build(ADD, extern_libs={"mine": str(library)})
    assert "tt.extern_elementwise" in extra.build(extra.with_libdevice).asm["ttir"]
    with pytest.raises(ttc_triton.NotCompiled, match="mine"):
        extra.build(extra.with_libdevice, extern_libs={"mine": str(library)})
    with pytest.raises(ttc_triton.NotCompiled, match="enable_reflect_ftz"):
        extra.build(extra.with_libdevice, enable_reflect_ftz=False)


def test_every_option_of_triton_is_known():
    """A new option of a new Triton must be looked at before this package takes kernels that use it."""
    above = {"supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision"}
    above |= {"allowed_dot_input_precisions", "max_num_imprecise_acc_default", "debug", "sanitize_overflow"}
    launch = {"launch_cooperative_grid", "launch_pdl", "backend_name", "ir_override"}
    lowering = {"num_warps", "num_ctas", "num_stages", "warp_size", "maxnreg", "ptx_version", "ptx_options", "arch"}
    lowering |= {"enable_fp_fusion", "enable_reflect_ftz", "extern_libs", "min_shared_mem", "sched4reg", "clc"}
    # `fpsan_homomorphic_casts` counts only together with `instrumentation_mode`.
    lowering |= {"instrumentation_mode", "fpsan_homomorphic_casts"}
    assert {field.name for field in dataclasses.fields(CUDAOptions)} <= above | launch | lowering


def test_other_targets_are_none_of_ttcs_business():
    ttc_triton.enable(fallback=False)
    backend = triton.compiler.make_backend(GPUTarget("hip", "gfx942", 64))
    stages = {}
    backend.add_stages(stages, backend.parse_options({}), triton.backends.compiler.Language.TRITON)
    assert "amdgcn" in stages
    assert not any("ttc_triton" in getattr(getattr(s, "func", s), "__module__", "") for s in stages.values())
