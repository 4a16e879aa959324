"""`muster wait` and `muster attach`: commands that follow runs which were started elsewhere."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from terminal import CONTROL_C, AtTerminal  # noqa: E402

HEAD = "apiVersion: muster/v1\n"
ASKS = HEAD + """kind: job
name: asks
targets: h1
stages: [{name: ask, approve: {message: go on}}, {name: go, script: 'echo went'}]
"""


class Following(ClusterTest):
    hosts = ("h1", "h2", "h3")

    def setUp(self):
        self.gate = self.cluster.folder / f"{self._testMethodName}.gate"

    def gated(self, after="true", targets="h1,h2"):
        """A run that ends when the gate is there."""
        return self.cluster.start_run("-t", targets, "--", f"echo early-$MUSTER_HOST; while ! test -e {self.gate}; do "
                                      f"sleep 0.05; done; echo late-$MUSTER_HOST; {after}")

    def asks(self):
        self.assertCode(self.cluster.muster("apply", "-f", "-", stdin=ASKS.encode()), 0)
        return self.assertCode(self.cluster.muster("start", "asks"), 0).text.strip()

    def at_terminal(self, *words):
        terminal = AtTerminal(words, self.cluster.environment())
        self.addCleanup(terminal.close)
        return terminal


class Wait(Following):
    def test_ends_with_the_run_and_its_code(self):
        for after, code in (("true", 0), ("exit 4", 1)):
            with self.subTest(after=after):
                self.gate.unlink(missing_ok=True)
                run = self.gated(after)
                waits = self.cluster.begin("wait", run, "-o", "json")
                self.cluster.wait_task(run, "h1", "running")
                self.assertIsNone(waits.process.poll())
                self.gate.touch()
                outcome = self.assertCode(waits.finish(), code)
                self.assertEqual([one["id"] for one in json.loads(outcome.out)["runs"]], [run])
                self.assertCode(self.cluster.muster("wait", run), code)

    def test_of_several_runs_the_worst_counts(self):
        good = self.cluster.start_run("-t", "h1", "--", "true")
        bad = self.cluster.start_run("-t", "h1", "--", "false")
        slow = self.gated()
        waits = self.cluster.begin("wait", slow, good[1:], bad, good)
        self.cluster.wait_end(bad)
        self.assertIsNone(waits.process.poll())
        self.gate.touch()
        outcome = self.assertCode(waits.finish(), 1)
        for run, state in ((slow, "succeeded"), (good, "succeeded"), (bad, "failed")):
            self.assertEqual(outcome.complaint.count(f"{run} {state}: "), 1, outcome)
        self.assertCode(self.cluster.muster("wait", good, slow), 0)

    def test_timeout_has_a_code_of_its_own(self):
        run = self.gated()
        failed = self.cluster.start_run("-t", "h3", "--", "false")
        self.assertCode(self.cluster.muster("wait", run, "--timeout", "300ms"), 124)
        self.assertCode(self.cluster.muster("wait", failed, run, "--timeout", "300ms"), 124)
        self.gate.touch()
        self.cluster.wait_end(run)
        self.assertCode(self.cluster.muster("wait", run, "--timeout", "0s"), 0)

    def test_unknown_runs_are_refused_at_once(self):
        run = self.gated()
        self.addCleanup(self.gate.touch)
        self.assertCode(self.cluster.muster("wait", run, "r4711"), 4)
        self.assertCode(self.cluster.muster("wait"), 2)
        self.assertCode(self.cluster.muster("wait", run, "--timeout", "5"), 2)

    def test_a_run_that_waits_for_a_person_ends_it_without_a_terminal(self):
        run = self.asks()
        other = self.gated(targets="h2")
        outcome = self.cluster.begin("wait", run, other)
        wait_until("it asks", lambda: "asks: go on" in outcome.said()[1])
        self.assertIsNone(outcome.process.poll())
        self.gate.touch()
        self.assertCode(outcome.finish(), 7)
        self.assertCode(self.cluster.muster("wait", run), 7)
        stays = self.cluster.begin("wait", run, "--wait-paused")
        wait_until("it asks again", lambda: "asks: go on" in stays.said()[1])
        self.assertCode(self.cluster.muster("reject", run), 0)
        self.assertCode(stays.finish(), 1)

    def test_a_paused_run_and_one_that_failed(self):
        run = self.asks()
        bad = self.cluster.start_run("-t", "h1", "--", "false")
        self.assertCode(self.cluster.muster("wait", run, bad), 1)
        self.assertCode(self.cluster.muster("stop", run), 0)
        self.cluster.wait_end(run)
        self.assertCode(self.cluster.muster("wait", run), 1)


class Children(Following):
    """A run that waits for a person in a run that one of its stages started."""

    def start(self, name, stages, more=""):
        self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=(
            HEAD + f"kind: job\nname: {name}-inner\ntargets: 'h[1-2]'\nstages: {stages}\n---\n" + HEAD +
            f"kind: job\nname: {name}\ntargets: 'h[1-2]'\nstages: [{{name: sub, job: {name}-inner}}]\n").encode()), 0)
        return self.assertCode(self.cluster.muster("start", name), 0).text.strip()

    def child_of(self, run):
        def child():
            return next((visit["child"] for visit in self.cluster.get(f"/runs/{run}/visits")["visits"]), None)
        return wait_until("there is a child", child)

    def test_an_approval_in_a_child_ends_it_without_a_terminal(self):
        run = self.start("parent", "[{name: ask, approve: {message: really go}}, {name: go, script: 'true'}]")
        child = self.child_of(run)
        for words in (("wait", run), ("attach", run), ("start", "parent", "--wait")):
            outcome = self.assertCode(self.cluster.muster(*words), 7)
            self.assertIn("really go", outcome.complaint)
            self.assertIn("muster approve r", outcome.complaint)
        self.assertIn(f"muster approve {child}", self.cluster.muster("wait", run).complaint)
        shown = self.cluster.muster("show", run).text
        self.assertIn(f"sub: {child} waits for an approval", shown)
        self.assertIn(f"muster approve {child} --approval ", shown)
        stays = self.cluster.begin("wait", run, "--wait-paused")
        wait_until("it is named", lambda: f"muster approve {child}" in stays.said()[1])
        self.assertIsNone(stays.process.poll())
        self.assertCode(self.cluster.muster("approve", child), 0)
        self.assertCode(stays.finish(), 0)

    def test_a_child_that_asks_later_is_noticed(self):
        run = self.start("later", f"[{{name: first, script: 'while ! test -e {self.gate}; do sleep 0.05; done'}}, "
                                  "{name: ask, approve: {message: now}}]")
        self.cluster.wait_task(self.child_of(run), "h1", "running")
        waits = self.cluster.begin("attach", run)
        wait_until("it follows", lambda: f"run {run} on" in waits.said()[1])
        self.assertIsNone(waits.process.poll())
        self.gate.touch()
        self.assertCode(waits.finish(), 7)

    def test_a_child_paused_at_its_limit_ends_it_without_a_terminal(self):
        run = self.start("limit", "[{name: go, batches: [1], on_limit: pause, script: 'false'}]")
        child = self.child_of(run)
        outcome = self.assertCode(self.cluster.muster("wait", run), 7)
        self.assertIn(f"muster resume {child}", outcome.complaint)
        self.assertIn(f"sub: {child} is paused", self.cluster.muster("show", run).text)

    def test_at_a_terminal_it_stays(self):
        run = self.start("stays", "[{name: ask, approve: {message: well}}]")
        child = self.child_of(run)
        terminal = self.at_terminal("attach", run)
        terminal.wait_for(f"muster approve {child}")
        self.assertCode(self.cluster.muster("reject", child), 0)
        code, shown = terminal.finish()
        self.assertIn(code, (1, 6), shown)


class Attach(Following):
    def test_shows_all_of_the_output_and_ends_with_the_code(self):
        run = self.gated("exit 3")
        for host in ("h1", "h2"):
            wait_until("early output is there", lambda host=host: b"early" in self.cluster.log_of(run, host))
        attached = self.cluster.begin("attach", run)
        wait_until("early output is shown", lambda: attached.said()[0].count("early-") == 2)
        self.gate.touch()
        outcome = self.assertCode(attached.finish(), 1)
        self.assertEqual(sorted(outcome.text.splitlines()),
                         ["h1 | early-h1", "h1 | late-h1", "h2 | early-h2", "h2 | late-h2"])
        self.assertIn(f"{run} failed: 2 failed (exit 3): h[1-2]", outcome.complaint)

    def test_of_an_ended_run_its_result(self):
        run = self.cluster.start_run("-t", "h1,h2", "--", "echo hi; test $MUSTER_HOST = h1")
        self.cluster.wait_end(run)
        outcome = self.assertCode(self.cluster.muster("attach", run), 1)
        self.assertEqual(outcome.text, "1 host failed (exit 1): h2\nhi\n\n1 host succeeded: h1\nhi\n")
        document = json.loads(self.assertCode(self.cluster.muster("attach", run, "-o", "json"), 1).out)
        states = {host["host"]: host["state"] for host in document["hosts"]}
        self.assertEqual(states, {"h1": "succeeded", "h2": "failed"})
        lines = self.assertCode(self.cluster.muster("attach", run, "-o", "jsonl"), 1).text.splitlines()
        self.assertEqual(sorted(json.loads(line)["host"] for line in lines), ["h1", "h2"])
        self.assertCode(self.cluster.muster("attach", "r4711"), 4)
        # Without an id, the caller's last run.
        self.assertIn(run, self.assertCode(self.cluster.muster("attach"), 1).complaint)

    def test_of_a_job_its_stages(self):
        run = self.asks()
        self.assertCode(self.cluster.muster("attach", run), 7)
        stays = self.cluster.begin("attach", run, "--wait-paused", "-o", "json")
        wait_until("it asks", lambda: "asks: go on" in stays.said()[1])
        self.assertCode(self.cluster.muster("approve", run, "--yes"), 0)
        document = json.loads(self.assertCode(stays.finish(), 0).out)
        self.assertEqual([(stage["name"], stage["state"]) for stage in document["stages"]],
                         [("ask", "succeeded"), ("go", "succeeded")])
        self.assertRegex(self.assertCode(self.cluster.muster("attach", run), 0).text, r"go +succeeded +1 succeeded")

    def test_control_c_asks_detaches_and_stops(self):
        run = self.gated()
        self.addCleanup(self.gate.touch)
        for answer, code in (("d", 130), ("s", 1)):
            terminal = self.at_terminal("attach", run)
            terminal.wait_for("early-h1")
            terminal.type(CONTROL_C)
            terminal.wait_for(r"\[s\]top, \[d\]etach or \[c\]ontinue")
            terminal.type(answer + "\n")
            ended, shown = terminal.finish()
            self.assertEqual(ended, code, shown)
        self.assertEqual({task["state"] for task in self.cluster.tasks_of(run).values()}, {"killed"})

    def test_goes_on_when_the_server_comes_back(self):
        run = self.gated()
        attached = self.cluster.begin("attach", run)
        wait_until("early output is shown", lambda: attached.said()[0].count("early-") == 2)
        self.cluster.restart_server()
        self.gate.touch()
        outcome = self.assertCode(attached.finish(), 0)
        self.assertEqual(sorted(outcome.text.splitlines()),
                         ["h1 | early-h1", "h1 | late-h1", "h2 | early-h2", "h2 | late-h2"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
