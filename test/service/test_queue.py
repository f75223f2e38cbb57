"""The queue: turns, leases, attempts, results; on both kinds of stores."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from queue import SimpleQueue

import pytest
from nnc.ir.diagnostics import NncError
from nnc.service.limits import Limits

from .conftest import blobs_of, results

pytestmark = pytest.mark.service

LONG = 600
SHORT = 0.05


@pytest.fixture
def limits() -> Limits:
    return Limits(free_bytes=0, attempts=3)


def drain(service, owner="test"):
    """Claim and finish all that waits; the jobs in their order."""
    jobs = []
    while job := service.queue.claim(owner, LONG):
        assert service.queue.finish(job, "done", {})
        jobs.append(job)
    return jobs


def test_a_job_from_queue_to_result(person, service, tmp_path):
    ann = person()
    model = ann.upload(b"a model", "net.v1.onnx")
    inputs = ann.upload(b"numbers", "in.npz", purpose="inputs")
    drain(service)
    (shown,) = ann.order(model, targets=["c"], threads=[1, 2], seconds=7, inputs=inputs)["jobs"]
    job = service.queue.claim("me", LONG)
    assert job.id == shown["id"] and job.kind == "package" and job.seconds == 1800
    wanted = {"target": "c", "precision": "f32", "threads": [1, 2], "seconds": 7, "engines": []}
    assert job.options == wanted
    files = service.queue.fetch(job, tmp_path)
    assert {name: (path.name, path.read_bytes()) for name, path in files.items()} == {
        "model": ("net.v1.onnx", b"a model"),
        "inputs": ("inputs.npz", b"numbers"),
    }
    assert service.queue.progress(job, {"step": "measure", "done": 0.5, "text": "half"})
    assert ann.ask("GET", f"/jobs/{job.id}").json()["progress"]["done"] == 0.5
    made = results(tmp_path / "out", package="zip", report="<p>", log="said")
    assert service.queue.finish(job, "done", {"best": "nnc"}, made)
    shown = ann.ask("GET", f"/jobs/{job.id}").json()
    assert (shown["state"], shown["report"]) == ("done", {"best": "nnc"})
    assert shown["files"] == ["log", "package", "report"]
    for name, content in {"package": "zip", "report": "<p>", "log": "said"}.items():
        assert ann.ask("GET", f"/jobs/{job.id}/{name}").text == content
    # Two files of 7 bytes, and the three results.
    assert ann.used() == 7 + 7 + 3 + 3 + 4


def test_users_take_turns(person, service):
    ann, bob, eve = person("ann"), person("bob"), person("eve")
    for who, jobs in ((ann, 4), (bob, 2), (eve, 1)):
        model = who.upload()
        drain(service)
        who.model, who.jobs = model, jobs
    for who in (ann, bob, eve):
        for _ in range(who.jobs):
            who.order(who.model)
    places = {
        name: [o["jobs"][0]["place"] for o in reversed(who.ask("GET", "/orders").json())]
        for name, who in (("ann", ann), ("bob", bob), ("eve", eve))
    }
    names = {who.user.id: who.user.name for who in (ann, bob, eve)}
    taken = [names[job.user] for job in drain(service)]
    assert taken == ["ann", "bob", "eve", "ann", "bob", "ann", "ann"]
    # What was said of places is what came to pass.
    for name, said in places.items():
        assert said == [at + 1 for at, taker in enumerate(taken) if taker == name]


def test_a_look_comes_before_the_same_users_packages(person, service):
    ann = person()
    model = ann.upload()
    drain(service)
    ann.order(model)
    ann.upload(b"another")
    assert [job.kind for job in drain(service)] == ["look", "package"]


def test_no_job_is_claimed_twice(person, service):
    ann = person(jobs=1000)
    model = ann.upload()
    drain(service)
    for _ in range(5):
        ann.order(model, targets=["host", "c"], precisions=["f32", "f16"])
    numbers = count()

    def work(_):
        owner, mine = f"worker {next(numbers)}", []
        while job := service.queue.claim(owner, LONG):
            mine.append(job.id)
            assert service.queue.finish(job, "done", {"owner": owner})
        return mine

    with ThreadPoolExecutor(6) as pool:
        done = [id for some in pool.map(work, range(6)) for id in some]
    assert len(done) == len(set(done)) == 20
    assert service.queue.counts() == {"done": 21}


def test_a_lost_owner_loses_the_job_and_its_late_result_is_dropped(person, service, tmp_path):
    ann = person()
    ann.upload()
    first = service.queue.claim("first", SHORT)
    time.sleep(2 * SHORT)
    second = service.queue.claim("second", LONG)
    assert (second.id, second.attempt) == (first.id, 2)
    assert not service.queue.renew(first, LONG) and service.queue.cancelled(first)
    assert not service.queue.progress(first, {"step": "late"})
    stored = blobs_of(service)
    assert not service.queue.finish(first, "done", {"from": 1}, results(tmp_path / "1", log="1"))
    assert blobs_of(service) == stored
    assert service.queue.finish(second, "done", {"from": 2}, results(tmp_path / "2", log="2"))
    assert not service.queue.finish(second, "failed", error="again")
    shown = ann.ask("GET", f"/jobs/{first.id}").json()
    assert (shown["state"], shown["report"]) == ("done", {"from": 2})
    assert ann.ask("GET", f"/jobs/{first.id}/log").text == "2"


def test_a_renewed_lease_lasts(person, service):
    person().upload()
    job = service.queue.claim("slow", SHORT)
    assert service.queue.renew(job, LONG)
    time.sleep(2 * SHORT)
    assert service.queue.claim("other", LONG) is None
    assert service.queue.finish(job, "done")


def test_a_job_that_loses_its_machine_too_often_has_failed(person, service):
    ann = person()
    model = ann.upload()
    for attempt in (1, 2, 3):
        assert service.queue.claim("fragile", LONG).attempt == attempt
        service.queue.release("fragile")
    assert service.queue.claim("fragile", LONG) is None
    shown = ann.ask("GET", f"/models/{model}").json()
    assert shown["state"] == "refused" and "lost, 3 times" in shown["error"]


def test_release_takes_back_what_one_owner_has(person, service):
    ann = person()
    ann.upload(b"1")
    ann.upload(b"2")
    one, other = service.queue.claim("one", LONG), service.queue.claim("other", LONG)
    service.queue.release("one")
    assert service.queue.cancelled(one) and not service.queue.cancelled(other)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("way", ["cancel", "order", "model", "user"])
def test_what_is_not_wanted_any_more_ends(person, service, tmp_path, running, way):
    ann = person()
    model = ann.upload()
    drain(service)
    order = ann.order(model)
    id = order["jobs"][0]["id"]
    job = service.queue.claim("test", LONG) if running else None
    match way:
        case "cancel":
            assert ann.ask("POST", f"/jobs/{id}/cancel").json()["state"] == "cancelled"
        case "order":
            assert ann.ask("DELETE", f"/orders/{order['id']}").status_code == 204
        case "model":
            assert ann.ask("DELETE", f"/models/{model}").status_code == 204
        case "user":
            assert ann.ask("DELETE", "/me").status_code == 204
    assert service.queue.claim("test", LONG) is None
    if job is not None:
        assert service.queue.cancelled(job) and not service.queue.renew(job, LONG)
        assert not service.queue.finish(job, "done", {}, results(tmp_path / "out", log="late"))
    kept = {"cancel": 1, "order": 1, "model": 0, "user": 0}[way]
    assert len(blobs_of(service)) == kept
    if way == "cancel":
        again = ann.ask("POST", f"/jobs/{id}/cancel")
        assert again.status_code == 409 and "cancelled already" in again.json()["error"]
    elif way != "user":
        assert ann.ask("GET", f"/jobs/{id}").status_code == 404


def test_deleting_an_order_deletes_its_results(person, service, tmp_path):
    ann = person()
    model = ann.upload()
    drain(service)
    order = ann.order(model)
    job = service.queue.claim("test", LONG)
    assert service.queue.finish(job, "done", {}, results(tmp_path / "out", package="zip"))
    assert len(blobs_of(service)) == 2
    ann.ask("DELETE", f"/orders/{order['id']}")
    assert (len(blobs_of(service)), ann.used()) == (1, len(b"a model"))
    gone = ann.ask("GET", f"/jobs/{job.id}/package")
    assert (gone.status_code, gone.json()) == (404, {"error": "there is no such job"})


def test_results_beyond_the_quota_fail_the_job(person, service, tmp_path):
    ann = person(bytes=100)
    model = ann.upload()
    drain(service)
    ann.order(model)
    job = service.queue.claim("test", LONG)
    assert service.queue.finish(job, "done", {}, results(tmp_path / "out", package="z" * 94))
    shown = ann.ask("GET", f"/jobs/{job.id}").json()
    assert shown["state"] == "failed" and "quota" in shown["error"] and shown["files"] == []
    assert len(blobs_of(service)) == 1


def test_what_is_no_json_becomes_json(person, service):
    ann = person()
    ann.upload()
    job = service.queue.claim("test", LONG)
    odd = {"a": float("nan"), "b": (1, float("inf")), "c": "\0x\ud800", 4: {"d": -float("inf")}}
    assert service.queue.finish(job, "failed", odd, error="zero \0 and \ud800" + "x" * 10_000)
    shown = ann.ask("GET", f"/jobs/{job.id}").json()
    assert shown["report"] == {"a": None, "b": [1, None], "c": "x?", "4": {"d": None}}
    assert shown["error"].startswith("zero  and ?x") and len(shown["error"]) < 5000


def test_a_result_that_is_not_there_leaves_the_job_running(person, service, tmp_path):
    ann = person()
    ann.upload()
    job = service.queue.claim("test", LONG)
    files = {**results(tmp_path / "out", log="said"), "report": tmp_path / "missing"}
    with pytest.raises(NncError, match="No such file"):
        service.queue.finish(job, "done", {}, files)
    assert len(blobs_of(service)) == 1
    assert service.queue.finish(job, "failed", error="it wrote no report")


def test_jobs_of_one_user_are_limited(person, service):
    ann = person(jobs=3)
    model = ann.upload()
    drain(service)
    wish = {"targets": ["host", "c"], "precisions": ["f32", "f16"]}
    answer = ann.ask("POST", f"/models/{model}/orders", json=wish)
    assert answer.status_code == 429 and "quota of 3" in answer.json()["error"]
    assert ann.ask("GET", "/orders").json() == []
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda _: ann.ask("POST", f"/models/{model}/orders", json={}), range(8))
        assert Counter(answer.status_code for answer in answers) == {201: 3, 429: 5}
    # Each upload brings a job, too.
    assert ann.ask("POST", "/uploads", json={"name": "m", "bytes": 1}).status_code == 429
    drain(service)
    ann.upload(b"again")


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"targets": []}, "targets"),
        ({"targets": ["host", "host"]}, "twice"),
        ({"targets": ["riscv' OR 1=1"]}, "no target"),
        ({"precisions": ["f7"]}, "no precision"),
        ({"engines": ["tvm"]}, "no engine"),  # which is not installed
        ({"threads": []}, "threads"),
        ({"threads": [0]}, "threads"),
        ({"threads": [True]}, "threads"),
        ({"seconds": -1}, "seconds"),
        ({"inputs": "nothing"}, "inputs"),
        ({"inputs": "A" * 22}, "inputs"),
        ({"budget": 1}, "budget"),
    ],
)
def test_orders_that_make_no_sense(person, service, wish, said):
    ann = person()
    model = ann.upload()
    answer = ann.ask("POST", f"/models/{model}/orders", json=wish)
    assert answer.status_code in (404, 422) and said in answer.json()["error"]
    assert ann.ask("GET", "/orders").json() == []


def test_a_refused_model_takes_no_orders(person, service):
    ann = person()
    model = ann.upload()
    service.queue.finish(service.queue.claim("test", LONG), "failed", error="no model at all")
    answer = ann.ask("POST", f"/models/{model}/orders", json={})
    assert answer.status_code == 409 and "no model at all" in answer.json()["error"]


def test_an_order_compares_what_was_measured(person, service):
    ann = person()
    model = ann.upload()
    drain(service)
    order = ann.order(model, precisions=["f32", "f16"])
    first, second = service.queue.claim("test", LONG), service.queue.claim("test", LONG)
    service.queue.finish(first, "done", {"ms": 2})
    service.queue.finish(second, "failed", error="too slow")
    shown = ann.ask("GET", f"/orders/{order['id']}").json()
    assert [job["state"] for job in shown["jobs"]] == ["done", "failed"]
    assert shown["comparison"] == [
        {"job": first.id, "target": "host", "precision": "f32", "report": {"ms": 2}}
    ]


def test_an_experiment(person, service):
    ann = person()
    model = ann.upload()
    drain(service)
    wish = {"target": "host", "kernel": "k0", "schedule": "schedule.split \u0000 'x'"}
    job = ann.ask("POST", f"/models/{model}/experiments", json=wish).json()
    claimed = service.queue.claim("test", LONG)
    assert claimed.id == job["id"] and claimed.kind == "experiment"
    assert claimed.options == {**wish, "schedule": "schedule.split  'x'"}


def test_events_tell_each_change_until_the_end(person, service, monkeypatch):
    ann = person()
    model = ann.upload()
    drain(service)
    order = ann.order(model)
    read, told = service.orders.states, SimpleQueue()

    def states(user, order):
        (job,) = found = read(user, order)
        told.put(job["state"])
        return found

    def wait_until_told(state):
        while told.get(timeout=60) != state:
            pass

    monkeypatch.setattr(service.orders, "states", states)
    with ThreadPoolExecutor(1) as pool:
        stream = pool.submit(ann.ask, "GET", f"/orders/{order['id']}/events")
        wait_until_told("queued")
        job = service.queue.claim("test", LONG)
        wait_until_told("running")
        service.queue.finish(job, "done", {})
        text = stream.result(timeout=60).text
    states = [part.split('"state": "')[1].split('"')[0] for part in text.split("event: job")[1:]]
    assert states == ["queued", "running", "done"]
    assert text.rstrip().endswith("event: end\ndata: {}")
