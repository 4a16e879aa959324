"""A local user owns the destination of a push by root, and redirects it.

The user (`nobody`) swaps folders and symbolic links while files arrive, or has prepared links before. They must not
get a file written, given away or changed outside the folders that are theirs. Both ways of resolving paths are tried:
with openat2, and on a kernel without it.
"""

import errno
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import Agent, ClusterTest  # noqa: E402
from swapper import NOBODY, Swapper  # noqa: E402
import without_openat2  # noqa: E402

WRAPPER = Path(without_openat2.__file__)
FILES = 200


class Destination(ClusterTest):
    hosts = ("h1",)

    def setUp(self):
        self.folder = self.cluster.folder / self._testMethodName
        self.folder.mkdir()
        self.dest = self.folder / "dest"
        self.dest.mkdir()
        os.chown(self.dest, NOBODY, NOBODY)
        # What only root writes to.
        self.victim = self.folder / "victim"
        self.victim.mkdir(0o755)
        (self.victim / "keep").write_text("root's\n")
        (self.victim / "keep").chmod(0o600)
        self.before = self.look()

    def look(self):
        """What is in the victim's folder, with owners and modes."""
        found = {}
        for path in [self.victim, *self.victim.rglob("*")]:
            status = path.lstat()
            found[str(path)] = (status.st_uid, status.st_gid, status.st_mode, path.is_file() and path.read_text())
        return found

    def assert_untouched(self):
        self.assertEqual(self.look(), self.before)

    def tree(self, files=FILES):
        """A folder to push: sub/ with many small files."""
        source = self.folder / "source"
        (source / "sub/zdeep").mkdir(parents=True)
        for number in range(files):
            (source / f"sub/f{number:03}").write_text(f"file {number} of {self.folder}\n" * 20)
        (source / "sub/zdeep/last").write_text(f"deep of {self.folder}\n")
        return source

    def cp(self, *words):
        return self.cluster.muster("cp", "-t", "h1", "--owner", "nobody:nogroup", *words)


class WithOpenat2(Destination):
    """The agent as it is."""

    lacks_openat2 = False

    @classmethod
    def set_up_hosts(cls):
        agent = Agent(cls.cluster, "h1", cls.cluster.folder / "h1")
        if cls.lacks_openat2:
            agent.words = [sys.executable, str(WRAPPER), *agent.words]
        cls.cluster.agents["h1"] = agent
        cls.cluster.daemons.append(agent)
        agent.join()
        cls.cluster.wait_online("h1")

    def test_which_calls_the_agent_has(self):
        """That this class tries what it says."""
        self.assertEqual(without_openat2.openat2_error(), errno.EFAULT, "this kernel has no openat2")
        filters = [next(int(line.split()[1]) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                        if line.startswith("Seccomp_filters:"))
                   for pid in ("self", self.cluster.agents["h1"].process.pid)]
        self.assertEqual(filters[1] - filters[0], 1 if self.lacks_openat2 else 0)

    def test_a_folder_becomes_a_link_during_the_push(self):
        source = self.tree()
        with Swapper("once", self.dest / "app/sub", self.victim) as swapper:
            command = self.cluster.begin("cp", "-t", "h1", "--owner", "nobody:nogroup", "--rate", "32KB", source,
                                         self.dest / "app")
            swapper.wait_for(1)
            outcome = command.finish()
        self.assert_untouched()
        self.assertCode(outcome, 1)
        self.assertTrue((self.dest / "app/sub").is_symlink(), "the attack was not carried out")

    def test_a_folder_and_a_link_change_places_all_the_time(self):
        source = self.tree()
        (self.dest / "app/sub").mkdir(parents=True)
        (self.dest / "app/sub/mine").write_text("")
        for path in (self.dest / "app", self.dest / "app/sub"):
            os.chown(path, NOBODY, NOBODY)
        with Swapper("always", self.dest / "app/sub", self.victim) as swapper:
            swapper.wait_for(1)
            for _ in range(5):
                before = swapper.swaps()
                self.cp(source, self.dest / "app")
                swapper.wait_for(before + 1)
                self.assert_untouched()

    def test_the_destination_itself_changes(self):
        source = self.tree(100)
        (self.dest / "app").mkdir()
        (self.dest / "app/mine").write_text("")
        os.chown(self.dest / "app", NOBODY, NOBODY)
        with Swapper("always", self.dest / "app", self.victim) as swapper:
            swapper.wait_for(1)
            for _ in range(5):
                before = swapper.swaps()
                self.cp(source, self.dest / "app")
                self.cp(source / "sub/f000", f"{self.dest}/app/")
                swapper.wait_for(before + 1)
                self.assert_untouched()

    def test_links_that_were_there_before(self):
        source = self.tree(3)
        (self.dest / "app").mkdir()
        os.chown(self.dest / "app", NOBODY, NOBODY)
        for link in (self.dest / "app/sub", self.dest / "way"):
            link.symlink_to(self.victim)
            os.lchown(link, NOBODY, NOBODY)
        for words in ((source, self.dest / "app"), (source / "sub/f000", f"{self.dest}/way/"),
                      (source, f"{self.dest}/way/"), (source / "sub", self.dest / "way")):
            outcome = self.cp(*words)
            self.assert_untouched()
            self.assertCode(outcome, 1)

    def test_a_link_to_what_is_the_users_own_is_followed(self):
        """The rule closes no more than it must."""
        (self.dest / "release").mkdir()
        (self.dest / "current").symlink_to("release")
        for path in (self.dest / "release", self.dest / "current"):
            os.lchown(path, NOBODY, NOBODY)
        source = self.tree(1)
        self.assertCode(self.cp(source / "sub/f000", f"{self.dest}/current/"), 0)
        self.assertTrue((self.dest / "release/f000").is_file())

    def test_a_hard_link_to_a_file_of_root(self):
        """As a user can make it where fs.protected_hardlinks is off."""
        os.link(self.victim / "keep", self.dest / "keep")
        source = self.folder / "keep"
        source.write_text((self.victim / "keep").read_text())
        source.chmod(0o644)
        self.assertCode(self.cp(source, f"{self.dest}/"), 0)
        self.assert_untouched()
        self.assertEqual((self.dest / "keep").stat().st_uid, NOBODY)


class WithoutOpenat2(WithOpenat2):
    """The agent on a kernel without openat2."""

    lacks_openat2 = True


class AsTheTasksUser(Destination):
    """An operator who may only be `nobody` writes where `nobody` cannot."""

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("h1", options=["--run-as", "nobody"])
        cls.cluster.wait_online("h1")

    def test_a_push_into_a_folder_of_root(self):
        source = self.tree(1)
        for words in ((source / "sub/f000", f"{self.victim}/"), (source / "sub/f000", self.victim / "keep"),
                      (source, self.victim / "app")):
            outcome = self.cluster.muster("cp", "-t", "h1", *words)
            self.assert_untouched()
            self.assertCode(outcome, 1)

    def test_a_push_that_names_another_owner(self):
        source = self.tree(1) / "sub/f000"
        for owner in ("root", "0", ":0", "root:root"):
            outcome = self.cluster.muster("cp", "-t", "h1", "--owner", owner, source, self.dest / "given")
            self.assertNotEqual(outcome.code, 0, outcome)
            self.assertFalse((self.dest / "given").exists(), owner)

    def test_a_push_as_another_user(self):
        source = self.tree(1) / "sub/f000"
        outcome = self.cluster.muster("cp", "-t", "h1", "--user", "root", source, self.victim / "new")
        self.assert_untouched()
        self.assertNotEqual(outcome.code, 0, outcome)


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
