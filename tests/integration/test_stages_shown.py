"""Stages as people read them: each as it was written, and no row that contradicts itself."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

HEAD = "apiVersion: muster/v1\nkind: job\n"
UPGRADE = HEAD + """name: {name}
targets: 'h[1-3]'
stages:
  - name: upgrade
    batches: [1]
    script: 'echo up'
    between: {{check: {{script: 'echo ok'}}}}
finally: [{{name: tidy, hosts: all, script: 'echo tidy'}}]
"""


class Shown(ClusterTest):
    hosts = ("h1", "h2", "h3")

    def apply(self, text):
        self.assertCode(self.cluster.muster("apply", "-f", "-", "--yes", stdin=text.encode()), 0)

    def start(self, name, code=0):
        outcome = self.assertCode(self.cluster.muster("start", name, "--wait"), code)
        return self.cluster.get("/runs", job=name)["runs"][0]["id"], outcome

    def rows(self, text):
        """The cells of the table of stages, without the heading; a name with its indent."""
        lines = text.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("STAGE"))
        rows = []
        for line in lines[first + 1:]:
            if not line.strip():
                break
            rows.append(line.rstrip())
        return rows

    def names(self, text):
        return [row[:len(row) - len(row.lstrip())] + row.split()[0] for row in self.rows(text)]


class Between(Shown):
    def test_a_stage_with_a_check_is_one_stage_in_its_place(self):
        self.apply(UPGRADE.format(name="roll"))
        run, outcome = self.start("roll")
        wanted = ["upgrade", "  upgrade-check", "tidy"]
        self.assertEqual(self.names(outcome.text), wanted)
        self.assertEqual(self.names(self.cluster.muster("show", run).text), wanted)
        stages = {stage["name"]: stage for stage in self.cluster.run_of(run)["stages"]}
        self.assertEqual(list(stages), [name.strip() for name in wanted])
        self.assertEqual((stages["upgrade"]["action"], stages["upgrade"]["counts"]), ("script", {"succeeded": 3}))
        self.assertEqual(stages["upgrade-check"]["parent"], "upgrade")
        listed = next(one for one in self.cluster.get("/runs", job="roll")["runs"] if one["id"] == run)
        self.assertEqual([stage["name"] for stage in listed["stages"]], [name.strip() for name in wanted])
        summary = self.cluster.get(f"/runs/{run}/summary")
        self.assertEqual([stage["name"] for stage in summary["stages"]], [name.strip() for name in wanted])
        self.assertEqual((summary["stages_total"], summary["outer"]), (3, {"total": 2, "ended": 2}))
        planned = json.loads(self.assertCode(self.cluster.muster("start", "roll", "--dry-run", "-o", "json"), 0).out)
        self.assertEqual([(stage["name"], stage["action"]) for stage in planned["stages"]],
                         [("upgrade", "script"), ("upgrade-check", "script"), ("tidy", "script")])

    def test_skip_and_the_audit_name_what_was_written(self):
        gate = self.cluster.folder / "skip.gate"
        self.addCleanup(gate.touch)
        self.apply(UPGRADE.format(name="skips").replace("echo up", f"while ! test -e {gate}; do sleep 0.05; done"))
        run = self.assertCode(self.cluster.muster("start", "skips"), 0).text.strip()
        refused = self.assertCode(self.cluster.muster("skip", run, "none"), 4)
        self.assertIn("upgrade, upgrade-check, tidy", refused.complaint)
        self.assertNotIn("tidy, upgrade", refused.complaint)
        entry = next(one for one in self.cluster.get("/audit", run=run)["entries"] if one["act"] == "run.start")
        self.assertEqual([(stage["name"], stage["action"]) for stage in entry["facts"]["stages"]],
                         [("upgrade", "script"), ("upgrade-check", "script"), ("tidy", "script")])

    def test_the_audit_names_what_a_stage_holds(self):
        self.apply(HEAD + "name: holds\ntargets: h1\nstages: [{name: all, stages: [{name: one, script: 'true'}, "
                          "{name: two, script: 'true'}]}]\n")
        run, _ = self.start("holds")
        entry = next(one for one in self.cluster.get("/audit", run=run)["entries"] if one["act"] == "run.start")
        held = next(stage for stage in entry["facts"]["stages"] if stage["name"] == "all")
        self.assertEqual((held["action"], held["text"]), ("stages", "one, two"))

    def test_progress_counts_what_was_written_and_names_the_first_batch(self):
        gate = self.cluster.folder / "progress.gate"
        self.addCleanup(gate.touch)
        wait = f"while ! test -e {gate}; do sleep 0.05; done"
        self.apply(HEAD + f"name: plain\ntargets: 'h[1-3]'\nstages: [{{name: go, batches: [1], script: '{wait}'}}]\n")
        run = self.assertCode(self.cluster.muster("start", "plain"), 0).text.strip()
        self.cluster.wait_task(run, "h1", "running")
        stage, = self.cluster.get(f"/runs/{run}/summary")["stages"]
        self.assertEqual((stage["batch"], stage["batches"]), (1, 3))


class Rows(Shown):
    def test_counts_of_several_visits_say_so(self):
        self.apply(UPGRADE.format(name="visits"))
        run, outcome = self.start("visits")
        checks = next(row for row in self.rows(outcome.text) if "upgrade-check" in row)
        self.assertRegex(checks, r"\d visits: \d succeeded$")

    def test_a_skipped_row_does_not_show_the_hosts_of_an_earlier_visit_as_its_own(self):
        self.apply(HEAD + """name: again
targets: h1
stages:
  - {name: check, script: 'false', switch: {failed: fix}}
branches:
  - {name: fix, hosts: failed, script: 'true', switch: {succeeded: check}}
""")
        run, outcome = self.start("again", code=1)
        checks, = (row for row in self.rows(self.cluster.muster("show", run).text) if row.startswith("check"))
        self.assertRegex(checks, r"skipped .*earlier: 1 failed$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
