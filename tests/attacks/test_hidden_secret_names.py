#!/usr/bin/env python3
"""A viewer learns names of secrets.

The attacker holds a viewer's token. Names of secrets are listed for operators; what a trigger keeps of its trouble, and shows to
viewers, must not name a secret that its job does not use.
"""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

UNRELATED = "prod-db-root"
DOCUMENTS = """apiVersion: muster/v1
kind: job
name: uses
targets: h1
stages: [{name: s, script: {run: 'true', env: {KEY: 'secret:prod-db-rot'}}}]
---
apiVersion: muster/v1
kind: trigger
name: tick
every: 1s
job: uses
"""


class HiddenSecretNames(ClusterTest):
    hosts = ("h1",)

    def test_a_trigger_without_its_secret(self):
        self.assertCode(self.cluster.muster("secrets", "set", UNRELATED, stdin=b"TOPSECRET-42\n"), 0)
        viewer = self.cluster.muster("tokens", "create", "vera", "--role", "viewer").text.strip()
        self.assertEqual(self.cluster.http("GET", "/api/v1/secrets", token=viewer).status, 403)
        file = self.cluster.folder / "documents.yaml"
        file.write_text(DOCUMENTS)
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)

        def seen():
            texts = [self.cluster.http("GET", "/api/v1/triggers" + path, token=viewer).body.decode()
                     for path in ("", "/tick", "/tick/slots")]
            return texts if "there is no secret" in json.dumps(texts) else None
        for text in wait_until("the trigger says what is missing", seen):
            self.assertNotIn(UNRELATED, text)
        # Who may list them is helped.
        refused = self.cluster.muster("start", "uses", "-y")
        self.assertIn(UNRELATED, refused.complaint)


if __name__ == "__main__":
    unittest.main()
