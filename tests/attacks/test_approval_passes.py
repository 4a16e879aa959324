#!/usr/bin/env python3
"""An operator who started a run leads it past its approval by what a pass keeps of earlier ones.

The attacker holds an operator's token (mallory); the approval is `not: starter`. They must not get the stage behind the approval
to run: not by a limit that outlives its pass, a check that is repeated on fewer hosts or only in the first pass, another version
between batches, or a child that an earlier pass started. A host of the run must not report how a stage ended.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from approval_case import DENIED, ApprovalCase  # noqa: E402
from muster_cluster import wait_until  # noqa: E402

LIMIT = """  - name: check
    script: '[ $MUSTER_HOST != h1 ]'
    switch: {failed: ask, succeeded: deploy}
  - name: ask
    approve: {message: 'the check failed; go all the same?', not: starter}
  - name: deploy
    script: touch {mark}
"""

# h1 says high; the others are still at it when the run is stopped.
PARTIAL = """  - name: check
    script: |
      if [ $MUSTER_HOST = h1 ]; then echo status=high >> $MUSTER_OUTPUT; touch {mark}.h1
      else [ -e {mark}.go ] || sleep 600; fi
  - name: ask
    when: stages.check.status == 'high'
    approve: {message: 'go?', not: starter}
  - name: deploy
    script: touch {mark}
"""

# h1 dropped out before the check, and says high.
FEWER = """  - name: probe
    script: '[ $MUSTER_HOST != h1 ]'
    max_failures: 1
  - name: check
    hosts: all
    script: "if [ $MUSTER_HOST = h1 ]; then echo status=high >> $MUSTER_OUTPUT; fi"
  - name: ask
    when: stages.check.status == 'high'
    approve: {message: 'go?', not: starter}
  - name: deploy
    hosts: all
    script: touch {mark}
"""

BETWEEN = """  - name: roll
    script: "WORK"
    batches: [1]
    max_failures: 100%
    between:
      approve: {message: 'next?', not: starter}
"""

# How often it is asked between batches follows from how many hosts are left.
CUTOVER = """  - name: check
    script: "if [ $MUSTER_HOST != h1 ]; then [ -e {mark}.go ] || sleep 600; fi"
  - name: roll
    ROLL
    script: "true"
    batches: [1]
    between:
      approve: {message: 'next?', not: starter}
  - name: cutover
    hosts: all
    script: touch {mark}
"""

IN_TIME = """  - name: ask
    approve: {message: 'go?', not: starter, timeout: TIMEOUT}
    SWITCH
  - name: deploy
    script: touch {mark}
branches:
  - name: go
    script: touch {mark}
"""

FIRST_PASS = """  - name: check
    when: run.pass == '1'
    script: echo status=high >> $MUSTER_OUTPUT
  - name: ask
    when: stages.check.status == 'high'
    approve: {message: 'go?', not: starter}
  - name: deploy
    script: touch {mark}
"""

CHILD = """  - name: ask
    approve: {message: 'go?', not: starter}
  - name: deploy
    job: {child}
"""

# The honest hosts fail in the check, so a person is asked.
OUTCOME = """  - name: check
    script: "case $MUSTER_HOST in h2) echo status=WORD >> $MUSTER_OUTPUT ;; *) exit 1 ;; esac"
    switch: {succeeded: deploy, failed: ask, default: deploy}
  - name: ask
    approve: {message: 'the check failed; go all the same?', not: starter}
  - name: deploy
    hosts: all
    script: touch {mark}
"""


class ApprovalPasses(ApprovalCase):
    def pause(self, run):
        self.assertCode(self.as_("mallory", "pause", run), 0)

    def asked_after(self, run, batch):
        """The id of the approval that waits behind this batch; ids begin with visit and batch."""
        ids = [visit["approval"] for visit in self.cluster.get(f"/runs/{run}/visits")["visits"] if visit["approval"]]
        return next((one for one in ids if one.split("-")[1] == str(batch)), None)

    def test_fewer_hosts_and_so_no_batch_to_ask_behind(self):
        for roll in ("hosts: ok", "hosts: all"):
            with self.subTest(roll):
                self.job(CUTOVER.replace("ROLL", roll), targets="h1,h2,h3")
                run = self.start()
                self.assertCode(self.as_("mallory", "set", run, "max_failures=100%"), DENIED)
                for host in ("h2", "h3"):
                    self.assertCode(self.as_("mallory", "stop", run, "--host", host, "--yes"), DENIED)
                self.assertCode(self.as_("mallory", "stop", run, "--yes"), 0)
                self.cluster.wait_end(run)
                self.assertCode(self.as_("mallory", "retry", run, "--from", "roll"), DENIED)
                self.assertFalse(self.mark.exists())

    def test_version_in_which_silence_leads_on(self):
        self.job(IN_TIME.replace("TIMEOUT", "1h").replace("SWITCH", ""))
        run = self.start()
        self.waits(run)
        self.pause(run)
        self.job(IN_TIME.replace("TIMEOUT", "1s").replace("SWITCH", "switch: {failed: go}"), who="mallory")
        self.assertCode(self.as_("mallory", "retry", run, "--from-start", "--version", "latest"), DENIED)
        self.assertStopped(run)

    def test_limit_that_outlives_its_pass(self):
        self.job(LIMIT, targets="h1,h2,h3")
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("mallory", "set", run, "max_failures=100%"), DENIED)
        self.pause(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from-start"), DENIED)
        self.assertStopped(run)

    def test_check_that_is_repeated_on_the_other_hosts(self):
        self.job(PARTIAL, targets="h1,h2,h3")
        run = self.start()
        wait_until("h1 is checked", Path(f"{self.mark}.h1").exists)
        self.assertCode(self.as_("mallory", "stop", run, "--yes"), 0)
        self.cluster.wait_end(run)
        Path(f"{self.mark}.go").touch()
        self.assertCode(self.as_("mallory", "retry", run), DENIED)
        self.assertFalse(self.mark.exists())

    def test_check_that_is_repeated_without_a_host_that_dropped_out(self):
        self.job(FEWER, targets="h1,h2,h3")
        run = self.start()
        self.waits(run)
        self.pause(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from", "check"), DENIED)
        self.assertStopped(run)

    def test_other_version_between_batches(self):
        self.job(BETWEEN.replace("WORK", "exit 1"), targets="h1,h2,h3")
        run = self.start()
        for batch in (1, 2):
            asked = wait_until(f"batch {batch} is asked for", lambda at=batch: self.asked_after(run, at))
            self.assertCode(self.as_("bob", "approve", run, "--approval", asked), 0)
        self.cluster.wait_end(run)
        self.job(BETWEEN.replace("WORK", "touch {mark}"), targets="h1,h2,h3", who="mallory")
        for more in ((), ("--from", "roll"), ("--from-start",)):
            self.assertCode(self.as_("mallory", "retry", run, "--version", "latest", *more), DENIED)
        self.assertFalse(self.mark.exists())

    def test_check_of_the_first_pass_only(self):
        self.job(FIRST_PASS)
        run = self.start()
        self.waits(run)
        self.pause(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from-start"), DENIED)
        self.assertStopped(run)

    def test_child_of_an_earlier_pass(self):
        child = f"{self.name}-child"
        self.job("  - name: work\n    script: echo x >> {mark}\n", name=child)
        self.job(CHILD.replace("{child}", child))
        run = self.start()
        self.waits(run)
        self.assertCode(self.as_("bob", "approve", run), 0)
        below = self.child_of(run)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", run, "--from-start"), 0)
        self.waits(run)
        self.assertCode(self.as_("bob", "reject", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.as_("mallory", "retry", below, "--from-start"), DENIED)
        self.assertEqual(self.mark.read_text().split(), ["x"], "it ran again behind a rejected approval")

    def test_host_that_reports_how_a_stage_ended(self):
        for word in ("succeeded", "default"):
            self.job(OUTCOME.replace("WORD", word), targets="h1,h2,h3")
            run = self.start()
            self.waits(run)
            self.assertStopped(run)
            self.assertCode(self.as_("mallory", "stop", run, "--yes"), 0)
            self.cluster.wait_end(run)


if __name__ == "__main__":
    unittest.main()
