#!/usr/bin/env python3
"""A web page in the browser of an operator, on a server's machine, calls the server on loopback.

The attacker controls the page and the name it came from, which resolves to 127.0.0.1 once it is loaded (DNS rebinding), so
that the browser lets the page read what the server answers. The browser tells the truth in Host and Origin. The page must read
nothing, change nothing and get no link; programs and proxies on the machine must be answered as ever.
"""

import json
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

PUBLIC = "muster.example"


class BrowserPage(ClusterTest):
    hosts = ("h1",)
    settings = {"public_url": f"https://{PUBLIC}:8440"}

    def ask(self, *headers, method="GET", path="/metrics", version="1.1"):
        """The status and body of a plain request; nothing is added to these headers."""
        with socket.create_connection(("127.0.0.1", self.cluster.port), timeout=30) as wire:
            lines = [f"{method} {path} HTTP/{version}", *headers, "Connection: close", "", ""]
            wire.sendall("\r\n".join(lines).encode())
            answer = b""
            while piece := wire.recv(65536):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body.decode()

    def test_rebound_name_reads_nothing(self):
        for host in ("evil.example", f"evil.example:{self.cluster.port}", "127.0.0.1.evil.example", "localhost.evil.example",
                     "evil.localhost", "0.0.0.0", "127.1", "2130706433", "[::1].evil.example", "127.0.0.1:80@evil.example",
                     "127.0.0.1, evil.example", ""):
            for path in ("/metrics", "/healthz", "/readyz", "/api/v1/openapi.yaml", "/api/v1/nothing"):
                status, body = self.ask(f"Host: {host}", path=path)
                self.assertEqual(status, 421, (host, path))
                self.assertIn("public_url", body)
                self.assertNotIn("muster_", body)
        status, _ = self.ask("Host: 127.0.0.1", "Host: evil.example")
        self.assertIn(status, (400, 421))

    def refused(self, *headers):
        """A request that is refused: the status, the error, and the line about it in the server's log."""
        def lines():
            return [line for line in self.cluster.server.log.read_text().splitlines() if " refused method=" in line]
        before = len(lines())
        status, body = self.ask(*headers)
        line = wait_until("a line in the log", lambda: lines()[before:])[0]
        return status, json.loads(body)["error"], line

    def test_refusals_say_why_and_are_logged(self):
        self.cluster.restart_server()  # the bound on lines is counted from here
        here = f"127.0.0.1:{self.cluster.port}"
        for headers, code, shown in ((("Host: evil.example:80",), 421, "'evil.example'"),
                                     ((f"Host: {here}", "Origin: https://evil.example"), 403, "https://evil.example")):
            status, error, line = self.refused(*headers)
            self.assertEqual(status, code)
            self.assertIn(shown, error["message"])
            self.assertTrue(error["request_id"])
            self.assertIn('path="/metrics" remote=127.0.0.1', line)
            self.assertIn(shown, line)
        status, error, line = self.refused("Host: " + "x" * 5000 + ".example\t\x80\"y")
        self.assertEqual(status, 421)
        self.assertLess(len(error["message"]), 300)
        self.assertLess(len(line), 600)

    def test_refusals_do_not_fill_the_log(self):
        log = self.cluster.server.log
        before = log.read_text().count(" refused method=")
        for _ in range(200):
            self.assertEqual(self.ask("Host: evil.example")[0], 421)
        self.assertLess(log.read_text().count(" refused method=") - before, 100)

    def test_own_names_are_answered(self):
        for host in ("127.0.0.1", f"127.0.0.1:{self.cluster.port}", "127.8.9.1:1", "localhost", "LocalHost:8440", "[::1]",
                     "[::1]:8440", PUBLIC, f"{PUBLIC.upper()}:443"):
            self.assertEqual(self.ask(f"Host: {host}")[0], 200, host)
        self.assertEqual(self.ask(version="1.0")[0], 200, "a probe without Host is no browser")

    def test_page_of_another_site_changes_nothing(self):
        here = f"127.0.0.1:{self.cluster.port}"
        for origin in ("http://evil.example", f"http://evil.example:{self.cluster.port}", "null", "http://127.0.0.1",
                       "http://127.0.0.1:1", "http://localhost:3000", "chrome-extension://abc"):
            for method, path in (("GET", "/metrics"), ("POST", "/api/v1/join"), ("POST", "/api/v1/runs"),
                                 ("OPTIONS", "/api/v1/runs")):
                length = ("Content-Length: 0",) if method == "POST" else ()
                status, body = self.ask(f"Host: {here}", f"Origin: {origin}", *length, method=method, path=path)
                self.assertEqual(status, 403, (origin, method, path))
                self.assertIn("Origin", body)

    def test_own_page_is_answered(self):
        here = f"127.0.0.1:{self.cluster.port}"
        self.assertEqual(self.ask(f"Host: {here}", f"Origin: http://{here}")[0], 200)
        self.assertEqual(self.ask(f"Host: {here}", f"Origin: https://{PUBLIC}")[0], 200, "through a proxy")

    def test_page_gets_no_link(self):
        here = f"127.0.0.1:{self.cluster.port}"
        upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        status, body = self.ask(f"Host: {here}", f"Origin: http://{here}", *upgrade, path="/api/v1/link")
        self.assertEqual(status, 403)
        self.assertIn("web pages", body)

    def test_over_tls_another_origin_is_refused_too(self):
        for origin, status in (("https://evil.example", 403), (f"https://{PUBLIC}", 200)):
            answer = self.cluster.http("GET", "/api/v1/hosts", headers={"Origin": origin})
            self.assertEqual(answer.status, status, answer)


class PageOfAFollower(unittest.TestCase):
    """What a follower has judged by the name it was called, the leader does not judge again by its own."""

    def test_own_page_is_answered_through_the_leader(self):
        cluster = ServerCluster(servers=2, etcds=1)
        self.addCleanup(cluster.close)
        follower = cluster.at(cluster.followers()[0])
        for origin, status in (("https://follower.example", 200), ("https://evil.example", 403)):
            answer = follower.http("GET", "/api/v1/hosts", headers={"Host": "follower.example", "Origin": origin})
            self.assertEqual(answer.status, status, answer)


if __name__ == "__main__":
    unittest.main()
