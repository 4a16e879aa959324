"""A user of the machine where `muster cp` runs makes root send a file that only root may read.

The user may write to a folder that is sent, and puts links there: before, or while it is sent. The content of root's
file must not reach the artifact store, nor a host.
"""

import hashlib
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from swapper import NOBODY, Swapper  # noqa: E402

SECRET = "root's own secret\n"


class SentFolders(ClusterTest):
    hosts = ("h1",)

    def setUp(self):
        self.folder = self.cluster.folder / self._testMethodName
        self.folder.mkdir()
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        os.chown(self.shared, NOBODY, NOBODY)
        (self.shared / "app.conf").write_text("a line\n")
        self.secret = self.folder / "private/secret"
        self.secret.parent.mkdir(0o700)
        self.text = f"{SECRET}{self.folder}\n"
        self.secret.write_text(self.text)
        self.secret.chmod(0o600)
        self.got = self.folder / "got"

    def link(self, name, target, owner=NOBODY):
        (self.shared / name).symlink_to(target)
        os.lchown(self.shared / name, owner, owner)

    def copy(self, *sources):
        return self.cluster.muster("cp", "-t", "h1", "--owner", "nobody", *sources, f"{self.got}")

    def assert_secret(self):
        name = hashlib.sha256(self.text.encode()).hexdigest()
        self.assertEqual(self.cluster.http("HEAD", f"/api/v1/artifacts/{name}").status, 404)
        for path in self.got.rglob("*"):
            if path.is_file():
                self.assertNotIn(SECRET, path.read_text(), path)

    def test_links_to_what_only_root_reads(self):
        self.link("notes.txt", self.secret)
        self.link("relative", "../private/secret")
        self.link("second", "notes.txt")
        (self.shared / "sub").mkdir()
        self.link("sub/inner", self.secret)
        outcome = self.copy(self.shared)
        self.assert_secret()
        self.assertCode(outcome, 0)
        for name in ("notes.txt", "relative", "second", "sub/inner"):
            self.assertIn(f"left out: {self.shared / name} is a link of another user", outcome.complaint)
            self.assertFalse((self.got / name).exists(), name)
        self.assertEqual((self.got / "app.conf").read_text(), "a line\n")

    def test_a_link_of_root_through_one_of_the_user(self):
        self.link("theirs", self.secret.parent)
        self.link("ours", "theirs/secret", owner=0)
        outcome = self.copy(self.shared)
        self.assert_secret()
        self.assertCode(outcome, 0)
        self.assertIn(f"left out: {self.shared / 'ours'} is a link of another user", outcome.complaint)

    def test_a_folder_and_a_link_change_places_all_the_time(self):
        sub = self.shared / "sub"
        sub.mkdir()
        os.chown(sub, NOBODY, NOBODY)
        (sub / "secret").write_text("nothing\n")
        with Swapper("always", sub, self.secret.parent) as swapper:
            swapper.wait_for(1)
            for _ in range(12):
                before = swapper.swaps()
                self.copy(self.shared)
                swapper.wait_for(before + 1)
                self.assert_secret()

    def test_links_that_give_nothing_away_are_followed(self):
        """The rule closes no more than it must."""
        (self.shared / "theirs").write_text("theirs\n")
        os.chown(self.shared / "theirs", NOBODY, NOBODY)
        self.link("a", "theirs")
        public = self.folder / "public"
        public.write_text("public\n")
        self.link("b", public, owner=0)
        self.assertCode(self.copy(self.shared), 0)
        self.assertEqual((self.got / "a").read_text(), "theirs\n")
        self.assertEqual((self.got / "b").read_text(), "public\n")


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
