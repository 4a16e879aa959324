#!/usr/bin/env python3
"""One command on N emulated hosts, until the last result is durable.

Beside it the bare echo of one small message over as many TLS links: the physical limit on this machine.
Prints METRIC lines; the median of several repetitions.

    bench/fanout.py [--hosts 10000] [--repeat 5]
"""
import argparse
import statistics
import subprocess
import sys
import time

from support import BIN, ROOT, Api, Lab, cpu_seconds, free_port, rss_kb, wait_for


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
    port = free_port()
    with Lab("fanout") as lab:
        server = lab.start_server(port)
        api = Api(port, lab.folder / "server")
        token = api.call("POST", "/api/v1/agents/invites", {"uses": hosts, "replace": True})["token"]
        began = time.monotonic()
        fleet = lab.start("fleet", [BIN / "muster-fleet", "--server", f"https://127.0.0.1:{port}", "--count", hosts],
                          {"MUSTER_JOIN": token})
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
