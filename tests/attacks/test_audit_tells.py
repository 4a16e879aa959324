#!/usr/bin/env python3
"""An operator does something and leaves a record that does not tell of it.

The attacker holds an operator's token. They choose a harmless title, push a file, pull another, restart a host, run
something as another user with variables and secrets of their choice, and start a job whose first script is harmless. An admin
who reads the audit trail afterwards must see what was done, with what, on what and by whom; and never a secret's value.
"""

import hashlib
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

VALUE = "correct-horse-battery"


class AuditTells(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.token = cls.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()
        assert cls.cluster.muster("secrets", "set", "db.password", stdin=VALUE.encode()).code == 0

    def tearDown(self):
        self.assertCode(self.cluster.muster("audit", "verify"), 0)

    def mallory(self, *words, **more):
        environment = {"MUSTER_TOKEN": self.token, "MUSTER_TOKEN_FILE": ""}
        return self.cluster.muster(*words, environment=environment, **more)

    def call(self, path, body):
        answer = self.cluster.http("POST", "/api/v1" + path, body, token=self.token)
        self.assertIn(answer.status, (200, 201, 202), answer)
        return answer.json()

    def entry(self, act, run):
        """The entry, and all of it as one text."""
        for entry in self.cluster.get("/audit", act=act, limit=100)["entries"]:
            if entry["run"] == run:
                text = json.dumps(entry)
                self.assertNotIn(VALUE, text)
                return entry, text
        raise AssertionError(f"no {act} of {run}")

    def started(self, body):
        run = self.call("/runs", body)["id"]
        self.cluster.wait_end(run)
        return self.entry("run.start", run)

    def test_start_in_spite_of_maintenance(self):
        self.assertCode(self.cluster.muster("hosts", "maintenance", "h1", "--reason", "disk", "--yes"), 0)
        try:
            _, text = self.started({"targets": "h1", "command": {"argv": ["true"]}, "include_maintenance": True})
        finally:
            self.assertCode(self.cluster.muster("hosts", "maintenance", "h1", "--end", "--yes"), 0)
        self.assertIn("in spite of", text)
        self.assertIn("maintenance", text)

    def test_title_does_not_stand_for_the_push(self):
        content = b"* * * * * root evil\n"
        digest = hashlib.sha256(content).hexdigest()
        self.assertEqual(self.cluster.http("PUT", f"/api/v1/artifacts/{digest}", content, token=self.token,
                                           headers={"Content-Type": "application/octet-stream"}).status // 100, 2)
        destination = str(self.cluster.folder / "pushed")
        pushes = []
        for place in (destination, destination + ".other"):
            file = {"path": "", "sha256": digest, "size": len(content), "mode": "0644"}
            entry, text = self.started({"targets": "h1", "title": "echo hello", "push": {"files": [file], "to": place}})
            self.assertIn(place, text)
            self.assertIn(digest, text)
            pushes.append(entry["command_sha256"])
        self.assertNotEqual(*pushes, "the hash covers where the file went")
        self.assertNotIn("echo hello", entry["detail"])

    def test_many_files_and_a_long_path_do_not_hide_owner_and_mode(self):
        content = b"x"
        digest = hashlib.sha256(content).hexdigest()
        self.assertEqual(self.cluster.http("PUT", f"/api/v1/artifacts/{digest}", content, token=self.token,
                                           headers={"Content-Type": "application/octet-stream"}).status // 100, 2)
        folder = self.cluster.folder / "many"
        folder.mkdir()
        for to, count in ((f"{folder}/tree", 60), (f"{folder}/" + "x" * 250, 1), (f"{folder}/" + "y" * 250, 60)):
            files = [{"path": f"f{i:03}" if count > 1 else "", "sha256": digest, "size": 1, "mode": "0644"}
                     for i in range(count)]
            push = {"files": files, "to": to, "mode": "4755", "owner": "root", "tree": count > 1}
            entry, _ = self.started({"targets": "h1", "push": push})
            self.assertTrue(entry["command"].endswith(" owner root mode 4755"), entry["command"])

    def test_title_does_not_stand_for_the_pull(self):
        secret_file = self.cluster.folder / "shadow"
        secret_file.write_text("x")
        entry, text = self.started({"targets": "h1", "title": "uptime", "pull": {"paths": [str(secret_file)]}})
        self.assertIn(str(secret_file), text)
        self.assertNotIn("uptime", entry["detail"])

    def test_user_variables_and_secrets_are_named(self):
        entry, text = self.started({"targets": "h1", "command": {"script": "true"}, "user": "root",
                                    "env": {"EVIL_PATH": "/tmp/evil.so"}, "secrets": {"PASSWORD": "db.password"}})
        for part in ("EVIL_PATH", "PASSWORD", "db.password", "root"):
            self.assertIn(part, text)
        plain, _ = self.started({"targets": "h1", "command": {"script": "true"}, "user": "root",
                                 "env": {"EVIL_PATH": "/tmp/evil.so"}})
        self.assertNotEqual(entry["command_sha256"], plain["command_sha256"], "the hash covers the secrets")

    def test_job_is_named_with_version_parameters_stages_and_approvals(self):
        file = self.cluster.folder / "job.yaml"
        file.write_text("""apiVersion: muster/v1
kind: job
name: tells
targets: h1
params:
  to: {required: true}
  key: {type: secret, required: true}
stages:
  - name: first
    script: 'true'
  - name: ask
    approve: {message: 'to ${{ params.to }}?', not: starter}
  - name: second
    script: echo the-second-script
""")
        self.assertCode(self.mallory("apply", "-f", file), 0)
        run = self.mallory("start", "tells", "-p", "to=6.1", "-p", "key=secret:db.password").text.strip()
        _, text = self.entry("run.start", run)
        for part in ("tells", '"version": 1', '"to": "6.1"', "secret:db.password", "the-second-script", "ask"):
            self.assertIn(part, text)
        shown = self.cluster.muster("audit", "--act", "run.start", "-n", "1").text
        for part in ("tells", "version 1", "to=6.1", "the-second-script"):
            self.assertIn(part, shown)
        wait_until("it waits", lambda: self.cluster.run_of(run)["stages"][1]["state"] == "awaiting_approval")
        self.assertCode(self.cluster.muster("approve", run, "--comment", "fine"), 0)
        approval, text = self.entry("run.approve", run)
        self.assertEqual(approval["facts"]["stage"], "ask")
        self.assertEqual(approval["facts"]["starters"], ["mallory"])
        self.assertEqual(approval["facts"]["job"], "tells")
        self.assertIn("to 6.1?", text)

    def test_fired_trigger_tells_what_it_passed_over(self):
        file = self.cluster.folder / "fired.yaml"
        file.write_text("""apiVersion: muster/v1
kind: job
name: fired
targets: h1
stages: [{name: stay, wait: 1h}]
---
apiVersion: muster/v1
kind: trigger
name: fired
job: fired
once: 2099-01-01T00:00:00Z
""")
        self.assertCode(self.mallory("apply", "-f", file), 0)
        first = self.call("/triggers/fired/fire", {})["id"]
        self.assertCode(self.cluster.muster("freeze", "--reason", "holidays", "--yes"), 0)
        self.addCleanup(self.cluster.muster, "thaw", "--all", "--yes")
        self.addCleanup(self.cluster.muster, "stop", "--all", "--yes")
        second = self.call("/triggers/fired/fire", {"during_freeze": True, "despite_overlap": True})["id"]
        entry, _ = self.entry("run.start", second)
        fires = self.cluster.get("/audit", act="trigger.fire", limit=10)["entries"]
        for detail in (entry["detail"], fires[0]["detail"]):
            self.assertIn("during a freeze", detail)
            self.assertIn(f"despite the overlap with {first}", detail)
        self.assertEqual(fires[1]["detail"], "")

    def test_acts_about_hosts_name_them_and_say_why(self):
        def last(act):
            return self.cluster.get("/audit", act=act, limit=1)["entries"][0]

        self.assertCode(self.mallory("hosts", "maintenance", "all", "--reason", "quiet"), 0)
        self.assertCode(self.mallory("hosts", "maintenance", "all", "--end"), 0)
        for entry in self.cluster.get("/audit", act="host.maintenance", limit=2)["entries"]:
            self.assertEqual((entry["hosts"], entry["names"], entry["actor"]), (1, "h1", "mallory"))
        file = self.cluster.folder / "asks.yaml"
        file.write_text("apiVersion: muster/v1\nkind: job\nname: asks\ntargets: h1\nstages: [{name: ask, approve: {message: go on}}]\n")
        self.assertCode(self.mallory("apply", "-f", file), 0)
        run = self.mallory("start", "asks").text.strip()
        wait_until("it asks", lambda: self.cluster.run_of(run)["stages"][0]["state"] == "awaiting_approval")
        self.assertCode(self.mallory("approve", run, "--yes"), 0)
        self.assertEqual((last("run.approve")["hosts"], last("run.approve")["names"]), (1, "h1"))
        self.cluster.add_agent("h9")
        self.cluster.wait_online("h9")
        self.assertCode(self.cluster.muster("agents", "revoke", "h9", "--reason", "stolen", "--yes"), 0)
        self.assertEqual((last("agent.revoke")["reason"], last("agent.revoke")["object"]), ("stolen", "host h9"))

    def test_triggered_run_names_its_job_and_authors(self):
        file = self.cluster.folder / "trigger.yaml"
        file.write_text("""apiVersion: muster/v1
kind: job
name: timed
targets: h1
stages: [{name: work, script: echo timed-script}]
---
apiVersion: muster/v1
kind: trigger
name: timed
job: timed
every: 1s
""")
        self.assertCode(self.mallory("apply", "-f", file), 0)
        runs = wait_until("a run", lambda: [run for run in self.cluster.get("/runs", limit=50)["runs"]
                                            if run["title"] == "timed"])
        self.assertCode(self.mallory("triggers", "pause", "timed"), 0)
        entry, text = self.entry("run.start", runs[-1]["id"])
        self.assertIn("timed-script", text)
        self.assertEqual(entry["facts"]["trigger"], "timed")
        self.assertEqual(entry["facts"]["starters"], ["mallory"])


if __name__ == "__main__":
    unittest.main()
