"""Running Muster: settings checked and reloaded, a look into the server, versions side by side."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, SOURCE, ClusterTest, wait_until  # noqa: E402

DEPLOY = SOURCE / "deploy"


def check_config(program, file, *options):
    done = subprocess.run([str(BIN / program), "check-config", "--config", str(file), *options], capture_output=True,
                          text=True, check=False, timeout=30)
    return done.returncode, done.stdout, done.stderr


class CheckConfig(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster()

    def write(self, text):
        file = self.cluster.folder / "some.yaml"
        file.write_text(text)
        return file

    def test_it_names_every_mistake_at_once(self):
        code, _, complaint = check_config("musterd", self.write(
            "heartbeat: soon\nstore: {postgres: 'postgres://muster@db.invalid/muster?sslmode=require'}\n"
            "cluster: {etcd: ['http://etcd.invalid:2379'], etcd_user: muster}\n"
            "tls: {cert: /nonexistent/cert.pem, key: /nonexistent/key.pem}\n"))
        self.assertEqual(code, 2, complaint)
        for mistake in ("heartbeat", "store.postgres", "etcd_password", "public_url", "/nonexistent/"):
            self.assertIn(mistake, complaint)

    def test_it_prints_what_is_in_force_as_a_file_that_it_takes(self):
        for program, text in (("musterd", "heartbeat: 5s\nlisten: 127.0.0.1:9000\n"),
                              ("muster-agent", "labels: {zone: sh1}\nrun_as: {default: web, allow: [root]}\n")):
            with self.subTest(program=program):
                code, printed, complaint = check_config(program, self.write(text))
                self.assertEqual((code, complaint), (0, ""))
                again = check_config(program, self.write(printed))
                self.assertEqual(again, (0, printed, ""))
        self.assertIn("default: web", printed)
        self.assertIn("allow: [root]", printed)
        self.assertIn("data: /var/lib/muster-agent", printed)

    def test_it_names_the_place_of_every_mistake(self):
        file = self.write("heartbeat: soon\nlissen: x\nlog_level: loud\nlisten: nowhere\ntls: {cert: x.pem}\n")
        code, printed, complaint = check_config("musterd", file)
        self.assertEqual((code, printed), (2, ""))
        for place in (":1:12: heartbeat:", ":2:1: unknown key 'lissen'", ":3:12: log_level:", ":4:9: listen:",
                      ": tls needs both"):
            self.assertIn(f"{file}{place}", complaint)
        file = self.write("run_as:\n  allow: root\n  defalt: web\nname: 'a b'\nlabels: {'x y': z}\n")
        code, _, complaint = check_config("muster-agent", file)
        self.assertEqual(code, 2)
        for place in (":2:10: 'run_as.allow' takes a list", ":3:3: unknown key 'run_as.defalt'", ":4:7: name:",
                      ":5:9: labels:"):
            self.assertIn(f"{file}{place}", complaint)

    def test_it_refuses_what_would_only_fail_later(self):
        nothing = self.cluster.folder / "nothing.pem"
        cert, key = self.cluster.data / "server.pem", self.cluster.data / "server.key"
        for program, text in (("musterd", "order_life: 0s"), ("musterd", "heartbeat: 0s"), ("musterd", "data: ''"),
                              ("musterd", "public_url: muster"), ("musterd", "retention: {logs: 0s}"),
                              ("musterd", f"tls: {{cert: {nothing}, key: {key}}}"),
                              ("musterd", f"tls: {{cert: {cert}, key: {self.cluster.data / 'ca.key'}}}"),
                              ("musterd", "store: {postgres: 'host=db.example sslmode=require'}"),
                              ("musterd", "store: {postgres: 'service=muster'}"),
                              ("musterd", "cluster: {etcd: ['https://127.0.0.1:1']}"),
                              ("musterd", f"cluster: {{etcd_cert: {cert}}}"),
                              ("muster-agent", "server: muster.example:8440"),
                              ("muster-agent", "server: http://muster.example"), ("muster-agent", f"ca: {nothing}")):
            with self.subTest(program=program, text=text):
                code, printed, complaint = check_config(program, self.write(text + "\n"))
                self.assertEqual((code, printed), (2, ""))
                self.assertIn(text.partition(":")[0], complaint)
        self.assertEqual(check_config("musterd", self.write(f"tls: {{cert: {cert}, key: {key}}}\n"))[0], 0)
        self.assertEqual(check_config("musterd", self.write(""), "--public-url", "muster")[0], 2)

    def test_it_warns_of_risks_that_are_taken(self):
        taken = "store: {postgres: 'host=db.example password=hush', let_the_network_read_and_change_records: true}\n"
        code, printed, warning = check_config("musterd", self.write(taken))
        self.assertEqual(code, 0)
        self.assertIn("let_the_network_read_and_change_records: true", printed)
        self.assertIn("db.example", warning)
        self.assertNotIn("hush", printed + warning)
        cluster = ("public_url: https://127.0.0.1:8440\nstore: {postgres: 'host=127.0.0.1'}\n"
                   "cluster: {etcd: ['https://e1.example:2379']}\n")
        code, _, warning = check_config("musterd", self.write(cluster))
        self.assertEqual(code, 0)
        self.assertIn("etcd_cert", warning)

    def test_flags_win_over_the_file(self):
        code, printed, _ = check_config("musterd", self.write("listen: 127.0.0.1:9000\n"), "--listen", "127.0.0.1:9001")
        self.assertEqual(code, 0)
        self.assertIn("listen: 127.0.0.1:9001", printed)


class Deployed(unittest.TestCase):
    """The files of deploy/ are taken by the programs they are for."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, program, text):
        file = Path(self.folder.name) / "some.yaml"
        file.write_text(text)
        code, printed, complaint = check_config(program, file)
        self.assertEqual((code, complaint), (0, ""))
        return yaml.safe_load(printed)

    def test_packaged_settings(self):
        self.assertEqual(self.check("musterd", (DEPLOY / "musterd.yaml").read_text())["data"], "/var/lib/muster")
        agent = self.check("muster-agent", (DEPLOY / "agent.yaml").read_text())
        self.assertEqual(agent["run_as"], {"default": "muster-task", "allow": [], "restarts": True})

    def test_cloud_init(self):
        files = {file["path"]: file for file in yaml.safe_load((DEPLOY / "cloud-init/agent.yaml").read_text())["write_files"]}
        settings = files["/etc/muster/agent.yaml"]["content"].replace("SERVER_URL", "https://muster.example:8440")
        agent = self.check("muster-agent", settings)
        self.assertIn(agent["join_file"], files)
        self.assertEqual(files[agent["join_file"]]["permissions"], "0600")

    def test_ansible_role(self):
        role = DEPLOY / "ansible/roles/muster_agent"
        defaults = yaml.safe_load((role / "defaults/main.yml").read_text())
        defaults.update(muster_agent_server="https://muster.example:8440", muster_agent_name="web1",
                        muster_agent_labels={"zone": "sh1"}, muster_agent_run_as_allow=["root"])
        template = (role / "templates/agent.yaml.j2").read_text()
        text = re.sub(r"{{ (\w+) \| to_json }}", lambda found: json.dumps(defaults[found.group(1)]), template)
        agent = self.check("muster-agent", text)
        self.assertEqual((agent["name"], agent["labels"], agent["run_as"]["allow"]), ("web1", {"zone": "sh1"}, ["root"]))
        tasks = yaml.safe_load((role / "tasks/main.yml").read_text())
        handlers = {handler["name"] for handler in yaml.safe_load((role / "handlers/main.yml").read_text())}
        self.assertEqual({task["notify"] for task in tasks if "notify" in task}, handlers)


class Reload(ClusterTest):
    def test_the_server_takes_over_what_it_can_and_says_what_needs_a_restart(self):
        cluster = self.new_cluster()
        config = cluster.folder / "musterd.yaml"
        text = config.read_text()

        def reload(changed, expected):
            config.write_text(changed)
            cluster.server.process.send_signal(signal.SIGHUP)
            wait_until(f"the log says {expected!r}", lambda: expected in cluster.server.log.read_text())

        reload(text + "log_level: debug\ntakeover_grace: 9m\n", "reloaded changes=1 needs_restart=1")
        log = cluster.server.log.read_text()
        self.assertIn("reload log_level: info -> debug\n", log)
        self.assertIn("reload takeover_grace: 2m -> 9m needs a restart\n", log)
        self.assertEqual(cluster.http("GET", "/readyz", token=None).status, 200)
        wait_until("debug lines are written", lambda: "path=/readyz" in cluster.server.log.read_text())

        reload("log_level: loud\n", f"not reloaded, the settings stay: {config}:1:12: log_level:")
        self.assertEqual(cluster.http("GET", "/readyz", token=None).status, 200)

    def test_the_agent_takes_over_whom_tasks_may_name(self):
        cluster = self.new_cluster()
        me = subprocess.check_output(["id", "-un"], text=True).strip()
        config = cluster.folder / "agent.yaml"
        config.write_text("run_as: {default: nobody-else}\n")
        agent = cluster.add_agent("h1", options=["--config", str(config)])
        cluster.wait_online("h1")
        refused = self.assertCode(cluster.muster("run", "-t", "h1", "-u", me, "--", "true"), 6)
        self.assertIn("allowed: nobody-else", refused.text + refused.complaint)
        config.write_text(f"run_as: {{default: nobody-else, allow: [{me}]}}\n")
        agent.process.send_signal(signal.SIGHUP)
        wait_until("the agent reloaded", lambda: "reloaded changes=1 needs_restart=0" in agent.log.read_text())
        self.assertCode(cluster.muster("run", "-t", "h1", "-u", me, "--", "true"), 0)


class AgentFile(ClusterTest):
    def test_an_agent_joins_by_its_file_alone(self):
        cluster = self.new_cluster()
        token = cluster.folder / "token"
        token.write_text(cluster.invite() + "\n")
        config = cluster.folder / "agent.yaml"
        config.write_text(f"server: {cluster.url}\njoin_file: {token}\ndata: {cluster.folder / 'h7'}\nname: h7\n"
                          "labels: {zone: sh1}\n")
        cluster.add_daemon("h7", [BIN / "muster-agent", "--config", config])
        cluster.wait_online("h7")
        self.assertEqual(cluster.get("/hosts/h7")["labels"], {"zone": "sh1"})


class Introspection(ClusterTest):
    hosts = ("h1",)

    def test_every_thread_is_told_with_its_state(self):
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "echo hello"), 0)
        loops = {loop["name"]: loop for loop in self.cluster.get("/debug/loops")["loops"]}
        self.assertEqual(set(loops), {"network", "engine", "committer", "checkpoint", "log-writer", "worker1", "worker2",
                                      "worker3", "worker4", "urgent"})
        threads = set(os.listdir(f"/proc/{self.cluster.server.process.pid}/task"))
        for loop in loops.values():
            self.assertIn(str(loop["thread"]), threads)
        for name in ("network", "engine", "committer", "log-writer"):
            self.assertGreater(loops[name]["done"], 0, name)
        asking = [loop for loop in loops.values() if loop["state"] == "busy" and "/debug/loops" in loop["work"]]
        self.assertEqual(len(asking), 1, loops)
        self.assertGreater(loops["engine"]["counters"]["commands"], 0)
        self.assertEqual(loops["engine"]["queued"], 0)
        table = self.assertCode(self.cluster.muster("debug", "loops"), 0).text
        self.assertIn("committer", table)

    def test_the_log_is_kept_and_can_be_made_more_detailed_for_a_while(self):
        lines = self.assertCode(self.cluster.muster("debug", "log"), 0).text
        self.assertIn("info  leading term=1", lines)
        self.assertNotIn("debug ", lines)
        self.assertCode(self.cluster.muster("debug", "log", "--level", "debug"), 0)
        self.assertCode(self.cluster.muster("hosts"), 0)
        detailed = self.assertCode(self.cluster.muster("debug", "log", "--level", "debug", "-n", "500"), 0).text
        self.assertIn("debug call method=GET path=/api/v1/hosts", detailed)
        self.assertNotIn("path=/api/v1/hosts", self.cluster.server.log.read_text())
        self.assertNotIn("debug ", self.assertCode(self.cluster.muster("debug", "log", "--level", "warn"), 0).text)

    def test_a_server_that_runs_as_root_warns_once(self):
        warnings = [line for line in self.cluster.server.log.read_text().splitlines() if "runs as root" in line]
        self.assertEqual(len(warnings), 1 if os.geteuid() == 0 else 0, warnings)

    def test_following_the_log_goes_on_where_it_stood(self):
        following = self.cluster.begin("debug", "log", "-f", "--level", "debug", "-n", "1")
        wait_until("it began", lambda: following.said()[0])
        self.assertCode(self.cluster.muster("status"), 0)
        wait_until("the call is told", lambda: "path=/api/v1/status" in following.said()[0])
        self.assertCode(self.cluster.muster("status"), 0)
        wait_until("and the next", lambda: following.said()[0].count("path=/api/v1/status") == 2)
        numbers = following.said()[0].splitlines()
        self.assertEqual(len(numbers), len(set(numbers)))


class VersionSkew(ClusterTest):
    def fleet(self, cluster, prefix, version):
        return cluster.add_daemon(prefix, [BIN / "muster-fleet", "--server", cluster.url, "--count", "1", "--prefix",
                                           prefix, "--agent-version", version],
                                  {"MUSTER_JOIN": cluster.invite(replace=True)})

    def test_neighbours_work_together_and_strangers_are_told_why_not(self):
        cluster = self.new_cluster()
        ours = cluster.get("/status")["version"]
        major, minor = (int(part) for part in ours.split(".")[:2])
        far = {"major": f"{major + 1}.0.0", "ahead": f"{major}.{minor + 2}.0"}
        self.fleet(cluster, "newer", f"{major}.{minor + 1}.5")
        for prefix, version in far.items():
            self.fleet(cluster, prefix, version)
        cluster.wait_online("newer1")
        self.assertCode(cluster.muster("run", "-t", "newer1", "--", "true"), 0)
        for prefix, version in far.items():
            name = prefix + "1"
            note = wait_until(f"{name} has its note", lambda name=name: cluster.get(f"/hosts/{name}")["note"])
            self.assertIn(f"agent {version} does not work with server {ours}: ", note)
            self.assertIn("upgrade the server", note)
            self.assertIn(note, self.assertCode(cluster.muster("hosts"), 0).text)
        self.assertEqual(cluster.online(), {"newer1"})


if __name__ == "__main__":
    unittest.main()
