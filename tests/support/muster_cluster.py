"""Real Muster processes for tests: one server, its agents, the command line, and their end.

A Cluster owns a folder and everything that runs in it. Waiting is always for a condition and has a
deadline; the deadlines are long because they are only reached when something is wrong.
"""

import atexit
import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from pathlib import Path

from muster_processes import (BIN, DEADLINE, SOURCE, Command, Daemon, Outcome, alive, clean_environment, command_line,
                              free_port, processes_of, wait_until)

# What tests use of the processes, under one name.
__all__ = ["BIN", "DEADLINE", "FINAL_RUN", "SOURCE", "Agent", "Answer", "Cluster", "ClusterTest", "Command", "Daemon",
           "Outcome", "alive", "command_line", "free_port", "processes_of", "wait_until"]

FINAL_RUN = {"succeeded", "failed", "timed_out", "cancelled"}


class Answer:
    """Of an HTTP call."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


class Agent(Daemon):
    def __init__(self, cluster, name, data, options=(), program=BIN / "muster-agent", environment=None):
        super().__init__([program, "--data", data, *options], cluster.folder / f"{data.name}.log", environment)
        self.cluster, self.name, self.data = cluster, name, data

    def join(self, labels=None, replace=False, server=None):
        """Starts it for the first time, with a token of its own; at another address when so told."""
        token = self.cluster.invite(replace=replace)
        joining = [*self.words, "--server", server or self.cluster.url, "--name", self.name]
        for key, value in (labels or {}).items():
            joining += ["--label", f"{key}={value}"]
        later, self.words = self.words, joining
        self.environment["MUSTER_JOIN"] = token
        try:
            self.start()
        finally:
            self.words = later
            del self.environment["MUSTER_JOIN"]
        return self

    def tasks(self):
        """Folders of the tasks it holds."""
        place = self.data / "tasks"
        return sorted(place.iterdir()) if place.is_dir() else []

    def copy_to(self, place):
        """A copy of its data folder, as a snapshot has it. A file that is about to take another one's place is left out."""
        shutil.copytree(self.data, place, ignore=shutil.ignore_patterns("*.new"))


# Short times where only a crash makes them matter, so that tests of crashes are quick.
QUICK_SETTINGS = {"heartbeat": "1s", "limits": "{failures_per_minute: 100000}"}


class Cluster:
    """One server with its own folder and port, and what joins it."""

    server_environment = None
    address = "127.0.0.1"

    def __init__(self, settings=None):
        self.folder = Path(tempfile.mkdtemp(prefix="muster-test-"))
        # For a test program that is ended before its cleanups.
        atexit.register(self.close)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        # Tasks of other users must be able to reach files that a test puts here.
        self.folder.chmod(0o755)
        self.agents = {}
        self.daemons = []
        self.commands = []
        self._remembered = None
        self.data = self.folder / "server"
        self._settings = {**QUICK_SETTINGS, **(settings or {})}
        self._first_start()

    # The server

    def _first_start(self):
        config = self.folder / "musterd.yaml"
        config.write_text("".join(f"{key}: {value}\n" for key, value in self._settings.items()))
        for attempt in range(5):
            self.port = free_port()
            self.url = f"https://127.0.0.1:{self.port}"
            self.server = Daemon([BIN / "musterd", "--data", self.data, "--config", config, "--listen",
                                  f"127.0.0.1:{self.port}"], self.folder / "musterd.log", self.server_environment)
            try:
                self.start_server()
                return
            except AssertionError:
                # Somebody may have taken the port between the look and the start.
                if "in use" not in self.server.tail() or attempt == 4:
                    print(self.tails(), file=sys.stderr)
                    self.close()
                    raise

    def start_server(self):
        self.server.start()
        return self.wait_server()

    def wait_server(self):
        wait_until("musterd answers /readyz", self._ready_or_dead)
        if not self.server.running():
            raise AssertionError(f"musterd ended with {self.server.process.returncode}: {self.server.tail()}")
        return self

    def _ready_or_dead(self):
        if not self.server.running():
            return True
        try:
            return self.http("GET", "/readyz", token=None).status == 200
        except OSError:
            return False

    def restart_server(self, how=signal.SIGKILL):
        self.server.end(how)
        return self.start_server()

    # The API

    @property
    def token(self):
        return (self.data / "admin.token").read_text().strip()

    def tls(self):
        return ssl.create_default_context(cafile=self.data / "ca.pem")

    def http(self, method, path, body=None, headers=None, token="", timeout=30):
        """One call. `token` None sends none, "" the admin's. A body that is not bytes is sent as JSON."""
        headers = dict(headers or {})
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPSConnection(self.address, self.port, context=self.tls(), timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **query):
        """The JSON of a GET below /api/v1 that must succeed."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        answer = self.http("GET", "/api/v1" + path)
        assert answer.status == 200, f"GET {path}: {answer}"
        return answer.json()

    # Hosts

    def invite(self, uses=1, replace=False, labels=None):
        words = ["agents", "invite", "--uses", str(uses)] + (["--replace"] if replace else [])
        for key, value in (labels or {}).items():
            words += ["--label", f"{key}={value}"]
        outcome = self.muster(*words)
        assert outcome.code == 0, outcome
        return outcome.text.strip()

    def add_agent(self, name, labels=None, options=(), data=None, replace=False, server=None, **more):
        agent = Agent(self, name, self.folder / (data or name), options, **more)
        self.agents[name] = agent
        self.daemons.append(agent)
        agent.join(labels, replace, server)
        return agent

    def add_agents(self, *names):
        agents = [self.add_agent(name) for name in names]
        self.wait_online(*names)
        return agents

    def add_daemon(self, name, words, environment=None):
        daemon = Daemon(words, self.folder / f"{name}.log", environment)
        self.daemons.append(daemon)
        return daemon.start()

    def online(self):
        return {host["name"] for host in self.get("/hosts", limit=5000)["hosts"] if host["online"]}

    def wait_online(self, *names):
        wait_until(f"{names} online", lambda: set(names) <= self.online())

    def wait_offline(self, *names):
        wait_until(f"{names} offline", lambda: not set(names) & self.online())

    # The command line

    def environment(self):
        return {**clean_environment(), "MUSTER_SERVER": self.url, "MUSTER_CA": str(self.data / "ca.pem"),
                "MUSTER_TOKEN_FILE": str(self.data / "admin.token"), "NO_COLOR": "1", "MUSTER_PAGER": "",
                "XDG_CONFIG_HOME": str(self.folder / "config")}

    def muster(self, *words, stdin=b"", environment=None, deadline=DEADLINE):
        words = [str(word) for word in words]
        environment = {**self.environment(), **(environment or {})}
        try:
            done = subprocess.run([str(BIN / "muster"), *words], input=stdin, env=environment, timeout=deadline,
                                  capture_output=True, check=False)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"not ended within {deadline:g} s: muster {words}; said {(error.stdout or b'')[-2000:]!r} "
                                 f"{error.stderr!r}") from None
        return Outcome(words, done.returncode, done.stdout, done.stderr)

    def begin(self, *words):
        """A command in the background."""
        command = Command([str(word) for word in words], self.folder, self.environment())
        self.commands.append(command)
        return command

    def start_run(self, *words):
        """Starts a run, leaves it to itself and gives its id."""
        outcome = self.muster("run", "-d", *words)
        assert outcome.code == 0, outcome
        return outcome.text.strip()

    # Runs

    def run_of(self, run):
        return self.get(f"/runs/{run}")

    def tasks_of(self, run, **query):
        """Of each host, by name."""
        return {task["host"]: task for task in self.get(f"/runs/{run}/tasks", limit=5000, **query)["tasks"]}

    def task_of(self, run, host):
        return self.tasks_of(run)[host]

    def wait_task(self, run, host, *states):
        def settled():
            task = self.task_of(run, host)
            return task if task["state"] in states else None
        return wait_until(f"{host} of {run} is {' or '.join(states)}", settled)

    def wait_end(self, run, deadline=DEADLINE):
        """The run once it has ended and its logs are closed."""
        def ended():
            now = self.run_of(run)
            return now if now["state"] in FINAL_RUN and now["logs_open"] == 0 else None
        return wait_until(f"{run} ends", ended, deadline)

    def log_of(self, run, host, stream="both"):
        outcome = self.muster("logs", run, "--host", host, *([] if stream == "both" else [f"--{stream}"]))
        assert outcome.code == 0, outcome
        return outcome.out

    # The end

    def tails(self):
        if self._remembered is not None:
            return self._remembered
        logs = sorted(self.folder.glob("*.log"))[:12]
        return "\n".join(f"--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-40:])
                         for log in logs)

    def close(self):
        """Ends everything, also tasks and what they left behind, and removes the folder."""
        atexit.unregister(self.close)
        self._remembered = self.tails()
        for command in self.commands:
            if command.process.poll() is None:
                command.process.kill()
                command.process.wait()

        def all_gone():
            for pid in processes_of(self.folder):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue
            for daemon in [self.server, *self.daemons]:
                if daemon.process is not None:
                    daemon.process.poll()
            return not [pid for pid in processes_of(self.folder) if alive(pid)]

        wait_until(f"all processes of {self.folder} are gone", all_gone)
        for daemon in [self.server, *self.daemons]:
            daemon.end()
        shutil.rmtree(self.folder, ignore_errors=True)


class ClusterTest(unittest.TestCase):
    """A test with clusters. One of its own by `self.new_cluster()`; or, where `hosts` names some, one
    that all tests of the class share as `self.cluster`."""

    hosts = ()
    settings = None
    cluster = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if cls.hosts:
            cls.cluster = Cluster(cls.settings)
            cls.addClassCleanup(cls.cluster.close)
            try:
                cls.set_up_hosts()
            except BaseException:
                print(cls.cluster.tails(), file=sys.stderr)
                raise

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agents(*cls.hosts)

    def new_cluster(self, *hosts, settings=None):
        cluster = Cluster(settings)
        self.addCleanup(cluster.close)
        self._own.append(cluster)
        if hosts:
            cluster.add_agents(*hosts)
        return cluster

    def run(self, result=None):
        self._own = []
        bad = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > bad:
            for cluster in [*([self.cluster] if self.cluster else []), *self._own]:
                print(f"\n=== logs of {self.id()}\n{cluster.tails()}", file=sys.stderr)
        return result

    def assertCode(self, outcome, code):
        self.assertEqual(outcome.code, code, outcome)
        return outcome
