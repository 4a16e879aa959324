#!/usr/bin/env python3
"""Attacker: anyone who reaches the port, without a token. They ask for paths of 8,000 slashes, and with queries of 1,700 names.

The path is looked at before any token, so it must cost next to nothing, and others be answered meanwhile.
"""

import http.client
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import DEADLINE, ClusterTest  # noqa: E402
from process_cost import assert_cost, processor_seconds  # noqa: E402

CONNECTIONS = 20
CALLS = 30  # of each
SLASHES = "/" * 8_000
NAMES = "/healthz?" + "&".join(map(str, range(1_700)))


class PathsOfSlashes(ClusterTest):
    hosts = ("h1",)

    def ask(self, target, statuses):
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=self.cluster.tls(), timeout=DEADLINE)
        for _ in range(CALLS):
            connection.request("GET", target)
            answer = connection.getresponse()
            answer.read()
            statuses.add(answer.status)
        connection.close()

    def cost_of(self, target, status):
        """The server's seconds for all calls, with callers who are answered meanwhile."""
        pid, statuses = self.cluster.server.process.pid, set()
        before = processor_seconds(pid)
        threads = [threading.Thread(target=self.ask, args=(target, statuses)) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        self.assertEqual(self.cluster.http("GET", "/api/v1/status").status, 200)
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, {status})
        return processor_seconds(pid) - before

    def test_cost_next_to_nothing(self):
        plain = self.cost_of("/x", 404)
        # Split for each route, the slashes take 9 s.
        assert_cost(self, self.cost_of(SLASHES, 404) - plain, 3)
        assert_cost(self, self.cost_of(NAMES, 400) - plain, 3)


if __name__ == "__main__":
    unittest.main()
