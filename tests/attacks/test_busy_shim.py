#!/usr/bin/env python3
"""A task's user keeps the shim that watches over the task so busy that it does not come to the task's timeout.

The user (`nobody`) starts thousands of processes that become children of the shim, and stops and continues some of them all
the time. Each of these changes is a signal to the shim, and each look at its children takes as long as there are many.
"""

import os
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

SECONDS = 200  # until the attack ends by itself
BOUND = 150  # until when the task must have ended

ATTACK = r"""
echo group=$$
trap '' TERM
i=0
while [ $i -lt 3000 ]; do (exec sleep SECONDS &); i=$((i+1)); done
i=0
while [ $i -lt 12 ]; do
  (perl -e '
    $SIG{TERM} = "IGNORE";
    my $child = fork();
    if (!$child) { sleep 1 while 1; }
    exit if fork();  # the child is the shim'"'"'s now
    my $end = time + SECONDS;
    while (time < $end) {
      for (1..200) {
        kill "STOP", $child; select(undef, undef, undef, 0.00001);
        kill "CONT", $child; select(undef, undef, undef, 0.00001);
      }
    }
    kill "KILL", $child;' &)
  i=$((i+1))
done
echo started
sleep SECONDS
""".replace("SECONDS", str(SECONDS))


class BusyShim(ClusterTest):
    hosts = ("h1",)

    def end_attack(self, run):
        for word in self.cluster.log_of(run, "h1").decode().split():
            if word.startswith("group="):
                try:
                    os.killpg(int(word.removeprefix("group=")), signal.SIGKILL)
                except ProcessLookupError:
                    pass  # as it should be

    def test_timeout_ends_the_task(self):
        run = self.cluster.start_run("-t", "h1", "--user", "nobody", "--timeout", "15s", "--grace", "1s", "--", ATTACK)
        self.addCleanup(self.end_attack, run)
        self.cluster.wait_end(run, BOUND)
        self.assertEqual(self.cluster.task_of(run, "h1")["state"], "timed_out")


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
