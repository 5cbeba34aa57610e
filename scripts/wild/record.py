"""Run the host code of kernel files without a GPU and write down how it launches its kernels.

usage: record.py SRC REPO LIST LAUNCHES FILE[=PROBLEM]... [--most GIB]

REPO is owner/name, and FILE a path in SRC/<owner>+<name>, or from anywhere. There are two forms of it:
- KernelBench's: a class `ModelNew` (or `Model`), `get_init_inputs()` and `get_inputs()`; the last two may stand in
  another file, PROBLEM;
- a driver, with functions `run_…()` that import the repository's modules and call what launches kernels, backward
  too. Each is run by itself.

LIST gets what `build.py` compiles, a JSON object a line, and LAUNCHES what `race.py` launches: the grid, the values of
numbers, and the bytes behind pointers. Both are written anew; launches with the same code, types and constants count
once, and those that touch more than GIB (12) are left out.

1. Tensors are PyTorch's fake ones: they have shapes and types, and no memory. They say that they are on a GPU.
2. A stand-in takes the place of `triton`. Its `jit` keeps the function, and a launch binds the arguments as Triton's
   JIT does: a number has the type that its parameter is annotated with, or else a number of 1 is a constant; multiples
   of 16 and aligned pointers are said to be such.
3. Of an autotuner's configurations the one in the middle is taken, of those that its early pruning leaves.
4. Modules that are not there are stand-ins too, whose attributes and calls give stand-ins again.

Each file, and each function of a driver, runs in a process of its own, for at most a minute. What it raises is said on
stderr, and how many launches were left out; the launches before it count. Needs PyTorch 2.9 (any build), and no Triton.
"""

import argparse
import contextlib
import hashlib
import importlib.abc
import importlib.machinery
import inspect
import json
import math
import os
import re
import signal
import sys
import textwrap
import types

import torch
import torch._dynamo
import torch._subclasses.fake_tensor as fake
from torch.overrides import TorchFunctionMode

LIMIT_S = 60
GPU = torch.device("cuda", 0)
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
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
    torch.bool: "i1",
}
# What parameters of numbers may be annotated with, beside `tl.int32` and so on.
ANNOTATED = {"bool": "i1", "int": "i32", "float": "fp32", "int1": "i1", "float16": "fp16", "bfloat16": "bf16"}
ANNOTATED |= {"float32": "fp32", "float64": "fp64", "half": "fp16", "double": "fp64"}
ANNOTATED |= {f"{u}int{n}": f"{u or 'i'}{n}" for u in ("", "u") for n in (8, 16, 32, 64)}
OPTIONS = {"num_warps", "num_stages", "num_ctas", "maxnreg", "warmup", "stream", "enable_fp_fusion"}
OPTIONS |= {"launch_cooperative_grid", "launch_pdl", "arch"}
OPTIONS |= {"waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint"}  # AMD's


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("src", "repo", "list", "launches"):
        p.add_argument(name)
    p.add_argument("files", nargs="+", metavar="FILE[=PROBLEM]")
    p.add_argument("--most", type=float, default=12, metavar="GIB")
    return p.parse_args()


class Thing:
    """Something that host code only passes on, or derives from."""

    def __init__(self, *names):
        self.name = ".".join(map(str, names[:1]))

    def __mro_entries__(self, _):
        return ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Thing(name)

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else Thing(self.name)

    def __getitem__(self, _):
        return self

    __or__ = __ror__ = __getitem__
    __iter__ = None


class Dtype(Thing):
    def __eq__(self, other):
        return isinstance(other, Dtype) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

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


def annotated(annotation):
    """The type that the annotation of a parameter gives to a number, or `None`."""
    name = annotation if isinstance(annotation, str) else getattr(annotation, "name", None)
    name = name or getattr(annotation, "__name__", "")
    return ANNOTATED.get(str(name).rsplit(".", 1)[-1])


def written(value):
    """A constant as `-D` takes it: of a member of an enumeration of numbers, the number."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(int(value)) if isinstance(value, int) and not isinstance(value, bool) else repr(value)


class Kernel:
    """What `@triton.jit` makes. `launches` is filled by whoever launches it."""

    launches = []

    def __init__(self, function, do_not_specialize=(), do_not_specialize_on_alignment=()):
        self.fn = function
        self.__name__, self.__module__ = function.__name__, function.__module__
        self.__globals__ = function.__globals__
        self.parameters = inspect.signature(function).parameters
        self.arg_names = list(self.parameters)

        def named(parameters):
            """The names of parameters that are given by names or numbers."""
            given = set(parameters or ())
            return {n for i, n in enumerate(self.arg_names) if n in given or i in given}

        # Of the first nothing is said but the type, of the others whether they are 1.
        self.as_given = named(do_not_specialize)
        self.unaligned = self.as_given | named(do_not_specialize_on_alignment)

    @property
    def src(self):
        text = textwrap.dedent(inspect.getsource(self.fn))
        return text[re.search(r"^def ", text, re.MULTILINE).start() :]

    @property
    def cache_key(self):
        return hashlib.sha256(self.src.encode()).hexdigest()

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
            self.describe(row, name, values[name], is_constant, annotated(parameter.annotation))
        code = self.fn.__code__
        self.launches.append(
            {
                "func": self.__name__,
                "path": code.co_filename,
                "line": code.co_firstlineno,
                "code": inspect.getsource(self.fn),
                "grid": ([int(n) for n in blocks] + [1, 1])[:3],
                "num_warps": int(options.get("num_warps") or 4),
                "num_stages": int(options.get("num_stages") or 3),
                "num_ctas": int(options.get("num_ctas") or 1),
                "maxnreg": options.get("maxnreg"),
                **row,
            }
        )

    def describe(self, row, name, value, is_constant, given):
        """Adds a parameter to a launch: its item of the signature, and its value. `given` is its type, if it has one."""
        kind = "constexpr"
        if isinstance(value, torch.Tensor) and not is_constant:
            start = value.storage_offset() * value.element_size()
            kind = f"*{DTYPES[value.dtype]}" + (":16" if start % 16 == 0 and name not in self.unaligned else "")
            row["bytes"][name] = max(16, value.untyped_storage().nbytes() - start)
        elif isinstance(value, Kernel):
            here = value.__module__ == self.__module__
            row["defines"][name] = value.__name__ if here else f"{value.__module__}.{value.__name__}"
        elif is_constant or value is None or isinstance(value, (str, Dtype)):
            row["defines"][name] = str(value) if isinstance(value, Dtype) else written(value)
        elif given and given[:2] in ("fp", "bf"):
            kind, row["values"][name] = given, float(value)
        elif given:
            kind, row["values"][name] = given, int(value)
            kind += ":16" if given != "i1" and int(value) % 16 == 0 and name not in self.unaligned else ""
        elif isinstance(value, bool):
            kind, row["values"][name] = "i1", int(value)
        elif isinstance(value, float):
            kind, row["values"][name] = "fp32", value
        elif value == 1 and name not in self.as_given:
            row["defines"][name] = "1"
        else:
            value = int(value)
            kind = "i32" if -(2**31) <= value < 2**31 else "i64" if value < 2**63 else "u64"
            kind += ":16" if value % 16 == 0 and name not in self.unaligned else ""
            row["values"][name] = value
        row["signature"].append(kind)


class Tuned:
    """A kernel behind `@triton.autotune` or `@triton.heuristics`."""

    def __init__(self, kernel, add, configs=()):
        self.fn, self.add, self.arg_names, self.configs = kernel, add, kernel.arg_names, configs

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def run(self, *args, **kwargs):
        added = self.add({**dict(zip(self.arg_names, args)), **kwargs})
        self.best_config = Config(added, **{name: added[name] for name in OPTIONS & set(added)})
        return self.fn.run(*args, **{**kwargs, **added})


def jit(function=None, **options):
    if function is None:
        return lambda f: jit(f, **options)
    return Kernel(function, options.get("do_not_specialize"), options.get("do_not_specialize_on_alignment"))


def autotune(configs, prune_configs_by=None, **_):
    prune = (prune_configs_by or {}).get("early_config_prune")

    def chosen(known):
        may = callable(prune) and not isinstance(prune, Thing)
        left = list(prune(configs, known, **known)) if may and configs else configs
        return left[len(left) // 2].all_kwargs() if left else {}

    return lambda kernel: Tuned(kernel, chosen, configs)


def heuristics(values):
    def computed(known):
        known = dict(known)
        for name, f in values.items():
            known[name] = f(known)
        return {name: known[name] for name in values}

    return lambda kernel: Tuned(kernel, computed)


class Config:
    """One of an autotuner's configurations."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, **_):
        self.kwargs, self.num_warps, self.num_stages, self.num_ctas = kwargs, num_warps, num_stages, num_ctas
        self.maxnreg, self.pre_hook = maxnreg, pre_hook

    def all_kwargs(self):
        options = {name: getattr(self, name) for name in ("num_warps", "num_stages", "num_ctas", "maxnreg")}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}


def cdiv(a, b):
    return -(-int(a) // int(b))


class Target:
    backend, arch, warp_size = "cuda", 90, 32


class Active:
    """What `triton.runtime.driver.active` says: the target, and what a multiprocessor has."""

    class utils:  # noqa: N801  Triton's name
        @staticmethod
        def get_device_properties(_):
            return {"multiprocessor_count": 132, "max_shared_mem": 232448, "max_num_regs": 65536, "warpSize": 32}

    @staticmethod
    def get_current_target():
        return Target

    @staticmethod
    def get_current_device():
        return 0


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes `triton` and every module in it."""

    known = {
        "triton": {
            "jit": jit,
            "autotune": autotune,
            "heuristics": heuristics,
            "Config": Config,
            "cdiv": cdiv,
            "next_power_of_2": lambda n: 1 << max(0, (int(n) - 1).bit_length()),
            "__version__": "3.9.0",
        },
        "triton.language": {"constexpr": Constant, "cdiv": cdiv},
        "triton.runtime": {"JITFunction": Kernel, "Autotuner": Tuned, "Heuristics": Tuned},
        "triton.runtime.jit": {"JITFunction": Kernel},
        "triton.runtime.autotuner": {"Autotuner": Tuned, "Heuristics": Tuned},
        "triton.runtime.driver": {"active": Active},
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
            full = f"{spec.name}.{name}"
            return importlib.import_module(full) if full in self.known else make(name)

        module.__getattr__ = missing
        return module

    def exec_module(self, module):
        if module.__name__ == "triton":
            module.language = importlib.import_module("triton.language")


def caller_package(depth):
    """The package of the code that calls, beyond what imports modules."""
    frame = sys._getframe(depth)
    while frame and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").split(".")[0] if frame else ""


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes modules that nobody else finds, for code outside of PyTorch, but for parts of those that are there."""

    def find_spec(self, name, path=None, target=None):
        whole = name.split(".")[0]
        is_here = whole in sys.modules and not isinstance(sys.modules[whole].__loader__, Missing)
        if is_here or caller_package(2) == "torch":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)

        def missing(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return Thing(name)

        module.__getattr__ = missing
        return module

    def exec_module(self, module):
        pass


class OnTheCpu(TorchFunctionMode):
    """Fake tensors are of the CPU, whatever device the code asks for: no call may look for a driver."""

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        def moved(value):
            if isinstance(value, str) and value.startswith("cuda"):
                return "cpu"
            return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value

        kwargs = kwargs or {}
        if function is torch.device:
            return function(*args, **kwargs)
        if function is torch.Tensor.backward:  # PyTorch's would run without this mode.
            with self:
                return torch.autograd.backward(args[0], kwargs.pop("gradient", None), **kwargs)
        return function(*map(moved, args), **{k: moved(v) for k, v in kwargs.items()})


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
    sys.meta_path.append(Missing())
    fake.init_gpu_context = lambda *_: None
    fake.FakeTensorMode.avoid_device_init = property(lambda _: True)
    of_fake = fake.FakeTensor.device.fget

    def device_of(tensor):
        return of_fake(tensor) if caller_package(2) == "torch" else GPU

    fake.FakeTensor.device = property(device_of)
    for kind in (torch.Tensor, fake.FakeTensor):
        kind.is_cuda = property(lambda _: True)
    backward = torch.autograd.backward

    def backward_without_streams(*args, **kwargs):
        # At its end PyTorch asks for the streams of the GPU.
        with contextlib.suppress(torch.AcceleratorError):
            backward(*args, **kwargs)

    torch.autograd.backward = backward_without_streams
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *_, **__: self
    # Where a tensor would lie: other storages are elsewhere, and all are aligned.
    torch.Tensor.data_ptr = lambda self: (
        (self.untyped_storage()._cdata << 8) + self.storage_offset() * self.element_size()
    )
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
    names = {"__name__": "kernels"}
    exec(compile(text, path, "exec"), names)  # noqa: S102
    return names


def run_model(names, given):
    init = given.get("get_init_inputs", list)()
    model = names.get("ModelNew") or names["Model"]
    model = model(**init[0]) if len(init) == 1 and isinstance(init[0], dict) else model(*init)
    with torch.no_grad():
        model(*given["get_inputs"]())


def runs_of(path, problem):
    """What there is to run in a file: its model, or the functions of a driver, with their names."""
    names = names_of(path)
    given = names_of(problem) if problem else names
    runs = [(name, run) for name, run in names.items() if name.startswith("run_") and callable(run)]
    return runs or [("model", lambda: run_model(names, given))]


def give_up(*_):
    raise TimeoutError(f"more than {LIMIT_S} s")


def in_a_process(what, run):
    """The launches that `run` gives, or those of before it failed; it runs in another process."""
    back, front = os.pipe()
    if (child := os.fork()) == 0:
        os.close(back)
        Kernel.launches.clear()
        signal.signal(signal.SIGALRM, give_up)
        signal.alarm(LIMIT_S)
        try:
            run()
        except BaseException as e:  # noqa: BLE001  whatever somebody's code raises
            print(f"{what}: {type(e).__name__}: {str(e).splitlines()[:1]}", file=sys.stderr, flush=True)
        signal.alarm(0)
        with os.fdopen(front, "w") as out:
            json.dump(Kernel.launches, out)
        os._exit(0)
    os.close(front)
    with os.fdopen(back) as text:
        told = text.read()
    os.waitpid(child, 0)
    return json.loads(told or "[]")


def launches_of(path, problem):
    """The launches of a file."""

    def run_file():
        found = []
        with fake.FakeTensorMode(allow_non_fake_inputs=True), OnTheCpu():
            runs = runs_of(path, problem)
            signal.alarm(0)
            for name, run in runs:
                found += in_a_process(f"{path} {name}", run)
        Kernel.launches += found

    return in_a_process(path, run_file)


def main():
    options = arguments()
    pretend()
    root = os.path.abspath(f"{options.src}/{options.repo.replace('/', '+')}")
    sys.path[1:1] = [root, f"{root}/src", f"{root}/python"]
    seen, names, left_out = set(), {}, 0
    with open(options.list, "w") as rows, open(options.launches, "w") as launches:
        for file in options.files:
            path, _, problem = file.partition("=")
            for launch in launches_of(os.path.join(root, path), problem and os.path.join(root, problem)):
                key = json.dumps([launch[k] for k in ("code", "signature", "defines", "num_warps", "num_stages", "maxnreg")])
                too_large = sum(launch["bytes"].values()) > options.most * 2**30
                if too_large or launch["num_ctas"] != 1 or min(launch["grid"]) < 1:
                    left_out += 1
                    continue
                if key in seen:
                    continue
                seen.add(key)
                of_kernel = os.path.relpath(launch["path"], root)
                stem = "_".join(of_kernel.removesuffix(".py").split("/")[-2:])
                name = f"{options.repo.split('/')[0]}/{stem}/{launch['func']}@{launch['line']}"
                names[name] = names.get(name, 0) + 1
                name += f".{names[name]}" if names[name] > 1 else ""
                kept = ("func", "signature", "defines", "num_warps", "num_stages")
                row = {"id": name, "repo": options.repo, "path": of_kernel, **{k: launch[k] for k in kept}}
                if launch["maxnreg"]:
                    row["maxnreg"] = int(launch["maxnreg"])
                print(json.dumps(row), file=rows)
                print(json.dumps({"id": name, **{k: launch[k] for k in ("grid", "values", "bytes")}}), file=launches)
    print(f"{len(seen)} launches of {len(options.files)} files")
    if left_out:
        print(f"{left_out} launches are empty, have clusters, or touch too much", file=sys.stderr)


if __name__ == "__main__":
    main()
