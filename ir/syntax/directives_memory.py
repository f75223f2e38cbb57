"""Custom directives of memory: index lists, globals, transfers."""

from __future__ import annotations

from typing import Any

from ..affine import AffineMap
from ..attributes import (
    AffineMapAttr,
    BoolAttr,
    DenseArrayAttr,
    DenseResource,
    IntegerAttr,
    UnitAttr,
)
from ..types import IntegerType, TensorType, VectorType, i32, i64, index
from .directive import Directive, directive, listed
from .literals import dense_elements, sparse_elements

DYNAMIC = -(2**63)
"""The entry of a static list that stands for the next operand."""

INDEX_LIST = {
    "index_list": '"[" "]" | "[" index_items "]"',
    "index_items": 'index_item | index_items "," index_item',
    "index_item": "VALUE -> value | INTEGER -> number",
}


def index_list(child: Any) -> tuple[list[Any], list[int]]:
    """The names and the static entries of a match of `index_list`."""
    items = [item for (item,) in listed(child[0], 1)] if child else []
    names = [token for kind, token in items if kind == "value"]
    return names, [DYNAMIC if kind == "value" else int(token[0], 0) for kind, token in items]


def index_list_text(printer: Any, dynamic: Any, static: Any) -> str:
    """`[%i, 4]`"""
    rest = iter(dynamic)
    parts = [printer.value(next(rest)) if s == DYNAMIC else str(s) for s in static]
    return f"[{', '.join(parts)}]"


@directive("DynamicIndexList")
class DynamicIndexList(Directive):
    """`[%i, 4]`: indices that are partly values and partly constants.

    Arguments: the operands, and the attribute with the static entries.
    """

    fragment = "index_list"
    rules = INDEX_LIST

    def read(self, child: Any, state: Any) -> None:
        dynamic, static = self.names
        names, entries = index_list(child[0])
        state.operands[dynamic] = names
        state.types[dynamic] = [index] * len(names)
        state.properties[static] = DenseArrayAttr(i64, tuple(entries))

    def write(self, op: Any, printer: Any) -> None:
        dynamic, static = (getattr(op, name) for name in self.names)
        text = index_list_text(printer, dynamic, static)
        printer.out.append(f" {text}" if self.space else text)


@directive("DynamicIndexTuple")
class DynamicIndexTuple(DynamicIndexList):
    """`(%i, 4)`: the same in parentheses."""

    fragment = "index_tuple"
    rules = {**INDEX_LIST, "index_tuple": '"(" ")" | "(" index_items ")"'}  # noqa: RUF012

    def write(self, op: Any, printer: Any) -> None:
        dynamic, static = (getattr(op, name) for name in self.names)
        printer.out.append(f" ({index_list_text(printer, dynamic, static)[1:-1]})")


@directive("MemRefTransfer")
class MemRefTransfer(Directive):
    """`%src[%i], %dst[%j], %n, %tag[%k], %stride, %chunk : memref<..>, memref<..>, memref<..>`

    Argument: the operands.
    """

    fragment = (
        'VALUE "[" values_opt "]" "," VALUE "[" values_opt "]" "," VALUE "," '
        'VALUE "[" values_opt "]" transfer_stride dict_opt ":" TYPE "," TYPE "," TYPE'
    )
    rules = {"transfer_stride": '| "," VALUE "," VALUE'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        source, at, target, to, count, tag, tag_at, stride, attributes, *types = child
        state.add_attributes(attributes or {})
        name = self.names[0]
        state.operands[name] = [source, *at, target, *to, count, tag, *tag_at, *(stride or ())]
        first, second, third = (
            [t, *([index] * len(v))] for t, v in zip(types, (at, to, tag_at), strict=True)
        )
        numbers = [index] * len(stride or ())
        state.types[name] = [*first, *second, index, *third, *numbers]

    def write(self, op: Any, printer: Any) -> None:
        found, numbers = op.parts(op.values)
        access = [f"{printer.value(v)}[{printer.values(i)}]" for v, i in found]
        count, *stride = (printer.value(v) for v in numbers)
        parts = [*access[:2], count, access[2], *stride]
        types = [printer.type(v.type) for v, _ in found]
        printer.out.append(f" {', '.join(parts)}")
        printer.attr_dict(op)
        printer.out.append(f" : {', '.join(types)}")


@directive("Prefetch")
class Prefetch(Directive):
    """`read, locality<3>, data`. Arguments: $isWrite, $localityHint, $isDataCache."""

    fragment = 'access "," "locality" "<" INTEGER ">" "," cache'
    rules = {  # noqa: RUF012
        "access": '"read" -> read | "write" -> write',
        "cache": '"data" -> data | "instr" -> instr',
    }

    def read(self, child: Any, state: Any) -> None:
        is_write, locality, is_data = self.names
        state.properties[is_write] = BoolAttr(child[0][0] == "write")
        state.properties[locality] = IntegerAttr(int(child[1][0], 0), i32)
        state.properties[is_data] = BoolAttr(child[2][0] == "data")

    def write(self, op: Any, printer: Any) -> None:
        is_write, locality, is_data = (getattr(op, name) for name in self.names)
        access = "write" if is_write else "read"
        cache = "data" if is_data else "instr"
        printer.out.append(f" {access}, locality<{locality}>, {cache}")


@directive("GlobalMemrefOpTypeAndInitialValue")
class GlobalInitialValue(Directive):
    """`memref<2xf32> = dense<[1.0, 2.0]>`, `= uninitialized`, or the type alone.

    Arguments: $type, $initial_value.
    """

    fragment = "TYPE initial_value"
    rules = {  # noqa: RUF012
        "initial_value": '| "=" "uninitialized" -> uninitialized '
        '| "=" "dense" "<" ">" -> empty | "=" "dense" "<" element ">" -> dense '
        '| "=" "sparse" "<" ">" -> no_sparse | "=" "sparse" "<" element "," element ">" -> sparse '
        '| "=" "dense_resource" "<" key ">" -> resource',
    }

    def read(self, child: Any, state: Any) -> None:
        type_name, value_name = self.names
        type, initial = child
        state.properties[type_name] = type
        if not initial:
            return
        if not hasattr(type, "shape"):
            state.fail(f"type should be static shaped memref, but got {type}")
        tensor = TensorType(type.shape, type.element_type)
        match initial[0]:
            case "uninitialized":
                value: Any = UnitAttr()
            case "resource":
                key = initial[1][0]
                value = DenseResource(key, tensor, state.session.resources.blob(key))
            case "sparse" | "no_sparse":
                indices, values = initial[1:] or (None, None)
                value = sparse_elements(state.session, indices, values, tensor)
            case _:
                root = initial[1] if len(initial) > 1 else None
                value = dense_elements(state.session, root, tensor)
        state.properties[value_name] = value

    def write(self, op: Any, printer: Any) -> None:
        type_name, value_name = self.names
        text = f" {printer.type(op.properties[type_name])}"
        match op.properties.get(value_name):
            case None:
                pass
            case UnitAttr():
                text += " = uninitialized"
            case value:
                whole = printer.attribute(value)
                text += f" = {whole.removesuffix(f' : {printer.type(value.type)}')}"
        printer.out.append(text)


@directive("AffineMapBody")
class AffineMapBody(Directive):
    """`(d0, d1) -> (d1, d0)`, a map without its word. Argument: the attribute."""

    fragment = 'affine_names affine_symbols "->" "(" affine_results ")"'

    def read(self, child: Any, state: Any) -> None:
        dims, symbols, results = child
        state.properties[self.names[0]] = AffineMapAttr(AffineMap(dims, symbols, tuple(results)))

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {getattr(op, self.names[0]).map}")


@directive("ElementsType")
class ElementsType(Directive):
    """The type of a shaped value, which gives those of its elements.

    Arguments: type($elements), type($shaped).
    """

    fragment = "TYPE"

    def read(self, child: Any, state: Any) -> None:
        elements, shaped = self.names
        element = getattr(child[0], "element_type", None)
        if element is None:
            state.fail(f"expected a vector or tensor type, found '{child[0]}'")
        state.types[shaped] = [child[0]]
        state.types[elements] = [element] * len(state.operands[elements])

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {printer.type(getattr(op, self.names[1]).type)}")


# -- vector.transfer_read and vector.transfer_write ----------------------------------------------


def minor_map(rank: int, vector: Any, element: Any) -> AffineMap:
    """The map of a transfer that names none: the last dimensions, in order."""
    inner = len(element.shape) if isinstance(element, VectorType) else 0
    count = len(vector.shape) - inner
    return AffineMap(rank, 0, AffineMap.identity(rank).results[max(0, rank - count) :])


@directive("TransferAttributes")
class TransferAttributes(Directive):
    """The attribute dictionary of a transfer, without the usual map and bounds.

    Arguments: $permutation_map, $in_bounds, attr-dict.
    """

    fragment = "dict_opt"

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            state.add_attributes(child[0])

    def write(self, op: Any, printer: Any) -> None:
        map_name, bounds_name = self.names[:2]
        shaped, vector = transfer_types(op)
        elided = set()
        if op.properties[map_name].map == minor_map(shaped.rank, vector, shaped.element_type):
            elided.add(map_name)
        if not any(bound.value for bound in op.properties[bounds_name].elements):
            elided.add(bounds_name)
        printer.attr_dict(op, elided)


def transfer_types(op: Any) -> tuple[Any, Any]:
    """The type of the memory and of the vector of a transfer."""
    vector = op.vector if hasattr(type(op), "vector") else op.valueToStore
    return op.base.type, vector.type


@directive("TransferTypes")
class TransferTypes(Directive):
    """`memref<8x8xf32>, vector<4xf32>`, in the order of the arguments, which end with the mask's.

    Supplies the map, the bounds and the mask's type where the text leaves them out.
    Arguments: type(..), type(..), type($mask).
    """

    fragment = 'TYPE "," TYPE'

    def read(self, child: Any, state: Any) -> None:
        first, second, mask = self.names
        state.types[first], state.types[second] = [child[0]], [child[1]]
        memory_first = first == "base"
        shaped, vector = child if memory_first else reversed(child)
        if not isinstance(vector, VectorType) or not hasattr(shaped, "shape"):
            state.fail(
                f"requires a memory or tensor and a vector type, found {child[0]}, {child[1]}"
            )
        default = AffineMapAttr(minor_map(len(shaped.shape), vector, shaped.element_type))
        map = state.properties.setdefault("permutation_map", default).map
        state.properties.setdefault("in_bounds", _all_false(len(map.results)))
        if state.operands.get(mask):
            state.types[mask] = [_mask_type(vector, map)]
        if not memory_first and isinstance(shaped, TensorType):
            state.types["result"] = [shaped]

    def write(self, op: Any, printer: Any) -> None:
        first, second = (getattr(op, name).type for name in self.names[:2])
        printer.out.append(f" {printer.type(first)}, {printer.type(second)}")


def _all_false(rank: int) -> Any:
    from ..attributes import ArrayAttr

    return ArrayAttr((BoolAttr(False),) * rank)


def _mask_type(vector: VectorType, map: AffineMap) -> VectorType:
    """One bit for each element transferred, in the order of the memory's dimensions."""
    from ..affine import AffineDim

    flags = vector.scalable or (False,) * len(vector.shape)
    used = sorted(
        (e.position, n, scalable)
        for e, n, scalable in zip(map.results, vector.shape, flags, strict=False)
        if isinstance(e, AffineDim)
    )
    # The mask of a single element has one lane.
    shape, scalable = [n for _, n, _ in used] or [1], [s for _, _, s in used] or [False]
    return VectorType(tuple(shape), IntegerType(1), tuple(scalable))


@directive("OuterProductKind")
class OuterProductKind(Directive):
    """The attribute dictionary, with the usual kind only where there is an accumulator.

    Arguments: $kind, $acc, attr-dict.
    """

    fragment = "dict_opt"

    def fields(self):
        yield "attribute", self.names[0]
        yield "value", self.names[1]

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            state.add_attributes(child[0])

    def write(self, op: Any, printer: Any) -> None:
        kind, acc = self.names[:2]
        entries = dict(op.attributes)
        usual = self.definition.attributes[kind].default
        if getattr(op, acc) is not None or op.properties.get(kind, usual) is not usual:
            entries[kind] = op.properties.get(kind, usual)
        if entries:
            printer.out.append(f" {{{printer.entries(sorted(entries.items()))}}}")


@directive("OuterProductTypes")
class OuterProductTypes(Directive):
    """`vector<4xf32>, vector<8xf32>`; the accumulator has the result's type.

    Arguments: type($lhs), type($rhs), type($acc).
    """

    fragment = 'TYPE "," TYPE'

    def read(self, child: Any, state: Any) -> None:
        lhs, rhs, acc = self.names
        state.types[lhs], state.types[rhs] = [child[0]], [child[1]]
        if not isinstance(child[0], VectorType):
            state.fail(f"expected vector type for operand #1, found '{child[0]}'")
        other = child[1]
        shape, scalable = child[0].shape, child[0].scalable or (False,) * child[0].rank
        if isinstance(other, VectorType):
            scalable += other.scalable or (False,) * other.rank
            shape += other.shape
        product = VectorType(shape, child[0].element_type, scalable)
        state.types["result"] = [product]
        if state.operands.get(acc):
            state.types[acc] = [product]

    def write(self, op: Any, printer: Any) -> None:
        lhs, rhs = (getattr(op, name).type for name in self.names[:2])
        printer.out.append(f" {printer.type(lhs)}, {printer.type(rhs)}")
