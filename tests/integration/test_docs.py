"""Every fenced block of the documentation is held against the programs: YAML documents are applied (dry), settings
are checked, command lines are read by the real `muster` (test_docs_run.py carries them out). What cannot be carries a
mark that says why, and those are counted here. docs/jobs/guide.md is carried out word by word in test_jobs.py."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fenced import PROGRAMS, blocks_of, commands_of, lines_of  # noqa: E402
from muster_cluster import BIN, SOURCE, ClusterTest  # noqa: E402

CARRIED_OUT_ELSEWHERE = {"docs/jobs/guide.md"}

# How many blocks of a page are marked `<!-- not run: … -->`: drawings, mostly.
NOT_RUN = {
    "README.md": 1,
    "docs/architecture.md": 4,
    "docs/cli.md": 1,
    "docs/cluster.md": 9,
    "docs/compatibility.md": 1,
    "docs/cron.md": 1,
    "docs/files.md": 2,
    "docs/jobs/reference.md": 1,
    "docs/jobs/semantics.md": 3,
    "docs/link.md": 2,
    "docs/operating.md": 5,
    "docs/postgresql.md": 5,
    "docs/simulation.md": 2,
    "docs/traces.md": 1,
    "docs/tasks.md": 1,
    "docs/triggers.md": 3,
}

HEAD = "apiVersion: muster/v1\nkind: job\nname: fragment\n"
STAGES = "stages:\n  - {name: only, script: 'true'}\n"

# What fragments in the pages refer to.
AROUND = """
apiVersion: muster/v1
kind: channel
name: ops-chat
type: chat
url: https://chat.example/hook
---
apiVersion: muster/v1
kind: channel
name: managers
type: chat
url: https://chat.example/hook
---
apiVersion: muster/v1
kind: job
name: cleanup
params: {days: {type: integer}, token: {type: secret}}
stages:
  - {name: only, script: 'true'}
"""


def pages():
    files = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md")), *sorted((SOURCE / "examples").rglob("*.md"))]
    return {str(file.relative_to(SOURCE)): file.read_text() for file in files}


def blocks():
    return [block for page, text in pages().items() if page not in CARRIED_OUT_ELSEWHERE
            for block in blocks_of(page, text)]


def read_by_muster(words):
    """What `muster` says of a command line, without doing it."""
    options = words[:words.index("--")] if "--" in words else words
    rest = words[len(options):]
    return subprocess.run([BIN / "muster", *options, "--parse-only", *rest], capture_output=True, text=True,
                          check=False, timeout=60, stdin=subprocess.DEVNULL)


class Lines(unittest.TestCase):
    helps = {}

    def options_of(self, program):
        if program not in self.helps:
            shown = subprocess.run([BIN / program, "--help"], capture_output=True, text=True, check=False, timeout=60)
            self.helps[program] = set(re.findall(r"--[a-z][a-z-]*", shown.stdout + shown.stderr))
        return self.helps[program]

    def check_command(self, words):
        if words[0] == "muster":
            done = read_by_muster(words[1:])
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        else:
            unknown = {word.partition("=")[0] for word in words if word.startswith("--")} - self.options_of(words[0])
            self.assertFalse(unknown, f"{words}: no such options")

    def test_every_command_line_can_be_read(self):
        count = 0
        for block in blocks():
            if block.mark or block.kind not in ("", "console", "sh"):
                continue
            with self.subTest(block=str(block)):
                ours = [command for line in lines_of(block) for command in commands_of(line) if command[0] in PROGRAMS]
                for words in ours:
                    self.check_command(words)
                if block.kind == "sh":
                    subprocess.run(["sh", "-n"], input=block.text, text=True, check=True)
                else:
                    self.assertTrue(ours, "no command of Muster in it: mark it <!-- not run: WHY -->")
                count += len(ours)
        self.assertGreater(count, 50)

    def test_every_command_in_running_text_can_be_read(self):
        count = 0
        for page, text in pages().items():
            if page.startswith("docs/decisions/"):
                continue  # they tell of what was, too
            prose = re.sub(r"^( *)```.*?^ *```", "", text, flags=re.S | re.M)
            for span in re.findall(r"`(muster [a-z][^`]*)`", prose):
                span = re.sub(r"[\[\]…]", " ", span.replace("\\|", "|").replace("\n", " "))
                # Often only the name of a command, so words may be missing; but none may be wrong.
                done = read_by_muster(commands_of(span)[0][1:])
                self.assertNotRegex(done.stderr, "has no (command|option)", f"{page}: {span}")
                count += 1
        self.assertGreater(count, 40)

    def test_unknown_options_and_commands_are_found(self):
        for words in (["run", "-t", "all", "--bogus", "--", "true"], ["rnu"], ["hosts", "label"], ["apply"]):
            self.assertEqual(read_by_muster(words).returncode, 2, words)
        self.assertEqual(read_by_muster(["run", "-t", "all", "--", "rm", "--bogus"]).returncode, 0)
        self.assertEqual(commands_of("muster show r7 | grep -c 'a | b' && muster runs > out; date # muster no"),
                         [["muster", "show", "r7"], ["grep", "-c", "a | b"], ["muster", "runs"], ["date"]])

    def test_blocks_that_are_not_run_are_counted(self):
        counted = {}
        for block in blocks():
            if block.mark == "not run":
                counted[block.page] = counted.get(block.page, 0) + 1
        self.assertEqual(counted, NOT_RUN)


FILTER = SOURCE / "src/domain/audit_filter.cpp"


class Acts(unittest.TestCase):
    def test_the_page_has_every_act_of_the_audit_trail(self):
        code = "".join(file.read_text() for file in [*(SOURCE / "src/engine").rglob("*.cpp"), SOURCE / "src/domain/audit.hpp"])
        acts = set(re.findall(r'"([a-z]+\.[a-z]+)"', code)) | set(re.findall(r'\bact = "([a-z]+)"', code))
        acts |= {f"trigger.{act}" for act in re.findall(r'AuditAct\([^"]*"([a-z]+)"', code)}
        self.assertLess({"run.start", "freeze", "trigger.fire", "task.unknown"}, acts)
        page = (SOURCE / "docs/people.md").read_text()
        trail = page[page.index("## The audit trail"):]
        self.assertEqual({act for act in acts if f"`{act}`" not in trail}, set())
        known = set(re.findall(r'"([a-z.]+)"', re.search(r"kActs\[\] = {(.*?)}", FILTER.read_text(), re.S)[1]))
        self.assertEqual({act for act in known if not act.endswith((".apply", ".delete"))}, acts)


class Yaml(ClusterTest):
    hosts = ("host1",)

    def setUp(self):
        self.folder = self.cluster.folder / self._testMethodName
        (self.folder / "files/site").mkdir(parents=True)
        (self.folder / "files/site/index.html").write_text("hello\n")
        (self.folder / "files/install.sh").write_text("true\n")
        (self.folder / "around.yaml").write_text(AROUND)
        self.assertCode(self.cluster.muster("apply", "-f", self.folder / "around.yaml"), 0)

    @staticmethod
    def completed(text):
        """A whole document of what is shown of one."""
        if text.startswith("apiVersion:"):
            return text
        if text.startswith("- name:"):
            return HEAD + "stages:\n" + re.sub(r"(?m)^", "  ", text)
        return HEAD + text + ("" if re.search(r"(?m)^stages:", text) else STAGES)

    def check_settings(self, program, text):
        file = self.folder / "settings.yaml"
        file.write_text(text)
        done = subprocess.run([BIN / program, "check-config", "--config", file, "--data", self.folder / "data"],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done)

    def test_every_block_is_what_it_says(self):
        count = 0
        for block in blocks():
            if block.kind == "json" and not block.mark:
                json.loads(block.text)
            if block.kind != "yaml" or block.mark == "not run":
                continue
            count += 1
            with self.subTest(block=str(block)):
                if block.mark == "as":
                    self.check_settings(block.says, block.text)
                    continue
                file = self.folder / "block.yaml"
                file.write_text(self.completed(block.text))
                self.assertCode(self.cluster.muster("apply", "--dry-run", "-f", file), 0)
        self.assertGreater(count, 15)

    def test_wrong_blocks_are_found(self):
        file = self.folder / "block.yaml"
        for text in ("max_hots: 3\n", "stages:\n  - {name: a, scirpt: 'true'}\n", "- name: a\n  htpp: {}\n"):
            file.write_text(self.completed(text))
            self.assertCode(self.cluster.muster("apply", "--dry-run", "-f", file), 1)
        with self.assertRaises(AssertionError):
            self.check_settings("musterd", "listen_on: nowhere\n")

    def test_every_kind_of_block_is_known(self):
        kinds = {block.kind for block in blocks() if block.mark != "not run"}
        self.assertLessEqual(kinds, {"", "console", "sh", "yaml", "json"}, "who checks the others?")


if __name__ == "__main__":
    unittest.main(verbosity=2)
