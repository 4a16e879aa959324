#!/usr/bin/env -S /usr/bin/python3 -B
"""The records of a cluster are moved into PostgreSQL, backed up and restored, with agents that live through it."""

import collections
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from backends import Postgres  # noqa: E402
from gated_run import GatedRun  # noqa: E402
from marked_runs import MarkedRuns  # noqa: E402
from muster_cluster import BIN, DEADLINE, ClusterTest, Daemon, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

DOCUMENTS = """apiVersion: muster/v1
kind: job
name: tick
targets: h2
stages:
  - name: tick
    script:
      run: 'test "$WORD" = opensesame && echo $MUSTER_RUN >> MARKS'
      env: {WORD: 'secret:word'}
---
apiVersion: muster/v1
kind: trigger
name: every-second
job: tick
cron: '* * * * * *'
"""


# Agents that found nobody for a while wait for up to a minute between two tries, and nothing may be called lost meanwhile.
SETTINGS = {"takeover_grace": "10m"}
BACK = 240


def musterd(*words):
    return subprocess.run([str(BIN / "musterd"), *map(str, words)], capture_output=True, text=True, timeout=DEADLINE,
                          check=False)


def wait_back(cluster, *names):
    wait_until(f"{names} are back", lambda: set(names) <= cluster.online(), BACK)


def words_of(file):
    return file.read_text().split() if file.exists() else []


class StoreCopy(ClusterTest):
    def start_with_something_of_everything(self):
        self.cluster = cluster = self.new_cluster("h1", "h2", settings=SETTINGS)
        self.postgres = Postgres(cluster.folder / "postgres", durable=False)
        cluster.daemons.append(self.postgres)
        self.postgres.make()
        self.marks = cluster.folder / "ticks"
        self.assertCode(cluster.muster("secrets", "set", "word", stdin=b"opensesame"), 0)
        text = DOCUMENTS.replace("MARKS", str(self.marks))
        answer = cluster.http("POST", "/api/v1/documents", {"documents": [{"file": "d.yaml", "text": text}]})
        self.assertEqual(answer.status, 200, answer)
        wait_until("the trigger has fired", lambda: len(words_of(self.marks)) >= 3)

    def copy(self, data=None, *options):
        return musterd("store", "copy", "--data", data or self.cluster.data, "--to", self.postgres.address, *options)

    def use_postgres(self):
        with open(self.cluster.folder / "musterd.yaml", "a", encoding="utf-8") as settings:
            settings.write(f"store: {json.dumps({'postgres': self.postgres.address})}\n")

    def seen(self):
        """What people would miss."""
        get = self.cluster.get
        return {"hosts": {host["name"]: host["id"] for host in get("/hosts")["hosts"]}, "secrets": get("/secrets"),
                "tokens": [token["name"] for token in get("/tokens")["tokens"]]}

    def test_a_server_goes_on_in_postgresql_where_it_stopped(self):
        self.start_with_something_of_everything()
        cluster = self.cluster
        done = cluster.start_run("-t", "h1,h2", "--", "echo", "kept")
        cluster.wait_end(done)
        through = GatedRun(cluster, "h1")
        refused = self.copy()
        self.assertEqual(refused.returncode, 1, refused)
        self.assertIn("stop it first", refused.stderr)
        self.assertEqual(cluster.http("POST", "/api/v1/triggers/every-second/pause", {}).status, 200)
        before = self.seen()
        last = cluster.start_run("-t", "h1", "--", "true")
        cluster.wait_end(last)
        self.assertEqual(cluster.http("POST", "/api/v1/triggers/every-second/resume", {}).status, 200)
        cluster.server.end(signal.SIGTERM)
        forked = cluster.folder / "forked"
        shutil.copytree(cluster.data, forked)
        copied = self.copy()
        self.assertEqual(copied.returncode, 0, copied)
        self.assertIn(f"postgres: {self.postgres.address}", copied.stdout)

        # Neither side is taken for the other.
        again = self.copy(forked)
        self.assertEqual(again.returncode, 1, again)
        self.assertIn("holds records already", again.stderr)
        stale = musterd("--data", cluster.data, "--listen", "127.0.0.1:0")
        self.assertEqual(stale.returncode, 1, stale)
        self.assertIn("store.postgres", stale.stderr)
        old = musterd("backup", cluster.folder / "old", "--data", cluster.data)
        self.assertEqual(old.returncode, 1, old)
        self.assertIn("store.postgres", old.stderr)

        self.use_postgres()
        cluster.start_server()
        wait_back(cluster, "h1", "h2")
        self.assertEqual(self.seen(), before)
        self.assertEqual(cluster.log_of(done, "h1"), b"kept\n")
        through.open_gate()
        through.assert_ended_once(self)
        fired = len(words_of(self.marks))
        wait_until("the trigger fires on", lambda: len(words_of(self.marks)) > fired)
        self.assertEqual(max(collections.Counter(words_of(self.marks)).values()), 1)
        findings = self.assertCode(cluster.muster("check", "slots", "every-second", "-o", "json"), 0).json()["findings"]
        self.assertEqual(findings, [])
        self.assertCode(cluster.muster("audit", "verify"), 0)
        new = cluster.start_run("-t", "h1", "--", "true")
        self.assertGreater(int(new.removeprefix("r")), int(last.removeprefix("r")))
        self.assertEqual(cluster.wait_end(new)["state"], "succeeded")

    def test_a_copy_that_is_killed_leaves_both_as_they_were(self):
        self.start_with_something_of_everything()
        self.cluster.server.end(signal.SIGTERM)
        with sqlite3.connect(self.cluster.data / "muster.db") as records:
            records.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)"
                            " INSERT INTO audit_host SELECT 1000 + i % 7, i FROM n")
        copying = Daemon([BIN / "musterd", "store", "copy", "--data", self.cluster.data, "--to", self.postgres.address],
                         self.cluster.folder / "copy.log").start()
        wait_until("it is in the middle", lambda: self.postgres.sql(
            "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'COPY audit_host %' AND state = 'active'"))
        copying.end(signal.SIGKILL)
        self.assertEqual(self.postgres.sql("SELECT term, (SELECT count(*) FROM host) FROM fence"), ["0|0"])
        self.assertFalse((self.cluster.data / "moved").exists())
        address = self.postgres.address.replace("muster@", "muster:hush@")
        again = musterd("store", "copy", "--data", self.cluster.data, "--to", address, "--without-logs")
        self.assertEqual(again.returncode, 0, again)
        self.assertNotIn("hush", again.stdout + again.stderr)
        self.assertEqual(self.postgres.sql("SELECT count(*) FROM host"), ["2"])
        # The mark stays with the folder.
        (self.cluster.folder / "musterd.yaml").write_text(f"store: {json.dumps({'postgres': self.postgres.address})}\n")
        taken = musterd("backup", self.cluster.folder / "b", "--data", self.cluster.data, "--config",
                        self.cluster.folder / "musterd.yaml")
        self.assertEqual(taken.returncode, 0, taken)
        self.assertNotIn("moved", taken.stdout)


class BackupAndRestore(ClusterTest):
    def start(self, servers):
        self.cluster = ServerCluster(SETTINGS, servers, etcds=1, lease="10s")
        self.addCleanup(self.cluster.close)
        self._own.append(self.cluster)
        self.cluster.add_agents("h1", "h2", "h3")
        self.file = self.cluster.folder / "backup"
        return self.cluster

    def config(self, member):
        return self.cluster.folder / f"{member.name}.yaml"

    def backup(self, member, *options):
        return musterd("backup", self.file, "--config", self.config(member), *options)

    def restore(self, member, *options):
        return musterd("restore", self.file, "--data", member.data, "--config", self.config(member), *options)

    def move_to_database(self, name):
        """The servers' settings name another database."""
        self.cluster.postgres.sql(f"CREATE DATABASE {name}", database="postgres")
        for member in self.cluster.members:
            text = self.config(member).read_text()
            self.config(member).write_text(text.replace("/muster?", f"/{name}?"))

    def test_a_cluster_comes_back_from_a_backup_taken_under_load(self):
        cluster = self.start(3)
        load = MarkedRuns(cluster, ["h1", "h2", "h3"], pause=0.2)
        load.start()
        wait_until("there is work", lambda: len(load.answered) >= 3)
        through = GatedRun(cluster, "h1")
        certain = {*load.answered.values(), through.id}
        taken = self.backup(cluster.followers()[0], "--logs")
        self.assertEqual(taken.returncode, 0, taken)
        at_backup = len(load.answered)
        wait_until("there is more work", lambda: len(load.answered) >= at_backup + 3)

        # No restore under a server that leads, forced or not.
        for options in ((), ("--force",)):
            refused = self.restore(cluster.members[0], *options)
            self.assertEqual(refused.returncode, 1, refused)
        self.assertIn("leads", refused.stderr)

        load.stop()
        issued = set(load.answered.values()) | {through.id}
        for member in cluster.members:
            member.end(signal.SIGKILL)
        through.waiter.process.kill()
        self.move_to_database("fresh")
        first = cluster.members[0]
        shutil.rmtree(first.data)
        restored = self.restore(first)
        self.assertEqual(restored.returncode, 0, restored)
        again = self.restore(cluster.members[1], "--force")
        self.assertEqual(again.returncode, 0, again)
        for member in cluster.members:
            member.start()
        cluster.wait_ready()
        wait_back(cluster, "h1", "h2", "h3")
        self.assertIsNotNone(cluster.get("/status")["restored"])
        through.open_gate()
        self.assertEqual(cluster.wait_end(through.id)["counts"], {"succeeded": 1})
        known = {run["id"] for run in cluster.get("/runs", limit=500)["runs"]}
        self.assertLessEqual(certain, known)
        for run in sorted(known):
            cluster.wait_end(run)
        new = cluster.start_run("-t", "all", "--", "true")
        self.assertNotIn(new, issued)
        self.assertRegex(new, r"^r\d+\.1$")
        self.assertEqual(cluster.wait_end(new)["counts"], {"succeeded": 3})
        self.assertCode(cluster.muster("audit", "verify"), 0)
        for host in load.hosts:
            self.assertEqual(max(collections.Counter(words_of(load.marks / host)).values()), 1, host)
        self.assertEqual(through.marks.read_text(), "x\n")

    def test_a_backup_of_a_cluster_is_one_of_a_single_server_too(self):
        cluster = self.start(2)
        run = cluster.start_run("-t", "all", "--", "echo", "kept")
        cluster.wait_end(run)
        taken = self.backup(cluster.members[1], "--logs")
        self.assertEqual(taken.returncode, 0, taken)
        for part in ("muster.db", "ca.key", "seal.key", "logs/"):
            self.assertIn(part, taken.stdout)
        twice = musterd("--config", self.config(cluster.members[1]))
        self.assertEqual(twice.returncode, 1, twice)
        self.assertIn("another musterd", twice.stderr)
        metrics = cluster.at(cluster.members[1]).http("GET", "/metrics", token=None).body.decode()
        self.assertNotIn("muster_last_backup_timestamp_seconds 0\n", metrics)
        for member in cluster.members:
            member.end(signal.SIGKILL)
        folder = cluster.folder / "single"
        restored = musterd("restore", self.file, "--data", folder)
        self.assertEqual(restored.returncode, 0, restored)
        with sqlite3.connect(folder / "muster.db") as records:
            self.assertEqual(records.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        # At the address of the first server, with its name: agents find it there.
        first = cluster.members[0]
        first.words = [str(BIN / "musterd"), "--data", str(folder), "--listen", f"127.0.0.1:{first.port}"]
        first.start()
        wait_until("it is ready", lambda: first.ready() is None)
        cluster.front = first
        wait_back(cluster, "h1", "h2", "h3")
        self.assertEqual(cluster.log_of(run, "h2"), b"kept\n")
        self.assertEqual(cluster.wait_end(cluster.start_run("-t", "all", "--", "true"))["counts"], {"succeeded": 3})
        self.assertCode(cluster.muster("audit", "verify"), 0)

    def test_records_are_replaced_only_when_forced(self):
        cluster = self.start(2)
        self.assertEqual(self.backup(cluster.members[0]).returncode, 0)
        for member in cluster.members:
            member.end(signal.SIGTERM)
        term = cluster.postgres.sql("SELECT term FROM fence")
        target = cluster.folder / "other"
        refused = musterd("restore", self.file, "--data", target, "--config", self.config(cluster.members[0]))
        self.assertEqual(refused.returncode, 1, refused)
        self.assertIn("--force", refused.stderr)
        self.assertFalse(target.exists())
        self.assertEqual(cluster.postgres.sql("SELECT term FROM fence"), term)
        forced = self.restore(cluster.members[0], "--force")
        self.assertEqual(forced.returncode, 0, forced)
        self.assertGreaterEqual(int(cluster.postgres.sql("SELECT term FROM fence")[0]), int(term[0]) + 2**32)
        self.assertFalse((cluster.members[0].data / "muster.db").exists())


if __name__ == "__main__":
    unittest.main()
