#!/usr/bin/env python3
"""An operator tries what they may not do, again and again, and hopes that it is seen nowhere.

The attacker holds an operator's token. They ask for admins' routes, answer their own approval and try to skip it. Each attempt is
denied, and the server's log must say who tried what; and however often they try, the log must not grow without bound, nor may
callers without a token keep such lines out of it.
"""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

FLOOD = 300

JOB = """apiVersion: muster/v1
kind: job
name: asks
targets: h1
stages:
  - {name: ask, approve: {message: 'go on?', not: starter}}
  - {name: work, script: 'true'}
"""


class DeniedIsLogged(ClusterTest):
    hosts = ("h1",)

    def setUp(self):
        self.cluster.restart_server()  # the bound on lines is counted from here
        self.cluster.wait_online("h1")
        self.before = len(self.lines())

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.token = cls.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()
        file = cls.cluster.folder / "job.yaml"
        file.write_text(JOB)
        assert cls.cluster.muster("apply", "-f", file).code == 0

    def lines(self):
        return [line for line in self.cluster.server.log.read_text().splitlines() if " denied " in line]

    def denied(self, method, path, body=None):
        """The attempt is refused; the line about it."""
        before = len(self.lines())
        answer = self.cluster.http(method, "/api/v1" + path, body, token=self.token)
        self.assertEqual(answer.status, 403, answer)
        line = wait_until("a line in the log", lambda: self.lines()[before:])[0]
        self.assertIn('by="mallory"', line)
        self.assertIn(f'method={method} path="/api/v1{path}"', line)
        self.assertIn("remote=127.0.0.1", line)
        return line

    def test_routes_of_admins(self):
        self.assertIn("needs the role admin", self.denied("GET", "/audit"))
        self.denied("POST", "/tokens", {"name": "more", "role": "admin"})

    def test_own_approval_and_skip(self):
        run = self.cluster.muster("start", "asks", environment={"MUSTER_TOKEN": self.token, "MUSTER_TOKEN_FILE": ""}).text.strip()
        wait_until("it waits", lambda: self.cluster.run_of(run)["stages"][0]["state"] == "awaiting_approval")
        self.denied("POST", f"/runs/{run}/approve", {"stage": "ask"})
        self.denied("POST", f"/runs/{run}/skip", {"stage": "ask", "reason": "no need"})
        self.assertCode(self.cluster.muster("stop", run, "--yes"), 0)
        self.cluster.wait_end(run)

    def test_flood_is_bounded(self):
        for _ in range(FLOOD):
            self.assertEqual(self.cluster.http("GET", "/api/v1/audit", token=self.token).status, 403)
        wait_until("a line in the log", lambda: len(self.lines()) > self.before)
        self.assertLess(len(self.lines()) - self.before, FLOOD // 2)
        self.assertNotIn("left_out", self.lines()[self.before])

        def left_out():
            self.cluster.http("GET", "/api/v1/audit", token=self.token)
            return [int(count) for line in self.lines()[self.before:] for count in re.findall(r" left_out=(\d+)$", line)]
        self.assertGreater(wait_until("a line says how many were left out", left_out)[0], 0)

    def test_what_is_cut_ends_with_a_mark(self):
        self.assertEqual(self.cluster.http("GET", "/api/v1/audit/" + "1" * 300, token=self.token).status, 403)
        line = wait_until("a line in the log", lambda: self.lines()[self.before:])[0]
        self.assertRegex(line, r'path="/api/v1/audit/1{100,}…"')

    def test_callers_without_a_token_hide_nothing(self):
        for _ in range(60):
            self.assertIn(self.cluster.http("GET", "/api/v1/audit", token="guess").status, (401, 429))
        self.denied("GET", "/audit")


if __name__ == "__main__":
    unittest.main()
