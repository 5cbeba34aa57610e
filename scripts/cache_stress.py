#!/usr/bin/env python3
"""Runs many ttc processes on one cache, kills some of them at random moments, and looks at what the cache is then.

usage: cache_stress.py TTC [--processes 64] [--kill 20] [--rounds 20] [--kernels 6] [--seed 1] [--redis PORT]

1. Each kernel is compiled once without the cache. Those bytes are the truth.
2. In a round all processes start at once. Each compiles one of the kernels with the cache. Some of them get SIGKILL at
   a random moment of the time that such a round took before. Every other round begins with an empty cache, and in every
   fourth, the limit is so small that entries are removed all the time.
3. Each process that was not killed must end well, and every file that any process wrote must be the truth.
4. `ttc cache gc --check` must find no damaged entry, and leave no temporary file.
5. With --redis, half of the processes have another cache on disk, and all share a Redis server, which gets SIGKILL in
   each round and is started again. At the end, a cache that is empty on disk must be filled from Redis alone.

Exit code 1 if anything is wrong. Needs Linux, and redis-server for --redis.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

KERNEL = """
import triton
import triton.language as tl
from shared import twice
@triton.jit
def NAME(x_ptr: "*fp32:16", y_ptr: "*fp32:16", n: "i32", BLOCK: tl.constexpr = 512):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    for i in tl.static_range(STEPS):
        x = twice(tl.exp(x)) + tl.sum(x)
    tl.store(y_ptr + offs, x, mask=offs < n)
"""
SHARED = """
import triton
@triton.jit
def twice(x):
    return x * 2
"""


class Redis:
    """A server that can be killed and started again, with its data on disk."""

    def __init__(self, port, folder):
        self.port, self.folder, self.process = port, folder, None
        folder.mkdir()
        self.start()

    def start(self):
        command = ["redis-server", "--port", str(self.port), "--dir", str(self.folder), "--appendonly", "yes", "--save", ""]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            answer = subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True, text=True)
            if answer.stdout.strip() == "PONG":
                return
            time.sleep(0.05)
        sys.exit("redis-server does not answer")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Stress:
    def __init__(self, args, folder):
        self.args, self.folder, self.rng = args, folder, random.Random(args.seed)
        self.faults, self.spread, self.bytes = [], {}, 0
        self.names = [f"k{i}" for i in range(args.kernels)]
        for i, name in enumerate(self.names):
            (folder / f"{name}.py").write_text(KERNEL.replace("NAME", name).replace("STEPS", str(1 + i)))
        (folder / "shared.py").write_text(SHARED)
        self.caches = [folder / "cache0", folder / "cache1"] if args.redis else [folder / "cache0"]
        self.redis = Redis(args.redis, folder / "redis") if args.redis else None
        self.truth = {}
        for name in self.names:
            self.run(name, folder / "truth", cache=None).check_returncode()
            self.truth.update(self.outputs(folder / "truth"))

    def env(self, cache, limit="5G", remote=True):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TTC_CACHE")}
        if cache:
            env.update(TTC_CACHE="1", TTC_CACHE_DIR=str(cache), TTC_CACHE_SIZE=limit)
            if self.redis and remote:
                env["TTC_CACHE_REMOTE"] = f"redis://127.0.0.1:{self.redis.port}"
        return env

    def command(self, name, out):
        return [self.args.ttc, "compile", f"{name}.py", "--arch", "sm_80", "--emit", "ptx,cubin", "--out-dir", str(out), "-j", "1"]

    def run(self, name, out, cache, **more):
        return subprocess.run(self.command(name, out), cwd=self.folder, env=self.env(cache, **more), capture_output=True, text=True)

    def outputs(self, out):
        return {p.name: p.read_bytes() for p in out.iterdir() if not p.name.startswith(".")} if out.exists() else {}

    def fault(self, text):
        self.faults.append(text)
        print(f"FAULT: {text}", flush=True)

    def cache_command(self, cache, *args):
        done = subprocess.run([self.args.ttc, "cache", *args], env=self.env(cache), capture_output=True, text=True)
        if done.returncode:
            self.fault(f"ttc cache {' '.join(args)}: {done.stderr}")
            return {}
        return json.loads(done.stdout)

    def round(self, number):
        kind = number % 4
        if kind in (0, 2):
            for cache in self.caches:
                self.cache_command(cache, "clear", "--json")
        limit = str(self.bytes // 2) if kind == 2 else "5G"
        spread = self.spread.get(kind, self.args.spread)
        jobs, victims, timers, killed, start = [], self.rng.sample(range(self.args.processes), self.args.kill), [], set(), time.monotonic()
        for i in range(self.args.processes):
            name, out = self.names[i % len(self.names)], self.folder / f"out{i}"
            shutil.rmtree(out, ignore_errors=True)
            env = self.env(self.caches[i // 2 % len(self.caches)], limit)
            process = subprocess.Popen(self.command(name, out), cwd=self.folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            jobs.append((i, name, out, process))
            if i in victims:
                timers.append(threading.Timer(self.rng.uniform(0, spread), self.kill, (i, process, killed)))
                timers[-1].start()
        if self.redis:
            timers.append(threading.Timer(self.rng.uniform(0, spread), self.redis.kill))
            timers[-1].start()
        said = [process.communicate()[1] for _, _, _, process in jobs]
        took = time.monotonic() - start
        self.spread[kind] = took * 0.6
        for timer in timers:
            timer.join()
        for i, name, out, process in jobs:
            if i not in killed and process.returncode:
                self.fault(f"round {number}: process {i} ended with {process.returncode}: {said[i]}")
            outputs = self.outputs(out)
            wanted = [f for f in self.truth if f.startswith(f"{name}.")]
            if i not in killed and sorted(outputs) != sorted(wanted):
                self.fault(f"round {number}: process {i} wrote {sorted(outputs)}")
            for file, data in outputs.items():
                if data != self.truth[file]:
                    self.fault(f"round {number}: {file} of process {i} is wrong")
        if self.redis:
            self.redis.start()
        self.look(number, killed, took)

    @staticmethod
    def kill(number, process, killed):
        if process.poll() is None:
            killed.add(number)
            process.send_signal(signal.SIGKILL)

    def look(self, number, killed, took):
        temporary, found = 0, {"damaged": 0, "leftovers": 0, "entries": 0}
        for cache in self.caches:
            temporary += len(list(cache.rglob(".ttc-*")))
            gone = self.cache_command(cache, "gc", "--check", "--json")
            self.bytes = max(self.bytes, gone.get("bytes", 0))
            for key in found:
                found[key] += gone.get(key, 0)
            left = list(cache.rglob(".ttc-*"))
            if left:
                self.fault(f"round {number}: gc left {left}")
        if found["damaged"]:
            self.fault(f"round {number}: {found['damaged']} damaged entries")
        print(f"round {number:2}: {len(killed)} killed, {temporary} temporary files before gc, {found['entries']} entries, {took:.1f} s", flush=True)

    def end(self):
        """Whatever happened, each kernel is right with the cache as it is now, and right again from it."""
        for name in self.names * 2:
            out = self.folder / "last"
            shutil.rmtree(out, ignore_errors=True)
            self.run(name, out, self.caches[0])
            if any(self.truth[f] != data for f, data in self.outputs(out).items()) or not self.outputs(out):
                self.fault(f"{name} is wrong at the end")
        if self.redis:
            fresh = self.folder / "fresh"
            for name in self.names:
                self.run(name, self.folder / "last", fresh)
            stats = self.cache_command(fresh, "stats", "--json")
            print(f"an empty cache on disk, filled from Redis: {stats['hits']} hits, {stats['misses']} misses")
            if stats["misses"] or stats["hits"] != len(self.names):
                self.fault("not everything came from Redis")
            self.redis.kill()
            dead = self.run(self.names[0], self.folder / "last", self.folder / "fresh2")
            if dead.returncode or dead.stderr.count("E0961") != 1:
                self.fault(f"without the server: {dead.stderr}")
        stats = [self.cache_command(cache, "stats", "--json") for cache in self.caches]
        total = {k: sum(s[k] for s in stats) for k in ("hits", "later_hits", "misses", "entries")}
        print(f"counted since the last clear: {total}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("ttc", type=os.path.abspath)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--kill", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--kernels", type=int, default=6)
    parser.add_argument("--spread", type=float, default=2.0, help="seconds within which processes are killed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--redis", type=int, metavar="PORT")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ttc-cache-stress-") as folder:
        stress = Stress(args, pathlib.Path(folder))
        try:
            for number in range(args.rounds):
                stress.round(number)
            stress.end()
        finally:
            if stress.redis and stress.redis.process.poll() is None:
                stress.redis.kill()
        print(f"{args.rounds} rounds of {args.processes} processes, {args.kill} of them killed: {len(stress.faults)} faults")
        sys.exit(1 if stress.faults else 0)


if __name__ == "__main__":
    main()
