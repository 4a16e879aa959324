"""Backup and restore, retention, and a disk that fills."""

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, Cluster, ClusterTest, wait_until  # noqa: E402
from small_disk import PAGE, SmallDisk, with_own_mounts  # noqa: E402
from terminal import CONTROL_C, CONTROL_D, AtTerminal  # noqa: E402

FLEET = 200


def musterd(*words):
    return subprocess.run([str(BIN / "musterd"), *map(str, words)], capture_output=True, text=True, timeout=DEADLINE,
                          check=False)


def lines_of(file):
    return file.read_text().splitlines() if file.exists() else []


class Backup(ClusterTest):
    hosts = ("h1",)

    def backup(self, name, *options):
        file = self.cluster.folder / name
        return file, musterd("backup", file, "--data", self.cluster.data, *options)

    def restore(self, file, *options, into="restored"):
        folder = self.cluster.folder / into
        return folder, musterd("restore", file, "--data", folder, *options)

    def test_backup_of_a_running_server_is_told_by_status_and_metrics(self):
        file, done = self.backup("told")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("ca.key", done.stdout)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        told = self.cluster.get("/status")["last_backup"]
        self.assertEqual((told["file"], told["bytes"]), (str(file), file.stat().st_size))
        self.assertIn("backup   0s ago", self.cluster.muster("status").text.replace("1s ago", "0s ago"))
        metrics = self.cluster.http("GET", "/metrics", token=None).body.decode()
        taken = next(float(line.split()[1]) for line in metrics.splitlines()
                     if line.startswith("muster_last_backup_timestamp_seconds "))
        self.assertLess(abs(taken - time.time()), 120)

    def test_backup_replaces_nothing_unless_forced(self):
        file, done = self.backup("once")
        self.assertEqual(done.returncode, 0, done)
        before = file.read_bytes()
        _, again = self.backup("once")
        self.assertEqual(again.returncode, 1, again)
        self.assertIn("--force", again.stderr)
        self.assertEqual(file.read_bytes(), before)
        _, forced = self.backup("once", "--force")
        self.assertEqual(forced.returncode, 0, forced)

    def test_truncated_and_changed_backups_are_refused_and_nothing_is_written(self):
        file, done = self.backup("whole")
        self.assertEqual(done.returncode, 0, done)
        whole = file.read_bytes()
        bad = self.cluster.folder / "bad"
        changed = bytearray(whole)
        changed[len(whole) // 2] ^= 1
        for content in (whole[:-1], whole[:len(whole) // 2], b"", b"hello", bytes(changed)):
            bad.write_bytes(content)
            folder, refused = self.restore(bad, into="refused")
            self.assertEqual(refused.returncode, 2, refused)
            self.assertIn("nothing was restored", refused.stderr)
            self.assertFalse(folder.exists())

    def test_folder_that_is_not_empty_or_in_use_is_left_alone(self):
        file, _ = self.backup("good")
        folder = self.cluster.folder / "full"
        folder.mkdir()
        (folder / "precious").write_text("mine")
        _, refused = self.restore(file, into="full")
        self.assertEqual(refused.returncode, 1, refused)
        self.assertIn("not empty", refused.stderr)
        self.assertEqual(os.listdir(folder), ["precious"])
        _, used = self.restore(file, "--force", into="server")
        self.assertEqual(used.returncode, 1, used)
        self.assertIn("another musterd", used.stderr)
        self.assertTrue(self.cluster.get("/status")["leader"])

    def test_forced_restore_asks_and_keeps_what_was_there(self):
        file, _ = self.backup("asked")
        other = self.new_cluster()
        other.server.end()
        key = (other.data / "ca.key").read_text()
        for answer, code in (("n\n", 130), (CONTROL_C, 130), (CONTROL_D, 130), ("y\n", 0)):
            terminal = AtTerminal(["restore", file, "--data", other.data, "--force"], other.environment(),
                                  program="musterd")
            asked = terminal.wait_for(r"(?s)(.*)\[y/N\]")[1]
            self.assertIn("cut off", asked, "the CA of the folder is not in the backup")
            self.assertEqual((other.data / "ca.key").read_text(), key)
            terminal.type(answer)
            self.assertEqual(terminal.finish()[0], code)
            terminal.close()
            self.assertFalse(list(other.data.glob(".restore*")), "nothing says that a restore was begun")
        self.assertNotEqual((other.data / "ca.key").read_text(), key)
        aside = next(other.data.glob("before-restore-*"))
        self.assertEqual((aside / "ca.key").read_text(), key)
        self.assertTrue((aside / "muster.db").exists())
        # A second one keeps both.
        again = musterd("restore", file, "--data", other.data, "--force")
        self.assertEqual(again.returncode, 0, again)
        self.assertEqual(len(list(other.data.glob("before-restore-*"))), 2)
        self.assertEqual((aside / "ca.key").read_text(), key)

    def test_half_restored_folder_is_no_data_folder(self):
        folder = self.cluster.folder / "half"
        for mark in (".restore", ".restore.old"):
            (folder / mark).mkdir(parents=True)
            started = musterd("--data", folder, "--listen", "127.0.0.1:0")
            self.assertEqual(started.returncode, 1, started)
            self.assertIn("restore", started.stderr)
            (folder / mark).rmdir()

    def test_killed_restore_is_repeated(self):
        """Killed while it unpacked, and after it had begun: the folder keeps its mark until the end."""
        file, _ = self.backup("killed")
        other = self.new_cluster()
        other.server.end()
        (other.data / ".restore.new" / "left").mkdir(parents=True)
        (other.data / ".restore" / "left").mkdir(parents=True)
        (other.data / ".restore.old" / "left").mkdir(parents=True)
        done = musterd("restore", file, "--data", other.data, "--force", "--yes")
        self.assertEqual(done.returncode, 0, done)
        self.assertFalse(list(other.data.glob(".restore*")))
        self.assertTrue((other.data / "muster.db").exists())

    def test_output_comes_back_only_with_logs(self):
        run = self.cluster.start_run("-t", "h1", "--", "echo", "kept")
        self.cluster.wait_end(run)
        file, done = self.backup("with-logs", "--logs")
        self.assertEqual(done.returncode, 0, done)
        folder, restored = self.restore(file, into="with-logs-restored")
        self.assertEqual(restored.returncode, 0, restored)
        self.assertTrue(list((folder / "logs").glob("*.db")))
        with sqlite3.connect(folder / "muster.db") as records:
            self.assertEqual(records.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            term = records.execute("SELECT term FROM fence").fetchone()[0]
        self.assertGreater(term, 2**32)


class Restore(ClusterTest):
    """A server is lost under work and comes back from a backup: nothing runs twice, all comes back."""

    def start_fleet(self, cluster):
        token = cluster.invite(uses=FLEET, replace=True)
        cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cluster.url, "--count", FLEET, "--label",
                                     "kind=emulated", "--duration", "300ms"], {"MUSTER_JOIN": token})
        wait_until("all hosts online", lambda: cluster.get("/status")["online"] == FLEET + 2, 120)

    def marked(self, name):
        """A script that leaves a line each time it runs, and ends when a file says so."""
        self.marks[name] = self.cluster.folder / f"{name}.marks"
        gate = self.cluster.folder / f"{name}.go"
        return ["sh", "-c", f"echo $MUSTER_HOST >> {self.marks[name]}; while [ ! -e {gate} ]; do sleep 0.05; done"]

    def let_go(self, name):
        (self.cluster.folder / f"{name}.go").touch()

    def wait_marks(self, name, count):
        wait_until(f"{count} marks of {name}", lambda: len(lines_of(self.marks[name])) == count)

    def test_a_lost_server_comes_back_from_its_backup(self):
        self.cluster = cluster = self.new_cluster("real1", "real2",
                                                  settings={"takeover_grace": "20s", "reconnect_bound": "2s"})
        self.marks = {}
        self.start_fleet(cluster)
        done_before = cluster.start_run("-t", "real1", "--", "true")
        cluster.wait_end(done_before)

        # Open at the backup: one runs through it, one host of the second has its turn only after it, one ends
        # after it and is forgotten, and a wide one is in the middle of its hosts.
        through = cluster.start_run("-t", "real1", "--", *self.marked("through"))
        ends_after = cluster.start_run("-t", "real2", "--", *self.marked("ends_after"))
        in_turn = cluster.start_run("-t", "real1,real2", "--concurrency", "1", "--", *self.marked("in_turn"))
        wide = cluster.start_run("-t", "kind=emulated", "--concurrency", "4", "--", "pretend")
        for name in ("through", "ends_after", "in_turn"):
            self.wait_marks(name, 1)
        backup = cluster.folder / "backup"
        taken = musterd("backup", backup, "--data", cluster.data)
        self.assertEqual(taken.returncode, 0, taken)

        # After it.
        self.let_go("ends_after")
        cluster.wait_end(ends_after)
        self.let_go("in_turn")
        cluster.wait_end(in_turn)
        self.wait_marks("in_turn", 2)
        lost_done = cluster.start_run("-t", "real1,real2", "--", *self.marked("lost_done"))
        self.let_go("lost_done")
        cluster.wait_end(lost_done)
        lost_open = cluster.start_run("-t", "real2", "--", *self.marked("lost_open"))
        self.wait_marks("lost_open", 1)
        issued = {run["id"] for run in cluster.get("/runs", limit=500)["runs"]}

        # Loss.
        cluster.server.end(signal.SIGKILL)
        shutil.rmtree(cluster.data)
        restored = musterd("restore", backup, "--data", cluster.data)
        self.assertEqual(restored.returncode, 0, restored)
        cluster.start_server()
        wait_until("everybody is back", lambda: cluster.get("/status")["online"] == FLEET + 2, 120)

        # What the backup knew ends, each as honestly as can be.
        known = {run["id"] for run in cluster.get("/runs", limit=500)["runs"]}
        self.assertEqual(known, {done_before, through, ends_after, in_turn, wide})
        self.let_go("through")
        self.assertEqual(cluster.wait_end(through)["state"], "succeeded")
        self.assertEqual(cluster.wait_end(done_before)["state"], "succeeded")
        self.assertEqual(cluster.wait_end(ends_after)["state"], "failed")
        self.assertEqual(cluster.task_of(ends_after, "real2")["state"], "lost")
        self.assertIn("backup", cluster.task_of(ends_after, "real2")["reason"])
        self.assertEqual(cluster.wait_end(in_turn)["state"], "failed")
        states = {task["state"] for task in cluster.tasks_of(in_turn).values()}
        self.assertEqual(states, {"lost"})
        wide_states = cluster.wait_end(wide, 120)["counts"]
        self.assertEqual(sum(wide_states.values()), FLEET)

        # The task of a run that is lost goes on, ends, and is forgotten by its host.
        self.let_go("lost_open")
        wait_until("real2 holds no task", lambda: not cluster.agents["real2"].tasks())

        # New ids are new, and work goes on.
        again = cluster.start_run("-t", "all", "--", "true")
        self.assertNotIn(again, issued)
        self.assertRegex(again, r"^r\d+\.1$")
        self.assertEqual(cluster.wait_end(again, 120)["state"], "succeeded")
        self.assertIsNotNone(cluster.get("/status")["restored"])
        for name, count in (("through", 1), ("ends_after", 1), ("in_turn", 2), ("lost_done", 2), ("lost_open", 1)):
            hosts = lines_of(self.marks[name])
            self.assertEqual(len(hosts), count, f"{name} ran as {hosts}")
            self.assertEqual(len(set(hosts)), count, f"{name} ran as {hosts}")

    def test_the_same_backup_can_be_restored_twice(self):
        self.cluster = cluster = self.new_cluster("real1", settings={"takeover_grace": "2s"})
        backup = cluster.folder / "backup"
        self.assertEqual(musterd("backup", backup, "--data", cluster.data).returncode, 0)
        seen = set()
        for _ in range(2):
            cluster.server.end(signal.SIGKILL)
            restored = musterd("restore", backup, "--data", cluster.data, "--force")
            self.assertEqual(restored.returncode, 0, restored)
            cluster.start_server()
            cluster.wait_online("real1")
            run = cluster.start_run("-t", "real1", "--", "true")
            self.assertNotIn(run, seen)
            seen.add(run)
            self.assertEqual(cluster.wait_end(run)["state"], "succeeded")
            cluster.restart_server()
            told = cluster.get("/audit", act="store.restore")["entries"]
            self.assertEqual([entry["actor"] for entry in told], ["musterd"])
            self.assertEqual(cluster.muster("audit", "verify").code, 0)


class RetentionTest(ClusterTest):
    def test_old_runs_and_old_days_of_output_go(self):
        cluster = self.new_cluster("h1", settings={"retention": "{runs: 3s, logs: 1d}"})
        old = cluster.start_run("-t", "h1", "--", "true")
        cluster.wait_end(old)
        wait_until("the run is dropped", lambda: cluster.http("GET", f"/api/v1/runs/{old}").status == 404)
        self.assertEqual(cluster.get("/status")["retention"]["runs_ms"], 3000)
        waiting = cluster.start_run("-t", "h1", "--", "sleep", "6")
        cluster.wait_task(waiting, "h1", "running")
        gone = cluster.start_run("-t", "h1", "--", "true")
        cluster.wait_end(gone)
        wait_until("a later run is dropped", lambda: cluster.http("GET", f"/api/v1/runs/{gone}").status == 404)
        self.assertEqual(cluster.run_of(waiting)["state"], "running", "an open run is never dropped")

    def test_output_of_a_dropped_day_is_called_expired(self):
        cluster = self.new_cluster("h1")
        run = cluster.start_run("-t", "h1", "--", "echo", "words")
        cluster.wait_end(run)
        self.assertEqual(cluster.log_of(run, "h1"), b"words\n")
        cluster.server.end(signal.SIGTERM)
        today, = (cluster.data / "logs").glob("*.db")
        long_ago = today.with_name("2020-01-01.db")
        today.rename(long_ago)
        cluster.start_server()
        wait_until("the day is dropped", lambda: not long_ago.exists())
        answer = cluster.http("GET", f"/api/v1/runs/{run}/log?host=h1")
        self.assertEqual((answer.status, answer.headers["Muster-Log-State"]), (200, "expired"), answer)
        self.assertIn("not kept any more", cluster.muster("logs", run, "--host", "h1").complaint)


class SmallDiskCluster(Cluster):
    """A server whose data folder is a disk of 48 MB."""

    def _first_start(self):
        self.disk = SmallDisk(self.data, "48m")
        super()._first_start()


class Disk(ClusterTest):
    def setUp(self):
        self.cluster = SmallDiskCluster({"disk": "{stop_runs_below: 16MB}"})
        self.addCleanup(self.cluster.close)
        self.addCleanup(self.cluster.disk.close)  # first: a folder with a mount in it cannot be removed
        self.cluster.add_agents("h1")

    def start(self, command):
        return self.cluster.http("POST", "/api/v1/runs", {"targets": "h1", "command": {"argv": command}})

    def test_low_disk_refuses_new_runs_until_there_is_room_again(self):
        cluster = self.cluster
        go = cluster.folder / "go"
        running = cluster.start_run("-t", "h1", "--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done")
        cluster.wait_task(running, "h1", "running")
        cluster.disk.fill((8 << 20) // PAGE)
        wait_until("the gate is closed", lambda: cluster.get("/status")["disk"]["low"])
        refused = self.start(["true"])
        self.assertEqual((refused.status, refused.json()["error"]["code"]), (503, "disk_low"), refused)
        self.assertIn(str(cluster.data), refused.json()["error"]["message"])
        self.assertEqual(cluster.http("GET", "/readyz", token=None).status, 200)
        self.assertIn("muster_disk_low 1", cluster.http("GET", "/metrics", token=None).body.decode())
        self.assertIn("LOW", cluster.muster("status").text)
        go.touch()
        self.assertEqual(cluster.wait_end(running)["state"], "succeeded", "running work goes on")
        cluster.disk.give_back()
        wait_until("the gate is open", lambda: not cluster.get("/status")["disk"]["low"])
        self.assertEqual(cluster.wait_end(cluster.start_run("-t", "h1", "--", "true"))["state"], "succeeded")

    def test_full_disk_stalls_and_goes_on(self):
        cluster = self.cluster
        go = cluster.folder / "go"
        running = cluster.start_run("-t", "h1", "--", "sh", "-c",
                                    f"while [ ! -e {go} ]; do sleep 0.05; done; echo words")
        cluster.wait_task(running, "h1", "running")
        cluster.disk.fill()
        # Its end and its output want to be written, and cannot.
        go.touch()
        stalled = wait_until("commands are refused for the disk",
                             lambda: (lambda answer: answer if answer.status == 503 else None)(
                                 cluster.http("GET", "/readyz", token=None)))
        self.assertIn("disk is full", stalled.body.decode())
        answer = cluster.http("POST", "/api/v1/runs", {"targets": "h1", "command": {"argv": ["true"]}},
                              {"Idempotency-Key": "again"})
        self.assertEqual(answer.status, 503, answer)
        cluster.disk.give_back()
        self.assertEqual(cluster.wait_end(running)["state"], "succeeded")
        self.assertEqual(cluster.task_of(running, "h1")["log"]["state"], "complete")
        wait_until("the gate is open", lambda: not cluster.get("/status")["disk"]["low"])
        self.assertEqual(cluster.wait_end(cluster.start_run("-t", "h1", "--", "true"))["state"], "succeeded")
        cluster.server.end(signal.SIGTERM)
        with sqlite3.connect(cluster.data / "muster.db") as records:
            self.assertEqual(records.execute("PRAGMA integrity_check").fetchone(), ("ok",))


if __name__ == "__main__":
    with_own_mounts()
    unittest.main()
