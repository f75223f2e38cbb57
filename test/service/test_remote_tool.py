"""nnc remote: the client of nnc serve on the command line, against the real service."""

import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest
from nnc.service.remote import uploads as uploads_module
from nnc.tools.command import INTERRUPTED, Streams
from nnc.tools.nnc import main

from .remote_serving import served
from .test_remote import content, packaged, some_bytes

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    with served(tmp_path_factory.mktemp("service")) as one:
        yield one


@pytest.fixture
def run(serving, tmp_path, monkeypatch):
    """Runs nnc remote as a new user who has signed in; (exit code, output, errors)."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("NNC_REMOTE", "NNC_REMOTE_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, stdin=""):
        streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO(), tmp_path)
        status = main(["remote", *map(str, arguments)], streams)
        assert "Traceback" not in streams.stderr.getvalue()
        return status, streams.stdout.getvalue(), streams.stderr.getvalue()

    run.url = f"http://127.0.0.1:{serving.port}"
    run.number = len(serving.service.accounts.all())
    run.token = serving.add_user(f"user{run.number}")
    assert run("login", run.url, stdin=run.token + "\n")[0] == 0
    return run


def test_signing_in_and_out(run, serving, tmp_path):
    kept = tmp_path / "config" / "nnc" / "remote.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text())["servers"][run.url]["token"] == run.token
    status, said, _ = run("me")
    assert status == 0 and f"user{run.number} at {run.url}" in said
    before = kept.read_bytes()
    status, _, said = run("login", run.url, stdin="wrong\n")
    assert (status, kept.read_bytes()) == (1, before)
    assert "the token is not valid" in said and "wrong" not in said
    status, said, _ = run("logout")
    assert (status, said) == (0, f"signed out of {run.url}\n")
    assert run.token not in kept.read_text()
    status, _, said = run("me")
    assert status == 1 and "signed in to no server: `nnc remote login URL`" in said
    assert run("logout")[0] == 1
    status, _, said = run("me", "--server", run.url)
    assert status == 1 and f"not signed in to {run.url}" in said


def test_a_login_that_others_can_read_or_that_is_damaged(run, tmp_path):
    kept = tmp_path / "config" / "nnc" / "remote.json"
    kept.chmod(0o644)
    status, _, said = run("me")
    assert status == 1 and "can be read by others (mode 644): chmod 600" in said
    kept.chmod(0o600)
    for damaged in (b"", b"{", b"[]", b'{"servers": {"x": {"token": 3}}}', b"\xff", b"[" * 10**6):
        kept.write_bytes(damaged)
        status, _, said = run("me")
        assert status == 1 and "is damaged; remove it" in said
        assert len(said.splitlines()) == 1


def test_the_environment_names_server_and_token(run, serving, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))
    monkeypatch.setenv("NNC_REMOTE", run.url + "/")
    assert run("me")[0] == 1
    monkeypatch.setenv("NNC_REMOTE_TOKEN", run.token)
    assert run("me")[0] == 0
    assert not (tmp_path / "nothing").exists()


@pytest.fixture
def working(serving, monkeypatch):
    """Carries out what is queued, in place of a dispatcher; each job once a stream told of it."""
    ended = threading.Event()
    read, told = serving.service.orders.states, threading.Semaphore(0)

    def states(user, order):
        found = read(user, order)
        if any(job["state"] == "running" and job["progress"] for job in found):
            told.release()
        return found

    monkeypatch.setattr(serving.service.orders, "states", states)

    def work():
        queue = serving.service.queue
        while not ended.wait(0.02):
            if (job := queue.claim("test:2", 60)) is None:
                continue
            if job.kind == "look":
                queue.finish(job, "done", {"operations": 7})
                continue
            folder = serving.folder / "work" / job.id
            folder.mkdir(parents=True)
            while told.acquire(blocking=False):
                pass
            queue.progress(job, {"step": "measure", "done": 0.42, "text": "nnc"})
            told.acquire(timeout=60)
            if job.options["target"] == "c":
                queue.finish(job, "failed", error="no C here")
                continue
            for name in ("package", "report", "log"):
                (folder / name).write_text(name)
            files = {name: folder / name for name in ("package", "report", "log")}
            queue.finish(job, "done", {"median_ms": 1.5}, files)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    ended.set()
    thread.join()


def test_the_whole_way_in_one(run, working, tmp_path):
    (tmp_path / "m.onnx").write_bytes(some_bytes(1000, run.number))
    status, _, said = run("package", "m.onnx", "-o", "p.zip", "--threads", "1,2")
    assert (status, (tmp_path / "p.zip").read_text()) == (0, "package"), said
    assert "running: measure 40 %" in said and "done" in said.splitlines()[-1]
    status, _, said = run("package", "m.onnx", "-o", "q.zip", "--target", "c", "-q")
    assert status == 1 and "m.onnx: no package: no C here" in said
    assert not (tmp_path / "q.zip").exists()
    status, _, said = run("package", "m.onnx", "-o", "nowhere/q.zip")
    assert status == 1 and "there is no folder" in said
    status, said, _ = run("models")
    assert status == 0 and len(said.splitlines()) == 1  # the model was sent once


def test_step_by_step(run, working, tmp_path):
    (tmp_path / "m.onnx").write_bytes(some_bytes(1000, run.number))
    status, said, _ = run("upload", "m.onnx", "--name", "net.onnx")
    model, name = said.split()
    assert (status, name) == (0, "net.onnx")
    assert run("show", model)[1].splitlines()[1:] == ["operations: 7"]
    assert json.loads(run("show", "net.onnx", "--json")[1])["look"] == {"operations": 7}
    status, said, told = run("order", "net.onnx", "--target", "host,c", "--wait")
    assert status == 1 and "failed: no C here" in told  # one of two
    order = said.split()[1]
    good, bad = (line.split()[0] for line in said.splitlines()[1:3])
    status, said, _ = run("orders")
    assert said.splitlines()[0] == f"order {order}  net.onnx" and len(said.splitlines()) == 3
    assert run("watch", order)[0] == 1
    assert run("download", good, "-o", "p.zip")[0] == 0
    assert run("report", good, "-o", "r.html")[0] == 0
    assert (tmp_path / "r.html").read_text() == "report"
    assert run("log", good)[1] == "log"
    status, _, said = run("download", bad, "-o", "q.zip")
    assert status == 1 and f"no package of job '{bad}'" in said
    status, _, said = run("download", order, "-o", "q.zip")
    assert status == 1 and "has 2 jobs: name one of them" in said
    assert run("cancel", order)[0] == run("cancel", good)[0] == 0
    assert run("delete", order)[0] == 0 and run("orders")[1] == ""
    status, _, said = run("download", good, "-o", "q.zip")
    assert status == 1 and "or no longer" in said
    status, _, said = run("explore", "net.onnx", "-o", "page.html")
    assert status == 1 and "there is no page of model" in said
    assert run("delete", "net.onnx")[0] == 0 and run("models")[1] == ""
    status, _, said = run("show", "net.onnx")
    assert status == 1 and "no model of yours is 'net.onnx'" in said


def test_two_models_of_one_name(run, tmp_path):
    for seed in (1, 2):
        (tmp_path / "m.onnx").write_bytes(some_bytes(1000, 1000 * run.number + seed))
        assert run("upload", "m.onnx")[0] == 0
    status, _, said = run("delete", "m.onnx")
    assert status == 1 and "2 models are called 'm.onnx': " in said
    for model in said.split(": ")[-1].strip().split(", "):
        assert run("delete", model)[0] == 0
    assert run("models")[1] == ""


def test_tokens_targets_engines(run):
    status, said, _ = run("tokens", "--new", "laptop", "--days", "3")
    assert status == 0 and said.startswith("nnc_")
    found = [line.split()[0] for line in run("tokens")[1].splitlines() if "laptop" in line]
    assert run("tokens", "--delete", found[0])[0] == 0
    assert "laptop" not in run("tokens")[1]
    assert run("targets")[1].splitlines() == [
        "host  this machine  (measured)",
        "c     C99  (not measured: nothing runs it)",
    ]
    assert "tvm  TVM  (not there: not installed)" in run("engines")[1]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["login", "nnc.example.org"], "a server is https://HOST"),
        (["login", "http://192.0.2.1"], "say --plain-http"),
        (["login", "https://192.0.2.1", "--certificates", "no.pem"], "has no certificates"),
        (["upload", "no.onnx"], "cannot read"),
        (["package", "no.onnx", "-o", "p.zip", "--target", "a,b"], "names one for a package"),
        (["watch", "A" * 22], "there is no order"),
        (["watch", "../x"], "is not an id"),
        (["log", "A" * 22], "there is no log of job"),
        (["cancel", "A" * 22], "there is no job"),
        (["tokens", "--delete", "A" * 22], "there is no token"),
        (["show"], "MODEL"),
        (["fetch"], "fetch"),
        ([], "ACTION"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(run, tmp_path, arguments, match):
    status, _, said = run(*arguments, stdin="token\n")
    assert status == 1 and match in said and len(said.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["config"]


def test_threads_are_numbers(run, tmp_path):
    (tmp_path / "m.onnx").write_bytes(some_bytes(1000, run.number))
    assert run("upload", "m.onnx")[0] == 0
    status, _, said = run("order", "m.onnx", "--threads", "1,two")
    assert status == 1 and "--threads takes numbers between commas, not '1,two'" in said


def test_ctrl_c_in_an_upload_loses_nothing(run, serving, tmp_path, monkeypatch):
    """The process that is interrupted is a real one; another one goes on."""
    data = some_bytes(60_000_000, run.number)
    (tmp_path / "m.bin").write_bytes(data)
    monkeypatch.setattr(uploads_module, "PART", 1 << 20)
    code = (
        "from nnc.service.remote import uploads; uploads.PART = 1 << 20\n"
        "from nnc.tools.start import nnc; nnc()"
    )
    command = [sys.executable, "-c", code, "remote", "upload", "m.bin"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    with serving.remote(run.token) as remote:
        ends = time.monotonic() + 60
        while not (found := remote.uploads()) or not found[0].offset:
            assert process.poll() is None and time.monotonic() < ends
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == INTERRUPTED
        assert "the same command goes on where this upload was interrupted" in said
        assert "Traceback" not in said
        there = remote.uploads()[0]
        assert 0 < there.offset < len(data)
        assert f"{there.id}" in run("models")[1]
        status, said, _ = run("upload", "m.bin")
        assert status == 0 and not remote.uploads()
        assert content(serving, said.split()[0]) == data


def test_ctrl_c_while_waiting_leaves_the_order(run, serving, tmp_path, monkeypatch):
    (tmp_path / "m.onnx").write_bytes(some_bytes(1000, run.number))
    assert run("upload", "m.onnx")[0] == 0
    serving.look_at_all()
    from nnc.service.remote import Remote

    def interrupted(self, order):
        yield from self.get_order(order).jobs
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Remote, "watch", interrupted)
        status, said, told = run("order", "m.onnx", "--wait")
    order = said.split()[1]
    assert status == INTERRUPTED and f"nnc remote watch {order}" in told
    packaged(serving, b"package")
    assert run("watch", order)[0] == 0
