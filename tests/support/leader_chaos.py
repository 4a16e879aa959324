"""The leader of a cluster is killed again and again under a stream of runs and triggers that fire every second.

Whatever was answered must be on record and have ended, every slot must be on record once, and how long nobody led is
measured as a caller sees it: from the kill to the first answer to a start of a run that was sent after it.
"""

import random
import signal
import statistics
import threading
import time
import uuid

from muster_cluster import BIN, FINAL_RUN, wait_until
from slot_chaos import SlotChaos


class Stream(threading.Thread):
    """Starts one run after the other, through whichever server answers, each until it is answered."""

    def __init__(self, cluster, hosts, pause=0.1):
        super().__init__(daemon=True)
        self.cluster, self.hosts, self.pause = cluster, hosts, pause
        self.random = random.Random(1)
        self.over = threading.Event()
        self.frozen = []  # members that nobody should ask
        self.answered = {}  # run by key
        self.answers = []  # (sent, answered) of each attempt that was answered well

    def run(self):
        while not self.over.wait(self.pause):
            self._start(str(uuid.uuid4()))

    def _start(self, key):
        first = self.random.randrange(1, self.hosts - 4)
        body = {"targets": f"tick[{first}-{first + 4}]", "command": {"script": "true", "interpreter": "/bin/sh"}}
        while not self.over.is_set():
            member = self.random.choice([m for m in self.cluster.members if m.running() and m not in self.frozen])
            sent = time.monotonic()
            try:
                answer = self.cluster.at(member).http("POST", "/api/v1/runs", body, {"Idempotency-Key": key}, timeout=5)
            except OSError:
                answer = None
            if answer is not None and answer.status in (200, 201):
                self.answers.append((sent, time.monotonic()))
                run = answer.json()["id"]
                assert self.answered.setdefault(key, run) == run, f"{key} started {self.answered[key]} and {run}"
                return
            assert answer is None or answer.status in (503, 504), answer
            time.sleep(0.02)

    def without_leader(self, moment):
        """From this moment to the first answer to something sent after it."""
        return min((answered for sent, answered in list(self.answers) if sent >= moment), default=moment + 1e9) - moment


class LeaderChaos(SlotChaos):
    def __init__(self, cluster, triggers, seed, hosts=1000):
        super().__init__(cluster, triggers, seed)
        self.hosts, self.gaps = hosts, []
        self.journal = cluster.folder / "ticks.jsonl"

    def start_fleet(self):
        token = self.cluster.invite(uses=self.hosts, replace=True)
        urls = ",".join(member.url for member in self.cluster.members)
        self.cluster.add_daemon("ticks", [BIN / "muster-fleet", "--server", urls, "--count", self.hosts, "--prefix", "tick",
                                          "--history", self.journal], {"MUSTER_JOIN": token})
        wait_until("the fleet is online", lambda: self.cluster.get("/status")["online"] == self.hosts, 180)

    def history(self, kills, fault="kill", seconds=20):
        """So many faults: the leader killed or frozen for so many seconds, or PostgreSQL killed."""
        stream = Stream(self.cluster, self.hosts)
        stream.start()
        wait_until("runs are started", lambda: stream.answers)
        for _ in range(kills):
            if fault == "kill":
                self.kill_leader(stream)
            elif fault == "freeze":
                self.freeze_leader(stream, seconds)
            else:
                self.kill_postgres(stream)
        self.cluster.wait_ready()
        stream.over.set()
        stream.join()
        self.answered = stream.answered

    def kill_leader(self, stream):
        time.sleep(self.random.uniform(0, 4))  # no condition to wait for: the moment is the test
        leader = self.cluster.leader()
        moment = time.monotonic()
        leader.end()
        self.kills += 1
        if self.cluster.front is leader:
            self.cluster.front = next(member for member in self.cluster.members if member.running())
        self._measure(stream, moment, f"kill {self.kills}: {leader.name}")
        time.sleep(self.random.uniform(0, 1))
        leader.start()
        if self.random.random() < 0.8:
            self.cluster.wait_ready(leader)

    def freeze_leader(self, stream, seconds):
        leader = self.cluster.leader()
        self.cluster.front = next(member for member in self.cluster.members if member is not leader)
        moment = time.monotonic()
        stream.frozen = [leader]
        leader.process.send_signal(signal.SIGSTOP)
        self.kills += 1
        try:
            self._measure(stream, moment, f"freeze {self.kills}: {leader.name}")
            time.sleep(max(0, moment + seconds - time.monotonic()))  # the length of the freeze is the test
        finally:
            leader.process.send_signal(signal.SIGCONT)
            stream.frozen = []
        self.cluster.wait_ready()

    def kill_postgres(self, stream):
        time.sleep(self.random.uniform(0, 2))  # no condition to wait for: the moment is the test
        moment = time.monotonic()
        self.cluster.postgres.end(signal.SIGKILL)
        self.kills += 1
        self.cluster.postgres.wait()
        self._measure(stream, moment, f"kill {self.kills}: PostgreSQL")
        self.cluster.wait_ready()

    def _measure(self, stream, moment, what):
        gap = wait_until("somebody answers again", lambda: g if (g := stream.without_leader(moment)) < 1e8 else None)
        self.gaps.append(gap)
        print(f"  {what}, {gap:.2f} s without a leader", flush=True)

    def check(self):
        found = super().check()
        for key, run in self.answered.items():
            state = self.cluster.run_of(run)["state"]
            assert state in FINAL_RUN, f"{run} of {key} is {state}"
        outcome = self.cluster.muster("check", "history", "--since", "12h", "--journal", self.journal, deadline=600)
        assert outcome.code == 0, outcome
        print(outcome.text.strip() or outcome.complaint.strip(), flush=True)
        print(f"METRIC failover_p50_seconds {statistics.median(self.gaps):.2f} s")
        print(f"METRIC failover_max_seconds {max(self.gaps):.2f} s", flush=True)
        return found
