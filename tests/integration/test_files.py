"""Files to hosts and back: muster cp and fetch, and what survives a crash."""

import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from large_files import MEGABYTE, digest_of, make_file, transfers_of  # noqa: E402
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402


class Copies(ClusterTest):
    hosts = ("h1", "h2")

    def setUp(self):
        self.here = self.cluster.folder / f"here-{self._testMethodName}"
        self.there = self.cluster.folder / f"there-{self._testMethodName}"
        self.here.mkdir()
        self.there.mkdir()

    def cp(self, *words, code=0):
        return self.assertCode(self.cluster.muster("cp", *words), code)

    def test_a_file_arrives_whole_with_its_mode(self):
        source = self.here / "app.conf"
        source.write_text("port = 80\n")
        outcome = self.cp("-t", "h1", source, f"{self.there}/", "--mode", "0640")
        self.assertEqual(outcome.text, f"{self.there}/app.conf: 10 B, new\n")
        self.assertIn("1 of 1 file sent", outcome.complaint)
        self.assertEqual((self.there / "app.conf").read_text(), "port = 80\n")
        self.assertEqual((self.there / "app.conf").stat().st_mode & 0o7777, 0o640)
        again = self.cp("-t", "h1", source, f"{self.there}/", "--mode", "0640")
        self.assertEqual(again.text, f"{self.there}/app.conf: 10 B, unchanged\n")
        self.assertIn("0 of 1 file sent", again.complaint)

    def test_a_folder_and_several_files_arrive(self):
        (self.here / "conf/inner").mkdir(parents=True)
        (self.here / "conf/inner/a").write_text("a")
        (self.here / "conf/b").write_text("b")
        self.cp("-t", "h1", self.here / "conf", self.there / "app")
        self.assertEqual((self.there / "app/inner/a").read_text(), "a")
        self.cp("-t", "h1", self.here / "conf", f"{self.there}/")
        self.assertEqual((self.there / "conf/b").read_text(), "b")
        (self.here / "c").write_text("c")
        self.cp("-t", "h1", self.here / "c", self.here / "conf", self.there / "app")
        self.assertEqual((self.there / "app/c").read_text(), "c")
        self.assertEqual((self.there / "app/conf/inner/a").read_text(), "a")

    def test_mistakes_are_told_in_words(self):
        source = self.here / "a"
        source.write_text("a")
        outcome = self.cp("-t", "h1", source, self.there / "none/a", code=1)
        self.assertIn(f"folder {self.there}/none does not exist on this host", outcome.complaint)
        self.assertIn("No such file", self.cp("-t", "h1", self.here / "none", "/tmp/", code=2).complaint)
        self.assertIn("begins with /", self.cp("-t", "h1", source, "relative", code=2).complaint)
        self.assertIn("what to copy and where", self.cp("-t", "h1", source, code=2).complaint)
        self.assertIn("push.mode", self.cp("-t", "h1", source, "/tmp/", "--mode", "abc", code=2).complaint)
        self.cp("-t", "nobody", source, "/tmp/", code=4)

    def test_rerun_of_a_copy_whose_file_is_gone_says_what_to_do(self):
        source = self.here / "gone"
        source.write_text("soon gone")
        run = re.search(r"run (r[\d.]+) on", self.cp("-t", "h1", source, f"{self.there}/").complaint).group(1)
        name = hashlib.sha256(b"soon gone").hexdigest()
        kept = [path for path in self.cluster.data.rglob(f"*{name[8:]}*") if path.is_file()]
        self.assertTrue(kept)
        for path in kept:
            path.unlink()
        refused = self.assertCode(self.cluster.muster("rerun", run), 2).complaint
        self.assertIn("run muster cp again", refused)
        self.assertNotIn("PUT", refused)

    def test_a_full_local_disk_names_the_local_file(self):
        (self.there / "large").write_bytes(b"x" * 5000)
        target = self.here / "got"

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, then, and no signal
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        words = [str(BIN / "muster"), "fetch", "-t", "h1", str(self.there / "large"), str(target)]
        done = subprocess.run(words, env=self.cluster.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False, preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(f"cannot write '{target}/h1{self.there}/large' to this machine's disk: File too large", done.stderr)

    def test_a_dry_run_moves_nothing(self):
        source = self.here / "a"
        source.write_text("never sent")
        outcome = self.cp("-t", "h1", source, f"{self.there}/", "--dry-run")
        self.assertIn("1 host: h1", outcome.text)
        name = hashlib.sha256(b"never sent").hexdigest()
        self.assertEqual(self.cluster.http("HEAD", f"/api/v1/artifacts/{name}").status, 404)
        self.assertEqual(list(self.there.iterdir()), [])

    def test_a_run_names_only_files_the_server_has(self):
        body = {"targets": "h1", "push": {"files": [{"sha256": "0" * 64, "size": 5}], "to": "/tmp/x"}}
        answer = self.cluster.http("POST", "/api/v1/runs", body)
        self.assertEqual(answer.status, 400, answer)
        self.assertIn("artifact store", answer.json()["error"]["message"])

    def test_files_come_back_into_one_folder_per_host(self):
        (self.there / "logs").mkdir()
        (self.there / "logs/a.log").write_text("a")
        (self.there / "logs/b.log").write_text("b")
        (self.there / "logs/link").symlink_to("/etc/passwd")
        got = self.here / "got"
        outcome = self.cluster.muster("fetch", "-t", "h1,h2", self.there / "logs", got)
        self.assertCode(outcome, 0)
        for host in ("h1", "h2"):
            place = got / host / str(self.there / "logs").lstrip("/")
            self.assertEqual((place / "a.log").read_text(), "a")
            self.assertEqual((place / "b.log").read_text(), "b")
            self.assertFalse((place / "link").exists())
            self.assertIn(f"{host}: {self.there}/logs/link: a symbolic link; not followed", outcome.complaint)
        outcome = self.cluster.muster("fetch", "-t", "h1", self.there / "logs/*.log", self.there / "gone", got, "-o", "json")
        self.assertCode(outcome, 1)
        self.assertEqual([Path(file["path"]).name for file in outcome.json()["files"]], ["a.log", "b.log"])
        self.assertIn("there is no such file", outcome.complaint)

    def test_fetch_starts_nothing_without_a_place_for_the_files(self):
        (self.here / "file").touch()
        runs = len(self.cluster.get("/runs")["runs"])
        for target in (self.here / "file", self.here / "file/below"):
            outcome = self.cluster.muster("fetch", "-t", "h1", "/etc/hostname", target)
            self.assertCode(outcome, 2)
            self.assertIn(f"'{target}'", outcome.complaint)
        self.assertIn("is a file; name a folder",
                      self.cluster.muster("fetch", "-t", "h1", "/etc/hostname", self.here / "file").complaint)
        self.assertEqual(len(self.cluster.get("/runs")["runs"]), runs)
        self.assertCode(self.cluster.muster("fetch", "-t", "h1", "/etc/hostname", self.here / "new", "--dry-run"), 0)
        self.assertFalse((self.here / "new").exists())

    def test_fetch_says_how_much_is_missing(self):
        logs = self.there / "logs"
        logs.mkdir()
        (logs / "link").symlink_to("/etc/passwd")
        os.mkfifo(logs / "pipe")
        outcome = self.cluster.muster("fetch", "-t", "h1", logs, self.here / "got")
        self.assertCode(outcome, 1)
        self.assertIn(f"{logs}/link: a symbolic link", outcome.complaint)
        self.assertIn(f"{logs}/pipe: neither a file nor a folder", outcome.complaint)
        self.assertIn("h1: 1 path was not fetched; 1 link was left out", outcome.complaint)
        (logs / "large").write_bytes(b"x" * 2000)
        outcome = self.cluster.muster("fetch", "-t", "h1", logs / "large", self.here / "got", "--max-size", "1000")
        self.assertIn("that one host may send (--max-size)", self.assertCode(outcome, 1).complaint)

    def test_fetch_tells_what_may_not_be_read_from_what_is_missing(self):
        closed = self.there / "closed"
        (closed / "inner").mkdir(parents=True)
        (closed / "inner/file").touch()
        closed.chmod(0o700)
        denied = "Permission denied for user nobody"
        for path, named in ((closed / "inner", closed), (closed / "none", closed), (closed / "inner/file", closed / "inner"),
                            (closed / "*", closed), (closed / "inn*/file", closed), (self.there / "c*/inner", closed)):
            outcome = self.cluster.muster("fetch", "-t", "h1", "-u", "nobody", path, self.here / "got")
            self.assertCode(outcome, 1)
            self.assertIn(f"{named}: {denied}", outcome.complaint)
        for path in (self.there / "none", self.there / "none/file", closed / "none"):
            outcome = self.cluster.muster("fetch", "-t", "h1", path, self.here / "got")
            self.assertIn("there is no such file", self.assertCode(outcome, 1).complaint)

    def test_hosts_get_no_file_without_a_task_that_names_it(self):
        source = self.here / "secret"
        source.write_text("secret")
        self.cp("-t", "h1", source, self.there / "secret")
        name = hashlib.sha256(b"secret").hexdigest()
        context = self.cluster.tls()
        data = self.cluster.agents["h1"].data
        context.load_cert_chain(data / "agent.crt", data / "agent.key")
        self.cluster.tls, before = (lambda: context), self.cluster.tls
        try:
            for method, status in (("GET", 404), ("HEAD", 404), ("PUT", 403)):
                answer = self.cluster.http(method, f"/api/v1/artifacts/{name}", token=None)
                self.assertEqual(answer.status, status, answer)
        finally:
            self.cluster.tls = before


class Crashes(ClusterTest):
    """A push of 64 MB at 16 MB a second, and something dies in the middle."""

    def push(self, cluster):
        source = cluster.folder / "large"
        self.digest = make_file(source, 64)
        self.place = cluster.folder / "placed"
        command = cluster.begin("cp", "-t", "h1", "--rate", "16MB", source, self.place)
        part = cluster.agents["h1"].data / "files" / f"{self.digest}.part"
        wait_until("a quarter has come", lambda: part.exists() and part.stat().st_size > 16 * MEGABYTE)
        return command

    def finish(self, command):
        self.assertCode(command.finish(), 0)
        self.assertEqual(digest_of(self.place), self.digest)

    def test_the_agent_dies(self):
        cluster = self.new_cluster("h1")
        command = self.push(cluster)
        cluster.agents["h1"].end(signal.SIGKILL)
        cluster.agents["h1"].start()
        self.finish(command)

    def test_the_server_dies(self):
        cluster = self.new_cluster("h1")
        command = self.push(cluster)
        cluster.restart_server()
        self.finish(command)

    def test_the_transfer_is_killed_and_the_next_one_goes_on(self):
        cluster = self.new_cluster("h1")
        command = self.push(cluster)
        for pid in transfers_of(cluster.folder):
            os.kill(pid, signal.SIGKILL)
        self.assertCode(command.finish(), 1)
        self.assertFalse(self.place.exists())
        part = cluster.agents["h1"].data / "files" / f"{self.digest}.part"
        self.assertGreater(part.stat().st_size, 16 * MEGABYTE)
        self.assertCode(cluster.muster("cp", "-t", "h1", cluster.folder / "large", self.place), 0)
        self.assertEqual(digest_of(self.place), self.digest)


if __name__ == "__main__":
    unittest.main()
