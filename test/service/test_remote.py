"""The client of nnc serve against the real service, served on loopback."""

import hashlib
import io
import threading
import time
import zipfile

import pytest
from nnc.ir.diagnostics import NncError
from nnc.service.limits import Limits, Quota
from nnc.service.remote import Patience, Remote, RemoteError
from nnc.service.remote import uploads as uploads_module

from .remote_serving import Cutting, free_port, served

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    with served(tmp_path_factory.mktemp("service")) as one:
        yield one


@pytest.fixture
def user(serving):
    """A client of a user of one's own."""
    user.number = getattr(user, "number", 0) + 1
    with serving.remote(serving.add_user(f"user{user.number}")) as remote:
        yield remote


def some_bytes(count: int, seed: int = 0) -> bytes:
    return hashlib.shake_128(b"%d" % seed).digest(count)


def content(serving, model: str) -> bytes:
    """What the service has of a model."""
    with serving.service.database.read() as connection:
        from nnc.service.storage.schema import models
        from sqlalchemy import select

        blob = connection.scalar(select(models.c.blob).where(models.c.id == model))
    return b"".join(serving.service.blobs.read(blob))


def packaged(serving, data: bytes):
    """Carry out the next job, whose package is these bytes."""

    def finish(job, folder):
        for name in ("package", "report", "log"):
            (folder / name).write_bytes(data if name == "package" else f"<{name}>".encode())
        files = {name: folder / name for name in ("package", "report", "log")}
        assert serving.service.queue.finish(job, "done", {"median_ms": 1.5}, files)

    serving.work(finish)


def test_the_whole_way(serving, user, tmp_path):
    data = some_bytes(300_000)
    (tmp_path / "m.onnx").write_bytes(data)
    (tmp_path / "x.npz").write_bytes(b"npz")
    told = []
    model = user.upload(tmp_path / "m.onnx", progress=lambda *at: told.append(at))
    assert (model.name, model.bytes, model.state) == ("m.onnx", len(data), "looking")
    assert told[-1] == (len(data), len(data)) and told == sorted(told)
    assert content(serving, model.id) == data
    serving.look_at_all()
    assert user.look(model.id).look == {"operations": 7}
    order = user.order(
        model.id, targets=["host", "c"], threads=[1, 2], seconds=3, inputs=tmp_path / "x.npz"
    )
    assert [job.options["target"] for job in order.jobs] == ["host", "c"]
    assert order.jobs[0].options["threads"] == [1, 2] and order.inputs == user.inputs()[0].id
    watched = []
    watching = threading.Thread(target=lambda: watched.extend(user.watch(order.id)))
    watching.start()
    packages = [some_bytes(500_000, seed) for seed in (1, 2)]
    for package in packages:
        packaged(serving, package)
    watching.join(20)
    assert [job.state for job in watched if job.over] == ["done", "done"]
    for job, package in zip(user.get_order(order.id).jobs, packages, strict=True):
        assert job.report == {"median_ms": 1.5}
        user.download(job.id, tmp_path / "package.zip")
        assert (tmp_path / "package.zip").read_bytes() == package
        user.report(job.id, tmp_path / "report.html")
        assert (tmp_path / "report.html").read_text() == "<report>"
        assert user.log(job.id) == "<log>"
        assert user.cancel(job.id).state == "done"
    compared = user.get_order(order.id).comparison
    assert [one.target for one in compared] == ["host", "c"]
    user.delete_order(order.id)
    with pytest.raises(RemoteError, match=f"no package of job '{order.jobs[0].id}', or no longer"):
        user.download(order.jobs[0].id, tmp_path / "again.zip")
    user.delete_model(model.id)
    user.delete_inputs(user.inputs()[0].id)
    assert (user.models(), user.orders(), user.inputs()) == ([], [], [])
    assert user.me().used.bytes == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "m.onnx",
        "package.zip",
        "report.html",
        "x.npz",
    ]


def test_what_the_server_offers(user):
    assert [(t.name, t.measured, t.why_not) for t in user.targets()] == [
        ("host", True, None),
        ("c", False, "nothing runs it"),
    ]
    assert [(e.name, e.available) for e in user.engines()] == [("nnc", True), ("tvm", False)]
    assert user.precisions() == ["f32", "f16"]


def test_tokens(serving, user):
    made = user.new_token("laptop", days=1)
    with serving.remote(made.token) as other:
        assert other.me().user == user.me().user
        found = next(token for token in user.tokens() if token.id == made.id)
        assert found.name == "laptop" and found.expires > time.time()
        user.delete_token(made.id)
        with pytest.raises(RemoteError, match="the token is not valid; `nnc remote login`"):
            other.me()
    user.delete_me()
    with pytest.raises(RemoteError) as refused:
        user.models()
    assert refused.value.status == 401


def test_a_connection_that_breaks_anywhere_in_an_upload(serving, tmp_path, monkeypatch):
    """At each piece that crosses the network, in either direction; cut in the middle of it."""
    monkeypatch.setattr(uploads_module, "PART", 40_000)
    proxy = Cutting(serving.port)
    try:
        with served(tmp_path / "service", names=(proxy.port,)) as serving:
            proxy.to = serving.port
            token, piece, pieces = serving.add_user("cut"), 0, 1
            with serving.remote(token, proxy.port) as remote:
                while piece < pieces:
                    remote.me()  # which the server has answered: it is waited for
                    data = some_bytes(100_000, piece)
                    (tmp_path / "m.bin").write_bytes(data)
                    proxy.cut_at(piece)
                    model = remote.upload(tmp_path / "m.bin", name=f"{piece}.bin")
                    assert content(serving, model.id) == data
                    assert not remote.uploads()
                    pieces = max(pieces, proxy.relayed if proxy.left is not None else piece + 2)
                    piece += 1
                assert [int(m.name[:-4]) for m in remote.models()] == list(range(piece))[::-1]
            assert piece > 15
    finally:
        proxy.close()


@pytest.mark.parametrize("client_too", [False, True], ids=["server", "server and client"])
def test_a_restart_in_the_middle_of_an_upload(tmp_path, monkeypatch, client_too):
    monkeypatch.setattr(uploads_module, "PART", 50_000)
    data = some_bytes(400_000)
    (tmp_path / "m.bin").write_bytes(data)
    sent = []

    def told(done, total):
        sent.append(done)
        if len(sent) == 4:
            serving.stop()
            if client_too:
                raise KeyboardInterrupt
            threading.Timer(0.3, serving.start).start()

    with served(tmp_path / "service") as serving:
        token = serving.add_user("u")
        with serving.remote(token) as remote:
            if client_too:
                with pytest.raises(KeyboardInterrupt):
                    remote.upload(tmp_path / "m.bin", progress=told)
                serving.start()
            else:
                model = remote.upload(tmp_path / "m.bin", progress=told)
        if client_too:
            sent = []
            with serving.remote(token) as remote:
                assert [u.offset for u in remote.uploads()] == [150_000]
                model = remote.upload(
                    tmp_path / "m.bin", progress=lambda done, _: sent.append(done)
                )
            assert sent[0] == 150_000
        assert content(serving, model.id) == data
        with serving.remote(token) as remote:
            assert len(remote.models()) == 1 and not remote.uploads()
            assert remote.upload(tmp_path / "m.bin").id == model.id
            assert len(remote.models()) == 1


def test_a_restart_in_the_middle_of_a_download_and_of_watching(tmp_path):
    (tmp_path / "m.bin").write_bytes(b"model")
    with served(tmp_path / "service") as serving, serving.remote(serving.add_user("u")) as remote:
        model = remote.upload(tmp_path / "m.bin")
        serving.look_at_all()
        order = remote.order(model.id)
        seen, restarted = [], []
        for job in remote.watch(order.id):
            seen.append(job.state)
            if not restarted:
                serving.stop()
                restarted.append(serving.start())
                packaged(serving, some_bytes(3_000_000))
        assert seen == ["queued", "done"]

        def told(done, _):
            if len(restarted) == 1 and done > 100_000:
                serving.stop()
                restarted.append(serving.start())

        remote.download(order.jobs[0].id, tmp_path / "p.zip", progress=told)
        assert (tmp_path / "p.zip").read_bytes() == some_bytes(3_000_000)
        assert len(restarted) == 2


def test_a_folder_is_an_archive_that_is_always_the_same(serving, user, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads_module, "PART", 1000)
    folder = tmp_path / "saved_model"
    (folder / "variables").mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"graph")
    (folder / "variables" / "vériables.data").write_bytes(some_bytes(5000))
    (folder / "link.bin").symlink_to(folder / "saved_model.pb")

    def told(done, _):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        user.upload(folder, progress=told)
    (folder / "saved_model.pb").touch()
    assert user.uploads()[0].offset == 1000
    model = user.upload(folder)
    assert model.name == "saved_model.zip" and not user.uploads()
    with zipfile.ZipFile(io.BytesIO(content(serving, model.id))) as archive:
        assert archive.testzip() is None
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {
        "saved_model/link.bin": b"graph",
        "saved_model/saved_model.pb": b"graph",
        "saved_model/variables/vériables.data": some_bytes(5000),
    }
    assert user.upload(folder).id == model.id


def test_folders_that_are_no_model(user, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(NncError, match=r"'.*empty' has no files"):
        user.upload(tmp_path / "empty")
    (tmp_path / "empty" / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NncError, match="not a file, but a device, a pipe or a broken link"):
        user.upload(tmp_path / "empty")
    (tmp_path / "empty" / "dangling").unlink()
    (tmp_path / "empty" / "loop").symlink_to(tmp_path)
    with pytest.raises(NncError, match="a link to a folder, which is not followed"):
        user.upload(tmp_path / "empty")


def test_files_that_cannot_be_sent(user, tmp_path):
    with pytest.raises(NncError, match=r"cannot read '.*nothing': No such file"):
        user.upload(tmp_path / "nothing")
    (tmp_path / "empty.onnx").touch()
    with pytest.raises(NncError, match=r"'.*empty.onnx' is empty"):
        user.upload(tmp_path / "empty.onnx")
    (tmp_path / "m.onnx").write_bytes(b"x" * 100)
    with pytest.raises(RemoteError, match="names no folder"):
        user.upload(tmp_path / "m.onnx", name="../m.onnx")


def test_a_file_that_changes_while_it_is_sent(user, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads_module, "PART", 1000)
    path = tmp_path / "m.bin"

    def changed(data):
        def told(done, _):
            if done == 1000:
                path.write_bytes(data)

        path.write_bytes(some_bytes(3000))
        return told

    with pytest.raises(NncError, match=r"'.*m.bin' became shorter while it was sent"):
        user.upload(path, progress=changed(b"short"))
    with pytest.raises(RemoteError, match=r"content's SHA-256 is .* not .* as announced"):
        user.upload(path, progress=changed(b"x" * 3000))
    assert user.models() == [] and user.uploads() == []


def test_quotas(tmp_path):
    limits = Limits(free_bytes=0, upload_bytes=5000)
    with served(tmp_path / "service", limits=limits) as serving:
        token = serving.add_user("u", Quota(bytes=4000, jobs=1))
        with serving.remote(token) as remote:
            (tmp_path / "m.bin").write_bytes(b"x" * 3000)
            (tmp_path / "n.bin").write_bytes(b"y" * 3000)
            (tmp_path / "large.bin").write_bytes(b"y" * 6000)
            model = remote.upload(tmp_path / "m.bin")
            serving.look_at_all()
            with pytest.raises(RemoteError, match="would exceed the quota of 4,000"):
                remote.upload(tmp_path / "n.bin")
            with pytest.raises(RemoteError, match="at most 5,000 bytes"):
                remote.upload(tmp_path / "large.bin")
            with pytest.raises(RemoteError, match="would exceed the quota of 1"):
                remote.order(model.id, targets=["host", "c"])
            with pytest.raises(RemoteError, match="there is no target 'vax'; known: host, c"):
                remote.order(model.id, targets=["vax"])
            remote.delete_model(model.id)
            remote.upload(tmp_path / "n.bin")


def test_a_model_that_is_refused(serving, user, tmp_path):
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    model = user.upload(tmp_path / "bad.onnx")
    serving.look_at_all(refused="bad.onnx")
    with pytest.raises(NncError, match=r"bad.onnx: the server refuses the model: it is no model"):
        user.look(model.id)
    with pytest.raises(RemoteError, match="this model is refused"):
        user.order(model.id)
    (tmp_path / "n.onnx").write_bytes(b"another")
    waiting = user.upload(tmp_path / "n.onnx")
    with pytest.raises(NncError, match="the server still analyzes model"):
        user.look(waiting.id, seconds=0.1)
    user.delete_model(waiting.id)


def test_what_is_anothers_does_not_exist(serving, user, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"mine")
    model = user.upload(tmp_path / "m.onnx")
    with serving.remote(serving.add_user("other")) as other:
        for ask in (other.model, other.delete_model, other.order):
            with pytest.raises(RemoteError, match=f"no model '{model.id}', or no longer"):
                ask(model.id)
    user.delete_model(model.id)


def test_where_a_package_cannot_be_written(serving, user, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"model of a package")
    model = user.upload(tmp_path / "m.onnx")
    serving.look_at_all()
    job = user.order(model.id).jobs[0].id
    packaged(serving, some_bytes(100_000))
    with pytest.raises(NncError, match=r"cannot write '.*there is no folder"):
        user.download(job, tmp_path / "nowhere" / "p.zip")
    (tmp_path / "folder").mkdir()
    with pytest.raises(NncError, match=r"cannot write '.*folder'"):
        user.download(job, tmp_path / "folder")
    with pytest.raises(NncError, match="cannot write '/dev/full': No space left on device"):
        user.download(job, "/dev/full")

    def interrupted(done, _):
        raise KeyboardInterrupt

    (tmp_path / "p.zip").write_bytes(b"the old one")
    with pytest.raises(KeyboardInterrupt):
        user.download(job, tmp_path / "p.zip", progress=interrupted)
    assert (tmp_path / "p.zip").read_bytes() == b"the old one"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "m.onnx", "p.zip"]


def test_no_server(user):
    began = time.monotonic()
    with pytest.raises(RemoteError, match=r"no server answers there \(Connection refused\)"):
        Remote(f"http://127.0.0.1:{free_port()}", "token").me()
    assert time.monotonic() - began < 10  # one that never was is not waited for


def test_a_server_that_goes_away_is_waited_for(tmp_path):
    with served(tmp_path / "service") as serving:
        token = serving.add_user("u")
        short = serving.remote(token, patience=Patience(seconds=0.3, first=0.05))
        long = serving.remote(token, patience=Patience(seconds=60, first=0.01, longest=0.1))
        with short, long:
            short.me()
            long.me()
            serving.stop()
            began = time.monotonic()
            with pytest.raises(RemoteError, match=r"no server answers|the connection broke"):
                short.me()
            assert time.monotonic() - began > 0.1
            coming = threading.Timer(0.1, serving.start)
            coming.start()
            assert long.me().user == "u"
            coming.join()
