#!/usr/bin/env python3
"""An operator who started a run goes around its approval.

The attacker holds an operator's token (mallory) and a job whose approval is `not: starter`. They must not get the
stage behind the approval to run without another person: not by skipping it, not by a pause and a retry that begins
behind it, not by a plain retry after it was rejected, not as the one who retried another person's run with a version of
their own, and not as the one whose trigger or backfill started the run.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

DENIED = 3

JOB = """apiVersion: muster/v1
kind: job
name: {name}
targets: h1
stages:
{stages}"""

PLAIN = """  - name: ask
    approve: {message: 'go?', not: starter}
  - name: deploy
    script: touch {mark}
"""

BETWEEN = """  - name: roll
    script: echo $MUSTER_HOST >> {mark}
    batches: [1]
    between:
      approve: {message: 'next?', not: starter}
"""

INSIDE = """  - name: roll
    batches: [1]
    stages:
      - name: prepare
        script: 'true'
      - name: ask
        approve: {message: 'go?', not: starter}
      - name: work
        script: echo $MUSTER_HOST >> {mark}
"""

SWITCHED = """  - name: check
    script: echo status=risky >> $MUSTER_OUTPUT
    switch: {risky: ask}
  - name: deploy
    script: touch {mark}
branches:
  - name: ask
    approve: {message: 'go?', not: starter}
    switch: {succeeded: deploy}
"""


class ApprovalBypass(ClusterTest):
    hosts = ("h1", "h2", "h3")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.tokens = {}
        for name in ("mallory", "alice", "bob"):
            cls.tokens[name] = cls.cluster.muster("tokens", "create", name, "--role", "operator").text.strip()

    def as_(self, who, *words):
        return self.cluster.muster(*words, environment={"MUSTER_TOKEN": self.tokens[who], "MUSTER_TOKEN_FILE": ""})

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1].removeprefix("test_").replace("_", "-")
        self.mark = self.cluster.folder / f"{self.name}.mark"

    def job(self, stages, who="alice", targets="h1", name=None):
        file = self.cluster.folder / f"{self.name}.yaml"
        text = JOB.format(name=name or self.name, stages=stages.replace("{mark}", str(self.mark)))
        file.write_text(text.replace("targets: h1", f"targets: '{targets}'"))
        self.assertCode(self.as_(who, "apply", "-f", file), 0)

    def start(self, who="mallory"):
        outcome = self.as_(who, "start", self.name)
        self.assertCode(outcome, 0)
        return outcome.text.strip()

    def waits(self, run, stage="ask"):
        def asked():
            return [s for s in self.cluster.run_of(run)["stages"]
                    if s["name"] == stage and s["state"] == "awaiting_approval"]
        wait_until(f"{stage} of {run} waits for an approval", asked)

    def assertStopped(self, run, stage="ask"):
        """The approval is still open, and nothing behind it ran."""
        self.waits(run, stage)
        self.assertFalse(self.mark.exists(), "the stage behind the approval ran")

    def test_skip_of_the_approval(self):
        self.job(PLAIN)
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("mallory", "skip", run, "ask"), DENIED)
        self.assertStopped(run)
        self.assertCode(self.as_("bob", "skip", run, "ask"), 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")

    def test_pause_and_retry_from_the_stage_behind_it(self):
        self.job(PLAIN)
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("mallory", "pause", run), 0)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "deploy"), DENIED)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "deploy", "--all-hosts"), DENIED)
        self.assertStopped(run)

    def test_stop_and_retry_from_the_stage_behind_it(self):
        self.job(PLAIN)
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("mallory", "stop", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "deploy"), DENIED)
        self.assertFalse(self.mark.exists())

    def test_retry_after_a_rejection_between_batches(self):
        self.job(BETWEEN, targets="h1,h2,h3")
        run = self.start()
        self.waits(run, "roll")
        self.assertCode(self.as_("bob", "reject", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", run), 0)
        self.waits(run, "roll")
        self.assertEqual(self.mark.read_text().split(), ["h1"], "no other batch ran")
        self.assertCode(self.as_("mallory", "skip", run, "roll"), DENIED)
        self.assertCode(self.as_("mallory", "approve", run), DENIED)

    def test_pause_and_retry_inside_a_batch(self):
        self.job(INSIDE, targets="h1,h2")
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("mallory", "pause", run), 0)
        self.assertCode(self.as_("mallory", "retry", run), 0)
        self.assertStopped(run)

    def test_branch_that_a_switch_leads_to(self):
        self.job(SWITCHED)
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("mallory", "pause", run), 0)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "deploy"), DENIED)
        self.assertStopped(run)

    def test_retry_of_another_ones_run_with_a_version_of_ones_own(self):
        self.job(PLAIN)
        run = self.start("alice")
        self.waits(run)
        self.assertCode(self.as_("bob", "reject", run), 0)
        self.cluster.wait_end(run)
        self.job(PLAIN.replace("touch", "touch -a"), who="mallory")
        self.assertCode(self.as_("mallory", "retry", run, "--version", "latest", "--from", "ask"), 0)
        self.waits(run)
        self.assertCode(self.as_("mallory", "approve", run), DENIED)
        self.assertStopped(run)
        self.assertCode(self.as_("bob", "approve", run), 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")

    def test_version_without_the_approval(self):
        self.job(PLAIN)
        run = self.start("alice")
        self.waits(run)
        self.assertCode(self.as_("mallory", "pause", run), 0)
        self.job("  - name: deploy\n    script: touch {mark}\n", who="mallory")
        self.assertNotEqual(self.as_("mallory", "retry", run, "--version", "latest", "--from-start").code, 0)
        outcome = self.as_("mallory", "retry", run, "--version", "latest", "--from", "deploy")
        self.assertCode(outcome, DENIED)
        self.assertStopped(run)

    def test_changed_limits_and_approved_oneself(self):
        self.job(PLAIN)
        run = self.start("alice")
        self.waits(run)
        self.assertCode(self.as_("mallory", "set", run, "concurrency=5"), 0)
        self.assertCode(self.as_("mallory", "approve", run), DENIED)
        self.assertStopped(run)

    def trigger(self, who, **more):
        file = self.cluster.folder / f"{self.name}-trigger.yaml"
        lines = "".join(f"{key}: {value}\n" for key, value in more.items())
        file.write_text(f"apiVersion: muster/v1\nkind: trigger\nname: {self.name}\njob: {self.name}\n{lines}")
        self.assertCode(self.as_(who, "apply", "-f", file), 0)

    def runs_of_job(self):
        return [run["id"] for run in self.cluster.get("/runs", limit=100)["runs"] if run["title"] == self.name]

    def test_run_of_ones_own_trigger(self):
        self.job(PLAIN, who="alice")
        self.trigger("mallory", every="1s", overlap="skip")
        run = wait_until("the trigger starts a run", self.runs_of_job)[0]
        self.assertCode(self.as_("mallory", "triggers", "pause", self.name), 0)
        self.waits(run)
        self.cluster.restart_server()
        self.assertCode(self.as_("mallory", "approve", run), DENIED)
        self.assertCode(self.as_("alice", "approve", run), DENIED)
        self.assertStopped(run)
        self.assertCode(self.as_("bob", "approve", run), 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")

    def test_backfill_of_another_ones_trigger(self):
        self.job(PLAIN, who="alice")
        self.trigger("alice", cron="'0 0 * * *'")
        self.assertCode(self.as_("mallory", "triggers", "backfill", self.name, "--from", "2026-01-01T00:00:00Z", "--to",
                                 "2026-01-01T00:00:00Z"), 0)
        run = wait_until("the backfill starts a run", self.runs_of_job)[0]
        self.waits(run)
        self.assertCode(self.as_("mallory", "approve", run), DENIED)
        self.assertStopped(run)


if __name__ == "__main__":
    unittest.main()
