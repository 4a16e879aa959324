"""Jobs with approvals that are not for those who start them, and people who try to get around them."""

from muster_cluster import ClusterTest, wait_until

DENIED = 3

JOB = """apiVersion: muster/v1
kind: job
name: {name}
targets: h1
stages:
{stages}"""


class ApprovalCase(ClusterTest):
    hosts = ("h1", "h2", "h3")

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.tokens = {}
        for name in ("mallory", "alice", "bob"):
            cls.tokens[name] = cls.cluster.muster("tokens", "create", name, "--role", "operator").text.strip()

    def as_(self, who, *words):
        return self.cluster.muster(*words, environment={"MUSTER_TOKEN": self.tokens[who], "MUSTER_TOKEN_FILE": ""})

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1].removeprefix("test_").replace("_", "-")
        self.mark = self.cluster.folder / f"{self.name}.mark"

    def job(self, stages, who="alice", targets="h1", name=None, more=""):
        file = self.cluster.folder / f"{self.name}.yaml"
        text = JOB.format(name=name or self.name, stages=stages.replace("{mark}", str(self.mark)))
        file.write_text(text.replace("targets: h1\n", f"targets: '{targets}'\n{more}"))
        self.assertCode(self.as_(who, "apply", "-f", file), 0)

    def start(self, who="mallory"):
        outcome = self.as_(who, "start", self.name)
        self.assertCode(outcome, 0)
        return outcome.text.strip()

    def waits(self, run, stage="ask"):
        def asked():
            return [s for s in self.cluster.run_of(run)["stages"]
                    if s["name"] == stage and s["state"] == "awaiting_approval"]
        wait_until(f"{stage} of {run} waits for an approval", asked)

    def state_of(self, run, stage):
        return next(s["state"] for s in self.cluster.run_of(run)["stages"] if s["name"] == stage)

    def waiting(self, run):
        return next(v["approval"] for v in self.cluster.get(f"/runs/{run}/visits")["visits"] if v["approval"])

    def assertStopped(self, run, stage="ask"):
        """The approval is still open, and nothing behind it ran."""
        self.waits(run, stage)
        self.assertFalse(self.mark.exists(), "the stage behind the approval ran")

    def child_of(self, run):
        def open_child():
            return next((v["child"] for v in self.cluster.get(f"/runs/{run}/visits")["visits"] if v["child"]), None)
        return wait_until(f"{run} starts a run", open_child)
