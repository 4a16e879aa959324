"""Every job of examples/ is applied and run against a real server with three agents, and does what it says."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import SOURCE, ClusterTest, wait_until  # noqa: E402

JOBS = SOURCE / "examples/jobs"

# A service that keeps its state in a file for each host; it is ill where a file says so.
CONTROL = """#!/bin/sh
place="{place}/$MUSTER_HOST"
case "$1" in
  restart) echo restarted >> "$place" ;;
  rollback) echo rolled back >> "$place" ;;
  status) test ! -e "$place.ill" || ! grep -q restarted "$place" ;;
esac
"""


class Tracker(StubHandler):
    """Opens tickets and takes chat messages."""

    def do_POST(self):
        body = self.content().decode()
        self.server.calls.append((self.path, json.loads(body)))
        self.answer(200, {"ticket": 4711})


class Metric(StubHandler):
    """Answers with a value, and takes chat messages."""

    def do_GET(self):
        self.answer(200, {"value": self.server.value})

    def do_POST(self):
        body = self.content()
        self.server.told.append(json.loads(body)["text"])
        self.answer(200, {"ok": True})


class Examples(ClusterTest):
    hosts = ("host1", "host2", "host3")
    settings = {"outside": "{allow: [127.0.0.1]}"}

    def setUp(self):
        self.root = self.cluster.folder / self._testMethodName
        self.root.mkdir()
        os.chmod(self.root, 0o777)

    def apply(self, name):
        self.assertCode(self.cluster.muster("apply", "-f", JOBS / name), 0)

    def start(self, job, *words, code=0, targets="all"):
        outcome = self.cluster.muster("start", job, "-t", targets, "--wait", "-o", "json", *words)
        run = self.assertCode(outcome, code).json()
        return run, {stage["name"]: stage["state"] for stage in run["stages"]}

    def read(self, name):
        return (self.root / name).read_text()

    def test_each_example_has_a_test_here(self):
        here = {file.stem for file in JOBS.glob("*.yaml")}
        self.assertGreaterEqual(len(here), 8)
        for name in here:
            self.assertTrue(hasattr(self, f"test_job_{name.replace('-', '_')}"), name)
        listed = re.findall(r"\]\(jobs/([\w-]+)\.yaml\)", (SOURCE / "examples/README.md").read_text())
        self.assertEqual(sorted(listed), sorted(here))

    def test_each_head_says_how_it_is_started(self):
        for file in JOBS.glob("*.yaml"):
            with self.subTest(file=file.name):
                self.assertRegex(file.read_text(), rf"(?m)^#   muster start {file.stem} ")

    def control(self):
        program = self.root / "control"
        program.write_text(CONTROL.format(place=self.root))
        program.chmod(0o755)
        for name in self.hosts:
            (self.root / name).write_text("")
            (self.root / name).chmod(0o666)
        return f"control={program}"

    def test_job_rolling_restart(self):
        self.apply("rolling-restart.yaml")
        control = self.control()
        _, stages = self.start("rolling-restart", "-p", control)
        self.assertEqual((stages["roll"], stages["rollback"]), ("succeeded", "skipped"), stages)
        self.assertEqual([self.read(name) for name in self.hosts], ["restarted\n"] * 3)

    def test_job_rolling_restart_goes_back_on_what_it_touched(self):
        self.apply("rolling-restart.yaml")
        control = self.control()
        (self.root / "host1.ill").touch()
        run, stages = self.start("rolling-restart", "-p", control, code=1)
        self.assertEqual((run["state"], stages["rollback"]), ("failed", "succeeded"), run)
        self.assertEqual([self.read(name) for name in self.hosts], ["restarted\nrolled back\n", "", ""])

    def test_job_disk_cleanup(self):
        old, new = self.root / "old.log", self.root / "new.log"
        for file in (old, new):
            file.write_bytes(b"x" * 100_000)
        os.utime(old, (0, 0))
        self.apply("disk-cleanup.yaml")
        outcome = self.cluster.muster("start", "disk-cleanup", "-t", "host1", "-p", f"folder={self.root}", "--wait")
        self.assertCode(outcome, 0)
        self.assertEqual((old.exists(), new.exists()), (False, True))
        refused = self.cluster.muster("start", "disk-cleanup", "-t", "host1", "-p", "folder=/")
        self.assertIn("does not match", self.assertCode(refused, 2).complaint)

    def test_job_config_push(self):
        self.apply("config-push.yaml")
        place = self.root / "etc"
        _, stages = self.start("config-push", "-p", f"folder={place}", targets="host1")
        self.assertEqual(stages["verify"], "succeeded")
        self.assertEqual((place / "site.conf").read_text(), (JOBS / "files/site.conf").read_text())

    def test_job_config_push_puts_the_old_one_back(self):
        copy = self.root / "jobs"
        subprocess.run(["cp", "-r", JOBS, copy], check=True)
        (copy / "files/site.conf").write_text("this is no configuration\n")
        self.assertCode(self.cluster.muster("apply", "-f", copy / "config-push.yaml"), 0)
        place = self.root / "etc"
        place.mkdir()
        (place / "site.conf").write_text("workers = 1\n")
        place.chmod(0o777)
        self.start("config-push", "-p", f"folder={place}", code=1, targets="host1")
        self.assertEqual((place / "site.conf").read_text(), "workers = 1\n")

    def certificate(self, days):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-subj", "/CN=site", "-days", str(days), "-keyout", self.root / "site.key", "-out",
                        self.root / "site.pem"], check=True, capture_output=True)

    def test_job_certificates(self):
        self.apply("certificates.yaml")
        self.certificate(90)
        run, stages = self.start("certificates", "-p", f"folder={self.root}")
        self.assertEqual(stages, {"check": "succeeded", "fetch": "succeeded"})
        self.assertEqual(run["counts"], {"succeeded": 3})
        self.certificate(3)
        _, stages = self.start("certificates", "-p", f"folder={self.root}", code=1)
        self.assertNotEqual(stages["fetch"], "succeeded", stages)

    def test_job_approved_change(self):
        self.apply("approved-change.yaml")
        made = self.assertCode(self.cluster.muster("tokens", "create", "second", "--role", "operator"), 0)
        run = self.assertCode(self.cluster.muster("start", "approved-change", "-t", "all", "-p", "note=raise it",
                                                  "-p", f"folder={self.root}"), 0).text.strip()
        wait_until(f"{run} asks", lambda: any(stage["state"] == "awaiting_approval"
                                              for stage in self.cluster.run_of(run)["stages"]))
        self.assertFalse(list(self.root.glob("note-*")))
        self.assertCode(self.cluster.muster("approve", run, "--token", made.text.split()[-1]), 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        self.assertEqual({file.name: file.read_text() for file in self.root.glob("note-*")},
                         {f"note-{name}": f"raise it (run {run})\n" for name in self.hosts})

    def test_job_ticket(self):
        world = serve_stub(self, Tracker, calls=[])
        url = world.url
        self.assertCode(self.cluster.muster("secrets", "set", "ops-chat.url", stdin=f"{url}/chat".encode()), 0)
        self.apply("ticket.yaml")
        run, _ = self.start("ticket", "-p", f"tracker={url}/new")
        self.assertEqual([path for path, _ in world.calls], ["/new", "/chat"])
        self.assertEqual(world.calls[0][1], {"title": "ticket", "run": run["id"]})
        self.assertIn("ticket 4711: done on 3 hosts", world.calls[1][1]["text"])
        self.assertIn(b"host2 works on ticket 4711", self.cluster.muster("logs", run["id"]).out)

    def test_job_watch_value(self):
        world = serve_stub(self, Metric, value=0.95, told=[])
        url = world.url
        self.assertCode(self.cluster.muster("secrets", "set", "watchers.url", stdin=url.encode()), 0)
        self.apply("watch-value.yaml")
        _, stages = self.start("watch-value", "-p", f"url={url}")
        self.assertEqual(stages, {"check": "succeeded", "tell": "skipped"})
        trigger = self.root / "watch-value.yaml"
        text = (SOURCE / "examples/triggers/watch-value.yaml").read_text()
        trigger.write_text(text.replace("https://metrics.example/disk", url).replace("every: 5s", "every: 1s"))
        self.assertCode(self.cluster.muster("apply", "-f", trigger), 0)
        wait_until("it is told", lambda: world.told)
        world.value = 0.1
        wait_until("the end is told", lambda: len(world.told) > 1)
        self.assertEqual([text.split("\n")[0] for text in world.told], [f"{url} is firing: 0.95", f"{url} is ok: 0.1"])
        self.assertEqual(self.cluster.http("DELETE", "/api/v1/documents/trigger/watch-value").status, 200)

    def test_job_patch_in_batches(self):
        self.apply("patch-in-batches.yaml")
        run, _ = self.start("patch-in-batches", "-p", f"folder={self.root}", "-p", "level=7")
        self.assertEqual([self.read(f"level-{name}") for name in self.hosts], ["7\n"] * 3)
        visits = self.cluster.get(f"/runs/{run['id']}/visits")["visits"]
        self.assertEqual(len({visit["child"] for visit in visits if visit["child"]}), 3, visits)

    def test_job_kernel_report(self):
        self.apply("kernel-report.yaml")
        self.start("kernel-report", "-p", "keeper=host2", "-p", f"folder={self.root}")
        kernel = f"{os.uname().sysname} {os.uname().release}"
        self.assertEqual(self.read("kernels.txt"), "".join(f"{name}={kernel}\n" for name in self.hosts))

    def test_job_heal(self):
        self.apply("heal.yaml")
        flag = self.root / "ready"
        _, stages = self.start("heal", "-p", f"flag={flag}", targets="host1")
        self.assertTrue(flag.exists())
        self.assertEqual((stages["repair"], stages["tell"]), ("succeeded", "succeeded"))
        _, stages = self.start("heal", "-p", f"flag={flag}", targets="host1")
        self.assertEqual(stages["repair"], "skipped")


class Scripts(ClusterTest):
    """The scripts that `muster run --script` is shown with."""

    hosts = ("host1", "host2", "host3")

    def run_script(self, name, *words):
        return self.cluster.muster("run", "-q", "-t", "all", "--script", SOURCE / "examples" / name, "--", *words)

    def test_each_script_is_run_here(self):
        here = {file.name for file in (SOURCE / "examples").iterdir() if file.suffix in (".sh", ".py")}
        self.assertEqual(here, {"disk-check.sh", "top-memory.py", "wait-for-port.sh"})

    def test_disk_check(self):
        self.assertCode(self.run_script("disk-check.sh", "100"), 0)
        here = subprocess.run(["sh", SOURCE / "examples/disk-check.sh", "0"], capture_output=True, check=False)
        self.assertCode(self.run_script("disk-check.sh", "0"), here.returncode)

    def test_top_memory(self):
        self.assertIn("host3 | ", self.assertCode(self.run_script("top-memory.py"), 0).text)

    def test_wait_for_port(self):
        self.assertCode(self.run_script("wait-for-port.sh", str(self.cluster.port)), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
