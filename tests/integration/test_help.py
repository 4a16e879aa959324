"""What explains the command line: help, manual pages and completion, for every command there is."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest  # noqa: E402

MUSTER = str(BIN / "muster")
PROGRAMS = ("muster", "musterd", "muster-agent", "muster-fleet")


def ask(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=60,
                          **options)


class Explained(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="muster-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for program in PROGRAMS:
            done = ask(BIN / program, "__man", cls.folder)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        cls.pages = sorted(cls.folder.iterdir())

    @staticmethod
    def command_of(page):
        """The words of a command, its program first, from the head of its page."""
        line = page.read_text().partition(".SH SYNOPSIS\n")[2].splitlines()[0]
        return line.removeprefix("\\fB").removesuffix("\\fR").replace("\\-", "-").split()

    def help_of(self, words):
        shown = ask(BIN / words[0], *words[1:], "--help")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""), shown)
        return shown.stdout

    def test_there_is_a_page_for_each_command(self):
        names = {page.name for page in self.pages}
        self.assertLessEqual({"muster.1", "muster-run.1", "muster-agents-invite.1", "muster-context-use.1", "musterd.8",
                              "musterd-backup.8", "musterd-ca-add.8", "musterd-store-copy.8", "muster-agent.8",
                              "muster-fleet.1"}, names)
        self.assertFalse([name for name in names if "__" in name])
        for page in self.pages:
            words = self.command_of(page)
            with self.subTest(page=page.name):
                self.assertEqual("-".join(words), page.stem)
                # A page of a command that has moved to a table of its own would describe no options.
                for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+)", self.help_of(words).partition("Examples:")[0], re.M):
                    if words[-1] not in ("check-config", "release-cgroups"):
                        self.assertIn(option.replace("-", "\\-"), page.read_text())

    def test_the_page_of_a_program_tells_of_files_and_codes(self):
        for name, told in (("musterd.8", "/var/lib/muster"), ("muster-agent.8", "/etc/muster/agent.yaml"),
                           ("muster.1", "MUSTER_PAGER"), ("muster-fleet.1", "SEE ALSO")):
            self.assertIn(told, (self.folder / name).read_text())

    def test_a_command_that_is_not_the_first_word_is_refused(self):
        for program, words in (("musterd", ["--data", "/nowhere", "backup"]), ("muster-agent", ["--data", "/nowhere", "check-config"])):
            with self.subTest(program=program):
                refused = ask(BIN / program, *words)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertIn("must be the first word", refused.stderr)

    def test_every_help_has_examples(self):
        for page in self.pages:
            words = self.command_of(page)
            with self.subTest(command=words):
                examples = self.help_of(words).partition("Examples:\n")[2]
                self.assertIn(" ".join(words[:2]), examples)

    def test_no_help_shows_a_type_of_the_parser(self):
        for page in self.pages:
            words = self.command_of(page)
            with self.subTest(command=words):
                options = self.help_of(words).partition("Examples:")[0]
                self.assertNotRegex(options, r"\b(UINT|INT|FLOAT)\b|\w:\w+ in \[|\n\n\n| \n")

    def test_every_help_fits_80_columns(self):
        for page in self.pages:
            words = self.command_of(page)
            with self.subTest(command=words):
                wide = [line for line in self.help_of(words).splitlines() if len(line) > 80]
                self.assertEqual(wide, [])

    def test_commands_stand_in_groups(self):
        shown = ask(MUSTER, "--help").stdout
        titles = [line for line in shown.splitlines() if re.fullmatch(r"[A-Z][a-z ]+:", line)]
        self.assertIn("Hosts:", titles)
        self.assertFalse({"Commands:", "Subcommands:", "Other:"} & set(titles))
        hosts = shown.partition("\nHosts:\n")[2].partition("\n\n")[0]
        self.assertEqual([line.split()[0].rstrip(",") for line in hosts.splitlines() if line[2] != " "][:1], ["hosts"])

    def test_help_and_version_by_other_names(self):
        for words in ([], ["run"], ["hosts", "label"]):
            with self.subTest(command=words):
                asked = ask(MUSTER, "help", *words)
                self.assertEqual((asked.returncode, asked.stdout), (0, ask(MUSTER, *words, "--help").stdout))
        astray = ask(MUSTER, "help", "rnu")
        self.assertEqual((astray.returncode, astray.stdout), (2, ""))
        self.assertIn("did you mean run?", astray.stderr)
        version = ask(MUSTER, "--version")
        self.assertEqual((version.returncode, version.stdout), (0, ask(MUSTER, "version").stdout))

    def test_numbers_below_zero_are_refused_by_the_name_of_their_option(self):
        self.refused_by_name("--limit", "runs", "-n", -3)
        self.refused_by_name("--limit", "audit", "-n", -3)
        self.refused_by_name("--tail", "logs", "--tail", -3)

    def test_lengths_out_of_bounds_are_refused_by_the_name_of_their_option(self):
        self.refused_by_name("--expires", "tokens", "create", "x", "--role", "viewer", "--expires", 0)
        self.refused_by_name("--expires", "agents", "invite", "--expires", "2000d")
        self.refused_by_name("--uses", "agents", "invite", "--uses", 0)
        self.refused_by_name("--expires", "servers", "invite", "--expires", "8d")
        self.refused_by_name("--for", "freeze", "--reason", "x", "--for", 0)
        self.refused_by_name("--for", "hosts", "maintenance", "web1", "--reason", "x", "--for", 0)
        self.refused_by_name("--grace", "stop", "r1", "--grace", "2d")
        self.refused_by_name("--grace", "run", "-t", "web1", "--grace", "2d", "--", "true")

    def refused_by_name(self, option, *words):
        with self.subTest(command=words):
            refused = ask(MUSTER, *words)
            self.assertEqual(refused.returncode, 2, refused)
            self.assertTrue(refused.stderr.startswith(f"muster: {option}: "), refused.stderr)

    def test_pages_render_without_a_warning(self):
        for page in self.pages:
            with self.subTest(page=page.name):
                shown = ask("groff", "-K", "utf8", "-T", "utf8", "-man", "-ww", page)
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertIn("SYNOPSIS", re.sub(".\b", "", shown.stdout))  # bold is struck over


class Completion(ClusterTest):
    hosts = ("web1", "web2", "db1")

    @classmethod
    def set_up_hosts(cls):
        for name in cls.hosts:
            cls.cluster.add_agent(name, {"rack": "r" + name[-1]})
        cls.cluster.wait_online(*cls.hosts)

    def offered(self, *words, environment=None):
        outcome = self.cluster.muster("__complete", "--", "muster", *words, environment=environment)
        self.assertEqual((outcome.code, outcome.complaint), (0, ""), outcome)
        return [line.partition("\t")[0] for line in outcome.text.splitlines()]

    def in_shell(self, shell, *words):
        environment = {**self.cluster.environment(), "PATH": f"{BIN}:{os.environ['PATH']}",
                       "HOME": str(self.cluster.folder)}
        done = ask(shell, *words, env=environment)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_hosts_labels_and_runs_come_from_the_server(self):
        self.assertEqual(self.offered("run", "-t", "we"), ["web1", "web2"])
        self.assertEqual(self.offered("run", "-t", "web1,ra"), ["web1,rack="])
        self.assertEqual(self.offered("run", "-t", "rack="), ["rack=r1", "rack=r2"])
        run = self.cluster.start_run("-t", "db1", "--", "true")
        self.assertIn(run, self.offered("logs", ""))
        self.assertEqual(self.offered("logs", run, "--host=d"), ["--host=db1"])

    def test_a_server_that_is_away_is_no_noise(self):
        away = {"MUSTER_SERVER": "https://127.0.0.1:1"}
        self.assertEqual(self.offered("logs", "", environment=away), [])
        self.assertEqual(self.offered("run", "-t", "al", environment=away), ["all"])
        self.assertEqual(self.offered("--context", "nowhere", "logs", ""), [])

    def test_bash(self):
        script = self.cluster.folder / "completion.bash"
        script.write_text(self.cluster.muster("completion", "bash").text)

        def replies(line):
            return self.in_shell("bash", "-c", f'source {script}; COMP_LINE="$1"; COMP_POINT=${{#1}}; _muster muster '
                                 '2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"', "bash", line).split()
        self.assertEqual(replies("muster ru"), ["run", "runs"])
        self.assertEqual(replies("muster run -t we"), ["web1", "web2"])
        # Bash breaks words at '=', unless they are quoted.
        self.assertEqual(replies("muster run -t rack="), ["r1", "r2"])
        self.assertEqual(replies("muster run -t 'rack="), ["rack=r1", "rack=r2"])
        self.assertEqual(replies("muster --output=j"), ["json", "jsonl"])

    def test_fish(self):
        script = self.cluster.folder / "completion.fish"
        script.write_text(self.cluster.muster("completion", "fish").text)

        def replies(line):
            shown = self.in_shell("fish", "--no-config", "-c", f'source {script}; complete -C "{line}"')
            return [reply.partition("\t")[0] for reply in shown.splitlines()]
        self.assertEqual(replies("muster ru"), ["run", "runs"])
        self.assertEqual(replies("muster run -t we"), ["web1", "web2"])
        self.assertEqual(sorted(replies("muster run -t rack=")), ["rack=r1", "rack=r2"])

    def test_zsh(self):
        script = self.cluster.folder / "completion.zsh"
        script.write_text(self.cluster.muster("completion", "zsh").text)
        # `compadd` is a builtin of the line editor only; a function of the same name tells what it was given.
        shown = self.in_shell("zsh", "-f", "-c", "compdef() { : }; compadd() { print -rl -- ${(P)@[-1]} }; "
                              f"source {script}; words=(muster run -t we); CURRENT=4; PREFIX=we; _muster")
        self.assertEqual(shown.split(), ["web1", "web2"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
