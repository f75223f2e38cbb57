"""Attributes of the gpu dialect: memory spaces, and the cases of its enumerations."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from ..enumerations import EnumerationAttr, enumeration_kind
from ..vector.attributes import CombiningKind
from ..vocabulary import *


@attribute_class
class AddressSpace(EnumAttr):
    """`#gpu.address_space<workgroup>`: which memory a memref lies in.

    `global` is the device's, `workgroup` belongs to a group of threads, `private` to one thread.
    """

    name: ClassVar[str] = "gpu.address_space"
    cases: ClassVar[tuple[str, ...]] = ("global", "workgroup", "private", "constant")


GLOBAL, WORKGROUP, PRIVATE = map(AddressSpace, ("global", "workgroup", "private"))


def is_workgroup(type: Type) -> bool:
    """Whether values of a type are buffers that a group of threads shares."""
    space: Attribute | None = getattr(type, "memory_space", None)
    return space is WORKGROUP


_PLACES = ("x", "y", "z", *(f"linear_dim_{i}" for i in range(10)))


MAPPING = "mapping"
"""The attribute of a loop that says which processing unit runs the iterations of each dimension."""


@attribute_class
class ThreadMapping(EnumAttr):
    """`#gpu.thread<x>`: a loop whose iterations are the threads along an axis."""

    name: ClassVar[str] = "gpu.thread"
    cases: ClassVar[tuple[str, ...]] = _PLACES


@attribute_class
class BlockMapping(EnumAttr):
    """`#gpu.block<x>`: a loop whose iterations are the groups along an axis."""

    name: ClassVar[str] = "gpu.block"
    cases: ClassVar[tuple[str, ...]] = _PLACES


@attribute_class
class WarpMapping(EnumAttr):
    """`#gpu.warp<x>`: a loop whose iterations are subgroups."""

    name: ClassVar[str] = "gpu.warp"
    cases: ClassVar[tuple[str, ...]] = _PLACES


@attribute_class
class TokenType(Type):
    """`!gpu.async.token`: the result of an operation that runs in the background;
    one waits for it.
    """

    name: ClassVar[str] = "gpu.async.token"

    def parameters_text(self) -> str:
        """The empty text: the type has no parameters."""
        return ""


TOKEN = TokenType()
Token = Exactly(TOKEN, "async token type")
ASYNC = "custom<AsyncDependencies>(type($asyncToken), $asyncDependencies)"
"""The beginning of the formats of ops that may run asynchronously."""


@attribute_class
class GpuEnumeration(EnumerationAttr):
    """`#gpu<dim x>`: a case of one of the dialect's enumerations."""

    name: ClassVar[str] = "gpu"


_enumeration_kind = partial(enumeration_kind, GpuEnumeration)

AXES = ("x", "y", "z")
DIMENSION = _enumeration_kind("dim", *AXES)
SHUFFLE_MODES = ("xor", "up", "down", "idx")
SHUFFLE_MODE = _enumeration_kind("shuffle_mode", *SHUFFLE_MODES)
REDUCTION = _enumeration_kind("all_reduce_op", *CombiningKind.cases)
