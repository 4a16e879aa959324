"""What there is, by name: jobs with their last run and next slot, a host with all that is known of it, versions of
documents, names for completion, and slips in names."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from api_contract import CONTRACT, misfits  # noqa: E402
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402

HEAD = "apiVersion: muster/v1\nkind: "


def job(name, script="true", more=""):
    return f"{HEAD}job\nname: {name}\ntargets: web1\nstages: [{{name: work, script: '{script}'}}]\n{more}"


def trigger(name, of, more="cron: '0 0 1 1 *'\n"):
    return f"{HEAD}trigger\nname: {name}\njob: {of}\n{more}"


class NounsTest(ClusterTest):
    hosts = ("web1", "web2", "db1")

    def setUp(self):
        # Tests share a cluster: each has names of its own.
        self.name = self._testMethodName.removeprefix("test_").replace("_", "-")[:40]

    def apply(self, *documents, code=0):
        file = self.cluster.folder / f"{self.name}.yaml"
        file.write_text("---\n".join(documents))
        return self.assertCode(self.cluster.muster("apply", "-f", file), code)

    def muster_json(self, *words, code=0):
        return self.assertCode(self.cluster.muster(*words, "-o", "json"), code).json()

    def finished(self, *words):
        run = self.assertCode(self.cluster.muster("start", *words), 0).text.strip()
        self.cluster.wait_end(run)
        return run

    def calls_of(self, *words):
        """How many calls to the server a command makes."""
        outcome = self.assertCode(self.cluster.muster("-v", *words), 0)
        return len([line for line in outcome.complaint.splitlines() if " /api/v1/" in line])


class Jobs(NounsTest):
    def jobs(self, *words):
        return {one["name"]: one for one in self.muster_json("jobs", *words)["jobs"]}

    def test_last_run_and_its_result(self):
        self.apply(job(f"{self.name}-good", more="description: does good\n"), job(f"{self.name}-bad", "exit 3"),
                   job(f"{self.name}-new"))
        self.finished(f"{self.name}-good")
        good = self.finished(f"{self.name}-good")
        bad = self.finished(f"{self.name}-bad")
        listed = self.jobs()
        last = listed[f"{self.name}-good"]["last_run"]
        self.assertEqual((last["id"], last["state"]), (good, "succeeded"))
        self.assertIsNotNone(last["ended"])
        self.assertEqual(listed[f"{self.name}-good"]["description"], "does good")
        self.assertEqual(listed[f"{self.name}-bad"]["last_run"]["state"], "failed")
        self.assertIsNone(listed[f"{self.name}-new"]["last_run"])
        shown = self.assertCode(self.cluster.muster("jobs", f"{self.name}-*"), 0)
        self.assertRegex(shown.text, rf"{self.name}-bad +failed +{bad}, ")
        self.assertRegex(shown.text, rf"{self.name}-good +succeeded +{good}, .* does good")
        self.assertIn("3 jobs", shown.complaint)
        # A new leader reads them from the records.
        self.cluster.restart_server()
        again = self.jobs(f"{self.name}-*")
        self.assertEqual(again, {name: one for name, one in listed.items() if name.startswith(self.name)})

    def test_open_run_is_the_last_one(self):
        self.apply(job(self.name, "sleep 600"))
        run = self.assertCode(self.cluster.muster("start", self.name), 0).text.strip()
        self.cluster.wait_task(run, "web1", "running")
        last = self.jobs()[self.name]["last_run"]
        self.assertEqual((last["id"], last["state"], last["ended"]), (run, "running", None))
        self.assertCode(self.cluster.muster("stop", run, "--grace", "0"), 0)
        self.cluster.wait_end(run)
        self.assertEqual(self.jobs()[self.name]["last_run"]["state"], "cancelled")

    def test_next_slot_is_the_first_of_its_triggers(self):
        self.apply(job(self.name), trigger(f"{self.name}-late", self.name, "once: 2099-02-01T00:00:00Z\n"),
                   trigger(f"{self.name}-soon", self.name, "once: 2099-01-01T00:00:00Z\n"),
                   trigger(f"{self.name}-off", self.name, "once: 2098-01-01T00:00:00Z\n"))
        self.assertCode(self.cluster.muster("triggers", "pause", f"{self.name}-off"), 0)
        found = self.jobs()[self.name]
        self.assertEqual(found["triggers"], 3)
        self.assertEqual(found["next_slot"], {"at": "2099-01-01T00:00:00.000Z", "trigger": f"{self.name}-soon"})
        self.assertIn(f"({self.name}-soon)", self.cluster.muster("jobs", self.name).text)

    def test_names_patterns_and_slips(self):
        self.apply(*[job(f"{self.name}-{i}") for i in range(3)])
        self.assertEqual(self.assertCode(self.cluster.muster("jobs", f"{self.name}*", "-o", "names"), 0).text.split(),
                         [f"{self.name}-{i}" for i in range(3)])
        self.assertEqual(list(self.jobs(f"{self.name}-1")), [f"{self.name}-1"])
        missing = self.assertCode(self.cluster.muster("jobs", f"{self.name}x-1"), 4)
        self.assertIn(f"did you mean {self.name}-1?", missing.complaint)
        self.assertCode(self.cluster.muster("jobs", "no-such-*"), 4)

    def test_one_call_for_all_of_them(self):
        self.apply(*[job(f"{self.name}-{i}") for i in range(30)])
        self.assertEqual(self.calls_of("jobs"), 1)

    def test_pages_as_described(self):
        self.apply(*[job(f"{self.name}-{i}") for i in range(5)])
        schema = CONTRACT["paths"]["/jobs"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        names, cursor = [], ""
        while cursor is not None:
            page = self.cluster.get("/jobs", name=f"{self.name}-*", limit=2, **({"cursor": cursor} if cursor else {}))
            self.assertEqual(misfits(page, schema), [])
            names += [one["name"] for one in page["jobs"]]
            cursor = page["next"]
        self.assertEqual(names, [f"{self.name}-{i}" for i in range(5)])

    def test_changed_description_is_shown(self):
        self.apply(job(self.name, more="description: before\n"))
        self.assertEqual(self.jobs()[self.name]["description"], "before")
        self.apply(job(self.name, more="description: after\n"))
        self.assertEqual(self.jobs()[self.name]["description"], "after")


class OneHost(NounsTest):
    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("web1", {"zone": "own"})
        cls.cluster.add_agents("web2", "db1")
        cls.cluster.wait_online("web1")
        assert cls.cluster.muster("hosts", "label", "web1", "rack=r1").code == 0

    def test_everything_that_is_known(self):
        self.apply(job(self.name, "exit 4"))
        failed = self.finished(self.name)
        run = self.cluster.start_run("-t", "web1,web2", "--", "sleep 600")
        self.cluster.wait_task(run, "web1", "running")
        self.assertCode(self.cluster.muster("hosts", "maintenance", "web1", "--for", "1h", "--reason", "new disks"), 0)
        try:
            found = self.muster_json("hosts", "show", "web1")
            schema = CONTRACT["paths"]["/hosts/{name}/runs"]["get"]["responses"]["200"]["content"]["application/json"]
            self.assertEqual(misfits({"runs": found["runs"], "next": None}, schema["schema"]), [])
            runs = {one["id"]: one for one in found["runs"]}
            self.assertEqual((runs[failed]["result"], runs[failed]["exit_code"], runs[failed]["job"]),
                             ("failed", 4, self.name))
            self.assertEqual((runs[run]["result"], runs[run]["state"]), ("running", "running"))
            self.assertEqual((found["labels"], found["own_labels"]), ({"rack": "r1", "zone": "own"}, ["zone"]))
            self.assertEqual(found["maintenance"]["reason"], "new disks")
            text = self.assertCode(self.cluster.muster("hosts", "show", "web1"), 0).text
            for line in (r"^state +online$", r"^last seen +\d+s ago ", r"^maintenance +until .* by admin: new disks$",
                         r"zone=own  \(chosen by the host\)$", r"rack=r1$", r"os=", rf"^tasks +{run}  running  ",
                         rf"^{failed} +failed \(exit 4\) .*{self.name}"):
                self.assertRegex(text, f"(?m){line}")
            self.assertEqual(len(self.muster_json("hosts", "show", "web1", "--runs", "1")["runs"]), 1)
        finally:
            self.cluster.muster("hosts", "maintenance", "web1", "--end")
            self.cluster.muster("stop", run, "--grace", "0")

    def test_result_is_the_worst_of_the_stages(self):
        self.apply(f"{HEAD}job\nname: {self.name}\ntargets: db1\nstages: [{{name: work, script: exit 5}}]\n"
                   "finally: [{name: clean, script: 'true'}]\n")
        run = self.finished(self.name)
        found = self.muster_json("hosts", "show", "db1")["runs"][0]
        self.assertEqual((found["id"], found["result"], found["exit_code"]), (run, "failed", 5))

    def test_unknown_host_is_named_with_a_similar_one(self):
        missing = self.assertCode(self.cluster.muster("hosts", "show", "wbe1"), 4)
        self.assertIn("did you mean web1?", missing.complaint)


class Lists(NounsTest):
    def test_names_wide_and_those_that_are_away(self):
        self.cluster.add_agents("gone1")
        self.cluster.agents["gone1"].end()
        self.cluster.wait_offline("gone1")

        def names(*words):
            return self.assertCode(self.cluster.muster("hosts", *words, "-o", "names"), 0).text.split()
        self.assertEqual(names(), ["db1", "gone1", "web1", "web2"])
        self.assertEqual(names("web*"), ["web1", "web2"])
        self.assertEqual(names("--offline"), ["gone1"])
        self.assertEqual(names("--online"), ["db1", "web1", "web2"])
        offline = self.muster_json("hosts", "--offline")
        self.assertEqual(([host["name"] for host in offline["hosts"]], offline["total"], offline["online"]),
                         (["gone1"], 1, 0))
        wide = self.assertCode(self.cluster.muster("hosts", "-o", "wide"), 0).text
        self.assertRegex(wide.splitlines()[0], "ADDRESS +RUNNING +JOINED +FACTS")
        self.assertIn("kernel=", wide)
        self.assertCode(self.cluster.muster("runs", "-o", "wide"), 2)
        self.assertCode(self.cluster.muster("hosts", "--offline", "--online"), 2)
        self.assertEqual(names("--missing"), ["gone1"])


class Versions(NounsTest):
    def test_how_two_versions_differ(self):
        for script in ("echo one", "echo two", "echo three"):
            self.apply(job(self.name, script))

        def diff(*words, code=0):
            return self.assertCode(self.cluster.muster("get", "job", self.name, "--diff", *words), code).text
        self.assertEqual(diff(1, 2).splitlines()[:2],
                         [f"--- job {self.name}, version 1", f"+++ job {self.name}, version 2"])
        self.assertRegex(diff(1, 2), r"(?m)^-.*echo one.*\n\+.*echo two")
        self.assertRegex(diff(2), r"(?m)^-.*echo two.*\n\+.*echo three")
        self.assertRegex(diff(3, 1), r"(?m)^-.*echo three.*\n\+.*echo one")
        self.assertEqual(diff(3), "")
        self.assertEqual(diff(1, 9, code=4), "")
        found = self.muster_json("get", "job", self.name, "--diff", 1, 3)
        self.assertEqual((found["from"], found["to"]), (1, 3))
        self.assertCode(self.cluster.muster("get", "jobs", "--diff", 1), 2)
        self.assertCode(self.cluster.muster("get", "job", self.name, "--diff", 1, 2, 3), 2)

    def test_scripts_and_pushed_files_are_compared_too(self):
        folder = self.cluster.folder / self.name
        (folder / "files").mkdir(parents=True)

        def apply(script, pushed):
            (folder / "work.sh").write_text(script)
            (folder / "files/one").write_text(pushed)
            (folder / "job.yaml").write_text(
                f"{HEAD}job\nname: {self.name}\ntargets: web1\nstages:\n  - {{name: work, script: {{file: work.sh}}}}\n"
                "  - {name: copy, push: {from: files, to: /tmp/muster-nouns}}\n")
            self.assertCode(self.cluster.muster("apply", "-f", folder / "job.yaml"), 0)
        apply("echo one\n", "a")
        apply("echo two\n", "b")
        text = self.assertCode(self.cluster.muster("get", "job", self.name, "--diff", 1, 2), 0).text
        self.assertIn(f"--- job {self.name}, version 1: work.sh\n", text)
        self.assertIn("-echo one\n+echo two\n", text)
        self.assertIn(f"+++ job {self.name}, version 2: files (pushed)\n", text)


class Slips(NounsTest):
    def hint(self, meant, *words, code=4):
        outcome = self.assertCode(self.cluster.muster(*words), code)
        self.assertIn(f"did you mean {meant}?", outcome.complaint, outcome)

    def test_every_name_has_a_hint(self):
        self.apply(job("deploy-web"), trigger("nightly", "deploy-web"),
                   f"{HEAD}channel\nname: ops-chat\ntype: webhook\nurl: http://127.0.0.1:9/\n")
        self.assertCode(self.cluster.muster("secrets", "set", "deploy.token", stdin=b"0123456789"), 0)
        self.assertCode(self.cluster.muster("tokens", "create", "alice", "--role", "viewer"), 0)
        self.assertCode(self.cluster.muster("hosts", "label", "web1", "app=shop"), 0)
        self.hint("deploy-web", "start", "deploy-wbe")
        self.hint("deploy-web", "get", "job", "deploy-wbe")
        self.hint("nightly", "triggers", "show", "nigthly")
        self.hint("nightly", "check", "slots", "nigthly")
        self.hint("ops-chat", "channels", "test", "ops-chta")
        self.hint("deploy.token", "secrets", "rm", "deploy.tokne", "--yes")
        self.hint("deploy.token", "run", "-t", "web1", "--secret", "T=deploy.tokne", "--", "true")
        self.hint("alice", "tokens", "revoke", "alcie", "--yes")
        self.hint("web1", "runs", "--host", "wbe1")
        run = self.cluster.start_run("-t", "web1", "--", "true")
        self.cluster.wait_end(run)
        self.hint("web1", "why", run, "--host", "wbe1")
        self.hint("app=shop", "hosts", "app:shop", code=2)
        self.hint("app=shop", "hosts", "label", "web1", "app:shop", code=2)
        self.hint("app", "hosts", "aap=shop")
        self.hint("jobs", "jbos", code=2)

    def test_contexts_have_a_hint(self):
        login = self.cluster.muster("login", self.cluster.url, "--name", "prod", "--ca", self.cluster.data / "ca.pem",
                                    "--token-file", self.cluster.data / "admin.token",
                                    environment={"MUSTER_SERVER": ""})
        self.assertCode(login, 0)
        self.hint("prod", "context", "use", "pord")
        self.hint("prod", "--context", "prdo", "hosts")


class Names(NounsTest):
    """What completion asks the server."""

    def offered(self, *words):
        outcome = self.assertCode(self.cluster.muster("__complete", "--", "muster", *words), 0)
        return [line.partition("\t")[0] for line in outcome.text.splitlines()]

    def test_names_of_documents_by_their_beginning(self):
        self.apply(*[job(f"cj-{i:03}") for i in range(300)], job("zz-last"), trigger("zz-nightly", "zz-last"),
                   f"{HEAD}group\nname: zz-group\nhosts: [web1]\n",
                   f"{HEAD}channel\nname: zz-chat\ntype: webhook\nurl: http://127.0.0.1:9/\n")
        self.assertEqual(self.offered("start", "zz"), ["zz-last"])
        self.assertEqual(len(self.offered("start", "cj-")), 200)
        self.assertEqual(self.offered("start", "cj-29"), [f"cj-29{i}" for i in range(10)])
        self.assertEqual(self.offered("stop", "--job", "zz"), ["zz-last"])
        self.assertEqual(self.offered("triggers", "show", "zz"), ["zz-nightly"])
        self.assertEqual(self.offered("triggers", "pause", "other", "zz"), ["zz-nightly"])
        self.assertEqual(self.offered("channels", "test", "zz"), ["zz-chat"])
        self.assertEqual(self.offered("get", "job", "zz"), ["zz-last"])
        self.assertEqual(self.offered("get", "groups", "zz"), ["zz-group"])
        self.assertEqual(self.offered("get", "tr"), ["trigger"])
        self.assertEqual(self.offered("run", "-t", "@zz"), ["@zz-group"])
        self.assertEqual(self.offered("run", "-t", "web1,@zz"), ["web1,@zz-group"])
        self.assertCode(self.cluster.muster("secrets", "set", "zz.token", stdin=b"0123456789"), 0)
        self.assertEqual(self.offered("secrets", "rm", "zz"), ["zz.token"])
        page = self.cluster.get("/documents", kind="job", prefix="cj-1", limit=60)
        self.assertEqual((len(page["documents"]), page["next"]), (60, "cj-159"))
        page = self.cluster.get("/documents", kind="job", prefix="cj-1", limit=60, cursor=page["next"])
        self.assertEqual((len(page["documents"]), page["next"]), (40, None))

    def test_runs_by_their_beginning(self):
        runs = [self.cluster.start_run("-t", "web1", "--", "true") for _ in range(35)]
        numbers = [int(run.removeprefix("r")) for run in runs]
        for prefix in ("r1", "r2", "r3"):
            with self.subTest(prefix=prefix):
                wanted = {f"r{number}" for number in range(1, max(numbers) + 1) if f"r{number}".startswith(prefix)}
                offered = self.offered("show", prefix)
                self.assertEqual((offered[0], set(offered)), (prefix, wanted))
        self.assertEqual(self.offered("show", "x"), [])
        self.assertEqual(self.offered("show", "r0"), [])
        self.assertIn("run:r2.failed", self.offered("run", "-t", "run:r2"))
        pages, cursor = [], ""
        while cursor is not None:
            page = self.cluster.get("/runs", prefix="r2", limit=4, cursor=cursor)
            pages.append([run["id"] for run in page["runs"]])
            cursor = page["next"]
        ids = [one for page in pages for one in page]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual((ids[-1], sorted(ids)), ("r2", sorted(f"r{number}" for number in [2, *range(20, 30)])))

    def test_labels_and_hosts_of_a_large_fleet(self):
        count = 600
        words = [BIN / "muster-fleet", "--server", self.cluster.url, "--count", count, "--prefix", "zed"]
        token = self.cluster.invite(uses=count, replace=True)
        self.cluster.add_daemon("fleet", words, {"MUSTER_JOIN": token})
        wait_until("the fleet is online", lambda: self.cluster.get("/status")["online"] >= count, 120)
        self.assertCode(self.cluster.muster("hosts", "label", "zed600", "zrack=r600", "zonly=yes"), 0)
        self.assertCode(self.cluster.muster("hosts", "label", "zed599", "zrack=r599"), 0)
        self.assertEqual(self.offered("run", "-t", "zed60"), ["zed60", "zed600"])
        self.assertEqual(self.offered("run", "-t", "zr"), ["zrack="])
        self.assertEqual(self.offered("run", "-t", "zonly=y"), ["zonly=yes"])
        self.assertEqual(self.offered("run", "-t", "zrack="), ["zrack=r599", "zrack=r600"])
        self.assertIn("fact.os=", self.offered("run", "-t", "fact.o"))
        self.assertIn("fact.os=emulated", self.offered("run", "-t", "fact.os="))
        keys = self.cluster.get("/labels", prefix="z", limit=1)
        self.assertEqual((keys["labels"], keys["next"]), ([{"key": "zonly", "values": 1}], "zonly"))
        keys = self.cluster.get("/labels", prefix="z", limit=1, cursor="zonly")
        self.assertEqual((keys["labels"], keys["next"]), ([{"key": "zrack", "values": 2}], None))
        self.assertEqual(self.cluster.get("/labels", key="zrack", prefix="r6")["labels"], [{"value": "r600", "hosts": 1}])


if __name__ == "__main__":
    unittest.main(verbosity=2)
