"""What tinygrad's emulator lacks of the instructions that LLVM writes for compute kernels."""


def add(emu):
    """Adds them to the emulator's module."""
