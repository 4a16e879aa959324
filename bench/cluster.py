#!/usr/bin/env python3
"""What a cluster does on this machine, with everything on it: three servers, three members of etcd and a PostgreSQL
whose commits reach the disk.

Durable tasks per second of the engine on PostgreSQL, beside the same rows written bare in batches; then one command
on emulated hosts that are spread over the three servers, beside the same on one server with SQLite (bench/fanout.py).
Prints METRIC lines; medians of several repetitions.

    bench/cluster.py [--hosts 10000] [--repeat 5] [--seconds 10]
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("MUSTER_BUILD", ROOT / "build/release"))
os.environ.setdefault("MUSTER_BIN", str(BUILD / "bin"))
sys.path.insert(0, str(ROOT / "tests/support"))
from backends import Postgres  # noqa: E402
from muster_processes import BIN, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402


def metrics(words):
    """What a program measured, passed on."""
    text = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout
    print(text, end="", flush=True)
    return {line.split()[1]: float(line.split()[2]) for line in text.splitlines() if line.startswith("METRIC")}


def measure_tasks(seconds):
    raw = metrics([BUILD / "bench/postgres"])
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        postgres = Postgres(pathlib.Path(folder) / "postgres")
        try:
            postgres.make()
            rates = []
            for number in range(3):
                postgres.sql(f"CREATE DATABASE bench{number}", database="postgres")
                address = postgres.address_of(f"bench{number}")
                rates.append(metrics([BUILD / "bench/tasks", seconds, 5000, address])["pg_tasks_per_second"])
        finally:
            postgres.end()
    print(f"METRIC pg_tasks_to_raw_ratio {statistics.median(rates) / raw['pg_raw_tasks_per_second']:.2f} x")


def measure_fanout(hosts, repeat):
    cluster = ServerCluster(durable=True, settings={"heartbeat": "10s"})
    try:
        began = time.monotonic()
        token = cluster.invite(uses=hosts, replace=True)
        urls = ",".join(member.url for member in cluster.members)
        cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", urls, "--count", hosts], {"MUSTER_JOIN": token})
        wait_until("the fleet is online", lambda: cluster.get("/status")["online"] == hosts, 600)
        print(f"METRIC cluster_join_seconds {time.monotonic() - began:.1f} s")
        links = {server["name"]: server["links"] for server in cluster.get("/servers")["servers"]}
        print(f"# links: {links}", file=sys.stderr)
        times = [fan_out(cluster, hosts) for _ in range(repeat)]
        print("# each: " + " ".join(f"{took:.3f}" for took in times), file=sys.stderr)
        print(f"METRIC cluster_fanout_seconds {statistics.median(times):.3f} s")
        print(f"METRIC cluster_fanout_hosts {hosts} hosts")
    finally:
        cluster.close()


def fan_out(cluster, hosts):
    began = time.monotonic()
    answer = cluster.http("POST", "/api/v1/runs", {"targets": "all", "command": {"argv": ["true"]}, "timeout_ms": 60000})
    assert answer.status == 201, answer
    run = cluster.wait_end(answer.json()["id"], 120)
    took = time.monotonic() - began
    assert run["counts"] == {"succeeded": hosts}, run["counts"]
    time.sleep(0.3)
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    measure_tasks(options.seconds)
    measure_fanout(options.hosts, options.repeat)


if __name__ == "__main__":
    main()
