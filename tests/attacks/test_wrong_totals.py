#!/usr/bin/env python3
"""Attacker: root on one host. He tells the totals of a task's output again and again, right or wrong.

To prove totals the server may have to read the output back. That must not keep it from the output of other hosts.
"""

import hashlib
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileTest  # noqa: E402
from protobuf import field  # noqa: E402

PIECE = 512 << 10
OUTPUT = 16 << 20
REPORTS = 9_000  # in a frame, which may have 10,000


class WrongTotals(HostileTest):
    def flood(self, sha256_of):
        """A frame of reports, all with the totals of one task."""
        self.connect()
        _, key = self.start({"command": {"argv": ["sleep", "1000"]}})
        data = os.urandom(OUTPUT)
        for at in range(0, OUTPUT, PIECE):
            self.assertTrue(self.agent.send_output(key, at, data[at:at + PIECE]))
        totals = field(1, OUTPUT) + field(4, sha256_of(data))
        self.agent.frame(field(1, self.agent.session) + field(5, field(1, key) + field(2, 4) + field(4, totals)) * REPORTS)
        outcome = self.cluster.muster("run", "-t", "good", "--", "echo", "served")
        self.assertCode(outcome, 0)
        self.assertIn(b"served", outcome.out)
        self.agent.socket.close()
        self.cluster.wait_offline("bad")

    def test_wrong_totals(self):
        self.flood(lambda data: b"x" * 32)

    def test_right_totals_again_and_again(self):
        self.flood(lambda data: hashlib.sha256(data).digest())


if __name__ == "__main__":
    unittest.main()
