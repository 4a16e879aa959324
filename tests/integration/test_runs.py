"""Runs on real agents: what is executed, on which hosts, and what is refused."""

import os
import pwd
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import free_port  # noqa: E402
from runs_test import RunsTest, sha256  # noqa: E402


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
            self.assertEqual(host["log"], {"state": "complete", "missing": None, "bytes": 7, "stdout_sha256": sha256(b"out\n"),
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

    def test_unknown_host_or_group_left_out_is_4(self):
        self.assertIn("wbe1", self.assertNothingStarted(4, "run", "-t", "web*", "-x", "wbe1", "--", "id").complaint)
        self.assertIn("@nogroup", self.assertNothingStarted(4, "run", "-t", "web*", "-x", "@nogroup", "--", "id").complaint)
        self.assertNothingStarted(4, "run", "-t", "web1,web2", "-x", "web9", "--", "id")

    def test_unknown_host_may_pass_when_asked(self):
        hosts = self.document("web1,web9", "--ignore-missing", "--", "true")["hosts"]
        self.assertEqual([host["host"] for host in hosts], ["web1"])
        hosts = self.document("web*", "-x", "web2,web9", "--ignore-missing", "--", "true")["hosts"]
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
        self.assertEqual(set(pairs), {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "MUSTER_RUN", "MUSTER_STAGE", "MUSTER_OUTPUT",
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
        # None of these is among the targets.
        for left_out in ("db1", "db*", "mail*", "zone=nowhere"):
            with self.subTest(left_out=left_out):
                self.assertEqual(self.hosts_of("web1,web2", "-x", left_out), ["web1", "web2"])

    def test_hosts_of_an_earlier_run(self):
        run = self.document("web1,web2", "--", "test $MUSTER_HOST = web1", code=1)["id"]
        self.assertEqual(self.hosts_of(f"run:{run}"), ["web1", "web2"])
        self.assertEqual(self.hosts_of(f"run:{run}.failed"), ["web2"])
        self.assertEqual(self.hosts_of(f"run:{run}.succeeded"), ["web1"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
