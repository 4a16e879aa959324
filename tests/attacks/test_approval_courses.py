#!/usr/bin/env python3
"""An operator who started a run goes around its approval where the run does not follow the order of its list.

The attacker holds an operator's token (mallory) and a job with a graph, a loop, a branch or a child, whose approval is
`not: starter`. They must not get the stage behind the approval to run without another person: not by a stop and a retry
that begins beside the check, behind a branch or with no host left, and not by an act in a child. A stage whose child is at
work is not skipped, and a child runs on no more hosts than its job may.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from approval_case import DENIED, ApprovalCase  # noqa: E402
from muster_cluster import wait_until  # noqa: E402

CONFLICT = 1
WORK = "  - name: work\n    script: echo x >> {mark}\n"

# Each check goes on when its file is there.
HOLD = "while [ ! -e {mark}.go ]; do sleep 0.05; done"

# The wait is short, so that a pass that begins with it comes to its end.
BESIDE = """  - name: cool
    needs: []
    wait: 1s
  - name: check
    needs: []
    script: HOLD; echo status=high >> $MUSTER_OUTPUT
  - name: ask
    needs: [cool, check]
    when: stages.check.status == 'high'
    approve: {message: 'go?', not: starter}
  - name: deploy
    needs: [ask]
    hosts: all
    job: {child}
""".replace("HOLD", HOLD)

LOOP = """  - name: check
    script: "[ ! -e {mark} ] || sleep 600"
  - name: ask
    approve: {message: 'round?', not: starter}
  - name: deploy
    hosts: all
    job: {child}
    switch: {succeeded: check}
"""

REPAIRED = """  - name: probe
    script: HOLD; echo status=odd >> $MUSTER_OUTPUT
    switch: {odd: fix}
  - name: recheck
    script: "[ ! -e {mark}.fixed ] || echo status=high >> $MUSTER_OUTPUT"
  - name: ask
    when: stages.recheck.status == 'high'
    approve: {message: 'go?', not: starter}
  - name: deploy
    script: touch {mark}
branches:
  - name: fix
    script: "touch {mark}.fixed; [ ! -e {mark}.slow ] || sleep 600"
    switch: {default: recheck}
""".replace("HOLD", HOLD)

JUDGED = """  - name: cool
    needs: []
    wait: 1h
  - name: judge
    needs: []
    script: exit 1
  - name: last
    needs: [cool, judge]
    script: 'true'
"""
PARENT = """  - name: sub
    job: {child}
    switch: {failed: ask}
  - name: deploy
    script: touch {mark}
branches:
  - name: ask
    approve: {message: 'the check failed; go all the same?', not: starter}
    switch: {succeeded: deploy}
"""


class ApprovalCourses(ApprovalCase):
    def with_child(self, stages, child=WORK, **more):
        self.job(child, name=f"{self.name}-child", **more)
        self.job(stages.replace("{child}", f"{self.name}-child"))

    def wait_stage(self, run, stage, *states):
        wait_until(f"{stage} of {run} is {states}", lambda: self.state_of(run, stage) in states)

    def go(self):
        Path(f"{self.mark}.go").touch()

    def stop(self, run):
        self.assertCode(self.as_("mallory", "stop", run, "--yes"), 0)
        self.cluster.wait_end(run)

    def test_graph_that_begins_beside_the_check(self):
        self.with_child(BESIDE)
        run = self.start()
        self.wait_stage(run, "check", "running")
        self.stop(run)
        self.go()
        self.assertCode(self.as_("mallory", "retry", run), DENIED)
        self.assertCode(self.as_("bob", "retry", run), 0)
        self.assertStopped(run)

    def test_check_that_failed_beside_a_wait(self):
        self.with_child(BESIDE.replace("wait: 1s", "wait: 1h").replace("echo status=high >> $MUSTER_OUTPUT", "exit 1"))
        self.go()
        run = self.start()
        self.wait_stage(run, "check", "failed")
        self.assertCode(self.as_("mallory", "skip", run, "cool"), DENIED)
        self.stop(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "cool"), DENIED)

    def test_loop_with_nobody_left(self):
        self.with_child(LOOP)
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("bob", "approve", run), 0)
        wait_until("the first round is over", lambda: self.mark.exists() and self.state_of(run, "check") == "running")
        self.stop(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "deploy"), DENIED)
        self.assertEqual(self.mark.read_text().split(), ["x"], "a second round ran")

    def test_skipped_branch_that_runs_before_the_check(self):
        self.job(REPAIRED)
        run = self.start()
        self.wait_stage(run, "probe", "running")
        self.assertCode(self.as_("mallory", "skip", run, "fix"), DENIED)
        self.go()
        self.assertStopped(run)

    def test_stopped_branch_that_runs_before_the_check(self):
        Path(f"{self.mark}.slow").touch()
        self.go()
        self.job(REPAIRED)
        run = self.start()
        self.wait_stage(run, "fix", "running")
        self.stop(run)
        Path(f"{self.mark}.fixed").unlink(missing_ok=True)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "recheck", "--all-hosts"), DENIED)
        self.assertFalse(self.mark.exists(), "the stage behind the approval ran")

    def test_plain_retry_of_a_child(self):
        self.with_child(PARENT, child=JUDGED)
        run = self.start()
        child = self.child_of(run)
        self.wait_stage(child, "judge", "failed")
        self.assertCode(self.as_("mallory", "pause", child), 0)
        self.assertCode(self.as_("mallory", "retry", child), DENIED)
        self.assertFalse(self.mark.exists(), "the stage behind the approval ran")

    def test_skip_of_a_stage_whose_child_works(self):
        self.with_child("  - name: sub\n    job: {child}\n  - name: next\n    wait: 1h\n",
                        child="  - name: work\n    script: touch {mark}; sleep 600\n")
        run = self.start()
        child = self.child_of(run)
        wait_until("the child works", self.mark.exists)
        self.assertCode(self.as_("mallory", "skip", run, "sub"), CONFLICT)
        self.stop(run)
        self.assertEqual(self.cluster.run_of(child)["state"], "cancelled", "the stop reaches the child")

    def test_hosts_of_a_child(self):
        self.job(WORK, name=f"{self.name}-child", more="max_hosts: 1\n")
        self.job(f"  - name: sub\n    job: {self.name}-child\n", targets="h1,h2")
        run = self.start()
        self.cluster.wait_end(run)
        self.assertEqual(self.cluster.run_of(run)["state"], "failed")
        self.assertFalse(self.mark.exists(), "the child ran on more hosts than its job may")


if __name__ == "__main__":
    unittest.main()
