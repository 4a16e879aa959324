#!/usr/bin/env python3
"""An operator's requests to very long urls: they stood in the reasons of stages, and their hosts in what the server remembers."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from process_cost import assert_cost, forget_most_memory, most_memory_of  # noqa: E402

STAGES = 60
VALUE = 60_000
MOST_GROWTH = 40 << 20
MOST_ANSWER = 256 << 10  # of GET /runs/ID, with a reason for each stage


class LongUrls(ClusterTest):
    hosts = ("host1",)
    settings = {"outside": "{allow: ['127.0.0.0/8', '::1/128']}"}

    def start(self, job, url):
        """A run whose stages all call such a url, which ends at once."""
        stages = "\n".join(f"  - {{name: s{i}, http: {{url: '{url(i)}'}}, needs: []}}" for i in range(STAGES))
        document = (f"apiVersion: muster/v1\nkind: job\nname: {job}\ntargets: host1\nparams: {{v: {{default: a}}}}\n"
                    f"stages:\n{stages}\n")
        self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=document.encode()), 0)
        pid = self.cluster.server.process.pid
        forget_most_memory(pid)
        before = most_memory_of(pid)
        started = self.cluster.http("POST", f"/api/v1/jobs/{job}/start", {"params": {"v": "a" * VALUE}})
        self.assertEqual(started.status, 201, started)
        run = started.json()["id"]
        wait_until("the run has ended", lambda: self.cluster.run_of(run)["ended"], 120)
        assert_cost(self, most_memory_of(pid) - before, MOST_GROWTH)
        told = self.cluster.http("GET", f"/api/v1/runs/{run}").json()
        self.assertEqual(told["state"], "failed")
        self.assertLess(len(json.dumps(told)), MOST_ANSWER)
        return told

    def test_urls_of_a_megabyte(self):
        told = self.start("far", lambda i: "http://localhost:9/" + "${{ params.v }}" * 15 + str(i))
        self.assertIn("the url has", json.dumps(told))

    def test_host_names_that_no_host_can_have(self):
        # Each fits a url, and is another destination.
        told = self.start("wide", lambda i: "http://" + "a" * 300 + f"{i}.localhost:9/")
        self.assertIn("host has", json.dumps(told))


if __name__ == "__main__":
    unittest.main()
