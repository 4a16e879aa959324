"""Root on one host (a compromised agent) uses an open pull to fill the server's disk with uploads.

It must not upload without a task that pulls, nor more than that task takes (max_bytes), neither in one file, nor in
many, nor in uploads that it never finishes.
"""

import hashlib
import http.client
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileAgent  # noqa: E402
from muster_cluster import DEADLINE, Answer, ClusterTest, wait_until  # noqa: E402

KIB = 1024
MOST = 1024 * KIB  # of the pull


class UploadAnything(ClusterTest):
    hosts = ("bad",)

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.cluster.agents["bad"].end()
        cls.cluster.wait_offline("bad")

    def setUp(self):
        self.data = self.cluster.agents["bad"].data
        self.agent = HostileAgent(self.cluster.agents["bad"])
        self.addCleanup(self.agent.socket.close)
        self.agent.hello()
        self.cluster.wait_online("bad")

    def put(self, content, headers=None):
        """An upload by the host's certificate."""
        context = self.cluster.tls()
        context.load_cert_chain(self.data / "agent.crt", self.data / "agent.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=context, timeout=DEADLINE)
        sha256 = hashlib.sha256(content).hexdigest()
        try:
            connection.request("PUT", f"/api/v1/artifacts/{sha256}", body=content, headers=headers or {})
            return Answer(connection.getresponse()).status
        finally:
            connection.close()

    def begin_pull(self):
        """A task of the host that takes files, which the host has been given and does not end."""
        started = self.cluster.http("POST", "/api/v1/runs", {
            "targets": "bad", "pull": {"paths": ["/etc/hostname"], "max_bytes": MOST}})
        self.assertEqual(started.status, 201, started)
        self.agent.order()
        run = started.json()["id"]
        self.addCleanup(self.cluster.muster, "stop", run)
        return run

    def kept(self):
        return sum(file.stat().st_size for file in (self.cluster.data / "artifacts").rglob("*") if file.is_file())

    def test_without_a_task_that_pulls(self):
        self.assertEqual(self.put(os.urandom(KIB)), 403)

    def test_one_file_larger_than_the_pull_takes(self):
        before = self.kept()
        self.begin_pull()
        self.assertEqual(self.put(os.urandom(MOST + 1)), 403)
        self.assertEqual(self.kept(), before)

    def test_many_files_that_are_more_together(self):
        before = self.kept()
        self.begin_pull()
        answers = [self.put(os.urandom(MOST // 4)) for _ in range(12)]
        self.assertEqual(answers, [201] * 4 + [403] * 8)
        self.assertLessEqual(self.kept() - before, MOST)

    def test_uploads_that_are_never_finished(self):
        before = self.kept()
        self.begin_pull()
        begun = MOST // 4
        headers = {"Content-Range": f"bytes 0-{begun - 1}/{MOST // 2}"}
        answers = [self.put(os.urandom(begun), headers) for _ in range(8)]
        self.assertEqual(answers, [202] * 2 + [403] * 6)
        self.assertLessEqual(self.kept() - before, MOST)

    def test_content_that_is_not_what_was_said_makes_room_again(self):
        before = self.kept()
        self.begin_pull()
        path = "/api/v1/artifacts/" + hashlib.sha256(b"another").hexdigest()
        context = self.cluster.tls()
        context.load_cert_chain(self.data / "agent.crt", self.data / "agent.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=context, timeout=DEADLINE)
        self.addCleanup(connection.close)
        connection.request("PUT", path, body=os.urandom(MOST))
        self.assertEqual(connection.getresponse().status, 400)
        self.assertEqual(self.kept(), before)
        # A file of an honest host may change while it is read: it is sent again under another hash.
        wait_until("the room is there again", lambda: self.put(os.urandom(MOST)) == 201)


if __name__ == "__main__":
    unittest.main()
