"""The page to look inside, as the service sends it: axe-core, with a schedule that is edited."""

from collections.abc import Iterator
from typing import Any

import pytest
from nnc.driver.compile import load_module
from nnc.explorer.explore import Source, explore
from nnc.explorer.served import ServedPage, served_page

from .served import serious

pytestmark = pytest.mark.service

ORIGIN = "http://service.test"
ADDRESS = "/api/v1/models/abc"
MODEL = """
func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %a = nn.matmul %x, %y : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %b = nn.relu %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}
"""
TIME = {"edited_us": 1.0, "default_us": 2.0, "ratio": 0.5, "ratio_low": 0.4, "ratio_high": 0.6}
FAULTY = {"legal": False, "right": None, "fault": {"line": 2, "message": "no value '%none'"}}
RIGHT = {
    "legal": True, "right": True, "fault": None, "time": TIME, "whole": TIME, "calls": 1,
    "target": "x86-64", "threads": 1, "errors": {"edited": 1e-7, "default": 1e-7},
}  # fmt: skip


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> ServedPage:
    path = tmp_path_factory.mktemp("inside") / "model.mlir"
    path.write_text(MODEL)
    source = Source("model.mlir", lambda: load_module(path))
    return served_page(explore([source], ["x86-64"], measured=False), ADDRESS, "model")


@pytest.fixture
def answers() -> list[Any]:
    """The summaries of jobs to come."""
    return []


@pytest.fixture(params=[(1280, "light"), (1280, "dark"), (360, "light")])
def page(request, chromium, sent: ServedPage, answers: list[Any]) -> Iterator[Any]:
    """The page in a browser, whose server answers at once; a test fails where it logs an error."""
    width, scheme = request.param
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    context.set_default_timeout(60_000)
    shown = context.new_page()
    faults: list[str] = []
    shown.on("pageerror", lambda error: faults.append(str(error)))

    def answer(route: Any) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        if path == "/":
            headers = {"Content-Type": "text/html", "Content-Security-Policy": sent.policy}
            route.fulfill(body=sent.text, headers=headers)
        elif path == f"{ADDRESS}/experiments":
            route.fulfill(status=201, json={"id": "j", "state": "queued", "place": 1})
        else:
            assert path == "/api/v1/jobs/j"
            route.fulfill(json={"id": "j", "state": "done", "summary": answers.pop(0)})

    shown.route(f"{ORIGIN}/**", answer)
    shown.goto(f"{ORIGIN}/")
    shown.get_by_role("heading", level=1).wait_for()
    yield shown
    context.close()
    assert faults == []


def test_the_editor_has_no_serious_findings(page, answers: list[Any]) -> None:
    """As it opens, with a schedule that is not legal, and with attempts that were measured."""
    page.evaluate("explorer.openKernel(explorer.compilation.kernels[0])")
    page.get_by_role("tab", name="Edit").click()
    text = page.get_by_role("textbox", name="Schedule of")
    text.wait_for()
    assert serious(page) == []

    answers += [FAULTY, RIGHT]
    text.focus()
    page.keyboard.press("Control+Enter")
    page.get_by_text("no value '%none'").first.wait_for()
    assert text.get_attribute("aria-invalid") == "true"
    assert serious(page) == []

    page.get_by_role("button", name="Line 2").click()
    page.keyboard.type("  // another one")
    page.keyboard.press("Control+Enter")
    page.get_by_role("cell", name="right, faster").wait_for()
    assert page.get_by_text("2 attempts").is_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_other_tabs_and_views_have_none_either(page) -> None:
    found: dict[str, list[str]] = {}
    page.evaluate("explorer.openNode(explorer.compilation.kernels[0].nodes[0])")
    for tab in ("Why", "Schedule & loops", "Instructions", "All stages", "Measure"):
        page.get_by_role("tab", name=tab).click()
        page.locator(".tab-body *").first.wait_for()
        found[tab] = serious(page)
    page.keyboard.press("Escape")
    for view in ("Graph", "Kernels", "Roofline", "Compare"):
        page.get_by_role("group", name="View").get_by_role("button", name=view).click()
        found[view] = serious(page)
    assert not any(found.values()), found
