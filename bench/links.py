#!/usr/bin/env python3
"""What idle links cost: the server's memory for each, an agent's own, and the time until all are back.

A fleet of emulated hosts holds real TLS links. The server is killed and started again, and every link reconnects,
spread at random as agents do; beside it the bare handshakes of as many mutual-TLS links in the same run.

    bench/links.py [--hosts 10000]
"""
import argparse
import pathlib
import signal
import statistics
import subprocess
import time

from support import BIN, ROOT, Api, Lab, cpu_seconds, free_port, rss_kb, wait_for


def memory_kb(pid):
    """Resident memory of a process, and what of it is its alone: data, and clean pages of its program.

    The second are the file's own pages in the kernel's cache, which no other process happens to map and which
    the kernel drops when it needs room.
    """
    fields = {}
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, amount = line.split()[:2]
        fields[name.rstrip(":")] = int(amount)
    return fields["Rss"], fields["Private_Dirty"], fields["Private_Clean"]


def settled_rss(pid):
    """The memory once it no longer moves."""
    last = [rss_kb(pid)]
    while len(last) < 5 or max(last[-5:]) - min(last[-5:]) > last[-1] // 100:
        time.sleep(1)
        last.append(rss_kb(pid))
    return statistics.median(last[-5:])


def measure_agent(lab, api, port):
    token = api.call("POST", "/api/v1/agents/invites", {"uses": 1})["token"]
    agent = lab.start("agent", [BIN / "muster-agent", "--server", f"https://127.0.0.1:{port}", "--data",
                                lab.folder / "agent", "--name", "real"], {"MUSTER_JOIN": token})
    wait_for("the agent", lambda: api.call("GET", "/api/v1/status")["online"] == 1, 60)
    # Started again, as it is for all but the first minute of its life: without what the join needed.
    lab.end(agent)
    wait_for("the agent's end", lambda: api.call("GET", "/api/v1/status")["online"] == 0, 60)
    agent = lab.start("agent", [BIN / "muster-agent", "--data", lab.folder / "agent"])
    wait_for("the agent", lambda: api.call("GET", "/api/v1/status")["online"] == 1, 60)
    run = api.call("POST", "/api/v1/runs", {"targets": "real", "command": {"argv": ["/bin/true"]}})["id"]
    wait_for("its task", lambda: api.call("GET", "/api/v1/runs/" + run)["state"] == "succeeded", 60)
    time.sleep(3)
    family = [agent.pid, *children_of(agent.pid)]
    amounts = [memory_kb(pid) for pid in family]
    print(f"METRIC agent_megabytes {amounts[0][0] / 1024:.2f} MB")
    print(f"METRIC agent_private_megabytes {sum(amount[1] for amount in amounts) / 1024:.2f} MB")
    print(f"METRIC agent_private_clean_megabytes {sum(amount[2] for amount in amounts) / 1024:.2f} MB")
    # After a minute without work it lets go of what it has no use for (src/agent/host/resident.hpp).
    wait_for("the agent is idle", lambda: memory_kb(agent.pid)[0] < 0.8 * amounts[0][0], 120)
    amounts = [memory_kb(pid) for pid in (agent.pid, *children_of(agent.pid))]
    print(f"METRIC agent_idle_megabytes {amounts[0][0] / 1024:.2f} MB")
    print(f"METRIC agent_idle_private_megabytes {sum(amount[1] + amount[2] for amount in amounts) / 1024:.2f} MB")
    lab.end(agent)
    wait_for("the agent's end", lambda: api.call("GET", "/api/v1/status")["online"] == 0, 60)


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def measure(hosts):
    port = free_port()
    with Lab("links") as lab:
        server = lab.start_server(port)
        data = lab.folder / "server"
        api = Api(port, data)
        measure_agent(lab, api, port)
        before = settled_rss(server.pid)
        token = api.call("POST", "/api/v1/agents/invites", {"uses": hosts, "replace": True})["token"]
        lab.start("fleet", [BIN / "muster-fleet", "--server", f"https://127.0.0.1:{port}", "--count", hosts],
                  {"MUSTER_JOIN": token})
        wait_for("the fleet", lambda: api.call("GET", "/api/v1/status")["online"] == hosts, 600)
        print(f"METRIC link_kilobytes {(settled_rss(server.pid) - before) / hosts:.1f} KB")
        lab.end(server, signal.SIGKILL)
        began = time.monotonic()
        server = lab.start_server(port)
        up = time.monotonic() - began
        api = Api(port, data)
        wait_for("all links", lambda: api.call("GET", "/api/v1/status")["online"] == hosts, 600)
        took = time.monotonic() - began
        name = "reconnect_10k" if hosts == 10000 else f"reconnect_{hosts}"
        print(f"METRIC {name}_seconds {took:.2f} s")
        print(f"METRIC {name}_server_cpu_seconds {cpu_seconds(server.pid):.2f} s")
        print(f"METRIC restart_ready_seconds {up:.2f} s")
        # Links that came back have lived through a restart: nothing may be left over for them.
        print(f"METRIC link_kilobytes_after_reconnect {(settled_rss(server.pid) - before) / hosts:.1f} KB")
        return took


def bare_handshakes(hosts):
    text = subprocess.run([ROOT / "build/release/bench/echo", str(hosts), "1"], check=True, capture_output=True,
                          text=True).stdout
    return float(text.split("handshakes_seconds ")[1].split()[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=10000)
    options = parser.parse_args()
    took = measure(options.hosts)
    bare = bare_handshakes(options.hosts)
    print(f"METRIC bare_handshakes_seconds {bare:.2f} s")
    print(f"METRIC reconnect_to_handshakes_ratio {took / bare:.2f} x")


if __name__ == "__main__":
    main()
