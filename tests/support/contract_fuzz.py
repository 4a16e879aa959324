"""Random requests from the schemas of api/openapi.yaml: most fit them, some are a little wrong. Same seed, same requests."""

import base64
import re
import string

from api_contract import resolved

# Texts that mean something somewhere, and such that often break something.
TEXTS = ["", "h1", "all", "nobody", "h[1-3]", "a=b", "((", "@x", "*", "0", "-1", "1,10%", "100%", "r1", "admin", "job1",
         "true", "latest", "a b", "é…", "\u0000", "\ud800", "\r\nX: y", "'\";--", "%00%ff", "${{ params.x }}", "/tmp/x", "10%",
         "../../etc/passwd", "5", "0644", "f1", "r2", "r1.1", "0" * 64, "aabb", "a" * 300, "x" * 5000, "2026-01-01T00:00:00Z",
         "9" * 30, "{}", "\u202e", "\t"]
NUMBERS = [0, 1, 2, -1, 100, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -2**63, -2**63 - 1, 10**30]
OTHERS = [None, True, 0, -1, 1.5, 1e300, "", "x", [], [1], {}, {"a": 1}, [[]]]


class Fuzz:
    """`names`: texts for a field or part of a path of this name, used more often than others."""

    def __init__(self, random, names=None):
        self.random = random
        self.names = names or {}

    def chance(self, share):
        return self.random.random() < share

    def value(self, schema, name="", depth=0):
        """One that fits the schema, as far as this reads schemas."""
        schema = resolved(schema)
        for part in schema.get("allOf", []):
            schema = {**schema, **resolved(part), "properties": {**schema.get("properties", {}),
                                                                 **resolved(part).get("properties", {})}}
        choices = schema.get("oneOf") or schema.get("anyOf")
        if choices:
            chosen = resolved(self.random.choice(choices))
            if "type" in chosen or "properties" in chosen:
                return self.value(chosen, name, depth)
            needed = chosen.get("required", [])
            excluded = {key for one in choices for key in one.get("required", [])} - set(needed)
            schema = {**schema, "required": [*schema.get("required", []), *needed],
                      "properties": {key: part for key, part in schema["properties"].items() if key not in excluded}}
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kind = self.random.choice(kind) if isinstance(kind, list) else kind
        return getattr(self, f"_{kind}")(schema, name, depth)

    def _null(self, *_):
        return None

    def _boolean(self, *_):
        return self.chance(0.5)

    def _integer(self, schema, *_):
        low, high = schema.get("minimum", -2**31), schema.get("maximum", 2**31 - 1)
        return self.random.choice([low, high, min(low + 1, high), self.random.randint(low, min(high, low + 1000)),
                                   schema.get("default", low)])

    def _number(self, schema, *_):
        return self.random.choice([schema.get("minimum", 0), 0.5, 1.5, 3])

    def _string(self, schema, name, _):
        if name in self.names and self.chance(0.6):
            return self.random.choice(self.names[name])
        if schema.get("format") == "date-time":
            return self.random.choice(["2026-01-01T00:00:00Z", "2020-12-31T23:59:59.999Z", "2099-01-01T00:00:00.000Z"])
        if schema.get("contentEncoding") == "base64":
            return base64.b64encode(self.random.randbytes(self.random.choice([0, 1, 4, 100]))).decode()
        texts = [*self.names.get(name, []), *TEXTS, "".join(self.random.choices(string.printable, k=8))]
        if "pattern" in schema:
            texts = [text for text in texts if isinstance(text, str) and re.search(schema["pattern"], text)]
        text = str(self.random.choice(texts))
        return text[:schema.get("maxLength", len(text))].ljust(schema.get("minLength", 0), "x")

    def _array(self, schema, name, depth):
        count = max(schema.get("minItems", 0), self.random.choice([0, 1, 1, 2, 3]) if depth < 6 else 0)
        return [self.value(schema.get("items", {}), name, depth + 1) for _ in range(min(count, schema.get("maxItems", count)))]

    def _object(self, schema, _, depth):
        required = schema.get("required", [])
        made = {name: self.value(part, name, depth + 1) for name, part in schema.get("properties", {}).items()
                if name in required or self.chance(0.4)}
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            for _ in range(self.random.choice([0, 1, 2])):
                keys = [key for key in ("a", "PATH", "x.y", "a b", "")
                        if re.search(schema.get("propertyNames", {}).get("pattern", ""), key)]
                made[self.random.choice(keys)] = self.value(others, "", depth + 1)
        return made

    def spoiled(self, value):
        """Almost the same: one thing in it is of another kind, missing or too much."""
        if isinstance(value, dict) and value and self.chance(0.8):
            name = self.random.choice(list(value))
            change = self.random.choice(["drop", "add", "into", "into", "into"])
            if change == "drop":
                return {key: inner for key, inner in value.items() if key != name}
            if change == "add":
                return {**value, self.random.choice(["no_such_field", "", "Targets", "x" * 300]): self.random.choice(OTHERS)}
            return {**value, name: self.spoiled(value[name])}
        if isinstance(value, list) and value and self.chance(0.7):
            place = self.random.randrange(len(value))
            return [*value[:place], self.spoiled(value[place]), *value[place + 1:]]
        if isinstance(value, int) and not isinstance(value, bool) and self.chance(0.7):
            return self.random.choice(NUMBERS)
        if isinstance(value, str) and self.chance(0.6):
            return self.random.choice(TEXTS)
        return self.random.choice(OTHERS)
