"""api/job.schema.json takes the good documents and refuses the bad ones it can see.

A small validator of the keywords the schema uses; an unknown keyword is a failure, so that none is
silently ignored.
"""

import json
import pathlib
import re
import sys
import unittest

import yaml

ROOT = pathlib.Path(sys.argv.pop(1))
SCHEMA = json.loads((ROOT / "api/job.schema.json").read_text())
IGNORED = {"$schema", "title", "description", "$defs"}
TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "boolean": bool}


class Loader(yaml.SafeLoader):
    """YAML 1.2, as editors read it: only true and false are flags, so `on` is a word."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers
            if tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:null")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


def is_type(value, name):
    if name in ("integer", "number"):
        kinds = int if name == "integer" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def mistakes(value, schema, path=""):
    for keyword, rule in schema.items():
        if keyword in IGNORED:
            continue
        yield from globals()["check_" + keyword.lstrip("$")](value, rule, schema, path)


def fits(value, schema):
    return not list(mistakes(value, schema))


def check_ref(value, rule, _, path):
    yield from mistakes(value, SCHEMA["$defs"][rule.rsplit("/", 1)[1]], path)


def check_type(value, rule, _, path):
    names = rule if isinstance(rule, list) else [rule]
    if not any(is_type(value, name) for name in names):
        yield f"{path}: {value!r} is not {rule}"


def check_enum(value, rule, _, path):
    if value not in rule:
        yield f"{path}: {value!r} is not one of {rule}"


def check_const(value, rule, _, path):
    if value != rule:
        yield f"{path}: {value!r} is not {rule!r}"


def check_pattern(value, rule, _, path):
    if isinstance(value, str) and not re.search(rule, value):
        yield f"{path}: {value!r} does not match {rule}"


def check_minimum(value, rule, _, path):
    if is_type(value, "number") and value < rule:
        yield f"{path}: {value} is below {rule}"


def check_maximum(value, rule, _, path):
    if is_type(value, "number") and value > rule:
        yield f"{path}: {value} is above {rule}"


def check_minItems(value, rule, _, path):
    if isinstance(value, list) and len(value) < rule:
        yield f"{path}: is empty"


def check_minProperties(value, rule, _, path):
    if isinstance(value, dict) and len(value) < rule:
        yield f"{path}: is empty"


def check_items(value, rule, _, path):
    for index, item in enumerate(value if isinstance(value, list) else []):
        yield from mistakes(item, rule, f"{path}[{index}]")


def check_required(value, rule, _, path):
    for name in rule:
        if isinstance(value, dict) and name not in value:
            yield f"{path}: needs {name}"


def check_properties(value, rule, _, path):
    for name, inner in (value if isinstance(value, dict) else {}).items():
        if name in rule:
            yield from mistakes(inner, rule[name], f"{path}.{name}")


def check_propertyNames(value, rule, _, path):
    for name in value if isinstance(value, dict) else []:
        yield from mistakes(name, rule, f"{path}.{name}")


def check_additionalProperties(value, rule, schema, path):
    for name, inner in (value if isinstance(value, dict) else {}).items():
        if name in schema.get("properties", {}):
            continue
        if rule is False:
            yield f"{path}: unknown key {name}"
        else:
            yield from mistakes(inner, rule, f"{path}.{name}")


def check_anyOf(value, rule, _, path):
    if not any(fits(value, one) for one in rule):
        yield f"{path}: none of {len(rule)} forms fits {value!r}"


def check_oneOf(value, rule, _, path):
    count = sum(fits(value, one) for one in rule)
    if count != 1:
        yield f"{path}: {count} of {len(rule)} forms fit"


def check_allOf(value, rule, _, path):
    for one in rule:
        yield from mistakes(value, one, path)


def check_if(value, rule, schema, path):
    if fits(value, rule):
        yield from mistakes(value, schema["then"], path)


def check_then(*_):
    return iter(())


class SchemaTest(unittest.TestCase):
    def test_good_documents_fit(self):
        files = sorted((ROOT / "tests/documents/good").glob("*.yaml"))
        self.assertTrue(files)
        for file in files:
            for document in yaml.load_all(file.read_text(), Loader):
                with self.subTest(file=file.name):
                    self.assertEqual(list(mistakes(document, SCHEMA)), [])

    def test_mistakes_of_form_are_seen(self):
        # By number: what a schema can see. The rest is about what values mean.
        for number in (1, 2, 4, 5, 8, 18, 25, 30, 31, 32, 36, 40, 41, 44, 49, 50, 51, 52, 56, 57, 65, 67):
            (file,) = (ROOT / "tests/documents/bad").glob(f"{number:02d}-*.yaml")
            with self.subTest(file=file.name):
                self.assertFalse(all(fits(document, SCHEMA)
                                     for document in yaml.load_all(file.read_text(), Loader)))


if __name__ == "__main__":
    unittest.main()
