#!/usr/bin/env python3
"""A viewer takes all searches and reads them slowly or not at all; holders of revoked tokens read on.

The attacker holds a viewer's or an operator's token. One caller must not keep others from searching, and an answer that goes on must
end with its token, so that revoking it helps at once.
"""

import hashlib
import http.client
import json
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

LINES = 12_000_000  # bytes of output
SEARCHES = 4        # that there may be at once
LITTLE = 8 << 20    # what buffers may hold after an answer has ended; the answers are far longer


class SearchHogging(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.output = cls.cluster.start_run("-t", "h1", "--", f"yes 'a line that is somewhat long, so that it fills' | head -c {LINES}")
        wait_until("the output is whole", lambda: cls.cluster.task_of(cls.output, "h1")["log"]["state"] == "complete")

    def person(self, name, role="viewer"):
        return self.cluster.muster("tokens", "create", name, "--role", role).text.strip()

    def open(self, token, path):
        """An answer whose head was read and whose rest waits in small buffers."""
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", self.cluster.port))
        raw.settimeout(60)
        self.addCleanup(raw.close)
        link = http.client.HTTPConnection("127.0.0.1", self.cluster.port)
        link.sock = raw
        link.request("GET", path, headers={"Authorization": "Bearer " + token})
        answer = link.getresponse()
        self.addCleanup(answer.close)
        return answer

    def long_search(self, token):
        return self.open(token, f"/api/v1/runs/{self.output}/search?re=.&limit=1000000&context=20")

    def search(self, token="", words="re=fills&limit=3"):
        return self.cluster.http("GET", f"/api/v1/runs/{self.output}/search?{words}", token=token)

    @staticmethod
    def rest_of(answer):
        """How much still comes, and the last line of it; "" when it breaks off."""
        size, tail = 0, b""
        try:
            while piece := answer.read(65536):
                size, tail = size + len(piece), (tail + piece)[-4096:]
        except (OSError, http.client.HTTPException) as problem:
            partial = getattr(problem, "partial", b"")
            return size + len(partial), ""
        return size, tail.decode(errors="replace").rstrip("\n").rsplit("\n", 1)[-1]

    def test_one_caller_has_one_search(self):
        eve, vera = self.person("eve"), self.person("vera")
        answers = [self.long_search(eve) for _ in range(SEARCHES)]
        self.assertEqual([answer.status for answer in answers], [200] + [503] * (SEARCHES - 1))
        for token in ("", vera, ""):
            answer = self.search(token)
            self.assertEqual(answer.status, 200, answer)
            last = json.loads(answer.body.splitlines()[-1])
            self.assertEqual((last["done"], last["matches"], last["more"], last["timed_out"]), (True, 3, True, False))

    def test_one_search_after_the_other(self):
        vic = self.person("vic")
        for _ in range(30):
            self.assertEqual(self.search(vic).status, 200, "the one before is over for who read its last line")
        whole = json.loads(self.search(vic, "re=nothing").body.splitlines()[-1])
        self.assertEqual((whole["bytes"], whole["more"], whole["timed_out"]), (LINES, False, False))

    def test_revoked_token_gets_no_more(self):
        answer = self.long_search(self.person("gone"))
        answer.read(100)
        self.assertCode(self.cluster.muster("tokens", "revoke", "gone", "--yes"), 0)
        size, last = self.rest_of(answer)
        self.assertLess(size, LITTLE)
        self.assertNotIn('"done"', last)

    def test_revoking_gives_the_searches_back(self):
        names = [f"hog{i}" for i in range(SEARCHES)]
        answers = [self.long_search(self.person(name)) for name in names]
        self.assertEqual([answer.status for answer in answers], [200] * SEARCHES)
        self.assertEqual(self.search().status, 503)
        for name in names:
            self.assertCode(self.cluster.muster("tokens", "revoke", name, "--yes"), 0)
        # Also of those who do not read.
        wait_until("others can search", lambda: self.search().status == 200, deadline=20)

    def test_download_ends_with_its_token(self):
        content = bytes(64 << 20)
        path = "/api/v1/artifacts/" + hashlib.sha256(content).hexdigest()
        self.assertEqual(self.cluster.http("PUT", path, content, timeout=120).status, 201)
        answer = self.open(self.person("otto", "operator"), path)
        self.assertEqual(answer.status, 200)
        answer.read(100)
        self.assertCode(self.cluster.muster("tokens", "revoke", "otto", "--yes"), 0)
        size, _ = self.rest_of(answer)
        self.assertLess(size, 2 * LITTLE)


if __name__ == "__main__":
    unittest.main()
