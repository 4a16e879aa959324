"""One driver for each operation of api/openapi.yaml, by operationId: tests/integration/test_contract_proxy.py runs them all.

A new operation needs a function in the file of its subject here:

    @drives("operationId")
    def do_it(world):
        world.call("operationId", 200, {"field": "value"}, name="h1")     # each success status it documents
        world.call("operationId", 409, {"field": "other"}, name="h1")     # and what errors are easily had

World (world.py) has what calls need: hosts, an ended run, jobs. Refusals that need nothing special are tried for every
operation by the test itself: no token, a viewer's token, another site's page, an id that is not there, a field that
is not known. A success status that cannot be driven stands in UNDRIVEN with its reason.
"""

DRIVERS = {}

# (operationId, status): why no driver gets it.
UNDRIVEN = {}


def drives(*names):
    """Puts a function into the table under these operationIds."""
    def put(function):
        for name in names:
            assert name not in DRIVERS, f"{name} has two drivers"
            DRIVERS[name] = function
        return function
    return put


from contract_drivers import fleet, jobs, people, runs, servers, steering, triggers  # noqa: E402, F401
