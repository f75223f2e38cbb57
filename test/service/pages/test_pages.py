"""The pages in Chromium: the real service behind them, and a test in the place of its machines."""

import hashlib
import json
import re
from pathlib import Path

import httpx
import pytest

from .served import report, row

pytestmark = pytest.mark.service

MARKUP = "<img src=x onerror=globalThis.hacked=1>"


def ready_model(visit, model_file: Path, tmp_path: Path, look=None) -> str:
    """Uploads a model and has it looked at; its id."""
    visit.upload(model_file)
    visit.wait_for("Being looked at")
    visit.served.finish_look(model_file, tmp_path, look)
    visit.wait_for("Ready")
    (model,) = [one for one in visit.models() if one["name"] == model_file.name]
    return model["id"]


def test_signing_in_and_out(visit) -> None:
    """By token, after a wrong one; the token is nowhere in the address, and going out ends it."""
    one = visit(sign_in=False)
    one.open("/models")
    one.page.get_by_label("Token", exact=True).fill("nnc_wrong")
    one.page.keyboard.press("Enter")
    one.page.get_by_role("alert").get_by_text("this token is wrong").wait_for()
    one.page.get_by_label("Token", exact=True).fill(one.token)
    one.page.keyboard.press("Enter")
    one.page.get_by_role("heading", name="Models", exact=True).wait_for()
    one.sign_in()  # by a link
    assert one.token not in one.page.url
    assert one.page.evaluate("Object.keys(localStorage)") == []
    one.page.get_by_role("button", name="Sign out").click()
    one.page.get_by_label("Token", exact=True).wait_for()
    one.open("/account")
    one.page.get_by_label("Token", exact=True).wait_for()


def test_an_ended_session_asks_to_sign_in_and_goes_on_there(visit) -> None:
    one = visit()
    one.context.clear_cookies()
    one.page.get_by_role("link", name="Account").click()
    one.page.get_by_label("Token", exact=True).fill(one.token)
    one.page.keyboard.press("Enter")
    one.page.get_by_role("heading", name="Account").wait_for()
    one.page.goto(f"{one.served.url}/models/AAAAAAAAAAAAAAAAAAAAAA")
    one.wait_for("There is nothing here")


def test_an_upload_pauses_and_goes_on_after_a_reload(visit, tmp_path) -> None:
    """Only what had not arrived is sent again; another file is refused; bytes are the file's."""
    content = b"".join(
        hashlib.sha256(bytes([i % 251, i // 251])).digest() * 2048 for i in range(110)
    )
    file, other = tmp_path / "big.onnx", tmp_path / "other" / "big.onnx"
    file.write_bytes(content)
    other.parent.mkdir()
    other.write_bytes(content[:-1])
    one = visit()
    sent: list[int] = []

    def count(route) -> None:
        sent.append(int(route.request.headers["upload-offset"]))
        if len(sent) != 3:
            route.continue_()

    one.page.route(
        re.compile(r"/api/v1/uploads/.+"),
        lambda route: count(route) if route.request.method == "PATCH" else route.continue_(),
    )
    one.upload(file)
    one.wait_for("4.2 MB of 7.2 MB")
    one.page.get_by_role("button", name="Pause: big.onnx").click()
    one.wait_for("4.2 MB of 7.2 MB, paused")
    one.page.reload()
    one.wait_for("Cut off by leaving the page")
    again = one.page.locator(".upload input[type=file]")
    again.set_input_files(other)
    one.page.get_by_role("alert").get_by_text("choose the same file").wait_for()
    again.set_input_files(file)
    one.wait_for("Being looked at")
    assert sent == [0, 2 << 20, 4 << 20, 4 << 20, 6 << 20]
    (model,) = one.models()
    assert model["sha256"] == hashlib.sha256(content).hexdigest()
    assert one.page.evaluate("JSON.parse(localStorage['nnc-uploads'])") == {}


def test_a_lost_connection_is_said_and_the_upload_goes_on(visit, model_file) -> None:
    one = visit()
    failures = iter([True])
    one.page.route(
        re.compile(r"/api/v1/uploads/.+"),
        lambda route: route.abort() if next(failures, False) else route.continue_(),
    )
    one.upload(model_file)
    one.page.get_by_role("alert").get_by_text("does not answer").wait_for()
    one.wait_for("Being looked at")
    (model,) = one.models()
    assert model["sha256"] == hashlib.sha256(model_file.read_bytes()).hexdigest()


def test_refusals_are_said_where_they_happen(visit, tmp_path) -> None:
    """An empty file, one beyond the quota, one that is no model."""
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "notes.txt").write_text("Dear all")
    with (tmp_path / "huge.onnx").open("wb") as file:
        file.truncate(60_000_000)
    one = visit()
    one.wait_for("No models yet")
    one.upload(tmp_path / "empty.onnx", tmp_path / "huge.onnx", tmp_path / "notes.txt")
    rows = one.page.locator(".upload")
    rows.filter(has_text="empty.onnx").get_by_role("alert").get_by_text("is empty").wait_for()
    rows.filter(has_text="huge.onnx").get_by_role("alert").get_by_text("quota").wait_for()
    rows.filter(has_text="huge.onnx").get_by_role("button", name="Cancel").click()
    one.wait_for("Being looked at")
    job = one.served.claim("look")
    assert one.served.service.queue.finish(
        job, "failed", error="notes.txt: no model that nnc reads"
    )
    one.wait_for("notes.txt: no model that nnc reads")
    one.page.get_by_role("link", name="notes.txt").click()
    one.page.get_by_role("heading", name="nnc cannot take this model").wait_for()
    one.page.get_by_role("link", name="Models").first.click()
    one.page.get_by_role("button", name="Remove notes.txt").click()
    one.wait_for("No models yet")
    assert one.models() == []


def test_what_is_in_a_model(visit, model_file, tmp_path) -> None:
    one = visit()
    ready_model(one, model_file, tmp_path)
    one.page.get_by_role("link", name="net.onnx").click()
    one.wait_for("What is in it")
    text = one.text()
    for part in (
        "Format ONNX",
        "Nodes 5",
        "Weights 928 B",
        "Input x f32[1, 3, 8, 8]",
        "Output y f32[1, 2]",
        "Conv 1",
    ):
        assert part in text
    one.page.get_by_role("button", name="Show it here").click()
    inside = one.page.frame_locator("iframe")
    inside.get_by_role("heading", name="inside").wait_for()
    assert one.page.get_attribute("iframe", "sandbox").split()[0] == "allow-scripts"


def test_an_order_from_the_choice_to_the_comparison(visit, model_file, tmp_path) -> None:
    """Its place, its progress as it comes, a failure, a cancelled job, figures, the download."""
    one = visit()
    served, queue = one.served, one.served.service.queue
    model = ready_model(one, model_file, tmp_path)
    one.open(f"/models/{model}")
    one.wait_for("Hardware")
    assert "Not measured here: this machine is no Arm processor" in one.page.text_content("main")
    assert one.page.get_by_label("OpenVINO").is_disabled()
    assert one.page.get_by_label("TensorFlow").count() == 0  # it runs no models of this format
    one.page.get_by_label("f16").check()
    one.page.get_by_text("2 targets that can be built for").click()
    one.page.get_by_label("Search 2 targets").fill("cortex")
    assert not one.page.get_by_label("cuda-sm90").is_visible()
    one.page.get_by_label("cortex-a76").check()
    one.page.get_by_label("None", exact=False).first.check()
    one.wait_for("4 packages")
    one.page.get_by_label("Numbers of threads").fill("1, two")
    one.page.get_by_role("button", name="Start").click()
    one.page.get_by_role("alert").get_by_text("whole numbers from 1").wait_for()
    one.page.get_by_label("Numbers of threads").fill("1")
    one.page.get_by_role("button", name="Start").click()
    one.wait_for("Place 4 in the queue")

    first = served.claim("package")
    assert first.options["target"] == "host"
    assert first.options["engines"] == ["nnc", "nnc-tuned", "onnxruntime"]
    assert queue.progress(first, {"step": "measure", "done": 0.4, "text": "turn 4 of 10"})
    one.wait_for("turn 4 of 10")
    assert (
        one.page.get_by_label("Progress of This machine, f32").evaluate("bar => bar.value") == 0.4
    )
    one.page.get_by_role("button", name="Cancel cortex-a76, f16").click()
    one.wait_for("Cancelled")
    engines = [
        row("nnc", "nnc", 4.0),
        row("nnc-tuned", "nnc, tuned", 2.5),
        row("onnxruntime", "ONNX Runtime", 5.0),
    ]
    served.finish_package(first, report(engines), tmp_path)
    one.wait_for("nnc, tuned, This machine, f32, 1 thread: 2.50 ms")
    second = served.claim("package")
    assert queue.finish(second, "failed", error="net.onnx cannot be made f16: node 'conv'")
    one.page.get_by_role("alert").get_by_text("cannot be made f16").wait_for()
    unmeasured = report([], "", not_measured_because="this machine is no Arm processor")
    unmeasured["recommendation"] = {
        "engine": None,
        "options": None,
        "reason": "",
        "text": "Nothing.",
    }
    served.finish_package(served.claim("package"), unmeasured, tmp_path)
    one.wait_for("4 of 4 packages finished")
    assert one.page.locator("h2").all_inner_texts()[0] == "Recommendation"

    table = one.page.get_by_role("region", name="All figures, 1 thread").locator("tbody tr")
    assert [" ".join(line.split()[:2]) for line in table.all_inner_texts()] == [
        "nnc, tuned",
        "nnc 1.0",
        "ONNX Runtime",
    ]
    assert "2.50 ms ± 0.05 ms 2.00 × 400" in " ".join(table.first.inner_text().split())
    label = one.page.locator(".chart svg").get_attribute("aria-label")
    assert (
        label
        == "This machine, f32: nnc, tuned 2.50 ms, 2.00 times as fast as ONNX Runtime; nnc 4.00 ms, 1.25 times as fast as ONNX Runtime; ONNX Runtime 5.00 ms"
    )
    widths = [
        box["width"]
        for box in (bar.bounding_box() for bar in one.page.locator(".chart rect").all())
    ]
    assert widths[0] / widths[2] == pytest.approx(0.5, abs=0.01)
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    one.page.get_by_role("button", name="Copy the command: nnc, tuned").click()
    assert one.page.evaluate("navigator.clipboard.readText()") == engines[1]["command"]
    with one.page.expect_download() as download:
        one.page.get_by_role("link", name="Download the package").click()
    assert download.value.suggested_filename == "net-host-f32.zip"
    assert Path(download.value.path()).read_text() == "<p>package</p>"

    one.page.get_by_role("button", name="Delete these packages").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    one.page.get_by_role("button", name="Delete these packages").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Delete the packages").click()
    one.page.get_by_role("heading", name="net.onnx", exact=True).wait_for()
    assert served.service.orders.all(one.user.id) == []


def test_orders_with_own_inputs(visit, model_file, tmp_path) -> None:
    """They are uploaded before the order is sent; without a file it is not."""
    (tmp_path / "mine.npz").write_bytes(b"PK" + bytes(5000))
    one = visit()
    model = ready_model(one, model_file, tmp_path)
    one.open(f"/models/{model}")
    one.wait_for("Hardware")
    one.page.get_by_label("My own").check()
    one.page.get_by_role("button", name="Start").click()
    one.page.get_by_role("alert").get_by_text("Choose a file of inputs").wait_for()
    one.page.get_by_label("File of inputs").set_input_files(tmp_path / "mine.npz")
    one.wait_for("mine.npz is uploaded and will be used")
    one.page.get_by_role("button", name="Start").click()
    one.wait_for("in the queue")
    job = one.served.claim("package")
    assert set(job.blobs) == {"model", "inputs"}
    assert one.served.service.queue.finish(job, "failed", error="no")
    one.page.get_by_role("alert").get_by_text("no", exact=True).wait_for()


def test_hostile_names_do_nothing(visit, model_file, tmp_path) -> None:
    """In a file's name, all that a look says, errors and reports: they are text."""
    evil = tmp_path / f"{MARKUP}.onnx"
    evil.write_bytes(model_file.read_bytes())
    one = visit(name=f"{MARKUP} user")
    look = {
        "format": MARKUP, "producer": MARKUP, "notes": {MARKUP: MARKUP, "__proto__": "x"},
        "inputs": [{"name": MARKUP, "type": MARKUP}], "outputs": [{"name": "__proto__", "type": "f32[1]"}],
        "operators": [{"domain": MARKUP, "name": "constructor", "count": 3, "unsupported": 1}],
        "unsupported": [MARKUP], "unexamined": 1, "warnings": [MARKUP], "host_steps": [MARKUP],
        "open_dimensions": [{"place": MARKUP, "type": MARKUP, "because": MARKUP}],
        "assumed_shapes": {MARKUP: [1]}, "operations": None, "weights_bytes": None,
        "arena_bytes": None, "seconds": {},
    }  # fmt: skip
    model = ready_model(one, evil, tmp_path, look)
    one.open(f"/models/{model}")
    one.wait_for("No package can be made of this model")
    assert one.page.text_content("main").count(MARKUP) > 10
    assert one.page.get_by_role("button", name="Start").count() == 0
    evil = evil.rename(tmp_path / f"{MARKUP} again.onnx")
    one.open("/models")
    model = ready_model(one, evil, tmp_path, {**look, "unsupported": []})
    one.open(f"/models/{model}")
    one.wait_for("Hardware")
    one.page.get_by_role("button", name="Start").click()
    one.wait_for("Next in the queue")
    rows = [row("nnc-tuned", MARKUP, 1.0, command=MARKUP), row("nnc", "nnc", 1.0, failed=MARKUP)]
    found = report(rows, why=[MARKUP], notes=[MARKUP], reference={"engine": "x", "title": MARKUP})
    one.served.finish_package(one.served.claim("package"), found, tmp_path)
    one.wait_for("Repeat it")
    assert one.page.text_content("main").count(MARKUP) > 6
    one.open("/account")
    assert one.page.evaluate("globalThis.hacked") is None
    assert one.page.locator("img").count() == 0


def test_tokens_and_deletion(visit) -> None:
    one = visit(name="customer")
    one.open("/account")
    one.page.get_by_label("Name of the new token").fill("laptop")
    one.page.get_by_role("button", name="Make a token").click()
    token = one.page.locator(".command code").inner_text()
    ask = {"headers": {"Authorization": f"Bearer {token}"}}
    assert httpx.get(f"{one.served.url}/api/v1/me", **ask).json()["user"] == "customer"
    one.page.reload()
    one.wait_for("laptop")
    assert token not in one.page.content()
    one.page.get_by_role("button", name="Delete the token laptop").click()
    one.page.get_by_role("dialog").get_by_role("button", name="Delete the token").click()
    one.page.get_by_text("laptop", exact=True).wait_for(state="detached")
    assert httpx.get(f"{one.served.url}/api/v1/me", **ask).status_code == 401
    one.page.get_by_role("button", name="Delete everything").click()
    sure = one.page.get_by_role("dialog").get_by_role("button", name="Delete everything")
    assert sure.is_disabled()
    one.page.get_by_role("dialog").get_by_role("textbox").fill("customer")
    sure.click()
    one.page.get_by_label("Token", exact=True).wait_for()
    assert "customer" not in [user.name for user in one.served.service.accounts.all()]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_is_accessible_and_fits(visit, model_file, tmp_path, width, dark) -> None:
    """By axe-core; and nothing but tables and code scrolls sideways."""
    one = visit(width=width, dark=dark, sign_in=False)

    def look() -> None:
        assert one.serious() == []
        assert not one.is_too_wide()

    one.open("/")
    look()
    one.sign_in()
    (tmp_path / "refused.onnx").write_bytes(b"none")
    model = ready_model(one, model_file, tmp_path)
    one.upload(tmp_path / "refused.onnx")
    one.wait_for("Being looked at")
    assert one.served.service.queue.finish(
        one.served.claim("look"), "failed", error="no model" * 30
    )
    one.wait_for("Refused")
    look()
    one.open(f"/models/{model}")
    one.wait_for("Hardware")
    one.page.get_by_label("f16").check()
    one.page.locator("details summary").first.click()
    look()
    one.page.get_by_role("button", name="Start").click()
    one.wait_for("Next in the queue")
    job = one.served.claim("package")
    assert one.served.service.queue.progress(job, {"step": "tune", "done": 0.2, "text": "tuning"})
    one.wait_for("tuning")
    look()
    rows = [
        row("nnc-tuned", "nnc, tuned", 2.5),
        row("nnc", "nnc", 4.0, within_tolerance=False),
        row("onnxruntime", "ONNX Runtime", 5.0),
        row("openvino", "OpenVINO", 1.0, failed="no"),
    ]
    one.served.finish_package(job, report(rows), tmp_path)
    assert one.served.service.queue.finish(one.served.claim("package"), "failed", error="no f16")
    one.wait_for("2 of 2 packages finished")
    for closed in one.page.locator("details summary").all():
        closed.click()
    look()
    one.page.get_by_role("button", name="Delete these packages").click()
    look()
    one.page.keyboard.press("Escape")
    one.open("/account")
    look()


def test_all_by_keyboard(visit, model_file, tmp_path) -> None:
    """From the link to the content to a deletion, each step by Tab, Space and Enter alone."""
    one = visit(width=360, sign_in=False)
    one.open("/")
    keys = one.page.keyboard

    def reach(name: str, most: int = 60) -> None:
        for _ in range(most):
            keys.press("Tab")
            at = one.page.evaluate("""() => {
                const at = document.activeElement, shown = at.closest(".option") ?? at, box = shown.getBoundingClientRect();
                const style = getComputedStyle(shown);
                const name = at.getAttribute("aria-label") ?? (at.labels?.[0] ?? at).innerText ?? "";
                return { name, seen: box.width > 1 && style.outlineStyle !== "none" && box.top < innerHeight && box.bottom > 0 };
            }""")
            assert at["seen"] or not at["name"], at
            if name in at["name"]:
                return
        raise AssertionError(f"Tab does not reach '{name}'")

    reach("Token")
    keys.type(one.token)
    keys.press("Enter")
    one.page.get_by_role("heading", name="Models", exact=True).wait_for()
    assert one.page.evaluate("document.activeElement.textContent") == "Models"
    with one.page.expect_file_chooser() as chooser:  # listens only some time after it is asked
        reach("Choose files")
        keys.press("Enter")
    chooser.value.set_files(model_file)
    one.wait_for("Being looked at")
    one.served.finish_look(model_file, tmp_path)
    one.wait_for("Ready")
    reach("net.onnx")
    keys.press("Enter")
    one.wait_for("Hardware")
    reach("f16")
    keys.press("Space")
    reach("Start")
    keys.press("Enter")
    one.wait_for("Next in the queue")
    reach("Cancel This machine, f32")
    keys.press("Enter")
    one.wait_for("Cancelled")
    one.served.finish_package(
        one.served.claim("package"), report([row("nnc-tuned", "nnc, tuned", 1.0)]), tmp_path
    )
    one.wait_for("Recommendation")
    with one.page.expect_download():
        reach("Download the package")
        keys.press("Enter")
    reach("Delete these packages")
    keys.press("Enter")
    one.page.get_by_role("dialog").wait_for()
    reach("Delete the packages", 6)
    keys.press("Enter")
    one.page.get_by_role("heading", name="net.onnx", exact=True).wait_for()


def test_changes_are_spoken(visit, model_file, tmp_path) -> None:
    """What happens without the user's doing stands in a live region."""
    one = visit()
    spoken = one.page.locator("body > [role=status]")
    model = ready_model(one, model_file, tmp_path)
    assert spoken.text_content() == "net.onnx is uploaded."
    one.open(f"/models/{model}")
    one.page.get_by_role("button", name="Start").click()
    one.wait_for("Next in the queue")
    job = one.served.claim("package")
    spoken.filter(has_text="This machine, f32 has started.").wait_for(state="attached")
    assert one.served.service.queue.finish(job, "failed", error="no")
    spoken.filter(has_text="This machine, f32 has failed.").wait_for(state="attached")


def test_the_shell_and_its_assets(served) -> None:
    """Nothing is inline, nothing comes from elsewhere, and all that scripts import is served."""
    with httpx.Client(base_url=served.url) as client:
        shell = client.get("/models/anything")
        assert shell.status_code == 200
        policy = dict(
            part.strip().split(" ", 1)
            for part in shell.headers["content-security-policy"].split(";")
        )
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
        assert not re.search(
            r"<style|\sstyle=|\son\w+=|https?://(?!www\.w3\.org/2000/svg)", shell.text
        )
        assert re.findall(r"<script[^>]*>(.*?)</script>", shell.text) == [""]
        wanted = re.findall(r'(?:src|href)="(/assets/[^"]+)"', shell.text)
        seen = set()
        while wanted:
            path = wanted.pop()
            if path in seen:
                continue
            seen.add(path)
            answer = client.get(path)
            assert answer.status_code == 200, path
            assert answer.headers["x-content-type-options"] == "nosniff"
            again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://(?!www\.w3\.org)",
                answer.text,
            ), path
            wanted += [f"/assets/{name}" for name in re.findall(r'from "\./([^"]+)"', answer.text)]
        assert {"/assets/order.mjs", "/assets/dom.mjs", "/assets/palette.css"} <= seen
        for path in ("/assets/none.mjs", "/assets/..%2f__init__.py", "/assets/page.html.jinja"):
            assert client.get(path).status_code == 404


def test_pages_say_what_check_says(model_file) -> None:
    """The keys that pages read are those of `nnc check --json`."""
    from nnc.driver.checking.check import check

    found = json.loads(json.dumps(check(str(model_file), []).as_json()))
    text = (Path(__file__).parents[3] / "service/web/pages/assets/model.mjs").read_text()
    for key in re.findall(r"look\.(\w+)", text):
        assert key in found
