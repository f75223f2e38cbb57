"""The directives of vector: transfers, contractions, outer products, masks."""

from __future__ import annotations

from ...ir.syntax.directive import Directive, directive
from ...ir.syntax.parts import TRAIT, iterators_from_strings, structured_dict, trait_entries
from ..vocabulary import *
from .attributes import IteratorType
from .dimensions import default_transfer_map, transfer_mask_type


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
        if op.properties[map_name].map == default_transfer_map(shaped, vector):
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
        default = AffineMapAttr(default_transfer_map(shaped, vector))
        map = state.properties.setdefault("permutation_map", default).map
        state.properties.setdefault("in_bounds", ArrayAttr((BoolAttr(False),) * len(map.results)))
        if state.operands.get(mask):
            state.types[mask] = [transfer_mask_type(vector, map)]
        if not memory_first and isinstance(shaped, TensorType):
            state.types["result"] = [shaped]

    def write(self, op: Any, printer: Any) -> None:
        first, second = (getattr(op, name).type for name in self.names[:2])
        printer.out.append(f" {printer.type(first)}, {printer.type(second)}")


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


_CONTRACT = ("indexing_maps", "iterator_types", "kind")


@directive("ContractAttributes")
class ContractAttributes(Directive):
    """`{indexing_maps = .., iterator_types = ["parallel"], kind = #vector.kind<add>}`

    Arguments: $indexing_maps, $iterator_types, $kind.
    """

    fragment = "trait"
    rules = TRAIT

    def read(self, child: Any, state: Any) -> None:
        state.add_attributes(trait_entries(state, child[0]))
        iterators_from_strings(state, IteratorType)

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {structured_dict(op, _CONTRACT, printer)}")


@directive("ContractTypes")
class ContractTypes(Directive):
    """`vector<4x8xf32>, vector<8x4xf32>`; more types, as of masks in old texts, mean nothing.

    Arguments: type($lhs), type($rhs).
    """

    fragment = "types"

    def read(self, child: Any, state: Any) -> None:
        lhs, rhs = self.names
        (types,) = child
        if len(types) < 2:
            state.fail("expected at least two types of vectors")
        state.types[lhs], state.types[rhs] = [types[0]], [types[1]]

    def write(self, op: Any, printer: Any) -> None:
        texts = [printer.type(getattr(op, name).type) for name in self.names]
        printer.out.append(f" {', '.join(texts)}")


@directive("MaskedRegion")
class MaskedRegion(Directive):
    """`{ vector.load .. }`: one operation, its results yielded. Argument: $maskRegion."""

    fragment = '"{" ops "}"'

    def read(self, child: Any, state: Any) -> None:
        region = self.names[0]
        state.regions[region] = [(child[0], [])]
        state.at_region_end[region] = yield_all

    def write(self, op: Any, printer: Any) -> None:
        block = getattr(op, self.names[0]).blocks[0]
        inner = [o for o in block if o.name != "vector.yield"]
        if len(inner) == 1 and list(block._last._operands) == list(inner[0].results):
            named, written = False, inner
        else:
            named, written = True, list(block)
        printer.out.append(" { ")
        for one in written:
            printer.nested(one, named)
            printer.out.append(" ")
        printer.out.append("}")


def yield_all(region: Any) -> None:
    """Append a `vector.yield` of the last operation's results, unless the block ends in a yield."""
    block = region.blocks[0] if region.blocks else region.append(Block())
    if block._last is not None and block._last.name == "vector.yield":
        return
    values = block._last.results if block._last is not None else ()
    block.append(registry.ops["vector.yield"].create(values))
