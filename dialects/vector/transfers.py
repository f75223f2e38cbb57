"""Transfers: vectors to and from memory through a map, with padding and masks."""

from __future__ import annotations

from ...ir.undefined import note_where
from ..index_lists import by_field
from ..vocabulary import *
from .dimensions import default_transfer_map, transfer_mask_type
from .memory import AnyShaped, MaskVector, inner_part


class _Transfer(Op):
    """Base of reading and writing through a permutation map."""

    permutation_map: Any
    in_bounds: Any

    @property
    def shaped(self) -> Value:
        """The memref or tensor."""
        return self.base  # type: ignore[attr-defined]

    @property
    def vector_type(self) -> VectorType:
        raise NotImplementedError

    @property
    def map(self) -> AffineMap:
        return self.permutation_map.map

    @property
    def bounds(self) -> list[bool]:
        """For each dimension of the vector, whether the access is promised to stay inside the
        memory.
        """
        return [bool(a.value) for a in self.in_bounds]

    def mask_type(self) -> VectorType:
        """The mask's shape: the vector's dimensions in the order of the memory's, no broadcasts."""
        return transfer_mask_type(self.vector_type, self.map)

    def verify_transfer(self, indices: tuple[Value, ...], mask: Value | None) -> None:
        shaped, vector, map = self.shaped.type, self.vector_type, self.map
        if len(indices) != shaped.rank:
            raise self.error(f"requires {shaped.rank} indices")
        own = shaped.element_type.rank if isinstance(shaped.element_type, VectorType) else 0
        if map.dim_count != shaped.rank:
            raise self.error(
                "requires a permutation_map with input dims of the same rank as the source type"
            )
        if len(map.results) != vector.rank - own:
            raise self.error(
                "requires a permutation_map with result dims of the same rank as the vector type"
            )
        for e in map.results:
            if not isinstance(e, AffineDim) and e != AffineConstant(0):
                raise self.error(
                    "requires a projected permutation_map (at most one dim or the zero "
                    "constant can appear in each result)"
                )
        dims = [e for e in map.results if isinstance(e, AffineDim)]
        if len(dims) != len(set(dims)):
            raise self.error(
                "requires a permutation_map that is a permutation (found one dim "
                "used more than once)"
            )
        if element_type(shaped) is not vector.element_type and not own:
            raise self.error(
                "requires formal type of element to match the element type of the vector"
            )
        if len(self.in_bounds) != len(map.results):
            raise self.error(
                "expects the in_bounds attr of same rank as permutation_map results: "
                f"{self.permutation_map} vs inBounds of size: {len(self.in_bounds)}"
            )
        if mask is not None and mask.type is not self.mask_type():
            raise self.error(
                f"inferred mask type ('{self.mask_type()}') and mask operand type ('{mask.type}') "
                "don't match"
            )

    def _window(self, indices: list[Any], mask: Any, array: Any) -> tuple[tuple, Any]:
        """(index arrays into the memory in the vector's shape, mask of active lanes)."""
        shape: Any = self.vector_type.shape
        starts = list(zip(indices, array.shape, strict=True))
        note_where(
            lambda: any(not 0 <= i < n for i, n in starts),
            f"'{self.name}' op: the first element is outside the memory",
        )
        grids = np.indices(shape, sparse=True)
        at = [np.asarray(int(i)) for i in indices]
        for lane, e in enumerate(self.map.results):
            if isinstance(e, AffineDim):
                at[e.position] = at[e.position] + grids[lane]
        wanted = np.ones(shape, np.bool_) if mask is None else self._spread(mask)
        wanted = np.broadcast_to(wanted, shape)
        active = wanted
        for d, position in enumerate(at):
            active = active & (position >= 0) & (position < array.shape[d])
        self._check(active | ~wanted)
        clipped = [
            np.minimum(np.maximum(p, 0), max(n - 1, 0))
            for p, n in zip(at, array.shape, strict=True)
        ]
        return tuple(np.broadcast_to(p, shape) for p in clipped), active

    def _part(self, indices: list[Any], mask: Any, array: Any) -> Any:
        """The elements as a view in the vector's shape if all lanes are active; else None."""
        shape: Any = self.vector_type.shape
        if mask is not None or len(self.map.results) != len(shape):
            return None
        extents: list[int | None] = [None] * len(indices)
        walked = []
        for extent, e in zip(shape, self.map.results, strict=True):
            if isinstance(e, AffineDim):
                extents[e.position] = extent
                walked.append(e.position)
        part = inner_part(array, [int(i) for i in indices], extents)
        if part is None or (len(walked) < 2 and part.shape == shape):
            return part
        order = sorted(range(len(walked)), key=walked.__getitem__)
        part = part.transpose([order.index(lane) for lane in range(len(walked))])
        for lane, e in enumerate(self.map.results):
            if not isinstance(e, AffineDim):
                part = part[(slice(None),) * lane + (None,)]
        return np.broadcast_to(part, shape) if len(walked) < len(shape) else part

    def _check(self, inside: Any) -> None:
        """Raise where a dimension said to be in bounds is not."""
        if all(self.bounds) and not inside.all():
            raise NncError(f"'{self.name}': an access said to be in bounds is not", self.loc)

    def _spread(self, mask: Any) -> Any:
        """The mask with its dimensions in the vector's order, and size 1 where the map has a
        constant 0.
        """
        dims = sorted(e.position for e in self.map.results if isinstance(e, AffineDim))
        order = [dims.index(e.position) for e in self.map.results if isinstance(e, AffineDim)]
        mask = mask.transpose(order)
        for lane, e in enumerate(self.map.results):
            if not isinstance(e, AffineDim):
                mask = mask[(slice(None),) * lane + (None,)]
        return mask


def in_bounds_attribute(flags: Any) -> ArrayAttr:
    """One boolean per vector dimension."""
    return ArrayAttr(tuple(BoolAttr(bool(f)) for f in flags))


class TransferRead(_Transfer, name="vector.transfer_read", traits=(ReadsMemory,)):
    """A vector read from a memref or tensor. Lanes outside of it or masked off get `padding`.

    `permutation_map` says along which dimension of the memory each dimension of the vector runs.
    Where it has the constant 0, the same elements are repeated along that dimension.
    """

    base: Operand = operand(AnyShaped)
    indices: Operands = operands(Index)
    padding: Operand = operand(element_of("base"))
    mask: OptionalOperand = optional_operand(MaskVector)
    permutation_map = attribute(instance(AffineMapAttr))
    in_bounds = attribute(ARRAY)
    vector: Result = result(AnyVector)

    format = (
        "$base `[` $indices `]` `,` $padding (`,` $mask^)? "
        "custom<TransferAttributes>($permutation_map, $in_bounds, attr-dict) "
        "`:` custom<TransferTypes>(type($base), type($vector), type($mask))"
    )
    example = (
        "%v = vector.transfer_read %m[%i, %j], %pad {in_bounds = [true]} : "
        "memref<?x?xf32>, vector<4xf32>"
    )

    @staticmethod
    def of(
        base: Value,
        indices: Any,
        padding: Value,
        type: VectorType,
        map: AffineMap | None = None,
        in_bounds: Any = None,
        mask: Value | None = None,
    ) -> TransferRead:
        """A transfer with the default map, and all dimensions in bounds, unless other ones are
        given.
        """
        map = map or default_transfer_map(base.type, type)
        flags = in_bounds if in_bounds is not None else [True] * len(map.results)
        return TransferRead(
            base,
            indices,
            padding,
            mask,
            AffineMapAttr(map),
            in_bounds_attribute(flags),
            vector=type,
        )

    @property
    def vector_type(self) -> VectorType:
        return self.vector.type

    def verify_op(self) -> None:
        self.verify_transfer(self.indices, self.mask)

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        array, padding = given["base"], given["padding"]
        if 0 in array.shape:
            self._check(np.zeros(1, np.bool_))
            shape: Any = self.vector_type.shape
            return [np.full(shape, padding, array.dtype)]
        if not frame.watches(array):
            part = self._part(given["indices"], given["mask"], array)
            if part is not None:
                return [part.copy()]
        at, active = self._window(given["indices"], given["mask"], array)
        frame.reads(self, array, tuple(p[active] for p in at))
        return [np.where(active, array[at], padding).astype(array.dtype)]


class TransferWrite(_Transfer, name="vector.transfer_write", traits=(WritesMemory,)):
    """A vector written to a memref or tensor. Lanes outside of it or masked off are not written."""

    valueToStore: Operand = operand(AnyVector)  # noqa: N815
    base: Operand = operand(AnyShaped)
    indices: Operands = operands(Index)
    mask: OptionalOperand = optional_operand(MaskVector)
    permutation_map = attribute(instance(AffineMapAttr))
    in_bounds = attribute(ARRAY)
    result: OptionalResult = optional_result(AnyRankedTensor)

    format = (
        "$valueToStore `,` $base `[` $indices `]` (`,` $mask^)? "
        "custom<TransferAttributes>($permutation_map, $in_bounds, attr-dict) "
        "`:` custom<TransferTypes>(type($valueToStore), type($base), type($mask))"
    )
    example = (
        "vector.transfer_write %v, %m[%i, %j] {in_bounds = [true]} : vector<4xf32>, memref<?x?xf32>"
    )

    @staticmethod
    def of(
        value: Value,
        base: Value,
        indices: Any,
        map: AffineMap | None = None,
        in_bounds: Any = None,
        mask: Value | None = None,
    ) -> TransferWrite:
        """A transfer with the default map, and all dimensions in bounds, unless other ones are
        given.
        """
        map = map or default_transfer_map(base.type, value.type)
        flags = in_bounds if in_bounds is not None else [True] * len(map.results)
        made = base.type if isinstance(base.type, TensorType) else None
        return TransferWrite(
            value, base, indices, mask, AffineMapAttr(map), in_bounds_attribute(flags), result=made
        )

    @property
    def vector_type(self) -> VectorType:
        return self.valueToStore.type

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """The tensor written to, if it is one."""
        return [t for t in operand_types[1:2] if isinstance(t, TensorType)]

    def verify_op(self) -> None:
        self.verify_transfer(self.indices, self.mask)
        if any(not isinstance(e, AffineDim) for e in self.map.results):
            raise self.error("should not have broadcast dimensions")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        array = given["base"]
        if self.result is not None:
            array = array.copy()
        part = None
        if not frame.watches(array):
            part = self._part(given["indices"], given["mask"], array)
        if part is not None:
            part[...] = given["valueToStore"]
        elif 0 not in array.shape:
            at, active = self._window(given["indices"], given["mask"], array)
            at = tuple(p[active] for p in at)
            frame.writes(self, array, at)
            array[at] = given["valueToStore"][active]
        return [array] if self.result is not None else []
