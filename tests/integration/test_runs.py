"""Runs on real agents: what is executed, how it is shown, and what is refused."""

import base64
import hashlib
import json
import os
import pwd
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, free_port, wait_until  # noqa: E402

ERROR_FIELDS = {"code", "message", "params", "details", "request_id"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class RunsTest(ClusterTest):
    """Three hosts: web1 and web2 in zone sh1, db1 in zone sh2."""

    hosts = ("web1", "web2", "db1")

    @classmethod
    def set_up_hosts(cls):
        for name in cls.hosts:
            cls.cluster.add_agent(name, labels={"zone": "sh2" if name == "db1" else "sh1", "app": name[:-1]})
        cls.cluster.wait_online(*cls.hosts)

    def run_on(self, targets, *words, **more):
        return self.cluster.muster("run", "-t", targets, *words, **more)

    def document(self, targets, *words, code=0):
        return self.assertCode(self.run_on(targets, "-o", "json", *words), code).json()

    def host_of(self, targets, *words, code=0):
        """The one host's part of the result."""
        hosts = self.document(targets, *words, code=code)["hosts"]
        self.assertEqual(len(hosts), 1)
        return hosts[0]

    def run_ids(self):
        return [run["id"] for run in self.assertCode(self.cluster.muster("runs", "-o", "json", "--limit", 500), 0)
                .json()["runs"]]

    def assertNothingStarted(self, code, *words):
        before = self.run_ids()
        outcome = self.assertCode(self.cluster.muster(*words), code)
        self.assertTrue(outcome.complaint.strip(), outcome)
        self.assertEqual(outcome.out, b"")
        self.assertEqual(self.run_ids(), before)
        return outcome


class Basics(RunsTest):
    def test_every_host_answers(self):
        outcome = self.assertCode(self.run_on("all", "--", "echo $MUSTER_HOST"), 0)
        self.assertEqual(sorted(outcome.text.splitlines()), ["db1 | db1", "web1 | web1", "web2 | web2"])
        self.assertRegex(outcome.complaint.splitlines()[0], r"^run r\d+ on 3 hosts$")

    def test_json_document_has_its_shape_and_right_hashes(self):
        document = self.document("web*", "--", "printf 'out\\n'; printf err >&2")
        self.assertEqual(set(document), {"id", "state", "hosts"})
        self.assertRegex(document["id"], r"^r\d+$")
        self.assertEqual(document["state"], "succeeded")
        self.assertEqual([host["host"] for host in document["hosts"]], ["web1", "web2"])
        for host in document["hosts"]:
            self.assertEqual(set(host), {"host", "state", "exit_code", "attempt", "log", "signal", "reason"})
            self.assertEqual((host["state"], host["exit_code"], host["attempt"]), ("succeeded", 0, 1))
            self.assertEqual(host["log"], {"state": "complete", "bytes": 7, "stdout_sha256": sha256(b"out\n"),
                                           "stderr_sha256": sha256(b"err")})

    def test_stdout_and_stderr_stay_apart(self):
        outcome = self.assertCode(self.run_on("web1", "--", "echo one; echo two >&2; echo three"), 0)
        self.assertEqual(outcome.text, "one\nthree\n")
        self.assertIn("two\n", outcome.complaint)
        run = outcome.complaint.split()[1]
        self.assertEqual(self.cluster.log_of(run, "web1", "stdout"), b"one\nthree\n")
        self.assertEqual(self.cluster.log_of(run, "web1", "stderr"), b"two\n")

    def test_detached_prints_only_the_id(self):
        outcome = self.assertCode(self.run_on("web1", "-d", "--", "echo hi"), 0)
        self.assertRegex(outcome.text, r"^r\d+\n$")
        self.assertEqual(self.cluster.wait_end(outcome.text.strip())["state"], "succeeded")
        self.assertEqual(self.cluster.log_of(outcome.text.strip(), "web1"), b"hi\n")

    def test_dry_run_starts_nothing(self):
        before = self.run_ids()
        outcome = self.assertCode(self.run_on("all", "--dry-run", "--batches", "1,2", "--", "echo hi"), 0)
        self.assertIn("db1,web[1-2]", outcome.text)
        self.assertIn("1, 2", outcome.text)
        self.assertEqual(self.run_ids(), before)

    def test_show_and_runs_tell_of_it(self):
        run = self.document("web1", "--title", "a title", "--", "exit 4", code=1)["id"]
        shown = self.assertCode(self.cluster.muster("show", run, "-o", "json"), 0).json()
        self.assertEqual((shown["id"], shown["state"], shown["title"]), (run, "failed", "a title"))
        self.assertEqual([stage["state"] for stage in shown["stages"]], ["failed"])
        self.assertEqual(shown["counts"], {"failed": 1})
        listed = self.cluster.muster("runs", "-o", "json", "--state", "failed", "--host", "web1").json()["runs"]
        self.assertIn(run, [one["id"] for one in listed])
        listed = self.cluster.muster("runs", "-o", "json", "--state", "failed", "--host", "db1").json()["runs"]
        self.assertNotIn(run, [one["id"] for one in listed])

    def test_runs_since_and_until(self):
        run = self.document("web1", "--", "true")["id"]
        since = self.assertCode(self.cluster.muster("runs", "-o", "json", "--since", "1h"), 0).json()["runs"]
        self.assertIn(run, [one["id"] for one in since])
        until = self.assertCode(self.cluster.muster("runs", "-o", "json", "--until", "1h"), 0).json()["runs"]
        self.assertNotIn(run, [one["id"] for one in until])


class ExitCodes(RunsTest):
    def test_failed_host_is_1(self):
        host = self.host_of("web1", "--", "exit 7", code=1)
        self.assertEqual((host["state"], host["exit_code"], host["signal"]), ("failed", 7, 0))

    def test_death_by_signal_is_failed(self):
        host = self.host_of("web1", "--", "kill -9 $$", code=1)
        self.assertEqual((host["state"], host["signal"]), ("failed", 9))

    def test_usage_is_2(self):
        for words in (["run", "-t", "all"], ["run", "-t", "", "--", "id"], ["run", "-t", "*", "--", "id"],
                      ["run", "--", "id"], ["run", "-t", "all", "--no-such-option", "--", "id"],
                      ["run", "-t", "web1 and", "--", "id"], ["run", "-t", "all", "--timeout", "soon", "--", "id"],
                      ["run", "-t", "all", "--batches", "many", "--", "id"], ["frobnicate"]):
            with self.subTest(words=words):
                self.assertNothingStarted(2, *words)

    def test_bad_token_is_3(self):
        self.assertNothingStarted(3, "run", "-t", "all", "--token", "wrong", "--", "id")

    def test_no_match_and_unknown_host_are_4(self):
        self.assertIn("web9", self.assertNothingStarted(4, "run", "-t", "web1,web9", "--", "id").complaint)
        self.assertIn("web3", self.assertNothingStarted(4, "run", "-t", "web[1-3]", "--", "id").complaint)
        self.assertNothingStarted(4, "run", "-t", "zone=nowhere", "--", "id")
        self.assertNothingStarted(4, "run", "-t", "mail*", "--", "id")
        self.assertNothingStarted(4, "run", "-t", "web1", "-x", "web1", "--", "id")
        self.assertNothingStarted(4, "run", "-t", "run:r999999.failed", "--", "id")

    def test_unknown_host_may_pass_when_asked(self):
        hosts = self.document("web1,web9", "--ignore-missing", "--", "true")["hosts"]
        self.assertEqual([host["host"] for host in hosts], ["web1"])

    def test_unknown_run_is_4_and_ended_run_is_1(self):
        for words in (["show", "r999999"], ["logs", "r999999"], ["stop", "r999999"], ["why", "r999999"],
                      ["logs", "r999999", "--host", "web1"]):
            with self.subTest(words=words):
                self.assertCode(self.cluster.muster(*words), 4)
        run = self.document("web1", "--", "true")["id"]
        self.assertCode(self.cluster.muster("stop", run), 1)
        self.assertCode(self.cluster.muster("logs", run, "--host", "db1"), 4)

    def test_server_out_of_reach_is_5(self):
        for words in (["hosts"], ["runs"], ["status"]):
            outcome = self.cluster.muster(*words, "--server", f"https://127.0.0.1:{free_port()}")
            self.assertCode(outcome, 5)
            self.assertTrue(outcome.complaint.strip())


class Commands(RunsTest):
    def test_one_word_is_a_shell_line_and_several_are_not(self):
        self.assertEqual(self.run_on("web1", "--", "echo a | tr a b").text, "b\n")
        self.assertEqual(self.run_on("web1", "--", "echo", "$HOME  *").text, "$HOME  *\n")

    def test_shell_signs_among_several_words_are_refused(self):
        for sign in ("|", "&&", ";", ">"):
            with self.subTest(sign=sign):
                outcome = self.assertNothingStarted(2, "run", "-t", "web1", "--", "df", "-h", sign, "tail")
                self.assertIn("quote the whole line", outcome.complaint)

    def test_environment_is_clean_and_env_is_added(self):
        run = self.document("web1", "--env", "COLOUR=sea green", "--env", "EMPTY=", "--env", "LANG=C", "--",
                            "env -0")["id"]
        pairs = dict(entry.split("=", 1) for entry in self.cluster.log_of(run, "web1").decode().split("\0") if entry)
        pairs.pop("PWD", None)  # of /bin/sh itself
        self.assertEqual(set(pairs), {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "MUSTER_RUN", "MUSTER_STAGE",
                                      "MUSTER_HOST", "COLOUR", "EMPTY"})
        self.assertEqual((pairs["COLOUR"], pairs["EMPTY"], pairs["LANG"]), ("sea green", "", "C"))
        self.assertEqual((pairs["MUSTER_RUN"], pairs["MUSTER_HOST"], pairs["MUSTER_STAGE"]), (run, "web1", "command"))

    def test_folder(self):
        self.assertEqual(self.run_on("web1", "--folder", "/usr/bin", "--", "pwd; umask").text,
                         "/usr/bin\n0022\n")
        self.assertEqual(self.run_on("web1", "--", "pwd").text, f"{pwd.getpwuid(os.getuid()).pw_dir}\n")

    def test_stdin_is_empty_or_the_file(self):
        self.assertEqual(self.host_of("web1", "--", "cat")["log"]["bytes"], 0)
        data = os.urandom(70000)
        file = self.cluster.folder / f"stdin-{uuid.uuid4()}"
        file.write_bytes(data)
        self.assertEqual(self.host_of("web1", "--stdin", file, "--", "cat")["log"]["stdout_sha256"], sha256(data))
        outcome = self.assertCode(self.run_on("web1", "--stdin", "-", "--", "wc", "-c", stdin=data), 0)
        self.assertEqual(outcome.text, "70000\n")

    def script(self, text):
        file = self.cluster.folder / f"script-{uuid.uuid4()}"
        file.write_text(text)
        return file

    def test_script_obeys_its_first_line_and_takes_arguments(self):
        file = self.script("#!/usr/bin/python3\nimport sys\nprint(sys.argv[1:])\n")
        outcome = self.assertCode(self.run_on("web1", "--script", file, "--", "one", "two words", "--three"), 0)
        self.assertEqual(outcome.text, "['one', 'two words', '--three']\n")

    def test_script_without_first_line_goes_to_sh_or_to_the_interpreter(self):
        self.assertEqual(self.run_on("web1", "--script", self.script("echo $0 | wc -w; echo $1\n"), "--", "x").text,
                         "1\nx\n")
        outcome = self.run_on("web1", "--interpreter", "/usr/bin/python3", "--script", self.script("print(6 * 7)\n"))
        self.assertEqual(self.assertCode(outcome, 0).text, "42\n")
        outcome = self.run_on("web1", "--script", "-", stdin=b"echo from stdin\n")
        self.assertEqual(self.assertCode(outcome, 0).text, "from stdin\n")

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_user_with_groups(self):
        expected = os.getgrouplist("nobody", pwd.getpwnam("nobody").pw_gid)
        outcome = self.assertCode(self.run_on("web1", "-u", "nobody", "--", "id -un; id -G; echo $HOME $USER"), 0)
        name, groups, rest = outcome.text.splitlines()
        self.assertEqual(name, "nobody")
        self.assertEqual(sorted(map(int, groups.split())), sorted(expected))
        self.assertEqual(rest, f"{pwd.getpwnam('nobody').pw_dir} nobody")

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_script_of_another_user_can_be_read_by_him(self):
        file = self.script("#!/usr/bin/python3\nimport os\nprint(os.getuid())\n")
        outcome = self.assertCode(self.run_on("web1", "-u", "nobody", "--script", file), 0)
        self.assertEqual(outcome.text, f"{pwd.getpwnam('nobody').pw_uid}\n")

    def test_what_cannot_start_is_refused_in_a_sentence(self):
        for missing, words in (("no-such-user", ["-u", "no-such-user", "--", "id"]),
                               ("/no/such/folder", ["--folder", "/no/such/folder", "--", "id"]),
                               ("/no/such/program", ["--interpreter", "/no/such/program", "--", "id"]),
                               ("no-such-program", ["--", "no-such-program", "x"])):
            with self.subTest(missing=missing):
                host = self.host_of("web1", *words, code=6)
                self.assertEqual(host["state"], "refused")
                self.assertIn(missing, host["reason"])
                self.assertEqual((host["log"]["state"], host["log"]["bytes"]), ("complete", 0))

    def test_the_sentence_of_a_refusal_is_shown(self):
        outcome = self.assertCode(self.run_on("web1", "-u", "no-such-user", "--", "id"), 6)
        self.assertIn("no-such-user", outcome.complaint)


class Targets(RunsTest):
    def hosts_of(self, expression, *words):
        outcome = self.run_on(expression, *words, "-o", "json", "--", "true")
        return [host["host"] for host in self.assertCode(outcome, 0).json()["hosts"]]

    def test_expressions(self):
        for expression, expected in (
                ("web1", ["web1"]), ("web*", ["web1", "web2"]), ("web?", ["web1", "web2"]),
                ("web[1-2]", ["web1", "web2"]), ("web2,db1", ["db1", "web2"]), ("zone=sh1", ["web1", "web2"]),
                ("zone!=sh1", ["db1"]), ("zone in (sh1,sh2)", ["db1", "web1", "web2"]), ('app~"^d"', ["db1"]),
                ("not zone=sh1", ["db1"]), ("zone=sh1 and not web1", ["web2"]), ("(db1 or web1) and app=web", ["web1"]),
                ("fact.os=debian and web2", ["web2"] if "debian" in Path("/etc/os-release").read_text() else None),
                ("all", ["db1", "web1", "web2"])):
            if expected is None:
                continue
            with self.subTest(expression=expression):
                self.assertEqual(self.hosts_of(expression), expected)
                listed = self.assertCode(self.cluster.muster("hosts", expression, "-o", "json"), 0).json()["hosts"]
                self.assertEqual([host["name"] for host in listed], expected)

    def test_exclude(self):
        self.assertEqual(self.hosts_of("all", "-x", "web*"), ["db1"])

    def test_hosts_of_an_earlier_run(self):
        run = self.document("web1,web2", "--", "test $MUSTER_HOST = web1", code=1)["id"]
        self.assertEqual(self.hosts_of(f"run:{run}"), ["web1", "web2"])
        self.assertEqual(self.hosts_of(f"run:{run}.failed"), ["web2"])
        self.assertEqual(self.hosts_of(f"run:{run}.succeeded"), ["web1"])


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
        run = self.cluster.start_run("-t", "web*", "--", f"until test -e {gate}; do sleep 0.05; done")
        for host in ("web1", "web2"):
            self.cluster.wait_task(run, host, "running")
        self.assertCode(self.cluster.muster("kill", run, "--host", "web1"), 0)
        self.cluster.wait_task(run, "web1", "killed")
        self.assertEqual(self.cluster.task_of(run, "web2")["state"], "running")
        gate.touch()
        ended = self.cluster.wait_end(run)
        self.assertEqual(ended["counts"], {"killed": 1, "succeeded": 1})

    def test_stop_skips_what_was_not_sent(self):
        run = self.cluster.start_run("-t", "all", "--concurrency", "1", "--", "sleep 1000")
        self.cluster.wait_task(run, "db1", "running")
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


class Starting(RunsTest):
    """POST /runs as a program calls it."""

    def start(self, body, key=None):
        return self.cluster.http("POST", "/api/v1/runs", body, headers={"Idempotency-Key": key} if key else None)

    def assertError(self, answer, status, code):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(set(answer.json()), {"error"})
        error = answer.json()["error"]
        self.assertEqual(set(error), ERROR_FIELDS)
        self.assertEqual(error["code"], code)
        self.assertTrue(error["message"] and error["request_id"], error)
        return error

    def test_same_key_and_body_start_once(self):
        marks = self.cluster.folder / f"marks-{uuid.uuid4()}"
        body = {"targets": "web1", "command": {"script": f"echo x >> {marks}"}}
        key = str(uuid.uuid4())
        first = self.start(body, key)
        self.assertEqual(first.status, 201, first)
        self.assertEqual(set(first.json()), {"id", "state", "hosts", "commit"})
        self.cluster.wait_end(first.json()["id"])
        again = self.start(body, key)
        self.assertEqual((again.status, again.json()["id"]), (201, first.json()["id"]))
        other = self.start(body, str(uuid.uuid4()))
        self.assertNotEqual(other.json()["id"], first.json()["id"])
        self.cluster.wait_end(other.json()["id"])
        self.assertEqual(marks.read_text(), "x\nx\n")

    def test_another_body_under_the_key_is_422(self):
        key = str(uuid.uuid4())
        first = self.start({"targets": "web1", "command": {"argv": ["true"]}}, key)
        self.assertEqual(first.status, 201, first)
        self.assertError(self.start({"targets": "web2", "command": {"argv": ["true"]}}, key), 422, "key_reused")

    def test_started_says_where(self):
        answer = self.start({"targets": "web1", "command": {"argv": ["true"]}})
        self.assertEqual(answer.headers["Location"], f"/api/v1/runs/{answer.json()['id']}")

    def test_script_and_stdin_have_a_limit(self):
        body = {"targets": "web1", "command": {"script": "true #" + "x" * (1 << 20)}}
        self.assertError(self.start(body), 413, "too_large")
        half = 600 << 10
        body = {"targets": "web1", "command": {"script": "true #" + "x" * half},
                "stdin_base64": base64.b64encode(b"y" * half).decode()}
        self.assertError(self.start(body), 413, "too_large")
        body = {"targets": "web1", "command": {"script": "true #" + "x" * ((1 << 20) - 6)}}
        answer = self.start(body)
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(self.cluster.wait_end(answer.json()["id"])["state"], "succeeded")

    def test_wrong_requests_have_the_documented_form(self):
        command = {"argv": ["true"]}
        for body, status, code in (
                (b"{garbage", 400, "invalid"), (b"[1]", 400, "invalid"), (b"", 400, "invalid"), ({}, 400, "invalid"),
                ({"targets": "web1"}, 400, "invalid"), ({"targets": "", "command": command}, 400, "invalid"),
                ({"targets": "web1", "command": command, "surprise": 1}, 400, "invalid"),
                ({"targets": "web1", "command": {"argv": []}}, 400, "invalid"),
                ({"targets": "web1", "command": {"argv": ["true"], "script": "true"}}, 400, "invalid"),
                ({"targets": "web1", "command": command, "timeout_ms": -1}, 400, "invalid"),
                ({"targets": "web1", "command": command, "concurrency": "two"}, 400, "invalid"),
                ({"targets": "web1", "command": command, "batches": "1,,"}, 400, "invalid"),
                ({"targets": "web1", "command": command, "env": {"A=B": "x"}}, 400, "invalid"),
                ({"targets": "web1 and", "command": command}, 400, "invalid"),
                ({"targets": "web9", "command": command}, 404, "no_match"),
                ({"targets": "zone=none", "command": command}, 404, "no_match")):
            with self.subTest(body=body):
                self.assertError(self.start(body), status, code)

    def test_dry_run_says_what_would_be(self):
        before = self.run_ids()
        answer = self.cluster.http("POST", "/api/v1/runs?dry_run=true",
                                   {"targets": "all", "command": {"argv": ["true"]}, "batches": "1,50%"})
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json(), {"hosts": 3, "names": "db1,web[1-2]", "offline": [], "offline_count": 0,
                                         "batches": [1, 1, 1], "says_all": True})
        self.assertEqual(self.run_ids(), before)


class Offline(ClusterTest):
    hosts = ("here", "gone")

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agents(*cls.hosts)
        cls.cluster.agents["gone"].end()
        cls.cluster.wait_offline("gone")

    def test_offline_host_is_unreachable_and_6(self):
        outcome = self.cluster.muster("run", "-t", "all", "--wait-offline", "1s", "-o", "json", "--", "true")
        document = self.assertCode(outcome, 6).json()
        self.assertEqual([(host["host"], host["state"]) for host in document["hosts"]],
                         [("gone", "unreachable"), ("here", "succeeded")])
        self.assertEqual(document["state"], "succeeded")

    def test_a_failure_wins_over_an_absence(self):
        self.assertCode(self.cluster.muster("run", "-t", "all", "--wait-offline", "1s", "--", "false"), 1)

    def test_only_offline_hosts_fail_the_run(self):
        outcome = self.cluster.muster("run", "-t", "gone", "--wait-offline", "1s", "-o", "json", "--", "true")
        self.assertEqual(self.assertCode(outcome, 6).json()["state"], "failed")

    def test_why_names_the_offline_host(self):
        run = self.cluster.start_run("-t", "gone", "--wait-offline", "10m", "--", "true")
        self.assertEqual(self.cluster.wait_task(run, "gone", "queued")["attempt"], 0)
        self.assertIn("offline", self.assertCode(self.cluster.muster("why", run, "--host", "gone"), 0).text)
        self.assertCode(self.cluster.muster("stop", run), 0)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"skipped": 1})

    def test_offline_hosts_are_named_while_they_are_waited_for(self):
        waiter = self.cluster.begin("run", "-t", "all", "--wait-offline", "10m", "--", "true")
        wait_until("the host is named", lambda: "offline: gone" in waiter.said()[1])
        self.assertCode(self.cluster.muster("stop", waiter.said()[1].split()[1]), 0)
        self.assertCode(waiter.finish(), 6)

    def test_hosts_shows_who_is_there(self):
        hosts = json.loads(self.assertCode(self.cluster.muster("hosts", "-o", "json"), 0).out)
        self.assertEqual({host["name"]: host["online"] for host in hosts["hosts"]}, {"here": True, "gone": False})
        self.assertEqual((hosts["total"], hosts["online"]), (2, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
