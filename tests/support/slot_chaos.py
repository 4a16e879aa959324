"""Triggers that fire every second while the server is killed, and what must be true afterwards.

Which slots were due is counted three times: by `muster check slots`, by the seconds of the clock, and by what
the hosts' runs say.
"""

import calendar
import random
import time

from muster_cluster import BIN, wait_until

JOB = """apiVersion: muster/v1
kind: job
name: tick
targets: tick1
stages:
  - name: tick
    script: 'true'
---
"""
TRIGGER = """apiVersion: muster/v1
kind: trigger
name: {name}
cron: '* * * * * *'
job: tick
targets: {host}
missed: {missed}
overlap: {{rule: allow, most: 100}}
"""
HOSTS = 20


class SlotChaos:
    hosts = HOSTS
    idle = 0  # triggers that only wait

    def __init__(self, cluster, triggers, seed):
        self.cluster, self.random = cluster, random.Random(seed)
        self.names = [f"t{number:04}" for number in range(1, triggers + 1)]
        self.kills = 0

    def begin(self):
        """Emulated hosts, a job, and triggers of every rule for what is missed."""
        self.start_fleet()
        rules = ("all", "latest", "skip")
        documents = JOB + "---\n".join(
            TRIGGER.format(name=name, host=f"tick{1 + number % self.hosts}", missed=rules[number % len(rules)])
            for number, name in enumerate(self.names))
        answer = self.cluster.http("POST", "/api/v1/documents",
                                   {"documents": [{"file": "ticks.yaml", "text": documents}]})
        assert answer.status == 200, answer

    def start_fleet(self):
        token = self.cluster.invite(uses=HOSTS, replace=True)
        self.cluster.add_daemon("ticks", [BIN / "muster-fleet", "--server", self.cluster.url, "--count", HOSTS,
                                          "--prefix", "tick"], {"MUSTER_JOIN": token})
        self.cluster.wait_online(*(f"tick{number}" for number in range(1, HOSTS + 1)))

    def history(self, kills):
        """Kills the server so many times, at any moment: also while it is starting."""
        for _ in range(kills):
            time.sleep(self.random.uniform(0, 2.5))  # no condition to wait for: the moment is the test
            self.cluster.server.end()
            self.cluster.server.start()
            if self.random.random() < 0.8:
                self.cluster.wait_server()
            self.kills += 1
        self.cluster.wait_server()

    def check(self):
        """Holds everything, waits until nothing is open, and looks. Gives slots due and started."""
        for name in self.names:
            answer = self.cluster.http("POST", f"/api/v1/triggers/{name}/pause", {"reason": "enough"})
            assert answer.status == 200, answer
        wait_until("every run ended", lambda: not self.cluster.get("/runs", state="running", limit=1)["runs"], 120)
        outcome = self.cluster.muster("check", "slots", "--since", "12h", "-o", "json", deadline=900)
        report = outcome.json()
        assert outcome.code == 0, report
        assert report["triggers"] == len(self.names) + self.idle, report
        assert report["due"] == report["started"] + sum(report["skipped"].values()) + report["waiting"], report
        for name in self.names:
            self._check_seconds(name)
        return report["due"], report["started"]

    def _check_seconds(self, name):
        """A trigger that fires every second: its rows hold each second of the clock once."""
        following, runs = None, set()
        for row in self._rows(name):
            first, last = (int(row[end] // 1000) for end in ("first_ms", "last_ms"))
            assert following in (None, first), f"{name}: after {following} comes {row}"
            assert row["count"] == last - first + 1, f"{name}: {row}"
            assert row["result"] == "skipped" or row["run"] not in runs, f"{name}: a run twice: {row}"
            runs.add(row["run"])
            following = last + 1

    def _rows(self, name):
        rows, cursor = [], ""
        while cursor is not None:
            page = self.cluster.get(f"/triggers/{name}/slots", limit=1000, **({"cursor": cursor} if cursor else {}))
            rows += [row for row in page["slots"] if row["result"] != "schedule"]
            cursor = page["next"]
        for row in rows:
            for end in ("first", "last"):
                row[end + "_ms"] = milliseconds(row[end])
        return rows[::-1]


def milliseconds(text):
    """Of a time that the API gave."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 1000 + int((fraction + "000")[:3])
