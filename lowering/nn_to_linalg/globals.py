"""Constants of the module: a `memref.global` for each different content."""

from __future__ import annotations

import re

from ...dialects import memref
from ...ir.attributes import DenseElements, DenseResource
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.lazy import np
from ...ir.resources import MemoryBlob
from ...ir.symbols import symbol_name
from ...ir.types import MemRefType, TensorType, Type
from ...targets.attribute import target_of
from .storage import storage_type


class Globals:
    """Makes the globals, at the start of a module."""

    def __init__(self, module: Operation) -> None:
        self.module = module
        self.target = target = target_of(module)
        self.machine = target.machine
        self.has_groups = target.machine.has_groups
        self.largest_index = (1 << (target.pointer_bits - 1)) - 1
        self._made: dict[DenseElements | DenseResource, tuple[str, MemRefType]] = {}
        self._by_key: dict[tuple[str, Type], list[DenseResource]] = {}
        self._names = {symbol_name(op) for op in module.regions[0].ops}
        self._builder = Builder.at_start(module.regions[0].blocks[0])

    def of(self, value: DenseElements | DenseResource) -> tuple[str, MemRefType]:
        """The name and type of the global with these elements."""
        value = as_stored(value)
        if isinstance(value, DenseResource):
            value = self._shared(value)
        found = self._made.get(value)
        if found is None:
            type = MemRefType(value.type.shape, value.type.element_type)
            name = self._fresh(value)
            self._builder.insert(
                memref.Global(name, type, value, constant=True, sym_visibility="private")
            )
            found = self._made[value] = name, type
        return found

    def _shared(self, value: DenseResource) -> DenseResource:
        """An earlier constant with the same key, type and elements, or else this one.

        Only constants made by passes are compared, as their elements are in memory.
        """
        earlier = self._by_key.setdefault((value.key, value.type), [])
        if not isinstance(value.blob, MemoryBlob):
            return value
        for other in earlier:
            if np.array_equal(other.blob.bytes(), value.blob.bytes()):
                return other
        earlier.append(value)
        return value

    def _fresh(self, value: DenseElements | DenseResource) -> str:
        if isinstance(value, DenseResource):
            base = re.sub(r"[^\w$.-]", "_", value.key) or "weight"
        else:
            base = "constant"
        name, count = base, 0
        while name in self._names:
            name, count = f"{base}_{count}", count + 1
        self._names.add(name)
        return name


def as_stored(value: DenseElements | DenseResource) -> DenseElements | DenseResource:
    """The constant with the element type that it has in memory (`storage_type`); the bytes are the
    same.
    """
    element = storage_type(value.type.element_type)
    if element is value.type.element_type:
        return value
    type = TensorType(value.type.shape, element)
    if isinstance(value, DenseResource):
        return DenseResource(value.key, type, value.blob)
    return DenseElements(type, value.data)
