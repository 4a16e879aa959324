#!/usr/bin/env python3
"""Attacker: holder of a leaked join token of a server, who uses it first.

The server that used a token is answered again, as it may have lost the answer. That must be seen, can be taken away, and
never brings keys that were changed after the theft.
"""

import base64
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest  # noqa: E402


class UsedServerToken(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster()
        self.key = bytes(range(1, 33))
        self.token = self.cluster.http("POST", "/api/v1/servers/invites", {"name": "s2"}).json()["token"]
        self.assertEqual(self.join(), 201)

    def join(self, key=None, name="s2"):
        body = {"token": self.token, "name": name, "box_key": base64.b64encode(key or self.key).decode()}
        return self.cluster.http("POST", "/api/v1/servers/join", body, token=None).status

    def test_only_the_same_server_is_answered_again(self):
        self.assertEqual(self.join(os.urandom(32)), 403)
        self.assertEqual(self.join(name="s3"), 403)
        self.assertEqual(self.join(), 201)

    def test_it_is_listed_and_revoked(self):
        [invite] = self.cluster.get("/invites")["invites"]
        self.assertEqual((invite["joined"], invite["uses_left"]), ("s2", 0))
        self.assertIn("s2", self.cluster.muster("invites").text)
        self.assertCode(self.cluster.muster("invites", "revoke", stdin=self.token.encode()), 0)
        self.assertEqual(self.join(), 403)
        self.cluster.restart_server()
        self.assertEqual(self.join(), 403)
        self.assertEqual(self.cluster.get("/invites")["invites"], [])

    def test_changed_keys_are_not_given(self):
        self.cluster.server.end()
        for words in (("add", "--force"), ("use", "--force", "--yes"), ("drop", "--force", "--yes")):
            changed = subprocess.run([BIN / "musterd", "ca", *words, "--data", self.cluster.data], capture_output=True)
            self.assertEqual(changed.returncode, 0, changed)
        self.cluster.start_server()
        self.assertEqual(self.join(), 403)

    def test_a_key_that_nothing_can_be_sealed_for_uses_nothing_up(self):
        self.token = self.cluster.http("POST", "/api/v1/servers/invites", {"name": "s2"}).json()["token"]
        self.assertEqual(self.join(bytes(32)), 400)
        self.assertEqual(self.join(), 201)


if __name__ == "__main__":
    unittest.main()
