"""What the service says of its interface is what it does, and what its client and documents say.

Requests are made at random from the document of OpenAPI; answers are checked against it.
"""

import json
import re
from pathlib import Path

import httpx
import jsonschema
import nnc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nnc.service.remote import answers, routes
from nnc.service.remote.routes import Route

from .remote_serving import served

pytestmark = pytest.mark.service

BROWSERS = {("POST", "/session"), ("DELETE", "/session")}
"""Sessions are for browsers: a client sends its token with each request."""


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    with served(tmp_path_factory.mktemp("service")) as one:
        one.token = one.add_user("random")
        one.document = one.app.openapi()
        yield one


def operations(document):
    """(method, path below /api/v1 with {} for ids, what is said of it)"""
    for path, item in document["paths"].items():
        if path.startswith(routes.ROOT):
            for method, about in item.items():
                yield method.upper(), re.sub(r"\{\w+\}", "{}", path[len(routes.ROOT) :]), about


def known_routes() -> dict[tuple[str, str], Route]:
    found = [one for one in vars(routes).values() if isinstance(one, Route)]
    return {(one.method, one.path): one for one in found}


def test_the_client_has_every_route_and_no_other(serving):
    documented = {(method, path) for method, path, _ in operations(serving.document)}
    assert documented == set(known_routes()) | BROWSERS


def test_every_route_of_the_client_is_used():
    """By a method of `Remote`: none is only declared."""
    room = Path(routes.__file__).parent
    text = "".join(p.read_text() for p in room.glob("*.py") if p.name != "routes.py")
    names = [name for name, one in vars(routes).items() if isinstance(one, Route)]
    assert not [name for name in names if f"routes.{name}" not in text]


def test_the_page_on_rest_has_every_route(serving):
    page = (Path(nnc.__file__).parent / "docs" / "rest.md").read_text()
    listed = set(re.findall(r"`(GET|POST|PATCH|DELETE) (/[^`?]*)`", page))
    listed = {(method, re.sub(r"[A-Z]{2,}", "{}", path)) for method, path in listed}
    documented = {(method, path) for method, path, _ in operations(serving.document)}
    assert documented <= listed, "missing in docs/rest.md"
    assert {one for one in listed if one not in documented} <= {
        ("GET", "/healthz"), ("GET", "/metrics"), ("GET", "/openapi.json"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("Me", answers.Me), ("Token", answers.Token), ("MadeToken", answers.MadeToken),
        ("Upload", answers.Upload), ("Model", answers.Model), ("InputsFile", answers.InputsFile),
        ("Target", answers.Target), ("Engine", answers.Engine), ("Job", answers.Job),
        ("Order", answers.Order), ("Compared", answers.Compared), ("Quotas", answers.Limits),
    ],
)  # fmt: skip
def test_the_client_expects_what_the_document_promises(serving, name, shape):
    """The same fields; where one may be missing or null, the client does not insist on it."""
    promised = serving.document["components"]["schemas"][name]
    expected = shape.model_json_schema()
    assert set(promised["properties"]) == set(expected["properties"])
    required = set(expected.get("required", []))
    assert required <= set(promised.get("required", [])), "the server may leave these out"
    for field in required:
        types = kinds(promised["properties"][field])
        assert types <= kinds(expected["properties"][field]), field


def kinds(schema) -> set[str]:
    """The types of JSON that a schema allows."""
    if "anyOf" in schema:
        return set().union(*map(kinds, schema["anyOf"]))
    if "$ref" in schema:
        return {"object"}
    every = {"string", "integer", "number", "boolean", "object", "array", "null"}
    return {schema["type"]} if "type" in schema else every


# -- requests at random ----------------------------------------------------------------------------

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
    | st.sampled_from([2**53, -(2**63), 10**30, "\0", "host", "f32", "../..", "A" * 22, "\ud800"])
)  # fmt: skip
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


def values(schema, document, wild):
    """Values as a schema describes them; `wild` ones are others as well, at any place."""

    def of(inner):
        return values(inner, document, wild)

    others = anything if wild else st.nothing()
    if "$ref" in schema:
        return of(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of(*map(of, schema["anyOf"])) | others
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | others
    match schema.get("type"):
        case "object":
            fields = {name: of(one) for name, one in schema.get("properties", {}).items()}
            needed = {name: fields.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(needed, optional=fields) | others
        case "array":
            return st.lists(of(schema["items"]), max_size=2) | others
        case "integer":
            return st.integers(schema.get("minimum", 0), 1000) | others
        case "string":
            return st.sampled_from(["host", "c", "f32", "nnc", "Ä b"]) | others
        case "null":
            return st.none()
    return anything


ids = st.sampled_from(["known", "unknown"]) | st.text("abcXYZ019-_.%~", min_size=1, max_size=30)
types = st.sampled_from(["application/json", "application/octet-stream", "text/plain", "", "x"])
offsets = st.sampled_from(["0", "1", "", "-1", "1e3", "٣", "9" * 30]) | st.text(
    "0123456789", max_size=4
)


@st.composite
def requests(draw, document):
    """(method, path, path as documented, what is said of it, headers, body)"""
    listed = sorted(operations(document), key=lambda one: one[:2])
    method, path, about = draw(st.sampled_from(listed))
    headers = {}
    body = b""
    content = about.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        value = draw(values(content["application/json"]["schema"], document, draw(st.booleans())))
        text = json.dumps(value)
        body = text.encode("utf-8", "surrogatepass")
        headers["Content-Type"] = draw(st.just("application/json") | types)
    elif content:
        headers["Upload-Offset"] = draw(offsets)
        headers["Content-Type"] = draw(st.just("application/octet-stream") | types)
        body = draw(st.binary(max_size=200))
    if draw(st.integers(0, 9)) == 0:
        body = draw(st.binary(max_size=50))
    return method, path, about, draw(ids), headers, body


def known_id(client: httpx.Client, path: str) -> str:
    """The id of something of the user's that the path is about; another one where there is none."""
    room = path.split("/")[1]
    if room == "jobs":
        orders = client.get(f"{routes.ROOT}/orders").json()
        found = [job for order in orders for job in order["jobs"]]
    else:
        found = client.get(f"{routes.ROOT}/{room}").json()
    return found[0]["id"] if found else "B" * 22


def ready(serving) -> None:
    """Have the user have a model with an order, and an upload."""
    with serving.remote(serving.token) as remote:
        if not remote.models():
            path = serving.folder / "m.onnx"
            path.write_bytes(b"a model")
            model = remote.upload(path)
            remote.order(model.id)
        if not remote.uploads():
            asked = {"name": "u", "bytes": 100}
            remote._exchange.read(routes.NEW_UPLOAD, json=asked)


def test_no_request_makes_the_service_fail(serving):
    """Each answer is one that the document promises, and says what is wrong in one line."""
    seen: set[int] = set()

    @settings(
        max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(requests(serving.document))
    def check(request):
        method, path, about, id, headers, body = request
        if (method, path) == ("DELETE", "/me"):
            return  # would leave nobody who asks; test_remote.py has it
        ready_now = serving.service.models.all(user_id(serving))
        if not ready_now or not serving.service.uploads.all(user_id(serving)):
            ready(serving)
        id = known_id(client, path) if id == "known" and "{}" in path else id
        if path.endswith("/events"):
            id = "unknown"  # of a known one, it is a stream until the order's end
        if (method, path) == ("DELETE", "/tokens/{}"):
            id = "C" * 22  # not the one that is asked with
        answer = client.request(
            method,
            routes.ROOT + path.format(id),
            content=body,
            headers={name: value.encode() for name, value in headers.items()},
        )
        seen.add(answer.status_code)
        assert answer.status_code < 500, (request, answer.text)
        check_answer(serving.document, about, answer)

    base, token = f"http://127.0.0.1:{serving.port}", {"Authorization": f"Bearer {serving.token}"}
    with httpx.Client(base_url=base, headers=token, timeout=60, verify=False) as client:
        check()
    assert {200, 201, 404, 415, 422} <= seen


def user_id(serving) -> str:
    return serving.service.accounts.find("random").id


def check_answer(document, about, answer) -> None:
    """Raises where an answer is not as the document says."""
    if answer.is_success:
        promised = about["responses"].get(str(answer.status_code))
        assert promised is not None, f"status {answer.status_code} is not documented"
        schema = promised.get("content", {}).get("application/json", {}).get("schema")
        if schema:
            whole = {**schema, "components": document["components"]}
            jsonschema.validate(answer.json(), whole)
    elif answer.is_client_error:
        said = answer.json()
        assert set(said) == {"error"} and said["error"]
        assert len(said["error"].splitlines()) == 1


def test_the_page_on_operations_has_every_figure(serving):
    text = httpx.get(f"http://127.0.0.1:{serving.port}/metrics").text
    names = re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)
    page = (Path(nnc.__file__).parent / "docs" / "operations.md").read_text()
    names = [name.removesuffix("_created") for name in names]
    assert len(names) > 8 and not [name for name in names if name not in page]
