"""The kernels of this repository's ``kernels/`` as Triton's JIT functions, with types for their parameters.

The files end in ``.tk``, but they are Python, so that Triton's front end compiles them unchanged.
"""

import dataclasses
import functools
import importlib.machinery
import importlib.util
import inspect
import types
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel

FOLDER = Path(__file__).parents[2] / "kernels"


@dataclasses.dataclass(frozen=True)
class Case:
    """One specialization of a kernel."""

    file: str
    kernel: str
    types: str = ""
    """Types of the parameters without a default, as `ttc compile --signature` takes them; empty if annotated."""
    constants: tuple[tuple[str, Any], ...] = ()
    """Values that differ from the defaults."""
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def id(self) -> str:
        """The name of a test of this case."""
        return self.kernel + "".join(f"-{name}={value}" for name, value in self.constants + self.options)


MATMUL = "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1"
TILES = (("BLOCK_M", 64), ("BLOCK_N", 64), ("BLOCK_K", 32))
ATTENTION = "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, i32:16, fp32"
HOST = "tensordesc<fp16[128, 64]>, tensordesc<fp16[128, 64]>, tensordesc<fp16[128, 128]>, i32:16"

CASES = [
    Case("add.tk", "vector_add"),
    Case("add.tk", "vector_add", options=(("num_warps", 8), ("enable_fp_fusion", False))),
    Case("softmax.tk", "softmax", "*fp32:16, *fp32:16, i32:16"),
    Case("softmax_online.tk", "softmax_online", "*fp16:16, *fp16:16, i32, i32"),
    Case("gelu.tk", "gelu", "*fp16:16, *fp16:16, i32"),
    Case("dropout.tk", "dropout", "*fp32:16, *fp32:16, i32, fp32, i32"),
    Case("layer_norm.tk", "layer_norm", "*bf16:16, *bf16:16, *bf16:16, *bf16:16, *fp32, *fp32, i32:16, fp32"),
    Case("rms_norm.tk", "rms_norm", "*bf16:16, *bf16:16, *bf16:16, i32, i32:16, fp32"),
    Case("cross_entropy.tk", "cross_entropy", "*fp32:16, *i64:16, *fp32:16, *fp32:16, i32, i32"),
    Case("embedding.tk", "embedding_bwd", "*fp32:16, *i32:16, *fp32:16, i32, i32:16"),
    Case("histogram.tk", "histogram", "*i32:16, *i32:16, i32"),
    Case("cumsum.tk", "cumsum", "*fp32:16, *fp32:16, i32:16"),
    Case("sort.tk", "sort", "*fp32:16, *fp32:16, i32"),
    Case("topk.tk", "topk", "*fp32:16, *fp32:16, *i32:16, i32"),
    Case("transpose.tk", "transpose", "*fp16:16, *fp16:16, i32:16, i32:16"),
    Case("join_split.tk", "rotate_pairs"),
    Case("noinline.tk", "standardize"),
    Case("swiglu.tk", "swiglu"),
    Case("matmul.tk", "matmul", MATMUL, TILES),
    Case("matmul.tk", "matmul", MATMUL, TILES, (("num_stages", 4), ("num_warps", 8))),
    Case("matmul_persistent.tk", "matmul_persistent", MATMUL),
    Case("split_k.tk", "split_k", "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16"),
    Case("attention.tk", "attention", ATTENTION, (("CAUSAL", True), ("BLOCK_M", 64), ("DIM", 64))),
    Case("conv2d.tk", "conv2d", "*fp16:16, *fp16:16, *fp16:16" + ", i32" * 9),
    Case("descriptors.tk", "copy_tiles", "*fp16:16, *fp16:16, i32:16, i32:16"),
    Case("matmul_tma.tk", "matmul_tma_host", HOST, (("BLOCK_M", 128), ("BLOCK_N", 128), ("BLOCK_K", 64))),
]

# With `num_ctas=8` a block of the cluster has 8 bytes of a row, fewer than ttc copies by TMA.
REFUSED = Case(
    "descriptors.tk", "transpose_tiles", "*fp16:16, *fp16:16, i32:16, i32:16", (("BLOCK_M", 32), ("BLOCK_N", 32))
)

if hasattr(triton.language, "atomic_poll"):  # since Triton 3.9
    CASES.append(Case("running_sum.tk", "running_sum"))


@functools.cache
def module(file: str) -> types.ModuleType:
    """A file of kernels as a Python module."""
    name = file.replace(".", "_")
    loader = importlib.machinery.SourceFileLoader(name, str(FOLDER / file))
    spec = importlib.util.spec_from_loader(name, loader)
    loaded = importlib.util.module_from_spec(spec)
    loader.exec_module(loaded)
    return loaded


def source(case: Case) -> ASTSource:
    """What Triton's `compile` takes for a case."""
    fn = getattr(module(case.file), case.kernel)
    parameters = list(inspect.signature(fn.fn).parameters.values())
    given = iter(_split(case.types))
    signature, constants, attributes = {}, {}, {}
    for index, parameter in enumerate(parameters):
        if parameter.default is not inspect.Parameter.empty:
            signature[parameter.name] = "constexpr"
            constants[(index,)] = dict(case.constants).get(parameter.name, parameter.default)
            continue
        item, _, hint = (next(given) if case.types else parameter.annotation).partition(":")
        if item == "1":
            signature[parameter.name], constants[(index,)] = "constexpr", 1
        else:
            signature[parameter.name] = item
        if hint == "16":
            attributes[(index,)] = [["tt.divisibility", 16]]
    return ASTSource(fn=fn, signature=signature, constexprs=constants, attrs=attributes)


def _split(text: str) -> list[str]:
    """The items of a signature. The commas in brackets separate none."""
    items, depth = [""], 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return [item.strip() for item in items if item.strip()]


def build(case: Case, arch: int = 90, **options: Any) -> CompiledKernel:
    """Compiles a case for a GPU that need not be there."""
    return triton.compile(source(case), target=GPUTarget("cuda", arch, 32), options={**dict(case.options), **options})


def find(kernel: str) -> Case:
    """The first case of a kernel."""
    return next(case for case in CASES if case.kernel == kernel)
