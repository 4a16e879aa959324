"""Root on one host (a compromised agent) answers a `muster fetch` with files that were not asked for.

It must not fill the operator's disk past `--max-size`, nor write under other names than those that were asked for, nor
give its files modes that the operator would not. What it may bring still comes, and so do the files of other hosts.
"""

import hashlib
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileTest, path_of  # noqa: E402

KIB = 1024
MOST = 1024 * KIB


def line(path, content, size=None, mode="0644"):
    """Of the list that a pull prints."""
    return f"{path}\t{hashlib.sha256(content).hexdigest()}\t{len(content) if size is None else size}\t{mode}\n"


class HostileHost(HostileTest):
    def setUp(self):
        self.connect()
        self.folder = self.cluster.folder / self._testMethodName
        self.folder.mkdir()
        self.got = self.folder / "got"

    def put(self, content):
        self.assertIn(self.ask("PUT", path_of(content), content).status, (200, 201, 204))

    def fetch(self, paths, contents, lines, targets="bad", stdout=None):
        """The outcome of a fetch that the host answers with these lines, after it sent the contents."""
        words = ["fetch", "-t", targets, "--max-size", str(MOST), *paths, self.got]
        command = self.cluster.begin(*words)
        key = self.agent.order()
        for content in contents:
            self.put(content)
        stdout = "".join(lines).encode() if stdout is None else stdout
        self.assertTrue(self.agent.send_output(key, 0, stdout))
        self.agent.end_task(key, stdout)
        return command.finish()

    def names(self, host="bad"):
        """What lies here of the host."""
        place = self.got / host
        return sorted("/" + str(file.relative_to(place)) for file in place.rglob("*") if file.is_file())

    def written(self):
        return sum(file.stat().st_size for file in self.got.rglob("*") if file.is_file())

    def test_many_names_of_one_content(self):
        content = os.urandom(MOST // 4)
        outcome = self.fetch(["/srv/app"], [content], [line(f"/srv/app/{n}", content) for n in range(44)])
        self.assertLessEqual(self.written(), MOST)
        self.assertCode(outcome, 1)
        self.assertEqual(len(self.names()), 4)
        self.assertRegex(outcome.complaint, r"bad: .*/srv/app/4")

    def test_a_size_that_is_not_the_contents(self):
        content = os.urandom(MOST)
        lines = [line(f"/srv/app/{n}", content, size) for n, size in enumerate((1, 0, 2**64 - 1, MOST // 2))]
        outcome = self.fetch(["/srv/app"], [content], lines)
        self.assertCode(outcome, 1)
        self.assertEqual(self.names(), [])
        self.assertEqual(self.written(), 0)

    def test_names_that_were_not_asked_for(self):
        text = b"a line\n"
        asked = ["/srv/app", "/var/log/*.log", "/etc/?a*/conf/"]
        fine = ["/srv/app/inner/.x", "/var/log/a.log", "/var/log/b.log/below", "/etc/nab/conf/x"]
        others = ["/srv/app2/x", "/srv/application", "/srv", "/etc/passwd", "/var/log/a.log.gz", "/var/log/sub/a.log",
                  "/var/log/.a.log", "/etc/nb/conf/x", "/etc/nab/other", "/home/op/.bashrc", "/srv/app/../../x",
                  "/srv/app//x", "/srv/app/./y", "srv/app/z", "/srv/app/..", r"/srv/app/a\\x00b"]
        outcome = self.fetch(asked, [text], [line(path, text) for path in others + fine])
        self.assertEqual(self.names(), sorted(fine))
        self.assertCode(outcome, 1)
        self.assertRegex(outcome.complaint, r"bad: .*/srv/app2/x")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["got"])
        self.assertEqual([file.name for file in self.got.iterdir()], ["bad"])

    def test_one_name_twice(self):
        first, second = b"first\n", b"second\n"
        outcome = self.fetch(["/srv/x"], [first, second], [line("/srv/x", first), line("/srv/x", second)])
        self.assertEqual((self.got / "bad/srv/x").read_bytes(), first)
        self.assertCode(outcome, 1)

    def test_modes(self):
        text = b"a line\n"
        given = {"special": "6777", "world": "0666", "program": "0755", "private": "0600", "locked": "0000",
                 "more": "177777"}
        os.umask(0o022)
        outcome = self.fetch(["/srv/app"], [text], [line(f"/srv/app/{name}", text, mode=mode)
                                                    for name, mode in given.items()])
        self.assertCode(outcome, 0)
        found = {file.name: f"{file.stat().st_mode & 0o7777:04o}" for file in (self.got / "bad/srv/app").iterdir()}
        self.assertEqual(found, {"special": "0755", "world": "0644", "program": "0755", "private": "0600",
                                 "locked": "0600", "more": "0755"})

    def test_lines_that_are_none(self):
        text = b"a line\n"
        outcome = self.fetch(["/srv/app"], [text], [line("/srv/app/x", text), "a line of another kind\n"])
        self.assertEqual(self.names(), ["/srv/app/x"])
        self.assertCode(outcome, 1)

    def test_thousands_of_refusals_are_not_printed_one_by_one(self):
        text = b"a line\n"
        lines = [line(f"/etc/{n}", text) for n in range(5000)] + [line("/srv/app/x", text)]
        outcome = self.fetch(["/srv/app"], [text], lines)
        self.assertCode(outcome, 1)
        self.assertEqual(self.names(), ["/srv/app/x"])
        self.assertLess(outcome.complaint.count("/etc/"), 100)
        self.assertIn("5,000", outcome.complaint.replace("5000", "5,000"))

    def test_other_hosts_files_still_arrive(self):
        source = self.folder / "file"
        source.write_text("of the honest host\n")
        content = os.urandom(MOST)
        outcome = self.fetch([str(source)], [content], [line("/etc/passwd", content), line(source, content, 1)],
                             targets="bad,good")
        self.assertCode(outcome, 1)
        self.assertEqual((self.got / "good" / str(source).lstrip("/")).read_text(), "of the honest host\n")
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    unittest.main()
