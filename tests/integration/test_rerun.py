"""`muster rerun`: the same work again."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from approval_case import DENIED, ApprovalCase  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from terminal import AtTerminal  # noqa: E402

HEAD = "apiVersion: muster/v1\nkind: job\n"


class RerunCase(ClusterTest):
    hosts = ("h1", "h2", "h3")

    def setUp(self):
        self.name = self._testMethodName.removeprefix("test_").replace("_", "-")[:40].rstrip("-")

    def apply(self, body, name=None):
        text = f"{HEAD}name: {name or self.name}\n{body}"
        self.assertCode(self.cluster.muster("apply", "-f", "-", stdin=text.encode()), 0)

    def start(self, *words):
        run = self.assertCode(self.cluster.muster("start", self.name, *words), 0).text.strip()
        return self.cluster.wait_end(run)

    def rerun(self, run, *words, code=0):
        outcome = self.assertCode(self.cluster.muster("rerun", run, *words), code)
        return self.cluster.wait_end(outcome.text.strip()) if code == 0 else outcome

    def listed(self, *words):
        outcome = self.assertCode(self.cluster.muster("runs", *words, "-o", "json"), 0)
        return [run["id"] for run in json.loads(outcome.out)["runs"]]

    def output(self, run, host="h1"):
        return self.cluster.log_of(run["id"], host, "stdout").decode()


class Rerun(RerunCase):
    JOB = """params: {version: {required: true}, mode: {default: fast}}
targets: 'h[1-2]'
stages: [{name: go, script: 'echo $MUSTER_PARAM_VERSION $MUSTER_PARAM_MODE'}]
"""

    def test_job_with_its_parameters_and_targets(self):
        self.apply(self.JOB)
        first = self.start("-p", "version=6.1", "-p", "mode=slow", "-x", "h2")
        again = self.rerun(first["id"])
        self.assertNotEqual(again["id"], first["id"])
        self.assertEqual((again["job"], again["version"], again["params"]),
                         (self.name, 1, {"version": "6.1", "mode": "slow"}))
        self.assertEqual([task for task in self.cluster.tasks_of(again["id"])], ["h1"])
        self.assertEqual(self.output(again), "6.1 slow\n")
        other = self.rerun(again["id"], "-p", "version=6.2", "-t", "h2,h3")
        self.assertEqual(other["params"], {"version": "6.2", "mode": "slow"})
        self.assertEqual(sorted(self.cluster.tasks_of(other["id"])), ["h2", "h3"])
        self.assertEqual(self.output(other, "h3"), "6.2 slow\n")
        less = self.rerun(other["id"], "-x", "h3")
        self.assertEqual(sorted(self.cluster.tasks_of(less["id"])), ["h2"])
        self.rerun(first["id"], "-p", "nonsense=1", code=2)

    def test_the_version_is_kept_unless_latest_is_said(self):
        self.apply(self.JOB)
        first = self.start("-p", "version=6.1")
        self.apply(self.JOB.replace("echo", "echo new"))
        self.assertEqual(self.output(self.rerun(first["id"])), "6.1 fast\n")
        newest = self.rerun(first["id"], "--version", "latest")
        self.assertEqual((newest["version"], self.output(newest)), (2, "new 6.1 fast\n"))
        self.rerun(first["id"], "--version", "1", code=2)
        self.assertCode(self.cluster.muster("delete", "job", self.name, "--yes"), 0)
        self.rerun(first["id"], code=4)

    def test_limits_of_hosts_hold(self):
        self.apply("targets: h1\nstages: [{name: go, script: 'true'}]\n")
        first = self.start()
        self.apply("targets: h1\nmax_hosts: 1\nstages: [{name: go, script: 'true'}]\n")
        answer = self.cluster.http("POST", f"/api/v1/runs/{first['id']}/rerun", {"targets": "all"})
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (422, "too_many_hosts"))

    def test_command_with_all_it_was_given(self):
        outcome = self.cluster.muster("run", "-d", "-t", "h1,h2", "-x", "h2", "--env", "A=1", "--stdin", "-", "--title",
                                      "mine", "--", "cat; echo $A", stdin=b"in\n")
        first = self.cluster.wait_end(self.assertCode(outcome, 0).text.strip())
        again = self.rerun(first["id"])
        self.assertEqual((again["title"], self.output(again)), ("mine", "in\n1\n"))
        self.assertEqual(list(self.cluster.tasks_of(again["id"])), ["h1"])
        # The share of the output that each host may have depends on how many there are.
        self.assertEqual(again["spec"]["max_output"], first["spec"]["max_output"])
        waited = self.assertCode(self.cluster.muster("rerun", first["id"], "-t", "h3", "--wait"), 0)
        self.assertEqual(waited.text, "in\n1\n")
        self.rerun(first["id"], "-p", "version=1", code=2)
        self.rerun("r4711", code=4)

    def test_dry_run_starts_nothing(self):
        self.apply(self.JOB)
        first = self.start("-p", "version=6.1")
        before = self.listed("--job", self.name)
        plan = json.loads(self.assertCode(self.cluster.muster("rerun", first["id"], "--dry-run", "-o", "json"), 0).out)
        self.assertEqual((plan["job"], plan["version"], plan["hosts"], plan["names"]), (self.name, 1, 2, "h[1-2]"))
        self.assertIn("2 hosts", self.assertCode(self.cluster.muster("rerun", first["id"], "--dry-run"), 0).text)
        self.assertEqual(self.listed("--job", self.name), before)

    def test_a_key_starts_it_once(self):
        self.apply(self.JOB)
        first = self.start("-p", "version=6.1")
        path, key = f"/api/v1/runs/{first['id']}/rerun", {"Idempotency-Key": "once"}
        ids = {self.cluster.http("POST", path, {}, key).json()["id"] for _ in range(3)}
        self.assertEqual(len(ids), 1)
        self.assertEqual(self.cluster.http("POST", path, {"targets": "h1"}, key).status, 422)

    def test_audit_says_of_what(self):
        self.apply(self.JOB)
        first = self.start("-p", "version=6.1")
        again = self.rerun(first["id"], "--reason", "once more")
        entry = self.cluster.get("/audit", run=again["id"], act="run.start")["entries"][0]
        self.assertEqual(entry["reason"], f"rerun of {first['id']}: once more")
        self.assertEqual(entry["facts"]["params"]["version"], "6.1")

    def test_secrets_stay_references(self):
        self.assertCode(self.cluster.muster("secrets", "set", "tok", stdin=b"hunter2"), 0)
        self.apply("params: {token: {type: secret}}\ntargets: h1\n"
                   "stages: [{name: go, script: 'echo ${#MUSTER_PARAM_TOKEN}'}]\n")
        first = self.start("-p", "token=secret:tok")
        self.assertEqual(self.output(first), "7\n")
        again = self.rerun(first["id"])
        self.assertEqual((again["params"], self.output(again)), ({"token": "secret:tok"}, "7\n"))
        self.assertEqual(self.listed("-p", "token=secret:tok"), [again["id"], first["id"]])
        self.assertIn("token=secret:tok", self.cluster.muster("show", again["id"]).text)

    def test_a_stage_of_another_run_is_not_started_alone(self):
        self.apply("stages: [{name: go, script: 'true'}]\n", name="inner")
        self.apply("targets: h1\nstages: [{name: call, job: {name: inner}}]\n")
        outer = self.start()
        inner = self.cluster.get(f"/runs/{outer['id']}/visits")["visits"][0]["child"]
        self.assertIn(outer["id"], self.rerun(inner, code=1).complaint)
        self.rerun(outer["id"])

    def test_all_hosts_are_asked_about_at_a_terminal(self):
        first = self.cluster.wait_end(self.cluster.start_run("-t", "all", "--", "true"))
        terminal = AtTerminal(["rerun", first["id"]], self.cluster.environment())
        self.addCleanup(terminal.close)
        terminal.wait_for(f"rerun of {first['id']}: true on 3 hosts")
        terminal.wait_for("Type 3 to go on: ")
        terminal.type("2\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)
        self.assertIn("nothing was started", shown)


class Approvals(ApprovalCase):
    ASK = """  - name: ask
    approve: {message: may it, by: [alice, bob], not: starter}
"""
    WORK = """  - name: work
    script: touch {mark}
"""

    def test_a_rerun_asks_again_and_not_its_starter(self):
        self.job(self.ASK + self.WORK)
        run = self.start("mallory")
        self.waits(run)
        self.assertCode(self.as_("alice", "approve", run, "--yes"), 0)
        self.cluster.wait_end(run)
        self.mark.unlink()
        again = self.assertCode(self.as_("bob", "rerun", run), 0).text.strip()
        self.assertStopped(again)
        self.assertEqual(self.cluster.run_of(again)["by"], "bob")
        self.assertCode(self.as_("bob", "approve", again, "--yes"), DENIED)
        self.assertStopped(again)
        self.assertCode(self.as_("alice", "approve", again, "--yes"), 0)
        self.assertEqual(self.cluster.wait_end(again)["state"], "succeeded")

    def test_an_old_version_is_no_way_around_an_approval_that_was_added(self):
        self.job(self.WORK)
        run = self.start("mallory")
        self.cluster.wait_end(run)
        self.mark.unlink()
        self.job(self.ASK + self.WORK)
        self.assertCode(self.as_("mallory", "rerun", run), DENIED)
        self.assertFalse(self.mark.exists())
        newest = self.assertCode(self.as_("mallory", "rerun", run, "--version", "latest"), 0).text.strip()
        self.assertStopped(newest)
        self.assertCode(self.as_("mallory", "stop", newest), 0)

    def test_an_old_version_with_the_same_approvals_is_started(self):
        self.job(self.ASK + self.WORK)
        run = self.start("mallory")
        self.waits(run)
        self.job(self.ASK + self.WORK.replace("touch", "touch -c"))
        again = self.assertCode(self.as_("mallory", "rerun", run), 0).text.strip()
        self.assertStopped(again)
        for one in (run, again):
            self.assertCode(self.as_("mallory", "stop", one), 0)

    def test_a_viewer_starts_nothing(self):
        run = self.cluster.wait_end(self.cluster.start_run("-t", "h1", "--", "true"))["id"]
        token = self.cluster.muster("tokens", "create", "viewer", "--role", "viewer").text.strip()
        environment = {"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""}
        self.assertCode(self.cluster.muster("rerun", run, environment=environment), DENIED)
        outcome = self.cluster.muster("runs", "--awaiting-me", "-o", "json", environment=environment)
        self.assertEqual(json.loads(self.assertCode(outcome, 0).out)["runs"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
