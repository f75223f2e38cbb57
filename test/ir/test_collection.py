"""Work without the garbage collector, and that it goes on afterwards."""

import gc
import weakref

import pytest
from nnc.dialects.builtin import ModuleOp
from nnc.driver.compile import compile_model
from nnc.ir import collection
from nnc.ir.collection import paused_collection
from nnc.ir.syntax.parser import parse_module


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


class _Ring:
    """A thousand lists that only the garbage collector deletes."""

    def __init__(self):
        self.ring, self.lists = self, [[] for _ in range(1000)]


def test_garbage_of_earlier_pauses_is_deleted_when_memory_has_doubled(monkeypatch):
    monkeypatch.setattr(collection, "_GROWTH", 20_000)
    monkeypatch.setattr(collection, "_kept", 1)
    rings = []
    for _ in range(2000):
        with paused_collection():
            rings.append(weakref.ref(_Ring()))
    assert sum(ring() is not None for ring in rings) < 1500


def test_what_is_alive_is_not_searched_at_each_pause(monkeypatch):
    monkeypatch.setattr(collection, "_GROWTH", 20_000)
    monkeypatch.setattr(collection, "_kept", 1)
    searches, collect = [], gc.collect
    monkeypatch.setattr(gc, "collect", lambda: searches.append(1) or collect())
    rings = []
    for _ in range(2000):
        with paused_collection():
            rings.append(_Ring())
    assert 1 <= len(searches) <= 5
    assert all(len(ring.lists) == 1000 for ring in rings)


def test_a_process_that_compiles_many_models_does_not_keep_their_ir(monkeypatch):
    monkeypatch.setattr(collection, "_GROWTH", 1)
    for size in range(2, 22):
        monkeypatch.setattr(collection, "_kept", 1)
        type = f"tensor<4x{size}xf32>"
        body = f"%0 = nn.relu %x : ({type}) -> {type}\n return %0 : {type}"
        compile_model(
            parse_module(f"func.func @main(%x: {type}) -> {type} {{ {body} }}"), cache=False
        )
    assert sum(isinstance(one, ModuleOp) for one in gc.get_objects()) < 20
