"""Strangers and hosts gone bad: what they are answered, and that everybody else is served meanwhile."""

import http.client
import json
import os
import re
import socket
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileTest, Link, Wire, read_all  # noqa: E402
from muster_cluster import DEADLINE, Answer, ClusterTest, wait_until  # noqa: E402


REQUEST = """-----BEGIN CERTIFICATE REQUEST-----
MIHKMHICAQAwEDEOMAwGA1UEAwwFZ3Vlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAASvwyG+E7CaeDf0+vVX0eU1cgP8TH2fb4z+fs2LExlwoJy6mlBs76ZzN0qF
EpBIweNB8n2R5c3d2gwhzVerHMw2oAAwCgYIKoZIzj0EAwIDSAAwRQIgdtf1MaEK
39U6HCG/VkMNeWCj2ExgVvSMK2hOY14AyOMCIQDjkK8oH0qGYyB2ErA9U2Ilbb54
RjnkZlFITyvPqKYYRg==
-----END CERTIFICATE REQUEST-----
"""


def lines_of(cluster, words):
    return [line for line in cluster.server.log.read_text().splitlines() if words in line]


def call_from(cluster, source, method, path, body=None, token=None):
    """A call from another address of this machine."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls(), timeout=DEADLINE,
                                             source_address=(source, 0))
    try:
        connection.request(method, path, body=body and json.dumps(body), headers=headers)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def metric(cluster, name):
    text = cluster.http("GET", "/metrics", token=None).body.decode()
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith(name + " ")))


class Guessing(ClusterTest):
    hosts = ("a1",)
    settings = {"limits": "{failures_per_minute: 5}"}

    def test_bad_tokens_are_slowed_and_good_ones_pass(self):
        source = "127.0.0.2"
        answers = [call_from(self.cluster, source, "GET", "/api/v1/status", token="wrong") for _ in range(8)]
        self.assertEqual([answer.status for answer in answers[:5]], [401] * 5)
        self.assertEqual(answers[-1].status, 429)
        self.assertGreaterEqual(int(answers[-1].headers["Retry-After"]), 1)
        self.assertEqual(answers[-1].json()["error"]["code"], "denied")
        good = call_from(self.cluster, source, "GET", "/api/v1/status", token=self.cluster.token)
        self.assertEqual(good.status, 200)
        self.assertGreaterEqual(metric(self.cluster, "muster_refused_tokens_total"), 8)
        # However many: one line at once, the next after a minute.
        lines = lines_of(self.cluster, f"not let in source={source} ")
        self.assertTrue(lines[0].endswith("tokens=1 joins=0 links=0"), lines)
        self.assertLess(len(lines), 4)

    def test_bad_joins_are_slowed_and_good_ones_pass(self):
        source = "127.0.0.3"
        token = self.cluster.invite()
        bad = {"token": token[:-4] + "0000", "name": "intruder", "request_pem": REQUEST}
        answers = [call_from(self.cluster, source, "POST", "/api/v1/join", bad) for _ in range(8)]
        self.assertEqual([answer.status for answer in answers[:5]], [403] * 5, answers[0])
        self.assertEqual(answers[-1].status, 429)
        good = call_from(self.cluster, source, "POST", "/api/v1/join", {**bad, "token": token, "name": "guest"})
        self.assertEqual(good.status, 201, good)
        names = {host["name"] for host in self.cluster.get("/hosts")["hosts"]}
        self.assertIn("guest", names)
        self.assertNotIn("intruder", names)

    def test_bad_handshakes_are_counted(self):
        before = metric(self.cluster, "muster_refused_links_total")
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", self.cluster.port), timeout=DEADLINE) as plain:
                plain.sendall(b"\x16\x03\x01\x00\x05hello rubbish")
                read_all(plain)
        wait_until("ten are counted", lambda: metric(self.cluster, "muster_refused_links_total") >= before + 10)


class Requests(ClusterTest):
    hosts = ("a1",)
    settings = {"limits": "{header_timeout: 1s, body_timeout: 1s, max_body: 1MiB, max_connections_per_address: 50}"}

    def refused(self, request, status):
        with Wire(self.cluster) as wire:
            head, body = wire.ask(request)
        self.assertTrue(head.startswith(f"HTTP/1.1 {status} "), head)
        self.assertIn("Connection: close", head)
        self.assertTrue(body.startswith('{"error":{"code":"invalid","message":"'), body)

    def test_what_is_too_large_or_no_http_is_refused_in_words(self):
        self.refused(b"GET /" + b"u" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414)
        self.refused(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n", 431)
        self.refused(b"GET / HTTP/1.1\r\nX: " + b"x" * 20000 + b"\r\n\r\n", 431)
        self.refused(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n", 413)
        self.refused(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400)
        # What follows is no second request.
        for fields in (b"Host: localhost\r\nTransfer-Encoding: xchunked\r\n",
                       b"Host: localhost\r\nTransfer-Encoding: chunked, gzip\r\n", b""):
            self.refused(b"POST / HTTP/1.1\r\n" + fields + b"\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400)
        self.refused(b"\x00\x01\x02\r\n\r\n", 400)

    def test_a_wrong_method_is_told_the_right_ones(self):
        answer = self.cluster.http("DELETE", "/api/v1/runs")
        self.assertEqual(answer.status, 405)
        self.assertEqual(sorted(answer.headers["Allow"].split(", ")), ["GET", "POST"])

    def test_slow_clients_hold_nothing_up(self):
        slow = [Wire(self.cluster) for _ in range(20)]
        for number, wire in enumerate(slow):
            # A route that needs no token: of any other the body is not waited for.
            with_body = b"POST /api/v1/join HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nx"
            wire.socket.sendall(with_body if number % 2 else b"GET / HTTP/1.1\r\nX: ")
        outcome = self.cluster.muster("run", "-t", "a1", "--", "echo", "served")
        self.assertCode(outcome, 0)
        for wire in slow:
            with wire:
                self.assertTrue(read_all(wire.socket).startswith(b"HTTP/1.1 408 "))

    def test_one_address_gets_its_share(self):
        crowd = []
        try:
            for _ in range(60):
                wire = Wire(self.cluster)
                crowd.append(wire)
                wire.socket.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            statuses = [wire.socket.recv(12) for wire in crowd]
        finally:
            for wire in crowd:
                wire.socket.close()
        self.assertIn(b"HTTP/1.1 200", statuses)
        self.assertIn(b"HTTP/1.1 429", statuses)
        wait_until("the places are free again",
                   lambda: self.cluster.http("GET", "/healthz", token=None).status == 200)
        self.cluster.wait_online("a1")


class Links(HostileTest):
    """Frames that no agent sends."""

    def wild_link(self):
        return Link(self.cluster, self.bad.data)

    def tearDown(self):
        self.assertCode(self.cluster.muster("run", "-t", "good", "--", "true"), 0)

    def test_rubbish_closes_the_link(self):
        for payload in (b"\xff\xff rubbish", b"\x12\xff\xff\xff\xff\x0f", os.urandom(500) + b"\xff"):
            with self.wild_link() as link:
                link.frame(payload)
                self.assertTrue(link.closed())

    def test_an_oversized_frame_closes_the_link(self):
        with self.wild_link() as link:
            link.frame(b"x" * 1000, claimed=1 << 40)
            self.assertTrue(link.closed())

    def test_output_before_hello_is_not_heard(self):
        # NodeFrame.chunks: a task of another host, stdout, "hi".
        chunk = b"\x0a\x08\x08\x01\x10\x01\x20\x01\x28\x01\x18\x01\x2a\x02hi"
        with self.wild_link() as link:
            link.frame(b"\x22" + bytes([len(chunk)]) + chunk)
            link.frame(b"\xff")
            self.assertTrue(link.closed())
        self.assertEqual(list((self.cluster.data / "logs").glob("*.db")), [])

    def test_a_hello_with_too_many_tasks_closes_the_link(self):
        task = b"\x42\x0c\x0a\x08\x08\x01\x10\x01\x20\x01\x28\x01\x10\x01"
        hello = task * 100_000
        size = len(hello)
        length = b""
        while size > 0x7F:
            length += bytes([size & 0x7F | 0x80])
            size >>= 7
        with self.wild_link() as link:
            link.frame(b"\x12" + length + bytes([size]) + hello)
            self.assertTrue(link.closed())
        wait_until("it is logged", lambda: lines_of(self.cluster, "more than 50000 tasks"))


class Flood(HostileTest):
    """By itself, as the host owes for a while what it sent too much."""

    def test_a_flood_without_reading_closes_the_link(self):
        beat = struct.pack("!BB", 0x82, 0x80 | 4) + b"\0\0\0\0" + b"\x1a\x02\x08\x01"
        settings = (self.bad.data / "agent.conf").read_text()
        store = re.search(r"^store = (\w+)$", settings, re.M).group(1).encode()
        # NodeFrame.hello: version, store, boot, session.
        hello = b"\x0a\x050.1.0\x22" + bytes([len(store)]) + store + b"\x2a\x01b\x30\xff\xff\x03"
        with Link(self.cluster, self.bad.data) as link:
            link.frame(b"\x12" + bytes([len(hello)]) + hello)
            self.cluster.wait_online("bad")
            try:
                for _ in range(200):
                    link.socket.sendall(beat * 5_000)
            except OSError:
                pass
            self.assertTrue(link.closed())
        wait_until("it is logged", lambda: lines_of(self.cluster, "more than can be acted on") or
                   lines_of(self.cluster, "does not read"))


if __name__ == "__main__":
    unittest.main()
