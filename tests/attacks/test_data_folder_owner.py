"""A local user who owns, or may write to, the data folder of a program of root, or a folder above it.

The user could replace keys and have them used: the CA's, the admin's token, the agent's. musterd, muster-agent, muster-fleet
and `musterd join` must not start with such a folder, and must write nothing there. What they advise must do no harm: no
`chown` of a folder that may be in use by its owner, or that is above the data folder. Folders that are fine stay fine.
"""

import grp
import os
import pwd
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, ClusterTest, free_port, wait_until  # noqa: E402
from swapper import NOBODY  # noqa: E402

PORT = 1  # where nobody listens
USER = pwd.getpwuid(NOBODY).pw_name
NAMELESS = 3_999_999_999


def programs(data):
    server = f"https://127.0.0.1:{PORT}"
    yield "musterd", ["--data", data, "--listen", f"127.0.0.1:{PORT}"]
    yield "muster-agent", ["--data", data, "--server", server, "--join", "mj1.x"]
    yield "muster-fleet", ["--data", data, "--server", server, "--join", "mj1.x", "--count", "1"]


class ForeignFolders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-attack-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        self.place.chmod(0o755)

    def folder(self, name, owner=0, group=0, mode=0o700):
        path = self.place / name
        path.mkdir(parents=True)
        os.chown(path, owner, group)
        path.chmod(mode)
        return path

    def assert_refused(self, data, advice, inside=None):
        """By each program, because of the folder, with this advice alone, and without a trace."""
        for program, words in programs(data):
            with self.subTest(program=program, data=data):
                try:
                    done = subprocess.run([str(BIN / program), *map(str, words)], stdin=subprocess.DEVNULL, check=False,
                                          capture_output=True, timeout=20)
                except subprocess.TimeoutExpired:
                    self.fail(f"{program} serves from {data}")
                self.assertEqual(done.returncode, 2, done)  # which no service manager restarts
                told = (done.stderr + done.stdout).decode().splitlines()
                self.assertEqual(len(told), 1, told)
                self.assertRegex(told[0], rf"^{program}: data folder {data}: .*{advice}")
                self.assertNotIn("chown", told[0])
                self.assertEqual(list((inside or data).iterdir()), [])

    def test_a_folder_of_another_user(self):
        data = self.folder("data", owner=NOBODY)
        self.assert_refused(data, rf"it belongs to user {USER}, .*runuser -u {USER} -- muster")

    def test_a_folder_of_a_user_without_a_name(self):
        self.assert_refused(self.folder("data", owner=NAMELESS), f"it belongs to uid {NAMELESS}, .*as that user, or")

    def test_a_folder_that_others_may_write_to(self):
        for name, how in (("all", {"mode": 0o777}), ("group", {"group": NOBODY, "mode": 0o770}), ("sticky", {"mode": 0o1777})):
            data = self.folder(name, **how)
            self.assert_refused(data, f"remove that right: chmod go-w {data}$")

    def test_a_group_that_the_user_shares_with_others(self):
        """musterd's user is in it as its first group; so may people be."""
        shared = grp.getgrgid(NOBODY)
        self.assertNotEqual(shared.gr_name, USER)
        for owner in (0, NOBODY):
            data = self.folder(f"data-of-{owner}", owner=owner, group=NOBODY, mode=0o770)
            words = [str(BIN / "musterd"), "--data", str(data), "--listen", f"127.0.0.1:{PORT}"]
            done = subprocess.run(words, stdin=subprocess.DEVNULL, check=False, capture_output=True, timeout=20, user=NOBODY,
                                  group=NOBODY, extra_groups=[])
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"remove that right: chmod go-w {data}", done.stderr.decode())
            self.assertEqual(list(data.iterdir()), [])

    def test_a_folder_above_belongs_to_another_user(self):
        above = self.folder("above", owner=NOBODY, mode=0o755)
        advice = f"{above} above it belongs to user {USER}, .*choose a folder whose parents belong to root"
        self.assert_refused(above / "data", advice, inside=above)
        below = self.folder("above/there")
        self.assert_refused(below, advice)

    def test_a_folder_above_that_others_may_write_to(self):
        above = self.folder("above", mode=0o777)
        self.assert_refused(above / "new/data", f"chmod go-w {above}, or choose a folder", inside=above)
        group = self.folder("group", group=NOBODY, mode=0o775)
        self.assert_refused(group / "data", f"chmod go-w {group}, or choose a folder", inside=group)

    def test_a_link_of_another_user(self):
        """In a folder like /tmp, where everybody may put one."""
        self.folder("tmp", mode=0o1777)
        real = self.folder("real")
        link = self.place / "tmp/data"
        link.symlink_to(real)
        os.lchown(link, NOBODY, NOBODY)
        self.assert_refused(link, f"{link} is a symbolic link of user {USER}, .*name the real path", inside=real)


class JoiningAServer(ClusterTest):
    hosts = ("h1",)

    def test_keys_of_the_cluster_are_not_written_to_a_foreign_folder(self):
        """The other user could have them written into a file that is open already."""
        data = self.cluster.folder / "foreign"
        data.mkdir()
        (data / "ca.key.new").touch()
        (data / "ca.key.new").chmod(0o666)
        for path in (data, data / "ca.key.new"):
            os.chown(path, NOBODY, NOBODY)
        with open(data / "ca.key.new", encoding="utf-8") as kept:
            token = self.cluster.muster("servers", "invite").text.strip()
            done = subprocess.run([str(BIN / "musterd"), "join", "--server", self.cluster.url, "--join", token, "--name", "s2",
                                   "--data", str(data)], check=False, capture_output=True, timeout=DEADLINE)
            self.assertEqual(done.returncode, 2, done)
            self.assertEqual(kept.read(), "")
        self.assertEqual([file.name for file in data.iterdir()], ["ca.key.new"])
        self.assertIn(f"data folder {data}: it belongs to user {USER}", done.stderr.decode())


class FineFolders(unittest.TestCase):
    """The rule closes no more than it must."""

    def serves(self, data, user=0):
        words = [str(BIN / "musterd"), "--data", str(data), "--listen", f"127.0.0.1:{free_port()}"]
        with tempfile.TemporaryFile() as log, subprocess.Popen(words, stdout=log, stderr=log, user=user, group=user,
                                                               extra_groups=[]) as server:
            try:
                wait_until(f"musterd serves from {data}", lambda: (data / "admin.token").exists() or server.poll())
                log.seek(0)
                self.assertIsNone(server.poll(), log.read())
            finally:
                server.terminate()

    def test_fine_folders(self):
        with tempfile.TemporaryDirectory(prefix="muster-attack-") as name:
            place = Path(name)
            place.chmod(0o1777)
            self.serves(place / "new/deep")
            own = place / "own"
            own.mkdir(0o700)
            os.chown(own, NOBODY, NOBODY)
            self.serves(own, NOBODY)
            (place / "real").mkdir(0o700)
            (place / "link").symlink_to("real")
            self.serves(place / "link")
            group = place / "group"
            group.mkdir()
            os.chown(group, 0, NAMELESS)
            group.chmod(0o775)  # a volume that belongs to the group of the process
            self.serves(group, NAMELESS)


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root has files of another user"
    unittest.main()
