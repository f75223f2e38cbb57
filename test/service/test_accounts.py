"""Users, tokens, sessions; on both kinds of stores."""

import pytest
from nnc.service.errors import ConflictError, NotFoundError, UnauthorizedError
from nnc.service.limits import Quota
from sqlalchemy import MetaData, select

from .conftest import ORIGIN, blobs_of, results

pytestmark = pytest.mark.service

BROWSER = {"X-NNC": "1", "Origin": ORIGIN}


def test_a_token_opens_until_it_is_deleted(person):
    ann = person()
    made = ann.ask("POST", "/tokens", json={"name": "laptop"}).json()
    other = {"Authorization": f"Bearer {made['token']}"}
    assert ann.http.get("/api/v1/me", headers=other).json()["user"] == "ann"
    listed = ann.ask("GET", "/tokens").json()
    assert {row["name"] for row in listed} == {"test", "laptop"}
    assert all("token" not in row and made["token"] not in str(row) for row in listed)
    assert ann.ask("DELETE", f"/tokens/{made['id']}").status_code == 204
    answer = ann.http.get("/api/v1/me", headers=other)
    assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"


def test_no_secret_is_in_the_database(person, service):
    ann = person()
    answer = ann.http.post("/api/v1/session", json={"token": ann.token}, headers=BROWSER)
    (secret,) = answer.cookies.values()
    everything = []
    with service.database.read() as connection:
        known = MetaData()
        known.reflect(connection)
        for table in known.sorted_tables:
            everything += map(str, connection.execute(select(table)))
    assert not [row for row in everything if ann.token in row or secret in row]


def test_an_expired_token_is_refused(service):
    user = service.accounts.add("ann")
    _, token = service.accounts.add_token(user, "short", seconds=-1)
    for way in (service.accounts.by_token, service.accounts.sign_in):
        with pytest.raises(UnauthorizedError):
            way(token)
    service.sweep()
    assert service.accounts.tokens(user) == []


def test_a_link_signs_in_once(service):
    user = service.accounts.add("ann")
    _, token = service.accounts.add_token(user, "link", 60, once=True)
    with pytest.raises(UnauthorizedError):
        service.accounts.by_token(token)
    found, secret = service.accounts.sign_in(token)
    assert found == user == service.accounts.by_session(secret)
    with pytest.raises(UnauthorizedError):
        service.accounts.sign_in(token)
    service.accounts.sign_out(secret)
    with pytest.raises(UnauthorizedError):
        service.accounts.by_session(secret)


def test_a_browsers_session(person, http):
    ann = person()
    answer = http.post("/api/v1/session", json={"token": ann.token}, headers=BROWSER)
    assert answer.json()["user"] == "ann"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
    assert http.get("/api/v1/me").json()["user"] == "ann"
    assert http.delete("/api/v1/session", headers=BROWSER).status_code == 204
    assert http.get("/api/v1/me").status_code == 401


def test_deleting_a_token_ends_its_sessions(person, http):
    ann = person()
    http.post("/api/v1/session", json={"token": ann.token}, headers=BROWSER)
    (row,) = ann.ask("GET", "/tokens").json()
    ann.ask("DELETE", f"/tokens/{row['id']}")
    assert http.get("/api/v1/me").status_code == 401


def test_deletion_leaves_nothing(person, service, tmp_path):
    ann, bob = person("ann"), person("bob")
    bob.upload(b"of bob")
    ann.upload(b"numbers", "in.npz", purpose="inputs")
    model = ann.upload(b"of ann")
    bobs, looked = service.queue.claim("test", 60), service.queue.claim("test", 60)
    assert (bobs.user, looked.user) == (bob.user.id, ann.user.id)
    service.queue.finish(looked, "done", {}, results(tmp_path / "out", explore="<p>"))
    ann.order(model)
    ann.begin(b"unfinished")
    assert ann.ask("DELETE", "/me").status_code == 204
    assert ann.ask("GET", "/me").status_code == 401
    with service.database.read() as connection:
        known = MetaData()
        known.reflect(connection)
        rows = {t.name: str(connection.execute(select(t)).all()) for t in known.sorted_tables}
    assert not [name for name, text in rows.items() if ann.user.id in text or "'ann'" in text]
    assert blobs_of(service) == {bobs.blobs["model"]}
    with pytest.raises(NotFoundError):
        service.accounts.add_token(ann.user, "late")


def test_an_operator_does_not_delete_oneself_by_mistake(person):
    root = person("root", operator=True)
    assert root.ask("DELETE", "/me").status_code == 403
    assert root.ask("GET", "/me").status_code == 200


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "x" * 201, "\u202eevil", "\ud800"])
def test_names_that_no_user_has(service, name):
    with pytest.raises(Exception, match="the name of a user"):
        service.accounts.add(name)


def test_a_name_is_taken_once(service):
    service.accounts.add("ann", Quota(1, 2, 3))
    with pytest.raises(ConflictError):
        service.accounts.add("ann")
    assert service.accounts.find("ann").quota == Quota(1, 2, 3)


def test_tokens_of_one_user_are_limited(service):
    user = service.accounts.add("ann")
    for _ in range(100):
        service.accounts.add_token(user, "t")
    with pytest.raises(Exception, match="at most 100 tokens"):
        service.accounts.add_token(user, "t")


def test_metrics_are_for_operators(person):
    ann, root = person("ann"), person("root", operator=True)
    ann.upload()
    answers = []
    for headers in ({}, {"Authorization": f"Bearer {ann.token}"}):
        answers.append(ann.http.get("/metrics", headers=headers).status_code)
    assert answers == [401, 403]
    text = root.http.get("/metrics", headers={"Authorization": f"Bearer {root.token}"}).text
    assert 'nnc_jobs{state="queued"} 1.0' in text
    assert (
        'nnc_requests_total{method="PATCH",route="/api/v1/uploads/{id}",status="200"} 1.0' in text
    )
    assert "process_resident_memory_bytes" in text
