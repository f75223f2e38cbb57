"""Work without the garbage collector, and that it goes on afterwards."""

import gc

import pytest
from nnc.ir.collection import paused_collection


def test_the_collector_goes_on_when_the_outermost_pause_ends():
    assert gc.isenabled()
    with paused_collection():
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_goes_on_after_an_error():
    @paused_collection()
    def failing():
        assert not gc.isenabled()
        raise ValueError("no")

    for _ in range(2):  # a decorated function pauses at each call
        with pytest.raises(ValueError, match="no"):
            failing()
        assert gc.isenabled()


def test_what_was_made_meanwhile_is_searched_rarely():
    with paused_collection():
        made = [[i] for i in range(5000)]
    assert gc.get_count()[0] < 1000
    assert len(made) == 5000 and gc.get_freeze_count() == 0
