#!/usr/bin/env python3
"""What a pushed file costs: 1 GB to three local hosts, beside curl and plain copies of the same file.

The peers run in the same minute on the same disk: curl gets the file from the same server, over TLS, once for each
host, all at once; cp copies it as often, and syncs, as a push does. Resident memory of the server and of the largest
transfer is sampled while the push runs.

    bench/files.py [--megabytes 1024] [--hosts 3]
"""
import argparse
import contextlib
import hashlib
import os
import pathlib
import subprocess
import threading
import time

from support import BIN, Api, Lab, free_port, rss_kb, wait_for

FINAL = {"succeeded", "failed", "timed_out", "cancelled"}


class Sampler:
    """The most memory that the server and any transfer had."""

    def __init__(self, server):
        self.server, self.most = server, {"server": 0, "transfer": 0}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.sample)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def sample(self):
        while not self.over.wait(0.05):
            self.most["server"] = max(self.most["server"], rss_kb(self.server))
            for place in pathlib.Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if (place / "comm").read_text().strip() == "muster-transfer":
                        self.most["transfer"] = max(self.most["transfer"], rss_kb(int(place.name)))


def make_file(path, megabytes):
    """Bytes that no file system can make smaller."""
    piece = os.urandom(1 << 20)
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for number in range(megabytes):
            block = number.to_bytes(8, "big") + piece[8:]
            digest.update(block)
            file.write(block)
        os.fsync(file.fileno())
    return digest.hexdigest()


def timed(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def all_at_once(commands):
    children = [subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL) for words in commands]
    for child in children:
        if child.wait() != 0:
            raise RuntimeError(f"{child.args} failed")


def curl_all(lab, port, token, digest, hosts):
    return timed(lambda: all_at_once(
        [["curl", "-sS", "--fail", "--cacert", lab.folder / "server/ca.pem", "-H", f"Authorization: Bearer {token}",
          "-o", lab.folder / f"curl-{host}", f"https://127.0.0.1:{port}/api/v1/artifacts/{digest}"]
         for host in range(hosts)]))


def copy_all(lab, source, hosts):
    return timed(lambda: all_at_once(
        [["dd", "status=none", "bs=256K", "conv=fsync", f"if={source}", f"of={lab.folder / f'copy-{host}'}"]
         for host in range(hosts)]))


def push(api, server, digest, megabytes, places):
    """A run for each host, all at once: they are one machine, so each needs a place of its own."""
    entry = {"sha256": digest, "size": megabytes << 20, "mode": "0644"}

    def work():
        runs = [api.call("POST", "/api/v1/runs", {"targets": host, "timeout_ms": 600_000,
                                                  "push": {"files": [entry], "to": str(place)}})["id"]
                for host, place in places.items()]
        wait_for("the push", lambda: all(state_of(api, run) in FINAL for run in runs), 600)
        if {state_of(api, run) for run in runs} != {"succeeded"}:
            raise RuntimeError("a push failed")

    with Sampler(server.pid) as sampler:
        return timed(work), sampler.most


def state_of(api, run):
    return api.call("GET", "/api/v1/runs/" + run)["state"]


def check(path, digest):
    with open(path, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise RuntimeError(f"{path}: another file arrived")


def measure(megabytes, hosts):
    port = free_port()
    with Lab("files") as lab:
        server = lab.start_server(port)
        api = Api(port, lab.folder / "server")
        for host in range(hosts):
            token = api.call("POST", "/api/v1/agents/invites", {"uses": 1})["token"]
            lab.start(f"agent-{host}", [BIN / "muster-agent", "--server", f"https://127.0.0.1:{port}", "--data",
                                        lab.folder / f"agent-{host}", "--name", f"h{host}"], {"MUSTER_JOIN": token})
        wait_for("the agents", lambda: api.call("GET", "/api/v1/status")["online"] == hosts, 60)
        source = lab.folder / "source"
        digest = make_file(source, megabytes)
        upload = timed(lambda: all_at_once([[
            "curl", "-sS", "--fail", "--cacert", lab.folder / "server/ca.pem", "-H", f"Authorization: Bearer {api.token}",
            "-T", source, f"https://127.0.0.1:{port}/api/v1/artifacts/{digest}"]]))
        copied = copy_all(lab, source, hosts)
        fetched = curl_all(lab, port, api.token, digest, hosts)
        for leftover in lab.folder.glob("c[uo]*-*"):
            leftover.unlink()
        places = {f"h{host}": lab.folder / f"pushed-{host}" for host in range(hosts)}
        pushed, memory = push(api, server, digest, megabytes, places)
        for place in places.values():
            check(place, digest)
    total = megabytes * hosts
    print(f"METRIC file_upload_megabytes_per_second {megabytes / upload:.0f} MB/s")
    print(f"METRIC file_push_megabytes_per_second {total / pushed:.0f} MB/s")
    print(f"METRIC file_curl_megabytes_per_second {total / fetched:.0f} MB/s")
    print(f"METRIC file_copy_megabytes_per_second {total / copied:.0f} MB/s")
    print(f"METRIC file_push_ratio {fetched / pushed:.2f} of curl")
    print(f"METRIC file_push_server_megabytes {memory['server'] / 1024:.0f} MB")
    print(f"METRIC file_push_transfer_megabytes {memory['transfer'] / 1024:.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--hosts", type=int, default=3)
    options = parser.parse_args()
    measure(options.megabytes, options.hosts)
