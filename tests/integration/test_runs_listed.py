"""What runs were started with, in lists and filters of `muster runs`."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from approval_case import ApprovalCase  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

HEAD = "apiVersion: muster/v1\nkind: job\n"


class ListedCase(ClusterTest):
    hosts = ("h1", "h2", "h3")

    def setUp(self):
        self.name = self._testMethodName.removeprefix("test_").replace("_", "-")[:40].rstrip("-")

    def apply(self, body, name=None):
        text = f"{HEAD}name: {name or self.name}\n{body}"
        self.assertCode(self.cluster.muster("apply", "-f", "-", stdin=text.encode()), 0)

    def start(self, *words):
        run = self.assertCode(self.cluster.muster("start", self.name, *words), 0).text.strip()
        return self.cluster.wait_end(run)

    def listed(self, *words):
        outcome = self.assertCode(self.cluster.muster("runs", *words, "-o", "json"), 0)
        return [run["id"] for run in json.loads(outcome.out)["runs"]]

    def output(self, run, host="h1"):
        return self.cluster.log_of(run["id"], host, "stdout").decode()


class Listed(ListedCase):
    def test_by_job_and_parameters(self):
        self.apply("params: {v: {required: true}, w: {default: x}}\ntargets: h1\n"
                   "stages: [{name: go, script: 'true'}]\n")
        runs = [self.start("-p", f"v={value}")["id"] for value in ("1", "2", "1")]
        command = self.cluster.wait_end(self.cluster.start_run("-t", "h1", "--", "true"))["id"]
        self.assertEqual(self.listed("--job", self.name), runs[::-1])
        self.assertEqual(self.listed("--job", self.name, "-p", "v=1"), [runs[2], runs[0]])
        self.assertEqual(self.listed("-p", "v=1", "-p", "w=x", "-n", "1"), [runs[2]])
        self.assertEqual(self.listed("-p", "v=1", "-p", "w=y"), [])
        self.assertEqual(self.listed("-p", "v=1", "--state", "failed"), [])
        self.assertEqual(self.listed("--job", "no-such-job"), [])
        self.assertIn(command, self.listed())
        self.assertCode(self.cluster.muster("runs", "-p", "v"), 2)
        self.assertIn("v=2, w=x", self.cluster.muster("runs").text)
        shown = {run["id"]: run for run in self.cluster.get("/runs")["runs"]}
        self.assertEqual((shown[runs[1]]["job"], shown[runs[1]]["version"], shown[runs[1]]["params"]),
                         (self.name, 1, {"v": "2", "w": "x"}))
        self.assertNotIn("params", shown[command])

    def test_long_values_are_found_whole_and_listed_cut(self):
        self.apply("params: {note: {required: true}}\ntargets: h1\nstages: [{name: go, script: 'true'}]\n")
        notes = ["n" * 5000 + end for end in ("a", "b")]
        runs = [self.start("-p", f"note={note}")["id"] for note in notes]
        for run, note in zip(runs, notes):
            self.assertEqual(self.listed("-p", f"note={note}"), [run])
            self.assertEqual(self.cluster.run_of(run)["params"]["note"], note)
        listed = self.cluster.get("/runs", job=self.name)["runs"][0]["params"]["note"]
        self.assertLess(len(listed), 300)
        self.assertEqual(self.listed("-p", f"note={listed}"), [])

    def test_pages_of_a_filter_go_on(self):
        self.apply("params: {v: {required: true}}\ntargets: h1\nstages: [{name: go, script: 'true'}]\n")
        runs = [self.start("-p", f"v={i % 2}")["id"] for i in range(6)]
        seen, cursor = [], ""
        while cursor is not None:
            page = self.cluster.get("/runs", **{"job": self.name, "params[v]": "0", "limit": 2, "cursor": cursor})
            seen += [run["id"] for run in page["runs"]]
            cursor = page["next"]
        self.assertEqual(seen, runs[4::-2])


class Approvals(ApprovalCase):
    ASK = """  - name: ask
    approve: {message: may it, by: [alice, bob], not: starter}
"""
    WORK = """  - name: work
    script: touch {mark}
"""

    def test_awaiting_me_are_those_that_the_caller_may_approve(self):
        self.job(self.ASK + self.WORK, who="mallory")
        run = self.start("alice")
        self.waits(run)
        gated = self.assertCode(self.as_("mallory", "run", "-d", "-t", "h1", "--", "true"), 0).text.strip()

        def awaiting(who, *more):
            outcome = self.assertCode(self.as_(who, "runs", "--awaiting-me", "-o", "json", *more), 0)
            return [one["id"] for one in json.loads(outcome.out)["runs"]]
        self.assertEqual(awaiting("bob"), [run])
        self.assertEqual(awaiting("bob", "--job", self.name), [run])
        self.assertEqual(awaiting("bob", "--job", "other"), [])
        self.assertEqual(awaiting("bob", "--by", "mallory"), [])
        self.assertEqual(awaiting("alice"), [], "she started it")
        self.assertEqual(awaiting("mallory"), [], "mallory is not named")
        self.assertCode(self.as_("bob", "approve", run, "--yes"), 0)
        wait_until("it was answered", lambda: awaiting("bob") == [])
        self.cluster.wait_end(gated)
        answer = self.cluster.http("GET", "/api/v1/runs?awaiting=bob")
        self.assertEqual(answer.status, 400)

    def test_a_viewer_may_approve_nothing(self):
        token = self.cluster.muster("tokens", "create", "viewer", "--role", "viewer").text.strip()
        environment = {"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""}
        outcome = self.cluster.muster("runs", "--awaiting-me", "-o", "json", environment=environment)
        self.assertEqual(json.loads(self.assertCode(outcome, 0).out)["runs"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
