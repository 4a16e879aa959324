"""An operator's limits with keys of a megabyte, in a job that starts others: they were in each row of each child run."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from process_cost import assert_cost, forget_most_memory, most_memory_of  # noqa: E402

HEAD = "apiVersion: muster/v1\n"
CHILDREN = 8
LIMITS = 100
VALUE = 10_000
# Ten times a value in each of the keys: 10 MB for each child, were they kept.
KEYS = "\n".join("  - {key: 'k%d-%s', max: 1}" % (i, "${{ params.v }}" * 10) for i in range(LIMITS))
MOST_GROWTH = 40 << 20


class LongLimitKeys(ClusterTest):
    hosts = ("host1",)

    def test_one_start_does_not_fill_the_memory(self):
        stages = "\n".join(f"  - {{name: s{i}, job: {{name: kid}}, needs: []}}" for i in range(CHILDREN))
        waits = "\n".join(f"  - {{name: w{i}, wait: 1ms}}" for i in range(50))
        documents = (f"{HEAD}kind: job\nname: kid\ntargets: host1\nstages:\n{waits}\n---\n"
                     f"{HEAD}kind: job\nname: par\ntargets: host1\nparams: {{v: {{default: x}}}}\nlimit:\n{KEYS}\n"
                     f"stages:\n{stages}\n")
        self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=documents.encode()), 0)
        pid = self.cluster.server.process.pid
        forget_most_memory(pid)
        before = most_memory_of(pid)
        started = self.cluster.http("POST", "/api/v1/jobs/par/start", {"params": {"v": "a" * VALUE}})
        if started.status < 300:
            run = started.json()["id"]
            wait_until("the run has ended", lambda: self.cluster.run_of(run)["ended"], 60)
            self.assertEqual(self.cluster.run_of(run)["state"], "failed")
            self.assertIn("limit", self.cluster.run_of(run)["reason"])
        assert_cost(self, most_memory_of(pid) - before, MOST_GROWTH)
        self.assertCode(self.cluster.muster("status"), 0)


if __name__ == "__main__":
    unittest.main()
