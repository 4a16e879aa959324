"""Output and ends of runs on real agents, and the pace of their hosts."""

import base64
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import wait_until  # noqa: E402
from runs_test import RunsTest, sha256  # noqa: E402


class Output(RunsTest):
    def test_megabytes_come_back_byte_for_byte(self):
        run = self.document("web1", "--",
                            "f=$(mktemp); head -c 5000000 /dev/urandom > $f; cat $f; sha256sum < $f >&2; rm $f")["id"]
        task = self.cluster.task_of(run, "web1")
        self.assertEqual(task["log"]["state"], "complete")
        checksum = self.cluster.log_of(run, "web1", "stderr").decode().split()[0]
        data = self.cluster.log_of(run, "web1", "stdout")
        self.assertEqual(len(data), 5000000)
        self.assertEqual(sha256(data), checksum)
        self.assertEqual(task["log"]["stdout_sha256"], checksum)

    def test_output_past_the_quota_is_cut_and_the_script_ends(self):
        host = self.host_of("web1", "--max-output", "10KB", "--", "head -c 3000000 /dev/zero | tr '\\0' a; exit 5", code=1)
        self.assertEqual((host["state"], host["exit_code"], host["log"]["state"]), ("failed", 5, "cut"))
        self.assertLessEqual(host["log"]["bytes"], 10240)
        self.assertGreaterEqual(host["log"]["bytes"], 9000)

    def test_logs_say_that_output_was_cut(self):
        run = self.document("web1", "--max-output", "1KB", "--", "head -c 5000 /dev/zero | tr '\\0' a")["id"]
        outcome = self.assertCode(self.cluster.muster("logs", run, "--host", "web1"), 0)
        self.assertEqual(set(outcome.out), {ord("a")})
        self.assertIn("cut", outcome.complaint)

    def test_run_says_once_that_output_was_cut(self):
        words = ("--max-output", "1KB", "--", "head -c 5000 /dev/zero | tr '\\0' a; exit 3")
        for shown in ("--live", "--grouped"):
            with self.subTest(shown=shown):
                outcome = self.assertCode(self.run_on("web*", shown, *words), 1)
                self.assertEqual(outcome.complaint.count("--max-output"), 1)
                self.assertRegex(outcome.complaint, r"cut .*: web\[1-2\]\n")
        quiet = self.assertCode(self.run_on("web*", "-q", *words), 1).complaint
        self.assertRegex(quiet, r"^output cut .*: web\[1-2\]\n$")
        self.assertNotIn("cut", self.assertCode(self.run_on("web*", "--", "true"), 0).complaint)

    def test_hostile_bytes_come_back_as_they_are(self):
        nasty = b"\x00\x1b[2J\xff\xfe\r\n\x1b]0;title\x07 \xc3\x28 \xe2\x80\xae \n no newline at end"
        file = self.cluster.folder / f"nasty-{uuid.uuid4()}"
        file.write_bytes(nasty)
        run = self.document("web1", "--stdin", file, "--", "cat")["id"]
        self.assertEqual(self.cluster.log_of(run, "web1"), nasty)
        line = self.assertCode(self.run_on("web1", "-o", "jsonl", "--stdin", file, "--", "cat"), 0).json()
        self.assertEqual(base64.b64decode(line["stdout_base64"]), nasty)

    def test_tail_and_timestamps(self):
        run = self.document("web1", "--", "seq 1 100")["id"]
        outcome = self.assertCode(self.cluster.muster("logs", run, "--host", "web1", "--tail", 3), 0)
        self.assertEqual(outcome.text, "98\n99\n100\n")
        outcome = self.assertCode(self.cluster.muster("logs", run, "--host", "web1", "--timestamps", "--tail", 1), 0)
        self.assertRegex(outcome.text, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 100\n$")

    def test_logs_of_all_hosts(self):
        run = self.document("web*", "--", "echo one; echo two")["id"]
        outcome = self.assertCode(self.cluster.muster("logs", run), 0)
        self.assertEqual(sorted(outcome.text.splitlines()),
                         ["web1 | one", "web1 | two", "web2 | one", "web2 | two"])

    def test_grouped_folds_equal_outcomes(self):
        outcome = self.run_on("all", "--grouped", "--", "test $MUSTER_HOST != db1 || { echo no disk >&2; exit 3; }")
        self.assertCode(outcome, 1)
        self.assertIn("1 host failed (exit 3): db1\nno disk\n", outcome.text)
        self.assertIn("2 hosts succeeded: web[1-2]", outcome.text)

    def test_follow_prints_what_is_still_to_come(self):
        gate = self.cluster.folder / f"gate-{uuid.uuid4()}"
        run = self.cluster.start_run("-t", "web1", "--", f"echo one; until test -e {gate}; do sleep 0.05; done; echo two")
        follower = self.cluster.begin("logs", run, "--host", "web1", "-f")
        wait_until("the first line is shown", lambda: follower.said()[0] == "one\n")
        gate.touch()
        self.assertEqual(self.assertCode(follower.finish(), 0).text, "one\ntwo\n")


class Ends(RunsTest):
    def wait_spoken(self, run, host):
        """Until the script itself runs: stopped before that, it would never have started."""
        wait_until(f"{host} has spoken", lambda: self.cluster.log_of(run, host) == b"here\n")

    def test_timeout(self):
        document = self.document("web1", "--timeout", "1s", "--", "echo begun; sleep 100", code=1)
        self.assertEqual((document["state"], document["hosts"][0]["state"]), ("timed_out", "timed_out"))
        self.assertEqual(self.cluster.log_of(document["id"], "web1"), b"begun\n")

    def test_timeout_kills_after_the_grace(self):
        host = self.host_of("web1", "--timeout", "1s", "--grace", "1s", "--", "trap '' TERM; echo deaf; sleep 100 & wait; "
                            "while :; do sleep 1; done", code=1)
        self.assertEqual((host["state"], host["signal"]), ("timed_out", 9))

    def test_stop_ends_everything_of_the_run(self):
        waiter = self.cluster.begin("run", "-t", "web*", "--", "echo here; sleep 1000")
        wait_until("both hosts have spoken", lambda: waiter.said()[0].count("here") == 2)
        run = waiter.said()[1].split()[1]
        self.assertCode(self.cluster.muster("stop", run, "--reason", "wrong hosts"), 0)
        self.assertCode(waiter.finish(), 1)
        self.assertEqual({task["state"] for task in self.cluster.tasks_of(run).values()}, {"killed"})
        ended = self.cluster.wait_end(run)
        self.assertEqual((ended["state"], ended["stop"]["reason"], ended["stop"]["by"]), ("cancelled", "wrong hosts", "admin"))

    def test_stop_of_one_host_leaves_the_others(self):
        gate = self.cluster.folder / f"gate-{uuid.uuid4()}"
        run = self.cluster.start_run("-t", "web*", "--", f"echo here; until test -e {gate}; do sleep 0.05; done")
        for host in ("web1", "web2"):
            self.wait_spoken(run, host)
        self.assertCode(self.cluster.muster("kill", run, "--host", "web1"), 0)
        self.cluster.wait_task(run, "web1", "killed")
        self.assertEqual(self.cluster.task_of(run, "web2")["state"], "running")
        gate.touch()
        ended = self.cluster.wait_end(run)
        self.assertEqual(ended["counts"], {"killed": 1, "succeeded": 1})

    def test_stop_skips_what_was_not_sent(self):
        run = self.cluster.start_run("-t", "all", "--concurrency", "1", "--", "echo here; sleep 1000")
        self.wait_spoken(run, "db1")
        self.assertCode(self.cluster.muster("kill", run), 0)
        ended = self.cluster.wait_end(run)
        self.assertEqual((ended["state"], ended["counts"]), ("cancelled", {"killed": 1, "skipped": 2}))
        skipped = self.cluster.task_of(run, "web1")
        self.assertEqual((skipped["attempt"], skipped["exit_code"], skipped["sent"]), (0, None, None))

    def test_exit_code_is_null_where_there_is_none(self):
        self.assertIsNone(self.host_of("web1", "-u", "no-such-user", "--", "id", code=6)["exit_code"])
        self.assertIsNone(self.host_of("web1", "--", "kill -9 $$", code=1)["exit_code"])


class Pace(RunsTest):
    def test_concurrency_bounds_what_runs_at_once(self):
        place = self.cluster.folder / f"pace-{uuid.uuid4()}"
        place.mkdir()
        # Each task counts how many are there while it is: with one at a time it is always one.
        line = f"touch {place}/$MUSTER_HOST; ls {place} | wc -l; sleep 0.2; rm {place}/$MUSTER_HOST"
        run = self.document("all", "--concurrency", "1", "--", line)["id"]
        self.assertEqual([self.cluster.log_of(run, host) for host in self.hosts], [b"1\n"] * 3)

    def test_batches_follow_each_other(self):
        trail = self.cluster.folder / f"trail-{uuid.uuid4()}"
        self.document("all", "--batches", "1,100%", "--", f"echo begin $MUSTER_HOST >> {trail}; sleep 0.2; "
                      f"echo end $MUSTER_HOST >> {trail}")
        lines = trail.read_text().splitlines()
        self.assertEqual(lines[:2], ["begin db1", "end db1"])
        self.assertEqual(len(lines), 6)

    def test_a_batch_past_its_failures_is_the_last(self):
        document = self.document("all", "--batches", "1", "--max-failures", "0", "--", "test $MUSTER_HOST = db1", code=1)
        self.assertEqual(document["state"], "failed")
        self.assertEqual([(host["host"], host["state"]) for host in document["hosts"]],
                         [("db1", "succeeded"), ("web1", "failed"), ("web2", "skipped")])

    def test_tolerated_failures_do_not_stop_it(self):
        document = self.document("all", "--batches", "1", "--max-failures", "1", "--", "test $MUSTER_HOST = db1", code=1)
        self.assertEqual([host["state"] for host in document["hosts"]], ["succeeded", "failed", "failed"])
        self.assertEqual(document["state"], "succeeded")

    def test_why_names_what_is_waited_for(self):
        run = self.cluster.start_run("-t", "all", "--concurrency", "1", "--", "sleep 1000")
        self.cluster.wait_task(run, "db1", "running")
        outcome = self.assertCode(self.cluster.muster("why", run), 0)
        self.assertIn("concurrency 1 is reached", outcome.text)
        why = self.assertCode(self.cluster.muster("why", run, "-o", "json"), 0).json()
        self.assertEqual({entry["host"]: entry["state"] for entry in why["waiting"]},
                         {"db1": "running", "web1": "waiting", "web2": "waiting"})
        self.assertCode(self.cluster.muster("kill", run), 0)
        self.cluster.wait_end(run)


if __name__ == "__main__":
    unittest.main(verbosity=2)
