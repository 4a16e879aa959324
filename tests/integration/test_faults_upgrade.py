"""An agent replaced by a newer one while its scripts run."""

import os
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import BIN, ClusterTest  # noqa: E402


class Upgrade(ClusterTest):
    """The newer program is another file with the same code."""

    def setUp(self):
        self.cluster = self.new_cluster()
        self.program = self.cluster.folder / "muster-agent"
        shutil.copy(BIN / "muster-agent", self.program)
        self.agent = self.cluster.add_agent("h1", program=self.program)
        self.cluster.wait_online("h1")

    def runs_what_is_installed(self):
        return os.path.samefile(f"/proc/{self.agent.process.pid}/exe", self.program)

    def install(self):
        """As a package does it: the file is replaced, not written over."""
        newer = self.program.with_suffix(".new")
        shutil.copy(BIN / "muster-agent", newer)
        os.replace(newer, self.program)
        self.assertFalse(self.runs_what_is_installed())

    def restart(self, how):
        self.agent.end(how)
        self.cluster.wait_offline("h1")
        self.agent.start()
        self.cluster.wait_online("h1")
        self.assertTrue(self.runs_what_is_installed())

    def test_script_goes_on_under_the_newer_agent(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how=how):
                run = GatedRun(self.cluster, "h1")
                self.install()
                self.restart(how)
                self.assertEqual(self.cluster.wait_task(run.id, "h1", "running")["attempt"], 1)
                run.open_gate()
                run.assert_ended_once(self)

    def test_older_agent_works_until_its_restart(self):
        """Its own file is gone from under it; what it starts then goes on under the newer one too."""
        self.install()
        run = GatedRun(self.cluster, "h1")
        self.restart(signal.SIGTERM)
        run.open_gate()
        run.assert_ended_once(self)

    def test_newer_agent_can_stop_what_the_older_one_started(self):
        run = GatedRun(self.cluster, "h1")
        self.install()
        self.restart(signal.SIGTERM)
        self.assertCode(self.cluster.muster("kill", run.id), 0)
        self.assertCode(run.finish(), 1)
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"killed": 1})
        self.assertEqual(self.cluster.log_of(run.id, "h1"), b"begun\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
