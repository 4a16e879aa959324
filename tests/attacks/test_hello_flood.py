#!/usr/bin/env python3
"""Attacker: root on one host. He says Hello with long lists of invented tasks, on many links, and connects again each time.

To look the tasks up takes a worker of the server a while, and memory. Other hosts and callers must be served meanwhile, and the
server's memory stay bounded.
"""

import itertools
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileAgent, task_key  # noqa: E402
from muster_processes import DEADLINE  # noqa: E402
from process_cost import MIB, assert_cost, most_memory_of  # noqa: E402
from protobuf import field  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

TASKS = 49_000  # a Hello may list 50,000
LINKS = 8
MOST = 1_024 * MIB


class HelloFlood(unittest.TestCase):
    def setUp(self):
        # A look-up in PostgreSQL takes longest. The machine is busy, so the lease is long.
        self.cluster = ServerCluster(servers=1, etcds=1, lease="30s")
        self.addCleanup(self.cluster.close)
        self.cluster.add_agents("good", "bad")
        self.bad = self.cluster.agents["bad"]
        self.bad.end()
        self.cluster.wait_offline("bad")

    def hello(self, agent):
        """Lists invented tasks, all of the host itself; twice, and waits for no Welcome between."""
        for _ in range(2):
            agent.frame(field(2, field(1, "0.1.0") + field(4, agent.store) + field(5, "b") + field(6, next(self.sessions)) +
                                 self.held))

    def flood(self):
        while not self.over.is_set():
            try:
                with HostileAgent(self.bad) as agent:
                    self.hello(agent)
                    agent.read()
            except (AssertionError, OSError):
                pass  # the server has closed the link
            self.rounds.release()

    def test_others_are_served(self):
        self.held = b"".join(field(8, field(1, task_key(10_000_000 + i, 2)) + field(2, 2)) for i in range(TASKS))
        self.sessions = itertools.count(HostileAgent.sessions)
        self.over, self.rounds = threading.Event(), threading.Semaphore(0)
        threads = [threading.Thread(target=self.flood) for _ in range(LINKS)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(3 * LINKS):
                self.assertTrue(self.rounds.acquire(timeout=DEADLINE), "links are answered or closed")
            for _ in range(3):
                outcome = self.cluster.muster("run", "-t", "good", "--", "true")
                self.assertEqual(outcome.code, 0, outcome)
                self.assertEqual(self.cluster.http("GET", "/api/v1/hosts").status, 200)
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        assert_cost(self, most_memory_of(self.cluster.server.process.pid), MOST)


if __name__ == "__main__":
    unittest.main()
