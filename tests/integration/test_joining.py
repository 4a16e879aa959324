#!/usr/bin/env python3
"""How hosts join, renew, are taken over and leave, with real processes."""

import http.client
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, Agent, ClusterTest, wait_until  # noqa: E402
from terminal import AtTerminal  # noqa: E402


def host(cluster, name):
    return cluster.get(f"/hosts/{name}")


def fact(cluster, name, key):
    return host(cluster, name)["facts"].get(key)


def try_ca(cluster, *words):
    return subprocess.run([str(BIN / "musterd"), "ca", *words, "--data", str(cluster.data)], capture_output=True,
                          text=True, timeout=DEADLINE, check=False)


def musterd_ca(cluster, *words):
    done = try_ca(cluster, *words)
    assert done.returncode == 0, done
    return done.stdout


def shown_certificate(cluster, port=None):
    """The DER certificate that a new connection sees."""
    with socket.create_connection(("127.0.0.1", port or cluster.port), timeout=DEADLINE) as raw:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with context.wrap_socket(raw) as tls:
            return tls.getpeercert(binary_form=True)


def works(test, cluster, name):
    test.assertCode(cluster.muster("run", "-t", name, "--", "true"), 0)


class Invites(ClusterTest):
    hosts = ("h1",)

    def test_token_for_names_lets_only_those_in(self):
        token = self.cluster.muster("agents", "invite", "--uses", "2", "--name", "web*").text.strip()
        stranger = self.cluster.add_daemon("db1", [BIN / "muster-agent", "--data", self.cluster.folder / "db1",
                                                   "--server", self.cluster.url, "--name", "db1"],
                                           {"MUSTER_JOIN": token})
        self.assertEqual(stranger.process.wait(DEADLINE), 3)
        self.assertIn("web*", stranger.tail())
        self.cluster.add_daemon("web1", [BIN / "muster-agent", "--data", self.cluster.folder / "web1", "--server",
                                         self.cluster.url, "--name", "web1"], {"MUSTER_JOIN": token})
        self.cluster.wait_online("web1")

    def test_leaked_token_is_revoked_by_itself(self):
        made = self.cluster.muster("agents", "invite", "--uses", "2", "--name", "leaky*")
        id = re.search(r"invite ([0-9a-f]{12});", made.complaint)[1]
        self.assertIn(id, self.cluster.muster("invites").text)
        token = made.text.strip()
        for words, given in (((token,), b""), ((), b"hello\n"), ((), b"")):
            self.assertCode(self.cluster.muster("invites", "revoke", *words, stdin=given), 2)
        self.assertIn(id, self.cluster.muster("invites").text)
        revoked = self.assertCode(self.cluster.muster("invites", "revoke", "--reason", "leaked", stdin=f"{token}\n".encode()), 0)
        self.assertIn(id, revoked.complaint)
        self.assertNotIn(id, self.cluster.muster("invites").text)
        self.assertCode(self.cluster.muster("invites", "revoke", stdin=token.encode()), 4)

    def test_token_from_a_file_and_labels_of_the_invite_win(self):
        token = self.cluster.muster("agents", "invite", "--label", "zone=sh1", "--label", "a=b=c").text
        file = self.cluster.folder / "token"
        file.write_text(token)
        self.cluster.add_daemon("filed", [BIN / "muster-agent", "--data", self.cluster.folder / "filed", "--server",
                                          self.cluster.url, "--name", "filed", "--join-file", file, "--label",
                                          "zone=mine", "--label", "rack=7"])
        self.cluster.wait_online("filed")
        self.assertEqual(host(self.cluster, "filed")["labels"], {"zone": "sh1", "a": "b=c", "rack": "7"})

    def test_same_idempotency_key_gives_the_same_token_until_it_is_used_up(self):
        def invite(body, key="k1"):
            return self.cluster.http("POST", "/api/v1/agents/invites", body, {"Idempotency-Key": key})
        first = invite({"uses": 1})
        self.assertEqual(first.status, 201, first)
        self.assertEqual(invite({"uses": 1}).json()["token"], first.json()["token"])
        self.cluster.restart_server()
        again = invite({"uses": 1})
        self.assertEqual(again.json(), first.json())
        self.assertNotEqual(invite({"uses": 1}, "k2").json()["token"], first.json()["token"])
        other = invite({"uses": 2})
        self.assertEqual((other.status, other.json()["error"]["code"]), (422, "key_reused"))
        self.cluster.add_daemon("keyed", [BIN / "muster-agent", "--data", self.cluster.folder / "keyed", "--server",
                                          self.cluster.url, "--name", "keyed"],
                                {"MUSTER_JOIN": first.json()["token"]})
        self.cluster.wait_online("keyed")
        self.assertEqual(invite({"uses": 1}).status, 422)

    def test_labels_are_changed_on_the_server(self):
        self.assertCode(self.cluster.muster("hosts", "label", "h1", "app=web", "tier=1"), 0)
        self.assertCode(self.cluster.muster("hosts", "label", "app=web", "tier-", "app=db"), 0)
        self.cluster.restart_server()
        self.assertEqual(host(self.cluster, "h1")["labels"], {"app": "db"})
        self.assertCode(self.cluster.muster("hosts", "label", "app=web", "x=y"), 4)
        self.assertCode(self.cluster.muster("hosts", "label", "h1", "nothing"), 2)
        self.assertIn("h1", self.assertCode(self.cluster.muster("hosts", "app=db"), 0).text)

    def test_facts_tell_of_machine_and_certificate(self):
        facts = host(self.cluster, "h1")["facts"]
        for key in ("os", "arch", "kernel", "agent", "cpus", "memory_mb", "boot_time", "ca", "trusts", "cert_ends"):
            self.assertTrue(facts.get(key), key)


class Takeovers(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster("h1", "h2")
        self.agent = self.cluster.agents["h1"]

    def wipe_and_join(self):
        self.agent.end()
        shutil.rmtree(self.agent.data)
        self.agent.join()
        wait_until("the agent says what to type", lambda: "muster agents replace h1" in self.agent.tail())

    def test_known_name_waits_until_it_is_accepted_also_across_restarts(self):
        run = self.cluster.start_run("-t", "h1", "--", "sleep 300")
        self.cluster.wait_task(run, "h1", "running")
        self.wipe_and_join()
        self.cluster.restart_server()
        listed = self.assertCode(self.cluster.muster("agents", "pending"), 0).text
        self.assertIn("h1", listed)
        self.assertIn(self.cluster.task_of(run, "h1")["state"], ("sent", "running"))
        self.assertCode(self.cluster.muster("agents", "replace", "h1", "--key", "nonsense"), 1)
        self.assertCode(self.cluster.muster("agents", "replace", "h1"), 0)
        self.cluster.wait_online("h1")
        self.assertEqual(self.cluster.task_of(run, "h1")["state"], "lost")
        works(self, self.cluster, "h1")
        self.assertEqual(self.cluster.get("/agents/pending")["pending"], [])
        self.assertCode(self.cluster.muster("agents", "replace", "h1"), 4)

    def test_waiting_agent_that_is_restarted_goes_on_waiting(self):
        self.wipe_and_join()
        key = (self.agent.data / "agent.key").read_text()
        self.agent.end()
        waiting = self.cluster.get("/agents/pending")["pending"]
        self.assertEqual(len(waiting), 1)
        words, environment = self.agent.words, self.agent.environment
        self.assertEqual((self.agent.data / "agent.key").read_text(), key)
        self.assertCode(self.cluster.muster("agents", "replace", "h1"), 0)
        # Any token will do: the key is the host's by now.
        self.agent.words = [*words, "--server", self.cluster.url, "--name", "h1"]
        self.agent.environment = {**environment, "MUSTER_JOIN": self.cluster.invite()}
        self.agent.start()
        self.cluster.wait_online("h1")

    def test_rejected_machine_ends_with_the_reason(self):
        self.wipe_and_join()
        self.assertCode(self.cluster.muster("agents", "reject", "h1", "--reason", "who are you"), 0)
        self.assertEqual(self.agent.process.wait(DEADLINE), 3)
        self.assertIn("who are you", self.agent.tail())
        self.assertIn("agent.reject", [entry["act"] for entry in self.cluster.get("/audit", host="h1")["entries"]])
        self.assertEqual(self.cluster.get("/agents/pending")["pending"], [])

    def test_rejected_machine_reads_the_reason_also_from_an_address_that_is_slowed_down(self):
        cluster = self.new_cluster("h9", settings={"limits": "{failures_per_minute: 1}"})
        agent = Agent(cluster, "h9", cluster.folder / "again")
        cluster.daemons.append(agent)
        agent.words = [*agent.words, "--server", cluster.url, "--name", "h9"]
        agent.environment["MUSTER_JOIN"] = cluster.invite()
        agent.start()
        wait_until("it waits", lambda: "muster agents replace h9" in agent.tail())
        agent.end()
        self.assertCode(cluster.muster("agents", "reject", "h9", "--reason", "who are you"), 0)
        bad = {"token": "muj_" + "0" * 64, "name": "x", "request_pem": "x"}
        wait_until("the address is slowed down",
                   lambda: cluster.http("POST", "/api/v1/join", bad, token=None).status == 429)
        agent.start()
        self.assertEqual(agent.process.wait(DEADLINE), 3, agent.tail())
        self.assertIn("who are you", agent.tail())

    def test_join_file_that_is_empty(self):
        file = self.cluster.folder / "empty"
        file.touch()
        done = subprocess.run([BIN / "muster-agent", "--data", self.cluster.folder / "new", "--server", self.cluster.url,
                               "--join-file", file], capture_output=True, text=True, check=False, timeout=DEADLINE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"join file {file} is empty", done.stderr)

    def test_revoked_host_is_cut_off_and_can_be_removed(self):
        run = self.cluster.start_run("-t", "h1,h2", "--", "sleep 300")
        self.cluster.wait_task(run, "h1", "running")
        self.assertCode(self.cluster.muster("hosts", "rm", "h1", "--yes"), 1)
        self.assertCode(self.cluster.muster("agents", "revoke", "h1", "--reason", "stolen"), 0)
        self.cluster.wait_offline("h1")
        self.assertEqual(self.cluster.task_of(run, "h1")["state"], "lost")
        self.assertEqual(self.cluster.task_of(run, "h2")["state"], "running")
        wait_until("the agent is told", lambda: "revoked" in self.agent.tail())
        shown = host(self.cluster, "h1")
        self.assertEqual(shown["state"], "revoked")
        self.assertIn("stolen", shown["note"])
        refused = self.cluster.muster("run", "-t", "h1", "--", "true")
        self.assertNotEqual(refused.code, 0)
        listed = self.assertCode(self.cluster.muster("hosts", "h1,h2", "-o", "json"), 0).json()["hosts"]
        self.assertEqual({one["name"]: one["state"] for one in listed}, {"h1": "revoked", "h2": "active"})
        only = self.cluster.muster("run", "-t", "h*", "--dry-run", "--", "true")
        self.assertIn("1 host: h2", only.text)
        # A restart of both changes nothing.
        self.agent.end()
        self.cluster.restart_server()
        self.agent.start()
        wait_until("the agent is refused again", lambda: self.agent.log.read_text().count("refuses this agent") > 1)
        self.assertNotIn("h1", self.cluster.online())
        self.assertCode(self.cluster.muster("hosts", "rm", "h1", "--yes"), 0)
        self.assertNotIn("h1", self.cluster.muster("hosts").text)
        self.assertCode(self.cluster.muster("agents", "revoke", "h1"), 4)
        self.cluster.restart_server()
        self.assertNotIn("h1", self.cluster.muster("hosts").text)


class Renewal(ClusterTest):
    def test_agents_certificate_is_renewed_again_and_again(self):
        cluster = self.new_cluster("h1", settings={"certificates": "{agent_life: 15s}"})
        agent = cluster.agents["h1"]
        file = agent.data / "agent.crt"
        key = (agent.data / "agent.key").read_text()
        seen = {file.read_text()}

        def renewed_twice():
            seen.add(file.read_text())
            return len(seen) >= 3
        wait_until("two renewals", renewed_twice)
        ends = fact(cluster, "h1", "cert_ends")
        wait_until("the server knows of the next one", lambda: fact(cluster, "h1", "cert_ends") != ends)
        # The link of before lives, and a new one is opened with the new certificate.
        works(self, cluster, "h1")
        cluster.restart_server()
        cluster.wait_online("h1")
        self.assertEqual((agent.data / "agent.key").read_text(), key)
        self.assertEqual(agent.log.read_text().count(" joined "), 1)

    def test_host_that_was_away_past_its_certificates_end_gets_a_new_one_for_its_key(self):
        cluster = self.new_cluster("h1", settings={"certificates": "{agent_life: 3s}"})
        agent = cluster.agents["h1"]
        agent.end()
        joined = host(cluster, "h1")["joined"]

        def ended():
            agent.start()
            try:
                code = agent.process.wait(1)
            except subprocess.TimeoutExpired:
                agent.end()
                return False
            return code == 2
        wait_until("the certificate has ended", ended)
        self.assertIn("certificate", agent.tail(2))
        words, environment = agent.words, agent.environment
        agent.words = [*words, "--server", cluster.url]
        agent.environment = {**environment, "MUSTER_JOIN": cluster.invite()}
        agent.start()
        cluster.wait_online("h1")
        self.assertEqual(host(cluster, "h1")["joined"], joined)

    def test_servers_certificate_is_renewed_without_a_restart(self):
        cluster = self.new_cluster("h1", settings={"certificates": "{server_life: 15s}"})
        first = shown_certificate(cluster)
        wait_until("another certificate", lambda: shown_certificate(cluster) != first)
        works(self, cluster, "h1")
        metrics = cluster.http("GET", "/metrics", token=None).body.decode()
        left = float(re.search(r"^muster_server_certificate_expires_seconds (\S+)", metrics, re.M).group(1))
        self.assertLessEqual(left, 15)
        ca = float(re.search(r"^muster_ca_expires_seconds (\S+)", metrics, re.M).group(1))
        self.assertGreater(ca, 3000 * 86400)


class Authorities(ClusterTest):
    def restart(self, cluster, *online):
        cluster.restart_server(signal.SIGTERM)
        cluster.wait_online(*online)

    def test_ca_is_changed_and_nobody_joins_anew(self):
        cluster = self.new_cluster("h1", "h2", "away")
        away = cluster.agents["away"]
        away.end()
        old = fact(cluster, "h1", "ca")
        self.assertIn(old, musterd_ca(cluster, "list"))

        wait_until("the server knows that it is alone", lambda: try_ca(cluster, "add").returncode == 0)
        self.assertEqual(try_ca(cluster, "use").returncode, 1)
        self.restart(cluster, "h1", "h2")
        for name in ("h1", "h2"):
            trust = cluster.agents[name].data / "ca.pem"
            wait_until(f"{name} trusts both", lambda: trust.read_text().count("BEGIN CERT") == 2)
            self.assertEqual(fact(cluster, name, "ca"), old)

        wait_until("only the one that is away stands against it", lambda: "1 (away)" in try_ca(cluster, "use").stderr)
        musterd_ca(cluster, "use", "--force")
        self.restart(cluster, "h1", "h2")
        new = re.search(r"signs +fact.ca=(\S+)", musterd_ca(cluster, "list")).group(1)
        self.assertNotEqual(new, old)
        for name in ("h1", "h2"):
            wait_until(f"{name} has a certificate of the new CA", lambda: fact(cluster, name, "ca") == new)
        self.assertEqual(cluster.muster("hosts", f"fact.ca={old}", "-o", "json").json()["total"], 1)
        # Who joins now, joins under the new one.
        cluster.add_agents("h3")
        self.assertEqual(fact(cluster, "h3", "ca"), new)

        wait_until("only the one that is away needs the old CA", lambda: "1 (away)" in try_ca(cluster, "drop").stderr)
        musterd_ca(cluster, "drop", "--force")
        self.restart(cluster, "h1", "h2", "h3")
        for name in ("h1", "h2", "h3"):
            works(self, cluster, name)
            trust = cluster.agents[name].data / "ca.pem"
            wait_until(f"{name} trusts one", lambda: trust.read_text().count("BEGIN CERT") == 1)
        for name in ("h1", "h2"):
            self.assertEqual(cluster.agents[name].log.read_text().count(" joined "), 1)
        # Who slept through all of it believes nobody, and is believed by nobody.
        away.start()
        wait_until("the sleeper is refused", lambda: "no link to" in away.tail())
        self.assertNotIn("away", cluster.online())

    def test_hosts_that_do_not_tell_their_ca_stand_against_a_step(self):
        cluster = self.new_cluster("h1")
        cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cluster.url, "--count", "3",
                                     "--prefix", "silent"], {"MUSTER_JOIN": cluster.invite(uses=3)})
        wait_until("all are online", lambda: len(cluster.online()) == 4)
        wait_until("the server knows that it is alone", lambda: try_ca(cluster, "add").returncode == 0)
        cluster.restart_server(signal.SIGTERM)
        wait_until("all are back", lambda: len(cluster.online()) == 4)

        def refused():
            done = try_ca(cluster, "use")
            self.assertEqual(done.returncode, 1, done)
            return "cut off: 3 (silent1" in done.stderr and "never told" in done.stderr
        wait_until("only the silent hosts stand against it, and are named", refused)

    def test_what_happened_to_the_keys_is_on_the_trail(self):
        cluster = self.new_cluster()
        self.assertEqual(cluster.get("/audit", act="server.keys")["entries"], [])
        wait_until("the server knows that it is alone", lambda: try_ca(cluster, "add").returncode == 0)
        cluster.server.end()
        (cluster.data / "seal.key").unlink()
        (cluster.data / "admin.token").unlink()
        cluster.start_server()

        def told():
            entries = cluster.get("/audit", act="server.keys")["entries"]
            return {key for entry in entries for key in ("seal.key", "admin.token", "CA ") if key in entry["detail"]}
        wait_until("all three are told", lambda: len(told()) == 3)
        self.assertIn("seal.key", cluster.server.log.read_text())
        cluster.restart_server(signal.SIGTERM)
        wait_until("it leads", lambda: cluster.get("/status")["leader"])
        self.assertEqual(len(cluster.get("/audit", act="server.keys")["entries"]), 3)

    def test_ca_that_was_used_too_early_is_taken_back(self):
        cluster = self.new_cluster("h1")
        old = fact(cluster, "h1", "ca")
        wait_until("the server knows that it is alone", lambda: try_ca(cluster, "add").returncode == 0)
        musterd_ca(cluster, "use", "--force")
        agent = cluster.agents["h1"]
        cluster.restart_server(signal.SIGTERM)
        wait_until("the agent is cut off", lambda: "no link to" in agent.tail())
        self.assertNotIn("h1", cluster.online())
        musterd_ca(cluster, "undo")
        self.restart(cluster, "h1")
        self.assertEqual(fact(cluster, "h1", "ca"), old)
        wait_until("the agent has the next CA", lambda: try_ca(cluster, "use").returncode == 0)
        self.restart(cluster, "h1")
        wait_until("h1 has a certificate of the new CA", lambda: fact(cluster, "h1", "ca") != old)

    def test_steps_that_cut_off_ask_at_a_terminal(self):
        cluster = self.new_cluster()
        wait_until("the server knows that it is alone", lambda: try_ca(cluster, "add").returncode == 0)
        for answer, code, left in (("n", 130, 2), ("y", 0, 1)):
            terminal = AtTerminal(["ca", "drop", "--data", cluster.data], cluster.environment(), program="musterd")
            terminal.wait_for(r"\[y/N\]")
            terminal.type(f"{answer}\n")
            self.assertEqual(terminal.finish()[0], code)
            terminal.close()
            self.assertEqual((cluster.data / "ca.pem").read_text().count("BEGIN CERT"), left)

    def test_lost_ca_key_is_not_replaced_in_silence(self):
        cluster = self.new_cluster()
        cluster.server.end()
        (cluster.data / "ca.key").unlink()
        cluster.server.start()
        self.assertEqual(cluster.server.process.wait(DEADLINE), 1)
        self.assertIn("ca.key", cluster.server.tail(3))


class Addresses(ClusterTest):
    def names(self, cluster):
        with socket.create_connection(("127.0.0.1", cluster.port), timeout=DEADLINE) as raw:
            with cluster.tls().wrap_socket(raw, server_hostname="localhost") as tls:
                return {name for _, name in tls.getpeercert()["subjectAltName"]}

    def test_public_url_goes_into_certificate_and_join_line(self):
        cluster = self.new_cluster("h1")
        self.assertNotIn("muster.example", self.names(cluster))
        cluster.server.words += ["--public-url", "https://muster.example:8440"]
        cluster.restart_server()
        self.assertIn("muster.example", self.names(cluster))
        self.assertIn("--server https://muster.example:8440", cluster.muster("agents", "invite").complaint)
        cluster.wait_online("h1")
        cluster.server.words[-1] = "https://10.1.2.3:8440"
        cluster.restart_server()
        self.assertIn("10.1.2.3", self.names(cluster))
        self.assertNotIn("muster.example", self.names(cluster))

    def test_own_certificate_is_for_the_api_and_read_again_when_replaced(self):
        other = self.new_cluster()  # stands for another CA: its certificate is for 127.0.0.1 too
        other.server.end()
        cluster = self.new_cluster(settings={"certificates": "{server_life: 15s}"})
        cluster.server.end()
        cert, key = cluster.folder / "own.pem", cluster.folder / "own.key"
        shutil.copy(other.data / "server.pem", cert)
        shutil.copy(other.data / "server.key", key)
        with open(cluster.folder / "musterd.yaml", "a", encoding="utf-8") as config:
            config.write(f"tls: {{cert: {cert}, key: {key}}}\n")
        cluster.tls = lambda: ssl.create_default_context(cafile=other.data / "ca.pem")
        mine = cluster.environment
        cluster.environment = lambda: {**mine(), "MUSTER_CA": str(other.data / "ca.pem")}
        cluster.start_server()
        self.assertEqual(shown_certificate(cluster), ssl.PEM_cert_to_DER_cert(cert.read_text()))
        token = cluster.invite(uses=2)
        agent = [BIN / "muster-agent", "--server", cluster.url, "--data"]
        misled = cluster.add_daemon("misled", [*agent, cluster.folder / "h0", "--name", "h0", "--ca", other.data / "ca.pem"],
                                    {"MUSTER_JOIN": token})
        self.assertEqual(misled.process.wait(DEADLINE), 3, "agents see the cluster's certificate, not the API's")
        cluster.add_daemon("h1", [*agent, cluster.folder / "h1", "--name", "h1"], {"MUSTER_JOIN": token})
        cluster.wait_online("h1")
        self.assertEqual((cluster.folder / "h1" / "ca.pem").read_text(), (cluster.data / "ca.pem").read_text())
        works(self, cluster, "h1")
        # Replaced files are shown to new connections.
        (other.data / "server.names").unlink()
        other.start_server()
        other.server.end()
        shutil.copy(other.data / "server.key", key)
        shutil.copy(other.data / "server.pem", cert)
        fresh = ssl.PEM_cert_to_DER_cert(cert.read_text())
        wait_until("the new certificate is shown", lambda: shown_certificate(cluster) == fresh)
        cluster.restart_server()
        cluster.wait_online("h1")

    def test_public_url_that_agents_cannot_use_is_refused(self):
        cluster = self.new_cluster()
        for url in ("http://muster.example:8440", "muster example"):
            cluster.server.end()
            cluster.server.words += ["--public-url", url]
            cluster.server.start()
            self.assertEqual(cluster.server.process.wait(DEADLINE), 2, url)
            self.assertIn("public_url", cluster.server.tail(1))
            del cluster.server.words[-2:]

    def plain(self, cluster):
        connection = http.client.HTTPConnection("127.0.0.1", cluster.port, timeout=DEADLINE)
        self.addCleanup(connection.close)
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        return answer.status, answer.read()

    def test_plain_http_is_for_loopback_only(self):
        cluster = self.new_cluster()
        self.assertEqual(self.plain(cluster)[0], 200)
        cluster.server.end()
        cluster.server.words[-1] = f"0.0.0.0:{cluster.port}"
        cluster.start_server()
        status, body = self.plain(cluster)
        self.assertEqual(status, 400)
        self.assertIn(b"https://", body)


if __name__ == "__main__":
    unittest.main(verbosity=2)
