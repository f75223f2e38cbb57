"""Uploads: resumed, checked, counted, swept; on both kinds of stores."""

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from nnc.service.errors import ConflictError, InvalidError, QuotaError
from nnc.service.limits import Limits

from .conftest import blobs_of, some_bytes

pytestmark = pytest.mark.service


def test_an_upload_in_parts_becomes_a_model(person, service):
    ann, content = person(), some_bytes(700_001)
    id = ann.begin(content, "net.onnx")
    for start in range(0, len(content), 250_000):
        assert ann.ask("GET", f"/uploads/{id}").json()["offset"] == start
        answer = ann.send(id, start, content[start : start + 250_000]).json()
    model = ann.ask("GET", f"/models/{answer['model']}").json()
    assert (model["name"], model["bytes"], model["state"]) == ("net.onnx", 700_001, "looking")
    assert model["sha256"] == hashlib.sha256(content).hexdigest()
    job = service.queue.claim("test", 60)
    assert (job.kind, b"".join(service.blobs.read(job.blobs["model"]))) == ("look", content)
    assert not list((service.folder / "uploads").iterdir())


def test_a_finished_upload_says_again_what_it_became(person):
    ann = person()
    id = ann.begin(b"12345")
    made = ann.send(id, 0, b"12345").json()["model"]
    assert ann.ask("GET", f"/uploads/{id}").json()["model"] == made
    assert ann.ask("GET", "/uploads").json() == []
    assert ann.send(id, 5, b"").status_code == 409
    assert ann.ask("DELETE", f"/uploads/{id}").status_code == 204
    assert ann.ask("GET", f"/models/{made}").status_code == 200


@pytest.mark.parametrize("offset", ["1", "-1", "x", "", "٣", "9" * 30])
def test_a_wrong_offset_changes_nothing(person, offset):
    ann = person()
    id = ann.begin(b"12345")
    assert ann.send(id, 0, b"123").json()["offset"] == 3
    headers = {"Content-Type": "application/octet-stream", "Upload-Offset": offset.encode()}
    answer = ann.ask("PATCH", f"/uploads/{id}", headers=headers, content=b"zz")
    assert answer.status_code in (409, 422)
    assert ann.ask("GET", f"/uploads/{id}").json()["offset"] == 3
    assert "model" in ann.send(id, 3, b"45").json()


def test_more_than_announced_is_refused_and_can_be_mended(person):
    ann = person()
    id = ann.begin(b"12345")
    assert ann.send(id, 0, b"1234567").status_code == 413
    assert ann.ask("GET", f"/uploads/{id}").json()["offset"] == 0
    assert "model" in ann.send(id, 0, b"12345").json()


def test_another_content_than_announced_is_deleted(person, service):
    ann = person()
    id = ann.begin(b"12345", sha256=hashlib.sha256(b"54321").hexdigest())
    answer = ann.send(id, 0, b"12345")
    assert answer.status_code == 422 and "SHA-256" in answer.json()["error"]
    assert ann.ask("GET", f"/uploads/{id}").status_code == 404
    assert (ann.used(), blobs_of(service)) == (0, set())


@pytest.mark.parametrize(
    "asked",
    [
        {"bytes": 0}, {"bytes": -5}, {"bytes": "7"}, {"bytes": 2**70}, {"bytes": 1.5}, {"bytes": True},
        {"sha256": "xyz"}, {"sha256": "0" * 63}, {"purpose": "virus"}, {"purpose": None},
        {"name": ""}, {"name": "a" * 201}, {"name": None}, {"else": 1},
    ],
)  # fmt: skip
def test_announcements_that_make_no_sense(person, asked):
    ann = person()
    answer = ann.ask("POST", "/uploads", json={"name": "m.onnx", "bytes": 5, **asked})
    assert answer.status_code in (413, 422)
    assert len(answer.json()["error"].splitlines()) == 1
    assert ann.ask("GET", "/uploads").json() == []


def test_a_second_writer_is_told(person, service):
    ann = person()
    id = ann.begin(b"12345")
    with service.uploads.writing(ann.user.id, id, 0) as part:
        part.write(b"123")
        for refused in (ann.send(id, 3, b"45"), ann.ask("DELETE", f"/uploads/{id}")):
            assert refused.status_code == 409
    assert "model" in ann.send(id, 3, b"45").json()


def test_quota_holds_for_uploads_at_once(person, service):
    # Each of them alone has room, two together have not.
    ann = person(bytes=10_000)
    with ThreadPoolExecutor(8) as pool:

        def begin(_: int) -> bool:
            try:
                return bool(service.uploads.begin(ann.user.id, "m.onnx", 6_000))
            except QuotaError:
                return False

        assert sum(pool.map(begin, range(16))) == 1
    assert ann.used() == 6_000


def test_what_is_used_follows_what_there_is(person):
    ann = person(bytes=10_000)
    id = ann.begin(b"x" * 7_000)
    answer = ann.ask("POST", "/uploads", json={"name": "m", "bytes": 3_001})
    assert answer.status_code == 429 and "quota" in answer.json()["error"]
    model = ann.send(id, 0, b"x" * 7_000).json()["model"]
    assert ann.used() == 7_000
    ann.upload(b"y" * 3_000, "in.npz", purpose="inputs")
    assert ann.used() == 10_000
    assert ann.ask("DELETE", f"/models/{model}").status_code == 204
    (file,) = ann.ask("GET", "/inputs").json()
    assert (file["name"], ann.used()) == ("in.npz", 3_000)
    assert ann.ask("DELETE", f"/inputs/{file['id']}").status_code == 204
    assert ann.used() == 0


def test_an_empty_patch_finishes_what_a_killed_server_had(person, service):
    # Killed after the last byte, and killed after the store had the file.
    ann = person()
    for put in (False, True):
        content = some_bytes(5_000)
        id = ann.begin(content)
        with service.uploads.writing(ann.user.id, id, 0) as part:
            part.write(content)
        if put:
            service.blobs.put(id, service.folder / "uploads" / id)
            (service.folder / "uploads" / id).unlink(missing_ok=True)
        assert ann.ask("GET", f"/uploads/{id}").json()["offset"] == 5_000
        model = ann.send(id, 5_000, b"").json()["model"]
        shown = ann.ask("GET", f"/models/{model}").json()
        assert shown["sha256"] == hashlib.sha256(content).hexdigest()


class TestIdle:
    @pytest.fixture
    def limits(self) -> Limits:
        return Limits(free_bytes=0, idle_upload_seconds=0.2)

    def test_idle_uploads_are_swept(self, person, service):
        ann = person()
        id = ann.begin(b"12345")
        ann.send(id, 0, b"123")
        busy = ann.begin(b"12345")
        (service.folder / "uploads" / ("x" * 22)).write_bytes(b"of an upload that was deleted")
        with service.uploads.writing(ann.user.id, busy, 0) as part:
            time.sleep(0.3)
            service.sweep()
            part.write(b"12345")
        assert ann.ask("GET", f"/uploads/{id}").status_code == 404
        assert "model" in ann.send(busy, 5, b"").json()
        assert os.listdir(service.folder / "uploads") == []


def test_blobs_that_nobody_knows_are_swept_once_they_are_old(
    person, service, tmp_path, monkeypatch
):
    ann = person()
    model = ann.upload(b"known")
    stray = tmp_path / "stray"
    stray.write_bytes(b"of a server that was killed")
    service.blobs.put("s" * 22, stray)
    assert service.files.sweep() == 0
    now = time.time()
    monkeypatch.setattr("nnc.service.storage.files.time.time", lambda: now + 7200)
    assert service.files.sweep() == 1
    assert len(blobs_of(service)) == 1
    assert ann.ask("GET", f"/models/{model}").status_code == 200


def test_a_user_deleted_while_sending(person, service):
    ann = person()
    id = ann.begin(b"12345")
    with service.uploads.writing(ann.user.id, id, 0) as part:
        part.write(b"12345")
        service.accounts.remove(ann.user)
    assert ann.send(id, 5, b"").status_code == 401
    service.sweep()
    assert os.listdir(service.folder / "uploads") == []
    assert blobs_of(service) == set()


@pytest.mark.parametrize("digest", ["0" * 64, "F" * 64])
def test_digests_are_of_either_case(person, service, digest):
    ann = person()
    started = service.uploads.begin(ann.user.id, "m", 1, digest)
    assert started["sha256"] == digest.lower()


def test_errors_of_the_library(person, service):
    ann = person()
    with pytest.raises(InvalidError):
        service.uploads.begin(ann.user.id, "m", 1, purpose="other")
    id = ann.begin(b"12")
    with pytest.raises(ConflictError), service.uploads.writing(ann.user.id, id, 1):
        pass
