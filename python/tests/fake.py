"""A driver of Triton for a GPU that is not there: it loads and launches nothing, and counts the launches."""

from typing import Any

from triton.backends.compiler import GPUTarget


class FakeUtils:
    """Answers of a GPU of compute capability 9.0."""

    def get_device_properties(self, _device: int) -> dict[str, int]:
        return {"max_shared_mem": 232448}

    def load_binary(self, *_arguments: Any) -> tuple[int, int, int, int, int]:
        """Module, function, registers, spills and the most threads of a block."""
        return 1, 1, 32, 0, 1024

    def unload_module(self, _module: int) -> None:
        """Nothing was loaded."""


class FakeDriver:
    """What Triton's JIT asks its driver for."""

    def __init__(self) -> None:
        self.utils = FakeUtils()
        self.launches: list[str] = []

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def launcher_cls(self, _source: Any, metadata: Any) -> Any:
        """A launcher that notes the kernel's name."""
        return lambda *_arguments: self.launches.append(metadata.name)
