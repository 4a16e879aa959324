"""Tokens, secrets and the audit trail."""

from contract_drivers import drives


@drives("createToken", "listTokens", "revokeToken", "whoAmI")
def tokens(world):
    key = {"Idempotency-Key": world.name("key")}
    body = {"name": world.name("some@one"), "role": "operator", "expires_ms": 60000}
    made = world.call("createToken", 201, body, headers=key).json()
    world.call("createToken", 409, body)
    world.call("createToken", 422, {**body, "role": "viewer"}, headers=key, code="key_reused")
    world.call("createToken", 400, {"name": "a b", "role": "viewer"})
    world.call("whoAmI", 200, bearer=made["token"])
    world.call("whoAmI", 200)
    world.call("revokeToken", 200, {"reason": "contract"}, token=body["name"])
    world.call("listTokens", 200)
    world.call("revokeToken", 409, token="admin")


@drives("setSecret", "listSecrets", "removeSecret")
def secrets(world):
    name = world.name("secret")
    world.call("setSecret", 200, {"value_base64": "aHVudGVyMg=="}, name=name)
    world.call("setSecret", 400, {"value_base64": "!"}, name=name)
    world.call("listSecrets", 200)
    world.call("removeSecret", 200, name=name)


@drives("listAudit", "verifyAudit", "showAudit")
def audit(world):
    run = world.ended
    entry = world.call("listAudit", 200, query={"host": "h1", "act": "run.start", "run": run, "limit": 1}).json()["entries"][0]
    world.call("showAudit", 200, number=entry["number"])
    world.call("showAudit", 200, number=1)
    period = {"since": "2020-01-01T00:00:00Z", "until": "2099-01-01T00:00:00Z"}
    world.call("listAudit", 200, query={"by": "admin", **period, "before": 100, "after": 1})
    world.call("listAudit", 200, query={"limit": 500})
    world.call("listAudit", 400, query={"act": "mood"})
    world.call("listAudit", 404, query={"run": "r999999"})
    checked = world.call("verifyAudit", 200).json()
    world.call("verifyAudit", 200, query={"after": checked["last"], "hash": checked["head"]})
    world.call("verifyAudit", 400, query={"after": -1})
