"""What the command line says where it used to be wrong, silent or hard to read."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402
from terminal import AtTerminal  # noqa: E402

HEAD = "apiVersion: muster/v1\n"
ROLL = HEAD + """kind: job
name: roll
targets: all
stages:
  - {name: upgrade, script: 'test $MUSTER_HOST != h1', batches: '1', on_limit: pause}
"""
ASKS = HEAD + """kind: job
name: asks
targets: h1
stages:
  - {name: ask, approve: {message: go on}}
  - {name: go, script: "true"}
"""
OUTER = HEAD + """kind: job
name: inner
targets: h1
stages:
  - {name: work, script: echo inner}
---
apiVersion: muster/v1
kind: job
name: outer
targets: h1
stages:
  - name: both
    stages:
      - {name: one, script: echo one}
      - {name: two, script: echo two}
  - {name: sub, job: inner}
"""
PAST = HEAD + """kind: trigger
name: past
job: quick
cron: '30 2 * * *'
tz: UTC
"""
QUICK = HEAD + """kind: job
name: quick
targets: h1
stages:
  - {name: work, script: 'true'}
"""


FLAKY = HEAD + """kind: job
name: flaky
targets: h1
stages:
  - name: work
    retries: {max: 2, backoff: 100ms}
    script: 'echo x >> COUNTER; test $(wc -l < COUNTER) -ge 3'
"""


class Plainly(ClusterTest):
    hosts = ("h1", "h2")

    def apply(self, text):
        self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=text.encode()), 0)

    def start(self, job):
        self.apply(job)
        name = re.search(r"name: (\w+)", job).group(1)
        return self.assertCode(self.cluster.muster("start", name, "--yes"), 0).text.strip()

    def refusal(self, *words, code=2):
        return self.assertCode(self.cluster.muster(*words), code).complaint

    def at_terminal(self, *words, columns=80):
        terminal = AtTerminal(words, self.cluster.environment(), columns)
        self.addCleanup(terminal.close)
        return terminal


class Runs(Plainly):
    def test_paused_run_names_each_way_on_and_goes_on_by_none_of_itself(self):
        run = self.start(ROLL)
        wait_until("it is paused", lambda: self.cluster.run_of(run)["state"] == "paused")
        told = self.assertCode(self.cluster.muster("wait", run), 7).complaint
        for way in ("retry", "resume", "stop"):
            self.assertIn(f"muster {way} {run}", told)
        late = self.assertCode(self.cluster.muster("wait", run, "--wait-paused", "--timeout", "1ms"), 124).complaint
        self.assertIn(f"{run} is still paused", late)
        self.assertNotIn("goes on", late)
        terminal = self.at_terminal("wait", run, "--timeout", "1s")
        code, shown = terminal.finish()
        self.assertEqual(code, 124, shown)
        self.assertIn(f"muster retry {run}", shown)
        for line in re.split(r"[\n\r]|\x1b\[K", shown):
            self.assertLessEqual(len(line), 80, shown)
        self.cluster.muster("stop", run)

    def test_run_that_waits_for_an_approval_is_listed_so(self):
        run = self.start(ASKS)
        wait_until("it asks", lambda: "awaiting approval" in self.cluster.muster("runs").text)
        self.assertCode(self.cluster.muster("stop", run), 0)
        self.cluster.wait_end(run)
        self.assertNotIn("awaiting", self.cluster.muster("runs").text)

    def test_ended_run_is_said_to_have_ended(self):
        run = self.start(QUICK)
        self.cluster.wait_end(run)
        for words in (("pause", run), ("resume", run), ("skip", run, "work"), ("set", run, "concurrency=1"),
                      ("approve", run, "--yes"), ("stop", run)):
            with self.subTest(words=words):
                self.assertIn(f"run {run} already ended (succeeded)", self.refusal(*words, code=1))

    def test_logs_of_a_stage_without_output_say_where_it_is(self):
        self.apply(OUTER)
        run = self.assertCode(self.cluster.muster("start", "outer", "--yes"), 0).text.strip()
        self.cluster.wait_end(run)
        child = self.cluster.get(f"/runs/{run}/visits")["visits"]
        child = next(visit["child"] for visit in child if visit["child"])
        told = {words: self.assertCode(self.cluster.muster("logs", run, *words), 0)
                for words in (("--stage", "both"), ("--stage", "sub"), ("--host", "h1", "--stage", "sub"),
                              ("--stage", "one"))}
        self.assertEqual(told["--stage", "both"].complaint, "")
        self.assertIn("two", told["--stage", "both"].text, "of the last stage inside it")
        self.assertIn(f"stage sub has no output of its own; its runs: {child}", told["--stage", "sub"].complaint)
        self.assertIn(f"h1: in run {child}; muster logs {child}", told["--host", "h1", "--stage", "sub"].complaint)
        self.assertNotIn("no output of its own", told["--stage", "one"].complaint)

    def test_run_that_is_paused_with_its_parent_is_resumed_with_it(self):
        gate = self.cluster.folder / "gate"
        self.apply(OUTER.replace("script: echo inner", f"script: while ! test -e {gate}; do sleep 0.05; done"))
        run = self.assertCode(self.cluster.muster("start", "outer", "--yes"), 0).text.strip()
        child = wait_until("the child runs", lambda: next(
            (visit["child"] for visit in self.cluster.get(f"/runs/{run}/visits")["visits"] if visit["child"]), None))
        self.assertCode(self.cluster.muster("pause", run, "--reason", "storage"), 0)
        self.assertIn(f"sub: {child} is paused with {run}; go on: muster resume {run}", self.cluster.muster("show", run).text)
        why = self.cluster.muster("why", run).text
        self.assertEqual(why.count("paused the run: storage"), 1, why)
        self.assertIn(f"muster resume {run}", why)
        self.assertIn(f"muster resume {run}", self.cluster.muster("why", child).text)
        self.assertCode(self.cluster.muster("resume", run), 0)
        self.assertCode(self.cluster.muster("pause", child), 0)
        self.assertIn(f"muster resume {child}", self.cluster.muster("show", run).text)
        self.assertIn(f"stage sub waits for run {child}: ", self.cluster.muster("why", run).text)
        self.assertIn(f"muster resume {child}", self.cluster.muster("why", run).text)
        self.assertCode(self.cluster.muster("resume", child), 0)
        gate.touch()
        self.cluster.wait_end(run)

    def test_empty_list_says_what_there_is_none_of(self):
        self.assertIn("no job 'nope'", self.assertCode(self.cluster.muster("runs", "--job", "nope"), 0).complaint)
        self.assertIn("'nobody'", self.assertCode(self.cluster.muster("runs", "--by", "nobody"), 0).complaint)
        self.assertIn("muster runs --job fin", self.refusal("show", "fin"))

    def test_attempts_are_told_apart(self):
        self.apply(FLAKY.replace("COUNTER", str(self.cluster.folder / "attempts")))
        told = self.assertCode(self.cluster.muster("start", "flaky", "--wait", "--yes"), 0).complaint
        self.assertIn("h1 failed (exit 1)\n", told)
        self.assertIn("h1 failed (exit 1) at attempt 2\n", told)
        self.assertIn("h1 succeeded at attempt 3\n", told)

    def test_cut_output_is_told_with_quiet_too(self):
        line = "head -c 3000000 /dev/zero | tr '\\0' x"
        told = self.assertCode(self.cluster.muster("run", "-q", "-t", "h1", "--max-output", "1MB", "--", line), 0).complaint
        self.assertIn("output cut", told)
        self.assertEqual(self.assertCode(self.cluster.muster("run", "-q", "-t", "h1", "--", "echo x"), 0).complaint, "")


class Times(Plainly):
    def test_last_of_a_trigger_is_when_its_run_was_started(self):
        self.apply(QUICK)
        self.apply(PAST)
        self.assertCode(self.cluster.muster("triggers", "backfill", "past", "--from", "2026-01-01T00:00:00Z", "--to",
                                            "2026-01-02T00:00:00Z", "--yes"), 0)
        wait_until("it ran", lambda: re.search(r"r[\d.]+, \d+s ago", self.cluster.muster("triggers").text))

    def test_freeze_without_an_end_is_said_to_last_until_thawed(self):
        self.apply(QUICK)
        self.assertCode(self.cluster.muster("freeze", "--job", "quick", "--reason", "x", "--yes"), 0)
        self.addCleanup(self.cluster.muster, "thaw", "--all", "--yes")
        self.assertNotIn(" thawed ", self.cluster.muster("freeze", "--list").text)
        self.assertRegex(self.cluster.muster("status").text, r"(?m)^frozen   f\d+ \(job quick, until thawed\) by ")


class Words(Plainly):
    def test_values_are_refused_in_plain_words(self):
        self.assertIn("expected a whole number from 1 to", self.refusal("get", "job", "fin", "--diff", "0"))
        self.assertIn("expected a whole number", self.refusal("run", "-t", "h1", "--concurrency", "-1", "--", "true"))
        self.assertIn("write 512M", self.refusal("run", "-t", "h1", "--memory", "512", "--", "true"))
        self.assertIn("--cpu", self.refusal("run", "-t", "h1", "--cpu", "0", "--", "true"))
        self.assertIn("--processes", self.refusal("run", "-t", "h1", "--processes", "0", "--", "true"))
        self.assertIn("No such file or directory", self.refusal("run", "-t", "h1", "--script", "/nonexist"))
        self.assertNotIn("POSITIVE", self.cluster.muster("get", "--help").text)

    def test_messages_name_what_was_written(self):
        run = self.start(QUICK)
        self.cluster.wait_end(run)
        self.assertIn("muster: --grep: not a regular expression", self.refusal("logs", run, "--grep", "("))
        self.assertIn("did you mean job?", self.refusal("get", "jbo", "two"))
        self.assertIn("muster: approve: RUN is missing", self.refusal("approve"))
        self.assertIn("muster: there is no job 'depoly'", self.refusal("freeze", "--job", "depoly", "--reason", "x"))
        document = self.cluster.folder / "nofile.yaml"
        document.write_text(HEAD + "kind: job\nname: nofile\ntargets: h1\nstages: [{name: a, script: {file: nofile.sh}}]\n")
        told = self.assertCode(self.cluster.muster("apply", "-f", document), 1).complaint
        self.assertEqual(told.count("cannot read"), 1, told)

    def test_slots_are_whole_within_80_columns(self):
        self.apply(QUICK)
        self.apply(PAST)
        self.assertCode(self.cluster.muster("triggers", "backfill", "past", "--from", "2026-01-01T00:00:00Z", "--to",
                                            "2026-01-02T00:00:00Z", "--yes"), 0)
        started = wait_until("it ran", lambda: re.search(r"started r\d+", self.cluster.muster("slots", "past").text))
        code, shown = self.at_terminal("slots", "past").finish()
        self.assertEqual(code, 0, shown)
        self.assertIn(started.group(), shown)
        for line in shown.splitlines():
            self.assertLessEqual(len(line), 80, shown)

    def test_misplaced_words_get_a_hint(self):
        self.assertIn("-- uptime", self.refusal("run", "-t", "h1", "uptime", "-p"))
        self.assertIn("-p version=1.2", self.refusal("start", "roll", "version=1.2"))
        self.assertIn("--host h1", self.refusal("logs", "r22", "h1"))
        self.assertIn("muster get job roll", self.refusal("get", "roll"))
        self.assertIn("muster triggers show nightly", self.refusal("triggers", "nightly"))
        self.assertIn("'h1,h2'", self.refusal("hosts", "h1", "h2"))

    def test_version_of_a_job_is_not_the_programs(self):
        for words in (("--version", "99"), ("--version=99",)):
            told = self.refusal("start", "roll", *words)
            self.assertIn("muster start has no option --version; a start takes the newest version", told)
        self.assertIn("muster show has no option --version", self.refusal("show", "r1", "--version", "2"))
        self.assertRegex(self.assertCode(self.cluster.muster("--version"), 0).text, r"^muster \d")

    def test_bare_command_lists_groups_within_80_columns(self):
        told = self.refusal()
        self.assertRegex(told, r"Jobs and other documents  +apply ")
        for line in told.splitlines():
            self.assertLessEqual(len(line), 80, told)

    def test_long_messages_break_at_words_of_a_terminal(self):
        code, shown = self.at_terminal("run", "-t", "h1", "--", "a", "|", "b").finish()
        self.assertEqual(code, 2)
        self.assertGreater(len(shown.splitlines()), 1)
        for line in shown.splitlines():
            self.assertLessEqual(len(line), 80, shown)
        self.assertEqual(len(self.refusal("run", "-t", "h1", "--", "a", "|", "b").splitlines()), 1)

    def test_expression_and_token_file_are_named(self):
        self.assertIn("'app=none'", self.refusal("run", "-t", "app=none", "--", "true", code=4))
        self.assertIn("'app=none'", self.refusal("hosts", "app=none", code=4))
        self.apply(QUICK)
        self.assertIn("'app=none'", self.refusal("start", "quick", "-t", "app=none", "--yes", code=4))
        unknown = self.cluster.folder / "unknown.token"
        unknown.write_text("mt1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n")
        unknown.chmod(0o600)
        self.assertIn(f"the token in {unknown} is not known at {self.cluster.url}",
                      self.refusal("--token-file", unknown, "hosts", code=3))
        empty = self.new_cluster()
        self.assertIn("muster agents invite", empty.muster("run", "-t", "all", "--", "true").complaint)

class ManyGroups(Plainly):
    hosts = ("fleet",)  # one emulator, not an agent
    COUNT = 60

    @classmethod
    def set_up_hosts(cls):
        token = cls.cluster.invite(uses=cls.COUNT, replace=True)
        cls.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cls.cluster.url, "--count", cls.COUNT,
                                         "--output", "{host}"], {"MUSTER_JOIN": token})
        wait_until("all hosts online", lambda: cls.cluster.get("/status")["online"] == cls.COUNT)

    def test_a_terminal_gets_the_first_groups_and_a_pipe_all(self):
        words = ("run", "-y", "--grouped", "-t", "all", "--", "true")
        code, shown = self.at_terminal(*words).finish()
        self.assertEqual((code, shown.count("1 host succeeded: fleet")), (0, 50), shown)
        self.assertIn("and 10 more groups", shown)
        piped = self.assertCode(self.cluster.muster(*words), 0).text
        self.assertEqual(piped.count("1 host succeeded: fleet"), self.COUNT)

    def test_groups_without_their_output_say_where_it_is(self):
        run = self.cluster.start_run("-t", "all", "--", "true")
        self.cluster.wait_end(run)
        shown = self.cluster.muster("show", run).text
        self.assertEqual(shown.count(f"… its output: muster logs {run} --host fleet"), 40, shown)


if __name__ == "__main__":
    unittest.main()
