"""Documents that name files outside their folder.

The attacker writes a merge request: documents, scripts, links. Somebody else applies it, often a CI with files and an
environment that the attacker may not see. What the documents name would reach the server, where the attacker reads it
(`muster get job`, a run's script), or the log of the build. The attacker must get nothing from outside the folder that
is applied: not by `..`, an absolute path, a link to a file or a folder, `/proc/self/environ`, or a folder that is
pushed; and must not make the build wait for ever on a pipe. Inside the folder the attacker must not get what programs keep
there for themselves: the credentials of the checkout (`.git`), of the person (`.config`, `.env`), or the token in use.
"""

import json
import os
import sys
import tempfile
import unittest
import subprocess
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, ClusterTest, Outcome  # noqa: E402
from without_openat2 import take_openat2_away  # noqa: E402

SECRET = "the-deploy-key-of-the-build"


def job(stage, name="stolen"):
    return f"apiVersion: muster/v1\nkind: job\nname: {name}\ntargets: all\nstages:\n  - name: one\n    {stage}\n"


class MergeRequest(ClusterTest):
    hosts = ("h1",)
    prepare = None  # in the child, before muster begins

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-attack-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        (self.place / "key").write_text(f"#!/bin/sh\n# {SECRET}\n")
        (self.place / "keys").mkdir()
        (self.place / "keys/id").write_text(SECRET)
        (self.place / "stolen.yaml").write_text(f"apiVersion: muster/v1\nkind: {SECRET}\n")
        self.repository = self.place / "repository"
        (self.repository / "jobs").mkdir(parents=True)
        (self.repository / "jobs/fine.sh").write_text("#!/bin/sh\necho fine\n")

    def muster(self, *words, stdin=b""):
        environment = {**self.cluster.environment(), "BUILD_SECRET": SECRET}
        try:
            done = subprocess.run([str(BIN / "muster"), *map(str, words)], input=stdin, env=environment, check=False,
                                  timeout=DEADLINE, capture_output=True, cwd=self.repository, preexec_fn=self.prepare)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the build hangs: muster {words}") from None
        return Outcome(words, done.returncode, done.stdout, done.stderr)

    def stolen(self):
        """Everything the server says of the job; nothing when there is none."""
        answer = self.cluster.http("GET", "/api/v1/documents/job/stolen")
        return answer.body.decode() if answer.status == 200 else ""

    def apply(self, document, given="."):
        path = self.repository / "jobs/job.yaml"
        path.write_text(document)
        return self.muster("apply", "-f", given)

    def assertRefused(self, outcome, at=None):
        """Nothing was applied, and nothing was told."""
        stolen = self.stolen()
        self.cluster.muster("delete", "job", "stolen")
        self.assertNotIn(SECRET, outcome.text + outcome.complaint)
        self.assertEqual(stolen, "", "the server has the job")
        self.assertNotEqual(outcome.code, 0, outcome)
        if at:
            self.assertRegex(outcome.complaint, at)

    def tearDown(self):
        self.cluster.muster("delete", "job", "stolen")

    def test_paths_that_lead_out(self):
        for path in ("../../key", "../jobs/../../key", "fine.sh/../../../key", str(self.place / "key"), "../../keys/id",
                     "/proc/self/environ", '"fine.sh\\0/../../../key"'):
            with self.subTest(path=path):
                outcome = self.apply(job(f"script: {{file: {path}}}"))
                self.assertRefused(outcome, at=r"jobs/job\.yaml:7:\d+: ")

    def test_links_that_lead_out(self):
        jobs = self.repository / "jobs"
        (jobs / "relative").symlink_to("../../key")
        (jobs / "absolute").symlink_to(self.place / "key")
        (jobs / "environment").symlink_to("/proc/self/environ")
        (jobs / "folder").symlink_to("../../keys")
        (jobs / "second").symlink_to("relative")
        (jobs / "up").symlink_to("..")
        for path in ("relative", "absolute", "environment", "folder/id", "second", "up/../key"):
            with self.subTest(path=path):
                outcome = self.apply(job(f"script: {{file: {path}}}"))
                self.assertRefused(outcome, at=r"jobs/job\.yaml:7:\d+: ")

    def test_files_and_folders_that_are_pushed(self):
        jobs = self.repository / "jobs"
        (jobs / "tree").mkdir()
        (jobs / "tree/inner").symlink_to("../../../key")
        (jobs / "linked").symlink_to("../../keys")
        for path in ("../../key", "../../keys", "tree", "linked", "linked/id", "../.."):
            with self.subTest(path=path):
                outcome = self.apply(job(f"push: {{from: {path}, to: /tmp/stolen}}"))
                self.assertRefused(outcome, at=r"jobs/job\.yaml:7:\d+: ")

    def test_documents_that_are_links(self):
        (self.repository / "jobs/other.yaml").symlink_to("../../stolen.yaml")
        self.assertRefused(self.apply(job("script: echo", name="fine")))
        self.assertEqual(self.cluster.http("GET", "/api/v1/documents/job/fine").status, 404)

    def test_folders_that_are_links_are_not_walked(self):
        (self.place / "more").mkdir()
        (self.place / "more/stolen.yaml").write_text(job(f"script: echo {SECRET}"))
        (self.repository / "jobs/more").symlink_to("../../more")
        outcome = self.apply(job("script: echo", name="fine"))
        self.addCleanup(self.cluster.muster, "delete", "job", "fine")
        self.assertCode(outcome, 0)
        self.assertEqual(self.stolen(), "")

    def test_what_is_no_file_is_refused_at_once(self):
        os.mkfifo(self.repository / "jobs/pipe")
        outcome = self.apply(job("script: {file: pipe}"))
        self.assertRefused(outcome, at=r"jobs/job\.yaml:7:\d+: ")

    def test_the_bound_of_a_file_is_its_own_folder(self):
        (self.repository / "shared.sh").write_text(f"#!/bin/sh\n# {SECRET}\n")
        self.assertRefused(self.apply(job("script: {file: ../shared.sh}"), "jobs/job.yaml"))
        outcome = self.muster("apply", "-f", "-", stdin=job("script: {file: ../key}").encode())
        self.assertRefused(outcome)

    def test_a_folder_of_others_is_allowed_by_name(self):
        (self.repository / "shared.sh").write_text("#!/bin/sh\necho shared\n")
        (self.repository / "jobs/link").symlink_to("../shared.sh")
        for path, more in (("../shared.sh", ()), ("link", ()), ("fine.sh", ())):
            outcome = self.apply(job(f"script: {{file: {path}}}"), ".")
            self.assertCode(outcome, 0)
            self.assertIn("attachments", self.stolen())
            outcome = self.muster("apply", "-f", "jobs/job.yaml", "--root", ".", *more)
            self.assertCode(outcome, 0)
        # And no further than that.
        self.cluster.muster("delete", "job", "stolen")
        (self.repository / "jobs/job.yaml").write_text(job("script: {file: ../../key}"))
        self.assertRefused(self.muster("apply", "-f", "jobs", "--root", "."))
        self.assertRefused(self.muster("apply", "-f", "jobs", "--root", "/etc"))


    def hide(self):
        """Credentials in the folder that is applied, and links to them."""
        for name in (".git/config", ".config/tool/token", ".env", "jobs/.netrc"):
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\n# {SECRET}\n")
        (self.repository / "jobs/link").symlink_to("../.git/config")
        (self.repository / "jobs/folder").symlink_to("../.config")
        (self.repository / "jobs/tree").mkdir()
        (self.repository / "jobs/tree/inner").symlink_to("../../.git/config")

    def test_files_that_begin_with_a_dot(self):
        self.hide()
        for path in ("../.git/config", "../.config/tool/token", "../.env", ".netrc", "./.netrc", "link",
                     "folder/tool/token", "../.git/../jobs/../.env"):
            with self.subTest(path=path):
                outcome = self.apply(job(f"script: {{file: {path}}}"))
                self.assertRefused(outcome, at=r"jobs/job\.yaml:7:\d+: .*--dot-files")
        outcome = self.muster("apply", "-f", ".", "--dry-run", "--diff")
        self.assertRefused(outcome)

    def test_pushed_folders_with_files_that_begin_with_a_dot(self):
        self.hide()
        for path in ("..", "../.git", "../.git/config", ".", "tree", "folder"):
            with self.subTest(path=path):
                outcome = self.apply(job(f"push: {{from: {path}, to: /tmp/stolen}}"))
                self.assertRefused(outcome, at=r"jobs/job\.yaml:7:\d+: .*--dot-files")

    def test_files_that_begin_with_a_dot_are_allowed_by_name(self):
        (self.repository / "jobs/home").mkdir()
        (self.repository / "jobs/home/.bashrc").write_text("umask 077\n")
        (self.repository / "jobs/job.yaml").write_text(job("push: {from: home, to: /tmp/home}"))
        self.assertCode(self.muster("apply", "-f", ".", "--dot-files"), 0)
        self.assertIn(".bashrc", self.stolen())

    def test_walked_folders_that_begin_with_a_dot(self):
        (self.repository / ".cache").mkdir()
        (self.repository / ".cache/stolen.yaml").write_text(job("script: echo"))
        (self.repository / ".hidden.yaml").write_text(f"kind: {SECRET}\n")
        outcome = self.apply(job("script: echo", name="fine"))
        self.addCleanup(self.cluster.muster, "delete", "job", "fine")
        self.assertNotIn(SECRET, outcome.complaint)
        self.assertCode(outcome, 0)
        self.assertEqual(self.stolen(), "")

    def test_the_token_in_use(self):
        contexts = self.repository / "settings/muster/contexts.yaml"
        contexts.parent.mkdir(parents=True)
        token = self.repository / "jobs/token"
        for path, name in ((token, "token"), (contexts, "../settings/muster/contexts.yaml")):
            path.write_text(f"{self.cluster.data.joinpath('admin.token').read_text().strip()}\n")
            path.chmod(0o600)
            (self.repository / "jobs/job.yaml").write_text(job(f"script: {{file: {name}}}"))
            environment = {"MUSTER_TOKEN_FILE": str(token), "XDG_CONFIG_HOME": str(self.repository / "settings")}
            for words in ((), ("--dot-files",)):
                done = subprocess.run([str(BIN / "muster"), "apply", "-f", "jobs/job.yaml", "--root", ".", *words],
                                      env={**self.cluster.environment(), **environment}, check=False, capture_output=True,
                                      timeout=DEADLINE, cwd=self.repository, stdin=subprocess.DEVNULL,
                                      preexec_fn=self.prepare)
                self.assertRefused(Outcome(words, done.returncode, done.stdout, done.stderr), at=r"jobs/job\.yaml:7:\d+: ")

    def test_documents_from_stdin_use_no_files(self):
        (self.repository / "note").write_text(f"#!/bin/sh\n# {SECRET}\n")
        for stage in ("script: {file: note}", "push: {from: note, to: /tmp/x}", "push: {from: ., to: /tmp/x}"):
            with self.subTest(stage=stage):
                outcome = self.muster("apply", "-f", "-", stdin=job(stage).encode())
                self.assertRefused(outcome, at=r"-:7:\d+: .*--root")
        stdin = job("script: {file: fine.sh}").encode()
        self.assertCode(self.muster("apply", "-f", "-", "--root", "jobs", stdin=stdin), 0)
        self.assertIn("echo fine", self.stolen())
        self.cluster.muster("delete", "job", "stolen")
        outcome = self.muster("apply", "-f", "-", "--root", "jobs", stdin=job("script: {file: ../note}").encode())
        self.assertRefused(outcome)


class OnAnOldKernel(MergeRequest):
    """The same without openat2, part by part."""

    prepare = staticmethod(take_openat2_away)


class Imports(ClusterTest):
    """Whoever may put a link into the folder that imported jobs are written to must not have another file written."""

    def test_a_link_is_not_written_through(self):
        with tempfile.TemporaryDirectory(prefix="muster-attack-") as name:
            place = Path(name)
            (place / "jobs").mkdir()
            (place / "jobs.json").write_text(json.dumps(
                [{"name": "deploy", "sequence": {"commands": [{"exec": "id"}]}, "nodefilters": {"filter": ".*"}}]))
            run = lambda *words: subprocess.run(  # noqa: E731
                [str(BIN / "muster"), "import", "rundeck", "jobs.json", *words], cwd=place, check=False,
                timeout=DEADLINE, capture_output=True, stdin=subprocess.DEVNULL)
            done = run("--into", "seen")
            self.assertEqual(done.returncode, 0, done)
            for file in (place / "seen").iterdir():
                (place / "jobs" / file.name).symlink_to(place / "victim")
            run("--into", "jobs")
            run("--into", "jobs", "--force")
            self.assertFalse((place / "victim").exists(), "written through the link")


if __name__ == "__main__":
    unittest.main()
