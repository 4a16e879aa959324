#!/usr/bin/env python3
"""A viewer wants to know where a channel's messages go, whose URL an admin keeps as a secret.

The attacker reads everything that a viewer can read, and the server's log. When the channel fails in any way, no part of its
URL may show: not the host, its address or port, nor the path. What went wrong, and with which channel, must show.
"""

import json
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

HOST = "hooks.inner-network.invalid"
PATH = "/services/T0PSECRET"

JOB = """apiVersion: muster/v1
kind: channel
name: ops
type: {type}
url: secret:ops.url
---
apiVersion: muster/v1
kind: job
name: talk
targets: h1
notify: {{on: [failed], to: ops}}
stages:
  - name: tell
    notify: {{to: ops, message: hello}}
"""


class Answers(StubHandler):
    """Says no, and where one is."""

    def do_POST(self):
        self.content()
        answer = f"no {self.path} at {self.headers['Host']}".encode()
        if self.path.endswith("/ok"):
            return self.answer(200, {"ok": False, "error": answer.decode()})
        return self.answer(502, answer)


class SecretChannelUrl(ClusterTest):
    def fails(self, url, *, allow, parts, says, type="webhook"):
        """A message to this URL fails; none of the parts may show."""
        cluster = self.new_cluster("h1", settings={"outside": f"{{allow: ['{allow}']}}"})
        self.assertCode(cluster.muster("secrets", "set", "ops.url", stdin=url.encode()), 0)
        file = cluster.folder / "documents.yaml"
        file.write_text(JOB.format(type=type))
        self.assertCode(cluster.muster("apply", "-f", file), 0)
        run = cluster.muster("start", "talk").text.strip()
        self.assertEqual(cluster.wait_end(run)["state"], "failed")

        def lines():
            return [line for line in cluster.server.log.read_text().splitlines() if " outside task=" in line]
        wait_until("the stage's message and the notice were tried", lambda: len(lines()) >= 2)
        read = "\n".join([*lines(), cluster.muster("show", run).text, json.dumps(cluster.run_of(run)),
                          json.dumps(cluster.tasks_of(run)), cluster.server.log.read_text()])
        for part in (url, *parts):
            self.assertNotIn(part, read)
        for line in (*lines(), cluster.run_of(run)["stages"][0]["reason"]):
            self.assertIn("channel ops", line)
            self.assertIn(says, line)

    def serve(self, address="127.0.0.1"):
        return serve_stub(self, Answers, address).port

    def test_name_that_does_not_resolve(self):
        self.fails(f"https://{HOST}{PATH}", allow="public", parts=(HOST, PATH), says="esolve host name")

    def test_nothing_listens(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.77", 0))
            port = taken.getsockname()[1]
            self.fails(f"http://127.0.0.77:{port}{PATH}", allow="127.0.0.0/8", parts=("127.0.0.77", f"{port} ", PATH),
                       says="onnect to server")

    def test_address_that_is_not_allowed(self):
        self.fails(f"http://127.0.0.77:81{PATH}", allow="public", parts=("127.0.0.77", PATH), says="may not be called")

    def test_name_that_is_not_allowed(self):
        self.fails(f"https://{HOST}{PATH}", allow="example.com", parts=(HOST, PATH), says="may not be called")

    def test_no_tls_there(self):
        port = self.serve("127.0.0.77")
        self.fails(f"https://127.0.0.77:{port}{PATH}", allow="127.0.0.0/8", parts=("127.0.0.77", PATH), says="SSL")

    def test_answer_that_names_its_host(self):
        port = self.serve()
        self.fails(f"http://localhost:{port}{PATH}", allow="127.0.0.0/8", parts=(f"localhost:{port}", PATH),
                   says="answered 502")

    def test_chat_that_says_no_and_names_its_host(self):
        port = self.serve()
        self.fails(f"http://localhost:{port}{PATH}/ok", allow="127.0.0.0/8", parts=(f"localhost:{port}", PATH),
                   says="did not take the message", type="chat")

    def test_value_that_is_no_url(self):
        self.fails(f"https://user:pw@{HOST}{PATH}", allow="public", parts=(HOST, PATH, "user:pw"), says="user or password")


if __name__ == "__main__":
    unittest.main()
