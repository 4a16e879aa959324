"""Root on one host (a compromised agent) sends output that was not asked for, to fill the server's disk.

It must not get a byte stored for a task that does not exist or whose output is complete, and of a task that it was
given no more than the task's quota, however it cuts the output into pieces.
"""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileTest, chunk, task_key  # noqa: E402

MIB = 1 << 20
FLOOD = 32 * MIB
BOUND = 4 * MIB  # far above what records and an empty day of logs take


def kept(folder):
    """Bytes on disk."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


class InventedOutput(HostileTest):
    @classmethod
    def before_the_end(cls):
        cls.ended = cls.cluster.start_run("-t", "bad", "--", "echo", "a line")
        cls.cluster.wait_end(cls.ended)

    def setUp(self):
        self.link()
        self.before = kept(self.cluster.data)

    def grown(self):
        return kept(self.cluster.data) - self.before

    def flood(self, key):
        """Sends output that cannot be compressed, as fast as it is acknowledged, until the link is closed."""
        for offset in range(0, FLOOD, MIB):
            if not self.agent.send_output(key, offset, os.urandom(MIB)):
                return

    def check(self):
        self.assertLess(self.grown(), BOUND)
        run = self.cluster.muster("run", "-t", "good", "--", "echo", "served")
        self.assertCode(run, 0)

    def test_of_a_run_that_does_not_exist(self):
        host = self.agent.hello()
        key = task_key(999_999, host)
        self.agent.hello([key])
        self.flood(key)
        self.check()

    def test_of_a_task_whose_output_is_complete(self):
        host = self.agent.hello()
        key = task_key(int(self.ended.removeprefix("r")), host)
        self.agent.hello([key])
        self.flood(key)
        self.check()
        self.assertEqual(self.cluster.log_of(self.ended, "bad"), b"a line\n")

    def test_of_a_task_it_holds_in_pieces_that_overlap(self):
        quota = MIB // 2
        self.agent.hello()
        self.cluster.wait_online("bad")
        _, key = self.start({"command": {"argv": ["sleep", "1000"]}, "max_output": quota})
        size, step, count = 8192, 64, 400
        # Each piece begins a little after the one before it, so a frame of megabytes holds kilobytes of output.
        for begin in range(0, quota - count * step - size, count * step):
            pieces = [chunk(key, begin + number * step, os.urandom(size)) for number in range(count)]
            try:
                self.agent.frame(b"".join(pieces))
                self.agent.await_field(7, lambda _: True)
            except ConnectionError:
                break
        self.check()


if __name__ == "__main__":
    unittest.main()
