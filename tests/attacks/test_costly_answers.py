#!/usr/bin/env python3
"""Answers that are small and cost much.

The attacker runs the server that `muster` talks to. Very many tiny values must not fill the memory of the command line, and an
answer that comes byte by byte must not keep it for ever.
"""

import os
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_processes import BIN, clean_environment  # noqa: E402
from process_cost import assert_cost  # noqa: E402

SIZE = 60 << 20  # of a body, within what the command line takes
MOST = 700_000   # kilobytes; the body and its values have their bounds
PATIENCE = 300   # the command line's own bound is a minute


class CostlyAnswers(unittest.TestCase):
    def serve(self, talk):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=self.answer, args=(connection, talk), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    def answer(self, connection, talk):
        with connection, connection.makefile("rb") as lines:
            try:
                while lines.readline():
                    while lines.readline().strip():
                        pass
                    talk(connection)
            except OSError:
                pass  # it wanted no more

    def run_against(self, url, *words):
        """Its exit code and its memory in kilobytes; it ends by itself."""
        environment = {**clean_environment(), "MUSTER_SERVER": url, "XDG_CONFIG_HOME": "/nonexistent"}
        child = subprocess.Popen([str(BIN / "muster"), *words], env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        timer = threading.Timer(PATIENCE, child.kill)
        timer.start()
        complaint = child.stderr.read()
        child.stderr.close()
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertGreater(child.returncode, 0, complaint)
        return used.ru_maxrss

    def test_very_many_values(self):
        for piece in (b"0,", b"[],", b"{},", b'"",'):
            def talk(connection, piece=piece):
                begin, end = b'{"servers":[', b"1]}"
                block = piece * (SIZE // 60 // len(piece))
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                connection.sendall(head % (len(begin) + len(end) + 60 * len(block)) + begin)
                for _ in range(60):
                    connection.sendall(block)
                connection.sendall(end)
            with self.subTest(piece):
                assert_cost(self, self.run_against(self.serve(talk), "servers"), MOST)

    def test_an_answer_byte_by_byte(self):
        def talk(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.2)
        self.run_against(self.serve(talk), "status")


if __name__ == "__main__":
    unittest.main()
