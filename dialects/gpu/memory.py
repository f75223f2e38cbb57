"""Buffers of a device, and copies between them and the host's."""

from __future__ import annotations

from ...ir.traits import AllocatesMemory
from ..index_lists import by_field
from ..memref.access import copy_elements, same_shape
from ..memref.aliasing import ViewLike
from ..memref.buffers import check_dynamic_sizes, new_array
from ..vocabulary import *
from .attributes import ASYNC, Token


def set_space(buffer: Value, space: Attribute) -> None:
    """Set the memory space of a buffer and of all its views."""
    type = buffer.type
    buffer.type = MemRefType(type.shape, type.element_type, type.layout, space)
    for user, _ in list(buffer.uses):
        if user.has_trait(ViewLike):
            for result in user.results:
                if isinstance(result.type, MemRefType):
                    set_space(result, space)


def _tokens(op: Any) -> list[Any]:
    """A list with a value for the operation's token, if it has one."""
    return [0] if op.asyncToken is not None else []


class Alloc(Op, name="gpu.alloc", traits=(AllocatesMemory,)):
    """A new buffer of the device, uninitialized; `host_shared`: the host sees it too."""

    asyncDependencies: Operands = operands(Token)  # noqa: N815
    dynamicSizes: Operands = operands(Index)  # noqa: N815
    symbolOperands: Operands = operands(Index)  # noqa: N815
    hostShared = attribute(UNIT)  # noqa: N815
    memref: Result = result(AnyMemRef)
    asyncToken: OptionalResult = optional_result(Token)  # noqa: N815

    format = (
        f"{ASYNC} (`host_shared` $hostShared^)? ` ` `(` $dynamicSizes `)` "
        "(`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)"
    )
    example = "%m = gpu.alloc  (%n) : memref<4x?xf32, #gpu.address_space<global>>"

    def result_names(self) -> list[str]:
        """Upstream's names of the results."""
        return ["memref", "asyncToken"][: len(self.results)]

    def verify_op(self) -> None:
        check_dynamic_sizes(self, len(self.dynamicSizes), self.memref.type)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        made = new_array(self.memref.type, by_field(self, operands)["dynamicSizes"])
        return [made, *_tokens(self)]


class Dealloc(Op, name="gpu.dealloc", traits=(WritesMemory,)):
    """Free a buffer of the device."""

    asyncDependencies: Operands = operands(Token)  # noqa: N815
    memref: Operand = operand(AnyMemRef)
    asyncToken: OptionalResult = optional_result(Token)  # noqa: N815

    format = f"{ASYNC} $memref attr-dict `:` type($memref)"
    example = "gpu.dealloc  %m : memref<4xf32, #gpu.address_space<global>>"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return _tokens(self)


class Memcpy(Op, name="gpu.memcpy", traits=(WritesMemory,)):
    """Copy all elements of a buffer to another of the same shape, of host or device."""

    asyncDependencies: Operands = operands(Token)  # noqa: N815
    dst: Operand = operand(AnyMemRef)
    src: Operand = operand(AnyMemRef)
    asyncToken: OptionalResult = optional_result(Token)  # noqa: N815

    format = f"{ASYNC} $dst `,` $src `:` type($dst) `,` type($src) attr-dict"
    example = "gpu.memcpy  %d, %s : memref<4xf32, #gpu.address_space<global>>, memref<4xf32>"

    def verify_op(self) -> None:
        if self.src.type.element_type is not self.dst.type.element_type:
            raise self.error("arguments have incompatible element type")
        if not same_shape(self.src.type, self.dst.type):
            raise self.error("arguments have incompatible shape")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        copy_elements(self, given["src"], given["dst"], frame)
        return _tokens(self)


class Memset(Op, name="gpu.memset", traits=(WritesMemory,)):
    """Set all elements of a buffer of the device to a value."""

    asyncDependencies: Operands = operands(Token)  # noqa: N815
    dst: Operand = operand(AnyMemRef)
    value: Operand = operand(element_of("dst"))
    asyncToken: OptionalResult = optional_result(Token)  # noqa: N815

    format = f"{ASYNC} $dst `,` $value `:` type($dst) `,` type($value) attr-dict"
    example = "gpu.memset  %m, %x : memref<4xf32, #gpu.address_space<global>>, f32"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        given["dst"][...] = given["value"]
        return _tokens(self)
