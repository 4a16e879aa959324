"""Calls of the operations of api/openapi.yaml by their operationId, each held against the contract."""

import json
import re
import urllib.parse

from api_contract import CONTRACT, METHODS, resolved
from contract_proxy import ask
from json_schemas import pointer, schema_errors, unknown_fields

# What a caller can get for a request that does not fit the contract; it then must not.
_REFUSED_REQUESTS = {400, 401}
_ANY_CALL = set(map(int, re.findall(r"\b[45]\d\d\b", CONTRACT["components"]["responses"]["Other"]["description"])))


class Operation:
    def __init__(self, path, method, item, described):
        self.path, self.method, self.described = path, method.upper(), described
        self.id = described["operationId"]
        self.privilege = described["x-privilege"]
        self.parameters = [resolved(one) for one in item.get("parameters", []) + described.get("parameters", [])]
        self.parts = re.findall(r"{(\w+)}", path)
        self.at_root = "servers" in item

    def response(self, status):
        """As the contract has it, or None."""
        found = self.described["responses"].get(str(status))
        if found is None and status in _ANY_CALL:
            found = self.described["responses"].get("default")
        return resolved(found)

    def statuses(self):
        return {int(status) for status in self.described["responses"] if status != "default"}

    def pointer_to(self, status, kind):
        named = str(status) if str(status) in self.described["responses"] else "default"
        response = self.described["responses"][named]
        base = response["$ref"].removeprefix("#") if "$ref" in response else \
            pointer("paths", self.path, self.method.lower(), "responses", named)
        return base + pointer("content", kind, "schema")


OPERATIONS = {operation.id: operation for operation in (
    Operation(path, method, item, item[method])
    for path, item in CONTRACT["paths"].items() for method in (*METHODS, "head") if method in item)}


class ContractClient:
    """Sends calls through Prism. What breaks the contract is put into `problems`; a status that the caller did not
    expect raises."""

    def __init__(self, cluster, upstream, prism):
        self.cluster, self.upstream, self.prism = cluster, upstream, prism
        self.problems = []
        self.driven = {}  # statuses, by operationId
        self.answers = {}  # (operationId, status): the last answer as the server gave it
        self._bodies = []  # (what, pointer, value), for ajv

    def call(self, name, status, /, body=None, query=None, headers=None, bearer="", code=None, direct=False, context=None,
             incomplete=False, **parts):
        """One call, which must be answered with `status` (one, or several to choose from) and the error `code`.

        `bearer`: the token; None sends none, "" the admin's. `direct`: past Prism, with the TLS `context` if there is
        one. `incomplete`: the request does not fit, and is refused for another reason before that counts. `parts`:
        those of the path.
        """
        operation = OPERATIONS[name]
        path = operation.path.format(**{part: urllib.parse.quote(str(value), safe="") for part, value in parts.items()})
        path += "?" + urllib.parse.urlencode(query) if query else ""
        headers = dict(headers or {})
        if bearer is not None:
            headers["Authorization"] = f"Bearer {bearer or self.cluster.token}"
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        violations = []
        if direct:
            prefix = "" if operation.at_root else CONTRACT["servers"][0]["url"]
            answer = ask(self.cluster, operation.method, prefix + path, headers, body, context)
        else:
            self.upstream.last = None
            shown, violations = self.prism.ask(operation.method, path, headers, body)
            answer = self.upstream.last
            assert answer is not None, f"{name}: prism did not ask the server: {shown}"
            self._same(operation, shown, answer)
        expected = (status,) if isinstance(status, int) else status
        assert answer.status in expected, f"{name}: expected {status}, got {answer}"
        if code:
            assert answer.json()["error"]["code"] == code, f"{name}: expected {code}, got {answer}"
        self._judge(operation, answer, [violation for violation in violations if violation["location"][0] == "response"
                                        or not (incomplete or answer.status in _REFUSED_REQUESTS)])
        self.driven.setdefault(name, set()).add(answer.status)
        self.answers[name, answer.status] = answer
        return answer

    def _same(self, operation, shown, answer):
        """Prism gives on what it got, as far as it can carry it."""
        same = shown.json() == answer.json() if answer.kind == "application/json" and answer.body else \
            shown.body.decode(errors="replace") == answer.body.decode(errors="replace")
        if shown.status != answer.status or not same:
            self.problems.append(f"{operation.id}: prism gave {shown} for {answer}")

    def _judge(self, operation, answer, violations):
        what = f"{operation.id} {answer.status}"
        described = operation.response(answer.status)
        if described is None:
            self.problems.append(f"{what}: the contract has no such status: {answer}")
            return
        for violation in violations:
            self.problems.append(f"{what}: {'.'.join(map(str, violation['location']))}: {violation['message']}")
        content = described.get("content", {})
        if answer.kind and answer.body and answer.kind not in content:
            self.problems.append(f"{what}: {answer.kind} is not one of {list(content)}")
        elif answer.kind == "application/json" and answer.body:
            self.fits(what, operation.pointer_to(answer.status, answer.kind), answer.json(), content[answer.kind]["schema"])
        if answer.status < 300:
            self.problems += [f"{what}: no header {header}" for header in described.get("headers", {})
                              if answer.headers[header] is None]

    def fits(self, what, where, value, schema):
        """Also for parts of an answer that Prism takes for one text: events, lines. ajv looks at them in `finish`."""
        self._bodies.append((what, where, value))
        self.problems += [f"{what}: the contract does not name {field}" for field in unknown_fields(value, schema)]

    def fits_schema(self, what, name, value):
        self.fits(what, pointer("components", "schemas", name), value, CONTRACT["components"]["schemas"][name])

    def finish(self):
        """All problems, each once."""
        for (what, _, _), errors in zip(self._bodies, schema_errors([body[1:] for body in self._bodies])):
            self.problems += [f"{what}: {error}" for error in errors]
        self._bodies = []
        return sorted(set(self.problems))
