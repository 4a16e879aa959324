#!/usr/bin/env python3
"""A viewer asks for proofs and lists that take the server very long, or very much memory.

The attacker holds viewers' tokens. They have the slots of a trigger counted until the year 9999, name one run in very many
spellings, and have everything listed at once. Others are answered meanwhile, the work ends with its token and with the server,
and the memory stays within bounds.
"""

import signal
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402
from process_cost import MIB, assert_cost, forget_most_memory, memory_of, most_memory_of  # noqa: E402

TICK = """apiVersion: muster/v1
kind: job
name: tick
targets: h1
stages: [{name: s, script: 'true'}]
---
apiVersion: muster/v1
kind: trigger
name: tick
every: 1s
job: tick
overlap: skip
paused: true
"""
FOREVER = "/api/v1/checks/slots?trigger=tick&until=9999-12-31T23:59:59Z"
CALLS = 8      # at a time, of each caller
PATIENCE = 20  # of somebody else
STAGES = 999
RUNS = 60      # of so many stages
GROWTH = 150 * MIB
FLEET = 60
ROWS = 5000    # in one answer


class LongChecks(ClusterTest):
    hosts = ("h1",)

    def viewer(self, name):
        return self.cluster.muster("tokens", "create", name, "--role", "viewer").text.strip()

    def apply(self, text):
        file = self.cluster.folder / "documents.yaml"
        file.write_text(text)
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)

    def in_the_background(self, calls):
        """What each of them gives, or the exception; and a way to wait for all."""
        seen = []

        def run(call):
            try:
                seen.append(call())
            except OSError as problem:
                seen.append(problem)
        threads = [threading.Thread(target=run, args=(call,), daemon=True) for call in calls]
        for thread in threads:
            thread.start()
        return seen, lambda: [thread.join(120) for thread in threads]

    def growth(self, work):
        """By how much the server grew at most meanwhile."""
        pid = self.cluster.server.process.pid
        forget_most_memory(pid)
        before = memory_of(pid)
        work()
        return most_memory_of(pid) - before

    def all_runs(self):
        cursor, listed = "", []
        while cursor is not None:
            page = self.cluster.http("GET", f"/api/v1/runs?limit=500&cursor={cursor}").json()
            listed += [one["id"] for one in page["runs"]]
            cursor = page["next"]
        return listed

    def test_slots_of_all_time(self):
        self.apply(TICK)
        tokens = [self.viewer(name) for name in ("vera", "victor")]
        other = self.viewer("other")
        seen, join = self.in_the_background([
            lambda token=token: self.cluster.http("GET", FOREVER, token=token, timeout=60) for token in tokens
            for _ in range(CALLS)])
        for _ in range(3):
            self.assertEqual(self.cluster.http("GET", "/api/v1/status", token=other, timeout=PATIENCE).status, 200)
        join()
        self.assertEqual({answer.status for answer in seen}, {200})
        until = seen[0].json()["until"]
        self.assertLess(until, f"{time.gmtime().tm_year + 2}", "there is no record of what is to come")
        self.assertEqual(self.cluster.http("GET", FOREVER + "&since=9998-01-01T00:00:00Z", token=other).status, 400)
        began = time.monotonic()
        self.cluster.server.end(signal.SIGTERM)
        self.assertLess(time.monotonic() - began, PATIENCE)

    def test_slots_come_page_by_page(self):
        self.apply(TICK)
        page = self.cluster.http("GET", "/api/v1/checks/slots?cursor=tick@yesterday")
        self.assertEqual(page.status, 400, page)
        report = self.assertCode(self.cluster.muster("check", "slots", "tick", "-o", "json"), 0).json()
        self.assertEqual(report["triggers"], 1)

    def test_one_run_in_many_spellings(self):
        run = self.cluster.start_run("-t", "h1", "--", "true")
        self.cluster.wait_end(run)
        vera = self.viewer("vera")

        def resolve(terms):
            return self.cluster.http("POST", "/api/v1/hosts/resolve", {"targets": " or ".join(terms)}, token=vera, timeout=60)
        self.assertEqual(resolve([f"run:{run}"]).status, 200)
        for terms in ([f"run:r{'0' * zeros}{run[1:]}.succeeded" for zeros in range(1, 1000)], [f"run:{run}.succeeded"] * 21):
            self.assertEqual(resolve(terms).status, 400)

    def test_lists_of_runs_of_many_stages(self):
        waits = "".join(f"- {{name: {'x' * 50}{number}, wait: 1s}}\n" for number in range(STAGES - 1))
        self.apply("apiVersion: muster/v1\nkind: job\nname: long\ntargets: h1\nstages:\n- {name: w, wait: 1000h}\n" + waits)
        started = {self.cluster.http("POST", "/api/v1/jobs/long/start", {}, timeout=60).json()["id"] for _ in range(RUNS)}
        vera = self.viewer("vera")
        pages = []

        def list_all():
            seen, join = self.in_the_background(
                [lambda: self.cluster.http("GET", "/api/v1/runs?limit=500", token=vera, timeout=120)] * CALLS)
            join()
            pages.extend(seen)
        assert_cost(self, self.growth(list_all), GROWTH)
        self.assertEqual({page.status for page in pages}, {200})
        self.assertLess(max(len(page.body) for page in pages), 6 << 20)
        listed = self.all_runs()
        self.assertEqual(len(listed), len(set(listed)))
        self.assertLessEqual(started, set(listed))
        self.assertCode(self.cluster.muster("stop", "--all", "--yes", deadline=120), 0)

    def test_rows_of_one_run(self):
        token = self.cluster.invite(uses=FLEET)
        self.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--data", self.cluster.folder / "fleet", "--server", self.cluster.url,
                                          "--count", str(FLEET), "--join", token])
        wait_until("all online", lambda: self.cluster.get("/status")["online"] >= FLEET + 1, 120)
        stages = "".join(f"- {{name: s{number}, script: 'true'}}\n" for number in range(ROWS // FLEET + 10))
        self.apply("apiVersion: muster/v1\nkind: job\nname: j\ntargets: 'fleet*'\nstages:\n" + stages)
        run = self.cluster.muster("start", "j", "--yes").text.strip()
        self.cluster.wait_end(run, 300)
        vera = self.viewer("vera")
        cursor, rows, pages, runs = "", [], 0, 0
        while cursor is not None:
            path = f"/api/v1/checks/history?rows=true&cursor={cursor}"
            page = self.cluster.http("GET", path, token=vera, timeout=120).json()
            self.assertLessEqual(len(page["rows"]), ROWS)
            rows += [(row["visit"], row["ordinal"], row["attempt"]) for row in page["rows"] if row["run"] == run]
            cursor, pages, runs = page["next"], pages + 1, runs + page["runs"]
        self.assertEqual(len(rows), FLEET * (ROWS // FLEET + 10))
        self.assertEqual(len(set(rows)), len(rows), "each is given once")
        self.assertGreater(pages, 1)
        self.assertEqual(runs, len(self.all_runs()), "each is looked at once")
        self.assertCode(self.cluster.muster("check", "history"), 0)
        self.assertEqual(self.cluster.http("GET", f"/api/v1/checks/history?cursor={run}/1.2", token=vera).status, 400)


if __name__ == "__main__":
    unittest.main()
