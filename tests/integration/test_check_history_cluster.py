"""`muster check history` over a cluster whose leaders are frozen and killed, with the hosts' journals."""

import json
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

FLEET = 30
RUNS = 8


class CheckHistoryOfACluster(ClusterTest):
    def start(self, cluster):
        """Some runs; a call that may have happened is made again under its key."""
        runs = []
        for _ in range(RUNS):
            self.calls += 1
            runs.append(wait_until("a run is started", lambda: self.ask(cluster, f"run-{self.calls}")))
        return runs

    def ask(self, cluster, key):
        try:
            answer = cluster.http("POST", "/api/v1/runs", {"targets": "all", "command": {"argv": ["true"]}},
                                  {"Idempotency-Key": key})
        except OSError:
            return None
        return answer.json()["id"] if answer.status in (200, 201) else None

    def test_leader_that_is_frozen_and_one_that_is_killed_lose_and_double_nothing(self):
        cluster = ServerCluster()
        self.addCleanup(cluster.close)
        self.calls = 0
        journal = cluster.folder / "fleet.jsonl"
        # The fleet's links are at a server that is not frozen.
        frozen, cluster.front = cluster.leader(), cluster.followers()[0]
        token = cluster.invite(uses=FLEET, replace=True)
        cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cluster.url, "--count", FLEET, "--duration", "200ms",
                                     "--data", cluster.folder / "fleet", "--history", journal], {"MUSTER_JOIN": token})
        cluster.wait_online(*[f"fleet{number + 1}" for number in range(FLEET)])
        runs = self.start(cluster)

        frozen.process.send_signal(signal.SIGSTOP)
        runs += self.start(cluster)
        frozen.process.send_signal(signal.SIGCONT)
        cluster.wait_ready()

        killed, cluster.front = cluster.leader(), cluster.followers()[0]
        killed.end(signal.SIGKILL)
        runs += self.start(cluster)
        killed.start()
        cluster.wait_ready()

        for run in runs:
            cluster.wait_end(run)
        outcome = cluster.muster("check", "history", "-o", "json", "--journal", journal)
        self.assertCode(outcome, 0)
        report = json.loads(outcome.text)
        self.assertGreaterEqual(report["runs"], len(runs))
        self.assertEqual(report["journals"]["hosts"], FLEET)
        self.assertGreaterEqual(report["terms"], 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
