"""The heap of an arena itself, without a model: blocks that do not overlap, and what is kept."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from nnc.dialects.builtin import ModuleOp
from nnc.ir.core import Block, Region
from nnc.runtime.heap import BYTES, heap_functions
from nnc.targets.base import host
from nnc.targets.llvm.ir import llvm_ir
from nnc.targets.llvm.native import emit_object, load_object

from .counted import CountedHeap

MB = 1 << 20


class HeapCode:
    """The heap's functions, and a heap."""

    def __init__(self):
        target = host()
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        types = {
            "heap_start": (None, pointer),
            "heap_take": (pointer, pointer, size),
            "heap_give": (None, pointer, pointer),
            "heap_result": (pointer, pointer, size),
            "heap_end": (None, pointer),
            "reuse": (None, pointer, pointer, size),
            "release": (None, pointer),
        }
        functions = heap_functions(target.pointer_bits, target.system)
        for function in functions:
            if function.sym_name.removeprefix("nnc_") in types:
                function.linkage = "external"
        module = ModuleOp(Region([Block((), functions)]))
        self.c = CountedHeap()
        self.c.put_into(module)
        module.verify()
        names = tuple(f"nnc_{word}" for word in types)
        self.code = load_object(emit_object(llvm_ir(module), target), names)
        self._functions = {
            word: ctypes.CFUNCTYPE(*type)(self.code[f"nnc_{word}"]) for word, type in types.items()
        }
        self.memory = np.full(BYTES + 128, 0xAB, np.uint8)
        start = -self.memory.ctypes.data % 64
        self.memory[start : start + BYTES] = 0
        self.beyond = self.memory[start + BYTES :]
        self.address = self.memory.ctypes.data + start

    def __getattr__(self, word):
        function = self._functions[word if word in self._functions else f"heap_{word}"]
        return lambda *arguments: function(self.address, *arguments)

    def turn(self, *sizes):
        """A call that has blocks of these sizes at once; where they lie."""
        self.start()
        blocks = [self.take(size) for size in sizes]
        assert all(blocks)
        self.end()
        return blocks


@pytest.fixture
def heap():
    made = HeapCode()
    made.start()
    yield made
    made.release()
    assert not made.c.blocks
    assert (made.beyond == 0xAB).all()


def test_blocks_are_aligned_apart_and_keep_what_is_written(heap):
    random = np.random.default_rng(0)
    for _ in range(3):  # the second time most lies in the region
        alive: dict[int, tuple[np.ndarray, int]] = {}
        for turn in range(2000):
            if alive and random.random() < 0.5:
                block = int(random.choice(list(alive)))
                memory, value = alive.pop(block)
                assert (memory == value).all()
                heap.give(block)
                continue
            size = 64 * int(2 ** random.uniform(0, 13.5))  # up to 740 kB, both kinds
            block = heap.take(size)
            assert block % 64 == 0 and block not in alive
            memory = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(block))
            memory[:] = turn % 251
            alive[block] = memory, turn % 251
        assert all((memory == value).all() for memory, value in alive.values())
        heap.end()
        heap.start()


def test_a_block_that_was_given_back_is_the_next_of_its_size(heap):
    first, second = heap.take(640), heap.take(640)
    heap.give(first)
    assert heap.take(5 * 64) != first
    assert heap.take(576) == first  # 9 lines and 10 are one kind
    assert heap.take(640) not in (first, second)


def test_no_memory_is_no_block(heap):
    assert heap.take(1 << 60) is None
    assert heap.take((1 << 64) - 128) is None
    assert heap.take(64)
    assert heap.result(1 << 60) is None


def test_from_the_third_call_on_memory_is_that_of_the_second(heap):
    sizes = 64, MB, 3 * MB, 640, 1 << 18
    heap.turn(*sizes)
    assert not heap.c.blocks
    second = heap.turn(*sizes)
    taken = len(heap.c.taken)
    assert heap.turn(*sizes) == second
    assert heap.turn(MB)
    assert len(heap.c.taken) == taken
    assert len(heap.c.blocks) == 1
    # Each has a header, and small ones come from a piece of 65536 bytes, or of what they need.
    assert heap.c.bytes <= sum(sizes) + 5 * 64 + 3 * 65536


def test_blocks_one_after_the_other_share_a_place(heap):
    for _ in range(2):
        heap.start()
        for size in (MB, 2 * MB, 512 * 1024, 2 * MB):
            heap.give(heap.take(size))
        heap.end()
    assert heap.c.bytes == 2 * MB + 64


def test_a_larger_call_makes_the_region_grow(heap):
    for size, held in ((MB, MB), (4 * MB, 4 * MB), (MB, 4 * MB)):
        heap.turn(size)
        heap.turn(size)
        assert heap.c.bytes == held + 64


def test_a_call_that_did_not_end_is_ended_by_the_next(heap):
    heap.take(MB)
    heap.take(64)
    heap.turn(MB)
    heap.turn(MB)
    assert len(heap.c.blocks) == 1


def test_without_memory_for_the_region_blocks_come_one_by_one(heap):
    heap.start()
    for size in (MB, 2 * MB):
        heap.give(heap.take(size))
    apart = heap.take(MB), heap.take(2 * MB)
    assert all(apart)
    heap.end()
    heap.c.limit = 3 * MB
    heap.turn(2 * MB)
    assert not heap.c.blocks
    heap.start()
    assert heap.take(2 * MB)
    assert heap.take(2 * MB) is None


def test_results_that_come_back_are_the_next_results(heap):
    small, large = heap.result(MB), heap.result(3 * MB)
    heap.end()
    heap.reuse(small, MB)
    heap.reuse(large, 3 * MB)
    heap.start()
    assert heap.result(2 * MB) == large
    other = heap.result(512 * 1024)  # half of what there is
    assert other not in (small, None)
    assert heap.result(MB) == small
    heap.end()
    heap.reuse(small, MB)
    heap.turn(64)
    assert set(heap.c.blocks) == {large, other}  # nobody wanted it
    heap.c.free(large)
    heap.c.free(other)


def test_release_gives_all_back(heap):
    heap.turn(MB)
    heap.turn(MB)
    heap.reuse(heap.result(MB), MB)
    assert heap.c.blocks
    heap.release()
    assert not heap.c.blocks
    assert heap.turn(MB)
