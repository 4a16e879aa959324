"""The Debian packages in a clean, booted Debian: install, join, run, upgrade under a running task, remove."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from machine import Machine, base_system, depends, wait_until  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("MUSTER_BIN", SOURCE / "build/release/bin"))

# Counts how often it is started, then speaks until it is told that this was enough.
LONG_TASK = """echo started >> "$HOME/starts"
i=0
while [ ! -e "$HOME/enough" ]; do
  i=$((i + 1))
  echo "line $i"
  sleep 0.1
done
echo $i > "$HOME/lines\""""


def bumped(deb, folder):
    """The same package under the next version."""
    tree = folder / "tree"
    subprocess.check_call(["dpkg-deb", "-R", deb, tree])
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", "Version: 99.0.0", control.read_text(), flags=re.M))
    subprocess.check_call(["dpkg-deb", "-Znone", "--build", tree, folder / "muster-agent_next.deb"],
                          stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return "/share/muster-agent_next.deb"


class Packages(unittest.TestCase):
    """One machine for all; the tests run in the order of their numbers, as a host's life does."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        assert os.geteuid() == 0, "these tests boot a system in a container, which needs root"
        cls.share = Path(tempfile.mkdtemp(prefix="muster-packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.share, ignore_errors=True)
        cls.share.chmod(0o755)
        subprocess.check_call([SOURCE / "scripts/package", "--bin", BIN, "--out", cls.share, "--fast"],
                              stdout=subprocess.DEVNULL)
        debs = sorted(cls.share.glob("*.deb"))
        agent = next(deb for deb in debs if deb.name.startswith("muster-agent_"))
        cls.agent_needs = depends([agent])
        base = base_system(debs)
        cls.next_agent = bumped(agent, cls.share)
        cls.machine = Machine(base, cls.share)
        cls.addClassCleanup(cls.machine.close)
        cls.debs = [f"/share/{deb.name}" for deb in debs]

    def test_0_the_packages_are_as_debian_wants_them(self):
        """As root lintian warns of itself; the packages of this test are not compressed."""
        checked = subprocess.run(["lintian", "--fail-on", "error,warning", "--suppress-tags",
                                  "uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball",
                                  *sorted(self.share.glob("*_[0-9]*.deb"))],
                                 capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)

    def test_0_every_program_has_its_manual_page(self):
        for package, page in (("musterd", "man8/musterd.8"), ("musterd", "man8/musterd-backup.8"),
                              ("musterd", "man1/muster-fleet.1"), ("muster-agent", "man8/muster-agent.8"),
                              ("muster", "man1/muster-run.1")):
            with self.subTest(page=page):
                deb = next(self.share.glob(f"{package}_[0-9]*.deb"))
                files = subprocess.check_output(["dpkg-deb", "--contents", deb], text=True)
                self.assertIn(f"./usr/share/man/{page}.gz\n", files)

    def run(self, result=None):
        bad = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > bad:
            print(f"\n=== journal of {self.id()}\n{self.machine.journal()}", file=sys.stderr)
            result.stop()  # what follows builds on it
        return result

    def muster(self, *words):
        return self.machine.run("env", "MUSTER_CA=/var/lib/muster/ca.pem",
                                "MUSTER_TOKEN_FILE=/var/lib/muster/admin.token", "muster", *words)

    def hosts(self):
        listed = self.muster("hosts", "-o", "json")
        self.assertEqual(listed.code, 0, listed)
        return json.loads(listed.text)["hosts"]

    def online(self):
        return [host["name"] for host in self.hosts() if host["online"]]

    def wait_online(self):
        # A server that has just begun listens before it leads.
        wait_until("the server answers", lambda: self.muster("hosts").code != 5)
        wait_until("the host is online", lambda: self.online() == ["testhost"])

    def agent_pid(self):
        return int(self.machine.show("muster-agent", "MainPID"))

    def test_9_the_agent_needs_little(self):
        self.assertEqual(self.agent_needs, ["init-system-helpers", "libc6", "passwd"])

    def test_1_install_starts_the_server_as_its_own_user(self):
        self.machine.must("dpkg", "-i", *self.debs)
        self.machine.wait_active("musterd")
        self.assertEqual(self.machine.sh("stat -c '%U %a' /var/lib/muster").split(), ["muster", "700"])
        pid = self.machine.show("musterd", "MainPID")
        self.assertEqual(self.machine.must("stat", "-c", "%U", f"/proc/{pid}").strip(), "muster")
        self.assertEqual(self.machine.must("systemctl", "is-enabled", "musterd", "muster-agent").split(),
                         ["enabled", "enabled"])
        status = self.muster("status")
        self.assertEqual(status.code, 0, status)
        self.assertEqual(self.machine.run("musterd", "check-config").code, 0)

    def test_2_an_agent_that_has_not_joined_says_so_and_is_left_alone(self):
        wait_until("the agent gave up", lambda: self.machine.show("muster-agent", "ActiveState") == "failed")
        self.assertEqual(self.machine.show("muster-agent", "ExecMainStatus"), "2")
        self.assertIn("has not joined a server yet", self.machine.journal())

    def test_3_it_joins_with_a_token_file_and_runs_as_the_tasks_user(self):
        invite = self.muster("agents", "invite")
        self.assertEqual(invite.code, 0, invite)
        self.machine.sh("umask 077; cat > /etc/muster/join.token", stdin=invite.text)
        self.machine.sh("sed -i 's|^#server:.*|server: https://127.0.0.1:8440|; s|^#join_file:|join_file:|' "
                        "/etc/muster/agent.yaml")
        self.machine.must("systemctl", "restart", "muster-agent")
        self.wait_online()
        ran = self.muster("run", "-t", "testhost", "--", "id -un; pwd")
        self.assertEqual((ran.code, ran.text.split()), (0, ["muster-task", "/var/lib/muster-task"]), ran)

    def test_4_the_agent_enforces_who_tasks_run_as_and_takes_a_reload(self):
        refused = self.muster("run", "-t", "testhost", "-u", "root", "--", "id -un")
        self.assertEqual(refused.code, 6, refused)
        self.assertIn("user 'root' is not allowed on this host; allowed: muster-task", refused.text + refused.complaint)
        before = self.agent_pid()
        self.machine.sh("sed -i 's|^  allow: .*|  allow: [root]|' /etc/muster/agent.yaml")
        self.machine.must("systemctl", "reload", "muster-agent")
        wait_until("the reload is told", lambda: "reload run_as.allow:  -> root" in self.machine.journal())
        allowed = self.muster("run", "-t", "testhost", "-u", "root", "--", "id -un")
        self.assertEqual((allowed.code, allowed.text.split()), (0, ["root"]), allowed)
        self.assertEqual(self.agent_pid(), before)

    def test_5_a_task_lives_through_upgrade_restart_and_crash_of_the_agent(self):
        started = self.muster("run", "-d", "-t", "testhost", "--", LONG_TASK)
        self.assertEqual(started.code, 0, started)
        run = started.text.strip()
        log = lambda: self.muster("logs", run, "--host", "testhost").text  # noqa: E731
        wait_until("the task speaks", lambda: "line 1" in log())

        pids = [self.agent_pid()]
        self.machine.must("dpkg", "-i", self.next_agent)
        self.wait_online()
        pids.append(self.agent_pid())
        self.machine.must("systemctl", "restart", "muster-agent")
        self.wait_online()
        pids.append(self.agent_pid())
        self.machine.sh(f"kill -KILL {pids[-1]}")
        wait_until("systemd starts the agent again", lambda: self.agent_pid() not in (0, pids[-1]))
        self.wait_online()
        self.assertEqual(len(set(pids)), 3)
        shown = json.loads(self.muster("show", run, "-o", "json").text)
        self.assertEqual(shown["state"], "running")
        self.machine.sh("touch /var/lib/muster-task/enough")

        def ended():
            now = json.loads(self.muster("show", run, "-o", "json").text)
            return now if now["state"] != "running" and now["logs_open"] == 0 else None
        self.assertEqual(wait_until("the run ends", ended)["state"], "succeeded")
        count = int(self.machine.sh("cat /var/lib/muster-task/lines"))
        self.assertEqual(log(), "".join(f"line {i}\n" for i in range(1, count + 1)))
        self.assertEqual(self.machine.sh("cat /var/lib/muster-task/starts").split(), ["started"])

    def test_6_an_upgrade_keeps_what_was_edited(self):
        version = self.machine.must("dpkg-query", "-W", "-f", "${Version}", "muster-agent")
        self.assertEqual(version, "99.0.0")
        self.assertIn("allow: [root]", self.machine.sh("cat /etc/muster/agent.yaml"))

    def test_7_the_server_restarts_under_its_agent(self):
        self.machine.must("systemctl", "restart", "musterd")
        self.wait_online()
        ran = self.muster("run", "-t", "testhost", "--", "echo back")
        self.assertEqual((ran.code, ran.text), (0, "back\n"), ran)

    def test_8_purge_leaves_no_identity_behind(self):
        self.machine.must("dpkg", "--purge", "muster-agent", "musterd", "muster")
        for path in ("/var/lib/muster-agent", "/var/lib/muster", "/etc/muster/agent.yaml", "/etc/muster/musterd.yaml",
                     "/usr/bin/musterd", "/lib/systemd/system/musterd.service"):
            self.assertNotEqual(self.machine.run("test", "-e", path).code, 0, path)
        self.assertEqual(self.machine.show("muster-agent", "LoadState"), "not-found")


if __name__ == "__main__":
    unittest.main()
