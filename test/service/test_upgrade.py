"""A newer nnc on what an older one has written: read as it is, brought up to date, or refused."""

import hashlib
import sqlite3
from pathlib import Path

import pytest
from nnc.ir.diagnostics import NncError
from nnc.service.limits import Limits
from nnc.service.service import Service
from nnc.service.storage import database
from nnc.service.storage.schema import SCHEMA_VERSION, meta
from nnc.service.web.app import make_app
from nnc.service.web.settings import WebSettings
from sqlalchemy import Connection, text
from starlette.testclient import TestClient

from .conftest import CATALOGUE, ORIGIN

pytestmark = pytest.mark.service

FILES = Path(__file__).parent / "files"
# What version1.sql has, which `iterdump` wrote of the database of an nnc before pages were jobs.
TOKEN = "nnc_4yp6FSjAnCED6EEvFCHWhpE0srmrqL7FkDWaDAsZGyA"
CONTENTS = (
    b"a model", b"another", b"<p>inside", b"looked\n", b"package", b"<p>report",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A service's folder as an older nnc left it: killed while it looked at a model."""
    home = tmp_path / "service"
    home.mkdir()
    opened = sqlite3.connect(home / "service.sqlite")
    opened.executescript((FILES / "version1.sql").read_text())
    by_digest = {hashlib.sha256(one).hexdigest(): one for one in CONTENTS}
    for id, digest in opened.execute("SELECT id, sha256 FROM blobs"):
        place = home / "blobs" / id[:2] / id
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(by_digest[digest])
    opened.close()
    return home


def opened(folder: Path) -> Service:
    return Service(folder, catalogue=CATALOGUE, limits=Limits(free_bytes=0))


def test_all_that_was_stored_is_there(folder: Path) -> None:
    service = opened(folder)
    app = make_app(service, WebSettings((ORIGIN,)))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with TestClient(app, base_url=f"{ORIGIN}/api/v1", headers=headers) as http:
        assert http.get("/me").json()["user"] == "ann"
        running, ready = http.get("/models").json()
        assert [(m["name"], m["state"]) for m in (ready, running)] == [
            ("ready.onnx", "ready"), ("running.onnx", "looking"),
        ]  # fmt: skip
        assert ready["pages"] == {"explore": True, "making": False}
        assert http.get(f"/models/{ready['id']}").json()["look"] == {"format": "ONNX"}
        assert http.get(f"/models/{ready['id']}/explore").text == "<p>inside"
        (order,) = http.get("/orders").json()
        done, queued = http.get(f"/orders/{order['id']}").json()["jobs"]
        assert (done["state"], done["report"]) == ("done", {"median_ms": 1.5})
        assert http.get(f"/jobs/{done['id']}/package").content == b"package"
        assert queued["state"] == "queued"
        # The look that was lost begins again, and goes on as looks do now.
        service.queue.release("old:1")
        look = service.queue.claim("new:1", 60)
        assert look is not None and look.kind == "look" and look.model_name == "running.onnx"
        assert service.queue.go_on(look, "page", {"format": "ONNX"}, {})
        assert http.get(f"/models/{running['id']}").json()["state"] == "ready"
        package = service.queue.claim("new:1", 60)
        while package is not None and package.kind != "package":
            package = service.queue.claim("new:1", 60)
        assert package is not None and package.id == queued["id"]
        assert http.delete(f"/models/{ready['id']}").status_code == 204
    service.files.reap()
    assert len(list(service.blobs.identifiers())) == 1
    service.close()


def add_note(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE users ADD COLUMN note TEXT DEFAULT 'none yet'"))


def fail(connection: Connection) -> None:
    raise RuntimeError("the power went")


def newer(monkeypatch: pytest.MonkeyPatch, *steps) -> int:
    """Have nnc know of further versions, which these steps make; the last one."""
    last = SCHEMA_VERSION + len(steps)
    monkeypatch.setattr(database, "SCHEMA_VERSION", last)
    made = dict(enumerate(steps, SCHEMA_VERSION + 1))
    monkeypatch.setattr(database, "MIGRATIONS", {**database.MIGRATIONS, **made})
    return last


def version_of(service: Service) -> str | None:
    with service.database.read() as connection:
        return connection.scalar(text("SELECT value FROM meta WHERE key = 'version'"))


def test_a_newer_version_changes_the_tables_once(stores, tmp_path, monkeypatch) -> None:
    made = Service(tmp_path / "s", catalogue=CATALOGUE, **stores)
    made.accounts.add("ann", made.limits.quota)
    made.close()
    last = newer(monkeypatch, add_note)
    for _ in range(2):
        service = Service(tmp_path / "s", catalogue=CATALOGUE, **stores)
        assert version_of(service) == str(last)
        with service.database.read() as connection:
            rows = connection.execute(text("SELECT name, note FROM users")).all()
        assert [tuple(row) for row in rows] == [("ann", "none yet")]
        service.close()


def test_a_change_that_fails_leaves_all_as_it_was(stores, tmp_path, monkeypatch) -> None:
    made = Service(tmp_path / "s", catalogue=CATALOGUE, **stores)
    made.accounts.add("ann", made.limits.quota)
    made.close()
    with monkeypatch.context() as context:
        newer(context, add_note, fail)
        with pytest.raises(RuntimeError, match="the power went"):
            Service(tmp_path / "s", catalogue=CATALOGUE, **stores)
    service = Service(tmp_path / "s", catalogue=CATALOGUE, **stores)
    assert version_of(service) == str(SCHEMA_VERSION)
    with service.database.read() as connection:
        row = connection.execute(text("SELECT * FROM users")).mappings().one()
    assert row["name"] == "ann" and "note" not in row
    service.close()


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (str(SCHEMA_VERSION + 1), "use a newer nnc"),
        ("0", "first start an nnc between the two"),
        ("-3", "first start an nnc between the two"),
        ("two", "of no version that is a number"),
        (None, "is not a database of nnc"),
    ],
)
def test_what_cannot_be_brought_up_to_date_is_refused(folder: Path, version, message) -> None:
    """In one line, and without a change."""
    service = opened(folder)
    with service.database.write() as connection:
        connection.execute(meta.update().where(meta.c.key == "version").values(value=version))
    service.close()
    before = sqlite3.connect(folder / "service.sqlite")
    dumped = list(before.iterdump())
    with pytest.raises(NncError, match=message) as raised:
        opened(folder)
    assert "\n" not in raised.value.message
    assert list(before.iterdump()) == dumped
