"""The usual attacks on a service of the web, asked without a network; slow ones: test_server.py."""

import json
import re
import secrets
from email.message import Message
from email.utils import collapse_rfc2231_value

import pytest
from nnc.service.web.app import API
from sqlalchemy import inspect

from .conftest import ORIGIN, blobs_of, results

pytestmark = pytest.mark.service

BROWSER = {"X-NNC": "1", "Origin": ORIGIN}
OCTETS = {"Content-Type": "application/octet-stream", "Upload-Offset": "0"}
BODIES = {
    "/session": {"token": "nnc_x"},
    "/uploads": {"name": "m", "bytes": 1},
    "/models/{id}/experiments": {"target": "host", "kernel": "k", "schedule": "s"},
}
"""What routes ask for of which `{}` is not enough."""

OPEN = {("POST", "/session")}
"""Who asks these need not be known."""


def routes(app):
    """(method, path below /api/v1) of every route that the application has there."""
    found = []
    for path, methods in app.openapi()["paths"].items():
        if path.startswith(API):
            found += [(method.upper(), path.removeprefix(API)) for method in methods]
    assert found
    return sorted(found)


def ask(http, method, path, headers):
    """Ask a route for what it would do if it were allowed."""
    if method == "PATCH":
        return http.request(method, API + path[0], headers={**headers, **OCTETS}, content=b"x")
    body = BODIES.get(path[1], {}) if method == "POST" else None
    return http.request(method, API + path[0], headers=headers, json=body)


@pytest.fixture
def belongings(person, service, tmp_path):
    """A user who has one of everything that has an id, and the ids by the routes' first word."""
    ann = person("ann")
    model = ann.upload(b"a secret model", "secret.onnx")
    looked = service.queue.claim("test", 60)
    service.queue.finish(looked, "done", {}, results(tmp_path / "look", explore="<p>", log="l"))
    order = ann.order(model)
    job = service.queue.claim("test", 60)
    made = results(tmp_path / "made", package="zip", report="<p>", log="l")
    service.queue.finish(job, "done", {"secret": 1}, made)
    waiting = ann.order(model)
    ids = {
        "uploads": ann.begin(b"12345", "secret.onnx"),
        "models": model,
        "inputs": ann.upload(b"numbers", "secret.npz", purpose="inputs"),
        "orders": order["id"],
        "jobs": job.id,
        "tokens": ann.ask("GET", "/tokens").json()[0]["id"],
    }
    assert waiting["jobs"][0]["state"] == "queued"
    return ann, ids


def everything_of(ann):
    """All that a user sees, apart from when tokens were used."""
    seen = [
        ann.ask("GET", path).json() for path in ("/me", "/uploads", "/models", "/inputs", "/orders")
    ]
    return [*seen, [row["id"] for row in ann.ask("GET", "/tokens").json()]]


def test_every_route_hides_what_is_anothers(belongings, person, http):
    # New routes are found by themselves; one whose ids are of a new kind fails here until its kind
    # is among the belongings.
    ann, ids = belongings
    before = everything_of(ann)
    eve = person("eve")
    eves = {"Authorization": f"Bearer {eve.token}"}
    tried = 0
    for method, path in routes(http.app):
        if "{" not in path:
            continue
        assert re.findall(r"{(\w+)}", path) == ["id"], path
        foreign = ids[path.split("/")[1]]
        answers = [
            ask(http, method, (path.replace("{id}", id), path), eves)
            for id in (foreign, secrets.token_urlsafe(16))
        ]
        said = [(a.status_code, a.text, dict(a.headers)) for a in answers]
        assert said[0] == said[1] and said[0][0] == 404, (method, path, said)
        tried += 1
    assert tried >= 16
    for method, path in routes(http.app):
        if method == "GET" and "{" not in path:
            text = http.get(API + path, headers=eves).text
            assert "secret" not in text and not any(id in text for id in ids.values())
    assert everything_of(ann) == before


def test_every_route_asks_who_asks(belongings, service, http):
    ann, ids = belongings
    before = everything_of(ann)
    _, expired = service.accounts.add_token(ann.user, "expired", -1)
    row, deleted = service.accounts.add_token(ann.user, "deleted")
    service.accounts.remove_token(ann.user, row["id"])
    _, once = service.accounts.add_token(ann.user, "once", once=True)
    wrong = [
        {},
        *({"Authorization": f"Bearer {token}"} for token in (expired, deleted, once, "nnc_x", "")),
        {"Authorization": f"Basic {ann.token}"},
        {"Authorization": ann.token},
        {"Authorization": f"Bearer {ann.token[:-1]}"},
        {"Authorization": f"Bearer {ann.token}x"},
        {"Authorization": "Bearer ' OR 1=1 --"},
        {"Authorization": b"Bearer \xff\xfe"},
        {"Cookie": "nnc=guess", **BROWSER},
        {"Cookie": f"nnc={ann.token}", **BROWSER},
    ]
    for method, path in routes(http.app):
        if (method, path) in OPEN:
            continue
        filled = path.replace("{id}", ids.get(path.split("/")[1], ""))
        for headers in wrong:
            answer = ask(http, method, (filled, path), headers)
            assert answer.status_code == 401, (method, path, headers)
            assert "secret" not in answer.text
    service.accounts.sweep()
    tokens = {row["id"]: row["name"] for row in ann.ask("GET", "/tokens").json()}
    for id, name in tokens.items():
        if name == "once":
            ann.ask("DELETE", f"/tokens/{id}")
    assert everything_of(ann) == before


@pytest.mark.parametrize("stores", ["sqlite-folder"], indirect=True)  # refused before any is asked
@pytest.mark.parametrize(
    "forged",
    [
        {"X-NNC": "1"},
        {"Origin": ORIGIN},
        {"X-NNC": "1", "Origin": "http://evil.example"},
        {"X-NNC": "1", "Origin": "null"},
        {"X-NNC": "1", "Origin": ORIGIN + ":81"},
        {"X-NNC": "1", "Origin": ORIGIN + ".evil.example"},
        {"X-NNC": "1", "Origin": ORIGIN.replace("http", "https")},
        {"X-NNC": "0", "Origin": ORIGIN},
        {"X-NNC": "1", "Referer": ORIGIN},
    ],
)
def test_forged_requests_change_nothing(belongings, http, forged):
    ann, ids = belongings
    before = everything_of(ann)
    assert http.post(f"{API}/session", json={"token": ann.token}, headers=BROWSER).is_success
    for method, path in routes(http.app):
        filled = path.replace("{id}", ids.get(path.split("/")[1], ""))
        if method != "GET":
            answer = ask(http, method, (filled, path), forged)
            assert answer.status_code == 403, (method, path)
    http.cookies.clear()
    assert everything_of(ann) == before


def test_no_page_of_another_origin_may_read(person, http):
    ann = person()
    answer = ann.ask("GET", "/me", headers={"Origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "DELETE"}
    answer = http.options(f"{API}/me", headers=asked)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", "127.0.0.1", ""])
def test_names_that_were_made_to_point_here_are_refused(person, http, host):
    ann = person()
    assert ann.ask("GET", "/me", headers={"Host": host}).status_code == 421
    assert http.get("/healthz", headers={"Host": host}).text == "ok\n"


def test_every_answer_has_the_headers(belongings, http):
    ann, ids = belongings
    headers = {"Authorization": f"Bearer {ann.token}"}
    found = {}
    for method, path in [*routes(http.app), ("GET", "/nothing"), ("GET", "/../../healthz")]:
        if method == "GET" and not path.endswith("events"):
            filled = path.replace("{id}", ids.get(path.split("/")[1], ""))
            found[path] = http.get(API + filled, headers=headers).headers
    for path, has in found.items():
        assert has["x-content-type-options"] == "nosniff", path
        assert has["referrer-policy"] == "no-referrer", path
        assert has["cache-control"] == "no-store", path
        policy = has["content-security-policy"]
        assert "default-src 'none'" in policy and "'unsafe-eval'" not in policy, path
        sandboxed = path in ("/models/{id}/explore", "/jobs/{id}/report")
        assert policy.startswith("sandbox ") == sandboxed, path
        if sandboxed:  # with its own origin it would have the user's cookies
            assert "allow-same-origin" not in policy
            assert "connect-src" not in policy and "form-action 'none'" in policy
        else:
            assert "unsafe-inline" not in policy and "frame-ancestors 'none'" in policy
    assert {"/models/{id}/explore", "/jobs/{id}/report", "/nothing"} <= set(found)


SCRIPT = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"


def test_scripts_in_names_stay_text(person, service, http, tmp_path):
    ann = person()
    name = SCRIPT.replace("/", "\u2215") + ".onnx"
    model = ann.upload(b"m", name)
    looked = service.queue.claim("test", 60)
    service.queue.finish(looked, "failed", error=SCRIPT, files=results(tmp_path, log=SCRIPT))
    for path in ("/models", f"/models/{model}", f"/jobs/{looked.id}", "/uploads"):
        answer = ann.ask("GET", path)
        assert answer.headers["content-type"] == "application/json"
    assert ann.ask("GET", f"/models/{model}").json()["name"] == name
    log = ann.ask("GET", f"/jobs/{looked.id}/log")
    assert log.headers["content-type"] == "text/plain; charset=utf-8" and log.text == SCRIPT
    for path in (f"/api/v1/models/{SCRIPT}", f"/{SCRIPT}", f"/healthz?{SCRIPT}"):
        assert "<script>" not in http.get(path).text
    answer = ann.ask("POST", f"/models/{model}/orders", json={"targets": [SCRIPT]})
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd", "/etc/passwd", "..", ".", "a/b", "..\\..\\x", "C:\\x", "a\0.onnx", "a\r\nSet-Cookie: x=y",
        "a\x1b[2Jb", "\u202egpj.onnx", "\ud800.onnx", "a\u2028b", "x" * 201,
    ],
)  # fmt: skip
def test_names_that_are_paths_or_commands_are_refused(person, name):
    ann = person()
    answer = ann.http.request(
        "POST",
        f"{API}/uploads",
        headers={"Authorization": f"Bearer {ann.token}", "Content-Type": "application/json"},
        content=json.dumps({"name": name, "bytes": 1}),
    )
    assert answer.status_code == 422, name
    assert len(answer.json()["error"].splitlines()) == 1
    assert ann.ask("GET", "/uploads").json() == []


@pytest.mark.parametrize(
    "name",
    [
        "a b.onnx", 'quo"te.onnx', "semi;colon.onnx", "%2e%2e%2fup.onnx", "naïve-模型.onnx", "-rf.onnx",
        "~root.onnx", "$(reboot).onnx", "con.onnx", "x.onnx;filename=evil.exe", "'; DROP TABLE users; --.onnx",
    ],
)  # fmt: skip
def test_odd_names_are_only_names(person, service, tmp_path, name):
    ann = person()
    model = ann.upload(b"m", name)
    service.queue.finish(service.queue.claim("test", 60), "done", {})
    ann.order(model)
    job = service.queue.claim("test", 60)
    (tmp_path / "job").mkdir()
    files = service.queue.fetch(job, tmp_path / "job")
    assert {path.resolve().parent for path in files.values()} == {tmp_path / "job" / "model"}
    assert re.fullmatch(r"[\w(+][\w.+() -]*", files["model"].name)
    service.queue.finish(job, "done", {}, results(tmp_path / "out", package="zip"))
    header = ann.ask("GET", f"/jobs/{job.id}/package").headers["content-disposition"]
    assert header.isascii() and "\n" not in header and "\r" not in header
    # Python's own reader of such headers says what a browser would call the file.
    read = Message()
    read["Content-Disposition"] = re.sub(r'filename="[^"]*"; ', "", header)
    said = collapse_rfc2231_value(read.get_param("filename", header="Content-Disposition"))
    stem = name.removesuffix(".onnx") if name.endswith(".onnx") else name.rpartition(".")[0]
    assert said == f"{stem}-host-f32.zip"
    plain = re.search(r'filename="([^"]*)"', header)
    assert plain and re.fullmatch(r"[A-Za-z0-9._-]+", plain[1])
    assert blobs_of(service) >= {job.blobs["model"]}
    assert ann.ask("GET", f"/models/{model}").json()["name"] == name


STRANGE = [
    "' OR '1'='1", "1; DROP TABLE users; --", "%27%20OR%201=1", "%00", "a" * 22 + "%00", "..%2f..%2f",
    "%2e%2e", "*", "A" * 5000, "\u0661" * 22, "%ff%fe", "_" * 22, "null", "-1", "0",
]  # fmt: skip


def test_strange_ids_name_nothing(belongings, service, http):
    ann, _ = belongings
    before = everything_of(ann)
    headers = {"Authorization": f"Bearer {ann.token}"}
    for method, path in routes(http.app):
        for id in STRANGE if "{" in path else ():
            answer = ask(http, method, (path.replace("{id}", id), path), headers)
            assert answer.status_code in (404, 405), (method, path, id, answer.text)
    with service.database.read() as connection:
        assert {"users", "models", "jobs"} <= set(inspect(connection).get_table_names())
    assert everything_of(ann) == before


def test_oversized_bodies(person, http):
    ann = person()
    large = b'{"name": "' + b"x" * (2 << 20) + b'"}'
    headers = {"Authorization": f"Bearer {ann.token}", "Content-Type": "application/json"}

    def parts():  # without a length that would give it away
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    for path in ("/uploads", "/tokens", "/session"):
        for content in (large, parts()):
            answer = http.post(API + path, headers={**headers, **BROWSER}, content=content)
            assert answer.status_code == 413, answer.text
            assert "at most" in answer.json()["error"]
    for length in ("-1", "9" * 40, "1e9", "0x10"):
        answer = http.post(
            f"{API}/tokens", headers={**headers, "Content-Length": length}, content=b"{}"
        )
        assert answer.status_code == 413
    id = ann.begin(b"12345")
    answer = ann.send(id, 0, (b"z" * 65536 for _ in range(64)))
    assert answer.status_code == 413
    assert ann.ask("GET", f"/uploads/{id}").json()["offset"] <= 5


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"name": 1e999}']
)
def test_bodies_that_are_no_json(person, body):
    ann = person()
    answer = ann.ask("POST", "/uploads", headers={"Content-Type": "application/json"}, content=body)
    assert answer.status_code in (400, 422)
    assert len(answer.json()["error"].splitlines()) == 1


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_bodies_that_a_form_could_send(person, kind):
    # A page of another origin can send these without asking.
    ann = person()
    id = ann.begin(b"12345")
    headers = {"Content-Type": kind, "Upload-Offset": "0"}
    assert ann.ask("PATCH", f"/uploads/{id}", headers=headers, content=b"1").status_code == 415
    answer = ann.ask("POST", "/tokens", headers={"Content-Type": kind}, content=b'{"name": "x"}')
    assert answer.status_code in (415, 422)
    assert len(ann.ask("GET", "/tokens").json()) == 1


def test_a_defect_says_nothing_of_the_inside(person, monkeypatch):
    ann = person()

    def broken(*_):
        raise RuntimeError("secret path /srv/nnc")

    monkeypatch.setattr(type(ann.service.models), "all", broken)
    answer = ann.ask("GET", "/models")
    assert answer.status_code == 500
    assert answer.json() == {"error": "the service failed; its log says more"}
    assert answer.headers["x-content-type-options"] == "nosniff"
