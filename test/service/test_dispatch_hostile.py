"""A sample of bench/hostile.py, by the server as it is started by people."""

import pytest

from bench.hostile import run_hostile

pytestmark = pytest.mark.service


def test_a_sample_of_hostile_uploads(tmp_path):
    found = run_hostile(24, tmp_path, orders=6)
    assert not found.complaints, found
    assert sum(found.states.values()) >= 20  # names that are none are refused before
    assert found.processes
    assert found.orders.total() == 6
