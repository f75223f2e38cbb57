"""The heap of a call itself, without a model: blocks that do not overlap, and all freed."""

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


class HeapCode:
    """The heap's functions, and a heap."""

    def __init__(self):
        target = host()
        functions = heap_functions(target.pointer_bits, target.system)
        names = tuple(f"nnc_heap_{word}" for word in ("start", "take", "give", "end"))
        for function in functions:
            if function.sym_name in names:
                function.linkage = "external"
        module = ModuleOp(Region([Block((), functions)]))
        module.verify()
        self.code = load_object(emit_object(llvm_ir(module), target), names)
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        types = [(None, pointer), (pointer, pointer, size), (None, pointer, pointer)]
        start, self._take, self._give, self.end = (
            ctypes.CFUNCTYPE(*type)(self.code[name])
            for name, type in zip(names, [*types, types[0]], strict=True)
        )
        self.memory = np.full(BYTES + 64, 0xAB, np.uint8)
        self.address = self.memory.ctypes.data
        start(self.address)
        assert (self.memory[BYTES:] == 0xAB).all()

    def take(self, size):
        return self._take(self.address, size)

    def give(self, block):
        self._give(self.address, block)


@pytest.fixture
def heap():
    made = HeapCode()
    yield made
    made.end(made.address)


def test_blocks_are_aligned_apart_and_keep_what_is_written(heap):
    random = np.random.default_rng(0)
    alive: dict[int, tuple[np.ndarray, int]] = {}
    for turn in range(4000):
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


def test_a_block_that_was_given_back_is_the_next_of_its_size(heap):
    first, second = heap.take(640), heap.take(640)
    heap.give(first)
    assert heap.take(5 * 64) != first
    assert heap.take(576) == first  # 9 lines and 10 are one kind
    assert heap.take(640) not in (first, second)


def test_no_memory_is_no_block(heap):
    assert heap.take(1 << 60) is None
    assert heap.take(64)
