"""Runs planted faults on the GPU of this machine, alone and under compute-sanitizer, beside what the emulator says of
them.

usage: run.py [FOLDER] [--out FILE.json] [--jobs N] [--seconds N] [--tools racecheck,synccheck,memcheck,initcheck]
    [--only TEXT]

FOLDER is what `assemble.py` wrote, by default that of this script.

1. Each text runs alone, up to 200 times on fresh buffers, and its results are compared with those of the kernel without
   the fault on the same GPU.
2. Then it runs once under each tool. Every run is a process of its own. One that takes too long is stopped: some faults
   hang.
3. What a tool reports counts as found if the kernel without the fault gives no such report under it.
4. A table by kind of fault, a line for each text, and all of it as JSON.

Needs Python, the CUDA driver and compute-sanitizer.
"""
import argparse
import collections
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

TOOLS = ("racecheck", "synccheck", "memcheck", "initcheck")
RUNS = 200
# The seconds for all runs of a text alone, and for a launch under a tool.
ALONE, UNDER_TOOL, HUNG_BEFORE = 3, 10, 5
POISON = 0xff
SCALARS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double}
# The driver's numbers of element types that PTX numbers otherwise.
DRIVER = {8: 10, 9: 8, 10: 9}


class Gpu:
    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.check(self.cu.cuInit(0), "cuInit")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.check(self.cu.cuDeviceGet(ctypes.byref(device), 0), "device")
        self.check(self.cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
        self.check(self.cu.cuCtxSetCurrent(context), "context")

    def check(self, code, what):
        if code:
            text = ctypes.c_char_p()
            self.cu.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError(f"{what}: {text.value.decode() if text.value else code}")


class Kernel:
    """A launch with its buffers on the GPU."""

    def __init__(self, gpu, folder, name, launch):
        self.gpu, self.launch, self.buffers = gpu, launch, {}
        for b in launch["buffers"]:
            data = None
            if "file" in b:
                with open(f"{folder}/{name}/{b['file']}", "rb") as f:
                    data = f.read()
            size, at = b.get("bytes") if data is None else len(data), ctypes.c_uint64()
            gpu.check(gpu.cu.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(max(size, 1))), "memory")
            self.buffers[b["name"]] = (at, size, data)

    def reset(self, poison=True):
        """Buffers as they are before a launch. Those that nobody has written stay so if there is to be no poison."""
        for at, size, data in self.buffers.values():
            if data is not None:
                self.gpu.check(self.gpu.cu.cuMemcpyHtoD_v2(at, data, ctypes.c_size_t(size)), "copy in")
            elif poison:
                self.gpu.check(self.gpu.cu.cuMemsetD8_v2(at, ctypes.c_ubyte(POISON), ctypes.c_size_t(size)), "poison")

    def results(self):
        all_bytes = []
        for at, size, _ in self.buffers.values():
            data = ctypes.create_string_buffer(max(size, 1))
            self.gpu.check(self.gpu.cu.cuMemcpyDtoH_v2(data, at, ctypes.c_size_t(size)), "copy out")
            all_bytes.append(data.raw[:size])
        return all_bytes

    def tensor_map(self, m):
        array = lambda ty, values: (ty * max(1, len(values)))(*values)
        room = ctypes.create_string_buffer(192)
        encoded = (ctypes.c_char * 128).from_buffer(room, -ctypes.addressof(room) % 64)
        code = self.gpu.cu.cuTensorMapEncodeTiled(
            encoded, DRIVER.get(m["element"], m["element"]), ctypes.c_uint32(len(m["dims"])), self.buffers[m["buffer"]][0], array(ctypes.c_uint64, m["dims"]),
            array(ctypes.c_uint64, m["strides"]), array(ctypes.c_uint32, m["box"]), array(ctypes.c_uint32, [1] * len(m["dims"])), m.get("interleave", 0),
            m.get("swizzle", 0), 2, int(m.get("fill_nan", False)))
        self.gpu.check(code, "tensor map")
        return encoded

    def argument(self, a):
        (kind, value), = a.items()
        if kind == "buffer":
            return self.buffers[value][0]
        if kind == "tensor_map":
            return self.tensor_map(value)
        return (ctypes.c_uint8 * len(value))(*value) if kind == "bytes" else SCALARS[kind](value)

    def load(self, cubin):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(cubin, "rb") as f:
            self.gpu.check(self.gpu.cu.cuModuleLoadData(ctypes.byref(module), f.read()), "load")
        self.gpu.check(self.gpu.cu.cuModuleGetFunction(ctypes.byref(function), module, self.launch["kernel"].encode()), "function")
        if self.launch["shared"] > 48 << 10:
            self.gpu.check(self.gpu.cu.cuFuncSetAttribute(function, 8, self.launch["shared"]), "shared memory")
        return function

    def run(self, function):
        values = [self.argument(a) for a in self.launch["arguments"]]
        params = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        shape = [*self.launch["grid"], *self.launch["block"]]
        self.gpu.check(self.gpu.cu.cuLaunchKernel(function, *shape, self.launch["shared"], None, params, None), "launch")
        self.gpu.check(self.gpu.cu.cuCtxSynchronize(), "run")


def tell(**what):
    print("result " + json.dumps(what), flush=True)


def watch(limit):
    """Ends the process after so many seconds: a kernel that hangs keeps the thread that waits for it."""
    timer = threading.Timer(limit, lambda: os._exit(4))
    timer.daemon = True
    timer.start()


def alone(folder, manifest, text):
    """Runs a text many times, and compares."""
    kernel = Kernel(Gpu(), folder, text["kernel"], manifest["kernels"][text["kernel"]])
    plain = next(t for t in manifest["texts"] if t["kernel"] == text["kernel"] and not t["fault"])
    function = kernel.load(f"{folder}/{plain['cubin']}")
    wanted = []
    for _ in range(5):
        kernel.reset()
        kernel.run(function)
        wanted.append(kernel.results())
    function = kernel.load(f"{folder}/{text['cubin']}")
    watch(ALONE + 3)
    runs, wrong, start = 0, 0, time.monotonic()
    while runs < RUNS and time.monotonic() < start + ALONE:
        kernel.reset()
        tell(outcome="hangs", runs=runs, wrong=wrong)
        kernel.run(function)
        runs += 1
        wrong += kernel.results() not in wanted
    tell(outcome="wrong" if wrong else "right", runs=runs, wrong=wrong, varies=any(w != wanted[0] for w in wanted))


def work(folder, number, tool, limit):
    with open(f"{folder}/faults.json") as f:
        manifest = json.load(f)
    text = manifest["texts"][number]
    try:
        if tool == "alone":
            return alone(folder, manifest, text)
        kernel = Kernel(Gpu(), folder, text["kernel"], manifest["kernels"][text["kernel"]])
        kernel.reset(poison=tool != "initcheck")
        function = kernel.load(f"{folder}/{text['cubin']}")
        tell(outcome="hangs")
        watch(limit)
        kernel.run(function)
        tell(outcome="ends")
    except RuntimeError as e:
        tell(outcome=str(e))
        sys.stdout.flush()
        # The context is lost, and nothing of it can be freed.
        os._exit(3)


def options(tool, help_text, slot):
    """What this release of compute-sanitizer knows."""
    wanted = [("--print-limit", "50"), ("--show-backtrace", "no"), ("--port", str(51000 + 20 * slot))]
    wanted += {"initcheck": [("--initcheck-address-space", "all")], "memcheck": [("--report-api-errors", "no")]}.get(tool, [])
    return [word for pair in wanted if pair[0] in help_text for word in pair]


def reports(output):
    """The reports of a tool: the first line of each with its lines of the source and without other numbers, and how
    often it is there."""
    count = collections.Counter()
    for line in output.splitlines():
        m = re.match(r"========= (\S.*)", line)
        if m and not re.match(r"COMPUTE-SANITIZER|(ERROR|RACECHECK|LEAK) SUMMARY|Target application|Program hit|Error: process|Error: No attach", m[1]):
            words = re.sub(r" at \S+\+0x[0-9a-f]+|\S*/(?=\S+:\d+)| \[\d+ hazards?\]", "", m[1])
            count[re.sub(r"0x[0-9a-f]+|(?<![:\w])\d+\b", "N", words)[:160]] += 1
    return count


class Session:
    def __init__(self, o, manifest):
        self.o, self.manifest, self.deadline = o, manifest, time.monotonic() + o.seconds
        self.slots, self.lock, self.tool, self.help = list(range(o.jobs)), threading.Lock(), None, ""
        self.found = [{} for _ in manifest["texts"]]

    def process(self, command, limit):
        """The output of a process and whether it ended."""
        p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        ended = True
        try:
            output, _ = p.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            ended = False
            os.killpg(p.pid, signal.SIGKILL)
            output, _ = p.communicate()
        return output, ended

    def one(self, number, tool):
        left = self.deadline - time.monotonic()
        if left < 3:
            return
        with self.lock:
            slot = self.slots.pop()
        hung = self.found[number].get("alone", {}).get("outcome") == "hangs"
        limit = HUNG_BEFORE if hung else UNDER_TOOL
        command = [sys.executable, os.path.abspath(__file__), self.o.folder, "--work", str(number), "--tool", tool, "--limit", str(limit)]
        if tool != "alone":
            command = [self.tool, "--tool", tool, *options(tool, self.help, slot), *command]
        begin = time.monotonic()
        output, ended = self.process(command, min(left, 8 + ALONE if tool == "alone" else 15 + limit))
        told = [json.loads(line[7:]) for line in output.splitlines() if line.startswith("result ")]
        result = told[-1] if told else {"outcome": "no run: " + " ".join(output.split())[-300:]}
        result["seconds"] = round(time.monotonic() - begin, 2)
        if tool != "alone":
            result.update(reports=reports(output), ended=ended, text=[l for l in output.splitlines() if l.startswith("=====")][:40])
        self.found[number][tool] = result
        with self.lock:
            self.slots.append(slot)

    def all(self, tools):
        chosen = [n for n, t in enumerate(self.manifest["texts"]) if self.o.only in t["kernel"]]
        failed = lambda n, tool: self.found[n].get(tool, {}).get("outcome", "").startswith("no run")
        # Which texts hang is known before the tools begin. What fails under many processes at once is tried again with
        # few.
        for jobs, names, again in ((self.o.jobs, ["alone"], False), (self.o.jobs, tools, False), (4, ["alone", *tools], True)):
            begin = time.monotonic()
            todo = [(n, tool) for tool in names for n in chosen if not again or failed(n, tool)]
            with ThreadPoolExecutor(jobs) as pool:
                list(pool.map(lambda job: self.one(*job), todo))
            print(f"{len(todo)} runs{' again' if again else ''}, {', '.join(names)}: {time.monotonic() - begin:.0f} s", flush=True)

    def says(self, number, tool):
        """What a tool says of a text, in words, and whether it has found the fault."""
        text, result = self.manifest["texts"][number], self.found[number].get(tool)
        if result is None:
            return "not run", False
        plain = next(n for n, t in enumerate(self.manifest["texts"]) if t["kernel"] == text["kernel"] and not t["fault"])
        before = self.found[plain].get(tool, {}).get("reports", {}) if text["fault"] else {}
        new = {words: n for words, n in result["reports"].items() if words not in before}
        words = [f"{n} x {words}" for words, n in sorted(new.items())] or (["as without the fault"] if result["reports"] else ["nothing"])
        if result["outcome"] != "ends":
            words.append(result["outcome"])
        return "; ".join(words), bool(new)


def kind_of(finding):
    """The kind that the emulator names in its first line."""
    return re.sub(r"^\w+: ", "", finding.split("\n")[0])[:100] if finding else ""


def show(session, tools):
    texts, rows = session.manifest["texts"], collections.defaultdict(collections.Counter)
    for n, text in enumerate(texts):
        if not session.found[n]:
            continue
        run = session.found[n].get("alone", {"outcome": "not run"})
        said = {tool: session.says(n, tool) for tool in tools}
        text.update(emulator=kind_of(text["found"]) or "nothing", alone=run, tools={t: {"says": s, "finds": f, **session.found[n].get(t, {})} for t, (s, f) in said.items()})
        print(f"\n{n} {text['kernel']}: {text['fault'] or 'without a fault'}, line {text['line']} `{text['instruction']}`")
        print(f"    emulator: {text['emulator']}" + ("" if text["broken"] or not text["fault"] else f"; does not matter, ordered by lines {text['others']}"))
        print(f"    alone: {run['outcome']}" + (f", {run['wrong']} of {run['runs']} runs wrong" if run.get("runs") else "") + (", the kernel varies" if run.get("varies") else ""))
        for tool, (words, _) in said.items():
            print(f"    {tool}: {words}")
        matters = bool(text["broken"])
        row = rows[text["fault"] or "(none)", matters]
        row["texts"] += 1
        row["emulator"] += bool(text["found"])
        row["wrong"] += run["outcome"] == "wrong"
        row["stops or hangs"] += run["outcome"] not in ("wrong", "right", "not run")
        for tool, (_, finds) in said.items():
            row[tool] += finds
        row["any tool"] += any(finds for _, finds in said.values())
    heads = ("texts", "emulator", "wrong", "stops or hangs", *tools, "any tool")
    for matters, title in ((True, "faults that matter: how many are found, and what comes of them on the GPU"),
                           (False, "faults that do not matter, and kernels without one: how many are reported all the same")):
        print(f"\n{title}\n\n| fault | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
        total = collections.Counter()
        for (fault, of), row in sorted(rows.items()):
            if of == matters:
                total.update(row)
                print(f"| {fault} | " + " | ".join(str(row[h]) for h in heads) + " |")
        print("| together | " + " | ".join(str(total[h]) for h in heads) + " |")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder", nargs="?", default=os.path.dirname(os.path.abspath(__file__)))
    ap.add_argument("--out")
    ap.add_argument("--jobs", type=int, default=max(2, (os.cpu_count() or 4) - 2))
    ap.add_argument("--seconds", type=float, default=190)
    ap.add_argument("--tools", default=",".join(TOOLS))
    ap.add_argument("--only", default="")
    ap.add_argument("--work", type=int, help=argparse.SUPPRESS)
    ap.add_argument("--tool", help=argparse.SUPPRESS)
    ap.add_argument("--limit", type=float, help=argparse.SUPPRESS)
    o = ap.parse_args()
    if o.work is not None:
        return work(o.folder, o.work, o.tool, o.limit)
    with open(f"{o.folder}/faults.json") as f:
        manifest = json.load(f)
    begin, tools = time.monotonic(), [t for t in o.tools.split(",") if t]
    session = Session(o, manifest)
    session.tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if tools:
        if not os.path.exists(session.tool):
            sys.exit("compute-sanitizer was not found")
        run = lambda *words: subprocess.run([session.tool, *words], capture_output=True, text=True).stdout
        session.help = run("--help")
        print(" ".join(run("--version").split()))
    session.all(tools)
    show(session, tools)
    counted = {t: sum(t in f for f in session.found) for t in ("alone", *tools)}
    print(f"\nruns: {counted}, {time.monotonic() - begin:.0f} s")
    if o.out:
        with open(o.out, "w") as f:
            json.dump(manifest["texts"], f)


if __name__ == "__main__":
    main()
