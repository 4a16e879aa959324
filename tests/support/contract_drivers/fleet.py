"""Hosts, how they join and leave, and the files they exchange."""

import base64
import os

from contract_drivers import drives

BINARY = {"Content-Type": "application/octet-stream"}


@drives("listHosts", "getHost", "listMissing", "resolveTargets")
def read_hosts(world):
    cursor = world.call("listHosts", 200, query={"limit": 1}).json()["next"]
    world.call("listHosts", 200, query={"limit": 1, "cursor": cursor})
    world.call("listHosts", 200, query={"targets": "h*"}, bearer=world.viewer)
    world.call("listHosts", 400, query={"targets": "(("})
    world.call("listHosts", 404, query={"targets": "nobody"}, code="no_match")
    world.call("getHost", 200, name="h1")
    world.apply("missing", "labels: {a: b}\n", kind="host")
    world.call("listMissing", 200, query={"limit": 1})
    world.call("listMissing", 400, query={"limit": 0})
    world.call("resolveTargets", 200, {"targets": "h*", "exclude": "h2", "ignore_missing": True})
    world.call("resolveTargets", 400, {"targets": "(("})
    world.call("resolveTargets", 404, {"targets": "nobody"}, code="no_match")


@drives("listHostRuns", "listLabels")
def about_hosts(world):
    world.call("listHostRuns", 200, query={"limit": 1}, name="h1")
    world.call("listHostRuns", 400, query={"cursor": "nonsense"}, name="h1")
    world.call("listLabels", 200, query={"prefix": "fact.", "limit": 1}, bearer=world.viewer)
    world.call("listLabels", 200, query={"key": "fact.os"})
    world.call("listLabels", 400, query={"limit": 0})


@drives("maintainHosts", "labelHosts")
def change_hosts(world):
    world.call("maintainHosts", 200, {"targets": "h2", "for_seconds": 60, "reason": "contract"})
    world.call("getHost", 200, name="h2")
    world.call("startRun", (200, 404, 409), {"targets": "h2", "command": {"argv": ["true"]}}, {"dry_run": "true"})
    world.call("maintainHosts", 200, {"targets": "h2", "end": True})
    world.call("maintainHosts", 404, {"targets": "nobody", "end": True}, code="no_match")
    world.call("maintainHosts", 400, {"targets": "h2"})
    world.call("labelHosts", 200, {"targets": "h2", "set": {"zone": "sh1"}, "remove": ["rack"]})
    world.call("labelHosts", 404, {"targets": "nobody", "set": {"a": "b"}}, code="no_match")
    world.call("labelHosts", 400, {"targets": "h2", "set": {"a b": "c"}})


def _join(world, status, name, pem=None, token=None, **more):
    request = {"token": token or world.invite(), "name": name, "request_pem": pem or world.request_pem(name)}
    return world.call("join", status, {**request, **more}, bearer=None)


@drives("join", "acceptJoin", "rejectJoin", "listPendingJoins", "revokeHost", "removeHost")
def join(world):
    name, other = world.name("joined"), world.name("joined")
    pem = world.request_pem(name)
    _join(world, 201, name, pem, labels={"a": "b"})
    _join(world, 409, other, pem)
    _join(world, 403, other, token=world.invite().rpartition(".")[0] + "." + "0" * 40)
    _join(world, 400, other, pem="none")
    for operation in ("rejectJoin", "acceptJoin"):
        _join(world, 202, name)
        _join(world, 409, name)
        key = world.call("listPendingJoins", 200).json()["pending"][0]["key"]
        if operation == "acceptJoin":
            world.call(operation, 409, {"key": "0" * 64}, name=name)
        world.call(operation, 200, {"key": key} if operation == "acceptJoin" else {"reason": "contract"}, name=name)
    world.call("removeHost", 409, {"reason": "contract"}, name="h1")
    world.call("revokeHost", 200, {"reason": "contract"}, name=name)
    world.call("getHost", 200, name=name)
    world.call("removeHost", 200, {"reason": "contract"}, name=name)


@drives("createInvite", "listInvites", "revokeInvite")
def invites(world):
    key = {"Idempotency-Key": world.name("key")}
    body = {"uses": 2, "expires_ms": 60000, "replace": True, "labels": {"a": "b"}, "names": "web*", "no_own_labels": True}
    made = world.call("createInvite", 201, body, headers=key).json()["id"]
    world.call("createInvite", 422, {**body, "uses": 3}, headers=key, code="key_reused")
    world.call("createInvite", 201)
    world.call("createInvite", 400, {"uses": 0})
    world.call("listInvites", 200)
    world.call("revokeInvite", 400, invite=made[:7])
    world.call("revokeInvite", 200, {"reason": "contract"}, invite=made[:12])


def _upload(world, status, content, part=None, **more):
    digest = world.sha256(content)
    return world.call("writeArtifact", status, content if part is None else part, headers={**BINARY, **more}, sha256=digest)


@drives("writeArtifact", "findArtifact", "readArtifact")
def artifacts(world):
    # Letters: Prism gives bodies on as text.
    content = base64.b64encode(os.urandom(3000))
    size = len(content)
    digest = {"sha256": world.sha256(content)}
    world.call("findArtifact", 404, **digest)
    _upload(world, 202, content, content[:1000], **{"Content-Range": f"bytes 0-999/{size}"})
    found = world.call("findArtifact", 404, **digest)
    assert found.headers["Muster-Upload-Offset"] == "1000", found.headers
    _upload(world, 409, content, content[500:], **{"Content-Range": f"bytes 500-{size - 1}/{size}"})
    _upload(world, 201, content, content[1000:], **{"Content-Range": f"bytes 1000-{size - 1}/{size}"})
    _upload(world, 200, content)
    world.call("writeArtifact", 400, b"something else", headers=BINARY, sha256="0" * 64)
    world.call("writeArtifact", 411, iter([content]), headers=BINARY, direct=True, **digest)  # in chunks
    world.call("findArtifact", 200, **digest)
    assert world.call("readArtifact", 200, **digest).body == content
    assert world.call("readArtifact", 206, headers={"Range": "bytes=10-19"}, **digest).body == content[10:20]
    world.call("readArtifact", 416, headers={"Range": f"bytes={size}-"}, **digest)
    for operation in ("findArtifact", "readArtifact"):
        world.call(operation, 400, sha256="nonsense")
    # A host has no task that names the file.
    context = world.cluster.tls()
    data = world.cluster.agents["h1"].data
    context.load_cert_chain(data / "agent.crt", data / "agent.key")
    world.call("readArtifact", (403, 404), bearer=None, direct=True, context=context, **digest)


@drives("link")
def link(world):
    """Past Prism, which knows no WebSocket."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    context = world.cluster.tls()
    data = world.cluster.agents["h1"].data
    context.load_cert_chain(data / "agent.crt", data / "agent.key")
    world.call("link", 101, headers=upgrade, bearer=None, direct=True, context=context)
    world.call("link", 403, headers=upgrade, bearer=None, direct=True)
