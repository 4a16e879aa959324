#!/usr/bin/env python3
"""An operator calls a path that the server's settings deny, by writing it in another way.

The attacker may start jobs with `http` stages. `outside.allow` names the network, `outside.deny` a path on one of its
servers and a host name. No spelling of the path, the address or the name may get a request through that the server at the
other end could read as the denied one. What is not denied must still be reached.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest  # noqa: E402

PATHS = ("/admin/x", "/%61dmin/x", "/%61%64min/x", "//admin/x", "/x/../admin/x", "/x/%2e%2e/admin/x", "/x/..;/admin/x",
         "/x/..%2fadmin/x", "/./admin/x", "/Admin/x", "/admin%3bx/x", "/admin;a=b/x", "/;a/admin/x", "/admin//x")
ADDRESSES = ("127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost")
NAMES = ("denied.localhost", "DENIED.localhost.", "%64enied.localhost", "d%65nied.localhost", "denied%2elocalhost",
         "\uff44enied.localhost", "deni\u24d4d.localhost", "den\u00adied.localhost", "denied\u3002localhost",
         "%ef%bd%84enied.localhost", "%2564enied.localhost")

JOB = """apiVersion: muster/v1
kind: job
name: call{number}
targets: h1
stages:
  - name: call
    http: {{method: GET, url: '{url}'}}
"""


class World(StubHandler):
    def do_GET(self):
        self.server.reached.append(self.path)
        self.answer(200)


class OutsideDeny(ClusterTest):
    def setUp(self):
        self.world = serve_stub(self, World, reached=[])
        self.port = self.world.port
        self.cluster = self.new_cluster("h1", settings={
            "outside": f"{{allow: ['127.0.0.0/8'], deny: ['http://127.0.0.1:{self.port}/admin/*', 'denied.localhost']}}"})

    def calls(self, urls):
        """What came of a job for each URL: its state, why, and the paths that were reached."""
        file = self.cluster.folder / "jobs.yaml"
        file.write_text("---\n".join(JOB.format(number=number, url=url) for number, url in enumerate(urls)))
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)
        for number, url in enumerate(urls):
            before = len(self.world.reached)
            started = self.cluster.muster("start", f"call{number}")
            self.assertCode(started, 0)
            run = self.cluster.wait_end(started.text.strip())
            yield url, run["state"], run["stages"][0].get("reason", ""), self.world.reached[before:]

    def assertDenied(self, urls, says):
        for url, state, reason, reached in self.calls(urls):
            with self.subTest(url=url):
                self.assertEqual(reached, [])
                self.assertEqual(state, "failed")
                self.assertRegex(reason, says)

    def test_denied_path_in_other_spellings(self):
        self.assertDenied([f"http://127.0.0.1:{self.port}{path}" for path in PATHS], "outside.deny")

    def test_denied_address_in_other_spellings(self):
        self.assertDenied([f"http://{address}:{self.port}/admin/x" for address in ADDRESSES], "may not be called")

    def test_denied_name_in_other_spellings(self):
        self.assertDenied([f"http://{name}:{self.port}/x" for name in NAMES], "outside.deny|host|not? url")

    def test_the_rest_is_reached(self):
        paths = ["/x", "/administrator/x", "/x/admin/x", "/x?y=/admin/x", "/X;a=b"]
        urls = [f"http://127.0.0.1:{self.port}{path}" for path in paths]
        for url, state, reason, reached in self.calls([*urls, f"http://localhost:{self.port}/x"]):
            with self.subTest(url=url):
                self.assertEqual(state, "succeeded", reason)
                self.assertEqual(len(reached), 1)


if __name__ == "__main__":
    unittest.main()
