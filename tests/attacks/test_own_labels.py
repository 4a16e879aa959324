#!/usr/bin/env python3
"""A host chooses labels for itself so that it is given secrets.

The attacker is root on a machine that may join (it holds a join token) and says `app=db` of itself, because jobs for
`app=db` get the database's password. With an invite that leaves own labels out they must not get the label; and a person who
applies or starts a job with secrets for labels or facts that hosts choose is warned.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import Agent, ClusterTest  # noqa: E402

JOB = """apiVersion: muster/v1
kind: job
name: {name}
targets: {targets}
stages:
  - name: work
    script: {{run: 'true', env: {{PASSWORD: 'secret:db.password'}}}}
"""


class OwnLabels(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("h1", labels={"app": "db"})
        cls.cluster.wait_online("h1")
        assert cls.cluster.muster("secrets", "set", "db.password", stdin=b"correct-horse").code == 0

    def join_with(self, name, *words):
        token = self.cluster.muster("agents", "invite", *words)
        self.assertCode(token, 0)
        agent = Agent(self.cluster, name, self.cluster.folder / name,
                      ["--server", self.cluster.url, "--name", name, "--label", "app=db"],
                      environment={"MUSTER_JOIN": token.text.strip()})
        self.cluster.daemons.append(agent)
        agent.start()
        self.cluster.wait_online(name)
        return self.cluster.get(f"/hosts/{name}")

    def apply(self, name, targets, *words):
        file = self.cluster.folder / f"{name}.yaml"
        file.write_text(JOB.format(name=name, targets=targets))
        return self.cluster.muster("apply", "-f", file, "-o", "json", *words)

    def test_invite_without_own_labels(self):
        host = self.join_with("h2", "--no-own-labels", "--label", "zone=sh1")
        self.assertEqual(host["labels"], {"zone": "sh1"})
        self.assertEqual(host["own_labels"], [])
        entry = self.cluster.get("/audit", host="h2", act="agent.join")["entries"][0]
        self.assertIn("app", entry["detail"], "what it asked for is on record")
        outcome = self.cluster.muster("run", "-t", "app=db", "--dry-run", "-o", "json", "--secret", "P=db.password", "--",
                                      "true")
        self.assertCode(outcome, 0)
        self.assertNotIn("h2", outcome.json()["names"])

    def test_own_label_is_shown_and_warned_of(self):
        self.assertEqual(self.cluster.get("/hosts/h1")["own_labels"], ["app"])
        for words in ((), ("--dry-run",)):
            outcome = self.apply("by-label", "app=db", *words)
            self.assertCode(outcome, 0)
            self.assertEqual(len(outcome.json().get("warnings", [])), 1, outcome)
            self.assertIn("warning", outcome.complaint)
        outcome = self.cluster.muster("start", "by-label", "--dry-run", "-o", "json")
        self.assertEqual(len(outcome.json().get("warnings", [])), 1, outcome)
        outcome = self.cluster.muster("start", "by-label")
        self.assertCode(outcome, 0)
        self.assertIn("warning", outcome.complaint)
        # By name, or without secrets, there is nothing to warn of.
        self.assertNotIn("warnings", self.apply("by-name", "h1").json())
        outcome = self.cluster.muster("run", "-d", "-t", "app=db", "--", "true")
        self.assertNotIn("warning", outcome.complaint)

    def test_facts_are_warned_of(self):
        outcome = self.apply("by-fact", "fact.os=debian or fact.os!=debian")
        self.assertCode(outcome, 0)
        self.assertEqual(len(outcome.json().get("warnings", [])), 1, outcome)
        answer = self.cluster.http("POST", "/api/v1/runs?dry_run=true", {
            "targets": "fact.agent!=none", "command": {"script": "true"}, "secrets": {"P": "db.password"}})
        self.assertEqual(len(answer.json().get("warnings", [])), 1, answer)

    def test_label_that_the_server_gives_is_no_longer_the_hosts_own(self):
        host = self.join_with("h3")
        self.assertEqual(host["own_labels"], ["app"])
        self.assertCode(self.cluster.muster("hosts", "label", "h3", "app=db"), 0)
        self.assertEqual(self.cluster.get("/hosts/h3")["own_labels"], [])


if __name__ == "__main__":
    unittest.main()
