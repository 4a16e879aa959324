"""`muster cron`, which needs no server, and every example and table of docs/cron.md."""

import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MUSTER = Path(os.environ.get("MUSTER_BIN", ROOT / "build/release/bin")) / "muster"
PAGE = (ROOT / "docs/cron.md").read_text()


def cron(*words, stdin=""):
    return subprocess.run([MUSTER, "cron", *words], input=stdin, capture_output=True, text=True, check=False,
                          timeout=60)


def times(*words):
    done = cron("next", *words)
    assert done.returncode == 0, done
    return done.stdout.split()


class Page(unittest.TestCase):
    def test_examples_print_what_the_page_shows(self):
        examples = 0
        for block in re.findall(r"^```\n(\$ muster cron .*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
            for example in re.split(r"^\$ muster cron ", block, flags=re.MULTILINE)[1:]:
                line, _, shown = example.partition("\n")
                done = cron(*shlex.split(line))
                with self.subTest(line):
                    self.assertEqual(done.stdout if done.returncode == 0 else done.stderr, shown)
                examples += 1
        self.assertGreaterEqual(examples, 7)

    def test_tables_of_clock_changes_hold(self):
        rows = 0
        zones = set()
        for part in re.finditer(r"Due after `(.*?)` and up to `(.*?)` in `(.*?)`:\n\n(.*?)\n\n", PAGE + "\n", re.DOTALL):
            start, end, zone, table = part.groups()
            zones.add(zone)
            for row in table.splitlines()[2:]:
                expression, options, due = (cell.strip() for cell in row.strip("|").split("|"))
                words = [expression.strip("`"), *options.strip("`").split(), "--tz", zone, "--from", start, "-n", "60"]
                found = [f"{time[11:16]}{time[19:]}" for time in times(*words) if time[:16] <= end]
                with self.subTest(zone=zone, start=start, row=row):
                    self.assertEqual(found, due.replace("`", "").split())
                rows += 1
        self.assertEqual(zones, {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"})
        self.assertGreaterEqual(rows, 39)


class Next(unittest.TestCase):
    def test_notes_about_clock_changes_go_to_stderr(self):
        done = cron("next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2027-03-27T00:00:00Z", "-n", "3")
        self.assertEqual(done.stdout.split(), ["2027-03-27T02:30:00+01:00", "2027-03-28T03:00:00+02:00",
                                               "2027-03-29T02:30:00+02:00"])
        self.assertIn("2027-03-28T02:30:00", done.stderr)
        self.assertEqual(cron("-q", "next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2027-03-27T12:00",
                              "-n", "2").stderr, "")

    def test_json_has_times_and_what_was_skipped(self):
        done = cron("next", "10,40 2 * * *", "--tz", "Europe/Berlin", "--from", "2027-03-28", "-o", "json")
        self.assertEqual(json.loads(done.stdout)["times"],
                         [{"at": "2027-03-28T03:00:00+02:00", "reason": "gap", "nominal": "2027-03-28T02:10:00",
                           "last_nominal": "2027-03-28T02:40:00", "count": 2}])
        done = cron("next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2027-03-28", "--gap", "skip", "-o", "json")
        self.assertEqual(json.loads(done.stdout), {
            "expression": "30 2 * * *", "tz": "Europe/Berlin", "times": [{"at": "2027-03-29T02:30:00+02:00"}],
            "skipped": [{"at": "2027-03-28T03:00:00+02:00", "reason": "gap", "nominal": "2027-03-28T02:30:00"}]})

    def test_never_is_no_error(self):
        done = cron("next", "0 0 31 2 *")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("never", done.stderr)

    def test_what_cannot_be_read_is_usage(self):
        for words in (["next", "61 * * * *"], ["next", "H * * * *"], ["next", "* * * * *", "--from", "soon"],
                      ["next", "* * * * *", "--tz", "../etc/passwd"], ["next"], ["explain", "@reboot"],
                      ["next", "* * * * *", "--days", "none"], ["next", "* * * * *", "-n", "0"]):
            with self.subTest(words):
                done = cron(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(cron("next", "* * * * *", "--tz", "Mars/Olympus").returncode, 4)


class Check(unittest.TestCase):
    text = "# nightly\n30 2 * * *\n\n  99 * * * *\n0 0 30 2 *\r\nH H * * *\n@every 5x\n"

    def test_mistakes_have_line_and_column(self):
        with tempfile.TemporaryDirectory(prefix="muster-test-") as folder:
            file = Path(folder) / "schedules.txt"
            file.write_text(self.text)
            done = cron("check", str(file))
            self.assertEqual(done.returncode, 1)
            places = [line.removeprefix(f"{file}:").split(": ")[0] for line in done.stdout.splitlines()]
            self.assertEqual(places, ["4:3", "5:1", "7:8"])
            file.write_text("30 2 * * *\n")
            self.assertEqual(cron("check", str(file)).returncode, 0)
            self.assertEqual(cron("check", folder).returncode, 4)
        self.assertEqual(cron("check", str(file)).returncode, 4)

    def test_json(self):
        done = cron("check", "-", "-o", "json", stdin=self.text)
        document = json.loads(done.stdout)
        self.assertEqual((done.returncode, document["checked"]), (1, 5))
        self.assertEqual([(problem["line"], problem["column"]) for problem in document["problems"]],
                         [(4, 3), (5, 1), (7, 8)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
