"""A run whose script ends when the test says so."""

import re
import tempfile
from pathlib import Path

from muster_cluster import alive, wait_until


class GatedRun:
    """A run on one host that says `begun`, waits for its gate to open, says `done` and leaves a mark.

    So the test decides on which side of a crash the script ends.
    """

    def __init__(self, cluster, host, *options):
        self.cluster, self.host = cluster, host
        place = Path(tempfile.mkdtemp(dir=cluster.folder, prefix="gated-"))
        self.gate, self.marks, self.starts = place / "gate", place / "marks", place / "starts"
        self.waiter = cluster.begin("run", "-t", host, *options, "--",
                                    f"echo $$ >> {self.starts}; echo begun; until test -e {self.gate}; do sleep 0.05; "
                                    f"done; echo done; echo x >> {self.marks}")
        wait_until("the script has begun", lambda: self.pids() and "begun" in self.waiter.said()[0])
        self.id = re.search(r"^run (r\S+) on ", self.waiter.said()[1], re.MULTILINE)[1]

    def pids(self):
        return [int(pid) for pid in self.starts.read_text().split()] if self.starts.exists() else []

    def open_gate(self):
        """Lets the script end, and waits until its processes are gone."""
        self.gate.touch()
        wait_until("the script has ended", lambda: not alive(self.pids()[0]))

    def finish(self):
        return self.waiter.finish()

    def assert_ended_once(self, test):
        """It succeeded in its first attempt, was executed once, and all it said is there."""
        outcome = self.finish()
        test.assertEqual((outcome.code, outcome.text), (0, "begun\ndone\n"), outcome)
        test.assertEqual(self.cluster.wait_end(self.id)["counts"], {"succeeded": 1})
        task = self.cluster.task_of(self.id, self.host)
        test.assertEqual((task["state"], task["exit_code"], task["attempt"]), ("succeeded", 0, 1))
        test.assertEqual(task["log"]["state"], "complete")
        test.assertEqual(self.cluster.log_of(self.id, self.host), b"begun\ndone\n")
        test.assertEqual(self.marks.read_text(), "x\n")
        test.assertEqual(len(self.pids()), 1)
        agent = self.cluster.agents[self.host]
        wait_until("the agent forgets the task", lambda: not agent.tasks())
