"""The servers of the cluster, and the server itself."""

import base64
import os

from contract_drivers import drives


@drives("listServers", "finalizeStore")
def read_servers(world):
    assert len(world.call("listServers", 200, bearer=world.viewer).json()["servers"]) == 2
    world.call("finalizeStore", 200, {"reason": "contract"})
    world.call("finalizeStore", 200)


@drives("drainServer", "undrainServer")
def drain_server(world):
    world.call("drainServer", 200, {"reason": "contract"}, server="s2")
    world.call("listServers", 200)
    world.call("drainServer", 409, server="s1")
    world.call("undrainServer", 200, {"reason": "contract"}, server="s2")
    world.call("undrainServer", 200, server="s2")


@drives("createServerInvite", "joinServer")
def invite_server(world):
    key = {"Idempotency-Key": world.name("key")}
    token = world.call("createServerInvite", 201, {"name": "s9", "expires_seconds": 60}, headers=key).json()["token"]
    world.call("createServerInvite", 422, {"name": "s8"}, headers=key, code="key_reused")
    world.call("createServerInvite", 201)
    world.call("createServerInvite", 400, {"expires_seconds": 0})
    request = {"token": token, "name": "s9", "box_key": base64.b64encode(os.urandom(32)).decode()}
    world.call("joinServer", 400, {**request, "box_key": "none"}, bearer=None)
    world.call("joinServer", 403, {**request, "name": "s8"}, bearer=None)
    world.call("joinServer", 201, request, bearer=None)


@drives("getLoops", "getServerLog", "raiseServerLog")
def debug(world):
    world.call("getLoops", 200)
    world.call("raiseServerLog", 200, {"level": "debug", "for_ms": 1000})
    world.call("raiseServerLog", 400, {"level": "mood"})
    world.call("raiseServerLog", 400, {"level": "debug", "no_such_field": 1})
    world.call("getServerLog", 200, query={"level": "info", "after": 1, "limit": 5})
    world.call("getServerLog", 400, query={"limit": 0})


@drives("getStatus", "getDescription", "isAlive", "isReady", "getMetrics")
def status(world):
    world.call("getStatus", 200, bearer=world.viewer)
    for name in ("getDescription", "isAlive", "isReady", "getMetrics"):
        world.call(name, 200, bearer=None)
