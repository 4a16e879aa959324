"""A local user, or an operator who may only be `nobody`, makes a pull read a file that only root may read.

The user owns a folder that is pulled, and puts links there: before, or while the pull runs. The content of root's file
must not reach the artifact store. Nor may a link to the user's own terminal give them a hold on the pull.
"""

import hashlib
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from swapper import NOBODY, Swapper  # noqa: E402

SECRET = "root's own secret\n"


class Pulls(ClusterTest):
    hosts = ("h1",)
    options = ()

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("h1", options=cls.options)
        cls.cluster.wait_online("h1")

    def setUp(self):
        self.folder = self.cluster.folder / self._testMethodName
        self.folder.mkdir()
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        os.chown(self.logs, NOBODY, NOBODY)
        self.secret = self.folder / "private/secret"
        self.secret.parent.mkdir(0o700)
        self.text = f"{SECRET}{self.folder}\n"
        self.secret.write_text(self.text)
        self.secret.chmod(0o600)

    def link(self, name, target):
        (self.logs / name).symlink_to(target)
        os.lchown(self.logs / name, NOBODY, NOBODY)

    def write(self, name, text):
        (self.logs / name).write_text(text)
        os.chown(self.logs / name, NOBODY, NOBODY)

    def fetch(self, *paths):
        return self.cluster.muster("fetch", "-t", "h1", *paths, self.folder / "got")

    def assert_secret(self):
        name = hashlib.sha256(self.text.encode()).hexdigest()
        self.assertEqual(self.cluster.http("HEAD", f"/api/v1/artifacts/{name}").status, 404)
        for path in (self.folder / "got").rglob("*"):
            if path.is_file():
                self.assertNotIn(SECRET, path.read_text(), path)


# Opens a terminal, links to it by the name given, and types ^C there all the time.
TERMINAL = """
import os, sys, time
master, terminal = os.openpty()
os.symlink(os.ttyname(terminal), sys.argv[1])
print(os.ttyname(terminal), flush=True)
end = time.monotonic() + 600
while time.monotonic() < end:
    os.write(master, b"\\x03")
    time.sleep(0.02)
"""


class ByRoot(Pulls):
    """The agent pulls with root's rights."""

    def test_a_link_to_the_users_terminal(self):
        """A terminal that the pull took for its own could send it signals."""
        typist = subprocess.Popen([sys.executable, "-c", TERMINAL, self.logs / "terminal"], stdout=subprocess.PIPE,
                                  text=True, user=NOBODY, group=NOBODY, extra_groups=[])
        self.addCleanup(typist.stdout.close)
        self.addCleanup(typist.wait)
        self.addCleanup(typist.kill)
        terminal = typist.stdout.readline().strip()
        large = self.folder / "large"
        large.write_bytes(os.urandom(1 << 20))
        for path in (self.logs / "terminal", terminal):
            outcome = self.cluster.muster("fetch", "-t", "h1", "--rate", "400KB", path, large, self.folder / "got")
            self.assertCode(outcome, 1)
            self.assertIn("neither a file nor a folder", outcome.text + outcome.complaint)
            fetched = self.folder / "got/h1" / str(large).lstrip("/")
            self.assertEqual(fetched.read_bytes(), large.read_bytes())
            fetched.unlink()

    def test_a_link_that_a_wildcard_matches(self):
        self.link("app.log", self.secret)
        self.write("real.log", "a line\n")
        outcome = self.fetch(self.logs / "*.log")
        self.assert_secret()
        self.assertCode(outcome, 1)
        self.assertEqual((self.folder / "got/h1" / str(self.logs / "real.log").lstrip("/")).read_text(), "a line\n")

    def test_links_in_the_way(self):
        self.link("sub", self.secret.parent)
        for path in (self.logs / "sub", self.logs / "sub/secret", self.logs / "sub/*", self.logs / "s*/secret"):
            outcome = self.fetch(path)
            self.assert_secret()
            self.assertCode(outcome, 1)

    def test_a_folder_and_a_link_change_places_all_the_time(self):
        sub = self.logs / "sub"
        sub.mkdir()
        os.chown(sub, NOBODY, NOBODY)
        self.write("sub/secret", "nothing\n")
        with Swapper("always", sub, self.secret.parent) as swapper:
            swapper.wait_for(1)
            for _ in range(12):
                before = swapper.swaps()
                self.fetch(sub, sub / "secret", self.logs / "s*/s*")
                swapper.wait_for(before + 1)
                self.assert_secret()

    def test_a_folder_so_deep_that_the_pull_cannot_hold_it(self):
        self.write("real.log", "a line\n")
        self.addCleanup(subprocess.run, ["rm", "-rf", self.logs / "deep"], check=True)
        at = os.open(self.logs, os.O_PATH)
        for name in ("deep", *["d"] * 20_000):
            os.mkdir(name, dir_fd=at)
            inner = os.open(name, os.O_PATH, dir_fd=at)
            os.close(at)
            at = inner
        os.close(at)
        outcome = self.fetch(self.logs)
        self.assertCode(outcome, 1)
        self.assertIn("folders deep; left out", outcome.text + outcome.complaint)
        self.assertEqual((self.folder / "got/h1" / str(self.logs / "real.log").lstrip("/")).read_text(), "a line\n")

    def test_a_link_to_what_is_the_users_own_is_followed(self):
        """The rule closes no more than it must."""
        self.write("app-1.log", "a line\n")
        self.link("app.log", "app-1.log")
        self.assertCode(self.fetch(self.logs / "app.log"), 0)
        self.assertEqual((self.folder / "got/h1" / str(self.logs / "app.log").lstrip("/")).read_text(), "a line\n")


class AsTheTasksUser(Pulls):
    """The agent pulls for `nobody`, whose operator wants more."""

    options = ("--run-as", "nobody")

    def test_files_that_only_root_reads(self):
        self.link("link", self.secret)
        self.link("folder", self.secret.parent)
        for path in (self.secret, self.secret.parent, self.logs / "link", self.logs / "folder/secret", self.logs / "*",
                     "/proc/self/root" + str(self.secret), "/proc/self/cwd" + str(self.secret)):
            outcome = self.fetch(path)
            self.assert_secret()
            self.assertCode(outcome, 1)

    def test_the_agents_own_key(self):
        data = self.cluster.agents["h1"].data
        self.secret, self.text = data / "agent.key", (data / "agent.key").read_text()
        for path in (data / "agent.key", data / "agent.*", data, data / "tasks", data / "files"):
            outcome = self.fetch(path)
            self.assert_secret()
            self.assertCode(outcome, 1)


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
