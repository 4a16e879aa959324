"""Long lists at a terminal: the pager that shows them, and the line under them."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from terminal import CONTROL_C, AtTerminal  # noqa: E402

TOKENS = 40  # a terminal has 30 rows
MANY = 3000  # hosts, more than a pipe holds

# Keeps Ctrl-C to itself, as less does, and ends with `q`.
KEEPS_KEYS = """import os, signal, sys, termios, tty
signal.signal(signal.SIGINT, signal.SIG_IGN)
keys = os.open("/dev/tty", os.O_RDWR)
before = termios.tcgetattr(keys)
tty.setcbreak(keys)
os.write(1, os.read(0, 200) + b"\\n<pager>\\n")
while os.read(keys, 1) != b"q":
    pass
termios.tcsetattr(keys, termios.TCSANOW, before)
"""

# Ends by Ctrl-C, as more does.
ENDS_BY_KEYS = """import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.write(1, b"<pager>\\n")
signal.pause()
"""


class Pager(ClusterTest):
    hosts = ("web1",)

    @classmethod
    def set_up_hosts(cls):
        for number in range(TOKENS):
            assert cls.cluster.muster("tokens", "create", f"token{number:02}", "--role", "viewer").code == 0
        many = "".join(f"many{number:04}\n" for number in range(MANY)).encode()
        assert cls.cluster.muster("hosts", "import", "-", stdin=many).code == 0

    def setUp(self):
        self.text = self.cluster.folder / f"{self.id()}.text"
        self.variables = self.cluster.folder / f"{self.id()}.env"

    def begin(self, *words, pager=None, without=(), **environment):
        """`pager`: None is one that keeps what it is given."""
        pager = f"env > {self.variables}; tee {self.text}" if pager is None else pager
        whole = {**self.cluster.environment(), "TERM": "xterm", "MUSTER_PAGER": pager, **environment}
        terminal = AtTerminal(words, {name: value for name, value in whole.items() if name not in without})
        self.addCleanup(terminal.close)
        return terminal

    def begin_in(self, program):
        """In a pager of this Python text."""
        script = self.cluster.folder / f"{self.id()}.py"
        script.write_text(program)
        terminal = self.begin("hosts", "--missing", pager=f"{sys.executable} {script}")
        terminal.wait_for("<pager>")
        return terminal

    def shown(self, *words, code=0, **more):
        got, text = self.begin(*words, **more).finish()
        self.assertEqual(got, code, text)
        return text

    def assertWhole(self, text):
        self.assertEqual(re.findall(r"token\d\d", text), [f"token{number:02}" for number in range(TOKENS)])
        self.assertRegex(text.splitlines()[-1], rf"^{TOKENS} tokens: {TOKENS} active$")

    def test_a_list_longer_than_the_terminal_goes_to_the_pager(self):
        text = self.shown("tokens", "list")
        self.assertEqual(text, self.text.read_text())
        self.assertWhole(text)

    def test_the_pager_gets_no_shell_and_no_token(self):
        token = (self.cluster.data / "admin.token").read_text().strip()
        self.shown("tokens", "list", MUSTER_TOKEN=token, LESSSECURE="0", without=["MUSTER_TOKEN_FILE", "LESS"])
        variables = dict(line.split("=", 1) for line in self.variables.read_text().splitlines())
        self.assertEqual((variables["LESSSECURE"], variables["LESS"]), ("1", "FRX"))
        self.assertNotIn("MUSTER_TOKEN", variables)
        self.assertNotIn(token, self.variables.read_text())

    def test_colours_go_to_the_pager(self):
        self.shown("tokens", "list", without=["NO_COLOR"])
        self.assertIn("\x1b[1mNAME", self.text.read_text())

    def test_which_lists_and_streams_have_none(self):
        for words, environment in ((["tokens", "list", "--no-pager"], {}), (["tokens", "list"], {"pager": ""}),
                                   (["tokens", "list"], {"pager": "cat"}), (["tokens", "list"], {"TERM": "dumb"}),
                                   (["tokens", "list"], {"without": ["TERM"]}), (["tokens", "list", "-o", "json"], {}),
                                   (["status"], {}), (["secrets", "list"], {})):
            with self.subTest(command=words, **environment):
                text = self.shown(*words, **environment)
                self.assertFalse(self.text.exists())
                if words == ["tokens", "list"]:
                    self.assertWhole(text)
        piped = self.cluster.muster("tokens", "list", environment={"TERM": "xterm", "MUSTER_PAGER": f"tee {self.text}"})
        self.assertCode(piped, 0)
        self.assertEqual((piped.complaint, self.text.exists()), ("", False))

    def test_a_live_list_has_none(self):
        terminal = self.begin("audit", "-n", "100", "-f")
        terminal.wait_for(f"many{MANY - 1}")
        terminal.type(CONTROL_C)
        self.assertEqual(terminal.finish()[0], -2)
        self.assertFalse(self.text.exists())

    def test_the_pager_is_chosen_as_git_does(self):
        self.shown("tokens", "list", PAGER="false")
        self.assertTrue(self.text.exists())
        self.text.unlink()
        self.shown("tokens", "list", PAGER=f"tee {self.text}", without=["MUSTER_PAGER"])
        self.assertTrue(self.text.exists())
        less = self.cluster.folder / "programs/less"
        less.parent.mkdir()
        less.write_text(f'#!/bin/sh\necho "$@" > {self.text}\nexec cat\n')
        less.chmod(0o755)
        self.assertWhole(self.shown("tokens", "list", PATH=f"{less.parent}:{os.environ['PATH']}",
                                    without=["MUSTER_PAGER", "PAGER"]))
        self.assertEqual(self.text.read_text(), "-FRX\n")

    def test_without_the_pager_the_list_is_printed(self):
        self.assertWhole(self.shown("tokens", "list", pager="/no/such/pager"))
        self.assertWhole(self.shown("tokens", "list", PATH=str(self.cluster.folder), without=["MUSTER_PAGER", "PAGER"]))

    def test_leaving_early_is_quiet(self):
        shown = self.shown("hosts", "--missing", pager="head -n 1")
        self.assertRegex(shown, r"^NAME [^\n]*\n$")

    def test_ctrl_c_belongs_to_the_pager(self):
        terminal = self.begin_in(KEEPS_KEYS)
        terminal.type(CONTROL_C)
        terminal.type("x")
        self.assertIsNone(terminal.process.poll())
        terminal.type("q")
        self.assertEqual(terminal.finish()[0], 0)

    def test_a_pager_that_ctrl_c_ends_ends_the_command(self):
        terminal = self.begin_in(ENDS_BY_KEYS)
        terminal.type(CONTROL_C)
        code, shown = terminal.finish()
        self.assertEqual((code, shown.replace("^C", "").strip()), (130, ""))

    def test_lists_have_a_summary(self):
        for words, summary in ((["hosts", "--missing"], f"{MANY:,} hosts missing"), (["hosts"], "0 hosts"), (["runs"], "0 runs"),
                               (["triggers"], "0 triggers"), (["secrets", "list"], "0 secrets"), (["get", "groups"], "0 groups"),
                               (["tokens", "list"], f"{TOKENS} tokens: {TOKENS} active")):
            with self.subTest(command=words):
                self.assertEqual(self.shown(*words, pager="").splitlines()[-1], summary)
                self.assertNotIn(summary, self.shown(*words, "-q", pager=""))


if __name__ == "__main__":
    unittest.main()
