#!/usr/bin/env python3
"""/bin/true many times through a real server on a few real agents, all on this machine.

Beside it, in turns with it, a bare loop of posix_spawn and wait for the same program, one loop per processor:
both keep every processor busy, so the ratio of their rates is the ratio of what one process costs. Muster's side
has it all: the request, two commits, the order's journal, the shim, the process, its exit record, the report.
The second ratio is by CPU time, which other work on the machine disturbs less.

    bench/spawn.py [--agents 4] [--tasks 2000] [--repeat 3]
"""
import argparse
import collections
import json
import re
import socket
import statistics
import subprocess
import sys
import time

from support import BIN, ROOT, Api, Lab, cpu_seconds, free_port, wait_for

WINDOW = 64  # runs at once, each with a task on every agent: enough that no processor waits
CALLERS = 4  # that start runs, so that one start need not wait for the commit of another
FINAL = {"succeeded", "failed", "timed_out", "cancelled"}
CONTENT_LENGTH = re.compile(rb"(?i)content-length: *(\d+)")
RUN_ID = re.compile(rb'"id":"(r\d+)"')


def bare(tasks):
    """Processes a second and CPU milliseconds for each."""
    text = subprocess.run([ROOT / "build/release/bench/spawn_raw", str(tasks)], check=True, capture_output=True,
                          text=True).stdout.split()
    return float(text[1]), float(text[3])


class Caller:
    """One connection and the two calls of this benchmark, with as little work here as can be: the caller shares the
    processors with what it measures."""

    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = json.dumps({"targets": "all", "command": {"argv": ["/bin/true"]}})
        self.head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        self.start = (f"POST /api/v1/runs HTTP/1.1\r\n{self.head}Content-Type: application/json\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

    def send_start(self):
        self.socket.sendall(self.start)

    def receive(self):
        answer = self.socket.recv(65536)
        while True:
            head, _, body = answer.partition(b"\r\n\r\n")
            length = CONTENT_LENGTH.search(head)
            if length and len(body) >= int(length[1]):
                break
            more = self.socket.recv(65536)
            if not more:
                raise RuntimeError(f"the server closed the connection after {answer!r}")
            answer += more
        if not answer.startswith(b"HTTP/1.1 20"):
            raise RuntimeError(repr(answer))
        return body

    def receive_id(self):
        return RUN_ID.search(self.receive())[1].decode()

    def await_run(self, run):
        request = f"GET /api/v1/runs/{run} HTTP/1.1\r\n{self.head}\r\n".encode()
        while True:
            self.socket.sendall(request)
            body = self.receive()
            if b'"state":"succeeded"' in body:
                return
            state = json.loads(body)
            if state["state"] in FINAL:
                raise RuntimeError(f"{run} ended {state['state']}: {state['counts']}")
            time.sleep(0.01)


def through_muster(callers, pids, agents, tasks):
    """Tasks a second and CPU milliseconds for each, of server, agents, shims and processes."""
    before = sum(cpu_seconds(pid, with_children=True) for pid in pids)
    began = time.monotonic()
    waiting, everything = collections.deque(), []
    while len(everything) * agents < tasks:
        if len(waiting) >= WINDOW:  # half of them at once, as questions cost the server as well
            callers[0].await_run(waiting[WINDOW // 2 - 1])
            for _ in range(WINDOW // 2):
                waiting.popleft()
        for caller in callers:
            caller.send_start()
        for caller in callers:
            waiting.append(caller.receive_id())
            everything.append(waiting[-1])
    while waiting:
        callers[0].await_run(waiting.popleft())
    took = time.monotonic() - began
    time.sleep(1.5)  # agents wait for their shims once a second
    cpu = sum(cpu_seconds(pid, with_children=True) for pid in pids) - before
    for run in everything:
        callers[0].await_run(run)
    done = len(everything) * agents
    return done / took, cpu * 1000 / done


def measure(agents, tasks, repeat):
    port = free_port()
    with Lab("spawn") as lab:
        server = lab.start_server(port)
        api = Api(port, lab.folder / "server", tls=False)
        pids = [server.pid]
        for number in range(agents):
            token = api.call("POST", "/api/v1/agents/invites", {"uses": 1})["token"]
            agent = lab.start(f"agent{number}",
                              [BIN / "muster-agent", "--server", f"https://127.0.0.1:{port}", "--data",
                               lab.folder / f"agent{number}", "--name", f"host{number}"], {"MUSTER_JOIN": token})
            pids.append(agent.pid)
        wait_for("the agents", lambda: api.call("GET", "/api/v1/status")["online"] == agents, 60)
        callers = [Caller(port, api.token) for _ in range(CALLERS)]
        through_muster(callers, pids, agents, tasks // 2)
        return [(bare(tasks), through_muster(callers, pids, agents, tasks)) for _ in range(repeat)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    rounds = measure(options.agents, options.tasks, options.repeat)
    for (bare_rate, bare_cpu), (rate, cpu) in rounds:
        print(f"# bare {bare_rate:.0f}/s {bare_cpu:.2f} ms, muster {rate:.0f}/s {cpu:.2f} ms", file=sys.stderr)
    median = statistics.median
    print(f"METRIC bare_spawn_per_second {median(b[0] for b, _ in rounds):.0f} 1/s")
    print(f"METRIC spawn_per_second {median(m[0] for _, m in rounds):.0f} 1/s")
    print(f"METRIC spawn_cpu_ms {median(m[1] for _, m in rounds):.2f} ms")
    print(f"METRIC spawn_ratio {median(m[0] / b[0] for b, m in rounds):.3f} x")
    print(f"METRIC spawn_cpu_ratio {median(b[1] / m[1] for b, m in rounds):.3f} x")


if __name__ == "__main__":
    main()
