"""Hundreds of tasks that talk while server and agents are killed, and what must be true afterwards.

A history is: keep so many tasks running, kill so many times, wait for the end of everything, check. Which
process is killed when comes from one seeded random number generator; what the machine makes of it differs
from time to time, so a seed narrows the search down and does not replay.
"""

import hashlib
import http.client
import json
import os
import random
import signal
import sqlite3
import time
import uuid

from muster_cluster import DEADLINE, FINAL_RUN, wait_until

# Waits are reads from a pipe nobody writes to: hundreds of scripts that start a `sleep` for each line would
# measure the machine and not Muster. A start and an end are one write() each to a file opened for appending.
SCRIPT = """#!/bin/bash
exec 9<>{quiet}
echo "$MUSTER_RUN $MUSTER_HOST $$" >> {starts}
for ((i = 1; i <= {lines}; i++)); do
  printf '%s %s %d %0{width}d\\n' "$MUSTER_RUN" "$MUSTER_HOST" $i 0
  printf 'e%d\\n' $i >&2
  read -t {pause} -u 9
done
echo "$MUSTER_RUN $MUSTER_HOST" >> {ends}
exit {code}
"""


class Work:
    """One run on all hosts: what its scripts will say, and how they will end."""

    def __init__(self, random_source):
        self.key = str(uuid.UUID(int=random_source.getrandbits(128)))
        self.lines = random_source.randrange(1, 30)
        self.width = random_source.choice((1, 60, 2000, 9000))
        self.pause = round(random_source.uniform(0.02, 0.3), 3)
        self.code = random_source.choice((0, 0, 0, 3))
        self.run = None

    def script(self, place):
        return SCRIPT.format(quiet=place / "quiet", starts=place / "starts", ends=place / "ends", lines=self.lines,
                             width=self.width, pause=self.pause, code=self.code)

    def stdout(self, host):
        return "".join(f"{self.run} {host} {i} {0:0{self.width}d}\n" for i in range(1, self.lines + 1)).encode()

    def stderr(self):
        return "".join(f"e{i}\n" for i in range(1, self.lines + 1)).encode()


class Calls:
    """Calls over one connection, made anew when the server went away under it."""

    def __init__(self, cluster):
        self._cluster, self._connection, self._token = cluster, None, cluster.token

    def once(self, method, path, body=None, headers=None):
        """The answer's status, headers and body; None when the server was not there."""
        try:
            if self._connection is None:
                self._connection = http.client.HTTPSConnection("127.0.0.1", self._cluster.port,
                                                               context=self._cluster.tls(), timeout=30)
            self._connection.request(method, "/api/v1" + path, body=body,
                                     headers={"Authorization": f"Bearer {self._token}", **(headers or {})})
            answer = self._connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return None

    def get(self, path):
        answer = wait_until(f"an answer to {path}", lambda: self.once("GET", path))
        assert answer[0] == 200, f"GET {path}: {answer[0]} {answer[2][:300]!r}"
        return answer

    def json(self, path):
        return json.loads(self.get(path)[2])

    def log(self, run, host, stream):
        collected, offset = b"", 0
        while True:
            _, headers, body = self.get(f"/runs/{run}/log?host={host}&stream={stream}&from={offset}&limit=4000000")
            collected += body
            following = int(headers["Muster-Next-Offset"])
            if following == offset:
                return collected
            offset = following

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class Chaos:
    def __init__(self, cluster, hosts, seed, tasks=200):
        self.cluster, self.hosts, self.tasks = cluster, list(hosts), tasks
        self.random = random.Random(seed)
        self.place = cluster.folder / "chaos"
        self.place.mkdir()
        os.mkfifo(self.place / "quiet")
        self.calls = Calls(cluster)
        self.open, self.works, self.kills = [], [], 0

    # The work

    def _start(self, work):
        body = json.dumps({"targets": "all", "wait_offline_ms": 600000, "timeout_ms": 600000,
                           "command": {"script": work.script(self.place)}})

        def started():
            answer = self.calls.once("POST", "/runs", body,
                                     {"Idempotency-Key": work.key, "Content-Type": "application/json"})
            if answer is None or answer[0] == 503:
                return None
            assert answer[0] == 201, f"POST /runs: {answer[0]} {answer[2]!r}"
            return json.loads(answer[2])["id"]

        work.run = wait_until("the run is accepted", started)
        self.open.append(work)
        self.works.append(work)

    def _ended(self, run):
        now = self.calls.json(f"/runs/{run}")
        return now["state"] in FINAL_RUN and now["logs_open"] == 0

    def fill(self):
        """Starts runs until so many tasks are open again."""
        self.open = [work for work in self.open if not self._ended(work.run)]
        while len(self.open) * len(self.hosts) < self.tasks:
            self._start(Work(self.random))

    # The kills

    def _pause(self, longest):
        time.sleep(self.random.uniform(0, longest))

    def _kill_server(self):
        self.cluster.server.end(signal.SIGKILL)
        self.kills += 1
        self._pause(0.2)
        if self.random.random() < 0.25:
            # Killed again while it starts: between two steps of opening its files.
            self.cluster.server.start()
            self._pause(0.15)
            self.cluster.server.end(signal.SIGKILL)
            self.kills += 1

    def _kill_agents(self, count):
        agents = [self.cluster.agents[host] for host in self.random.sample(self.hosts, count)]
        for agent in agents:
            agent.end(signal.SIGKILL)
        self.kills += len(agents)
        self._pause(0.2)
        for agent in agents:
            agent.start()

    def kill_one(self):
        what = self.random.choice(("server", "agent", "agents", "both"))
        if what in ("server", "both"):
            self._kill_server()
        if what in ("agent", "both"):
            self._kill_agents(1)
        if what == "agents":
            self._kill_agents(self.random.randrange(1, len(self.hosts) + 1))
        if what in ("server", "both"):
            self.cluster.start_server()

    def history(self, kills):
        """At least so many kills in the middle of the work, the end of all of it, and the check. Gives the
        number of tasks."""
        until = self.kills + kills
        self.fill()
        while self.kills < until:
            self._pause(0.5)
            self.kill_one()
            self.fill()
        for work in self.open:
            wait_until(f"{work.run} ends", lambda: self._ended(work.run), 3 * DEADLINE)
        self.open = []
        self.check()
        count, self.works = len(self.works) * len(self.hosts), []
        return count

    # The checks

    def check(self):
        self._check_starts()
        for work in self.works:
            tasks = {task["host"]: task for task in self.calls.json(f"/runs/{work.run}/tasks?limit=5000")["tasks"]}
            assert set(tasks) == set(self.hosts), (work.run, sorted(tasks))
            for host, task in tasks.items():
                self._check_task(work, host, task)
        self._check_files()

    def _check_starts(self):
        """Each script ran, to its end, once."""
        wanted = sorted(f"{work.run} {host}" for work in self.works for host in self.hosts)
        for name in ("starts", "ends"):
            lines = [" ".join(line.split()[:2]) for line in (self.place / name).read_text().splitlines()]
            twice = sorted({line for line in lines if lines.count(line) > 1}) if len(set(lines)) < len(lines) else []
            assert not twice, f"{name} more than once: {twice}"
            assert sorted(lines) == wanted, f"{name}: {sorted(set(lines) ^ set(wanted))} differ"
            (self.place / name).write_text("")

    def _check_task(self, work, host, task):
        where = f"{work.run} on {host}: {task}"
        state, code = ("succeeded", 0) if work.code == 0 else ("failed", work.code)
        assert (task["state"], task["exit_code"]) == (state, code), where
        out, err = work.stdout(host), work.stderr()
        log = task["log"]
        assert (log["state"], log["bytes"]) == ("complete", len(out) + len(err)), where
        assert log["stdout_sha256"] == hashlib.sha256(out).hexdigest(), where
        assert log["stderr_sha256"] == hashlib.sha256(err).hexdigest(), where
        assert self.calls.log(work.run, host, "stdout") == out, where
        assert self.calls.log(work.run, host, "stderr") == err, where

    def _check_files(self):
        """What a kill leaves is whole: looked at while nobody has it open."""
        self.cluster.server.end(signal.SIGKILL)
        check_databases(self.cluster.data)
        self.cluster.start_server()


def check_databases(data):
    """SQLite itself finds nothing wrong in any file of the server's folder."""
    files = [data / "muster.db", *sorted((data / "logs").glob("*.db"))]
    for file in files:
        connection = sqlite3.connect(file)
        try:
            verdict = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        finally:
            connection.close()
        assert verdict == ["ok"], f"{file}: {verdict}"
