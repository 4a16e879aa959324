"""Ranges of host names on the command line, without a server."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_processes import BIN, clean_environment  # noqa: E402
from terminal import AtTerminal  # noqa: E402


class Ranges(unittest.TestCase):
    def run_muster(self, *words, stdin="", code=0):
        done = subprocess.run([str(BIN / "muster"), *words], input=stdin, env=clean_environment(), capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, code, (words, done))
        return done

    def folded(self, *words, stdin=""):
        return self.run_muster("fold", *words, stdin=stdin).stdout

    def expanded(self, *words, stdin=""):
        return self.run_muster("expand", *words, stdin=stdin).stdout.splitlines()

    def test_names_become_ranges(self):
        self.assertEqual(self.folded("web1", "web2", "web3"), "web[1-3]\n")
        self.assertEqual(self.folded("web03", "db1", "web01", "web02"), "db1,web[01-03]\n")
        self.assertEqual(self.folded("web[1-3]", "web4,web6"), "web[1-4,6]\n")
        self.assertEqual(self.folded("web1", "web1"), "web1\n")

    def test_ranges_become_names(self):
        self.assertEqual(self.expanded("web[1-3]"), ["web1", "web2", "web3"])
        self.assertEqual(self.expanded("db2", "web[09-10],db1"), ["db2", "web09", "web10", "db1"])
        self.assertEqual(self.expanded("r[1-2]n[1-2]"), ["r1n1", "r1n2", "r2n1", "r2n2"])

    def test_each_undoes_the_other(self):
        names = [f"web{i:02}" for i in range(1, 40) if i % 7] + ["db1.example", "db2.example", "x"]
        self.assertEqual(sorted(self.expanded(self.folded(*names).strip())), sorted(names))

    def test_words_come_from_stdin_too(self):
        self.assertEqual(self.folded(stdin="web1\nweb2 web3,\n\n"), "web[1-3]\n")
        self.assertEqual(self.folded("-", stdin="web1\n"), "web1\n")
        self.assertEqual(self.expanded(stdin="web[1, 3]\n"), ["web1", "web3"])
        self.assertEqual(self.folded(stdin="\n"), "")
        shown = AtTerminal(["fold"], clean_environment()).finish()
        self.assertEqual(shown[0], 2, shown)

    def test_some_are_left_out_and_all_are_counted(self):
        self.assertEqual(self.folded("web[1-9]", "-x", "web[4-5]", "-x", "web9"), "web[1-3,6-8]\n")
        self.assertEqual(self.folded("--count", "web[01-20],db1"), "21\n")
        self.assertEqual(self.run_muster("expand", "-c", "web[1-3]").stdout, "3\n")

    def test_separators_and_documents(self):
        self.assertEqual(self.run_muster("expand", "-s", ",", "web[1-3]").stdout, "web1,web2,web3\n")
        self.assertEqual(self.run_muster("expand", "-s", "\\t", "web[1-2]").stdout, "web1\tweb2\n")
        self.assertEqual(json.loads(self.run_muster("expand", "web[1-2]", "-o", "json").stdout),
                         {"count": 2, "hosts": ["web1", "web2"]})
        self.assertEqual(json.loads(self.run_muster("fold", "web1", "web2", "-o", "json").stdout),
                         {"count": 2, "folded": "web[1-2]"})

    def test_what_is_no_name_is_refused(self):
        for word in ("web[3-1]", "web[1-", "web*", "@db", "zone=sh1", "all", "web[1-9999999]", "web[a-c]"):
            with self.subTest(word=word):
                for command in ("fold", "expand"):
                    refused = self.run_muster(command, word, code=2)
                    self.assertEqual(refused.stdout, "")
        self.assertEqual(self.run_muster("fold", "web1", "-x", "web*", code=2).stdout, "")

    def test_many_names_are_quick_enough(self):
        names = "\n".join(f"node{i:06}" for i in range(200_000))
        self.assertEqual(self.folded(stdin=names), "node[000000-199999]\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
