"""The service on loopback with users, and Chromium to look at it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which

import pytest

from ...conftest import skip_unless_ci
from .served import Served, Visit, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """A service that nobody carries out jobs of, but the tests themselves."""
    with serving(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip_unless_ci("Playwright is not installed")
    found = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        skip_unless_ci("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(served, chromium, request) -> Iterator[Callable[..., Visit]]:
    """Makes a user who looks at the pages; a test fails where a page logs an error."""
    made: list[Visit] = []

    def start(name: str = "", width: int = 1280, dark: bool = False, sign_in: bool = True) -> Visit:
        one = Visit(served, chromium, name or f"{request.node.name[:60]}-{len(made)}", width, dark)
        made.append(one)
        if sign_in:
            one.sign_in()
        return one

    yield start
    for one in made:
        one.leave()
    assert [fault for one in made for fault in one.faults] == []


@pytest.fixture
def model_file(tmp_path) -> Path:
    from .served import small_network

    return small_network(tmp_path / "net.onnx")
