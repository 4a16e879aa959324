#!/usr/bin/env python3
"""An operator prepares a run that switches off `muster stop --all`.

The attacker holds an operator's token. They start a run whose child nobody but bob may stop by itself, as that would
decide whether bob's approval is asked for. The emergency stop of anybody else, the admin included, must still stop every
run, that one too. A run that really may not be stopped is reported at the end, and keeps no other run going. So is a run
where the stop of one host was refused: it must not pass for a stop.
"""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

DENIED = 3

KID = """apiVersion: muster/v1
kind: job
name: kid
targets: h1
stages:
  - name: sleep
    script: sleep 300
"""
PARENT = """apiVersion: muster/v1
kind: job
name: parent
targets: h1
stages:
  - name: work
    job: kid
  - name: ask
    when: stages.work.status == 'high'
    approve: {message: 'go?', by: [bob], not: starter}
"""


class StopAll(ClusterTest):
    hosts = ("h1", "h2")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.tokens = {"admin": cls.cluster.token}
        for name in ("mallory", "alice", "bob"):
            cls.tokens[name] = cls.cluster.muster("tokens", "create", name, "--role", "operator").text.strip()
        for name, text in (("kid", KID), ("parent", PARENT)):
            file = cls.cluster.folder / f"{name}.yaml"
            file.write_text(text)
            assert cls.as_("mallory", "apply", "-f", file).code == 0

    @classmethod
    def as_(cls, who, *words):
        return cls.cluster.muster(*words, environment={"MUSTER_TOKEN": cls.tokens[who], "MUSTER_TOKEN_FILE": ""})

    def prepare(self):
        """The attacker's run and its child, between two plain runs of others: the child, the parent, the others."""
        before = self.cluster.start_run("-t", "h1", "--", "sleep 300")
        outcome = self.as_("mallory", "start", "parent")
        self.assertCode(outcome, 0)
        parent = outcome.text.strip()
        child = wait_until("the child starts", lambda: next(
            (v["child"] for v in self.cluster.get(f"/runs/{parent}/visits")["visits"] if v["child"]), None))
        after = self.cluster.start_run("-t", "h1", "--", "sleep 300")
        self.addCleanup(self.cluster.muster, "kill", parent)
        return child, parent, [before, after]

    def assertCancelled(self, *runs):
        for run in runs:
            self.assertEqual(self.cluster.wait_end(run)["state"], "cancelled", run)

    def test_child_that_only_bob_may_stop(self):
        for who in ("admin", "alice", "mallory"):
            with self.subTest(who=who):
                child, parent, others = self.prepare()
                self.assertCode(self.as_(who, "stop", child), DENIED)
                outcome = self.as_(who, "stop", "--all", "--grace", "0", "--yes")
                self.assertCode(outcome, 0)
                self.assertCancelled(child, parent, *others)

    def test_refusal_is_told_at_the_end_and_keeps_nothing_else_going(self):
        child, parent, others = self.prepare()
        own = self.as_("alice", "start", "kid").text.strip()
        outcome = self.as_("alice", "stop", "--job", "kid", "--grace", "0", "--yes", "-o", "json")
        self.assertCode(outcome, DENIED)
        told = json.loads(outcome.text)
        self.assertEqual(told["stopping"], [own])
        self.assertEqual([one["run"] for one in told["refused"]], [child])
        self.assertIn(f"{child} was not stopped", outcome.complaint)
        self.assertCancelled(own)
        self.assertEqual(self.cluster.run_of(child)["state"], "running")
        self.assertCode(self.as_("alice", "stop", "--all", "--grace", "0", "--yes"), 0)
        self.assertCancelled(child, parent, *others)

    def test_refused_stop_of_a_host_is_not_told_as_a_stop(self):
        """The host has nothing open there now."""
        run = self.cluster.start_run("-t", "h1,h2", "--", "test $MUSTER_HOST = h1 || sleep 300")
        self.addCleanup(self.cluster.muster, "kill", run, "--yes")
        self.cluster.wait_task(run, "h1", "succeeded")
        self.cluster.wait_task(run, "h2", "running")
        self.assertNotEqual(self.cluster.muster("stop", run, "--host", "h1", "--yes").code, 0)
        outcome = self.cluster.muster("stop", "--all", "--host", "h1", "--yes", "-o", "json")
        self.assertNotEqual(outcome.code, 0)
        told = json.loads(outcome.text)
        self.assertEqual(told["stopping"], [])
        self.assertEqual([one["run"] for one in told["refused"]], [run])
        self.assertIn(f"{run} was not stopped", outcome.complaint)
        other = self.cluster.muster("stop", "--all", "--host", "h2", "--grace", "0", "--yes", "-o", "json")
        self.assertEqual(json.loads(other.text)["stopping"], [run])
        self.cluster.wait_end(run)


if __name__ == "__main__":
    unittest.main()
