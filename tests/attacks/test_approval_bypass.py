#!/usr/bin/env python3
"""An operator who started a run goes around its approval.

The attacker holds an operator's token (mallory) and a job whose approval is `not: starter`. They must not get the
stage behind the approval to run without another person: not by skipping it, not by a pause and a retry that begins
behind it, not by a plain retry after it was rejected, not by an act that changes what the condition of an approval looks
at, not as the one who retried another person's run with a version of their own, and not as the one whose trigger or
backfill started the run. An approval is for what the approver read, and for nothing that replaced it since.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from approval_case import DENIED, ApprovalCase  # noqa: E402
from muster_cluster import wait_until  # noqa: E402

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

LIMITED = """  - name: roll
    batches: [1]
    script: '[ $MUSTER_HOST != h1 ]'
"""
JUDGED = """  - name: settle
    wait: 1h
  - name: judge
    script: exit 1
  - name: last
    script: 'true'
"""
BEHIND_A_FAILURE = """  - name: deploy
    script: touch {mark}
branches:
  - name: ask
    approve: {message: 'the check failed; go all the same?', not: starter}
    switch: {succeeded: deploy}
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

# The check ends when the file is there.
CONDITIONAL = """  - name: prepare
    script: 'true'
  - name: check
    script: while [ ! -e {mark}.go ]; do sleep 0.05; done; echo status=high >> $MUSTER_OUTPUT
  - name: ask
    when: stages.check.status == 'high'
    approve: {message: 'go?', not: starter}
  - name: deploy
    script: touch {mark}
"""

LOOP = """  - name: ask
    approve: {message: 'go?', not: starter}
  - name: deploy
    script: echo x >> {mark}; echo status=again >> $MUSTER_OUTPUT
    switch: {again: ask}
"""

GATE = """  - name: ask
    approve: {message: 'go?', not: starter}
"""

INNER_GATE = """  - name: roll
    stages:
      - name: gate
        job: {gate}
      - name: deploy
        script: touch {mark}
"""


class ApprovalBypass(ApprovalCase):
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
        self.assertCode(self.as_("mallory", "retry", run), DENIED)
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

    def test_retry_that_leaves_out_what_the_condition_looks_at(self):
        self.job(CONDITIONAL)
        run = self.start()
        wait_until("the check runs", lambda: self.state_of(run, "check") == "running")
        self.assertCode(self.as_("mallory", "skip", run, "check"), DENIED)
        self.assertCode(self.as_("mallory", "stop", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "ask", "--all-hosts"), DENIED)
        self.assertFalse(self.mark.exists(), "the stage behind the approval ran")
        for more in ((), ("--from", "check", "--all-hosts"), ("--from-start",)):
            self.assertCode(self.as_("mallory", "retry", run, *more), DENIED)
        self.mark.with_suffix(".mark.go").touch()
        self.assertCode(self.as_("bob", "retry", run, "--from", "check", "--all-hosts"), 0)
        self.waits(run)
        self.assertFalse(self.mark.exists())

    def test_condition_of_a_child_that_a_stage_of_the_parent_decides(self):
        self.job(CONDITIONAL.replace("stages.check.status", "params.risk")
                 .replace("while [ ! -e {mark}.go ]; do sleep 0.05; done", ":"), name=f"{self.name}-child",
                 more="params:\n  risk: {type: string}\n")
        self.job(f"""  - name: assess
    script: while [ ! -e {{mark}}.go ]; do sleep 0.05; done; echo status=high >> $MUSTER_OUTPUT
  - name: sub
    job:
      name: {self.name}-child
      params: {{risk: '${{{{ stages.assess.status }}}}'}}
""")
        run = self.start()
        wait_until("the assessment runs", lambda: self.state_of(run, "assess") == "running")
        self.assertCode(self.as_("mallory", "stop", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "sub", "--all-hosts"), DENIED)
        self.assertFalse(self.mark.exists(), "the stage behind the approval ran")

    def test_second_round_of_a_loop(self):
        self.job(LOOP)
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("bob", "approve", run), 0)
        wait_until("the first round is over", lambda: self.mark.exists())
        self.waits(run)
        self.assertCode(self.as_("bob", "reject", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "deploy", "--all-hosts"), DENIED)
        self.assertEqual(self.mark.read_text().split(), ["x"], "a second round ran")

    def test_version_whose_approval_never_asks(self):
        self.job(PLAIN)
        run = self.start("alice")
        self.waits(run)
        self.assertCode(self.as_("mallory", "pause", run), 0)
        for change in ("approve: {message: 'go?', not: starter}\n    when: \"false\"",
                       "approve: {message: 'go?', not: starter, timeout: 1s}\n    switch: {failed: deploy}"):
            self.job(PLAIN.replace("approve: {message: 'go?', not: starter}", change), who="mallory")
            self.assertCode(self.as_("mallory", "retry", run, "--version", "latest", "--from", "ask"), DENIED)
        self.assertStopped(run)

    def test_answer_to_what_was_replaced_since(self):
        self.job(PLAIN)
        run = self.start("alice")
        self.waits(run)
        shown = self.waiting(run)
        self.assertIn(f"muster approve {run} --approval {shown}", self.as_("bob", "show", run).text)
        self.assertCode(self.as_("mallory", "pause", run), 0)
        self.job(PLAIN.replace("touch", "touch -a"), who="mallory")
        self.assertCode(self.as_("mallory", "retry", run, "--version", "latest", "--from", "ask"), 0)
        self.waits(run)
        outcome = self.as_("bob", "approve", run, "--approval", shown)
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("changed since it was shown", outcome.complaint)
        self.assertStopped(run)
        self.assertCode(self.as_("bob", "approve", run, "--approval", self.waiting(run)), 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")

    def test_stop_or_rejection_of_a_gate_inside_a_stage(self):
        self.job(GATE, name=f"{self.name}-gate")
        self.job(INNER_GATE.replace("{gate}", f"{self.name}-gate"), targets="h1,h2")
        for who, verb in (("alice", "stop"), ("bob", "reject")):
            run = self.start()
            child = self.child_of(run)
            self.waits(child)
            self.assertCode(self.as_("mallory", "stop", child), DENIED)
            self.assertCode(self.as_(who, verb, child), 0)
            self.assertNotEqual(self.cluster.wait_end(run)["state"], "succeeded")
            self.assertFalse(self.mark.exists(), "the stage behind the gate ran")

    def test_finally_behind_an_approval_that_is_not_given(self):
        self.job("""  - name: work
    script: 'true'
finally:
  - name: ask
    approve: {message: 'go?', not: starter}
  - name: deploy
    script: touch {mark}
""")
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("bob", "reject", run), 0)
        self.cluster.wait_end(run)
        self.assertFalse(self.mark.exists(), "the stage behind the approval ran")

    def test_acts_that_decide_a_condition(self):
        self.job(CONDITIONAL, targets="h1,h2")
        run = self.start()
        wait_until("the check runs", lambda: self.state_of(run, "check") == "running")
        self.assertCode(self.as_("mallory", "set", run, "max_failures=100%"), DENIED)
        self.assertCode(self.as_("mallory", "stop", run, "--host", "h1", "--yes"), DENIED)
        self.assertCode(self.as_("mallory", "set", run, "concurrency=1"), 0)
        self.assertCode(self.as_("mallory", "stop", run), 0)
        self.cluster.wait_end(run)

    def test_acts_in_a_child_that_decide_a_condition_of_its_parent(self):
        child = f"{self.name}-child"
        for stages, act in ((LIMITED, "resume"), (JUDGED, "retry")):
            self.job(stages, name=child, targets="h1,h2")
            self.job(f"  - name: work\n    job: {child}\n    switch: {{failed: ask}}\n" + BEHIND_A_FAILURE, targets="h1,h2")
            run = self.start()
            below = self.child_of(run)
            if act == "resume":
                wait_until("the child is paused", lambda at=below: self.cluster.run_of(at)["state"] == "paused")
                self.assertCode(self.as_("mallory", "resume", below), DENIED)
                self.assertCode(self.as_("mallory", "pause", run), 0)
                self.assertCode(self.as_("mallory", "resume", run), 0)
                self.assertEqual(self.cluster.run_of(below)["state"], "paused")
            else:
                self.assertCode(self.as_("mallory", "pause", below), 0)
                self.assertCode(self.as_("mallory", "retry", below, "--from", "last"), DENIED)
            self.assertFalse(self.mark.exists())
            self.assertCode(self.as_("mallory", "stop", run), 0)
            self.cluster.wait_end(run)

    def test_version_of_a_child_that_was_approved_with_its_parent(self):
        child = f"{self.name}-child"
        self.job("  - name: work\n    script: 'false'\n", name=child)
        self.job(GATE + f"  - name: sub\n    job: {child}\n")
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("bob", "approve", run), 0)
        self.cluster.wait_end(run)
        self.job("  - name: work\n    script: touch {mark}\n", name=child, who="mallory")
        self.assertNotEqual(self.as_("mallory", "retry", self.child_of(run), "--version", "latest", "--from-start").code, 0)
        self.assertFalse(self.mark.exists())

    def test_order_of_a_graph(self):
        self.job("""  - name: look
    needs: []
    when: "false"
    script: 'true'
  - name: deploy
    needs: [ask]
    script: touch {mark}
  - name: ask
    needs: [look]
    approve: {message: 'go?', not: starter}
""")
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("mallory", "stop", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "look"), DENIED)
        self.assertCode(self.as_("bob", "retry", run, "--from", "look"), 0)
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

    def group(self, who, name, expression):
        file = self.cluster.folder / f"{name}.yaml"
        file.write_text(f"apiVersion: muster/v1\nkind: group\nname: {name}\ntargets: {expression}\n")
        self.assertCode(self.as_(who, "apply", "-f", file), 0)

    def test_group_that_another_ones_trigger_targets(self):
        """Who changes it chooses the hosts; also of a group in a group, and of one that is left out."""
        inner, outer, out = (f"{self.name}-{word}" for word in ("inner", "outer", "out"))
        self.group("alice", inner, "h1")
        self.group("alice", outer, f"'@{inner}'")
        self.group("alice", out, "h2")
        for changed, expression in ((inner, "h1,h2"), (outer, f"'@{inner},h3'"), (out, "h3")):
            self.job(PLAIN, targets=f"@{outer}")
            self.group("mallory", changed, expression)
            before = set(self.runs_of_job())
            self.trigger("alice", every="1s", overlap="skip", exclude=f"'@{out}'")
            run = wait_until("the trigger starts a run", lambda: set(self.runs_of_job()) - before).pop()
            self.assertCode(self.as_("alice", "delete", "trigger", self.name, "--yes"), 0)
            self.waits(run)
            self.assertCode(self.as_("mallory", "approve", run), DENIED)
            self.assertStopped(run)
            self.assertCode(self.as_("bob", "reject", run), 0)
            self.group("alice", changed, {inner: "h1", outer: f"'@{inner}'", out: "h2"}[changed])

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
