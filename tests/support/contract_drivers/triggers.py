"""Triggers and their slots; what checks say of the record."""

from contract_drivers import drives


def _trigger(world, name, text):
    job = world.job("stages:\n  - {name: a, script: sleep 0.1}\n")
    return world.apply(name, f"{text}job: {job}\n", kind="trigger")


@drives("listTriggers", "getTrigger", "listSlots")
def read_triggers(world):
    name = _trigger(world, "yearly", "cron: 0 0 1 1 *\ntz: Europe/Berlin\n")
    _trigger(world, "often", "every: 1h\n")
    cursor = world.call("listTriggers", 200, query={"limit": 1}).json()["next"]
    world.call("listTriggers", 200, query={"limit": 1, "cursor": cursor})
    world.call("listTriggers", 400, query={"limit": 0})
    world.call("getTrigger", 200, name=name)
    period = {"since": "2020-01-01T00:00:00Z", "until": "2099-01-01T00:00:00Z"}
    world.call("listSlots", 200, query={**period, "limit": 1}, name=name)
    world.call("listSlots", 400, query={"since": "yesterday"}, name=name)


@drives("pauseTrigger", "resumeTrigger")
def pause_trigger(world):
    name = _trigger(world, "paused", "cron: 0 0 1 1 *\n")
    for operation in ("pauseTrigger", "resumeTrigger"):
        world.call(operation, 200, {"reason": "contract"}, name=name)
        world.call(operation, 200, name=name)


@drives("skipSlot")
def skip_slot(world):
    name = _trigger(world, "skipped", "cron: 0 0 1 1 *\n")
    world.call("skipSlot", 200, {"slot": "2099-01-01T00:00:00Z", "reason": "contract"}, name=name)
    world.call("getTrigger", 200, name=name)
    world.call("skipSlot", 200, {"slot": "2099-01-01T00:00:00Z"}, name=name)
    world.call("skipSlot", 404, {"slot": "2020-01-01T00:00:00Z"}, name=name)
    world.call("skipSlot", 400, {"slot": "tomorrow"}, name=name)


@drives("backfillTrigger")
def backfill_trigger(world):
    name = _trigger(world, "backfilled", "cron: 0 0 1 1 *\n")
    period = {"from": "2020-12-01T00:00:00Z", "to": "2021-02-01T00:00:00Z"}
    world.call("backfillTrigger", 200, {**period, "dry_run": True}, name=name)
    world.call("backfillTrigger", 200, {**period, "reason": "contract"}, name=name)
    world.call("getTrigger", 200, name=name)
    # Its first run waits for a person, and the others for that.
    name = world.apply("waiting", f"cron: 0 0 1 1 *\njob: {world.asking()}\n", kind="trigger")
    years = {**period, "from": "2015-12-01T00:00:00Z"}
    world.call("backfillTrigger", 200, years, name=name)
    world.call("backfillTrigger", 409, years, name=name)
    world.call("backfillTrigger", 400, {"from": "2020-12-01T00:00:00Z", "to": "then"}, name=name)


@drives("fireTrigger")
def fire_trigger(world):
    name = _trigger(world, "fired", "cron: 0 0 1 1 *\n")
    key = {"Idempotency-Key": world.name("key")}
    world.call("fireTrigger", 200, {"dry_run": True}, name=name)
    run = world.call("fireTrigger", 201, {"reason": "contract"}, headers=key, name=name).json()["id"]
    world.call("fireTrigger", 422, {"reason": "another"}, headers=key, name=name, code="key_reused")
    world.cluster.wait_end(run)
    world.call("getRun", 200, id=run)
    world.call("listSlots", 200, name=name)
    world.call("fireTrigger", 201, {"despite_overlap": True, "during_freeze": True}, name=name)
    world.call("fireTrigger", (201, 409), name=name)


@drives("checkSlots", "checkHistory")
def checks(world):
    period = {"since": "2020-01-01T00:00:00Z", "until": "2099-01-01T00:00:00Z"}
    world.call("checkSlots", 200, query=period)
    world.call("checkSlots", 200, query={"trigger": _trigger(world, "checked", "cron: 0 0 1 1 *\n")})
    world.call("checkSlots", 404, query={"trigger": "nobody"})
    world.call("checkSlots", 400, query={"since": "yesterday"})
    world.call("checkHistory", 200, query={**period, "rows": "true"})
    world.call("checkHistory", 200)
    world.call("checkHistory", 400, query={"cursor": "nonsense"})
    world.call("checkHistory", 400, query={"rows": "1"})
