"""What is known of a model while it is looked at, and the page about it."""

import html
import re

import pytest
from nnc.driver.compile import load_module
from nnc.explorer.explore import Source, explore

from ..models.small_models import small_cnn
from .conftest import ORIGIN, results

pytestmark = pytest.mark.service

FOUND = {"operators": [], "format": "ONNX"}


def looked_at(person, service):
    """A user, a model that is being looked at, and the job that does."""
    ann = person()
    model = ann.upload()
    job = service.queue.claim("test:1", 60)
    assert job.kind == "look"
    return ann, model, job


@pytest.mark.parametrize("ends", ["done", "lost"])
@pytest.mark.parametrize("early", [True, False])
def test_a_model_is_ready_once_it_was_checked(person, service, early, ends):
    """Its page may take minutes; a look that is lost begins again."""
    ann, model, job = looked_at(person, service)
    note = {"step": "explore", "done": 0.5, "text": "makes the page"}
    service.queue.progress(job, {**note, "found": FOUND} if early else note)
    shown = ann.ask("GET", f"/models/{model}").json()
    assert shown["state"] == ("ready" if early else "looking")
    assert shown["look"] == (FOUND if early else None)
    assert shown["pages"] == {"explore": False, "making": early}
    (listed,) = ann.ask("GET", "/models").json()
    assert listed["state"] == shown["state"] and "look" not in listed
    assert ann.ask("GET", f"/jobs/{job.id}").json()["progress"] == note
    if ends == "done":
        service.queue.finish(job, "done", {**FOUND, "no_page": "too large"})
        shown = ann.ask("GET", f"/models/{model}").json()
        assert shown["state"] == "ready" and shown["look"]["no_page"] == "too large"
    else:
        service.queue.release("test:1")
        shown = ann.ask("GET", f"/models/{model}").json()
        assert shown["state"] == "looking" and shown["look"] is None
    assert shown["pages"] == {"explore": False, "making": False}


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
