"""Run the host code of kernel files without a GPU and write down how it launches its kernels.

usage: record.py SRC REPO LIST LAUNCHES FILE[=PROBLEM]... [--most GIB]

REPO is owner/name, and FILE a path in SRC/<owner>+<name>. A file is one of KernelBench's form: a class `ModelNew` (or
`Model`), `get_init_inputs()` and `get_inputs()`; the last two may stand in another file, PROBLEM. LIST gets what
`build.py` compiles, a JSON object a line, and LAUNCHES what `race.py` launches: the grid, the values of numbers, and the
bytes behind pointers. Both are written anew; launches with the same code, types and constants count once, and those
that touch more than GIB (12) are left out.

1. Tensors are PyTorch's fake ones: they have shapes and types, and no memory. They say that they are on a GPU.
2. A stand-in takes the place of `triton`. Its `jit` keeps the function, and a launch binds the arguments as Triton's JIT
   does: a number of 1 is a constant, multiples of 16 and aligned pointers are said to be such.
3. Of an autotuner's configurations the one in the middle is taken.

Each file runs in a process of its own, for at most a minute. What a file raises is said on stderr; the launches before
it count. Needs PyTorch 2.9 (any build), and no Triton.
"""

import argparse
import contextlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import re
import signal
import sys
import types

import torch
import torch._dynamo
import torch._subclasses.fake_tensor as fake
from torch.overrides import TorchFunctionMode

LIMIT_S = 60
DTYPES = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "fp8e4nv",
    torch.float8_e5m2: "fp8e5",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "i1",
}
OPTIONS = {"num_warps", "num_stages", "num_ctas", "maxnreg", "warmup", "stream", "enable_fp_fusion"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("src", "repo", "list", "launches"):
        p.add_argument(name)
    p.add_argument("files", nargs="+", metavar="FILE[=PROBLEM]")
    p.add_argument("--most", type=float, default=12, metavar="GIB")
    return p.parse_args()


class Thing:
    """Something of Triton's that host code only passes on."""

    def __init__(self, *names):
        self.name = ".".join(map(str, names[:1]))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Thing(name)

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else Thing(self.name)

    def __getitem__(self, _):
        return self


class Dtype(Thing):
    def __str__(self):
        return f"tl.{self.name}"


class Constant:
    """`tl.constexpr`, as an annotation and as a value."""

    def __init__(self, value):
        self.value = plain(value)

    def __index__(self):
        return int(self.value)

    def __getattr__(self, name):
        return getattr(self.value, name)


def plain(value):
    return value.value if isinstance(value, Constant) else value


class Kernel:
    """What `@triton.jit` makes. `launches` is filled by whoever launches it."""

    launches = []

    def __init__(self, function, do_not_specialize=()):
        self.fn = function
        self.__name__ = function.__name__
        self.parameters = inspect.signature(function).parameters
        self.arg_names = list(self.parameters)
        unspecialized = set(do_not_specialize or ())
        self.as_given = {n for i, n in enumerate(self.arg_names) if n in unspecialized or i in unspecialized}

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def run(self, *args, grid, **kwargs):
        options = {k: kwargs.pop(k) for k in list(kwargs) if k in OPTIONS and k not in self.parameters}
        bound = inspect.signature(self.fn).bind(*args, **kwargs)
        bound.apply_defaults()
        values = {name: plain(value) for name, value in bound.arguments.items()}
        blocks = grid({**values, **options}) if callable(grid) else grid
        blocks = list(blocks) if isinstance(blocks, (tuple, list)) else [blocks]
        row = {"signature": [], "defines": {}, "values": {}, "bytes": {}}
        for name, parameter in self.parameters.items():
            is_constant = parameter.annotation is Constant or "constexpr" in str(parameter.annotation)
            self.describe(row, name, values[name], is_constant)
        code = self.fn.__code__
        self.launches.append(
            {
                "func": self.__name__,
                "line": code.co_firstlineno,
                "code": inspect.getsource(self.fn),
                "grid": ([int(n) for n in blocks] + [1, 1])[:3],
                "num_warps": int(options.get("num_warps") or 4),
                "num_stages": int(options.get("num_stages") or 3),
                "num_ctas": int(options.get("num_ctas") or 1),
                **row,
            }
        )

    def describe(self, row, name, value, is_constant):
        """Adds a parameter to a launch: its item of the signature, and its value."""
        kind = "constexpr"
        if isinstance(value, torch.Tensor) and not is_constant:
            start = value.storage_offset() * value.element_size()
            kind = f"*{DTYPES[value.dtype]}" + (":16" if start % 16 == 0 else "")
            row["bytes"][name] = max(16, value.untyped_storage().nbytes() - start)
        elif is_constant or value is None or isinstance(value, (str, Dtype)):
            row["defines"][name] = str(value) if isinstance(value, Dtype) else repr(value)
        elif isinstance(value, bool):
            kind, row["values"][name] = "i1", int(value)
        elif isinstance(value, float):
            kind, row["values"][name] = "fp32", value
        elif value == 1 and name not in self.as_given:
            row["defines"][name] = "1"
        else:
            value = int(value)
            kind = "i32" if -(2**31) <= value < 2**31 else "i64"
            kind += ":16" if value % 16 == 0 and name not in self.as_given else ""
            row["values"][name] = value
        row["signature"].append(kind)


class Tuned:
    """A kernel behind `@triton.autotune` or `@triton.heuristics`."""

    def __init__(self, kernel, add):
        self.kernel, self.add, self.arg_names = kernel, add, kernel.arg_names

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def run(self, *args, **kwargs):
        return self.kernel.run(*args, **{**kwargs, **self.add({**dict(zip(self.arg_names, args)), **kwargs})})


def jit(function=None, **options):
    if function is None:
        return lambda f: jit(f, **options)
    return Kernel(function, options.get("do_not_specialize"))


def autotune(configs, **_):
    chosen = configs[len(configs) // 2] if configs else {}
    return lambda kernel: Tuned(kernel, lambda _: chosen)


def heuristics(values):
    return lambda kernel: Tuned(kernel, lambda known: {name: f(known) for name, f in values.items()})


def config(kwargs, num_warps=4, num_stages=3, **_):
    return {**kwargs, "num_warps": num_warps, "num_stages": num_stages}


def cdiv(a, b):
    return -(-int(a) // int(b))


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes `triton` and every module in it."""

    known = {
        "triton": {
            "jit": jit,
            "autotune": autotune,
            "heuristics": heuristics,
            "Config": config,
            "cdiv": cdiv,
            "next_power_of_2": lambda n: 1 << max(0, (int(n) - 1).bit_length()),
            "__version__": "3.9.0",
        },
        "triton.language": {"constexpr": Constant, "cdiv": cdiv},
    }

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] == "triton" else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__dict__.update(self.known.get(spec.name, {}))
        make = Dtype if spec.name == "triton.language" else Thing

        def missing(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return make(name)

        module.__getattr__ = missing
        return module

    def exec_module(self, module):
        if module.__name__ == "triton":
            module.language = importlib.import_module("triton.language")


class OnTheCpu(TorchFunctionMode):
    """Fake tensors are of the CPU, whatever device the code asks for: no call may look for a driver."""

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        def moved(value):
            if isinstance(value, str) and value.startswith("cuda"):
                return "cpu"
            return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value

        return function(*map(moved, args), **{k: moved(v) for k, v in (kwargs or {}).items()})


class Device:
    """What code may ask of a GPU: an H100."""

    name, major, minor, multi_processor_count, warp_size = "NVIDIA H100", 9, 0, 132, 32
    total_memory, L2_cache_size, max_threads_per_multi_processor = 80 << 30, 50 << 20, 2048
    shared_memory_per_multiprocessor, regs_per_multiprocessor = 233472, 65536


def pretend():
    """Makes PyTorch say that there is a GPU, and never look for it."""
    for name in [n for n in sys.modules if n.split(".")[0] == "triton"]:
        del sys.modules[name]
    sys.meta_path.insert(0, Modules())
    fake.init_gpu_context = lambda *_: None
    fake.FakeTensorMode.avoid_device_init = property(lambda _: True)
    for kind in (torch.Tensor, fake.FakeTensor):
        kind.is_cuda = property(lambda _: True)
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *_, **__: self
    torch.Tensor.data_ptr = lambda self: self.storage_offset() * self.element_size()
    torch.compile = lambda model=None, **_: model if model is not None else lambda f: f
    answers = {"is_available": True, "device_count": 1, "current_device": 0, "get_device_name": Device.name}
    answers |= {"get_device_capability": (9, 0), "get_device_properties": Device}
    answers |= dict.fromkeys(("synchronize", "empty_cache", "manual_seed", "manual_seed_all"))
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, answer=answer, **__: answer)
    torch.cuda.device = torch.cuda.device_of = lambda *_: contextlib.nullcontext()


def names_of(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    # The tensors are of the CPU.
    text = re.sub(r"(\w+)\.device\.type\s*==\s*['\"]cuda['\"]", r"\1.is_cuda", text)
    text = re.sub(r"(\w+)\.device\.type\s*!=\s*['\"]cuda['\"]", r"not \1.is_cuda", text)
    names = {"__name__": "kernels"}
    exec(compile(text, path, "exec"), names)  # noqa: S102
    return names


def run_file(path, problem):
    with fake.FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad(), OnTheCpu():
        names = names_of(path)
        given = names_of(problem) if problem else names
        init = given.get("get_init_inputs", list)()
        model = names.get("ModelNew") or names["Model"]
        model = model(**init[0]) if len(init) == 1 and isinstance(init[0], dict) else model(*init)
        model(*given["get_inputs"]())


def give_up(*_):
    raise TimeoutError(f"more than {LIMIT_S} s")


def launches_of(path, problem):
    """The launches of a file, which runs in another process."""
    back, front = os.pipe()
    if (child := os.fork()) == 0:
        signal.signal(signal.SIGALRM, give_up)
        signal.alarm(LIMIT_S)
        try:
            run_file(path, problem)
        except BaseException as e:  # noqa: BLE001  whatever somebody's code raises
            print(f"{path}: {type(e).__name__}: {str(e).splitlines()[:1]}", file=sys.stderr)
        signal.alarm(0)
        with os.fdopen(front, "w") as out:
            json.dump(Kernel.launches, out)
        os._exit(0)
    os.close(front)
    with os.fdopen(back) as text:
        told = text.read()
    os.waitpid(child, 0)
    return json.loads(told or "[]")


def main():
    options = arguments()
    pretend()
    root = f"{options.src}/{options.repo.replace('/', '+')}"
    seen, names = set(), {}
    with open(options.list, "w") as rows, open(options.launches, "w") as launches:
        for file in options.files:
            path, _, problem = file.partition("=")
            for launch in launches_of(f"{root}/{path}", problem):
                key = json.dumps([launch[k] for k in ("code", "signature", "defines", "num_warps", "num_stages")])
                too_large = sum(launch["bytes"].values()) > options.most * 2**30
                if key in seen or too_large or launch["num_ctas"] != 1 or min(launch["grid"]) < 1:
                    continue
                seen.add(key)
                stem = "_".join(path.removesuffix(".py").split("/")[-2:])
                name = f"{options.repo.split('/')[0]}/{stem}/{launch['func']}@{launch['line']}"
                names[name] = names.get(name, 0) + 1
                name += f".{names[name]}" if names[name] > 1 else ""
                kept = ("func", "signature", "defines", "num_warps", "num_stages")
                row = {"id": name, "repo": options.repo, "path": path, **{k: launch[k] for k in kept}}
                print(json.dumps(row), file=rows)
                print(json.dumps({"id": name, **{k: launch[k] for k in ("grid", "values", "bytes")}}), file=launches)
    print(f"{len(seen)} launches of {len(options.files)} files")


if __name__ == "__main__":
    main()
