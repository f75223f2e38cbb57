"""Work without the garbage collector, and that it goes on afterwards."""

import gc
import weakref
from types import SimpleNamespace

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
    """What only the garbage collector deletes, as large as 1000 blocks of memory."""

    def __init__(self):
        self.ring = self


class _Rings:
    """The rings that were made, and the system's view of memory: it holds nothing but them."""

    def __init__(self, monkeypatch):
        self.made = []
        view = SimpleNamespace(getallocatedblocks=lambda: 1 + 1000 * len(self.alive))
        monkeypatch.setattr(collection, "sys", view)
        monkeypatch.setattr(collection, "_GROWTH", 20_000)
        monkeypatch.setattr(collection, "_kept", 1)

    @property
    def alive(self):
        return [ring for ring in self.made if ring() is not None]

    def make(self):
        with paused_collection():
            ring = _Ring()
            self.made.append(weakref.ref(ring))
        return ring


def test_garbage_of_earlier_pauses_is_deleted_when_memory_has_grown(monkeypatch):
    rings = _Rings(monkeypatch)
    for _ in range(200):
        rings.make()
        assert len(rings.alive) <= 23


def test_what_is_alive_is_searched_each_time_that_it_doubles(monkeypatch):
    rings, searches, collect = _Rings(monkeypatch), [], gc.collect
    monkeypatch.setattr(gc, "collect", lambda: searches.append(len(rings.alive)) or collect())
    kept = [rings.make() for _ in range(200)]
    assert searches == [21, 43, 87, 175]
    assert len(kept) == len(rings.alive)


def modules():
    return sum(isinstance(one, ModuleOp) for one in gc.get_objects())


def test_a_process_that_compiles_many_models_does_not_keep_their_ir(monkeypatch):
    monkeypatch.setattr(collection, "_GROWTH", 1)
    gc.collect()
    before = modules()
    for size in range(2, 22):
        monkeypatch.setattr(collection, "_kept", 1)
        type = f"tensor<4x{size}xf32>"
        body = f"%0 = nn.relu %x : ({type}) -> {type}\n return %0 : {type}"
        compile_model(
            parse_module(f"func.func @main(%x: {type}) -> {type} {{ {body} }}"), cache=False
        )
    assert modules() - before < 15
