#!/usr/bin/env python3
"""An operator fills the server's few places for requests and messages with some that nobody answers.

The attacker holds an operator's token, and has channels at a listener that accepts connections and stays silent. Each message there
takes half a minute. Test messages without end, and runs with notices, must not hold up the notices of other runs; and a test must not
go on for a client that has gone, or a token that was revoked.
"""

import http.client
import json
import socket
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

SILENT = 4      # channels
SHOTS = 60      # far more than the places that there are
PATIENCE = 20   # seconds; less than the half minute of a message
PLACES = 8


class Answers(StubHandler):
    """Takes messages, and keeps them."""

    def do_POST(self):
        self.server.taken.append(json.loads(self.content()))
        self.answer(200)


class Silence:
    """Accepts connections and answers none."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.kept = []
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                self.kept.append(self.listener.accept()[0])
            except OSError:
                return

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # ends the accept
        self.thread.join()
        self.listener.close()
        for each in self.kept:
            each.close()


class SilentChannels(ClusterTest):
    hosts = ("h1",)
    settings = {"outside": "{allow: ['127.0.0.0/8']}"}

    def setUp(self):
        super().setUp()
        self.world = serve_stub(self, Answers, taken=[])
        self.silence = Silence()
        self.addCleanup(self.silence.close)
        documents = [self.channel("good", self.world.url), self.job("talk", "good")]
        for number in range(SILENT):
            documents += [self.channel(f"slow{number}", self.silence.url), self.job(f"whisper{number}", f"slow{number}")]
        file = self.cluster.folder / "documents.yaml"
        file.write_text("---\n".join(documents))
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)

    def channel(self, name, url):
        return f"apiVersion: muster/v1\nkind: channel\nname: {name}\ntype: webhook\nurl: {url}\n"

    def job(self, name, channel):
        return (f"apiVersion: muster/v1\nkind: job\nname: {name}\ntargets: h1\nnotify: {{on: awaiting_approval, to: {channel}}}\n"
                "stages: [{name: ask, approve: go}]\n")

    def operator(self, name):
        token = self.cluster.muster("tokens", "create", name, "--role", "operator").text.strip()
        self.addCleanup(lambda: self.cluster.muster("tokens", "revoke", name, "--yes"))
        return token

    def leave_at_once(self, path, token):
        """Asks, and does not wait for the answer."""
        caller = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=self.cluster.tls(), timeout=PATIENCE)
        caller.request("POST", "/api/v1" + path, b"{}", {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        caller.sock.settimeout(0.05)
        try:
            caller.getresponse().read()
        except TimeoutError:
            pass
        caller.close()

    def assertOthersAreTold(self):
        run = self.assertCode(self.cluster.muster("start", "talk"), 0).text.strip()
        wait_until("the notice of another run came", lambda: any(each["run"] == run for each in self.world.taken), PATIENCE)

    def test_tests_without_end(self):
        token = self.operator("olga")
        for number in range(SHOTS):
            self.leave_at_once(f"/channels/slow{number % SILENT}/test", token)
        self.assertLess(len(self.silence.kept), PLACES)
        self.assertOthersAreTold()

    def test_a_caller_has_one_test_at_a_time(self):
        token = self.operator("olaf")
        answers = []

        def ask(number):
            answers.append(self.cluster.http("POST", f"/api/v1/channels/slow{number}/test", {}, token=token, timeout=120).status)
        callers = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(SILENT)]
        for caller in callers:
            caller.start()
        wait_until("the others were refused", lambda: answers == [503] * (SILENT - 1), PATIENCE)
        self.assertCode(self.cluster.muster("tokens", "revoke", "olaf", "--yes"), 0)
        wait_until("it ended with its token", lambda: len(answers) == SILENT, PATIENCE)
        self.assertIn(answers[-1], (401, 403))
        channels = {each["name"]: each for each in self.cluster.get("/channels")["channels"]}
        self.assertEqual([each["last_attempt"] for name, each in channels.items() if name.startswith("slow")], [None] * SILENT,
                         "a test that was ended says nothing of its channel")

    def test_a_test_ends_with_its_client(self):
        token = self.operator("oskar")
        self.leave_at_once("/channels/slow0/test", token)
        wait_until("the caller may test again", lambda: self.cluster.http(
            "POST", "/api/v1/channels/good/test", {}, token=token).status == 200, PATIENCE)

    def test_runs_with_notices_that_nobody_takes(self):
        token = self.operator("otto")
        runs = [self.cluster.http("POST", f"/api/v1/jobs/whisper{number % SILENT}/start", {}, token=token) for number in range(SHOTS)]
        self.assertEqual({answer.status for answer in runs}, {201})
        # The first of them had their time, and the server knows these channels now.
        wait_until("the silent server has more of them", lambda: len(self.silence.kept) > PLACES, 60)
        self.assertOthersAreTold()
        self.assertCode(self.cluster.muster("stop", "--all", "--yes"), 0)


if __name__ == "__main__":
    unittest.main()
