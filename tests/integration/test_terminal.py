"""The helper `AtTerminal`: what it says was shown does not depend on where a read ends."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from terminal import AtTerminal  # noqa: E402

# Ends its writes inside a character and inside a line end, and goes on after a key.
CHILD = """
import os, sys, tty
tty.setraw(0)
for piece in (b"a \\xe2\\x80", b"\\xa6 b\\r", b"\\nc \\xc3", b"\\xa4\\r\\nend"):
    os.write(1, piece)
    os.read(0, 1)
"""


class Terminal(unittest.TestCase):
    def test_characters_and_line_ends_of_several_reads(self):
        terminal = AtTerminal(["-c", CHILD], dict(os.environ), program=sys.executable)
        self.addCleanup(terminal.close)
        for shown in ("a ", " b", "c "):
            terminal.wait_for(shown)
            terminal.type("x")
        self.assertEqual(terminal.wait_for("(?s)^.*end")[0], "ä\nend")
        terminal.type("x")
        self.assertEqual(terminal.finish(), (0, ""))


if __name__ == "__main__":
    unittest.main()
