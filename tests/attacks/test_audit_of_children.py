#!/usr/bin/env python3
"""An operator hides what a run does in a job that another job starts.

The attacker holds an operator's token. The job that they start does nothing itself: its stage starts another job, whose
script, secrets, requests and hosts they would like to keep off the audit trail. An admin must find each child run there: by its
hosts, by who started it and by its number, with what it did and for which run. A stop of the run is found by the hosts where
a child was stopped by it.
"""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

VALUE = "correct-horse-battery"

DOCUMENTS = """apiVersion: muster/v1
kind: job
name: hidden
params:
  word: {default: plain}
  key: {type: secret, default: 'secret:db.password'}
stages:
  - name: evil
    script: {run: echo the-hidden-script, env: {PASSWORD: 'secret:db.password'}}
  - name: call
    when: ${{ params.word == 'never' }}
    http: {method: POST, url: 'https://example.com/x', headers: {Authorization: Bearer secret:db.password}}
---
apiVersion: muster/v1
kind: job
name: harmless
targets: h1,h2
stages:
  - {name: nothing, script: 'true'}
  - name: deeper
    batches: [1, 1]
    job: {name: hidden, params: {word: '${{ run.id }}'}}
---
apiVersion: muster/v1
kind: job
name: fails-once
targets: h1,h2
stages:
  - {name: work, script: test -e FLAGFILE}
  - {name: after, approve: {message: 'go on?'}}
  - {name: last, script: echo last}
---
apiVersion: muster/v1
kind: job
name: long
stages:
  - {name: work, script: sleep 300}
---
apiVersion: muster/v1
kind: job
name: outer
targets: h1,h2
stages:
  - {name: sub, job: long}
---
apiVersion: muster/v1
kind: trigger
name: nightly
job: harmless
every: 1000h
"""


class AuditOfChildren(ClusterTest):
    hosts = ("h1", "h2")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.token = cls.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()
        assert cls.cluster.muster("secrets", "set", "db.password", stdin=VALUE.encode()).code == 0
        cls.flag = cls.cluster.folder / "flag"
        file = cls.cluster.folder / "jobs.yaml"
        file.write_text(DOCUMENTS.replace("FLAGFILE", str(cls.flag)))
        applied = cls.mallory("apply", "-f", file)
        assert applied.code == 0, applied

    def tearDown(self):
        self.assertCode(self.cluster.muster("audit", "verify"), 0)

    @classmethod
    def mallory(cls, *words):
        return cls.cluster.muster(*words, environment={"MUSTER_TOKEN": cls.token, "MUSTER_TOKEN_FILE": ""})

    def entries(self, **query):
        entries = self.cluster.get("/audit", limit=200, **query)["entries"]
        self.assertNotIn(VALUE, json.dumps(entries))
        return entries

    def children(self, parent, **query):
        return [entry for entry in self.entries(act="run.start", **query) if entry["facts"].get("parent") == parent]

    def started(self, *words):
        outcome = self.mallory(*words)
        self.assertCode(outcome, 0)
        run = outcome.text.strip()
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        return run

    def test_child_is_found_with_what_it_did(self):
        parent = self.started("start", "harmless")
        children = self.children(parent)
        self.assertEqual(sorted(entry["names"] for entry in children), ["h1", "h2"], "one entry for each batch's child")
        for entry in children:
            self.assertEqual((entry["actor"], entry["hosts"]), ("mallory", 1))
            self.assertEqual(entry["run"], entry["object"])
            self.assertIn("the-hidden-script", entry["command"])
            self.assertEqual(entry["detail"], f"job hidden version 1 on 1 host, stage deeper of {parent}")
            facts = entry["facts"]
            self.assertEqual((facts["job"], facts["version"], facts["stage"]), ("hidden", 1, "deeper"))
            self.assertEqual(facts["params"], {"word": parent, "key": "secret:db.password"})
            self.assertIn("PASSWORD=secret:db.password", facts["secrets"])
            self.assertIn("header Authorization=secret:db.password", facts["secrets"])
        shown = self.cluster.muster("audit", "show", children[0]["number"])
        self.assertIn("the-hidden-script", shown.text)
        self.assertIn(parent, shown.text)

    def test_child_is_found_by_its_host_and_by_its_starter(self):
        parent = self.started("start", "harmless")
        for host in ("h1", "h2"):
            self.assertEqual([entry["names"] for entry in self.children(parent, host=host)], [host])
        self.assertEqual(len(self.children(parent, by="mallory")), 2)
        text = self.cluster.muster("audit", "--host", "h1", "--by", "mallory").text
        self.assertIn(f"stage deeper of {parent}", text)

    def test_child_is_found_by_its_number(self):
        parent = self.started("start", "harmless")
        child = self.children(parent)[0]
        self.assertEqual([entry["number"] for entry in self.entries(run=child["run"])], [child["number"]])
        text = self.cluster.muster("audit", "--run", child["run"]).text
        self.assertIn("the-hidden-script", text)
        self.assertEqual([entry["run"] for entry in self.entries(run=parent, act="run.start")], [parent])

    def test_child_of_a_triggered_run_names_the_trigger_and_its_author(self):
        self.assertCode(self.mallory("triggers", "backfill", "nightly", "--from", "45d", "--to", "1m"), 0)

        def children():
            return [entry for entry in self.entries(act="run.start", by="(trigger nightly)") if "parent" in entry["facts"]]
        found = wait_until("a child of a backfilled run", children)
        self.assertEqual(found[0]["facts"]["job"], "hidden")
        self.assertIn("mallory", found[0]["facts"]["starters"])

    def test_retry_names_its_hosts(self):
        """Also a retry that begins at an approval, and reaches hosts only behind it."""
        run = self.mallory("start", "fails-once").text.strip()
        self.assertEqual(self.cluster.wait_end(run)["state"], "failed")
        self.flag.touch()
        self.assertCode(self.mallory("retry", run), 0)
        self.answer(run, "reject")
        self.cluster.wait_end(run)
        self.assertCode(self.mallory("retry", run), 0)
        self.answer(run, "approve")
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        for host in ("h1", "h2"):
            retries = [entry for entry in self.entries(act="run.retry", host=host) if entry["run"] == run]
            self.assertEqual([(entry["hosts"], entry["names"]) for entry in retries], [(2, "h[1-2]")] * 2, host)

    def test_stop_names_the_hosts_of_the_child(self):
        run = self.mallory("start", "outer").text.strip()
        child = wait_until("the child starts", lambda: next(
            (v["child"] for v in self.cluster.get(f"/runs/{run}/visits")["visits"] if v["child"]), None))
        for host in ("h1", "h2"):
            self.cluster.wait_task(child, host, "running")
        self.assertCode(self.mallory("stop", run, "--grace", "0s", "--yes"), 0)
        self.cluster.wait_end(run)
        for host in ("h1", "h2"):
            stops = [entry for entry in self.entries(act="run.stop", host=host) if entry["run"] == run]
            self.assertEqual([(entry["hosts"], entry["names"]) for entry in stops], [(2, "h[1-2]")], host)
            self.assertIn("1 run inside", stops[0]["detail"])

    def answer(self, run, act):
        wait_until("it waits", lambda: self.cluster.run_of(run)["stages"][1]["state"] == "awaiting_approval")
        self.assertCode(self.cluster.muster(act, run), 0)


if __name__ == "__main__":
    unittest.main()
