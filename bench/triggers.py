#!/usr/bin/env python3
"""What a million waiting triggers cost, and how late the last of 10,000 starts that are due in the same second.

The idle ones are written through the store; those that come due are applied with one call, to emulated hosts. Beside
the burst the limit in the same run: the same rows, inserted into a store of the same tables in as many transactions.
Then next times per second beside other libraries (bench/cron.py).

    bench/triggers.py [--idle 1000000] [--due 10000] [--hosts 1000] [--without-cron]
"""
import argparse
import datetime
import os
import pathlib
import sqlite3
import statistics
import subprocess
import threading
import time

from support import BIN, ROOT, Api, Lab, cpu_seconds, free_port, rss_kb, wait_for

BUILD = pathlib.Path(os.environ.get("MUSTER_BUILD", ROOT / "build/release"))
IDLE_SECONDS = 10
JOB = """apiVersion: muster/v1
kind: job
name: tick
stages:
  - name: tick
    script: 'true'
"""


def settled_rss(pid):
    """The memory once it no longer moves."""
    last = [rss_kb(pid)]
    while len(last) < 5 or max(last[-5:]) - min(last[-5:]) > last[-1] // 100:
        time.sleep(1)
        last.append(rss_kb(pid))
    return statistics.median(last[-5:])


def start(lab, port):
    began = time.monotonic()
    server = lab.start_server(port)
    return server, time.monotonic() - began


def measure_idle(lab, port, idle):
    server, empty_start = start(lab, port)
    empty = settled_rss(server.pid)
    lab.end(server)
    began = time.monotonic()
    subprocess.run([BUILD / "bench/triggers_fill", lab.folder / "server", str(idle)], check=True)
    print(f"METRIC trigger_fill_seconds {time.monotonic() - began:.1f} s")
    print(f"METRIC trigger_store_bytes {(lab.folder / 'server/muster.db').stat().st_size / idle:.0f} bytes_each")
    server, ready = start(lab, port)
    print(f"METRIC trigger_load_seconds {ready:.2f} s")
    print(f"METRIC trigger_load_empty_seconds {empty_start:.2f} s")
    full = settled_rss(server.pid)
    print(f"METRIC trigger_memory_megabytes {full / 1024:.1f} MB")
    print(f"METRIC trigger_memory_empty_megabytes {empty / 1024:.1f} MB")
    print(f"METRIC trigger_idle_bytes {max(0.0, (full - empty) * 1024 / idle):.1f} bytes_each")
    before = cpu_seconds(server.pid)
    time.sleep(IDLE_SECONDS)
    print(f"METRIC trigger_idle_cpu {(cpu_seconds(server.pid) - before) / IDLE_SECONDS * 100:.2f} percent")
    return server


class FenceWatch(threading.Thread):
    """When which commit was durable, as another reader of the store sees it."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.database, self.seen, self.over = database, [], threading.Event()

    def run(self):
        reader = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        while not self.over.wait(0.005):
            number = reader.execute("SELECT number FROM fence").fetchone()[0]
            if not self.seen or self.seen[-1][1] != number:
                self.seen.append((time.time(), number))

    def durable_at(self, number):
        return next((at for at, seen in self.seen if seen >= number), None)


def burst_documents(due, hosts, second):
    moment = datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return "---\n".join(
        f"apiVersion: muster/v1\nkind: trigger\nname: burst-{i:05}\nonce: '{moment}'\n"
        f"job: tick\ntargets: {hosts[i % len(hosts)]}\n" for i in range(due))


def measure_burst(lab, api, server, due, hosts):
    token = api.call("POST", "/api/v1/agents/invites", {"uses": hosts, "replace": True})["token"]
    lab.start("fleet", [BIN / "muster-fleet", "--server", f"https://127.0.0.1:{api.connection.port}", "--count", hosts],
              {"MUSTER_JOIN": token})
    wait_for("the fleet", lambda: api.call("GET", "/api/v1/status")["online"] == hosts, 300)
    names, cursor = [], ""
    while cursor is not None:
        page = api.call("GET", "/api/v1/hosts?limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        names += [host["name"] for host in page["hosts"]]
        cursor = page.get("next")
    api.call("POST", "/api/v1/documents", {"documents": [{"file": "job.yaml", "text": JOB}]})
    second = int(time.time()) + 45
    text = burst_documents(due, names, second)
    began = time.monotonic()
    api.call("POST", "/api/v1/documents", {"documents": [{"file": "burst.yaml", "text": text}]})
    print(f"METRIC trigger_apply_10k_seconds {time.monotonic() - began:.2f} s" if due == 10000
          else f"METRIC trigger_apply_seconds {time.monotonic() - began:.2f} s")
    if time.time() > second - 3:
        raise RuntimeError("applying took so long that the second is near; use fewer")
    watch = FenceWatch(lab.folder / "server/muster.db")
    watch.start()
    while time.time() < second - 0.5:
        time.sleep(0.05)
    cpu = cpu_seconds(server.pid)
    wait_for("the last run", lambda: started(lab.folder / "server/muster.db") == due, 120, 1)
    wait_for("the last end", lambda: api.call("GET", "/api/v1/status")["open_runs"] == 0, 120, 0.5)
    print(f"METRIC trigger_burst_cpu_seconds {cpu_seconds(server.pid) - cpu:.2f} s")
    watch.over.set()
    watch.join()
    return second, watch


def started(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as reader:
        return reader.execute("SELECT count(*) FROM slot WHERE fate = 0 AND trigger_name >= 'burst-'"
                              " AND trigger_name < 'burst.'").fetchone()[0]


def report_burst(api, database, second, watch, due):
    """How late the last start was durable, and in how many commits they all were."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as reader:
        last, decided = reader.execute("SELECT trigger_name, max(made) FROM slot").fetchone()
        sent = reader.execute("SELECT max(sent_commit) FROM task").fetchone()[0]
        ended = reader.execute("SELECT max(ended) FROM task").fetchone()[0]
    commit = api.call("GET", f"/api/v1/triggers/{last}/slots")["slots"][0]["commit"]
    before = max((number for at, number in watch.seen if at < second), default=watch.seen[0][1])
    late = watch.durable_at(commit) - second
    name = "trigger_burst_10k" if due == 10000 else f"trigger_burst_{due}"
    print(f"METRIC {name}_seconds {late:.3f} s")
    print(f"METRIC {name}_decided_seconds {decided / 1000 - second:.3f} s")
    print(f"METRIC {name}_dispatched_seconds {watch.durable_at(sent) - second:.3f} s")
    print(f"METRIC {name}_ended_seconds {ended / 1000 - second:.3f} s")
    return late, commit - before


TABLES = ("run", "plan", "targets", "visit", "slot", "trigger_row", "audit", "task")
CONDITIONS = {"trigger_row": "name >= 'burst-' AND name < 'burst.'", "audit": "act = 'run.start'"}


def bare_inserts(folder, database, transactions):
    """The rows that the burst left, inserted again into empty tables with the same indexes."""
    target = sqlite3.connect(folder / "bare.db", isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536"):
        target.execute("PRAGMA " + pragma)
    rows = {}
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as reader:
        for kind in ("table", "index"):
            for name, sql in reader.execute("SELECT tbl_name, sql FROM sqlite_master WHERE type = ? AND sql NOT NULL",
                                            (kind,)):
                if name in TABLES:
                    target.execute(sql)
        for table in TABLES:
            rows[table] = reader.execute(f"SELECT * FROM {table} WHERE {CONDITIONS.get(table, '1')}").fetchall()
    began = time.monotonic()
    for batch in range(transactions):
        target.execute("BEGIN IMMEDIATE")
        for table, all_rows in rows.items():
            part = all_rows[batch * len(all_rows) // transactions:(batch + 1) * len(all_rows) // transactions]
            if part:
                marks = ", ".join("?" * len(part[0]))
                target.executemany(f"INSERT INTO {table} VALUES ({marks})", part)
        target.execute("COMMIT")
    took = time.monotonic() - began
    target.close()
    return took, sum(len(all_rows) for all_rows in rows.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle", type=int, default=1000000)
    parser.add_argument("--due", type=int, default=10000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--without-cron", action="store_true")
    options = parser.parse_args()
    with Lab("triggers") as lab:
        port = free_port()
        server = measure_idle(lab, port, options.idle)
        api = Api(port, lab.folder / "server")
        second, watch = measure_burst(lab, api, server, options.due, options.hosts)
        database = lab.folder / "server/muster.db"
        late, transactions = report_burst(api, database, second, watch, options.due)
        bare, count = bare_inserts(lab.folder, database, transactions)
        print(f"METRIC trigger_burst_bare_seconds {bare:.3f} s")
        print(f"METRIC trigger_burst_rows {count} rows_in_{transactions}_transactions")
        print(f"METRIC trigger_burst_ratio {late / bare:.2f} x")
    if not options.without_cron:
        import cron
        cron.main()


if __name__ == "__main__":
    main()
