"""The tests of one format are a group of their own: `pytest -m formats`."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_itemcollected(item: pytest.Item) -> None:
    if HERE in item.path.parent.parents:
        item.add_marker("formats")


@pytest.fixture(scope="session")
def torch():
    """PyTorch, an oracle of slow tests."""
    return pytest.importorskip("torch", reason="the `models` extra is not installed")
