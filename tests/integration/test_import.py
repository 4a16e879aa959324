"""Jobs of Rundeck from their export to their run in Muster, with real processes."""

import json
import resource
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, SOURCE, ClusterTest  # noqa: E402

EXPORTS = SOURCE / "tests/data/rundeck"


class Rundeck(ClusterTest):
    hosts = ("web-1", "web-2")

    def imported(self, *words, code=0):
        return self.assertCode(self.cluster.muster("import", "rundeck", *words), code)

    def test_exports_become_files_that_apply_takes(self):
        folder = self.cluster.folder / "jobs"
        report = self.imported(*sorted(EXPORTS.glob("*.yaml")), "--into", folder).complaint
        self.assertEqual({file.name for file in folder.iterdir()},
                         {"ops.greet.yaml", "ops.greet-everybody.yaml", "nightly.clean-up.yaml"})
        for line in ("'ops/Greet' becomes job ops.greet", "  carried over:", "  changed in meaning:",
                     "  not carried over:", "the schedule (0 0 3 ? * *)"):
            self.assertIn(line, report)
        applied = self.assertCode(self.cluster.muster("apply", "-f", folder, "--dry-run"), 0)
        self.assertEqual(applied.text.count("would be created"), 4, "three jobs, and a trigger for a schedule")
        # Importing again is no change; what was corrected by hand is kept.
        self.imported(*EXPORTS.glob("*.yaml"), "--into", folder)
        corrected = folder / "ops.greet.yaml"
        corrected.write_text(corrected.read_text() + "# corrected\n")
        self.assertIn("--force", self.imported(*EXPORTS.glob("*.yaml"), "--into", folder, code=1).complaint)
        self.assertTrue(corrected.read_text().endswith("# corrected\n"))
        self.imported(*EXPORTS.glob("*.yaml"), "--into", folder, "--force")
        self.assertFalse(corrected.read_text().endswith("# corrected\n"))

    def test_a_file_that_cannot_be_written_is_named(self):
        folder = self.cluster.folder / "small"

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, then, and no signal
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

        words = [str(BIN / "muster"), "import", "rundeck", str(EXPORTS / "ops.yaml"), "--into", str(folder)]
        done = subprocess.run(words, env=self.cluster.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=DEADLINE, check=False, preexec_fn=limit)
        self.assertEqual(done.returncode, 2, done)
        self.assertRegex(done.stderr, f"cannot write '{folder}/ops.[a-z-]+.yaml': File too large")
        self.assertEqual(list(folder.iterdir()), [])

    def test_imported_jobs_run(self):
        out = self.cluster.folder / "out"
        out.mkdir()
        out.chmod(0o777)
        tried = self.imported(EXPORTS / "ops.yaml", "--apply", "--dry-run")
        self.assertEqual(tried.text, "job ops.greet  would be created\njob ops.greet-everybody  would be created\n")
        self.imported(EXPORTS / "ops.yaml", "--apply", "--reason", "we move")
        entry = self.cluster.get("/audit", act="job.apply")["entries"][0]
        self.assertEqual(entry["reason"], "we move")
        # A value that would be code, had it been pasted.
        words = ["-p", f"folder={out}", "-p", "whom=you; echo 'gotcha' $(id)"]
        run = self.assertCode(self.cluster.muster("start", "ops.greet-everybody", *words, "--wait", "-o", "json"), 0)
        self.assertEqual(run.json()["state"], "succeeded", run)
        for host in self.hosts:
            self.assertEqual((out / host).read_text(), f"hello you; echo 'gotcha' $(id) from {host}\nloud\n")
        refused = self.cluster.muster("start", "ops.greet", "-p", f"folder={out}", "-p", "whom=x", "-p", "tone=shy")
        self.assertIn("loud", self.assertCode(refused, 2).complaint)

    def test_what_is_not_carried_over_fails_loudly(self):
        self.imported(EXPORTS / "nightly.yaml", "--apply")
        self.assertCode(self.cluster.muster("secrets", "set", "build.sudo", stdin=b"hush"), 0)
        done = self.assertCode(self.cluster.muster("start", "nightly.clean-up", "-t", "web-1", "--wait", "-o", "json"), 1)
        log = self.cluster.muster("logs", done.json()["id"])
        self.assertIn("not carried over", log.text + log.complaint)

    def test_output_is_for_pipes_and_programs(self):
        piped = self.imported(EXPORTS / "ops.yaml")
        self.assertEqual(piped.text.count("kind: job"), 2)
        answer = json.loads(self.imported(EXPORTS / "ops.yaml", "-o", "json").out)
        self.assertEqual([job["name"] for job in answer["jobs"]], ["ops.greet", "ops.greet-everybody"])
        self.assertLessEqual({note["carried"] for job in answer["jobs"] for note in job["notes"]},
                             {"over", "changed", "lost"})
        bad = self.cluster.folder / "bad.yaml"
        bad.write_text("- name: a\n- 7\n")
        self.assertIn(f"{bad}:2:3: ", self.imported(bad, code=1).complaint)
        self.imported(bad, "--dry-run", code=2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
