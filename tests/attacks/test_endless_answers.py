"""Answers without end.

The attacker runs the server that `muster` talks to. It must not make the command line take memory without end, or wait
for ever: an error that goes on and on, a line or an interim answer without end, a list whose pages repeat.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_processes import BIN, DEADLINE, clean_environment  # noqa: E402
from process_cost import assert_cost  # noqa: E402

PIECE = b"%x\r\n%s\r\n" % (1 << 16, b"a" * (1 << 16))
MOST = 256 << 20  # what a flood has at most, so that it ends


def whole(value):
    body = json.dumps(value).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


class Endless:
    """A server on loopback; `answer(path, count)` gives what is sent at once, and what is repeated then, or nothing."""

    def __init__(self, answer):
        self.answer, self.requests, self.sent = answer, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as lines:
            try:
                while line := lines.readline():
                    while lines.readline().strip():
                        pass
                    self.requests += 1
                    begin, repeated = self.answer(line.split()[1].decode(), self.requests)
                    connection.sendall(begin)
                    while repeated and self.sent < MOST:
                        connection.sendall(repeated)
                        self.sent += len(repeated)
                    if repeated:
                        return
            except OSError:
                pass  # it wanted no more

    def close(self):
        self.listener.close()


class Floods(unittest.TestCase):
    def run_against(self, answer, *words, most=200_000):
        server = Endless(answer)
        self.addCleanup(server.close)
        environment = {**clean_environment(), "MUSTER_SERVER": server.url, "XDG_CONFIG_HOME": "/nonexistent"}
        child = subprocess.Popen([str(BIN / "muster"), *words], env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        timer = threading.Timer(DEADLINE, child.kill)
        timer.start()
        complaint = child.stderr.read()
        child.stderr.close()
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertGreater(child.returncode, 0, complaint)
        assert_cost(self, used.ru_maxrss, most, "kilobytes")
        return server

    def assertCutOff(self, server):
        """It hung up; what is on the way is in the buffers of sockets, of a try or two."""
        self.assertLess(server.sent, MOST // 2)

    def test_an_error_without_end(self):
        head = b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertCutOff(self.run_against(lambda path, count: (head, PIECE), "get", "jobs"))
        # Also as the answer to what would be a stream.
        self.assertCutOff(self.run_against(
            lambda path, count: (head, PIECE) if "/search" in path else (whole({}), b""), "logs", "r1", "--grep", "x"))

    def test_a_success_that_is_no_stream(self):
        head = b"HTTP/1.1 202 X\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertCutOff(self.run_against(
            lambda path, count: (head, PIECE) if "/search" in path else (whole({}), b""), "logs", "r1", "--grep", "x"))

    def test_a_line_without_end(self):
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertCutOff(self.run_against(
            lambda path, count: (head, PIECE) if "/search" in path else (whole({}), b""), "logs", "r1", "--grep", "x"))

    def test_events_with_long_ids(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        body = b"id: " + b"x" * 1_000_000 + b"\n\n" + b"event: gap\ndata:\n\n" * 1000
        events = f"{len(body):x}\r\n".encode() + body + b"\r\n"
        run = {"id": "r1", "state": "running", "commit": 1, "hosts": 1, "stages": []}
        self.assertCutOff(self.run_against(
            lambda path, count: (head, events) if "/stream" in path else (whole(run), b""), "logs", "r1", "-f"))

    def test_interim_answers_without_end(self):
        many = b"HTTP/1.1 103 Early\r\n\r\n" * 3000
        self.assertCutOff(self.run_against(lambda path, count: (b"", many), "get", "jobs"))

    def test_pages_that_repeat(self):
        hosts = [{"name": f"h{number}", "online": True} for number in range(500)]

        def pages(path, count):
            return whole({"hosts": hosts, "next": "x" if count < 5000 else ""}), b""

        server = self.run_against(pages, "hosts")
        self.assertLess(server.requests, 10)

    def test_output_of_hosts_without_end(self):
        """Of each host some of a line, and no end."""
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        run = {"id": "r1", "state": "running", "commit": 1, "hosts": 1000, "stages": []}
        many = b""
        for number in range(400):  # a line of a MiB is shown as it is
            line = json.dumps({"host": f"h{number}", "attempt": 1, "stream": f"s{number}", "offset": 0, "text": "x" * 60_000}).encode()
            many += b"%x\r\n%s\n\r\n" % (len(line) + 1, line)
        for words in (("logs", "r1"), ("logs", "r1", "--timestamps")):
            self.run_against(lambda path, count: (head, many) if "/outputs" in path else (whole(run), b""), *words)

    def test_pages_that_are_too_large_together(self):
        jobs = json.dumps([{"name": "j", "description": "d" * 20_000}] * 400)

        def pages(path, count):
            body = f'{{"jobs": {jobs}, "next": "{count if count < 70 else ""}"}}'.encode()
            return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body), b""

        server = self.run_against(pages, "jobs", most=1_000_000)
        self.assertLess(server.requests, 40)

    def test_empty_pages_without_end(self):
        server = self.run_against(lambda path, count: (whole({"hosts": [], "next": str(count) if count < 50_000 else ""}), b""),
                                  "hosts")
        self.assertLess(server.requests, 2000)


if __name__ == "__main__":
    unittest.main()
