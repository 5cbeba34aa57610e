import triton
import warnings

SIZES = [64, 128]


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def collect(limit, hook=None):
    configs = []
    for size in SIZES:
        for warps in [2, 4, 8, 16]:
            if warps == 8:
                continue
            if warps * 32 > limit:
                break
            config = triton.Config({"BLOCK": size}, num_warps=warps, pre_hook=hook)
            config_count = len(configs)
            configs.append(config)
            assert len(configs) == config_count + 1
    warnings.warn(f"{len(configs)} configurations")
    return configs


heuristics = {"HAS_OUT": lambda args: args["out"] is not None, "LIMIT": lambda args: args["BLOCK"] * len(SIZES)}
