#!/usr/bin/env python3
"""An operator applies documents that are short and mean very much, in as many calls as there are workers and more.

The attacker holds an operator's token and does not even keep the documents (dry run): groups of ranges, repeated keys, unknown
names. They must not keep others from calling the API: every other call is answered meanwhile, also the one that stops everything.
Documents that are large as such must not fill the server's memory when they are listed, or be parsed again for each list.
"""

import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402
from process_cost import MIB, assert_cost, forget_most_memory, most_memory_of, processor_seconds  # noqa: E402

CALLS = 8
LARGE = 40  # jobs of 3.9 MB
GROWTH = 100 * MIB  # all of them together are more

GROUP = "apiVersion: muster/v1\nkind: group\nname: g{}\nhosts: [{}]\n"
CHANNEL = "apiVersion: muster/v1\nkind: channel\nname: c{}\ntype: webhook\nurl: http://127.0.0.1:9/x\n"
JOB = "apiVersion: muster/v1\nkind: job\nname: j\ntargets: all\n"


def ranges():
    return GROUP.format("", ", ".join(["'h[1-100000]'"] * 2000))


def broken_ranges():
    return GROUP.format("", ", ".join(["'h[1-99999]['"] * 2000))


def overflowing_ranges():
    return GROUP.format("", ", ".join(["'h[1-100000][0-4294967295][0-4294967295]'"] * 2000))


def many_groups():
    return "---\n".join(GROUP.format(i, "'h[1-100000]'") for i in range(500))


def keys():
    env = "".join(f"        V{i:05d}: a\n" for i in range(45000))
    return JOB + "stages:\n  - name: s\n    script:\n      run: 'true'\n      env:\n" + env


def unknown_names():
    stages = "".join(f"  - {{name: abcdefghijklmnopqrst{i}, script: x}}\n" for i in range(900))
    needs = ", ".join(f"abcdefghijklmnopq{i}" for i in range(30000))
    return JOB + "stages:\n" + stages + f"  - {{name: z, script: x, needs: [{needs}]}}\n"


class HeavyDocuments(ClusterTest):
    hosts = ("h1",)

    def apply(self, token, text):
        """Its status; None when no answer came within a minute."""
        body = {"documents": [{"file": "f.yaml", "text": text}], "dry_run": True}
        try:
            return self.cluster.http("POST", "/api/v1/documents", body, token=token, timeout=60).status
        except OSError:
            return None

    def test_others_go_on(self):
        mallory = self.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()
        viewer = self.cluster.muster("tokens", "create", "vera", "--role", "viewer").text.strip()
        for write in (ranges, broken_ranges, overflowing_ranges, many_groups, keys, unknown_names):
            with self.subTest(write.__name__):
                run = self.cluster.start_run("-t", "h1", "--", "sleep 1000")
                text = write()
                statuses = []
                calls = [threading.Thread(target=lambda: statuses.append(self.apply(mallory, text))) for _ in range(CALLS)]
                for call in calls:
                    call.start()
                time.sleep(0.5)  # for all of them to be at work or to wait
                for _ in range(3):
                    # When the documents have all workers, no answer comes within the time that a person waits.
                    self.assertEqual(self.cluster.http("GET", "/api/v1/status", token=viewer, timeout=20).status, 200)
                self.assertCode(self.cluster.muster("stop", "--all", "--yes", deadline=20), 0)
                self.cluster.wait_end(run)
                for call in calls:
                    call.join()
                self.assertEqual(len(statuses), CALLS)
                self.assertNotIn(None, statuses, "each was answered, for good or ill")
        self.assertTrue(self.cluster.server.running())

    def apply_large_jobs(self, token):
        lines = ("# " + "x" * 70 + "\n") * 13_500
        stages = "".join(f"  - {{name: s{i}, script: {{file: a{i}.sh}}}}\n" for i in range(4))
        for i in range(LARGE):
            text = JOB.replace("name: j", f"name: large{i:02}") + "stages:\n" + stages
            body = {"documents": [{"file": "f.yaml", "text": text, "attachments": {f"a{k}.sh": lines for k in range(4)}}]}
            self.assertEqual(self.cluster.http("POST", "/api/v1/documents", body, token=token, timeout=60).status, 200)

    def test_lists_do_not_read_whole_documents(self):
        operator = self.cluster.muster("tokens", "create", "olga", "--role", "operator").text.strip()
        viewer = self.cluster.muster("tokens", "create", "viktor", "--role", "viewer").text.strip()
        self.apply_large_jobs(operator)
        small = {"documents": [{"file": "f.yaml", "text": JOB + "stages: [{name: s, wait: 1s}]\n"}]}
        self.assertEqual(self.cluster.http("POST", "/api/v1/documents", small, token=operator).status, 200)
        server = self.cluster.server.process.pid
        forget_most_memory(server)
        before = most_memory_of(server)
        lists = []

        def list_all():
            lists.append(self.cluster.http("GET", "/api/v1/documents?kind=job&limit=1000", token=viewer, timeout=120).json())
        calls = [threading.Thread(target=list_all) for _ in range(CALLS)]
        for call in calls:
            call.start()
        pruned = self.cluster.http("POST", "/api/v1/documents", {**small, "prune": True, "dry_run": True}, token=operator, timeout=120)
        deleted = self.cluster.http("DELETE", "/api/v1/documents/job/j", token=operator, timeout=120)
        for call in calls:
            call.join()
        assert_cost(self, most_memory_of(server) - before, GROWTH)
        self.assertEqual(len(lists), CALLS)
        for page in lists:
            large = [document for document in page["documents"] if document["name"].startswith("large")]
            self.assertEqual(len(large), LARGE)
            self.assertEqual({document["by"] for document in large}, {"olga"})
            self.assertNotIn(None, [document["at"] for document in large])
        self.assertEqual(sum(one["result"] == "deleted" for one in pruned.json()["documents"]), LARGE)
        self.assertEqual(deleted.status, 200, deleted)

    def test_lists_of_channels_parse_each_once(self):
        token = self.cluster.muster("tokens", "create", "carl", "--role", "operator").text.strip()
        viewers = [self.cluster.muster("tokens", "create", name, "--role", "viewer").text.strip() for name in ("vera", "victor")]
        for number in range(LARGE):
            body = {"documents": [{"file": "f.yaml", "text": CHANNEL.format(number) + "#\n" * 490_000}]}
            self.assertEqual(self.cluster.http("POST", "/api/v1/documents", body, token=token, timeout=60).status, 200)

        def list_all(viewer):
            answer = self.cluster.http("GET", "/api/v1/channels?limit=500", token=viewer, timeout=120)
            self.assertEqual(answer.status, 200, answer.body[:500])
            self.assertEqual({each["type"] for each in answer.json()["channels"]}, {"webhook"})
        list_all(viewers[0])
        server = self.cluster.server.process.pid
        before = processor_seconds(server)
        callers = [threading.Thread(target=list_all, args=(viewers[number % 2],)) for number in range(CALLS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(120)
        assert_cost(self, processor_seconds(server) - before, 3, "seconds")

    def test_the_bound_is_named_with_its_place(self):
        file = self.cluster.folder / "group.yaml"
        file.write_text(ranges())
        applied = self.cluster.muster("apply", "-f", file, "--dry-run", deadline=20)
        self.assertNotEqual(applied.code, 0)
        self.assertIn("group.yaml:4:24: hosts: a document may name 100000 hosts", str(applied))


if __name__ == "__main__":
    unittest.main()
