"""Attributes and types of the stablehlo dialect."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from ...ir.parameters import (
    NUMBER,
    TRUTH,
    AttributeDefinition,
    Parameter,
    ParameterError,
    ParametrizedAttr,
    attribute_parameter,
    checked_parameter,
    parametrized,
)
from ...ir.syntax.directive import listed
from ...ir.syntax.number_text import float_text
from .. import enumerations
from ..enumerations import EnumerationAttr
from ..vocabulary import *


@attribute_class
class StablehloEnumeration(EnumerationAttr):
    """`#stablehlo<precision HIGH>`: a case of one of the dialect's enumerations."""

    name: ClassVar[str] = "stablehlo"


enumeration_kind = partial(enumerations.enumeration_kind, StablehloEnumeration)

DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
COMPARISONS = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")

COMPARISON_DIRECTION = enumeration_kind("comparison_direction", *DIRECTIONS)
COMPARISON_TYPE = enumeration_kind("comparison_type", *COMPARISONS)
FFT_TYPE = enumeration_kind("fft_type", "FFT", "IFFT", "RFFT", "IRFFT")
RNG_ALGORITHM = enumeration_kind("rng_algorithm", "DEFAULT", "THREE_FRY", "PHILOX")
RNG_DISTRIBUTION = enumeration_kind("rng_distribution", "UNIFORM", "NORMAL")
TRANSPOSE = enumeration_kind("transpose", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


@attribute_class
class ResultAccuracyMode(EnumAttr):
    """`#stablehlo.result_accuracy_mode<HIGHEST>`: how exact the result of a function has to be."""

    name: ClassVar[str] = "stablehlo.result_accuracy_mode"
    cases: ClassVar[tuple[str, ...]] = ("DEFAULT", "HIGHEST", "TOLERANCE")


# -- attributes with parameters ------------------------------------------------------------------


def _integers(piece: Any) -> tuple[int, ...]:
    if piece[0] == "attribute" and isinstance(piece[1], ArrayAttr):
        elements = piece[1].elements
        if all(isinstance(e, IntegerAttr) for e in elements):
            return tuple(e.value for e in elements)
    raise ParameterError("expected a list of integers")


def _float(piece: Any) -> float:
    if piece[0] == "attribute" and isinstance(piece[1], FloatAttr | IntegerAttr):
        return float(piece[1].value)
    raise ParameterError("expected a number")


INTEGERS = Parameter(_integers, lambda value, printer: f"[{', '.join(map(str, value))}]")
SOME = INTEGERS.optional(())
FRACTION = Parameter(_float, lambda value, printer: float_text(value, FloatType("f64"))).optional(
    0.0
)
TYPE = checked_parameter("a type", lambda a: isinstance(a, Type))


class StructDefinition(AttributeDefinition):
    """A list of parameters as stablehlo's own parser reads it."""

    comma_at_end: ClassVar[bool] = True


GatherDims = parametrized(
    "stablehlo.gather",
    "Which dimensions of operand, indices and result belong together in a gather.",
    StructDefinition,
    offset_dims=SOME,
    collapsed_slice_dims=SOME,
    operand_batching_dims=SOME,
    start_indices_batching_dims=SOME,
    start_index_map=SOME,
    index_vector_dim=NUMBER.optional(0),
)
ScatterDims = parametrized(
    "stablehlo.scatter",
    "Which dimensions of operand, indices and updates belong together in a scatter.",
    StructDefinition,
    update_window_dims=SOME,
    inserted_window_dims=SOME,
    input_batching_dims=SOME,
    scatter_indices_batching_dims=SOME,
    scatter_dims_to_operand_dims=SOME,
    index_vector_dim=NUMBER.optional(0),
)
DotDims = parametrized(
    "stablehlo.dot",
    "The dimensions over which a product is batched and those that it sums over.",
    StructDefinition,
    lhs_batching_dimensions=SOME,
    rhs_batching_dimensions=SOME,
    lhs_contracting_dimensions=SOME,
    rhs_contracting_dimensions=SOME,
)
DotAlgorithm = parametrized(
    "stablehlo.dot_algorithm",
    "How a product is to be computed: the types of its factors and of the sum.",
    lhs_precision_type=TYPE,
    rhs_precision_type=TYPE,
    accumulation_type=TYPE,
    lhs_component_count=NUMBER,
    rhs_component_count=NUMBER,
    num_primitive_operations=NUMBER,
    allow_imprecise_accumulation=TRUTH,
)
ChannelHandle = parametrized(
    "stablehlo.channel_handle", "A channel between devices.", handle=NUMBER, type=NUMBER
)
OutputOperandAlias = parametrized(
    "stablehlo.output_operand_alias",
    "A part of a result that shares its memory with a part of an operand.",
    output_tuple_indices=INTEGERS,
    operand_index=NUMBER,
    operand_tuple_indices=INTEGERS,
)
ResultAccuracy = parametrized(
    "stablehlo.result_accuracy",
    "How exact a function's result has to be.",
    atol=FRACTION,
    rtol=FRACTION,
    ulps=NUMBER.optional(0),
    mode=attribute_parameter(description="a mode"),
)


def parameters_kind(definition: Any) -> AttrKind[Any]:
    """The kind of an op's attribute that must be an attribute of this definition."""
    return AttrKind(
        f"{definition.name} attribute",
        lambda a: isinstance(a, ParametrizedAttr) and a.definition is definition,
        lambda a: a,
        lambda a: a,
    )


# -- the dimensions of convolutions, and bounds of types -------------------------------------------

DIMENSION_LISTS = {
    "dims": '"[" "]" | "[" dim_items "]"',
    "dim_items": 'dim_item | dim_items "," dim_item',
    "dim_item": 'BARE_ID -> word | INTEGER -> word | "?" -> unknown',
}


def dimension_list(child: Any) -> tuple[str, ...]:
    """The items of a match of `dims` as text."""
    items = [item for (item,) in listed(child[0], 1)] if child else []
    return tuple(item[1][0] if item[0] == "word" else "?" for item in items)


_MOST_DIMENSIONS = 64
"""More than tensors have; a position above would make a long list."""

_ROLES = (
    ("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "bf"),
    (
        "kernel_output_feature_dimension",
        "kernel_input_feature_dimension",
        "kernel_spatial_dimensions",
        "oi",
    ),
    ("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "bf"),
)
"""For operand, kernel and result: the names of `raw` parameters, and the letters of two."""

RawConvDims = AttributeDefinition(
    "stablehlo.conv",
    "The roles of a convolution's dimensions, as positions.",
    {name: INTEGERS if i == 2 else NUMBER for row in _ROLES for i, name in enumerate(row[:3])},
    named=True,
    alias=False,
    separator=", ",
    bare=False,
)


def _conv_of_numbers(raw: ParametrizedAttr) -> ConvDims:
    """The dimensions as lists; those that no number names are `?`."""
    lists = []
    for *names, letters in _ROLES:
        first, second, spatial = (raw.value(name) for name in names)
        roles = {first: letters[0], second: letters[1]}
        roles.update((d, str(i)) for i, d in enumerate(spatial))
        if len(roles) != 2 + len(spatial) or not all(0 <= d < _MOST_DIMENSIONS for d in roles):
            raise ParameterError(f"#stablehlo.conv: {names[0]}, ..: expected distinct dimensions")
        lists.append(tuple(roles.get(d, "?") for d in range(max(roles) + 1)))
    return ConvDims(*lists)


@attribute_class
class ConvDims(Attribute):
    """The roles of a convolution's dimensions: `#stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f,
    0, 1]>`.

    There is a list each for the operand, the kernel and the result, with an entry for each
    dimension: a letter (`b` batch, `f` feature, `i` input and `o` output feature), the number of a
    spatial dimension, or `?` for an unknown one.
    """

    lhs: tuple[str, ...]
    rhs: tuple[str, ...]
    out: tuple[str, ...]
    name: ClassVar[str] = "stablehlo.conv"
    grammar: ClassVar[str] = '"<" conv_content ">"'
    rules: ClassVar[dict[str, str]] = {
        **DIMENSION_LISTS,
        "conv_content": 'dims "x" dims "->" dims -> lists | "raw" parameter_items -> raw',
    }

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> ConvDims:
        """The instance for the parse tree of the three lists, or of `raw` numbers."""
        kind, *content = child[0]
        if kind == "raw":
            return _conv_of_numbers(RawConvDims.from_syntax(("list", *content)))
        return cls(*map(dimension_list, content))

    def text(self) -> str:
        """The three lists."""
        lhs, rhs, out = (f"[{', '.join(part)}]" for part in (self.lhs, self.rhs, self.out))
        return f"{lhs}x{rhs}->{out}"

    def parameters_text(self) -> str:
        """The text after the attribute's name."""
        return f"<{self.text()}>"

    def order(self, which: str, first: str, second: str) -> tuple[int, ...]:
        """The dimensions of `lhs`, `rhs` or `out`: those of two letters, then the spatial ones."""
        names = getattr(self, which)
        spatial = sorted((int(name), i) for i, name in enumerate(names) if name.isdigit())
        return (names.index(first), names.index(second), *(i for _, i in spatial))


@attribute_class
class Bounds(Attribute):
    """`#stablehlo.bounds<4, ?>`: upper bounds of the unknown extents of a type."""

    bounds: tuple[str, ...]
    name: ClassVar[str] = "stablehlo.bounds"
    grammar: ClassVar[str] = '"<" dim_items ">"'
    rules: ClassVar[dict[str, str]] = DIMENSION_LISTS

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> Bounds:
        """The instance for the parse tree of `<4, ?>`."""
        return cls(dimension_list(child))

    def parameters_text(self) -> str:
        """The text after the attribute's name."""
        return f"<{', '.join(self.bounds)}>"


@attribute_class
class TokenType(Type):
    """`!stablehlo.token`: what orders operations with effects."""

    name: ClassVar[str] = "stablehlo.token"

    def parameters_text(self) -> str:
        """Nothing follows the type's name."""
        return ""


AnyToken = Constraint("token", lambda t: isinstance(t, TokenType))
AnyTuple = Constraint("tuple", lambda t: isinstance(t, TupleType))
