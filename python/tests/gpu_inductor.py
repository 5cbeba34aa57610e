"""Trains, tunes and runs kernels on a GPU with Triton and with ttc under it, and compares.

    TTC=/path/to/ttc PYTHONPATH=python/src python3 python/tests/gpu_inductor.py [--steps 20] [--only train,gemm,...]

Each part runs twice, with Triton and with ttc, in processes of their own, with the same seeds and empty caches:

- `train`: a transformer block with `torch.compile`, forwards and backwards, `--steps` steps of SGD. The losses of both
  are printed, and the seconds to the end of the first step, which is the cold start.
- `gemm`: two linear layers with Inductor's own templates of products (`max-autotune`), against eager PyTorch.
- `kernels`: the repository's matmul, tuned over configurations of which one does not fit, and its softmax.
- `workers`: a function that is compiled when Inductor's worker processes are up.

It exits with 1 where results are wrong, losses differ, or ttc compiled nothing. It needs PyTorch with CUDA.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

PARTS = ("train", "gemm", "kernels", "workers")
TOLERANCE = 1e-4
"""How far the losses may differ, relative to their size."""


def train(steps: int) -> dict[str, Any]:
    """Losses of a compiled transformer block, and how long the first step took from the start of the process."""
    import torch
    from torch import nn

    class Block(nn.Module):
        """Attention and a gated layer, each behind a norm."""

        def __init__(self, dim: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(dim), nn.RMSNorm(dim)
            self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
            self.up, self.down = nn.Linear(dim, 8 * dim), nn.Linear(4 * dim, dim)
            self.dropout = nn.Dropout(0.1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            batch, length, dim = x.shape
            parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, dim // self.heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            scores = (q @ k.transpose(-1, -2)) * (dim // self.heads) ** -0.5
            mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
            weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
            x = x + self.dropout(self.out((weights @ v).transpose(1, 2).reshape(batch, length, dim)))
            gate, value = self.up(self.norm2(x)).chunk(2, -1)
            return x + self.down(nn.functional.gelu(gate) * value)

    torch.manual_seed(0)
    model = Block(256, 4).cuda()
    x, target = torch.randn(8, 128, 256, device="cuda"), torch.randn(8, 128, 256, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    @torch.compile
    def loss_of(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return nn.functional.mse_loss(model(x), target)

    losses, cold = [], 0.0
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(x, target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step == 0:
            cold = time.time() - float(os.environ["STARTED"])
    return {"losses": losses, "cold": cold, "wrong": []}


def gemm(_steps: int) -> dict[str, Any]:
    """Products by Inductor's templates, in fp16, against eager PyTorch."""
    import torch
    from torch import nn
    from torch._inductor import config

    config.max_autotune_gemm_backends = "TRITON"
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda().half()
    x = torch.randn(1024, 512, device="cuda", dtype=torch.float16)
    with torch.no_grad():
        expected = model(x)
        found = torch.compile(model, mode="max-autotune-no-cudagraphs")(x)
    return {"wrong": _difference("gemm", found, expected, 2e-2)}


def kernels(_steps: int) -> dict[str, Any]:
    """The repository's matmul under Triton's autotuner, and its softmax."""
    sys.path.insert(0, str(Path(__file__).parent))
    import torch
    import triton
    from kernels import module

    shapes = [(64, 64, 32, 3, 4), (128, 128, 32, 4, 8), (128, 256, 64, 3, 8), (256, 256, 128, 5, 8)]
    configs = [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_stages=stages, num_warps=warps)
        for m, n, k, stages, warps in shapes
    ]
    matmul = triton.autotune(configs=configs, key=["m", "n", "k"])(module("matmul.tk").matmul)
    torch.manual_seed(0)
    wrong = []
    for size in (512, 1000):
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
        c = torch.empty_like(a)
        strides = (*a.stride(), *b.stride(), *c.stride())
        matmul[lambda meta, n=size: (triton.cdiv(n, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](
            a, b, c, size, size, size, *strides
        )
        wrong += _difference(f"matmul {size}", c, a @ b, 2e-2)
    x = torch.randn(1823, 781, device="cuda")
    y = torch.empty_like(x)
    module("softmax.tk").softmax[(1823,)](x, y, 781, BLOCK=1024)
    wrong += _difference("softmax", y, x.softmax(-1), 1e-5)
    best = str(matmul.best_config)
    return {"wrong": wrong, "best": best}


def workers(_steps: int) -> dict[str, Any]:
    """A function that Inductor's worker processes compile, because they are up before it is called."""
    import torch
    from torch._inductor.async_compile import AsyncCompile

    AsyncCompile.wait_pool_ready()
    x = torch.randn(1000, 300, device="cuda")

    def work(x: torch.Tensor) -> torch.Tensor:
        return (torch.sin(x) * torch.cos(x)).sum(-1)

    return {"wrong": _difference("workers", torch.compile(work)(x), work(x), 1e-4)}


def _difference(name: str, found: Any, expected: Any, tolerance: float) -> list[str]:
    error = (found.float() - expected.float()).abs().max().item()
    scale = expected.float().abs().max().item()
    return [] if error <= tolerance * scale else [f"{name}: the largest difference is {error} at a scale of {scale}"]


def run(part: str, compiler: str, steps: int) -> dict[str, Any]:
    """What a part returns from a process of its own, with the records of its kernels."""
    with tempfile.TemporaryDirectory(prefix="gpu-inductor-") as folder:
        environment = {name: value for name, value in os.environ.items() if name != "TTC_TRITON"}
        environment.update(TRITON_CACHE_DIR=f"{folder}/triton", TORCHINDUCTOR_CACHE_DIR=f"{folder}/inductor")
        environment.update(TTC_TRITON_LOG=f"{folder}/log", STARTED=str(time.time()), RESULT=f"{folder}/result")
        if compiler == "ttc":
            environment["TTC_TRITON"] = "1"
        command = [sys.executable, __file__, "--child", part, "--steps", str(steps)]
        done = subprocess.run(command, env=environment, check=False)
        if done.returncode != 0:
            return {"wrong": [f"{part} with {compiler} ended with {done.returncode}"], "records": []}
        result = json.loads(Path(folder, "result").read_text())
        log = Path(folder, "log")
        result["records"] = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        result["seconds"] = time.time() - float(environment["STARTED"])
        return result


def child(part: str, steps: int) -> None:
    """Runs a part in this process."""
    parts: dict[str, Callable[[int], dict[str, Any]]] = {
        "train": train,
        "gemm": gemm,
        "kernels": kernels,
        "workers": workers,
    }
    result = parts[part](steps)
    result["pid"] = os.getpid()
    Path(os.environ["RESULT"]).write_text(json.dumps(result))


def show_records(result: dict[str, Any]) -> int:
    """Prints what became of the kernels. Returns how many ttc compiled."""
    records = result["records"]
    outcomes = collections.Counter((r["outcome"], r["reason"]) for r in records)
    for (outcome, reason), count in sorted(outcomes.items()):
        message = next((r["message"] for r in records if (r["outcome"], r["reason"]) == (outcome, reason)), "")
        print(f"  {count:4d} {outcome} {reason} {message}")
    others = {r["pid"] for r in records} - {result.get("pid")}
    print(f"  compiled in {len({r['pid'] for r in records})} processes, {len(others)} of them Inductor's workers")
    return sum(r["outcome"] == "ttc" for r in records)


def compare(part: str, steps: int) -> list[str]:
    """Runs a part with both compilers, prints what came out, and returns what is wrong."""
    results = {compiler: run(part, compiler, steps) for compiler in ("triton", "ttc")}
    print(f"== {part}")
    wrong = []
    for compiler, result in results.items():
        wrong += [f"{compiler}: {what}" for what in result["wrong"]]
        print(f"  {compiler}: {result.get('seconds', 0):.1f} s", result.get("best", ""))
    if show_records(results["ttc"]) == 0:
        wrong.append(f"{part}: ttc compiled nothing")
    if results["triton"]["records"]:
        wrong.append(f"{part}: ttc was at work in the run of Triton")
    if part == "workers" and not {r["pid"] for r in results["ttc"]["records"]} - {results["ttc"].get("pid")}:
        wrong.append("workers: no worker process used ttc")
    if part == "train" and not wrong:
        wrong += compare_losses(results["triton"], results["ttc"])
    return wrong


def compare_losses(triton: dict[str, Any], ttc: dict[str, Any]) -> list[str]:
    """Prints both lists of losses, their largest difference and the cold starts."""
    print("  triton", *(f"{loss:.7f}" for loss in triton["losses"]))
    print("  ttc   ", *(f"{loss:.7f}" for loss in ttc["losses"]))
    pairs = list(zip(triton["losses"], ttc["losses"]))
    largest = max(abs(a - b) for a, b in pairs)
    print(f"  largest difference {largest:.3e}")
    print(f"  cold start: {triton['cold']:.2f} s with Triton, {ttc['cold']:.2f} s with ttc")
    apart = [step for step, (a, b) in enumerate(pairs) if not abs(a - b) <= TOLERANCE * abs(a)]
    return [f"train: the losses differ at step {apart[0]}"] if apart else []


def main() -> int:
    """Runs the parts that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--child", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.steps)
        return 0
    wrong = [what for part in options.only.split(",") for what in compare(part, options.steps)]
    for what in wrong:
        print(f"WRONG {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
