"""Every command line of the documentation is carried out, page by page, on a server with hosts and files of the names
that the pages use. Paths on hosts are moved into a folder of the test's own."""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fenced import commands_of, lines_of  # noqa: E402
from muster_cluster import BIN, SOURCE, ClusterTest  # noqa: E402
from test_docs import blocks  # noqa: E402

HOSTS = ("host1", "host2", "web1", "web2", "web3", "web7", "db1", "db7")
PATIENCE = 20

# Lines that do not end with 0, by how they begin: because the page shows how something is refused, because nothing is
# there that it could act on, or because it wants a person.
ENDS = {
    "login https://127.0.0.1:18440 --name lab": 3,
    "run -t all --batches 1,100% -- exit 1": 1,
    "run -t all --grouped -- test $MUSTER_HOST != host2": 1,
    "run -t host9 -- id": 4,
    "stop r9": 1,
    "stop --all": 0,
    "stop": 1,
    "logs r12 --grep": 4,
    "channels test ops-chat": 1,
    "agents replace web7": 4,
    "agents reject web7": 4,
    "hosts rm web7": 1,
    "hosts rm lab[01-20]": 4,
    "hosts rm zone=old": 4,
    "cron explain 0 24 * * *": 2,
    "cp -t web* app.conf /etc/app.conf --owner root:app": 1,
    "secrets set web.db-password --prompt": 2,
    "fetch -t web*": 1,
}

FILES = {
    "kernel.deb": "kernel\n", "app.conf": "a=1\n", "a.sql": "select 1;\n", "b.sql": "select 2;\n", "conf/app.ini": "[a]\n",
    "FILE": "a note\n", "hosts.txt": "lab1\nlab2\n", "fleet.csv": "name,zone\nlab3,sh2\n", "schedules.txt": "*/5 * * * *\n",
    "deploy.cron": "# the dump\n30 2 * * 1-5 /opt/backup.sh --full\n",
    "inventory.ini": "[lab]\nlab4\nlab5\n",
    "jobs.yaml": "- name: Nightly\n  sequence:\n    keepgoing: false\n    commands:\n      - exec: 'true'\n",
    "jobs/kernel-upgrade.yaml": "apiVersion: muster/v1\nkind: job\nname: kernel-upgrade\ntargets: 'web*'\n"
                                "params: {version: {type: string, required: true}}\n"
                                "stages:\n  - {name: only, script: 'true'}\n",
    "jobs/deploy.yaml": "apiVersion: muster/v1\nkind: job\nname: deploy\ntargets: 'web*'\n"
                        "params: {token: {type: secret}, note: {type: string}}\n"
                        "stages:\n  - {name: only, script: 'true'}\n",
    "jobs/backup.yaml": "apiVersion: muster/v1\nkind: job\nname: backup\ntargets: 'web*'\n"
                         "stages:\n  - {name: only, script: 'true'}\n---\n"
                         "apiVersion: muster/v1\nkind: trigger\nname: nightly\ncron: 30 2 * * *\njob: backup\n",
    "jobs/db.yaml": "apiVersion: muster/v1\nkind: group\nname: db\nhosts: [db1]\n",
}


class Carried(ClusterTest):
    hosts = HOSTS

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.place = cls.cluster.folder / "place"
        for name, text in FILES.items():
            (cls.place / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.place / name).write_text(text)
        for folder in ("etc", "srv/import", "var/tmp/builds", "var/log/app"):
            (cls.place / "root" / folder).mkdir(parents=True)
        (cls.place / "examples").symlink_to(SOURCE / "examples")
        (cls.place / "ca.pem").write_bytes((cls.cluster.data / "ca.pem").read_bytes())
        (cls.place / "alice.token").write_text(cls.cluster.token)
        for words in (("hosts", "label", "web*", "app=web"), ("apply", "-f", cls.place / "jobs"),
                      ("apply", "-f", SOURCE / "examples/jobs")):
            outcome = cls.cluster.muster(*words)
            assert outcome.code == 0, outcome
        assert cls.cluster.muster("secrets", "set", "NAME", stdin=b"hunter22").code == 0
        for number in range(1, 13):  # so that there is an r12, and an r7 that failed
            assert cls.cluster.muster("run", "-t", "db1", "--", f"echo hello; test {number} != 7").code == (number == 7)

    def moved(self, word):
        """A word as it is in the test's own place."""
        for there in ("https://127.0.0.1:18440", "https://muster.example:8440"):
            word = word.replace(there, self.cluster.url)
        for folder in ("/etc/app", "/srv/", "/var/tmp/", "/var/log/app/"):
            if word.startswith(folder):
                return f"{self.place}/root{word}"
        return word.replace("folder=/var/", f"folder={self.place}/root/var/").replace("sleep 60", "sleep 0.1")

    def carry_out(self, words):
        """The exit code and what was said; 0 for one that follows something for ever."""
        given = b"web[11-12]\n" if "import" in words else b"hunter22\n"
        if words[0] == "login":
            given = self.cluster.token.encode() + b"\n"
        environment = {**self.cluster.environment(), "HOME": str(self.place)}
        if "--token-file" in words:
            del environment["MUSTER_TOKEN_FILE"]
        if words[0] == "login":
            for name in ("MUSTER_TOKEN_FILE", "MUSTER_CA", "MUSTER_SERVER"):
                del environment[name]
        with subprocess.Popen([BIN / "muster", *map(self.moved, words)], cwd=self.place, env=environment,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            try:
                said, _ = process.communicate(given, timeout=2 if "-f" in words[1:] and "apply" not in words else PATIENCE)
                return process.returncode, said.decode(errors="replace")
            except subprocess.TimeoutExpired:
                process.kill()
                follows = "-f" in words
                return (0, "") if follows else (None, "it did not end")

    def test_every_command_line_does_what_the_page_says(self):
        count = 0
        for block in blocks():
            if block.mark or block.kind not in ("", "console", "sh"):
                continue
            for words in [command[1:] for line in lines_of(block) for command in commands_of(line)
                          if command[0] == "muster"]:
                line = " ".join(words)
                expected = next((code for begin, code in ENDS.items()
                                 if line == begin or line.startswith(begin + " ")), 0)
                with self.subTest(block=str(block), line=line):
                    code, said = self.carry_out(words)
                    # What the disks of this machine are like is not in the page.
                    allowed = (0, 1) if "examples/disk-check.sh" in words else (expected,)
                    self.assertIn(code, allowed, said[-1500:])
                    count += 1
            self.cluster.muster("thaw", "--all")
        self.assertGreater(count, 90)


if __name__ == "__main__":
    unittest.main(verbosity=2)
