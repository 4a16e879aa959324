"""Root on one host (a compromised agent) uses an open pull to fill the server's disk with uploads.

It must not upload without a task that pulls, nor more than that task takes (max_bytes), neither in one file, nor in
many, nor in uploads that it never finishes, nor with other bytes under the hash of a file that is kept.
"""

import http.client
import os
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileTest, path_of  # noqa: E402
from muster_cluster import wait_until  # noqa: E402
from muster_processes import DEADLINE  # noqa: E402
from protobuf import field  # noqa: E402

KIB = 1024
MOST = 1024 * KIB  # of the pull
REMEMBERED = 20_000  # files of hosts, by a server


class UploadAnything(HostileTest):
    hosts = ("bad",)

    def setUp(self):
        self.connect()

    def put(self, content, headers=None):
        """An upload by the host's certificate."""
        return self.ask("PUT", path_of(content), content, headers).status

    def begin_pull(self):
        """A task of the host that takes files, which the host has been given and does not end."""
        self.start({"pull": {"paths": ["/etc/hostname"], "max_bytes": MOST}})

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
        self.assertEqual(self.ask("PUT", path_of(b"another"), os.urandom(MOST)).status, 400)
        self.assertEqual(self.kept(), before)
        # A file of an honest host may change while it is read: it is sent again under another hash.
        wait_until("the room is there again", lambda: self.put(os.urandom(MOST)) == 201)

    def test_other_bytes_under_the_hash_of_what_was_kept(self):
        """The server remembers the latest files of hosts, so that they need not be sent again; what it forgot is taken
        once more. Other bytes under such a hash must not make room, as the file stays."""
        before = self.kept()
        self.begin_pull()
        first = os.urandom(MOST // 2)
        self.assertEqual(self.put(first), 201)
        self.put_tiny_files(REMEMBERED + 10)
        self.assertEqual(self.ask("PUT", path_of(first), os.urandom(len(first))).status, 400)
        self.assertEqual(self.put(os.urandom(MOST // 2)), 403)
        self.assertLessEqual(self.kept() - before, MOST)

    def put_tiny_files(self, count):
        with ThreadPoolExecutor(6) as pool:
            parts = [pool.submit(self.put_numbers, range(first, count, 6)) for first in range(6)]
            while not all(part.done() for part in parts):
                self.agent.frame(field(3, field(1, 1)))  # a beat: the host is still there
                wait(parts, timeout=1)
        for part in parts:
            self.assertEqual(part.result(), {201})

    def put_numbers(self, numbers):
        """Each as a file of its own; all answers."""
        context = self.cluster.tls()
        context.load_cert_chain(self.bad.data / "agent.crt", self.bad.data / "agent.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=context, timeout=DEADLINE)
        answers = set()
        for number in numbers:
            content = number.to_bytes(4, "big")
            connection.request("PUT", path_of(content), body=content)
            answer = connection.getresponse()
            answer.read()
            answers.add(answer.status)
        connection.close()
        return answers


if __name__ == "__main__":
    unittest.main()
