"""Root backs up and restores the data folder of a server that runs as another user, who is not to be trusted.

What root writes there must belong to that user: otherwise the server cannot read its keys, or says that there never was
a backup. And links that the user puts there, also while root restores, must not lead root to files elsewhere.
"""

import contextlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, free_port, wait_until  # noqa: E402
from swapper import NOBODY  # noqa: E402

NAME = "nobody"


def musterd(*words, user=0):
    return subprocess.run([str(BIN / "musterd"), *map(str, words)], capture_output=True, text=True, timeout=DEADLINE,
                          check=False, user=user, group=user, extra_groups=[])


class OfAnotherUser(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-attack-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        self.place.chmod(0o755)
        self.data = self.place / "data"
        self.data.mkdir(0o700)
        os.chown(self.data, NOBODY, NOBODY)
        self.file = self.place / "backups/one"
        self.file.parent.mkdir(0o700)
        self.secret = self.place / "secret"  # of root
        self.secret.write_text("root's own\n")
        self.secret.chmod(0o600)

    def serve(self):
        """Starts a server of the user, waits until it is ready, and stops it."""
        port = free_port()
        words = [str(BIN / "musterd"), "--data", str(self.data), "--listen", f"127.0.0.1:{port}"]
        with tempfile.TemporaryFile() as log, subprocess.Popen(words, stdout=log, stderr=log, user=NOBODY, group=NOBODY,
                                                               extra_groups=[]) as server:
            def said():
                # Not by seek and read: the server writes at the offset that they would move.
                return os.pread(log.fileno(), os.fstat(log.fileno()).st_size, 0).decode()
            try:
                wait_until("musterd serves", lambda: f"{port}" in said() and "muster.db" in os.listdir(self.data)
                           or server.poll() is not None)
                status = subprocess.run([str(BIN / "muster"), "status"], capture_output=True, text=True, timeout=DEADLINE,
                                        check=False, env={"MUSTER_SERVER": f"https://127.0.0.1:{port}", "HOME": str(self.place),
                                                          "MUSTER_CA": str(self.data / "ca.pem"),
                                                          "MUSTER_TOKEN": (self.data / "admin.token").read_text().strip()})
                self.assertIsNone(server.poll(), said())
                self.assertEqual(status.returncode, 0, status)
                return status.stdout
            finally:
                server.terminate()

    def backup(self):
        done = musterd("backup", self.file, "--data", self.data)
        self.assertEqual(done.returncode, 0, done)

    def restore(self, *options):
        return musterd("restore", self.file, "--data", self.data, *options)

    def assert_all_belong_to_the_user(self):
        for path in (self.data, *self.data.rglob("*")):
            self.assertEqual((path.lstat().st_uid, path.lstat().st_gid), (NOBODY, NOBODY), path)

    def assert_untouched(self):
        status = self.secret.stat()
        self.assertEqual((self.secret.read_text(), status.st_uid, stat.S_IMODE(status.st_mode)),
                         ("root's own\n", 0, 0o600))

    def test_backup_is_known_to_the_server(self):
        self.assertRegex(self.serve(), r"backup +never")
        self.backup()
        self.assert_all_belong_to_the_user()
        self.assertRegex(self.serve(), r"backup +\d+s ago")

    def test_server_starts_with_what_was_restored(self):
        self.serve()
        self.backup()
        done = self.restore("--force")
        self.assertEqual(done.returncode, 0, done)
        self.assert_all_belong_to_the_user()
        self.serve()

    def test_links_of_the_user_lead_nowhere(self):
        self.serve()
        self.backup()
        for name in ("last_backup.new", "last_backup", ".restore", ".restore.new", ".restore.old", "lock"):
            path = self.data / name
            path.unlink(missing_ok=True)
            path.symlink_to(self.secret.parent if name.startswith(".restore") else self.secret)
            os.lchown(path, NOBODY, NOBODY)
        self.restore("--force")
        musterd("backup", self.place / "backups/two", "--data", self.data)
        musterd("ca", "add", "--force", "--data", self.data)
        self.assert_untouched()
        self.assertEqual(sorted(path.name for path in self.place.iterdir()), ["backups", "data", "secret"])

    def test_files_of_root_do_not_get_into_a_backup(self):
        self.serve()
        for name in ("notes", "muster.db"):
            path = self.data / name
            path.unlink(missing_ok=True)
            path.symlink_to(self.secret)
            os.lchown(path, NOBODY, NOBODY)
            done = musterd("backup", self.file, "--data", self.data)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(f"{path} is a symbolic link", done.stderr)
            self.assertFalse(self.file.exists())
            path.unlink()

    def test_databases_of_root_do_not_get_into_a_backup(self):
        """The folder of output itself is the link, so that each database in it is a plain file."""
        self.serve()
        theirs = self.place / "of-root"
        theirs.mkdir(0o700)
        with contextlib.closing(sqlite3.connect(theirs / "secret.db")) as database:
            database.execute("CREATE TABLE t(secret)")
            database.commit()
        before = sorted(os.listdir(theirs))
        shutil.rmtree(self.data / "logs", ignore_errors=True)
        (self.data / "logs").symlink_to(theirs)
        os.lchown(self.data / "logs", NOBODY, NOBODY)
        done = musterd("backup", self.file, "--data", self.data, "--logs")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(f"{self.data}/logs is a symbolic link", done.stderr)
        self.assertFalse(self.file.exists())
        self.assertEqual(sorted(os.listdir(theirs)), before)

    def test_restored_folder_of_root_says_what_is_missing(self):
        """Where root makes the folder, nobody knows yet whose server will use it."""
        self.serve()
        self.backup()
        self.data = self.place / "new"
        done = self.restore()
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(f"chown -R USER: {self.data}", done.stdout)

    def test_files_of_root_are_told_from_missing_ones(self):
        self.serve()
        key = (self.data / "token.key").read_bytes()
        for name in ("token.key", "admin.token", "ca.key"):
            os.chown(self.data / name, 0, 0)
            done = musterd("--data", self.data, "--listen", "127.0.0.1:0", user=NOBODY)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"cannot read {self.data}/{name}: it belongs to user root; run: chown -R {NAME}: {self.data}",
                          done.stderr)
        self.assertEqual((self.data / "token.key").read_bytes(), key)

    def test_new_ca_belongs_to_the_user(self):
        self.serve()
        for act in ("add", "use", "drop"):
            self.assertEqual(musterd("ca", act, "--force", "--data", self.data).returncode, 0, act)
            self.assert_all_belong_to_the_user()
            self.serve()


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root has files of another user"
    unittest.main()
