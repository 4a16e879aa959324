#!/usr/bin/env -S /usr/bin/python3 -B
"""Freezes and hosts in maintenance, from the command line to the store and back."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402


class FreezeTest(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster()
        for name in ("web1", "web2", "db1"):
            self.cluster.add_agent(name, labels={"zone": "sh1" if name != "db1" else "sh2"})
        self.cluster.wait_online("web1", "web2", "db1")

    def muster(self, *words):
        return self.cluster.muster(*words)

    def test_a_freeze_refuses_by_name_outlives_the_server_and_is_thawed(self):
        frozen = self.muster("freeze", "--reason", "storage is on fire", "-o", "json").json()["freezes"][0]
        refused = self.muster("run", "-t", "web1", "--", "true")
        self.assertNotEqual(refused.code, 0)
        self.assertIn(frozen["id"], refused.complaint)
        self.assertIn("storage is on fire", refused.complaint)
        self.assertIn("--during-freeze", refused.complaint)
        self.assertEqual(self.muster("run", "--during-freeze", "-t", "web1", "--", "echo", "hi").text, "hi\n")
        self.assertIn("storage is on fire", self.muster("status").text)
        self.cluster.restart_server()
        self.assertIn(frozen["id"], self.muster("freeze", "--list").text)
        self.assertEqual(self.muster("run", "-t", "web1", "--", "true").code, refused.code)
        self.muster("thaw")
        self.assertEqual(self.muster("run", "-t", "web1", "--", "true").code, 0)
        self.assertEqual(self.muster("freeze", "--list", "-o", "json").json()["freezes"], [])

    def test_a_freeze_of_hosts_lets_runs_without_them_pass(self):
        self.muster("freeze", "-t", "zone=sh1", "--for", "1h", "--reason", "switch work")
        self.assertEqual(self.muster("run", "-t", "db1", "--", "true").code, 0)
        refused = self.muster("run", "-t", "all", "--yes", "--", "true")
        self.assertIn("it means 2 of the run's hosts", refused.complaint)
        plan = self.muster("run", "-t", "all", "--dry-run", "--", "true").text
        self.assertIn("but: frozen by f", plan)
        self.assertIn("zone: sh1 2 of 2 (100%), sh2 1 of 1 (100%)", plan)

    def test_a_freeze_tells_how_many_hosts_it_means_now(self):
        for targets, said in (("zone=sh1", "(2 hosts now)"), ("zone=lba", "(0 hosts now")):
            self.assertIn(said, self.assertCode(self.muster("freeze", "-t", targets, "--reason", "x"), 0).complaint)
        self.muster("thaw", "--all")

    def test_a_freeze_of_a_group_that_is_gone_refuses_rather_than_lets_pass(self):
        group = self.cluster.folder / "group.yaml"
        group.write_text("apiVersion: muster/v1\nkind: group\nname: db\nhosts: [db1]\n")
        self.assertCode(self.muster("apply", "-f", group), 0)
        self.muster("freeze", "-t", "@db", "--reason", "migration")
        self.assertCode(self.muster("run", "-t", "web1", "--", "true"), 0)
        self.assertIn("migration", self.muster("run", "-t", "db1", "--", "true").complaint)
        self.assertCode(self.muster("delete", "group", "db"), 0)
        self.assertIn("migration", self.muster("run", "-t", "db1", "--", "true").complaint)

    def test_bad_freezes_are_refused_and_change_nothing(self):
        for words, said in (((), "--reason"), (("-t", "zone==", "--reason", "x"), "column 6"),
                            (("--job", "depoly", "--reason", "x"), "there is no job"),
                            (("--for", "soon", "--reason", "x"), "--for"), (("everything", "--reason", "x"), "triggers")):
            outcome = self.muster("freeze", *words)
            self.assertEqual(outcome.code, 2, outcome.complaint)
            self.assertIn(said, outcome.complaint)
        for targets in ("webb1", "zone=sh1 or webb1", "@nogroup"):
            refused = self.assertCode(self.muster("freeze", "-t", targets, "--reason", "x"), 4)
            self.assertIn(targets.split()[-1].lstrip("@"), refused.complaint)
        self.assertEqual(self.muster("freeze", "--list", "-o", "json").json()["freezes"], [])
        self.assertIn("nothing is frozen", self.muster("thaw").complaint)
        self.assertIn("f99", self.muster("thaw", "f99").complaint)

    def test_a_host_in_maintenance_is_left_out_and_said_so(self):
        self.muster("hosts", "maintenance", "web2", "--for", "1h", "--reason", "new disks")
        outcome = self.muster("run", "-t", "web*", "--", "echo", "here")
        self.assertEqual(outcome.text, "here\n")
        self.assertIn("1 in maintenance: web2 (", outcome.complaint)
        self.assertIn("new disks", self.muster("hosts", "web2").text)
        alone = self.muster("run", "-t", "web2", "--", "true")
        self.assertNotEqual(alone.code, 0)
        self.assertIn("--include-maintenance", alone.complaint)
        self.assertEqual(self.muster("run", "--include-maintenance", "-t", "web2", "--", "true").code, 0)
        self.cluster.restart_server()
        self.assertIn("new disks", self.muster("hosts", "web2").text)
        self.assertIn("1 host out", self.muster("hosts", "maintenance", "web*", "--end").complaint)
        self.assertIn("nothing to end", self.muster("hosts", "maintenance", "web2", "--end").complaint)
        self.assertEqual(self.muster("run", "-t", "web2", "--", "true").code, 0)
        trail = self.muster("audit", "--host", "web2").text
        self.assertIn("host.maintenance", trail)

    def test_dry_run_leaves_out_hosts_in_maintenance_as_the_run_does(self):
        self.muster("hosts", "maintenance", "web2", "--for", "1h", "--reason", "new disks")
        job = self.cluster.folder / "all.yaml"
        job.write_text("apiVersion: muster/v1\nkind: job\nname: everywhere\ntargets: zone=sh1\n"
                       "stages:\n  - {name: only, script: 'true'}\n")
        self.assertCode(self.muster("apply", "-f", job), 0)
        for words in (("run", "-t", "zone=sh1", "--", "true"), ("start", "everywhere")):
            with self.subTest(words=words):
                dry = (*words[:1], "--dry-run", *words[1:])
                plan = self.assertCode(self.muster(*dry), 0).text
                self.assertIn("1 host: web1\n", plan)
                self.assertIn("left out: 1 in maintenance: web2 (", plan)
                self.assertIn("zone: sh1 1 of 2 (50%)", plan)
                self.assertNotIn("but:", plan)
                whole = self.assertCode(self.muster(words[0], "--include-maintenance", *dry[1:]), 0).text
                self.assertIn("2 hosts: web[1-2]\n", whole)
                self.assertNotIn("maintenance", whole)
                refused = self.assertCode(self.muster(words[0], "--require-all", *dry[1:]), 1).complaint
                self.assertEqual(refused, self.assertCode(self.muster(words[0], "--require-all", *words[1:]), 1).complaint)
                self.assertIn("some hosts are left out, and none may be", refused)
        alone = self.assertCode(self.muster("run", "-t", "web2", "--dry-run", "--", "true"), 1).complaint
        self.assertEqual(alone, self.assertCode(self.muster("run", "-t", "web2", "--", "true"), 1).complaint)

    def test_dry_run_during_a_freeze_names_it_unless_it_is_passed_over(self):
        self.muster("freeze", "--reason", "switch work")
        words = ("-t", "web1", "--dry-run", "--", "true")
        self.assertIn("but: frozen by f", self.assertCode(self.muster("run", *words), 0).text)
        self.assertNotIn("frozen", self.assertCode(self.muster("run", "--during-freeze", *words), 0).text)

    def test_dry_run_names_a_freeze_of_a_job_that_the_job_starts(self):
        jobs = self.cluster.folder / "jobs.yaml"
        jobs.write_text("apiVersion: muster/v1\nkind: job\nname: inner\ntargets: web1\n"
                        "stages:\n  - {name: only, script: 'true'}\n---\n"
                        "apiVersion: muster/v1\nkind: job\nname: outer\ntargets: web1\nstages:\n  - {name: sub, job: inner}\n")
        self.assertCode(self.muster("apply", "-f", jobs), 0)
        self.muster("freeze", "--job", "inner", "--reason", "broken")
        self.assertIn("but: frozen by f", self.assertCode(self.muster("start", "outer", "--dry-run"), 0).text)
        self.assertCode(self.muster("start", "outer"), 1)

    def test_backfill_is_refused_as_fire_is(self):
        documents = self.cluster.folder / "trigger.yaml"
        documents.write_text("apiVersion: muster/v1\nkind: job\nname: tick\ntargets: web1\n"
                             "stages:\n  - {name: only, script: 'true'}\n---\n"
                             "apiVersion: muster/v1\nkind: trigger\nname: past\njob: tick\ncron: '30 2 * * *'\ntz: UTC\n")
        self.assertCode(self.muster("apply", "-f", documents), 0)
        backfill = ("triggers", "backfill", "past", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-03T00:00:00Z")
        self.muster("freeze", "triggers", "--reason", "quiet")
        self.assertCode(self.muster("triggers", "fire", "past"), 0)
        self.muster("thaw", "--all")
        self.muster("freeze", "--reason", "storage is on fire")
        fired = self.assertCode(self.muster("triggers", "fire", "past"), 1).complaint
        self.assertIn("--during-freeze", fired)
        self.assertEqual(self.assertCode(self.muster(*backfill), 1).complaint, fired)
        self.assertNotIn("frozen", self.muster("slots", "past").text)
        self.assertCode(self.muster(*backfill, "--during-freeze"), 0)

        def started():
            rows = self.cluster.get("/triggers/past/slots")["slots"]
            return [row["result"] for row in rows if row["by_hand"]] == ["started"] * 3

        wait_until("all are started", started)

    def test_stop_all_ends_every_open_run(self):
        runs = [self.cluster.start_run("-t", name, "--", "sleep 300") for name in ("web1", "web2", "db1")]
        said = self.muster("stop", "--all", "--grace", "0s", "--reason", "the red button")
        self.assertIn("stopped 3 in all", said.complaint)
        for run in runs:
            self.assertEqual(self.cluster.wait_end(run)["state"], "cancelled")
        self.assertIn("no such run is open", self.muster("stop", "--all").complaint)

    def test_stop_of_a_job_that_is_not_there_is_a_mistake(self):
        job = self.cluster.folder / "slow.yaml"
        job.write_text("apiVersion: muster/v1\nkind: job\nname: slow\nstages:\n  - {name: only, script: 'true'}\n")
        self.assertCode(self.muster("apply", "-f", job), 0)
        self.assertIn("no such run is open", self.assertCode(self.muster("stop", "--job", "slow"), 0).complaint)
        slip = self.assertCode(self.muster("stop", "--job", "sloww"), 4)
        self.assertIn("did you mean 'slow'?", slip.complaint)
        self.assertCode(self.muster("delete", "job", "slow"), 0)


if __name__ == "__main__":
    unittest.main()
