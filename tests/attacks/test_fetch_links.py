"""A local user who can write to the folder that `muster fetch` puts files into has other files of the operator changed.

The user prepares links there: in place of a host's folder, on the way, in place of a file or of an
unfinished one, as soon as it has a name; or swaps a folder and a link all the time. Nothing outside the folder may be
written, emptied, created or get another mode. With and without openat2.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, ClusterTest, Outcome  # noqa: E402
from swapper import NOBODY, Replacer, Swapper  # noqa: E402

SUPPORT = Path(__file__).resolve().parents[1] / "support"
TEXT = "what the host has\n"
MOST_FETCHES = 20


class FetchLinks(ClusterTest):
    hosts = ("h1",)
    wrapper = ()

    def setUp(self):
        self.folder = self.cluster.folder / self._testMethodName
        (self.folder / "srv").mkdir(parents=True)
        self.source = self.folder / "srv/app.conf"
        self.source.write_text(TEXT)
        self.source.chmod(0o644)
        self.victim = self.folder / "victim"  # a folder of the operator's, with a file
        self.victim.mkdir(0o700)
        self.secret = self.victim / "secret"
        self.secret.write_text("the operator's own\n")
        self.secret.chmod(0o600)
        self.got = self.folder / "got"
        self.got.mkdir()
        os.chown(self.got, NOBODY, NOBODY)
        self.local = self.got / "h1" / str(self.source).lstrip("/")
        self.before = self.state()

    def state(self):
        return {str(path): (path.lstat().st_mode, path.lstat().st_ino, path.read_text() if path.is_file() else None)
                for path in (self.victim, *sorted(self.victim.rglob("*")))}

    def make_way(self, until=None):
        """The attacker's folders down to where the file goes."""
        (until or self.local.parent).mkdir(parents=True, exist_ok=True)
        for path in (self.got, *self.got.rglob("*")):
            os.lchown(path, NOBODY, NOBODY)

    def link(self, name, target):
        name.symlink_to(target)
        os.lchown(name, NOBODY, NOBODY)

    def fetch(self):
        words = [*self.wrapper, str(BIN / "muster"), "fetch", "-t", "h1", str(self.source), str(self.got)]
        done = subprocess.run(words, env=self.cluster.environment(), stdin=subprocess.DEVNULL, timeout=DEADLINE,
                              capture_output=True, check=False)
        return Outcome(words, done.returncode, done.stdout, done.stderr)

    def assert_untouched(self):
        self.assertEqual(self.state(), self.before)

    def assert_arrived(self, outcome):
        self.assertCode(outcome, 0)
        self.assertTrue(self.local.is_file() and not self.local.is_symlink())
        self.assertEqual(self.local.read_text(), TEXT)
        self.assertEqual(sorted(file.name for file in self.local.parent.iterdir()), ["app.conf"])

    def test_the_hosts_folder_is_a_link(self):
        self.link(self.got / "h1", self.victim)
        outcome = self.fetch()
        self.assert_untouched()
        self.assertCode(outcome, 1)

    def test_a_link_is_on_the_way(self):
        self.make_way(self.local.parent.parent)
        self.link(self.local.parent, self.victim)
        outcome = self.fetch()
        self.assert_untouched()
        self.assertCode(outcome, 1)

    def test_the_file_is_a_link(self):
        self.make_way()
        self.link(self.local, self.secret)
        outcome = self.fetch()
        self.assert_untouched()
        self.assert_arrived(outcome)

    def test_the_file_is_a_link_to_equal_content(self):
        self.secret.write_text(TEXT)
        self.before = self.state()
        self.make_way()
        self.link(self.local, self.secret)
        outcome = self.fetch()
        self.assert_untouched()
        self.assert_arrived(outcome)

    def test_the_file_is_a_second_name_of_another(self):
        self.secret.write_text(TEXT)
        self.before = self.state()
        self.make_way()
        os.link(self.secret, self.local)
        outcome = self.fetch()
        self.assert_untouched()
        self.assert_arrived(outcome)

    def test_unfinished_files_are_replaced_by_links(self):
        """Each as soon as its name is seen: by a link to the operator's file, or to a new one."""
        self.make_way()
        for target in (self.secret, self.victim / "new"):
            with Replacer(self.local.parent, f".{self.local.name}.muster-", target) as replacer:
                for _ in range(MOST_FETCHES):
                    self.local.unlink(missing_ok=True)
                    self.fetch()
                    self.assert_untouched()
                    if replacer.caught() >= 3:
                        break
                self.assertGreaterEqual(replacer.caught(), 1, "no unfinished file was seen: has it another name?")
            for left in self.local.parent.iterdir():
                left.unlink()
        outcome = self.fetch()
        self.assert_untouched()
        self.assert_arrived(outcome)

    def test_a_pipe_makes_nobody_wait(self):
        self.make_way()
        os.mkfifo(self.local)
        self.assert_arrived(self.fetch())

    def test_a_file_of_another_user_is_replaced(self):
        """Its owner could have it open."""
        self.make_way()
        self.local.write_text(TEXT)
        os.chown(self.local, NOBODY, NOBODY)
        self.assert_arrived(self.fetch())
        self.assertEqual(self.local.stat().st_uid, os.geteuid())

    def test_a_folder_and_a_link_change_places_all_the_time(self):
        self.make_way()
        (self.local.parent / "something").touch()
        with Swapper("always", self.local.parent, self.victim) as swapper:
            swapper.wait_for(1)
            for _ in range(12):
                before = swapper.swaps()
                self.fetch()
                swapper.wait_for(before + 1)
                self.assert_untouched()

    def test_a_target_that_is_a_link_of_the_operators_own_is_followed(self):
        """The rule closes no more than it must."""
        (self.folder / "real").mkdir()
        self.got.rmdir()
        self.got.symlink_to(self.folder / "real")
        self.assert_arrived(self.fetch())
        self.assert_arrived(self.fetch())


class OnAnOldKernel(FetchLinks):
    """The same without openat2, part by part."""

    wrapper = (sys.executable, str(SUPPORT / "without_openat2.py"))


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
