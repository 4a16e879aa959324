#!/usr/bin/env python3
"""Holds api/openapi.yaml against the server's route tables: same methods, paths and privileges.

Also finds what a comma without quotes does to a text in braces: a key without a value.
"""
import pathlib
import re
import sys

import yaml

root = pathlib.Path(__file__).resolve().parent.parent
text = (root / "api/openapi.yaml").read_text()
contract = yaml.safe_load(text)
described = {}
for path, item in contract["paths"].items():
    prefix = "" if path.startswith(("/healthz", "/readyz", "/metrics", "/api/")) else "/api/v1"
    for method, operation in item.items():
        if method in ("get", "head", "post", "put", "patch", "delete"):
            described[(method.upper(), prefix + path)] = operation.get("x-privilege")

served = {}
for source in sorted((root / "src/server/api").glob("*.cpp")):
    for method, path, privilege in re.findall(r'\{"([A-Z]+)",\s*"(/[^"]*)",\s*Privilege::k(\w+)', source.read_text()):
        served[(method, path)] = privilege.lower()
served[("GET", "/api/v1/link")] = "link"



def keys_without_value(node):
    """(line, key) of each key in braces that has no value; `key: null` has one."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode) and value.value == "" and value.style is None:
                yield key.start_mark.line + 1, key.value
            yield from keys_without_value(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from keys_without_value(item)


problems = [f"api/openapi.yaml:{line}: '{key}' is a key without a value; quote the text before it"
            for line, key in keys_without_value(yaml.compose(text))]
problems += [f"{m} {p}: served, not in api/openapi.yaml" for m, p in sorted(served.keys() - described.keys())]
problems += [f"{m} {p}: in api/openapi.yaml, not served" for m, p in sorted(described.keys() - served.keys())]
problems += [
    f"{m} {p}: privilege {served[m, p]} served, {described[m, p]} in api/openapi.yaml"
    for m, p in sorted(served.keys() & described.keys())
    if served[m, p] != described[m, p]
]
if not served:
    problems.append("no routes found in src/server/api")
if problems:
    print("\n".join(problems), file=sys.stderr)
    sys.exit(1)
