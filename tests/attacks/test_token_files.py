#!/usr/bin/env python3
"""Local users and readers of a build's log get at an operator's token, or choose it.

A token file that others may write lets them decide as whom the operator acts, so it must not be used; one that others
may read must not be used without a word. A token in a file that is given to `muster apply` by mistake must not end up in
the error, which a build keeps in its log.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

USAGE = 2


class TokenFiles(ClusterTest):
    hosts = ("h1",)

    def setUp(self):
        self.token = self.cluster.token
        self.file = self.cluster.folder / "alice.token"
        self.file.write_text(self.token + "\n")

    def whoami(self, mode, by_option):
        self.file.chmod(mode)
        if by_option:
            return self.cluster.muster("--token-file", self.file, "whoami")
        return self.cluster.muster("whoami", environment={"MUSTER_TOKEN_FILE": str(self.file)})

    def test_modes(self):
        for by_option in (True, False):
            for mode in (0o620, 0o602, 0o666, 0o660):
                with self.subTest(mode=oct(mode), by_option=by_option):
                    outcome = self.whoami(mode, by_option)
                    self.assertCode(outcome, USAGE)
                    self.assertIn(f"chmod 600 {self.file}", outcome.complaint)
            for mode in (0o640, 0o644):
                with self.subTest(mode=oct(mode), by_option=by_option):
                    outcome = self.whoami(mode, by_option)
                    self.assertCode(outcome, 0)
                    self.assertIn(f"chmod 600 {self.file}", outcome.complaint)
            for mode in (0o600, 0o400):
                with self.subTest(mode=oct(mode), by_option=by_option):
                    outcome = self.whoami(mode, by_option)
                    self.assertCode(outcome, 0)
                    self.assertNotIn("chmod", outcome.complaint)

    def test_login_with_a_file_that_others_may_write(self):
        self.file.chmod(0o666)
        outcome = self.cluster.muster("login", self.cluster.url, "--ca", self.cluster.data / "ca.pem", "--token-file",
                                      self.file)
        self.assertCode(outcome, USAGE)

    def test_pipe_is_no_file_of_others(self):
        self.assertCode(self.cluster.muster("--token-file", "/dev/stdin", "whoami", stdin=self.token.encode()), 0)

    def test_empty_file_and_variable(self):
        self.file.chmod(0o600)
        self.file.write_text("\n")
        self.assertCode(self.cluster.muster("--token-file", self.file, "whoami"), USAGE)
        for name in ("MUSTER_TOKEN", "MUSTER_TOKEN_FILE"):
            outcome = self.cluster.muster("whoami", environment={name: ""})
            self.assertCode(outcome, USAGE)
            self.assertIn(name, outcome.complaint)

    def test_token_given_to_apply(self):
        for text in (f"{self.token}\n", f"kind: {self.token}\n", f"*{self.token}\n", f"- {self.token}\n",
                     f"token: {self.token}\n", f"kind: job\nname: *{self.token}\n"):
            with self.subTest(text=text.replace(self.token, "TOKEN")):
                file = self.cluster.folder / "wrong.yaml"
                file.write_text(text)
                outcome = self.cluster.muster("apply", "-f", file)
                self.assertNotEqual(outcome.code, 0)
                self.assertNotIn(self.token[:17], outcome.complaint)


if __name__ == "__main__":
    unittest.main()
