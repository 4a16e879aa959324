"""`muster start` at a terminal: it asks for parameters that are missing, and shows how far the stages are."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from terminal import CONTROL_C, AtTerminal  # noqa: E402

HEAD = "apiVersion: muster/v1\nkind: job\n"


class StartCase(ClusterTest):
    hosts = ("h1", "h2")

    def apply(self, text):
        self.assertCode(self.cluster.muster("apply", "-f", "-", stdin=(HEAD + text).encode()), 0)

    def at_terminal(self, *words, **elsewhere):
        terminal = AtTerminal(words, self.cluster.environment(), **elsewhere)
        self.addCleanup(terminal.close)
        return terminal

    def last_run(self):
        return self.cluster.wait_end(self.cluster.get("/runs", limit=1)["runs"][0]["id"])


class Prompts(StartCase):
    JOB = """name: ask
targets: h1
params:
  version: {required: true, pattern: '^[0-9.]+$', description: which kernel}
  mode: {required: true, type: choice, choices: [fast, slow]}
  token: {required: true, type: secret}
  note: {default: none}
stages: [{name: go, script: 'echo $MUSTER_PARAM_VERSION $MUSTER_PARAM_MODE $MUSTER_PARAM_NOTE'}]
"""

    def setUp(self):
        self.apply(self.JOB)
        self.assertCode(self.cluster.muster("secrets", "set", "tok", stdin=b"hunter2"), 0)

    def test_asks_for_what_is_missing_and_only_for_that(self):
        terminal = self.at_terminal("start", "ask", "-p", "mode=slow", "--wait")
        terminal.wait_for("which kernel\nversion: ")
        terminal.type("six\n")
        terminal.wait_for("match(.|\n)*version: ")
        terminal.type("\n")
        terminal.wait_for("needs a value(.|\n)*version: ")
        terminal.type("6.1\n")
        terminal.wait_for(r"token \(name of a secret\): ")
        terminal.wait_for_secret_mode()
        terminal.type("tok\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertNotIn("tok\n", shown)
        self.assertEqual(self.last_run()["params"],
                         {"version": "6.1", "mode": "slow", "token": "secret:tok", "note": "none"})

    def test_choices_are_named_and_a_file_name_is_a_value(self):
        self.apply("name: plain\ntargets: h1\nparams: {mode: {required: true, type: choice, choices: [fast, slow]}, "
                   "who: {required: true}}\nstages: [{name: go, script: 'true'}]\n")
        terminal = self.at_terminal("start", "plain")
        terminal.wait_for(r"mode \(fast, slow\): ")
        terminal.type("quick\n")
        terminal.wait_for(r"mode \(fast, slow\): ")
        terminal.type("fast\n")
        terminal.wait_for("who: ")
        terminal.type("@etc\n")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertEqual(self.last_run()["params"], {"mode": "fast", "who": "@etc"})

    def test_control_c_starts_nothing(self):
        before = self.cluster.get("/runs", limit=1)["runs"]
        terminal = self.at_terminal("start", "ask")
        terminal.wait_for("version: ")
        terminal.type(CONTROL_C)
        code, shown = terminal.finish()
        self.assertEqual(code, 130, shown)
        self.assertIn("nothing was started", shown)
        self.assertEqual(self.cluster.get("/runs", limit=1)["runs"], before)

    def test_without_a_terminal_and_with_yes_it_is_an_error(self):
        refused = self.assertCode(self.cluster.muster("start", "ask"), 2)
        self.assertIn("version", refused.complaint)
        code, shown = self.at_terminal("start", "ask", "--yes").finish()
        self.assertEqual(code, 2, shown)
        self.assertCode(self.cluster.muster("start", "no-such-job"), 4)


class Stages(StartCase):
    def test_shows_stage_batch_and_time(self):
        gate = self.cluster.folder / "gate"
        self.apply(f"""name: roll
targets: all
stages:
  - {{name: check, script: 'true'}}
  - name: swap
    batches: [1]
    between: {{wait: 1s}}
    script: 'while ! test -e {gate}-$MUSTER_HOST; do sleep 0.05; done'
""")
        terminal = self.at_terminal("start", "roll", "--yes", "--wait", columns=160)
        run = wait_until("it runs", lambda: self.cluster.get("/runs", job="roll")["runs"])[0]["id"]
        terminal.wait_for(r"stage \d of \d: swap, batch 1 of 2.* · \d")
        attached = self.cluster.begin("attach", run)
        wait_until("a line without a terminal", lambda: "swap, batch 1 of 2" in attached.said()[1])
        for host in self.hosts:
            Path(f"{gate}-{host}").touch()
            terminal.wait_for("swap, batch 2 of 2|succeeded")
        code, shown = terminal.finish()
        self.assertEqual(code, 0, shown)
        self.assertCode(attached.finish(), 0)
        stages = self.cluster.get(f"/runs/{run}/summary")["stages"]
        shown = [[stage[name] for name in ("name", "batch", "batches", "hosts_before")] for stage in stages]
        self.assertEqual(shown[:2], [["check", 0, 0, 0], ["swap", 2, 2, 1]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
