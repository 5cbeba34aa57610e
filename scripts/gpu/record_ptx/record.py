"""Runs the recorded instructions on the GPU of this machine and writes their results.

usage: record.py --cubins DIR --out FILE

DIR is what `generate.py --cubins` wrote. FILE gets the lines of DIR/forms.txt, those of forms with their results in base64 behind them.
Each form runs twice; one whose results differ ends the run. Needs Python and the CUDA driver, nothing else.
"""
import argparse
import base64
import ctypes
import sys

cu = ctypes.CDLL("libcuda.so.1")


def check(code, what):
    if code:
        p = ctypes.c_char_p()
        cu.cuGetErrorString(code, ctypes.byref(p))
        sys.exit(f"{what}: {p.value.decode() if p.value else code}")


def start():
    """Takes the first device; returns its name and the driver's version."""
    check(cu.cuInit(0), "cuInit")
    device, context, version = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
    check(cu.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    check(cu.cuDriverGetVersion(ctypes.byref(version)), "cuDriverGetVersion")
    name = ctypes.create_string_buffer(100)
    check(cu.cuDeviceGetName(name, 100, device), "cuDeviceGetName")
    return name.value.decode(), version.value


def allocate(size):
    p = ctypes.c_uint64()
    check(cu.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(size)), "cuMemAlloc")
    return p


def upload(data):
    p = allocate(len(data))
    check(cu.cuMemcpyHtoD_v2(p, data, ctypes.c_size_t(len(data))), "cuMemcpyHtoD")
    return p


def run(function, grid, block, size, operands):
    """The bytes that a launch leaves in its output, which is filled with 0xa5 before."""
    out = upload(b"\xa5" * size)
    values = [out] + operands + [ctypes.c_uint64(0)] * (3 - len(operands))
    params = (ctypes.c_void_p * 4)(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
    check(cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, None, params, None), "cuLaunchKernel")
    check(cu.cuCtxSynchronize(), "cuCtxSynchronize")
    data = ctypes.create_string_buffer(size)
    check(cu.cuMemcpyDtoH_v2(data, out, ctypes.c_size_t(size)), "cuMemcpyDtoH")
    check(cu.cuMemFree_v2(out), "cuMemFree")
    return data.raw


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cubins", required=True)
    ap.add_argument("--out", required=True)
    o = ap.parse_args()
    device, driver = start()
    with open(f"{o.cubins}/forms.txt") as f:
        lines = [line.split() for line in f]
    memory = {line[1]: upload(base64.b64decode(line[2])) for line in lines if line[0] == "pool"}
    modules, count = {}, 0
    with open(o.out, "w") as out:
        out.write(f"device {device}, driver {driver}\n")
        for line in lines:
            if line[0] != "form":
                out.write(" ".join(line) + "\n")
                continue
            _, module, name, grid, block, size, *operands = line
            if module not in modules:
                handle = ctypes.c_void_p()
                with open(f"{o.cubins}/{module}.cubin", "rb") as f:
                    check(cu.cuModuleLoadData(ctypes.byref(handle), f.read()), f"{module}.cubin")
                modules[module] = handle
            function = ctypes.c_void_p()
            check(cu.cuModuleGetFunction(ctypes.byref(function), modules[module], name.encode()), name)
            launch = (function, int(grid), int(block), int(size), [memory[p] for p in operands])
            data = run(*launch)
            if run(*launch) != data:
                sys.exit(f"{name}: two runs give different results")
            out.write(" ".join(line) + " = " + base64.b64encode(data).decode() + "\n")
            count += 1
    print(f"{count} forms recorded on {device}, driver {driver}")


if __name__ == "__main__":
    main()
