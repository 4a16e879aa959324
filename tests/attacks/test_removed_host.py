#!/usr/bin/env python3
"""Root on one host (a stolen machine) is revoked and removed, and another machine joins under its name.

What the stolen host did and was given must be found by its name afterwards, as the operator renews the secrets that its runs
used: also by pages, after a restart, and while no host has the name.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402


class RemovedHost(ClusterTest):
    hosts = ("keeper",)

    def remove(self, name):
        agent = self.cluster.agents[name]
        self.assertCode(self.cluster.muster("agents", "revoke", name, "--reason", "stolen"), 0)
        self.cluster.wait_offline(name)
        agent.end()
        self.assertCode(self.cluster.muster("hosts", "rm", name, "--yes"), 0)

    def join(self, name, folder):
        self.cluster.add_agent(name, data=folder)
        self.cluster.wait_online(name)

    def run_on(self, name):
        run = self.cluster.start_run("-t", name, "--", "true")
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        return run

    def audited(self, name):
        self.assertCode(self.cluster.muster("audit", "--host", name), 0)
        return [entry["run"] for entry in self.cluster.get("/audit", host=name, act="run.start")["entries"]]

    def listed(self, name, limit=500):
        runs, cursor = [], {}
        while True:
            page = self.cluster.get("/runs", host=name, limit=limit, **cursor)
            runs += [run["id"] for run in page["runs"]]
            if not page["next"]:
                return runs
            cursor = {"cursor": page["next"]}

    def test_runs_of_a_stolen_host_are_found_by_its_name(self):
        runs = []
        for time in range(2):
            self.join("web7", f"web7-{time}")
            runs.insert(0, self.run_on("web7"))
            self.remove("web7")
            self.assertEqual(self.audited("web7"), runs, "no host has the name now")
            self.assertEqual(self.listed("web7"), runs)
        self.join("web7", "web7-again")
        runs.insert(0, self.run_on("web7"))
        self.run_on("keeper")
        self.cluster.restart_server()
        self.cluster.wait_online("web7")
        self.assertEqual(self.audited("web7"), runs)
        self.assertEqual(self.listed("web7"), runs)
        self.assertEqual(self.listed("web7", limit=1), runs)
        for act in ("agent.join", "agent.revoke", "host.remove"):
            found = self.cluster.get("/audit", host="web7", act=act)["entries"]
            self.assertEqual(len(found), 3 if act == "agent.join" else 2, act)
        self.assertCode(self.cluster.muster("audit", "--host", "web77"), 4)
        self.assertCode(self.cluster.muster("runs", "--host", "web77"), 4)


if __name__ == "__main__":
    unittest.main()
