#!/usr/bin/env python3
"""An operator fills fields without end, to slow down or silence others.

The attacker holds an operator's token. Texts that are shown in lists, lists in documents, and requests to a server that never
answers must not cost others their lists, their notices or the thread that decides. A channel that sends a secret away must be on the
audit trail with the name of the secret.
"""

import json
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

LARGE = 1_000_000
CHEAP = 10  # seconds, for an answer that takes some milliseconds


def document(kind, name, rest):
    return f"apiVersion: muster/v1\nkind: {kind}\nname: {name}\n{rest}"


def job(name, rest="", stages="[{name: a, script: 'true'}]"):
    return document("job", name, f"targets: h1\n{rest}stages: {stages}\n")


class Answers(StubHandler):
    """Takes messages, and keeps them."""

    def do_POST(self):
        self.server.taken.append(json.loads(self.content()))
        self.answer(200)


class EndlessFields(ClusterTest):
    hosts = ("h1",)
    settings = {"outside": "{allow: ['127.0.0.0/8']}"}

    def setUp(self):
        super().setUp()
        if not hasattr(self.cluster, "operator"):
            self.cluster.operator = self.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()

    def call(self, method, path, body=None, timeout=120):
        return self.cluster.http(method, "/api/v1" + path, body, token=self.cluster.operator, timeout=timeout)

    def apply(self, *texts):
        files = [{"file": f"f{i}.yaml", "text": text} for i, text in enumerate(texts)]
        return self.call("POST", "/documents", {"documents": files})

    def applied(self, *texts):
        answer = self.apply(*texts)
        self.assertEqual(answer.status, 200, answer.body[:500])

    def refused(self, answer, *, says, status=400):
        self.assertEqual(answer.status, status, answer.body[:500])
        self.assertIn(says, answer.body.decode())
        self.assertLess(len(answer.body), 10_000)

    def start(self, name):
        answer = self.call("POST", f"/jobs/{name}/start", {})
        self.assertEqual(answer.status, 201, answer.body[:500])
        return answer.json()["id"]

    def test_texts_have_an_end(self):
        run = {"targets": "h1", "command": {"argv": ["true"]}}
        self.refused(self.call("POST", "/runs", {**run, "title": "T" * LARGE}), says="title")
        self.refused(self.call("POST", "/runs", {**run, "title": "T" * 201}), says="title")
        self.assertEqual(self.call("POST", "/runs", {**run, "title": "ü" * 200}).status, 201)
        self.refused(self.call("POST", "/runs", {**run, "reason": "r" * LARGE}), says="reason")
        self.applied(job("asks", stages="[{name: ask, approve: go}]"))
        asks = self.start("asks")
        for act, field in (("pause", "reason"), ("stop", "reason"), ("retry", "reason"), ("approve", "comment"),
                           ("reject", "comment")):
            with self.subTest(act=act):
                self.refused(self.call("POST", f"/runs/{asks}/{act}", {field: "r" * LARGE}), says="at most")
        self.refused(self.call("POST", f"/runs/{asks}/skip", {"stage": "ask", "reason": "r" * LARGE}), says="at most")
        self.refused(self.call("POST", "/freezes", {"scope": "all", "reason": "r" * LARGE}), says="at most")
        self.refused(self.call("POST", "/jobs/asks/start", {"reason": "r" * LARGE}), says="at most")

    def test_targets_of_a_run_are_cut_in_lists(self):
        targets = " or ".join(["h1"] * 900)
        answer = self.call("POST", "/runs", {"targets": targets, "command": {"argv": ["true"]}})
        self.assertEqual(answer.status, 201, answer.body[:500])
        run = answer.json()["id"]
        listed = [each for each in self.call("GET", "/runs").json()["runs"] if each["id"] == run][0]
        self.assertLess(len(listed["targets"]), 1100)
        self.assertEqual(self.call("GET", f"/runs/{run}").json()["targets"], targets)

    def test_lists_in_documents_have_an_end(self):
        def refused(*texts, says):
            self.refused(self.apply(*texts), says=says, status=422)

        refused(job("j", "notify:\n" + "  - {on: paused, to: ops}\n" * 15_000), says="at most 20 notices")
        blackouts = "every: 1s\njob: j\nblackouts:\n" + "  - {cron: '0 0 30 2 *', lasts: 1s}\n" * 15_000
        refused(job("j"), document("trigger", "t", blackouts), says="at most 100 blackouts")
        patterns = "params:\n" + "".join(f"  p{i}: {{pattern: '{'[a-z]+' * 3}'}}\n" for i in range(400))
        refused(job("j", patterns), says="at most 100 patterns")
        refused(job("j", "params: {p: {pattern: '\\pL{900}'}}\n"), says="too large")
        refused(job("j", f"params: {{p: {{pattern: '{'x' * 1001}'}}}}\n"), says="longer than")
        headers = "type: webhook\nurl: https://a.example\nheaders:\n" + "".join(f"  X-{i}: v\n" for i in range(51))
        refused(document("channel", "c", headers), says="at most 50 headers")
        tar = "[{name: a, http: {url: 'https://a.example', timeout: 1000h}}]"
        refused(job("j", stages=tar), says="at most 1h")

    def test_a_silent_server_holds_up_no_other_runs_notice(self):
        world = serve_stub(self, Answers, taken=[])
        silent = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.addCleanup(silent.close)
        tar = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        stages = "\n".join(f"  - {{name: s{i}, needs: [], http: {{url: '{tar}', timeout: 1h}}}}" for i in range(8))
        tell = "\n".join(f"  - {{name: n{i}, needs: [], notify: {{to: tar, message: hello}}}}" for i in range(8))
        self.applied(
            document("channel", "ops", f"type: webhook\nurl: {world.url}/\n"),
            document("channel", "tar", f"type: webhook\nurl: {tar}\n"),
            job("honest", "notify: {on: awaiting_approval, to: ops}\n", "[{name: ask, approve: go}]"),
            job("tar", stages="\n" + stages), job("tell", stages="\n" + tell))
        held = [self.start("tar") for _ in range(3)] + [self.start("tell")]

        connections = []

        def connected():
            silent.settimeout(0.2)
            try:
                connections.append(silent.accept()[0])
            except TimeoutError:
                pass
            return len(connections) >= 7
        # Five requests, however many there are, and two messages.
        wait_until("the silent server has its connections", connected)
        self.addCleanup(lambda: [each.close() for each in connections])
        run = self.start("honest")
        wait_until("the notice of another run came", lambda: any(each["run"] == run for each in world.taken), 20)
        for each in held:
            self.call("POST", f"/runs/{each}/stop", {"grace_ms": 0})

    def test_a_wrong_answer_to_an_approval_is_cheap(self):
        count = 300
        stages = "".join(f"  - {{name: a{i}, approve: go, needs: []}}\n" for i in range(count))
        stages += "".join(f"  - {{name: b{i}, needs: [a0], script: {{file: b{i}.sh}}}}\n" for i in range(3))
        body = {"documents": [{"file": "f.yaml", "text": job("wide", stages="\n" + stages),
                               "attachments": {f"b{i}.sh": "#" * LARGE for i in range(3)}}]}
        self.assertEqual(self.call("POST", "/documents", body).status, 200)
        run = self.start("wide")
        wait_until("every approval is asked for",
                   lambda: len(self.call("GET", f"/runs/{run}/visits?limit=1000").json()["visits"]) == count)
        visits = self.call("GET", f"/runs/{run}/visits?limit=1000").json()["visits"]
        self.assertEqual(len({each["approval"] for each in visits}), count)
        for wrong in ("1-1-000000000000", "x", visits[0]["approval"] + "0"):
            self.assertEqual(self.call("POST", f"/runs/{run}/approve", {"approval": wrong}, timeout=CHEAP).status, 409)
        right = visits[7]["approval"]
        self.assertEqual(self.call("POST", f"/runs/{run}/approve", {"approval": right}, timeout=CHEAP).status, 202)
        self.call("POST", f"/runs/{run}/stop", {"grace_ms": 0})

    def test_a_channel_that_sends_a_secret_is_on_the_trail(self):
        self.assertCode(self.cluster.muster("secrets", "set", "prod.db", stdin=b"TOPSECRET-42\n"), 0)
        self.applied(document("channel", "away", "type: webhook\nurl: http://127.0.0.1:9/T0K3N\n"
                                                 "headers: {X-S: 'secret:prod.db'}\n"))
        self.assertEqual(self.call("DELETE", "/documents/channel/away").status, 200)
        trail = self.cluster.get("/audit", limit=100)["entries"]
        entry = [each for each in trail if each["act"] == "channel.apply" and each["object"] == "channel away"][0]
        self.assertEqual(entry["facts"]["secrets"], ["header X-S=secret:prod.db"])
        self.assertEqual(entry["facts"]["host"], "127.0.0.1:9")
        self.assertNotIn("T0K3N", json.dumps(trail))
        self.assertNotIn("TOPSECRET", json.dumps(trail))


if __name__ == "__main__":
    unittest.main()
