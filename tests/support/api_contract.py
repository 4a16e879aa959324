"""The contract of the API for tests: what is described, and what in an answer differs from it."""

import re

import yaml
from muster_cluster import SOURCE, ClusterTest

CONTRACT = yaml.safe_load((SOURCE / "api/openapi.yaml").read_text())
METHODS = ("get", "put", "post", "patch", "delete")
ERROR_FIELDS = {"code", "message", "params", "details", "request_id"}


def operations():
    """(method, path as served, operation) of everything the contract describes."""
    for path, item in CONTRACT["paths"].items():
        prefix = item.get("servers", CONTRACT["servers"])[0]["url"].rstrip("/")
        for method in METHODS:
            if method in item:
                yield method.upper(), prefix + path, item[method]


def resolved(part):
    """The part itself, or what its $ref names."""
    while isinstance(part, dict) and "$ref" in part:
        target = CONTRACT
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        part = target
    return part


def misfits(value, schema, where="body"):
    """What in a JSON value differs from its schema: as much of JSON Schema as the contract uses."""
    schema = resolved(schema)
    found = []
    for part in schema.get("allOf", []):
        found += misfits(value, part, where)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    tests = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list),
             "string": lambda v: isinstance(v, str), "boolean": lambda v: isinstance(v, bool),
             "integer": lambda v: isinstance(v, int) and not isinstance(v, bool), "null": lambda v: v is None}
    if kinds and not any(tests[kind](value) for kind in kinds):
        return [f"{where}: {value!r} is not {kinds}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is not one of {schema['enum']}")
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} does not look like {schema['pattern']}")
    if schema.get("format") == "date-time" and value is not None and \
            not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value):
        found.append(f"{where}: {value!r} is not a time")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{where}: no {name}" for name in schema.get("required", []) if name not in value]
        more = schema.get("additionalProperties")
        for name, inner in value.items():
            if name in known:
                found += misfits(inner, known[name], f"{where}.{name}")
            elif isinstance(more, dict):
                found += misfits(inner, more, f"{where}.{name}")
    if isinstance(value, list):
        for index, inner in enumerate(value):
            found += misfits(inner, schema.get("items", {}), f"{where}[{index}]")
    return found


class ApiTest(ClusterTest):
    hosts = ("h1",)

    def assertError(self, answer, status, code):
        self.assertEqual(answer.status, status, answer)
        self.assertIn("application/json", answer.headers["Content-Type"])
        self.assertEqual(set(answer.json()), {"error"}, answer)
        error = answer.json()["error"]
        self.assertEqual(set(error), ERROR_FIELDS, answer)
        self.assertEqual(error["code"], code, answer)
        self.assertTrue(error["message"])
