"""nnc tune's fleet: workers that die, hang, lie, and who goes missing.

Scheduler and workers are Dask's own on loopback, with the fleet's certificates; what an experiment
gives is made up. How many run at once is counted by barriers.
"""

import itertools
import random
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from nnc.driver.tuning.crew import TRIES
from nnc.driver.tuning.experiments import ExperimentError, LostError, OverError
from nnc.driver.tuning.fleet import Fleet, Patience
from nnc.driver.tuning.fleet_crew import FleetCrew
from nnc.driver.tuning.fleet_membership import make_membership
from nnc.driver.tuning.fleet_messages import (
    unpacked,
)
from nnc.driver.tuning.foreign import ONCE, ForeignSchedules, machine_on
from nnc.driver.tuning.ratio import Ratio
from nnc.driver.tuning.search import KernelSearch, Search
from nnc.driver.tuning.worker import Answer, Request
from nnc.ir.diagnostics import NncError
from nnc.kernels.tuned import TunedFolder
from nnc.targets.attribute import detailed, machine_name
from nnc.targets.base import host, processor_name, target

from .fleets import WAIT, FakeBoard, fleet_here, later
from .test_tuning import scheduled

PATIENCE = Patience(scheduler=3.0, first=60.0, another=3.0, answer=60.0)


def crew_of(fleet, folder, foreign=lambda schedules, answer: None):
    folder.mkdir(exist_ok=True)
    request = Request(folder, folder, 1, 0.5, 1e-4, 1 << 40)
    request.model.write_text("module {}")
    found, processor = fleet.choose(host())
    return FleetCrew(fleet, request, {"x": np.ones(3)}, (detailed(found), processor), foreign)


def ratio_of(number):
    """What candidate `number` takes of the default's time, known beforehand."""
    return 1.2 - (number * 7 % 20) / 40


def searching(crew, count, base, **options):
    """A search over so many candidates of one kernel, numbers, which the crew measures."""
    numbers = iter(range(count))

    def measure(chosen):
        schedules = {key: replace(base, kernel=key, told=str(n)) for key, n in chosen.items()}
        answer = crew.run(schedules)
        return {key: Ratio.of(answer.kernels[key]) for key in chosen}

    kernel = KernelSearch("k", "k", 1.0, lambda faster: next(numbers, None))
    search = Search(
        [kernel],
        measure,
        clock=lambda: 0.0,
        seconds=1e9,
        slots=crew.slots,
        abandon=crew.abandon,
        **options,
    )
    return search, kernel


def measured(told):
    return {key: ratio_of(int(text)) for key, text in told.items()}


def check(kernel, count):
    """All candidates were measured once, and each has its own time."""
    assert sorted(trial.candidate for trial in kernel.trials) == list(range(count))
    for trial in kernel.trials:
        assert trial.ratio.median == pytest.approx(ratio_of(trial.candidate))


def test_four_workers_experiment_at_once(tmp_path, key):
    together, sent = threading.Barrier(4, timeout=WAIT), []
    waiting = itertools.count()

    def waits_for_a_board(told):
        if next(waiting) < 4:
            together.wait()
        return measured(told)

    with fleet_here(key) as here:
        boards = [FakeBoard(tmp_path / "cache", waits_for_a_board) for _ in range(4)]
        for board in boards:
            here.add(board)
        fleet = Fleet(here.address, key, patience=PATIENCE, say=sent.append)
        crew = crew_of(fleet, tmp_path / "job")
        search, kernel = searching(crew, 12, scheduled())
        search.run()
        check(kernel, 12)
        # What is sent is the model's files, and not a byte more: no pickle among them.
        for board in boards:
            assert sorted(board.got) == ["inputs", "model.mlir"]
            np.testing.assert_array_equal(unpacked(board.got["inputs"])["x"], np.ones(3))
        assert any("4 workers for" in line for line in sent)
        fleet.close()


@pytest.mark.thorough
def test_workers_that_are_killed_cost_nothing_but_time(tmp_path, key):
    """Workers die in their experiments and others join, again and again."""
    choose, lock, deaths = random.Random(1), threading.Lock(), []
    said = []

    with fleet_here(key) as here:

        def board():
            return FakeBoard(tmp_path / "cache", lambda told: dies(told, made[-1]))

        def dies(told, worker):
            with lock:
                dead = choose.random() < 0.25 and len(deaths) < TRIES - 1
                victim = choose.choice([w for w in here.workers if w not in deaths] or [worker])
                if dead:
                    deaths.append(victim)
            if dead:
                here.kill(victim)
                made.append(here.add(board()))
            return measured(told)

        made = []
        for _ in range(3):
            made.append(here.add(board()))
        fleet = Fleet(here.address, key, patience=replace(PATIENCE, answer=12.0), say=said.append)
        search, kernel = searching(crew_of(fleet, tmp_path / "job"), 16, scheduled())
        search.run()
        print(*said, fleet.joined(), len(deaths), sep="\n")
        assert deaths and not search.dropped
        check(kernel, 16)
        fleet.close()


@pytest.mark.thorough
def test_a_worker_that_hangs_is_left_and_another_takes_its_experiment(tmp_path, key):
    release, said, hung = threading.Event(), [], []

    def hangs(told):
        if told.get("k") == "1":
            hung.append(told)
            if len(hung) == 1:
                release.wait(WAIT)
        return measured(told)

    class Short(FakeBoard):
        def _prepared(self, folder, job):
            made = super()._prepared(folder, job)
            made.limit = 0.0
            return made

    with fleet_here(key) as here:
        for _ in range(2):
            here.add(Short(tmp_path / "cache", hangs))
        fleet = Fleet(here.address, key, patience=replace(PATIENCE, answer=5.0), say=said.append)
        search, kernel = searching(crew_of(fleet, tmp_path / "job"), 5, scheduled())
        search.run()
        release.set()
        check(kernel, 5)
        assert len(hung) == 2 and any("it did not answer in time" in line for line in said)
        fleet.close()


@pytest.mark.thorough
def test_what_was_measured_on_another_processor_is_filed_under_its_own(tmp_path, key):
    """One of two workers says that it has this processor, and its experiments have another."""
    folder, said, asked = tmp_path / "tuned", [], []
    folder.mkdir()
    foreign = ForeignSchedules(folder, host())

    def take(schedules, answer):
        asked.append(answer.processor)
        ratios = {name: Ratio.of(pairs) for name, pairs in answer.kernels.items()}
        foreign.add(schedules, ratios, answer.processor)

    with fleet_here(key) as here:
        here.add(FakeBoard(tmp_path / "cache", measured))
        here.add(FakeBoard(tmp_path / "cache", lambda told: {"k": 0.5}, "vax-9000, DEC"))
        fleet = Fleet(here.address, key, patience=PATIENCE, say=said.append)
        search, kernel = searching(crew_of(fleet, tmp_path / "job", take), 6, scheduled())
        search.run()
        fleet.close()
    check(kernel, 6)  # none of the search's times is the liar's, which are all 0.5
    assert asked == ["vax-9000, DEC"]
    (one,) = TunedFolder(folder).read().values()
    assert one.machine == machine_on(host(), "vax-9000, DEC") != detailed(host())
    assert "processor vax-9000" in one.machine and one.gain == pytest.approx(0.5)
    assert one.told.endswith(ONCE)
    (line,) = [line for line in said if "not used any more" in line]
    assert f"measured on vax-9000, DEC, not on {processor_name()}" in line


def test_of_other_processors_the_best_is_kept_and_what_was_there_stays(tmp_path):
    base = replace(scheduled(), kernel="k")
    machine = machine_on(host(), "vax, DEC")
    foreign = ForeignSchedules(tmp_path, host())
    for number, median in enumerate((0.9, 0.7, 0.8, 1.1)):
        one = {"k": replace(base, told=str(number))}
        foreign.add(one, {"k": Ratio(median, median, median)}, "vax, DEC")
    assert TunedFolder(tmp_path).read()["k", machine].told == f"1; {ONCE}"
    again = ForeignSchedules(tmp_path, host(), {("k", machine)})
    again.add({"k": base}, {"k": Ratio(0.1, 0.1, 0.1)}, "vax, DEC")
    assert TunedFolder(tmp_path).read()["k", machine].gain == pytest.approx(0.3)


def test_a_machine_of_the_same_name_and_another_maker_is_told_apart():
    here = processor_name().partition(", ")[0]
    own = machine_on(host(), f"{here}, another maker's")
    assert own.startswith(machine_name(host())) and own != machine_name(host())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "gives, message",
    [
        (lambda told: Answer({"k": [(1.0, float("nan"))]}, [(1.0, 1.0)]), "cannot be read"),
        (lambda told: 1 / 0, "is unable|is gone"),
        (lambda told: (_ for _ in ()).throw(OSError(28, "No space left on device")), "No space"),
        (lambda told: (_ for _ in ()).throw(LookupError("x")), "is unable"),
    ],
)
def test_a_worker_that_answers_otherwise_is_not_used_any_more(tmp_path, key, gives, message):
    said = []
    with fleet_here(key) as here:
        here.add(FakeBoard(tmp_path / "cache", gives))
        fleet = Fleet(here.address, key, patience=replace(PATIENCE, another=0.5), say=said.append)
        crew = crew_of(fleet, tmp_path / "job")
        with pytest.raises((OverError, LostError), match=message if "gone" in message else "left"):
            crew.run({"k": replace(scheduled(), kernel="k", told="0")})
        fleet.close()


def test_an_experiment_that_fails_is_the_candidates_fault(tmp_path, key):
    def fails(told):
        if told["k"] == "2":
            raise ExperimentError("it crashed (SIGSEGV)")
        return measured(told)

    with fleet_here(key) as here:
        here.add(FakeBoard(tmp_path / "cache", fails))
        fleet = Fleet(here.address, key, patience=PATIENCE)
        search, kernel = searching(crew_of(fleet, tmp_path / "job"), 4, scheduled())
        search.run()
        fleet.close()
    assert search.dropped == ["k, 2: it crashed (SIGSEGV)"]
    assert sorted(trial.candidate for trial in kernel.trials) == [0, 1, 3]


@pytest.mark.thorough
def test_where_the_scheduler_goes_in_the_middle_what_was_found_stays(tmp_path, key):
    found = []
    with fleet_here(key) as here:

        def ends(told):
            if told["k"] == "4":
                later(here.close_scheduler)
            return {"k": 0.9 - int(told["k"]) / 100}

        here.add(FakeBoard(tmp_path / "cache", ends))
        fleet = Fleet(here.address, key, patience=PATIENCE)
        search, kernel = searching(
            crew_of(fleet, tmp_path / "job"),
            200,
            scheduled(),
            found=lambda kernel: found.append(kernel.best.candidate),
        )
        with pytest.raises(OverError, match=f"the scheduler {here.address} is gone"):
            search.run()
        fleet.close()
    assert found[:4] == [0, 1, 2, 3] and kernel.best.candidate == found[-1]


# -- who is not let in -----------------------------------------------------------------------------


def test_who_has_no_key_or_another_is_not_let_in(tmp_path, key):
    other = tmp_path / "other"
    make_membership(other)
    with fleet_here(key) as here:
        with pytest.raises(NncError, match="no scheduler answers at") as error:
            Fleet(here.address, other, patience=replace(PATIENCE, scheduler=1.0))
        assert len(str(error.value).splitlines()) == 1
        host_name, port = here.address.removeprefix("tls://").split(":")
        # Without a certificate, by Python's own TLS: the handshake fails, or the first read does.
        context = ssl.create_default_context(cafile=str(key / "certificate.pem"))
        context.check_hostname = False
        with (
            pytest.raises(ssl.SSLError),
            socket.create_connection((host_name, int(port)), timeout=WAIT) as plain,
            context.wrap_socket(plain) as secure,
        ):
            secure.sendall(b"x" * 64)
            while secure.recv(1 << 16):
                pass
            raise AssertionError("the connection was accepted")
        # And without TLS there is no greeting.
        with socket.create_connection((host_name, int(port)), timeout=WAIT) as plain:
            plain.sendall(b"x" * 64)
            with suppress(ConnectionResetError):
                assert b"compression" not in plain.recv(1 << 16)


@pytest.mark.thorough
def test_workers_that_cannot_be_used_are_named(tmp_path, key):
    """One is of another program, one has another nnc, one is for another target."""

    with fleet_here(key) as here:
        here.add(None)
        here.add(FakeBoard(tmp_path / "cache", measured, target=target("cortex-a76")))
        fleet = Fleet(here.address, key, patience=replace(PATIENCE, first=3.0))
        with pytest.raises(NncError) as error:
            fleet.choose(host())
        text = str(error.value)
        assert f"no worker at {here.address} is for {detailed(host())}" in text
        assert "1 x 'cortex-a76' on" in text and "was not started by `nnc worker`" in text
        assert fleet.choose(target("cortex-a76")) == (target("cortex-a76"), processor_name())
        fleet.close()


@pytest.mark.thorough
def test_a_worker_with_another_nnc_is_not_used(tmp_path, key, monkeypatch):
    from nnc.driver.tuning import fleet

    monkeypatch.setattr(fleet, "this_nnc", lambda: "another")
    with fleet_here(key) as here:
        here.add(FakeBoard(tmp_path / "cache", measured))
        made = Fleet(here.address, key, patience=replace(PATIENCE, first=2.0))
        with pytest.raises(NncError, match="a worker with another nnc"):
            made.choose(host())
        made.close()
