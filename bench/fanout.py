#!/usr/bin/env python3
"""One command on N emulated hosts, until the last result is durable.

Beside it the bare echo of one small message over as many TLS links: the physical limit on this machine.
Prints METRIC lines; the median of several repetitions.

    bench/fanout.py [--hosts 10000] [--repeat 5]
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import http.client

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Api:
    def __init__(self, port, data):
        context = ssl.create_default_context(cafile=str(data / "ca.pem"))
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=120)
        self.token = (data / "admin.token").read_text().strip()

    def call(self, method, path, body=None):
        self.connection.request(
            method,
            path,
            body=None if body is None else json.dumps(body),
            headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"},
        )
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text)


def wait_for(what, condition, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise RuntimeError(f"{what}: not within {seconds} s")


def ready(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_kb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def fan_out(api):
    began = time.monotonic()
    run = api.call("POST", "/api/v1/runs", {"targets": "all", "command": {"argv": ["true"]}, "timeout_ms": 60000})
    while True:
        state = api.call("GET", "/api/v1/runs/" + run["id"])
        if state["state"] not in ("created", "queued", "running"):
            break
        time.sleep(0.005)
    took = time.monotonic() - began
    if state["state"] != "succeeded" or state["counts"].get("succeeded") != state["hosts"]:
        raise RuntimeError(f"the run ended {state['state']}: {state['counts']}")
    return took


def measure(hosts, repeat):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-fanout-"))
    port = free_port()
    children = []
    try:
        server = subprocess.Popen(
            [BIN / "musterd", "--data", folder / "server", "--listen", f"127.0.0.1:{port}"],
            stderr=open(folder / "musterd.log", "w"),
        )
        children.append(server)
        wait_for("musterd", lambda: ready(port), 20)
        api = Api(port, folder / "server")
        token = api.call("POST", "/api/v1/agents/invites", {"uses": hosts, "replace": True})["token"]
        began = time.monotonic()
        fleet = subprocess.Popen(
            [BIN / "muster-fleet", "--server", f"https://127.0.0.1:{port}", "--count", str(hosts)],
            env={**os.environ, "MUSTER_JOIN": token},
            stderr=open(folder / "fleet.log", "w"),
        )
        children.append(fleet)
        wait_for("the fleet", lambda: api.call("GET", "/api/v1/status")["online"] == hosts, 300)
        joined = time.monotonic() - began
        print(f"METRIC fanout_join_seconds {joined:.2f} s")
        print(f"METRIC fanout_server_kb_per_host {rss_kb(server.pid) / hosts:.1f} KB")
        times, server_cpu, fleet_cpu = [], [], []
        for _ in range(repeat):
            before = cpu_seconds(server.pid), cpu_seconds(fleet.pid)
            times.append(fan_out(api))
            server_cpu.append(cpu_seconds(server.pid) - before[0])
            fleet_cpu.append(cpu_seconds(fleet.pid) - before[1])
            time.sleep(0.3)
        print("# each: " + " ".join(f"{t:.3f}" for t in times), file=sys.stderr)
        print(f"METRIC fanout_server_cpu_seconds {statistics.median(server_cpu):.3f} s")
        print(f"METRIC fanout_fleet_cpu_seconds {statistics.median(fleet_cpu):.3f} s")
        return statistics.median(times)
    finally:
        for child in reversed(children):
            child.send_signal(signal.SIGTERM)
        for child in children:
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
        if not os.environ.get("KEEP"):
            shutil.rmtree(folder, ignore_errors=True)


def echo(hosts, repeat):
    program = ROOT / "build/release/bench/echo"
    if not program.exists():
        return None
    text = subprocess.run([program, str(hosts), str(repeat)], check=True, capture_output=True, text=True).stdout
    print(text, end="")
    return float(text.split("echo_seconds ")[1].split()[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    limit = echo(options.hosts, options.repeat)
    took = measure(options.hosts, options.repeat)
    name = "fanout_10k_seconds" if options.hosts == 10000 else f"fanout_{options.hosts}_seconds"
    print(f"METRIC {name} {took:.3f} s")
    if limit:
        print(f"METRIC fanout_to_echo_ratio {took / limit:.2f} x")


if __name__ == "__main__":
    main()
