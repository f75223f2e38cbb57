"""The client of nnc serve against servers that are none, or that mean harm.

Whatever they answer: one line, no file, no time or memory without bounds, no request elsewhere.
"""

import json
import socket
import ssl
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from distributed import Security
from nnc.ir.diagnostics import NncError
from nnc.service.remote import Patience, Remote, RemoteError, events, exchange
from nnc.service.remote.address import checked_url

pytestmark = pytest.mark.service

ID = "A" * 22
MODEL = {
    "id": ID, "name": "m.onnx", "bytes": 1, "sha256": "0" * 64, "created": 1.0, "state": "ready",
    "error": None, "look_job": None, "pages": {"explore": False}, "look": None,
}  # fmt: skip
JOB = {
    "id": ID, "kind": "package", "model": ID, "order": ID, "options": {}, "state": "running",
    "place": None, "progress": None, "error": None, "report": None, "files": [], "created": 1.0,
    "started": None, "ended": None,
}  # fmt: skip
ORDER = {
    "id": ID, "model": ID, "inputs": None, "options": {}, "created": 1.0, "jobs": [JOB],
    "comparison": None,
}  # fmt: skip
UPLOAD = {"id": ID, "name": "m", "purpose": "model", "bytes": 3, "created": 1.0, "offset": 0}


def answer(body, status="200 OK", **headers) -> bytes:
    """An answer of HTTP; the body is JSON unless it is bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"Content-Type": "application/json", "Content-Length": len(data)}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + data


class Fake:
    """A server that answers requests by what `answers` has for the beginning of each."""

    def __init__(self, answers, tls=None) -> None:
        self.answers, self.tls = answers, tls
        self.asked: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                one, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one: socket.socket) -> None:
        with suppress(OSError), one:
            if self.tls is not None:
                one = self.tls.wrap_socket(one, server_side=True)
            while True:
                head = b""
                while b"\r\n\r\n" not in head:
                    if not (part := one.recv(65536)):
                        return
                    head += part
                head, _, body = head.partition(b"\r\n\r\n")
                lines = head.decode().split("\r\n")
                length = next(
                    (int(l[15:]) for l in lines if l.lower().startswith("content-length:")), 0
                )
                while len(body) < length:
                    body += one.recv(65536)
                asked = " ".join(lines[0].split(" ")[:2]).replace("/api/v1", "")
                self.asked.append(asked)
                found = next(a for start, a in self.answers.items() if asked.startswith(start))
                for piece in [found] if isinstance(found, bytes) else found():
                    one.sendall(piece)
                if not isinstance(found, bytes):
                    return


@contextmanager
def fake(timeout=5.0, **answers):
    """A client of a server that answers so; `GET_x=..` is for GET /x."""
    server = Fake(
        {name.replace("_", " /", 1): value for name, value in answers.items()} | {"": b""}
    )
    patience = Patience(seconds=0.2, first=0.01)
    try:
        with Remote(server.url, "token", timeout=timeout, patience=patience) as remote:
            remote.asked = server.asked
            yield remote
    finally:
        server.listener.close()


def refused(call, match: str) -> NncError:
    """The error of a call, which is soon there, one line, and for a person."""
    began = time.monotonic()
    with pytest.raises(NncError, match=match) as found:
        call()
    assert len(found.value.message.splitlines()) == 1 and len(found.value.message) < 1000
    assert time.monotonic() - began < 20
    return found.value


def endless(first: bytes, piece: bytes):
    """An answer without an end, in chunks."""

    def pieces():
        yield first
        while True:
            yield b"%x\r\n%s\r\n" % (len(piece), piece)

    return pieces


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
JSON_CHUNKS, EVENT_CHUNKS = (CHUNKED % kind for kind in (b"application/json", b"text/event-stream"))


@pytest.mark.parametrize(
    ("said", "match"),
    [
        (lambda: [b"SSH-2.0-OpenSSH_9.9\r\n"], "not HTTP, or not all of one"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 300_000 + b"\r\n\r\n", "not HTTP, or not all"),
        (answer(b"<html>", Content_Type="text/html"), "text/html in place of application/json"),
        (answer(b"[]", Content_Type=None), "of type none in place of application/json"),
        (answer(b"{", "200 OK"), "fault at the whole"),
        (answer(b"[" * 100_000), "fault at the whole"),
        (answer(b"\xff\xfe[]"), "fault at the whole"),
        (answer({}), "fault at the whole"),
        (answer([{**MODEL, "id": "../../tokens"}]), "fault at 0.id"),
        (answer([{**MODEL, "id": "x/../y"}]), "fault at 0.id"),
        (answer([{**MODEL, "id": 3}]), "fault at 0.id"),
        (answer([{**MODEL, "bytes": -1}]), "fault at 0.bytes"),
        (answer([{**MODEL, "bytes": 1 << 80}]), "fault at 0.bytes"),
        (answer([{**MODEL, "bytes": 1.5}]), "fault at 0.bytes"),
        (answer([{**MODEL, "created": float("nan")}]), "fault at 0.created"),
        (answer([{**MODEL, "sha256": "A" * 64}]), "fault at 0.sha256"),
        (answer([{**MODEL, "state": "new"}]), "fault at 0.state"),
        (answer([{k: v for k, v in MODEL.items() if k != "name"}]), "fault at 0.name"),
        (answer(b"[" + b"1" * 100_000 + b"]"), "fault at"),
        (answer(b"x", Content_Encoding="gzip"), "a compressed answer"),
        (answer(b"", "302 Found", Location="http://192.0.2.1/"), "sends on to http://192.0.2.1/"),
        (answer(b"not found", "404 Not Found"), "status 404 without a reason.*this is nnc"),
        (answer([], "404 Not Found"), "status 404 without a reason"),
        (answer({"error": 3}, "400 Bad Request"), "status 400 without a reason"),
        (
            answer({"error": "a\n\x1b[31mb " + "c" * 9999}, "400 Bad Request"),
            r"a \x1b\[31mb c+\.\.",
        ),
        (answer({"error": "out of order"}, "500 X"), "the server failed: out of order"),
        (answer(b"bad gateway", "502 X"), r"not ready \(status 502\)"),
        (answer({"error": "later"}, "503 X", Retry_After="9" * 5), "later"),
        (answer({"error": "no"}, "401 X"), "the token is not valid"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "fault at the whole"),
        (lambda: [b"HTTP/1.1 999 X\r\n\r\n"], "status 999 without a reason|not HTTP"),
    ],
)
def test_answers_that_are_none(said, match):
    with fake(GET=said) as remote:
        refused(remote.models, match)
        assert set(remote.asked) == {"GET /models"}


def test_answers_without_an_end(monkeypatch):
    monkeypatch.setattr(exchange, "MOST_JSON", 1 << 20)
    with fake(GET=endless(JSON_CHUNKS, b" " * 50_000)) as remote:
        refused(remote.models, "more than 1 MiB at once")
        refused(lambda: remote.log(ID), "of type application/json in place of text/plain")
    with fake(
        GET=endless(b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n", b"x" * 9000)
    ) as remote:
        refused(remote.models, "status 500 without a reason")
    with fake(GET=endless(b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 1000)) as remote:
        refused(remote.models, "not HTTP, or not all of one")


def test_answers_that_drip(monkeypatch):
    monkeypatch.setattr(exchange, "LONGEST", 0.5)

    def dripping():
        yield JSON_CHUNKS
        while True:
            yield b"1\r\n \r\n"
            time.sleep(0.05)

    def silent():
        yield JSON_CHUNKS
        time.sleep(1)

    with fake(GET=dripping) as remote:
        refused(remote.models, "takes more than")
    with fake(0.2, GET=silent) as remote:
        refused(remote.models, "the server does not answer any more")


@pytest.mark.parametrize(
    ("begun", "sent", "match"),
    [
        (UPLOAD, {**UPLOAD, "offset": 0}, "an upload that does not get on"),
        ({**UPLOAD, "offset": 9}, UPLOAD, "more bytes of a file than it has"),
        (UPLOAD, {**UPLOAD, "offset": -1}, "fault at offset"),
        (UPLOAD, {**UPLOAD, "offset": 3}, "an upload that does not get on"),
        (UPLOAD, {**UPLOAD, "offset": 3, "inputs": ID}, "an upload that does not get on"),
        ({**UPLOAD, "id": "../x"}, UPLOAD, "fault at id"),
        ({**UPLOAD, "id": ID + "?x=y"}, UPLOAD, "fault at id"),
        (UPLOAD, {**UPLOAD, "offset": 3, "model": "../../me"}, "fault at model"),
    ],
)
def test_uploads_to_servers_that_lie(tmp_path, begun, sent, match):
    (tmp_path / "m").write_bytes(b"xyz")
    said = {"GET_uploads/": answer(sent), "GET": answer([]), "PATCH": answer(sent)}
    with fake(**said, POST=answer(begun)) as remote:
        refused(lambda: remote.upload(tmp_path / "m"), match)
        assert sum(asked.startswith("PATCH") for asked in remote.asked) < 40


GOOD = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
"""Of `abc`."""


@pytest.mark.parametrize(
    ("said", "match"),
    [
        (answer(b"abd", Repr_Digest=GOOD), "is damaged: what arrived has another digest"),
        (answer(b"abc"), "a file without its digest or its size"),
        (answer(b"abc", Repr_Digest="sha-256=:YWJj:"), "a file without its digest or its size"),
        (answer(b"abc", Repr_Digest="md5=:YWJj:"), "a file without its digest or its size"),
        (lambda: [answer(b"abc", Repr_Digest=GOOD, Content_Length=10)], "not all of one"),
        (answer(b"abc", Repr_Digest=GOOD, Content_Length=-1), "not HTTP|without its digest"),
        (answer(b"abc", Repr_Digest=GOOD, Content_Length=None), "without its digest or its size"),
        (answer(b"abc", Repr_Digest=GOOD, Content_Encoding="br"), "a compressed answer"),
        (answer({"error": "no"}, "404 X"), f"there is no package of job '{ID}', or no longer"),
        (answer({"error": "no"}, "410 X"), f"there is no package of job '{ID}', or no longer"),
    ],
)
def test_packages_that_are_damaged(tmp_path, said, match):
    with fake(GET_jobs=said) as remote:
        refused(lambda: remote.download(ID, tmp_path / "p.zip"), match)
    assert not list(tmp_path.iterdir())


def test_the_name_of_a_file_is_the_users(tmp_path):
    evil = 'attachment; filename="../../evil"'
    with fake(GET_jobs=answer(b"abc", Repr_Digest=GOOD, Content_Disposition=evil)) as remote:
        remote.download(ID, tmp_path / "p.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["p.zip"]
    assert (tmp_path / "p.zip").read_bytes() == b"abc"


@pytest.mark.parametrize("name", ["../x", "a b", "", "x" * 129, "a/b", "a?b", "a#b", "%2e%2e", "é"])
def test_ids_that_are_none(name):
    with fake() as remote:
        refused(lambda: remote.model(name), "is not an id")
        refused(lambda: remote.delete_model(name), "is not an id")
        assert not remote.asked


@pytest.mark.parametrize(
    ("said", "match"),
    [
        (answer(b"[]"), "application/json in place of text/event-stream"),
        (endless(EVENT_CHUNKS, b"x" * 50_000), "an event without an end"),
        (endless(EVENT_CHUNKS, b"data: " + b"x" * 50_000 + b"\n"), "an event without an end"),
        (
            answer(b"event: job\ndata: {\n\n", Content_Type="text/event-stream"),
            "fault at the whole",
        ),
        (answer({"error": "no"}, "404 X"), "there is no order"),
    ],
)
def test_events_that_are_none(monkeypatch, said, match):
    monkeypatch.setattr(events, "MOST_EVENT", 1 << 20)
    monkeypatch.setattr(events, "LEAST", 0.01)
    with fake(**{f"GET_orders/{ID}/events": said, "GET_orders": answer(ORDER)}) as remote:
        refused(lambda: list(remote.watch(ID)), match)


def test_jobs_that_no_order_has_are_not_told_of(monkeypatch):
    monkeypatch.setattr(events, "LEAST", 0.01)
    asked = []

    def order():
        asked.append(1)
        state = "running" if len(asked) < 3 else "done"
        yield answer({**ORDER, "jobs": [{**JOB, "state": state}]})

    others = b"".join(
        b"event: job\ndata: %s\n\n" % json.dumps({**JOB, "id": f"other{n}"}).encode()
        for n in range(100)
    )
    said = answer(
        b"event: other\ndata: {\n\n: words\n\n" + others, Content_Type="text/event-stream"
    )
    with fake(**{f"GET_orders/{ID}/events": said, "GET_orders": order}) as remote:
        assert [job.state for job in remote.watch(ID)] == ["running", "done"]


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("nnc.example.org", "a server is https://HOST"),
        ("ftp://nnc.example.org", "a server is https://HOST"),
        ("https://", "a server is https://HOST"),
        ("https://user:secret@nnc.example.org", "a server is https://HOST"),
        ("https://nnc.example.org/?x", "a server is https://HOST"),
        ("https://nnc.example.org:99999", "a server is https://HOST"),
        ("https://nnc.example.org/\r\nX: y", "a server is https://HOST"),
        ("https://[::1", "a server is https://HOST"),
        ("http://nnc.example.org", "would show the token"),
        ("http://192.0.2.1:8080", "would show the token"),
        ("http://127.0.0.1.example.org", "would show the token"),
    ],
)
def test_addresses_that_are_none(url, match):
    refused(lambda: Remote(url, "token"), match)


def test_addresses():
    assert checked_url("http://127.0.0.1:8080/", plain=False) == "http://127.0.0.1:8080"
    assert checked_url("http://[::1]:8080", plain=False) == "http://[::1]:8080"
    assert checked_url("http://localhost", plain=False) == "http://localhost"
    assert checked_url("http://nnc:8080", plain=True) == "http://nnc:8080"
    assert checked_url("https://nnc.example.org/nnc/", False) == "https://nnc.example.org/nnc"


@pytest.mark.parametrize("token", ["", "a b", "tökén", "a\r\nX: y", "x" * 2000])
def test_tokens_that_are_none(token):
    said = "a token has letters" if token else "no token was given"
    error = refused(lambda: Remote("https://nnc.example.org", token), said)
    assert not token or token not in error.message


def test_tls(tmp_path):
    """A certificate that nobody has signed; one that the user trusts; no TLS at all."""
    trustee = Security.temporary()

    (tmp_path / "key.pem").write_text(trustee.tls_client_key)
    (tmp_path / "certificate.pem").write_text(trustee.tls_client_cert)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    server, plain = Fake({"GET": answer([])}, context), socket.create_server(("127.0.0.1", 0))

    def refuse():
        one, _ = plain.accept()
        one.recv(1 << 16)
        one.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        one.close()

    threading.Thread(target=refuse, daemon=True).start()
    with Remote(server.url.replace("http:", "https:"), "token") as remote:
        refused(remote.models, "the server's certificate is not to be trusted.*--certificates")
    with Remote(f"https://127.0.0.1:{plain.getsockname()[1]}", "token") as remote:
        refused(remote.models, r"TLS failed.*is it a server of http://\?")
    refused(
        lambda: Remote("https://127.0.0.1", "t", certificates=tmp_path / "no"),
        "has no certificates",
    )
    refused(
        lambda: Remote("https://127.0.0.1", "t", certificates=tmp_path / "key.pem"),
        "'.*key.pem' has no certificates",
    )
    assert not server.asked


def test_requests_that_may_have_been_carried_out_are_not_sent_twice():
    def broken():
        yield b"HTTP/1.1 201 Created\r\n"

    with fake(GET=answer([]), POST=broken, DELETE=broken) as remote:
        remote.models()
        refused(lambda: remote.order(ID), "not all of one")
        assert remote.asked.count(f"POST /models/{ID}/orders") == 1
        refused(lambda: remote.delete_model(ID), "not all of one")
        assert remote.asked.count(f"DELETE /models/{ID}") > 2


def test_what_an_earlier_try_has_deleted_is_deleted():
    tries = []

    def once():
        tries.append(1)
        gone = answer({"error": "no such model"}, "404 X", Connection="close")
        yield b"HTTP/1.1 2" if len(tries) == 1 else gone

    with fake(GET=answer([]), DELETE=once) as remote:
        remote.models()
        remote.delete_model(ID)
        assert len(tries) == 2
        refused(lambda: remote.delete_model(ID), "there is no model")


def test_a_server_that_asks_to_wait(monkeypatch):
    tries = []

    def later():
        tries.append(time.monotonic())
        busy = answer({"error": "busy"}, "503 X", Retry_After="1")
        yield busy if len(tries) == 1 else answer(ORDER, "201 Created")

    with fake(GET=answer([]), POST=later) as remote:
        remote._exchange.patience = Patience(seconds=5, first=0.01)
        remote.models()
        assert remote.order(ID).id == ID
        assert tries[1] - tries[0] >= 1
    with pytest.raises(RemoteError), fake(GET=answer({"error": "full"}, "429 X")) as remote:
        remote.models()
    assert remote.asked == ["GET /models"]
