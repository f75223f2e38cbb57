"""What several files of tests need."""

from pathlib import Path

import pytest
from nnc.targets.base import find_host


@pytest.fixture
def home(tmp_path: Path, monkeypatch):
    """A user who calibrates; nothing of it is seen by other tests."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("NNC_CALIBRATION", "on")
    find_host.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    find_host.cache_clear()


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """The folder of a fleet's key."""
    from nnc.driver.tuning.fleet_membership import make_membership

    folder = tmp_path_factory.mktemp("fleet") / "key"
    make_membership(folder)
    return folder
