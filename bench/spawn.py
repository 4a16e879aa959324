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
import statistics
import subprocess
import sys
import time

from support import BIN, ROOT, Api, Lab, cpu_seconds, free_port, wait_for

WINDOW = 64  # runs at once, each with a task on every agent: enough that no processor waits
FINAL = {"succeeded", "failed", "timed_out", "cancelled"}


def bare(tasks):
    """Processes a second and CPU milliseconds for each."""
    text = subprocess.run([ROOT / "build/release/bench/spawn_raw", str(tasks)], check=True, capture_output=True,
                          text=True).stdout.split()
    return float(text[1]), float(text[3])


def await_run(api, run):
    while True:
        state = api.call("GET", "/api/v1/runs/" + run)
        if state["state"] in FINAL:
            if state["state"] != "succeeded":
                raise RuntimeError(f"{run} ended {state['state']}: {state['counts']}")
            return
        time.sleep(0.01)


def through_muster(api, pids, agents, tasks):
    """Tasks a second and CPU milliseconds for each, of server, agents, shims and processes."""
    before = sum(cpu_seconds(pid, with_children=True) for pid in pids)
    began = time.monotonic()
    waiting, everything = collections.deque(), []
    for _ in range(tasks // agents):
        if len(waiting) == WINDOW:  # half of them at once, as questions cost the server as well
            await_run(api, waiting[WINDOW // 2 - 1])
            for _ in range(WINDOW // 2):
                waiting.popleft()
        waiting.append(api.call("POST", "/api/v1/runs", {"targets": "all", "command": {"argv": ["/bin/true"]}})["id"])
        everything.append(waiting[-1])
    while waiting:
        await_run(api, waiting.popleft())
    took = time.monotonic() - began
    time.sleep(1.5)  # agents wait for their shims once a second
    cpu = sum(cpu_seconds(pid, with_children=True) for pid in pids) - before
    for run in everything:
        await_run(api, run)
    done = tasks // agents * agents
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
        through_muster(api, pids, agents, tasks // 10)
        return [(bare(tasks), through_muster(api, pids, agents, tasks)) for _ in range(repeat)]


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
