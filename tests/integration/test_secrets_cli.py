#!/usr/bin/env python3
"""`muster secrets`: where a value may come from, and what is sent. The API is a stand-in."""
import base64
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import BIN, DEADLINE  # noqa: E402
from terminal import AtTerminal  # noqa: E402


class Api(StubHandler):
    calls = []

    def serve(self):
        body = self.content().decode()
        self.calls.append((self.command, self.path, body))
        secret = {"name": "db", "version": 2, "by": "alice", "at": "2026-11-15T10:43:19.123Z"}
        self.answer(200, {"secrets": [secret]} if self.command == "GET" else secret)

    do_GET = do_PUT = do_DELETE = serve


class SecretsCommand(unittest.TestCase):
    def setUp(self):
        Api.calls = []
        self.environment = dict(os.environ, MUSTER_TOKEN="mst_test", MUSTER_SERVER=serve_stub(self, Api).url)

    def muster(self, *words, value=b""):
        return subprocess.run([str(BIN / "muster"), "secrets", *words], input=value, env=self.environment,
                              capture_output=True, timeout=DEADLINE)

    def sent(self):
        """The value of the only call that changes something."""
        self.assertEqual([call[0] for call in Api.calls if call[0] != "GET"], ["PUT"], Api.calls)
        method, path, body = Api.calls[-1]
        self.assertEqual((method, path), ("PUT", "/api/v1/secrets/db"))
        return base64.b64decode(json.loads(body)["value_base64"])

    def test_value_comes_from_stdin_without_its_line_end(self):
        done = self.muster("set", "db", value=b"hunter2\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sent(), b"hunter2")
        self.assertIn(b"replaced, version 2", done.stderr)
        self.assertNotIn(b"hunter2", done.stdout + done.stderr)

    def test_raw_keeps_every_byte(self):
        self.assertEqual(self.muster("set", "db", "--raw", value=b"\xffkey\r\n\n").returncode, 0)
        self.assertEqual(self.sent(), b"\xffkey\r\n\n")

    def test_value_on_the_command_line_is_refused_and_not_repeated(self):
        for words in (["set", "db", "hunter2"], ["set", "db", "--", "hunter2"]):
            done = self.muster(*words, value=b"hunter2")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertNotIn(b"hunter2", done.stderr)
        self.assertEqual(Api.calls, [])

    def test_bad_names_and_values_are_not_sent(self):
        for name, value in (("a b", b"hunter2"), ("db", b""), ("db", b"abc"), ("db", b"ab\0cd"),
                            ("db", b"x" * 70000)):
            done = self.muster("set", name, value=value)
            self.assertEqual(done.returncode, 2, (name, done.stderr))
        self.assertEqual(Api.calls, [])

    def test_terminal_needs_prompt(self):
        screen = AtTerminal(["secrets", "set", "db"], self.environment)
        screen.wait_for("--prompt")
        self.assertEqual(screen.process.wait(DEADLINE), 2)
        self.assertEqual(Api.calls, [])

    def test_prompt_asks_twice_without_echo(self):
        screen = AtTerminal(["secrets", "set", "db", "--prompt", "--yes"], self.environment)
        screen.wait_for("Value of db: ")
        screen.type("hunter2\n")
        shown = screen.wait_for("(?s).*Once more: ")[0]
        screen.type("hunter2\n")
        shown += screen.wait_for("(?s).*version 2")[0]
        self.assertNotIn("hunter2", shown)
        self.assertEqual(screen.process.wait(DEADLINE), 0)
        self.assertEqual(self.sent(), b"hunter2")

    def test_prompt_refuses_two_different_values(self):
        screen = AtTerminal(["secrets", "set", "db", "--prompt", "--yes"], self.environment)
        screen.wait_for("Value of db: ")
        screen.type("hunter2\n")
        screen.wait_for("Once more: ")
        screen.type("hunter3\n")
        screen.wait_for("not the same")
        self.assertEqual(screen.process.wait(DEADLINE), 2)
        self.assertNotIn("PUT", [call[0] for call in Api.calls])

    def test_prompt_needs_a_terminal(self):
        self.assertEqual(self.muster("set", "db", "--prompt", value=b"hunter2").returncode, 2)
        self.assertEqual(Api.calls, [])

    def test_list_and_rm(self):
        done = self.muster("list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"db +2 +.* +alice")
        self.assertEqual(self.muster("rm", "db").returncode, 0)
        self.assertEqual([call[:2] for call in Api.calls],
                         [("GET", "/api/v1/secrets"), ("GET", "/api/v1/secrets"), ("DELETE", "/api/v1/secrets/db")])
        self.assertEqual(self.muster("rm", "nosuch").returncode, 4)
        self.assertNotIn("DELETE", [call[0] for call in Api.calls[3:]])


if __name__ == "__main__":
    unittest.main()
