"""A fleet as users have it: processes of nnc on loopback, whose workers and scheduler are killed."""

import io
import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import nnc
import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from nnc.driver.compile import compile_model, mark_entry
from nnc.kernels.tuned import TunedFolder
from nnc.targets.base import host
from nnc.tools.command import Streams
from nnc.tools.nnc import main

from .test_tuning import PRODUCT

pytestmark = pytest.mark.thorough


class Process:
    """A command of nnc that runs until it is ended, and its first line."""

    def __init__(self, place, *arguments):
        self._child = subprocess.Popen(
            [sys.executable, "-m", "nnc.tools.nnc", *arguments],
            cwd=place,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.line = self._child.stdout.readline().strip()

    def kill(self):
        self._child.kill()
        return self._child.wait()

    def end(self):
        """Its exit code, as SIGTERM ends it, and the rest of what it says."""
        self._child.send_signal(signal.SIGTERM)
        try:
            said = self._child.communicate(timeout=120)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        return self._child.returncode, said


@contextmanager
def members(place, count):
    """(the scheduler, its address, workers)"""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), place)
    assert main(["fleet", "init", "key"], streams) == 0
    found = [Process(place, "fleet", "scheduler", "key", "--host", "127.0.0.1", "--port", "0")]
    try:
        address = found[0].line.removeprefix("the scheduler is ")
        assert address.startswith("tls://127.0.0.1:")
        found += [worker(place, address) for _ in range(count)]
        yield found[0], address, found[1:]
    finally:
        for one in found:
            with suppress(OSError):
                one.kill()


def worker(place, address):
    """A worker for the processor that this one is in tests, which other processes do not know."""
    given = ["--scheduler", address, "--certificates", "key", "--target", host().name]
    made = Process(place, "worker", *given)
    assert made.line.startswith(f"joined {address}")
    return made


def tune(place, address, *options, stderr=None):
    """(exit code, standard output, standard error)"""
    (place / "m.mlir").write_text(PRODUCT)
    streams = Streams(io.StringIO(), io.StringIO(), stderr or io.StringIO(), place)
    given = ["--scheduler", address, "--certificates", "key", *options]
    status = main(["tune", "m.mlir", "-o", "tuned", *given], streams)
    return status, streams.stdout.getvalue(), streams.stderr.getvalue()


def check_schedules(place):
    """Each that was kept is legal, and the model computes with it what NumPy does."""
    module = nnc.parse(PRODUCT)
    mark_entry(module)
    folder = TunedFolder(place / "tuned", anywhere=True)
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal(shape, np.float32) for shape in ((8, 24), (24, 40)))
    said = []
    run = compile_model(module, tuned=folder, cache=False, progress=said.append)
    np.testing.assert_allclose(run(x, w), x @ w, rtol=1e-4, atol=1e-5)
    assert not any("the default is taken" in line for line in said)


def test_workers_are_killed_at_random_and_others_join(tmp_path):
    choose, done = random.Random(3), threading.Event()
    with members(tmp_path, 2) as (_, address, workers):

        def havoc():
            while not done.wait(choose.uniform(1, 4)):
                workers.append(worker(tmp_path, address))
                workers.pop(choose.randrange(len(workers) - 1)).kill()

        killer = threading.Thread(target=havoc)
        killer.start()
        try:
            status, said, errors = tune(tmp_path, address, "--seconds", "240", "--trials", "10")
        finally:
            done.set()
            killer.join()
        for one in workers:
            one.kill()
    assert status == 0, errors
    assert "10 experiments were made" in errors and "dropped" not in said
    check_schedules(tmp_path)


class Watched(io.StringIO):
    """Does something once when a text is written."""

    def __init__(self, text, do):
        super().__init__()
        self.text, self.do = text, do

    def write(self, text):
        if self.do is not None and self.text in text:
            do, self.do = self.do, None
            do()
        return super().write(text)


def test_a_scheduler_that_is_killed_ends_the_search_with_what_was_found(tmp_path):
    with members(tmp_path, 1) as (scheduler, address, (one,)):
        stderr = Watched("experiment 3:", scheduler.kill)
        status, _, errors = tune(tmp_path, address, "--seconds", "600", stderr=stderr)
        # The worker says it too, and ends by itself.
        assert one._child.wait(120) == 1
        assert f"error: the scheduler {address} is gone" in one._child.stdout.read()
    *_, last = errors.strip().splitlines()
    assert status == 1 and f"error: the scheduler {address} is gone; " in last
    assert errors.count("error") == 1
    count = len(list((tmp_path / "tuned").iterdir()))
    assert f"{count} schedules that were faster in an experiment are in" in last
    check_schedules(tmp_path)


def test_temporary_files_of_a_worker_that_is_killed_are_removed_by_the_next(tmp_path, monkeypatch):
    """Those of one that runs stay."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))

    def folders():
        return {*temporary.glob("nnc-*")}

    with members(tmp_path, 2) as (_, address, (one, two)):
        before = folders()
        assert len(before) == 2
        one.kill()
        assert folders() == before
        three = worker(tmp_path, address)
        assert len(folders()) == 2 and len(folders() & before) == 1
        assert two.end() == three.end() == (0, "")
    assert folders() == set()


def test_servers_end_when_they_are_asked_to(tmp_path):
    with members(tmp_path, 1) as (scheduler, _, (one,)):
        assert one.end() == (0, "")
        assert scheduler.end() == (0, "")
