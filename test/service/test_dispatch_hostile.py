"""A sample of bench/hostile.py, by the server as it is started by people."""

import json

import pytest

from bench.hostile import Found, run_hostile

pytestmark = pytest.mark.service


def test_a_sample_of_hostile_uploads(tmp_path):
    found = run_hostile(24, tmp_path, orders=6)
    assert not found.complaints, found
    assert sum(found.states.values()) >= 20  # names that are none are refused before
    assert found.processes
    assert found.orders.total() == 6
    kept = Found.read(json.loads(json.dumps(found.as_json())))
    assert kept == found
    kept.add(found)
    assert kept.uploads == 48
    assert kept.slowest[0] == found.slowest[0]
