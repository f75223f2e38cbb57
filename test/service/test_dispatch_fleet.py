"""Jobs that workers of a fleet carry out: a scheduler and workers in this process, over TLS."""

import threading
from types import SimpleNamespace

import pytest
from nnc.delivery.carrying import desk
from nnc.delivery.carrying.job import CancelledError, Outcome
from nnc.driver.tuning.fleet import Fleet, Patience
from nnc.driver.tuning.fleet_membership import make_membership
from nnc.ir.diagnostics import NncError
from nnc.service.dispatch.dispatcher import Dispatcher
from nnc.service.dispatch.fleet import Members, OfFleet, Waiting
from nnc.service.dispatch.hands import LOOKS
from nnc.service.jobs import Wanted
from nnc.targets.base import target
from nnc.test.driver.fleets import FakeBoard, fleet_here

from .test_dispatch import Scripted, done, settled, wait_for

pytestmark = pytest.mark.service

PATIENCE = Patience(scheduler=3, first=10, another=2, answer=20)


@pytest.fixture
def fleet(tmp_path, monkeypatch):
    """A fleet whose workers do what `made.do(job, folder, cancelled)` says; `made.add()` adds one."""
    key = tmp_path / "fleet"
    make_membership(key)
    made = SimpleNamespace(seen=[], desks=[], do=written)

    def carry(job, folder, confinement, limits, progress, cancelled):
        made.seen.append(job)
        progress({"step": "measure", "done": 0.25, "text": "on a worker"})
        (folder / "results").mkdir()
        return made.do(job, folder / "results", cancelled)

    monkeypatch.setattr(desk, "carry", carry)
    with fleet_here(key) as here:

        def add():
            board = FakeBoard(tmp_path / f"w{len(made.desks)}", lambda told: {}, None, target("c"))
            one = desk.Desk(board)
            one._confinement = SimpleNamespace(close=lambda: None)
            worker = here.add(board)
            desk.join(worker, one)
            made.desks.append(one)
            return worker

        made.add, made.kill, made.here = add, here.kill, here
        made.members = Members(lambda: Fleet(here.address, key, patience=PATIENCE))
        yield made
        made.do = written
        made.members.close()
        for one in made.desks:
            one.close()


def written(job, folder, cancelled):
    text = job.files["model"].read_text()
    (folder / "package").write_text(f"package of {text}")
    return Outcome("done", "", {"package": folder / "package"}, {"target": job.target})


def ordered(person, service):
    """A user with a model that was looked at, and an order for `c`."""
    ann = person()
    model = ann.upload(b"some weights")
    with Dispatcher(service, [Scripted(done, Wanted(LOOKS))]):
        settled(ann)
    return ann, ann.order(model, targets=["c"])["id"]


def job_of(ann, order):
    return ann.ask("GET", f"/orders/{order}").json()["jobs"][0]


def test_a_job_goes_to_a_worker_of_its_target(person, service, fleet):
    ann, order = ordered(person, service)
    fleet.add()
    with Dispatcher(service, [OfFleet("fleet-0", fleet.members)]):
        settled(ann, 2)
    job = job_of(ann, order)
    assert job["state"] == "done"
    comparison = ann.ask("GET", f"/orders/{order}").json()["comparison"]
    assert [row["report"] for row in comparison] == [{"target": "c"}]
    package = ann.ask("GET", f"/jobs/{job['id']}/package")
    assert package.text == "package of some weights"


def test_a_worker_that_dies_loses_the_job_to_another(person, service, fleet):
    ann, order = ordered(person, service)
    first = fleet.add()
    begun = threading.Event()

    def slow(job, folder, cancelled):
        begun.set()
        wait_for(cancelled)
        raise CancelledError

    fleet.do = slow
    with Dispatcher(service, [OfFleet("fleet-0", fleet.members)]):
        assert begun.wait(60)
        fleet.do = written
        fleet.kill(first)
        fleet.add()
        fleet.desks[0].end(next(iter(fleet.desks[0]._jobs)))
        settled(ann, 2)
    assert job_of(ann, order)["state"] == "done" and len(fleet.seen) >= 2


def test_a_cancelled_job_ends_on_the_worker(person, service, fleet):
    ann, order = ordered(person, service)
    fleet.add()
    ended = threading.Event()

    def slow(job, folder, cancelled):
        wait_for(cancelled)
        ended.set()
        raise CancelledError

    fleet.do = slow
    with Dispatcher(service, [OfFleet("fleet-0", fleet.members)]):
        wait_for(lambda: (job_of(ann, order)["progress"] or {}).get("text") == "on a worker")
        ann.ask("POST", f"/jobs/{job_of(ann, order)['id']}/cancel")
        assert ended.wait(60)
    assert job_of(ann, order)["state"] == "cancelled"


@pytest.mark.parametrize("stores", ["sqlite-folder"], indirect=True)  # refused before any is asked
@pytest.mark.parametrize(
    "change",
    [
        lambda found: {**found, "files": {"../../up": (1, "x")}},
        lambda found: {**found, "files": {"package": (1 << 50, "x")}},
        lambda found: {**found, "files": {"package": (3, "0" * 64)}},
        lambda found: {**found, "files": [1]},
        lambda found: {**found, "summary": "[" * 100_000},
        lambda found: {**found, "summary": {"a": 1}},
        lambda found: {**found, "state": "wonderful"},
        lambda found: "done",
    ],
)
def test_what_is_no_result_is_not_taken(person, service, fleet, change, monkeypatch):
    ann, order = ordered(person, service)
    fleet.add()
    look = desk.Desk.look

    def changed(self, key):
        found = look(self, key)
        return found if found["state"] == "running" else change(found)

    monkeypatch.setattr(desk.Desk, "look", changed)
    hands = OfFleet("fleet-0", fleet.members)
    with Dispatcher(service, [hands]):
        wait_for(lambda: any(one.refused for one in fleet.members.fleet()._all()))
    assert job_of(ann, order)["state"] == "queued"  # for another worker
    assert not list((service.folder / "work").iterdir())


def test_a_scheduler_that_goes_away_does_not_end_the_dispatcher(person, service, fleet):
    ann, _ = ordered(person, service)
    fleet.add()
    said = []
    with Dispatcher(service, [OfFleet("fleet-0", fleet.members)], said.append):
        settled(ann, 2)
        fleet.here.close_scheduler()
        wait_for(lambda: said)
        waiting = Waiting(service.queue, fleet.members, ["c"])
        waiting.look()
    assert "fleet-0" in said[0]


def test_a_message_that_is_no_job(fleet):
    fleet.add()
    one = fleet.desks[0]
    for message in ({}, {"kind": "look", "seconds": 1, "options": "{}", "files": {}}):
        with pytest.raises((ValueError, NncError)):
            one.begin(message)
    assert one._jobs == {}
