"""A service for each test, on each kind of store: SQLite and a folder, PostgreSQL and S3."""

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

NEEDED = ("fastapi", "jsonschema", "moto", "sqlalchemy")
INSTALLED = all(find_spec(name) for name in NEEDED)

if not INSTALLED:
    collect_ignore_glob = ["*.py"]  # the marker `service` needs the extra `service-test`
else:
    from nnc.service.accounts import User
    from nnc.service.catalogue import Catalogue, EngineEntry, TargetEntry
    from nnc.service.limits import Limits
    from nnc.service.service import Service
    from nnc.service.web.app import make_app
    from nnc.service.web.settings import WebSettings
    from starlette.testclient import TestClient

    from bench.stores import ObjectStore, Postgres

ORIGIN = "http://testserver"

CATALOGUE = (
    Catalogue(
        [TargetEntry("host", "this machine", True), TargetEntry("c", "C", False, "no figures")],
        [EngineEntry("nnc", "this compiler", True), EngineEntry("tvm", "TVM", False, "missing")],
        ("f32", "f16"),
    )
    if INSTALLED
    else None
)


@pytest.fixture(scope="session")
def postgres() -> Iterator["Postgres"]:
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def object_store() -> Iterator["ObjectStore"]:
    with ObjectStore() as server:
        yield server


@pytest.fixture(params=["sqlite-folder", "postgresql-s3"])
def stores(request: pytest.FixtureRequest) -> dict[str, str | None]:
    """Where a service keeps what it has, as `Service` takes it."""
    if request.param == "sqlite-folder":
        return {"database": None, "blobs": None}
    database = request.getfixturevalue("postgres").new_database()
    blobs = request.getfixturevalue("object_store").new_bucket()
    return {"database": database, "blobs": blobs}


@pytest.fixture
def limits() -> "Limits":
    """Tests with others have a fixture of this name."""
    return Limits(free_bytes=0)


@pytest.fixture
def service(tmp_path: Path, stores: dict[str, str | None], limits: "Limits") -> Iterator["Service"]:
    made = Service(tmp_path / "service", catalogue=CATALOGUE, limits=limits, **stores)
    yield made
    made.close()


@pytest.fixture
def http(service: "Service") -> Iterator["TestClient"]:
    """The application, asked without a network."""
    app = make_app(service, WebSettings((ORIGIN,)))
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client:
        yield client


@dataclass
class Person:
    """A user who asks the REST interface with a token."""

    http: "TestClient"
    service: "Service"
    user: "User"
    token: str

    def ask(self, method: str, path: str, **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        return self.http.request(method, f"/api/v1{path}", headers=headers, **more)

    def begin(self, content: bytes, name: str = "model.onnx", **more: Any) -> str:
        asked = {"name": name, "bytes": len(content), **more}
        answer = self.ask("POST", "/uploads", json=asked)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def send(self, id: str, offset: int, content: Any) -> Any:
        headers = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
        return self.ask("PATCH", f"/uploads/{id}", headers=headers, content=content)

    def upload(self, content: bytes = b"a model", name: str = "model.onnx", **more: Any) -> str:
        """Send a file; the id of what it became."""
        id = self.begin(content, name, sha256=hashlib.sha256(content).hexdigest(), **more)
        answer = self.send(id, 0, content)
        assert answer.status_code == 200, answer.text
        return answer.json()[more.get("purpose", "model")]

    def order(self, model: str, **wish: Any) -> dict[str, Any]:
        answer = self.ask("POST", f"/models/{model}/orders", json=wish)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def used(self) -> int:
        return self.ask("GET", "/me").json()["used"]["bytes"]


@pytest.fixture
def person(http: "TestClient", service: "Service") -> Iterator[Any]:
    """Makes users: `person("ann", bytes=1000)`."""

    def make(name: str = "ann", operator: bool = False, **quota: int) -> Person:
        allowed = replace(service.limits.quota, **quota)
        user = service.accounts.add(name, allowed, operator=operator)
        _, token = service.accounts.add_token(user, "test")
        return Person(http, service, user, token)

    return make


def some_bytes(count: int) -> bytes:
    """Bytes that no two calls have in common."""
    return secrets.token_bytes(count)


def results(folder: Path, **contents: str) -> dict[str, Path]:
    """Files as a job's commands leave them."""
    folder.mkdir(exist_ok=True)
    made = {}
    for name, content in contents.items():
        made[name] = folder / f"{name}.{secrets.token_hex(4)}"
        made[name].write_text(content)
    return made


def blobs_of(service: "Service") -> set[str]:
    """Identifiers that the store has."""
    return {id for id, _ in service.blobs.identifiers()}
