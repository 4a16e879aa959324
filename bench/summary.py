#!/usr/bin/env python3
"""What it costs to ask a large run what became of it.

A job of five stages on N emulated hosts (50,000 tasks on 10,000). While it runs, and again after it ended on a server
that was started anew and remembers nothing, `summary` and `groups` are asked for; beside them a bare HTTP answer of
the same size over loopback. Also how long after the request the first order was sent.

    bench/summary.py [--hosts 10000] [--repeat 15]
"""
import argparse
import http.client
import json
import statistics
import sys
import time
from datetime import datetime

from support import BIN, Api, Lab, free_port, wait_for

STAGES = 5
JOB = "apiVersion: muster/v1\nkind: job\nname: wide\ntargets: all\nstages:\n" + "".join(
    f"  - {{name: stage{number}, script: pretend, hosts: all, max_failures: 100%}}\n" for number in range(1, STAGES + 1))

# Answers every request on a connection with as many bytes as its path says.
BARE = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    link, _ = listener.accept()
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    head = b""
    while True:
        while b"\\r\\n\\r\\n" not in head:
            more = link.recv(65536)
            if not more:
                break
            head += more
        if not head:
            break
        size = int(head.split()[1][1:])
        head = b""
        link.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % size + b"x" * size)
"""


class Probe:
    """Asks one path over one connection; remembers how long each answer took and how large it was."""

    def __init__(self, port, token=""):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Authorization": "Bearer " + token}

    def ask(self, path):
        began = time.monotonic()
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        took = (time.monotonic() - began) * 1000
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:300]!r}")
        return took, body


def seconds_of(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def first_dispatch(api, run, asked):
    """Seconds from the request to the first order on its way, by the machine's one clock."""
    sent = []

    def find():
        tasks = api.call("GET", f"/api/v1/runs/{run}/tasks?limit=50")["tasks"]
        sent[:] = [seconds_of(task["sent"]) for task in tasks if task["sent"]]
        return bool(sent)

    wait_for("the first order", find, 60, 0.01)
    return min(sent) - asked


def raw_milliseconds(port, size, repeat):
    probe = Probe(port)
    return statistics.median(probe.ask(f"/{size}")[0] for _ in range(repeat))


def measure(hosts, repeat):
    port = free_port()
    with Lab("summary") as lab:
        server = lab.start_server(port)
        data = lab.folder / "server"
        api = Api(port, data, tls=False)
        token = api.call("POST", "/api/v1/agents/invites", {"uses": hosts, "replace": True})["token"]
        fleet = lab.start("fleet", [BIN / "muster-fleet", "--server", f"https://127.0.0.1:{port}", "--count", hosts,
                                    "--output-bytes", 200, "--fail", 0.01, "--duration", "2s"], {"MUSTER_JOIN": token})
        wait_for("the fleet", lambda: api.call("GET", "/api/v1/status")["online"] == hosts, 300)
        api.call("POST", "/api/v1/documents", {"documents": [{"file": "wide.yaml", "text": JOB}]})

        asked = time.time()
        run = api.call("POST", "/api/v1/jobs/wide/start", {})["id"]
        print(f"METRIC first_dispatch_seconds {first_dispatch(api, run, asked):.3f} s")

        paths = {"summary": f"/api/v1/runs/{run}/summary", "groups": f"/api/v1/runs/{run}/groups"}
        probe = Probe(port, api.token)
        open_times = {name: [] for name in paths}
        sizes = {name: 0 for name in paths}
        while True:
            for name, path in paths.items():
                took, body = probe.ask(path)
                open_times[name].append(took)
                sizes[name] = max(sizes[name], len(body))
                answer = json.loads(body)
                if name == "summary":
                    summary = answer
            if summary["ended"]:
                break
            time.sleep(0.2)
        if sum(summary["tasks"].values()) != STAGES * hosts:
            raise RuntimeError(f"{summary['tasks']} are not {STAGES * hosts} tasks")
        print(f"# {len(open_times['groups'])} answers while the run was open; it ended {summary['state']}: "
              f"{summary['tasks']}", file=sys.stderr)

        lab.end(fleet)
        lab.end(server)
        lab.start_server(port)
        probe = Probe(port, api.token)
        probe.ask("/readyz")  # the connection is not what is measured
        cold = {name: probe.ask(path)[0] for name, path in paths.items()}
        warm = {name: statistics.median(probe.ask(path)[0] for _ in range(repeat)) for name, path in paths.items()}

        bare_port = free_port()
        bare = lab.start("bare", [sys.executable, "-c", BARE, bare_port])
        wait_for("the bare server", lambda: answers(bare_port), 20)
        for name in paths:
            opened = statistics.median(open_times[name])
            worst = max(opened, cold[name])
            raw = raw_milliseconds(bare_port, sizes[name], repeat)
            print(f"METRIC {name}_milliseconds {worst:.1f} ms")
            print(f"METRIC {name}_kilobytes {sizes[name] / 1000:.1f} KB")
            print(f"METRIC {name}_open_milliseconds {opened:.1f} ms")
            print(f"METRIC {name}_open_worst_milliseconds {max(open_times[name]):.1f} ms")
            print(f"METRIC {name}_cold_milliseconds {cold[name]:.1f} ms")
            print(f"METRIC {name}_warm_milliseconds {warm[name]:.2f} ms")
            print(f"METRIC {name}_raw_milliseconds {raw:.2f} ms")
            print(f"METRIC {name}_to_raw_ratio {warm[name] / raw:.1f} x")
        lab.end(bare)


def answers(port):
    try:
        Probe(port).ask("/1")
        return True
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    measure(options.hosts, options.repeat)


if __name__ == "__main__":
    main()
