#!/usr/bin/env python3
"""An operator who may only be `nobody` lets the kernel's audit take a task for another person.

The kernel writes down with each event who logged in, as a number that every process inherits (`/proc/self/loginuid`). A
service has none, and the first process that wants one may choose it: a task must not be that process.
"""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from swapper import NOBODY  # noqa: E402

LOGIN = Path("/proc/self/loginuid")


def may_be_set():
    """Whether a process of root may set its own here; tried in a child, as it stays."""
    child = os.fork()
    if child == 0:
        try:
            LOGIN.write_text("0")
            os._exit(0 if LOGIN.read_text() == "0" else 1)
        except OSError:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


@unittest.skipUnless(may_be_set(), "there is no /proc/self/loginuid here, or it may not be set")
class LoginUid(ClusterTest):
    hosts = ("h1",)

    def task(self, user, script):
        run = self.cluster.start_run("-t", "h1", "--user", user, "--", script)
        self.cluster.wait_end(run)
        return self.cluster.log_of(run, "h1", "stdout").decode().split()

    def test_is_that_of_the_tasks_user_and_stays(self):
        for user, number in (("nobody", NOBODY), ("root", 0)):
            self.assertEqual(self.task(user, f"cat {LOGIN}"), [str(number)], user)
        self.assertEqual(self.task("nobody", "echo 1000 > /proc/$$/loginuid; cat /proc/$$/loginuid"), [str(NOBODY)])


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
