#!/usr/bin/env python3
"""Compiles through remote caches: a Redis server, an S3-compatible server and a folder.

usage: cache_remote_test.py TTC

TTC must be built with the feature remote-cache. redis-server must be installed, and moto_server
(`pip install moto[server]`) serves S3.

For each store: a first compilation fills it; a second one with an empty cache on disk must come from it, byte for byte;
an entry that was changed in the store must not be used; and when the server is killed, the compilation must end well
with one warning.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from cache_stress import KERNEL, SHARED, Redis

FAULTS = []


def expect(holds, text):
    print(f"{'ok' if holds else 'FAULT'}: {text}", flush=True)
    if not holds:
        FAULTS.append(text)


class World:
    def __init__(self, ttc, folder):
        self.ttc, self.folder, self.caches = ttc, folder, 0
        (folder / "k.py").write_text(KERNEL.replace("NAME", "k").replace("STEPS", "2"))
        (folder / "shared.py").write_text(SHARED)
        self.truth = self.compile(None)[0]

    def compile(self, remote, fresh=True):
        """Compiles, with a cache on disk that is empty if `fresh`, and returns the outputs, what was said, and what the
        cache counted."""
        self.caches += fresh
        cache, out = self.folder / f"cache{self.caches}", self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        env = {**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        if remote:
            env.update(TTC_CACHE="1", TTC_CACHE_DIR=str(cache), TTC_CACHE_REMOTE=remote)
        command = [self.ttc, "compile", "k.py", "--arch", "sm_80", "--emit", "ptx,cubin", "--out-dir", str(out)]
        start = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True)
        took = time.monotonic() - start
        stats = subprocess.run([self.ttc, "cache", "stats"], env=env, capture_output=True, text=True).stdout
        hits = next((int(line.split()[1]) for line in stats.splitlines() if line.startswith("hits ")), 0)
        outputs = {p.name: p.read_bytes() for p in sorted(out.iterdir())} if out.exists() else {}
        return outputs, done.stderr, hits, took

    def check(self, name, remote, damage, kill):
        made, said, hits, took = self.compile(remote)
        expect(made == self.truth and not said and hits == 0, f"{name}: the first compilation fills the store ({took:.2f} s) {said}")
        made, said, hits, took = self.compile(remote)
        expect(made == self.truth and not said and hits == 1, f"{name}: the second one comes from it ({took:.2f} s) {said}")
        expect(damage() > 0, f"{name}: entries are changed in the store")
        made, said, hits, took = self.compile(remote)
        expect(made == self.truth and not said and hits == 0, f"{name}: a changed entry is not used {said}")
        made, said, hits, took = self.compile(remote)
        expect(made == self.truth and hits == 1, f"{name}: it was written anew {said}")
        if kill:
            kill()
            made, said, hits, took = self.compile(remote)
            expect(made == self.truth and said.count("E0961") == 1, f"{name}: without the server there is one warning ({took:.2f} s)")
            print("   ", said.splitlines()[0] if said else "")


def redis(world):
    server = Redis(16399, world.folder / "redis")

    def damage():
        cli = ["redis-cli", "-p", str(server.port)]
        keys = subprocess.run([*cli, "--scan", "--pattern", "*ttc*"], capture_output=True, text=True).stdout.split()
        for key in keys:
            subprocess.run([*cli, "setrange", key, "100", "x"], capture_output=True)
        return len(keys)

    try:
        world.check("redis", f"redis://127.0.0.1:{server.port}", damage, server.kill)
        server.start()
        made, said, hits, took = world.compile(f"redis://127.0.0.1:{server.port}")
        expect(made == world.truth and hits == 1, f"redis: the server is used again when it is back {said}")
    finally:
        server.process.kill()


def s3(world):
    port = 16400
    server = subprocess.Popen(["moto_server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"

    # The client that moto brings along signs its requests, as ttc does.
    import boto3

    client = boto3.client("s3", endpoint_url=base, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")

    def damage():
        keys = [entry["Key"] for entry in client.list_objects_v2(Bucket="kernels").get("Contents", [])]
        for key in keys:
            client.put_object(Bucket="kernels", Key=key, Body=b"something else")
        return len(keys)

    try:
        for attempt in range(100):
            try:
                urllib.request.urlopen(base, timeout=10).read()
                break
            except OSError:
                time.sleep(0.2)
        client.create_bucket(Bucket="kernels")
        world.check("s3", f"s3://kernels/team?endpoint={base}&region=us-east-1", damage, server.kill)
    finally:
        server.kill()


def folder(world):
    store = world.folder / "store"
    store.mkdir()

    def damage():
        files = [p for p in store.rglob("*") if p.is_file()]
        for file in files:
            file.write_bytes(file.read_bytes()[:-1])
        return len(files)

    world.check("file", f"file://{store}", damage, None)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for test in (folder, redis, s3):
        with tempfile.TemporaryDirectory(prefix="ttc-cache-remote-") as path:
            test(World(os.path.abspath(sys.argv[1]), pathlib.Path(path)))
    sys.exit(1 if FAULTS else 0)


if __name__ == "__main__":
    main()
