"""Runs the recorded instructions on the GPU of this machine and writes their results.

usage: record.py --cubins DIR --out FILE

DIR is what `generate.py --cubins` wrote. FILE gets the lines of DIR/forms.txt, those of forms with their results in
base64 behind them. Each form runs twice; one whose results differ, or whose tensor map the driver refuses, is left out
with a message. The line of a form at which the GPU stops begins with `stops` in place of `form`.
Such an error ends the process that it happens in, so another one goes on behind that form.
Needs Python and the CUDA driver, nothing else.
"""
import argparse
import base64
import ctypes
import subprocess
import sys

cu = None


def check(code, what):
    if code:
        p = ctypes.c_char_p()
        cu.cuGetErrorString(code, ctypes.byref(p))
        sys.exit(f"{what}: {p.value.decode() if p.value else code}")


def start():
    """Takes the first device; returns its name and the driver's version."""
    global cu
    cu = ctypes.CDLL("libcuda.so.1")
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


def numbers(text):
    return [int(x) for x in text.split(",") if x]


def encode(text, buffers):
    """The tensor map that `generate.py` describes so; none if the driver refuses it."""
    element, dims, strides, box, steps, swizzle, fill, where = text.split(":")
    dims, strides, box, steps = map(numbers, (dims, strides, box, steps))
    array = lambda ty, values: (ty * max(1, len(values)))(*values)
    room = ctypes.create_string_buffer(192)
    encoded = (ctypes.c_char * 128).from_buffer(room, -ctypes.addressof(room) % 64)
    code = cu.cuTensorMapEncodeTiled(encoded, int(element), ctypes.c_uint32(len(dims)), buffers[where], array(ctypes.c_uint64, dims),
                                     array(ctypes.c_uint64, strides), array(ctypes.c_uint32, box), array(ctypes.c_uint32, steps),
                                     0, int(swizzle), 0, int(fill))
    return None if code else encoded


def run(function, grid, block, size, operands, tensor_map):
    """The bytes that a launch leaves in its output, which is filled with 0xa5 before; none without a tensor map."""
    out = upload(b"\xa5" * size)
    values = [out] + operands + [ctypes.c_uint64(0)] * (3 - len(operands))
    if tensor_map:
        values.append(encode(tensor_map, {"out": out, "a": operands[0]}))
        if values[-1] is None:
            return None
    params = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
    check(cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, None, params, None), "cuLaunchKernel")
    check(cu.cuCtxSynchronize(), "cuCtxSynchronize")
    data = ctypes.create_string_buffer(size)
    check(cu.cuMemcpyDtoH_v2(data, out, ctypes.c_size_t(size)), "cuMemcpyDtoH")
    check(cu.cuMemFree_v2(out), "cuMemFree")
    return data.raw


def forms(folder):
    """The lines of the list, and those of forms among them, as words."""
    with open(f"{folder}/forms.txt") as f:
        lines = [line.split() for line in f]
    return lines, [line for line in lines if line[0] == "form"]


def work(folder, first):
    """Runs the forms from `first` on. A line on the standard output says which one begins, and the next one what came
    of it."""
    device, driver = start()
    print(f"device {device}, driver {driver}", flush=True)
    lines, todo = forms(folder)
    memory = {line[1]: upload(base64.b64decode(line[2])) for line in lines if line[0] == "pool"}
    modules = {}
    for n, (_, module, name, grid, block, size, *operands) in enumerate(todo[first:], first):
        print(f"begin {n}", flush=True)
        if module not in modules:
            handle = ctypes.c_void_p()
            with open(f"{folder}/{module}.cubin", "rb") as f:
                check(cu.cuModuleLoadData(ctypes.byref(handle), f.read()), f"{module}.cubin")
            modules[module] = handle
        function = ctypes.c_void_p()
        check(cu.cuModuleGetFunction(ctypes.byref(function), modules[module], name.encode()), name)
        maps = [p.removeprefix("map=") for p in operands if p.startswith("map=")]
        buffers = [memory[p] for p in operands if not p.startswith("map=")]
        launch = (function, int(grid), int(block), int(size), buffers, maps[0] if maps else None)
        data = run(*launch)
        if data is None:
            print("out: the driver refuses its tensor map", flush=True)
        elif run(*launch) != data:
            print("out: two runs differ", flush=True)
        else:
            print("= " + base64.b64encode(data).decode(), flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cubins", required=True)
    ap.add_argument("--out")
    ap.add_argument("--work", type=int, help="for the processes that this one starts")
    o = ap.parse_args()
    if o.work is not None:
        return work(o.cubins, o.work)
    lines, todo = forms(o.cubins)
    results, stopped, device, first = {}, set(), "", 0
    while first < len(todo):
        process = subprocess.run([sys.executable, __file__, "--cubins", o.cubins, "--work", str(first)], capture_output=True, text=True)
        last = None
        for line in process.stdout.splitlines():
            if line.startswith("device "):
                device = line
            elif line.startswith("begin "):
                last = int(line.removeprefix("begin "))
            elif line.startswith("= "):
                results[last] = line
            elif line.startswith("out: "):
                print(f"{todo[last][2]} is left out{line.removeprefix('out')}")
        if process.returncode == 0:
            break
        if last is None:
            sys.exit(process.stderr.strip())
        print(f"{todo[last][2]} stops: {process.stderr.strip()}")
        results.pop(last, None)
        stopped.add(last)
        first = last + 1
    with open(o.out, "w") as out:
        out.write(device + "\n")
        out.writelines(" ".join([*line, results[n]]) + "\n" for n, line in enumerate(todo) if n in results)
        out.writelines(" ".join(["stops", *todo[n][1:]]) + "\n" for n in sorted(stopped))
        out.writelines(" ".join(line) + "\n" for line in lines if line[0] != "form")
    print(f"{len(results)} of {len(todo)} forms recorded on {device}, {len(stopped)} stop it")


if __name__ == "__main__":
    main()
