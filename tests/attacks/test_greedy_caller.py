#!/usr/bin/env python3
"""A viewer makes calls that take the server long, as many at a time as they like.

The attacker holds a viewer's token. Their expressions for hosts have very many large regular expressions; they look at a trigger
whose slots all lie in a blackout. Others are answered meanwhile, and an admin stops everything, also when more than one caller is
greedy.
"""

import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from process_cost import MIB, assert_cost, forget_most_memory, most_memory_of  # noqa: E402

DARK = """apiVersion: muster/v1
kind: job
name: dark
targets: h1
stages: [{name: s, wait: 1000h}]
---
apiVersion: muster/v1
kind: trigger
name: dark
every: 1s
job: dark
blackouts:
  - {cron: '0 0 1 1 *', lasts: 400d}
"""
CALLS = 8  # at a time, of each kind and caller
PATIENCE = 10


class GreedyCaller(ClusterTest):
    hosts = ("h1",)

    def viewer(self, name):
        return self.cluster.muster("tokens", "create", name, "--role", "viewer").text.strip()

    def call_on(self, token, method, path, body, stop, seen):
        while not stop.is_set():
            began = time.monotonic()
            try:
                status = self.cluster.http(method, path, body, token=token, timeout=30).status
            except OSError as problem:
                status = repr(problem)
            seen.append((status, time.monotonic() - began))

    def greedy(self, *tokens):
        """Calls without a pause until the test ends; what was answered, and after how long."""
        stop, seen = threading.Event(), []
        large = " or ".join([r"a ~ '\pL{40}'"] * 1000)
        fitting = " or ".join(["a ~ '([a-z]?){30}[0-9]{9}'"] * 100)
        kinds = [("POST", "/api/v1/hosts/resolve", {"targets": large}), ("POST", "/api/v1/hosts/resolve", {"targets": fitting}),
                 ("GET", "/api/v1/triggers/dark", None)]
        threads = [threading.Thread(target=self.call_on, args=(token, *kind, stop, seen), daemon=True)
                   for token in tokens for kind in kinds for _ in range(CALLS)]
        for thread in threads:
            thread.start()

        def end():
            stop.set()
            for thread in threads:
                thread.join(60)
        self.addCleanup(end)
        return seen

    def assertQuick(self, *words):
        began = time.monotonic()
        outcome = self.assertCode(self.cluster.muster(*words), 0)
        self.assertLess(time.monotonic() - began, PATIENCE, words)
        return outcome

    def test_others_are_answered_and_an_admin_stops_all(self):
        file = self.cluster.folder / "dark.yaml"
        file.write_text(DARK)
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)
        server = self.cluster.server.process.pid
        forget_most_memory(server)
        before = most_memory_of(server)
        seen = self.greedy(self.viewer("vera"), self.viewer("victor"), self.viewer("vincent"))
        for _ in range(3):
            run = self.cluster.start_run("-t", "h1", "--", "sleep 1000")
            self.assertQuick("status")
            self.assertQuick("stop", "--all", "--yes")
            self.assertEqual(self.cluster.wait_end(run)["state"], "cancelled")
        self.assertQuick("freeze", "--reason", "enough")
        self.assertQuick("thaw")
        self.assertTrue(seen, "the greedy ones are answered too")
        self.assertEqual({status for status, _ in seen} - {200, 400, 404, 429, 503}, set())
        self.assertLess(max(seconds for _, seconds in seen), 25)
        assert_cost(self, most_memory_of(server) - before, 300 * MIB)
        self.assertTrue(self.cluster.server.running())


if __name__ == "__main__":
    unittest.main()
