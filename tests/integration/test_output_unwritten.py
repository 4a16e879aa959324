"""Results that cannot be written: the program says so, says what it did all the same, and has a code for it."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest  # noqa: E402

UNWRITTEN = 8
READER_GONE = 128 + 13


class Unwritten(ClusterTest):
    hosts = ("h1",)

    def shell(self, line, code):
        """A line of the shell with `muster` in it."""
        done = subprocess.run(["/bin/bash", "-c", line.replace("muster ", f"{BIN / 'muster'} ")],
                              env=self.cluster.environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done)
        return done

    def test_full_disk_is_told_with_what_stays_done(self):
        told = self.shell("muster run -t h1 -- echo hi > /dev/full", UNWRITTEN).stderr
        run = re.search(r"run (r[\d.]+) on 1 host", told).group(1)
        self.assertRegex(told, rf"cannot write to stdout: No space left on device; {re.escape(run)} ")
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        told = self.shell("muster run -q -d -t h1 -- 'echo bye' > /dev/full", UNWRITTEN).stderr
        self.assertRegex(told, r"; r[\d.]+ goes on; follow it: muster attach r")
        for words in ("hosts", "hosts -o json", "logs", "show", "--help", "run -q -t h1 -o jsonl -- echo hi"):
            with self.subTest(words=words):
                told = self.shell(f"muster {words} > /dev/full", UNWRITTEN).stderr
                self.assertIn("cannot write to stdout: No space left on device", told)

    def test_secret_that_nobody_saw_can_be_withdrawn(self):
        told = self.shell("muster tokens create carl --role viewer > /dev/full", UNWRITTEN).stderr
        self.assertIn("muster tokens revoke carl", told)
        self.assertCode(self.cluster.muster("tokens", "revoke", "carl", "--yes"), 0)
        for noun in ("agents", "servers"):
            with self.subTest(noun=noun):
                told = self.shell(f"muster {noun} invite > /dev/full", UNWRITTEN).stderr
                invite = re.search(r"muster invites revoke ([0-9a-f]+)", told).group(1)
                self.assertCode(self.cluster.muster("invites", "revoke", invite, "--yes"), 0)

    def test_closed_stream_is_no_other_file(self):
        self.assertIn("cannot write to stdout", self.shell("muster hosts >&-", UNWRITTEN).stderr)
        self.shell("muster hosts >&- 2>&-", UNWRITTEN)
        self.assertIn("h1", self.shell("muster hosts <&-", 0).stdout)

    def test_messages_that_nobody_reads_change_no_result(self):
        for where in ("2>&-", "2>/dev/full"):
            with self.subTest(where=where):
                self.assertEqual(self.shell(f"muster run -t h1 -- 'echo hi' {where}", 0).stdout, "hi\n")
                self.shell(f"muster run -t h1 -- false {where}", 1)
        self.shell("muster run -t h1 -- 'echo hi >&2' 2>/dev/full", UNWRITTEN)

    def test_reader_that_left_is_told_that_the_run_goes_on(self):
        gate = self.cluster.folder / "gate"
        self.addCleanup(gate.touch)
        line = f"'echo one; while test ! -e {gate}.more; do sleep 0.05; done; echo two; while test ! -e {gate}; do sleep 0.05; done'"
        told = self.shell(f"muster run -t h1 -- {line} | (read one; touch {gate}.more); exit ${{PIPESTATUS[0]}}", READER_GONE).stderr
        run = re.search(r"run (r[\d.]+) on 1 host", told).group(1)
        self.assertIn(f"{run} goes on; follow it: muster attach {run}", told)
        self.assertEqual(self.cluster.run_of(run)["state"], "running")
        gate.touch()
        self.cluster.wait_end(run)


if __name__ == "__main__":
    unittest.main()
