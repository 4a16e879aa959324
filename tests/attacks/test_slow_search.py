"""Viewers look for expressions that are slow on a very long line, in as many searches as there may be.

They must not keep others from calling the API: every other call is still answered while they go on.
"""

import select
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

SEARCHES = 4


class SlowSearch(ClusterTest):
    hosts = ("h1",)

    def search(self, run, token):
        """The connection of a search that has begun."""
        link = socket.create_connection(("127.0.0.1", self.cluster.port), timeout=60)
        self.addCleanup(link.close)
        link.sendall(f"GET /api/v1/runs/{run}/search?re=%5Ba-z%5D%7B0,1000%7Dx HTTP/1.1\r\nHost: localhost\r\n"
                     f"Authorization: Bearer {token}\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = link.recv(1)
            self.assertTrue(piece, head)
            head += piece
        self.assertRegex(head, rb"^HTTP/1\.1 200 ")
        return link

    def goes_on(self, search):
        """Whether it has neither ended nor broken."""
        come = b""
        while select.select([search], [], [], 0)[0]:
            piece = search.recv(65536)
            if not piece:
                return False
            come += piece
        return b'"done"' not in come

    def test_other_calls_are_answered_meanwhile(self):
        # One search is all that a caller has.
        viewers = [self.cluster.muster("tokens", "create", f"vera{i}", "--role", "viewer").text.strip() for i in range(SEARCHES)]
        run = self.cluster.start_run("-t", "h1", "--", "head -c 4000000 /dev/zero | tr '\\0' a")
        wait_until("the output is whole", lambda: self.cluster.task_of(run, "h1")["log"]["state"] == "complete")
        searches = [self.search(run, viewer) for viewer in viewers]
        for _ in range(10):
            # When the searches have all workers, no answer comes within the time that a person waits.
            self.assertEqual(self.cluster.http("GET", "/api/v1/whoami", timeout=20).status, 200)
        stopped = self.cluster.http("POST", f"/api/v1/runs/{run}/stop", {"reason": "no more"}, timeout=20)
        self.assertLess(stopped.status, 500, stopped)
        self.assertEqual([self.goes_on(search) for search in searches], [True] * SEARCHES)


if __name__ == "__main__":
    unittest.main()
