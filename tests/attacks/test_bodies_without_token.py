"""Anyone who reaches the port sends request bodies without a token, to fill the server's memory.

They must not make the server keep a body that it is going to refuse, and callers with a token are served meanwhile.
Bodies of callers with a token have a bound together.
"""

import re
import select
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import Wire, read_all  # noqa: E402
from muster_cluster import DEADLINE, ClusterTest, wait_until  # noqa: E402
from process_cost import MIB, assert_cost, memory_of  # noqa: E402

BODY = 4 * MIB
CALLERS = 150
BOUND = 100 * MIB  # 150 connections take about 150 KB each, and no body


def head(path, headers=(), length=BODY, method="POST"):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def statuses(data):
    return [int(word) for word in re.findall(rb"^HTTP/1\.1 (\d+) ", data, re.M)]


class BodiesWithoutToken(ClusterTest):
    hosts = ("a1",)

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        # For all tests, as a process keeps memory that it does not use any more.
        cls.before = memory_of(cls.cluster.server.process.pid)

    def setUp(self):
        self.connections = []
        self.addCleanup(lambda: [connection.close() for connection in self.connections])

    def connect(self):
        """Without TLS, which loopback allows: the test is about bodies."""
        connection = socket.create_connection(("127.0.0.1", self.cluster.port), timeout=DEADLINE)
        self.connections.append(connection)
        return connection

    def send(self, connection, data):
        """All that the server takes before it closes."""
        try:
            connection.sendall(data)
        except OSError:
            pass

    def growth(self, request_head, body):
        """How much the server's memory grows by callers that hold back the end of their request."""
        for _ in range(CALLERS):
            connection = self.connect()
            self.send(connection, request_head)
            self.send(connection, body)
        self.assertEqual(self.cluster.http("GET", "/healthz", token=None).status, 200)  # it has read them
        return memory_of(self.cluster.server.process.pid) - self.before

    def serves_others(self):
        self.assertCode(self.cluster.muster("run", "-t", "a1", "--", "true"), 0)
        script = "#!/bin/sh\n" + "# a long script\n" * 50_000
        run = self.cluster.http("POST", "/api/v1/runs", {"targets": "a1", "command": {"script": script}})
        self.assertEqual(run.status, 201, run)

    def test_of_a_known_length(self):
        assert_cost(self, self.growth(head("/api/v1/runs"), b"x" * (BODY - 1)), BOUND)
        self.serves_others()

    def test_in_chunks(self):
        chunks = (f"{MIB:x}\r\n".encode() + b"x" * MIB + b"\r\n") * 3
        assert_cost(self, self.growth(head("/api/v1/apply", ["Transfer-Encoding: chunked"], None), chunks), BOUND)
        self.serves_others()

    def test_to_join(self):
        for path in ("/api/v1/join", "/api/v1/servers/join"):
            assert_cost(self, self.growth(head(path), b"x" * (BODY - 1)), BOUND)
        self.serves_others()

    def test_with_a_wrong_token(self):
        wrong = ["Authorization: Bearer " + "w" * 40]
        assert_cost(self, self.growth(head("/api/v1/secrets/x", wrong, method="PUT"), b"x" * (BODY - 1)), BOUND)
        self.serves_others()

    def test_answers_come_before_the_body(self):
        expected = {"/api/v1/runs": 401, "/api/v1/join": 413, "/nowhere": 404, "/api/v1/link": 403}
        for path, status in expected.items():
            connection = self.connect()
            connection.sendall(head(path, ["Expect: 100-continue"]))
            self.assertEqual(statuses(read_all(connection)), [status], path)
        viewer = self.cluster.muster("tokens", "create", "look", "--role", "viewer")
        self.assertCode(viewer, 0)
        token = re.search(r"mst_\w+", viewer.text).group()
        with Wire(self.cluster) as wire:
            answer, _ = wire.ask(head("/api/v1/runs", [f"Authorization: Bearer {token}", "Expect: 100-continue"]))
        self.assertEqual(statuses(answer.encode()), [403])

    def test_a_caller_with_a_token_is_told_to_go_on(self):
        body = b'{"targets": "a1", "command": {"argv": ["true"]}}'
        connection = self.connect()
        token = [f"Authorization: Bearer {self.cluster.token}", "Expect: 100-continue", "Connection: close"]
        connection.sendall(head("/api/v1/runs", token, len(body)))
        self.assertEqual(statuses(connection.recv(4096)), [100])
        connection.sendall(body)
        self.assertEqual(statuses(read_all(connection)), [201])


class BodiesTogether(ClusterTest):
    hosts = ("a1",)

    @staticmethod
    def answered(callers):
        ready = select.select(callers, [], [], 0)[0]
        return ready if len(ready) >= 40 else None

    def test_callers_with_a_token_share_a_budget(self):
        before = memory_of(self.cluster.server.process.pid)
        request = head("/api/v1/runs", [f"Authorization: Bearer {self.cluster.token}"])
        callers = []
        try:
            for _ in range(80):
                callers.append(socket.create_connection(("127.0.0.1", self.cluster.port), timeout=DEADLINE))
                try:
                    callers[-1].sendall(request + b"x" * (BODY - 1))
                except OSError:
                    continue
            # limits.max_buffered is 128 MiB.
            assert_cost(self, memory_of(self.cluster.server.process.pid) - before, 200 * MIB)
            answered = wait_until("most are answered", lambda: self.answered(callers))
            answers = [read_all(caller) for caller in answered]
        finally:
            for caller in callers:
                caller.close()
        self.assertEqual({status for answer in answers for status in statuses(answer)}, {503})
        self.assertTrue(all(b"Retry-After: " in answer for answer in answers if answer))
        wait_until("there is room again", lambda: self.cluster.http(
            "POST", "/api/v1/runs", {"targets": "a1", "command": {"argv": ["true"]}}).status == 201)


if __name__ == "__main__":
    unittest.main()
