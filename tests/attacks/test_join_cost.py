#!/usr/bin/env python3
"""Somebody without a token makes the server verify expensive signatures.

The attacker reaches the port and has no invite, or one that is used up. Certificate requests with large keys of other kinds must
cost the server next to nothing, others are answered meanwhile, and with a good invite such a key is refused.
"""

import base64
import json
import secrets
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import costly_keys  # noqa: E402
from muster_cluster import ClusterTest  # noqa: E402
from process_cost import assert_cost, processor_seconds  # noqa: E402

CONNECTIONS = 100
CALLS = 300


def der(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    if size < 128:
        return bytes([tag, size]) + body
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def number(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def sequence(*parts):
    return der(0x30, *parts)


def random_odd(bits):
    return secrets.randbits(bits) | 1 << (bits - 1) | 1


def dsa_request(bits=10_000):
    """Of a key that nobody has; one verification takes more than 10 ms."""
    dsa, dsa_with_sha256 = bytes.fromhex("06072a8648ce380401"), bytes.fromhex("0609608648016503040302")
    p, q, g, y = random_odd(bits), random_odd(256), secrets.randbits(bits - 1), secrets.randbits(bits - 1)
    key = sequence(sequence(dsa, sequence(number(p), number(q), number(g))), der(3, b"\0", number(y)))
    name = sequence(der(0x31, sequence(bytes.fromhex("0603550403"), der(12, b"x"))))
    signature = sequence(number(secrets.randbits(254) | 1), number(1))
    text = base64.encodebytes(sequence(sequence(number(0), name, key, der(0xa0)), sequence(dsa_with_sha256),
                                       der(3, b"\0", signature))).decode()
    return f"-----BEGIN CERTIFICATE REQUEST-----\n{text}-----END CERTIFICATE REQUEST-----\n"


def request_of(*options):
    return subprocess.run(["openssl", "req", "-new", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=n", *options],
                          capture_output=True, text=True, check=True).stdout


class JoinCost(ClusterTest):
    hosts = ("h1",)
    settings = {"limits": "{failures_per_minute: 1000000}"}

    def seconds_of_server(self):
        return processor_seconds(self.cluster.server.process.pid)

    def made_up(self):
        return self.cluster.invite().rsplit(".", 1)[0] + "." + "0" * 40

    def join(self, token, pem, name="n1"):
        return self.cluster.http("POST", "/api/v1/join", {"token": token, "name": name, "request_pem": pem}, token=None)

    def flood(self, token, pem, calls):
        """Makes so many calls over many connections; their statuses."""
        body = json.dumps({"token": token, "name": "n1", "request_pem": pem})
        left, statuses, lock = [calls], [], threading.Lock()

        def call():
            while True:
                with lock:
                    if left[0] == 0:
                        return
                    left[0] -= 1
                status = self.cluster.http("POST", "/api/v1/join", body.encode(), {"Content-Type": "application/json"}, token=None,
                                           timeout=60).status
                with lock:
                    statuses.append(status)
        threads = [threading.Thread(target=call) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        return threads, statuses

    def test_large_keys_cost_no_more_than_none(self):
        token, heavy = self.made_up(), dsa_request()
        spent = {}
        for kind, pem in (("none", "x" * len(heavy)), ("heavy", heavy)):
            before = self.seconds_of_server()
            threads, statuses = self.flood(token, pem, CALLS)
            # Others are answered meanwhile.
            self.assertEqual(self.cluster.http("GET", "/api/v1/hosts", timeout=20).status, 200)
            for thread in threads:
                thread.join()
            self.assertEqual(set(statuses), {403}, "the invite is what is wrong, whatever the request says")
            spent[kind] = self.seconds_of_server() - before
        # Verified, the heavy ones take 3 s and more.
        assert_cost(self, spent["heavy"] - spent["none"], 1.5, spent)

    def test_invite_that_is_used_up_gets_no_verification(self):
        token = self.cluster.invite()
        self.assertEqual(self.join(token, request_of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"), "n2").status, 201)
        self.assertEqual(self.join(token, "nonsense", "n3").status, 403)

    def test_good_invite_takes_keys_of_one_kind_only(self):
        token = self.cluster.invite()
        for pem in (dsa_request(), request_of("-newkey", "rsa:2048"), request_of("-newkey", "ed25519"),
                    request_of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384")):
            answer = self.join(token, pem, "n4")
            self.assertEqual(answer.status, 400, answer)
            self.assertIn("P-256", answer.json()["error"]["message"])
        good = request_of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        self.assertEqual(self.join(token, good, "n4").status, 201, "the invite was not used up")
        self.assertEqual(self.join(token, good, "n4").status, 201, "its answer may have been lost")


class UsedUpToken(ClusterTest):
    """The attacker has the token that some host joined with. It is used up, but the same host may have lost the answer."""

    hosts = ("h1",)
    settings = {"limits": "{failures_per_minute: 1000000}"}

    def join(self, token, pem, name="n2"):
        return self.cluster.http("POST", "/api/v1/join", {"token": token, "name": name, "request_pem": pem}, token=None,
                                 timeout=60)

    def test_keys_on_curves_of_their_own_cost_nothing(self):
        token = self.cluster.invite()
        good = request_of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        self.assertEqual(self.join(token, good).status, 201)
        heavy = costly_keys.request_of(costly_keys.own_curve_key())
        pid = self.cluster.server.process.pid
        before = processor_seconds(pid)
        answer = self.join(token, heavy)
        self.assertEqual(answer.status, 400, answer)
        self.assertIn("P-256", answer.json()["error"]["message"])
        threads = [threading.Thread(target=self.join, args=(token, heavy)) for _ in range(60)]
        for thread in threads:
            thread.start()
        other = request_of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        self.assertEqual(self.join(self.cluster.invite(), other, "n3").status, 201)
        for thread in threads:
            thread.join()
        # Decoded, they take 15 s and more.
        assert_cost(self, processor_seconds(pid) - before, 6)


if __name__ == "__main__":
    unittest.main()
