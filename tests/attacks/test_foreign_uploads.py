"""Root on one host (a compromised agent) knows the hash of a content, and has an open pull that lets it upload.

It must not hold up another host's pull or an operator's upload of that content, by an upload that it begins and does
not finish, or fills with something else. And it must not learn which contents the server has: it is answered the same
for what is there and what is not, unless a task of its own names it.
"""

import hashlib
import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileTest, Wire, path_of  # noqa: E402
from muster_cluster import wait_until  # noqa: E402

KIB = 1024


class ForeignUploads(HostileTest):
    def setUp(self):
        self.connect()
        self.here = self.cluster.folder / f"here-{self._testMethodName}"
        self.here.mkdir()
        self.content = os.urandom(64 * KIB)
        (self.here / "file").write_bytes(self.content)

    def begin_pull(self):
        self.start({"pull": {"paths": ["/etc/hostname"]}})

    def ask_for(self, method, content, body=None, headers=None):
        """A call by the host's certificate; the body is sent for the hash of the content."""
        return self.ask(method, path_of(content), body, headers)

    def uploads(self):
        return list((self.cluster.data / "artifacts").rglob("*.part"))

    def hold(self, content, sent):
        """Begins an upload of the content, sends something, and keeps the connection open."""
        before = len(self.uploads())
        wire = Wire(self.cluster, self.bad.data)
        self.addCleanup(wire.socket.close)
        wire.socket.sendall(f"PUT {path_of(content)} HTTP/1.1\r\nHost: x\r\n"
                            f"Content-Length: {len(content)}\r\n\r\n".encode() + sent)
        wait_until("the upload is under way", lambda: len(self.uploads()) > before)

    def test_an_operator_copies_what_it_holds(self):
        self.begin_pull()
        self.hold(self.content, b"x")
        there = self.here / "there"
        self.assertCode(self.cluster.muster("cp", "-t", "good", self.here / "file", there), 0)
        self.assertEqual(there.read_bytes(), self.content)

    def test_another_host_sends_what_it_holds(self):
        self.begin_pull()
        self.hold(self.content, b"x")
        got = self.here / "got"
        self.assertCode(self.cluster.muster("fetch", "-t", "good", self.here / "file", got), 0)
        self.assertEqual((got / "good" / str(self.here / "file").lstrip("/")).read_bytes(), self.content)

    def test_nobody_goes_on_with_what_it_left(self):
        self.begin_pull()
        headers = {"Content-Range": f"bytes 0-{KIB - 1}/{len(self.content)}"}
        self.assertEqual(self.ask_for("PUT", self.content, os.urandom(KIB), headers).status, 202)
        asked = self.cluster.http("HEAD", path_of(self.content))
        self.assertEqual((asked.status, asked.headers["Muster-Upload-Offset"]), (404, "0"))
        there = self.here / "there"
        self.assertCode(self.cluster.muster("cp", "-t", "good", self.here / "file", there), 0)
        self.assertEqual(there.read_bytes(), self.content)
        # Its own it may go on with, as an honest host does after a cut.
        self.assertEqual(self.ask_for("HEAD", self.content).headers["Muster-Upload-Offset"], str(KIB))

    def test_it_does_not_learn_what_is_there(self):
        self.assertEqual(self.cluster.http("PUT", path_of(self.content), body=self.content).status, 201)
        missing = os.urandom(64 * KIB)
        part = {"Content-Range": f"bytes 0-{KIB - 1}/{len(missing)}"}

        elsewhere = {"Content-Range": f"bytes 5-9/{len(missing)}"}

        def answers(content):
            """What the host can tell apart, all but what is different in any two answers."""
            told = []
            for answer in (self.ask_for("HEAD", content), self.ask_for("GET", content),
                           self.ask_for("PUT", content, content[:KIB], part), self.ask_for("HEAD", content),
                           self.ask_for("PUT", content, content[:5], elsewhere)):
                text = answer.body.decode().replace(hashlib.sha256(content).hexdigest(), "HASH")
                told.append((answer.status, answer.headers.get("Muster-Upload-Offset"),
                             re.sub(r'"request_id":"[^"]*"', "", text)))
            return told

        self.assertEqual(answers(self.content), answers(missing))
        self.begin_pull()
        found = answers(self.content)
        self.assertEqual(found, answers(missing))
        self.assertEqual([answer[0] for answer in found], [404, 404, 202, 404, 409])
        # A host that has a content may send it, and is told no more.
        self.assertEqual(self.ask_for("PUT", self.content, self.content).status, 201)
        self.assertEqual(self.ask_for("HEAD", self.content).status, 200)
        self.assertEqual(self.ask_for("GET", self.content).status, 404)


if __name__ == "__main__":
    unittest.main()
