"""A full disk at each place where the service writes: one clear answer, and nothing lost."""

import errno
import os
import sqlite3

import pytest
from nnc.service.errors import StoreFullError
from nnc.service.limits import Limits

from .conftest import blobs_of, results

pytestmark = pytest.mark.service


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def stores() -> dict[str, str | None]:
    """The disks that are ours to fill."""
    return {"database": None, "blobs": None}


def test_while_an_upload_arrives(person, monkeypatch):
    ann = person()
    id = ann.begin(b"12345")
    ann.send(id, 0, b"12")
    with monkeypatch.context() as patched:
        patched.setattr("nnc.service.uploads.os.write", full)
        answer = ann.send(id, 2, b"345")
    assert answer.status_code == 507 and "disk of the service is full" in answer.json()["error"]
    assert ann.ask("GET", f"/uploads/{id}").json()["offset"] == 2
    assert "model" in ann.send(id, 2, b"345").json()


def test_when_only_a_part_of_it_fits(person, monkeypatch):
    ann = person()
    id = ann.begin(b"12345")
    written = os.write

    def half(handle, view):
        if len(view) < 3:
            full()
        return written(handle, view[:3])

    with monkeypatch.context() as patched:
        patched.setattr("nnc.service.uploads.os.write", half)
        assert ann.send(id, 0, b"12345").status_code == 507
    assert ann.ask("GET", f"/uploads/{id}").json()["offset"] == 3
    model = ann.send(id, 3, b"45").json()["model"]
    job = ann.service.queue.claim("test", 60)
    assert b"".join(ann.service.blobs.read(job.blobs["model"])) == b"12345"
    assert job.model_name == "model.onnx" and model


@pytest.mark.parametrize("place", ["os.replace", "os.fsync", "Path.mkdir"])
def test_when_the_store_takes_an_upload(person, service, monkeypatch, place):
    ann = person()
    id = ann.begin(b"12345")
    with monkeypatch.context() as patched:
        patched.setattr(f"nnc.service.storage.folder_blobs.{place}", full)
        assert ann.send(id, 0, b"12345").status_code == 507
    assert ann.ask("GET", f"/uploads/{id}").json()["offset"] == 5
    assert "model" in ann.send(id, 5, b"").json()
    assert blobs_of(service) == {id}


def test_when_a_result_is_stored(person, service, tmp_path, monkeypatch):
    ann = person()
    ann.upload()
    job = service.queue.claim("test", 60)
    files = results(tmp_path / "out", log="said", report="<p>")
    with monkeypatch.context() as patched:
        patched.setattr("nnc.service.storage.folder_blobs.os.replace", full)
        with pytest.raises(StoreFullError):
            service.queue.finish(job, "done", {}, files)
    assert not service.queue.cancelled(job)
    assert service.queue.finish(job, "done", {}, files)


@pytest.mark.parametrize("place", ["folder", "file"])
def test_when_a_job_fetches_its_files(person, service, tmp_path, monkeypatch, place):
    ann = person()
    ann.upload()
    job = service.queue.claim("test", 60)
    if place == "folder":
        monkeypatch.setattr("nnc.service.storage.blobs.Path.mkdir", full)
    else:
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "model.onnx").symlink_to("/dev/full")
    with pytest.raises(StoreFullError):
        service.queue.fetch(job, tmp_path)


def test_when_the_database_grows(person, service):
    # SQLite says a full disk itself once it may have no more pages.
    ann = person()
    with service.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    limit = f"PRAGMA max_page_count = {pages}"

    def limited(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(limit)

    from sqlalchemy import event

    service.database.close()
    event.listen(service.database.engine, "connect", limited)
    answers = [ann.ask("POST", "/tokens", json={"name": "x" * 200}) for _ in range(60)]
    event.remove(service.database.engine, "connect", limited)
    service.database.close()
    assert {answer.status_code for answer in answers} == {201, 507}
    refused = [a.json()["error"] for a in answers if a.status_code == 507]
    assert set(refused) == {"the disk of the service is full"}
    made = sum(answer.status_code == 201 for answer in answers)
    assert len(ann.ask("GET", "/tokens").json()) == 1 + made
    assert ann.ask("POST", "/tokens", json={"name": "again"}).status_code == 201


class TestNoRoom:
    @pytest.fixture
    def limits(self) -> Limits:
        return Limits(free_bytes=1 << 60)

    def test_an_upload_that_has_no_room_does_not_begin(self, person):
        ann = person()
        answer = ann.ask("POST", "/uploads", json={"name": "m.onnx", "bytes": 1})
        assert answer.status_code == 507 and "no room" in answer.json()["error"]
