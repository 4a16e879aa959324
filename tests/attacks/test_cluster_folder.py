"""A folder that another user prepared for `scripts/cluster`.

The attacker is a user of the machine who makes the folder before it is used, with links in it: to files of root, which the
script would write over, and with a list of process ids, which it would end. The script must refuse before it touches
anything.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_processes import DEADLINE, SOURCE  # noqa: E402

STRANGER = 4242


@unittest.skipUnless(os.getuid() == 0, "gives files to another user")
class Prepared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-attack-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        self.place.chmod(0o755)
        self.precious = self.place / "precious"
        self.precious.write_text("root's\n")
        self.shared = self.place / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        self.sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", str(self.shared)])
        self.addCleanup(self.sleeper.wait)
        self.addCleanup(self.sleeper.kill)

    def prepare(self, folder, owner=STRANGER, mode=0o755):
        """As the script would have left it, with links."""
        folder.mkdir()
        (folder / "state.json").write_text(json.dumps({"pids": {"s1": self.sleeper.pid}, "servers": 1}))
        (folder / "certificates").mkdir()
        for name in ("s1.yaml", "certificates/postgres.key", "certificates/ca.pem"):
            (folder / name).symlink_to(self.precious)
        for path in (folder, *folder.rglob("*")):
            os.lchown(path, owner, owner)
        folder.chmod(mode)
        return folder

    def assertRefused(self, folder):
        before = self.precious.stat()
        for what in ("status", "down", "up"):
            done = subprocess.run([str(SOURCE / "scripts/cluster"), what, "--dir", str(folder)], capture_output=True, text=True,
                                  timeout=DEADLINE, check=False, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "TMPDIR": str(self.shared)})
            self.assertEqual(self.precious.read_text(), "root's\n", (what, done))
            self.assertEqual((self.precious.stat().st_uid, self.precious.stat().st_mtime_ns), (0, before.st_mtime_ns), what)
            self.assertIsNone(self.sleeper.poll(), what)
            self.assertEqual(done.returncode, 2, (what, done))
            self.assertIn(str(folder), done.stderr)

    def test_a_folder_of_another_user(self):
        self.assertRefused(self.prepare(self.shared / "muster-cluster"))

    def test_a_folder_that_others_may_write_to(self):
        self.assertRefused(self.prepare(self.shared / "open", owner=0, mode=0o777))

    def test_a_link(self):
        self.prepare(self.place / "own", owner=0)
        (self.shared / "link").symlink_to(self.place / "own")
        os.lchown(self.shared / "link", STRANGER, STRANGER)
        self.assertRefused(self.shared / "link")

    def test_a_folder_in_one_of_another_user(self):
        outer = self.shared / "outer"
        outer.mkdir()
        inner = self.prepare(outer / "inner", owner=0)
        os.chown(outer, STRANGER, STRANGER)
        self.assertRefused(inner)

    def test_what_is_prepared_in_the_temporary_folder_is_not_looked_at(self):
        self.prepare(self.shared / "muster-cluster")
        done = subprocess.run([str(SOURCE / "scripts/cluster"), "--help"], capture_output=True, text=True, timeout=DEADLINE,
                              check=False, env={**os.environ, "TMPDIR": str(self.shared)})
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("build/cluster", done.stdout)
        self.assertNotIn(str(self.shared), done.stdout)


if __name__ == "__main__":
    unittest.main()
