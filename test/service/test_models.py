"""What is known of a model while it is looked at, and the page about it."""

import html
import re

import pytest
from nnc.driver.compile import load_module
from nnc.explorer.explore import Source, explore
from nnc.service.dispatch.hands import LOOKS, PAGES
from nnc.service.jobs import Wanted

from ..models.small_models import small_cnn
from .conftest import ORIGIN, blobs_of, results

pytestmark = pytest.mark.service

FOUND = {"operators": [], "format": "ONNX"}


def looked_at(person, service):
    """A user, a model that is being looked at, and the job that does."""
    ann = person()
    model = ann.upload()
    job = service.queue.claim("test:1", 60)
    assert job.kind == "look"
    return ann, model, job


def shown(ann, model):
    return ann.ask("GET", f"/models/{model}").json()


@pytest.mark.parametrize("ends", ["done", "none", "failed", "cancelled", "lost"])
def test_a_model_is_ready_once_it_was_checked(person, service, tmp_path, ends):
    """Its page may take minutes, is another job's turn, and takes nothing back that was found."""
    ann, model, job = looked_at(person, service)
    assert shown(ann, model)["state"] == "looking"
    assert shown(ann, model)["pages"] == {"explore": False, "making": False}
    assert service.queue.go_on(job, "page", FOUND, results(tmp_path / "look", log="checked\n"))
    assert not service.queue.finish(job, "done", {"late": 1})  # it is no longer that attempt's
    for _ in range(2):
        one = shown(ann, model)
        assert (one["state"], one["error"], one["look"]) == ("ready", None, FOUND)
        assert one["pages"] == {"explore": False, "making": True}
        (listed,) = ann.ask("GET", "/models").json()
        assert listed["state"] == "ready" and "look" not in listed
        waiting = service.queue.claim("test:2", 60, Wanted(LOOKS))
        assert waiting is None
        page = service.queue.claim("test:2", 60, Wanted(PAGES))
        if page is not None:
            made = page
    assert (made.id, made.kind, made.summary) == (job.id, "page", FOUND)
    assert ann.ask("GET", f"/jobs/{job.id}/log").text == "checked\n"
    used = ann.used()
    if ends == "lost":
        service.queue.release("test:2")
        assert shown(ann, model)["pages"] == {"explore": False, "making": True}
        made = service.queue.claim("test:3", 60)
    if ends == "cancelled":
        service.queue.cancel(ann.user.id, job.id)
    elif ends == "failed":
        service.queue.finish(made, "failed", error="a full disk")
    elif ends == "none":
        service.queue.finish(made, "done", {"no_page": "too large"})
    else:
        files = results(tmp_path / "page", log="checked\nmade\n", explore="<p>")
        assert service.queue.finish(made, "done", {}, files)
    one = shown(ann, model)
    assert (one["state"], one["error"]) == ("ready", None)
    assert one["pages"] == {"explore": ends in ("done", "lost"), "making": False}
    reasons = {
        "none": "too large",
        "failed": "a full disk",
        "cancelled": "the job that makes it was cancelled",
    }
    assert one["look"] == FOUND | ({"no_page": reasons[ends]} if ends in reasons else {})
    (listed,) = ann.ask("GET", "/models").json()
    assert (listed["state"], listed["error"]) == ("ready", None)
    if ends in ("done", "lost"):  # the log is one, and the one before it takes no room
        assert ann.ask("GET", f"/jobs/{job.id}/log").text == "checked\nmade\n"
        assert ann.used() == used + len("made\n") + len("<p>")
        service.files.reap()
        assert len(blobs_of(service)) == 3
    ann.ask("DELETE", f"/models/{model}")
    assert not blobs_of(service)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page as `nnc explore` makes it."""
    path = tmp_path_factory.mktemp("models") / "net.onnx"
    path.write_bytes(small_cnn().SerializeToString())
    return explore([Source("net", lambda: load_module(str(path)))], [None], measured=False)


@pytest.mark.parametrize("signed_in", [True, False])
@pytest.mark.parametrize("kind", ["page", "damaged", "other"])
def test_a_browser_gets_a_page_that_may_ask_the_service(
    person, service, http, tmp_path, page, kind, signed_in
):
    """Only with data of the job's; a client with a token gets the file as it is."""
    ann, model, job = looked_at(person, service)
    evil = "<script>alert(document.cookie)</script>"
    made = {
        "page": page.replace("</body>", f"{evil}</body>"),
        "damaged": page.replace('id="table"', 'id="tables"'),
        "other": evil,
    }[kind]
    assert service.queue.finish(job, "done", FOUND, results(tmp_path / "out", explore=made))
    if signed_in:
        headers = {"X-NNC": "1", "Origin": ORIGIN}
        http.post("/api/v1/session", json={"token": ann.token}, headers=headers)
        answer = http.get(f"/api/v1/models/{model}/explore")
    else:
        answer = ann.ask("GET", f"/models/{model}/explore")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    if signed_in and kind == "page":
        assert evil not in answer.text and f"/api/v1/models/{model}" in html.unescape(answer.text)
        assert "connect-src 'self'" in policy and "'unsafe-inline'" not in policy
        assert "frame-ancestors 'self'" in policy and "sandbox" not in policy
        texts = re.findall(r'<script type="text/plain" id="[\w-]+">[^<]*', page)
        assert texts and all(text in answer.text for text in texts)
    else:
        assert answer.text == made
        assert policy.startswith("sandbox ") and "allow-same-origin" not in policy
