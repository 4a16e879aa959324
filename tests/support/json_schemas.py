"""JSON values held against schemas of api/openapi.yaml: by ajv, and for fields that no schema names."""

import json
import subprocess

from api_contract import CONTRACT, resolved
from contract_proxy import PACKAGES
from muster_processes import SOURCE


def pointer(*steps):
    """JSON pointer to a part of the contract."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def schema_errors(cases):
    """For each (pointer, value) the list of its errors. All of them in one call of node, which takes half a second."""
    done = subprocess.run(["node", SOURCE / "tests/api/schema_errors.mjs", PACKAGES], capture_output=True, text=True, check=False,
                          input=json.dumps({"document": CONTRACT, "cases": [{"schema": schema, "value": value}
                                                                            for schema, value in cases]}, default=str))
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def _branches(schema):
    """The schema as a list of alternatives, each a list of schemas that hold together."""
    schema = resolved(schema)
    together = [[schema]]
    for part in schema.get("allOf", []):
        together = [one + more for one in together for more in _branches(part)]
    for choice in (schema.get("oneOf", []), schema.get("anyOf", [])):
        if choice:
            together = [one + more for one in together for part in choice for more in _branches(part)]
    return together


def unknown_fields(value, schema, where="body"):
    """Fields of a value that its schema does not name: JSON Schema lets them pass, readers of the contract miss them."""
    return min((_unknown(value, together, where) for together in _branches(schema)), key=len)


def _unknown(value, schemas, where):
    if isinstance(value, list):
        items = next((schema["items"] for schema in schemas if "items" in schema), {})
        return [one for index, inner in enumerate(value) for one in unknown_fields(inner, items, f"{where}[{index}]")]
    if not isinstance(value, dict):
        return []
    known = {name: part for schema in schemas for name, part in schema.get("properties", {}).items()}
    others = next((schema["additionalProperties"] for schema in schemas if "additionalProperties" in schema), None)
    if not known and others is None:
        return []  # any object
    found = []
    for name, inner in value.items():
        if name in known:
            found += unknown_fields(inner, known[name], f"{where}.{name}")
        elif isinstance(others, dict):
            found += unknown_fields(inner, others, f"{where}.{name}")
        elif others is not True:
            found.append(f"{where}.{name}")
    return found
