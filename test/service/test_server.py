"""The server as a process with a socket: slow clients, an orderly end, and kills in the middle."""

import hashlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from nnc.service.errors import ConflictError
from nnc.service.limits import Limits
from nnc.service.web.server import Listening, bind, serving
from nnc.service.web.settings import loopback_settings

from bench.service import Load, run_load

from .conftest import results, some_bytes

pytestmark = pytest.mark.service


@pytest.fixture
def limits() -> Limits:
    return Limits(free_bytes=0, request_seconds=0.6, idle_seconds=0.6, least_rate=1000)


@pytest.fixture
def address(service) -> Iterator[tuple[str, int]]:
    """Where a server listens for this test."""
    with bind("127.0.0.1", 0) as listener:
        host, port = listener.getsockname()
        with serving(service, loopback_settings(port), Listening(listener)):
            yield host, port


def head(address, method, path, token="", **headers) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {address[0]}:{address[1]}"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def answer(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection, or has answered whole."""
    connection.settimeout(20)
    said = b""
    while part := connection.recv(65536):
        said += part
        if b"\r\n\r\n" in said and b'"}' in said:
            break
    return said


@pytest.fixture
def token(service) -> str:
    return service.accounts.add_token(service.accounts.add("ann"), "test")[1]


class TestSlow:
    @pytest.fixture
    def stores(self) -> dict[str, str | None]:
        return {"database": None, "blobs": None}

    @pytest.mark.parametrize("beginning", [b"", b"GE", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: "])
    def test_a_head_that_does_not_end_is_hung_up_on(self, address, beginning):
        with socket.create_connection(address) as connection:
            connection.sendall(beginning)
            assert answer(connection) == b""

    def test_a_head_drop_by_drop(self, address):
        started = time.monotonic()
        with socket.create_connection(address) as connection, pytest.raises(OSError):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
            while time.monotonic() < started + 20:
                connection.sendall(b"y")
                time.sleep(0.05)
                connection.setblocking(False)
                try:
                    if connection.recv(1) == b"":
                        raise ConnectionResetError
                except BlockingIOError:
                    pass
                connection.setblocking(True)

    def test_a_second_head_on_the_same_connection(self, address):
        with socket.create_connection(address) as connection:
            connection.sendall(head(address, "GET", "/api/v1/me"))
            assert b"401" in answer(connection)
            connection.sendall(b"GET /api")
            assert answer(connection) == b""

    def test_a_connection_outlives_what_clients_keep_of_it(self, address):
        with socket.create_connection(address) as connection:
            for idle in (0, 5.5):  # httpx keeps an idle connection for 5 s
                time.sleep(idle)
                connection.sendall(head(address, "GET", "/api/v1/me"))
                assert b"401" in answer(connection)

    def test_a_body_that_does_not_come(self, address, token):
        sent = head(
            address, "POST", "/api/v1/uploads", token,
            Content_Type="application/json", Content_Length=50,
        )  # fmt: skip
        with socket.create_connection(address) as connection:
            connection.sendall(sent + b'{"name"')
            assert b" 408 " in answer(connection)

    @pytest.mark.parametrize("trickle", [False, True])
    def test_an_upload_that_stalls_keeps_what_came(self, address, service, token, trickle):
        ann = service.accounts.find("ann")
        id = service.uploads.begin(ann.id, "m.onnx", 100_000)["id"]
        sent = head(
            address, "PATCH", f"/api/v1/uploads/{id}", token, Upload_Offset=0,
            Content_Type="application/octet-stream", Content_Length=100_000,
        )  # fmt: skip
        with socket.create_connection(address) as connection:
            connection.sendall(sent + b"x" * 50)
            stop = threading.Event()

            def drip() -> None:
                while not stop.wait(0.1):
                    try:
                        connection.send(b"x")
                    except OSError:
                        return

            dripping = threading.Thread(target=drip)
            if trickle:
                dripping.start()
            assert b" 408 " in answer(connection)
            stop.set()
            if trickle:
                dripping.join()
        kept = service.uploads.get(ann.id, id)["offset"]
        assert 50 <= kept < 100_000
        with service.uploads.writing(ann.id, id, kept) as part:
            part.write(b"y" * (100_000 - kept))
        assert "model" in service.uploads.finish(ann.id, id)

    def test_a_client_that_goes_away_goes_on_later(self, address, service, token):
        ann, content = service.accounts.find("ann"), some_bytes(2_000_000)
        id = service.uploads.begin(ann.id, "m.onnx", len(content))["id"]
        sent = head(
            address, "PATCH", f"/api/v1/uploads/{id}", token, Upload_Offset=0,
            Content_Type="application/octet-stream", Content_Length=len(content),
        )  # fmt: skip
        with socket.create_connection(address) as connection:
            connection.sendall(sent + content[:1_000_000])
            while (seen := service.uploads.get(ann.id, id)["offset"]) < 500_000:
                time.sleep(0.02)
        assert 500_000 <= seen <= 1_000_000
        for _ in range(500):
            try:
                kept = service.uploads.get(ann.id, id)["offset"]
                with service.uploads.writing(ann.id, id, kept) as part:
                    part.write(content[kept:])
                break
            except ConflictError:  # the server has not noticed yet
                time.sleep(0.05)
        made = service.uploads.finish(ann.id, id)["model"]
        wanted = hashlib.sha256(content).hexdigest()
        assert service.models.get(ann.id, made)["sha256"] == wanted

    def test_metrics_and_documents_for_this_machine(self, address):
        for path, wanted in (("/metrics", b"nnc_jobs"), ("/openapi.json", b'"/api/v1/uploads"')):
            with socket.create_connection(address) as connection:
                connection.sendall(head(address, "GET", path, Connection="close"))
                connection.settimeout(20)
                said = b"".join(iter(lambda: connection.recv(65536), b""))
                assert b" 200 " in said and wanted in said


class TestEnd:
    @pytest.fixture
    def limits(self) -> Limits:
        return Limits(free_bytes=0)

    def test_streams_of_events_end_with_the_server(self, service, token, tmp_path):
        ann = service.accounts.find("ann")
        upload = service.uploads.begin(ann.id, "m.onnx", 1)["id"]
        with service.uploads.writing(ann.id, upload, 0) as part:
            part.write(b"x")
        model = service.uploads.finish(ann.id, upload)["model"]
        looked = service.queue.claim("test", 60)
        service.queue.finish(looked, "done", {}, results(tmp_path / "out", log="l"))
        from nnc.service.orders import Wish

        order = service.orders.add(ann.id, model, Wish(["host"], ["f32"], [1], 0, [], None))
        with bind("127.0.0.1", 0) as listener:
            address = listener.getsockname()
            with serving(service, loopback_settings(address[1]), Listening(listener)):
                connection = socket.create_connection(address)
                path = f"/api/v1/orders/{order['id']}/events"
                connection.sendall(head(address, "GET", path, token))
                connection.settimeout(20)
                said = b""
                while b"event: job" not in said:
                    said += connection.recv(65536)
                ending = time.monotonic()
            assert time.monotonic() - ending < 8
            with connection:
                while part := connection.recv(65536):
                    said += part
        # The browser is to come again: this was no end of the order.
        assert b"event: end" not in said


def test_a_service_that_is_killed_loses_nothing(tmp_path, stores):
    load = Load(uploads=6, bytes=2_000_000, jobs=60, kills=3, job_seconds=0.03)
    found = run_load(load, tmp_path / "service", **stores)
    assert found.complaints == []
    assert len(found.peaks) == 4 and max(found.peaks) < 500e6


def test_one_server_for_a_folder(tmp_path):
    command = [sys.executable, "-m", "nnc.tools.nnc", "serve", str(tmp_path / "s"), "--port", "0"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout is not None
        assert first.stdout.readline().startswith("nnc serve: http://127.0.0.1:")
        assert "/sign-in#nnc_" in first.stdout.readline()
        second = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert second.returncode == 1 and "another nnc serve" in second.stderr
        first.send_signal(signal.SIGTERM)
        assert first.wait(60) == 0
    finally:
        first.kill()
        first.wait()
