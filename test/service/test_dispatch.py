"""Jobs from the queue to their commit: what is claimed by whom, stopped, tried again, stored."""

import threading
import time

import pytest
from nnc.delivery.carrying.job import CancelledError, LostError, Outcome
from nnc.service.dispatch.dispatcher import Dispatcher
from nnc.service.dispatch.hands import LOOKS, MEASURING, PAGES
from nnc.service.errors import StoreFullError
from nnc.service.jobs import Wanted

pytestmark = pytest.mark.service

WAIT = 60.0


class Scripted:
    """Hands that do what a test says."""

    def __init__(self, do, which=None, name="hands"):
        self.do, self.which, self.name = do, which or Wanted(), name
        self.seen = []

    def wanted(self):
        return self.which

    def carry(self, job, folder, progress, cancelled):
        self.seen.append(job)
        return self.do(job, folder, progress, cancelled)


def done(job, folder, progress, cancelled):
    (folder / "log").write_text("what was said\n")
    return Outcome("done", "", {"log": folder / "log"}, {"kind": job.kind})


def settled(person, count=1, model=None):
    """The jobs of a user's models and orders, once all have ended."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        models = person.ask("GET", "/models").json()
        jobs = [person.ask("GET", f"/jobs/{one['look_job']}").json() for one in models]
        for order in person.ask("GET", "/orders").json():
            jobs += person.ask("GET", f"/orders/{order['id']}").json()["jobs"]
        if len(jobs) >= count and all(j["state"] not in ("queued", "running") for j in jobs):
            return jobs
        time.sleep(0.05)
    raise AssertionError(f"jobs are still under way: {jobs}")


def wait_for(condition):
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_results_are_committed_and_the_folder_is_empty_after(person, service):
    ann = person()
    ann.upload()
    with Dispatcher(service, [Scripted(done)]):
        (job,) = settled(ann)
    assert job["state"] == "done"
    assert ann.ask("GET", "/models").json()[0]["state"] == "ready"
    assert ann.ask("GET", f"/jobs/{job['id']}/log").text == "what was said\n"
    assert not list((service.folder / "work").iterdir())


def test_hands_take_the_jobs_that_they_are_for(person, service):
    ann = person()
    model = ann.upload()
    looks = Scripted(done, Wanted(LOOKS), "looks")
    host = Scripted(done, Wanted(MEASURING, ["host"], others=False), "host")
    others = Scripted(done, Wanted(MEASURING, ["host"]), "others")
    ann.order(model, targets=["host", "c"], precisions=["f32", "f16"])
    with Dispatcher(service, [looks, host, others]):
        settled(ann, 5)
    assert [job.kind for job in looks.seen] == ["look"]
    assert [job.target for job in host.seen] == ["host"] * 2
    assert [job.target for job in others.seen] == ["c"] * 2


def test_a_page_holds_up_no_look(person, service):
    """A look goes on as a page, which is another pair of hands' and has both logs."""
    ann = person()
    enough = threading.Event()

    def look(job, folder, progress, cancelled):
        (folder / "log").write_text("checked\n")
        return Outcome("done", "", {"log": folder / "log"}, {"nodes": 7}, then="page")

    def page(job, folder, progress, cancelled):
        assert enough.wait(WAIT)
        (folder / "log").write_text("made\n")
        return Outcome("done", "", {"log": folder / "log"}, {"no_page": "large"})

    for _ in range(3):
        ann.upload()
    looks = Scripted(look, Wanted(LOOKS), "looks")
    pages = Scripted(page, Wanted(PAGES), "pages")
    with Dispatcher(service, [looks, pages]):
        wait_for(lambda: all(m["pages"]["making"] for m in ann.ask("GET", "/models").json()))
        assert len(looks.seen) == 3 and len(pages.seen) <= 1
        enough.set()
        jobs = settled(ann, 3)
    assert [job["report"] for job in jobs] == [{"nodes": 7, "no_page": "large"}] * 3
    for job in jobs:
        assert ann.ask("GET", f"/jobs/{job['id']}/log").text == "checked\nmade\n"


def test_a_cancelled_job_is_stopped(person, service):
    ann = person()
    ann.upload()
    stopped = threading.Event()

    def last(job, folder, progress, cancelled):
        progress({"step": "check", "done": 0.5, "text": "half"})
        wait_for(cancelled)
        stopped.set()
        raise CancelledError

    with Dispatcher(service, [Scripted(last)]):
        shown = ann.ask("GET", "/models").json()[0]["look_job"]
        wait_for(lambda: ann.ask("GET", f"/jobs/{shown}").json()["progress"])
        assert ann.ask("GET", f"/jobs/{shown}").json()["progress"]["done"] == 0.5
        assert ann.ask("POST", f"/jobs/{shown}/cancel").status_code == 200
        assert stopped.wait(WAIT)
        (job,) = settled(ann)
    assert job["state"] == "cancelled"


def test_what_a_lost_machine_had_is_tried_again(person, service):
    ann = person()
    ann.upload()

    def lost_once(job, folder, progress, cancelled):
        if len(hands.seen) == 1:
            raise LostError("the worker died")
        return done(job, folder, progress, cancelled)

    hands = Scripted(lost_once)
    with Dispatcher(service, [hands]):
        (job,) = settled(ann)
    assert job["state"] == "done" and len(hands.seen) == 2


def test_a_job_that_is_always_lost_fails(person, service):
    ann = person()
    ann.upload()

    def lost(job, folder, progress, cancelled):
        raise LostError("the worker died")

    hands = Scripted(lost)
    with Dispatcher(service, [hands]):
        (job,) = settled(ann)
    assert job["state"] == "failed" and "lost" in job["error"]
    assert len(hands.seen) == service.limits.attempts


def test_after_a_stop_and_a_restart_jobs_go_on(person, service):
    ann = person()
    ann.upload()

    def until_stopped(job, folder, progress, cancelled):
        wait_for(cancelled)
        raise CancelledError

    first = Scripted(until_stopped)
    with Dispatcher(service, [first]):
        wait_for(lambda: first.seen)
    (service.folder / "work" / "left").mkdir()
    with Dispatcher(service, [Scripted(done)]):
        (job,) = settled(ann)
    assert job["state"] == "done"
    assert not (service.folder / "work" / "left").exists()


def test_two_dispatchers_do_each_job_once(person, service, tmp_path):
    ann = person()
    for _ in range(12):
        ann.upload()
    pairs = [Scripted(done, name=f"hands-{number}") for number in range(3)]
    other = type(service).__new__(type(service))
    other.__dict__.update(service.__dict__, folder=tmp_path / "other")
    other.folder.mkdir()
    with Dispatcher(service, pairs[:2]), Dispatcher(other, pairs[2:]):
        jobs = settled(ann, 12)
    assert all(job["state"] == "done" for job in jobs)
    assert sum(len(one.seen) for one in pairs) == 12


@pytest.mark.parametrize("error", [OSError(28, "no space"), ValueError("bad"), RuntimeError("x")])
def test_what_cannot_be_carried_out_fails_with_a_line(person, service, error):
    ann = person()
    ann.upload()

    def broken(job, folder, progress, cancelled):
        raise error

    with Dispatcher(service, [Scripted(broken)]):
        (job,) = settled(ann)
    assert job["state"] == "failed" and "could not be carried out" in job["error"]
    assert "\n" not in job["error"]


def test_results_that_the_store_has_no_room_for(person, service, monkeypatch):
    ann = person()
    ann.upload()

    def full(id, file):
        raise StoreFullError("the disk of the service is full")

    monkeypatch.setattr(service.blobs, "put", full)
    with Dispatcher(service, [Scripted(done)]):
        (job,) = settled(ann)
    assert job["state"] == "failed" and "disk of the service is full" in job["error"]


def test_jobs_say_why_they_wait_and_fail_in_the_end(person, service):
    from nnc.service.dispatch.fleet import Waiting

    class NoMembers:
        there = frozenset()

        def targets(self):
            return self.there

    ann = person()
    ann.upload()
    with Dispatcher(service, [Scripted(done, Wanted(LOOKS))]):
        settled(ann)
    model = ann.ask("GET", "/models").json()[0]["id"]
    order = ann.order(model, targets=["c", "host"])["id"]

    def jobs():
        return ann.ask("GET", f"/orders/{order}").json()["jobs"]

    members = NoMembers()
    waiting = Waiting(service.queue, members, ["c"], patience=0.5)
    waiting.look()
    c, host = jobs()
    assert c["state"] == "queued" and "no worker for 'c'" in c["progress"]["text"]
    assert host["progress"] is None
    members.there = {"c"}
    time.sleep(0.6)
    waiting.look()
    assert jobs()[0]["state"] == "queued"
    members.there = set()
    time.sleep(0.6)
    waiting.look()
    c, host = jobs()
    assert c["state"] == "failed" and "no worker for 'c'" in c["error"]
    assert host["state"] == "queued"
