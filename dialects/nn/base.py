"""The base class of `nn` ops, attribute kinds and shape arithmetic.

An nn op is pure and works on immutable tensors. Its shape rule, reference semantics and
lowering come from its tensor comprehension where it has one (`body`, or `comprehend` where
attributes shape it); other ops give `infer` and `evaluate` themselves.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from ...ir.comprehension import Comprehension
from ...ir.comprehension_bind import bind
from ...ir.declare import OpDefinition
from ...ir.diagnostics import SizeError
from ...ir.types import Dim, size_fault
from ..vocabulary import *
from .host_types import fits
from .traits import Fusion, operands_by_first_index

Shape = tuple[Dim, ...]

OPERANDS = "operands attr-dict `:` functional-type(operands, results)"
"""The assembly format of most nn ops."""


def one_of(*cases: str) -> AttrKind[str]:
    """The kind of a string attribute that must be one of `cases`."""
    words = "string attribute, one of " + ", ".join(f'"{case}"' for case in cases)
    return AttrKind(
        words,
        lambda a: isinstance(a, StringAttr) and a.value in cases,
        lambda a: a.value,
        StringAttr,
    )


class Properties:
    """The attributes of an op before it is made, read as those of the op: `attrs.strides`."""

    def __init__(self, definition: OpDefinition, properties: Mapping[str, Attribute]) -> None:
        self._definition = definition
        self._properties = properties

    def __getattr__(self, name: str) -> Any:
        field = self._definition.attributes.get(name)
        if field is None:
            raise AttributeError(name)
        value = self._properties.get(name, field.default)
        return None if value is None else field.kind.to_python(value)


class NnOp(Op, traits=(Pure,)):
    """Base of the nn ops. A class declares below what passes need to know of its op."""

    format: ClassVar[str | None] = OPERANDS

    # -- what passes ask -----------------------------------------------------------------

    fusion: ClassVar[Fusion] = Fusion.ALONE
    """The op's role in kernels."""
    prologue: ClassVar[tuple[Fusion, ...]] = ()
    """The roles of producers that the op's kernel may compute while it reads its operands."""
    weight_operand: ClassVar[int | None] = None
    """The index of the operand that is rearranged at compile time if it is constant."""
    growth: ClassVar[int] = 4
    """Whether to fold an op of constant operands: it is folded if the result has at most so many
    times the operands' bytes (weights of i8 that become f32 have 4 times), or is small.
    """
    algorithm: ClassVar[tuple[type[NnOp], ...]] = ()
    """The ops that come before it, in order, in an algorithm whose last op it is. The result of
    each is operand 0 of the next.
    """
    has_whole_tiles: ClassVar[bool] = False
    """Whether the result is rounded up to whole tiles, so that a slice may follow to cut the rest.
    """
    treats_images_apart: ClassVar[bool] = False
    """Whether results of an image, an index of dimension 0, need only that image of operand 0. The
    other operands are parameters, which all images share.
    """
    has_own_lowering: ClassVar[bool] = False
    """Whether a function of `nn_to_linalg` lowers the op even where it has a comprehension."""

    ignores_nan: bool | property = False
    """Whether the op is a maximum that may pass over NaN."""

    needs_floats: ClassVar[bool] = False
    """Whether integers are refused. Comprehensions need no such word: their functions tell."""

    # These may be properties, where attributes decide.
    keeps_channels: bool | property = False
    """Whether channel c (index c of dimension 1) of results needs only channel c of the operands.
    """
    keeps_rows: bool | property = False
    """Whether each row (last dimension) of the result is a contiguous piece of an operand's row."""
    places_rows: bool | property = False
    """Whether the op copies whole rows of operand 0 to places within its result."""
    row_axes: tuple[int, ...] | property | None = None
    """The axes that a normalization, or a reduction that keeps dimensions, works along."""

    def operands_by_parts(self) -> set[int] | None:
        """The indices of the operands to split when the result is split along dimension 0.

        Elements a to b of the result's dimension 0 then need only elements a to b of these
        operands, and all of the other operands. For a matrix product of rank 2 that is {0}: some
        rows of the result need the same rows of lhs and all of rhs. None where the op cannot be
        split so.
        """
        if self.treats_images_apart:
            return {0}
        return operands_by_first_index(self.comprehension())

    # -- semantics -----------------------------------------------------------------------

    @classmethod
    def comprehend(
        cls, types: Sequence[TensorType], attrs: Any, results: Sequence[TensorType] = ()
    ) -> Comprehension | None:
        """The op's comprehension for operands of these types, or None where it has none.

        `attrs` is the op, or a `Properties` with the same attributes. `results` are the declared
        result types if the op has been made already.
        """
        return cls.bind(cls.body, types, attrs) if isinstance(cls.body, str) else None

    @classmethod
    def bind(
        cls,
        text: str | None,
        types: Sequence[TensorType],
        attrs: Any,
        extents: Mapping[str, Any] | None = None,
        result_element: Type | None = None,
    ) -> Comprehension:
        """Parse a comprehension's text, and bind its names to this op's operands and attributes.

        `attrs` is the op or its `Properties`, or a dictionary of the names that the text may use.
        `extents` gives the extents of indices that no operand determines: in `out[i, j] = x[i]`,
        that of j. `result_element` is the element type of the result if it is not that of operand
        0.
        """
        assert text is not None
        scope = attrs
        if not isinstance(attrs, dict):
            scope = {name: getattr(attrs, name) for name in cls.definition.attributes}
        names = [f.name for f in cls.definition.operands][: len(types)]
        return bind(text, names, types, scope, extents, result_element)

    def comprehension(self) -> Comprehension | None:
        """The op as a tensor comprehension bound to its operands, or None."""
        return self.comprehend(self.operand_types, self, self.result_types)

    def evaluate(self, *operands: np.ndarray) -> Any:
        """Compute the op with NumPy: the result, or a tuple of several. It defines what the op
        means.
        """
        from ...ir.comprehension_numpy import evaluate
        from ...ir.numpy_types import numpy_to_type, type_to_numpy

        types = [TensorType(x.shape, numpy_to_type(x.dtype)) for x in operands]
        form = self.comprehend(types, self, self.result_types)
        assert form is not None, "an op without a comprehension has its own"
        return evaluate(form, operands, type_to_numpy(self.result_types[0].element_type))

    # -- types ---------------------------------------------------------------------------

    @classmethod
    def infer_result_types(
        cls,
        operand_types: Sequence[Any],
        properties: Mapping[str, Attribute],
        regions: Sequence[Any] = (),
    ) -> Sequence[Type] | None:
        try:
            return cls.inferred(operand_types, properties)
        except VerifyError:
            raise
        except NncError as error:
            raise VerifyError(f"'{cls.name}' op {error.message}") from None

    @classmethod
    def inferred(
        cls, types: Sequence[Any], properties: Mapping[str, Attribute]
    ) -> Sequence[Type] | None:
        """`infer`, cached by types and attributes."""
        if not types:  # constants, which are not to be kept
            return cls.infer([], Properties(cls.definition, properties))
        return _inferred(cls, tuple(types), tuple(properties.items()))

    @classmethod
    def infer(cls, types: Sequence[TensorType], attrs: Any) -> Sequence[Type] | None:
        """The result types, or None where the op's types and attributes do not determine them."""
        form = cls.comprehend(types, attrs)
        if form is None:
            return None
        return [TensorType(form.shape, cls.result_element(types, attrs))]

    @classmethod
    def result_element(cls, types: Sequence[TensorType], attrs: Any) -> Type:
        """The element type of the result: that of the first operand, unless overridden."""
        return types[0].element_type

    def verify_op(self) -> None:
        """Check that the results have the inferred types; `?` agrees with any extent."""
        for type in (*self.operand_types, *self.result_types):
            if fault := size_fault(type):
                raise SizeError(f"'{self.name}' op {fault}", self.loc)
        if all(isinstance(operand.type, TensorType) for operand in self._operands):
            self.check_results()

    def check_results(self) -> None:
        """Raise VerifyError unless `check` passes and the results fit the inferred types."""
        try:
            inferred = self.inferred(self.operand_types, self.properties)
            self.check()
        except VerifyError:
            raise
        except NncError as error:
            raise self.error(error.message) from None
        for expected, found in zip(inferred or (), self.result_types, strict=False):
            if not compatible(expected, found):
                raise self.error(f"infers result type '{expected}', but got '{found}'")

    def check(self) -> None:
        """Check what else the op demands. Raises NncError with the text to follow `'nn.x' op`."""


@lru_cache(maxsize=1 << 12)
def _inferred(
    cls: type[NnOp], types: tuple[Any, ...], properties: tuple[tuple[str, Attribute], ...]
) -> Sequence[Type] | None:
    if cls.needs_floats:
        for type in types:
            if isinstance(type.element_type, IntegerType):
                raise NncError(f"needs floats, but got '{type}'")
    found = cls.infer(list(types), Properties(cls.definition, dict(properties)))
    return None if found is None else tuple(found)


def fusion_of(op: Operation) -> Fusion:
    """An operation's role in kernels; `ALONE` if it is not an nn op."""
    return op.fusion if isinstance(op, NnOp) else Fusion.ALONE


# -- types and shapes ------------------------------------------------------------------------


def compatible(a: Type, b: Type) -> bool:
    """Whether two types are the same; `?` is the same as any extent."""
    if not (isinstance(a, TensorType) and isinstance(b, TensorType)):
        return fits(a, b) or fits(b, a)
    return (
        a.element_type is b.element_type
        and len(a.shape) == len(b.shape)
        and all(x is None or y is None or x == y for x, y in zip(a.shape, b.shape, strict=True))
    )


def tensor(shape: Sequence[Dim], element: Type) -> TensorType:
    """A tensor type."""
    return TensorType(tuple(shape), element)


def broadcast_dim(a: Dim, b: Dim) -> Dim:
    """The extent to which two extents broadcast in NumPy; None is an unknown extent.

        (5, 1) -> 5    (None, 5) -> 5    (None, 1) -> None    (None, None) -> None

    Raises NncError where they differ and neither is 1.
    """
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a is None or b is None:
        return b if a is None else a
    raise NncError(f"dimensions {a} and {b} do not broadcast")


def broadcast_shapes(*shapes: Shape) -> tuple[Any, ...]:
    """The shape to which several broadcast, as in NumPy. Raises NncError where they do not fit."""
    rank = max(map(len, shapes), default=0)
    out: list[Dim] = [1] * rank
    for shape in shapes:
        for i, extent in enumerate(shape, rank - len(shape)):
            out[i] = broadcast_dim(out[i], extent)
    return tuple(out)


def known_product(shape: Sequence[Dim]) -> int | None:
    """The number of elements, or None where a dimension is unknown (0 if one is 0)."""
    total = 1
    for extent in shape:
        if extent == 0:
            return 0
        total = None if total is None or extent is None else total * extent
    return total


def is_float(type: Type) -> bool:
    """Whether an element type is a float."""
    return isinstance(type, FloatType)


def check_axis(axis: int, rank: int) -> int:
    """Return the axis. Raises NncError unless 0 <= axis < rank."""
    if not 0 <= axis < rank:
        raise NncError(f"axis {axis} is out of range for a tensor of rank {rank}")
    return axis


def check_axes(axes: Sequence[int], rank: int) -> None:
    """Raise NncError unless the axes are in range and all different."""
    for axis in axes:
        check_axis(axis, rank)
    if len(set(axes)) != len(axes):
        raise NncError(f"axes {list(axes)} name an axis twice")


def check_length(values: Sequence[Any], count: int, name: str) -> None:
    """Raise NncError unless there are `count` values."""
    if len(values) != count:
        raise NncError(f"{name} has {len(values)} elements, expected {count}")


def numbers(values: Sequence[Any] | None, count: int, default: Any, name: str) -> tuple[Any, ...]:
    """The values of an optional attribute as a tuple; `count` times `default` if it is left out.

    Raises NncError, with the attribute's `name`, if there are not `count` values.
    """
    if values is None:
        return (default,) * count
    check_length(values, count, name)
    return tuple(values)


def shape_operand_length(type: TensorType, name: str) -> int | None:
    """The length of an operand that must be a 1-D tensor of i64; None if it is not known.

    Raises NncError, with the operand's `name`, for any other type.
    """
    if type.rank != 1 or type.element_type is not i64:
        raise NncError(f"{name} must be a 1-D tensor of i64, but got '{type}'")
    return type.shape[0]
