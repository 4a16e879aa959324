"""A stream of runs whose scripts leave marks, while something happens to the cluster."""

import collections
import random
import threading
import time
import uuid


class MarkedRuns(threading.Thread):
    """Starts one run after the other on the hosts, through whichever server answers, each until it is answered."""

    def __init__(self, cluster, hosts, pause=0.5):
        super().__init__(daemon=True)
        self.cluster, self.hosts, self.pause = cluster, hosts, pause
        self.marks = cluster.folder / f"marks-{uuid.uuid4()}"
        self.marks.mkdir()
        self.random = random.Random(1)
        self.over = threading.Event()
        self.answered = {}  # run by key
        self.refused = collections.Counter()  # by status and word
        self.wrong = []

    def run(self):
        while not self.over.wait(self.pause):
            self._start(str(uuid.uuid4()))

    def _start(self, key):
        script = f"echo {key} >> {self.marks}/$MUSTER_HOST; echo said {key}"
        body = {"targets": ",".join(self.hosts), "wait_offline_ms": 600_000,
                "command": {"script": script, "interpreter": "/bin/sh"}}
        while not self.over.is_set():
            member = self.random.choice(self.cluster.members)
            try:
                answer = self.cluster.at(member).http("POST", "/api/v1/runs", body, {"Idempotency-Key": key}, timeout=3)
            except OSError:
                continue
            if answer.status in (200, 201):
                self.answered[key] = answer.json()["id"]
                return
            self.refused[answer.status, answer.body.decode()] += 1
            if answer.status not in (503, 504):
                self.wrong.append(answer)
            time.sleep(0.05)

    def stop(self):
        self.over.set()
        self.join()

    def assert_each_ended_once(self, test):
        """What was answered ended well on every host, each script ran once, and all they said is there."""
        test.assertEqual(self.wrong, [])
        test.assertGreater(len(self.answered), 0)
        for key, run in self.answered.items():
            test.assertEqual(self.cluster.wait_end(run)["counts"], {"succeeded": len(self.hosts)}, run)
        for host in self.hosts:
            ran = collections.Counter((self.marks / host).read_text().split())
            # A call that was not answered may have been carried out, once.
            test.assertEqual({key: ran[key] for key in self.answered}, dict.fromkeys(self.answered, 1), host)
            test.assertEqual(max(ran.values()), 1, host)
        for key, run in self.answered.items():
            said = self.cluster.muster("logs", run).text.splitlines()
            test.assertEqual(sorted(said), sorted(f"{host} | said {key}" for host in self.hosts), run)
